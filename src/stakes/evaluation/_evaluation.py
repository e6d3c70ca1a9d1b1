"""The answer sheet: every model's cost over the plausible thresholds, how sure it is, and what it is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

from stakes._results import Tabular, json_ready
from stakes.costs import LogOddsUniform
from stakes.curves._decision import net_benefit_curve_of, regret_curve_of
from stakes.curves._reliability import reliability_curve_of
from stakes.evaluation._best_by_cost import best_by_cost
from stakes.evaluation._conclusion import conclude
from stakes.evaluation._findings import run_checks
from stakes.evaluation._groups import Groups
from stakes.evaluation._notebook import evaluation_html
from stakes.evaluation._sensitivity import best_by_bounds
from stakes.inference import Comparison, LossMoments, Ranking, comparison_from_moments, dominance, rank_models

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from stakes._kernel import Rule
    from stakes.costs import CostDistribution
    from stakes.curves._curve import Curve
    from stakes.decomposition import Decomposition
    from stakes.evaluation._best_by_cost import BestByCost
    from stakes.evaluation._finding import Findings
    from stakes.evaluation._sensitivity import BestByBounds
    from stakes.inference import Dominance, PairedRows
    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]

REFERENCES = ("treat all", "treat none")
CurveKind = Literal["regret", "net_benefit", "reliability"]
_CURVES = {"regret": regret_curve_of, "net_benefit": net_benefit_curve_of}


@dataclass(frozen=True)
class ModelResult:
    """What the evaluation knows of one model, on the scale of the evaluation.

    Parameters
    ----------
    name : str
        The model, or "treat all" or "treat none".
    score : float
        Expected cost over the cost distribution; lower is better.
    standard_error : float
        Of the score; nan where it has no closed form.
    interval : tuple of float
        Confidence interval of the score.
    decomposition : Decomposition or None
        Miscalibration, discrimination, uncertainty; None for the references.
    auc : float
        Area under the ROC curve; nan for the references or one class.
    share_acted_on : float
        Share of all rows acted on, averaged over the cost distribution.
    in_range : tuple of float
        Share of rows whose score lies between the lowest and highest cost ratio, their mean score, and their
        observed event rate (nan where there is none).
    acts_like : str
        "treat all" or "treat none" where the decisions and costs are practically theirs, else "".
    metrics : dict of str to float
        Further metrics that were asked for.
    note : str
        Which class has too few rows for the interval, and how many are needed; empty otherwise.

    Examples
    --------
    >>> from stakes import evaluate
    >>> evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}).results[0].name
    'a'
    """

    name: str
    score: float
    standard_error: float
    interval: tuple[float, float]
    decomposition: Decomposition | None = None
    auc: float = math.nan
    share_acted_on: float = math.nan
    in_range: tuple[float, float, float] = (math.nan, math.nan, math.nan)
    acts_like: str = ""
    metrics: dict[str, float] = field(default_factory=dict, hash=False)
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Tabular):
    """Expected cost of one or many models over the plausible thresholds, ranked, with intervals.

    Made by :func:`evaluate` and :func:`evaluate_frame`.

    Parameters
    ----------
    models : tuple of str
        Names, in the order given.
    tables : tuple of ScoreTable
        One for each model.
    moments : LossMoments
        Mean losses and their covariance: the models, then "treat all" and "treat none".
    results : tuple of ModelResult
        The models, then the references, in the same order.
    costs : CostDistribution
        How much each cost ratio counts.
    rule : str or float
        How scores become decisions.
    scale : str
        "regret", "integral" or "loss".
    factor : float
        From the integral to the scale.
    confidence_level : float
        Of every interval.
    n_rows, n_dropped : int
        Rows counted, and incomplete rows dropped on request.
    backend : str, optional
        Data-frame library of the caller.
    source : str, optional
        Where the data came from, for the report.
    unit_cost, per : float
        Real units of the scores: cost of a false positive and a false negative together, and number of decisions.
    rows : PairedRows, optional
        Labels, scores and weights of the models, where the rows are known.
    groups : Groups
        Every model in every subgroup that was asked for.
    provenance : dict of str to str
        What the report says of the data beside their source: "sha256" of the file, columns of "label" and "weight".

    Examples
    --------
    >>> from stakes import evaluate
    >>> evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}, costs=(0.2, 0.6))
    Evaluation(best: a, regret 0.01562; 2 models, 4 rows, costs=Uniform(low=0.2, high=0.6))
    """

    models: tuple[str, ...]
    tables: tuple[ScoreTable, ...]
    moments: LossMoments
    results: tuple[ModelResult, ...]
    costs: CostDistribution
    rule: Rule
    scale: str
    factor: float
    confidence_level: float
    n_rows: int
    n_dropped: int = 0
    backend: str | None = None
    source: str | None = None
    unit_cost: float = 1.0
    per: float = 1.0
    rows: PairedRows | None = None
    groups: Groups = field(default_factory=Groups)
    provenance: dict[str, str] = field(default_factory=dict)

    @property
    def prevalence(self) -> float:
        """Weighted share of positives."""
        return self.tables[0].prevalence

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Models from the lowest expected cost to the highest; equal costs keep the order given.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"bad": [0.9, 0.1], "good": [0.1, 0.9]}).ranking
        ('good', 'bad')
        """
        order = sorted(range(len(self.models)), key=lambda i: self.results[i].score)
        return tuple(self.models[i] for i in order)

    @property
    def best(self) -> ModelResult:
        """The model with the lowest expected cost on these rows."""
        return self[self.ranking[0]]

    def __getitem__(self, name: str) -> ModelResult:
        return self.results[self._index(name)]

    def _index(self, name: str) -> int:
        names = [*self.models, *REFERENCES]
        if name not in names:
            raise ValueError(f"model must be one of {', '.join(map(repr, names))}, got {name!r}.")
        return names.index(name)

    def compare(self, first: str, second: str) -> Comparison:
        """Paired difference in expected cost between two models, or a model and "treat all" or "treat none".

        Parameters
        ----------
        first, second : str
            Names of models or references.

        Returns
        -------
        Comparison
            ``difference`` is first minus second: negative means that the first is better.

        Raises
        ------
        ValueError
            For an unknown name.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]})
        >>> round(result.compare("a", "b").difference, 5)
        -0.07875
        """
        found = self._difference(first, second)
        return replace(found, dominance=self._dominance(self._index(first), self._index(second), (first, second)))

    def _difference(self, first: str, second: str) -> Comparison:
        """The difference alone: dominance needs a pass over both models' curves."""
        return comparison_from_moments(
            self.moments,
            (self._index(first), self._index(second)),
            (first, second),
            scale=self.scale,
            factor=self.factor,
            confidence_level=self.confidence_level,
        )

    def _dominance(self, first: int, second: int, names: tuple[str, str]) -> Dominance | None:
        """Whether one of two models is better over the whole range; the references have no table."""
        if max(first, second) >= len(self.tables) or first == second:
            return None
        tables = self.tables[first], self.tables[second]
        return dominance(*tables, low=self.costs.low, high=self.costs.high, rule=self.rule, names=names)

    def adjusted_ranking(self) -> Ranking:
        """Rank the models, with the ranks that remain possible when every pair has been compared.

        Returns
        -------
        Ranking
            One row for each model, from the lowest cost; ``.best`` names those that may be the best. Pairwise p-values
            are adjusted after Holm, so that all statements hold at once with the evaluation's confidence.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}
        >>> [(row.model, row.rank_low, row.rank_high) for row in evaluate([0, 1, 0, 1] * 10, models).adjusted_ranking()]
        [('a', 1, 1), ('b', 2, 2)]
        """
        pairs = combinations(range(len(self.models)), 2)
        differences = {pair: self.moments.difference(*pair) for pair in pairs}
        scores = [self.results[i].score for i in range(len(self.models))]
        return rank_models(self.models, scores, differences, self.confidence_level)

    def curves(self, kind: CurveKind = "regret") -> dict[str, Curve]:
        """Exact curves of every model.

        Parameters
        ----------
        kind : {"regret", "net_benefit", "reliability"}, default "regret"
            What to draw.

        Returns
        -------
        dict of str to Curve

        Raises
        ------
        ValueError
            For an unknown kind.

        Examples
        --------
        >>> from stakes import evaluate
        >>> list(evaluate([0, 1], {"a": [0.1, 0.8]}).curves("net_benefit"))
        ['a']
        """
        pairs = list(zip(self.tables, self.models, strict=True))
        if kind == "reliability":
            return {name: reliability_curve_of(table, name) for table, name in pairs}
        if kind not in _CURVES:
            raise ValueError(f'kind must be "regret", "net_benefit" or "reliability", got {kind!r}.')
        return {name: _CURVES[kind](table, self.rule, name) for table, name in pairs}

    def best_by_bounds(self, edges: int | ArrayLike = 101, *, references: bool = False) -> BestByBounds:
        """Say which model has the lowest mean regret for every range of plausible thresholds.

        Parameters
        ----------
        edges : int or array_like, default 101
            Ends of the ranges, or how many of them between 0 and 1.
        references : bool, default False
            Whether "treat all" and "treat none" compete too.

        Returns
        -------
        BestByBounds
            Cost ratios within a range count uniformly (uniformly in log-odds where the evaluation's do).

        Raises
        ------
        ValueError
            For edges out of order.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]})
        >>> result.best_by_bounds(edges=[0.0, 0.5, 1.0]).frame("polars")["best"].to_list()
        ['a', 'a', 'a']
        """
        family = LogOddsUniform(0.001, 0.999) if isinstance(self.costs, LogOddsUniform) else None
        return best_by_bounds(self._named_tables(), costs=family, edges=edges, rule=self.rule, references=references)

    def best_by_cost(self, *, references: bool = False) -> BestByCost:
        """Say which model has the lowest regret at every single cost ratio, exactly.

        Parameters
        ----------
        references : bool, default False
            Whether "treat all" and "treat none" compete too.

        Returns
        -------
        BestByCost

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"a": [0.2, 0.4], "b": [0.6, 0.8]}).best_by_cost()
        BestByCost(a up to 0.4, b up to 0.5, a up to 0.6, b up to 0.8, a up to 1)
        """
        return best_by_cost(self._named_tables(), rule=self.rule, references=references)

    def _named_tables(self) -> dict[str, ScoreTable]:
        return dict(zip(self.models, self.tables, strict=True))

    @cached_property
    def conclusion(self) -> list[str]:
        """Plain sentences: which model to act on, by how much, how sure that is, and against treating all or none.

        Examples
        --------
        >>> from stakes import evaluate
        >>> print(evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}).conclusion[0])
        With thresholds anywhere between 0% and 100%, a has an expected cost of 0.0125 per decision (regret), ...
        """
        return conclude(self)

    @cached_property
    def findings(self) -> Findings:
        """What a careful reader should know before acting on the result, the gravest first; see ``docs/findings.md``.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1, 1, 0] * 25, {"a": [0, 1, 0, 1] * 25}, costs=(0.3, 0.4)).findings.codes
        ('hard-labels', 'not-better', 'half-outside')
        """
        return self.check()

    def check(self, *, ignore: Iterable[str] = ()) -> Findings:
        """Look for what is wrong with the scores, the rows, or the usual metrics for this decision.

        Parameters
        ----------
        ignore : iterable of str, optional
            Codes of findings to leave out; ``stakes.evaluation.FINDINGS`` lists them.

        Returns
        -------
        Findings
            Each with ``code``, ``severity``, ``sentence``, ``evidence`` and ``remedy``.

        Raises
        ------
        ValueError
            For an unknown code.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 1, 0] * 25, {"a": [0, 1, 0, 1] * 25}, costs=(0.3, 0.4))
        >>> result.check(ignore=["half-outside", "not-better"]).codes
        ('hard-labels',)
        """
        return run_checks(self, ignore)

    def _records(self) -> list[dict[str, Any]]:
        ranked = [self[name] for name in (*self.ranking, *REFERENCES)]
        return [self._record(rank, result) for rank, result in enumerate(ranked, start=1)]

    def _record(self, rank: int, result: ModelResult) -> dict[str, Any]:
        is_model = result.decomposition is not None
        parts = result.decomposition
        record: dict[str, Any] = {
            "model": result.name,
            "kind": "model" if is_model else "reference",
            "rank": rank if is_model else None,
            "score": result.score,
            "standard_error": result.standard_error,
            "ci_low": result.interval[0],
            "ci_high": result.interval[1],
            "skill": parts.skill if parts else math.nan,
            "miscalibration": parts.miscalibration if parts else math.nan,
            "discrimination": parts.discrimination if parts else math.nan,
            "uncertainty": parts.uncertainty if parts else math.nan,
            "auc": result.auc,
            "share_acted_on": result.share_acted_on,
        }
        for label, other in (
            ("best", self.ranking[0]),
            ("treat_all", REFERENCES[0]),
            ("treat_none", REFERENCES[1]),
        ):
            versus = self._difference(result.name, other) if other != result.name else None
            record[f"vs_{label}"] = versus.difference if versus else 0.0
            record[f"vs_{label}_low"] = versus.interval[0] if versus else 0.0
            record[f"vs_{label}_high"] = versus.interval[1] if versus else 0.0
            record[f"vs_{label}_p_value"] = versus.p_value if versus else math.nan
        record["acts_like"] = result.acts_like
        record |= {name: result.metrics.get(name, math.nan) for name in self.results[0].metrics}
        return record

    def to_json(self) -> str:
        """Return settings, table, conclusion, findings and data summary as JSON.

        Returns
        -------
        str
            Infinite numbers stand as "inf" and "-inf", undefined ones as null.

        Examples
        --------
        >>> import json
        >>> from stakes import evaluate
        >>> list(json.loads(evaluate([0, 1], [0.1, 0.8]).to_json()))[-5:]
        ['models', 'conclusion', 'ranking', 'groups', 'findings']
        """
        import json

        content = {
            "source": self.source,
            "data": {"rows": self.n_rows, "dropped": self.n_dropped, "prevalence": self.prevalence},
            "costs": self.costs.to_dict(),
            "rule": self.rule,
            "scale": self.scale,
            "unit_cost": self.unit_cost,
            "per": self.per,
            "confidence_level": self.confidence_level,
            "models": self._records(),
            "conclusion": self.conclusion,
            "ranking": self.adjusted_ranking()._records(),
            "groups": self.groups._records(),
            "findings": [finding.record() for finding in self.findings],
        }
        return json.dumps(json_ready(content), indent=2)

    def plot(self, **options: Any) -> Any:
        """Draw regret, decision curve, reliability and decomposition in one figure with matplotlib.

        Parameters
        ----------
        **options
            Passed to the drawing room.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import evaluate
        >>> figure = evaluate([0, 1], [0.1, 0.8]).plot()
        """
        from stakes._faces import plot_evaluation

        return plot_evaluation(self, **options)

    def to_html(self, path: str | Path) -> Path:
        """Write the report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or Path
            Where to write; written beside and renamed, so that no half-written file is left.

        Returns
        -------
        Path
            The file written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from stakes import evaluate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = evaluate([0, 1], [0.1, 0.8]).to_html(pathlib.Path(folder) / "report.html")
        """
        from stakes._faces import write_report

        return write_report(self, path)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def _default_backend(self) -> Any:
        return self.backend

    def __repr__(self) -> str:
        plural = "model" if len(self.models) == 1 else "models"
        return (
            f"Evaluation(best: {self.best.name}, {self.scale} {self.best.score:.4g}; {len(self.models)} {plural}, "
            f"{self.n_rows} rows, costs={self.costs!r})"
        )

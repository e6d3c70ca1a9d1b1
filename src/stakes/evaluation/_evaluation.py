"""`Evaluation`."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from stakes import inference
from stakes.base.validation import BinarySample, check_choice, check_flag, check_kind, generator
from stakes.core.options import refuse_amounts
from stakes.costs import Deferral, LogOddsUniform
from stakes.curves import Curve, net_benefit_curve_of, regret_curve_of, reliability_curve_of
from stakes.evaluation._answer import Answer, answer_of
from stakes.evaluation._best_by_cost import BestByBounds, BestByCost, best_by_bounds, best_by_cost
from stakes.evaluation._calibration import Calibrations, area_of, calibrate
from stakes.evaluation._changes import GROUPS
from stakes.evaluation._checks import run_checks
from stakes.evaluation._finding import Findings
from stakes.evaluation._sentences import methods_text
from stakes.evaluation._standings import Standings, ranking_records, thresholds_of
from stakes.evaluation._tables import PAPER, ClinicalTable, details_table, flat_metrics, money_table, ranking_table
from stakes.outputs.files import delivered, json_ready
from stakes.outputs.hooks import draw, report
from stakes.outputs.result_table import ResultTable, Tabular
from stakes.outputs.text import REFERENCES, level_name

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from stakes.actions import DeferredModels
    from stakes.core.score_table import ScoreTable
    from stakes.information import ValueOfInformation


# Further questions to an evaluation: what more rows would be worth, and what leaving cases to someone else saves.


def samples_of(standings: Standings, what: str) -> dict[str, BinarySample]:
    """Clean rows by model, of an evaluation at face value that knows its rows."""
    rows = standings.rows
    if standings.imputations:
        raise ValueError(f"{what} has no pooled form for Imputed scores: evaluate one completed data set.")
    if rows is None:
        raise ValueError(inference.PAIRED_NEEDS_ROWS)
    if standings.rule != "score":
        raise ValueError(f'{what} needs rule="score", got {standings.rule!r}.')
    if rows.origin is not None:
        raise ValueError(f"{what} needs plain labels: rows of another outcome are not worth one row each.")
    if standings.options.harms(standings.models).any():
        raise ValueError(f"{what} does not count harm=: evaluate without it.")
    scores = zip(standings.models, rows.scores, strict=True)
    return {name: BinarySample(rows.y, score, rows.weight) for name, score in scores}


def information_of(standings: Standings, prior: str, **study: Any) -> ValueOfInformation:
    """What choosing now may lose and more rows would save, on the scale of the evaluation."""
    from stakes.information import PRIORS, StudyOptions, check_study, one_threshold, value_of

    what, options = "value of information", standings.options
    samples, rows = samples_of(standings, what), standings.rows
    if rows is not None and (rows.clusters is not None or rows.lags is not None or rows.fixed_prevalence):
        raise ValueError(
            f"{what} needs independent rows at their own prevalence: clusters, lags, prevalence change it."
        )
    if standings.scale != "regret":
        raise ValueError(f'{what} needs scale="regret", got {standings.scale!r}.')
    measure = options.costs
    asked = StudyOptions(
        one_threshold(measure),
        check_choice(prior, "prior", PRIORS),
        *check_study(**study, unit_cost=options.unit_cost, per=options.per),
    )
    costs = inference.CostRows.of(list(samples.values()), measure, factor=1.0 / measure.mass)
    names = (*standings.models, *REFERENCES)
    return value_of(costs, names, [sample.score for sample in samples.values()], asked, generator(0))


def deferral_of(standings: Standings, deferral: Deferral | float, capacity: float | None) -> DeferredModels:
    """What each model costs with the option to defer."""
    from stakes.actions import deferred_models

    samples, rows = samples_of(standings, "deferral"), standings.rows
    codes = None if rows is None else rows.clusters
    if rows is not None and rows.lags is not None:
        raise ValueError("deferral needs independent rows or clusters, and lags= says that they are in order.")
    return deferred_models(samples, standings.options, deferral, capacity, codes)


# The answer sheet: every model's cost over the plausible thresholds, how sure it is, and what it is compared with.

CurveKind = Literal["regret", "net_benefit", "reliability"]
BandKind = Literal["net_benefit", "regret"]
BANDS_OF_EVALUATION = ("net_benefit", "regret")
_CURVES = {"regret": regret_curve_of, "net_benefit": net_benefit_curve_of}
_MOST_COLUMNS = 6


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Standings, Tabular):
    """Expected cost of one or many models over the plausible thresholds, ranked, with intervals.

    Made by :func:`evaluate` and :func:`evaluate_frame`.

    Parameters
    ----------
    models : tuple of str
        Names, in the order given.
    score_tables : tuple of ScoreTable
        One for each model.
    moments : Decisions
        Mean losses and their covariance: the models, then "treat all" and "treat none".
    results : tuple of ModelResult
        The models, then the references, in the same order.
    options : Options
        What was asked for; ``costs``, ``rule``, ``scale``, ``confidence_level``, ``unit_cost`` and ``per`` are at hand
        as attributes too.
    n_rows, n_dropped : int
        Rows counted, and incomplete rows dropped on request.
    backend : str, optional
        Data-frame library of the caller.
    source : str, optional
        Where the data came from, for the report.
    rows : PairedRows, optional
        Labels, scores and weights of the models, where the rows are known.
    groups : Groups
        Every model in every subgroup that was asked for.
    provenance : dict of str to str
        What the report says of the data beside their source: "sha256" of the file, columns of "label" and "weight".
    information : ValueOfInformation, optional
        What more rows would be worth, where :meth:`with_information` asked for it.
    deferral : DeferredModels, optional
        What leaving cases to someone else saves, where :meth:`with_deferral` asked for it.
    pairs : PairSums, optional
        The sums that differences rest on, where tables stand for the rows.
    outcome : Outcome, optional
        What stood in place of the labels, such as :class:`stakes.TimeToEvent`.
    imputations : tuple of Evaluation
        Those of the completed data sets that this one pools, where scores are :class:`stakes.outcomes.Imputed`.

    Examples
    --------
    >>> from stakes import evaluate
    >>> evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}, costs=(0.2, 0.6))
    Evaluation(best: a, regret 0.01562; 2 models, 4 rows, costs=Uniform(low=0.2, high=0.6))
    """

    imputations: tuple[Evaluation, ...] = ()

    _paper: ClassVar[Mapping[str, str]] = PAPER
    _paper_intervals: ClassVar[str] = "simultaneous"

    def compare(self, a: str, b: str) -> inference.Comparison:
        """Paired difference in expected cost between two models, or a model and "treat all" or "treat none".

        Parameters
        ----------
        a, b : str
            Names of models or references.

        Returns
        -------
        Comparison
            ``difference`` is first minus second: negative means that the first is better. ``note`` says which test harm
            it counts.

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
        found = self.difference(a, b)
        found = replace(found, note="; ".join(filter(None, (found.note, self.harm_counted(a, b)))))
        known = a != b and {a, b} <= set(self.models)  # the references have no table
        known = known and self.options.harm_of(a) == self.options.harm_of(b)
        return replace(found, judge=partial(self._dominance, a, b)) if known else found

    def _dominance(self, a: str, b: str) -> inference.Dominance:
        """Whether one of two models is better over the whole range."""
        tables, (low, high) = (self.score_table(a), self.score_table(b)), (self.costs.low, self.costs.high)
        return inference.dominance(*tables, low=low, high=high, rule=self.rule, names=(a, b))

    def adjusted_ranking(self) -> inference.Ranking:
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
        scores = [self.results[i].score for i in range(len(self.models))]
        return inference.rank_models(self.models, scores, self.moments, self.confidence_level)

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
        pairs = list(zip(self.score_tables, self.models, strict=True))
        if kind == "reliability":
            refuse_amounts(self.score_tables[0])
            return {name: reliability_curve_of(table, name) for table, name in pairs}
        if kind not in _CURVES:
            raise ValueError(f'kind must be "regret", "net_benefit" or "reliability", got {kind!r}.')
        return {name: _CURVES[kind](table, self.rule, name, harm=self.options.harm_of(name)) for table, name in pairs}

    def bands(
        self, kind: BandKind = "net_benefit", thresholds: ArrayLike | None = None, *, references: bool = False
    ) -> dict[str, inference.Band]:
        """Return the curve of every model with intervals at each threshold, and bands that hold at all of them.

        Parameters
        ----------
        kind : {"net_benefit", "regret"}, default "net_benefit"
            Which curve.
        thresholds : array_like of shape (m,), optional
            Where to read it, ascending; by default up to 61 over the plausible range, of net benefit those below 1.
        references : bool, default False
            Whether "treat all" comes after the models; "treat none" has no error.

        Returns
        -------
        dict of str to Band

        Raises
        ------
        ValueError
            For decisions by another rule than the scores, amounts, rows in order, clusters whose rows are gone, an
            unknown kind, or invalid thresholds.

        Examples
        --------
        >>> from stakes import evaluate
        >>> found = evaluate([0, 1, 0, 1] * 25, {"a": [0.1, 0.8, 0.3, 0.6] * 25}).bands(thresholds=[0.2, 0.7])
        >>> found["a"].estimate.round(3).tolist(), found["a"].low.round(3).tolist()
        ([0.438, 0.25], [0.325, 0.146])
        """
        check_choice(kind, "kind", BANDS_OF_EVALUATION)
        if self.rule != "score":
            raise ValueError(f'bands need rule="score", got {self.rule!r}.')
        if self.rows is not None and self.rows.lags is not None:
            raise ValueError("bands need independent rows or clusters, and lags= says that they are in order.")
        if self.clusters_unseen:
            raise ValueError("bands of clusters need their rows, which are gone: evaluate arrays or a frame in memory.")
        refuse_amounts(self.score_tables[0])
        at = thresholds
        if at is None:
            at = np.unique(thresholds_of(self.costs))
            at = at[at < 1.0] if kind == "net_benefit" else at
        asked: dict[str, Any] = {"kind": kind, "thresholds": at, "confidence_level": self.confidence_level}
        found = {}
        if self.imputations:
            each = [one.bands(kind, at, references=references) for one in self.imputations]
            return {
                name: inference.pooled_band([bands[name] for bands in each], self.moments.clusters) for name in each[0]
            }
        for index, name in enumerate(self.models):
            data, options = self._rows_of(index)
            options |= asked | {"name": name, "harm": self.options.harm_of(name)}
            found[name] = inference.confidence_band(*data, **options)
        if check_flag(references, "references"):
            (data, options), treat_all = self._rows_of(0), REFERENCES[0]
            acting = (data[0].at_threshold(0.0),) if len(data) == 1 else (data[0], np.ones(len(data[1])))
            options |= asked | {"name": treat_all}
            found[treat_all] = inference.confidence_band(*acting, **options)
        return found

    def _rows_of(self, index: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Labels and scores of a model as public functions take them, and options; a table where rows are gone."""
        rows = self.rows
        if rows is None:
            return (self.score_tables[index],), {}
        outcome, score, _, weight = rows.arguments(index, index)
        score = score if rows.origin is None else rows.every_score[index]
        known = self.prevalence if rows.fixed_prevalence else None
        return (outcome, score), {"sample_weight": weight, "clusters": rows.clusters, "prevalence": known}

    def clinical_table(self, thresholds: ArrayLike, *, measure: BandKind = "net_benefit") -> ClinicalTable:
        """Return the table of a paper: AUC, and net benefit at a few thresholds, each with its interval.

        Parameters
        ----------
        thresholds : array_like of shape (m,)
            Ascending, at most six, chosen without looking at these rows.
        measure : {"net_benefit", "regret"}, default "net_benefit"
            What the cells at thresholds show.

        Returns
        -------
        ClinicalTable
            A row for each model and for treating all; ``to_word``, ``to_latex`` and ``to_markdown`` write each number
            with its interval in one cell, and the footnotes.

        Raises
        ------
        ValueError
            As :meth:`bands`, for more than six thresholds, and for amounts, which have no threshold.

        Examples
        --------
        >>> from stakes import evaluate
        >>> found = evaluate([0, 1, 0, 1] * 25, {"a": [0.1, 0.8, 0.3, 0.6] * 25}, costs=(0.1, 0.5))
        >>> found.clinical_table([0.2, 0.7])
        ClinicalTable(1 models at 2 thresholds)
        """
        bands = self.bands(measure, thresholds, references=True)
        asked = len(bands[self.models[0]].thresholds)
        if asked > _MOST_COLUMNS:
            raise ValueError(f"thresholds must be at most {_MOST_COLUMNS} for a table, got {asked}.")
        areas = {name: area_of(self, name) for name in self.models}
        rows = f"{self.n_rows:,} rows" if self.outcome is None else self.outcome.summary
        note = f"{rows}. In brackets the {level_name(self.confidence_level)} interval of each number alone."
        return ClinicalTable(bands, areas, (note,))

    @property
    def crossing(self) -> dict[str, inference.Band]:
        """How much less the chosen decision costs than those that are shown to cost less at some thresholds.

        The difference in regret per decision, chosen less other, over the range, for three of them at most; each with
        the band that the finding ``curves-cross`` speaks of: all that all bands say holds at once with the evaluation's
        confidence. Empty where no curves are shown to cross, or no band can be given.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}, costs=(0.1, 0.3)).crossing
        {}
        """
        return {} if self.by_threshold is None else self.by_threshold.bands

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
        asked: dict[str, Any] = {"rule": self.rule, "references": references, "harm": self.harms}
        return best_by_bounds(self._named_tables(), costs=family, edges=edges, **asked)

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
        return best_by_cost(self._named_tables(), rule=self.rule, references=references, harm=self.harms)

    def _named_tables(self) -> dict[str, ScoreTable]:
        return dict(zip(self.models, self.score_tables, strict=True))

    def with_information(
        self,
        *,
        more_rows: Sequence[int] = (100, 1000),
        decisions: float | Sequence[float] | None = None,
        discount: float | None = None,
        row_cost: float | None = None,
        fixed_cost: float = 0.0,
        prior: str = "indifference",
    ) -> Self:
        """Return this evaluation with what more rows would be worth, for its report and JSON too.

        Parameters
        ----------
        more_rows, decisions, discount, row_cost, fixed_cost, prior
            As in :func:`stakes.value_of_information`; values are in the unit of this evaluation's costs.

        Returns
        -------
        Evaluation
            With ``information``.

        Raises
        ------
        ValueError
            For rows that are not independent, or have no plain labels, and for invalid settings.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 0, 1] * 20, {"a": [0.1, 0.6, 0.3, 0.9] * 20}, costs=(0.2, 0.6))
        >>> result.with_information(more_rows=[500]).information.chosen
        'a'
        """
        study = {"more_rows": more_rows, "decisions": decisions, "discount": discount, "row_cost": row_cost}
        return replace(self, information=information_of(self, prior, fixed_cost=fixed_cost, **study))

    def with_deferral(self, deferral: Deferral | float, *, capacity: float | None = None) -> Self:
        """Return this evaluation with what leaving cases to someone else saves, for its report and JSON too.

        Parameters
        ----------
        deferral : Deferral or float
            What deferring costs, or its fee alone.
        capacity : int or float, optional
            How many cases may be deferred at most, or which share of them in (0, 1); needs one cost ratio.

        Returns
        -------
        Evaluation
            With ``deferral``.

        Raises
        ------
        ValueError
            For rows in order or without plain labels, and for invalid settings.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 0, 1] * 20, {"a": [0.1, 0.6, 0.3, 0.9] * 20}, costs=0.2).with_deferral(0.02)
        >>> round(result.deferral["a"].value, 4)
        0.035
        """
        return replace(self, deferral=deferral_of(self, deferral, capacity))

    @cached_property
    def calibration(self) -> Calibrations:
        """Calibration of every model as clinicians report it, of all cases and of those in the range, with intervals.

        It is worked out when it is first asked for; see :func:`calibration_summary` and ``docs/calibration.md``.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 0, 1, 1, 0] * 20, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5] * 20, costs=(0.2, 0.6))
        >>> result.calibration.of("model").overall
        CalibrationSummary(O:E 1.11 [0.968, 1.28], in the large 0.251 [-0.154, 0.656], slope 2.53 [1.54, 3.52], ICI ...)
        """
        refuse_amounts(self.score_tables[0])
        return calibrate(self)

    def methods(self, *, calibration: bool = True) -> str:
        """Return a methods paragraph for exactly what was computed, with numbered references, ready to paste.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        calibration : bool, default True
            Whether the calibration is reported too.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes import evaluate
        >>> text = evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}, costs=(0.1, 0.3)).methods()
        >>> print(text.splitlines()[0][:75])
        Predictions of 1 model were evaluated on 100 rows, 50% of them positive. We
        """
        return methods_text(self, calibration=calibration)

    def auc(self, model: str) -> inference.Estimate:
        """Area under the ROC curve of a model, with its interval.

        Parameters
        ----------
        model : str
            Its name.

        Returns
        -------
        Estimate

        Raises
        ------
        ValueError
            For an unknown model.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1, 0, 1] * 20, {"a": [0.1, 0.8, 0.3, 0.2] * 20}).auc("a")
        Estimate(roc_auc_score = 0.75, 95% interval [0.6239, 0.8444])
        """
        refuse_amounts(self.score_tables[0])
        check_choice(model, "model", self.models)
        return area_of(self, model)

    @cached_property
    def answer(self) -> Answer:
        """The answer on one screen: what to do, what it costs, one table, what is shown and what is not.

        The terminal, notebooks, Markdown and the report show this same object.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
        >>> evaluate([0, 1, 0, 1] * 50, models, costs=(0.2, 0.6)).answer.unit
        'A cost of 1 is one missed positive plus one false alarm.'
        """
        return answer_of(self, self.findings)

    @cached_property
    def conclusion(self) -> list[str]:
        """The sentences of the answer: what to do, what it costs, what is shown and what is not.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}, costs=(0.1, 0.3)).conclusion[0]
        'USE a.'
        """
        return self.answer.sentences

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

    def check(self, *, ignore: Iterable[str] = (), against: Evaluation | Literal["groups"] | None = None) -> Findings:
        """Look for what is wrong with the scores, the rows, or the usual metrics for this decision.

        Parameters
        ----------
        ignore : iterable of str, optional
            Codes of findings to leave out; ``stakes.evaluation.FINDINGS`` lists them.
        against : Evaluation or "groups", optional
            Look for models that are ``dearer`` too: than in an earlier evaluation of other rows, such as
            ``KeptEvaluation.evaluate()``, as a whole, or each group than the same group was in it (a group that it does
            not have, such as a new day, than all its rows); or in each group, such as a day, than in all others.

        Returns
        -------
        Findings
            Each with ``code``, ``severity``, ``sentence``, ``evidence`` and ``remedy``.

        Raises
        ------
        ValueError
            For an unknown code, and an earlier evaluation of other models or settings.

        Examples
        --------
        >>> from stakes import evaluate
        >>> result = evaluate([0, 1, 1, 0] * 25, {"a": [0, 1, 0, 1] * 25}, costs=(0.3, 0.4))
        >>> result.check(ignore=["half-outside", "not-better"]).codes
        ('hard-labels',)
        """
        if against is not None:
            if against != GROUPS:
                check_kind(against, "against", Evaluation, 'an Evaluation or "groups"', remedy="see .evaluate()")
            each = tuple(replace(one, _against=against) for one in self.imputations)
            return replace(self, _against=against, imputations=each).check(ignore=ignore)
        found = run_checks(self, ignore)
        sure = [set(run_checks(one, ignore).codes) for one in self.imputations]  # what every completed data set shows
        return Findings([finding for finding in found if all(finding.code in codes for codes in sure)])

    def _records(self) -> list[dict[str, Any]]:
        return self._ranked

    @cached_property
    def _ranked(self) -> list[dict[str, Any]]:
        return ranking_records(self)

    def to_json(self, path: str | os.PathLike[str] | None = None, *, calibration: bool = False) -> str:
        """Return settings, table, conclusion, findings and data summary as JSON.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.
        calibration : bool, default False
            Whether the calibration of every model is among them, which takes longer.

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
        content = {
            "source": self.source,
            "data": self.described,
            "costs": self.costs.to_dict(),
            "rule": self.rule,
            "scale": self.scale,
            "unit_cost": self.unit_cost,
            "per": self.per,
            **({"harm": self.harms} if self.harms else {}),
            "confidence_level": self.confidence_level,
            "models": self._records(),
            **({"money": _money_records(self.money)} if self.money else {}),
            **(
                {"money_over_costs": [r for each in self.money_over_costs.values() for r in _money_records(each)]}
                if self.money_over_costs
                else {}
            ),
            "conclusion": self.conclusion,
            "ranking": self.adjusted_ranking()._records(),
            "groups": self.groups._records(),
            **({"calibration": self.calibration._records()} if calibration else {}),
            **({"value_of_information": self.information.record()} if self.information else {}),
            **({"deferral": self.deferral.record()} if self.deferral else {}),
            "findings": [finding.record() for finding in self.findings],
        }
        return delivered(json.dumps(json_ready(content), indent=2), path)

    def tables(self, models: Collection[str] | None = None) -> dict[str, ResultTable]:
        """Return the tables that the terminal, the report and notebooks show, as raw numbers.

        Parameters
        ----------
        models : collection of str, optional
            Models that have rows; all by default.

        Returns
        -------
        dict of str to ResultTable
            "answer"; "ranking", with everything that is known of each model; "details", what the answer rests on;
            "calibration" and, where they apply, "groups", "money" and "scales", money over the cost ratios. Their
            ``rows`` are computed at first use; those of "answer" are of all models.

        Raises
        ------
        ValueError
            For an unknown model.

        Examples
        --------
        >>> from stakes import evaluate
        >>> tables = evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)).tables()
        >>> [(row["model"], round(row["score"], 5)) for row in tables["ranking"].rows]
        [('a', 0.01562), ('treat all', 0.2), ('treat none', 0.3)]
        """
        names = self.ranking if models is None else [check_choice(name, "model", self.models) for name in models]
        found = {
            "answer": self.answer.table,
            "ranking": ranking_table(self, names, self._records()),
            "details": details_table(self, names, self.answer.factor),
            "groups": self.groups.table(names) if self.groups else None,
            "calibration": None if self.options.per_stake else self.calibration.table(names),
            "money": money_table(self, names, {"": self.money}) if self.money else None,
            "scales": money_table(self, names, self.money_over_costs) if self.money_over_costs else None,
        }
        return {key: table for key, table in found.items() if table is not None}

    def to_metrics(self) -> dict[str, float]:
        """Return every number of the ranking in one flat dictionary, as MLflow's ``log_metrics`` takes it.

        Returns
        -------
        dict of str to float
            "model/column", by the columns of :meth:`frame`; yes and no as 1 and 0, nan where a number is undefined.

        Raises
        ------
        ValueError
            Where the names of two models differ only in signs that become "_".

        Examples
        --------
        >>> from stakes import evaluate
        >>> metrics = evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.6)).to_metrics()
        >>> round(metrics["a/score"], 5), metrics["a/rank"], round(metrics["treat all/score"], 5)
        (0.01562, 1.0, 0.2)
        """
        return flat_metrics(self._records())

    def plot(self, **options: Any) -> Any:
        """Draw regret, decision curve, reliability and decomposition in one figure with matplotlib.

        Of rows with amounts there is no reliability, and the curves are per unit of money at stake. Where curves are
        shown to cross, their difference with its band stands below.

        Parameters
        ----------
        **options
            Passed to :func:`stakes.display.plot_evaluation`; with ``kind="paper"`` to
            :func:`stakes.display.plot_study`, which draws decision curves with bands, the scores and a table.

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
        return draw(self, **options)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the report: one HTML file that needs no network; that of rows with amounts has no scripts.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], [0.1, 0.8]).to_html()[:15]
        '<!doctype html>'
        """
        page: str = report(self, path)
        return page

    def _repr_html_(self) -> str:
        return self.answer._repr_html_()

    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the answer as Markdown: its sentences and its table.

        Parameters
        ----------
        path : str or path, optional
            Where to write it too: beside and renamed, so that no half-written file is left.

        Returns
        -------
        str

        Examples
        --------
        >>> from stakes import evaluate
        >>> print(evaluate([0, 1] * 50, {"a": [0.1, 0.8] * 50}, costs=(0.1, 0.3)).to_markdown()[:37])
        100 rows, 50 positives (50%); 1 model
        """
        return self.answer.to_markdown(path)

    def _default_backend(self) -> Any:
        return self.backend

    def __repr__(self) -> str:
        plural = "model" if len(self.models) == 1 else "models"
        return (
            f"Evaluation(best: {self.best.name}, {self.scale} {self.best.score:.4g}; {len(self.models)} {plural}, "
            f"{self.n_rows} rows, costs={self.costs!r})"
        )


def _money_records(money: Mapping[str, inference.Money]) -> list[dict[str, Any]]:
    return [{"model": name, **record} for name, found in money.items() for record in found._records()]

"""What an evaluation found, and no more: every model's cost, their order, and the difference between any two.

The sentences, the checks and the notebook's table are made from this; only the evaluation itself knows them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from stakes.core.validation import check_choice
from stakes.evaluation._by_threshold import by_threshold
from stakes.evaluation._choice import choose
from stakes.evaluation._groups import Groups
from stakes.evaluation._money import money_by_model
from stakes.inference import MONEY_SCALES, Comparison, LossMoments, comparison_from_moments
from stakes.shown.sentences import REFERENCES, say
from stakes.shown.words import join, number

if TYPE_CHECKING:
    from stakes.actions import DeferredModels
    from stakes.core.options import Options
    from stakes.core.outcome import Outcome
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution
    from stakes.decomposition import Decomposition
    from stakes.evaluation._by_threshold import ByThreshold
    from stakes.inference import Money, PairedRows, PairSums, Selection
    from stakes.information import ValueOfInformation


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
class Standings:
    """Every model's cost, ranked, and the difference between any two; see :class:`Evaluation` for the fields."""

    models: tuple[str, ...]
    tables: tuple[ScoreTable, ...]
    moments: LossMoments
    results: tuple[ModelResult, ...]
    options: Options
    n_rows: int
    n_dropped: int = 0
    backend: str | None = None
    source: str | None = None
    rows: PairedRows | None = None
    groups: Groups = field(default_factory=Groups)
    provenance: dict[str, str] = field(default_factory=dict)
    information: ValueOfInformation | None = None
    deferral: DeferredModels | None = None
    pairs: PairSums | None = None
    outcome: Outcome | None = None

    @property
    def costs(self) -> CostDistribution:
        """How much each cost ratio counts."""
        return self.options.costs

    @property
    def rule(self) -> Rule:
        """How scores become decisions."""
        return self.options.rule

    @property
    def scale(self) -> str:
        """What the scores are: "regret", "integral" or "loss"."""
        return self.options.scale

    @property
    def factor(self) -> float:
        """From the integral of regret to the scale and unit."""
        return self.options.factor

    @property
    def confidence_level(self) -> float:
        """Of every interval."""
        return self.options.confidence_level

    @property
    def unit_cost(self) -> float:
        """What a false positive and a false negative cost together."""
        return self.options.unit_cost

    @property
    def per(self) -> float:
        """Number of decisions that scores refer to."""
        return self.options.per

    @property
    def harms(self) -> dict[str, float]:
        """What obtaining the score of each model costs a case, in positives missed; empty where none costs anything."""
        found = {name: self.options.harm_of(name) for name in self.models}
        return found if any(found.values()) else {}

    @property
    def harm_line(self) -> str:
        """What obtaining a score costs, and which numbers count it; empty where it costs nothing."""
        found = self.harms
        if len(set(found.values())) == 1:
            return say("harm", harm=number(next(iter(found.values()))))
        each = [say("harm_of", name=name, harm=number(value)) for name, value in found.items()]
        return say("harms", each=join(each)) if each else ""

    @property
    def data_line(self) -> str:
        """What is known of the rows, where an outcome weighs them; empty for plain labels."""
        return "" if self.rows is None or self.rows.origin is None else self.rows.origin.outcome.summary

    @cached_property
    def money(self) -> dict[str, Money]:
        """What acting by each model costs and saves in money per row, as stated; empty unless rows have amounts.

        Examples
        --------
        >>> from stakes import RowCosts, evaluate
        >>> orders = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
        >>> evaluate(orders, {"a": [0.02, 0.3, 0.2, 0.1] * 20}).money["a"].cost.value
        5.0
        """
        return money_by_model(self.models, self.rows, self.options)

    @cached_property
    def money_over_costs(self) -> dict[str, dict[str, Money]]:
        """The same over the cost ratios of the evaluation, by which amounts are held as stated; empty for one ratio.

        Examples
        --------
        >>> from stakes import RowCosts, costs, evaluate
        >>> orders = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
        >>> found = evaluate(orders, [0.02, 0.3, 0.2, 0.1] * 20, costs=costs.LogOddsUniform(1 / 3, 2 / 3))
        >>> {scale: round(by_model["model"].cost.value, 2) for scale, by_model in found.money_over_costs.items()}
        {'false_negative': 5.0, 'false_positive': 5.41, 'sum': 5.0}
        """
        if self.costs.low == self.costs.high:
            return {}
        found = {
            scale: money_by_model(self.models, self.rows, self.options, costs=self.costs, scale=scale)
            for scale in MONEY_SCALES
        }
        return {scale: by_model for scale, by_model in found.items() if by_model}

    @property
    def clusters_unseen(self) -> bool:
        """Whether an engine summed over clusters, whose rows are not known here."""
        return self.rows is None and self.moments.clusters > 0

    @property
    def described(self) -> dict[str, Any]:
        """The rows, as JSON says them."""
        told = {"outcome": self.data_line} if self.data_line else {}
        return {"rows": self.n_rows, "dropped": self.n_dropped, "prevalence": self.prevalence, **told}

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

    @cached_property
    def selection(self) -> Selection | None:
        """What may be said of the best decision although it was picked for being that; None where nothing is sure.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
        >>> evaluate([0, 1, 0, 1] * 50, models, costs=(0.2, 0.6)).selection.possible
        ('a',)
        """
        return choose(self.moments, self.models, self.n_rows, self.options)

    @cached_property
    def by_threshold(self) -> ByThreshold | None:
        """Where the chosen decision is shown to cost less than the others, and where more; None without a band.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
        >>> evaluate([0, 1, 0, 1] * 50, models, costs=(0.42, 0.58)).by_threshold.everywhere
        ('b', 'treat all', 'treat none')
        """
        tables = dict(zip(self.models, self.tables, strict=True))
        return by_threshold(self.rows, tables, self.selection, self.options)

    def __getitem__(self, name: str) -> ModelResult:
        return self.results[self.place(name)]

    def place(self, name: str) -> int:
        """Where a model or reference stands in ``results`` and ``moments``.

        Parameters
        ----------
        name : str
            A model, "treat all" or "treat none".

        Returns
        -------
        int

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"a": [0.1, 0.9]}).place("treat none")
        2
        """
        names = (*self.models, *REFERENCES)
        return names.index(check_choice(name, "model", names))

    def table(self, name: str) -> ScoreTable:
        """Labels and scores of one model.

        Parameters
        ----------
        name : str
            A model.

        Returns
        -------
        ScoreTable

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"a": [0.1, 0.9]}).table("a").n_rows
        2
        """
        return self.tables[self.models.index(name)]

    def adjusted_difference(self, first: str, second: str) -> Comparison:
        """As :meth:`difference`, with an interval and a p-value that allow for as many comparisons as there are models.

        Parameters
        ----------
        first, second : str
            Names of models or references; all models are compared with the second.

        Returns
        -------
        Comparison
            Its level is that of all these comparisons together (Bonferroni).

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.9] * 9, "b": [0.2, 0.8] * 9, "c": [0.3, 0.7] * 9}
        >>> result = evaluate([0, 1] * 9, models, costs=(0.05, 0.4))
        >>> result.adjusted_difference("b", "a").interval[1] > result.difference("b", "a").interval[1]
        True
        """
        count = len(self.models) if second in REFERENCES else max(len(self.models) - 1, 1)
        level = self.confidence_level
        options = replace(self.options, confidence_level=1.0 - (1.0 - level) / count)
        pair = self.place(first), self.place(second)
        found = comparison_from_moments(self.moments, pair, (first, second), options)
        return replace(found, confidence_level=level, p_value=min(count * found.p_value, 1.0))

    def difference(self, first: str, second: str) -> Comparison:
        """Paired difference in expected cost, as :meth:`Evaluation.compare` gives it, without the dominance.

        Parameters
        ----------
        first, second : str
            Names of models or references.

        Returns
        -------
        Comparison

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"a": [0.1, 0.9], "b": [0.2, 0.8]}).difference("a", "b").dominance is None
        True
        """
        return comparison_from_moments(
            self.moments, (self.place(first), self.place(second)), (first, second), self.options
        )

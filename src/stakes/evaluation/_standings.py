"""Order, choice, results by threshold; and the means over several completed data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes import inference
from stakes.base.numerics import ascending, logit, sigmoid
from stakes.base.outcome import Outcome
from stakes.base.validation import check_choice
from stakes.core.score_table import Rule, ScoreTable
from stakes.costs import CostDistribution, LogOddsUniform, NetBenefitUniform, Uniform
from stakes.evaluation._groups import Charged, Groups, money_by_model
from stakes.evaluation._words import Words
from stakes.outcomes import Imputed
from stakes.outputs.text import REFERENCES, join, number, percent, percents, say, shorten
from stakes.variance.influence import hides_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from stakes.actions import DeferredModels
    from stakes.core.options import Options
    from stakes.information import ValueOfInformation
    from stakes.metrics import Decomposition

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    from collections.abc import Sequence


# Which decision is best, said so that having picked it does not make it false; and where that cannot be said, why.


def choose(
    moments: inference.Decisions, models: tuple[str, ...], n_rows: int, options: Options
) -> inference.Selection | None:
    """Choose among the models and the references, from the moments of their costs; None where nothing is sure."""
    contest = contest_of(moments, models, n_rows, options)
    if contest is None:
        return None
    return inference.select(
        contest,
        incumbent=options.incumbent,
        n_tried=options.n_tried,
        confidence_level=options.confidence_level,
        scale=options.scale,
        per=options.per,
        where=f"{describe_costs(options.costs, options.per_stake)}, ",
        unit=options.per_stake or "decision",
    )


def contest_of(
    moments: inference.Decisions, models: tuple[str, ...], n_rows: int, options: Options
) -> inference.Contest | None:
    """Let the models and the references compete on the scale of the options; None where nothing is sure."""
    if options.rule == "optimal":
        return None
    return moments.contest(
        (*models, *REFERENCES),
        len(models),
        n_rows,
        factor=options.factor,
        highest=options.factor * (moments.highest + float(options.harms(models).max())),
    )


def describe_costs(costs: CostDistribution, per_stake: str = "") -> str:
    """The range of thresholds in words, or how far amounts are taken as they were stated."""
    if per_stake and costs.low == costs.high:
        factor = costs.low / (1.0 - costs.low) if costs.low < 1.0 else np.inf
        return (
            "With amounts as stated" if factor == 1.0 else f"With false positives {factor:.3g} times the stated amount"
        )
    if per_stake:
        return describe_costs(costs).replace("thresholds", "cost ratios")
    words = {
        LogOddsUniform: say("log-odds"),
        NetBenefitUniform: ", uniform in net benefit",
        Uniform: say("uniform"),
    }
    known = [text for family, text in words.items() if isinstance(costs, family)]
    weighting = known[0] if known else f", weighted by {costs!r}"
    where = "at" if costs.low == costs.high else "average"
    low, high = percents([costs.low, costs.high])
    return say(where, low=low, high=high, weighting=weighting)


def why_unsaid(moments: inference.Decisions, options: Options) -> str:
    """Why there is no selection."""
    if options.rule == "optimal":
        return "the thresholds are fitted to these very rows"
    if not np.isfinite(moments.means).any():
        return "every cost is infinite"
    return moments.reason or moments.unpaired or "one class has too few rows"


# Whether the decision that costs least on average does so at every threshold, and where it does not.

_POINTS = 61
_LONGEST_FILE = 60
_BIN = np.int8  # counts up to as many
_ROWS = 1 << 18  # of a table that are looked at at once
MOST_RIVALS = 3


@dataclass(frozen=True, eq=False, repr=False)
class ByThreshold:
    """Where the chosen decision is shown to cost less than each other one (``less``), and where more (``more``).

    All these statements hold at once with the evaluation's confidence, whichever decision was chosen.
    ``everywhere`` names those that it is shown to beat at all thresholds of the range; ``bands`` holds the difference
    to those in ``dearer``, at most three.
    """

    thresholds: Floats
    less: dict[str, Bools]
    more: dict[str, Bools]
    everywhere: tuple[str, ...]
    bands: dict[str, inference.Band]

    @property
    def dearer(self) -> tuple[str, ...]:
        """Decisions that are shown to cost less somewhere, those with the longest stretch first."""
        return dearer_of(self.more)

    def renamed(self, names: Mapping[str, str]) -> ByThreshold:
        """The same with other names in place of those of models."""
        less, more = ({names.get(k, k): v for k, v in found.items()} for found in (self.less, self.more))
        bands = {names.get(k, k): band for k, band in self.bands.items()}
        return ByThreshold(self.thresholds, less, more, tuple(names.get(k, k) for k in self.everywhere), bands)

    def told(self, where: Bools) -> str:
        """Stretches of thresholds in words."""
        return " and ".join(
            say("stretch_point" if low == high else "stretch", low=low, high=high)
            for low, high in map(percents, self.stretches(where))
        )

    def stretches(self, where: Bools) -> list[tuple[float, float]]:
        """First and last threshold of each run of neighbours."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], where, [0]])))
        return [
            (float(self.thresholds[a]), float(self.thresholds[b - 1]))
            for a, b in zip(edges[::2], edges[1::2], strict=True)
        ]


def by_threshold(
    rows: inference.PairedRows | None,
    tables: dict[str, ScoreTable],
    choice: inference.Selection | None,
    options: Options,
) -> ByThreshold | None:
    """Compare the chosen decision with every other at many thresholds; None where no band can be given."""
    costs = options.costs
    if choice is None or rows is None or rows.dependent or _uneven(rows) or costs.low == costs.high:
        return None
    if options.per_stake:  # amounts, not thresholds, order these rows
        return None
    thresholds = thresholds_of(costs)
    bins = {
        name: inference.reached(_acted(s, options.rule), thresholds, _BIN)
        for name, s in zip(tables, rows.scores, strict=True)
    }
    for name, all_or_none in zip(REFERENCES, (len(thresholds), 0), strict=True):
        bins[name] = np.broadcast_to(_BIN(all_or_none), len(rows.y))
    count, chosen = max(len(tables), options.n_tried or 0), choice.chosen
    level, others = shared_level(options.confidence_level, count), compared(choice, bins)
    harms = {name: _harm(options, chosen) - _harm(options, name) for name in others}
    harm = np.outer(list(harms.values()), 1.0 - thresholds)
    shown = inference.shown_less(rows, [bins[name] for name in (chosen, *others)], thresholds, level, more=harm)
    less, more = (dict(zip(others, found, strict=True)) for found in shown)
    always = [name for name in others if less[name].all()]
    curves = {name: _table(name, tables, options) for name in (chosen, *always)}
    # what lies between thresholds is looked up on the rows alone, which a larger harm of the chosen one would change
    sure = [name for name in always if harms[name] <= 0.0]
    everywhere = [name for name in sure if _dominates(curves[chosen], curves[name], costs)]
    bands = {
        name: inference.shown_band(
            *(rows, (bins[chosen], bins[name]), thresholds, options.confidence_level),
            shared=level,
            name=f"{chosen} - {name}",
            more=harms[name] * (1.0 - thresholds),
        )
        for name in dearer_of(more)[:MOST_RIVALS]
    }
    return ByThreshold(thresholds, less, more, tuple(everywhere), bands)


def _harm(options: Options, name: str) -> float:
    return 0.0 if name in REFERENCES else options.harm_of(name)


def _uneven(rows: inference.PairedRows) -> bool:
    """Whether rows of a class weigh unalike: with few such rows these claims were false in 9% of samples."""
    return rows.weight is not None and any(
        bool(mine.any()) and float(np.ptp(rows.weight[mine])) > 0.0 for mine in (rows.y, ~rows.y)
    )


def dearer_of(more: dict[str, Bools]) -> tuple[str, ...]:
    """Names of what costs less somewhere, the longest stretch first."""
    return tuple(sorted((name for name in more if more[name].any()), key=lambda name: -int(more[name].sum())))


def shared_level(confidence_level: float, models: int) -> float:
    """Of one pair, so that those of all models, and of each with the references, hold at once."""
    return 1.0 - (1.0 - confidence_level) / (models * (models - 1) // 2 + len(REFERENCES) * models)


def compared(choice: inference.Selection, names: Iterable[str]) -> list[str]:
    """The decisions that the chosen one is compared with at every threshold."""
    return [name for name in names if name not in choice.tied and {name, choice.chosen} != set(REFERENCES)]


def _acted(scores: Floats, rule: Rule) -> Floats:
    return scores if isinstance(rule, str) else np.where(scores >= rule, 1.0, 0.0)


def thresholds_of(costs: CostDistribution) -> Floats:
    """Thresholds over the range, as its weighting spaces them; at 0 all decisions to act cost the same."""
    even, low, high = np.linspace(0.0, 1.0, _POINTS), costs.low, costs.high
    points = low + (high - low) * even
    if isinstance(costs, LogOddsUniform) and 0.0 < low < high < 1.0:
        ends = logit(np.array([low, high]))
        points[1:-1] = sigmoid(ends[0] + (ends[1] - ends[0]) * even[1:-1])
    return points[points > 0.0]


def _dominates(first: ScoreTable, second: ScoreTable, costs: CostDistribution) -> bool:
    """Whether the first costs less on these rows between the thresholds too, looked at some rows at a time."""
    more = max(first, second, key=lambda table: len(table.scores)).scores
    within = more[np.searchsorted(more, costs.low, side="right") : np.searchsorted(more, costs.high, side="left")]
    cuts = np.array([costs.low, *within[_ROWS::_ROWS], costs.high])
    better: set[str] = set()
    for low, high, one, two in zip(cuts, cuts[1:], _stretches(first, cuts), _stretches(second, cuts), strict=False):
        found = inference.dominance(one, two, low=low, high=high).stretches
        # the lower end belongs to the stretch before
        better |= {name for start, stop, name in found if start < stop or low == costs.low}
        if "b" in better:
            return False
    return "a" in better


def _table(name: str, tables: dict[str, ScoreTable], options: Options) -> ScoreTable:
    if name in REFERENCES:
        return _single(float(name == REFERENCES[0]), next(iter(tables.values())))
    return tables[name] if isinstance(options.rule, str) else tables[name].at_threshold(options.rule)


def _single(score: float, table: ScoreTable) -> ScoreTable:
    """The table in which all rows have one score."""
    ups, downs = np.array([table.total_positives]), np.array([table.total_negatives])
    return _pooled(table, np.array([score]), ups, downs)


def _stretches(table: ScoreTable, cuts: Floats) -> Iterator[ScoreTable]:
    """Tables with the same curves between neighbouring cuts: all scores below are pooled, and all above."""
    starts = np.maximum(np.searchsorted(table.scores, cuts[:-1], side="left") - 1, 0)
    stops = np.minimum(np.searchsorted(table.scores, cuts[1:], side="right") + 1, len(table.scores))
    weights = table.positives, table.negatives
    below = [np.cumsum([w[a:b].sum() for a, b in zip([0, *starts], starts, strict=False)]) for w in weights]
    above = [np.cumsum([w[a:b].sum() for a, b in zip(stops, [*stops[1:], None], strict=True)][::-1]) for w in weights]
    for k, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        columns = [w[start:stop].copy() for w in weights]
        for column, low, high in zip(columns, below, above, strict=True):
            column[0] += low[k]
            column[-1] += high[len(cuts) - 2 - k]
        yield _pooled(table, table.scores[start:stop], *columns)


def _pooled(table: ScoreTable, scores: Floats, ups: Floats, downs: Floats) -> ScoreTable:
    """A table of other scores; no curve asks for squared weights, in whose place the weights stand."""
    return ScoreTable(scores, ups, downs, ups, downs, table.n_rows, table.fixed_prevalence)


# What an evaluation found, and no more: every model's cost, their order, and the difference between any two.
#
# The sentences, the checks and the notebook's table are made from this; only the evaluation itself knows them.


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
    score_tables: tuple[ScoreTable, ...]
    moments: inference.Decisions
    results: tuple[ModelResult, ...]
    options: Options
    n_rows: int
    n_dropped: int = 0
    backend: str | None = None
    source: str | None = None
    rows: inference.PairedRows | None = None
    groups: Groups = field(default_factory=Groups)
    provenance: dict[str, str] = field(default_factory=dict)
    information: ValueOfInformation | None = None
    deferral: DeferredModels | None = None
    pairs: inference.PairSums | None = None
    outcome: Outcome | None = None
    imputations: tuple[Standings, ...] = ()
    _charged: Charged | None = None  # amounts of rows that are not kept
    _against: Standings | Literal["groups"] | None = None  # what a check holds the costs against

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

    def harm_counted(self, *names: str) -> str:
        """Note on a cost or a difference of these models that counts what obtaining their scores costs."""
        found = [(name, self.options.harm_of(name)) for name in names if name in self.models]
        each = [say("harm_of", name=name, harm=number(value)) for name, value in found]
        return f"counts test harm: {join(each)}" if any(value for _, value in found) else ""

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
        if self.imputations:
            return self.imputations[0].data_line
        if self._charged is not None:
            return self._charged.totals.summary
        return "" if self.rows is None or self.rows.origin is None else self.rows.origin.outcome.summary

    @cached_property
    def money(self) -> dict[str, inference.Money]:
        """What acting by each model costs and saves in money, as stated; empty unless rows have amounts.

        It is per 1,000 rows, unless ``per=`` asked for another number or the total.

        Examples
        --------
        >>> from stakes import RowCosts, evaluate
        >>> orders = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
        >>> evaluate(orders, {"a": [0.02, 0.3, 0.2, 0.1] * 20}).money["a"].cost.value
        5000.0
        """
        return self._charged.money if self._charged else money_by_model(self.models, self.rows, self.options)

    @cached_property
    def money_over_costs(self) -> dict[str, dict[str, inference.Money]]:
        """The same over the cost ratios of the evaluation, by which amounts are held as stated; empty for one ratio.

        Examples
        --------
        >>> from stakes import RowCosts, costs, evaluate
        >>> orders = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
        >>> found = evaluate(orders, [0.02, 0.3, 0.2, 0.1] * 20, costs=costs.LogOddsUniform(1 / 3, 2 / 3))
        >>> {scale: round(by_model["model"].cost.value, 2) for scale, by_model in found.money_over_costs.items()}
        {'false_negative': 5000.0, 'false_positive': 5410.11, 'sum': 5000.0}
        """
        if self.costs.low == self.costs.high:
            return {}
        if self._charged is not None:
            return self._charged.over_costs
        found = {
            scale: money_by_model(self.models, self.rows, self.options, costs=self.costs, scale=scale)
            for scale in inference.MONEY_SCALES
        }
        return {scale: by_model for scale, by_model in found.items() if by_model}

    @property
    def clusters_unseen(self) -> bool:
        """Whether an engine summed over clusters, whose rows are not known here."""
        return self.rows is None and self.moments.clusters > 0 and not self.imputations

    @property
    def units(self) -> float:
        """Number of rows (of clusters, where there are any) that the costs rest on."""
        return float(self.moments.clusters or sum(self.moments.rows))

    @property
    def described(self) -> dict[str, Any]:
        """The rows, as JSON says them."""
        told: dict[str, Any] = {"outcome": self.data_line} if self.data_line else {}
        if self.imputations:
            told["completed_data_sets"] = len(self.imputations)
        return {"rows": self.n_rows, "dropped": self.n_dropped, "prevalence": self.prevalence, **told}

    @property
    def words(self) -> Words:
        """What the action and the event are called."""
        return Words(self.options.action, self.options.event)

    @property
    def read(self) -> str:
        """What was read: source, rows, events and models."""
        words, share, ups = self.words, percent(self.prevalence), self._positives
        if self.options.per_stake:
            events = f"{share} of the stake on {words.events}"
        elif ups is None:
            events = f"{share} of the weight on {words.events}"
        elif self.score_tables[0].fixed_prevalence:
            events = f"{ups:,} {words.events}, reweighted to {share}"
        else:
            events = f"{ups:,} {words.event if ups == 1 else words.events} ({share})"
        label, weight = (shorten(self.provenance.get(key, "")) for key in ("label", "weight"))
        count, source = len(self.models), shorten(self.source or "", _LONGEST_FILE)
        return (
            f"{f'{source}: ' if source else ''}{self.data_line or f'{self.n_rows:,} rows'}, {events}"
            f"{f' in {label!r}' if label else ''}{f', weighted by {weight!r}' if weight else ''}; "
            f"{count:,} model{'s' * (count != 1)}"
            f"{f', pooled over {len(self.imputations)} completed data sets' if self.imputations else ''}"
        )

    @property
    def _positives(self) -> int | None:
        if self.imputations:
            return self.imputations[0]._positives
        if self.rows is not None:
            return int(self.rows.y.sum())
        if self.pairs is not None:
            return int(self.pairs.rows[1])
        return None if hides_rows(self.score_tables[0]) else int(self.moments.rows[1])

    @property
    def prevalence(self) -> float:
        """Weighted share of positives."""
        return self.score_tables[0].prevalence

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Models from the lowest expected cost to the highest; equal costs keep the order given.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"bad": [0.9, 0.1], "good": [0.1, 0.9]}).ranking
        ('good', 'bad')
        """
        return tuple(self.models[i] for i in ascending([each.score for each in self.results[: len(self.models)]]))

    @property
    def best(self) -> ModelResult:
        """The model with the lowest expected cost on these rows."""
        return self[self.ranking[0]]

    @cached_property
    def selection(self) -> inference.Selection | None:
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
    def more_than_first(self) -> dict[str, tuple[float, float, float]]:
        """How much more each decision costs than the first model, with the ends of an interval.

        All these intervals hold at once, and although that model was picked; nan where there are none.

        Examples
        --------
        >>> from stakes import evaluate
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6] * 50, "b": [0.4, 0.6, 0.5, 0.4] * 50}
        >>> [round(end, 3) for end in evaluate([0, 1, 0, 1] * 50, models, costs=(0.2, 0.6)).more_than_first["b"]]
        [0.15, 0.135, 0.165]
        """
        contest, first = contest_of(self.moments, self.models, self.n_rows, self.options), self.ranking[0]
        names = (*self.models, *REFERENCES)
        if contest is None:
            own = self[first].score
            return {name: (0.0 if name == first else self[name].score - own, math.nan, math.nan) for name in names}
        asked: dict[str, Any] = {"n_tried": self.options.n_tried, "confidence_level": self.confidence_level}
        return inference.differences_from(contest, first, **asked)

    @cached_property
    def decompositions(self) -> dict[int, inference.DecompositionInterval | None]:
        """Decompositions of the costs of models for the population, by their places, as far as they were asked for."""
        return {}

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
        tables = dict(zip(self.models, self.score_tables, strict=True))
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

    def score_table(self, name: str) -> ScoreTable:
        """Labels and scores of one model.

        Parameters
        ----------
        name : str
            A model.

        Returns
        -------
        ScoreTable

        Raises
        ------
        ValueError
            For an unknown model.

        Examples
        --------
        >>> from stakes import evaluate
        >>> evaluate([0, 1], {"a": [0.1, 0.9]}).score_table("a").n_rows
        2
        """
        return self.score_tables[self.models.index(check_choice(name, "model", self.models))]

    def difference(self, a: str, b: str) -> inference.Comparison:
        """Paired difference in expected cost, as :meth:`Evaluation.compare` gives it, without the dominance.

        Parameters
        ----------
        a, b : str
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
        return inference.comparison_from_moments(self.moments, (self.place(a), self.place(b)), (a, b), self.options)


# The ranking as records: which rows and numbers, in which order; tables and faces only render them.

Record = dict[str, Any]
TERMS = ("miscalibration", "discrimination", "uncertainty")


def cost_of_terms(known: Standings) -> str:
    """What the terms of a decomposition add up to: the scores at face value, and no harm, whatever costs count."""
    face_value = "" if known.rule == "score" else " at face value"
    return f"cost{face_value}{' without the harm' if known.harms else ''}"


def ranking_records(standings: Standings) -> list[Record]:
    """One record for each model from the lowest cost to the highest, then for treating all and treating none.

    ``ci_low`` and ``ci_high`` are pointwise, of the one number alone, as ``.interval`` of a result is. Intervals from
    ``simultaneous_low`` to ``simultaneous_high`` hold for the whole column, references included, so that having picked
    the first does not make one false.
    """
    ranked = [standings[name] for name in (*standings.ranking, *REFERENCES)]
    return [_record(standings, rank, result) for rank, result in enumerate(ranked, start=1)]


def _record(standings: Standings, rank: int, result: ModelResult) -> Record:
    parts, found = result.decomposition, standings.selection
    unknown = math.nan, math.nan
    return {
        "model": result.name,
        "kind": "reference" if parts is None else "model",
        "rank": None if parts is None else rank,
        "score": result.score,
        "standard_error": result.standard_error,
        **interval_ends("ci", result.interval),
        **interval_ends("simultaneous", unknown if found is None else found.intervals[result.name]),
        "may_be_best": None if found is None else result.name in found.possible,
        **{term: math.nan if parts is None else getattr(parts, term) for term in ("skill", *TERMS)},
        "auc": result.auc,
        "share_acted_on": result.share_acted_on,
        **_more_than_first(standings, result.name),
        "acts_like": result.acts_like,
        **{name: result.metrics.get(name, math.nan) for name in standings.results[0].metrics},
    }


def _more_than_first(standings: Standings, name: str) -> Record:
    """What the row costs more than the first model; nothing more than itself."""
    value, *together = standings.more_than_first[name]
    first = standings.ranking[0]
    alone = (0.0, 0.0)
    if name != first:
        apart = standings.moments.difference(standings.place(name), standings.place(first)).scaled(standings.factor)
        alone = apart.interval(standings.confidence_level)
    return {
        "vs_best": value,
        **interval_ends("vs_best_ci", alone),
        **interval_ends("vs_best_simultaneous", (together[0], together[1])),
    }


def interval_ends(stem: str, interval: tuple[float, float]) -> Record:
    return {f"{stem}_low": interval[0], f"{stem}_high": interval[1]}


def completed_scores(models: Mapping[str, Any], called: Mapping[str, str]) -> list[dict[str, tuple[Any, str]]]:
    """Scores of every model in each completed data set, and what to call them; one data set without imputation."""
    counts = {called[name]: len(scores.scores) for name, scores in models.items() if isinstance(scores, Imputed)}
    if len(set(counts.values())) > 1:
        told = join([f"{count} of {name}" for name, count in counts.items()])
        raise ValueError(f"y_prob must hold Imputed scores of the same completed data sets, got columns: {told}.")
    return [
        {
            name: (scores.scores[k], f"{called[name]}.scores[{k}]")
            if isinstance(scores, Imputed)
            else (scores, called[name])
            for name, scores in models.items()
        }
        for k in range(next(iter(counts.values()), 1))
    ]


def check_poolable(y_true: Any, options: Options) -> None:
    """Refuse what no rule pools over completed data sets."""
    if options.rule == "optimal":
        raise ValueError(
            'rule must be "score" or a threshold for Imputed scores, got "optimal": it fits each data set.'
        )
    if options.groups is not None:
        raise ValueError("groups must be None for Imputed scores: evaluate the rows of each group alone.")
    if isinstance(y_true, Outcome) and y_true.by_amount:
        raise ValueError(
            "y_true must have no amounts for Imputed scores, which weigh rows by the score: evaluate one completed "
            "data set, or pool the costs of all by stakes.inference.pool."
        )


def mean_facts(each: Sequence[ModelResult]) -> dict[str, Any]:
    """What is known of a model beside its cost, as the mean over completed data sets."""

    def mean(values: Iterable[float]) -> float:
        return inference.mean_of(list(values))

    shares = [one.in_range[0] for one in each]
    inside = [
        mean(share * one.in_range[k] if share else 0.0 for share, one in zip(shares, each, strict=True)) for k in (1, 2)
    ]
    share = mean(shares)
    terms = [one.decomposition for one in each if one.decomposition is not None]
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    means: dict[str, Any] = {name: mean(getattr(part, name) for part in terms) for name in names if terms}
    return {
        "decomposition": replace(terms[0], **means) if terms else None,
        "auc": mean(one.auc for one in each),
        "share_acted_on": mean(one.share_acted_on for one in each),
        "in_range": (share, *(part / share if share else math.nan for part in inside)),
        "acts_like": each[0].acts_like if len({one.acts_like for one in each}) == 1 else "",
        "metrics": {name: mean(one.metrics[name] for one in each) for name in each[0].metrics},
    }

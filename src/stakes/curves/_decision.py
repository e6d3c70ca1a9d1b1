"""Regret, decision, cost and Brier curves, threshold tables, and lower envelopes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.numerics import stratified_folds
from stakes.base.validation import (
    Bools,
    Floats,
    Integers,
    blocks,
    check_choice,
    check_flag,
    check_number,
    check_same_order,
    check_size,
    in_percent,
    to_array,
    to_floats,
)
from stakes.core.options import EvaluationData, check_harm, check_rule, evaluation_data, undefined
from stakes.core.score_table import Rule, ScoreTable, mean_table
from stakes.costs import CostDistribution, CostsLike, LogOddsUniform, Uniform, as_costs
from stakes.curves._curve import Basis, Combination, Curve, product, straight
from stakes.outcomes import Imputed, RowCosts, TimeToEvent, acted_shares
from stakes.outputs.result_table import Tabular, build_frame

Pieces = tuple[Floats, Floats, Floats]  # knots, shares of false positives and of false negatives in between
Owned = tuple[Floats, Floats, Floats, Integers]  # and whose piece it is


# Which of several regret curves is the lowest, at every cost ratio: their lower envelope, exactly.
#
# Between knots every curve is linear, so the lowest changes only at a knot or where two lines cross. Bounds by cell
# first rule out curves that cannot be the lowest there; the others are compared exactly.

TIE = 1e-12  # curves this close, relative to their height, count as equal: the first one is taken
_KNOTS = 1 << 10  # knots of a curve in a cell
_CELLS = 1 << 6  # at once


def lower_envelope(pieces: Sequence[Pieces], low: float = 0.0, high: float = 1.0) -> tuple[Floats, Integers]:
    """Knots between two cost ratios, and the index of the lowest regret on each piece (with its upper end).

    Each curve is given by its knots from 0 to 1 and, in between, its shares of false positives, which fall, and of
    false negatives, which rise.
    """
    cells = _cells([knots for knots, _, _ in pieces], low, high)
    rivals = _rivals(pieces, cells)
    turns = np.flatnonzero(np.append(True, (rivals[:, 1:] != rivals[:, :-1]).any(axis=0))[: rivals.shape[1]])
    parts: list[tuple[Floats, Integers]] = [(np.empty(0), np.empty(0, dtype=np.intp))]
    for first, last in pairwise([*turns.tolist(), rivals.shape[1]]):
        chosen = np.flatnonzero(rivals[:, first])
        if len(chosen) == 1:
            parts.append((cells[first : first + 1], chosen))
            continue
        for part in blocks(last - first, _CELLS):
            ends = float(cells[first + part.start]), float(cells[first + part.stop])
            curves = [_inside(pieces[k], k, *ends) for k in chosen.tolist()]
            while len(curves) > 1:  # in rounds, so that work grows as the knots times the logarithm of the curves
                curves = [reduce(_lower, curves[k : k + 2]) for k in range(0, len(curves), 2)]
            knots, _, _, best = curves[0]
            parts.append((knots[:-1], best))
    starts, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    new = np.diff(best, prepend=-1) != 0
    return np.append(starts[new], high), best[new]


def _cells(knots: Sequence[Floats], low: float, high: float) -> Floats:
    """Ends of cells with about a thousand knots of all curves together."""
    inside = [c[np.searchsorted(c, low, side="right") : np.searchsorted(c, high, side="left")] for c in knots]
    return np.unique(np.concatenate([[low, high], *(c[::_KNOTS] for c in inside)]))


def _rivals(pieces: Sequence[Pieces], cells: Floats) -> Bools:
    """Whether each curve (row) may be the lowest somewhere in each cell.

    False positives fall and false negatives rise: their shares at the ends of a cell bound a curve in it from both
    sides by straight lines. Whose lower bound lies above another's upper bound at both ends is never the lowest.
    """
    low, high = cells[:-1], cells[1:]
    ends = np.empty((2, 2, len(pieces), len(low)))  # (lower and upper bound, end of the cell, curve, cell)
    for row, (knots, alarms, misses) in enumerate(pieces):
        first = np.searchsorted(knots, low, side="right") - 1
        last = np.searchsorted(knots, high, side="left") - 1
        for bound, (alarm, miss) in enumerate(((alarms[last], misses[first]), (alarms[first], misses[last]))):
            ends[bound, :, row] = alarm * low + miss * (1.0 - low), alarm * high + miss * (1.0 - high)
    lower, upper = ends
    least = np.argmin(upper.sum(axis=0), axis=0)
    above = lower > np.take_along_axis(upper, least[None, None], axis=1) * (1.0 + 4.0 * TIE)
    return np.asarray(~above.all(axis=0))


def _inside(piece: Pieces, owner: int, low: float, high: float) -> Owned:
    """Select the pieces of a curve between two cost ratios."""
    knots, alarms, misses = piece
    first, last = int(np.searchsorted(knots, low, side="right")) - 1, int(np.searchsorted(knots, high, side="left"))
    edges = np.concatenate([[low], knots[first + 1 : last], [high]])
    return edges, alarms[first:last], misses[first:last], np.full(last - first, owner)


def _lower(first: Owned, second: Owned) -> Owned:
    """The lower of two curves; adjacent pieces of the same line and curve are merged."""
    edges = np.unique(np.concatenate([first[0], second[0]]))
    low, high = edges[:-1], edges[1:]
    at = [np.searchsorted(knots, high, side="left") - 1 for knots, *_ in (first, second)]
    alarms, misses, owners = (np.stack([first[k][at[0]], second[k][at[1]]]) for k in (1, 2, 3))
    heights = [alarms * c + misses * (1.0 - c) for c in (low, high)]
    before, after = (mine > other * (1.0 + TIE) for mine, other in heights)
    gaps = [mine - other for mine, other in heights]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(gaps[0] / (gaps[0] - gaps[1]))
    cross = np.where(before == after, low, low + (high - low) * np.clip(share, 0.0, 1.0))
    split = np.flatnonzero((before != after) & (cross > low) & (cross < high))
    later = np.concatenate([np.where(cross > low, before, after), after[split]]).astype(np.intp)
    starts, place = np.concatenate([low, cross[split]]), np.concatenate([np.arange(len(low)), split])
    order = np.argsort(starts, kind="stable")
    starts, later, place = starts[order], later[order], place[order]
    columns = [part[later, place] for part in (alarms, misses, owners)]
    new = np.append(True, np.logical_or.reduce([part[1:] != part[:-1] for part in columns]))
    return np.append(starts[new], edges[-1]), *(part[new] for part in columns)


# Counts and rates at decision thresholds, for every distinct score or for chosen thresholds.

_SHOWN_ROWS = 60
_COUNTS = ("threshold", "tp", "fp", "fn", "tn")
_RATES = ("sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "share_flagged")
COLUMNS = (*_COUNTS, *_RATES, "cost_ratio", "odds", "regret", "net_benefit")


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdTable(Tabular):
    """Counts and rates of acting where score >= threshold, one row for each threshold.

    Every column of :meth:`frame` is an attribute too, computed from the four counts when it is asked for.

    Parameters
    ----------
    threshold : ndarray of shape (k,)
        Ascending, or as given.
    tp, fp, fn, tn : ndarray of shape (k,)
        Weight of true and false positives and negatives.
    cost_ratio : ndarray of shape (k,)
        What a false positive costs at each threshold, a false negative costing the rest of 1; nan where each row has
        amounts of its own.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.
    cost : ndarray of shape (k,), optional
        What acting from each threshold on costs, in the unit of the amounts; None without amounts by row.
    choice : ThresholdChoice, optional
        The rows from which :attr:`best` is chosen; None without amounts by row.
    flagged : ndarray of shape (k,), optional
        Share of all rows that is flagged, where an outcome does not know the class of some; by default that of the
        counts, which stand for all rows by their weights.

    Examples
    --------
    >>> from stakes.curves import threshold_table
    >>> table = threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> table.sensitivity.tolist(), table.ppv.round(4).tolist()
    ([1.0, 1.0, 0.5, 0.5], [0.5, 0.6667, 0.5, 1.0])
    """

    _count_columns: ClassVar[tuple[str, ...]] = ("tp", "fp", "fn", "tn")

    threshold: Floats
    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    cost_ratio: Floats
    about: str = ""
    cost: Floats | None = None
    choice: ThresholdChoice | None = None
    flagged: Floats | None = None

    @cached_property
    def best(self) -> BestThreshold:
        """The one threshold for all rows that is cheapest on them, and what its choice costs on rows left out.

        Raises
        ------
        ValueError
            Without amounts by row.
        """
        if self.choice is None:
            raise ValueError(
                "best needs amounts by row, a RowCosts in place of y_true: with one cost ratio for all rows the best "
                "threshold for calibrated probabilities is that ratio."
            )
        return self.choice.best()

    @property
    def sensitivity(self) -> Floats:
        """Share of positives flagged (recall); nan without positives."""
        return _ratio(self.tp, self.tp + self.fn)

    @property
    def specificity(self) -> Floats:
        """Share of negatives not flagged; nan without negatives."""
        return _ratio(self.tn, self.tn + self.fp)

    @property
    def ppv(self) -> Floats:
        """Share of positives among the flagged (precision); nan where no one is."""
        return _ratio(self.tp, self.tp + self.fp)

    @property
    def npv(self) -> Floats:
        """Share of negatives among the rest; nan where everyone is flagged."""
        return _ratio(self.tn, self.tn + self.fn)

    @property
    def lr_positive(self) -> Floats:
        """Positive likelihood ratio, sensitivity / (1 - specificity); inf without false positives."""
        return _ratio(self.sensitivity, _ratio(self.fp, self.tn + self.fp))

    @property
    def lr_negative(self) -> Floats:
        """Negative likelihood ratio, (1 - sensitivity) / specificity."""
        return _ratio(_ratio(self.fn, self.tp + self.fn), self.specificity)

    @property
    def share_flagged(self) -> Floats:
        """Share of all weight that is flagged, that of rows of unknown class too."""
        return (self.tp + self.fp) / self._total if self.flagged is None else self.flagged

    @property
    def odds(self) -> Floats:
        """Exchange rate of the cost ratio, c / (1 - c): true positives that one false positive is worth."""
        return _ratio(self.cost_ratio, 1.0 - self.cost_ratio)

    @property
    def regret(self) -> Floats:
        """Cost per decision: c for a false positive, 1 - c for a false negative."""
        return (self.cost_ratio * self.fp + (1.0 - self.cost_ratio) * self.fn) / self._total

    @property
    def net_benefit(self) -> Floats:
        """True positives per case less false positives at the exchange rate; nan at a cost ratio of 1."""
        odds = np.where(self.cost_ratio < 1.0, self.odds, np.nan)
        return (self.tp - odds * self.fp) / self._total

    @property
    def _total(self) -> Floats:
        return self.tp + self.fp + self.fn + self.tn

    def frame(self, backend: Any = None) -> Any:
        """Return every column as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame

        Examples
        --------
        >>> from stakes.curves import threshold_table
        >>> threshold_table([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars").columns[:5]
        ['threshold', 'tp', 'fp', 'fn', 'tn']
        """
        return build_frame({name: getattr(self, name) for name in self._columns}, backend)

    @property
    def _columns(self) -> tuple[str, ...]:
        return COLUMNS if self.cost is None else (*_COUNTS, *_RATES, "cost")

    def _records(self) -> list[dict[str, Any]]:
        columns = [getattr(self, name).tolist() for name in self._columns]
        return [dict(zip(self._columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def _repr_html_(self) -> str:
        if len(self.threshold) <= _SHOWN_ROWS:
            return super()._repr_html_()
        rows = np.linspace(0, len(self.threshold) - 1, _SHOWN_ROWS).astype(np.intp)
        names = (*_COUNTS, "cost_ratio", "cost", "flagged")
        kept: dict[str, Any] = {name: column[rows] for name in names if (column := getattr(self, name)) is not None}
        return f"{replace(self, **kept)._repr_html_()}<p>{_SHOWN_ROWS} of {len(self.threshold)} thresholds</p>"

    def __repr__(self) -> str:
        low, high = self.threshold.min(), self.threshold.max()
        return f"ThresholdTable({len(self.threshold)} thresholds in [{low:g}, {high:g}])"


@dataclass(frozen=True)
class BestThreshold(Tabular):
    """The cheapest single threshold where each row has amounts of its own.

    Parameters
    ----------
    threshold : float
        Act where score >= threshold; infinite where acting on nobody is cheapest.
    cost : float
        What it costs on the rows that it was chosen on, the cheapest of many thresholds: on average too low.
    held_out_cost : float
        What thresholds cost that are chosen in the same way on nine tenths of the rows, on the tenth left out (ten
        folds, each with its share of either class); nan with fewer than two rows of a class.
    none, every : float
        What acting on nobody and on everybody costs.
    unit : str
        What costs are counted in.

    Examples
    --------
    >>> from stakes import RowCosts, threshold_table
    >>> outcome = RowCosts([0, 1, 0, 1] * 20, false_positive=30, false_negative=[100, 200, 50, 20] * 20, unit="EUR")
    >>> threshold_table(outcome, [0.02, 0.3, 0.2, 0.1] * 20, per=1).best
    BestThreshold(0.3: cost 5 EUR, held out 5 EUR)
    """

    threshold: float
    cost: float
    held_out_cost: float
    none: float
    every: float
    unit: str

    @property
    def optimism(self) -> float:
        """By how much costs on the rows of the choice are below those on rows left out."""
        return self.held_out_cost - self.cost

    def _records(self) -> list[dict[str, Any]]:
        return [{**vars(self), "optimism": self.optimism}]

    def __repr__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        costs = f"cost {self.cost:.4g}{unit}, held out {self.held_out_cost:.4g}{unit}"
        return f"BestThreshold({self.threshold:.4g}: {costs})"


_FOLDS = 10


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice:
    """Rows with what acting on them changes, for the choice of one threshold.

    Parameters
    ----------
    thresholds : ndarray of shape (k,)
        To choose from, ascending; acting on nobody comes with them.
    place : ndarray of shape (n,)
        How many of the thresholds are at or below the score of each row, which is acted on at these.
    change : ndarray of shape (n,)
        Cost of acting on each row less that of not acting, times its weight and in the units of the table.
    y : ndarray of shape (n,)
        Whether it is a positive.
    none : float
        Cost of acting on nobody.
    unit : str
        What costs are counted in.
    """

    thresholds: Floats
    place: Integers
    change: Floats
    y: Bools
    none: float
    unit: str

    def costs(self, among: Bools | slice = slice(None)) -> Floats:
        """Cost of acting from each threshold on, and on nobody, as changed by some of the rows."""
        size = len(self.thresholds) + 1
        changed = np.bincount(self.place[among], self.change[among], size)
        return self.none + np.append(np.cumsum(changed[:0:-1])[::-1], 0.0)

    def best(self) -> BestThreshold:
        """Choose on all rows, and ten times on nine tenths of them."""
        costs = self.costs()
        cut = _last_least(costs)
        acted = np.append(self.thresholds, np.inf)
        every = self.none + float(self.change.sum())
        return BestThreshold(float(acted[cut]), float(costs[cut]), self._held_out(), self.none, every, self.unit)

    def _held_out(self) -> float:
        if min(np.count_nonzero(self.y), np.count_nonzero(~self.y)) < 2:
            return math.nan
        folds, cost = stratified_folds(self.y, _FOLDS, np.random.default_rng(0)), self.none
        for fold in range(_FOLDS):
            left_out = folds == fold
            cut = _last_least(self.costs(~left_out))
            cost += float(self.change[left_out & (self.place > cut)].sum())
        return cost


def _last_least(costs: Floats) -> int:
    """Index of the least cost; of equals the last, which acts on fewest rows."""
    return len(costs) - 1 - int(np.argmin(costs[::-1]))


def threshold_table(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    thresholds: ArrayLike | None = None,
    costs: CostsLike | None = None,
    per: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> ThresholdTable:
    """Sensitivity, specificity, predictive values, likelihood ratios, share flagged and cost at every threshold.

    Parameters
    ----------
    y_true : array_like of shape (n,), ScoreTable or RowCosts
        Labels with two values, or a table that stands for labels and scores. Of labels with amounts by row, the table
        has the cost of acting from each threshold on, right decisions included as in :func:`stakes.money`, and
        ``.best``.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class; with ``costs`` given, any finite score that ranks.
    thresholds : array_like of shape (k,), optional
        By default every distinct score, ascending.
    costs : CostDistribution, tuple of float, or float, optional
        The cost ratio of regret and net benefit, or a range or distribution whose mean it is (both are linear in it).
        By default each threshold itself, as it would be chosen for a calibrated probability.
    per : float, optional
        Count, and cost amounts, per so many cases; by default the weights as they are, so that costs are totals.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    ThresholdTable
        nan stands where a rate is 0/0 (with a warning for one class only), inf where a likelihood ratio is infinite.

    Raises
    ------
    ValueError
        For invalid data, thresholds or costs.

    Notes
    -----
    Flagged means score >= threshold. The share flagged needs no outcome: where the class of some rows is not known, it
    is that of all rows, but under a stated ``prevalence``.

    Where probabilities are calibrated given the amounts, one threshold for all rows costs at least as much as one by
    row, whose cost :func:`stakes.money` says. On the rows of its choice a threshold looks too cheap: in simulated
    samples with lognormal amounts (sigma 1) and 14% positives its cost there was 24% below its cost in the population
    with 200 rows, 10% with 1,000 and 3% with 5,000. ``best.held_out_cost`` was within about 1% on average, and has a
    standard deviation of 30%, 13% and 6%. It has no interval, and takes rows as independent.

    Examples
    --------
    >>> from stakes.curves import threshold_table
    >>> table = threshold_table([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6], thresholds=[0.2], per=1000)
    >>> table.tp.tolist(), table.fp.tolist(), table.net_benefit.tolist()
    ([250.0], [250.0], [0.1875])
    """
    per = None if per is None else check_size(check_number(per, "per"), "per")
    if isinstance(y_true, RowCosts):
        beside = {"costs": costs, "sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        given = [name for name, value in beside.items() if value is not None]
        if given:
            raise ValueError(f"{given[0]}= does not fit amounts by row: the RowCosts says what rows cost and weigh.")
        return _amounts_table(y_true, y_prob, thresholds, per, logits=logits)
    data = evaluation_data(
        y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits, probability=costs is None
    )
    table = data.table
    chosen = None if thresholds is None else check_thresholds(thresholds, probability=costs is None)
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        undefined("sensitivity or specificity", "only one class is present")
    found = threshold_table_of(table, chosen, None if costs is None else as_costs(costs).mean(), per)
    return found if prevalence is not None else flagged_among(data, found)


def flagged_among(data: EvaluationData, found: ThresholdTable) -> ThresholdTable:
    """The table with the share flagged of all rows, where the class of some is not known."""
    every = data.everyone
    flagged = None if every is data else threshold_table_of(every.table, found.threshold).share_flagged
    return replace(found, flagged=flagged)


def _amounts_table(
    outcome: RowCosts, y_prob: Any, thresholds: ArrayLike | None, per: float | None, *, logits: bool
) -> ThresholdTable:
    """Threshold table of a model's own scores, with the cost of each threshold in the unit of the amounts."""
    if outcome.n_set_aside:
        raise ValueError(
            f"one threshold decides every row, and {outcome.n_set_aside} rows are set aside: leave them out first."
        )
    check_same_order(y_true=outcome, y_prob=y_prob)
    used, weight = outcome.present, outcome.units
    whole = evaluation_data(outcome.y, y_prob, weight, logits=logits)
    score = whole.rows.score
    y, weight = outcome.y[used], outcome.counted[used]
    known = weight > 0.0
    table = evaluation_data(y[known], score[known], weight[known]).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        undefined("sensitivity or specificity", "only one class is present")
    chosen = None if thresholds is None else check_thresholds(thresholds, probability=True)
    found = threshold_table_of(table, chosen, math.nan, per)
    if outcome.inner is not None:
        found = replace(found, flagged=threshold_table_of(whole.table, found.threshold).share_flagged)
    scale = 1.0 if per is None else per / table.total
    negative, positive = outcome.false_positive[used], outcome.false_negative[used]
    cuts = np.unique(found.threshold)
    choice = ThresholdChoice(
        cuts,
        np.searchsorted(cuts, score[known], side="right"),
        (scale * weight * np.where(y, -positive, negative))[known],
        y[known],
        scale * (outcome.base + float(np.dot(weight, y * positive))),
        outcome.unit,
    )
    cost = choice.costs()[np.searchsorted(cuts, found.threshold)]
    return replace(found, about=outcome.about, cost=cost, choice=choice)


def threshold_table_of(
    table: ScoreTable, thresholds: Floats | None = None, cost_ratio: float | None = None, per: float | None = None
) -> ThresholdTable:
    """Threshold table from a clean table."""
    missed = np.concatenate([[0.0], np.cumsum(table.positives)])
    spared = np.concatenate([[0.0], np.cumsum(table.negatives)])
    ups, downs = missed[-1], spared[-1]
    if thresholds is None:
        thresholds, fn, tn = table.scores, missed[:-1], spared[:-1]
    else:
        cut = np.searchsorted(table.scores, thresholds, side="left")
        fn, tn = missed[cut], spared[cut]
    unit = 1.0 if per is None else per / (ups + downs)
    c = thresholds if cost_ratio is None else np.full(len(thresholds), cost_ratio)
    return ThresholdTable(thresholds, (ups - fn) * unit, (downs - tn) * unit, fn * unit, tn * unit, c, table.about)


def check_thresholds(thresholds: ArrayLike, *, probability: bool) -> Floats:
    values = np.atleast_1d(to_floats(to_array(thresholds, "thresholds"), "thresholds"))
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"thresholds must be one or more numbers, got shape {values.shape}.")
    bad = np.isnan(values) | (probability & ~((values >= 0.0) & (values <= 1.0)))
    if np.any(bad):
        first = int(np.argmax(bad))
        rule = "lie in [0, 1] (for other scores pass costs=)" if probability else "not be nan"
        percent = in_percent(values[first]) if probability else ""
        raise ValueError(f"thresholds must {rule}, got {values[first]} at index {first}{percent}.")
    return values + 0.0  # -0.0 becomes 0.0


def _ratio(top: Floats, bottom: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(top / bottom)


# Regret and net benefit over every threshold, exactly.


def regret_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> Curve:
    """Cost per decision in excess of a perfect oracle, at every cost ratio in [0, 1].

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    Curve
        Its ``integral(a, b)`` is half the bounded Brier loss; ``references`` holds "treat all" and "treat none".

    Raises
    ------
    ValueError
        For invalid data or rule.

    Notes
    -----
    R(c) = c FP(c) + (1-c) FN(c), with FP and FN as shares of all rows and acting where score >= c (arXiv:2504.04528;
    its distribution functions must be left limits).

    Examples
    --------
    >>> from stakes import regret_curve
    >>> regret_curve([0, 0, 1], [0.2, 0.5, 0.7]).at([0.1, 0.3]).round(6).tolist()
    [0.066667, 0.1]
    """
    data = _curve_data(y_true, y_prob, rule, sample_weight, pos_label, prevalence, logits=logits, amounts=True)
    return regret_curve_of(data.table, check_rule(rule), name)


def _curve_data(y_true: Any, y_prob: Any, rule: Any, *about: Any, **how: Any) -> EvaluationData:
    """Validate the data of a curve; that of imputed scores is the mean of the curves of the completed data sets."""
    if not isinstance(y_prob, Imputed):
        return evaluation_data(y_true, y_prob, *about, **how)
    if rule == "optimal":
        raise ValueError(
            'rule must be "score" or a threshold for Imputed scores, got "optimal": it fits each data set.'
        )
    return EvaluationData(None, mean_table([evaluation_data(y_true, p, *about, **how).table for p in y_prob.scores]))


def net_benefit_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    harm: float = 0.0,
    standardized: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    censoring: str | None = None,
    thresholds: ArrayLike | None = None,
    name: str = "model",
) -> Curve:
    """Decision curve: net benefit at every threshold, beside treating everyone and no one.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    harm : float, default 0
        What obtaining the score costs each case, in true positives: 1/30 if one would test 30 people to find one
        positive. Treating everyone or no one needs no test.
    standardized : bool, default False
        Whether to divide by the prevalence: the share of the best possible net benefit.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    censoring : "acted", optional
        For a :class:`TimeToEvent`: estimate the event rate anew among the rows acted on at each threshold, as the
        packages named dcurves do, in place of one weight per row. nan where nobody acted on was followed for long
        enough. Takes one product limit for each distinct score.
    thresholds : array_like of shape (k,), optional
        With ``censoring="acted"``: the only thresholds, in [0, 1], at which the curve is to be exact; between them it
        is that of scores rounded down to them. By default it is exact everywhere.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    Curve
        Defined for thresholds in [0, 1); ``references`` holds "treat all" and "treat none". Never smoothed.

    Raises
    ------
    ValueError
        For invalid data, rule or harm.

    Notes
    -----
    Vickers and Elkin (2006); test harm as there, standardised net benefit as in Kerr et al. (2016).
    NB(t) = prevalence - R(t)/(1-t) - harm.

    Examples
    --------
    >>> from stakes import net_benefit_curve
    >>> curve = net_benefit_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.2)), round(float(curve.references["treat all"].at(0.2)), 6)
    (0.1875, 0.0625)
    """
    data = _curve_data(y_true, y_prob, rule, sample_weight, pos_label, prevalence, logits=logits, amounts=True)
    harm = check_harm(harm)
    check_flag(standardized, "standardized")
    if censoring is not None:
        check_choice(censoring, "censoring", ("acted",))
        if rule != "score" or standardized or prevalence is not None:
            raise ValueError('censoring="acted" takes neither rule= nor standardized= nor prevalence=.')
        if isinstance(y_prob, Imputed):
            raise ValueError('censoring="acted" takes one column of scores, got Imputed ones.')
        return _acted_curve(y_true, data, harm, name, thresholds)
    if thresholds is not None:
        raise ValueError('thresholds= belongs to censoring="acted": other curves are exact at every threshold.')
    if standardized and data.prevalence == 0.0:
        undefined("standardized net benefit", "there are no positives")
    return net_benefit_curve_of(data.table, check_rule(rule), name, harm=harm, standardized=standardized)


def _acted_curve(outcome: Any, data: EvaluationData, harm: float, name: str, thresholds: Any) -> Curve:
    """Decision curve from the event rate among the rows acted on at each threshold."""
    if not isinstance(outcome, TimeToEvent) or not outcome.pooled:
        raise ValueError('censoring="acted" needs a TimeToEvent without groups= and censoring=.')
    sample, use = data.rows, outcome.present
    score = np.zeros(len(use))
    score[use] = sample.score if sample.origin is None else sample.origin.score[use]
    if thresholds is not None:
        grid = np.unique(np.append(check_thresholds(thresholds, probability=True), 0.0))
        score = grid[np.searchsorted(grid, score, side="right") - 1]
    cuts, hits, alarms = acted_shares(outcome, score)
    inside = (cuts > 0.0) & (cuts < 1.0)
    last = float(cuts[-1] >= 1.0)  # whether any row is acted on at the highest thresholds
    height, slope = (np.append(part[inside], last * part[-1]) for part in (hits, -alarms))
    rate = outcome.prevalence
    references = _references("net benefit", "odds", (rate, -(1.0 - rate)), (0.0, 0.0))
    knots = np.concatenate([[0.0], cuts[inside], [1.0]])
    about = outcome.about.replace("weighted", "acted on weighted")
    start = rate - harm
    return Curve("net benefit", knots, height - harm, slope, start, "odds", name, references=references, about=about)


def regret_curve_of(table: ScoreTable, rule: Rule = "score", name: str = "model", *, harm: float = 0.0) -> Curve:
    """Regret curve from a clean table; the harm of obtaining a score is in missed positives per case."""
    knots, alarms, misses = error_pieces(table, rule)
    start = (0.0 if isinstance(rule, str) else float(misses[0])) + harm
    rate = table.prevalence
    references = _references("regret", "linear", (0.0, 1.0 - rate), (rate, -rate))
    slope = Combination(alarms, misses, second_factor=-1.0, constant=-harm)
    height = Combination(misses, constant=harm) if harm else misses
    return Curve("regret", knots, height, slope, start, "linear", name, references=references, about=table.about)


def net_benefit_curve_of(
    table: ScoreTable, rule: Rule = "score", name: str = "model", *, harm: float = 0.0, standardized: bool = False
) -> Curve:
    """Decision curve from a clean table."""
    knots, alarms, misses = error_pieces(table, rule)
    rate = table.prevalence
    start = (rate if isinstance(rule, str) else float(rate - misses[0])) - harm
    kind, unit = ("standardized net benefit", rate or math.nan) if standardized else ("net benefit", 1.0)
    references = _references(kind, "odds", (rate / unit, -(1.0 - rate) / unit), (0.0, 0.0))
    height = Combination(misses, first_factor=-1.0 / unit, constant=(rate - harm) / unit)
    slope = Combination(alarms, first_factor=-1.0 / unit)
    return Curve(kind, knots, height, slope, start / unit, "odds", name, references=references, about=table.about)


def error_pieces(table: ScoreTable, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Knots of the threshold axis [0, 1], and the shares of false positives and false negatives on each piece."""
    if not isinstance(rule, str):
        cut = int(np.searchsorted(table.scores, rule, side="left"))
        return np.array([0.0, 1.0]), table.false_positives[cut : cut + 1], table.false_negatives[cut : cut + 1]
    scores, alarms, misses = table.scores, table.false_positives, table.false_negatives
    if rule == "optimal":
        scores = table.pav_values
        alarms, misses = alarms[table.pav_starts], misses[table.pav_starts]
    first = int(scores[0] <= 0.0)
    last = len(scores) - int(scores[-1] >= 1.0)
    knots = table.knots
    if rule == "optimal":
        knots = np.concatenate([[0.0], scores[first:last], [1.0]]) if first < last else np.array([0.0, 1.0])
    stop = first + len(knots) - 1
    return knots, alarms[first:stop], misses[first:stop]


def _references(
    kind: str, basis: Basis, treat_all: tuple[float, float], treat_none: tuple[float, float]
) -> dict[str, Curve]:
    """Straight curves of treating everyone and no one, from the intercept and the slope of each."""
    return {
        name: Curve(kind, np.array([0.0, 1.0]), np.array([level]), np.array([slope]), level, basis, name)
        for name, (level, slope) in (("treat all", treat_all), ("treat none", treat_none))
    }


# Net interventions avoided: the decision curve relative to treating everyone.


@dataclass(frozen=True, eq=False, repr=False)
class InterventionsCurve(Curve):
    """Net interventions avoided over the threshold.

    Parameters
    ----------
    per : float
        Number of cases that they are counted in.

    Examples
    --------
    >>> from stakes.curves import interventions_avoided_curve
    >>> interventions_avoided_curve([0, 1], [0.2, 0.7], per=1000).per
    1000.0
    """

    per: float = 100.0


def interventions_avoided_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    per: float = 100.0,
    harm: float = 0.0,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> InterventionsCurve:
    """Unnecessary interventions avoided against treating everyone, net of the positives missed, at every threshold.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    per : float, default 100
        Number of cases that the avoided interventions are counted in.
    harm : float, default 0
        What obtaining the score costs each case, in true positives; see :func:`net_benefit_curve`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    InterventionsCurve
        Defined for thresholds in (0, 1); ``references`` holds "treat all" (zero) and "treat none". Never smoothed.

    Raises
    ------
    ValueError
        For invalid data, rule, ``per`` or ``harm``.

    Notes
    -----
    (NB(t) - NB of treating all) / odds(t) = TN - (FN + harm) (1-t)/t, as shares of all cases, times ``per``:
    Vickers et al. (2008), doi:10.1186/1472-6947-8-53.

    Examples
    --------
    >>> from stakes.curves import interventions_avoided_curve
    >>> curve = interventions_avoided_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.2))  # two of four are spared, and no one is missed
    50.0
    """
    per = check_size(check_number(per, "per"), "per")
    harm = check_harm(harm)
    data = _curve_data(y_true, y_prob, rule, sample_weight, pos_label, prevalence, logits=logits)
    table = data.table
    knots, alarms, misses = error_pieces(table, check_rule(rule))
    spared = 1.0 - table.prevalence
    level, slope, start = per * (spared - alarms), -per * (misses + harm), math.nan  # no value at a threshold of 0
    curve = InterventionsCurve("interventions avoided", knots, level, slope, start, "inverse odds", name, per=per)
    whole, zero = np.array([0.0, 1.0]), np.array([0.0])
    none = np.array([per * spared]), np.array([-per * table.prevalence])
    references = {
        "treat all": replace(curve, knots=whole, intercept=zero, slope=zero, name="treat all"),
        "treat none": replace(curve, knots=whole, intercept=none[0], slope=none[1], name="treat none"),
    }
    return replace(curve, references=references, about=table.about)


# Brier and cost curves.

# Brier curves: regret over the cost ratio, on an axis transformed so that areas equal the scores.

Axis = Literal["linear", "log-odds", "quadratic", "log"]
AXES = ("linear", "log-odds", "quadratic", "log")


@dataclass(frozen=True, eq=False, repr=False)
class BrierCurve(Curve):
    """Regret, or the net benefit that is lost, over the cost ratio, with a stretched axis to draw it on.

    Parameters
    ----------
    axis : {"linear", "log-odds", "quadratic", "log"}
        How the axis is stretched; see :func:`brier_curve`.

    Examples
    --------
    >>> from stakes.curves import brier_curve
    >>> curve = brier_curve([0, 1], [0.2, 0.6], axis="log-odds")
    >>> round(curve.integral(), 6)  # the log loss
    0.366985
    """

    axis: Axis = "linear"

    def position(self, c: ArrayLike) -> Floats:
        """Where a cost ratio lies on the stretched axis.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        ndarray
            c, log(c / (1-c)), -(1-c)**2 / 2 or log(c); infinite at the ends of a logarithmic axis.

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> float(brier_curve([0, 1], [0.2, 0.6], axis="quadratic").position(0.5))
        -0.125
        """
        at = np.asarray(c, dtype=float)
        with np.errstate(divide="ignore"):
            if self.axis == "quadratic":
                return -0.5 * (1.0 - at) ** 2
            if self.axis == "log":
                return np.log(at)
            return at + 0.0 if self.axis == "linear" else np.log(at) - np.log1p(-at)

    def integral(self, low: float | None = None, high: float | None = None) -> float:
        """Area under the curve on the stretched axis: the integral of regret that the axis stands for.

        Parameters
        ----------
        low, high : float, optional
            Cost ratios, by default 0 and 1.

        Returns
        -------
        float
            As ``expected_regret(..., scale="integral")`` with ``costs.Uniform(low, high)`` on the linear and the
            quadratic axis, with ``costs.LogOddsUniform(low, high)`` on the log-odds and the log axis.

        Raises
        ------
        ValueError
            If the bounds are not in order within [0, 1].

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> round(2 * brier_curve([0, 1], [0.2, 0.6]).integral(), 12)  # the Brier score
        0.1
        """
        a, b = 0.0 if low is None else float(low), 1.0 if high is None else float(high)
        if not 0.0 <= a <= b <= 1.0:
            raise ValueError(f"low, high must be in order within [0, 1], got ({low}, {high}).")
        if a == b:
            return 0.0
        costs = Uniform(a, b) if self.axis in {"linear", "quadratic"} else LogOddsUniform(a, b)
        misses, alarms = np.asarray(self.intercept), np.asarray(self.slope)
        if self.basis != "odds":
            alarms = misses + alarms
        return weighted_area(self.knots, alarms, misses, costs)

    def frame(self, backend: Any = None) -> Any:
        """Return the knots with their place on the axis and the value at each (left) and just above it (right).

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``threshold``, ``position``, ``left``, ``right``; the last right value is nan.

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> brier_curve([0, 1], [0.2, 0.6]).frame("polars").columns
        ['threshold', 'position', 'left', 'right']
        """
        left, right = self._sides()
        columns = {"threshold": self.knots, "position": self.position(self.knots), "left": left, "right": right}
        return build_frame(columns, backend)


def brier_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    axis: Axis = "linear",
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> BrierCurve:
    """Regret over the cost ratio, on an axis stretched so that the area between two bounds is the bounded score.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    axis : {"linear", "log-odds", "quadratic", "log"}, default "linear"
        "linear" and "log-odds" draw regret: areas are half the bounded Brier loss and the bounded log loss.
        "quadratic" and "log" draw the net benefit that is lost, prevalence - NB(c), over -(1-c)**2 / 2 and log(c): a
        decision curve whose areas are the same two scores.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    BrierCurve
        ``at(c)`` is the height, ``position(c)`` the place on the axis, ``integral(a, b)`` the area between two costs.

    Raises
    ------
    ValueError
        For invalid data, axis or rule.

    Notes
    -----
    Hernandez-Orallo, Flach and Ferri (2011) for the curve, there with costs 2c and 2(1-c); arXiv:2504.04528, E.3 and
    E.4 for the last two axes, whose integrands are printed as prevalence - NB(x) where NB at the inverse of the
    stretching is meant.

    Examples
    --------
    >>> from stakes import bounded_log_loss
    >>> from stakes.curves import brier_curve
    >>> y_true, y_prob = [0, 0, 1, 0, 1], [0.01, 0.04, 0.05, 0.09, 0.40]
    >>> round(brier_curve(y_true, y_prob, axis="log").integral(0.02, 0.10), 9)
    0.157574888
    >>> round(bounded_log_loss(y_true, y_prob, bounds=(0.02, 0.10)), 9)
    0.157574888
    """
    check_choice(axis, "axis", AXES)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    table, rule = data.table, check_rule(rule)
    knots, alarms, misses = error_pieces(table, rule)
    start = 0.0 if isinstance(rule, str) else float(misses[0])
    curve = _drawn(axis, knots, alarms, misses, start=start, name=name)
    rate, zero, whole = np.array([table.prevalence]), np.array([0.0]), np.array([0.0, 1.0])
    treat_all = _drawn(axis, whole, 1.0 - rate, zero, start=0.0, name="treat all")
    treat_none = _drawn(axis, whole, zero, rate, start=table.prevalence, name="treat none")
    references = {"treat all": treat_all, "treat none": treat_none}
    return replace(curve, references=references, about=table.about)


def _drawn(axis: Axis, knots: Floats, alarms: Floats, misses: Floats, **more: Any) -> BrierCurve:
    """Pieces of c * alarms + (1-c) * misses, or of this divided by 1 - c, the loss of net benefit."""
    if axis in {"linear", "log-odds"}:
        return BrierCurve("regret", knots, misses, alarms - misses, basis="linear", axis=axis, **more)
    return BrierCurve("net benefit lost", knots, misses, alarms, basis="odds", axis=axis, **more)


def weighted_area(knots: Floats, alarms: Floats, misses: Floats, costs: CostDistribution) -> float:
    """Integral of c * alarms + (1-c) * misses over a cost distribution without atoms, piece by piece."""
    first = int(np.clip(np.searchsorted(knots, costs.low, side="right") - 1, 0, len(alarms) - 1))
    last = int(np.clip(np.searchsorted(knots, costs.high, side="left"), first + 1, len(alarms)))
    edges, part = knots[first : last + 1], slice(first, last)
    acting, waiting = np.diff(costs.negative_loss(edges)), -np.diff(costs.positive_loss(edges))
    return float(np.sum(product(alarms[part], acting) + product(misses[part], waiting)))


# Drummond and Holte's cost curve: normalised expected cost against the weight of the positive class.

KIND = "normalized expected cost"
X_LABEL = "probability cost"


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """A cost curve and its lines, one for each threshold, whose envelope it is.

    Parameters
    ----------
    table : ScoreTable
        The scores behind it.

    Examples
    --------
    >>> from stakes.curves import cost_curve
    >>> cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).lines()[0].tolist()
    [0.1, 0.4, 0.8, inf]
    """

    table: ScoreTable = None  # type: ignore[assignment]

    def lines(self) -> tuple[Floats, Floats, Floats]:
        """Thresholds and, for acting at each of them, the cost at 0 (false positive rate) and at 1 (miss rate).

        Returns
        -------
        thresholds, at_zero, at_one : ndarray
            Every distinct score ascending, then infinity (never act).

        Examples
        --------
        >>> from stakes.curves import cost_curve
        >>> thresholds, at_zero, at_one = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).lines()
        >>> at_zero.tolist(), at_one.tolist()
        ([1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0])
        """
        thresholds = np.append(self.table.scores, np.inf)
        return thresholds, *_rates(self.table, self.table.false_positives, self.table.false_negatives)

    def probability_cost(self, c: ArrayLike) -> Floats:
        """Position of a cost ratio on the axis: the share of the maximum cost that falls on positives.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        ndarray
            pi (1-c) / (pi (1-c) + (1-pi) c), falling from 1 to 0.

        Examples
        --------
        >>> from stakes.curves import cost_curve
        >>> float(cost_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6]).probability_cost(0.25))
        0.5
        """
        return probability_cost(np.asarray(c, dtype=float), self.table.prevalence)


def cost_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "optimal",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> CostCurve:
    """Expected cost as a share of the worst possible, against how much of the worst would fall on positives.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores of the positive class: probabilities for ``rule="score"``, else anything that ranks.
    rule : {"optimal", "score"} or float, default "optimal"
        The lower envelope of all thresholds (in-sample, so optimistic), the threshold that the cost ratio asks of a
        probability, or one fixed threshold, which is a straight line.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Share of positives that places cost ratios on the axis. The lower envelope does not depend on it.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    CostCurve
        Over the probability cost PC in [0, 1]; ``lines()`` gives the line of every threshold, ``references`` "treat
        all" (1 - PC) and "treat none" (PC). Undefined (nan, with a warning) for one class only.

    Raises
    ------
    ValueError
        For invalid data or rule.

    Notes
    -----
    Drummond and Holte (2006), doi:10.1007/s10994-006-8199-5. With c the cost ratio, pi the prevalence and
    D = pi (1-c) + (1-pi) c the cost of deciding everything wrong: PC = pi (1-c) / D and the height is regret / D
    = FNR * PC + FPR * (1 - PC). Its area is the integral of regret over costs with density pi (1-pi) / D**3.

    Examples
    --------
    >>> from stakes.curves import cost_curve
    >>> curve = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> curve.at([0.25, 0.5]).tolist()
    [0.125, 0.25]
    """
    needs: dict[str, Any] = {"logits": logits, "probability": isinstance(rule, str) and rule == "score"}
    table = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, **needs).table
    rule = check_rule(rule, table)
    if not 0.0 < table.prevalence < 1.0:
        undefined("cost_curve", "only one class is present")
    knots, alarms, misses = _pieces(table, rule)
    at_zero, at_one = _rates(table, alarms, misses)
    wide = knots[1:] > knots[:-1]
    at_zero, at_one, knots = at_zero[wide], at_one[wide], np.append(knots[:-1][wide], 1.0)
    # the cost ratio decreases along this axis, which swaps left and right continuity
    closed: dict[str, Any] = {"closed": "left", "start": 0.0} if rule == "score" else {"start": float(at_zero[0])}
    ends = {"treat all": (1.0, 0.0), "treat none": (0.0, 1.0)}
    references = {line: straight(KIND, line, X_LABEL, heights) for line, heights in ends.items()}
    closed |= {"name": name, "x_label": X_LABEL, "table": table, "about": table.about}
    return CostCurve(KIND, knots, at_zero, at_one - at_zero, references=references, **closed)


def probability_cost(c: Floats, prevalence: float) -> Floats:
    """Share of the maximum cost that falls on positives; nan if there is no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return prevalence * (1.0 - c) / (prevalence * (1.0 - c) + (1.0 - prevalence) * c)


def _pieces(table: ScoreTable, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Knots of the axis, and the shares of false positives and false negatives between them."""
    whole = np.array([0.0, 1.0])
    if not 0.0 < table.prevalence < 1.0:
        return whole, np.array([np.nan]), np.array([np.nan])
    if rule == "score":
        knots, alarms, misses = (column[::-1] for column in error_pieces(table, rule))
        return probability_cost(knots, table.prevalence), alarms, misses
    if rule == "optimal":
        cuts = table.pav_starts[::-1]
        # the best threshold changes at the share of negatives of each isotonic block, by class shares
        starts = table.pav_starts[:-1]
        up = np.add.reduceat(table.positives, starts)[::-1] * table.total_negatives
        down = np.add.reduceat(table.negatives, starts)[::-1] * table.total_positives
        knots = np.concatenate([[0.0], down / (up + down), [1.0]])
        return knots, table.false_positives[cuts], table.false_negatives[cuts]
    return whole, *error_pieces(table, rule)[1:]


def _rates(table: ScoreTable, alarms: Floats, misses: Floats) -> tuple[Floats, Floats]:
    """False positive and miss rates from shares of all weight; nan for a class that is absent."""
    rate = table.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(alarms / (1.0 - rate), 1.0), np.minimum(misses / rate, 1.0)

"""What the page leaves out, and why: intervals where decisions were fitted, bands where rows depend on each other."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import blocks
from stakes.core.score_table import ScoreTable
from stakes.costs import CostDistribution, Fixed, LogOddsUniform, Uniform
from stakes.curves import (
    BinnedReliability,
    binned_reliability,
    binned_reliability_of,
    curve_over_log_odds,
    rarer_rows,
    reliability_curve_of,
)
from stakes.evaluation import cost_of_terms
from stakes.inference import RATES_NEEDED, PairedRows, confidence_band, reached
from stakes.outcomes import BeyondFollowUpError, TimeToEvent
from stakes.outputs.text import REFERENCES, say, visible
from stakes.report._carriers import inverse_degrees, most_degrees, rows_by_class, unit_ratios
from stakes.report._page import SPOKEN, Model, counted_per
from stakes.variance.dependence import Design
from stakes.variance.sums import Clusters, bessel, members, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from stakes.base.outcome import Outcome
    from stakes.evaluation import Evaluation

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]
    Part = Places | slice

Json = dict[str, Any]


# What the page leaves out, and why: intervals where decisions were fitted, bands where rows depend on each other.

# net benefit falls without bound towards a threshold of 1
LAST_THRESHOLD = 0.99


def no_intervals(evaluation: Evaluation) -> str:
    """Why the page can make no intervals, or nothing."""
    if evaluation.rule == "optimal":
        return "the decisions were fitted to these same rows"
    unpaired = evaluation.rows is None and len(evaluation.models) > 1
    return "they need the rows of the models" if unpaired or evaluation.clusters_unseen else evaluation.moments.reason


def no_plain_bands(evaluation: Evaluation) -> str:
    """Why no band may take the rows as independent and their weights as known, or nothing."""
    rows = evaluation.rows
    if rows is not None and rows.origin is not None:
        return "a band would take the weights as known"
    dependent = evaluation.clusters_unseen or (rows is not None and rows.dependent)
    return "a band would take the rows as independent" if dependent else ""


def no_bands(evaluation: Evaluation) -> str:
    """Why the page has no bands, or nothing."""
    rows = evaluation.rows
    if no_plain_bands(evaluation) and (rows is None or rows.clusters is None or rows.origin is not None):
        return no_plain_bands(evaluation)
    if evaluation.costs.low > LAST_THRESHOLD:
        return "the thresholds are too near to 1"
    return no_intervals(evaluation)


def counted_rows(evaluation: Evaluation) -> int | None:
    """How many rows there are, where shares of them have binomial limits: each counts once, and alone."""
    table = evaluation.score_tables[0]
    once = all(np.array_equal(getattr(table, k), getattr(table, f"{k}_squared")) for k in ("positives", "negatives"))
    plain = once and not table.fixed_prevalence and evaluation.rule != "optimal" and not no_plain_bands(evaluation)
    return table.n_rows if plain else None


def is_even(evaluation: Evaluation) -> bool:
    """Whether rows are independent and those of a class weigh alike: the page's table then tells how sure costs are."""
    table, ratios = evaluation.score_tables[0], []
    for weight, square in ((table.negatives, table.negatives_squared), (table.positives, table.positives_squared)):
        if square is not weight:  # of rows without weights it is
            ratios.append(square[weight > 0.0] / weight[weight > 0.0])
    alike = all(np.ptp(each) <= _ROUNDING * each.max() for each in ratios if len(each))
    return alike and not no_plain_bands(evaluation)


# A score table small enough for a page, with a bound on what leaving rows apart unsaid can change.

# beside the steps of equal weight: where log-odds are even, for ranges near 0 and 1
_LOGITS = 14.0


@dataclass(frozen=True, eq=False, repr=False)
class Thinned:
    """Scores in ascending order with the weight of positives and negatives at each, and how exact they are.

    Parameters
    ----------
    scores, positives, negatives : ndarray of shape (m,)
        As in :class:`ScoreTable`.
    integral_bound : float
        Of the integral of regret over any range of cost ratios that count alike.
    share_bound : float
        Of the regret, and of the share of all weight that is a false alarm or a miss, at any one threshold.
    """

    scores: Floats
    positives: Floats
    negatives: Floats
    integral_bound: float = 0.0
    share_bound: float = 0.0


def passing(table: ScoreTable) -> ScoreTable:
    """The same table, whose cumulative sums are forgotten with it; its recalibration, which is small, is shared."""
    copy = replace(table)
    vars(copy).update({name: getattr(table, name) for name in ("pav_starts", "pav_values")})
    return copy


def thinned(table: ScoreTable, limit: int, focus: tuple[float, float]) -> Thinned:
    """Pool neighbouring scores until about ``limit`` are left, more finely within the focus.

    The positives of a cell stand at their own mean score and the negatives at theirs: the loss of each class is smooth
    in the score, so what is lost is of second order in the width of the cell.
    """
    if len(table.scores) <= limit:
        return Thinned(table.scores, table.positives, table.negatives)
    starts = _starts(table, limit // 2, focus)
    totals, means, seconds = _cells(table, starts)
    lower, upper = table.scores[starts], table.scores[np.append(starts[1:], len(table.scores)) - 1]
    means = np.clip(means, lower, upper)
    bounds = _bounds(table.total, (lower, upper), totals, means, seconds)
    return Thinned(*_entries(totals, means), *bounds)


def _starts(table: ScoreTable, cells: int, focus: tuple[float, float]) -> NDArray[np.intp]:
    """First score of each cell: steps of weight, of positives, of score, of log-odds, and of score within the focus."""
    part = max(cells // 5, 1)
    even = np.linspace(0.0, 1.0, part + 1)[1:-1]
    logits = _LOGITS * (2.0 * even - 1.0)
    edges = np.concatenate([even, 1.0 / (1.0 + np.exp(-logits)), np.linspace(*focus, part)])
    ends = np.array([np.nextafter(0.0, 1.0), 1.0])
    starts = [np.array([0]), np.searchsorted(table.scores, np.concatenate([edges, ends]))]
    starts += [_quantiles(weight, even) for weight in (table.positives, table.negatives)]
    found = np.unique(np.concatenate(starts))
    return found[found < len(table.scores)]


def _quantiles(weight: Floats, shares: Floats) -> NDArray[np.intp]:
    """Where the sums of the weights reach shares of their total; found in pieces, so that no long sums are kept."""
    parts = list(blocks(len(weight)))
    ends = np.cumsum([weight[part].sum() for part in parts])
    goals = shares * ends[-1]
    places = np.searchsorted(ends, goals)
    found = np.empty(len(goals), dtype=np.intp)
    for k in np.unique(places):
        sums = np.cumsum(weight[parts[k]]) + (ends[k - 1] if k else 0.0)
        found[places == k] = parts[k].start + np.searchsorted(sums, goals[places == k])
    return found


def _cells(table: ScoreTable, starts: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Weight, mean score and loss of what each cell holds (columns) of negatives and positives (rows)."""
    totals, means, seconds = (np.zeros((2, len(starts))) for _ in range(3))
    for k, weight in enumerate((table.negatives, table.positives)):
        for part, cells, firsts in _stretches(starts, len(table.scores)):
            score, mine = table.scores[part], weight[part]
            loss = 0.5 * (1.0 - score if k else score) ** 2
            for column, values in ((totals, mine), (means, mine * score), (seconds, mine * loss)):
                column[k, cells] = np.add.reduceat(values, firsts)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(totals > 0.0, means / totals, 0.0)
    return totals, means, seconds


def _stretches(starts: NDArray[np.intp], length: int) -> Iterator[tuple[slice, slice, NDArray[np.intp]]]:
    """Whole cells, so many at a time that the temporaries stay small: their scores, their numbers, their starts."""
    ends = np.append(starts[1:], length)
    for cells in blocks(len(starts), 256):
        part = slice(int(starts[cells][0]), int(ends[cells][-1]))
        yield part, cells, starts[cells] - part.start


def _entries(totals: Floats, means: Floats) -> tuple[Floats, Floats, Floats]:
    """The two classes of every cell as scores of their own, equal ones pooled."""
    scores, place = np.unique(means[totals > 0.0], return_inverse=True)
    held = totals > 0.0
    first = int(np.count_nonzero(held[0]))
    negatives = np.bincount(place[:first], weights=totals[0][held[0]], minlength=len(scores))
    positives = np.bincount(place[first:], weights=totals[1][held[1]], minlength=len(scores))
    return scores, positives.astype(np.float64), negatives.astype(np.float64)


def _bounds(
    total: float, ends: tuple[Floats, Floats], totals: Floats, means: Floats, seconds: Floats
) -> tuple[float, float]:
    """How far the integral of regret from 0 can be apart at two places, and the regret at one."""
    lower, upper = ends
    losses = np.stack([0.5 * means[0] ** 2, 0.5 * (1.0 - means[1]) ** 2])
    at_edges = float((seconds - totals * losses).sum() / total)  # convex losses fall in every cell by pooling
    wide = upper > lower
    # within a cell the regrets differ by what the cell holds at most
    height = np.where(wide, (upper * totals[0] + (1.0 - lower) * totals[1]) / total, 0.0)
    inside = float((height * (upper - lower)).max(initial=0.0))
    rounding = 1e-13
    return at_edges + 2.0 * inside + rounding, float(height.max(initial=0.0)) + rounding


# What one class of rows loses in stretches of cost ratios.
#
# A negative costs c wherever c <= score: all of each stretch below that of its score, part of that, nothing above. A
# positive is a negative seen from the other end of the axis.


@dataclass(frozen=True, eq=False, repr=False)
class CostBins:
    """The axis as the negatives see it, or the positives.

    Parameters
    ----------
    cuts : ndarray of shape (k + 1,)
        Ends of the stretches, ascending from 0 to 1.
    positive : bool
        Whose losses.
    """

    cuts: Floats
    positive: bool

    @property
    def size(self) -> int:
        """Number of stretches."""
        return len(self.cuts) - 1

    @cached_property
    def _seen(self) -> Floats:
        return 1.0 - self.cuts[::-1] if self.positive else self.cuts

    @cached_property
    def full(self) -> Floats:
        """Loss of a row that is always wrong, in each stretch."""
        return self.ascending(self._full)

    @cached_property
    def _full(self) -> Floats:
        return np.asarray(0.5 * np.diff(self._seen) * (self._seen[1:] + self._seen[:-1]))

    def ascending(self, values: Floats) -> Floats:
        """Values by stretch, along the last axis, in ascending order of cost ratios (or back)."""
        return values[..., ::-1] if self.positive else values

    def placed(self, scores: Floats) -> tuple[Places, Floats]:
        """In which stretch each score lies, counted from the class's own end, and the part of that lost."""
        cuts, seen = self._seen, 1.0 - scores if self.positive else scores
        places = np.clip(reached(seen, cuts) - 1, 0, self.size - 1)
        return places, 0.5 * (seen - cuts[places]) * (seen + cuts[places])

    def summed(self, placed: tuple[Places, Floats], weight: Floats, groups: Places, count: int) -> Floats:
        """Weighted sums of losses of the rows of each group, by stretch."""
        places, parts = placed
        cell, shape = groups * self.size + places, (count, self.size)
        held = counted(cell, weight, count * self.size).reshape(shape)
        rest = counted(cell, weight * parts, count * self.size).reshape(shape)
        return self.ascending(self._full * beyond(held) + rest)


def counted(places: Places, weights: Floats | None, size: int) -> Floats:
    """Count, or sum weights, by place."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


def beyond(held: Floats) -> Floats:
    """What lies in the stretches beyond each, along the last axis."""
    sums = np.cumsum(held[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(sums - held, dtype=np.float64)


# Covariances of losses in stretches where rows depend on each other: in clusters, or in order of time.
#
# In each case the covariance is that of sums which are taken as independent: of clusters; of windows of rows in
# order, whose squares add up to the estimate of Newey and West; or of slow cosine waves. Where an outcome estimated
# the weights from all its rows, it is that of what all of them add. See ``variance/dependence.py``.

_DEPENDENT_BLOCK = 1 << 13


class _Terms:
    """What each row adds to the errors of the mean losses of every rule in every stretch."""

    def __init__(
        self,
        rows: PairedRows,
        scores: Sequence[Callable[[Part], Floats]],
        kinds: tuple[CostBins, CostBins],
        centres: Sequence[Floats],
    ) -> None:
        self.rows, self.scores, self.kinds, self.centres = rows, scores, kinds, centres
        self.weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        self.total = float(self.weight.sum())

    def summed(self, part: Part, groups: Places, count: int) -> Floats:
        """Sums over groups of some rows, of shape (groups, rules, stretches)."""
        y, weight = self.rows.y[part], self.weight[part] / self.total
        found = np.zeros((count, len(self.scores) + 2, self.kinds[0].size))
        for k, kind in enumerate(self.kinds):
            mine = y if k else ~y
            held = np.bincount(groups[mine], weight[mine], minlength=count)
            for model, scores in enumerate(self.scores):
                placed = kind.placed(scores(part)[mine])
                found[:, model] += kind.summed(placed, weight[mine], groups[mine], count)
            # treating all costs the negatives everything, treating none the positives
            found[:, len(self.scores) + k] += np.outer(held, kind.full)
            found -= held[:, None, None] * self.centres[k]
        return found

    def columns(self, rule: int) -> Iterator[Floats]:
        """The same for every row, one stretch of one rule at a time."""
        y, share = self.rows.y, self.weight / self.total
        everything = slice(None)
        placed = [] if rule >= len(self.scores) else [kind.placed(self.scores[rule](everything)) for kind in self.kinds]
        for stretch in range(self.kinds[0].size):
            terms = np.empty((2, len(y)))
            for k, kind in enumerate(self.kinds):
                full, own = kind.full[stretch], kind.size - 1 - stretch if kind.positive else stretch
                loss: Floats | float = full if rule - len(self.scores) == k else 0.0
                if placed:
                    places, parts = placed[k]
                    loss = np.where(places > own, full, np.where(places == own, parts, 0.0))
                terms[k] = share * (loss - self.centres[k][rule, stretch])
            yield np.where(y, terms[1], terms[0])


def dependent_covariances(
    rows: PairedRows,
    scores: Sequence[Callable[[Part], Floats]],
    kinds: tuple[CostBins, CostBins],
    centres: Sequence[Floats],
) -> Floats:
    """Covariances of the losses of each rule, the models, "treat all" and "treat none", in every pair of stretches.

    ``scores`` are functions that return some rows' scores as they are acted on; ``centres`` what the losses of each
    class are centred on, by rule and stretch.
    """
    terms = _Terms(rows, scores, kinds, centres)
    count, rules, size, factor = len(rows.y), len(scores) + 2, kinds[0].size, 1.0
    gram = np.zeros((rules, size, size))
    if rows.origin is not None or rows.lags == "auto":
        units = _units(terms, rows, rules)
    elif rows.clusters is not None:
        classes = members(rows.y, 2) if rows.fixed_prevalence else ()
        clusters = Clusters(rows.clusters, terms.weight / terms.total, classes)
        place = np.where(rows.y & rows.fixed_prevalence, 1, 0), np.searchsorted(clusters.codes, rows.clusters)
        terms.weight = terms.weight / clusters.rest[place]
        units, factor = _sums_of(terms, clusters), 1.0 / float(bessel(len(clusters)))
    else:
        last = int(rows.lags or 0)
        units, factor = _windows(terms, count, last), float(bessel(count)) / (last + 1)
    for part in units:
        by_rule = np.moveaxis(part, 0, -1)
        gram += by_rule @ np.swapaxes(by_rule, 1, 2)
    return factor * gram


def _sums_of(terms: _Terms, clusters: Clusters) -> Iterator[Floats]:
    """Sums over each cluster: whole clusters, as many at a time as fit a block of rows."""
    order, starts, first = clusters.order, clusters.starts, 0
    ends = np.append(starts[1:], len(order))
    while first < len(starts):
        last = max(int(np.searchsorted(ends, starts[first] + _DEPENDENT_BLOCK, side="right")), first + 1)
        part = order[starts[first] : ends[last - 1]]
        groups = np.repeat(np.arange(last - first), ends[first:last] - starts[first:last])
        yield terms.summed(part, groups, last - first)
        first = last


def _windows(terms: _Terms, count: int, last: int) -> Iterator[Floats]:
    """Sums over every window of so many rows and one, those that reach over the ends among them."""
    for part in blocks(count + last, max(_DEPENDENT_BLOCK, last)):
        before, after = max(part.start - last, 0), min(part.stop, count)
        values = terms.summed(slice(before, after), np.arange(after - before), after - before)
        sums = np.zeros((part.stop - part.start + last + 1, *values.shape[1:]))
        at = before - (part.start - last) + 1
        np.cumsum(values, axis=0, out=sums[at : at + len(values)])
        sums[at + len(values) :] = sums[at + len(values) - 1]
        yield sums[last + 1 :] - sums[: -last - 1]


def _units(terms: _Terms, rows: PairedRows, rules: int) -> Iterator[Floats]:
    """Independent units of all rows of an outcome that weighs them, or cosine coefficients of rows in order."""
    design = Design(rows.y, terms.weight, None, rows.fixed_prevalence, rows.clusters, rows.lags, rows.origin)
    lines = [
        [design.independent_units(design.with_weight_estimation(column)) for column in terms.columns(rule)]
        for rule in range(rules)
    ]
    yield np.moveaxis(np.array(lines), -1, 0)


# Covariances of the losses in narrow stretches of cost ratios, from which the page makes approximate intervals.
#
# The loss of a row over a range is the sum of its losses over the stretches in it. So the variance of a mean loss is a
# quadratic form in the weights of the stretches: exact for ranges that end at cut points and cost ratios that count
# alike, approximate else. The sums over rows come from counts in pairs of stretches, not from rows times stretches.
# Differences of models have no intervals there: a range chosen after looking at the results would make them false.

_COARSE = (
    *(0.0, 0.001, 0.003, 0.007, 0.015, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    *(0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0),
)
_FINE = 13
# cut points closer than this share of the range's width to one of its own are left out
_APART = 0.02
_BLOCK = 1 << 16
_ROUNDING = 1e-12  # of a sum of squares: what is left of it where all rows are alike


@dataclass(frozen=True, eq=False, repr=False)
class StretchCovariances:
    """Covariance matrices of mean losses in stretches, for each rule alone.

    Parameters
    ----------
    cuts : ndarray of shape (k + 1,)
        Ends of the stretches.
    covariances : ndarray of shape (rules, k (k + 1) / 2)
        Upper triangles, row by row: of the models in the order given, then of "treat all" and "treat none".
    """

    cuts: Floats
    covariances: Floats


def cut_points(costs: CostDistribution) -> Floats:
    """Ends of the stretches: fine within the plausible range, coarse outside.

    Examples
    --------
    >>> from stakes import costs
    >>> cuts = cut_points(costs.Uniform(0.1, 0.3))
    >>> bool(np.any(np.isclose(cuts, 0.1))), len(cuts) < 40
    (True, True)
    """
    own = np.linspace(costs.low, costs.high, _FINE) if costs.low < costs.high else np.array([costs.low])
    margin = _APART * (costs.high - costs.low)
    coarse = [cut for cut in _COARSE if np.min(np.abs(own - cut)) > margin or cut in {0.0, 1.0}]
    return np.unique(np.concatenate([own, coarse]))


def spread_of(evaluation: Evaluation, chosen: Sequence[int]) -> StretchCovariances | None:
    """Covariances for some models; None where the page has no intervals."""
    if no_intervals(evaluation):
        return None
    cuts, rows = cut_points(evaluation.costs), evaluation.rows
    kinds = CostBins(cuts, positive=False), CostBins(cuts, positive=True)
    dependent = rows is not None and rows.dependent
    sums = _StretchSums(kinds[0], len(chosen)), _StretchSums(kinds[1], len(chosen))
    if rows is None:
        _add_table(sums, evaluation)
    else:
        _add_rows(sums, evaluation, rows, chosen)
    for mine in sums:
        mine.add_constants()
    if evaluation.score_tables[0].fixed_prevalence:  # each class is centred on its own mean, else on that of all rows
        centres = [mine.first[0] / (mine.total or 1.0) for mine in sums]
    else:
        centres = [(sums[0].first[0] + sums[1].first[0]) / (sums[0].total + sums[1].total)] * 2
    if rows is not None and dependent:
        scores = [partial(_taken, evaluation, rows.scores[index]) for index in chosen]
        covariances = dependent_covariances(rows, scores, kinds, centres)
    else:
        fixed = evaluation.score_tables[0].fixed_prevalence
        counts = evaluation.moments.rows if fixed else [evaluation.n_rows] * 2
        covariances = _independent(sums, centres, counts)
    return StretchCovariances(cuts, covariances[:, *np.triu_indices(len(cuts) - 1)])


def _taken(evaluation: Evaluation, scores: Floats, part: NDArray[np.intp] | slice) -> Floats:
    return _acted(evaluation, scores[part])


def _add_table(sums: tuple[_StretchSums, _StretchSums], evaluation: Evaluation) -> None:
    table = evaluation.score_tables[0]
    columns = ((table.negatives, table.negatives_squared), (table.positives, table.positives_squared))
    for part in blocks(len(table.scores), _BLOCK):
        scores = _acted(evaluation, table.scores[part])
        for k, (weight, square) in enumerate(columns):
            sums[k].add([scores], weight[part], square[part])


def _add_rows(
    sums: tuple[_StretchSums, _StretchSums], evaluation: Evaluation, rows: PairedRows, chosen: Sequence[int]
) -> None:
    for part in blocks(len(rows.y), _BLOCK):
        for k, mine in enumerate((~rows.y[part], rows.y[part])):
            if not mine.any():
                continue
            weight = None if rows.weight is None else rows.weight[part][mine]
            scores = [_acted(evaluation, rows.scores[index][part][mine]) for index in chosen]
            square = None if weight is None else weight * weight
            sums[k].add(scores, weight, square)


def _acted(evaluation: Evaluation, scores: Floats) -> Floats:
    """Scores as the rule takes them: a deployed threshold makes them 0 and 1."""
    return scores if isinstance(evaluation.rule, str) else (scores >= evaluation.rule).astype(np.float64)


class _StretchSums:
    """Sums over the rows of one class: losses in stretches, and products of losses in two stretches."""

    def __init__(self, kind: CostBins, models: int) -> None:
        self.kind, self.models, self.size = kind, models, kind.size
        self.total, self.squares = 0.0, 0.0
        # sums of losses, by the weights and by their squares; of products, by the squares
        self.first = np.zeros((2, models + 2, self.size))
        self.products = np.zeros((models + 2, self.size, self.size))

    def add(self, scores: Sequence[Floats], weight: Floats | None, square: Floats | None) -> None:
        """Add rows; without weights each counts one."""
        ones = np.ones(len(scores[0]))
        weights = [ones if by is None else by for by in (weight, square)]
        self.total += float(weights[0].sum())
        self.squares += float(weights[1].sum())
        whole = np.zeros(len(ones), dtype=np.intp)
        for index, mine in enumerate(map(self.kind.placed, scores)):
            sums = [self.kind.summed(mine, by, whole, 1)[0] for by in weights[: 1 if weight is None else 2]]
            self.first[:, index] += sums
            gram = self._products(*mine, square)
            self.products[index] += gram[::-1, ::-1] if self.kind.positive else gram

    def add_constants(self) -> None:
        """Treating all costs every negative all of every stretch, treating none every positive."""
        acting, full = self.models + self.kind.positive, self.kind.full
        self.first[:, acting] = np.outer([self.total, self.squares], full)
        self.products[acting] = np.outer(full, self.first[1, acting])

    def _products(self, places: Places, parts: Floats, square: Floats | None) -> Floats:
        """Sum over rows of the products of their losses in two stretches, for every pair of stretches."""

        def held(by: Floats | None) -> Floats:
            weights = by if square is None else square if by is None else by * square
            return counted(places, weights, self.size)

        # a row loses all of each stretch up to the lower of two places, and part of the one that it lies in
        full = self.kind.ascending(self.kind.full)
        first, second = np.indices((self.size, self.size))
        beyond_both = beyond(held(None))[np.maximum(first, second)] * np.outer(full, full)
        partly = held(parts)
        below = np.where(first < second, full[first] * partly[second], full[second] * partly[first])
        return np.asarray(beyond_both + np.where(first == second, np.diag(held(parts * parts)), below))


def _independent(sums: Sequence[_StretchSums], centres: Sequence[Floats], counts: Sequence[int]) -> Floats:
    """Covariances of the losses of each rule in every pair of stretches."""
    total = sum(mine.total for mine in sums)
    found = np.zeros(sums[0].products.shape)
    for mine, mean, count in zip(sums, centres, counts, strict=True):
        across = mean[:, :, None] * mine.first[1][:, None, :]
        centred = mine.products - across - np.swapaxes(across, 1, 2)
        centred += mean[:, :, None] * mean[:, None, :] * mine.squares
        centred[np.abs(centred) <= _ROUNDING * mine.products] = 0.0
        found += centred * (float(bessel(max(count, 2))) / total**2)
    return found


# What the page computes with: thinned and recalibrated tables, covariances, bands, as JSON with numbers in base64.

# a figure with more lines than this cannot be read, nor a page with so many pairs be small
MAX_DRAWN = 20
# scores of all models together: with their recalibration they take less than two megabytes
_SCORES = 40_000
_MOST_SCORES = 8000
_MOST_BLOCKS = 1500
_RELIABILITY = 300
_BAND_POINTS = 61
_BAND_DRAWS = 2000


def payload(evaluation: Evaluation, models: Sequence[Model]) -> Json:
    """Everything that the scripts of the page read."""
    drawn, thresholds, shapes = models[:MAX_DRAWN], _band_thresholds(evaluation), shapes_beside(evaluation)
    shares = evaluation.score_tables[0].shares
    return {
        "models": [_model(evaluation, model, len(models), thresholds, shapes) for model in models],
        "drawn": len(drawn),
        "shares": {"negative": shares[0], "positive": shares[1]},
        "rule": "score" if isinstance(evaluation.rule, str) else evaluation.rule,
        "own": own_weighting(evaluation.costs),
        "scale": evaluation.scale,
        "unit": evaluation.unit_cost,
        "per": counted_per(evaluation),
        "perWords": visible(evaluation.answer.per),
        "level": evaluation.confidence_level,
        "fixed": evaluation.score_tables[0].fixed_prevalence,
        "unsure": no_intervals(evaluation),
        "rows": list(evaluation.moments.rows),
        "counted": counted_rows(evaluation),
        "even": is_even(evaluation),
        "shapes": shapes,
        "spread": _spread(evaluation, drawn),
        "bands": None if thresholds is None else encoded(thresholds),
        "words": _words(evaluation),
        "sentences": SPOKEN | _why_infinite(evaluation) | _of_fitted(evaluation),
    }


def _why_infinite(evaluation: Evaluation) -> dict[str, str]:
    """Why a cost is infinite, where it is not for a score alone."""
    if not isinstance(evaluation.rule, str):
        cause = f"a harm or {say('fixed')}" if evaluation.harms else say("fixed")
    elif evaluation.harms:
        cause = f"a harm where the range of thresholds reaches 0 or 1, or {say('certain')}"
    else:
        return {}
    return {"infinite": say("boundless_one", others="{best}", cause=cause)}


def _of_fitted(evaluation: Evaluation) -> dict[str, str]:
    """What to know of costs of thresholds that are fitted to the rows."""
    return {"looked": SPOKEN["looked_fitted"]} if evaluation.rule == "optimal" else {}


def _words(evaluation: Evaluation) -> Json:
    """What decisions, events and the unit of costs are called."""
    words = evaluation.words
    return {
        "rows": {name: words.row(name) for name in REFERENCES},
        "decisions": {name: words.decision(name) for name in REFERENCES},
        "acting": words.acting[:1].upper() + words.acting[1:],
        "cost": cost_of_terms(evaluation).capitalize(),
        "event": words.event,
        "unit": evaluation.answer.unit,
    }


def own_weighting(costs: CostDistribution) -> Json:
    """The range and weighting of the evaluation, for which the page holds the library's own numbers.

    Examples
    --------
    >>> from stakes import costs
    >>> own_weighting(costs.Beta(2, 8))
    {'low': 0.0, 'high': 1.0, 'weighting': 'given'}
    """
    own: Json = {"low": costs.low, "high": costs.high, "weighting": "given"}
    if type(costs) is Uniform or (type(costs) is Fixed and costs.tie == 1.0 and costs.mass == 1.0):
        own["weighting"] = "uniform"
    elif type(costs) is LogOddsUniform:
        own["weighting"] = "log-odds"
    return own


def _model(
    evaluation: Evaluation, model: Model, count: int, thresholds: Floats | None, shapes: tuple[str, ...]
) -> Json:
    index = evaluation.models.index(model.name)
    table = passing(evaluation.score_tables[index])
    limit = min(_SCORES // count, _MOST_SCORES)
    costs = evaluation.costs
    focus = (costs.low, costs.high)
    scores = thinned(table, limit, focus)
    blocks = thinned(table.recalibrated(), min(limit, _MOST_BLOCKS), focus)
    found: Json = {
        "name": model.short,
        "harm": evaluation.options.harm_of(model.name),
        "given": index,
        "auc": None if math.isnan(model.result.auc) else model.result.auc,
        "colour": model.colour,
        "dash": [] if model.dash == "solid" else [float(x) for x in model.dash.replace("px", "").split(",")],
        "scores": _columns(scores),
        "blocks": _columns(blocks),
        "integralBound": scores.integral_bound,
        "shareBound": scores.share_bound,
        "ownParts": _parts(model),
    }
    found |= _everyone(evaluation, index, limit, focus)
    if evaluation.rule == "optimal":
        found["acted"] = "blocks"
    elif not isinstance(evaluation.rule, str):
        found["deployed"] = _columns(thinned(table.at_threshold(evaluation.rule), 2, focus))
        found["acted"] = "deployed"
        found |= {"integralBound": 0.0, "shareBound": 0.0}
    else:
        found["acted"] = "scores"
    if model.rank <= MAX_DRAWN:
        x, y, _ = reliability_curve_of(table).thinned(_RELIABILITY)
        found["reliability"] = {"x": encoded(x, "f4"), "y": encoded(y, "f4")}
        found |= {shape: _shape(evaluation, table, index, shape) for shape in shapes}
        found["band"] = None if thresholds is None else _bands(evaluation, index, thresholds)
    return found


def _everyone(evaluation: Evaluation, index: int, limit: int, focus: tuple[float, float]) -> Json:
    """Scores of all rows, as positives, where an outcome knows the class of some rows only."""
    rows, outcome = evaluation.rows, _weighing(evaluation)
    if rows is None or outcome is None or outcome.by_amount or rows.fixed_prevalence:
        return {}
    scores, place = np.unique(rows.every_score[index], return_inverse=True)
    weight = counted(place, outcome.sample_weight, len(scores))
    none = np.zeros(len(scores))
    everyone = ScoreTable(scores, weight, none, weight, none, len(place))
    return {"everyone": _columns(thinned(everyone, limit, focus))}


def shapes_beside(evaluation: Evaluation) -> tuple[str, ...]:
    """How calibration is drawn beside isotonic steps.

    Smooth, but for weighed rows of which no smooth curve can be drawn; and follow-up in bins, of which each allows for
    its own censoring, unless some bin has nobody who was followed to the horizon or the prevalence is stated.
    """
    outcome, rows = _weighing(evaluation), evaluation.rows
    smooth = ("smooth",) if _is_smooth(evaluation) else ()
    if not isinstance(outcome, TimeToEvent) or rows is None or rows.fixed_prevalence:
        return smooth or ("binned",)
    drawn = evaluation.ranking[:MAX_DRAWN]
    scores = [rows.every_score[evaluation.models.index(name)] for name in drawn]
    if any(_followed_bins(outcome, score) is None for score in scores):
        return smooth or ("binned",)
    return (*smooth, "followed")


def _weighing(evaluation: Evaluation) -> Outcome | None:
    """The outcome that weighs the rows, if one does."""
    rows = evaluation.rows
    return None if rows is None or rows.origin is None else rows.origin.outcome


def _is_smooth(evaluation: Evaluation) -> bool:
    rows, outcome = evaluation.rows, _weighing(evaluation)
    if rows is None or outcome is None:
        return True
    other = outcome.by_amount or rows.clusters is not None or rows.lags is not None
    return not other and min(map(rarer_rows, evaluation.score_tables)) >= RATES_NEEDED


def _followed_bins(outcome: TimeToEvent, score: Floats) -> BinnedReliability | None:
    try:
        return binned_reliability(outcome, score)
    except BeyondFollowUpError:
        return None


def no_smooth_band(evaluation: Evaluation) -> str:
    """Why the second shape has no band, or nothing."""
    return "" if _weighing(evaluation) is not None and _is_smooth(evaluation) else no_plain_bands(evaluation)


def _shape(evaluation: Evaluation, table: ScoreTable, index: int, shape: str) -> Json:
    """The binned points; or the smooth calibration curve, with its band where that may take the rows as they are."""
    rows, level = evaluation.rows, evaluation.confidence_level
    if shape != "smooth":
        bins = binned_reliability_of(table)
        if shape == "followed" and rows is not None and rows.origin is not None:
            bins = binned_reliability(rows.origin.outcome, rows.every_score[index])
        return {"x": encoded(bins.mean_score, "f4"), "y": encoded(bins.event_rate, "f4"), "limits": None}
    if rows is not None and rows.origin is not None:
        asked: Json = {"prevalence": evaluation.prevalence if rows.fixed_prevalence else None}
        asked |= {"confidence_level": level, "n_resamples": 1000}
        band = confidence_band(rows.origin.outcome, rows.every_score[index], "smooth", **asked)
        x, y, limits = band.thresholds, band.estimate, np.concatenate([band.low, band.high])
        return {"x": encoded(x, "f4"), "y": encoded(y, "f4"), "limits": encoded(limits, "f4")}
    curve = curve_over_log_odds(evaluation.score_tables[index])
    found: Json = {"x": encoded(curve.knots, "f4"), "y": encoded(curve.at(curve.knots), "f4"), "limits": None}
    if not no_plain_bands(evaluation):
        found["limits"] = encoded(np.concatenate(curve.band(level)), "f4")
    return found


def _parts(model: Model) -> Json | None:
    """The decomposition of the evaluation; None where a term is not finite."""
    parts = model.result.decomposition
    if parts is None:
        return None
    terms = {
        "score": parts.score,
        "miscalibration": parts.miscalibration,
        "discrimination": parts.discrimination,
        "uncertainty": parts.uncertainty,
    }
    return terms if all(map(math.isfinite, terms.values())) else None


def _columns(table: Thinned) -> Json:
    return {
        "scores": encoded(table.scores),
        "positives": encoded(table.positives),
        "negatives": encoded(table.negatives),
    }


def _spread(evaluation: Evaluation, models: Sequence[Model]) -> Json | None:
    chosen = [evaluation.models.index(model.name) for model in models]
    found = spread_of(evaluation, chosen)
    if found is None:
        return None
    # those of the evaluation's own range stand for every range
    rules = [*chosen, *range(len(evaluation.models), len(evaluation.models) + 2)]
    degrees = [float(evaluation.moments.of(rule).degrees) for rule in rules]
    spread = {
        "cuts": encoded(found.cuts),
        "quantiles": encoded(t_quantile(1.0 - evaluation.confidence_level, degrees)),
        "covariances": encoded(found.covariances.ravel(), "f4"),
    }
    rows = evaluation.rows
    if rows is not None and not is_even(evaluation):
        scores = [partial(_taken, evaluation, rows.scores[index]) for index in chosen]
        counts = rows_by_class(rows)
        spread["rows"] = encoded(np.append(counts, most_degrees(rows)))
        spread["units"] = encoded(unit_ratios(rows, scores, found.cuts).ravel(), "f4")
        if rows.lags is None:  # those of rows in order are the same for every range
            spread["degrees"] = encoded(inverse_degrees(evaluation, chosen, counts[0]).ravel())
    return spread


def _band_thresholds(evaluation: Evaluation) -> Floats | None:
    """Where bands are read: over the plausible range."""
    if no_bands(evaluation):
        return None
    costs = evaluation.costs
    last = min(costs.high, LAST_THRESHOLD)
    return np.linspace(costs.low, last, _BAND_POINTS) if costs.low < last else np.array([costs.low])


def _bands(evaluation: Evaluation, index: int, thresholds: Floats) -> Json:
    """Simultaneous bands of regret and net benefit over the plausible range; the reader says which are drawn."""
    level, ends = evaluation.confidence_level, {}
    if not isinstance(evaluation.rule, str):
        # at exactly 0 a hard label of 0 would count as acted on, which the deployed threshold does not do
        thresholds = np.maximum(thresholds, np.finfo(float).tiny)
    data, options = _banded(evaluation, index, thresholds)
    harm = evaluation.options.harm_of(evaluation.models[index])
    for kind in ("regret", "net_benefit"):
        options |= {
            "kind": kind,
            "harm": harm,
            "thresholds": thresholds,
            "confidence_level": level,
            "n_resamples": _BAND_DRAWS,
        }
        band = confidence_band(*data, **options)
        limits = np.concatenate([band.simultaneous_low, band.simultaneous_high])
        ends[kind] = encoded(limits, "f4") if np.all(np.isfinite(limits)) else None
    return ends


def _banded(evaluation: Evaluation, index: int, thresholds: Floats) -> tuple[tuple[Any, ...], Json]:
    """What a band is made from: the rows where clusters hold them, else a table as small as the thresholds allow."""
    rows, rule = evaluation.rows, evaluation.rule
    if rows is not None and rows.clusters is not None:
        scores = rows.scores[index] if isinstance(rule, str) else (rows.scores[index] >= rule) * 1.0
        known = {"prevalence": evaluation.prevalence if rows.fixed_prevalence else None}
        return (rows.y, scores), {"sample_weight": rows.weight, "clusters": rows.clusters, **known}
    table = (
        evaluation.score_tables[index] if isinstance(rule, str) else evaluation.score_tables[index].at_threshold(rule)
    )
    # what lies between two thresholds is decided alike
    starts = np.unique(np.append(0, np.searchsorted(table.scores, thresholds)))
    starts = starts[starts < len(table.scores)]
    return (table.pooled(table.scores[starts], starts),), {}


def encoded(values: Floats, kind: str = "f8") -> Json:
    """Numbers for the page: little-endian, base64.

    Examples
    --------
    >>> import numpy as np
    >>> encoded(np.array([0.5, 1.0]), "f4")
    {'f4': 'AAAAPwAAgD8='}
    """
    data = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {kind: base64.b64encode(data).decode("ascii")}

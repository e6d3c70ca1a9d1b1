"""Influence of rows, groups against the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stakes.base.numerics import order_of_codes
from stakes.core.options import EvaluationData, refuse_weighing
from stakes.core.score_table import Rule, ScoreTable, losses_by_score, row_losses
from stakes.variance.dependence import Design, PairedRows, independent_variance, ordered_variance
from stakes.variance.largest import ManyMoments
from stakes.variance.sums import (
    CLASSES,
    EFFECTIVE,
    NEEDED_CLUSTERS,
    ClusterShape,
    Moments,
    Sums,
    cluster_variance,
    joined,
    left_out_variance,
    mean_weights,
    moments_of,
    ratio,
    skill_variance,
    squares_and_fourths,
    worst_losses,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.base.outcome import Origin
    from stakes.base.validation import Bools, Floats, Integers
    from stakes.costs import CostDistribution

    ManyPair = tuple[ManyMoments, ManyMoments]  # of score and skill
    Part: TypeAlias = "tuple[WeightedCells, Influence]"


# What each row contributes to the error of a metric: its influence, from which the closed-form intervals follow.
#
# An estimate differs from its population value by nearly a sum over rows. For a mean the terms are the centred
# values; for a ratio they follow by the delta method. Their second and fourth powers give the interval, their
# differences that of a paired difference, their sums by cluster that of clustered rows.

NEEDED_FOR_SKILL = 5  # rows of each class
_ALIKE = 1e-9  # of the squared sum of equal weights: more than rounding


@dataclass(frozen=True, eq=False, repr=False)
class WeightedCells:
    """Rows, or groups of rows of one class and one score: sums of their weights and of the squares of these."""

    y: Bools
    score: Floats
    weight: Floats
    square: Floats
    data: EvaluationData
    fixed_prevalence: bool

    @property
    def plain(self) -> bool:
        """Whether every cell is one row of weight one."""
        return self.data.sample is not None and self.data.sample.weight is None

    @property
    def table(self) -> ScoreTable:
        """Weights of the classes at each distinct score of the data."""
        return self.data.table

    @cached_property
    def level(self) -> Integers:
        """Place of each cell's score in the table: only rankings need it."""
        if self.data.sample is not None:
            return np.unique(self.data._weighted_rows().score, return_inverse=True)[1].reshape(-1)
        return np.nonzero(np.stack([self.table.negatives, self.table.positives]) > 0.0)[1]

    def design(self, codes: Integers | None = None, lags: int | str | None = None) -> Design:
        """How the cells weigh, and which rows depend on each other."""
        return Design(self.y, self.weight, self.square, self.fixed_prevalence, codes, lags, self.origin)

    @property
    def origin(self) -> Origin | None:
        """Where the rows come from, if an outcome weighs them."""
        return None if self.data.sample is None else self.data.sample.origin

    @cached_property
    def total(self) -> float:
        """Sum of the weights."""
        return float(self.weight.sum())

    @cached_property
    def masses(self) -> tuple[float, float]:
        """Weights of the two classes."""
        positive = float(self.weight[self.y].sum())
        return float(self.weight[~self.y].sum()), positive

    @cached_property
    def rows(self) -> tuple[float, float]:
        """Effective rows of each class: as many as there are, unless rows of unlike weights share a cell."""
        count = self.weight**2 / self.square
        return float(count[~self.y].sum()), float(count[self.y].sum())

    @property
    def hides_rows(self) -> bool:
        """Whether only a table is known, and :func:`hides_rows` holds of it."""
        return self.data.sample is None and hides_rows(self.table)

    @property
    def prevalence(self) -> float:
        """Share of the positives in the weights."""
        return self.masses[1] / self.total

    @property
    def mean_score(self) -> float:
        """Of all rows, those of unknown class too; at a stated prevalence of the known ones, by class."""
        if self.origin is None or self.fixed_prevalence:
            return float(np.dot(self.weight, self.score)) / self.total
        return float(np.average(self.origin.score[self.origin.outcome.present], weights=self.origin.counted))


@dataclass(frozen=True, eq=False, repr=False)
class Influence:
    """An estimate, and the derivative of its value to the share of each cell, centred.

    ``raw`` is what each row itself adds to the estimate, zero for rows that cost nothing; ``max_loss`` is the largest
    that a row of each class can add; ``least`` how many rows of each class an interval needs; ``ends`` the least and
    the largest value that the estimate can have.
    """

    value: float
    slope: Floats
    raw: Floats
    max_loss: tuple[float, float]
    least: int = 0
    ends: tuple[float, float] = (-math.inf, math.inf)

    def minus(self, other: Influence) -> Influence:
        """Return the influence on the difference from another estimate on the same rows."""
        raw = self.raw - other.raw
        ends = self.ends[0] - other.ends[1], self.ends[1] - other.ends[0]
        return replace(self, value=self.value - other.value, slope=self.slope - other.slope, raw=raw, ends=ends)


def cells_of(data: EvaluationData, *, fixed_prevalence: bool) -> WeightedCells:
    """Cells of clean rows, or of their table."""
    if data.sample is not None:
        rows = data._weighted_rows()
        if rows.weight is None:
            ones = np.broadcast_to(1.0, len(rows.y))
            return WeightedCells(rows.y, rows.score, ones, ones, data, fixed_prevalence)
        return WeightedCells(rows.y, rows.score, rows.weight, rows.weight**2, data, fixed_prevalence)
    table = data.table
    refuse_weighing(table, "an interval from a table")
    weights = np.stack([table.negatives, table.positives])
    squares = np.stack([table.negatives_squared, table.positives_squared])
    used, fixed = weights > 0.0, fixed_prevalence or table.fixed_prevalence
    k, level = np.nonzero(used)
    return WeightedCells(k == 1, table.scores[level], weights[used], squares[used], data, fixed)


def mean_influence(
    cells: WeightedCells, values: Floats, best: tuple[float, float], worst: tuple[float, float]
) -> Influence:
    """Influence on a weighted mean; ``best`` and ``worst`` are the values of perfect and of opposite decisions."""
    value = float(np.dot(cells.weight, values)) / cells.total
    if not math.isfinite(value):
        return undefined(cells, value)
    max_loss = abs(worst[0] - best[0]), abs(worst[1] - best[1])
    raw = values - np.where(cells.y, best[1], best[0])
    return Influence(value, cells.design().centred(values), raw, max_loss)


def loss_influence(cells: WeightedCells, costs: CostDistribution, rule: Rule) -> Influence:
    """Influence on the integral of regret."""
    negative, positive = worst_losses(costs).tolist()
    found = mean_influence(cells, row_losses(cells.y, cells.score, costs, rule), (0.0, 0.0), (negative, positive))
    return replace(found, ends=(0.0, max(negative, positive)))


def promise_moments(
    cells: WeightedCells,
    costs: CostDistribution,
    codes: NDArray[np.intp] | None = None,
    lags: int | str | None = None,
    *,
    rule: Rule = "score",
    right: bool = True,
) -> Moments:
    """Moments of what rows cost more than their own scores promise, on the scale of the integral.

    Scores that are ``right`` leave an error at least as large as chance does, whatever these rows show: that of labels
    drawn anew, with the weights that go with them.
    """
    values, spread = _promise(cells.y, cells.score, costs, rule)
    negative, positive = worst_losses(costs).tolist()
    found = influence_moments(cells, mean_influence(cells, values, (0.0, 0.0), (negative, positive)), codes, lags)
    if not (right and math.isfinite(found.variance)):
        return found
    return replace(found, variance=max(found.variance, _least_variance(cells, spread)))


def _promise(y: Bools, score: Floats, costs: CostDistribution, rule: Rule) -> tuple[Floats, Floats]:
    """What each row costs more than its score promises, and the standard deviation of that if the score is right."""
    negative, positive = losses_by_score(score, costs, rule)
    with np.errstate(invalid="ignore"):
        gap, chance = positive - negative, np.sqrt(score * (1.0 - score))
        values = np.where(y, (1.0 - score) * gap, -score * gap)
        values = np.where(score == y, 0.0, values)  # what was certain, and happened
        return values, np.where(chance > 0.0, chance * gap, 0.0)


def _least_variance(cells: WeightedCells, spread: Floats) -> float:
    """Of the mean beyond the promise, if labels were drawn anew from the scores, and weights with them."""
    masses, squares = np.array(cells.masses), (cells.square, cells.square * spread**2)
    square, chance = (np.array([float(each[mine].sum()) for mine in (~cells.y, cells.y)]) for each in squares)
    found = float(np.dot(relabelled(np.array(cells.rows), masses, square), chance))
    if cells.fixed_prevalence:  # the means of the classes then add nothing
        score, total = cells.score, cells.total
        between = np.dot(cells.weight, spread * np.sqrt(score * (1.0 - score))) ** 2
        positive = float(np.dot(cells.weight, score))
        expected = np.array([total - positive, positive])
        found -= float(between * ratio(square, masses * expected, 0.0).sum())
    return found / cells.total**2


def relabelled(count: Floats, weight: Floats, square: Floats) -> Floats:
    """How many times as much a row of each class (axis 0) would weigh with the other label.

    One unless all rows of a class weigh the same, as in case-control samples and at a stated prevalence: weights that
    vary within a class may go with the score.
    """
    alike = (weight > 0.0) & (np.abs(weight * weight - count * square) <= _ALIKE * weight * weight)
    each = np.where(alike.all(axis=0), ratio(weight, count, 1.0), 1.0)
    return np.asarray(each[::-1] / each)


def no_less(share: Floats | float) -> Floats:
    """Return a share of positives a trillionth larger, so that rounding takes it below no cost ratio that it equals."""
    return np.asarray(share * (1.0 + 1e-12 * (1.0 - share)))


def skill_influence(cells: WeightedCells, costs: CostDistribution, rule: Rule, reference: float | None) -> Influence:
    """Influence on 1 - loss / loss of the reference, by the delta method."""
    own = loss_influence(cells, costs, rule)
    # the prevalence is the best constant, so that its own error moves the reference's loss to second order only
    guess = float(no_less(cells.prevalence)) if reference is None else reference
    base = loss_influence(replace(cells, score=np.full(len(cells.y), guess)), costs, "score")
    if base.value == 0.0:
        return undefined(cells, math.nan)
    ratio = own.value / base.value
    slope = (ratio * base.slope - own.slope) / base.value
    max_loss = own.max_loss[0] / base.value, own.max_loss[1] / base.value
    return Influence(1.0 - ratio, slope, -own.raw / base.value, max_loss, NEEDED_FOR_SKILL, (-math.inf, 1.0))


def undefined(cells: WeightedCells, value: float) -> Influence:
    """Influence on a value that is infinite or unknown."""
    nothing = np.full(len(cells.y), np.nan)
    return Influence(value, nothing, nothing, (0.0, 0.0))


# Moments of an estimate from the influence of its rows.


def influence_moments(
    cells: WeightedCells,
    influence: Influence,
    codes: Integers | None = None,
    lags: int | str | None = None,
    *,
    paired: bool = False,
) -> Moments:
    """Moments of an estimate from its influence, for rows that are independent, clustered or in order."""
    design, max_loss = cells.design(codes, lags), np.array(influence.max_loss)
    found, rows, reason = design.variance(influence.raw, max_loss, influence.slope)
    told: dict[str, Any] = {
        "least": influence.least,
        "reason": reason,
        "paired": paired,
        "clustered": codes is not None,
    }
    told["names"] = EFFECTIVE if cells.hides_rows else CLASSES
    return moments_of(influence.value, found, rows, **told).within(*influence.ends)


# Score and skill of every group and of all other rows, from one pass over the rows in the order of their groups.

UNKNOWN = Moments(np.nan, np.nan)


@dataclass(frozen=True, eq=False, repr=False)
class GroupedRows:
    """Rows in the order of their groups, and of their classes within; ``order`` are their places."""

    rows: PairedRows
    order: Integers
    counts: Integers

    @classmethod
    def of(cls, rows: PairedRows, codes: Integers, groups: int) -> GroupedRows:
        """Sort the rows by the codes of their groups."""
        keys = 2 * codes + rows.y
        order = order_of_codes(keys)
        return cls(replace(rows, scores=[], clusters=None).taken(order), order, np.bincount(keys, minlength=2 * groups))

    @cached_property
    def parts(self) -> list[slice]:
        """Where the rows of each group stand."""
        ends = np.append(0, np.cumsum(self.counts)[1::2]).tolist()
        return [slice(*ends_of_one) for ends_of_one in pairwise(ends)]

    @property
    def sizes(self) -> Integers:
        """Rows of each group."""
        return self.counts[::2] + self.counts[1::2]

    def sums(self, values: Floats) -> Sums:
        """Sums of values that stand in the order of the rows."""
        return Sums.by_group(values, np.cumsum(self.counts), self.rows.weight)


def group_moments(
    grouped: GroupedRows, score: Floats, costs: CostDistribution, rule: Rule
) -> tuple[ManyPair, ManyPair]:
    """Moments of score and skill in each group, and of their differences from those in all other rows."""
    return _compared(grouped.sums(row_losses(grouped.rows.y, score[grouped.order], costs, rule)), costs)


def group_moments_of_tables(
    tables: Sequence[tuple[ScoreTable, int]], costs: CostDistribution, rule: Rule
) -> tuple[ManyPair, ManyPair]:
    """The same of groups of which the tables and the numbers of positive rows are known.

    Where :func:`hides_weights`, the degrees of freedom are too large.
    """
    return _compared(joined(_table_sums(table, ups, costs, rule) for table, ups in tables), costs)


def _table_sums(table: ScoreTable, ups: int, costs: CostDistribution, rule: Rule) -> Sums:
    losses = losses_by_score(table.scores, costs, rule)
    columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)
    used = [weight > 0.0 for weight, _ in columns]
    parts = [(k, losses[k][used[k]], weight[used[k]], square[used[k]]) for k, (weight, square) in enumerate(columns)]
    return replace(Sums.from_blocks(parts), count=np.array([table.n_rows - ups, ups], dtype=np.float64))


def hides_weights(table: ScoreTable, ups: int) -> bool:
    """Whether rows of unlike weights share a score: more rows than weight^2 / square (Cauchy-Schwarz).

    Fourth powers of weights are then larger than square^3 / weight^2 (Hoelder).
    """
    counts = table.n_rows - ups, ups
    return any(found < count * (1.0 - _ALIKE) for found, count in zip(_effective_rows(table), counts, strict=True))


def hides_rows(table: ScoreTable) -> bool:
    """Whether rows of unlike weights share a score, so that how many of them are positive is not known."""
    rows = _effective_rows(table)
    whole = all(abs(count - round(count)) <= _ALIKE * count for count in rows)  # it may be a part of a table
    return not whole or sum(rows) < table.n_rows * (1.0 - _ALIKE)


def _effective_rows(table: ScoreTable) -> tuple[float, float]:
    columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)
    negatives, positives = (
        float(weight.sum() if square is weight else ratio(weight * weight, square, 0.0).sum())
        for weight, square in columns
    )
    return negatives, positives


def _compared(sums: Sums, costs: CostDistribution) -> tuple[ManyPair, ManyPair]:
    own = _moments(sums, costs)
    if sums.count.shape[-1] == 1:
        unknown = ManyMoments.of([UNKNOWN])
        return own, (unknown, unknown)
    rest = _moments(sums.others(), costs)
    return own, (own[0].minus(rest[0]), own[1].minus(rest[1]))


def _moments(sums: Sums, costs: CostDistribution) -> ManyPair:
    share = no_less(sums.weight[1] / sums.weight.sum(axis=0))
    constant = np.stack([costs.negative_loss(share), costs.positive_loss(share)])
    max_loss = worst_losses(costs)
    ratio, base, skill = skill_variance(sums, constant, max_loss)
    needed, rows, ends = np.where(base > 0.0, NEEDED_FOR_SKILL, 0), sums.count, (0.0, float(max_loss.max()))
    score = ManyMoments.from_variance(sums.value, sums.variance(max_loss), rows, 0 * needed, ends)
    return score, ManyMoments.from_variance(1.0 - ratio, skill, rows, needed, (-math.inf, 1.0))


def group_promises(grouped: GroupedRows, score: Floats, costs: CostDistribution) -> ManyMoments:
    """The moments of :func:`promise_moments` in every group of independent rows."""
    values, spread = _promise(grouped.rows.y, score[grouped.order], costs, "score")
    sums, chance = grouped.sums(values), grouped.sums(spread)
    found = sums.variance(worst_losses(costs))
    turned = relabelled(sums.count, sums.weight, sums.second[0])
    least = (turned * chance.about(0.0)[0]).sum(axis=0) / sums.weight.sum(axis=0) ** 2
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        known = np.where(np.isfinite(found.variance), np.maximum(found.variance, least), found.variance)
    return ManyMoments.from_variance(sums.value, replace(found, variance=known), sums.count)


# The estimate of a group less that of all other rows, which may lie in the same clusters or stretches of time.


def gap_moments(own: Part, rest: Part, chosen: Bools, codes: Integers | None, lags: int | str | None) -> Moments:
    """Moments of the difference between the chosen rows and the rest; ``codes`` are clusters of an outcome's rows."""
    gap = influence_moments(*own, codes).minus(influence_moments(*rest, codes))
    if codes is not None:
        designs = [cells.design(codes) for cells, _ in (own, rest)]
        slopes = zip(designs, (own[1].slope, rest[1].slope), strict=True)
        change, other = (design.clusters.left_out(design.contributions(slope)) for design, slope in slopes)
        return _clustered_gap(gap, change - other, [design.clusters for design in designs])
    if lags is None and own[0].origin is None:
        return gap
    terms = _terms(own, rest, chosen)
    independent = (*independent_variance(terms), gap.reason)
    variance, degrees, reason = independent if lags is None else ordered_variance(terms, lags)
    return replace(gap, variance=float(variance), degrees=float(degrees), reason=reason)


def _terms(own: Part, rest: Part, chosen: Bools) -> Floats:
    """Contributions of the rows to the error of the difference; both may rest on the same estimated weights."""
    mine, theirs = (cells.design().contributions(influence.slope) for cells, influence in (own, rest))
    if own[0].origin is not None:
        return np.asarray(mine - theirs)
    terms = np.empty(len(chosen))
    terms[chosen], terms[~chosen] = mine, -theirs
    return terms


# The same over clusters: all of it follows from the weights and losses of each class, summed over each cluster's rows.


@dataclass(frozen=True, eq=False, repr=False)
class _ClusteredPart:
    """Rows of each class (first axis) of some groups in every cluster: their number, weight and weighted losses."""

    count: Floats
    weight: Floats
    loss: Floats

    @classmethod
    def of(cls, place: Integers, size: int, weight: Floats, loss: Floats) -> _ClusteredPart:
        """Sum weighted losses over the rows of a place; rows of weight zero are not counted."""
        sums = (np.bincount(place, each, size).reshape(2, -1) for each in (weight > 0.0, weight, loss))
        return cls(*(part.astype(np.float64) for part in sums))

    @cached_property
    def there(self) -> Bools:
        """The clusters that have rows here."""
        return np.asarray(self.count.sum(axis=0) > 0.0)

    @cached_property
    def shape(self) -> ClusterShape:
        """How evenly rows and weight lie in the clusters."""
        shares, sizes = self.weight.sum(axis=0) / self.weight.sum(), self.count.sum(axis=0)
        powers = float(np.sum(shares**2)), float(np.sum(shares**4))
        size = float(np.sum(sizes**2) / sizes.sum())
        return ClusterShape(int(np.count_nonzero(self.there)), [float(shares.max())], *powers, size)

    def moments(self, costs: CostDistribution) -> tuple[list[Moments], list[Floats]]:
        """Moments of score and skill, and what leaving out each cluster changes in each."""
        masses, each, total = self.weight.sum(axis=1), self.weight.sum(axis=0), float(self.weight.sum())
        max_loss, value = worst_losses(costs), self.loss.sum() / total
        guess = np.array([costs.negative_loss(masses[1] / total), costs.positive_loss(masses[1] / total)])
        constant = np.where(masses > 0.0, guess, 0.0)
        base = masses @ constant / total
        with np.errstate(invalid="ignore", divide="ignore"):  # infinite losses, one class, a single cluster
            own = (self.loss.sum(axis=0) - value * each) / total
            skill = (value / base * (constant @ self.weight - base * each) / total - own) / base
            changes = [np.where(self.there, part / (1.0 - each / total), 0.0) for part in (own, skill)]
            score = self._moments(value, changes[0], max_loss, 1.0).within(0.0, float(max_loss.max()))
            if base == 0.0:
                return [score, self._moments(math.nan, changes[1], max_loss, 1.0)], changes
            saved = self._moments(1.0 - value / base, changes[1], max_loss, base, least=NEEDED_FOR_SKILL)
        return [score, saved.within(-math.inf, 1.0)], changes

    def _moments(self, value: float, changes: Floats, max_loss: Floats, base: float, least: int = 0) -> Moments:
        masses, rows, total = self.weight.sum(axis=1), self.count.sum(axis=1), float(self.weight.sum())
        sums = self.loss / (total * base)
        raw = np.count_nonzero(sums, axis=-1) * 1.0, sums.sum(axis=-1), *squares_and_fourths(sums)
        shift = mean_weights(masses, rows) / (total * base) * max_loss
        found = cluster_variance(self.shape, squares_and_fourths(changes), raw, rows / rows.sum(), shift)
        seen = tuple(np.count_nonzero(self.count, axis=1).tolist())
        return moments_of(float(value), found, seen, least=least, reason=self.shape.reason(), clustered=True)


def clustered_group_moments(
    rows: PairedRows, groups: Integers, costs: CostDistribution, rule: Rule
) -> tuple[ManyPair, ManyPair]:
    """Moments of score and skill in each group, and of their differences from those in all other rows."""
    codes, weight = np.asarray(rows.clusters), np.ones(len(rows.y)) if rows.weight is None else rows.weight
    size, loss = 2 * (int(codes.max()) + 1), weight * row_losses(rows.y, rows.scores[0], costs, rule)
    place = np.where(rows.y, codes + size // 2, codes)
    own, gaps = [], []
    for g in range(int(groups.max()) + 1):
        mine = groups == g
        part = _ClusteredPart.of(place[mine], size, weight[mine], loss[mine])
        inside, changes = part.moments(costs)
        own.append(inside)
        if mine.all():
            gaps.append([UNKNOWN, UNKNOWN])
            continue
        rest = _ClusteredPart.of(place, size, *(np.where(mine, 0.0, each) for each in (weight, loss)))
        outside, others = rest.moments(costs)
        shapes = part.shape, rest.shape
        each = zip(inside, outside, changes, others, strict=True)
        gaps.append([_clustered_gap(a.minus(b), change - other, shapes) for a, b, change, other in each])
    return side_by_side(own), side_by_side(gaps)


def _clustered_gap(gap: Moments, changes: Floats, shapes: Sequence[ClusterShape]) -> Moments:
    """Moments of a difference, where leaving out a cluster moves either estimate."""
    variance, degrees = left_out_variance(changes, len(changes), min(shape.degrees() for shape in shapes))
    fewest = min(map(len, shapes))
    if fewest < NEEDED_CLUSTERS:
        reason = f"only {fewest} clusters: a difference needs {NEEDED_CLUSTERS}"
        return replace(gap, degrees=float(degrees), reason=reason)
    return replace(gap, variance=float(variance), degrees=float(degrees))


def side_by_side(each: Sequence[Sequence[Moments]]) -> ManyPair:
    """Moments of score and skill of every group as arrays."""
    scores, skills = zip(*each, strict=True)
    return ManyMoments.of(scores), ManyMoments.of(skills)

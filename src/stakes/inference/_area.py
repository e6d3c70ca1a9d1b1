"""Intervals of the AUC and the partial AUC, of differences of AUCs, and of the regret that AUC averages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import NormalDist
from typing import Any, TypeVar

import numpy as np

from stakes.base.numerics import order_of, order_of_codes
from stakes.base.validation import Bools, Floats, Integers, blocks, check_unit
from stakes.core.options import check_rule, refuse_weighing
from stakes.core.score_table import Rule, ScoreTable, row_losses
from stakes.costs import CostDistribution
from stakes.metrics import METRICS, RocWindow, check_parameters, guess_metric
from stakes.variance.dependence import Design
from stakes.variance.influence import (
    NEEDED_FOR_SKILL,
    GroupedRows,
    Influence,
    WeightedCells,
    influence_moments,
    mean_influence,
    no_less,
    skill_influence,
)
from stakes.variance.sums import (
    BLOCK,
    Block,
    Moments,
    Sums,
    class_variance,
    effective,
    moments_of,
    skill_variance,
    t_quantile,
    too_few,
    two_sided,
    worst_losses,
)

Dependence = tuple[Integers | None, int | str | None]
Options = Mapping[str, Any]
Number = TypeVar("Number", float, Floats)


# Intervals of the area under the ROC curve and of the difference of two areas on the same rows.
#
# The variance is that of DeLong, DeLong and Clarke-Pearson (1988, doi:10.2307/2531595), with the degrees of freedom
# of a sum over two classes. With few rows of a class it is unreliable, so its lower bound is the variance
# of Hanley and McNeil (1982) with Newcombe's N (2006); the interval of one area has Wilson's form (Mee 1990),
# that of a difference combines the two if few rows distinguish the models (Zou 2007).

NEEDED_FOR_AREA = 3  # of each class; and effective rows that distinguish two areas
_HALVINGS = 80
_ROUNDING = 1e-24  # of the larger of two variances: what is left of that of a perfect ranking
_FURTHEST = 38.0  # standard errors beyond which a p-value underflows


class Limited:
    """An estimate with an interval at every level."""

    def limits(self, alpha: float) -> tuple[float, float]:
        """Two-sided interval of level 1 - alpha."""
        raise NotImplementedError

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided interval."""
        return self.limits(1.0 - confidence_level)


@dataclass(frozen=True, eq=False, repr=False)
class Area(Limited):
    """An area under the ROC curve.

    Parameters
    ----------
    value, variance, degrees : float
        The area, DeLong's variance and its degrees of freedom.
    floor : float
        Hanley and McNeil's variance over value (1 - value).
    rows : tuple of int
        Negatives and positives.
    reason : str
        Why there is no interval for another reason; empty otherwise.
    between, rubin : float
        Where scores were imputed: what the spread between the completed data sets adds to the variance, and Rubin's
        degrees of freedom.
    """

    value: float
    variance: float
    degrees: float
    floor: float
    rows: tuple[int, int]
    reason: str = ""
    between: float = 0.0
    rubin: float = math.inf

    @property
    def total(self) -> float:
        """Total variance, within and between completed data sets."""
        return self.variance + self.between

    @property
    def standard_error(self) -> float:
        """DeLong's standard error."""
        return math.sqrt(self.total)

    @property
    def note(self) -> str:
        """The class with too few rows, or ""."""
        return self.reason or too_few(self.rows, NEEDED_FOR_AREA)

    def limits(self, alpha: float) -> tuple[float, float]:
        """Wilson-type interval, within [0, 1]."""
        if self.note or math.isnan(self.value):
            return math.nan, math.nan
        low, high = _wilson(np.float64(self.value), t_quantile(alpha, self.degrees), self._unit)
        return float(low), float(high)

    def delong(self, confidence_level: float) -> tuple[float, float]:
        """Normal interval of DeLong's variance without a lower bound, clipped to [0, 1], as pROC's ``ci.auc``."""
        half = _normal(confidence_level, self.rubin) * self.standard_error
        return max(self.value - half, 0.0), min(self.value + half, 1.0)

    def p_value(self, null: float) -> float:
        """Two-sided p-value for an area of ``null``: the level at which the interval ends there."""
        if self.note or math.isnan(self.value):
            return math.nan
        gap, spread = abs(self.value - null), null * (1.0 - null)
        if gap == 0.0 or spread <= 0.0:
            return float(gap == 0.0)
        return float(two_sided(gap / math.sqrt(spread * self._unit), self.degrees))

    @property
    def _unit(self) -> float:
        spread = self.value * (1.0 - self.value)
        return max(self.variance / spread, self.floor) + self.between / spread if spread > 0.0 else self.floor


@dataclass(frozen=True, eq=False, repr=False)
class AreaDifference(Limited):
    """The first area minus the second, on the same rows.

    Parameters
    ----------
    first, second : Area
        The two areas.
    variance, degrees : float
        Of the difference.
    carrying : float
        Effective rows that tell the two apart, in the class that has fewer.
    same : bool
        Whether the two rank every row alike.
    between, rubin : float
        Where scores were imputed, as for :class:`Area`.
    """

    first: Area
    second: Area
    variance: float
    degrees: float
    carrying: float
    same: bool = False
    between: float = 0.0
    rubin: float = math.inf

    @property
    def value(self) -> float:
        """Difference of the areas."""
        return self.first.value - self.second.value

    @property
    def standard_error(self) -> float:
        """DeLong's standard error of the paired difference."""
        return math.sqrt(self.variance + self.between)

    @property
    def note(self) -> str:
        """Which class has too few rows for an interval; empty where there are enough."""
        return self.first.note or self.second.note

    @property
    def correlation(self) -> float:
        """Correlation of the two areas."""
        return _correlation(self.first.total, self.second.total, self.variance + self.between)

    @property
    def least(self) -> float:
        """Lower bound of the variance of the difference, from Hanley and McNeil's variances."""
        one, two = (area.floor * area.value * (1.0 - area.value) for area in (self.first, self.second))
        r = _correlation(self.first.variance, self.second.variance, self.variance)
        return max(one + two - 2.0 * r * math.sqrt(one * two), 0.0)

    def limits(self, alpha: float) -> tuple[float, float]:
        """Two-sided interval of level 1 - alpha."""
        if self.note or math.isnan(self.value):
            return math.nan, math.nan
        if self.same:
            return 0.0, 0.0
        if self.carrying >= NEEDED_FOR_AREA:
            sides = [(self.variance, self.degrees), (self.least, math.inf), (self.between, self.degrees)]
            half = [float(t_quantile(alpha, df)) * math.sqrt(v) if v > 0.0 else 0.0 for v, df in sides]
            h = math.hypot(max(half[:2]), half[2])
            return max(self.value - h, -1.0), min(self.value + h, 1.0)
        return self._mover_limits(alpha)

    def p_value(self) -> float:
        """Two-sided p-value for equal areas; agrees with :meth:`interval`."""
        if self.note or math.isnan(self.value):
            return math.nan
        if self.same or self.value == 0.0:
            return 1.0
        if self.carrying < NEEDED_FOR_AREA or self.between > 0.0:
            return level_reached(self, 0.0)
        tails = [(self.variance, self.degrees), (self.least, math.inf)]
        return max(float(two_sided(self.value / math.sqrt(v), df)) if v > 0.0 else 0.0 for v, df in tails)

    def delong(self, confidence_level: float) -> tuple[tuple[float, float], float]:
        """Interval and p-value of DeLong's normal test without a lower bound of the variance, as in pROC."""
        half, gap = _normal(confidence_level, self.rubin) * self.standard_error, abs(self.value)
        if not self.standard_error > 0.0:
            p = float(gap == 0.0)
        elif math.isinf(self.rubin):
            p = math.erfc(gap / self.standard_error / math.sqrt(2.0))
        else:
            p = float(two_sided(gap / self.standard_error, self.rubin))
        return (self.value - half, self.value + half), p

    def _mover_limits(self, alpha: float) -> tuple[float, float]:
        """Combine the limits of the two areas as variances add (MOVER)."""
        (l1, u1), (l2, u2) = self.first.limits(alpha), self.second.limits(alpha)
        a, b, r = self.first.value, self.second.value, self.correlation

        def reach(x: float, y: float) -> float:
            return math.sqrt(max(x * x + y * y - 2.0 * r * x * y, 0.0))

        return self.value - reach(a - l1, u2 - b), self.value + reach(u1 - a, b - l2)


def _normal(confidence_level: float, degrees: float) -> float:
    """Quantile of the normal distribution, or of Student's t where there are degrees of freedom."""
    if math.isinf(degrees):
        return NormalDist().inv_cdf(0.5 + 0.5 * confidence_level)
    return float(t_quantile(1.0 - confidence_level, degrees))


def _correlation(first: float, second: float, difference: float) -> float:
    """Correlation of two estimates from their variances and that of their difference; 0 if one is but rounding."""
    if min(first, second) <= _ROUNDING * max(first, second):
        return 0.0
    return max(-1.0, min(1.0, (first + second - difference) / (2.0 * math.sqrt(first * second))))


def area_of(sums: Sums) -> Area:
    """Area from the sums of the placements of each class.

    The placement of a positive is the share of the negatives that it outranks, that of a negative the share of the
    positives that outrank it.
    """
    value = min(float(sums.mean[1]), 1.0)  # rounding of weights takes that of a perfect ranking beyond
    counts = round(float(sums.count[0])), round(float(sums.count[1]))
    alike = sums.weight**2 / sums.second[0]
    return Area(
        value, *_placement_variance(sums, value), least_variance(value, float(alike[0]), float(alike[1])), counts
    )


def group_areas(grouped: GroupedRows, score: Floats, confidence_level: float) -> tuple[Floats, Floats, Floats]:
    """Area of every group of independent rows, and both ends of its interval; nan as for one area."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):  # groups of one class
        sums = grouped.sums(_group_placements(grouped, score[grouped.order]))
        value = np.where((sums.count > 0.0).all(axis=0), np.minimum(sums.mean[1], 1.0), np.nan)
        variance, degrees = spread_by_class(sums, value)
        floor, spread = least_variance(value, *sums.weight**2 / sums.second[0]), value * (1.0 - value)
        unit = np.where(spread > 0.0, np.maximum(variance / spread, floor), floor)
        low, high = _wilson(value, t_quantile(1.0 - confidence_level, degrees), unit)
    enough = (sums.count >= NEEDED_FOR_AREA).all(axis=0)
    return value, np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def _group_placements(grouped: GroupedRows, score: Floats) -> Floats:
    """Share of the other class of its group on the right side of each row, ties half, in the order of the rows."""
    codes, y = np.repeat(np.arange(len(grouped.parts)), grouped.sizes), grouped.rows.y
    at = order_of(score)[0]
    at = at[order_of_codes(codes[at])]
    ordered, group = score[at], codes[at]
    weight = np.ones(len(y)) if grouped.rows.weight is None else grouped.rows.weight[at]
    tied = np.append(False, (ordered[1:] == ordered[:-1]) & (group[1:] == group[:-1]))
    starts, positive = np.flatnonzero(~tied), y[at]
    found = []
    for mine in (weight * ~positive, weight * positive):
        here = np.add.reduceat(mine, starts)
        ends = np.append(np.searchsorted(starts, [part.start for part in grouped.parts]), len(starts))
        if grouped.rows.weight is None:  # sums of counts are exact
            below = np.cumsum(here)
            below -= np.repeat(np.append(0.0, below[ends[1:-1] - 1]), np.diff(ends))
        else:
            below = np.concatenate([np.cumsum(here[a:b]) for a, b in pairwise(ends.tolist())])
        found.append((below - 0.5 * here, below[ends[1:] - 1][group[starts]]))  # of a perfect ranking 1 to the last bit
    (below, negative), (above, all_positive) = found
    by_run = np.stack([(all_positive - above) / all_positive, below / negative])
    placement = np.empty(len(y))
    placement[at] = by_run[positive.astype(np.intp), np.cumsum(~tied) - 1]
    return placement


def area_difference(areas: tuple[Area, Area], sums: Sums) -> AreaDifference:
    """Difference of two areas from the sums of the differences of both placements."""
    centre = areas[0].value - areas[1].value
    return AreaDifference(*areas, *_placement_variance(sums, centre), float(effective(*sums.raw[2:]).min()))


@dataclass(frozen=True, eq=False, repr=False)
class AreaRegret(Limited):
    """Expected regret of thresholds drawn like the scores, 2 rate (1 - rate) (1 - AUC), or a difference of two.

    Parameters
    ----------
    area : Area or AreaDifference
        What it is made of.
    factor : float
        2 rate (1 - rate).
    shift : float
        Derivative of the regret to the prevalence times the standard error of that; 0 where the prevalence is stated.
    correlation : float
        Of the errors that the area and the prevalence bring to the regret, which rows that depend on each other share.
    """

    area: Area | AreaDifference
    factor: float
    shift: float
    correlation: float = 0.0

    @property
    def standard_error(self) -> float:
        """Standard error of the regret."""
        return self._joined(self.factor * self.area.standard_error, self.shift)

    def _joined(self, area: float, rate: float) -> float:
        """Error from that of the area and that of the prevalence."""
        return math.hypot(area + self.correlation * rate, math.sqrt(max(1.0 - self.correlation**2, 0.0)) * rate)

    @property
    def value(self) -> float:
        """The regret."""
        paired = isinstance(self.area, AreaDifference)
        return 0.0 - self.factor * self.area.value if paired else self.factor * (1.0 - self.area.value)

    @property
    def note(self) -> str:
        """Which class has too few rows for an interval; empty where there are enough."""
        return self.area.note

    def limits(self, alpha: float) -> tuple[float, float]:
        """Combine the limits of the area with the error of the prevalence."""
        low, high = self.area.limits(alpha)
        rate = self.shift * float(t_quantile(alpha, self.area.degrees))
        below, above = (self._joined(self.factor * abs(end - self.area.value), rate) for end in (high, low))
        least = -0.5 if isinstance(self.area, AreaDifference) else 0.0
        return max(self.value - below, least), min(self.value + above, 0.5)

    def p_value(self) -> float:
        """Two-sided p-value for no regret or no difference; agrees with :meth:`interval`."""
        return 1.0 if self.value == 0.0 else level_reached(self, 0.0)


def level_reached(estimate: Limited, null: float) -> float:
    """P-value by inversion: the smallest alpha whose interval excludes the null; nan without an interval.

    Limits that are undefined at a level too small for the quantile exclude nothing.
    """
    if math.isnan(estimate.limits(0.5)[0]):
        return math.nan
    inside, outside = _FURTHEST, 0.0
    for _ in range(_HALVINGS):
        z = 0.5 * (inside + outside)
        low, high = estimate.limits(math.erfc(z / math.sqrt(2.0)))
        inside, outside = (inside, z) if low > null or high < null else (z, outside)
    return math.erfc(inside / math.sqrt(2.0))


def least_variance(area: Number, negatives: Number, positives: Number) -> Number:
    """Hanley and McNeil's variance over area (1 - area)."""
    count = 0.5 * (positives + negatives) - 1.0
    return (1.0 + count * (1.0 - area) / (2.0 - area) + count * area / (1.0 + area)) / (positives * negatives)


def _wilson(value: Floats | np.float64, quantile: Floats, unit: Floats | float) -> tuple[Floats, Floats]:
    """Ends of Wilson's interval, where ``unit`` is the variance over value (1 - value); [0, 1] where all overflows."""
    with np.errstate(over="ignore"):
        k = np.minimum(quantile * quantile * unit, np.finfo(float).max)
    rest, part = 1.0 / (1.0 + k), k / (1.0 + k)
    middle, reach = value * rest + 0.5 * part, np.sqrt(part * rest * value * (1.0 - value) + 0.25 * part * part)
    return np.where(value <= 0.0, 0.0, middle - reach), np.where(value >= 1.0, 1.0, middle + reach)  # but for rounding


def _placement_variance(sums: Sums, centre: float) -> tuple[float, float]:
    """Variance and degrees of freedom of placements about a centre."""
    variance, degrees = spread_by_class(sums, np.float64(centre))
    return float(variance), float(degrees)


def spread_by_class(sums: Sums, centre: Floats | np.float64) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom of placements about centres; each counts by its share in its class."""
    second, fourth = sums.about(centre)
    return class_variance(sums.count, second / sums.weight**2, fourth / sums.weight**4)


# The area under the ROC curve, its regret and their differences, from rows or the cells of a table.

INDEPENDENT = (None, None)


def are_independent(dependence: Dependence) -> bool:
    return dependence[0] is None and dependence[1] is None


def placements(cells: WeightedCells) -> Floats:
    """Share of the other class on the right side of each cell, ties half: DeLong's placement values."""
    table = cells.table
    negatives, positives = np.cumsum(table.negatives), np.cumsum(table.positives)
    below = negatives - 0.5 * table.negatives
    above = positives[-1] - positives + 0.5 * table.positives
    # over the same sums, so that those of a perfect ranking are 1 to the last bit
    return np.where(cells.y, below[cells.level] / negatives[-1], above[cells.level] / positives[-1])


def area_estimate(cells: WeightedCells, dependence: Dependence = INDEPENDENT) -> Area:
    """Area under the ROC curve; nan where a class is missing."""
    table = cells.table
    if min(table.total_negatives, table.total_positives) <= 0.0:
        return Area(math.nan, math.nan, math.nan, math.nan, (round(cells.rows[0]), round(cells.rows[1])))
    alike = cells.plain or cells.data.sample is None  # the table has lost the weights of single rows of one score
    if are_independent(dependence) and alike:
        return table_area(table)
    placement = placements(cells)
    area = area_of(_sums(placement, cells))
    if are_independent(dependence) and cells.origin is None:
        return area
    variance, degrees, reason = dependent_variance(cells, placement - area.value, dependence)
    return replace(area, variance=variance, degrees=degrees, reason=reason)


def table_area(table: ScoreTable) -> Area:
    """Area under the ROC curve of independent rows, known by a table that holds both classes."""
    refuse_weighing(table, "an interval from a table")
    return area_of(Sums.from_blocks(_table_placements(table)))


def area_gap(first: WeightedCells, second: WeightedCells, dependence: Dependence = INDEPENDENT) -> AreaDifference:
    """Area of the first scores less that of the second, on the same rows."""
    areas = area_estimate(first, dependence), area_estimate(second, dependence)
    if math.isnan(areas[0].value):
        return AreaDifference(*areas, math.nan, math.nan, math.nan)
    apart = placements(first) - placements(second)
    gap = area_difference(areas, _sums(apart, first))
    gap = replace(gap, same=np.array_equal(first.level, second.level))
    if are_independent(dependence) and first.origin is None:
        return gap
    variance, degrees, _ = dependent_variance(first, apart - gap.value, dependence)
    return replace(gap, variance=variance, degrees=degrees)


def area_regret(
    cells: Sequence[WeightedCells], area: Area | AreaDifference, dependence: Dependence = INDEPENDENT
) -> AreaRegret:
    """Regret of thresholds that are drawn like the scores, from the area of one model or the difference of two."""
    first = cells[0]
    rate = first.prevalence
    factor = 2.0 * rate * (1.0 - rate)
    gap = -area.value if isinstance(area, AreaDifference) else 1.0 - area.value
    moving = 0.0 if first.fixed_prevalence else 2.0 * (1.0 - 2.0 * rate) * gap
    if moving == 0.0 or math.isnan(area.variance):
        return AreaRegret(area, factor, 0.0)
    centred = first.y - np.float64(rate)
    if are_independent(dependence) and first.origin is None:
        n = float((first.weight**2 / first.square).sum())
        variance = float(first.square @ (centred * centred)) / first.total**2 * n / (n - 1.0)
        return AreaRegret(area, factor, abs(moving) * math.sqrt(variance))
    design = first.design(*dependence)
    errors = design.independent_units(design.contributions(centred)) * moving
    placement = placements(first) if len(cells) == 1 else placements(first) - placements(cells[1])
    by_class, contributions = _area_contributions(first, placement - area.value, dependence)
    shown = by_class.independent_units(contributions)
    shift, scale = math.sqrt(float(errors @ errors)), math.sqrt(float(shown @ shown))
    # rows of one unit err together in the area and in the prevalence
    correlation = -float(errors @ shown) / (shift * scale) if scale > 0.0 else 0.0
    return AreaRegret(area, factor, shift, correlation)


def _sums(placement: Floats, cells: WeightedCells) -> Sums:
    return Sums.from_units(placement, cells.y, cells.weight, cells.square)


def _table_placements(table: ScoreTable) -> Iterator[Block]:
    """Placements of the rows of each class at some of the scores."""
    parts = list(blocks(len(table.scores), BLOCK))
    negative, positive = (
        sum(float(np.cumsum(counts[part])[-1]) for part in parts) for counts in (table.negatives, table.positives)
    )  # in the order of what is summed below, so that placements in a perfect ranking are 1 to the last bit
    below, raised = 0.0, 0.0
    for part in parts:
        downs, ups = table.negatives[part], table.positives[part]
        passed, reached = below + np.cumsum(downs), raised + np.cumsum(ups)
        yield _cells(1, (passed - 0.5 * downs) / negative, ups, table.positives_squared[part])
        yield _cells(0, (positive - reached + 0.5 * ups) / positive, downs, table.negatives_squared[part])
        below, raised = float(passed[-1]), float(reached[-1])


def _cells(k: int, placement: Floats, weight: Floats, square: Floats) -> Block:
    """The cells that hold rows, with weights where they are not all single rows of weight one."""
    used = weight > 0.0
    weight, square = weight[used], square[used]
    single = bool((weight == 1.0).all() and (square == 1.0).all())
    return (k, placement[used], None, None) if single else (k, placement[used], weight, square)


def dependent_variance(cells: WeightedCells, centred: Floats, dependence: Dependence) -> tuple[float, float, str]:
    """Variance of a mean of placements by class, its degrees of freedom, and why it may be undefined."""
    design, contributions = _area_contributions(cells, centred, dependence)
    variance, degrees, reason = design.variance_of(contributions)
    return float(variance), float(degrees), reason


def _area_contributions(cells: WeightedCells, centred: Floats, dependence: Dependence) -> tuple[Design, Floats]:
    """How the rows of an area depend on each other, and what each contributes to its error."""
    masses, design = cells.masses, replace(cells.design(*dependence), by_class=True)
    contributions = cells.weight * centred / np.where(cells.y, masses[1], masses[0])
    return design, design.with_weight_estimation(contributions)


# Metrics that are means of row values, and skills, which compare such a mean with that of a constant decision.

AREAS = ("roc_auc_score", "auc_regret", "partial_auc_score")  # of another form: see _area_rows
_SKILLS = ("bounded_brier_skill_score", "bounded_log_skill_score", "regret_skill_score")


@dataclass(frozen=True, eq=False, repr=False)
class Constant:
    """The constant reference forecast of a skill, by default the prevalence, and the costs of its losses."""

    costs: CostDistribution
    rule: Rule
    reference: float | None

    def losses(self, prevalence: float) -> Floats:
        """Loss of the constant forecast for a row of each class."""
        # the prevalence is the best constant, so that its error affects the reference's loss only to second order
        guess = np.array([no_less(prevalence) if self.reference is None else self.reference])
        return np.append(self.costs.negative_loss(guess), self.costs.positive_loss(guess))


@dataclass(frozen=True, eq=False, repr=False)
class RowMean:
    """A mean of row values; with ``constant``, one minus its ratio to the constant's mean.

    ``best`` and ``worst`` are the values of perfect and of opposite decisions for each class.
    """

    values: Callable[[Bools, Floats], Floats]
    best: tuple[float, float]
    worst: tuple[float, float]
    constant: Constant | None = None

    def influence(self, cells: WeightedCells) -> Influence:
        """Influence function at each row."""
        if self.constant is None:
            return mean_influence(cells, self.values(cells.y, cells.score), self.best, self.worst)
        return skill_influence(cells, self.constant.costs, self.constant.rule, self.constant.reference)


def _value_range(mean: RowMean, masses: Floats, *, fixed: bool, paired: bool) -> tuple[float, float]:
    """Range of the mean, for fixed or free class shares; of a difference if paired."""
    if mean.constant is not None:
        return -np.inf, np.inf if paired else 1.0
    ends = np.sort(np.stack([mean.best, mean.worst]), axis=0)  # least and largest by class
    if paired:
        ends = np.stack([ends[0] - ends[1], ends[1] - ends[0]])
    low, high = ends @ (masses / masses.sum()) if fixed else (ends[0].min(), ends[1].max())
    return float(low), float(high)


def row_mean(name: str, options: Options) -> RowMean:
    """Return a registered binary metric as a mean of row values, or raise if it has no closed form."""
    if name in METRICS:
        check_parameters(METRICS[name], dict(options))
    if name in METRICS and (name in _SKILLS or name == "net_benefit_score" or METRICS[name].per_sample):
        rule = check_rule(options.get("rule", "score"))
        if rule == "optimal":
            raise ValueError(
                'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
            )
        if name in _SKILLS:
            return _skill(name, rule, options)
        return _net_benefit(rule, options) if name == "net_benefit_score" else _per_sample(name, options)
    by_row = (key for key, entry in METRICS.items() if entry.per_sample)
    known = sorted({"net_benefit_score", *_SKILLS, *AREAS, *by_row})
    near = ("" if name in METRICS else guess_metric(name, known)) or "; bootstrap serves the others."
    raise ValueError(f"metric must have a closed-form interval ({', '.join(known)}), got {name!r}{near}")


def metric_range(name: str, options: Options) -> tuple[float, float]:
    """Range of a registered metric with these options, over all possible rows."""
    if METRICS[name].task == "binary" and (METRICS[name].per_sample or name == "net_benefit_score"):
        others = {key: value for key, value in options.items() if key != "rule"}  # on which the range does not depend
        return _value_range(row_mean(name, others), np.ones(2), fixed=False, paired=False)
    return METRICS[name].low, METRICS[name].high


def mean_moments(mean: RowMean, cells: Sequence[WeightedCells], dependence: tuple[Any, Any] = (None, None)) -> Moments:
    """Moments of a metric, or of its difference between the first and the second of two models on the same rows."""
    found = _mean_moments(mean, cells, dependence)
    if len(cells) == 2 and np.array_equal(cells[0].score, cells[1].score):  # no unseen row will tell them apart
        return replace(found, room=0.0, scarce=(False, False))
    return found


def _mean_moments(mean: RowMean, cells: Sequence[WeightedCells], dependence: tuple[Any, Any]) -> Moments:
    """The same, with an allowance for unseen rows whatever the scores."""
    paired = len(cells) == 2
    if cells[0].design(*dependence).dependent:
        influence = mean.influence(cells[0])
        if paired:
            influence = influence.minus(mean.influence(cells[1]))
        moments = influence_moments(cells[0], influence, *dependence, paired=paired)
        masses = np.array(cells[0].masses)
        return moments.within(*_value_range(mean, masses, fixed=cells[0].fixed_prevalence, paired=paired))
    best = np.zeros(2) if paired else np.array(mean.best)
    max_loss = np.abs(np.subtract(mean.worst, mean.best))
    sums, fixed = Sums.from_blocks(_class_values(mean, cells, best)), cells[0].fixed_prevalence
    rows = round(float(sums.count[0])), round(float(sums.count[1]))
    ends = _value_range(mean, sums.weight, fixed=fixed, paired=paired)
    if mean.constant is None:
        value = float(sums.value + sums.weight @ best / sums.weight.sum())
        return moments_of(value, sums.variance(max_loss, value - best, fixed=fixed), rows, paired=paired).within(*ends)
    constant = mean.constant.losses(float(sums.weight[1] / sums.weight.sum()))
    ratio, base, found = skill_variance(sums, constant, max_loss, fixed=fixed)
    needed = NEEDED_FOR_SKILL if base > 0.0 else 0
    return moments_of((0.0 if paired else 1.0) - float(ratio), found, rows, least=needed, paired=paired).within(*ends)


def _class_values(mean: RowMean, cells: Sequence[WeightedCells], best: Floats) -> Iterator[Block]:
    """Values of the rows of each class, block by block, less the best; or the differences between two models."""
    first = cells[0]
    for part in blocks(len(first.y), BLOCK):
        for k, mine in enumerate((~first.y[part], first.y[part])):
            y = first.y[part][mine]
            values = mean.values(y, first.score[part][mine]) if len(y) else np.empty(0)
            if len(cells) == 2 and len(y):
                values = values - mean.values(y, cells[1].score[part][mine])
            elif best[k] != 0.0:
                values = values - best[k]
            weights = (None, None) if first.plain else (first.weight[part][mine], first.square[part][mine])
            yield k, values, *weights


def _skill(name: str, rule: Rule, options: Options) -> RowMean:
    metric, free = METRICS[name], {key: value for key, value in options.items() if key not in ("rule", "reference")}
    if metric.costs is None:
        raise ValueError(f"{name} has no cost distribution.")
    costs = metric.costs(**({"bounds": (0.0, 1.0), **free} if metric.bounded else free))
    reference = options.get("reference")
    constant = Constant(costs, rule, None if reference is None else check_unit(reference, "reference"))
    negative, positive = worst_losses(costs).tolist()
    return RowMean(partial(row_losses, costs=costs, rule=rule), (0.0, 0.0), (negative, positive), constant)


def _net_benefit(rule: Rule, options: Options) -> RowMean:
    t = check_unit(options["threshold"], "threshold", open_high=True)
    odds, cut = t / (1.0 - t), t if isinstance(rule, str) else rule

    def values(y: Bools, score: Floats) -> Floats:
        return np.where(score >= cut, np.where(y, 1.0, -odds), 0.0)

    return RowMean(values, (0.0, 1.0), (-odds, 0.0))


def _per_sample(name: str, options: Options) -> RowMean:
    def values(y: Any, score: Any) -> Floats:
        return np.asarray(METRICS[name].function(y, score, per_sample=True, **options), dtype=np.float64)

    ends = values([0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0]).tolist()
    return RowMean(values, (ends[0], ends[1]), (ends[2], ends[3]))


# The share of the window below the curve moves with a row of either class by the part of the window that the row has on
# its right side; for the whole square these are DeLong's placements. The least variance is Hanley and McNeil's for as
# many rows of each class as the window holds; the interval has Wilson's form. Where the curve cuts off a corner of the
# window, chance can only make too much of a small area: there the interval needs more rows.

NEEDED_IN_CORNER = 20  # of each class


@dataclass(frozen=True, eq=False, repr=False)
class PartialArea(Limited):
    """A partial area on its scale, or a difference of two.

    Parameters
    ----------
    area : Area or AreaDifference
        The share of the window below the curve.
    factor, shift : float
        The value is ``shift + factor * area.value``.
    """

    area: Area | AreaDifference
    factor: float
    shift: float

    @property
    def value(self) -> float:
        """The partial area."""
        return self.shift + self.factor * self.area.value

    @property
    def standard_error(self) -> float:
        """Standard error of the partial area."""
        return self.factor * self.area.standard_error

    @property
    def note(self) -> str:
        """Which class has too few rows for an interval; empty where there are enough."""
        return self.area.note

    def limits(self, alpha: float) -> tuple[float, float]:
        """Two-sided interval of level 1 - alpha."""
        low, high = self.area.limits(alpha)
        return self.shift + self.factor * low, self.shift + self.factor * high

    def p_value(self) -> float:
        """Two-sided p-value for equal areas; nan for a single one."""
        return self.area.p_value() if isinstance(self.area, AreaDifference) else math.nan


def partial_area(window: RocWindow, cells: WeightedCells, dependence: Dependence = INDEPENDENT) -> PartialArea:
    """Partial area under the ROC curve; nan where a class is missing."""
    return PartialArea(_share(window, cells, dependence), window.factor, window.shift)


def partial_area_gap(
    window: RocWindow, cells: tuple[WeightedCells, WeightedCells], dependence: Dependence = INDEPENDENT
) -> PartialArea:
    """Partial area of the first scores less that of the second, on the same rows."""
    first, second = cells
    areas = _share(window, first, dependence), _share(window, second, dependence)
    if math.isnan(areas[0].value):
        return PartialArea(AreaDifference(*areas, math.nan, math.nan, math.nan), window.factor, 0.0)
    apart = _placements(window, first) - _placements(window, second)
    sums, variance, degrees, _ = _spread(apart, first, dependence)
    carrying = float(effective(*sums.raw[2:]).min())
    gap = AreaDifference(*areas, variance, degrees, carrying, np.array_equal(first.level, second.level))
    return PartialArea(gap, window.factor, 0.0)


def _share(window: RocWindow, cells: WeightedCells, dependence: Dependence) -> Area:
    table = cells.table
    if min(table.total_negatives, table.total_positives) <= 0.0:
        return Area(math.nan, math.nan, math.nan, math.nan, (round(cells.rows[0]), round(cells.rows[1])))
    value, placement = float(np.clip(window.share_below(table), 0.0, 1.0)), _placements(window, cells)
    sums, variance, degrees, reason = _spread(placement, cells, dependence)
    reason = reason or (_too_few_in_corner(placement, cells) if window.cuts_corner(table) else "")
    inside = np.array([window.fpr[1] - window.fpr[0], window.tpr[1] - window.tpr[0]]) * sums.weight**2 / sums.second[0]
    counts = round(float(sums.count[0])), round(float(sums.count[1]))
    return Area(value, variance, degrees, least_variance(value, float(inside[0]), float(inside[1])), counts, reason)


def _spread(placement: Floats, cells: WeightedCells, dependence: Dependence) -> tuple[Sums, float, float, str]:
    """Sums of the placements; variance of their mean by class, its degrees of freedom, why it may be undefined."""
    sums = Sums.from_units(placement, cells.y, cells.weight, cells.square)
    if are_independent(dependence) and cells.origin is None:
        variance, degrees = spread_by_class(sums, sums.mean)
        return sums, float(variance), float(degrees), ""
    centred = placement - np.where(cells.y, sums.mean[1], sums.mean[0])
    return sums, *dependent_variance(cells, centred, dependence)


def _too_few_in_corner(placement: Floats, cells: WeightedCells) -> str:
    """Which class has too few rows at the part of the curve within the window, or ""."""
    for mine, name in ((cells.y, "positives"), (~cells.y, "negatives")):
        ends = placement[mine].min(), placement[mine].max()
        inside = mine & (placement > ends[0]) & (placement < ends[1])
        count = round(float((cells.weight[inside] ** 2 / cells.square[inside]).sum()))
        if count < NEEDED_IN_CORNER:
            return f"only {count} {name} where the curve cuts the corner: an interval needs {NEEDED_IN_CORNER}"
    return ""


def _placements(window: RocWindow, cells: WeightedCells) -> Floats:
    """What each row adds to the share, as the placements of the other class on the right side of it."""
    negatives, positives = window.placements(cells.table)
    return np.where(cells.y, positives[cells.level], negatives[cells.level])

"""Intervals of partial areas under the ROC curve, and of their differences on the same rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from stakes.base.arrays import Floats
from stakes.inference._area import (
    INDEPENDENT,
    Area,
    AreaDifference,
    Dependence,
    Limited,
    are_independent,
    dependent_variance,
    least_variance,
    spread_by_class,
)
from stakes.metrics import RocWindow
from stakes.variance.influence import WeightedCells
from stakes.variance.sums import Sums, effective

# The share of the window below the curve moves with a row of either class by the part of the window that the row has on
# its right side; for the whole square these are DeLong's placements. The least variance is Hanley and McNeil's for as
# many rows of each class as the window holds; the interval has Wilson's form. Where the curve cuts off a corner of the
# window, chance can only make too much of a small area: there the interval needs more rows.

NEEDED_IN_CORNER = 20  # of each class


@dataclass(frozen=True)
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
    carrying = float(effective(*sums.raw[1:]).min())
    gap = AreaDifference(*areas, variance, degrees, carrying, np.array_equal(first.level, second.level))
    return PartialArea(gap, window.factor, 0.0)


def _share(window: RocWindow, cells: WeightedCells, dependence: Dependence) -> Area:
    table = cells.table
    if min(table.total_negatives, table.total_positives) <= 0.0:
        return Area(math.nan, math.nan, math.nan, math.nan, (round(cells.rows[0]), round(cells.rows[1])))
    value, placement = window.share_below(table), _placements(window, cells)
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
    return np.where(cells.y, positives[cells.level], -negatives[cells.level])

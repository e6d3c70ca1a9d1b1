"""The area under the ROC curve, its regret and their differences, from rows or the cells of a table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._area import Area, AreaDifference, AreaRegret, area_difference, area_of
from stakes.inference._central_sums import BLOCK, CentralSums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.inference._central_sums import Part
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Dependence = tuple[Integers | None, int | str | None]

_INDEPENDENT = (None, None)


def _independent(dependence: Dependence) -> bool:
    return dependence[0] is None and dependence[1] is None


def placements(cells: Cells) -> Floats:
    """Share of the other class on the right side of each cell, ties half: DeLong's placement values."""
    table, (negative, positive) = cells.table, cells.masses
    below = np.cumsum(table.negatives) - 0.5 * table.negatives
    above = positive - np.cumsum(table.positives) + 0.5 * table.positives
    return np.where(cells.y, below[cells.level] / negative, above[cells.level] / positive)


def area_estimate(cells: Cells, dependence: Dependence = _INDEPENDENT) -> Area:
    """Area under the ROC curve; nan where a class is missing."""
    table = cells.table
    if min(table.total_negatives, table.total_positives) <= 0.0:
        return Area(math.nan, math.nan, math.nan, math.nan, _rows(cells))
    alike = cells.plain or cells.data.sample is None  # the table has lost the weights of single rows of one score
    if _independent(dependence) and alike:
        return area_of(CentralSums.of(_table_parts(table)))
    placement = placements(cells)
    area = area_of(_sums(placement, cells))
    if _independent(dependence) and cells.origin is None:
        return area
    variance, degrees, reason = _dependent(cells, placement - area.value, dependence)
    return replace(area, variance=variance, degrees=degrees, reason=reason)


def area_gap(first: Cells, second: Cells, dependence: Dependence = _INDEPENDENT) -> AreaDifference:
    """Area of the first scores less that of the second, on the same rows."""
    areas = area_estimate(first, dependence), area_estimate(second, dependence)
    if math.isnan(areas[0].value):
        return AreaDifference(*areas, math.nan, math.nan, math.nan)
    both = placements(first), placements(second)
    gap = area_difference(areas, _sums(both[0] - both[1], first))
    gap = replace(gap, same=np.array_equal(first.level, second.level))
    if _independent(dependence) and first.origin is None:
        return gap
    variance, degrees, _ = _dependent(first, both[0] - both[1] - gap.value, dependence)
    return replace(gap, variance=variance, degrees=degrees)


def area_regret(cells: Cells, area: Area | AreaDifference, dependence: Dependence = _INDEPENDENT) -> AreaRegret:
    """Regret of thresholds that are drawn like the scores, from the area or the difference of two."""
    rate = cells.prevalence
    factor = 2.0 * rate * (1.0 - rate)
    gap = -area.value if isinstance(area, AreaDifference) else 1.0 - area.value
    moving = 0.0 if cells.fixed_prevalence else 2.0 * (1.0 - 2.0 * rate) * gap
    if moving == 0.0 or math.isnan(area.variance):
        return AreaRegret(area, factor, 0.0, factor * area.standard_error)
    centred = cells.y - rate
    if _independent(dependence) and cells.origin is None:
        n = float((cells.weight**2 / cells.square).sum())
        variance = float(cells.square @ (centred * centred)) / cells.total**2 * n / (n - 1.0)
    else:
        variance, _, _ = _dependent_sum(cells, cells.weight * centred / cells.total, dependence)
    shift = abs(moving) * math.sqrt(variance)
    return AreaRegret(area, factor, shift, math.hypot(factor * area.standard_error, shift))


def _sums(placement: Floats, cells: Cells) -> CentralSums:
    return CentralSums.of_rows(placement, cells.y, cells.weight, cells.square)


def _table_parts(table: ScoreTable) -> Iterator[Part]:
    """Placements of the rows of each class at some of the scores."""
    below, above, (negative, positive) = 0.0, table.total_positives, (table.total_negatives, table.total_positives)
    for part in blocks(len(table.scores), BLOCK):
        passed, left = below + np.cumsum(table.negatives[part]), above - np.cumsum(table.positives[part])
        yield _cells(
            1, (passed - 0.5 * table.negatives[part]) / negative, table.positives[part], table.positives_squared[part]
        )
        yield _cells(
            0, (left + 0.5 * table.positives[part]) / positive, table.negatives[part], table.negatives_squared[part]
        )
        below, above = float(passed[-1]), float(left[-1])


def _cells(k: int, placement: Floats, weight: Floats, square: Floats) -> Part:
    """The cells that hold rows, with weights where they are not all single rows of weight one."""
    used = weight > 0.0
    weight, square = weight[used], square[used]
    single = bool((weight == 1.0).all() and (square == 1.0).all())
    return (k, placement[used], None, None) if single else (k, placement[used], weight, square)


def _rows(cells: Cells) -> tuple[int, int]:
    count = cells.weight**2 / cells.square
    return round(float(count[~cells.y].sum())), round(float(count[cells.y].sum()))


def _dependent(cells: Cells, centred: Floats, dependence: Dependence) -> tuple[float, float, str]:
    """Variance of a mean of placements within the classes, its degrees of freedom, and why there is none."""
    masses = cells.masses
    return _dependent_sum(cells, cells.weight * centred / np.where(cells.y, masses[1], masses[0]), dependence)


def _dependent_sum(cells: Cells, parts: Floats, dependence: Dependence) -> tuple[float, float, str]:
    design = cells.design(*dependence)
    variance, degrees, reason = design.variance_of(design.whole(parts))
    return float(variance), float(degrees), reason

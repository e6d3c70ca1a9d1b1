"""Weight of each class above and below every threshold, from rows or a score table: all that a band is made of.

Rows are put into bins between thresholds by binary search, so nothing is sorted; two models share one joint histogram.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.inputs import refuse_weighing
from stakes.core.sums import blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.validation import BinarySample

    Floats = NDArray[np.float64]
    Bins = NDArray[np.signedinteger[Any]]

_MANY, _MOST_CELLS = 1 << 12, 1 << 12
_AT_ONCE = 1 << 16


class Totals(NamedTuple):
    """Weight and squared weight of each class (negatives, positives), and whether their shares are known."""

    weight: Floats
    squared: Floats
    fixed_prevalence: bool
    n_rows: int


@dataclass(frozen=True)
class Counts:
    """Weight (``[0]``) and squared weight (``[1]``) of each class at or above and below each threshold."""

    above: Floats  # (2, class, threshold)
    below: Floats
    totals: Totals


@dataclass(frozen=True)
class PairCounts:
    """The same for rows at or above a threshold by one of two models and below it by the other."""

    only_first: Floats  # (2, class, threshold)
    only_second: Floats
    above: tuple[Floats, Floats]  # squared weight at or above each threshold, by model: (class, threshold)
    both: Floats  # squared weight at or above one threshold by the first, another by the second: (class, m, m)
    totals: Totals


def counts_of(data: EvaluationData, thresholds: Floats, *, fixed_prevalence: bool) -> Counts:
    """Counts of one model."""
    if data.sample is None:
        table = data.table
        refuse_weighing(table, "a band from a table")
        starts = np.searchsorted(table.scores, thresholds, side="left")
        edges = np.concatenate([[0], starts, [len(table.scores)]])
        columns = ((table.negatives, table.positives), (table.negatives_squared, table.positives_squared))
        histogram = np.array([[_sums(column, edges) for column in pair] for pair in columns])
        return _counts(histogram, fixed_prevalence=table.fixed_prevalence, n_rows=table.n_rows)
    rows = data.sample
    width = len(thresholds) + 1
    histogram = _histogram(reached(rows.score, thresholds) + width * rows.y, rows.weight, 2 * width)
    return _counts(histogram.reshape(2, 2, width), fixed_prevalence=fixed_prevalence, n_rows=len(rows.y))


def pair_counts_of(rows: BinarySample, second: Floats, thresholds: Floats, *, fixed_prevalence: bool) -> PairCounts:
    """Counts of two models on the same rows: those of ``rows`` and other scores."""
    bins = reached(rows.score, thresholds), reached(second, thresholds)
    return binned_pair(rows.y, bins, rows.weight, len(thresholds) + 1, fixed_prevalence=fixed_prevalence)


def binned_pair(
    y: NDArray[np.integer | np.bool_],
    bins: tuple[Bins, Bins],
    weight: Floats | None,
    width: int,
    *,
    fixed_prevalence: bool,
) -> PairCounts:
    """Counts of two models from how many of the ``width - 1`` thresholds each score reaches."""
    pooled = np.zeros((2, 2 * width * width))
    for part in blocks(len(y), max(_AT_ONCE, 2 * width * width)):
        cell = np.asarray(y[part], dtype=np.intp) * width
        cell += bins[0][part]
        cell *= width
        cell += bins[1][part]
        pooled += _histogram(cell, None if weight is None else weight[part], 2 * width * width)
    joint = pooled.reshape(2, 2, width, width)
    by_first, by_second = joint.sum(axis=3), joint.sum(axis=2)
    one = _counts(by_first, fixed_prevalence=fixed_prevalence, n_rows=len(y))
    two = _counts(by_second, fixed_prevalence=fixed_prevalence, n_rows=len(y))
    # summed from the side that is asked for, so that where there is no row the sum is zero and not rounding
    diagonal = (slice(None), slice(None), np.arange(width - 1), np.arange(width - 1))
    only_first = _down(joint, 2)[:, :, 1:].cumsum(axis=3)[diagonal]
    only_second = _down(joint, 3)[:, :, :, 1:].cumsum(axis=2)[diagonal]
    both = _down(_down(joint[1], 1), 2)[:, 1:, 1:]
    return PairCounts(only_first, only_second, (one.above[1], two.above[1]), both, one.totals)


def reached(score: Floats, thresholds: Floats, kind: type[np.signedinteger[Any]] = np.intp) -> Bins:
    """How many thresholds each score reaches."""
    find = _finder(thresholds) if len(score) > _MANY else None
    if find is None:
        return np.searchsorted(thresholds, score, side="right").astype(kind, copy=False)
    out = np.empty(len(score), dtype=kind)
    for part in blocks(len(score)):
        out[part] = find(score[part])
    return out


def _finder(thresholds: Floats) -> Callable[[Floats], Bins] | None:
    """Count by cells of equal width, at most one threshold in each; None where the cells would be too many.

    The cell of a number rises with it, whatever the rounding: in another cell than that of the threshold, the number
    lies on the same side as its cell; in the same cell the two are compared.
    """
    gap = float(np.diff(thresholds).min(initial=1.0))
    if not (len(thresholds) and gap > 0.0 and 1.0 / gap < _MOST_CELLS):
        return None
    if not 0.0 <= thresholds[0] <= thresholds[-1] <= 1.0:
        return None
    scale = float(2 ** math.ceil(math.log2(2.0 / gap)))
    last = int(scale)
    below = np.searchsorted(np.floor(thresholds * scale), np.arange(last + 1.0), side="left")
    first = np.append(thresholds, np.inf)[below]

    def find(score: Floats) -> Bins:
        cell = np.clip(score, 0.0, 1.0)
        cell *= scale
        places = cell.astype(np.intp)
        found: Bins = below.take(places)
        found += score >= first.take(places)
        return found

    return find


def _histogram(cell: Bins, weight: Floats | None, cells: int) -> Floats:
    """Weight and squared weight in each cell."""
    if weight is None:
        count = np.bincount(cell, minlength=cells).astype(np.float64)
        return np.stack([count, count])
    return np.stack([np.bincount(cell, part, cells) for part in (weight, weight * weight)])


def _sums(column: Floats, edges: Bins) -> Floats:
    """Sums of a column between edges, some of which may coincide."""
    sums = np.add.reduceat(np.append(column, 0.0), edges[:-1])
    return np.where(np.diff(edges) > 0, sums, 0.0)


def _counts(histogram: Floats, *, fixed_prevalence: bool, n_rows: int) -> Counts:
    total = histogram.sum(axis=2)
    totals = Totals(total[0], total[1], fixed_prevalence, n_rows)
    return Counts(_down(histogram, 2)[:, :, 1:], histogram.cumsum(axis=2)[:, :, :-1], totals)


def _down(values: Floats, axis: int) -> Floats:
    """Sums of each entry and those after it."""
    return np.flip(np.flip(values, axis).cumsum(axis=axis), axis)

"""Weight of each class above and below every threshold, from rows or a score table: all that a band is made of.

Rows are put into bins between thresholds by binary search, so nothing is sorted; two models share one joint histogram.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.core.inputs import refuse_weighing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.validation import BinarySample

    Floats = NDArray[np.float64]
    Bins = NDArray[np.intp]


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
    cell = np.asarray(y, dtype=np.intp) * width
    cell += bins[0]
    cell *= width
    cell += bins[1]
    joint = _histogram(cell, weight, 2 * width * width).reshape(2, 2, width, width)
    by_first, by_second = joint.sum(axis=3), joint.sum(axis=2)
    one = _counts(by_first, fixed_prevalence=fixed_prevalence, n_rows=len(y))
    two = _counts(by_second, fixed_prevalence=fixed_prevalence, n_rows=len(y))
    # summed from the side that is asked for, so that where there is no row the sum is zero and not rounding
    diagonal = (slice(None), slice(None), np.arange(width - 1), np.arange(width - 1))
    only_first = _down(joint, 2)[:, :, 1:].cumsum(axis=3)[diagonal]
    only_second = _down(joint, 3)[:, :, :, 1:].cumsum(axis=2)[diagonal]
    both = _down(_down(joint[1], 1), 2)[:, 1:, 1:]
    return PairCounts(only_first, only_second, (one.above[1], two.above[1]), both, one.totals)


def reached(score: Floats, thresholds: Floats) -> Bins:
    """How many thresholds each score reaches."""
    return np.searchsorted(thresholds, score, side="right")


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

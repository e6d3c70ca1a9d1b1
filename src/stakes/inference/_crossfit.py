"""Isotonic recalibration judged on rows that it was not fitted to.

Fitted and judged on the same rows it looks better than the best threshold rule of the population, on fresh rows worse.
Both gaps shrink like n^(-2/3), slower than a standard error, but in a known proportion: three to one. For each cost
ratio the best threshold is the argmax of a random walk minus a parabola; if the parabola is c t^2, the mean maximum is
proportional to c^(-1/3), and its derivative in c is minus the mean squared place of the maximum, so the first is three
times the second. One part in-sample and three parts cross-fitted therefore leave no gap of that order. Scores that
never pool with their neighbours are plain event rates, whose two gaps are equal: there it is half and half.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.validation import BinarySample
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

_POOLED, _ALONE = 0.75, 0.5


@dataclass(frozen=True)
class CrossFit:
    """Recalibrated score of every row: fitted to all rows, and to the rows of the other folds.

    ``fitted``, ``below`` and ``above`` are places in ``values``, the event rates of all pooled blocks. A score that the
    other folds lack lies between two of theirs, and takes ``below`` and ``above`` half each, so that only the ranking
    counts. ``share`` is the weight of the cross-fitted loss.
    """

    y: Bools
    values: Floats
    fitted: Integers
    below: Integers
    above: Integers
    fold: Integers
    share: Floats

    def losses(self, costs: CostDistribution) -> tuple[Floats, Floats]:
        """Losses of the rows under the population's recalibration, free of the leading bias; and in-sample."""
        negative, positive = costs.negative_loss(self.values), costs.positive_loss(self.values)
        fitted, below, above = (
            np.where(self.y, positive[place], negative[place]) for place in (self.fitted, self.below, self.above)
        )
        return (1.0 - self.share) * fitted + self.share * 0.5 * (below + above), fitted


def cross_fit(sample: BinarySample, n_folds: int, rng: np.random.Generator) -> CrossFit:
    """Fit the recalibration of clean rows to all of them and, fold by fold, to the others."""
    scores, level = np.unique(sample.score, return_inverse=True)
    level = level.reshape(-1)
    fold = stratified_folds(sample.y, n_folds, rng)
    cell, weight = 2 * level + sample.y, sample.weight
    everyone = _counted(cell, weight, 2 * len(scores))
    whole, _ = _table(scores, everyone, len(cell))
    sizes = np.diff(whole.pav_starts)
    share = np.repeat(np.where(sizes == 1, _ALONE, _POOLED), sizes)
    values, filled = [whole.pav_values], len(sizes)
    below, above = np.empty(len(level), dtype=np.intp), np.empty(len(level), dtype=np.intp)
    for k in range(n_folds):
        mine = fold == k
        # whole numbers are subtracted without rounding
        others = (
            everyone - _counted(cell[mine], None, len(everyone))
            if weight is None
            else _counted(cell[~mine], weight[~mine], len(everyone))
        )
        table, seen = _table(scores, others, int(np.count_nonzero(~mine)))
        block = filled + _blocks(table)
        place = level[mine]
        up_to = np.cumsum(seen)[place]  # scores of the others at or below that of each row
        below[mine] = block[np.maximum(up_to - 1, 0)]
        above[mine] = block[np.minimum(up_to - seen[place], len(block) - 1)]
        values.append(table.pav_values)
        filled += len(table.pav_values)
    return CrossFit(sample.y, np.concatenate(values), _blocks(whole)[level], below, above, fold, share[level])


def _blocks(table: ScoreTable) -> Integers:
    """Pooled block of each distinct score."""
    sizes = np.diff(table.pav_starts)
    return np.repeat(np.arange(len(sizes)), sizes)


def stratified_folds(y: Bools, n_folds: int, rng: np.random.Generator) -> Integers:
    """Fold of each row: sizes differ by one row at most, in each class too."""
    fold = np.empty(len(y), dtype=np.intp)
    positives = int(np.count_nonzero(y))
    fold[y] = rng.permutation(positives) % n_folds
    fold[~y] = (positives + rng.permutation(len(y) - positives)) % n_folds
    return fold


def _counted(cell: Integers, weight: Floats | None, cells: int) -> Floats:
    """Weight of the negatives and of the positives at each distinct score, by turns."""
    return np.bincount(cell, weight, minlength=cells).astype(np.float64, copy=False)


def _table(scores: Floats, sums: Floats, n_rows: int) -> tuple[ScoreTable, Bools]:
    """Table of some of the rows, from their weight in each cell; and which scores they have."""
    downs, ups = sums.reshape(-1, 2).T
    seen = downs + ups > 0.0
    downs, ups = downs[seen], ups[seen]
    return ScoreTable(scores[seen], ups, downs, ups, downs, n_rows), seen

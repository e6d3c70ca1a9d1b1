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

from stakes.core.counting import order_of
from stakes.core.pav import pav_starts
from stakes.core.random_state import settled_order

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
    order, score, weight = _in_order(sample)
    y, folds = sample.y[order], np.empty(len(score), dtype=np.intp)
    folds[order] = fold = stratified_folds(y, n_folds, rng)
    first = np.flatnonzero(np.append(True, score[1:] != score[:-1]))  # row of each score
    sizes, ends = np.diff(first, append=len(y)), np.append(first[1:], len(y))
    level = np.repeat(np.arange(len(first)), sizes)
    # event rates can rise only from a score with a negative to one with a positive: runs of scores between such places
    # share a block in every fit, whichever rows it is without
    ups, downs = (np.logical_or.reduceat(one, first) for one in (y, ~y))
    run = np.repeat(np.cumsum(np.append(True, downs[:-1] & ups[1:])) - 1, sizes)
    counts, everyone = np.bincount(run), _sums(run, y, weight, int(run[-1]) + 1)
    starts, rates = _fit(counts, everyone)
    sizes, alone = np.diff(starts, append=len(y)), level[starts] == level[np.append(starts[1:], len(y)) - 1]
    fitted, below, above = np.empty((3, len(y)), dtype=np.intp)
    fitted[order] = np.repeat(np.arange(len(sizes)), sizes)
    values, filled = [rates], len(rates)
    for k in range(n_folds):
        rows = np.flatnonzero(fold == k)
        some = rows if weight is None else np.flatnonzero(fold != k)
        others = _sums(run[some], y[some], None if weight is None else weight[some], len(counts))
        if weight is None:  # whole numbers are subtracted without rounding
            others = everyone[0] - others[0], everyone[1] - others[1]
        starts, rates = _fit(counts - np.bincount(run[rows], minlength=len(counts)), others)
        place = level[rows]
        # places among the others of the last one at or below each score, and of the first one at or above
        up_to, over = (at - np.searchsorted(rows, at) for at in (ends[place], first[place]))
        low, high = np.maximum(up_to - 1, 0), np.minimum(over, len(y) - len(rows) - 1)
        below[order[rows]] = filled - 1 + np.searchsorted(starts, low, side="right")
        above[order[rows]] = filled - 1 + np.searchsorted(starts, high, side="right")
        values.append(rates)
        filled += len(rates)
    share = np.where(alone, _ALONE, _POOLED)[fitted]
    return CrossFit(sample.y, np.concatenate(values), fitted, below, above, folds, share)


def _in_order(sample: BinarySample) -> tuple[Integers, Floats, Floats | None]:
    """Rows by score and, as folds are drawn by place, those of one score and class by weight; scores and weights."""
    if sample.weight is None:
        return *order_of(sample.score), None
    order = settled_order(sample.score, sample.weight)
    return order, sample.score[order], sample.weight[order]


def _fit(counts: Integers, weights: tuple[Floats, Floats]) -> tuple[Integers, Floats]:
    """At which row each block of the isotonic regression of runs starts, and its event rate."""
    seen = counts > 0
    ups, downs = (column[seen] for column in weights)
    starts = pav_starts(ups, downs)
    ups, downs = np.add.reduceat(ups, starts), np.add.reduceat(downs, starts)
    return (np.cumsum(counts) - counts)[seen][starts], ups / (ups + downs)


def stratified_folds(y: Bools, n_folds: int, rng: np.random.Generator) -> Integers:
    """Fold of each row: sizes differ by one row at most, in each class too."""
    fold = np.empty(len(y), dtype=np.intp)
    positives = int(np.count_nonzero(y))
    fold[y] = rng.permutation(positives) % n_folds
    fold[~y] = (positives + rng.permutation(len(y) - positives)) % n_folds
    return fold


def _sums(run: Integers, y: Bools, weight: Floats | None, size: int) -> tuple[Floats, Floats]:
    """Weight of the positives and of the negatives of each run."""
    mine, others = (np.bincount(run[of], None if weight is None else weight[of], size) for of in (y, ~y))
    return mine.astype(np.float64), others.astype(np.float64)

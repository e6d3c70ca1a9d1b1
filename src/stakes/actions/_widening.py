"""How much wider intervals must be where thresholds are fitted: they move from sample to sample, which no row shows.

The thresholds that are best on a sample move like n^(-1/3), and the costs under them vary more than those of the rows
under one pair of thresholds, by a share of the error that shrinks slowly. Resamples tell how much: each has a
cross-fitted mean of its own, and its own best thresholds judged by the sample that it was drawn from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.validation import BinarySample

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

RESAMPLES = 60
MOST_ROWS, MOST_OF_ALL = 2_000, 20_000  # of more rows so many are drawn; of rare classes more
_FEW = 100
_TRIES = 1000


@dataclass(frozen=True)
class Refitted:
    """Rows and their folds, and what fitting to all folds but its own makes each row: one column a quantity.

    ``codes`` are clusters; ``by_class`` says that the share of positives carries no error.
    """

    sample: BinarySample
    folds: Integers
    codes: Integers | None
    judged: Callable[[BinarySample, Integers], Floats]
    by_class: bool = False

    def widening(self, rng: np.random.Generator) -> Floats:
        """Error of the mean of each quantity over the error that its rows show, at least 1."""
        some = self._some(rng)
        shown = some._row_errors()
        gaps = np.array([some._gap(rng) for _ in range(RESAMPLES)])
        moved = gaps.std(axis=0, ddof=1)
        return np.maximum(np.divide(moved, shown, out=np.ones_like(moved), where=shown > 0.0), 1.0)

    def _gap(self, rng: np.random.Generator) -> Floats:
        """Cross-fitted means of a resample less those of its own best thresholds on these rows."""
        drawn = self._take(self._resampled(rng))
        own = np.average(self.judged(drawn.sample, drawn.folds), axis=0, weights=drawn.sample.weight)
        both = _joined(self.sample, drawn.sample)
        apart = np.repeat([0, 1], [len(self.folds), len(drawn.folds)])  # the first are judged by what fits the others
        here = self.judged(both, apart)[: len(self.folds)]
        return np.asarray(own - np.average(here, axis=0, weights=self.sample.weight))

    def _row_errors(self) -> Floats:
        """Standard errors of the means that take the thresholds of each fold as known."""
        values, weight = self.judged(self.sample, self.folds), _weight(self.sample)
        groups = (self.sample.y, ~self.sample.y) if self.by_class else (np.ones(len(values), dtype=bool),)
        for mine in groups:
            values[mine] -= np.average(values[mine], axis=0, weights=weight[mine])
        terms = values * (weight / weight.sum())[:, None]
        if self.codes is not None:
            terms = np.stack([np.bincount(self.codes, column) for column in terms.T], axis=1)
        return np.asarray(np.sqrt((terms**2).sum(axis=0)))

    def _take(self, rows: Integers) -> Refitted:
        sample, codes = self.sample, self.codes
        part = BinarySample(sample.y[rows], sample.score[rows], None if sample.weight is None else sample.weight[rows])
        kept = None if codes is None else np.unique(codes[rows], return_inverse=True)[1].ravel()
        return Refitted(part, self.folds[rows], kept, self.judged, self.by_class)

    def _some(self, rng: np.random.Generator) -> Refitted:
        """All rows, or as many as tell how far the thresholds move."""
        n, rarer = len(self.folds), int(min(self.sample.y.sum(), (~self.sample.y).sum()))
        most = min(max(MOST_ROWS, _FEW * n // max(rarer, 1)), MOST_OF_ALL)
        if n <= most:
            return self
        if self.codes is None:
            return self._take(np.sort(rng.permutation(n)[:most]))
        order = rng.permutation(int(self.codes.max()) + 1)
        enough = int(np.searchsorted(np.cumsum(np.bincount(self.codes)[order]), most)) + 1
        return self._take(np.flatnonzero(np.isin(self.codes, order[:enough])))

    def _resampled(self, rng: np.random.Generator) -> Integers:
        """Rows drawn with replacement until both classes and two folds are among them."""
        counted = _weight(self.sample) > 0.0
        for _ in range(_TRIES):
            rows = self._drawn(rng)
            here = rows[counted[rows]]
            if len(here) and np.ptp(self.sample.y[here].astype(int)) and np.ptp(self.folds[here]):
                return np.sort(rows)
        raise ValueError("y_true must hold enough rows of both classes to resample them.")

    def _drawn(self, rng: np.random.Generator) -> Integers:
        """Whole clusters at once; of each class its number where that is known."""
        y = self.sample.y
        if self.codes is not None:
            kinds = int(self.codes.max()) + 1
            members = np.split(np.argsort(self.codes, kind="stable"), np.cumsum(np.bincount(self.codes))[:-1])
            return np.concatenate([members[k] for k in rng.integers(kinds, size=kinds)])
        if self.by_class:
            return np.concatenate([rng.choice(np.flatnonzero(mine), int(mine.sum())) for mine in (y, ~y)])
        return np.asarray(rng.integers(len(y), size=len(y)))


def _weight(sample: BinarySample) -> Floats:
    return np.ones(len(sample.y)) if sample.weight is None else sample.weight


def _joined(first: BinarySample, second: BinarySample) -> BinarySample:
    y, score = (np.concatenate([getattr(first, key), getattr(second, key)]) for key in ("y", "score"))
    return BinarySample(y, score, None if first.weight is None else np.concatenate([first.weight, _weight(second)]))

"""Pool-adjacent-violators blocks of a table of positives and negatives, whole falling runs at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SHRINK = 0.7
# So many blocks take less time here than the import of scipy.optimize.
_FEW = 1 << 14
_SAFE = (1e-100, 1e100)


def pav_starts(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """First index of each block of the weighted isotonic regression, blocks of equal rate merged."""
    peak = max(float(positives.max()), float(negatives.max()))
    if not _SAFE[0] < peak < _SAFE[1]:  # rates are compared by products, which must neither overflow nor vanish
        positives, negatives = positives / peak, negatives / peak
    starts = np.flatnonzero(_rising(positives, negatives))
    while True:
        # whole falling runs at once shrink long tables fast; what is left goes to the sequential algorithm
        pooled = [np.add.reduceat(column, starts) for column in (positives, negatives)]
        fewer = starts[_rising(*pooled)]
        if len(fewer) == len(starts):
            return _merge_equal(starts, *pooled)
        if len(fewer) > _SHRINK * len(starts):
            pooled = [np.add.reduceat(column, fewer) for column in (positives, negatives)]
            fewer = fewer[_isotonic_blocks(*pooled)]
        starts = fewer


def _merge_equal(starts: NDArray[np.intp], positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """Drop every start whose rate, rounded, does not exceed the rate before it."""
    while True:
        rates = positives / (positives + negatives)
        rising = np.concatenate([[True], rates[1:] > rates[:-1]])
        if rising.all():
            return starts
        groups = np.flatnonzero(rising)
        starts, positives, negatives = (
            starts[rising],
            np.add.reduceat(positives, groups),
            np.add.reduceat(negatives, groups),
        )


def _rising(positives: Floats, negatives: Floats) -> NDArray[np.bool_]:
    """Whether each event rate exceeds the one before it (compared by cross-multiplication); True for the first."""
    rising = np.ones(len(positives), dtype=bool)
    for part in blocks(len(positives) - 1):
        after = slice(part.start + 1, part.stop + 1)
        np.greater(positives[after] * negatives[part], positives[part] * negatives[after], out=rising[after])
    return rising


def _isotonic_blocks(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    if len(positives) <= _FEW:
        return _pooled_blocks(positives, negatives)
    from scipy.optimize import isotonic_regression

    weight = positives + negatives
    found: NDArray[np.intp] = isotonic_regression(positives / weight, weights=weight).blocks[:-1]
    return found


def _pooled_blocks(positives: Floats, negatives: Floats) -> NDArray[np.intp]:
    """One score after the other: each joins the blocks before it whose rate is not below its own."""
    starts: list[int] = []
    hits: list[float] = []
    misses: list[float] = []
    for place, (own_hits, own_misses) in enumerate(zip(positives.tolist(), negatives.tolist(), strict=True)):
        start, hit, miss = place, own_hits, own_misses
        while starts and hits[-1] * miss >= hit * misses[-1]:
            start = starts.pop()
            hit, miss = hit + hits.pop(), miss + misses.pop()
        starts.append(start)
        hits.append(hit)
        misses.append(miss)
    return np.array(starts, dtype=np.intp)

"""Sums over long arrays: piece by piece, and with infinite values that nobody bears."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def blocks(length: int, size: int = 1 << 13) -> Iterator[slice]:
    """Slices that cut a long array into pieces that fit the cache, temporaries included."""
    for start in range(0, length, size):
        yield slice(start, min(start + size, length))


def weighted_sum(weights: Floats, values: Floats) -> float:
    """Sum weights * values where an infinite value of weight zero counts nothing."""
    finite = np.isfinite(values)
    if np.all(finite):
        return float(np.dot(weights, values))
    used = weights > 0.0
    return float(np.dot(weights[used], values[used]))

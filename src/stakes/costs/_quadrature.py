"""Numerical helpers of the cost distributions: one stable remainder of the logarithm, and Gauss-Legendre rules."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_SERIES_TERMS = 15


def log_remainder(y: ArrayLike, complement: ArrayLike | None = None) -> Floats:
    """(-log(1 - y) - y) / y**2 for y < 1, without cancellation; 1/2 at y = 0, infinite at y = 1.

    ``complement`` is 1 - y, computed by the caller without the rounding of y: it matters where y is near 1.
    """
    y = np.asarray(y, dtype=float)
    complement = 1.0 - y if complement is None else np.asarray(complement, dtype=float)
    small = np.abs(y) <= 0.5
    if np.all(small):
        return _log_remainder_series(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        direct = (-np.log(complement) - y) / (y * y)
    return np.where(small, _log_remainder_series(np.where(small, y, 0.0)), direct)


def _log_remainder_series(y: Floats) -> Floats:
    # -log(1-y) = 2 atanh(r) with r = y / (2-y); its series converges like 1/9 per term for |y| <= 1/2
    gap = 2.0 - y
    square = (y / gap) ** 2
    tail = np.full_like(y, 1.0 / (2 * _SERIES_TERMS + 3))
    for j in range(_SERIES_TERMS - 1, -1, -1):
        tail = tail * square + 1.0 / (2 * j + 3)
    return (1.0 + 2.0 * y * tail / (gap * gap)) / gap


@cache
def gauss_legendre_rule(nodes: int) -> tuple[Floats, Floats]:
    """Nodes in (0, 1) and weights of the Gauss-Legendre rule on the unit interval."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    return (x + 1.0) / 2.0, w / 2.0


@cache
def end_extrapolation(nodes: int) -> Floats:
    """Weights, in two rows, that carry values at the nodes on to the ends 0 and 1 by the polynomial through them."""
    x, _ = gauss_legendre_rule(nodes)
    apart = x[:, None] - x[None, :]
    np.fill_diagonal(apart, 1.0)
    rows = [np.prod(np.where(np.eye(nodes, dtype=bool), 1.0, end - x[None, :]), axis=1) for end in (0.0, 1.0)]
    return np.stack(rows) / np.prod(apart, axis=1)


def gauss_legendre(function: Callable[[Floats], Floats], low: ArrayLike, high: ArrayLike, nodes: int = 30) -> Floats:
    """Integrate a smooth vectorised function over [low, high], elementwise."""
    lo, hi = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    result = np.zeros(lo.shape)
    wide = hi > lo  # at a point the integral is 0, and the function may be infinite there
    left, width = lo[wide], hi[wide] - lo[wide]
    total = np.zeros(left.shape)
    for x, w in zip(*gauss_legendre_rule(nodes), strict=True):
        total += w * function(left + x * width)
    result[wide] = total * width
    return result

"""Gauss rules for the number of positives among some rows, from its cumulants, and expected values by two of them.

Gauss-Hermite nodes carry Gram-Charlier weights from the first eight cumulants, which are sums over the rows.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._exact import CountValue

    Floats = NDArray[np.float64]

_MOST_NODES = 20
_ENTRIES = 1 << 16


class Side(NamedTuple):
    """Nodes of one count for some k, one line each: positives, negatives, and the weight of each node."""

    yes: Floats
    no: Floats
    weight: Floats


class Cumulants(NamedTuple):
    """Mean positives and negatives, variance and cumulants 3 to 8 of one count, a column for each of some k."""

    sums: Floats

    def part(self, columns: slice) -> Cumulants:
        """Some of the k."""
        return Cumulants(self.sums[:, columns])

    def room(self) -> Floats:
        """Standard deviations between the mean and the nearer end of the range, for each k."""
        yes, no, variance = self.sums[:3]
        distance: Floats = np.minimum(yes, no) / np.sqrt(variance)
        return distance

    def side(self, order: int) -> Side:
        """Gauss rules."""
        yes, no, variance = self.sums[:3]
        sigma = np.sqrt(variance)
        node, normal, polynomials = _hermite(order)
        moments = _hermite_moments(self.sums[3:] / sigma ** np.arange(3, 9)[:, None], order)
        spread = np.multiply.outer(sigma, node)
        return Side(yes[:, None] + spread, no[:, None] - spread, (moments.T @ polynomials) * normal)


def terms(yes: Floats, no: Floats) -> Floats:
    """What each row adds to the cumulants of a count, one line per cumulant."""
    v, u = yes * no, no - yes
    return np.stack(
        [
            yes,
            no,
            v,
            v * u,
            v * (1.0 - 6.0 * v),
            v * u * (1.0 - 12.0 * v),
            v * (1.0 - 30.0 * v + 120.0 * v**2),
            v * u * (1.0 - 60.0 * v + 360.0 * v**2),
            v * (1.0 - 126.0 * v + 1680.0 * v**2 - 5040.0 * v**3),
        ]
    )


def expectations(value: CountValue, hits: Cumulants, misses: Cumulants, further: int = 0) -> Floats:
    """Expected values for some k, with ``further`` nodes more than are needed."""
    count = hits.sums.shape[1]
    out, low = np.empty(count), 0
    rooms = hits.room(), misses.room()
    while low < count:
        width = math.prod(order(float(room[low])) + further for room in rooms)
        part = slice(low, min(count, low + max(1, _ENTRIES // width)))
        one, two = (order(float(room[part].min())) + further for room in rooms)
        out[part] = product_sum(value, hits.part(part).side(one), misses.part(part).side(two))
        low = part.stop
    return out


def product_sum(value: CountValue, hits: Side, misses: Side) -> Floats:
    """Sum over the nodes of both counts."""
    tables = value(hits.yes[:, :, None], hits.no[:, :, None], misses.yes[:, None, :], misses.no[:, None, :])
    return np.matmul(np.matmul(hits.weight[:, None, :], tables), misses.weight[:, :, None])[:, 0, 0]


def order(room: float) -> int:
    """Nodes for a relative error of 3e-14 where no node may be closer than ``room`` standard deviations to a pole."""
    double_factorial = 15.0
    for m in range(3, _MOST_NODES):
        if (double_factorial / 3e-14) ** (0.5 / m) <= room:
            return m + 1
        double_factorial *= 2 * m + 1
    return _MOST_NODES + 1


@lru_cache
def _hermite(order: int) -> tuple[Floats, Floats, Floats]:
    """Gauss-Hermite nodes, their normal weights, and He_r / r! at the nodes, one line per r < order."""
    node, weight = np.polynomial.hermite_e.hermegauss(order)
    lines = [np.ones(order), node]
    for r in range(2, order):
        lines.append(node * lines[-1] - (r - 1) * lines[-2])
    factorials = np.array([math.factorial(r) for r in range(order)], dtype=float)
    return node, weight / math.sqrt(2.0 * math.pi), np.stack(lines[:order]) / factorials[:, None]


def _hermite_moments(standard: Floats, order: int) -> Floats:
    """E[He_r] of a standardised count for r < order, from its standardised cumulants 3 to 8."""
    moments = np.zeros((order, standard.shape[1]))
    moments[0] = 1.0
    for r in range(3, order):
        for j in range(3, min(r, 8) + 1):
            moments[r] += math.comb(r - 1, j - 1) * standard[j - 3] * moments[r - j]
    return moments

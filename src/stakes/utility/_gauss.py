"""Expected value of a smooth measure by Gauss rules for the two counts: a few evaluations for each k, whatever n.

Where a count has a variance below 80 its exact law is kept. Elsewhere Gauss-Hermite nodes carry Gram-Charlier weights
from its first eight cumulants, which are sums over the rows. The error is estimated by raising the order, not proved:
nothing that comes from here is ever called certified.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.utility._estimate import Estimate
from stakes.utility._exact import WINDOW
from stakes.utility._laws import first_laws, other_laws
from stakes.utility._sums import accurate_cumsum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._exact import CountValue
    from stakes.utility._laws import Law

    Floats = NDArray[np.float64]

# The outermost of 23 nodes is 8.3 standard deviations out; the mean is at least sqrt(80) from an empty cell.
SMALL_VARIANCE = 80.0
_MOST_NODES = 20
_ENTRIES = 1 << 16
_MOST_ROWS = 2048
_ROUNDING = 1e-13


class _Side(NamedTuple):
    """Nodes of one count for consecutive k, one line each: positives, negatives, and the weight of each node."""

    yes: Floats
    no: Floats
    weight: Floats


class _Cumulants:
    """Mean positives and negatives, variance and higher cumulants of one count, by the number of its rows."""

    def __init__(self, yes: Floats, no: Floats) -> None:
        v, u = yes * no, no - yes
        self.yes, self.no, self.variance = (np.append(0.0, accurate_cumsum(x)) for x in (yes, no, v))
        higher = [
            v * u,
            v * (1.0 - 6.0 * v),
            v * u * (1.0 - 12.0 * v),
            v * (1.0 - 30.0 * v + 120.0 * v**2),
            v * u * (1.0 - 60.0 * v + 360.0 * v**2),
            v * (1.0 - 126.0 * v + 1680.0 * v**2 - 5040.0 * v**3),
        ]
        self._higher = np.stack([np.append(0.0, np.cumsum(terms)) for terms in higher])

    def order(self, rows: NDArray[np.intp]) -> int:
        """Nodes that are needed where the count has so many rows."""
        near = np.minimum(self.yes[rows], self.no[rows])
        return _order(float(np.min(near / np.sqrt(self.variance[rows]))))

    def side(self, rows: NDArray[np.intp], order: int) -> _Side:
        """Gauss rules where the count has so many rows."""
        sigma = np.sqrt(self.variance[rows])
        node, normal, polynomials = _hermite(order)
        moments = _hermite_moments(self._higher[:, rows] / sigma ** np.arange(3, 9)[:, None], order)
        spread = np.multiply.outer(sigma, node)
        yes, no = self.yes[rows, None] + spread, self.no[rows, None] - spread
        return _Side(yes, no, (moments.T @ polynomials) * normal)


class _Count:
    """One of the two counts: exact laws at one end of the range of k, cumulants everywhere."""

    def __init__(self, cumulants: _Cumulants, laws: Iterator[Law]) -> None:
        self._cumulants, self._laws = cumulants, laws
        self.lost = 0.0

    def exact(self, rows: NDArray[np.intp]) -> _Side:
        """Next exact laws as nodes, padded to one width with nodes of weight zero."""
        laws = [next(self._laws) for _ in rows]
        self.lost = max(self.lost, *(law.lost for law in laws))
        width = max(len(law.mass) for law in laws)
        yes, weight = np.empty((len(laws), width)), np.zeros((len(laws), width))
        for line, law in enumerate(laws):
            yes[line] = law.low + np.minimum(np.arange(width), len(law.mass) - 1)
            weight[line, : len(law.mass)] = law.mass
        return _Side(yes, rows[:, None] - yes, weight)

    def gauss(self, rows: NDArray[np.intp]) -> tuple[_Side, _Side]:
        """Gauss rules, and the one for the first k again two orders higher."""
        order = self._cumulants.order(rows)
        return self._cumulants.side(rows, order), self._cumulants.side(rows[:1], order + 2)

    def both(self, rows: NDArray[np.intp], *, exact: bool) -> tuple[_Side, _Side]:
        """Nodes for every k, and nodes for the first one to compare with."""
        if not exact:
            return self.gauss(rows)
        side = self.exact(rows)
        return side, _Side(*(part[:1] for part in side))

    def width(self, rows: int, *, exact: bool) -> int:
        """About how many nodes there are."""
        if exact:
            return 8 + int(20.0 * math.sqrt(self._cumulants.variance[rows]))
        return self._cumulants.order(np.array([rows]))


def expected_by_gauss(batch: Batch, value: CountValue) -> Estimate:
    """Curve by the product of two rules, with an estimated error."""
    n = len(batch)
    first, rest = _Cumulants(batch.yes, batch.no), _Cumulants(batch.yes[::-1], batch.no[::-1])
    start = int(np.searchsorted(first.variance, SMALL_VARIANCE))
    stop = n + 1 - int(np.searchsorted(rest.variance, SMALL_VARIANCE))
    one = _Count(first, first_laws(batch, min(start - 1, n), WINDOW))
    two = _Count(rest, other_laws(batch, stop, WINDOW))
    values, difference = np.empty(n + 1), 0.0
    low = 0
    while low <= n:
        exact = low < start, low >= stop
        width = one.width(low, exact=exact[0]) * two.width(n - low, exact=exact[1])
        end = min(edge for edge in (start, stop, n + 1) if edge > low)
        high = min(low + max(1, min(_ENTRIES // width, _MOST_ROWS)), end)
        k = np.arange(low, high)
        (hits, hit), (misses, miss) = one.both(k, exact=exact[0]), two.both(n - k, exact=exact[1])
        values[low:high] = _product_sum(value, hits, misses)
        difference = float(np.maximum(difference, abs(_product_sum(value, hit, miss)[0] - values[low])))
        low = high
    absolute = 2.0 * difference + one.lost + two.lost + _ROUNDING * max(1.0, float(np.abs(values).max()))
    return Estimate(values, 0.0, absolute, "gauss", proved=False)


def _product_sum(value: CountValue, hits: _Side, misses: _Side) -> Floats:
    tables = value(hits.yes[:, :, None], hits.no[:, :, None], misses.yes[:, None, :], misses.no[:, None, :])
    return np.einsum("kab,ka,kb->k", tables, hits.weight, misses.weight, optimize=False)


def _order(room: float) -> int:
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

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
from stakes.utility._sums import Carry, accurate_cumsum, spans, suffix_sums

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


class _Cumulants(NamedTuple):
    """Mean positives and negatives, variance and cumulants 3 to 8 of one count, a column for each of some k."""

    sums: Floats

    def part(self, columns: slice) -> _Cumulants:
        """Some of the k."""
        return _Cumulants(self.sums[:, columns])

    def order(self) -> int:
        """Nodes that are needed."""
        yes, no, variance = self.sums[:3]
        return _order(float(np.min(np.minimum(yes, no) / np.sqrt(variance))))

    def side(self, order: int) -> _Side:
        """Gauss rules."""
        yes, no, variance = self.sums[:3]
        sigma = np.sqrt(variance)
        node, normal, polynomials = _hermite(order)
        moments = _hermite_moments(self.sums[3:] / sigma ** np.arange(3, 9)[:, None], order)
        spread = np.multiply.outer(sigma, node)
        return _Side(yes[:, None] + spread, no[:, None] - spread, (moments.T @ polynomials) * normal)


def _terms(yes: Floats, no: Floats) -> Floats:
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


def _cumulants(batch: Batch) -> Iterator[tuple[int, _Cumulants, _Cumulants]]:
    """Yield blocks of k = 0..n: the first k, the cumulants of TP and those of FN; only one block is kept."""
    pieces = list(spans(0, len(batch), _MOST_ROWS))
    totals = np.stack([_terms(batch.yes[a:b], batch.no[a:b]).sum(axis=1) for a, b in pieces])
    later = np.append(suffix_sums(totals), np.zeros((1, totals.shape[1])), axis=0)
    earlier = Carry(totals.shape[1])
    for j, (a, b) in enumerate(pieces):
        terms = _terms(batch.yes[a:b], batch.no[a:b])
        upward = _running(terms) - terms + earlier.value()[:, None]
        downward = _running(terms[:, ::-1])[:, ::-1] + later[j + 1][:, None]
        yield a, _Cumulants(upward), _Cumulants(downward)
        earlier.add(totals[j])
    yield len(batch), _Cumulants(earlier.value()[:, None]), _Cumulants(later[-1:].T)


def _running(terms: Floats) -> Floats:
    """Running sums along the rows; means and variances, which are not negative, keep their last digits."""
    return np.concatenate([accurate_cumsum(terms[:3]), np.cumsum(terms[3:], axis=1)])


class _Count:
    """One of the two counts: exact laws at one end of the range of k, cumulants everywhere."""

    def __init__(self, laws: Iterator[Law]) -> None:
        self._laws = laws
        self.lost = 0.0

    def sides(self, rows: NDArray[np.intp], cumulants: _Cumulants, *, exact: bool) -> tuple[_Side, _Side]:
        """Nodes where the count has so many rows, and for the first k nodes to compare with, of two orders more."""
        if exact:
            side = self._exact(rows)
            return side, _Side(*(part[:1] for part in side))
        order = cumulants.order()
        return cumulants.side(order), cumulants.part(slice(1)).side(order + 2)

    def _exact(self, rows: NDArray[np.intp]) -> _Side:
        """Next exact laws as nodes, padded to one width with nodes of weight zero."""
        laws = [next(self._laws) for _ in rows]
        self.lost = max(self.lost, *(law.lost for law in laws))
        width = max(len(law.mass) for law in laws)
        yes, weight = np.empty((len(laws), width)), np.zeros((len(laws), width))
        for line, law in enumerate(laws):
            yes[line] = law.low + np.minimum(np.arange(width), len(law.mass) - 1)
            weight[line, : len(law.mass)] = law.mass
        return _Side(yes, rows[:, None] - yes, weight)


def _width(cumulants: _Cumulants, *, exact: bool) -> int:
    """About how many nodes the first k has."""
    first = cumulants.part(slice(1))
    return 8 + int(20.0 * math.sqrt(first.sums[2, 0])) if exact else first.order()


def expected_by_gauss(batch: Batch, value: CountValue) -> Estimate:
    """Curve by the product of two rules, with an error that is estimated at one k in two thousand, or at more."""
    n, spread = len(batch), batch.yes * batch.no
    # TP is exact for k < start, FN for k >= stop
    start = 1 + int(np.searchsorted(accurate_cumsum(spread), SMALL_VARIANCE))
    stop = n - int(np.searchsorted(accurate_cumsum(spread[::-1]), SMALL_VARIANCE))
    del spread
    one = _Count(first_laws(batch, min(start - 1, n), WINDOW))
    two = _Count(other_laws(batch, max(stop, 0), WINDOW))
    values, difference = np.empty(n + 1), 0.0
    for begin, first, rest in _cumulants(batch):
        low = begin
        while low < begin + first.sums.shape[1]:
            exact = low < start, low >= stop
            here = slice(low - begin, None)
            width = _width(first.part(here), exact=exact[0]) * _width(rest.part(here), exact=exact[1])
            end = min(edge for edge in (start, stop, begin + first.sums.shape[1]) if edge > low)
            high = min(low + max(1, _ENTRIES // width), end)
            k, here = np.arange(low, high), slice(low - begin, high - begin)
            hits, hit = one.sides(k, first.part(here), exact=exact[0])
            misses, miss = two.sides(n - k, rest.part(here), exact=exact[1])
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

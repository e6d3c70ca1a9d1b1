"""Expected utilities by exact sums, windows of counts, and Gauss rules."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import Floats, blocks
from stakes.utility._exponential import (
    CERTAIN_ZERO,
    UNIT,
    Batch,
    CountLaw,
    UtilityEstimate,
    accurate_cumsum,
    first_laws,
    other_laws,
)

Coefficients = tuple[float, float, float, float]


# Expected value of any measure by summing over both counts: the paper's Algorithms 1 and 2, corrected, and windows.
#
# Algorithm 1 sums over all k, TP and FN: O(n^3) evaluations. Windows cut the two laws where they fall below 1e-20,
# which leaves about 145 sigma_TP sigma_FN evaluations for each k. Algorithm 2 replaces one of the sums by a
# recursion, for ratios of linear functions: O(n^2).


class CountValue(Protocol):
    """Value of a measure at tables of counts."""

    def __call__(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats: ...


WINDOW = 1e-20
# Up to so many rows nothing is cut off, for it would not pay.
WHOLE_UP_TO = 300


def expected_by_windows(batch: Batch, value: CountValue, *, bounded: bool) -> UtilityEstimate:
    """Curve by the double sum over the counts within two windows.

    The bound takes |value| outside the windows to be no larger than inside: it is proved for measures that are
    ``bounded`` by one, and where nothing was cut off.
    """
    drop = WINDOW if len(batch) > WHOLE_UP_TO else 0.0
    estimate, lost, largest = _double_sum(batch, value, drop)
    largest = max(largest, 1.0) if bounded else largest
    return replace(estimate, absolute=largest * lost, method="exact", proved=bounded or lost == 0.0)


def expected_by_algorithm1(batch: Batch, value: CountValue) -> UtilityEstimate:
    """Curve by the paper's Algorithm 1: the whole double sum (with k = 0, which it leaves out)."""
    return _double_sum(batch, value, 0.0)[0]


def _double_sum(batch: Batch, value: CountValue, drop: float) -> tuple[UtilityEstimate, float, float]:
    """Return the curve, the largest probability cut off, and the largest |value|."""
    n = len(batch)
    values, sizes, lost, largest = np.empty(n + 1), np.empty(n + 1), 0.0, 0.0
    for k, (first, rest) in enumerate(zip(first_laws(batch, n, drop), other_laws(batch, 0, drop), strict=True)):
        tp, fn = first.counts()[:, None], rest.counts()[None, :]
        table = np.broadcast_to(value(tp, k - tp, fn, n - k - fn), (tp.size, fn.size))
        values[k] = first.mass @ (table @ rest.mass)
        sizes[k] = first.mass @ (np.abs(table) @ rest.mass)
        lost, largest = max(lost, first.lost + rest.lost), max(largest, float(np.abs(table).max()))
    # each row of the two laws rounds three times, the sums once per entry
    rounding = (3.0 * n + 2.0 * (n + 1.0) ** 0.5 * 20.0 + 60.0) * UNIT
    return UtilityEstimate(values, rounding, 0.0, "algorithm1", scale=sizes), lost, largest


def expected_by_recursion(batch: Batch, c: Coefficients, d: Coefficients, zero_division: float) -> UtilityEstimate:
    """Curve by the paper's Algorithm 2, corrected; the coefficients d must be integers, d3 not negative.

    S_k[i] = E[1 / (i + d3 FN_k)] runs from k = n down to 0. As printed, the algorithm starts its recursion at i = 1,
    stops at k = 1, and drops the factor n of c0 and d0 in its analysis.
    """
    steps = _Recursion(batch, d)
    n, hits = len(batch), list(first_laws(batch, len(batch), 0.0))
    values, sizes = np.empty(n + 1), np.empty(n + 1)
    for k in range(n, -1, -1):
        tp = np.arange(k + 1.0)
        inverse, missed, absent = steps.at(k)
        known = (c[0] * n + c[2] * k + (c[1] + c[3]) * tp) * inverse
        parts = [known, c[3] * missed, zero_division * absent]
        low, mass = hits[k].low, hits[k].mass
        values[k] = sum(mass @ part[low : low + len(mass)] for part in parts)
        sizes[k] = abs(c[3] / (d[3] or 1.0)) + sum(mass @ np.abs(part[low : low + len(mass)]) for part in parts)
        if k:
            steps.take(k)
    return UtilityEstimate(values, (5.0 * n + 100.0) * UNIT, 0.0, "algorithm2", scale=sizes)


class _Recursion:
    """E[1 / (i + d3 FN_k)] and Pr(i + d3 FN_k = 0) for every index i, for k = n, n - 1, ..., 0."""

    def __init__(self, batch: Batch, d: Coefficients) -> None:
        self._batch, self._d, n = batch, tuple(map(_integer, d)), len(batch)
        d0, d1, d2, d3 = self._d
        # the index d0 n + d2 k + (d1 + d3) TP is largest and smallest at a corner of 0 <= TP <= k <= n
        corners = [d0 * n, (d0 + d2) * n, (d0 + d1 + d2 + d3) * n]
        if d3 < 0 or min(corners) < 0:
            raise ValueError(
                f"method='algorithm2' needs d3 >= 0 and a denominator that is never negative, got d = {d}."
            )
        size = max(corners) + d3 * n + 1
        self._lines = np.zeros((2, size))
        self._lines[0, 1:] = 1.0 / np.arange(1.0, size)
        self._lines[1, 0] = 1.0

    def at(self, k: int) -> tuple[Floats, Floats, Floats]:
        """E[1/D], E[FN/D] and Pr(D = 0) for TP = 0..k; where D = 0 the first two count nothing."""
        d0, d1, d2, d3 = self._d
        index = d0 * len(self._batch) + d2 * k + (d1 + d3) * np.arange(k + 1)
        inverse, absent = self._lines[:, index]
        if d3:
            return inverse, (1.0 - absent - index * inverse) / d3, absent
        return inverse, inverse * self._batch.yes[k:].sum(), absent

    def take(self, k: int) -> None:
        """Add row k to the rows that are not acted on."""
        d3 = self._d[3]
        moved = np.zeros_like(self._lines)
        moved[:, : moved.shape[1] - d3] = self._lines[:, d3:]
        self._lines *= self._batch.no[k - 1]
        self._lines += self._batch.yes[k - 1] * moved


def _integer(value: float) -> int:
    if value != round(value):
        raise ValueError(f"method='algorithm2' needs integer coefficients d (scale the ratio), got {value}.")
    return round(value)


# Expected precision, accuracy and squared error in counting: sums of probabilities, nothing more.

_ROUNDING = 16.0 * UNIT


def expected_precision(batch: Batch, zero_division: float) -> UtilityEstimate:
    """Curve of E[TP / k]: the mean of the k largest probabilities."""
    k = np.arange(1.0, len(batch) + 1.0)
    hits = accurate_cumsum(batch.yes)

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gain = batch.yes[first:last] / k[first:last]
        loss = hits[first - 1 : last - 1] / (k[first - 1 : last - 1] * k[first:last])
        return gain - loss, _ROUNDING * (gain + loss)

    return UtilityEstimate(np.concatenate([[zero_division], hits / k]), _ROUNDING, 0.0, "closed_form", steps=steps)


def expected_accuracy(batch: Batch) -> UtilityEstimate:
    """Curve of E[(TP + TN) / n]."""
    n = max(len(batch), 1)
    values = np.zeros(len(batch) + 1)
    values[1:] = accurate_cumsum(batch.yes)
    values[:-1] += accurate_cumsum(batch.no[::-1])[::-1]
    values /= n

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        yes, no = batch.yes[first:last], batch.no[first:last]
        return (yes - no) / n, _ROUNDING * (yes + no) / n

    return UtilityEstimate(values, _ROUNDING, 0.0, "closed_form", steps=steps, steps_start=0)


def expected_squared_counting_error(batch: Batch) -> UtilityEstimate:
    """Curve of E[((FN - FP) / n)^2] = (variance + (mean - k)^2) / n^2."""
    n = max(len(batch), 1)
    k = np.arange(len(batch) + 1.0)
    values = (batch.variance + (batch.mean - k) ** 2) / n**2

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gap = 2.0 * (k[first:last] - batch.mean) + 1.0
        return gap / n**2, _ROUNDING * (2.0 * k[first:last] + 2.0 * batch.mean + 1.0) / n**2

    scale = float(batch.variance + (batch.mean + n) ** 2) / n**2
    return UtilityEstimate(values, _ROUNDING, 0.0, "closed_form", scale=scale, steps=steps, steps_start=0)


# Gauss rules for the number of positives among some rows, from its cumulants, and expected values by two of them.
#
# Gauss-Hermite nodes carry Gram-Charlier weights from the first eight cumulants, which are sums over the rows.

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
        """Select some of the k."""
        return Cumulants(self.sums[:, columns])

    def room(self) -> Floats:
        """Standard deviations between the mean and the nearer end of the range, for each k."""
        yes, no, variance = self.sums[:3]
        return np.minimum(yes, no) / np.sqrt(variance)

    def side(self, order: int) -> Side:
        """Gauss rules."""
        yes, no, variance = self.sums[:3]
        sigma = np.sqrt(variance)
        node, normal, polynomials = _hermite(order)
        moments = _hermite_moments(self.sums[3:] / sigma ** np.arange(3, 9)[:, None], order)
        spread = np.multiply.outer(sigma, node)
        return Side(yes[:, None] + spread, no[:, None] - spread, (moments.T @ polynomials) * normal)


def terms(yes: Floats, no: Floats) -> Floats:
    """Contribution of each row to the cumulants of a count, one line per cumulant."""
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


# Expected values along a stretch of rows from a few places of it, where both counts are large.
#
# The expected value depends on k through k itself and the cumulants of the two counts, and smoothly so. Between the
# ends of a block of rows these go almost straight: along the chord the value is interpolated from Chebyshev nodes,
# and how far the mean, the variance and the third cumulant stray from the chord enters by derivatives. Two rows of
# every block, the one that strays most and one between the nodes, are worked out in full: where they differ, so is
# the whole block.

# Rows of a block, largest first; no cell of the table changes by more than a quarter along it.
SIZES = (512, 128)
CHORD_ROOM = 4
# An even number of slopes leaves the middle of a block, where it strays most, to be checked.
_NODES, _SLOPE_NODES = 12, 6
_AGREEMENT = 2e-14
_AT_ONCE = 64
# Lines of the cumulants that a deviation of the mean, of the variance and of the third cumulant moves, and their signs.
_MOVES = (np.array([1.0, -1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))


class Stretch(NamedTuple):
    """Blocks of equally many rows: TP before each, what each adds, FN after each, a column per block."""

    starts: NDArray[np.intp]
    size: int
    first: Floats
    total: Floats
    rest: Floats


def fill_blocks(values: Floats, batch: Batch, value: CountValue, blocks: Stretch) -> float:
    """Write the values of the rows of all blocks, and return how much two more nodes change them."""
    difference = 0.0
    for low in range(0, len(blocks.starts), _AT_ONCE):
        part = slice(low, low + _AT_ONCE)
        sums = (line[:, part] for line in (blocks.first, blocks.total, blocks.rest))
        some = Stretch(blocks.starts[part], blocks.size, *sums)
        if blocks.size in SIZES:
            found, sure, error = _by_chords(batch, value, some)
            difference = max(difference, error)
        else:
            found, sure = np.empty((len(some.starts), some.size)), np.zeros(len(some.starts), dtype=bool)
        for j in np.flatnonzero(~sure).tolist():
            found[j], error = _row_by_row(batch, value, some, j)
            difference = max(difference, error)
        values[some.starts[:, None] + np.arange(some.size)] = found
    return difference


def _row_by_row(batch: Batch, value: CountValue, blocks: Stretch, j: int) -> tuple[Floats, float]:
    """Gauss rules for every row of one block."""
    rows = slice(int(blocks.starts[j]), int(blocks.starts[j]) + blocks.size)
    own = terms(batch.yes[rows], batch.no[rows])
    hits = Cumulants(np.cumsum(own, axis=1) - own + blocks.first[:, j, None])
    misses = Cumulants(np.cumsum(own[:, ::-1], axis=1)[:, ::-1] + blocks.rest[:, j, None])
    found = expectations(value, hits, misses)
    one = slice(0, 1)
    return found, float(abs(expectations(value, hits.part(one), misses.part(one), further=2)[0] - found[0]))


def _by_chords(batch: Batch, value: CountValue, blocks: Stretch) -> tuple[Floats, NDArray[np.bool_], float]:
    """Return values (a line per block), which blocks are reliable, and the change by two more nodes."""
    rows = blocks.starts[:, None] + np.arange(blocks.size)
    yes, no = batch.yes[rows], batch.no[rows]
    spread = yes * no
    strays = [_chord_deviation(line) for line in (yes, spread, spread * (no - yes))]
    widths = [np.abs(stray).max(axis=1) for stray in strays]
    widths = [np.where(width > 0.0, width, 1.0) for width in widths]
    nodes, basis = chebyshev(_NODES, blocks.size)
    slope_nodes, slope_basis = chebyshev(_SLOPE_NODES, blocks.size)
    moves = [np.multiply.outer(m, sign * w) for m, w in zip(_MOVES, widths, strict=True) for sign in (1.0, -1.0)]
    unmoved = np.zeros_like(moves[0])
    places = [(nodes, unmoved), (slope_nodes, unmoved), *((slope_nodes, move) for move in moves)]
    on_chord, middle, *moved = _at(value, blocks, places)
    found = on_chord @ basis
    for stray, width, up, down in zip(strays, widths, moved[::2], moved[1::2], strict=True):
        unit = stray / width[:, None]
        found += unit * ((0.5 * (up - down)) @ slope_basis)
        if stray is strays[0]:
            found += unit**2 * ((0.5 * (up + down) - middle) @ slope_basis)
    sure = np.ones(len(found), dtype=bool)
    for worst in (np.argmax(np.abs(strays[0]), axis=1), np.full(len(found), blocks.size // 4)):
        line = np.arange(len(worst))
        off = sum(np.multiply.outer(move, s[line, worst]) for move, s in zip(_MOVES, strays, strict=True))
        truth = _at(value, blocks, [(worst[:, None] / blocks.size, off)])[0][:, 0]
        sure &= np.abs(truth - found[line, worst]) <= _AGREEMENT * np.maximum(np.abs(truth), 1.0)
    error = np.abs(_at(value, blocks, [(nodes[:1], unmoved)], further=2)[0] - on_chord[:, :1]).max()
    return found, sure, float(error)


def _chord_deviation(lines: Floats) -> Floats:
    """Deviation of the sum before each row from the chord."""
    sums = np.cumsum(lines, axis=1)
    share = np.arange(lines.shape[1]) / lines.shape[1]
    return sums - lines - np.multiply.outer(sums[:, -1], share)


def _at(value: CountValue, blocks: Stretch, places: list[tuple[Floats, Floats]], further: int = 0) -> list[Floats]:
    """Expected values at shares of the way along each chord (a line per block), with the cumulants moved off it."""
    hits, misses = [], []
    for share, move in places:
        along = blocks.first[:, :, None] + blocks.total[:, :, None] * share
        against = blocks.rest[:, :, None] + blocks.total[:, :, None] * (1.0 - share)
        along[:4] += move[:, :, None]
        against[:4] -= move[:, :, None]
        hits.append(along.reshape(len(along), -1))
        misses.append(against.reshape(len(against), -1))
    one, two = (Cumulants(np.concatenate(x, axis=1)) for x in (hits, misses))
    flat = expectations(value, one, two, further)
    ends = np.cumsum([x.shape[1] for x in hits])[:-1]
    return [found.reshape(len(blocks.starts), -1) for found in np.split(flat, ends)]


@lru_cache(maxsize=32)
def chebyshev(count: int, size: int) -> tuple[Floats, Floats]:
    """Nodes on [0, 1], and what each counts at 0, 1/size, ..., a line per node."""
    nodes = 0.5 - 0.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    return nodes, _lagrange(nodes, np.arange(size) / size)


def _lagrange(nodes: Floats, places: Floats) -> Floats:
    """Lagrange's polynomials of the nodes at some places, a line per node."""
    gaps = places - nodes[:, None]
    out = np.ones_like(gaps)
    np.cumprod(gaps[:-1], axis=0, out=out[1:])
    out[:-1] *= np.cumprod(gaps[:0:-1], axis=0)[::-1]
    apart = nodes[:, None] - nodes
    np.fill_diagonal(apart, 1.0)
    return out / apart.prod(axis=1)[:, None]


# Expected values along a stretch of rows that hardly differ from certain ones, where a count is too small for rules.
#
# Let a block of rows follow the first k0, its labels turn out the rare way with a total probability of at most 1/2,
# and let S and R be how many of them do so before and after a place j of it. With H(s, r, j) the expected value over
# the other rows, Newton's series
#
#     E H(S, R, j) = sum over m, m' of e_m e'_m' Delta_s^m Delta_r^m' H(0, 0, j)
#
# has the elementary symmetric polynomials of the probabilities before and after j as weights. What is left out after
# M terms is at most 1 / (M+1)! for a measure bounded by one. In j, H is interpolated.

MASS = 0.5
# No cell that grows along a block holds less than so many times its rows.
THIN_ROOM = 8
# Fewer rows are worked out one by one.
FEW = 16
_REST = 1e-16
_MOST_TERMS = 20
_PLACES_AT_ONCE = 256  # places of a block worked out together: the table over nodes and terms stays in the cache


@dataclass(frozen=True, eq=False, repr=False)
class ThinBlock:
    """Rows start..stop; ``rare`` are the probabilities of their rare label, which is the positive one or not."""

    start: int
    stop: int
    rare: Floats
    positive: bool

    @classmethod
    def of(cls, batch: Batch, start: int, stop: int) -> ThinBlock:
        """Look at some rows, which are all at most or all at least one half."""
        positive = bool(batch.yes[start] <= 0.5 and batch.yes[stop - 1] <= 0.5)
        return cls(start, stop, (batch.yes if positive else batch.no)[start:stop], positive)

    @cached_property
    def sums(self) -> Floats:
        """Elementary symmetric polynomials of its probabilities, as many as the series needs."""
        mass, count, left = 2.0 * float(self.rare.sum()), 0, 1.0
        while count < min(len(self.rare), _MOST_TERMS):
            left *= mass / (count + 1)
            if left <= _REST:
                break
            count += 1
        return elementary(self.rare, count)

    def added_to(self, law: CountLaw, drop: float) -> CountLaw:
        """The law with these rows as well."""
        mass = differences(len(self.sums) - 1).T @ self.sums
        size = len(self.rare)
        if not self.positive:
            mass = mass[::-1]
        low = law.low if self.positive else law.low + size - (len(mass) - 1)
        return CountLaw(low, np.convolve(law.mass, mass), law.lost).trimmed(drop)


class Points(NamedTuple):
    """Where a count may lie once s = 0, 1, ... rare labels are added: rare and common labels, and a line for each s."""

    rare: Floats
    common: Floats
    weight: Floats


def points(side: CountLaw | Cumulants, rows: int, most: int, *, positive: bool) -> Points:
    """Points of a count among so many rows, with up to ``most`` rare labels more."""
    if isinstance(side, CountLaw):
        mass = side.mass if positive else side.mass[::-1]
        low = side.low if positive else rows - side.low - len(mass) + 1
        rare = low + np.arange(float(len(mass) + most))
        weight = np.zeros((most + 1, len(rare)))
        for s in range(most + 1):
            weight[s, s : s + len(mass)] = mass
        return Points(rare, rows - rare, weight)
    nodes = side.side(order(float(side.room()[0])))
    rare, common = (nodes.yes[0], nodes.no[0]) if positive else (nodes.no[0], nodes.yes[0])
    shift = np.arange(float(most + 1))[:, None]
    weight = np.zeros((most + 1, most + 1, len(rare)))
    weight[range(most + 1), range(most + 1)] = nodes.weight[0]
    return Points((rare + shift).ravel(), (common - shift).ravel(), weight.reshape(most + 1, -1))


def block_values(
    value: CountValue,
    block: ThinBlock,
    sides: tuple[CountLaw | Cumulants, CountLaw | Cumulants],
    total: int,
    room: float,
) -> Floats:
    """Values of k = start..stop - 1, from TP before the block and FN after it; ``room`` is the least growing cell."""
    size, most = len(block.rare), len(block.sums) - 1
    one = points(sides[0], block.start, most, positive=block.positive)
    two = points(sides[1], total - block.stop, most, positive=block.positive)
    nodes, basis = _places(size, room)
    late = np.multiply.outer(size - nodes, np.ones(1))[:, :, None]
    grown = one.common[None, :, None] + nodes[:, None, None], two.common[None, None, :] + late
    cells = (one.rare[None, :, None], grown[0], two.rare[None, None, :], grown[1])
    table = value(*cells) if block.positive else value(cells[1], cells[0], cells[3], cells[2])
    step = differences(most)
    change = (step @ one.weight) @ table @ (step @ two.weight).T
    change = change[:, *_needed(np.abs(change).max(axis=0), block.sums)]
    before = symmetric(block.rare, change.shape[1] - 1)[:, :-1]
    after = symmetric(block.rare[::-1], change.shape[2] - 1)[:, :0:-1]
    lines = change.transpose(1, 0, 2).reshape(len(before), -1)
    out = np.empty(size)
    for part in blocks(size, _PLACES_AT_ONCE):
        weight = basis[:, None, part] * after[None, :, part]
        np.einsum("mj,mj->j", before[:, part], lines @ weight.reshape(lines.shape[1], -1), out=out[part])
    return out


def _needed(change: Floats, e: Floats) -> tuple[slice, slice]:
    """Terms before and after that matter anywhere: e_m e'_m' is at most e_(m + m') of the whole block."""
    orders = np.add.outer(np.arange(len(e)), np.arange(len(e)))
    matters = change * np.append(e, np.zeros(len(e)))[orders] > _REST / len(e)
    one, two = (max(1, int(np.flatnonzero(np.append(True, matters.any(axis=axis)))[-1])) for axis in (1, 0))
    return slice(one), slice(two)


def elementary(chances: Floats, most: int) -> Floats:
    """Elementary symmetric polynomials 0 to ``most`` of some small numbers, from their power sums (Newton)."""
    power, sums, out = chances.copy(), np.empty(most), np.ones(most + 1)
    for m in range(most):
        sums[m] = (-1) ** m * power.sum()
        power *= chances
        out[m + 1] = (out[m::-1] @ sums[: m + 1]) / (m + 1)
    return out


def symmetric(chances: Floats, most: int) -> Floats:
    """Elementary symmetric polynomials 0 to ``most`` (lines) of the first 0, 1, ... numbers (columns)."""
    out = np.zeros((most + 1, len(chances) + 1))
    out[0] = 1.0
    for m in range(1, most + 1):
        np.cumsum(chances * out[m - 1, :-1], out=out[m, 1:])
    return out


@lru_cache
def differences(most: int) -> Floats:
    """Lines of signed binomials: the forward differences of the values at 0, 1, ..., ``most``."""
    return np.array([[(-1.0) ** (m - s) * math.comb(m, s) for s in range(most + 1)] for m in range(most + 1)])


def _places(size: int, room: float) -> tuple[Floats, Floats]:
    """Places in a block from which a function with no pole nearer than ``room`` is known, and what each counts."""
    z = 1.0 + 2.0 * room / size
    count = 1 + math.ceil(35.0 / math.log(z + math.sqrt(z * z - 1.0)))
    if size <= count:
        return np.arange(float(size)), np.eye(size)
    nodes, basis = chebyshev(count, size)
    return size * nodes, basis


# Expected value of a smooth measure, one k after the other: Gauss rules where both counts are large, laws elsewhere.
#
# Where a count has a variance below 80 its exact law is kept. The error is estimated by raising the order, not
# proved: nothing that comes from here is ever called certified.

# The outermost of 23 nodes is 8.3 standard deviations out; the mean is at least sqrt(80) from an empty cell.
SMALL_VARIANCE = 80.0
_GAUSS_ROUNDING = 1e-13
_MOST_ROWS = 4096
_LONG = 512  # beyond it, rows cost more than blocks, and less mass is better
_STEP = 128  # of longer blocks: few sizes, whose polynomials are kept
_ROWS_AT_ONCE = 1 << 15
_LAWS_AT_ONCE = 16
_FAR = math.log(2.0 / WINDOW)


def expected_by_gauss(batch: Batch, value: CountValue) -> UtilityEstimate:
    """Curve by the product of two rules, with an error that is estimated in every block of rows."""
    plan = _Plan(batch)
    values = np.empty(len(batch) + 1)
    lost = _fill_thin(values, batch, value, plan)
    difference = 0.0
    for size in np.unique(plan.sizes[plan.large]).tolist():
        chosen = np.flatnonzero(plan.large & (plan.sizes == size))
        sums = plan.first[:, chosen], plan.total[:, chosen], plan.rest[:, chosen + 1]
        blocks = Stretch(plan.marks[chosen], size, *sums)
        difference = max(difference, fill_blocks(values, batch, value, blocks))
    absolute = 2.0 * difference + lost + _GAUSS_ROUNDING * max(1.0, float(np.abs(values).max()))
    return UtilityEstimate(values, 0.0, absolute, "gauss", proved=False)


class _Plan:
    """The rows in blocks, each with one way: ``marks`` are their ends, ``large`` says where rules serve both counts."""

    def __init__(self, batch: Batch) -> None:
        self._chances, spread = batch.yes, batch.yes * batch.no
        self._yes = np.cumsum(batch.yes)
        self._spread = accurate_cumsum(spread)
        self._rare = np.cumsum(np.minimum(batch.yes, batch.no))
        self.n = n = len(batch)
        # TP is exact for k < start, FN for k >= stop
        self.start = 1 + int(np.searchsorted(self._spread, SMALL_VARIANCE))
        self.stop = n - int(np.searchsorted(accurate_cumsum(spread[::-1]), SMALL_VARIANCE))
        rare_last = batch.yes[0] > 0.5
        self._turn = int(np.count_nonzero((batch.yes > 0.5) == rare_last))
        self._made: dict[int, ThinBlock] = {}
        marks, rooms = [0], []
        for mark, room in self._blocks():
            marks.append(mark)
            rooms.append(room)
        self.marks, self.rooms = np.array(marks), rooms
        self.sizes = np.diff(self.marks)
        self.large = (self.marks[:-1] >= self.start) & (self.marks[1:] <= self.stop)
        self.total = _block_sums(batch, self.marks)
        self.first, self.rest = _sums_before(self.total), _sums_before(self.total[:, ::-1])[:, ::-1]

    def block(self, batch: Batch, j: int) -> ThinBlock:
        """A thin block, made once: both laws and its values need the same sums."""
        if j not in self._made:
            self._made[j] = ThinBlock.of(batch, int(self.marks[j]), int(self.marks[j + 1]))
        return self._made[j]

    def _blocks(self) -> Iterator[tuple[int, float]]:
        """Yield the end of each block, and the least growing cell of a thin one."""
        k = 0
        while k < self.n:
            if self.start <= k < self.stop:
                size, room = self._large_size(k), 0.0
            else:
                size, room = self._thin_size(k)
            k += size
            yield k, room

    def _cells(self, k: int) -> tuple[float, float, float, float]:
        """Mean TP, FP, FN and TN of acting on k rows."""
        yes = float(self._yes[k - 1]) if k else 0.0
        rest = float(self._yes[-1]) - yes
        return yes, k - yes, rest, self.n - k - rest

    def _large_size(self, k: int) -> int:
        left = min(self.stop, self.n) - k
        for size in SIZES:
            if size <= left:
                ends = zip(self._cells(k), self._cells(k + size), strict=True)
                if all(min(a, b) >= CHORD_ROOM * abs(a - b) for a, b in ends):
                    return size
        return min(left, SIZES[0] - 1)

    def _thin_size(self, k: int) -> tuple[int, float]:
        """Rows of like label, of little mass, and few beside the cells that grow along them."""
        ends = [end for end in (self.start, self.stop, self._turn) if k < end < self.n] + [self.n]
        mass = float(self._rare[k - 1]) if k else 0.0
        few, many = np.searchsorted(self._rare, [mass + MASS / 2.0, mass + MASS], side="right").tolist()
        size = min(min(ends) - k, _MOST_ROWS, max(few - k, min(many - k, _LONG)))
        if size < FEW:
            return 1, 0.0
        hit, alarm, miss, rejected = self._cells(k)
        spread = float(self._spread[k - 1]) if k else 0.0
        before, after = (alarm, rejected) if self._chances[k] <= 0.5 else (hit, miss)
        before, after = before - _reach(spread), after - _reach(float(self._spread[-1]) - spread)
        size = min(size, int(before / THIN_ROOM), int(after / (THIN_ROOM + 1)))
        size -= size % _STEP if size > _LONG else 0
        return (size, min(before, after - size)) if size >= FEW else (1, 0.0)


def _reach(variance: float) -> float:
    """How far a count may lie from its mean, but for a probability of WINDOW (Bernstein)."""
    return _FAR / 3.0 + math.sqrt(_FAR * _FAR / 9.0 + 2.0 * max(variance, 0.0) * _FAR)


def _block_sums(batch: Batch, marks: NDArray[np.intp]) -> Floats:
    """Cumulants of the number of positives in each block."""
    out = np.empty((9, len(marks) - 1))
    low = 0
    while low < len(marks) - 1:
        high = max(low + 1, int(np.searchsorted(marks, marks[low] + _ROWS_AT_ONCE, side="right")) - 1)
        rows = slice(int(marks[low]), int(marks[high]))
        own = terms(batch.yes[rows], batch.no[rows])
        out[:, low:high] = np.add.reduceat(own, marks[low:high] - marks[low], axis=1)
        low = high
    return out


def _sums_before(total: Floats) -> Floats:
    """Running sums from zero; means and variances, which are not negative, keep their last digits."""
    sums = np.concatenate([accurate_cumsum(total[:3]), np.cumsum(total[3:], axis=1)])
    return np.concatenate([np.zeros((len(total), 1)), sums], axis=1)


def _fill_thin(values: Floats, batch: Batch, value: CountValue, plan: _Plan) -> float:
    """Write the values outside the large blocks, and return the largest probability that was cut off."""
    n, count = plan.n, len(plan.sizes)
    laws = _laws(batch, plan, range(count), plan.start)
    ends = _laws(batch, plan, range(count - 1, -1, -1), plan.stop)

    def side(known: dict[int, CountLaw], sums: Floats, mark: int) -> CountLaw | Cumulants:
        return known[mark] if mark in known else Cumulants(sums[:, mark : mark + 1])

    for j in np.flatnonzero(~plan.large & (plan.sizes > 1)).tolist():
        start, stop = int(plan.marks[j]), int(plan.marks[j + 1])
        block, first, rest = plan.block(batch, j), side(laws, plan.first, j), side(ends, plan.rest, j + 1)
        values[start:stop] = block_values(value, block, (first, rest), n, plan.rooms[j])
    single = np.append(np.flatnonzero(~plan.large & (plan.sizes == 1)), count)
    kind = np.array([(j in laws) + 2 * (j in ends) for j in single.tolist()])
    for run in np.split(single, np.flatnonzero(np.diff(kind)) + 1):
        for low in range(0, len(run), _LAWS_AT_ONCE):
            some = run[low : low + _LAWS_AT_ONCE]
            hits = _rules(laws, plan.first, plan.marks, some)
            values[plan.marks[some]] = product_sum(value, hits, _rules(ends, plan.rest, n - plan.marks, some))
    return max(law.lost for law in laws.values()) + max(law.lost for law in ends.values())


def _rules(known: dict[int, CountLaw], sums: Floats, rows: NDArray[np.intp], some: NDArray[np.intp]) -> Side:
    """Nodes of a count of so many rows: Gauss rules, or its exact laws, padded to one width with a weight of zero."""
    if int(some[0]) not in known:
        cumulants = Cumulants(sums[:, some])
        return cumulants.side(order(float(cumulants.room().min())))
    laws = [known[j] for j in some.tolist()]
    width = max(len(law.mass) for law in laws)
    yes, weight = np.empty((len(laws), width)), np.zeros((len(laws), width))
    for line, law in enumerate(laws):
        yes[line] = law.low + np.minimum(np.arange(width), len(law.mass) - 1)
        weight[line, : len(law.mass)] = law.mass
    return Side(yes, rows[some, None] - yes, weight)


def _laws(batch: Batch, plan: _Plan, blocks: range, last: int) -> dict[int, CountLaw]:
    """Exact laws at the marks, from one end of the rows up to ``last``."""
    up = blocks.step > 0
    law, out = CERTAIN_ZERO, {0 if up else len(blocks): CERTAIN_ZERO}
    for j in blocks:
        start, stop = int(plan.marks[j]), int(plan.marks[j + 1])
        if (stop > last) if up else (start < last):
            break
        if stop - start == 1:
            law = law.with_row(float(batch.yes[start]), float(batch.no[start]), WINDOW)
        else:
            law = plan.block(batch, j).added_to(law, WINDOW)
        out[j + 1 if up else j] = law
    return out

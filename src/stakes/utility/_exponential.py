"""Batches of probabilities, distributions of counts, accurate sums, and F-beta, Jaccard, kappa by exponential sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.formulas import positive_scores
from stakes.base.validation import Floats, check_scores, to_array

Steps = Callable[[int, int], tuple[Floats, Floats]]
Correction = Callable[[Floats], ArrayLike]


# Accurate sums and products over millions of rows.

# Entries of a block of work: it stays in the cache, and is too small for BLAS to wake its threads.
BLOCK_ENTRIES = 8192
_SERIES_AT_MOST = 0.1


def block_rows(columns: int) -> int:
    """Number of rows of a block of work with this many columns."""
    return max(32, BLOCK_ENTRIES // max(columns, 1))


def spans(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ends of the pieces of a range."""
    for start in range(first, last, size):
        yield start, min(start + size, last)


class Carry:
    """A running vector sum with compensation of rounding errors (two-sum)."""

    def __init__(self, size: int) -> None:
        self._sum = np.zeros(size)
        self._rest = np.zeros(size)

    def add(self, values: Floats) -> None:
        """Add a vector."""
        new = self._sum + values
        shift = new - self._sum
        self._rest += (self._sum - (new - shift)) + (values - shift)
        self._sum = new

    def value(self) -> Floats:
        """Return the sum."""
        return self._sum + self._rest


def suffix_sums(blocks: Floats) -> Floats:
    """Sum of each line and all lines after it."""
    carry = Carry(blocks.shape[1])
    out = np.empty_like(blocks)
    for j in range(len(blocks) - 1, -1, -1):
        carry.add(blocks[j])
        out[j] = carry.value()
    return out


def accurate_cumsum(values: Floats) -> Floats:
    """Cumulative sum of non-negative numbers along the last axis, right to about one unit of the total's last place.

    Each number is split on a grid on which every partial sum is exact; what is left over is summed beside it.
    """
    grid = np.ldexp(1.0, np.frexp(values.sum(axis=-1, keepdims=True))[1] + 1)
    coarse = values + grid
    coarse -= grid
    rest = values - coarse
    np.cumsum(coarse, axis=-1, out=coarse)
    coarse += np.cumsum(rest, axis=-1, out=rest)
    return coarse


def accurate_sum(values: Floats) -> float:
    """Sum of non-negative numbers, right to about one unit in the last place."""
    total = float(values.sum())
    if total == 0.0:
        return 0.0
    grid = math.ldexp(1.0, math.frexp(total)[1] + 1)
    coarse = (values + grid) - grid
    return float(coarse.sum()) + float((values - coarse).sum())


def log_products(yes: Floats, no: Floats, rate: Floats, rows: int) -> Floats:
    """Logarithm of the product over i of no_i + yes_i exp(-rate_q), block by block of that many rows.

    ``yes`` descends and ``no`` is 1 - yes. Where yes_i (1 - exp(-rate)) is small the logarithm is a power series, and
    the power sums of a block serve every rate at once.
    """
    loss = -np.expm1(-rate)
    largest = float(np.abs(loss).max(initial=0.0))
    head = len(yes)
    if largest * float(yes[0]) <= _SERIES_AT_MOST:
        head = 0
    elif largest > 0.0:
        head = len(yes) - int(np.searchsorted(yes[::-1], _SERIES_AT_MOST / largest, side="right"))
    ends = list(spans(0, len(yes), rows))
    out = np.empty((len(ends), len(rate)))
    direct = min(-(-head // rows), len(ends))
    for j in range(direct):
        start, stop = ends[j]
        out[j] = _direct_logs(yes[start:stop], no[start:stop], rate, loss)
    tail = yes[direct * rows :]
    if direct < len(ends):
        out[direct:] = _series_logs(tail, loss, largest * float(tail[0]), rows)
    return out


def _direct_logs(yes: Floats, no: Floats, rate: Floats, loss: Floats) -> Floats:
    total = Carry(len(rate))
    kept = np.exp(-rate)
    for start, stop in spans(0, len(yes), block_rows(len(rate))):
        missing = np.multiply.outer(loss, yes[start:stop])
        factor = no[start:stop] + np.multiply.outer(kept, yes[start:stop])
        small = np.abs(missing) < 0.5
        logs = np.where(small, np.log1p(-np.where(small, missing, 0.0)), np.log(factor))
        total.add(logs.sum(axis=1))  # along the contiguous axis numpy adds in pairs
    return total.value()


def _series_logs(yes: Floats, loss: Floats, largest: float, rows: int) -> Floats:
    """Sum of log(1 - yes * loss) over blocks of rows as a power series, until its terms pass 1e-18 of the first."""
    orders = 1 if largest <= 0.0 else max(1, math.ceil(math.log(1e-18) / math.log(largest)))
    sums = np.empty((-(-len(yes) // rows), orders))
    at_once = max(1, 4 * BLOCK_ENTRIES // rows)
    for start, stop in spans(0, len(sums), at_once):
        _power_sums(yes[start * rows : stop * rows], rows, sums[start:stop])
    order = np.arange(1, orders + 1)[:, None]
    return sums @ (-(loss**order) / order)


def _power_sums(yes: Floats, rows: int, out: Floats) -> None:
    """Sums of the powers of descending numbers over blocks of rows; the first power keeps its last digit."""
    starts = np.arange(0, len(yes), rows)
    grid = math.ldexp(1.0, math.frexp(rows * float(yes[0]))[1] + 1)
    coarse = (yes + grid) - grid
    out[:, 0] = np.add.reduceat(coarse, starts) + np.add.reduceat(yes - coarse, starts)
    power = yes.copy()
    for order in range(1, out.shape[1]):
        np.multiply(power, yes, out=power)
        out[:, order] = np.add.reduceat(power, starts)


# A batch of rows with independent labels: probabilities in descending order, and the number of positives.

# Probability that the number of positives lies outside its window.
TAIL = 1e-20


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Probabilities, by default in descending order, and their complements.

    The complements are stored where a batch is the mirror image of another one, so that labels can be swapped without
    losing the small probabilities.
    """

    yes: Floats
    no: Floats

    @classmethod
    def of(cls, y_prob: Floats) -> Batch:
        """Sort clean probabilities."""
        ordered = np.sort(y_prob)[::-1].copy()
        return cls(ordered, 1.0 - ordered)

    def mirrored(self) -> Batch:
        """Swap the classes, which reverses the order."""
        return Batch(self.no[::-1], self.yes[::-1])

    def reversed(self) -> Batch:
        """List the same rows in the opposite order."""
        return Batch(self.yes[::-1], self.no[::-1])

    def descending(self) -> Batch:
        """List the same rows with the most probable one first."""
        return self.reversed() if len(self) and self.yes[0] < self.yes[-1] else self

    def __len__(self) -> int:
        return len(self.yes)

    @cached_property
    def mean(self) -> float:
        """Expected number of positives."""
        return accurate_sum(self.yes)

    @cached_property
    def variance(self) -> float:
        """Variance of the number of positives."""
        return accurate_sum(self.yes * self.no)

    @cached_property
    def window(self) -> tuple[int, int]:
        """Range of the number of positives, up to a probability of TAIL (Bernstein and Chernoff)."""
        log = math.log(2.0 / TAIL)
        up = log / 3.0 + math.sqrt(log * log / 9.0 + 2.0 * self.variance * log)
        down = min(up, math.sqrt(2.0 * self.mean * log))
        certain = int(np.count_nonzero(self.no == 0.0))
        possible = len(self) - int(np.count_nonzero(self.yes == 0.0))
        low = max(certain, math.floor(self.mean - down))
        high = min(possible, math.ceil(self.mean + up))
        return low, high

    @cached_property
    def none_positive(self) -> float:
        """Probability that no row is positive."""
        rows = self.descending()
        if not len(rows):
            return 1.0
        if rows.no[0] == 0.0:
            return 0.0
        near = np.searchsorted(rows.no, 0.5)
        return math.exp(math.fsum([float(np.log(rows.no[:near]).sum()), float(np.log1p(-rows.yes[near:]).sum())]))

    @cached_property
    def all_positive(self) -> float:
        """Probability that every row is positive."""
        return self.mirrored().none_positive


# A computed curve of expected utilities with a bound on its error.

UNIT = 2.0**-53
# Rounding of a sum of positive terms weight * exp(x) * (sum of rows), relative to it, in units of 2^-53: up to 768 for
# the rows added or multiplied one by one within a block, 800 for an exponent |x| <= 40 that is right to twenty units in
# its last place (terms with a larger one are below 1e-9 of the sum), 100 for adding the nodes up, 100 for the rest.
ROUNDING = 2e-13


@dataclass(frozen=True, eq=False, repr=False)
class UtilityEstimate:
    """Expected utility U_0, ..., U_n of acting on the k most probable rows, and its error.

    The error of U_k is at most ``relative * scale_k + absolute``. Differences of neighbours are known far better than
    values: ``steps(first, last)`` returns U_{k+1} - U_k and its bound for first <= k < last, where first is at least
    ``steps_start`` and last at most ``steps_end``; sums of differences are off by ``floor`` on top.
    """

    values: Floats
    relative: float
    absolute: float
    method: str
    scale: Floats | float | None = None  # by default the values themselves
    proved: bool = True
    steps: Steps | None = None
    steps_start: int = 1
    steps_end: int | None = None  # n
    floor: float = 0.0

    def bound(self, rows: slice | NDArray[np.intp] = slice(None)) -> Floats:
        """Bound on the absolute error of some values."""
        scale = self.values if self.scale is None else self.scale
        if isinstance(scale, np.ndarray):
            return self.relative * np.abs(scale[rows]) + self.absolute
        return np.full(len(self.values[rows]), self.relative * scale + self.absolute)

    def largest_bound(self) -> float:
        """Bound on the absolute error of every value."""
        scale = self.values if self.scale is None else self.scale
        if isinstance(scale, np.ndarray):
            scale = max(float(scale.max()), -float(scale.min()))
        return self.relative * scale + self.absolute


# Distributions of the number of positives among the first k rows and among the others, for successive k.


class CountLaw(NamedTuple):
    """Probabilities of low, low + 1, ... positives, and the mass that was cut off."""

    low: int
    mass: Floats
    lost: float

    def counts(self) -> Floats:
        """The numbers of positives."""
        return self.low + np.arange(float(len(self.mass)))

    def with_row(self, yes: float, no: float, drop: float) -> CountLaw:
        """Add one independent row; outer probabilities up to ``drop`` are cut off."""
        mass = np.empty(len(self.mass) + 1)
        np.multiply(self.mass, no, out=mass[:-1])
        mass[-1] = 0.0
        mass[1:] += self.mass * yes
        return CountLaw(self.low, mass, self.lost).trimmed(drop)

    def trimmed(self, drop: float) -> CountLaw:
        """Cut off outer probabilities up to ``drop``."""
        mass = self.mass
        low, high, lost = 0, len(mass), self.lost
        while high - low > 1 and mass[low] <= drop:
            lost += float(mass[low])
            low += 1
        while high - low > 1 and mass[high - 1] <= drop:
            high -= 1
            lost += float(mass[high])
        return CountLaw(self.low + low, mass[low:high], lost)


CERTAIN_ZERO = CountLaw(0, np.ones(1), 0.0)


def first_laws(batch: Batch, last: int, drop: float) -> Iterator[CountLaw]:
    """Laws among the first 0, 1, ..., last rows."""
    law = CERTAIN_ZERO
    yield law
    for yes, no in zip(batch.yes[:last].tolist(), batch.no[:last].tolist(), strict=True):
        law = law.with_row(yes, no, drop)
        yield law


def other_laws(batch: Batch, first: int, drop: float) -> Iterator[CountLaw]:
    """Laws among the rows after the first ``first``, ``first + 1``, ..., n.

    They are built from the end, and kept at every sqrt(n)-th row only. Taking a row away again would divide by 1 - 2p.
    """
    n = len(batch)
    size = max(1, math.isqrt(n - first))
    starts = range(first, n, size)
    law, kept = CERTAIN_ZERO, {n: CERTAIN_ZERO}
    for k in range(n - 1, first - 1, -1):
        law = law.with_row(float(batch.yes[k]), float(batch.no[k]), drop)
        if (k - first) % size == 0:
            kept[k] = law
    for start in starts:
        stop = min(start + size, n)
        laws = [kept[stop]]
        for k in range(stop - 1, start, -1):
            laws.append(laws[-1].with_row(float(batch.yes[k]), float(batch.no[k]), drop))
        yield kept[start]
        yield from reversed(laws[1:])
    yield CERTAIN_ZERO


# Probabilities, checked and corrected, and the decisions that a threshold makes of them.


def clean_probabilities(y_prob: ArrayLike, correction: Correction | None = None, *, probability: bool = True) -> Floats:
    """Validate probabilities (or scores), no rows allowed, and correct them first if asked."""
    array = positive_scores(y_prob)
    if array.shape == (0,):
        return np.empty(0)
    prob = check_scores(array, probability=probability)
    if correction is None:
        return prob
    if not callable(correction):
        raise ValueError(f"correction must be a function of probabilities, got {correction!r}.")
    corrected = check_scores(to_array(correction(prob), "correction"), "what correction returns")
    if corrected.shape != prob.shape:
        raise ValueError(f"correction must keep the shape {prob.shape}, got {corrected.shape}.")
    return corrected


def decide(
    prob: Floats, threshold: float, tied: int, *, descending: bool, weight: Floats | None = None
) -> NDArray[np.int64]:
    """Act above the threshold, and on the first ``tied`` rows at it, of those with weights on the lightest."""
    decision = (prob > threshold if descending else prob < threshold).astype(np.int64)
    at = np.flatnonzero(prob == threshold)
    decision[(at if weight is None else at[np.argsort(weight[at], kind="stable")])[:tied]] = 1
    return decision


# F-beta, Jaccard, kappa by exponential sums.

# Sums of exponentials for 1/x, 1/sqrt(x) and 1/x^2, with a proved relative error on a stated range.
#
#     x^-a = integral over y in R of exp(a y - x e^y) dy / Gamma(a)
#
# The trapezoidal rule with step h has a relative error of at most 2 sum_m |Gamma(a + 2 pi i m / h)| / Gamma(a) for
# every x > 0 (Poisson summation). It is cut on the right where the incomplete gamma function says that nothing is
# left, and its infinitely many small nodes on the left are replaced by the Gauss rule of the measure that they carry,
# whose error term is known. All three errors are set equal to EPS.

EPS = 1e-14
# Relative error of the sum on its range: aliasing on both sides, truncation and the Gauss rule from below.
RELATIVE = 3.0 * EPS
_MAX_GAUSS = 24


class Nodes(NamedTuple):
    """x^-a is close to sum(weight * exp(-rate * x)); rates ascend, weights are positive."""

    rate: Floats
    weight: Floats


@dataclass(frozen=True, eq=False, repr=False)
class _Rule:
    """The components that do not depend on the range: step, Gauss rule of the small nodes, and cut-offs."""

    power: float
    step: float
    gauss_rate: Floats
    gauss_weight: Floats
    reach: float  # the Gauss rule serves x up to reach / (its largest node)
    cut: float  # nodes beyond cut / x do not matter
    difference: float  # relative error of S(x) - S(x + 1), in units of EPS


def nodes(low: float, high: float, power: float = 1.0) -> Nodes:
    """Exponential sum for x^-power on [low, high], 0 < low <= high; the power is 1/2, 1 or 2.

    With S the sum: -3 EPS <= x^a S(x) - 1 <= EPS on the range, and 0 < S(x) <= (1 + EPS) x^-a for every x > 0.
    """
    rule = _rule(power)
    largest_gauss = rule.reach / high
    count = math.ceil(math.log(rule.cut / low / largest_gauss) / rule.step)
    right = largest_gauss * np.exp(rule.step * np.arange(1, count + 1))
    rate = np.concatenate([largest_gauss * rule.gauss_rate, right])
    weight = np.concatenate([largest_gauss**power * rule.gauss_weight, rule.step * right**power])
    return Nodes(rate, weight / math.gamma(power))


def difference_error(power: float = 1.0) -> float:
    """Relative error of S(x) - S(x + 1) as an estimate of x^-a - (x + 1)^-a on the range."""
    return _rule(power).difference * EPS


@lru_cache
def _rule(power: float) -> _Rule:
    step = 1.0 / _bisect(lambda x: _aliasing(power, 1.0 / x) - EPS, 1.0, 10.0)
    cut = _bisect(lambda x: _upper_gamma(power, x) - EPS, 1.0, 100.0)
    # the measure of the nodes e^0, e^-h, e^-2h, ...
    atoms = np.exp(-step * np.arange(int(60.0 / (power * step))))
    diagonal, beta = _jacobi(atoms, step * atoms**power)
    log_reach = [_log_reach(beta, m, power) for m in range(3, _MAX_GAUSS + 1)]
    m = 3 + int(np.argmin([m - x / step for m, x in enumerate(log_reach, start=3)]))
    matrix = np.diag(diagonal[:m]) + np.diag(np.sqrt(beta[1:m]), 1) + np.diag(np.sqrt(beta[1:m]), -1)
    rate, vectors = np.linalg.eigh(matrix)
    reach = math.exp(log_reach[m - 3])
    difference = _difference_factor(power, step, cut, max(2 * m, reach))
    return _Rule(power, step, rate, beta[0] * vectors[0] ** 2, reach, cut, difference)


def _bisect(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falling(middle) > 0.0 else (low, middle)
    return high


def _aliasing(power: float, step: float) -> float:
    """Relative error of the trapezoidal rule: twice the sum of |Gamma(a + iy)| / Gamma(a) at multiples of 2 pi / h."""
    return 2.0 * sum(_gamma_ratio(power, 2.0 * math.pi * m / step) for m in (1, 2, 3))


def _gamma_ratio(power: float, y: float) -> float:
    """|Gamma(a + iy)| / Gamma(a) for large y, by the reflection formulas."""
    decay = math.exp(-0.5 * math.pi * y)
    if power == 0.5:
        return math.sqrt(2.0) * decay
    return math.sqrt(2.0 * math.pi * y) * decay * (math.hypot(1.0, y) if power == 2.0 else 1.0)


def _upper_gamma(power: float, x: float) -> float:
    """Gamma(a, x) / Gamma(a)."""
    if power == 0.5:
        return math.erfc(math.sqrt(x))
    return math.exp(-x) * (1.0 + x if power == 2.0 else 1.0)


def _difference_factor(power: float, step: float, cut: float, gauss: float) -> float:
    """The three errors again, for the derivative: each grows by what differentiating in x brings down."""
    aliasing = math.hypot(power, 2.0 * math.pi / step) / power
    truncation = 1.0 + cut**power * math.exp(-cut) / math.gamma(power + 1.0) / EPS
    return 1.01 * (aliasing + truncation + gauss / power)


def _log_reach(beta: Floats, m: int, power: float) -> float:
    """Logarithm of the largest x (times the largest node) that m Gauss points serve with relative error EPS."""
    scale = math.log(EPS * math.gamma(power)) + math.lgamma(2 * m + 1) - float(np.sum(np.log(beta[: m + 1])))
    return scale / (2 * m + power)


def _jacobi(atoms: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Recurrence coefficients of the orthogonal polynomials of a discrete measure (Lanczos, re-orthogonalised)."""
    size = _MAX_GAUSS + 1
    diagonal, beta = np.empty(size), np.empty(size)
    basis = np.zeros((size, len(atoms)))
    beta[0] = weights.sum()
    vector = np.sqrt(weights / beta[0])
    for j in range(size):
        basis[j] = vector
        image = atoms * vector
        diagonal[j] = image @ vector
        for _ in range(2):
            image -= (basis[: j + 1] @ image) @ basis[: j + 1]
        if j + 1 < size:
            beta[j + 1] = image @ image
            vector = image / math.sqrt(beta[j + 1])
    return diagonal, beta


# Tilted probabilities of every row at every node of an exponential sum, and their running sums.
#
# share_i(q) = p_i e^{-r_q} / (1 - p_i + p_i e^{-r_q}) is the probability that row i is positive when the law of the
# labels is tilted by e^{-r_q} per positive. Rows come in blocks, ordered by p. Within one, p = a + x with a its
# smallest p, and with D = 1 - a (1 - e^{-r})
#
#     share = e^{-r} (a / D + sum over m >= 1 of (1 - e^{-r})^{m-1} x^m / D^{m+1}),
#
# all of one sign: where x is small a few powers stand for all nodes; elsewhere a block holds one line per node.

MOST_ROWS = 512
_SERIES_UP_TO = 0.05
_SERIES_ERROR = 1e-17
_MOST_ORDERS = 14


class ShareBlock(NamedTuple):
    """Rows start..stop: shares and their sums since ``start``, as powers of p or node by node."""

    start: int
    stop: int
    share: Floats  # one line per power x^0, x^1, ... or node, one column per row
    prefix: Floats  # running sum of share along the rows, this row included
    base: Floats  # sum of the shares of all rows before the block, node by node
    series: Floats | None  # factor of each power (line) at each node (column)

    def before(self) -> Floats:
        """Running sum without the row itself."""
        return self.prefix - self.share

    def mean(self, lines: Floats, weight: Floats) -> Floats:
        """Sum over the nodes of weight * lines, row by row."""
        return (weight if self.series is None else self.series @ weight) @ lines

    def decayed(self, lines: Floats, decay: Floats, weight: Floats) -> Floats:
        """Sum over the nodes of weight * decay * lines, where decay has a column per row too."""
        if self.series is None:
            return weight @ (lines * decay)
        return np.einsum("mj,mj->j", (self.series * weight) @ decay, lines)

    def product(self, first: Floats, second: Floats, weight: Floats) -> Floats:
        """Sum over the nodes of weight * first * second, row by row."""
        if self.series is None:
            return weight @ (first * second)
        return np.einsum("mj,mj->j", ((self.series * weight) @ self.series.T) @ first, second)


class Shares:
    """Shares of all rows of a batch at the rates r_q >= 0, ascending; the rows in descending or ascending order."""

    def __init__(self, batch: Batch, rate: Floats) -> None:
        self.rows = MOST_ROWS
        self._batch = batch
        self._kept, self._loss = np.exp(-rate), -np.expm1(-rate)
        self._buffers = np.empty((2, self.rows * max(len(rate), _MOST_ORDERS + 1)))
        self._bases: list[Floats] = []

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[ShareBlock]:
        """Yield the blocks of the rows first..last; the first call must cover all rows.

        The lines of a block are overwritten by the next one.
        """
        begin = first // self.rows
        carry = Carry(len(self._kept))
        if begin:
            carry.add(self._bases[begin])
        stop = len(self._batch) if last is None else last
        for j, (start, end) in enumerate(spans(begin * self.rows, stop, self.rows), start=begin):
            if j == len(self._bases):
                self._bases.append(carry.value())
            block = self._block(start, end, carry.value())
            np.cumsum(block.share, axis=1, out=block.prefix)
            yield block
            ends = block.prefix[:, -1]
            carry.add(ends if block.series is None else ends @ block.series)

    def means(self, weight: Floats) -> Floats:
        """Sum over the nodes of weight * share, for every row."""
        out = np.empty(len(self._batch))
        for start, stop in spans(0, len(out), self.rows):
            block = self._block(start, stop, weight)
            out[start:stop] = block.mean(block.share, weight)
        return out

    def total(self) -> Floats:
        """Sum of the shares of all rows, node by node."""
        total = Carry(len(self._kept))
        for start, stop in spans(0, len(self._batch), self.rows):
            block = self._block(start, stop, self._kept)
            sums = block.share.sum(axis=1)
            total.add(sums if block.series is None else sums @ block.series)
        return total.value()

    def _block(self, start: int, stop: int, base: Floats) -> ShareBlock:
        yes, no = self._batch.yes[start:stop], self._batch.no[start:stop]
        rarest = 0 if yes[0] < yes[-1] else -1
        excess = yes - yes[rarest] if yes[rarest] < 0.5 else no[rarest] - no
        below = no[rarest] + self._kept * yes[rarest]
        ratio = self._loss / below
        orders = series_orders(float(excess[-1 - rarest]) * float(ratio.max()))
        if orders:
            share, prefix = self._lines(orders + 1, stop - start)
            share[0] = 1.0
            powers(excess, orders, out=share[1:])
            later = self._kept / below**2 * ratio ** np.arange(float(orders))[:, None]
            series: Floats | None = np.concatenate([[self._kept * yes[rarest] / below], later])
        else:
            share, prefix = self._lines(len(self._kept), stop - start)
            np.multiply.outer(self._kept, yes, out=share)
            np.add(share, no, out=prefix)
            np.divide(share, prefix, out=share)
            series = None
        return ShareBlock(start, stop, share, prefix, base, series)

    def _lines(self, count: int, columns: int) -> tuple[Floats, Floats]:
        share, prefix = (buffer[: count * columns].reshape(count, columns) for buffer in self._buffers)
        return share, prefix


def log_expectations(batch: Batch, rate: Floats) -> Floats:
    """Logarithm of E[exp(-rate P)] for each rate."""
    logs = log_products(batch.yes, batch.no, rate, BLOCK_ENTRIES)
    return np.array([math.fsum(column) for column in logs.T])  # correctly rounded


def series_orders(largest: float) -> int:
    """Number of powers for a relative error below 1e-17, or 0 if the series does not pay."""
    if largest > _SERIES_UP_TO:
        return 0
    return 1 if largest <= _SERIES_ERROR else math.ceil(math.log(_SERIES_ERROR) / math.log(largest))


def powers(values: Floats, orders: int, out: Floats | None = None) -> Floats:
    """First powers of the values, one line per power."""
    lines = np.empty((orders, len(values))) if out is None else out
    lines[0] = values
    for order in range(1, orders):
        np.multiply(lines[order - 1], values, out=lines[order])
    return lines


# Expected F-beta: the denominator D = k + b P, with b = beta squared, is a count that the labels enter alike.
#
# With 1/D = sum_q w_q exp(-s_q D), and independent labels:
#
#     E[TP_k / D] = sum_q w_q G_q exp(-s_q k) T_k(q),
#     G_q = prod_j (1 - p_j + p_j e^{-s_q b}),   T_k(q) = sum over i <= k of share_i(q).
#
# One pass over the rows gives the whole curve. Every term is positive, so relative errors pass through.


def expected_fbeta(batch: Batch, square: float, zero_division: float) -> UtilityEstimate:
    """Curve of E[(1 + b) TP / (b P + k)] for b = ``square``."""
    sums = _CountSums(batch, square)
    values = np.empty(len(batch) + 1)
    values[0] = zero_division * batch.none_positive
    for block, decay, weight in sums.blocks():
        hits = block.decayed(block.prefix, decay, weight) + (weight * block.base) @ decay
        values[block.start + 1 : block.stop + 1] = (1.0 + square) * hits
    # outside the window of P the metric is at most 1, and so is the estimate; a step is at most 3 (1 + b) / k there
    floor = 60.0 * (1.0 + square) * TAIL
    return UtilityEstimate(values, RELATIVE + ROUNDING, 2.0 * TAIL, "exponentials", steps=sums.steps, floor=floor)


class _CountSums:
    """The sums above, block by block."""

    def __init__(self, batch: Batch, square: float) -> None:
        least, most = batch.window
        self._square = square
        self._rate, self._weight = nodes(1.0 + square * least, len(batch) + square * most)
        self._log_product = log_expectations(batch, square * self._rate)
        self._shares = Shares(batch, square * self._rate)
        self._decay = np.exp(-np.multiply.outer(self._rate, np.arange(1.0, self._shares.rows + 1.0)))

    def blocks(self, first: int = 0, last: int | None = None) -> Iterator[tuple[ShareBlock, Floats, Floats]]:
        """Yield shares, exp(-s j) for the rows j = 1, 2, ... of the block, and the weight of each node before it."""
        for block in self._shares.blocks(first, last):
            weight = self._weight * np.exp(self._log_product - self._rate * block.start)
            yield block, self._decay[:, : block.stop - block.start], weight

    def steps(self, first: int, last: int) -> tuple[Floats, Floats]:
        """U_{k+1} - U_k for 1 <= first <= k < last: what row k + 1 adds, less what the larger denominator takes."""
        gain, loss = [], []
        growth = np.expm1(self._rate)
        for block, decay, weight in self.blocks(first, last):
            part = slice(max(first - block.start, 0), None)
            gain.append(block.decayed(block.share, decay, weight)[part])
            grown = weight * growth
            loss.append((block.decayed(block.before(), decay, grown) + (grown * block.base) @ decay)[part])
        gained, lost = ((1.0 + self._square) * np.concatenate(parts) for parts in (gain, loss))
        error = (RELATIVE + ROUNDING) * gained + (difference_error() + ROUNDING) * lost
        return gained - lost, error


# Expected Jaccard coefficient: TP / (k + FN), where the denominator knows nothing of the first k labels.
#
# With 1/D = sum_q w_q exp(-s_q D) and H_k(q) = w_q e^{-s_q k} prod over j > k of (1 - p_j + p_j e^{-s_q}),
#
#     U_k = (sum over i <= k of p_i) V_k,   V_k = E[1 / (k + FN_k)] = sum_q H_k(q).

_MOST_ROWS = 256


class _RestSums:
    """H_k(q) in blocks of rows."""

    def __init__(self, batch: Batch) -> None:
        n, (least, _) = len(batch), batch.window
        self._batch = batch
        self.rate, weight = nodes(max(1.0, least), float(n))
        self._kept, self._loss = np.exp(-self.rate), -np.expm1(-self.rate)
        self.rows = min(_MOST_ROWS, block_rows(len(self.rate)))
        self._log_weight = np.log(weight)
        self._log_rest = suffix_sums(log_products(batch.yes, batch.no, self.rate, self.rows))
        self._log_decay = np.multiply.outer(-self.rate, np.arange(1.0, self.rows + 1.0))

    def blocks(self, first: int, last: int) -> Iterator[tuple[int, int, Floats]]:
        """Yield the ends of each block that holds rows first..last and H, one line per node, k = start + 1..stop."""
        for start, stop in spans(first // self.rows * self.rows, last, self.rows):
            log_start = self._log_weight + self._log_rest[start // self.rows] - self.rate * start
            yield start, stop, np.exp(log_start)[:, None] * self._ratios(start, stop)

    def _ratios(self, start: int, stop: int) -> Floats:
        """H_k / H_start: each row takes e^{-s} and gives back its factor of the product."""
        yes = self._batch.yes[start:stop]
        orders = series_orders(float(yes[0]) * float(self._loss[-1]))
        if orders:
            order = np.arange(1.0, orders + 1.0)
            logs = (self._loss[:, None] ** order / order) @ np.cumsum(powers(yes, orders), axis=1)
            return np.asarray(np.exp(logs + self._log_decay[:, : stop - start]), dtype=np.float64)
        factor: Floats = self._batch.no[start:stop] + np.multiply.outer(self._kept, yes)
        return np.asarray(np.cumprod(self._kept[:, None] / factor, axis=1), dtype=np.float64)


def expected_jaccard(batch: Batch, zero_division: float) -> UtilityEstimate:
    """Curve of E[TP / (TP + FP + FN)]."""
    n = len(batch)
    sums = _RestSums(batch)
    hits = accurate_cumsum(batch.yes)
    values = np.empty(n + 1)
    values[0] = zero_division * batch.none_positive
    for start, stop, terms in sums.blocks(0, n):
        values[start + 1 : stop + 1] = terms.sum(axis=0)
    values[1:] *= hits
    steps = partial(_jaccard_steps, sums, batch, hits)
    return UtilityEstimate(values, RELATIVE + ROUNDING, 2.0 * TAIL, "exponentials", steps=steps, floor=120.0 * TAIL)


def _jaccard_steps(sums: _RestSums, batch: Batch, hits: Floats, first: int, last: int) -> tuple[Floats, Floats]:
    """U_{k+1} - U_k = p V_{k+1} - S_k (V_k - V_{k+1}) for 1 <= first <= k < last, with p that of row k + 1."""
    value, drop = np.empty(last - first), np.empty(last - first)
    growth = np.expm1(sums.rate)
    for start, stop, terms in sums.blocks(first, last):
        skip = max(first - start, 0)
        rows = slice(start + skip - first, stop - first)
        value[rows] = terms.sum(axis=0)[skip:]
        drop[rows] = (growth @ terms)[skip:]
    gained = batch.yes[first:last] * value
    lost = hits[first - 1 : last - 1] * batch.no[first:last] * drop
    return gained - lost, (RELATIVE + ROUNDING) * gained + (difference_error() + ROUNDING) * lost


# Expected kappa: kappa = 2 (n TP - k P) / ((n - 2k) P + n k).
#
# For 2k < n the denominator is (n - 2k) (P + c) with c = n k / (n - 2k): one exponential sum for 1/(P + c) serves
# every k. For 2k > n the same holds with the classes swapped, which kappa does not notice.
#
# With E_k(q) = w_q e^{-s_q c_k}, T_k and R_k the sums of the shares over the first k rows and over the others, and m
# = n - 2k:
#
#     U_k = sum_q E_k (a_k T_k - b_k R_k),   a_k = 2 (n - k) / m,   b_k = 2 k / m.
#
# Both a and b rise by 2n / (m (m - 2)) from k to k + 1, and c by n^2 / (m (m - 2)).

_ERROR = RELATIVE + ROUNDING
# Outside the window of P a step and its estimate are at most 10 / k + 10 / (n - 2k) each: in all less than 40 log(n).
_FLOOR = 2000.0 * TAIL


def expected_kappa(batch: Batch) -> UtilityEstimate:
    """Curve of the expected kappa, which counts zero where it is undefined."""
    n = len(batch)
    values, scale = np.zeros((2, n + 1))
    half = (n - 1) // 2
    if n >= 2 and n % 2 == 0:
        k = n // 2
        hits, rest = accurate_sum(batch.yes[:k]), accurate_sum(batch.yes[k:])
        values[k], scale[k] = (hits - rest) / k, (hits + rest) / k
    if half < 1:
        return UtilityEstimate(values, _ERROR, 4.0 * TAIL, "exponentials", scale=float(scale.max()))
    left, right = _FirstHalf(batch, half), _FirstHalf(batch.mirrored(), half)
    values[1 : half + 1], scale[1 : half + 1] = left.values()
    values[n - half : n], scale[n - half : n] = (x[::-1] for x in right.values())

    def right_steps(first: int, last: int) -> tuple[Floats, Floats]:
        rise, error = right.steps(n - last, n - first)
        return -rise[::-1], error[::-1]

    # differences are known on both sides of the middle; those on the side of the best k decide
    on_left = bool(np.argmax(values) <= half)
    steps, start, end = (left.steps, 1, half) if on_left else (right_steps, n - half, n - 1)
    sides = UtilityEstimate(values, _ERROR, 4.0 * TAIL, "exponentials", scale=float(scale.max()), floor=_FLOOR)
    return replace(sides, steps=steps, steps_start=start, steps_end=end)


class _FirstHalf:
    """The sums above for k = 1..last < n / 2."""

    def __init__(self, batch: Batch, last: int) -> None:
        self._n, self._last = len(batch), last
        least, most = batch.window
        k = np.array([1.0, last])
        low, high = self._shift(k).tolist()
        self._rate, weight = nodes(least + low, most + high)
        self._weight = weight * np.exp(log_expectations(batch, self._rate))
        self._shares = Shares(batch, self._rate)
        self._all = self._weight * self._shares.total()

    def _shift(self, k: Floats) -> Floats:
        return self._n * k / (self._n - 2.0 * k)

    def values(self) -> tuple[Floats, Floats]:
        """Values for k = 1..last, and the sum of what was subtracted from each other."""
        k = np.arange(1.0, self._last + 1.0)
        hits, positives = np.empty(self._last), np.empty(self._last)
        for block in self._shares.blocks(0, self._last):
            rows = slice(block.start, block.stop)
            decay = np.exp(-np.multiply.outer(self._rate, self._shift(k[rows])))
            hits[rows] = self._sum(block, block.prefix, decay)
            positives[rows] = self._all @ decay
        gain, loss = self._n * hits, k * positives
        factor = 2.0 / (self._n - 2.0 * k)
        return factor * (gain - loss), factor * (gain + loss)

    def steps(self, first: int, last: int) -> tuple[Floats, Floats]:
        """U_{k+1} - U_k for 1 <= first <= k < last, and the bound on its error."""
        parts = list(self._steps(first, last))
        rise, error = (np.concatenate(lines) for lines in zip(*parts, strict=True))
        return rise[first - last :], error[first - last :]

    def _steps(self, first: int, last: int) -> Iterator[tuple[Floats, Floats]]:
        n = self._n
        for block in self._shares.blocks(first, last):
            k = np.arange(float(block.start), float(block.stop))
            m = n - 2.0 * k
            further = n * n / (m * (m - 2.0))
            old, new = (np.exp(-np.multiply.outer(self._rate, self._shift(x))) for x in (k, k + 1.0))
            fall = -old * np.expm1(-np.multiply.outer(self._rate, further))
            row = block.decayed(block.share, new, self._weight) * 2.0 * n / (m - 2.0)
            hits, falling = (self._sum(block, block.before(), decay) for decay in (new, fall))
            everyone, all_falling = self._all @ new, self._all @ fall
            steeper = 2.0 * further / n
            gain, loss = steeper * hits, steeper * (everyone - hits)
            fewer, more = 2.0 * (n - k) / m * falling, 2.0 * k / m * (all_falling - falling)
            error = _ERROR * (row + gain + steeper * everyone)
            error += (difference_error() + ROUNDING) * (fewer + 2.0 * k / m * all_falling)
            yield row + gain - loss - fewer + more, error

    def _sum(self, block: ShareBlock, lines: Floats, decay: Floats) -> Floats:
        """Sum over the nodes of weight * decay * (base + lines)."""
        return block.decayed(lines, decay, self._weight) + (self._weight * block.base) @ decay

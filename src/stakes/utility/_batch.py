"""Batches of probabilities, distributions of counts, and accurate sums."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.arrays import Floats
from stakes.base.validation import check_scores, pick_positive_column, to_array

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


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
    array = pick_positive_column(y_prob, np.empty(0), None)
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


def decide(prob: Floats, threshold: float, tied: int, *, descending: bool) -> NDArray[np.int64]:
    """Act above the threshold, and on the first ``tied`` rows at it."""
    decision = (prob > threshold if descending else prob < threshold).astype(np.int64)
    decision[np.flatnonzero(prob == threshold)[:tied]] = 1
    return decision

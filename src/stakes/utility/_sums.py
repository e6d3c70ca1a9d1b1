"""Sums and products over millions of rows that keep their last digits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Entries of a block of work: it stays in the cache, and is too small for BLAS to wake its threads.
BLOCK_ENTRIES = 8192
_SERIES_AT_MOST = 0.1


def block_rows(columns: int) -> int:
    """Rows of a block of work with that many columns."""
    return max(32, BLOCK_ENTRIES // max(columns, 1))


def spans(first: int, last: int, size: int) -> Iterator[tuple[int, int]]:
    """Ends of the pieces of a range."""
    for start in range(first, last, size):
        yield start, min(start + size, last)


class Carry:
    """A running vector sum that keeps what rounding drops (two-sum)."""

    def __init__(self, size: int) -> None:
        self._sum = np.zeros(size)
        self._rest = np.zeros(size)

    def add(self, values: Floats) -> None:
        """Add a vector; a shorter one adds to the first entries only."""
        part = slice(len(values))
        old = self._sum[part]
        new = old + values
        shift = new - old
        self._rest[part] += (old - (new - shift)) + (values - shift)
        self._sum[part] = new

    def value(self, size: int | None = None) -> Floats:
        """Return the sum, or its first entries."""
        return self._sum[:size] + self._rest[:size]


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


def column_sums(blocks: Floats) -> Floats:
    """Correctly rounded sum of each column."""
    return np.array([math.fsum(column) for column in blocks.T])


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

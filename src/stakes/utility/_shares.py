"""Tilted probabilities of every row at every node of an exponential sum, and their running sums.

share_i(q) = p_i e^{-r_q} / (1 - p_i + p_i e^{-r_q}) is the probability that row i is positive when the law of the
labels is tilted by e^{-r_q} per positive. Rows come in blocks, ordered by p. Within one, p = a + x with a its smallest
p, and with D = 1 - a (1 - e^{-r})

    share = e^{-r} (a / D + sum over m >= 1 of (1 - e^{-r})^{m-1} x^m / D^{m+1}),

all of one sign: where x is small a few powers stand for all nodes; elsewhere a block holds one line per node.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.utility._sums import BLOCK_ENTRIES, Carry, column_sums, log_products, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]

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
        """Yield the blocks that hold the rows first..last; the first call must go through all of them.

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
    return column_sums(log_products(batch.yes, batch.no, rate, BLOCK_ENTRIES))


def series_orders(largest: float) -> int:
    """How many powers carry a relative error below 1e-17, or 0 where the series is not worth it."""
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

"""Expected F-beta: the denominator D = k + b P, with b = beta squared, is a count that the labels enter alike.

With 1/D = sum_q w_q exp(-s_q D), and independent labels:

    E[TP_k / D] = sum_q w_q G_q exp(-s_q k) T_k(q),
    G_q = prod_j (1 - p_j + p_j e^{-s_q b}),   T_k(q) = sum over i <= k of share_i(q).

One pass over the rows gives the whole curve. Every term is positive, so relative errors pass through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, Estimate
from stakes.utility._exponential_nodes import RELATIVE, difference_error, nodes
from stakes.utility._shares import Shares, log_expectations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._shares import ShareBlock

    Floats = NDArray[np.float64]


def expected_fbeta(batch: Batch, square: float, zero_division: float) -> Estimate:
    """Curve of E[(1 + b) TP / (b P + k)] for b = ``square``."""
    sums = _CountSums(batch, square)
    values = np.empty(len(batch) + 1)
    values[0] = zero_division * batch.none_positive
    for block, decay, weight in sums.blocks():
        hits = block.decayed(block.prefix, decay, weight) + (weight * block.base) @ decay
        values[block.start + 1 : block.stop + 1] = (1.0 + square) * hits
    # outside the window of P the metric is at most 1, and so is the estimate; a step is at most 3 (1 + b) / k there
    floor = 60.0 * (1.0 + square) * TAIL
    return Estimate(values, RELATIVE + ROUNDING, 2.0 * TAIL, "exponentials", steps=sums.steps, floor=floor)


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

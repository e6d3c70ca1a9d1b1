"""Expected Jaccard coefficient: TP / (k + FN), where the denominator knows nothing of the first k labels.

With 1/D = sum_q w_q exp(-s_q D) and H_k(q) = w_q e^{-s_q k} prod over j > k of (1 - p_j + p_j e^{-s_q}),

    U_k = (sum over i <= k of p_i) V_k,   V_k = E[1 / (k + FN_k)] = sum_q H_k(q).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, Estimate
from stakes.utility._exponential_nodes import RELATIVE, difference_error, nodes
from stakes.utility._shares import powers, series_orders
from stakes.utility._sums import accurate_cumsum, block_rows, log_products, spans, suffix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]

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


def expected_jaccard(batch: Batch, zero_division: float) -> Estimate:
    """Curve of E[TP / (TP + FP + FN)]."""
    n = len(batch)
    sums = _RestSums(batch)
    hits = accurate_cumsum(batch.yes)
    values = np.empty(n + 1)
    values[0] = zero_division * batch.none_positive
    for start, stop, terms in sums.blocks(0, n):
        values[start + 1 : stop + 1] = terms.sum(axis=0)
    values[1:] *= hits

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        return _jaccard_steps(sums, batch, hits, first, last)

    return Estimate(values, RELATIVE + ROUNDING, 2.0 * TAIL, "exponentials", steps=steps, floor=120.0 * TAIL)


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

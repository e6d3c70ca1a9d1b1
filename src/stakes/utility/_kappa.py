"""Expected kappa: kappa = 2 (n TP - k P) / ((n - 2k) P + n k).

For 2k < n the denominator is (n - 2k) (P + c) with c = n k / (n - 2k): one exponential sum for 1/(P + c) serves every
k. For 2k > n the same holds with the classes swapped, which kappa does not notice.

With E_k(q) = w_q e^{-s_q c_k}, T_k and R_k the sums of the shares over the first k rows and over the others, and
m = n - 2k:

    U_k = sum_q E_k (a_k T_k - b_k R_k),   a_k = 2 (n - k) / m,   b_k = 2 k / m.

Both a and b rise by 2n / (m (m - 2)) from k to k + 1, and c by n^2 / (m (m - 2)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, Estimate
from stakes.utility._exponential_nodes import RELATIVE, difference_error, nodes
from stakes.utility._shares import Shares, log_expectations
from stakes.utility._sums import accurate_sum

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._shares import ShareBlock

    Floats = NDArray[np.float64]

_ERROR = RELATIVE + ROUNDING
# Outside the window of P a step and its estimate are at most 10 / k + 10 / (n - 2k) each: in all less than 40 log(n).
_FLOOR = 2000.0 * TAIL


def expected_kappa(batch: Batch) -> Estimate:
    """Curve of the expected kappa, which counts zero where it is undefined."""
    n = len(batch)
    values, scale = np.zeros((2, n + 1))
    half = (n - 1) // 2
    if n >= 2 and n % 2 == 0:
        k = n // 2
        hits, rest = accurate_sum(batch.yes[:k]), accurate_sum(batch.yes[k:])
        values[k], scale[k] = (hits - rest) / k, (hits + rest) / k
    if half < 1:
        return Estimate(values, _ERROR, 4.0 * TAIL, "exponentials", scale=float(scale.max()))
    left, right = _FirstHalf(batch, half), _FirstHalf(batch.mirrored(), half)
    values[1 : half + 1], scale[1 : half + 1] = left.values()
    values[n - half : n], scale[n - half : n] = (x[::-1] for x in right.values())

    def right_steps(first: int, last: int) -> tuple[Floats, Floats]:
        rise, error = right.steps(n - last, n - first)
        return -rise[::-1], error[::-1]

    # differences are known on both sides of the middle; those on the side of the best k decide
    on_left = bool(np.argmax(values) <= half)
    return Estimate(
        values,
        _ERROR,
        4.0 * TAIL,
        "exponentials",
        scale=float(scale.max()),
        steps=left.steps if on_left else right_steps,
        steps_start=1 if on_left else n - half,
        steps_end=half if on_left else n - 1,
        floor=_FLOOR,
    )


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

"""Expected kappa: kappa = 2 (n TP - k P) / ((n - 2k) P + n k).

For 2k < n the denominator is (n - 2k) (P + c) with c = n k / (n - 2k): one exponential sum for 1/(P + c) serves every
k. For 2k > n the same holds with the classes swapped, which kappa does not notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, Estimate
from stakes.utility._nodes import RELATIVE, nodes
from stakes.utility._shares import Shares, log_expectations
from stakes.utility._sums import accurate_cumsum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]


def expected_kappa(batch: Batch) -> Estimate:
    """Curve of the expected kappa, which counts zero where it is undefined."""
    n = len(batch)
    values, scale = np.zeros((2, n + 1))
    half = (n - 1) // 2
    if half >= 1:
        values[1 : half + 1], scale[1 : half + 1] = _first_half(batch, half)
        right, right_scale = _first_half(batch.mirrored(), half)
        values[n - half : n], scale[n - half : n] = right[::-1], right_scale[::-1]
    if n >= 2 and n % 2 == 0:
        k = n // 2
        hits, rest = (float(accurate_cumsum(part)[-1]) for part in (batch.yes[:k], batch.yes[k:]))
        values[k], scale[k] = (hits - rest) / k, (hits + rest) / k
    return Estimate(values, RELATIVE + ROUNDING, 4.0 * TAIL, "exponentials", scale=float(scale.max()))


def _first_half(batch: Batch, last: int) -> tuple[Floats, Floats]:
    """Values for k = 1..last < n / 2, and the sum of what was subtracted from each other."""
    n, (least, most) = len(batch), batch.window
    k = np.arange(1.0, last + 1.0)
    shift = n * k / (n - 2.0 * k)
    rate, weight = nodes(least + float(shift[0]), most + float(shift[-1]))
    weight *= np.exp(log_expectations(batch, rate))
    shares = Shares(batch, rate)
    all_rows = weight * shares.total()
    hits, positives = np.empty(last), np.empty(last)
    for block in shares.blocks(0, last):
        rows = slice(block.start, block.stop)
        decay = np.exp(-np.multiply.outer(rate, shift[rows]))
        hits[rows] = block.decayed(block.prefix, decay, weight) + (weight * block.base) @ decay
        positives[rows] = all_rows @ decay
    gain, loss = n * hits, k * positives
    factor = 2.0 / (n - 2.0 * k)
    return factor * (gain - loss), factor * (gain + loss)

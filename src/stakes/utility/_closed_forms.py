"""Expected precision, accuracy and squared error in counting: sums of probabilities, nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._estimate import UNIT, Estimate
from stakes.utility._sums import accurate_cumsum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]

_ROUNDING = 16.0 * UNIT


def expected_precision(batch: Batch, zero_division: float) -> Estimate:
    """Curve of E[TP / k]: the mean of the k largest probabilities."""
    k = np.arange(1.0, len(batch) + 1.0)
    hits = accurate_cumsum(batch.yes)

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gain = batch.yes[first:last] / k[first:last]
        loss = hits[first - 1 : last - 1] / (k[first - 1 : last - 1] * k[first:last])
        return gain - loss, _ROUNDING * (gain + loss)

    return Estimate(np.concatenate([[zero_division], hits / k]), _ROUNDING, 0.0, "closed_form", steps=steps)


def expected_accuracy(batch: Batch) -> Estimate:
    """Curve of E[(TP + TN) / n]."""
    n = max(len(batch), 1)
    values = np.zeros(len(batch) + 1)
    values[1:] = accurate_cumsum(batch.yes)
    values[:-1] += accurate_cumsum(batch.no[::-1])[::-1]
    values /= n

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        yes, no = batch.yes[first:last], batch.no[first:last]
        return (yes - no) / n, _ROUNDING * (yes + no) / n

    return Estimate(values, _ROUNDING, 0.0, "closed_form", steps=steps, steps_start=0)


def expected_squared_counting_error(batch: Batch) -> Estimate:
    """Curve of E[((FN - FP) / n)^2] = (variance + (mean - k)^2) / n^2."""
    n = max(len(batch), 1)
    k = np.arange(len(batch) + 1.0)
    values = (batch.variance + (batch.mean - k) ** 2) / n**2

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gap = 2.0 * (k[first:last] - batch.mean) + 1.0
        return gap / n**2, _ROUNDING * (2.0 * k[first:last] + 2.0 * batch.mean + 1.0) / n**2

    scale = float(batch.variance + (batch.mean + n) ** 2) / n**2
    return Estimate(values, _ROUNDING, 0.0, "closed_form", scale=scale, steps=steps, steps_start=0)

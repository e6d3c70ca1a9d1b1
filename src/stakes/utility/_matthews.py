"""Expected Matthews correlation: MCC = (TP N - FP P) / sqrt(k (n - k) P N) is linear in labels times 1 / sqrt(P N).

With rho_i = E[y_i / sqrt(P N)]:  U_k = sqrt((n - k) / k) sum_{i <= k} rho_i - sqrt(k / (n - k)) sum_{i > k} rho_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._estimate import UNIT, Estimate
from stakes.utility._fourier import Spectrum
from stakes.utility._sums import accurate_cumsum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._fourier import RowMeans

    Floats = NDArray[np.float64]

_ROUNDING = 40.0 * UNIT


def expected_matthews(batch: Batch) -> Estimate:
    """Curve of the expected Matthews correlation, which counts zero where it is undefined."""
    n = len(batch)
    values = np.zeros(n + 1)
    if n < 2:
        return Estimate(values, 0.0, 0.0, "fourier")
    if 2.0 * batch.mean > n:
        # swapping the classes changes nothing, and the error is relative to the rarer one
        return _turned_round(expected_matthews(batch.mirrored()), n)

    def phi(positives: Floats) -> Floats:
        product = positives * (n - positives)
        return np.where(product > 0.0, 1.0 / np.sqrt(np.maximum(product, 1.0)), 0.0)

    sums = _Sums(batch, Spectrum.of(batch).row_means(batch, phi))
    k = np.arange(1.0, n)
    up = np.sqrt((n - k) / k)
    values[1:n] = up * sums.hits[:-1] - sums.rest[1:] / up
    absolute = 2.0 * math.sqrt(n) * math.sqrt(n) * sums.means.wrapped
    absolute += sums.means.per_probability * float(np.max(up * sums.likely[:-1] + sums.unlikely[1:] / up))
    absolute += _ROUNDING * float(np.max(up * sums.hits[:-1] + sums.rest[1:] / up))
    floor = 4.0 * n * sums.means.wrapped
    return Estimate(values, 0.0, absolute, "fourier", steps=sums.steps, steps_end=n - 1, floor=floor)


def _turned_round(estimate: Estimate, n: int) -> Estimate:
    """The same curve for k counted from the other end."""
    given = estimate.steps

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        rise, error = given(n - last, n - first) if given is not None else (np.empty(0), np.empty(0))
        return -rise[::-1], error[::-1]

    return replace(estimate, values=estimate.values[::-1].copy(), steps=steps)


@dataclass(frozen=True, eq=False)
class _Sums:
    batch: Batch
    means: RowMeans

    @cached_property
    def hits(self) -> Floats:
        """Sum of rho over the first k rows, k = 1..n."""
        return accurate_cumsum(self.means.values)

    @cached_property
    def rest(self) -> Floats:
        """Sum of rho over the rows after the first k, k = 0..n - 1."""
        return accurate_cumsum(self.means.values[::-1])[::-1]

    @cached_property
    def likely(self) -> Floats:
        """As ``hits``, of the probabilities."""
        return accurate_cumsum(self.batch.yes)

    @cached_property
    def unlikely(self) -> Floats:
        """As ``rest``, of the probabilities."""
        return accurate_cumsum(self.batch.yes[::-1])[::-1]

    def steps(self, first: int, last: int) -> tuple[Floats, Floats]:
        """U_{k+1} - U_k for 1 <= first <= k < last <= n - 1, in parts of one sign each."""
        n, k = len(self.batch), np.arange(float(first), float(last))
        old, new = np.sqrt((n - k) / k), np.sqrt((n - k - 1.0) / (k + 1.0))
        fall = n / (k * (k + 1.0)) / (old + new)
        rise = fall / (old * new)
        row, before, after = slice(first, last), slice(first - 1, last - 1), slice(first + 1, last + 1)
        gain = (new + 1.0 / old) * self.means.values[row]
        loss = fall * self.hits[before] + rise * self.rest[after]
        reach = (new + 1.0 / old) * self.batch.yes[row] + fall * self.likely[before] + rise * self.unlikely[after]
        return gain - loss, self.means.per_probability * reach + _ROUNDING * (gain + loss)

"""The law of the number of positives at a few Fourier frequencies: E[y_i phi(P)] for any phi, and the law itself.

On a window of counts around the mean, phi is a sum of waves e^{i theta p}; E[e^{i theta P}] falls like
exp(-variance (1 - cos theta)), so a few dozen low frequencies are enough whatever the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import UNIT
from stakes.utility._sums import Carry, accurate_sum, block_rows, spans

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]
    Complexes = NDArray[np.complex128]
    CountFunction = Callable[[Floats], Floats]

_SERIES_UP_TO = 0.1
_SERIES_ERROR = 1e-20
_NEGLIGIBLE = -math.log(TAIL)


class RowMeans(NamedTuple):
    """E[y_i phi(P)] for every row.

    Row i is off by at most ``per_probability`` times p_i, and a sum over any rows by ``wrapped`` per row on top.
    """

    values: Floats
    per_probability: float
    wrapped: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """E[exp(i theta (P - low))] at the frequencies 2 pi l / size, l = 0, 1, ..., that matter.

    ``error`` bounds the relative rounding error of each; ``dropped`` the sum of those left out.
    """

    low: int
    size: int
    theta: Floats
    expectation: Complexes
    error: Floats
    dropped: float

    @classmethod
    def of(cls, batch: Batch) -> Spectrum:
        """Evaluate the expectations of a batch."""
        batch = batch.descending()
        low, high = batch.window
        size = high - low + 1
        size += 1 - size % 2  # odd: no frequency hits pi
        theta = 2.0 * math.pi * np.arange(size // 2 + 1) / size
        # without one row the variance is less by at most 1/4
        exponent = 2.0 * max(batch.variance - 0.25, 0.0) * np.sin(0.5 * theta) ** 2
        kept = exponent <= _NEGLIGIBLE
        log, error = _log_characteristic(batch, theta[kept], low)
        return cls(low, size, theta[kept], np.exp(log), error, float(np.exp(-exponent[~kept]).sum()))

    @cached_property
    def counts(self) -> Floats:
        """The numbers of positives of the window."""
        return self.low + np.arange(self.size, dtype=float)

    def law(self) -> Floats:
        """Probability of each count of the window."""
        full = np.zeros(self.size // 2 + 1, dtype=complex)
        full[: len(self.theta)] = self.expectation.conj()
        return np.fft.irfft(full, self.size)

    def law_error(self) -> float:
        """Bound on the error of the law, as the root of the sum of its squares: a transform keeps such sums."""
        rounded = np.linalg.norm(np.abs(self.expectation) * (self.error + 100.0 * UNIT)) * math.sqrt(2.0 / self.size)
        return float(rounded) + 4.0 * math.log2(self.size + 1) * UNIT + 2.0 * self.dropped + 2.0 * TAIL

    def row_means(self, batch: Batch, phi: CountFunction) -> RowMeans:
        """E[y_i phi(P)] for every row: one division per row and frequency, and no cancellation."""
        given = phi(self.counts)
        waves = np.fft.rfft(given)[: len(self.theta)]
        factor = np.where(np.arange(len(self.theta)) == 0, 1.0, 2.0) / self.size * np.abs(self.expectation)
        z = np.where(np.arange(len(self.theta)) == 0, 1.0, 2.0) / self.size * waves * self.expectation
        turn = np.exp(1j * self.theta)
        sides = np.stack([(z * turn).real, (z * turn * (1.0 + turn.conj())).real])
        shrink = 4.0 * np.cos(0.5 * self.theta) ** 2
        out = np.empty(len(batch))
        for start, stop in spans(0, len(out), block_rows(len(z))):
            yes, no = batch.yes[start:stop], batch.no[start:stop]
            inverse = 1.0 / (np.multiply.outer(shrink, yes * no) + (no - yes) ** 2)
            first, second = sides @ inverse
            out[start:stop] = yes * ((no - yes) * first + yes * second)
        # |1 - p + p e^{i theta}|^2 of the row closest to one half, by which every term is divided
        least = 1.0 - 4.0 * _largest_variance(batch) * np.sin(0.5 * self.theta) ** 2
        transform = 4.0 * math.log2(self.size + 1) * math.sqrt(self.size * float(given @ given))
        rounding = np.sum(factor / least * (np.abs(waves) * (self.error + 100.0 * UNIT) + transform * UNIT))
        largest = float(np.abs(given).max())
        return RowMeans(out, float(rounding) + 2.0 * largest * self.dropped, 2.0 * largest * TAIL)


def _largest_variance(batch: Batch) -> float:
    """Variance p (1 - p) of the row closest to one half."""
    middle = int(np.searchsorted(batch.no, 0.5))
    return max((float(batch.yes[j] * batch.no[j]) for j in (middle - 1, middle) if 0 <= j < len(batch)), default=0.0)


def _log_characteristic(batch: Batch, theta: Floats, low: int) -> tuple[Complexes, Floats]:
    """Logarithm of E[exp(i theta (P - low))], and a bound on its rounding error.

    Rows near 0 and near 1 are expanded in powers, the latter as 1 - y; rows in between are taken one by one.
    """
    turn = -2.0 * np.sin(0.5 * theta) ** 2 + 1j * np.sin(theta)
    reach = min(_SERIES_UP_TO / max(float(np.abs(turn).max()), _SERIES_UP_TO), 1.0)
    last = len(batch) - int(np.searchsorted(batch.yes[::-1], reach, side="right"))
    first = min(int(np.searchsorted(batch.no, reach, side="right")), last)
    sure, open_ = slice(0, first), slice(first, last)
    middle, blocks = _middle_logs(batch.yes[open_], batch.no[open_], theta)
    rare, common = _series(batch.yes[last:], turn), _series(batch.no[sure], turn.conj())
    count = accurate_sum(batch.yes[open_])
    shift = count + first - low
    log = middle + rare + common + 1j * theta * shift
    # theta times a sum of probabilities, each rounded on its own, is the large part
    size = theta * (count + batch.yes[last:].sum() + batch.no[sure].sum() + abs(shift) + 1.0)
    error = UNIT * (4.0 * size + 4.0 * np.abs(rare) + 4.0 * np.abs(common) + (blocks + 20.0) * np.abs(middle) + 4.0)
    return log, error


def _middle_logs(yes: Floats, no: Floats, theta: Floats) -> tuple[Complexes, int]:
    """Sum over the rows of log(1 - p + p e^{i theta}) - i p theta, and the number of blocks that were added up."""
    sine, half = np.sin(theta), np.sin(0.5 * theta) ** 2
    total = np.zeros(len(theta), dtype=complex)
    pieces = list(spans(0, len(yes), block_rows(len(theta))))
    for start, stop in pieces:
        p, variance = yes[start:stop, None], (yes[start:stop] * no[start:stop])[:, None]
        total.real += 0.5 * np.log1p(-4.0 * variance * half).sum(axis=0)
        total.imag += (np.arctan2(p * sine, 1.0 - 2.0 * p * half) - p * theta).sum(axis=0)
    return total, len(pieces) + min(len(yes), block_rows(len(theta)))


def _series(yes: Floats, turn: Complexes) -> Complexes:
    """Sum over the rows of log(1 + p turn), where |p turn| <= 0.1."""
    if len(yes) == 0:
        return np.zeros(len(turn), dtype=complex)
    largest = float(np.abs(turn).max()) * max(float(yes[0]), float(yes[-1]))
    orders = 1 if largest <= _SERIES_ERROR else math.ceil(math.log(_SERIES_ERROR) / math.log(largest))
    sums = Carry(orders)
    for start, stop in spans(0, len(yes), 1 << 14):
        power = yes[start:stop].copy()
        block = np.empty(orders)
        block[0] = accurate_sum(power)
        for order in range(1, orders):
            np.multiply(power, yes[start:stop], out=power)
            block[order] = power.sum()
        sums.add(block)
    exponent = np.arange(1, orders + 1)
    return (-((-turn[:, None]) ** exponent) / exponent) @ sums.value()

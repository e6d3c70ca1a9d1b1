"""Expected ratios, means of class rates, and Matthews correlation by Fourier frequencies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stakes.base.validation import Floats
from stakes.utility._exponential import (
    RELATIVE,
    ROUNDING,
    TAIL,
    UNIT,
    Batch,
    Carry,
    Shares,
    Steps,
    UtilityEstimate,
    accurate_cumsum,
    accurate_sum,
    block_rows,
    difference_error,
    log_expectations,
    nodes,
    spans,
)
from stakes.utility._measures import LinearRatio, Measure

Complexes = NDArray[np.complex128]
CountFunction = Callable[[Floats], Floats]
Coefficients = tuple[float, float, float, float]
RateMaker = Callable[[Batch, float], "RowRates"]


# The law of the number of positives at a few Fourier frequencies: E[y_i phi(P)] for any phi, and the law itself.
#
# On a window of counts around the mean, phi is a sum of waves e^{i theta p}; E[e^{i theta P}] falls like
# exp(-variance (1 - cos theta)), so a few dozen low frequencies are enough whatever the number of rows.

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


@dataclass(frozen=True, eq=False, repr=False)
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
    reach = _SERIES_UP_TO / max(float(np.abs(turn).max()), _SERIES_UP_TO)
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


# Expected value of any ratio of two linear functions of TP, k and the number of positives, also with weighted rows.
#
# With n D = d0 n + d2 k + (d1 + d3) TP + d3 FN positive and 1/(n D) = sum_q w_q exp(-s_q n D), the first k labels and
# the others are tilted apart, and E[TP / (n D)], E[FN / (n D)] and E[1 / (n D)] are products over the rows. The
# products are kept as logarithms, so that no sign of a coefficient makes them overflow. Weights replace counts by
# sums of weights.

_ROWS = 64
_LARGEST_EXPONENT = 600.0


@dataclass(frozen=True, eq=False, repr=False)
class _Ratio:
    """The problem: the rows, their optional weights, and the coefficients."""

    batch: Batch
    weight: Floats | None
    c: Coefficients
    d: Coefficients

    @property
    def total(self) -> float:
        """Number of rows, or their total weight."""
        return float(len(self.batch)) if self.weight is None else accurate_sum(self.weight)

    def window(self) -> tuple[float, float]:
        """Least and largest weight of positives, but for a probability of TAIL (Bernstein and Chernoff)."""
        if self.weight is None:
            return float(self.batch.window[0]), float(self.batch.window[1])
        yes, no, log = self.batch.yes, self.batch.no, math.log(2.0 / TAIL)
        mean, step = accurate_sum(self.weight * yes), float(self.weight.max()) * log / 3.0
        up = step + math.sqrt(step * step + 2.0 * float(self.weight**2 @ (yes * no)) * log)
        down = min(up, math.sqrt(2.0 * float(self.weight**2 @ yes) * log))
        return max(0.0, mean - down), min(self.total, mean + up)

    def denominator(self, least: float, most: float, acted: float) -> tuple[float, float]:
        """Least and largest n D over all tables with the weight of positives in a range and enough acted on.

        n D is linear, so its extremes are at corners of the tables: at the ends of the range of positives, or where
        all that is acted on, and no more, is all positives or all negatives.
        """
        ends, n = [], self.total
        for positives in (least, most, *(min(max(x, least), most) for x in (acted, n - acted))):
            negatives = n - positives
            hit, miss = min(acted, positives), min(acted, negatives)
            corners = [
                (positives, 0.0),
                (0.0, negatives),
                (positives, negatives),
                (hit, acted - hit),
                (acted - miss, miss),
            ]
            ends += [
                self.d[0] * n + self.d[1] * tp + self.d[2] * (tp + fp) + self.d[3] * positives
                for tp, fp in corners
                if tp + fp >= acted
            ]
        return min(ends), max(ends)


def expected_linear(
    batch: Batch, c: Coefficients, d: Coefficients, zero_division: float, weight: Floats | None = None
) -> UtilityEstimate | None:
    """Curve of E[(c0 + c1 u + c2 v + c3 p) / (d0 + d1 u + d2 v + d3 p)], or None where this way is closed.

    It is closed where the denominator may vanish for some k >= 1, and where an exponential might overflow.
    """
    if len(batch) == 0:
        return None
    ratio = _Ratio(batch, weight, c, d)
    start = _none_chosen(ratio, zero_division)
    least_acted = 1.0 if weight is None else float(weight[0])
    if start is None:
        least_acted = 0.0
    lowest = ratio.denominator(0.0, ratio.total, least_acted)[0]
    if lowest <= 0.0:
        return None
    sums = _SplitSums(ratio, *ratio.denominator(*ratio.window(), least_acted))
    if not sums.finite:
        return None
    values, error = _collect(ratio, sums)
    if start is not None:
        values[0], off = start
        error = max(error, off)
    largest = sum(map(abs, c)) * ratio.total / lowest
    absolute = error + 2.0 * largest * TAIL
    return UtilityEstimate(values, 0.0, absolute, "exponentials", steps=sums.steps if weight is None else None)


def _none_chosen(ratio: _Ratio, zero_division: float) -> tuple[float, float] | None:
    """Value at k = 0 and a bound on its rounding, or None where it comes from the sum like all others.

    It does with weights, and with a denominator above zero.
    """
    c, d, batch = ratio.c, ratio.d, ratio.batch
    if c[0] == c[3] == 0.0:
        certain = 0.0 if d[0] > 0.0 else (1.0 if d[3] == 0.0 else batch.none_positive)
        if d[0] <= 0.0 or d[0] + d[3] > 0.0:
            return zero_division * certain, ROUNDING * zero_division * (certain if certain < 1.0 else 0.0)
    if ratio.weight is not None:
        return None
    n, spectrum = len(batch), Spectrum.of(batch)
    inside = spectrum.counts <= n
    positives, law = spectrum.counts[inside], spectrum.law()[inside]
    below = d[0] * n + d[3] * positives
    value = np.full(len(below), float(zero_division))
    np.divide(c[0] * n + c[3] * positives, below, out=value, where=below != 0.0)
    return float(law @ value), spectrum.law_error() * float(np.linalg.norm(value))


def _collect(ratio: _Ratio, sums: _SplitSums) -> tuple[Floats, float]:
    """Return the values and the largest bound on their error."""
    n, c = ratio.total, ratio.c
    values, error = np.empty(len(ratio.batch) + 1), 0.0
    for start, acted, log_weight, first, rest in sums.blocks():
        weight = np.exp(log_weight)
        hits, misses = (c[1] + c[3]) * first, c[3] * rest
        values[start : start + len(acted)] = (weight * (c[0] * n + c[2] * acted + hits + misses)).sum(axis=0)
        # what the rest was taken from, not what is left of it, is what was rounded
        size = abs(c[0]) * n + abs(c[2]) * acted + np.abs(hits) + abs(c[3]) * sums.all_rest[:, None]
        rounding = (sums.rounding + RELATIVE + ROUNDING)[:, None]
        error = max(error, float((weight * rounding * size).sum(axis=0).max()))
    return values, error


class _SplitSums:
    """The products over the rows of the first k and of the rest, each with its own tilt."""

    def __init__(self, ratio: _Ratio, low: float, high: float) -> None:
        self._ratio, d = ratio, ratio.d
        self._rate, weight = nodes(low, high)
        heaviest = 1.0 if ratio.weight is None else float(ratio.weight.max())
        # e^{-rate * factor * weight} may vanish, but not grow beyond all floats
        steepest = -min(d[1] + d[3], d[3]) * heaviest
        self.finite = bool(steepest * self._rate[-1] < _LARGEST_EXPONENT)
        if not self.finite:
            return
        # one rounding per row of a block for everything that passes through the logarithm of a weight
        self.rounding = UNIT * (2.0 * (_ROWS + 8.0) * self._rate * ratio.total * sum(map(abs, d)) + _ROWS + 50.0)
        logs, shares = Carry(len(weight)), Carry(len(weight))
        for start, stop in spans(0, len(ratio.batch), _ROWS):
            log, share = self._tilted(d[3], start, stop)
            logs.add(log.sum(axis=1))
            shares.add(share.sum(axis=1))
        self.all_rest = shares.value()
        self._start = np.log(weight) - self._rate * d[0] * ratio.total + logs.value()

    def blocks(self) -> Iterator[tuple[int, Floats, Floats, Floats, Floats]]:
        """Yield the first k of a block, weight acted on, logarithms of the nodes' weights, sums over first and rest."""
        size, d = len(self._rate), self._ratio.d
        logs, firsts, rests, acted = Carry(size), Carry(size), Carry(size), Carry(1)
        logs.add(self._start)
        zero = np.zeros((size, 1))
        yield 0, np.zeros(1), self._start[:, None], zero, self.all_rest[:, None]
        for start, stop in spans(0, len(self._ratio.batch), _ROWS):
            own = np.ones(stop - start) if self._ratio.weight is None else self._ratio.weight[start:stop]
            log_first, first = self._tilted(d[1] + d[3], start, stop)
            log_rest, rest = self._tilted(d[3], start, stop)
            log = np.cumsum(log_first - log_rest - np.multiply.outer(d[2] * self._rate, own), axis=1)
            first, rest, weight = np.cumsum(first, axis=1), np.cumsum(rest, axis=1), np.cumsum(own)
            left = (self.all_rest - rests.value())[:, None] - rest
            yield start + 1, acted.value() + weight, logs.value()[:, None] + log, firsts.value()[:, None] + first, left
            for carry, sums in ((logs, log), (firsts, first), (rests, rest), (acted, weight[None])):
                carry.add(sums[:, -1])

    def steps(self, first: int, last: int) -> tuple[Floats, Floats]:
        """U_{k+1} - U_k for 1 <= first <= k < last: what a label y of row k + 1 changes, in N and in 1 / D.

        N'/D' - N/D = (N' - N) / D' - N (1 / D - 1 / D'), where D' - D is d2 or d1 + d2.
        """
        parts = list(self._steps(first, last))
        rise, error = (np.concatenate(lines) for lines in zip(*parts, strict=True))
        return rise, error + self._outside(first)

    def _steps(self, first: int, last: int) -> Iterator[tuple[Floats, Floats]]:
        (c0, c1, c2, c3), (_, d1, d2, d3) = self._ratio.c, self._ratio.d
        n, rate = self._ratio.total, self._rate[:, None]
        logs, firsts, rests = (Carry(len(rate)) for _ in range(3))
        logs.add(self._start)
        known = RELATIVE + ROUNDING + self.rounding[:, None]
        changed = difference_error() + ROUNDING + self.rounding[:, None]
        for start, stop in spans(0, last, _ROWS):
            log_first, hit = self._tilted(d1 + d3, start, stop)
            log_rest, miss = self._tilted(d3, start, stop)
            log = log_first - log_rest - d2 * rate
            hits, misses, growth = (np.cumsum(x, axis=1) for x in (hit, miss, log))
            if stop > first:
                part = slice(max(first - start, 0), None)
                k = np.arange(float(start), float(stop))
                others = logs.value()[:, None] + growth - log - log_rest
                above = (c1 + c3) * (firsts.value()[:, None] + hits - hit)
                below = c3 * ((self.all_rest - rests.value())[:, None] - misses)
                size = abs(c0) * n + abs(c2) * k + np.abs(above) + abs(c3) * (self.all_rest[:, None] + 1.0)
                rise, error = np.zeros(stop - start), np.zeros(stop - start)
                rows = self._ratio.batch.yes[start:stop], self._ratio.batch.no[start:stop]
                for y, chance in zip((1.0, 0.0), rows, strict=True):
                    before = others - y * d3 * rate
                    gain = chance * (c1 * y + c2) * np.exp(before - (d1 * y + d2) * rate)
                    change = chance * _exp_change(before, -(d1 * y + d2) * rate)
                    rise += (gain + change * (c0 * n + c2 * k + c3 * y + above + below)).sum(axis=0)
                    error += (known * np.abs(gain) + changed * np.abs(change) * size).sum(axis=0)
                yield rise[part], error[part]
            for carry, sums in ((logs, growth), (firsts, hits), (rests, misses)):
                carry.add(sums[:, -1])

    def _outside(self, first: int) -> float:
        """Bound on a step's error from tables outside the window of positives.

        There S(x) <= (1 + eps) / x, so that its slope, which rises, is below 4 (1 + eps) / x^2.
        """
        c, d = self._ratio.c, self._ratio.d
        n = self._ratio.total
        lowest = self._ratio.denominator(0.0, n, float(first))[0]
        change = sum(map(abs, c)) * n * max(abs(d[2]), abs(d[1] + d[2])) / lowest
        return 6.0 * TAIL * (abs(c[1]) + abs(c[2]) + change) / lowest

    def _tilted(self, factor: float, start: int, stop: int) -> tuple[Floats, Floats]:
        """log(1 - p + p e^{-r}) and p e^{-r} / (1 - p + p e^{-r}) times the weight, with r = rate * factor * weight."""
        yes, weight = self._ratio.batch.yes[start:stop], self._ratio.weight
        own = 1.0 if weight is None else weight[start:stop]
        rate = factor * self._rate[:, None] * own
        kept, change = np.exp(-rate) * yes, np.expm1(-rate) * yes
        no, near = self._ratio.batch.no[start:stop], np.abs(change) < 0.5
        sure = no == 0.0
        total = np.where(sure, 1.0, no + kept)
        log = np.where(near, np.log1p(np.where(near, change, 0.0)), np.log(total))
        return np.where(sure, -rate, log), own * np.where(sure, 1.0, kept / total)


def _exp_change(log: Floats, exponent: Floats) -> Floats:
    """Return exp(log + exponent) - exp(log) to full relative precision, where neither overflows."""
    return np.exp(log + np.maximum(exponent, 0.0)) * -np.expm1(-np.abs(exponent)) * np.sign(exponent)


# Measures that are sums over the rows of rho_i = E[y_i phi(P)], where P is the number of positives.
#
# Recall has phi(P) = 1/P, G-TP/PR has 1/sqrt(P), balanced accuracy has 1/P and, with the classes swapped, 1/N. For
# these rho_i comes from one exponential sum; for Matthews' correlation and any other phi, from
# :mod:`stakes.utility._fourier`. The quadratic mean needs E[FN^2 / P^2], which a sum for 1/x^2 gives in the same way.

_ERROR = RELATIVE + ROUNDING


class RowRates(NamedTuple):
    """E[y_i phi(P)] for every row; a sum over rows is off by a share of itself, and by an absolute error on top."""

    values: Floats
    relative: float
    absolute: float
    method: str


def exponential_rates(batch: Batch, power: float) -> RowRates:
    """E[y_i P^-power] for every row by an exponential sum."""
    rate, weight = _positive_nodes(batch, power)
    values = Shares(batch, rate).means(weight * np.exp(log_expectations(batch, rate)))
    return RowRates(values, _ERROR, 2.0 * TAIL, "exponentials")


def fourier_rates(batch: Batch, power: float) -> RowRates:
    """E[y_i P^-power] for every row by Fourier frequencies."""
    means = Spectrum.of(batch).row_means(batch, lambda p: np.where(p > 0.0, np.maximum(p, 1.0) ** -power, 0.0))
    return RowRates(means.values, 0.0, means.per_probability * batch.mean + len(batch) * means.wrapped, "fourier")


def _positive_nodes(batch: Batch, power: float) -> tuple[Floats, Floats]:
    least, most = (max(1.0, end) for end in batch.window)
    return nodes(least, most, power)


def recall_curve(batch: Batch, zero_division: float, rates: RateMaker) -> UtilityEstimate:
    """Curve of E[TP / P]; recall of no positives is ``zero_division``."""
    rho = rates(batch, 1.0)
    values = np.append(0.0, accurate_cumsum(rho.values)) + zero_division * batch.none_positive

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        return rho.values[first:last], rho.relative * rho.values[first:last]

    return _estimate(values, [rho], steps, steps_start=0)


def fowlkes_mallows_curve(batch: Batch, zero_division: float, rates: RateMaker) -> UtilityEstimate:
    """Curve of E[TP / sqrt(P k)]."""
    root = np.sqrt(np.arange(1.0, len(batch) + 1.0))
    rho = rates(batch, 0.5)
    total = accurate_cumsum(rho.values)
    values = np.append(zero_division * batch.none_positive, total / root)

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        """Gain of row k + 1, less what the larger root takes from the first k; for k >= 1."""
        old, new = root[first - 1 : last - 1], root[first:last]
        gain = rho.values[first:last] / new
        loss = total[first - 1 : last - 1] / (old * new * (old + new))
        return gain - loss, rho.relative * (gain + loss)

    return _estimate(values, [rho], steps, steps_start=1)


def balanced_accuracy_curve(
    batch: Batch, zero_division: float, rates: RateMaker, *, drop_absent: bool = False
) -> UtilityEstimate:
    """Curve of E[(TP / P + TN / N) / 2]; an absent class counts ``zero_division``, or is left out of the mean."""
    n = max(len(batch), 1)
    up, down = rates(batch, 1.0), rates(batch.mirrored(), 1.0)
    rejected = down.values[::-1]
    values = 0.5 * (np.append(0.0, accurate_cumsum(up.values)) + np.append(0.0, accurate_cumsum(down.values))[::-1])
    slope = 0.0
    if drop_absent:
        shown = np.arange(len(values)) / n
        values += 0.5 * (batch.none_positive * (1.0 - shown) + batch.all_positive * shown)
        slope = 0.5 * (batch.all_positive - batch.none_positive) / n
    else:
        values += 0.5 * zero_division * (batch.none_positive + batch.all_positive)
    absent = (batch.none_positive + batch.all_positive) / n

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gain, loss = 0.5 * up.values[first:last], 0.5 * rejected[first:last]
        return gain - loss + slope, up.relative * (gain + loss + absent)

    return _estimate(values, [up, down], steps, steps_start=0)


def _estimate(values: Floats, rates: list[RowRates], steps: Steps, steps_start: int) -> UtilityEstimate:
    """Curve from its rates; where they are known relatively, so are its steps."""
    relative, absolute = max(r.relative for r in rates), sum(r.absolute for r in rates)
    known = steps if relative > 0.0 else None
    error = max(relative, ROUNDING)
    return UtilityEstimate(
        values, error, absolute, rates[0].method, steps=known, steps_start=steps_start, floor=100.0 * TAIL
    )


def quadratic_mean_curve(batch: Batch, zero_division: float) -> UtilityEstimate:
    """Curve of 1 - E[(1 - TPR)^2 + (1 - TNR)^2] / 2."""
    missed = _square_losses(batch.reversed())[::-1]
    alarmed = _square_losses(batch.mirrored().reversed())
    loss = np.append(0.0, accurate_cumsum(missed[::-1]))[::-1] + np.append(0.0, accurate_cumsum(alarmed))
    loss += (1.0 - zero_division) ** 2 * (batch.none_positive + batch.all_positive)
    values = 1.0 - 0.5 * loss

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gain, cost = 0.5 * missed[first:last], 0.5 * alarmed[first:last]
        return gain - cost, _ERROR * (gain + cost)

    scale, absolute = 0.5 * float(loss.max()), 4.0 * TAIL + 1e-15
    return UtilityEstimate(
        values, _ERROR, absolute, "exponentials", scale=scale, steps=steps, steps_start=0, floor=4.0 * TAIL
    )


def _square_losses(batch: Batch) -> Floats:
    """E[y_j (1 + 2 sum of y_i over the rows before j) / P^2]: summed up to j, the mean of (sum of y)^2 / P^2."""
    descending = batch.reversed()
    rate, weight = _positive_nodes(descending, 2.0)
    weight *= np.exp(log_expectations(descending, rate))
    out = np.empty(len(batch))
    for block in Shares(batch, rate).blocks():
        out[block.start : block.stop] = block.mean(block.share, weight + 2.0 * weight * block.base)
        out[block.start : block.stop] += 2.0 * block.product(block.share, block.before(), weight)
    return out


# Expected Matthews correlation: MCC = (TP N - FP P) / sqrt(k (n - k) P N) is linear in labels times 1 / sqrt(P N).
#
# With rho_i = E[y_i / sqrt(P N)]: U_k = sqrt((n - k) / k) sum_{i <= k} rho_i - sqrt(k / (n - k)) sum_{i > k} rho_i.

_ROUNDING = 40.0 * UNIT


def expected_matthews(batch: Batch) -> UtilityEstimate:
    """Curve of the expected Matthews correlation, which counts zero where it is undefined."""
    n = len(batch)
    values = np.zeros(n + 1)
    if n < 2:
        return UtilityEstimate(values, 0.0, 0.0, "fourier")
    # swapping the classes changes nothing, and the error is relative to the rarer one
    swapped = 2.0 * batch.mean > n
    if swapped:
        batch = batch.mirrored()

    def phi(positives: Floats) -> Floats:
        product = positives * (n - positives)
        return np.where(product > 0.0, 1.0 / np.sqrt(np.maximum(product, 1.0)), 0.0)

    sums = _MatthewsSums(batch, Spectrum.of(batch).row_means(batch, phi))
    k = np.arange(1.0, n)
    up = np.sqrt((n - k) / k)
    values[1:n] = up * sums.hits[:-1] - sums.rest[1:] / up
    outside = n * sums.means.wrapped  # up k + (n - k) / up is at most n
    absolute = outside + sums.means.per_probability * float(np.max(up * sums.likely[:-1] + sums.unlikely[1:] / up))
    absolute += _ROUNDING * float(np.max(up * sums.hits[:-1] + sums.rest[1:] / up))
    estimate = UtilityEstimate(values, 0.0, absolute, "fourier", steps=sums.steps, steps_end=n - 1, floor=2.0 * outside)
    return _reverse(estimate, sums.steps, n) if swapped else estimate


def _reverse(estimate: UtilityEstimate, given: Steps, n: int) -> UtilityEstimate:
    """Reverse a curve: k counted from the other end."""

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        rise, error = given(n - last, n - first)
        return -rise[::-1], error[::-1]

    return replace(estimate, values=estimate.values[::-1].copy(), steps=steps)


class _MatthewsSums:
    """Sums of rho over the first k rows, k = 1..n, and over those after the first k, k = 0..n - 1; so of p."""

    def __init__(self, batch: Batch, means: RowMeans) -> None:
        self.batch, self.means = batch, means
        self.hits, self.likely = accurate_cumsum(means.values), accurate_cumsum(batch.yes)
        self.rest, self.unlikely = (accurate_cumsum(x[::-1])[::-1] for x in (means.values, batch.yes))

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


# Expected ratios of linear functions for rows of different weights: the curve, without any claim of optimality.


def estimate_weighted_curve(
    prob: Floats, weight: Floats, measure: Measure, zero_division: float, method: str, *, descending: bool
) -> tuple[Batch, UtilityEstimate]:
    """Curve over the rows of positive weight (the others have probability nan), in descending or ascending order.

    Of equal probabilities the lightest come first, so that nothing depends on the order of the rows.
    """
    rows = np.flatnonzero(weight > 0.0)
    order = rows[np.lexsort([weight[rows], -prob[rows] if descending else prob[rows]])]
    batch = Batch(prob[order], 1.0 - prob[order])
    estimate = None
    if isinstance(measure, LinearRatio) and method in {"auto", "exponentials"}:
        c, d = measure.coefficients
        estimate = expected_linear(batch, c, d, zero_division, weight[order])
    if estimate is None:
        raise ValueError(
            "sample_weight needs method='auto' or 'exponentials' and F-beta, Jaccard, precision, accuracy or a "
            f"FractionalLinear measure with a positive denominator, got {measure!r} and method={method!r}."
        )
    return batch, estimate

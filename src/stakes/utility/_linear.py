"""Expected value of any ratio of two linear functions of TP, k and the number of positives, also with weighted rows.

With n D = d0 n + d2 k + (d1 + d3) TP + d3 FN positive and 1/(n D) = sum_q w_q exp(-s_q n D), the first k labels and the
others are tilted apart, and E[TP / (n D)], E[FN / (n D)] and E[1 / (n D)] are products over the rows. The products are
kept as logarithms, so that no sign of a coefficient makes them overflow. Weights replace counts by sums of weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, UNIT, Estimate
from stakes.utility._exponential_nodes import RELATIVE, difference_error, nodes
from stakes.utility._fourier import Spectrum
from stakes.utility._sums import Carry, accurate_sum, spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]
    Coefficients = tuple[float, float, float, float]

_ROWS = 64
_LARGEST_EXPONENT = 600.0


@dataclass(frozen=True, eq=False)
class _Ratio:
    """What is asked: the rows, their weights if they have any, and the coefficients."""

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
) -> Estimate | None:
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
    values, error = _add_up(ratio, sums)
    if start is not None:
        values[0], off = start
        error = max(error, off)
    largest = sum(map(abs, c)) * ratio.total / lowest
    absolute = error + 2.0 * largest * TAIL
    return Estimate(values, 0.0, absolute, "exponentials", steps=sums.steps if weight is None else None)


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


def _add_up(ratio: _Ratio, sums: _SplitSums) -> tuple[Floats, float]:
    """Values and the largest bound on their error."""
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
        """What the tables outside the window of positives can add to the error of a step.

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

"""Measures that are sums over the rows of rho_i = E[y_i phi(P)], where P is the number of positives.

Recall has phi(P) = 1/P, G-TP/PR has 1/sqrt(P), balanced accuracy has 1/P and, with the classes swapped, 1/N. For these
rho_i comes from one exponential sum; for Matthews' correlation and any other phi, from :mod:`stakes.utility._fourier`.
The quadratic mean needs E[FN^2 / P^2], which a sum for 1/x^2 gives in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.utility._batch import TAIL
from stakes.utility._estimate import ROUNDING, Estimate
from stakes.utility._exponential_nodes import RELATIVE, nodes
from stakes.utility._fourier import Spectrum
from stakes.utility._shares import Shares, log_expectations
from stakes.utility._sums import accurate_cumsum

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch
    from stakes.utility._estimate import Steps

    Floats = NDArray[np.float64]
    # from a batch and a power a to E[y_i P^-a] for its rows, in their order
    RateMaker = Callable[[Batch, float], "RowRates"]

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


def recall_curve(batch: Batch, zero_division: float, rates: RateMaker) -> Estimate:
    """Curve of E[TP / P]; recall of no positives is ``zero_division``."""
    rho = rates(batch, 1.0)
    values = _from_zero(accurate_cumsum(rho.values)) + zero_division * batch.none_positive

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        return rho.values[first:last], rho.relative * rho.values[first:last]

    return _estimate(values, [rho], steps, steps_start=0)


def fowlkes_mallows_curve(batch: Batch, zero_division: float, rates: RateMaker) -> Estimate:
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
) -> Estimate:
    """Curve of E[(TP / P + TN / N) / 2]; an absent class counts ``zero_division``, or is left out of the mean."""
    n = max(len(batch), 1)
    up, down = rates(batch, 1.0), rates(batch.mirrored(), 1.0)
    rejected = down.values[::-1]
    values = 0.5 * (_from_zero(accurate_cumsum(up.values)) + _from_zero(accurate_cumsum(down.values))[::-1])
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


def _estimate(values: Floats, rates: list[RowRates], steps: Steps, steps_start: int) -> Estimate:
    """Curve from its rates; where they are known relatively, so are its steps."""
    relative, absolute = max(r.relative for r in rates), sum(r.absolute for r in rates)
    known = steps if relative > 0.0 else None
    error = max(relative, ROUNDING)
    return Estimate(values, error, absolute, rates[0].method, steps=known, steps_start=steps_start, floor=100.0 * TAIL)


def quadratic_mean_curve(batch: Batch, zero_division: float) -> Estimate:
    """Curve of 1 - E[(1 - TPR)^2 + (1 - TNR)^2] / 2."""
    missed = _square_losses(batch.reversed())[::-1]
    alarmed = _square_losses(batch.mirrored().reversed())
    loss = _from_zero(accurate_cumsum(missed[::-1]))[::-1] + _from_zero(accurate_cumsum(alarmed))
    loss += (1.0 - zero_division) ** 2 * (batch.none_positive + batch.all_positive)
    values = 1.0 - 0.5 * loss

    def steps(first: int, last: int) -> tuple[Floats, Floats]:
        gain, cost = 0.5 * missed[first:last], 0.5 * alarmed[first:last]
        return gain - cost, _ERROR * (gain + cost)

    scale, absolute = 0.5 * float(loss.max()), 4.0 * TAIL + 1e-15
    return Estimate(values, _ERROR, absolute, "exponentials", scale=scale, steps=steps, steps_start=0, floor=4.0 * TAIL)


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


def _from_zero(total: Floats) -> Floats:
    return np.concatenate([[0.0], total])

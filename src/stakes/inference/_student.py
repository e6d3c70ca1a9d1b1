"""Student's t with room for what was not seen: half-widths and p-values, for one estimate or for many at once.

``variance`` has ``degrees`` of freedom; ``room`` is the square of what one more row of the scarce classes might bring.
With the rule of three (none seen in n rows, at most 3 / n at 95%) the half-width at level alpha is

    h(alpha)^2 = t(degrees, alpha / 2)^2 variance + log(alpha)^2 room

and the p-value is the alpha at which the interval just reaches the null. Every argument is an array or a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_NEAR = 4.0 * np.finfo(float).eps
_MOST_STEPS = 64  # as many halvings of a bracket whose ends differ by a factor of two and a half at most are enough


def t_quantile(alpha: ArrayLike, degrees: ArrayLike) -> Floats:
    """Return the t that Student's variable exceeds, either way, with probability alpha."""
    from scipy.special import stdtr, stdtrit

    tail, degrees = 0.5 * np.asarray(alpha, dtype=np.float64), np.asarray(degrees, dtype=np.float64)
    t = np.asarray(stdtrit(degrees, tail))
    # a step of Newton: older versions of scipy stop at eight digits
    density = _density(t, degrees)
    step = np.divide(stdtr(degrees, t) - tail, density, out=np.zeros_like(t), where=density > 0.0)
    return step - t


def two_sided(t: ArrayLike, degrees: ArrayLike) -> Floats:
    """Probability that Student's variable lies further from zero than t."""
    from scipy.special import stdtr

    return 2.0 * np.asarray(stdtr(degrees, -np.abs(t)), dtype=np.float64)


def half_width(variance: ArrayLike, degrees: ArrayLike, room: ArrayLike, alpha: float) -> Floats:
    """Half of the interval's width; nan where the variance is unknown or the room is infinite."""
    variance, room = np.asarray(variance, dtype=np.float64), np.asarray(room, dtype=np.float64)
    # without spread there is no row that could have degrees of freedom
    t = np.where(variance > 0.0, t_quantile(alpha, np.where(variance > 0.0, degrees, np.inf)), 0.0)
    wide = np.sqrt(t * t * variance + np.log(alpha) ** 2 * room)
    return np.where(np.isfinite(wide), wide, np.nan)


def p_value(gap: ArrayLike, variance: ArrayLike, degrees: ArrayLike, room: ArrayLike) -> Floats:
    """Two-sided p-value of an estimate that differs from the null by ``gap``; agrees with :func:`half_width`."""
    given: list[Floats] = [np.asarray(part, dtype=np.float64) for part in (gap, variance, degrees, room)]
    parts = np.broadcast_arrays(*given)
    away, spread, free, unseen = np.abs(parts[0]), parts[1], parts[2], parts[3]
    with np.errstate(divide="ignore", invalid="ignore"):
        most = away / np.sqrt(spread)
    found = np.where(away == 0.0, 1.0, np.where(spread == 0.0, 0.0, two_sided(most, free)))
    known = np.isfinite(away) & np.isfinite(spread) & np.isfinite(unseen)
    roomy = known & (unseen > 0.0) & (away > 0.0)
    if roomy.any():
        found[roomy] = _with_room(away[roomy], spread[roomy], free[roomy], unseen[roomy])
    return np.where(known, found, np.nan)


def _with_room(gap: Floats, variance: Floats, degrees: Floats, room: Floats) -> Floats:
    """Where the half-width equals the gap: it falls as alpha grows, and so grows in t with alpha = 2 P(T > t)."""
    found = np.exp(-gap / np.sqrt(room))  # of the room alone
    both = variance > 0.0
    gap, variance, degrees, room = (part[both] for part in (gap, variance, degrees, room))
    # one of the two parts makes half of the square at least
    high = gap / np.sqrt(variance)
    by_room = -gap / np.sqrt(room)
    with np.errstate(under="ignore"):
        shared = np.exp(by_room)
    with np.errstate(over="ignore", invalid="ignore"):
        there = t_quantile(np.maximum(shared, np.finfo(float).tiny), degrees)
    high = np.where((shared > 0.0) & (there > 0.0), np.fmin(high, there), high)  # so far out there may be none
    low, middle = np.zeros_like(high), high
    for _ in range(_MOST_STEPS):
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = two_sided(middle, degrees)
            alone = np.log(tail)
            reach = middle * middle * variance + alone * alone * room - gap * gap
            slope = 2.0 * (middle * variance - alone * room * 2.0 * _density(middle, degrees) / tail)
            newton = middle - reach / slope
        low, high = np.where(reach > 0.0, low, middle), np.where(reach > 0.0, middle, high)
        last, middle = middle, np.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
        if np.all(np.abs(middle - last) <= _NEAR * middle):
            break
    found[both] = two_sided(middle, degrees)
    return found


def _density(t: Floats, degrees: Floats) -> Floats:
    from scipy.special import gammaln

    finite = np.where(np.isfinite(degrees), degrees, 1.0)
    log_scale = gammaln(0.5 * (finite + 1.0)) - gammaln(0.5 * finite) - 0.5 * np.log(np.pi * finite)
    with np.errstate(over="ignore"):  # so far out the density is zero
        square = t * t
    student = log_scale - 0.5 * (finite + 1.0) * np.log1p(square / finite)
    return np.exp(np.where(np.isfinite(degrees), student, -0.5 * (square + np.log(2.0 * np.pi))))

"""How far the largest of several correlated studentised errors reaches: critical values that hold for all at once.

One error has the normal quantile; errors that are all equally correlated, and two of any correlation, need one
integral; otherwise the quantile comes from draws.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._selection_normal import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NEARLY_ONE = 1e-3  # beyond this correlation the integrand is a step and draws do as well
_REACH = 9.0
_PANELS, _NODES = 90, 20
_CLOSE = 1e-14
_MOST_STEPS = 100  # far more than halving needs: rounding may keep Newton's steps from settling


def largest_quantile(correlation: Floats, errors: Floats, level: float, *, two_sided: bool) -> float:
    """Quantile of the largest error, or of the largest in size; ``errors`` are standardised draws, one a column."""
    count = len(correlation)
    if count == 0:
        return 0.0
    least = NormalDist().inv_cdf(0.5 + level / 2.0 if two_sided else level)
    if count == 1:
        return least
    shared = correlation[~np.eye(count, dtype=bool)]
    mean = float(shared.mean())
    if two_sided and count == 2:
        mean = abs(mean)  # the sign of an error does not count
    if np.ptp(shared) <= ROUNDING and 0.0 <= mean <= 1.0 - _NEARLY_ONE:
        return _equal_correlation(count, mean, level, two_sided=two_sided)
    largest = (np.abs(errors) if two_sided else errors).max(axis=0)
    return max(float(np.quantile(largest, level)), least)


def _equal_correlation(count: int, correlation: float, level: float, *, two_sided: bool) -> float:
    from scipy.special import ndtr

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(-_REACH, _REACH, _PANELS + 1)
    half = 0.5 * (edges[1] - edges[0])
    shared = (0.5 * (edges[1:] + edges[:-1])[:, None] + half * nodes).ravel()
    density = np.tile(half * weights, _PANELS) * np.exp(-0.5 * shared**2) / math.sqrt(2.0 * math.pi)
    shift, own = math.sqrt(correlation) * shared, math.sqrt(1.0 - correlation)

    def missed(q: float) -> tuple[float, float]:
        ends = ((q + shift) / own, (-q + shift) / own)
        inside, rise = ndtr(ends[0]), np.exp(-0.5 * ends[0] ** 2)
        if two_sided:
            inside, rise = inside - ndtr(ends[1]), rise + np.exp(-0.5 * ends[1] ** 2)
        slope = count / (own * math.sqrt(2.0 * math.pi)) * (density @ (rise * inside ** (count - 1)))
        return float(density @ inside**count) - level, float(slope)

    return _root(missed, 0.0 if two_sided else -_REACH, _REACH)


def _root(rising: Callable[[float], tuple[float, float]], low: float, high: float) -> float:
    """Where a rising function, given with its slope, is zero: Newton's steps, halves where they leave the bracket."""
    place = 0.5 * (low + high)
    for _ in range(_MOST_STEPS):
        value, slope = rising(place)
        low, high = (place, high) if value < 0.0 else (low, place)
        step = value / slope if slope > 0.0 else math.inf
        after = place - step if low < place - step < high else 0.5 * (low + high)
        if abs(after - place) <= _CLOSE * max(1.0, abs(place)) or not low < after < high:
            return after
        place = after
    return place

"""A learned order at a threshold, as scores: at each quantile of the uncertainty, where the region begins and ends.

At a fixed uncertainty the order is a logistic function of a quadratic in a rising function of the score, so the region
is a half line, an interval, or what an interval leaves. Its ends are found among all doubles by halving.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.boundary._options import Floats
    from stakes.boundary._ranker import Ranker

    Integers = NDArray[np.int64]

_TIED = 1e-13  # values this close differ by rounding, and a row at the threshold belongs to the region
_FARTHEST = 1e100  # in standardised scores; the quadratic has turned long before


def steps_of(ranker: Ranker, threshold: float) -> Floats:
    """Scores a <= b <= c for each quantile of the uncertainty: inside where a <= score < b, and from c on."""
    n = len(ranker.knots)
    if math.isinf(threshold):
        return np.tile([-np.inf, -np.inf, threshold], (n, 1))
    limit = threshold * (1.0 - _TIED)

    def inside(score: Floats) -> NDArray[np.bool_]:
        return np.asarray(ranker.rank(score, ranker.knots) >= limit)

    low, high = (np.full(n, end) for end in _ends(ranker))
    turn = np.clip(_turning_points(ranker), low, high)
    at_low, at_turn, at_high = inside(low), inside(turn), inside(high)
    first = _first_change(inside, low, turn)
    second = _first_change(inside, turn, high)
    falls, rises = at_low & ~at_turn, ~at_low & at_turn
    down, up = at_turn & ~at_high, ~at_turn & at_high
    begins = np.where(rises, first, np.where(at_low, -np.inf, np.inf))
    ends = np.where(falls, first, np.where(down, second, np.inf))
    found = np.empty((n, 3))
    held = at_turn & at_high  # the region that holds the turn goes on for ever: it is the second one
    alone = held | (begins == np.inf)
    found[:, 0] = np.where(alone, -np.inf, begins)
    found[:, 1] = np.where(alone, -np.inf, ends)
    found[:, 2] = np.where(held, begins, np.where(up, second, np.inf))
    return found


def _ends(ranker: Ranker) -> tuple[float, float]:
    """Scores beyond which the order does not change any more."""
    if ranker.log_odds:
        return 0.0, 1.0
    reach = ranker.scale * _FARTHEST
    return ranker.centre - reach, ranker.centre + reach


def _turning_points(ranker: Ranker) -> Floats:
    """Scores at which the quadratic of each quantile turns, to rounding; minus infinity where it does not."""
    _, linear, square, _, crossed, _ = ranker.coefficients
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        score = ranker.score_at(-(linear + crossed * ranker.ranks) / (2.0 * square))
    return np.where(np.isnan(score), -np.inf, score)


def _first_change(inside: Callable[[Floats], NDArray[np.bool_]], low: Floats, high: Floats) -> Floats:
    """Smallest double in (low, high] that is not as low is; of no meaning where high is as low is."""
    at_low = inside(low)
    left, right = _as_integers(low), _as_integers(high)
    while np.any(left + 1 < right):
        middle = (left >> 1) + (right >> 1) + (left & right & 1)
        same = inside(_as_doubles(middle)) == at_low
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return _as_doubles(right)


def _as_integers(values: Floats) -> Integers:
    """Number doubles in their order, half of them below zero."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits < 0, np.int64(-(2**63)) - bits, bits)


def _as_doubles(numbers: Integers) -> Floats:
    return np.where(numbers < 0, np.int64(-(2**63)) - numbers, numbers).view(np.float64)

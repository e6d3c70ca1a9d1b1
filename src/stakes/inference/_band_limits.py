"""Bounds for sums of shares of rows: mid-p limits of every share, combined; and what is critical for all at once.

Few rows beyond a threshold make normal bounds too narrow, and none at all would make them a point. Mid-p limits of a
binomial share (Lancaster 1961) stay wide there; the distances from the estimate to them are combined as standard errors
would be (method of variance estimates recovery: Zou and Donner 2008, doi:10.1002/sim.3095).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from stakes.inference._band_pieces import Pieces

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]

_MAX_STEPS = 50
_CLOSE = 1e-10
# a supremum that rests on the rows seen is too low where few are: one row more at every stretch between rows mends it
_UNSEEN_ROWS = 1.0


def combined_limits(pieces: Pieces, critical: float) -> tuple[Floats, Floats]:
    """Lower and upper bound of the estimate at each threshold, ``critical`` standard errors away as it were."""
    low, high = mid_p_limits(pieces.share * pieces.size, pieces.size, critical)
    low, high = (np.where(pieces.known, pieces.share, limit) for limit in (low, high))
    rising = pieces.coefficient > 0.0
    down = pieces.coefficient * np.where(rising, pieces.share - low, pieces.share - high)
    up = pieces.coefficient * np.where(rising, high - pieces.share, low - pieces.share)
    sign = np.sign(pieces.coefficient)
    together = pieces.correlation * sign[:, None] * sign[None]
    estimate = pieces.estimate
    low, high = estimate - _length(down, together), estimate + _length(up, together)
    ends = np.minimum(pieces.ends[0], estimate), np.maximum(pieces.ends[1], estimate)
    return np.maximum(low, ends[0]), np.minimum(high, ends[1])


def _length(distance: Floats, correlation: Floats) -> Floats:
    """Length of the sum of distances that are correlated as the shares are."""
    return np.sqrt(np.maximum(np.einsum("im,ijm,jm->m", distance, correlation, distance), 0.0))


def mid_p_limits(hits: Floats, size: Floats, critical: float) -> tuple[Floats, Floats]:
    """Two-sided mid-p limits of binomial shares; ``critical`` is the normal quantile of their level.

    Numbers of hits and of trials may be fractions, as effective numbers are.
    """
    from scipy.special import ndtr

    tail = float(ndtr(-critical))
    return _lower(hits, size - hits, tail), 1.0 - _lower(size - hits, hits, tail)


def _lower(hits: Floats, rest: Floats, tail: float) -> Floats:
    """Share at which this many hits or more, half of exactly this many, have probability ``tail``.

    Newton's steps on the logarithm of that probability, which is nearly concave, from the Clopper-Pearson limit below.
    """
    from scipy.special import betainc, betaincinv, betaln

    some = hits > 0.5 * _CLOSE
    found = np.zeros(hits.shape)
    a, b = hits[some], np.maximum(rest[some], 0.0)
    full = b <= _CLOSE  # no other outcome seen: "more than all" has probability zero
    b = np.where(full, 1.0, b)
    low = betaincinv(a, np.where(full, 1.0, b + 1.0), tail)
    high = np.where(full, 1.0, betaincinv(a + 1.0, b, tail))
    share = low
    log_scale = -betaln(a, np.where(full, 1.0, b + 1.0)), -betaln(a + 1.0, b)
    for _ in range(_MAX_STEPS):
        with np.errstate(divide="ignore"):
            logs = np.log(share), np.log1p(-share)
        some_more = np.where(full, 0.0, betainc(a + 1.0, b, share))
        value = 0.5 * (betainc(a, np.where(full, 1.0, b + 1.0), share) + some_more)
        slope = np.exp(log_scale[0] + (a - 1.0) * logs[0] + np.where(full, 0.0, b * logs[1]))
        slope += np.where(full, 0.0, np.exp(log_scale[1] + a * logs[0] + (b - 1.0) * logs[1]))
        step = np.log(tail / value) * value / (0.5 * slope)
        share = np.clip(share + step, low, high)
        if np.all(np.abs(step) <= _CLOSE * share):
            break
    found[some] = share
    return found


def critical_value(pieces: Pieces, confidence_level: float, normals: Callable[[int], Singles]) -> float:
    """Quantile of the largest studentised error over the thresholds, from draws of a Gaussian process.

    Its covariance is that of the estimate, in closed form: what a Gaussian multiplier bootstrap of the rows has given
    the data, without its passes over the rows. ``normals`` gives draws in rows, for so many thresholds.
    """
    covariance = pieces.covariance + _unseen(pieces)
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    moving = scale > 0.0
    least = pointwise_value(pieces, confidence_level)
    if not moving.any():
        return least
    correlation = covariance[np.ix_(moving, moving)] / np.outer(scale[moving], scale[moving])
    values, vectors = np.linalg.eigh(correlation)
    # the symmetric root is the one that rounding in the covariance does not turn into another
    root = ((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T).astype(np.float32)
    # single precision: the error of the draws themselves is a hundred thousand times larger
    drawn = normals(len(values))
    largest = np.abs(drawn @ root).max(axis=1) * _scales(pieces.degrees, len(drawn))
    return max(float(np.quantile(largest, confidence_level)), least)


def _unseen(pieces: Pieces) -> Floats:
    """Covariance of a few rows more of each kind in every stretch of thresholds between which no row was seen."""
    change = np.any(np.diff(pieces.share, axis=1) != 0.0, axis=0)
    stretch = np.concatenate([[0], np.cumsum(change)])
    weight = np.where(pieces.known, 0.0, pieces.coefficient) * np.sqrt(_UNSEEN_ROWS) * pieces.row[:, None]
    return np.where(stretch[:, None] == stretch[None], weight.T @ weight, 0.0)


def pointwise_value(pieces: Pieces, confidence_level: float, count: int = 1) -> float:
    """Quantile of Student's t for so many statements at once; the normal one where no clusters limit it."""
    from scipy.special import ndtri, stdtrit

    tail = (1.0 - confidence_level) / (2.0 * count)
    return -float(ndtri(tail) if math.isinf(pieces.degrees) else stdtrit(pieces.degrees, tail))


def _scales(degrees: float, draws: int) -> Floats:
    """What makes draws from the normal distribution such from Student's, evenly over its chi-squared divisor."""
    from scipy.special import gammaincinv

    if math.isinf(degrees):
        return np.ones(draws)
    even = (np.arange(draws) + 0.5) / draws
    return np.asarray(np.sqrt(0.5 * degrees / gammaincinv(0.5 * degrees, even)))

"""How likely calibrated scores are to look this much worse than a constant: a tail probability without resampling.

Under calibration the outcomes are independent with the scores as their probabilities, so that the generating function
of the excess loss is known, and its tail follows by the saddlepoint approximation of Lugannani and Rice (1980), which
holds for a handful of events as for millions of rows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]

_STEPS = 200
_CENTRE = 1e-4  # nearer to the mean the formula is 0/0, and the normal tail is as good
_EDGE = 1e-9
_FARTHEST = 800.0  # of a logit: as far as from the least number to one half; farther on, outcomes are certain


def excess_tail(table: ScoreTable, costs: CostDistribution, constant: float) -> float:
    """Probability that calibrated scores lose as much more than a constant forecast as these do, or more still.

    The constant is taken as given. Without this, a few cases that reach the range and all turn out negative look like
    proof: their losses then hardly vary.
    """
    prob, gain, weight = _outcomes(table, costs, constant)
    seen = float(np.dot(table.positives, gain))
    # rows of unequal weight count as fewer of the same weight (Kish)
    squares = table.positives_squared + table.negatives_squared
    rows, unit = weight * weight / squares, squares / weight
    open_ = (prob > 0.0) & (prob < 1.0) & (gain != 0.0)
    if np.any((prob == 0.0) & (table.positives > 0.0)) or np.any((prob == 1.0) & (table.negatives > 0.0)):
        return 0.0
    seen -= float(np.dot(table.positives[~open_], gain[~open_]))
    return _upper_tail(prob[open_], unit[open_] * gain[open_], rows[open_], seen)


def count_tail(table: ScoreTable) -> float:
    """Two-sided probability that calibrated scores are as far from the number of events as these, or farther."""
    weight, squares = table.positives + table.negatives, table.positives_squared + table.negatives_squared
    rows, unit = weight * weight / squares, squares / weight
    open_ = (table.scores > 0.0) & (table.scores < 1.0)
    seen = float(table.positives[open_].sum())
    over = seen > float(np.dot(weight[open_], table.scores[open_]))
    sign = 1.0 if over else -1.0
    return min(1.0, 2.0 * _upper_tail(table.scores[open_], sign * unit[open_], rows[open_], sign * seen))


def _outcomes(table: ScoreTable, costs: CostDistribution, constant: float) -> tuple[Floats, Floats, Floats]:
    """Scores, what a positive outcome adds to the excess loss at each, and weights."""
    own = costs.positive_loss(table.scores) - costs.negative_loss(table.scores)
    other = float(costs.positive_loss(constant)) - float(costs.negative_loss(constant))
    return table.scores, own - other, table.positives + table.negatives


def _upper_tail(prob: Floats, gain: Floats, rows: Floats, seen: float) -> float:
    """P(sum of rows independent Bernoulli(prob) times gain >= seen)."""
    top, reach = float(np.dot(rows, np.maximum(gain, 0.0))), float(np.dot(rows, np.abs(gain)))
    mean = float(np.dot(rows, prob * gain))
    variance = float(np.dot(rows, prob * (1.0 - prob) * gain * gain))
    if variance == 0.0 and not seen > mean:
        return 1.0
    if seen >= top - _EDGE * reach:  # every outcome as bad as can be
        return math.exp(float(np.dot(rows, np.where(gain > 0.0, np.log(prob), np.log1p(-prob)))))
    spread = math.sqrt(variance)
    standard = (seen - mean) / spread if spread > 0.0 else math.inf  # the variance of tiny scores vanishes
    if abs(standard) < _CENTRE:
        return 0.5
    if standard < 0.0:  # nothing that a check asks about
        return 0.5 * math.erfc(standard / math.sqrt(2.0))
    tilt = _saddlepoint(prob, gain, rows, seen, standard / spread if spread > 0.0 else math.inf)
    exponent, _, curvature = _generating(prob, gain, rows, tilt)
    w = math.sqrt(max(2.0 * (tilt * seen - exponent), 0.0))
    v = tilt * math.sqrt(curvature)
    density = math.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi)
    return min(1.0, max(0.0, 0.5 * math.erfc(w / math.sqrt(2.0)) + density * (1.0 / v - 1.0 / w)))


def _generating(prob: Floats, gain: Floats, rows: Floats, tilt: float) -> tuple[float, float, float]:
    """Cumulant generating function of the sum and its first two derivatives."""
    from scipy.special import expit

    logit = np.log(prob) - np.log1p(-prob)
    tilted = expit(logit + tilt * gain)
    # log(1 - p + p e^x) without overflow
    exponent = np.log1p(-prob) + np.logaddexp(0.0, logit + tilt * gain)
    first, second = tilted * gain, tilted * (1.0 - tilted) * gain * gain
    return float(np.dot(rows, exponent)), float(np.dot(rows, first)), float(np.dot(rows, second))


def _saddlepoint(prob: Floats, gain: Floats, rows: Floats, seen: float, start: float) -> float:
    """Tilt at which the mean of the tilted sum is what was seen: Newton's method inside a bracket."""
    low, high = 0.0, min(start, _FARTHEST / float(np.abs(gain).max()))
    while _generating(prob, gain, rows, high)[1] < seen:
        low, high = high, 2.0 * high
    tilt = high
    for _ in range(_STEPS):
        _, mean, variance = _generating(prob, gain, rows, tilt)
        if mean < seen:
            low = tilt
        else:
            high = tilt
        step = tilt - (mean - seen) / variance if variance > 0.0 else math.nan
        new = step if low < step < high else 0.5 * (low + high)
        if abs(new - tilt) <= 1e-12 * abs(tilt):
            break
        tilt = new
    return tilt

"""Intervals of numbers made of the distance between a score and its smoothed event rate: ICI, E50, E90, Emax.

Such a number is never negative and is too large where the score is calibrated, so neither a normal interval nor the
percentiles of a bootstrap cover. The ends here come from tests: with the fitted deviation shrunk or stretched by a
factor, how often would noise like that of these rows give a number as large, or as small, as the one seen? The noise is
that of the table bootstrap, linearised: the residuals of each cell, or of each cluster, times random numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from stakes.curves import curve_over_log_odds
from stakes.inference._cluster_sums import Clusters
from stakes.inference._estimate import Estimate
from stakes.inference._moments import too_few
from stakes.inference._power_sums import freed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from stakes.curves._smooth import LocalFits, Neighbourhoods
    from stakes.inference._dependence import Design
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]
    Number = Callable[[Floats, Floats], Floats]
    Reaches = Callable[[Floats, Floats, float], Bools]

# Where 95% was meant, intervals of these covered 75 to 95% in simulations with few events or bent curves.
WITHHELD = {"e50", "emax"}
_NO_INTERVAL = "no interval: those tried cover the quantiles of the distance too seldom"
_ESTIMATED = "no interval: the noise of the smoothed curve would take the weights as known"
_NEEDED_EVENTS = 50  # of each class: with 30, intervals of 95% covered 89 to 92%
_POINTS = 100  # of the curve, at equal shares of the rows
_DRAWS = 500
_HALVINGS = 14
_FURTHEST = 1e6  # times the number seen
_ROUNDING = 1e-9  # of a share of the weight
_CLUSTERS_AT_ONCE = 2_000_000  # sums over clusters and cells


@dataclass(frozen=True)
class Deviations:
    """Fitted event rate less the score at some points of a curve, and draws of its noise (the last axis).

    ``alone`` is the noise if the score were calibrated: few events leave residuals that are too small. ``shift`` is how
    a shift of the log-odds would look: where noise hides a deviation, its fitted shape is noise too.
    """

    fitted: Floats
    noise: Floats
    alone: Floats
    weight: Floats
    shift: Floats
    bias: Floats


def curve_estimates(
    cells: Cells,
    design: Design,
    smoothed: Neighbourhoods,
    values: dict[str, float],
    smoother: tuple[float, int],
    *,
    level: float,
    rng: Generator,
) -> list[Estimate]:
    """Intervals of the numbers whose values on the rows are given, under their names in ``_NUMBERS``."""
    reason = _reason(cells, design)
    if reason:
        return [Estimate(name, values[name], math.nan, (math.nan, math.nan), level, reason) for name in values]
    seen = _deviations(cells, design.codes, smoothed, smoother, rng)
    return [
        Estimate(name, value, math.nan, (math.nan, math.nan), level, _NO_INTERVAL)
        if name in WITHHELD
        else _estimate(name, value, seen, level)
        for name, value in values.items()
    ]


def _reason(cells: Cells, design: Design) -> str:
    if design.origin is not None:
        return _ESTIMATED
    if design.lags is not None:
        return "no interval: its noise is known for independent rows and clusters only"
    rows = round(cells.rows[0]), round(cells.rows[1])
    clustered = Clusters(design.codes, design.share).reason() if design.codes is not None else ""
    return too_few(rows, _NEEDED_EVENTS) or clustered


def _estimate(name: str, value: float, seen: Deviations, level: float) -> Estimate:
    number, reaches = _NUMBERS[name]
    at, size = (float(number(np.abs(shape), seen.weight)) for shape in (seen.fitted, seen.shift))
    noisy = number(np.abs(seen.fitted[:, None] + seen.noise), seen.weight)
    error = float(np.std(noisy, ddof=1))
    if at <= 0.0:  # no direction in which the curve could deviate
        alone = number(np.abs(seen.noise), seen.weight)
        return Estimate(name, value, error, (0.0, float(np.quantile(alone, level))), level)
    tail = 0.5 * (1.0 - level)

    def larger(factor: float, shape: Floats = seen.fitted, noise: Floats = seen.noise) -> float:
        """Share of the draws in which the number is at least as large as the one seen."""
        return float(np.mean(reaches(np.abs(factor * shape[:, None] + noise), seen.weight, at)))

    def highest(shape: Floats) -> float:
        far = 2.0
        while larger(far, shape) < 1.0 - tail and far < _FURTHEST:
            far *= 2.0
        return _crossing(lambda factor: larger(factor, shape), 1.0 - tail, 0.0, far)

    calibrated = max(larger(0.0), larger(0.0, noise=seen.alone))
    low = 0.0 if calibrated >= tail else _crossing(larger, tail, 0.0, 1.0)
    high = max(1.0, highest(seen.fitted))
    if size > 0.0:  # scores of 0 and 1 alone cannot shift
        high = max(high, highest(seen.shift * (at / size)))
    # what smoothing flattens, as far as a less smooth curve shows it
    flattened = float(number(np.abs(seen.fitted - seen.bias), seen.weight)) - at
    ends = low * value + min(flattened, 0.0), high * value + max(flattened, 0.0)
    return Estimate(name, value, error, (max(ends[0], 0.0), ends[1]), level)


def _crossing(rising: Callable[[float], float], goal: float, low: float, high: float) -> float:
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) < goal else (low, middle)
    return 0.5 * (low + high)


def _deviations(
    cells: Cells, codes: Integers | None, smoothed: Neighbourhoods, smoother: tuple[float, int], rng: Generator
) -> Deviations:
    table = cells.table
    at, weight = _points(smoothed)
    fits = smoothed.fits(at, span=smoother[0], degree=smoother[1])
    rate = np.clip(np.interp(table.scores, at, fits.rate), 0.0, 1.0)
    # what the smoother would add to a curve over the log-odds that bends more freely
    freer = curve_over_log_odds(table)
    bias = fits.matrix @ (smoothed.weight * freer.at(smoothed.score)) - freer.at(at)
    found = partial(Deviations, fits.rate - at, weight=weight, shift=at * (1.0 - at), bias=bias)
    if codes is not None:
        residual = cells.weight * (cells.y - rate[cells.level])
        noise = fits.matrix @ _clustered(cells, codes, residual, fits, rng)
        return found(noise, noise)
    normal = rng.standard_normal((len(smoothed.score), _DRAWS))
    seen = table.positives_squared * (1.0 - rate) ** 2 + table.negatives_squared * rate**2
    stated = (table.positives_squared + table.negatives_squared) * (table.scores * (1.0 - table.scores))
    # standard errors of the weight of positives in each cell of independent rows
    noise, alone = (fits.matrix * np.sqrt(smoothed.sums(variance)) @ normal for variance in (seen, stated))
    return found(noise, alone)


def _points(smoothed: Neighbourhoods) -> tuple[Floats, Floats]:
    """Scores at which the curve is looked at, and how much each counts: few distinct scores all, many by rank."""
    scores, total = smoothed.table.scores, smoothed.table.total
    if len(scores) <= _POINTS:
        return scores, np.diff(smoothed.before) / total
    middle = scores[np.searchsorted(smoothed.before[1:] / total, (np.arange(_POINTS) + 0.5) / _POINTS)]
    at, count = np.unique(middle, return_counts=True)
    ends = np.setdiff1d(scores[[0, -1]], at)  # for the largest distance
    points = np.append(at, ends)
    counts: Floats = np.append(count.astype(np.float64), np.zeros(len(ends)))
    order = np.argsort(points)
    counted: Floats = counts[order] / float(_POINTS)
    return points[order], counted


def _clustered(cells: Cells, codes: Integers, residual: Floats, fits: LocalFits, rng: Generator) -> Floats:
    """Noise of the positives in each cell where rows of a cluster move together."""
    places, n = np.unique(codes, return_inverse=True)[1], len(fits.cells.score)
    count = int(places.max()) + 1
    cell, noise = fits.cells.cell[cells.level], np.zeros((n, _DRAWS))
    order = np.argsort(places, kind="stable")
    step = max(_CLUSTERS_AT_ONCE // n, 1)
    for first in range(0, count, step):
        rows = order[slice(*np.searchsorted(places[order], (first, first + step)))]
        size = min(step, count - first)
        sums = np.bincount(cell[rows] * size + places[rows] - first, weights=residual[rows], minlength=n * size)
        noise += sums.reshape(n, size) @ rng.standard_normal((size, _DRAWS))
    return noise * math.sqrt(float(freed(count)))


def _quantile(level: float, distance: Floats, weight: Floats) -> Floats:
    order = np.argsort(distance, axis=0)
    place = np.minimum((np.cumsum(weight[order], axis=0) < level).sum(axis=0), len(distance) - 1)
    return np.take_along_axis(distance, np.take_along_axis(order, place[None], axis=0), axis=0)[0]


def _mean(distance: Floats, weight: Floats) -> Floats:
    return np.asarray(weight @ distance)


def _mean_reaches(distance: Floats, weight: Floats, at: float) -> Bools:
    return np.asarray(weight @ distance >= at)


def _quantile_reaches(level: float, distance: Floats, weight: Floats, at: float) -> Bools:
    """Whether the quantile is at least so large: no sort is needed to weigh what lies below."""
    return np.asarray(weight @ (distance < at) < level - _ROUNDING)


# each number, and whether it is at least so large
_NUMBERS: dict[str, tuple[Number, Reaches]] = {
    "ici": (_mean, _mean_reaches),
    "e90": (partial(_quantile, 0.9), partial(_quantile_reaches, 0.9)),
}

"""Intervals of numbers made of the distance between a score and its smoothed event rate: ICI, E50, E90, Emax.

Such a number is never negative and is too large where the score is calibrated, so neither a normal interval nor the
percentiles of a bootstrap cover. The ends here come from tests: with the fitted deviation shrunk or stretched by a
factor, how often would noise like that of these rows give a number as large, or as small, as the one seen? The noise is
that of the table bootstrap, linearised: the residuals of each cell, or of each cluster, times random numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.curves import curve_over_log_odds
from stakes.curves._smooth import local_fits
from stakes.inference._cluster_sums import Clusters
from stakes.inference._estimate import Estimate
from stakes.inference._moments import too_few
from stakes.inference._power_sums import freed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.curves._smooth import LocalFits
    from stakes.inference._dependence import Design
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Number = Callable[[Floats], Floats]

# Where 95% was meant, intervals of these covered 75 to 95% in simulations with few events or bent curves.
WITHHELD = {"e50", "emax"}
_NO_INTERVAL = "no interval: those tried cover the quantiles of the distance too seldom"
_ESTIMATED = "no interval: the noise of the smoothed curve would take the weights as known"
_NEEDED_EVENTS = 50  # of each class: with 30, intervals of 95% covered 89 to 92%
_POINTS = 100  # of the curve, at equal shares of the rows
_DRAWS = 500
_HALVINGS = 14
_FURTHEST = 1e6  # times the number seen
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
    seen = _deviations(cells, design.codes, smoother, rng)
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
    count = cells.weight**2 / cells.square
    rows = round(float(count[~cells.y].sum())), round(float(count[cells.y].sum()))
    clustered = Clusters(design.codes, design.share).reason() if design.codes is not None else ""
    return too_few(rows, _NEEDED_EVENTS) or clustered


def _estimate(name: str, value: float, seen: Deviations, level: float) -> Estimate:
    def number(deviation: Floats) -> Floats:
        return _NUMBERS[name](np.abs(deviation), seen.weight)

    at = float(number(seen.fitted[:, None])[0])
    error = float(np.std(number(seen.fitted[:, None] + seen.noise), ddof=1))
    if at <= 0.0:  # no direction in which the curve could deviate
        return Estimate(name, value, error, (0.0, float(np.quantile(number(seen.noise), level))), level)
    tail = 0.5 * (1.0 - level)

    def larger(factor: float, shape: Floats = seen.fitted) -> float:
        """Share of the draws in which the number is at least as large as the one seen."""
        return float(np.mean(number(factor * shape[:, None] + seen.noise) >= at))

    def highest(shape: Floats) -> float:
        far = 2.0
        while larger(far, shape) < 1.0 - tail and far < _FURTHEST:
            far *= 2.0
        return _crossing(lambda factor: larger(factor, shape), 1.0 - tail, 0.0, far)

    calibrated = max(larger(0.0), float(np.mean(number(seen.alone) >= at)))
    low = 0.0 if calibrated >= tail else _crossing(larger, tail, 0.0, 1.0)
    high, size = max(1.0, highest(seen.fitted)), float(number(seen.shift[:, None])[0])
    if size > 0.0:  # scores of 0 and 1 alone cannot shift
        high = max(high, highest(seen.shift * (at / size)))
    # what smoothing flattens, as far as a less smooth curve shows it
    flattened = float(number((seen.fitted - seen.bias)[:, None])[0]) - at
    ends = low * value + min(flattened, 0.0), high * value + max(flattened, 0.0)
    return Estimate(name, value, error, (max(ends[0], 0.0), ends[1]), level)


def _crossing(rising: Callable[[float], float], goal: float, low: float, high: float) -> float:
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if rising(middle) < goal else (low, middle)
    return 0.5 * (low + high)


def _deviations(cells: Cells, codes: Integers | None, smoother: tuple[float, int], rng: Generator) -> Deviations:
    at, weight = _points(cells)
    fits = local_fits(cells.table, at, span=smoother[0], degree=smoother[1])
    rate = np.clip(np.interp(cells.score, at, fits.rate), 0.0, 1.0)
    residual, bias = cells.weight * (cells.y - rate), _bias(cells.table, at, fits)
    if codes is not None:
        noise = fits.matrix @ _clustered(cells, codes, residual, fits, rng)
        return Deviations(fits.rate - at, noise, noise, weight, at * (1.0 - at), bias)
    normal = rng.standard_normal((len(fits.score), _DRAWS))
    seen, stated = (residual / cells.weight) ** 2, cells.score * (1.0 - cells.score)
    noise, alone = (fits.matrix @ (_error(cells, variance, fits)[:, None] * normal) for variance in (seen, stated))
    return Deviations(fits.rate - at, noise, alone, weight, at * (1.0 - at), bias)


def _bias(table: ScoreTable, at: Floats, fits: LocalFits) -> Floats:
    """What the smoother would add to a curve over the log-odds that bends more freely."""
    curve = curve_over_log_odds(table)
    weight = np.bincount(fits.cell, table.positives + table.negatives, len(fits.score))
    return fits.matrix @ (weight * curve.at(fits.score)) - curve.at(at)


def _points(cells: Cells) -> tuple[Floats, Floats]:
    """Scores at which the curve is looked at, and how much each counts: few distinct scores all, many by rank."""
    table = cells.table
    weight = table.positives + table.negatives
    if len(weight) <= _POINTS:
        return table.scores, weight / table.total
    share = np.cumsum(weight) / table.total
    middle = table.scores[np.searchsorted(share, (np.arange(_POINTS) + 0.5) / _POINTS)]
    at, count = np.unique(middle, return_counts=True)
    ends = np.setdiff1d(table.scores[[0, -1]], at)  # for the largest distance
    points = np.append(at, ends)
    counts: Floats = np.append(count.astype(np.float64), np.zeros(len(ends)))
    order = np.argsort(points)
    counted: Floats = counts[order] / float(_POINTS)
    return points[order], counted


def _error(cells: Cells, variance: Floats, fits: LocalFits) -> Floats:
    """Standard error of the weight of positives in each cell of independent rows."""
    return np.sqrt(np.bincount(fits.cell[cells.level], weights=variance * cells.square, minlength=len(fits.score)))


def _clustered(cells: Cells, codes: Integers, residual: Floats, fits: LocalFits, rng: Generator) -> Floats:
    """Noise of the positives in each cell where rows of a cluster move together."""
    places, n = np.unique(codes, return_inverse=True)[1], len(fits.score)
    count = int(places.max()) + 1
    cell, noise = fits.cell[cells.level], np.zeros((n, _DRAWS))
    order = np.argsort(places, kind="stable")
    step = max(_CLUSTERS_AT_ONCE // n, 1)
    for first in range(0, count, step):
        rows = order[slice(*np.searchsorted(places[order], (first, first + step)))]
        size = min(step, count - first)
        sums = np.bincount(cell[rows] * size + places[rows] - first, weights=residual[rows], minlength=n * size)
        noise += sums.reshape(n, size) @ rng.standard_normal((size, _DRAWS))
    return noise * math.sqrt(float(freed(count)))


def _quantile(distance: Floats, weight: Floats, level: float) -> Floats:
    order = np.argsort(distance, axis=0)
    share = np.cumsum(weight[order], axis=0)
    place = np.minimum((share < level).sum(axis=0), len(distance) - 1)
    return np.take_along_axis(distance, np.take_along_axis(order, place[None], axis=0), axis=0)[0]


_NUMBERS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "ici": lambda distance, weight: np.asarray(weight @ distance),
    "e50": lambda distance, weight: _quantile(distance, weight, 0.5),
    "e90": lambda distance, weight: _quantile(distance, weight, 0.9),
    "emax": lambda distance, _: distance.max(axis=0),
}

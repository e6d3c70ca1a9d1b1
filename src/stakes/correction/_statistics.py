"""Tests that probabilities are calibrated, each with its statistic and p-value; all assume clean data."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.logistic import sigmoid
from stakes.core.recalibration import LogisticFit, fit_recalibration
from stakes.core.score_table import ScoreTable
from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

# The bets of the sequential test: every shift with every slope, all with the same stake.
SHIFTS = (-1.0, -0.35, -0.12, -0.04, 0.0, 0.04, 0.12, 0.35, 1.0)
SLOPES = (0.5, 0.75, 0.9, 1.0, 1.1, 1.35, 2.0)
_BET_ROWS = 1 << 12


@dataclass(frozen=True)
class Recalibration:
    """A logistic recalibration and how much better it fits than the scores as they are."""

    fit: LogisticFit
    statistic: float
    p_value: float
    status: str = ""


def within_open_interval(table: ScoreTable) -> tuple[ScoreTable | None, int]:
    """Leave out scores of exactly 0 and 1, which say nothing about odds, and count the rows that deny them."""
    first = int(table.scores[0] <= 0.0)
    last = len(table.scores) - int(table.scores[-1] >= 1.0)
    denied = float(table.positives[0]) * first + float(table.negatives[-1]) * (last < len(table.scores))
    if first == 0 and last == len(table.scores):
        return table, 0
    if first >= last:
        return None, int(denied > 0.0)
    cut = slice(first, last)
    unweighted = not is_weighted(table)
    ups, downs = table.positives[cut], table.negatives[cut]
    squares = (ups, downs) if unweighted else (table.positives_squared[cut], table.negatives_squared[cut])
    return ScoreTable(table.scores[cut], ups, downs, *squares, n_rows=table.n_rows), int(denied > 0.0)


def recalibration_test(table: ScoreTable) -> Recalibration:
    """Likelihood ratio of intercept 0 and slope 1 against any intercept and slope; two degrees of freedom."""
    inner, denied = within_open_interval(table)
    nothing = LogisticFit(math.nan, math.nan, math.nan, np.full((2, 2), np.nan))
    if denied:
        return Recalibration(nothing, math.inf, 0.0, "a score of 0 or 1 was wrong")
    if inner is None:
        return Recalibration(nothing, 0.0, 1.0, "every score is 0 or 1, and right")
    fit = free_fit(inner)
    if fit.status and not math.isfinite(fit.log_likelihood):
        return Recalibration(fit, math.nan, math.nan, fit.status)
    statistic = 2.0 * (fit.log_likelihood - log_likelihood(inner)) / design_effect(inner, fit)
    return Recalibration(fit, max(statistic, 0.0), chi2_tail(statistic, 2), fit.status)


def free_fit(table: ScoreTable) -> LogisticFit:
    """Fit intercept and slope; where the slope is infinite, with the likelihood that it approaches."""
    fit = fit_recalibration(table)
    if not math.isinf(fit.slope):
        return fit
    # only one score, at the cut between the classes, may hold both of them
    shared = (table.positives > 0.0) & (table.negatives > 0.0)
    ups, downs = table.positives[shared], table.negatives[shared]
    total = ups + downs
    return replace(fit, log_likelihood=float(ups @ np.log(ups / total) + downs @ np.log(downs / total)))


def log_likelihood(table: ScoreTable) -> float:
    """Log likelihood of the labels under the scores."""
    return float(table.positives @ np.log(table.scores) + table.negatives @ np.log1p(-table.scores))


def is_weighted(table: ScoreTable) -> bool:
    """Whether rows carry weights other than one."""
    if table.positives_squared is table.positives and table.negatives_squared is table.negatives:
        return False
    same = np.array_equal(table.positives, table.positives_squared)
    return not (same and np.array_equal(table.negatives, table.negatives_squared))


def sandwich(table: ScoreTable, fit: LogisticFit) -> Floats:
    """Covariance of the recalibration: the inverse information, or with weights the robust one."""
    if not is_weighted(table) or fit.status:
        return fit.covariance
    x = np.log(table.scores) - np.log1p(-table.scores)
    design = np.column_stack([np.ones_like(x), x])[:, : len(fit.covariance)]
    p = sigmoid(fit.intercept + fit.slope * x)
    meat = table.positives_squared * (1.0 - p) ** 2 + table.negatives_squared * p**2
    return np.asarray(fit.covariance @ (design.T @ (design * meat[:, None])) @ fit.covariance)


def design_effect(table: ScoreTable, fit: LogisticFit) -> float:
    """Mean factor by which weights inflate the variances (Rao and Scott 1984)."""
    if not is_weighted(table) or fit.status:
        return 1.0
    return float(np.trace(np.linalg.lstsq(fit.covariance, sandwich(table, fit), rcond=None)[0])) / len(fit.covariance)


def chi2_tail(statistic: float, degrees: int) -> float:
    """Probability that chi-squared exceeds the statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(degrees, max(statistic, 0.0)))


def normal_two_sided(z: float) -> float:
    """Probability that a standard normal is as far from zero."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def spiegelhalter(table: ScoreTable) -> tuple[float, float]:
    """Spiegelhalter's z and its p-value; nan where every score is 0, 1/2 or 1, to which it is blind."""
    g = table.scores
    weight, squared = table.positives + table.negatives, table.positives_squared + table.negatives_squared
    lever = 1.0 - 2.0 * g
    numerator = float((table.positives - weight * g) @ lever)
    variance = float(squared @ (lever**2 * g * (1.0 - g)))
    if variance > 0.0:
        z = numerator / math.sqrt(variance)
        return z, normal_two_sided(z)
    return (math.inf, 0.0) if numerator else (math.nan, math.nan)  # wrong though certain, or nothing to see


def brier_miscalibration(scores: Floats, positives: Floats, negatives: Floats) -> float:
    """CORP miscalibration of the Brier score, from counts at ascending distinct scores."""
    from scipy.optimize import isotonic_regression

    weight = positives + negatives
    fitted = isotonic_regression(positives / weight, weights=weight).x
    # (s - y)^2 - (x - y)^2 = (s - x)(s + x - 2 y)
    gap = scores - fitted
    return max(float(gap @ (weight * (scores + fitted) - 2.0 * positives)) / float(weight.sum()), 0.0)


def bootstrap_table(table: ScoreTable, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """CORP miscalibration and its p-value where labels are drawn from the scores; rows without weights."""
    observed = brier_miscalibration(table.scores, table.positives, table.negatives)
    counts = table.positives + table.negatives
    single = bool(np.all(counts == 1.0))
    whole = counts.astype(np.int64)
    exceed = 0
    for _ in range(repeats):
        drawn = rng.random(len(whole)) < table.scores if single else rng.binomial(whole, table.scores)
        ups = drawn.astype(np.float64)
        exceed += brier_miscalibration(table.scores, ups, counts - ups) >= observed
    return observed, (1.0 + exceed) / (repeats + 1.0) if repeats else math.nan


def bootstrap_rows(g: Floats, y: Bools, weight: Floats, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """The same for rows with weights, which each label carries along."""
    order = np.argsort(g, kind="stable")
    score, label, mass = g[order], y[order], weight[order]
    starts = np.flatnonzero(np.concatenate([[True], score[1:] != score[:-1]]))
    total = np.add.reduceat(mass, starts)

    def miscalibration(drawn: Bools) -> float:
        ups = np.add.reduceat(mass * drawn, starts)
        return brier_miscalibration(score[starts], ups, total - ups)

    observed = miscalibration(label)
    exceed = sum(miscalibration(rng.random(len(score)) < score) >= observed for _ in range(repeats))
    return observed, (1.0 + exceed) / (repeats + 1.0) if repeats else math.nan


@dataclass(frozen=True)
class Evidence:
    """The course of the sequential test: its last and its largest value, and when it first crossed the level."""

    last: float
    largest: float
    crossed_at: int | None


def sequential_e_value(y: Bools, g: Floats, weight: Floats | None, level: float) -> Evidence:
    """E-value of a mixture of fixed bets, row by row in the order given.

    Each bet multiplies its stake by q(y) / g(y), where q is g moved by a shift and a slope of its log-odds. A weight
    w <= 1 raises the factor to the power w, whose expectation is then at most one.
    """
    power = None if weight is None else weight / weight.max()
    shift, slope = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
    wealth = np.zeros(len(shift))
    largest, crossed, last = -math.inf, None, 0.0
    threshold = -math.log(level)
    for part in blocks(len(g), _BET_ROWS):
        growth = _log_factors(y[part], g[part], shift, slope)
        if power is not None:
            growth *= power[part][:, None]
        course = np.add.accumulate(growth, axis=0) + wealth
        wealth = course[-1]
        with np.errstate(invalid="ignore"):
            top = course.max(axis=1)
            log_mean = np.where(np.isfinite(top), top + np.log(np.mean(np.exp(course - top[:, None]), axis=1)), top)
        last, largest = float(log_mean[-1]), max(largest, float(log_mean.max()))
        if crossed is None and largest >= threshold:
            crossed = part.start + int(np.argmax(log_mean >= threshold))
    return Evidence(_exp(last), _exp(largest), crossed)


def _log_factors(y: Bools, g: Floats, shift: Floats, slope: Floats) -> Floats:
    """Log q(y) / g(y) for each row and bet; a certain score that is right moves no stake, one that is wrong wins."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.log(g) - np.log1p(-g)
        sign = np.where(y, 1.0, -1.0)
        moved = sign[:, None] * (shift + slope * x[:, None])
        factors = np.logaddexp(0.0, -(sign * x))[:, None] - np.logaddexp(0.0, -moved)
    certain = ~np.isfinite(x)
    if np.any(certain):
        factors[certain] = np.where(y[certain] == (g[certain] > 0.5), 0.0, np.inf)[:, None]
    return factors


def _exp(value: float) -> float:
    return math.exp(value) if value < 700.0 else math.inf

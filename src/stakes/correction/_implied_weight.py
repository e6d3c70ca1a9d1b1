"""The class weight implied by scores, and test statistics of calibration."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.arrays import Bools, Floats
from stakes.base.numerics import sigmoid
from stakes.base.validation import blocks, check_level
from stakes.core.options import evaluation_data, refuse_weighing
from stakes.core.score_table import LogisticFit, ScoreTable, fit_recalibration
from stakes.outputs.hooks import report_progress
from stakes.outputs.result_table import Tabular

# Tests that probabilities are calibrated, each with its statistic and p-value; all assume clean data.

# The bets of the sequential test: every shift with every slope, all with the same stake.
SHIFTS = (-1.0, -0.35, -0.12, -0.04, 0.0, 0.04, 0.12, 0.35, 1.0)
SLOPES = (0.5, 0.75, 0.9, 1.0, 1.1, 1.35, 2.0)
_BET_ROWS = 1 << 12
_RUN, _FACTOR = 32, 1e4  # rows whose factors are multiplied, and the largest of these that leaves no product too large


@dataclass(frozen=True)
class Recalibration:
    """A logistic recalibration, and its likelihood ratio against the unchanged scores."""

    fit: LogisticFit
    statistic: float
    p_value: float
    status: str = ""


def within_open_interval(table: ScoreTable) -> tuple[ScoreTable | None, int]:
    """Drop scores of exactly 0 and 1, whose odds are not finite, and count the rows that contradict them."""
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
    """Fit intercept and slope; for an infinite slope use the limit of the likelihood."""
    fit = fit_recalibration(table)
    if not math.isinf(fit.slope):
        return fit
    # only the score at the cut between the classes may have both
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
    if fit.status:
        return fit.covariance
    x = np.log(table.scores) - np.log1p(-table.scores)
    design = np.column_stack([np.ones_like(x), x])[:, : len(fit.covariance)]
    return robust_covariance(table, design, sigmoid(fit.intercept + fit.slope * x), fit.covariance)


def robust_covariance(table: ScoreTable, design: Floats, p: Floats, inverse: Floats) -> Floats:
    """Covariance of logistic coefficients: the inverse information, or with weights the sandwich around it."""
    if not is_weighted(table):
        return inverse
    meat = table.positives_squared * (1.0 - p) ** 2 + table.negatives_squared * p**2
    return np.asarray(inverse @ (design.T @ (design * meat[:, None])) @ inverse)


def design_effect(table: ScoreTable, fit: LogisticFit) -> float:
    """Mean factor by which weights inflate the variances (Rao and Scott 1984)."""
    if not is_weighted(table) or fit.status:
        return 1.0
    return float(np.trace(np.linalg.lstsq(fit.covariance, sandwich(table, fit), rcond=None)[0])) / len(fit.covariance)


def chi2_tail(statistic: float, degrees: int) -> float:
    """Probability that chi-squared exceeds the statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(degrees, max(statistic, 0.0)))


def spiegelhalter(table: ScoreTable) -> tuple[float, float]:
    """Spiegelhalter's z and its p-value; nan if every score is 0, 1/2 or 1, where it is undefined."""
    g = table.scores
    weight, squared = table.positives + table.negatives, table.positives_squared + table.negatives_squared
    lever = 1.0 - 2.0 * g
    numerator = float((table.positives - weight * g) @ lever)
    variance = float(squared @ (lever**2 * g * (1.0 - g)))
    if variance > 0.0:
        z = numerator / math.sqrt(variance)
        return z, math.erfc(abs(z) / math.sqrt(2.0))
    return (math.inf, 0.0) if numerator else (math.nan, math.nan)  # a wrong score of 0 or 1, or no miscalibration


def brier_miscalibration(scores: Floats, positives: Floats, negatives: Floats) -> float:
    """CORP miscalibration of the Brier score, from counts at ascending distinct scores."""
    from scipy.optimize import isotonic_regression

    weight = positives + negatives
    fitted = isotonic_regression(positives / weight, weights=weight).x
    # (s - y)^2 - (x - y)^2 = (s - x)(s + x - 2 y)
    gap = scores - fitted
    return max(float(gap @ (weight * (scores + fitted) - 2.0 * positives)) / float(weight.sum()), 0.0)


# Labels drawn from the scores, as often as the p-value needs.
#
# With W the sum of the weights, sqrt(W MCB) moves by no more than the labels do (weighted, in Euclidean length), and
# where it stays below a bound the labels form a convex set. So it exceeds its median by t with probability at most
# 2 exp(-t^2 / 4 w), w the largest weight (Talagrand 1995), whatever the number of rows. All of 40 draws lie below the
# median with probability 2^-40: what is higher than the highest of them by that t is reached by no later draw. Where
# many scores differ, drawing ends when 50 draws have reached the observed one, and p is 50 over their number (Besag and
# Clifford 1991, doi:10.1093/biomet/78.2.301).

_FIRST = 40
_CLEAR = 4.0 * math.log(1e13)  # square of a t that a draw in ten thousand billions reaches
_MANY, _ENOUGH = 1 << 16, 50


def bootstrap_table(table: ScoreTable, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """CORP miscalibration and its p-value by labels drawn from the scores, for rows without weights."""
    observed = brier_miscalibration(table.scores, table.positives, table.negatives)
    counts = table.positives + table.negatives
    tied = np.flatnonzero(counts != 1.0)
    whole, many = counts.astype(np.int64), len(counts) > _MANY
    passed, squares = np.append(0.0, np.cumsum(counts)), float(counts @ table.scores**2)

    def miscalibration() -> float:
        if not many and len(tied):
            ups = rng.binomial(whole, table.scores).astype(np.float64)
            return brier_miscalibration(table.scores, ups, counts - ups)
        hit = rng.random(len(whole)) < table.scores
        if not many:
            return brier_miscalibration(table.scores, hit.astype(np.float64), (~hit).astype(np.float64))
        drawn = rng.binomial(whole[tied], table.scores[tied])
        hit[tied] = drawn > 0
        place = np.flatnonzero(hit)
        ups = np.ones(len(place))
        ups[np.searchsorted(place, tied[drawn > 0])] = drawn[drawn > 0]
        return _of_positives(table.scores, passed, squares, place, ups)

    return observed, _p_value(miscalibration, observed, float(counts.sum()), repeats, many=many)


def bootstrap_rows(g: Floats, y: Bools, weight: Floats, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """CORP miscalibration and its p-value by labels drawn from the scores, for weighted rows."""
    order = np.argsort(g, kind="stable")
    score, label, mass = g[order], y[order], weight[order]
    starts = np.flatnonzero(np.concatenate([[True], score[1:] != score[:-1]]))
    total = np.add.reduceat(mass, starts)

    def miscalibration(drawn: Bools) -> float:
        ups = np.add.reduceat(mass * drawn, starts)
        return brier_miscalibration(score[starts], ups, total - ups)

    observed, rows = miscalibration(label), float(mass.sum() / mass.max(initial=0.0))
    draw = partial(_draw, miscalibration, score, rng)
    return observed, _p_value(draw, observed, rows, repeats, many=len(starts) > _MANY)


def _draw(miscalibration: Callable[[Bools], float], score: Floats, rng: np.random.Generator) -> float:
    return miscalibration(rng.random(len(score)) < score)


def _p_value(draw: Callable[[], float], observed: float, rows: float, repeats: int, *, many: bool) -> float:
    """Share of draws that reach the observed miscalibration; ``rows`` is all weight over the largest."""
    exceed, highest = 0, 0.0
    for done in range(1, repeats + 1):
        found = draw()
        exceed, highest = exceed + (found >= observed), max(highest, found)
        report_progress(done, repeats)
        if done == _FIRST and math.sqrt(rows * observed) > math.sqrt(rows * highest) + math.sqrt(_CLEAR):
            break  # none of the others would reach it
        if many and exceed == _ENOUGH:
            return exceed / done
    return (1.0 + exceed) / (repeats + 1.0) if repeats else math.nan


def _of_positives(scores: Floats, passed: Floats, squares: float, place: NDArray[np.intp], ups: Floats) -> float:
    """CORP miscalibration from the scores that have positives.

    ``passed`` counts the rows before each score, then all; ``squares`` is the sum of the squared scores over rows.
    """
    from scipy.optimize import isotonic_regression

    # a score with positives and those without up to the next fall, and so pool; before the first the rate is zero
    sizes = np.diff(passed[place], append=passed[-1])
    blocks = isotonic_regression(ups / sizes, weights=sizes).blocks[:-1] if len(place) else place
    pooled, hits = (np.add.reduceat(part, blocks) if len(part) else part for part in (sizes, ups))
    # sum of (s - y)^2, less that of (x - y)^2, which is positives less positives^2 / rows of each block
    total = squares - 2.0 * float(scores[place] @ ups) + float(hits @ (hits / pooled))
    return max(total / float(passed[-1]), 0.0)


class Evidence(NamedTuple):
    """The result of the sequential test: last and largest e-value, and the first crossing of the level."""

    last: float
    largest: float
    crossed_at: int | None


def sequential_e_value(y: Bools, g: Floats, weight: Floats | None, level: float) -> Evidence:
    """E-values of a mixture of fixed bets, row by row in input order.

    Each bet multiplies its stake by q(y) / g(y), where q is g moved by a shift and a slope of its log-odds. A weight
    w <= 1 raises the factor to the power w, whose expectation is then at most one.
    """
    power = None if weight is None else weight / weight.max()
    shift, slope = (grid.ravel() for grid in np.meshgrid(SHIFTS, SLOPES, indexing="ij"))
    wealth = np.zeros(len(shift))
    largest, crossed, last = -math.inf, None, 0.0
    threshold = -math.log(level)
    for part in blocks(len(g), _BET_ROWS):
        factors = None if power is not None else _factors(y[part], g[part])
        if factors is not None:
            log_mean, wealth = _log_mean_wealth(factors, wealth)
        else:
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
        if last == math.inf:
            break  # as it stays
    return Evidence(_exp(last), _exp(largest), crossed)


def _factors(y: Bools, g: Floats) -> Floats | None:
    """Return q(y) / g(y) for each row and bet; None where products of some of them may overflow or vanish."""
    with np.errstate(all="ignore"):
        away = np.where(y, -1.0, 1.0) * (np.log(g) - np.log1p(-g))
        by_slope = np.exp(away[:, None] * np.array(SLOPES))
        by_shift = np.exp(np.where(y, -1.0, 1.0)[:, None] * np.array(SHIFTS))
        found = (1.0 + np.exp(away))[:, None, None] / (1.0 + by_shift[:, :, None] * by_slope[:, None])
    found[(g == 0.0) & ~y | (g == 1.0) & y] = 1.0
    return found.reshape(len(y), -1) if found.min() >= 1.0 / _FACTOR and found.max() <= _FACTOR else None


def _log_mean_wealth(factors: Floats, wealth: Floats) -> tuple[Floats, Floats]:
    """Logarithms of the mean wealth of all bets after each row, and of each bet's wealth after the last."""
    n, bets = factors.shape
    products = np.ones((-(-n // _RUN) * _RUN, bets))
    products[:n] = factors
    products = np.multiply.accumulate(products.reshape(-1, _RUN, bets), axis=1)
    after = wealth + np.add.accumulate(np.log(products[:, -1]), axis=0)
    before = np.concatenate([wealth[None], after[:-1]])
    top = before.max(axis=1)[:, None]
    mean = np.einsum("rb,rkb->rk", np.exp(before - top), products) / bets
    return (top + np.log(mean)).ravel()[:n], after[-1]


def _log_factors(y: Bools, g: Floats, shift: Floats, slope: Floats) -> Floats:
    """Log q(y) / g(y) for each row and bet; 0 for a correct score of 0 or 1, infinite for a wrong one."""
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


# The class weight implied by a model's scores and the observed labels.


@dataclass(frozen=True, repr=False)
class ImpliedWeight(Tabular):
    """The class weight that fits the scores best, and whether a class weight explains them at all.

    Parameters
    ----------
    positive_share : float
        Best-fitting relative weight of the positive class, w1 / (w0 + w1); 1/2 is no weighting.
    ci_low, ci_high : float
        Confidence interval of ``positive_share``.
    p_value : float
        Likelihood-ratio test of 1/2, the slope held at 1.
    slope : float
        Recalibration slope where it is free as well; class weights leave it at 1.
    slope_ci_low, slope_ci_high : float
        Confidence interval of the slope.
    slope_p_value : float
        Likelihood-ratio test of slope 1.
    confidence_level : float
        Of the intervals.
    status : str
        Why numbers are nan or infinite, or which scores were left aside; empty if there is nothing to say.

    Examples
    --------
    >>> from stakes.correction import implied_weight
    >>> implied_weight([0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.8])
    ImpliedWeight(...)
    """

    positive_share: float
    ci_low: float
    ci_high: float
    p_value: float
    slope: float
    slope_ci_low: float
    slope_ci_high: float
    slope_p_value: float
    confidence_level: float
    status: str = ""

    @property
    def scale_pos_weight(self) -> float:
        """The same weight as a ratio w1 / w0."""
        return self.positive_share / (1.0 - self.positive_share) if self.positive_share < 1.0 else math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of ``positive_share``."""
        return self.ci_low, self.ci_high

    def _records(self) -> list[dict[str, Any]]:
        return [{name: getattr(self, name) for name in self.__dataclass_fields__}]

    def __repr__(self) -> str:
        if self.status and math.isnan(self.positive_share):
            return f"ImpliedWeight(undefined: {self.status})"
        return (
            f"ImpliedWeight(positive_share={self.positive_share:.4g}, {self.confidence_level:.0%} interval "
            f"{self.ci_low:.4g} to {self.ci_high:.4g}, no weight: p = {self.p_value:.3g}; "
            f"slope {self.slope:.3g}, p of 1 = {self.slope_p_value:.3g})"
        )


def implied_weight(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    confidence_level: float = 0.95,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> ImpliedWeight:
    """Estimate the class weight that a model was trained with, from its scores and what happened.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores of the positive class as the model gives them.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0. Intervals and tests take them for sampling weights, not for repeated rows.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    ImpliedWeight
        Nan, with a ``status``, for one class only, or where a score of 0 or 1 was wrong: no weight explains that.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    Intercept-only logistic recalibration, logit P(y = 1) = logit a - logit beta. Undersampling negatives, oversampling
    positives and a population with more positives than the evaluation's leave the same trace: the estimate says how
    much, not why. A slope away from 1 says that something else is wrong too. Scores of exactly 0 and 1 that are right
    are left aside.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_class_weight, implied_weight
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 9, 20000)
    >>> y = rng.random(20000) < p
    >>> found = implied_weight(y, apply_class_weight(p, positive_share=0.95))
    >>> round(found.positive_share, 3), found.slope_p_value > 0.05
    (0.951, True)
    """
    level = check_level(confidence_level)
    refuse_weighing(y_true, "implied_weight")
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return implied_weight_of(data.table, level)


def implied_weight_of(table: ScoreTable, confidence_level: float = 0.95) -> ImpliedWeight:
    """Estimate from a clean table."""
    inner, denied = within_open_interval(table)
    if denied:
        return _undefined("a score of exactly 0 or 1 was wrong, which no class weight explains", confidence_level)
    if inner is None:
        return _undefined("every score is exactly 0 or 1", confidence_level)
    fit = fit_recalibration(inner, slope=1.0)
    if fit.status:
        return _undefined(fit.status, confidence_level)
    z = NormalDist().inv_cdf(0.5 + confidence_level / 2.0)
    half = z * math.sqrt(float(sandwich(inner, fit)[0, 0]))
    aside = "" if inner is table else "scores of exactly 0 and 1 were left aside"
    free = free_fit(inner)
    shares = _share(fit.intercept), _share(fit.intercept + half), _share(fit.intercept - half)
    gain = 2.0 * (fit.log_likelihood - log_likelihood(inner)) / design_effect(inner, fit)
    remark = "; ".join(filter(None, (aside, free.status)))
    return ImpliedWeight(*shares, chi2_tail(gain, 1), *_slope(inner, fit, free, z), confidence_level, remark)


def _slope(table: ScoreTable, fixed: LogisticFit, free: LogisticFit, z: float) -> tuple[float, float, float, float]:
    """Slope, its interval, and the p-value of slope 1."""
    if not math.isfinite(free.log_likelihood):
        return (math.nan,) * 4
    gain = 2.0 * (free.log_likelihood - fixed.log_likelihood) / design_effect(table, free)
    if free.status:
        return free.slope, math.nan, math.nan, chi2_tail(gain, 1)
    half = z * math.sqrt(float(sandwich(table, free)[1, 1]))
    return free.slope, free.slope - half, free.slope + half, chi2_tail(gain, 1)


def _share(intercept: float) -> float:
    """Relative weight of the positive class that a recalibration intercept undoes."""
    return float(sigmoid(-intercept))


def _undefined(status: str, confidence_level: float) -> ImpliedWeight:
    nan = math.nan
    return ImpliedWeight(nan, nan, nan, nan, nan, nan, nan, nan, confidence_level, status)

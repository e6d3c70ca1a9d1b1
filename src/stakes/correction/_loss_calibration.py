"""Loss calibration: the class weight implied by scores, its test, and its curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.multiclass import class_names, named_values, refuse_other_order, stated_labels
from stakes.base.numerics import sigmoid, weighted_sum
from stakes.base.validation import Bools, Floats, blocks, check_level
from stakes.core.options import EvaluationData, evaluation_data, refuse_weighing, row_as_given
from stakes.core.score_table import LogisticFit, ScoreTable, class_ratio, fit_recalibration, in_narrow_cells
from stakes.correction._weights import Stated, rows_or_classes, shift_odds, shift_rows, stated_factors
from stakes.curves import BinnedReliability, ReliabilityCurve, binned_reliability_of, reliability_curve_of
from stakes.metrics import check_multiclass
from stakes.outputs.hooks import draw, report_progress
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import class_weights, level_name
from stakes.variance.sums import holm

# Tests that probabilities are calibrated, each with its statistic and p-value; all assume clean data.

# The bets of the sequential test: every shift with every slope, all with the same stake.
SHIFTS = (-1.0, -0.35, -0.12, -0.04, 0.0, 0.04, 0.12, 0.35, 1.0)
SLOPES = (0.5, 0.75, 0.9, 1.0, 1.1, 1.35, 2.0)
_BET_ROWS = 1 << 12
_RUN, _FACTOR = 32, 1e4  # rows whose factors are multiplied, and the largest of these that leaves no product too large


@dataclass(frozen=True, eq=False, repr=False)
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
    """Likelihood ratio of intercept 0 and slope 1 against any intercept and slope; of one score, any intercept."""
    inner, denied = within_open_interval(table)
    nothing = LogisticFit(math.nan, math.nan, math.nan, np.full((2, 2), np.nan))
    if denied:
        return Recalibration(nothing, math.inf, 0.0, "a score of 0 or 1 was wrong")
    if inner is None:
        return Recalibration(nothing, 0.0, 1.0, "every score is 0 or 1, and right")
    alone = len(inner.scores) == 1
    fit = fit_recalibration(inner, slope=1.0) if alone else free_fit(inner)
    if fit.status and not math.isfinite(fit.log_likelihood):
        return Recalibration(fit, math.nan, math.nan, fit.status)
    statistic = 2.0 * (fit.log_likelihood - log_likelihood(inner)) / design_effect(inner, fit)
    status = "all scores are equal: their intercept alone was tested" if alone else fit.status
    return Recalibration(fit, max(statistic, 0.0), chi2_tail(statistic, 1 if alone else 2), status)


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


def _mean_weight(table: ScoreTable) -> tuple[float, bool]:
    """Sum of squared weights over the sum of weights, and whether every row weighs as much."""
    pairs = (table.positives_squared, table.positives), (table.negatives_squared, table.negatives)
    unit = float((pairs[0][0].sum() + pairs[1][0].sum()) / table.total)
    return unit, all(np.allclose(squares, unit * weights, atol=0.0) for squares, weights in pairs)


def sandwich(table: ScoreTable, fit: LogisticFit) -> Floats:
    """Covariance of the recalibration: the inverse information, or with unequal weights the robust one."""
    if fit.status:
        return fit.covariance
    x = np.log(table.scores) - np.log1p(-table.scores)
    design = np.column_stack([np.ones_like(x), x])[:, : len(fit.covariance)]
    return robust_covariance(table, design, sigmoid(fit.intercept + fit.slope * x), fit.covariance)


def robust_covariance(table: ScoreTable, design: Floats, p: Floats, inverse: Floats) -> Floats:
    """Covariance of logistic coefficients: the inverse information, or with unequal weights the sandwich around it."""
    unit, equal = _mean_weight(table)
    if equal:
        return unit * inverse
    meat = table.positives_squared * (1.0 - p) ** 2 + table.negatives_squared * p**2
    return np.asarray(inverse @ (design.T @ (design * meat[:, None])) @ inverse)


def design_effect(table: ScoreTable, fit: LogisticFit) -> float:
    """Mean factor by which weights inflate the variances (Rao and Scott 1984)."""
    if not is_weighted(table):
        return 1.0
    if fit.status:
        return _mean_weight(table)[0]
    return float(np.trace(np.linalg.lstsq(fit.covariance, sandwich(table, fit), rcond=None)[0])) / len(fit.covariance)


def chi2_tail(statistic: float, degrees: int) -> float:
    """Probability that chi-squared exceeds the statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(degrees, max(statistic, 0.0)))


def spiegelhalter(table: ScoreTable) -> tuple[float, float]:
    """Spiegelhalter's z and its p-value; nan if every score is 0, 1/2 or 1, where it is undefined."""
    g = table.scores
    weight, lever = table.positives + table.negatives, 1.0 - 2.0 * g
    numerator = float((table.positives - weight * g) @ lever)
    variance = float(weight @ (lever**2 * g * (1.0 - g))) * _inflation(table)
    if variance > 0.0:
        z = numerator / math.sqrt(variance)
        return z, math.erfc(abs(z) / math.sqrt(2.0))
    return (math.inf, 0.0) if numerator else (math.nan, math.nan)  # a wrong score of 0 or 1, or no miscalibration


def _inflation(table: ScoreTable) -> float:
    """Factor by which weights inflate the variance of Spiegelhalter's sum, at the recalibrated scores.

    Of rows sampled by their outcome the weights differ between the classes, so the squares are summed as observed.
    """
    if not is_weighted(table):
        return 1.0
    ups, downs, g = table.positives_squared, table.negatives_squared, table.scores
    unit, equal = _mean_weight(table)
    if equal:
        return unit
    inner, _ = within_open_interval(table)
    fit = None if inner is None else fit_recalibration(inner)
    if inner is None or fit is None or fit.status:
        lever = (1.0 - 2.0 * g) ** 2 * g * (1.0 - g)
        return float((ups + downs) @ lever) / max(
            float((table.positives + table.negatives) @ lever), np.finfo(float).tiny
        )
    lever = (1.0 - 2.0 * inner.scores) ** 2
    p = sigmoid(fit.intercept + fit.slope * (np.log(inner.scores) - np.log1p(-inner.scores)))
    found = inner.positives_squared @ (lever * (1.0 - p) ** 2) + inner.negatives_squared @ (lever * p**2)
    return float(found / ((inner.positives + inner.negatives) @ (lever * p * (1.0 - p))))


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
#
# Rows that were sampled by their outcome have weights that differ between the classes at the same score, by a factor r:
# then odds among the rows are those of the scores over r, and a label that is drawn brings its class's weight. W is
# then another in each draw, and sqrt(W MCB) moves by sqrt(max(r, 1 / r)) times more.

_FIRST = 40
_CLEAR = 4.0 * math.log(1e13)  # square of a t that a draw in ten thousand billions reaches
_MANY, _ENOUGH = 1 << 16, 50


def bootstrap_table(table: ScoreTable, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """CORP miscalibration and its p-value by labels drawn from the scores, for rows without weights.

    Where many scores differ, labels are drawn in narrow cells, and compared with the labels there.
    """
    cells, many = in_narrow_cells(table, _MANY), len(table.scores) > _MANY
    observed = found = brier_miscalibration(table.scores, table.positives, table.negatives)
    if cells is not table:
        found = brier_miscalibration(cells.scores, cells.positives, cells.negatives)
    counts = cells.positives + cells.negatives
    whole, tied, labels = counts.astype(np.int64), bool(np.any(counts != 1.0)), _bernoulli(cells.scores, rng)

    def miscalibration() -> float:
        ups = (rng.binomial(whole, cells.scores) if tied else labels()).astype(np.float64)
        return brier_miscalibration(cells.scores, ups, counts - ups)

    rows = (float(counts.sum()),) * 2
    return observed, _p_value(miscalibration, found, rows, repeats, many=many)


def _bernoulli(p: Floats, rng: np.random.Generator) -> Callable[[], Bools]:
    """Return what draws for each row whether it is positive, each with its own probability.

    A uniform number below p has its first 16 bits below those of p; only where they are equal, further bits decide.
    """
    first = np.minimum(np.floor(p * 65536.0), 65535.0).astype(np.uint16)
    rest, most = p * 65536.0 - first, np.iinfo(np.uint64).max

    def draw() -> Bools:
        numbers = rng.integers(most, size=-(-len(p) // 4), dtype=np.uint64, endpoint=True)
        bits = numbers.view(np.uint16)[: len(p)]
        hit = bits < first
        equal = np.flatnonzero(bits == first)
        hit[equal] = rng.random(len(equal)) < rest[equal]
        return hit

    return draw


def bootstrap_rows(g: Floats, y: Bools, weight: Floats, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """CORP miscalibration and its p-value by labels drawn from the scores, for weighted rows."""
    order = validation.settled_order(g, y, weight)
    score, label, weight = g[order], y[order], weight[order]
    ratio = class_ratio(ScoreTable.from_sample(validation.BinarySample(label, score, weight)))
    down = weight / np.where(label, ratio, 1.0)
    up = down * ratio
    starts = np.flatnonzero(np.concatenate([[True], score[1:] != score[:-1]]))

    def miscalibration(drawn: Bools) -> float:
        ups, downs = (np.add.reduceat(mass, starts) for mass in (up * drawn, down * ~drawn))
        return brier_miscalibration(score[starts], ups, downs)

    observed, large = miscalibration(label), np.maximum(up, down)
    bound = float(large.max()) * max(ratio, 1.0 / ratio)
    rows = float(np.minimum(up, down).sum()) / bound, float(large.sum()) / bound
    labels = _bernoulli(shift_odds(score, 1.0 / ratio), rng)
    return observed, _p_value(lambda: miscalibration(labels()), observed, rows, repeats, many=len(starts) > _MANY)


def _p_value(
    draw: Callable[[], float], observed: float, rows: tuple[float, float], repeats: int, *, many: bool
) -> float:
    """Share of draws that reach the observed miscalibration.

    ``rows``: the least and the greatest weight of all rows in a draw, over the largest of one.
    """
    exceed, highest = 0, 0.0
    for done in range(1, repeats + 1):
        found = draw()
        exceed, highest = exceed + (found >= observed), max(highest, found)
        report_progress(done, repeats)
        if done == _FIRST and math.sqrt(rows[0] * observed) > math.sqrt(rows[1] * highest) + math.sqrt(_CLEAR):
            break  # none of the others would reach it
        if many and exceed == _ENOUGH:
            return exceed / done
    return (1.0 + exceed) / (repeats + 1.0) if repeats else math.nan


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
        unit, (weight, low, high) = class_weights(self.positive_share, *self.interval)
        return (
            f"ImpliedWeight({unit}={weight}, {level_name(self.confidence_level)} interval {low} to {high}, "
            f"no weight: p = {self.p_value:.3g}; slope {self.slope:.3g}, p of 1 = {self.slope_p_value:.3g})"
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
    aside = "" if inner is table else "scores of exactly 0 and 1 were left aside"
    fit = fit_recalibration(inner, slope=1.0)
    if fit.status:
        return _undefined("; ".join(filter(None, (aside, fit.status))), confidence_level)
    z = NormalDist().inv_cdf(0.5 + confidence_level / 2.0)
    half = z * math.sqrt(float(sandwich(inner, fit)[0, 0]))
    free = free_fit(inner)
    shares = _share(fit.intercept), _share(fit.intercept + half), _share(fit.intercept - half)
    gain = 2.0 * (fit.log_likelihood - log_likelihood(inner)) / design_effect(inner, fit)
    remark = "; ".join(filter(None, (aside, free.status)))
    return ImpliedWeight(*shares, chi2_tail(gain, 1), *_slope(inner, fit, free, z), confidence_level, remark)


def _slope(table: ScoreTable, fixed: LogisticFit, free: LogisticFit, z: float) -> tuple[float, float, float, float]:
    """Slope, its interval, and the p-value of slope 1."""
    if not math.isfinite(free.log_likelihood):
        return (math.nan,) * 4
    gain = 2.0 * (free.log_likelihood - fixed.log_likelihood)
    if free.status:
        return free.slope, math.nan, math.nan, chi2_tail(gain / design_effect(table, free), 1)
    variance = float(sandwich(table, free)[1, 1])
    half = z * math.sqrt(variance)
    p_value = chi2_tail(gain * float(free.covariance[1, 1]) / variance, 1)
    return free.slope, free.slope - half, free.slope + half, p_value


def _share(intercept: float) -> float:
    """Relative weight of the positive class that a recalibration intercept undoes."""
    return float(sigmoid(-intercept))


def _undefined(status: str, confidence_level: float) -> ImpliedWeight:
    nan = math.nan
    return ImpliedWeight(nan, nan, nan, nan, nan, nan, nan, nan, confidence_level, status)


# The test of loss calibration, and the loss-calibration curve.

Draws = tuple[int, np.random.Generator]


# Multinomial logistic recalibration of class probabilities on their log ratios, by damped Newton steps.

_LEAST_DAMPING = 1e-12
_TOLERANCE = 1e-10


@dataclass(frozen=True, eq=False, repr=False)
class MultinomialFit:
    """Coefficients (K - 1, q), their information, and the log likelihood."""

    coefficients: Floats
    information: Floats
    log_likelihood: float


@dataclass(frozen=True, eq=False, repr=False)
class MultinomialData:
    """The data of the multinomial model; class 0 is the reference."""

    design: Floats  # (n, q)
    offset: Floats  # (n, K - 1)
    hits: Floats  # (n, K - 1), one where that class happened
    weight: Floats

    def predictor(self, coefficients: Floats) -> Floats:
        return self.offset + self.design @ coefficients.T

    def log_likelihood(self, predictor: Floats) -> float:
        top = np.maximum(predictor.max(axis=1), 0.0)
        normaliser = top + np.log(np.exp(-top) + np.exp(predictor - top[:, None]).sum(axis=1))
        return float(self.weight @ ((self.hits * predictor).sum(axis=1) - normaliser))

    def probabilities(self, predictor: Floats) -> Floats:
        top = np.maximum(predictor.max(axis=1, keepdims=True), 0.0)
        odds = np.exp(predictor - top)
        return odds / (np.exp(-top) + odds.sum(axis=1, keepdims=True))

    def information(self, prob: Floats) -> Floats:
        classes, width = prob.shape[1], self.design.shape[1]
        out = np.empty((classes, width, classes, width))
        for k in range(classes):
            for j in range(k + 1):
                spread = self.weight * prob[:, k] * ((k == j) - prob[:, j])
                out[k, :, j, :] = self.design.T @ (self.design * spread[:, None])
                out[j, :, k, :] = out[k, :, j, :].T
        return out.reshape(classes * width, classes * width)

    def information_bound(self) -> Floats:
        """Upper bound of the information, whatever the probabilities are (Boehning 1992)."""
        classes = self.hits.shape[1]
        spread = 0.5 * (np.eye(classes) - 1.0 / (classes + 1))
        return np.kron(spread, self.design.T @ (self.design * self.weight[:, None]))

    def design_effect(self, fit: MultinomialFit) -> float:
        """Mean factor by which weights inflate the variances (Rao and Scott 1984): the weight where all are equal."""
        if np.all(self.weight == self.weight[0]):
            return float(self.weight[0])
        return float(np.trace(np.linalg.lstsq(fit.information, self._meat(fit), rcond=None)[0])) / len(fit.information)

    def variances(self, fit: MultinomialFit) -> Floats:
        """Of the coefficients: the inverse information, or with unequal weights the sandwich around it."""
        if np.linalg.slogdet(fit.information)[0] == 0.0:  # every probability is 0 or 1: the likelihood is flat
            return np.full(len(fit.information), np.inf)
        inverse, unit = np.linalg.inv(fit.information), float(self.weight[0])
        return np.diag(unit * inverse if np.all(self.weight == unit) else inverse @ self._meat(fit) @ inverse)

    def _meat(self, fit: MultinomialFit) -> Floats:
        residual = self.hits - self.probabilities(self.predictor(fit.coefficients))
        rows = (residual * self.weight[:, None])[:, :, None] * self.design[:, None, :]
        flat = rows.reshape(len(rows), -1)
        return np.asarray(flat.T @ flat)


def fit_multinomial(data: MultinomialData, start: Floats) -> MultinomialFit:
    """Fit by maximum likelihood, which is concave, with damped Newton steps (Levenberg and Marquardt).

    Far from the maximum all probabilities may be next to 0 or 1, and the information too small to go by. Where a Newton
    step does not raise the likelihood, a share of the upper bound of the information is added to it, as small as
    possible; with the whole bound every step raises the likelihood, but for rounding.
    """
    coefficients, damping, bound = start, 0.0, data.information_bound()
    least = _TOLERANCE * float(data.weight.mean())
    value = data.log_likelihood(data.predictor(start))
    while True:
        prob = data.probabilities(data.predictor(coefficients))
        information = data.information(prob)
        found = MultinomialFit(coefficients, information, value)
        gradient = (((data.hits - prob) * data.weight[:, None]).T @ data.design).ravel()
        newton = np.linalg.lstsq(information, gradient, rcond=None)[0]
        if max(gradient @ newton, gradient @ np.linalg.solve(bound, gradient)) <= least:
            return found
        while True:
            step = np.linalg.solve(information + damping * bound, gradient) if damping else newton
            coefficients = found.coefficients + step.reshape(start.shape)
            value = data.log_likelihood(data.predictor(coefficients))
            if value > found.log_likelihood:
                break
            if damping > 1.0:
                return found
            damping = max(10.0 * damping, _LEAST_DAMPING)
        damping = damping / 100.0 if damping > _LEAST_DAMPING else 0.0


# The test with more than two classes: every coordinate with Holm's adjustment, and the whole vector.

_ROWS_PER_PARAMETER = 5


@dataclass(frozen=True, repr=False, eq=False)
class MulticlassLossCalibrationTest(Tabular):
    """Answers of :func:`loss_calibration_test` for more than two classes.

    Parameters
    ----------
    classes : tuple
        Labels in the order of the answers: as ``labels=``, an ordered Categorical or names of one-hot columns state it,
        else sorted.
    likelihood_ratio, p_value, holm_p_value : ndarray of shape (K,)
        Logistic recalibration of each corrected coordinate, and its p-value after Holm's adjustment.
    z_p_value, miscalibration, miscalibration_p_value : ndarray of shape (K,)
        Spiegelhalter's test and CORP miscalibration of each corrected coordinate, not adjusted.
    vector_statistic, vector_p_value : float
        Likelihood ratio of multinomial recalibration on the log ratios of the corrected vector.
    vector_degrees : int
        Its degrees of freedom: K - 1 times the rank of the log ratios and a constant, K where the scores vary enough.
    class_weight, ci_low, ci_high : ndarray of shape (K,)
        Weights that fit the scores best, relative to the first class, with intervals.
    confidence_level : float
        Of the intervals.
    status : str
        What could not be tested, and why.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_class_weight, loss_calibration_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.dirichlet([2, 2, 2], 4000)
    >>> y = (rng.random((4000, 1)) > p.cumsum(axis=1)).sum(axis=1)
    >>> scores = apply_class_weight(p, class_weight=[1, 2, 5])
    >>> found = loss_calibration_test(y, scores, class_weight=[1, 2, 5], n_resamples=0)
    >>> found.vector_p_value > 0.05, found.class_weight.round(1).tolist()
    (True, [1.0, 1.9, 5.0])
    """

    classes: tuple[Any, ...]
    likelihood_ratio: Floats
    p_value: Floats
    holm_p_value: Floats
    z_p_value: Floats
    miscalibration: Floats
    miscalibration_p_value: Floats
    vector_statistic: float
    vector_degrees: int
    vector_p_value: float
    class_weight: Floats
    ci_low: Floats
    ci_high: Floats
    confidence_level: float
    status: str = ""

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """Interval of ``class_weight``, by class."""
        return self.ci_low, self.ci_high

    def _records(self) -> list[dict[str, Any]]:
        names = (
            *("likelihood_ratio", "p_value", "holm_p_value", "z_p_value", "miscalibration"),
            *("miscalibration_p_value", "class_weight", "ci_low", "ci_high"),
        )
        return [
            {"class": label} | {name: float(getattr(self, name)[k]) for name in names}
            for k, label in enumerate(self.classes)
        ]

    def __repr__(self) -> str:
        weights = ", ".join(f"{w:.4g}" for w in self.class_weight)
        tested = self.holm_p_value[~np.isnan(self.holm_p_value)]
        least = f"smallest Holm p = {tested.min():.3g}" if len(tested) else "no coordinate could be tested"
        return (
            f"MulticlassLossCalibrationTest(vector: {self.vector_statistic:.4g} on {self.vector_degrees} degrees, "
            f"p = {self.vector_p_value:.3g}; {least}; weights that fit best: {weights})"
        )


def _multiclass_test(
    y_true: Any, y_prob: Any, factors: Floats, labels: Any, sample_weight: Any, *, level: float, draws: Draws
) -> MulticlassLossCalibrationTest:
    """Validate and correct rows, drop those of weight zero, and test every coordinate and the vector."""
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    raw = np.asarray(prob, dtype=np.float64)
    if weight is not None and not np.all(weight):
        index, raw, weight = index[weight > 0.0], raw[weight > 0.0], weight[weight > 0.0]
    corrected = shift_rows(raw, 1.0 / factors)
    classes = class_names(y_true, labels, len(factors))
    found = [_coordinate(corrected[:, k], index == k, weight, draws) for k in range(len(classes))]
    ratio, p, z_p, mcb, mcb_p = map(np.array, zip(*found, strict=True))
    coordinates = (ratio, p, holm(p), z_p, mcb, mcb_p)
    statistic, degrees, vector_p, status = _vector(corrected, index, weight)
    vector = (statistic, degrees, vector_p, *_implied(raw, index, weight, level))
    return MulticlassLossCalibrationTest(classes, *coordinates, *vector, level, status)


def _coordinate(g: Floats, hit: NDArray[np.bool_], weight: Floats | None, draws: Draws) -> tuple[float, ...]:
    table = ScoreTable.from_sample(validation.BinarySample(hit, g, weight))
    ratio = recalibration_test(table)
    mcb = bootstrap_table(table, *draws) if weight is None else bootstrap_rows(g, hit, weight, *draws)
    return ratio.statistic, ratio.p_value, spiegelhalter(table)[1], *mcb


def _multinomial_data(prob: Floats, index: NDArray[np.intp], weight: Floats | None) -> MultinomialData:
    """Build the model's data: rows without zero scores, with log ratios to the first class as the offset."""
    ratios = np.log(prob[:, 1:]) - np.log(prob[:, :1])
    hits = (index[:, None] == np.arange(1, prob.shape[1])).astype(float)
    return MultinomialData(np.ones((len(prob), 1)), ratios, hits, np.ones(len(prob)) if weight is None else weight)


def _vector(g: Floats, index: NDArray[np.intp], weight: Floats | None) -> tuple[float, int, float, str]:
    n_classes = g.shape[1]
    degrees = n_classes * (n_classes - 1)
    if np.any(g[np.arange(len(g)), index] <= 0.0):
        return math.inf, degrees, 0.0, "a class of probability 0 happened"
    used = np.all(g > 0.0, axis=1)
    status = "" if used.all() else f"{int((~used).sum())} rows with a probability of 0 are left out of the vector test"
    data = _multinomial_data(g[used], index[used], None if weight is None else weight[used])
    if used.any():
        data = replace(data, design=_basis(np.column_stack([data.design, data.offset])))
        degrees = data.design.shape[1] * (n_classes - 1)
    if used.sum() < _ROWS_PER_PARAMETER * degrees:
        return math.nan, degrees, math.nan, f"too few rows ({int(used.sum())}) for {degrees} parameters of the vector"
    fit = fit_multinomial(data, _start(data))
    statistic = 2.0 * (fit.log_likelihood - data.log_likelihood(data.offset)) / data.design_effect(fit)
    return max(statistic, 0.0), degrees, chi2_tail(statistic, degrees), status


def _basis(columns: Floats) -> Floats:
    """Uncorrelated columns that span the same space: fewer, where scores are equal or log ratios collinear."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    rank = np.count_nonzero(sizes > sizes[0] * max(columns.shape) * np.finfo(float).eps)
    return np.asarray(left[:, :rank] * math.sqrt(len(columns)))


def _start(data: MultinomialData) -> Floats:
    """Start from the scores as they are, or from weights that bring them near the shares of the classes."""
    hits = data.weight @ data.hits
    shares = np.log(hits + 0.5) - np.log(data.weight.sum() - hits.sum() + 0.5)
    near = np.linalg.lstsq(data.design, np.broadcast_to(shares, data.offset.shape) - data.offset, rcond=None)[0].T
    starts = np.zeros_like(near), near
    return max(starts, key=lambda start: data.log_likelihood(data.predictor(start)))


def _implied(
    prob: Floats, index: NDArray[np.intp], weight: Floats | None, level: float
) -> tuple[Floats, Floats, Floats]:
    """Estimate class weights relative to the first class, from intercepts alone."""
    used = np.all(prob > 0.0, axis=1)
    nothing = np.full(prob.shape[1], np.nan)
    if len(np.unique(index[used])) < prob.shape[1]:
        return nothing, nothing, nothing
    data = _multinomial_data(prob[used], index[used], None if weight is None else weight[used])
    fit = fit_multinomial(data, _start(data))
    spread = np.sqrt(data.variances(fit))
    half = NormalDist().inv_cdf(0.5 + level / 2.0) * spread
    centre = -fit.coefficients[:, 0]
    with np.errstate(over="ignore"):
        weights, low, high = (np.exp(np.concatenate([[0.0], centre + move])) for move in (0.0, -half, half))
    return weights, low, high


# Tests of the stated weight, the best-fitting weight, and the remaining miscalibration.


@dataclass(frozen=True)
class Remainder:
    """How good scores are: log loss, Brier score, and its part that recalibration would save.

    Parameters
    ----------
    log_loss, brier : float
        Of the scores.
    miscalibration : float
        CORP miscalibration of the Brier score, in-sample.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_test
    >>> found = loss_calibration_test([0, 1, 0, 1], [0.2, 0.6, 0.5, 0.9], n_resamples=0)
    >>> round(found.before.brier, 3)
    0.115
    """

    log_loss: float
    brier: float
    miscalibration: float


@dataclass(frozen=True, repr=False)
class LossCalibrationTest(Tabular):
    """Answers of :func:`loss_calibration_test`.

    Parameters
    ----------
    positive_share : float
        The stated relative weight of the positive class; 1/2 is none.
    likelihood_ratio, p_value : float
        Logistic recalibration of the corrected scores: intercept 0 and slope 1 against any; of one score only, the
        intercept alone.
    z, z_p_value : float
        Spiegelhalter's test of the corrected scores.
    miscalibration, miscalibration_p_value : float
        CORP miscalibration of the Brier score of the corrected scores, and its parametric bootstrap.
    e_value, largest_e_value : float
        Sequential evidence against the corrected scores after the last row, and at its highest.
    crossed_at : int or None
        Row, counted from 0 among all that were passed, at which the evidence first reached 1 / (1 - confidence_level).
    implied : ImpliedWeight
        The weight that fits the scores best.
    before, after, best : Remainder
        What the scores are worth as they are, corrected as stated, and corrected by the best-fitting weight.
    confidence_level : float
        Of the verdict and the intervals.
    status : str
        What could not be tested, and why.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_test
    >>> y, scores = [0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.7]
    >>> found = loss_calibration_test(y, scores, positive_share=0.8, n_resamples=99, random_state=0)
    >>> found.loss_calibrated
    True
    >>> found.frame("polars").columns
    ['test', 'statistic', 'p_value']
    """

    positive_share: float
    likelihood_ratio: float
    p_value: float
    z: float
    z_p_value: float
    miscalibration: float
    miscalibration_p_value: float
    e_value: float
    largest_e_value: float
    crossed_at: int | None
    implied: ImpliedWeight
    before: Remainder
    after: Remainder
    best: Remainder
    confidence_level: float
    status: str = ""

    @property
    def loss_calibrated(self) -> bool:
        """Whether the likelihood ratio test does not reject the stated weight, or cannot test it (see ``status``)."""
        return not self.p_value <= 1.0 - self.confidence_level

    @property
    def answers(self) -> tuple[str, str, str]:
        """The three answers in words."""
        best = self.implied.positive_share
        unit, (stated, weight, low, high) = class_weights(self.positive_share, best, *self.implied.interval)
        fits = f"{unit} {weight} fits best ({level_name(self.confidence_level)} interval {low} to {high})"
        if self.implied.slope_p_value <= 1.0 - self.confidence_level:
            fits += f", but no weight alone explains the scores: their slope is {self.implied.slope:.3g}"
        left = [f"{part.miscalibration:.3g}" for part in (self.before, self.after, self.best)]
        return (
            f"{unit} {stated} {self._verdict}",
            fits if math.isfinite(best) else f"no weight fits: {self.implied.status}",
            f"Brier miscalibration {left[0]} before, {left[1]} after correction, {left[2]} with the best weight",
        )

    @property
    def _verdict(self) -> str:
        if math.isnan(self.p_value):
            return f"could not be tested by the likelihood ratio: {self.status.partition('; ')[0]}"
        verdict = "is compatible with" if self.loss_calibrated else "is rejected by"
        return f"{verdict} the labels (likelihood ratio {self.likelihood_ratio:.3g}, p = {self.p_value:.3g})"

    def _records(self) -> list[dict[str, Any]]:
        rows = (
            ("likelihood ratio", self.likelihood_ratio, self.p_value),
            ("Spiegelhalter z", self.z, self.z_p_value),
            ("CORP miscalibration", self.miscalibration, self.miscalibration_p_value),
            ("e-value", self.largest_e_value, 1.0 / max(self.largest_e_value, 1.0)),
        )
        return [{"test": test, "statistic": statistic, "p_value": p} for test, statistic, p in rows]

    def __repr__(self) -> str:
        return "LossCalibrationTest(\n" + "".join(f"  {answer}\n" for answer in self.answers) + ")"


def loss_calibration_test(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    n_resamples: int = 999,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> LossCalibrationTest | MulticlassLossCalibrationTest:
    """Test that a model's scores are what the stated class weight or sampling makes of calibrated probabilities.

    It answers three questions: was the model loss-calibrated to the weight you state; if not, which weight fits best;
    and what is left after the correction.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels that the model was not trained on, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, K), optional
        Scores as the model gives them, not corrected.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train
        The weight, in one of the ways of :func:`undo_class_weight`; none means an unweighted model.
    keep, repeat : mapping of label to number, or array_like of shape (K,), optional
        The sampling, as in :func:`undo_sampling`.
    labels : array_like of shape (K,), optional
        The classes in the order of the columns.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, taken for sampling weights and not for repeated rows.
    pos_label : object, optional
        The label of the positive class of two.
    logits : bool, default False
        Whether the scores are log-odds (two classes only).
    n_resamples : int, default 999
        Draws of the parametric bootstrap of the miscalibration, at most; 0 for none. It ends where no further draw
        would reach what was observed. Of over 65,536 distinct scores labels are drawn in cells of at most 1/512 in
        log-odds and a 4,096th of the rows, until 50 draws have reached it.
    confidence_level : float, default 0.95
        Of the verdict and the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        For the bootstrap.

    Returns
    -------
    LossCalibrationTest, or MulticlassLossCalibrationTest for more than two classes
        With several classes each corrected coordinate is tested, with Holm's adjustment, and the vector by
        multinomial recalibration.

    Raises
    ------
    ValueError
        For invalid data, more than one way to state the weight, and for a weighted table with a bootstrap, which
        needs the rows.

    Notes
    -----
    Testing loss-calibration is testing calibration of the corrected scores. The likelihood ratio (Cox 1958; two degrees
    of freedom, one where all scores are equal) is the main test; with weights it is divided by the mean design effect.
    Spiegelhalter's z (1986) is blind where probabilities are 1/2. The miscalibration is omnibus and needs no bins
    (Dimitriadis, Gneiting and Jordan 2021). Weights may go with the outcome, as of rows sampled by it: then labels are
    drawn for the p-value of the miscalibration as often as such sampling shows them, with the weight of their class, on
    average over the scores. The e-value is a mixture of 63 bets on shifts and slopes of the log-odds: it may be watched
    row by row, and exceeds 1/alpha at any time with probability at most alpha (Ville); rows must be in the order of
    time. A table has no order, so its e-value is nan. Scores of exactly 0 and 1 that are right are left aside by the
    likelihood ratio; one that is wrong rejects at once.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.correction import apply_class_weight, loss_calibration_test
    >>> rng = np.random.default_rng(0)
    >>> p = rng.beta(1, 4, 3000)
    >>> y = rng.random(3000) < p
    >>> scores = apply_class_weight(p, positive_share=0.9)
    >>> loss_calibration_test(y, scores, positive_share=0.8, n_resamples=99, random_state=0)
    LossCalibrationTest(
      positive_share 0.8 is rejected by the labels (likelihood ratio 312, p = 1.92e-68)
      positive_share 0.9033 fits best (95% interval 0.8943 to 0.9117)
      Brier miscalibration 0.168 before, 0.0231 after correction, 0.00217 with the best weight
    )
    """
    n_resamples = validation.check_whole(n_resamples, "n_resamples")
    level = validation.check_level(confidence_level)
    n_classes = _n_classes(y_true, y_prob)
    stated = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    draws = n_resamples, validation.generator(random_state)
    if n_classes > 2:
        given, labels = labels, stated_labels(y_true, y_prob, labels)
        for name, value in (("class_weight", class_weight), ("keep", keep), ("repeat", repeat)):
            if given is None and value is not None and not isinstance(named_values(value, name), Mapping | str):
                refuse_other_order(name, class_names(y_true, labels, n_classes), y_prob)
        order = (validation.frame_names(y_true) or None) if labels is None else labels
        factors = stated_factors(n_classes, stated, (keep, repeat), y_train, order, pos_label=pos_label)
        if logits:
            raise ValueError("logits=True is for two classes: pass the softmax of the logits.")
        return _multiclass_test(y_true, y_prob, factors, labels, sample_weight, level=level, draws=draws)
    refuse_weighing(y_true, "loss_calibration_test")
    data = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits)
    rows, positive = rows_or_classes(y_true, y_prob, pos_label, labels)
    factors = stated_factors(2, stated, (keep, repeat), y_train, labels, pos_label=positive, rows=rows)
    found = _binary_test(data, float(factors[1] / factors[0]), level, draws)
    return replace(found, crossed_at=row_as_given(data.sample, sample_weight, found.crossed_at))


def _n_classes(y_true: Any, y_prob: Any) -> int:
    if isinstance(y_true, ScoreTable) or y_prob is None:
        return 2
    shape = validation.to_array(y_prob, "y_prob").shape
    return max(shape[1], 2) if len(shape) == 2 else 2


def _binary_test(data: EvaluationData, ratio: float, level: float, draws: Draws) -> LossCalibrationTest:
    raw, table = data.table, corrected_table(data.table, 1.0 / ratio)
    recalibration = recalibration_test(table)
    miscalibration = _miscalibration(data, table, ratio, draws)
    evidence, remark = Evidence(math.nan, math.nan, None), "a table has no order of rows, which the e-value needs"
    if data.sample is not None:
        corrected = shift_odds(data.sample.score, 1.0 / ratio)
        evidence, remark = sequential_e_value(data.sample.y, corrected, data.sample.weight, 1.0 - level), ""
    implied = implied_weight_of(raw, level)
    best = implied.scale_pos_weight
    left = Remainder(math.nan, math.nan, math.nan)
    if 0.0 < best < math.inf:
        left = _remainder(corrected_table(raw, 1.0 / best))
    return LossCalibrationTest(
        ratio / (1.0 + ratio),
        *(recalibration.statistic, recalibration.p_value, *spiegelhalter(table), *miscalibration, *evidence),
        implied,
        *(_remainder(raw), _remainder(table), left),
        level,
        "; ".join(filter(None, (recalibration.status, remark))),
    )


def corrected_table(table: ScoreTable, factor: float) -> ScoreTable:
    """Multiply the odds of every score of a table; pool scores that become equal."""
    shifted = shift_odds(table.scores, factor)
    new = np.concatenate([[True], shifted[1:] > shifted[:-1]])
    if table.lower is not None and table.upper is not None:
        table = replace(
            table, lower=shift_odds(table.lower, factor), upper=shift_odds(table.upper, factor), resolution=None
        )
    if new.all():
        return replace(table, scores=shifted)
    starts = np.flatnonzero(new)
    return table.pooled(shifted[starts], starts)


def _miscalibration(data: EvaluationData, table: ScoreTable, ratio: float, draws: Draws) -> tuple[float, float]:
    if not is_weighted(table):
        return bootstrap_table(table, *draws)
    if data.sample is None or data.sample.weight is None:
        if draws[0]:
            raise ValueError("the bootstrap of a weighted table needs its rows: pass them, or n_resamples=0.")
        return brier_miscalibration(table.scores, table.positives, table.negatives), math.nan
    rows = data.sample
    return bootstrap_rows(shift_odds(rows.score, 1.0 / ratio), rows.y, data.sample.weight, *draws)


def _remainder(table: ScoreTable) -> Remainder:
    with np.errstate(divide="ignore"):
        logs = -np.log(table.scores), -np.log1p(-table.scores)
    squares = (1.0 - table.scores) ** 2, table.scores**2
    log_loss, brier = (
        (weighted_sum(table.positives, up) + weighted_sum(table.negatives, down)) / table.total
        for up, down in (logs, squares)
    )
    return Remainder(log_loss, brier, brier_miscalibration(table.scores, table.positives, table.negatives))


# Reliability of scores trained with class weights, and the curve that the stated weight predicts.


@dataclass(frozen=True, eq=False, repr=False)
class LossCalibrationCurve(Tabular):
    """Observed event rates against the scores, before and after correction, and the theoretical curve between them.

    Parameters
    ----------
    positive_share : float
        The stated relative weight of the positive class.
    before, after : ReliabilityCurve
        Isotonic reliability of the scores as they are, and corrected.
    bins_before, bins_after : BinnedReliability
        Event rates in bins of about equal weight, with intervals.
    name : str
        The model.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_curve
    >>> y, scores = [0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.7]
    >>> curve = loss_calibration_curve(y, scores, positive_share=0.8, n_bins=2)
    >>> curve.expected_rate([0.5, 0.8]).round(6).tolist()
    [0.2, 0.5]
    >>> curve.frame("polars").columns[:4]
    ['mean_score', 'expected_rate', 'event_rate', 'ci_low']
    """

    kind: ClassVar[str] = "loss calibration"

    positive_share: float
    before: ReliabilityCurve
    after: ReliabilityCurve
    bins_before: BinnedReliability
    bins_after: BinnedReliability
    name: str = "model"

    def expected_rate(self, score: ArrayLike) -> Floats:
        """Event rate at a score of a model that is loss-calibrated to the stated weight.

        Parameters
        ----------
        score : array_like of shape (n,)
            Scores in [0, 1].

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> from stakes.correction import loss_calibration_curve
        >>> loss_calibration_curve([0, 1], [0.3, 0.9], scale_pos_weight=9).expected_rate([0.9]).round(6).tolist()
        [0.5]
        """
        share = self.positive_share
        return shift_odds(validation.check_scores(validation.to_array(score, "score"), "score"), (1.0 - share) / share)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to :meth:`LossCalibrationDisplay.plot`, such as ``scale="log"``.

        Returns
        -------
        LossCalibrationDisplay

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.correction import loss_calibration_curve
        >>> display = loss_calibration_curve([0, 1, 0, 1], [0.3, 0.9, 0.6, 0.7], scale_pos_weight=2).plot()
        """
        return draw(self, ax, **options)

    def _records(self) -> list[dict[str, Any]]:
        bins = self.bins_before
        columns = {"mean_score": bins.mean_score, "expected_rate": self.expected_rate(bins.mean_score)}
        columns |= {name: getattr(bins, name) for name in ("event_rate", "ci_low", "ci_high", "weight")}
        return [dict(zip(columns, row, strict=True)) for row in np.column_stack(list(columns.values())).tolist()]

    def __repr__(self) -> str:
        unit, (weight,) = class_weights(self.positive_share)
        return f"LossCalibrationCurve({self.name}, {unit} {weight})"


def loss_calibration_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    n_bins: int = 20,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    logits: bool = False,
    name: str = "model",
) -> LossCalibrationCurve:
    """Event rate against the score, with the curve that the stated class weight or sampling predicts.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores as the model gives them, not corrected.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train
        The weight, in one of the ways of :func:`undo_class_weight`; none means an unweighted model.
    keep, repeat : mapping of label to number, or array_like of shape (2,), optional
        The sampling, as in :func:`undo_sampling`.
    labels : array_like of shape (2,), optional
        The classes, the positive one last.
    n_bins : int, default 20
        Number of bins of about equal weight for the event rates with intervals.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    LossCalibrationCurve

    Raises
    ------
    ValueError
        For invalid data, or more than one way to state the weight.

    Notes
    -----
    Caplin, Martin and Marx (2022), Figures 1 to 4. The theoretical curve is the inverse of the map from posterior to
    score: the diagonal for a model without weights.

    Examples
    --------
    >>> from stakes.correction import loss_calibration_curve
    >>> loss_calibration_curve([0, 1, 0, 1], [0.3, 0.9, 0.6, 0.7], scale_pos_weight=4)
    LossCalibrationCurve(model, positive_share 0.8)
    """
    n_bins = validation.check_whole(n_bins, "n_bins", 1)
    refuse_weighing(y_true, "loss_calibration_curve")
    table = evaluation_data(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, logits=logits).table
    stated = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    rows, positive = rows_or_classes(y_true, y_prob, pos_label, labels)
    factors = stated_factors(2, stated, (keep, repeat), y_train, labels, pos_label=positive, rows=rows)
    after = corrected_table(table, float(factors[0] / factors[1]))
    curves = reliability_curve_of(table, name), reliability_curve_of(after, name)
    bins = [binned_reliability_of(each, name, n_bins=n_bins) for each in (table, after)]
    return LossCalibrationCurve(float(factors[1] / factors.sum()), *curves, bins[0], bins[1], name)

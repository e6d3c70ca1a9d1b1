"""Intervals of calibration measures."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.numerics import logit, sigmoid
from stakes.base.validation import (
    Bools,
    Floats,
    Integers,
    check_choice,
    check_level,
    check_same_order,
    check_whole,
    generator,
)
from stakes.core.options import evaluation_data
from stakes.core.score_table import LogisticFit, ScoreTable, fit_recalibration
from stakes.curves import SPAN, LocalFits, Neighbourhoods, binned_reliability_of, curve_over_log_odds
from stakes.inference._imputation import mean_of, pooled_estimate
from stakes.outcomes import Imputed
from stakes.outputs.result_table import Tabular
from stakes.variance.dependence import Design, count_clusters, dependence_of
from stakes.variance.influence import WeightedCells, cells_of
from stakes.variance.sums import CLASSES, EFFECTIVE, NEEDED, Estimate, Moments, bessel, moments_of, too_few

if TYPE_CHECKING:
    from numpy.random import Generator

Number = Callable[[Floats, Floats], Floats]
Reaches = Callable[[Floats, Floats, float], Bools]


# Intervals of numbers made of the distance between a score and its smoothed event rate: ICI, E50, E90, Emax.
#
# Such a number is never negative and is too large where the score is calibrated, so neither a normal interval nor the
# percentiles of a bootstrap cover. The ends here come from tests: with the fitted deviation shrunk or stretched by a
# factor, how often would noise like that of these rows give a value as large, or as small, as observed? The
# noise is that of the table bootstrap, linearised: the residuals of each cell, or of each cluster, times random
# numbers.

# Where 95% was meant, intervals of these covered 75 to 95% in simulations with few events or bent curves.
WITHHELD = {"e50", "emax"}
_NOWHERE = (math.nan, math.nan)
_TOO_SURE = "no interval: its {draws} draws tell nothing at a confidence level above {most:.1%}"
_NO_INTERVAL = "no interval: those tried cover the quantiles of the distance too seldom"
_NEEDED_EVENTS = 50  # of each class: with 30, intervals of 95% covered 89 to 92%
_POINTS = 100  # of the curve, at equal shares of the rows
_FEWER_POINTS = 40  # where the errors of every row are kept at each point
_DRAWS = 500
_IN_TAILS = 0.999  # draws beyond both ends, without which an end is that of a lower confidence level
_HALVINGS = 14
_FURTHEST = 1e6  # times the number seen
_ROUNDING = 1e-9  # of a share of the weight
_CLUSTERS_AT_ONCE = 2_000_000  # sums over clusters and cells


@dataclass(frozen=True, eq=False, repr=False)
class Deviations:
    """Fitted event rate minus the score at points of a curve, and draws of its noise (last axis).

    ``alone`` is the noise if the score were calibrated: few events leave residuals that are too small. ``shift`` is how
    a shift of the log-odds would look: where noise hides a deviation, its fitted shape is noise too.
    """

    fitted: Floats
    noise: Floats
    alone: Floats
    weight: Floats
    shift: Floats
    bias: Floats


def _reason(cells: WeightedCells, design: Design) -> str:
    if design.lags is not None:
        return "no interval: its noise is known for independent rows and clusters only"
    rows, names = (round(cells.rows[0]), round(cells.rows[1])), EFFECTIVE if cells.hides_rows else CLASSES
    clustered = design.clusters.reason() if design.codes is not None else ""
    return too_few(rows, _NEEDED_EVENTS, names) or clustered


def _estimate(name: str, value: float, seen: Deviations, level: float) -> Estimate:
    number, reaches = _NUMBERS[name]
    at, size = (float(number(np.abs(shape), seen.weight)) for shape in (seen.fitted, seen.shift))
    noisy = number(np.abs(seen.fitted[:, None] + seen.noise), seen.weight)
    error = float(np.std(noisy, ddof=1))
    if (1.0 - level) * _DRAWS < _IN_TAILS:
        note = _TOO_SURE.format(draws=_DRAWS, most=1.0 - _IN_TAILS / _DRAWS)
        return Estimate(name, value, error, _NOWHERE, level, note)
    if at <= 0.0:  # no direction in which the curve could deviate
        alone = number(np.abs(seen.noise), seen.weight)
        return Estimate(name, value, error, (0.0, float(np.quantile(alone, level))), level)
    tail = 0.5 * (1.0 - level)

    def larger(factor: float, shape: Floats = seen.fitted, noise: Floats = seen.noise) -> float:
        """Share of the draws in which the measure is at least as large as observed."""
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
    cells: WeightedCells, design: Design, smoothed: Neighbourhoods, smoother: tuple[float, int], rng: Generator
) -> Deviations:
    table, origin = cells.table, design.origin
    at, weight = _points(smoothed, _POINTS if origin is None else _FEWER_POINTS)
    fits = smoothed.fits(at, span=smoother[0], degree=smoother[1])
    rate = np.clip(np.interp(table.scores, at, fits.rate), 0.0, 1.0)
    # what the smoother would add to a curve over the log-odds that bends more freely
    freer = curve_over_log_odds(table)
    bias = fits.matrix @ (smoothed.weight * freer.at(smoothed.score)) - freer.at(at)
    found = partial(Deviations, fits.rate - at, weight=weight, shift=at * (1.0 - at), bias=bias)
    if origin is None and design.codes is not None:
        residual = cells.weight * (cells.y - rate[cells.level])
        noise = fits.matrix @ _clustered(cells, design.codes, residual, fits, rng)
        return found(noise, noise)
    seen = table.positives_squared * (1.0 - rate) ** 2 + table.negatives_squared * rate**2
    stated = (table.positives_squared + table.negatives_squared) * (table.scores * (1.0 - table.scores))
    if origin is not None:
        noise = _with_estimated_weights(cells, design, fits, rate, rng)
        known, calibrated = (np.square(fits.matrix) @ smoothed.sums(variance) for variance in (seen, stated))
        return found(
            noise, noise * np.sqrt(np.divide(calibrated, known, out=np.ones_like(known), where=known > 0.0))[:, None]
        )
    normal = rng.standard_normal((len(smoothed.score), _DRAWS))
    # standard errors of the weight of positives in each cell of independent rows
    noise, alone = (fits.matrix * np.sqrt(smoothed.sums(variance)) @ normal for variance in (seen, stated))
    return found(noise, alone)


def _with_estimated_weights(
    cells: WeightedCells, design: Design, fits: LocalFits, rate: Floats, rng: Generator
) -> Floats:
    """Noise at the points of the curve, with what estimating the weights adds to each row's error."""
    cell, away = fits.cells.cell[cells.level], cells.total * (cells.y - rate[cells.level])
    covariance = design.covariances(lambda points: fits.matrix[points][:, cell] * away, len(fits.matrix))
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ rng.standard_normal((len(values), _DRAWS)))


def _points(smoothed: Neighbourhoods, most: int) -> tuple[Floats, Floats]:
    """Evaluation points of the curve and their weights: all distinct scores if few, else by rank."""
    scores, total = smoothed.table.scores, smoothed.table.total
    if len(scores) <= most:
        return scores, np.diff(smoothed.before) / total
    middle = scores[np.searchsorted(smoothed.before[1:] / total, (np.arange(most) + 0.5) / most)]
    at, count = np.unique(middle, return_counts=True)
    ends = np.setdiff1d(scores[[0, -1]], at)  # for the largest distance
    points, share = np.append(at, ends), np.append(count / most, np.zeros(len(ends)))
    order = np.argsort(points)
    return points[order], share[order]


def _clustered(cells: WeightedCells, codes: Integers, residual: Floats, fits: LocalFits, rng: Generator) -> Floats:
    """Noise of the positives in each cell under dependence within clusters."""
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
    return noise * math.sqrt(float(bessel(count)))


def _quantile(level: float, distance: Floats, weight: Floats) -> Floats:
    order = np.argsort(distance, axis=0)
    place = np.minimum((np.cumsum(weight[order], axis=0) < level).sum(axis=0), len(distance) - 1)
    return np.take_along_axis(distance, np.take_along_axis(order, place[None], axis=0), axis=0)[0]


def _mean(distance: Floats, weight: Floats) -> Floats:
    return np.asarray(weight @ distance)


def _quantile_reaches(level: float, distance: Floats, weight: Floats, at: float) -> Bools:
    """Whether the quantile is at least ``at``, without sorting."""
    return np.asarray(weight @ (distance < at) < level - _ROUNDING)


# each number, and whether it is at least so large
_NUMBERS: dict[str, tuple[Number, Reaches]] = {
    "ici": (_mean, lambda distance, weight, at: np.asarray(weight @ distance >= at)),
    "e90": (partial(_quantile, 0.9), partial(_quantile_reaches, 0.9)),
}


# Intervals of the ratio of observed to expected events and of logistic recalibration, in closed form.
#
# Each estimate differs from its population value by nearly a sum over rows. The variance is that sum's, or the
# inverse of the information matrix where that is larger: the first holds for any miscalibration, weights and
# clusters, the second is not fooled by the few events of small samples. The ratio is taken on the log scale.


def recalibration_estimates(cells: WeightedCells, design: Design, level: float) -> tuple[list[Estimate], str]:
    """Estimates of O/E ratio, calibration in the large, slope and joint intercept; also why undefined, if so."""
    held, free = fit_recalibration(cells.table, slope=1.0), fit_recalibration(cells.table)
    found = [observed_to_expected(cells, design, level)]
    for name, fit, place in (("calibration_in_the_large", held, 0), ("slope", free, 1), ("joint_intercept", free, 0)):
        value, error, interval, note = (fit.intercept, fit.slope)[place], math.nan, _NOWHERE, fit.status
        if not fit.status:
            moments = _coefficient(cells, design, fit, place)
            error, interval, note = moments.standard_error, moments.interval(level), moments.note
        found.append(Estimate(name, value, error, interval, level, note))
    return found, "; ".join(dict.fromkeys(fit.status for fit in (held, free) if fit.status))


def observed_to_expected(cells: WeightedCells, design: Design, level: float) -> Estimate:
    """Observed to expected events."""
    observed, expected = cells.prevalence, cells.mean_score
    value = observed / expected if expected > 0.0 else math.nan
    moments = log_ratio_moments(cells, design)
    if math.isnan(moments.value):
        return Estimate("o_e_ratio", value, math.nan, _NOWHERE, level, moments.reason)
    low, high = (math.exp(end) for end in moments.interval(level))
    return Estimate("o_e_ratio", value, value * moments.standard_error, (low, high), level, moments.note)


def log_ratio_moments(cells: WeightedCells, design: Design) -> Moments:
    """Moments of the logarithm of O:E; expected events use the scores of all rows, also those of unknown class.

    At a stated prevalence they are those of the classes, whose mean scores only rows of known class show.
    """
    observed, expected = cells.prevalence, cells.mean_score
    if not (observed > 0.0 and expected > 0.0):
        reason = "no case is positive" if observed <= 0.0 else "every score is 0"
        return Moments(math.nan, math.nan, reason=reason)
    value, origin = math.log(observed / expected), cells.origin
    if origin is None or cells.fixed_prevalence:
        return _moments(design, value, cells.y / observed - cells.score / expected)
    counted = origin.counted
    contributions = design.contributions(design.centred(cells.y / observed))
    contributions -= counted / counted.sum() * (origin.score[origin.outcome.present] / expected - 1.0)
    variance, degrees, reason = design.variance_of(contributions)
    rows, clustered = design.units_by_class, design.codes is not None
    return Moments(value, float(variance), float(degrees), rows=rows, least=NEEDED, reason=reason, clustered=clustered)


def _coefficient(cells: WeightedCells, design: Design, fit: LogisticFit, place: int) -> Moments:
    """Moments of the intercept (place 0) or the slope (1) of logistic recalibration."""
    x, row = logit(cells.score), fit.covariance[place]
    line = row @ np.stack([np.ones_like(x), x][: len(row)])
    residual = cells.total * (cells.y - sigmoid(fit.intercept + fit.slope * x))
    moments = _moments(design, (fit.intercept, fit.slope)[place], line * residual)
    unit = float(cells.square.sum() / cells.weight.sum())  # what each row weighs, if all weigh the same
    sampled = design.dependent or not np.allclose(cells.square, unit * cells.weight, atol=0.0)
    return moments if sampled else replace(moments, variance=max(moments.variance, unit * float(row[place])))


def _moments(design: Design, value: float, slope: Floats) -> Moments:
    found, rows, reason = design.variance(slope, np.zeros(2))
    return moments_of(value, found, rows, least=NEEDED, reason=reason, clustered=design.codes is not None)


# Calibration measures with intervals, as reporting guidelines for prediction models require.

Binning = Literal["quantile", "uniform"]
Smoother = Literal["lowess", "loess"]
_MOST_POINTS = 1000  # at which loess is fitted
SMOOTHERS = {"lowess": (SPAN, 1), "loess": (0.75, 2)}  # share of the rows in a neighbourhood, degree
_BINS = 1 << 14  # of a histogram of distances


@dataclass(frozen=True)
class CalibrationSummary(Tabular):
    """How far a score is from the event rates it promises, and how sure that is.

    Parameters
    ----------
    observed, expected : float
        Event rate and mean score.
    ece : float
        Expected calibration error over the bins: mean absolute gap between event rate and mean score. It depends on the
        bins and has no interval.
    n_bins : int
        Number of bins that hold rows.
    binning : str
        "quantile" or "uniform".
    smoother : str
        "lowess" or "loess".
    n_rows, n_positives : int or None
        Rows, and positive ones; None where they are not known, from a table in which rows of unlike weights share a
        score.
    estimates : tuple of Estimate
        Everything below, each with ``value``, ``standard_error``, ``interval`` and ``note``.

    Attributes
    ----------
    o_e_ratio : float
        observed / expected; 1 is calibrated in the large.
    calibration_in_the_large : float
        Logistic recalibration intercept with the slope held at 1; 0 is calibrated, positive means scores are too low.
    slope : float
        Logistic recalibration slope; 1 is calibrated, below 1 means scores are too extreme.
    joint_intercept : float
        Logistic recalibration intercept fitted together with the slope.
    ici, e50, e90, emax : float
        Mean (integrated calibration index), median, 90th percentile and largest absolute distance between the score and
        its smoothed event rate.

    Examples
    --------
    >>> from stakes.inference import calibration_summary
    >>> summary = calibration_summary(
    ...     [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    ... )
    >>> [round(end, 3) for end in summary.interval("o_e_ratio")]
    [0.79, 1.217]
    """

    observed: float
    expected: float
    ece: float
    n_bins: int
    binning: str
    smoother: str
    n_rows: int | None
    n_positives: int | None
    estimates: tuple[Estimate, ...]

    def _named(self, name: str) -> Estimate:
        check_choice(name, "name", tuple(estimate.metric for estimate in self.estimates))
        return next(estimate for estimate in self.estimates if estimate.metric == name)

    def interval(self, name: str) -> tuple[float, float]:
        """Two-sided interval of one number; nan where there is none, for the reason in its note.

        Parameters
        ----------
        name : str
            Such as "o_e_ratio" or "slope".

        Returns
        -------
        tuple of float

        Raises
        ------
        ValueError
            For another name.
        """
        return self._named(name).interval

    @property
    def note(self) -> str:
        """Why measures lack an interval, or that they are based on few rows; else ""."""
        notes = (estimate.note for estimate in self.estimates if estimate.metric not in WITHHELD)
        return "; ".join(dict.fromkeys(filter(None, notes)))

    @property
    def o_e_ratio(self) -> float:
        """Observed to expected events."""
        return self._named("o_e_ratio").value

    @property
    def calibration_in_the_large(self) -> float:
        """Intercept of logistic recalibration with the slope held at 1."""
        return self._named("calibration_in_the_large").value

    @property
    def slope(self) -> float:
        """Slope of logistic recalibration."""
        return self._named("slope").value

    @property
    def joint_intercept(self) -> float:
        """Intercept of logistic recalibration fitted together with the slope."""
        return self._named("joint_intercept").value

    @property
    def ici(self) -> float:
        """Mean distance between the score and its smoothed event rate."""
        return self._named("ici").value

    @property
    def e50(self) -> float:
        """Median of that distance."""
        return self._named("e50").value

    @property
    def e90(self) -> float:
        """90th percentile of that distance."""
        return self._named("e90").value

    @property
    def emax(self) -> float:
        """Largest of these distances."""
        return self._named("emax").value

    def _records(self) -> list[dict[str, Any]]:
        return [record for estimate in self.estimates for record in estimate._records()]

    def __repr__(self) -> str:
        shown = {"o_e_ratio": "O:E", "calibration_in_the_large": "in the large", "slope": "slope", "ici": "ICI"}
        each = ((label, self._named(name)) for name, label in shown.items())
        parts = (f"{label} {e.value:.3g} [{e.interval[0]:.3g}, {e.interval[1]:.3g}]" for label, e in each)
        return f"CalibrationSummary({', '.join(parts)})"


def calibration_summary(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    smoother: Smoother = "lowess",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
) -> CalibrationSummary:
    """Observed to expected ratio, calibration in the large, slope, ICI, E50, E90 and Emax of a score, with intervals.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2) or Imputed, optional
        Probability of the positive class.
    n_bins : int, default 10
        Number of bins of the expected calibration error, which depends on it.
    binning : {"quantile", "uniform"}, default "quantile"
        Bins of about equal weight (tied scores stay together), or of equal width.
    smoother : {"lowess", "loess"}, default "lowess"
        What ICI, E50, E90 and Emax smooth the events with: local lines over two thirds of the rows, as in ``rms``, or
        local parabolas over three quarters, as Austin and Steyerberg's ``loess``.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time, as in :func:`compare`; ICI and E90 then have no interval.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).
    random_state : int, numpy Generator or None, default 0
        Of the intervals of ICI and E90; None for other draws each time.

    Returns
    -------
    CalibrationSummary
        Intercepts and slope are nan with a warning for one class only or a score of exactly 0 or 1; the slope is
        infinite where the scores separate the classes. An interval needs five rows of each class: it is nan otherwise,
        and the note says why.

    Raises
    ------
    ValueError
        For invalid data, binning, smoother or number of bins.

    Notes
    -----
    Van Calster et al. (2019), doi:10.1186/s12916-019-1466-7, for the hierarchy of calibration; Austin and Steyerberg
    (2019), doi:10.1002/sim.8281, for ICI, E50 and E90. The intervals of the ratio (on the log scale), the intercepts
    and the slope are Student's t in closed form; those of ICI and E90 come from the noise of the smoothed curve at the
    given scores and reach 0 where the score may be calibrated; docs/intervals.md has their coverage, and where it falls
    short. E50 and Emax have none: those tried covered too seldom. Smoothing flattens sharp bends, so these four belong
    to the smoothed curve. The binned error is biased upwards and depends on the bins: prefer the
    miscalibration of :func:`decompose`.

    Examples
    --------
    >>> from stakes.inference import calibration_summary
    >>> summary = calibration_summary([0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.4, 0.8, 0.6, 0.9], n_bins=3)
    >>> round(summary.slope, 4), round(summary.ece, 4)
    (1.4652, 0.1167)
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight, clusters=clusters)
    n_bins = check_whole(n_bins, "n_bins", 1)
    check_choice(binning, "binning", ("quantile", "uniform"))
    check_choice(smoother, "smoother", tuple(SMOOTHERS))
    level = check_level(confidence_level)
    if isinstance(y_prob, Imputed):
        rest: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence}
        rest |= {"logits": logits, "clusters": clusters, "lags": lags, "n_bins": n_bins, "binning": binning}
        rest |= {"smoother": smoother, "confidence_level": level, "random_state": random_state}
        each = [calibration_summary(y_true, scores, **rest) for scores in y_prob.scores]
        units = each[0].n_rows if clusters is None else count_clusters(clusters, sample_weight)
        return pooled_calibration(each, cast("int", units))  # rows are known here
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    if data.sample is None and not clusters is lags is None:
        raise ValueError("clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
    cells = cells_of(data, fixed_prevalence=prevalence is not None)
    known = (None, None) if data.sample is None else dependence_of(data.rows, clusters, lags, sample_weight)
    design = cells.design(*known)
    found, status = calibration_of(
        cells, design, n_bins=n_bins, binning=binning, smoother=smoother, level=level, rng=generator(random_state)
    )
    if status:
        from sklearn.exceptions import UndefinedMetricWarning

        message = f"the recalibration intercept or slope is undefined: {status}."
        warnings.warn(message, UndefinedMetricWarning, stacklevel=2)
    return found


def calibration_of(
    cells: WeightedCells,
    design: Design,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    smoother: Smoother = "lowess",
    level: float,
    rng: np.random.Generator,
) -> tuple[CalibrationSummary, str]:
    """Calibration summary of clean cells; also why recalibration is undefined, if so."""
    estimates, status = calibration_estimates(cells, design, smoother=smoother, level=level, rng=rng)
    bins = binned_reliability_of(cells.table, n_bins=n_bins, binning=binning)
    asked: dict[str, Any] = {"n_bins": len(bins.weight), "binning": binning, "smoother": smoother}
    counts = (cells.table.n_rows, None) if cells.hides_rows else (round(sum(cells.rows)), round(cells.rows[1]))
    asked |= {"n_rows": counts[0], "n_positives": counts[1], "estimates": estimates}
    ece = bins.expected_calibration_error
    return CalibrationSummary(cells.table.prevalence, cells.mean_score, ece, **asked), status


def calibration_estimates(
    cells: WeightedCells, design: Design, *, smoother: str, level: float, rng: np.random.Generator
) -> tuple[tuple[Estimate, ...], str]:
    """All measures with an interval; also why recalibration is undefined, if so."""
    closed, status = recalibration_estimates(cells, design, level)
    smoothed, how = Neighbourhoods(cells.table), SMOOTHERS[smoother]
    values, reason = smoothed_distances(smoothed, *how).items(), _reason(cells, design)
    without = {name: reason or _NO_INTERVAL for name, _ in values if reason or name in WITHHELD}
    seen = None if reason else _deviations(cells, design, smoothed, how, rng)
    curve = [
        Estimate(name, value, math.nan, _NOWHERE, level, without[name])
        if seen is None or name in without
        else _estimate(name, value, seen, level)
        for name, value in values
    ]
    return (*closed, *curve), status


def smoothed_distances(smoothed: Neighbourhoods, span: float, degree: int) -> dict[str, float]:
    """ICI, E50, E90 and Emax on the rows."""
    table = smoothed.table
    weight = table.positives + table.negatives
    distance = np.abs(_rates(smoothed, span, degree) - table.scores)
    half, most = _weighted_quantiles(distance, weight, (0.5, 0.9))
    ici = float(np.dot(weight, distance)) / table.total
    return {"ici": ici, "e50": half, "e90": most, "emax": float(distance.max())}


def _rates(smoothed: Neighbourhoods, span: float, degree: int) -> Floats:
    """Smoothed event rate at each score; loess is not clipped to [0, 1], as in R."""
    if degree == 1:
        return smoothed.rates(span)
    at = scores = smoothed.table.scores
    if len(at) > _MOST_POINTS:
        at = at[np.unique(np.linspace(0, len(at) - 1, _MOST_POINTS).astype(int))]
    return np.interp(scores, at, smoothed.fits(at, span=span, degree=degree).rate)


def _weighted_quantiles(values: Floats, weight: Floats, levels: Sequence[float]) -> list[float]:
    """Weighted quantiles of values >= 0 (averaged where a share of the weight is met exactly).

    A histogram brackets each quantile, so that only values in its bin are sorted.
    """
    cell = (values / (values.max() or 1.0) * _BINS).astype(np.intp)
    up_to, found = np.cumsum(np.bincount(cell, weight)), []
    for level in levels:
        near = level * up_to[-1] * (1.0 - 1e-14), level * up_to[-1] * (1.0 + 1e-14)
        bins = np.searchsorted(up_to, near[0], side="left"), np.searchsorted(up_to, near[1], side="right")
        inside = (cell >= bins[0]) & (cell <= bins[1])
        some, order = values[inside], np.argsort(values[inside])
        total = np.cumsum(weight[inside][order]) + (up_to[bins[0] - 1] if bins[0] else 0.0)
        ends = np.searchsorted(total, near[0], side="left"), np.searchsorted(total, near[1], side="right")
        first, last = (float(some[order[min(int(end), len(some) - 1)]]) for end in ends)
        found.append((first + last) / 2.0)
    return found


# Summaries of several completed data sets in one.

_NOT_POOLED = "no interval: there is no rule to pool that of a distance from the smooth curve over completed data sets"
_DISTANCES = ("ici", "e50", "e90", "emax")


def pooled_calibration(each: Sequence[CalibrationSummary], n_rows: float) -> CalibrationSummary:
    """Pool summaries by Rubin's rules; of distances from the smooth curve there is the mean alone."""
    found = []
    for estimates in zip(*(summary.estimates for summary in each), strict=True):
        name = estimates[0].metric
        pooled_one = pooled_estimate(estimates, n_rows, log=name == "o_e_ratio")
        if name in _DISTANCES and not all(e == estimates[0] for e in estimates):
            nothing: dict[str, Any] = {"standard_error": math.nan, "interval": (math.nan, math.nan)}
            pooled_one = replace(pooled_one, note=_NOT_POOLED, **nothing)
        found.append(pooled_one)
    means: dict[str, Any] = {
        name: mean_of([getattr(e, name) for e in each]) for name in ("observed", "expected", "ece")
    }
    counts: dict[str, Any] = {}
    for name in ("n_rows", "n_positives", "n_bins"):
        known = [getattr(e, name) for e in each]
        counts[name] = None if None in known else round(mean_of(known))
    return replace(each[0], **means, **counts, estimates=tuple(found))

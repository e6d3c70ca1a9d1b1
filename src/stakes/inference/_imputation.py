"""Estimates pooled over several completed data sets, by Rubin's rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stakes.base.validation import Floats, check_number, to_floats
from stakes.inference._area import Area, AreaDifference, AreaRegret, PartialArea
from stakes.inference._cross_fitting import CrossFitted
from stakes.inference._simultaneous import Band
from stakes.variance.decisions import Decisions
from stakes.variance.sums import Estimate, Moments, Variance, half_width

# Estimates from several completed data sets in one, by Rubin's rules with Barnard and Rubin's degrees of freedom.
#
# The corrections for one data set are kept: degrees of freedom from the fourth moments, the rule of three
# for rows not yet seen, Hanley and McNeil's variance of an area. Data sets that agree therefore have the interval of
# one.


class Pooled(NamedTuple):
    """An estimate pooled over completed data sets.

    Parameters
    ----------
    value, standard_error, degrees : float
        The mean, its standard error with the spread between the data sets, and its degrees of freedom.
    missing_information : float
        Fraction of the information that the missing values took.

    Examples
    --------
    >>> from stakes.inference import pool
    >>> pool([0.10, 0.12], [0.02, 0.02], n_rows=100).value
    0.11
    """

    value: float
    standard_error: float
    degrees: float
    missing_information: float

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided, with Student's t.

        Examples
        --------
        >>> from stakes.inference import pool
        >>> [round(end, 3) for end in pool([0.10, 0.12], [0.02, 0.02], n_rows=100).interval(0.95)]
        [0.042, 0.178]
        """
        half = float(half_width(self.standard_error**2, self.degrees, 0.0, 1.0 - confidence_level))
        return self.value - half, self.value + half


def pool(values: Sequence[float], standard_errors: Sequence[float], *, n_rows: float = math.inf) -> Pooled:
    """Pool estimates from completed data sets.

    Parameters
    ----------
    values, standard_errors : sequence of float
        One of each for every data set, two or more.
    n_rows : float, default inf
        Rows (clusters) that each estimate rests on, above 1.

    Returns
    -------
    Pooled

    Raises
    ------
    ValueError
        For fewer than two data sets, numbers that do not pair, or one row.

    Notes
    -----
    Rubin (1987); Barnard and Rubin (1999), doi:10.1093/biomet/86.4.948; as ``pool.scalar`` of the R package mice.

    Examples
    --------
    >>> from stakes.inference import pool
    >>> found = pool([0.1012, 0.0987, 0.1105, 0.1043, 0.0961], [0.0102, 0.0099, 0.011, 0.0104, 0.0101], n_rows=750)
    >>> round(found.degrees, 6)
    54.126134
    """
    each = to_floats(np.asarray(values), "values")
    errors = to_floats(np.asarray(standard_errors), "standard_errors")
    if each.ndim != 1 or each.shape != errors.shape or len(each) < 2:
        raise ValueError(f"values and standard_errors must pair, two or more, got shapes {each.shape}, {errors.shape}.")
    if not (np.isfinite(each).all() and np.isfinite(errors).all() and errors.min() >= 0.0):
        raise ValueError(f"values must be finite, and standard_errors >= 0, got {each.tolist()} and {errors.tolist()}.")
    if not check_number(n_rows, "n_rows") > 1.0:
        raise ValueError(f"n_rows must be above 1, the rows that each estimate rests on, got {n_rows}.")
    return _rubin(each, errors, float(n_rows))


def _rubin(each: Floats, errors: Floats, n_rows: float) -> Pooled:
    m, estimate = len(each), mean_of(each)
    within, between = mean_of(np.square(errors)), _spread_between(each)
    total = within + between
    share = between / total if total > 0.0 else 0.0
    old = (m - 1.0) / share**2 if share > 0.0 else math.inf
    complete = n_rows - 1.0
    seen = math.inf if math.isinf(complete) else (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share)
    inverse = (1.0 / old if old > 0.0 else math.inf) + (1.0 / seen if seen > 0.0 else math.inf)
    degrees = 1.0 / inverse if inverse > 0.0 else math.inf
    increase = between / within if within > 0.0 else math.inf if between > 0.0 else 0.0
    missing = (increase + 2.0 / (degrees + 3.0)) / (increase + 1.0) if math.isfinite(increase) else 1.0
    return Pooled(estimate, math.sqrt(total), degrees, missing)


def mean_of(numbers: Sequence[float] | Floats) -> float:
    """Mean, which is exact for equal numbers."""
    each = np.asarray(numbers, dtype=np.float64)
    return float(each[0]) if np.all(each == each[0]) else float(np.mean(each))


def _spread_between(values: Floats) -> float:
    """Between-imputation variance of the mean of the data sets; nan unless all values are finite."""
    if np.all(values == values[0]):
        return 0.0
    return (1.0 + 1.0 / len(values)) * float(np.var(values, ddof=1)) if np.isfinite(values).all() else math.nan


class _Combined(NamedTuple):
    """The mean of estimates, the variances within and between their data sets, and the degrees of freedom of each."""

    value: float
    within: float
    between: float
    degrees: float
    rubin: float


def _combined(values: Floats, variances: Floats, degrees: Floats, n_rows: float) -> _Combined:
    """Combine estimates by Rubin's rules.

    ``degrees`` are the smaller of those of Barnard and Rubin and those that the rows of a data set have for the spread
    within it; without a spread between the data sets the latter alone, for then no information is missing.
    """
    between = _spread_between(values)
    moving = variances > 0.0
    own = float(np.min(degrees[moving])) if moving.any() else float(degrees[0])
    missing = between > 0.0 and bool(np.isfinite(variances).all())
    rubin = _rubin(values, np.sqrt(variances), n_rows).degrees if missing else math.inf
    return _Combined(mean_of(values), mean_of(variances), between, min(own, rubin), rubin)


def _pooled_columns(
    each: Sequence[Moments] | Sequence[Area] | Sequence[AreaDifference],
) -> tuple[Floats, Floats, Floats]:
    """Values, variances and degrees of freedom."""
    values, variances, degrees = np.array([(e.value, e.variance, e.degrees) for e in each], dtype=np.float64).T
    return values, variances, degrees


def pooled_moments(each: Sequence[Moments], n_rows: float) -> Moments:
    """Pool estimates that are sums over rows: variances by Rubin's rules, and the mean widening for unseen rows."""
    found = _combined(*_pooled_columns(each), n_rows)
    scarcest = next((e for e in each if math.isnan(e.interval(0.5)[0])), next((e for e in each if e.scarcity), each[0]))
    variance, room = found.within + found.between, mean_of([e.room for e in each])
    return replace(scarcest, value=found.value, variance=variance, degrees=found.degrees, room=room)


def pooled_area(each: Sequence[Area], n_rows: float, *, log_odds: bool = False) -> Area:
    """Pool areas; ``log_odds`` says on which scale their mean and the spread between data sets are taken."""
    values, variances, degrees = _pooled_columns(each)
    first = next((e for e in each if e.note), each[0])
    floor = mean_of([e.floor for e in each])
    if not (log_odds and np.all((values > 0.0) & (values < 1.0))):
        found = _combined(values, variances, degrees, n_rows)
    else:
        slopes = values * (1.0 - values)
        odds = np.log(values) - np.log1p(-values)
        scaled = _combined(odds, variances / slopes**2, degrees, n_rows)
        value = mean_of(values) if scaled.between == 0.0 else 1.0 / (1.0 + math.exp(-scaled.value))
        back = (value * (1.0 - value)) ** 2
        within = mean_of(variances) if scaled.between == 0.0 else back * scaled.within
        found = scaled._replace(value=value, within=within, between=back * scaled.between)
    value, within, between, own, rubin = found
    return replace(first, value=value, variance=within, degrees=own, floor=floor, between=between, rubin=rubin)


def pooled_area_difference(each: Sequence[AreaDifference], n_rows: float) -> AreaDifference:
    """Pool differences of two areas, each area on its own scale, so that the means differ by the mean difference."""
    found = _combined(*_pooled_columns(each), n_rows)
    areas = (pooled_area([e.first for e in each], n_rows), pooled_area([e.second for e in each], n_rows))
    carrying, same = float(np.min([e.carrying for e in each])), all(e.same for e in each)
    return AreaDifference(*areas, found.within, found.degrees, carrying, same, found.between, found.rubin)


def pooled_area_regret(each: Sequence[AreaRegret], n_rows: float) -> AreaRegret:
    """Pool regrets of thresholds drawn like the scores, through the areas that they are made of."""
    area = pooled([e.area for e in each], n_rows)
    return AreaRegret(area, *(mean_of([getattr(e, name) for e in each]) for name in ("factor", "shift", "correlation")))


def pooled_partial_area(each: Sequence[PartialArea], n_rows: float) -> PartialArea:
    """Pool partial areas through the shares of their windows."""
    return replace(each[0], area=pooled([e.area for e in each], n_rows))


def pooled_cross_fit(each: Sequence[CrossFitted], n_rows: float) -> CrossFitted:
    """Pool cross-fitted estimates, and their values on the same rows, which their intervals need."""
    in_sample = mean_of([e.in_sample for e in each])
    return CrossFitted(each[0].metric, pooled([e.found for e in each], n_rows), in_sample)


_POOLING: dict[type[Any], Callable[..., Any]] = {
    Moments: pooled_moments,
    Area: pooled_area,
    AreaDifference: pooled_area_difference,
    AreaRegret: pooled_area_regret,
    PartialArea: pooled_partial_area,
    CrossFitted: pooled_cross_fit,
}


def pooled(each: Sequence[Any], n_rows: float, **options: Any) -> Any:
    """Pool the estimates of one kind from all data sets; return a single one unchanged."""
    return each[0] if len(each) == 1 else _POOLING[type(each[0])](each, n_rows, **options)


# Whatever has limits rather than moments: the distances to the limits are squared, averaged, and widened by the spread
# between the data sets, as for the sum of two independent errors (Zou and Donner 2008, doi:10.1002/sim.3095).


def _widened(values: Floats, errors: Floats, distance: Floats, n_rows: float, tail: float) -> Floats:
    """How far pooled limits reach, from how far those of each data set (first axis) do.

    Within a data set a limit is at least as far as Rubin's degrees of freedom ask for; ``tail`` is the probability
    beyond it. Data sets that agree have the distance of one.
    """
    from scipy.special import stdtrit

    between = (1.0 + 1.0 / len(values)) * np.var(values, axis=0, ddof=1)
    between = np.where(np.all(values == values[0], axis=0), 0.0, between)
    degrees = np.reshape([_rubin(v, e, n_rows).degrees for v, e in zip(values.T, errors.T, strict=True)], between.shape)
    far = -stdtrit(np.minimum(degrees, 1e12), tail)
    reach = np.where(between > 0.0, np.maximum(distance, far * errors), distance)
    same = np.all(reach == reach[0], axis=0)
    within = np.where(same, reach[0] ** 2, np.mean(reach**2, axis=0))
    return np.asarray(np.where(same & (between == 0.0), reach[0], np.sqrt(within + far**2 * between)))


def _errors(values: Floats, errors: Floats) -> Floats:
    between = (1.0 + 1.0 / len(values)) * np.var(values, axis=0, ddof=1)
    return np.asarray(np.sqrt(np.mean(errors**2, axis=0) + between))


def pooled_estimate(each: Sequence[Estimate], n_rows: float, *, log: bool = False) -> Estimate:
    """Pool estimates that have limits; ``log`` says that the logarithm has the error. Without limits: the mean."""
    first, values = each[0], np.array([e.value for e in each])
    level, notes = first.confidence_level, "; ".join(dict.fromkeys(e.note for e in each if e.note))
    ends = np.array([e.interval for e in each])
    if not (np.isfinite(ends).all() and np.isfinite(values).all()):
        return Estimate(first.metric, mean_of(values), math.nan, (math.nan, math.nan), level, notes)
    errors = np.array([e.standard_error for e in each])
    scale, back = (np.log, math.exp) if log else (np.asarray, float)
    x, within = scale(values), errors / values if log else errors
    columns, tail = (x[:, None], within[:, None]), (1.0 - level) / 2.0
    low, high = (float(_widened(*columns, np.abs(scale(end) - x)[:, None], n_rows, tail)[0]) for end in ends.T)
    value = mean_of(x)
    error = float(_errors(*columns)[0]) * (back(value) if log else 1.0)
    middle = mean_of(values) if np.all(values == values[0]) else back(value)
    return Estimate(first.metric, middle, error, (back(value - low), back(value + high)), level, notes)


def pooled_band(each: Sequence[Band], clusters: int) -> Band:
    """Pool the bands of a curve at the same thresholds: its mean, with pointwise and simultaneous limits.

    ``clusters`` is the number of these, 0 where rows are independent.
    """
    from scipy.special import ndtr

    first, values = each[0], np.array([band.estimate for band in each])
    errors, n_rows = np.array([band.standard_error for band in each]), float(clusters or first.n_rows)
    critical = mean_of([band.critical_value for band in each])
    tails = (1.0 - first.confidence_level) / 2.0, float(ndtr(-critical))
    middle = np.where(np.all(values == values[0], axis=0), values[0], values.mean(axis=0))
    ends: dict[str, Any] = {}
    for prefix, tail in zip(("", "simultaneous_"), tails, strict=True):
        for end, sign in (("low", -1.0), ("high", 1.0)):
            distance = np.array([sign * (getattr(band, prefix + end) - band.estimate) for band in each])
            ends[prefix + end] = middle + sign * _widened(values, errors, distance, n_rows, tail)
    return replace(first, estimate=middle, standard_error=_errors(values, errors), critical_value=critical, **ends)


def pooled_decisions(each: Sequence[Decisions]) -> Decisions:
    """Pool mean costs and the variance of every difference over completed data sets of the same rows."""
    first = each[0]
    count = len(first.means) + 1
    places = np.triu_indices(count, 1)
    means = np.array([[*found.means, 0.0] for found in each])
    n_rows = float(first.clusters or sum(first.rows))
    found = [decisions.variance(*places) for decisions in each]
    matrices = Variance.matrices(count)
    matrices.put(_pooled_variance(found, means[:, places[0]] - means[:, places[1]], n_rows), *places)
    middle = np.array([mean_of(column) for column in means.T[:-1]])
    return replace(first, means=middle, matrices=matrices, losses=None)


def _pooled_variance(each: Sequence[Variance], values: Floats, n_rows: float) -> Variance:
    """By Rubin's rules; of what tells how few rows carry an estimate, the fewest of any data set."""
    variances, degrees = (np.array([getattr(e, name) for e in each]) for name in ("variance", "degrees"))
    found = [_combined(*columns, n_rows) for columns in zip(values.T, variances.T, degrees.T, strict=True)]
    return Variance(
        np.array([one.within + one.between for one in found]),
        np.array([one.degrees for one in found]),
        np.array([mean_of(column) for column in np.array([e.unseen_variance for e in each]).T]),
        np.min([e.carrying for e in each], axis=0),
        np.min([e.carriers for e in each], axis=0),
        np.any([e.scarce for e in each], axis=0),
        np.min([e.equal for e in each], axis=0),
        np.any([e.short for e in each], axis=0),
    )

"""Estimates from several completed data sets in one, by Rubin's rules with Barnard and Rubin's degrees of freedom.

What an interval of one data set allows for is kept: degrees of freedom from the fourth moments, the rule of three for
rows not yet seen, Hanley and McNeil's variance of an area. Data sets that agree therefore have the interval of one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.validation import check_number, to_floats
from stakes.inference._area import Area, AreaDifference, AreaRegret
from stakes.inference._crossfit_rank import CrossFitted
from stakes.inference._moments import Moments
from stakes.inference._student import half_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
        Rows (clusters) that each estimate rests on.

    Returns
    -------
    Pooled

    Raises
    ------
    ValueError
        For fewer than two data sets, or numbers that do not pair.

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
    return _rubin(each, errors, check_number(n_rows, "n_rows"))


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
    increase = between / within if within > 0.0 else math.inf
    missing = (increase + 2.0 / (degrees + 3.0)) / (increase + 1.0) if math.isfinite(increase) else 1.0
    return Pooled(estimate, math.sqrt(total), degrees, missing)


def mean_of(numbers: Sequence[float] | Floats) -> float:
    """Mean; of equal numbers that number itself, to the last bit."""
    each = np.asarray(numbers, dtype=np.float64)
    return float(each[0]) if np.all(each == each[0]) else float(np.mean(each))


def _spread_between(values: Floats) -> float:
    """What the spread between the data sets adds to the variance of their mean; nan unless all values are finite."""
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


def _columns(each: Sequence[Moments] | Sequence[Area] | Sequence[AreaDifference]) -> tuple[Floats, Floats, Floats]:
    """Values, variances and degrees of freedom."""
    values, variances, degrees = np.array([(e.value, e.variance, e.degrees) for e in each], dtype=np.float64).T
    return values, variances, degrees


def pooled_moments(each: Sequence[Moments], n_rows: float) -> Moments:
    """Pool estimates that are sums over rows: variances by Rubin's rules, and the mean widening for unseen rows."""
    found = _combined(*_columns(each), n_rows)
    scarcest = next((e for e in each if math.isnan(e.interval(0.5)[0])), next((e for e in each if e.scarcity), each[0]))
    return replace(
        scarcest,
        value=found.value,
        variance=found.within + found.between,
        degrees=found.degrees,
        room=mean_of([e.room for e in each]),
    )


def pooled_area(each: Sequence[Area], n_rows: float, *, log_odds: bool = False) -> Area:
    """Pool areas; ``log_odds`` says on which scale their mean and the spread between data sets are taken."""
    values, variances, degrees = _columns(each)
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
    found = _combined(*_columns(each), n_rows)
    areas = (pooled_area([e.first for e in each], n_rows), pooled_area([e.second for e in each], n_rows))
    return AreaDifference(
        *areas,
        found.within,
        found.degrees,
        float(np.min([e.carrying for e in each])),
        all(e.same for e in each),
        found.between,
        found.rubin,
    )


def pooled_area_regret(each: Sequence[AreaRegret], n_rows: float) -> AreaRegret:
    """Pool regrets of thresholds drawn like the scores, through the areas that they are made of."""
    area = pooled([e.area for e in each], n_rows)
    factor, shift = mean_of([e.factor for e in each]), mean_of([e.shift for e in each])
    error = math.hypot(factor * area.standard_error, shift) if shift > 0.0 else factor * area.standard_error
    return AreaRegret(area, factor, shift, error)


def pooled_cross_fit(each: Sequence[CrossFitted], n_rows: float) -> CrossFitted:
    """Pool cross-fitted estimates, and their values on the same rows, which their intervals need."""
    in_sample = mean_of([e.in_sample for e in each])
    return CrossFitted(each[0].metric, pooled([e.found for e in each], n_rows), in_sample)


_POOLING: dict[type[Any], Callable[..., Any]] = {
    Moments: pooled_moments,
    Area: pooled_area,
    AreaDifference: pooled_area_difference,
    AreaRegret: pooled_area_regret,
    CrossFitted: pooled_cross_fit,
}


def pooled(each: Sequence[Any], n_rows: float, **options: Any) -> Any:
    """Pool estimates of one kind, from every data set, in one of that kind; one alone stays as it is."""
    return each[0] if len(each) == 1 else _POOLING[type(each[0])](each, n_rows, **options)

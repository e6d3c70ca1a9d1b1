"""Estimates from several completed data sets in one, by Rubin's rules with Barnard and Rubin's degrees of freedom."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.core.validation import check_number, to_floats
from stakes.inference._student import half_width, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.inference._comparison import Comparison
    from stakes.inference._estimate import Estimate

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
    m, estimate = len(each), float(np.mean(each))
    within, between = float(np.mean(np.square(errors))), float(np.var(each, ddof=1))
    total = within + (1.0 + 1.0 / m) * between
    share = (1.0 + 1.0 / m) * between / total if total > 0.0 else 0.0
    old = (m - 1.0) / share**2 if share > 0.0 else math.inf
    complete = n_rows - 1.0
    seen = math.inf if math.isinf(complete) else (complete + 1.0) / (complete + 3.0) * complete * (1.0 - share)
    inverse = (1.0 / old if old > 0.0 else math.inf) + (1.0 / seen if seen > 0.0 else math.inf)
    degrees = 1.0 / inverse if inverse > 0.0 else math.inf
    increase = (1.0 + 1.0 / m) * between / within if within > 0.0 else math.inf
    missing = (increase + 2.0 / (degrees + 3.0)) / (increase + 1.0) if math.isfinite(increase) else 1.0
    return Pooled(estimate, math.sqrt(total), degrees, missing)


def pooled_estimate(each: Sequence[Estimate], n_rows: int, *, log_odds: bool) -> Estimate:
    """One estimate from those of every data set; an area is pooled on the scale of log-odds."""
    first = each[0]
    values, errors = np.array([e.value for e in each]), np.array([e.standard_error for e in each])
    note = next((e.note for e in each if e.note), "")
    if log_odds and np.all((values > 0.0) & (values < 1.0)):
        slope = values * (1.0 - values)
        found = _rubin(np.log(values) - np.log1p(-values), errors / slope, n_rows)
        value, low, high = (1.0 / (1.0 + math.exp(-x)) for x in (found.value, *found.interval(first.confidence_level)))
        error = found.standard_error * value * (1.0 - value)
        return replace(first, value=value, standard_error=error, interval=_where_all(each, (low, high)), note=note)
    found = _rubin(values, errors, n_rows)
    interval = _where_all(each, found.interval(first.confidence_level))
    return replace(first, value=found.value, standard_error=found.standard_error, interval=interval, note=note)


def _where_all(each: Sequence[Estimate], interval: tuple[float, float]) -> tuple[float, float]:
    """The interval, if every data set has one."""
    return (math.nan, math.nan) if any(math.isnan(e.interval[0]) for e in each) else interval


def pooled_comparison(each: Sequence[Comparison], n_rows: int) -> Comparison:
    """One comparison from those of every data set."""
    first = each[0]
    found = _rubin(np.array([e.difference for e in each]), np.array([e.standard_error for e in each]), n_rows)
    none = any(math.isnan(e.interval[0]) for e in each)
    p = float(p_value(found.value, found.standard_error**2, found.degrees, 0.0))
    return replace(
        first,
        difference=found.value,
        standard_error=found.standard_error,
        interval=(math.nan, math.nan) if none else found.interval(first.confidence_level),
        p_value=math.nan if none else p,
        note=next((e.note for e in each if e.note), ""),
    )

"""Rows that are not independent: standard errors for clusters and for rows in order of time."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes._validation import to_array
from stakes.inference._moments import Moments, freed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

NEEDED_CLUSTERS = 5
NEEDED_ROWS = 20
_ENOUGH_FOR_SKEWNESS = 30  # clusters; the skewness of fewer is mostly noise


def check_dependence(
    clusters: Any, lags: Any, n: int, sample_weight: Any = None
) -> tuple[Integers | None, int | Literal["auto"] | None]:
    """Codes of the clusters of the n rows of positive weight, and the kind of long-run variance, or raise."""
    if clusters is not None and lags is not None:
        raise ValueError("clusters= and lags= (rows in order) cannot both be given.")
    if clusters is not None:
        values = to_array(clusters, "clusters")
        present = None if sample_weight is None else to_array(sample_weight, "sample_weight") > 0.0
        given = n if present is None else len(present)
        if values.shape != (given,):
            raise ValueError(f"clusters must have one value for each of the {given} rows, got shape {values.shape}.")
        values = values if present is None else values[present]
        if values.dtype.kind == "O":
            values = values.astype(str)
        names, codes = np.unique(values, return_inverse=True)
        if len(names) < NEEDED_CLUSTERS:
            raise ValueError(f"clusters must hold at least {NEEDED_CLUSTERS} clusters, got {len(names)}.")
        return codes.reshape(-1), None
    if lags is None:
        return None, None
    if lags != "auto" and not (isinstance(lags, (int, np.integer)) and not isinstance(lags, bool) and 0 <= lags < n):
        raise ValueError(f'lags must be "auto" or a whole number from 0 to {n - 1}, got {lags!r}.')
    if n < NEEDED_ROWS:
        raise ValueError(f"lags= needs at least {NEEDED_ROWS} rows in order, got {n}.")
    return None, lags


def centred_terms(values: Floats, y: NDArray[np.bool_], weight: Floats | None, *, by_class: bool) -> Floats:
    """What each row adds to the error of a weighted mean; centred by class where the class totals are known."""
    weight = np.ones(len(values)) if weight is None else weight
    centre = np.empty(len(values))
    for mine in (y, ~y) if by_class else (np.ones(len(y), dtype=bool),):
        if mine.any():
            centre[mine] = np.average(values[mine], weights=weight[mine])
    terms: Floats = weight * (values - centre) / weight.sum()
    return terms


def dependent_moments(
    independent: Moments, terms: Floats, clusters: Integers | None, lags: int | str | None
) -> Moments:
    """Moments for rows in clusters or in order, from those for independent rows and each row's part in the error."""
    if clusters is not None:
        return _clustered(independent, terms, clusters)
    return independent if lags is None else _ordered(independent, terms, lags)


def _clustered(independent: Moments, terms: Floats, codes: Integers) -> Moments:
    """The error is a sum over clusters."""
    present = np.bincount(codes) > 0
    sums, count = np.bincount(codes, terms)[present], int(np.count_nonzero(present))
    if count < NEEDED_CLUSTERS:
        return replace(
            independent, variance=math.nan, reason=f"only {count} clusters: an interval needs {NEEDED_CLUSTERS}"
        )
    third = float(np.sum(sums**3)) if count >= _ENOUGH_FOR_SKEWNESS else 0.0
    return replace(
        independent,
        variance=freed(count) * float(np.dot(sums, sums)),
        third=third,
        degrees=min(independent.degrees, count - 1),
    )


def _ordered(independent: Moments, terms: Floats, lags: int | str) -> Moments:
    """The error is a sum over rows in order, with a long-run variance.

    "auto" projects the terms on slow cosines (Lazarus, Lewis, Stock and Watson 2018,
    doi:10.1080/07350015.2018.1506926), whose Student t intervals keep their level where kernel estimates are too short;
    a number of lags is Newey and West's estimate.
    """
    n = len(terms)
    if n < NEEDED_ROWS:
        return replace(
            independent, variance=math.nan, reason=f"only {n} rows in order: an interval needs {NEEDED_ROWS}"
        )
    if lags == "auto":
        count = max(int(0.4 * n ** (2.0 / 3.0)), 1)
        waves = _cosine_sums(terms, count)
        degrees = min(independent.degrees, count)
        return replace(independent, variance=n * float(np.mean(waves**2)), third=0.0, degrees=degrees)
    last = int(lags)
    variance = float(np.dot(terms, terms))
    for lag in range(1, last + 1):
        variance += 2.0 * (1.0 - lag / (last + 1.0)) * float(np.dot(terms[lag:], terms[:-lag]))
    degrees = min(independent.degrees, n - 1)
    return replace(independent, variance=max(variance, 0.0) * freed(n), third=0.0, degrees=degrees)


def _cosine_sums(terms: Floats, count: int) -> Floats:
    """sqrt(2 / n) * sum of the terms times cos(pi j (t - 1/2) / n), for j = 1 to count."""
    from scipy.fft import dct

    return np.asarray(dct(terms, type=2)[1 : count + 1]) * (0.5 * math.sqrt(2.0 / len(terms)))

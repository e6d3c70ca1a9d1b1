"""Which way to compute a curve of expected utilities, and the way itself.

The order of preference: a closed form; sums of exponentials; Fourier frequencies; the exact sum for small batches and
for measures that nobody called smooth; Gauss rules. All but the last have a proved bound on their error, the exact sum
of large batches only for measures that are known to be bounded.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._closed_forms import expected_accuracy, expected_precision, expected_squared_counting_error
from stakes.utility._estimate import Estimate
from stakes.utility._exact import WHOLE_UP_TO, expected_by_algorithm1, expected_by_recursion, expected_by_windows
from stakes.utility._fbeta import expected_fbeta
from stakes.utility._gauss import expected_by_gauss
from stakes.utility._jaccard import expected_jaccard
from stakes.utility._kappa import expected_kappa
from stakes.utility._linear import expected_linear
from stakes.utility._matthews import expected_matthews
from stakes.utility._means import MCC, BalancedAccuracy, FowlkesMallows, Kappa, QMean, SquaredErrorInCounting
from stakes.utility._measure import LinearRatio, Measure
from stakes.utility._measures_by_name import ConfusionMeasure
from stakes.utility._rates import (
    balanced_accuracy_curve,
    exponential_rates,
    fourier_rates,
    fowlkes_mallows_curve,
    quadratic_mean_curve,
    recall_curve,
)
from stakes.utility._ratios import Accuracy, FBeta, FractionalLinear, Jaccard, Precision, Recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.utility._batch import Batch
    from stakes.utility._rates import RateMaker

    Way = Callable[[Batch], "Estimate | None"]

METHODS = ("auto", "closed_form", "exponentials", "fourier", "exact", "gauss", "algorithm1", "algorithm2")


def estimate_curve(batch: Batch, measure: Measure, zero_division: float, method: str) -> Estimate:
    """Compute the curve in the way asked for, or in the first one that applies."""
    if len(batch) == 0:
        empty = measure.value(0.0, 0.0, 0.0, 0.0, zero_division=zero_division)
        return Estimate(np.atleast_1d(empty), 0.0, 0.0, "closed_form")
    ways = _ways(batch, measure, zero_division)
    if method == "auto":
        for way in ways.values():
            found = way(batch)
            if found is not None:
                return found
    if method not in ways:
        choices = ", ".join(map(repr, ("auto", *ways)))
        raise ValueError(f"method must be one of {choices} for {measure!r}, got {method!r}.")
    estimate = ways[method](batch)
    if estimate is None:
        raise ValueError(
            f"method={method!r} needs a denominator that is positive at every table with k >= 1 and not near zero, "
            f"got {measure!r}."
        )
    return estimate


def _ways(batch: Batch, measure: Measure, zero_division: float) -> dict[str, Way]:
    """Ways to the curve of a measure, the preferred one first."""
    special = {
        "closed_form": _closed_form(measure, zero_division),
        "exponentials": _exponentials(measure, zero_division),
        "fourier": _fourier(measure, zero_division),
    }
    ways = {name: way for name, way in special.items() if way is not None}
    value = partial(measure.value, zero_division=zero_division)
    bounded = not isinstance(measure, ConfusionMeasure | FractionalLinear)
    general: dict[str, Way] = {"exact": partial(expected_by_windows, value=value, bounded=bounded)}
    if not isinstance(measure, ConfusionMeasure) or measure.smooth:
        # up to so many rows the exact sum takes about as long as Gauss rules with their overhead
        smooth = {"gauss": partial(expected_by_gauss, value=value)}
        general = smooth | general if len(batch) > WHOLE_UP_TO else general | smooth
    ways |= general
    ways["algorithm1"] = partial(expected_by_algorithm1, value=value)
    if isinstance(measure, LinearRatio):
        c, d = measure.coefficients
        ways["algorithm2"] = partial(expected_by_recursion, c=c, d=d, zero_division=zero_division)
    return ways


def _closed_form(measure: Measure, zero_division: float) -> Way | None:
    match measure:
        case Precision():
            return partial(expected_precision, zero_division=zero_division)
        case Accuracy():
            return expected_accuracy
        case SquaredErrorInCounting():
            return expected_squared_counting_error
    return None


def _exponentials(measure: Measure, zero_division: float) -> Way | None:
    match measure:
        case FBeta():
            return partial(expected_fbeta, square=measure.beta**2, zero_division=zero_division)
        case Jaccard():
            return partial(expected_jaccard, zero_division=zero_division)
        case QMean():
            return partial(quadratic_mean_curve, zero_division=zero_division)
        case Kappa():
            return expected_kappa
        case FractionalLinear():
            c, d = measure.coefficients
            return partial(expected_linear, c=c, d=d, zero_division=zero_division)
    return _by_rates(measure, zero_division, exponential_rates)


def _fourier(measure: Measure, zero_division: float) -> Way | None:
    if isinstance(measure, MCC):
        return expected_matthews
    return _by_rates(measure, zero_division, fourier_rates)


def _by_rates(measure: Measure, zero_division: float, rates: RateMaker) -> Way | None:
    match measure:
        case Recall():
            return partial(recall_curve, zero_division=zero_division, rates=rates)
        case FowlkesMallows():
            return partial(fowlkes_mallows_curve, zero_division=zero_division, rates=rates)
        case BalancedAccuracy():
            drop = measure.absent == "drop"
            return partial(balanced_accuracy_curve, zero_division=zero_division, rates=rates, drop_absent=drop)
    return None

"""Intervals of the ratio of observed to expected events and of logistic recalibration, in closed form.

Each estimate differs from its population value by nearly a sum over rows. The variance is that sum's, or the inverse of
the information matrix where that is larger: the first holds for any miscalibration, weights and clusters, the second is
not fooled by the few events of small samples. The ratio is taken on the log scale.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.logistic import logit, sigmoid
from stakes.core.recalibration import fit_recalibration
from stakes.inference._estimate import Estimate
from stakes.inference._moments import Moments, moments_of
from stakes.inference._power_sums import NEEDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.recalibration import LogisticFit
    from stakes.inference._dependence import Design
    from stakes.inference._influence import Cells

    Floats = NDArray[np.float64]

_NOWHERE = (math.nan, math.nan)


def recalibration_estimates(cells: Cells, design: Design, level: float) -> tuple[list[Estimate], str]:
    """Ratio, calibration in the large, slope and joint intercept, and why recalibration is undefined, if it is."""
    fits = fit_recalibration(cells.table, slope=1.0), fit_recalibration(cells.table)
    found = [observed_to_expected(cells, design, level)]
    moments = _coefficients(cells, design, fits)
    for name, which, place in (
        ("calibration_in_the_large", 0, 0),
        ("slope", 1, 1),
        ("joint_intercept", 1, 0),
    ):
        fit = fits[which]
        value = (fit.intercept, fit.slope)[place]
        if fit.status:
            found.append(Estimate(name, value, math.nan, _NOWHERE, level, fit.status))
            continue
        mine = moments[which][place]
        found.append(Estimate(name, value, mine.standard_error, mine.interval(level), level, mine.note))
    return found, "; ".join(dict.fromkeys(fit.status for fit in fits if fit.status))


def observed_to_expected(cells: Cells, design: Design, level: float) -> Estimate:
    """Observed to expected events."""
    observed, expected = cells.prevalence, cells.mean_score
    value = observed / expected if expected > 0.0 else math.nan
    if not (observed > 0.0 and expected > 0.0):
        reason = "no case is positive" if observed <= 0.0 else "every score is 0"
        return Estimate("o_e_ratio", value, math.nan, _NOWHERE, level, reason)
    moments = _ratio_moments(cells, design, observed, expected)
    low, high = (math.exp(end) for end in moments.interval(level))
    return Estimate("o_e_ratio", value, value * moments.standard_error, (low, high), level, moments.note)


def _ratio_moments(cells: Cells, design: Design, observed: float, expected: float) -> Moments:
    """Moments of the logarithm of the ratio; scores need no outcome, and are those of all rows where it has more."""
    value, origin = math.log(observed / expected), cells.origin
    if origin is None:
        return _moments(design, value, cells.y / observed - cells.score / expected)
    counted = origin.counted
    parts = design.parts(design.centred(cells.y / observed))
    parts -= counted / counted.sum() * (origin.score[origin.outcome.present] / expected - 1.0)
    variance, degrees, reason = design.variance_of(parts)
    rows = int(np.count_nonzero(~cells.y)), int(np.count_nonzero(cells.y))
    return Moments(value, float(variance), float(degrees), rows=rows, least=NEEDED, reason=reason)


def _coefficients(cells: Cells, design: Design, fits: Sequence[LogisticFit]) -> list[list[Moments]]:
    """Moments of the coefficients of fits of logistic recalibration, none of those that are undefined."""
    found: list[list[Moments]] = [[] for _ in fits]
    if all(fit.status for fit in fits):
        return found
    x = logit(cells.score)
    constant = np.ones_like(x)
    sampled = design.dependent or not np.allclose(cells.square, cells.weight)
    for mine, fit in ((mine, fit) for mine, fit in zip(found, fits, strict=True) if not fit.status):
        residual = cells.total * (cells.y - sigmoid(fit.intercept + fit.slope * x))
        for place, row in enumerate(fit.covariance):
            line = row @ np.stack([constant, x][: len(row)])
            moments = _moments(design, (fit.intercept, fit.slope)[place], line * residual)
            variance = moments.variance if sampled else max(moments.variance, float(row[place]))
            mine.append(replace(moments, variance=variance))
    return found


def _moments(design: Design, value: float, slope: Floats) -> Moments:
    spread, rows, reason = design.spread(design.centred(slope), slope, np.zeros(2))
    return moments_of(value, spread, rows, least=NEEDED, reason=reason, clustered=design.codes is not None)

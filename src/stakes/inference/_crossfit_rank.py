"""Honest intervals for the H-measure and the area under the convex hull of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import EvaluationData
from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample
from stakes.costs import Beta
from stakes.inference._area_rows import area_estimate
from stakes.inference._crossfit_rows import CrossFitRows, cross_fit_rows, non_negative_interval
from stakes.inference._estimate import Estimate
from stakes.inference._influence import cells_of
from stakes.inference._moments import Moments
from stakes.metrics._rank import area_under_roc
from stakes.metrics._skill import costs_of_severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stakes.costs import CostDistribution
    from stakes.inference._area import Area

    Floats = NDArray[np.float64]

_STEP = 1e-3


CROSS_FITTED = ("h_measure_score", "hull_auc")


@dataclass(frozen=True)
class CrossFitted:
    """A cross-fitted estimate with its error, and the value on the rows that the recalibration was fitted to."""

    metric: str
    found: Moments | Area
    in_sample: float

    def estimate(self, level: float) -> Estimate:
        """Attach the interval."""
        value, error = self.found.value, self.found.standard_error
        if isinstance(self.found, Moments):
            return Estimate(
                self.metric, value, error, non_negative_interval(self.found, self.in_sample, level, 1.0), level
            )
        low, high = self.found.interval(level)
        low, high = max(low, 0.5), high if value >= 0.5 else high + (0.5 - value)
        return Estimate(self.metric, value, error, (low, min(high, 1.0)), level)


def cross_fitted(
    metric: str, data: EvaluationData, options: Mapping[str, Any], *, fixed_prevalence: bool
) -> CrossFitted:
    """Estimate the H-measure or the area under the hull from cross-fitted rows."""
    own = {} if metric == "hull_auc" else {"severity_ratio": None, "a": None, "b": None}
    known = {"n_folds": 10, "random_state": 0, **own}
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise TypeError(f"{metric} takes no parameter {unknown[0]!r}.")
    if fixed_prevalence and metric == "hull_auc":
        raise ValueError("prevalence= does not change hull_auc: leave it out.")
    given = {**known, **options}
    costs = _stated_costs(**{key: given[key] for key in own}) if own else None
    rows = cross_fit_rows(
        data, fixed_prevalence=fixed_prevalence, n_folds=given["n_folds"], random_state=given["random_state"]
    )
    return estimate_hull_auc(rows) if metric == "hull_auc" else estimate_h_measure(rows, costs)


def estimate_h_measure(rows: CrossFitRows, costs: CostDistribution | None) -> CrossFitted:
    """H-measure of cross-fitted rows; costs None are those of the prevalence."""
    rate = rows.prevalence
    value, influence, in_sample = _h_measure(rows, _default_costs(rate) if costs is None else costs)
    if costs is None and not rows.fixed:
        up, down = (_h_measure(rows, _default_costs(rate * (1.0 + sign * _STEP)))[0] for sign in (1.0, -1.0))
        influence = influence + (up - down) / (2.0 * _STEP * rate) * rows.sample.y
    return CrossFitted("h_measure_score", rows.moments(value, influence), in_sample)


def estimate_hull_auc(rows: CrossFitRows) -> CrossFitted:
    """Area under the convex hull of the ROC curve, of cross-fitted rows."""
    fit, sample = rows.fit, rows.sample
    in_sample = _auc(sample, fit.values[fit.fitted], None)
    below, above = fit.values[fit.below], fit.values[fit.above]
    unseen = [0.5 * (_auc(sample, below, fold) + _auc(sample, above, fold)) for fold in _folds(fit.fold)]
    share = rows.mean(fit.share)
    value = (1.0 - share) * in_sample + share * float(np.mean(unseen))
    # noise fitted away would shorten the interval: the larger of the errors with and without the recalibration holds
    found = [_area_of(rows, score) for score in (fit.values[fit.fitted], sample.score)]
    area = replace(max(found, key=lambda area: area.variance), value=value, degrees=rows.degrees)
    return CrossFitted("hull_auc", area, in_sample)


def _stated_costs(severity_ratio: float | None, a: float | None, b: float | None) -> CostDistribution | None:
    if (a is None) != (b is None) or (a is not None and severity_ratio is not None):
        raise ValueError(
            f"pass both a and b, or severity_ratio alone, got a={a}, b={b}, severity_ratio={severity_ratio}."
        )
    if a is not None and b is not None:
        return Beta(a, b)
    return None if severity_ratio is None else costs_of_severity(severity_ratio)


def _default_costs(prevalence: float) -> CostDistribution:
    return Beta(2.0, 1.0 / prevalence)


def _h_measure(rows: CrossFitRows, costs: CostDistribution) -> tuple[float, Floats, float]:
    """H, its influence up to a constant, and its in-sample value."""
    fair, fitted = rows.fit.losses(costs)
    constant = rows.constant(costs)
    u, r = rows.mean(constant), rows.mean(fair)
    return 1.0 - r / u, (r / u * constant - fair) / u, max(1.0 - rows.mean(fitted) / u, 0.0)


def _area_of(rows: CrossFitRows, score: Floats) -> Area:
    return area_estimate(cells_of(EvaluationData(replace(rows.sample, score=score), None), fixed_prevalence=False))


def _folds(fold: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
    return [fold == k for k in range(int(fold.max()) + 1)]


def _auc(sample: BinarySample, score: Floats, rows: NDArray[np.bool_] | None) -> float:
    if rows is None:
        rows = np.ones(len(score), dtype=bool)
    weight = None if sample.weight is None else sample.weight[rows]
    return area_under_roc(ScoreTable.from_sample(BinarySample(sample.y[rows], score[rows], weight)))

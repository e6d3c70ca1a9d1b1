"""Honest intervals for the H-measure and the area under the convex hull of the ROC curve."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._inputs import EvaluationData, evaluation_data
from stakes._validation import BinarySample, check_unit
from stakes.costs import Beta
from stakes.inference._crossfit_rows import CrossFitRows, cross_fit_rows, non_negative_interval
from stakes.inference._influence import auc_influence, cells_of
from stakes.inference._metric_interval import Estimate, influence_moments
from stakes.metrics._rank import area_under_roc
from stakes.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.costs import CostDistribution
    from stakes.inference._moments import Moments

    Floats = NDArray[np.float64]

_STEP = 1e-3


def h_measure_interval(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    severity_ratio: float | None = None,
    a: float | None = None,
    b: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    n_folds: int = 10,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
) -> Estimate:
    """Say how large Hand's H-measure is in the population, without the optimism of the same rows.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table of rows of equal weight.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    severity_ratio, a, b : float, optional
        The cost distribution, as for :func:`h_measure_score`. By default it depends on the prevalence, whose sampling
        error is then part of the standard error.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data: class totals are then known.
    n_folds : int, default 10
        Folds of the cross-fit, 2 to 20.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    random_state : int, numpy Generator or None
        For the same folds again.

    Returns
    -------
    Estimate
        Smaller than :func:`h_measure_score`, and slightly negative at times where the scores do not rank; the interval
        lies in [0, 1].

    Raises
    ------
    ValueError
        For invalid data or parameters, or fewer than 20 positives or 20 negatives.

    Notes
    -----
    H = DSC / UNC with the costs of the H-measure; see :func:`decomposition_interval`.

    Examples
    --------
    >>> from stakes import h_measure_interval
    >>> h_measure_interval([0, 1, 0, 1] * 10, [-2.0, -1.0, 0.5, 3.0] * 10, a=2, b=2, random_state=0)
    Estimate(h_measure_score = 0.4579, 95% interval [0.2929, 0.6595])
    """
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    costs = _stated_costs(severity_ratio, a, b)
    rows = _ranked_rows(
        y_true,
        y_score,
        n_folds=n_folds,
        random_state=random_state,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
    )
    return estimate_h_measure(rows, costs, level)


def estimate_h_measure(rows: CrossFitRows, costs: CostDistribution | None, level: float) -> Estimate:
    """H-measure of cross-fitted rows; costs None are those of the prevalence."""
    rate = rows.prevalence
    value, influence, in_sample = _h_measure(rows, _default_costs(rate) if costs is None else costs)
    if costs is None and not rows.fixed:
        up, down = (_h_measure(rows, _default_costs(rate * (1.0 + sign * _STEP)))[0] for sign in (1.0, -1.0))
        influence = influence + (up - down) / (2.0 * _STEP * rate) * rows.sample.y
    moments = rows.moments(value, influence)
    interval = non_negative_interval(moments, in_sample, level, 1.0)
    return Estimate("h_measure_score", value, moments.standard_error, interval, level)


def hull_auc_interval(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    n_folds: int = 10,
    confidence_level: float = 0.95,
    random_state: int | np.random.Generator | None = None,
) -> Estimate:
    """Say how large the area under the convex hull of the population's ROC curve is.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table of rows of equal weight.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    n_folds : int, default 10
        Folds of the cross-fit, 2 to 20.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    random_state : int, numpy Generator or None
        For the same folds again.

    Returns
    -------
    Estimate
        AUC of the population's isotonic recalibration: its AUC, if higher scores always mean higher risk.

    Raises
    ------
    ValueError
        For invalid data, or fewer than 20 positives or 20 negatives.

    Notes
    -----
    The in-sample hull lies above the population's by three parts of order n^(-2/3), the curve of a recalibration on
    fresh rows below by one, as for :func:`decomposition_interval`. The standard error is DeLong's, for the scores or
    the recalibrated scores, whichever is larger; the interval is corrected for skewness and lies in [0.5, 1].

    Examples
    --------
    >>> from stakes import hull_auc_interval
    >>> hull_auc_interval([0, 1, 0, 1] * 10, [-2.0, -1.0, 0.5, 3.0] * 10, random_state=0)
    Estimate(hull_auc = 0.8984, 95% interval [0.7287, 1])
    """
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    rows = _ranked_rows(
        y_true, y_score, n_folds=n_folds, random_state=random_state, sample_weight=sample_weight, pos_label=pos_label
    )
    return estimate_hull_auc(rows, level)


def estimate_hull_auc(rows: CrossFitRows, level: float) -> Estimate:
    """Area under the convex hull of the ROC curve, of cross-fitted rows."""
    fit, sample = rows.fit, rows.sample
    in_sample = _auc(sample, fit.values[fit.fitted], None)
    below, above = fit.values[fit.below], fit.values[fit.above]
    unseen = [0.5 * (_auc(sample, below, fold) + _auc(sample, above, fold)) for fold in _folds(fit.fold)]
    share = rows.mean(fit.share)
    value = (1.0 - share) * in_sample + share * float(np.mean(unseen))
    # noise fitted away would shorten the interval: the larger of the errors with and without the recalibration holds
    found = [_delong(rows, score) for score in (fit.values[fit.fitted], sample.score)]
    moments = replace(max(found, key=lambda moments: moments.variance), value=value, degrees=rows.degrees)
    low, high = moments.interval(level)
    low, high = max(low, 0.5), high if value >= 0.5 else high + (0.5 - value)
    return Estimate("hull_auc", value, moments.standard_error, (low, min(high, 1.0)), level)


def _ranked_rows(y_true: Any, y_score: Any, *, n_folds: int, random_state: Any, **data: Any) -> CrossFitRows:
    clean = evaluation_data(y_true, y_score, probability=False, **data)
    fixed = data.get("prevalence") is not None
    return cross_fit_rows(clean, fixed_prevalence=fixed, n_folds=n_folds, random_state=random_state)


def _stated_costs(severity_ratio: float | None, a: float | None, b: float | None) -> CostDistribution | None:
    if (a is None) != (b is None) or (a is not None and severity_ratio is not None):
        raise ValueError(
            f"pass both a and b, or severity_ratio alone, got a={a}, b={b}, severity_ratio={severity_ratio}."
        )
    if a is not None and b is not None:
        return Beta(a, b)
    if severity_ratio is None:
        return None
    if not 0.0 < float(severity_ratio) < math.inf:
        raise ValueError(f"severity_ratio must be a finite number > 0, got {severity_ratio}.")
    return Beta(2.0, 1.0 + 1.0 / float(severity_ratio))


def _default_costs(prevalence: float) -> CostDistribution:
    return Beta(2.0, 1.0 / prevalence)


def _h_measure(rows: CrossFitRows, costs: CostDistribution) -> tuple[float, Floats, float]:
    """H, its influence up to a constant, and its in-sample value."""
    fair, fitted = rows.fit.losses(costs)
    constant = rows.constant(costs)
    u, r = rows.mean(constant), rows.mean(fair)
    return 1.0 - r / u, (r / u * constant - fair) / u, max(1.0 - rows.mean(fitted) / u, 0.0)


def _delong(rows: CrossFitRows, score: Floats) -> Moments:
    cells = cells_of(EvaluationData(replace(rows.sample, score=score), None), fixed_prevalence=False)
    return influence_moments(cells, auc_influence(cells))


def _folds(fold: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
    return [fold == k for k in range(int(fold.max()) + 1)]


def _auc(sample: BinarySample, score: Floats, rows: NDArray[np.bool_] | None) -> float:
    if rows is None:
        rows = np.ones(len(score), dtype=bool)
    weight = None if sample.weight is None else sample.weight[rows]
    return area_under_roc(ScoreTable._from_sample(BinarySample(sample.y[rows], score[rows], weight)))

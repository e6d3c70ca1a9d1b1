"""Which class weight the scores of a model betray, judged by what happened."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.logistic import sigmoid
from stakes.core.recalibration import LogisticFit, fit_recalibration
from stakes.core.validation import check_level
from stakes.correction._statistics import (
    chi2_tail,
    design_effect,
    free_fit,
    log_likelihood,
    sandwich,
    within_open_interval,
)
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable


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
        return (
            f"ImpliedWeight(positive_share={self.positive_share:.4g}, {self.confidence_level:.0%} interval "
            f"{self.ci_low:.4g} to {self.ci_high:.4g}, no weight: p = {self.p_value:.3g}; "
            f"slope {self.slope:.3g}, p of 1 = {self.slope_p_value:.3g})"
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
    fit = fit_recalibration(inner, slope=1.0)
    if fit.status:
        return _undefined(fit.status, confidence_level)
    z = NormalDist().inv_cdf(0.5 + confidence_level / 2.0)
    half = z * math.sqrt(float(sandwich(inner, fit)[0, 0]))
    aside = "" if inner is table else "scores of exactly 0 and 1 were left aside"
    free = free_fit(inner)
    slope, low, high, slope_p = _slope(inner, fit, free, z)
    return ImpliedWeight(
        _share(fit.intercept),
        _share(fit.intercept + half),
        _share(fit.intercept - half),
        chi2_tail(2.0 * (fit.log_likelihood - log_likelihood(inner)) / design_effect(inner, fit), 1),
        slope,
        low,
        high,
        slope_p,
        confidence_level,
        "; ".join(filter(None, (aside, free.status))),
    )


def _slope(table: ScoreTable, fixed: LogisticFit, free: LogisticFit, z: float) -> tuple[float, float, float, float]:
    """Slope, its interval, and the p-value of slope 1."""
    if not math.isfinite(free.log_likelihood):
        return (math.nan,) * 4
    gain = 2.0 * (free.log_likelihood - fixed.log_likelihood) / design_effect(table, free)
    if free.status:
        return free.slope, math.nan, math.nan, chi2_tail(gain, 1)
    half = z * math.sqrt(float(sandwich(table, free)[1, 1]))
    return free.slope, free.slope - half, free.slope + half, chi2_tail(gain, 1)


def _share(intercept: float) -> float:
    """Relative weight of the positive class that a recalibration intercept undoes."""
    return float(sigmoid(-intercept))


def _undefined(status: str, confidence_level: float) -> ImpliedWeight:
    nan = math.nan
    return ImpliedWeight(nan, nan, nan, nan, nan, nan, nan, nan, confidence_level, status)

"""Named losses: regret averaged over a cost distribution, on a named scale."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from stakes.core.inputs import evaluation_data, refuse_amounts
from stakes.core.regret import check_rule, check_units
from stakes.core.scale import check_scale
from stakes.costs import Beta, LogOddsUniform, Shifted, Uniform, as_bounds, as_costs, as_deferral

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.regret import Rule
    from stakes.core.scale import Scale
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution, CostsLike, Deferral

    Floats = NDArray[np.float64]


def expected_regret(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    deferral: Deferral | float | None = None,
    rule: Rule = "score",
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    unit_cost: float = 1.0,
    per: float = 1.0,
    per_sample: bool = False,
) -> float | Floats:
    """What acting on the scores costs per decision, over the cost ratios that are plausible.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    deferral : Deferral or float, optional
        What leaving a case to someone else costs, or its fee alone: each row is then acted on, not acted on or
        deferred, whichever the score says is cheapest.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions: act where score >= c; the best threshold for each c (optimistic on the same
        data); or one fixed threshold.
    scale : {"regret", "integral", "loss"}, optional
        Mean regret per decision, the plain integral, or the customary loss (``costs.loss_factor`` times the
        integral). By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.
    per_sample : bool, default False
        Whether to return one value for each row instead of their weighted mean.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better; ``inf`` where the loss is infinite, ``nan`` for "regret" under an infinite mass.

    Raises
    ------
    ValueError
        For invalid labels, scores, weights, rule or scale.

    Notes
    -----
    Regret is cost in excess of a perfect oracle: c for a false positive, 1 - c for a false negative
    (arXiv:2504.04528; its Theorem 2.4 lacks a factor 2, and its regret is not minimal unless the score is calibrated).

    Examples
    --------
    >>> from stakes import costs, expected_regret
    >>> y_true, y_prob = [0, 0, 1, 0, 1], [0.01, 0.04, 0.05, 0.09, 0.40]
    >>> round(expected_regret(y_true, y_prob, costs=costs.Uniform(0.02, 0.10)), 6)
    0.12675

    A false positive and a false negative cost 500 euros together: euros per 1,000 decisions.

    >>> round(expected_regret(y_true, y_prob, costs=costs.Uniform(0.02, 0.10), unit_cost=500, per=1000))
    63375

    Who is unsure may ask someone, at a fee.

    >>> round(expected_regret(y_true, y_prob, costs=0.05, deferral=0.01), 6)
    0.008
    """
    rule, costs = check_rule(rule), as_costs(costs)
    data = evaluation_data(
        y_true,
        y_prob,
        amounts=True,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        per_sample=per_sample,
    )
    name, factor = check_scale(scale, costs)
    factor *= check_units(name, unit_cost, per)
    if deferral is not None:
        if not isinstance(rule, str):
            raise ValueError(f'deferral needs rule="score" or "optimal": a threshold of {rule:g} decides every case.')
        costs = as_deferral(deferral).applied_to(costs)
    if per_sample:
        return factor * data.losses(costs, rule)
    return factor * data.integral(costs, rule)


def bounded_brier_loss(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    scale: Scale | None = "loss",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    unit_cost: float = 1.0,
    per: float = 1.0,
    per_sample: bool = False,
) -> float | Floats:
    """Brier score that counts only the thresholds you might use: regret, uniform over cost ratios in the bounds.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    bounds : tuple of float, default (0, 1)
        Smallest and largest plausible threshold, 0 <= low < high <= 1.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is the Brier score at bounds (0, 1).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.
    per_sample : bool, default False
        Whether to return one value for each row instead of their weighted mean.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    "loss" is mean (clip(s) - y)**2 - (clip(y) - y)**2, which is twice the integral of regret (arXiv:2504.04528,
    Theorem 2.4, whose printed form lacks the factor 2). Proper; strictly proper inside the bounds.

    Examples
    --------
    >>> from stakes import bounded_brier_loss
    >>> round(bounded_brier_loss([0, 1], [0.2, 0.6]), 12)  # the Brier score
    0.1
    """
    return _regret(Uniform(*as_bounds(bounds)), locals())


def bounded_log_loss(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    scale: Scale | None = "loss",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    unit_cost: float = 1.0,
    per: float = 1.0,
    per_sample: bool = False,
) -> float | Floats:
    """Log loss that counts only the thresholds you might use: regret, uniform over log-odds in the bounds.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    bounds : tuple of float, default (0, 1)
        Smallest and largest plausible threshold, 0 <= low < high <= 1.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is the log loss at bounds (0, 1), where "regret" is undefined (nan).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.
    per_sample : bool, default False
        Whether to return one value for each row instead of their weighted mean.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better; infinite where low is 0 and a positive has score 0, or high is 1 and a negative has score 1.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    Natural logarithm, no clipping; log-odds beyond about 37 become a probability of exactly 0 or 1.
    arXiv:2504.04528, Theorem 3.4, whose printed sign is reversed.

    Examples
    --------
    >>> from stakes import bounded_log_loss
    >>> round(bounded_log_loss([0, 1], [0.2, 0.6]), 6)  # the log loss
    0.366985
    """
    return _regret(LogOddsUniform(*as_bounds(bounds)), locals())


def beta_loss(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    a: float,
    b: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    scale: Scale | None = "loss",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    unit_cost: float = 1.0,
    per: float = 1.0,
    per_sample: bool = False,
) -> float | Floats:
    """Proper loss whose cost ratios follow a Beta distribution: peaked where your costs are.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    a, b : float
        Shape parameters > 0; the mean cost ratio is a / (a + b).
    bounds : tuple of float, default (0, 1)
        Smallest and largest cost ratio that counts; the density is not renormalised on them.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is twice the integral: the Brier score for a = b = 1.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.
    per_sample : bool, default False
        Whether to return one value for each row instead of their weighted mean.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better.

    Raises
    ------
    ValueError
        For invalid data, shape parameters or bounds.

    Notes
    -----
    Buja, Stuetzle and Shen (2005); Hand's H-measure uses the same costs with optimal thresholds.

    Examples
    --------
    >>> from stakes.metrics import beta_loss
    >>> round(beta_loss([0, 1], [0.2, 0.6], a=2, b=8), 6)
    0.065782
    """
    return _regret(Beta(a, b, *as_bounds(bounds)), locals())


def shifted_brier_loss(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    median: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    scale: Scale | None = "loss",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    unit_cost: float = 1.0,
    per: float = 1.0,
    per_sample: bool = False,
) -> float | Floats:
    """Brier score moved to your typical threshold: half of the weight lies below ``median``, half above.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    median : float
        Median cost ratio, in (0, 1).
    bounds : tuple of float, default (0, 1)
        Smallest and largest cost ratio that counts; the density is not renormalised on them.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is twice the integral: the Brier score for median 1/2.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.
    per_sample : bool, default False
        Whether to return one value for each row instead of their weighted mean.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better.

    Raises
    ------
    ValueError
        For invalid data, median or bounds.

    Notes
    -----
    The proper form of arXiv:2504.04528, Appendix D. The squared error of a shifted score printed there (Theorem D.10)
    is improper: a true probability of 0.4 would be best reported as 0.087 for median 1/8.

    Examples
    --------
    >>> from stakes.metrics import shifted_brier_loss
    >>> round(shifted_brier_loss([0, 1], [0.2, 0.6], median=1 / 8), 6)
    0.067062
    """
    return _regret(Shifted(median, *as_bounds(bounds)), locals())


_SHARED = frozenset(signature(expected_regret).parameters) - {"costs", "deferral"}


def _regret(costs: CostDistribution, given: dict[str, Any]) -> float | Floats:
    """Expected regret under the costs that a named loss stands for, with all that it was given besides."""
    refuse_amounts(given["y_true"])
    return expected_regret(**{name: value for name, value in given.items() if name in _SHARED}, costs=costs)

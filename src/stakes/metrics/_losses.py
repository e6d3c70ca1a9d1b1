"""Losses and net benefit, skill scores, the decomposition of a score, and a numerical check of propriety."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base import validation
from stakes.core.options import (
    EvaluationData,
    check_rule,
    check_units,
    evaluation_data,
    ranking_data,
    refuse_amounts,
    undefined,
)
from stakes.core.score_table import Rule, ScoreTable, promised_losses, regret_at, table_integral
from stakes.costs import (
    Beta,
    CostDistribution,
    CostsLike,
    Deferral,
    LogOddsUniform,
    NetBenefitUniform,
    Scale,
    Shifted,
    Uniform,
    as_bounds,
    as_costs,
    as_deferral,
    check_scale,
)
from stakes.outcomes import RowCosts
from stakes.outputs.result_table import Tabular

# Named losses: regret averaged over a cost distribution, on a named scale.


def expected_regret(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike | None = None,
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
) -> float | validation.Floats:
    """What acting on the scores costs per decision, over the cost ratios that are plausible.

    Parameters
    ----------
    y_true : array_like of shape (n,), ScoreTable or RowCosts
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
        Amounts by row need none: they then cost as stated, and the result is in their unit, per row or for ``per``
        rows, in excess of the right decisions. With ``costs`` it is per unit at stake.
    deferral : Deferral or float, optional
        What leaving a case to someone else costs, or its fee alone: each row is then acted on, not acted on or
        deferred, whichever the score says is cheapest.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions: act where score >= c; the best threshold for each c (optimistic on the same
        data); or one fixed threshold in [0, 1]. Of :class:`stakes.RowCosts` the threshold is on the share that the
        expected cost of a miss has of that of both mistakes, not on the score.
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

    Amounts by row cost as stated: one miss of 20 and one false alarm of 5 in four rows.

    >>> from stakes import RowCosts
    >>> outcome = RowCosts([0, 1, 0, 1], false_positive=5, false_negative=[100, 200, 50, 20])
    >>> expected_regret(outcome, [0.02, 0.3, 0.2, 0.1])
    6.25
    """
    if costs is None:
        costs, unit_cost = 0.5, _stated_unit(y_true, scale=scale, deferral=deferral, unit_cost=unit_cost)
    rows = y_true, y_prob, sample_weight, pos_label, prevalence
    return _loss(rows, costs, rule, (scale, unit_cost, per), deferral, logits=logits, per_sample=per_sample)


def _stated_unit(y_true: Any, *, scale: Any, deferral: Any, unit_cost: float) -> float:
    """Unit cost of the mean row at the ratio 1/2, where amounts by row cost as stated; refuse what does not fit."""
    if not isinstance(y_true, RowCosts):
        raise TypeError("expected_regret needs costs=; only amounts by row, a RowCosts, say what mistakes cost.")
    given = {"scale": scale not in (None, "regret"), "deferral": deferral is not None, "unit_cost": unit_cost != 1.0}
    wrong = [name for name, is_given in given.items() if is_given]
    if wrong:
        raise ValueError(f"{wrong[0]}= does not fit amounts as stated: pass costs= with it, 0.5 for amounts as stated.")
    return 2.0 * y_true.at_stake / float(y_true.counted.sum())


def _loss(
    rows: tuple[Any, ...],
    costs: CostsLike,
    rule: Rule,
    unit: tuple[Scale | None, float, float],
    deferral: Deferral | float | None = None,
    *,
    logits: bool,
    per_sample: bool,
) -> float | validation.Floats:
    """Expected regret of all rows (labels, scores, weights, positive label, prevalence), or that of each of them."""
    rule, costs = check_rule(rule), as_costs(costs)
    data = evaluation_data(*rows, amounts=True, logits=logits, per_sample=per_sample)
    scale, unit_cost, per = unit
    name, factor = check_scale(scale, costs)
    factor *= check_units(name, unit_cost, per)
    if deferral is not None:
        if not isinstance(rule, str):
            raise ValueError(f'deferral needs rule="score" or "optimal": a threshold of {rule:g} decides every case.')
        costs = as_deferral(deferral).applied_to(costs)
    if per_sample:
        return factor * data.losses(costs, rule)
    return factor * data.integral(costs, rule)


def promised_regret(
    y_prob: ArrayLike,
    *,
    costs: CostsLike,
    sample_weight: ArrayLike | None = None,
    scale: Scale | None = "regret",
    unit_cost: float = 1.0,
    per: float = 1.0,
) -> float:
    """What acting on the scores will cost per decision as the scores themselves say: no labels are needed.

    Parameters
    ----------
    y_prob : array_like of shape (n,)
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        As in :func:`expected_regret`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    scale : {"regret", "integral", "loss"}, default "regret"
        As in :func:`expected_regret`; None is that of the costs.
    unit_cost : float, default 1
        What a false positive and a false negative cost together, in real units; needs ``scale="regret"``.
    per : float, default 1
        Number of decisions that the result refers to, such as 1,000; needs ``scale="regret"``.

    Returns
    -------
    float
        Lower is better; it is kept only by scores that are right.

    Raises
    ------
    ValueError
        For invalid scores, weights, costs or scale.

    Notes
    -----
    A score s expects the cost s positive_loss(s) + (1 - s) negative_loss(s). What a row costs, less that, has mean zero
    wherever the scores are right, whatever the mix of cases; ``group-not-as-promised`` looks for groups where it has
    not.

    Examples
    --------
    >>> from stakes import promised_regret
    >>> promised_regret([0.1, 0.4], costs=0.2)
    0.1
    """
    validation.check_same_order(y_prob=y_prob, sample_weight=sample_weight)
    score = validation.check_scores(validation.to_array(y_prob, "y_prob"), "y_prob")
    weight = validation.check_weights(sample_weight, len(score))
    costs = as_costs(costs)
    name, factor = check_scale(scale, costs)
    factor *= check_units(name, unit_cost, per)
    return factor * float(np.average(promised_losses(score, costs), weights=weight))


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
) -> float | validation.Floats:
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
    refuse_amounts(y_true)
    rows = y_true, y_prob, sample_weight, pos_label, prevalence
    return _loss(rows, Uniform(*as_bounds(bounds)), rule, (scale, unit_cost, per), logits=logits, per_sample=per_sample)


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
) -> float | validation.Floats:
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
    refuse_amounts(y_true)
    rows = y_true, y_prob, sample_weight, pos_label, prevalence
    return _loss(
        rows, LogOddsUniform(*as_bounds(bounds)), rule, (scale, unit_cost, per), logits=logits, per_sample=per_sample
    )


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
) -> float | validation.Floats:
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
    refuse_amounts(y_true)
    rows = y_true, y_prob, sample_weight, pos_label, prevalence
    return _loss(
        rows, Beta(a, b, *as_bounds(bounds)), rule, (scale, unit_cost, per), logits=logits, per_sample=per_sample
    )


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
) -> float | validation.Floats:
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
    refuse_amounts(y_true)
    rows = y_true, y_prob, sample_weight, pos_label, prevalence
    return _loss(
        rows, Shifted(median, *as_bounds(bounds)), rule, (scale, unit_cost, per), logits=logits, per_sample=per_sample
    )


# Net benefit at one threshold, and averaged over the thresholds you might use.


def net_benefit_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    threshold: float,
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """True positives per case, less the false positives at the exchange rate of the threshold.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    threshold : float
        Threshold probability, in [0, 1).
    rule : {"score", "optimal"} or float, default "score"
        Act where score >= threshold; at the best cut for this threshold; or at one fixed cut.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        At most the prevalence; higher is better. Treating no one has 0.

    Raises
    ------
    ValueError
        For invalid data, or a threshold outside [0, 1).

    Notes
    -----
    TP/n - FP/n * t/(1-t) = prevalence - regret(t) / (1-t). Vickers and Elkin (2006); arXiv:2504.04528, Theorem 3.2.

    Examples
    --------
    >>> from stakes import net_benefit_score
    >>> net_benefit_score([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6], threshold=0.2)  # 1/4 - 1/4 * 0.2/0.8
    0.1875
    """
    t = validation.check_unit(threshold, "threshold", open_high=True)
    rule = check_rule(rule)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits, amounts=True)
    if rule == "optimal":
        return float(data.prevalence - regret_at(data.table, np.array([t]), rule)[0] / (1.0 - t))
    hits, alarms = _rates_at(data, t if rule == "score" else rule)
    return float(hits - alarms * t / (1.0 - t))


def _rates_at(data: EvaluationData, threshold: float) -> validation.Floats:
    """True and false positives at a threshold, as shares of all rows; exactly 0 if no row is acted on."""
    if data.sample is None:
        table, acting = data.table, data.table.scores >= threshold
        return np.array([table.positives[acting].sum(), table.negatives[acting].sum()]) / table.total
    rows, acting = data.sample, data.sample.score >= threshold
    kinds = acting & rows.y, acting & ~rows.y
    if rows.weight is None:
        return np.array([np.count_nonzero(kind) for kind in kinds]) / len(rows.y)
    return np.array([rows.weight[kind].sum() for kind in kinds]) / rows.weight.sum()


def average_net_benefit_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float],
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    per_sample: bool = False,
) -> float | validation.Floats:
    """Net benefit averaged over thresholds uniform in the bounds: the mean height of the decision curve.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    bounds : tuple of float
        Smallest and largest plausible threshold, 0 <= low < high <= 1.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    per_sample : bool, default False
        Whether to return one value for each row: its label less its integrated loss over the width.

    Returns
    -------
    float or ndarray of shape (n,)
        At most the prevalence; higher is better; ``-inf`` where high is 1 and a negative has score 1.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    prevalence - integral / (high - low) under ``costs.NetBenefitUniform`` (arXiv:2504.04528, Theorem 3.7, whose
    printed sign for positives is reversed). It weighs regret by 1/(1-c), so it can rank models unlike the bounded
    Brier loss.

    Examples
    --------
    >>> from stakes.metrics import average_net_benefit_score
    >>> round(average_net_benefit_score([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6], bounds=(0.05, 0.2)), 6)
    0.200026
    """
    low, high = as_bounds(bounds)
    costs = NetBenefitUniform(low, high)
    data = evaluation_data(
        y_true, y_prob, sample_weight, pos_label, prevalence, amounts=True, logits=logits, per_sample=per_sample
    )
    if per_sample:
        rows: Any = data.rows.y - data.losses(costs, check_rule(rule)) / (high - low)
        return rows
    return data.prevalence - data.integral(costs, check_rule(rule)) / (high - low)


# Is a loss proper? Every truth against every report on a lattice of probabilities, by the definition.

_GRIDS = (24, 12)  # for two classes, and for more: both hold many exact ties
_ROUNDING = 1e-14  # smaller differences in expected loss may be rounding


@dataclass(frozen=True)
class Propriety:
    """Whether honest probabilities are the best report, and the truth and report that come closest to denying it.

    Parameters
    ----------
    proper : bool
        Whether no report has a lower expected loss than the truth.
    strict : bool
        Whether, within the range asked for, every other report has a higher one.
    excess : float
        Least expected loss of a report beyond that of the truth; below zero where the report gains.
    truth, report : tuple of float
        The probabilities of the classes for which this is so.

    Examples
    --------
    >>> from stakes.metrics import check_proper
    >>> check_proper(lambda p, k: abs(1 - p[k])).proper
    False
    """

    proper: bool
    strict: bool
    excess: float
    truth: tuple[float, ...]
    report: tuple[float, ...]


def check_proper(
    loss: Callable[[tuple[float, ...], int], float],
    n_classes: int = 2,
    *,
    low: float = 0.0,
    high: float = 1.0,
    grid: int | None = None,
    points: Iterable[float] = (),
    atol: float = 1e-12,
) -> Propriety:
    """Say whether a loss is proper, by comparing every truth with every report on a lattice.

    Parameters
    ----------
    loss : callable
        ``loss(p, k)``, what reporting the probabilities ``p`` costs where class ``k`` comes true; lower is better, and
        ``inf`` is allowed. A score is passed with its sign reversed.
    n_classes : int, default 2
        Number of classes.
    low, high : float, default 0 and 1
        Range of probabilities within which the loss is to be strictly proper.
    grid : int, optional
        The lattice holds all probabilities that are multiples of ``1 / grid``: by default 24 for two classes, else 12.
    points : iterable of float, optional
        For two classes: further probabilities of the second class, such as thresholds, which are tried with their two
        neighbouring numbers, as ``low``, ``high`` and 1/2 are.
    atol : float, default 1e-12
        How much less than the truth a report may cost and the loss still count as proper.

    Returns
    -------
    Propriety

    Raises
    ------
    ValueError
        For fewer than two classes, a range out of order or without a point of the lattice, a grid that is no whole
        number, or a loss that returns None or nan.

    Notes
    -----
    Proper: E_q loss(p) >= E_q loss(q) for every truth q and report p (Gneiting and Raftery 2007,
    doi:10.1198/016214506000001437). For two classes a violation between any two reports implies one between neighbours,
    so the lattice misses only what lies between its points.

    Examples
    --------
    >>> from stakes.metrics import check_proper
    >>> check_proper(lambda p, k: (1 - p[k]) ** 2).strict
    True
    """
    low, high = as_bounds((low, high), "low, high")
    if not callable(loss):
        raise TypeError(f"loss must be a function of the probabilities and the class, got {loss!r}.")
    atol, points = (
        validation.check_size(atol, "atol", zero=True),
        validation.to_floats(validation.to_array(points, "points"), "points").ravel(),
    )
    lattice, beside = _lattice(n_classes, grid), np.empty((0, 2))
    if n_classes == 2:  # an end replaces a point of the lattice beside it, whose loss differs by no more than rounding
        at_an_end = np.abs(lattice[:, 1, None] - [low, high]).min(axis=1) < _ROUNDING**0.5
        beside = lattice[at_an_end]
        lattice = np.unique(np.concatenate([lattice[~at_an_end], _pairs([low, high])]), axis=0)
    bounded = lattice if n_classes > 2 else lattice[:, 1:]  # of two classes the second probability says all
    inside = np.all((bounded >= low) & (bounded <= high), axis=1)
    if not inside.any():
        raise ValueError(f"low, high must leave a point of the lattice of {n_classes} classes, got {low}, {high}.")
    everywhere = lattice
    if n_classes == 2:
        ends = np.array([low, high, 0.5, *points], dtype=np.float64)
        near = np.clip(np.concatenate([ends, np.nextafter(ends, 0.0), np.nextafter(ends, 1.0)]), 0.0, 1.0)
        everywhere = np.concatenate([lattice, beside, _pairs(near)])
    excess = _excess(everywhere, loss)
    ours = np.flatnonzero(inside)
    within = excess[np.ix_(ours, ours)]
    proper, strict = bool(excess.min() >= -atol), bool(within.min() > _ROUNDING)
    truth, report = np.unravel_index(int(np.argmin(excess)), excess.shape)
    if proper:
        truth, report = (ours[i] for i in np.unravel_index(int(np.argmin(within)), within.shape))
    pair = (tuple(everywhere[i].tolist()) for i in (truth, report))
    return Propriety(proper, proper and strict, float(excess[truth, report]), *pair)


def _lattice(n_classes: Any, grid: Any) -> validation.Floats:
    """All probability vectors whose entries are multiples of 1 / grid."""
    n_classes = validation.check_whole(n_classes, "n_classes", 2)
    grid = _GRIDS[n_classes > 2] if grid is None else validation.check_whole(grid, "grid", 1)
    bars = list(combinations(range(grid + n_classes - 1), n_classes - 1))
    edges = np.column_stack([np.full(len(bars), -1), np.array(bars), np.full(len(bars), grid + n_classes - 1)])
    return (np.diff(edges, axis=1) - 1) / grid


def _pairs(second: validation.Floats | list[float]) -> validation.Floats:
    """Stack the probabilities of two classes, from that of the second."""
    p = np.asarray(second, dtype=np.float64)
    return np.column_stack([1.0 - p, p])


def _excess(points: validation.Floats, loss: Callable[[tuple[float, ...], int], float]) -> validation.Floats:
    """Expected loss of each report (column) minus that of the truth (row); inf where report and truth are equal."""
    losses = np.array([[loss(p, k) for k in range(len(p))] for p in map(tuple, points.tolist())], dtype=np.float64)
    for i, k in np.argwhere(np.isnan(losses)).tolist()[:1]:
        p = tuple(points[i].tolist())
        raise ValueError(
            f"loss must return a number, or inf, for every p and k, got {loss(p, k)!r} for {p = } and {k = }."
        )
    excess = np.zeros((len(points), len(points)))
    with np.errstate(invalid="ignore"):  # inf - inf
        for k, share in enumerate(points.T):
            possible = share > 0.0  # outcomes of probability zero are ignored, even at infinite loss
            further = losses[None, :, k] - losses[possible, k][:, None]
            excess[possible] += share[possible][:, None] * np.where(np.isnan(further), 0.0, further)
    endless = (points > 0.0) @ np.isposinf(losses).T
    excess[endless & np.diag(endless)[:, None]] = 0.0  # no truth of infinite expected loss is better than another
    np.fill_diagonal(excess, np.inf)
    return excess


# Skill scores, and the decomposition of a score.

# Skill: the share of a reference forecast's loss that the scores save. Higher is better.


def bounded_brier_skill_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    reference: float | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Share of the reference's bounded Brier loss that the scores save: 1 is perfect, 0 no better than it.

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
    reference : float or array_like of shape (n,) or (n, 2), optional
        A constant probability or a forecast to compare with; by default the prevalence of these data, which is the
        best constant in hindsight.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        At most 1; ``nan`` with a warning where the reference has no loss (one class only).

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    arXiv:2504.04528, Appendix J.

    Examples
    --------
    >>> from stakes.metrics import bounded_brier_skill_score
    >>> round(bounded_brier_skill_score([0, 1], [0.2, 0.6]), 12)
    0.6
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    reference = _reference_data(y_true, reference, sample_weight, pos_label, prevalence)
    return skill(data, Uniform(*as_bounds(bounds)), rule, reference, "bounded_brier_skill_score")


def bounded_log_skill_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    rule: Rule = "score",
    reference: float | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Share of the reference's bounded log loss that the scores save: 1 is perfect, 0 no better than it.

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
    reference : float or array_like of shape (n,) or (n, 2), optional
        A constant probability or a forecast to compare with; by default the prevalence of these data.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        At most 1; ``-inf`` for an infinite loss; ``nan`` with a warning where the reference has no loss.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    arXiv:2504.04528, Appendix J.

    Examples
    --------
    >>> from stakes.metrics import bounded_log_skill_score
    >>> round(bounded_log_skill_score([0, 1], [0.2, 0.6]), 6)
    0.470553
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    reference = _reference_data(y_true, reference, sample_weight, pos_label, prevalence)
    return skill(data, LogOddsUniform(*as_bounds(bounds)), rule, reference, "bounded_log_skill_score")


def regret_skill_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    rule: Rule = "score",
    reference: float | ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Share of the reference's expected regret that the scores save, over any cost distribution.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
    reference : float or array_like of shape (n,) or (n, 2), optional
        A constant probability or a forecast to compare with; by default the prevalence of these data.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        At most 1; ``-inf`` for an infinite loss; ``nan`` with a warning where the reference has no loss.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    With the prevalence as reference it is (DSC - MCB) / UNC of :func:`decompose`.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.metrics import regret_skill_score
    >>> round(regret_skill_score([0, 1], [0.2, 0.6], costs=costs.Beta(1, 1)), 12)  # the Brier skill score
    0.6
    """
    validation.check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    reference = _reference_data(y_true, reference, sample_weight, pos_label, prevalence)
    return skill(data, as_costs(costs), rule, reference, "regret_skill_score")


def h_measure_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    severity_ratio: float | None = None,
    a: float | None = None,
    b: float | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Hand's H-measure: what the ranking saves with the best threshold for each cost, against a constant decision.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    severity_ratio : float, optional
        Cost of a false positive over that of a false negative, > 0, at the mode of Beta(2, 1 + 1/ratio). By default
        prevalence / (1 - prevalence), as in the ``hmeasure`` packages.
    a, b : float, optional
        Shape parameters of the cost distribution, in place of ``severity_ratio``: Beta(2, 2) is Hand (2009),
        Beta(1 + pi, 2 - pi) Hand and Anagnostopoulos (2014).
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.

    Returns
    -------
    float
        In [0, 1], higher is better; ``nan`` with a warning for one class only. In-sample: the thresholds are
        chosen on the same data.

    Raises
    ------
    ValueError
        For invalid data or parameters.

    Notes
    -----
    H = 1 - I(PAV(s)) / I(prevalence), which is discrimination over uncertainty of :func:`decompose`
    (arXiv:2504.04528, Appendix G, where the optimal thresholds are left out).

    Examples
    --------
    >>> from stakes.metrics import h_measure_score
    >>> round(h_measure_score([0, 1, 0, 1], [-2.0, -1.0, 0.5, 3.0], a=2, b=2), 6)
    0.5
    """
    if (a is None) != (b is None) or (a is not None and severity_ratio is not None):
        raise ValueError(
            f"pass both a and b, or severity_ratio alone, got a={a}, b={b}, severity_ratio={severity_ratio}."
        )
    data = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence)
    rate = data.prevalence
    if not 0.0 < rate < 1.0:
        return undefined("h_measure_score", "only one class is present")
    if a is not None and b is not None:
        costs = Beta(a, b)
    else:
        costs = costs_of_severity(rate / (1.0 - rate) if severity_ratio is None else severity_ratio)
    return max(skill(data, costs, "optimal", None, "h_measure_score"), 0.0)  # below zero only by rounding


def costs_of_severity(severity_ratio: float) -> Beta:
    """The cost distribution of a severity ratio, or raise."""
    ratio = validation.check_number(severity_ratio, "severity_ratio")
    if not 0.0 < ratio < math.inf or math.isinf(1.0 / ratio):
        raise ValueError(f"severity_ratio and its inverse must be finite numbers > 0, got {severity_ratio}.")
    return Beta(2.0, 1.0 + 1.0 / ratio)


def skill(data: EvaluationData, costs: CostDistribution, rule: Rule, reference: Any, name: str) -> float:
    """1 - S / S_ref for any cost distribution, from validated data."""
    base = reference_integral(data, costs, reference)
    if base == 0.0 or not math.isfinite(base):
        return undefined(
            name, "the reference forecast has no loss" if base == 0.0 else "the reference loss is infinite"
        )
    return 1.0 - data.integral(costs, check_rule(rule)) / base


def _reference_data(y_true: Any, reference: Any, sample_weight: Any, pos_label: object, prevalence: Any) -> Any:
    """The rows with the reference forecast as their scores; a constant, or None, as it is."""
    if reference is None or np.ndim(reference) == 0:
        return reference
    if isinstance(y_true, ScoreTable):
        raise ValueError("a reference forecast needs the rows: pass y_true and y_prob instead of a ScoreTable.")
    return evaluation_data(y_true, reference, sample_weight, pos_label, prevalence, name="reference")


def reference_integral(data: EvaluationData, costs: CostDistribution, reference: Any = None) -> float:
    """Integral of regret of the reference: the prevalence, a stated constant, or a forecast for the same rows."""
    if isinstance(reference, EvaluationData):
        return reference.integral(costs, "score")
    constant = data.prevalence if reference is None else validation.check_unit(reference, "reference")
    return constant_integral(data.shares, costs, constant)


def constant_integral(shares: tuple[float, float], costs: CostDistribution, constant: float) -> float:
    """Integral of regret of one probability for every row, given the shares of negatives and of positives."""
    losses = (costs.negative_loss(constant), costs.positive_loss(constant))
    return math.fsum(share * float(loss) for share, loss in zip(shares, losses, strict=True) if share > 0.0)


# The decomposition into miscalibration, discrimination and uncertainty, for any cost distribution.
#
# S = MCB - DSC + UNC, where S is the loss of the scores, UNC that of the best constant (the prevalence), and the
# recalibrated (isotonic) scores stand between them.


@dataclass(frozen=True)
class Decomposition(Tabular):
    """A score and its three terms, S = MCB - DSC + UNC.

    Parameters
    ----------
    score : float
        The loss of the scores at face value.
    miscalibration : float
        MCB >= 0: what isotonic recalibration would save.
    discrimination : float
        DSC >= 0: what the recalibrated scores save over the prevalence as forecast.
    uncertainty : float
        UNC: the loss of the prevalence as forecast.
    scale : str
        "regret", "integral" or "loss".
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes import costs, decompose
    >>> decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1), scale="loss")
    Decomposition(score=0.255 = MCB 0.08833 - DSC 0.08333 + UNC 0.25, scale='loss', in-sample)
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float
    scale: str
    about: str = ""

    @property
    def skill(self) -> float:
        """(DSC - MCB) / UNC: the share of the prevalence forecast's loss that the scores save."""
        return (self.discrimination - self.miscalibration) / self.uncertainty if self.uncertainty > 0.0 else math.nan

    def _records(self) -> list[dict[str, Any]]:
        names = ("score", "miscalibration", "discrimination", "uncertainty", "skill", "scale")
        return [{name: getattr(self, name) for name in names}]

    def __repr__(self) -> str:
        return (
            f"Decomposition(score={self.score:.4g} = MCB {self.miscalibration:.4g} - DSC {self.discrimination:.4g}"
            f" + UNC {self.uncertainty:.4g}, scale={self.scale!r}, in-sample)"
        )


def decompose(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    costs: CostsLike,
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> Decomposition:
    """Split the expected regret of a score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    costs : CostDistribution, tuple of float, or float
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    Decomposition
        MCB is infinite where the score is. The terms are in-sample: recalibration is fitted to the same rows.

    Raises
    ------
    ValueError
        For invalid data or scale.

    Notes
    -----
    CORP of Dimitriadis, Gneiting and Jordan (2021), extended to every cost distribution: the isotonic fit is optimal
    for each cost ratio at once, so MCB and DSC are non-negative. With it MCB is *not* the mean squared distance
    between the scores and their recalibration, as arXiv:2504.04528, section 4.1, has it.

    Examples
    --------
    >>> from stakes import costs, decompose
    >>> decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1), scale="loss").uncertainty
    0.25
    """
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits, amounts=True)
    return decompose_table(data.table, as_costs(costs), scale)


def decompose_table(
    table: ScoreTable, costs: CostDistribution, scale: Scale | None = None, factor: float | None = None
) -> Decomposition:
    """Decompose from a clean table; ``factor`` replaces the scale's factor for real units."""
    name, own = check_scale(scale, costs)
    factor = own if factor is None else factor
    score = factor * table_integral(table, costs, "score")
    recalibrated = factor * table_integral(table, costs, "optimal")
    uncertainty = factor * constant_integral(table.shares, costs, table.prevalence)
    # both terms are non-negative by theory; rounding may leave them a few units of the last place below zero
    miscalibration = _at_least_zero(score - recalibrated)
    discrimination = _at_least_zero(uncertainty - recalibrated)
    return Decomposition(score, miscalibration, discrimination, uncertainty, name, table.about)


def _at_least_zero(value: float) -> float:
    return value if math.isnan(value) else max(value, 0.0)

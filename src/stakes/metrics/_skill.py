"""Skill scores, and the decomposition of a score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import (
    check_number,
    check_same_order,
    check_scores,
    check_unit,
    pick_positive_column,
    to_array,
)
from stakes.core.options import EvaluationData, check_rule, evaluation_data, ranking_data, undefined
from stakes.core.regret import Rule, row_integral, table_integral
from stakes.core.score_table import ScoreTable
from stakes.costs import (
    Beta,
    CostDistribution,
    CostsLike,
    LogOddsUniform,
    Scale,
    Uniform,
    as_bounds,
    as_costs,
    check_scale,
)
from stakes.outputs.result_table import Tabular

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
    reference : float or array_like of shape (n,), optional
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
    check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
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
    reference : float or array_like of shape (n,), optional
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
    check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
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
    reference : float or array_like of shape (n,), optional
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
    check_same_order(y_true=y_true, y_prob=y_prob, reference=reference, sample_weight=sample_weight)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
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
    ratio = check_number(severity_ratio, "severity_ratio")
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


def reference_integral(data: EvaluationData, costs: CostDistribution, reference: Any = None) -> float:
    """Integral of regret of the reference: the prevalence, a stated constant, or a forecast for the same rows."""
    if reference is None or np.ndim(reference) == 0:
        constant = data.prevalence if reference is None else check_unit(reference, "reference")
        return constant_integral(data.shares, costs, constant)
    if data.sample is None:
        raise ValueError("a reference forecast needs the rows: pass y_true and y_prob instead of a ScoreTable.")
    from dataclasses import replace

    column = to_array(reference, "reference")
    forecast = check_scores(pick_positive_column(column, column, None, "reference"), "reference")
    if len(forecast) != len(data.sample.y):
        raise ValueError(f"reference must have one value per row, got {len(forecast)} for {len(data.sample.y)} rows.")
    return row_integral(replace(data.sample, score=forecast), costs, "score")


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

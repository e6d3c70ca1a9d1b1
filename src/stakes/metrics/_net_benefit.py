"""Net benefit at one threshold, and averaged over the thresholds you might use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.regret import check_rule, regret_at
from stakes.core.validation import check_unit
from stakes.costs import NetBenefitUniform, as_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]


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
    t = check_unit(threshold, "threshold", open_high=True)
    rule = check_rule(rule)
    data = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        amounts=True,
    )
    if rule == "optimal":
        return float(data.prevalence - regret_at(data.table, np.array([t]), rule)[0] / (1.0 - t))
    hits, alarms = _acted_on(data, t if rule == "score" else rule)
    return float(hits - alarms * t / (1.0 - t))


def _acted_on(data: EvaluationData, threshold: float) -> Floats:
    """True and false positives at a threshold of the scores, as shares of all rows; of none acted on exactly 0."""
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
) -> float | Floats:
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
        y_true,
        y_prob,
        amounts=True,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        per_sample=per_sample,
    )
    if per_sample:
        rows: Any = data.rows.y - data.losses(costs, check_rule(rule)) / (high - low)
        return rows
    return data.prevalence - data.integral(costs, check_rule(rule)) / (high - low)

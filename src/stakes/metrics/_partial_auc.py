"""Parts of the area under the ROC curve, and the regret that AUC averages without saying so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from stakes.core.inputs import evaluation_data, ranking_data, undefined
from stakes.core.validation import check_choice
from stakes.costs import as_bounds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]


def bounded_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """Balanced average accuracy over the thresholds that cases in the bounds would set: AUC for bounds (0, 1).

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    bounds : tuple of float, default (0, 1)
        Scores that count, low and high included, 0 <= low < high <= 1.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: the measure does not depend on it.
    logits : bool, default False
        Whether the scores are log-odds.

    Returns
    -------
    float
        In [0, 1], higher is better; ``nan`` with a warning for one class only or no score in the bounds.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    (pAUC+ + pAUC-) / (fraction of negatives + fraction of positives in the bounds), where pAUC+ ranks the negatives
    in the bounds against all positives and pAUC- the positives against all negatives. arXiv:2504.04528, Appendix I.10;
    in I.8 the printed difference of true positive rates has its sign reversed, and the fractions of I.9 are multiplied
    by their averages, not added. Like AUC it describes a ranking, not the cost of decisions.

    Examples
    --------
    >>> from stakes.metrics import bounded_auc_score
    >>> bounded_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> bounded_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], bounds=(0.3, 0.5))
    0.5
    """
    bounds = as_bounds(bounds)
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    table = data.table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("bounded_auc_score", "only one class is present")
    inside = _inside(table, bounds)
    positives = table.positives[inside] / table.total_positives
    negatives = table.negatives[inside] / table.total_negatives
    if not len(positives):
        return undefined("bounded_auc_score", f"no score lies in [{bounds[0]:g}, {bounds[1]:g}]")
    below = _ranked_below(table.negatives)[inside] / table.total_negatives
    above = 1.0 - _ranked_below(table.positives)[inside] / table.total_positives
    both = float(np.dot(positives, below) + np.dot(negatives, above))
    return both / float(positives.sum() + negatives.sum())


def auc_regret(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    cost: Literal["event_rate", "score"] = "event_rate",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> float:
    """The mean regret that AUC stands for: each case sets the threshold, and its own event rate is the cost ratio.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    bounds : tuple of float, default (0, 1)
        Scores of the cases that count, low and high included.
    cost : {"event_rate", "score"}, default "event_rate"
        The cost ratio paired with each threshold: the observed event rate at that score, for which the identity with
        AUC holds exactly, or the score itself, which is its reading for a calibrated score.
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
        Lower is better; ``nan`` with a warning if no score lies in the bounds.

    Raises
    ------
    ValueError
        For invalid data or bounds.

    Notes
    -----
    AUC = 1 - auc_regret / (2 pi (1 - pi)) at bounds (0, 1), in every sample, ties and weights included. AUC therefore
    assumes that the costs are spread like the scores of the very model it judges, so that two models are judged by
    different costs. arXiv:2504.04528, I.6 (Hand's identity), needs calibration as printed; this form does not.

    Examples
    --------
    >>> from stakes.metrics import auc_regret, roc_auc_score
    >>> y_true, y_prob = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> 1 - auc_regret(y_true, y_prob) / (2 * 0.5 * 0.5) == roc_auc_score(y_true, y_prob)
    True
    """
    bounds = as_bounds(bounds)
    check_choice(cost, "cost", ("event_rate", "score"))
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
    inside = _inside(table, bounds)
    weight = (table.positives + table.negatives)[inside]
    if not len(weight):
        return undefined("auc_regret", f"no score lies in [{bounds[0]:g}, {bounds[1]:g}]")
    c = table.positives[inside] / weight if cost == "event_rate" else table.scores[inside]
    regret = c * table.false_positives[:-1][inside] + (1.0 - c) * table.false_negatives[:-1][inside]
    return float(np.dot(weight, regret)) / float(weight.sum())


def partial_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    fpr_bounds: tuple[float, float],
    scale: Literal["mcclish", "raw"] = "mcclish",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Area under the part of the ROC curve between two false positive rates.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    fpr_bounds : tuple of float
        False positive rates, 0 <= low < high <= 1.
    scale : {"mcclish", "raw"}, default "mcclish"
        McClish's standardised area, 1/2 for chance and 1 for perfect, or the area itself.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: the area does not depend on it.

    Returns
    -------
    float
        Higher is better; ``nan`` with a warning for one class only.

    Raises
    ------
    ValueError
        For invalid data, bounds or scale.

    Notes
    -----
    McClish (1989). ``sklearn.metrics.roc_auc_score(max_fpr=f)`` is this with bounds (0, f).

    Examples
    --------
    >>> from stakes.metrics import partial_auc_score
    >>> partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fpr_bounds=(0, 0.5), scale="raw")
    0.25
    """
    low, high = as_bounds(fpr_bounds, "fpr_bounds")
    check_choice(scale, "scale", ("mcclish", "raw"))
    table = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("partial_auc_score", "only one class is present")
    fpr = table.false_positives[::-1] * (table.total / table.total_negatives)
    tpr = 1.0 - table.false_negatives[::-1] * (table.total / table.total_positives)
    area = _area_below(fpr, tpr, high) - _area_below(fpr, tpr, low)
    if scale == "raw":
        return area
    chance, best = (high * high - low * low) / 2.0, high - low
    return 0.5 * (1.0 + (area - chance) / (best - chance))


def _area_below(x: Floats, y: Floats, end: float) -> float:
    """Area under the ROC polygon for false positive rates up to an end."""
    last = int(np.searchsorted(x, end, side="right"))
    height = y[last - 1]
    if last < len(x):
        height += (y[last] - y[last - 1]) * (end - x[last - 1]) / (x[last] - x[last - 1])
    left, up = np.append(x[:last], min(end, 1.0)), np.append(y[:last], height)
    return float(np.dot(np.diff(left), up[1:] + up[:-1])) * 0.5


def _inside(table: ScoreTable, bounds: tuple[float, float]) -> slice:
    first, last = np.searchsorted(table.scores, bounds[0], "left"), np.searchsorted(table.scores, bounds[1], "right")
    return slice(int(first), int(last))


def _ranked_below(weights: Floats) -> Floats:
    """Weight at lower scores, and half of that at the same score."""
    below: Floats = np.cumsum(weights)
    below -= weights * 0.5
    return below

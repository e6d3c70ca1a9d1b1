"""AUC and partial AUC, the regret that they average, and the top k scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import Floats, as_fraction, check_choice, refuse_one, to_array, to_floats
from stakes.core.options import evaluation_data, ranking_data, undefined
from stakes.core.score_table import ScoreTable, area_under_roc
from stakes.costs import CostsLike, as_bounds, as_costs
from stakes.outputs.result_table import Tabular

# Measures of ranking alone: they ignore calibration, and each implies a cost that it does not state.


def roc_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Probability that a positive is ranked above a negative (area under the ROC curve), ties counting one half.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: AUC does not depend on it, but it must be in (0, 1) with both classes present.

    Returns
    -------
    float
        In [0, 1], higher is better; ``nan`` with a warning for one class only.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    AUC is not regret over one cost distribution: it pairs each threshold with the local event rate as its cost
    ratio, AUC = 1 - sum_k m_k R(r_k; t_k) / (2 pi (1 - pi)), so the costs differ from model to model. Use it to
    describe a ranking, not to choose a model for independent decisions.

    Examples
    --------
    >>> from stakes.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    data = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence)
    table = data.table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("roc_auc_score", "only one class is present")
    return area_under_roc(table)


# AUC within bounds on the scores, and the regret that AUC averages implicitly.


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
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
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
    table = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits).table
    inside = _inside(table, bounds)
    weight = (table.positives + table.negatives)[inside]
    if not len(weight):
        return undefined("auc_regret", f"no score lies in [{bounds[0]:g}, {bounds[1]:g}]")
    c = table.positives[inside] / weight if cost == "event_rate" else table.scores[inside]
    regret = c * table.false_positives[:-1][inside] + (1.0 - c) * table.false_negatives[:-1][inside]
    return float(np.dot(weight, regret)) / float(weight.sum())


def _inside(table: ScoreTable, bounds: tuple[float, float]) -> slice:
    first, last = np.searchsorted(table.scores, bounds[0], "left"), np.searchsorted(table.scores, bounds[1], "right")
    return slice(int(first), int(last))


def _ranked_below(weights: Floats) -> Floats:
    """Weight at lower scores, plus half of that at the same score."""
    below: Floats = np.cumsum(weights)
    below -= weights * 0.5
    return below


# Acting on the K highest scores: what a fixed budget finds, misses and costs.


@dataclass(frozen=True, eq=False, repr=False)
class TopKScores(Tabular):
    """What acting on the K highest scores gives, for each K, with the luck of the draw among tied scores.

    Parameters
    ----------
    capacity : ndarray
        Budgets: numbers of rows, or total weight.
    true_positives, true_positives_worst, true_positives_best : ndarray
        Expected number of positives among the K, and its bounds over all ways to break ties at the K-th score.
    precision, recall : ndarray
        Expected values; nan where K is 0 or there are no positives.
    cost : ndarray
        Expected regret per row; nan without costs.
    net_benefit : ndarray
        Expected net benefit; nan unless the cost is a single ratio below 1.

    Examples
    --------
    >>> from stakes.metrics import top_k_scores
    >>> top_k_scores([0, 1, 1, 0], [0.9, 0.8, 0.3, 0.3], capacity=3)
    TopKScores(capacity=3: 1.5 positives, precision 0.5, recall 0.75)
    """

    _count_columns: ClassVar[tuple[str, ...]] = (
        "capacity",
        "true_positives",
        "true_positives_worst",
        "true_positives_best",
    )

    capacity: Floats
    true_positives: Floats
    true_positives_worst: Floats
    true_positives_best: Floats
    precision: Floats
    recall: Floats
    cost: Floats
    net_benefit: Floats

    def _records(self) -> list[dict[str, Any]]:
        names = tuple(field.name for field in fields(self))
        return [{name: float(getattr(self, name)[i]) for name in names} for i in range(len(self.capacity))]

    def __repr__(self) -> str:
        lines = (
            f"capacity={k:g}: {tp:g} positives, precision {p:.4g}, recall {r:.4g}"
            for k, tp, p, r in zip(self.capacity, self.true_positives, self.precision, self.recall, strict=True)
        )
        return f"TopKScores({'; '.join(lines)})"


def top_k_scores(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    capacity: ArrayLike,
    costs: CostsLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> TopKScores:
    """Precision, recall, cost and net benefit of acting on the K highest scores, as under a fixed budget.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    capacity : int, float or array_like
        One or more budgets: counts of rows, at most their number (total weight, if rows are weighted; then
        fractions count), or shares of them in (0, 1), rounded down to whole rows where rows are not weighted. The
        number 1.0, which can mean either, is refused: 1 is one row.
    costs : CostDistribution, tuple of float, or float, optional
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives; the total weight is kept.

    Returns
    -------
    TopKScores
        Expected values over random tie-breaking, with the best and worst number of positives.

    Raises
    ------
    ValueError
        For invalid data, and for a budget that is negative, exceeds the total, is 1.0, or is a share of less than one
        row.

    Notes
    -----
    arXiv:2504.04528, Appendix H, with ties at the K-th score. For an unknown budget, averaging recall over all
    budgets gives prevalence/2 + (1 - prevalence) AUC: that is the question AUC answers.

    Examples
    --------
    >>> from stakes.metrics import top_k_scores
    >>> result = top_k_scores([0, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=[1, 2], costs=0.2)
    >>> result.recall.tolist()
    [0.0, 0.5]
    >>> top_k_scores([0, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.3, 0.1], capacity=0.4)
    TopKScores(capacity=2: 1 positives, precision 0.5, recall 0.5)
    """
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    budget = _budgets(capacity, table)
    bad = ~((budget >= 0.0) & (budget <= table.total * (1.0 + 1e-12)))
    if budget.ndim != 1 or np.any(bad):
        shown = budget[bad][0] if budget.ndim == 1 else capacity
        raise ValueError(f"capacity must lie between 0 and the total weight {table.total:g}, got {shown}.")
    expected, worst, best = _positives_found(table, budget)
    alarms, misses = budget - expected, table.total_positives - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(budget > 0.0, expected / budget, np.nan)
        recall = expected / table.total_positives if table.total_positives > 0.0 else np.full(len(budget), np.nan)
    cost, net_benefit = _cost(alarms, misses, expected, costs)
    return TopKScores(budget, expected, worst, best, precision, recall, cost / table.total, net_benefit / table.total)


def _budgets(capacity: Any, table: ScoreTable) -> Floats:
    """Convert budgets to counts of rows or weight."""
    array = to_array(capacity, "capacity")
    given = list(capacity) if isinstance(capacity, (list, tuple)) else np.atleast_1d(array).tolist()
    truth = next((each for each in given if isinstance(each, (bool, np.bool_))), None)
    if truth is not None:
        raise ValueError(f"capacity must be a count of rows or a share of them, got {truth!r}.")
    budget = np.atleast_1d(to_floats(array, "capacity"))
    if array.dtype.kind in "iu" or budget.ndim != 1:
        return budget
    budget = budget.copy()
    for i in np.flatnonzero((budget > 0.0) & (budget <= 1.0)):
        if budget[i] < 1.0:
            budget[i] = _of_share(given[i], table)
        elif table.total != 1.0:
            refuse_one(given[i], f"pass capacity={table.total:.15g}")
    return budget


def _of_share(share: Any, table: ScoreTable) -> float:
    """Convert a share to weight; to a count of rows if there are no weights."""
    exact = as_fraction(share, "capacity")
    columns = (table.positives, table.positives_squared), (table.negatives, table.negatives_squared)
    if not all(np.array_equal(weight, squares) for weight, squares in columns):
        return float(exact) * table.total
    rows = math.floor(exact * int(table.total))
    if rows < 1:
        raise ValueError(
            f"capacity={share} is a share, here of less than one of {table.total:g} rows: pass a larger share, or the "
            "whole number of rows."
        )
    return float(rows)


def _positives_found(table: ScoreTable, budget: Floats) -> tuple[Floats, Floats, Floats]:
    """Expected, smallest and largest number of positives among the highest scores of a given total weight."""
    positives, weight = table.positives[::-1], (table.positives + table.negatives)[::-1]
    taken, found = np.append(0.0, np.cumsum(weight)), np.append(0.0, np.cumsum(positives))
    level = np.clip(np.searchsorted(taken, budget, side="left") - 1, 0, len(weight) - 1)
    rest = np.minimum(budget - taken[level], weight[level])
    expected = found[level] + rest * positives[level] / weight[level]
    best = found[level] + np.minimum(rest, positives[level])
    worst = found[level] + np.maximum(0.0, rest - (weight[level] - positives[level]))
    return expected, worst, best


def _cost(alarms: Floats, misses: Floats, found: Floats, costs: CostsLike | None) -> tuple[Floats, Floats]:
    undefined = np.full(len(alarms), np.nan)
    if costs is None:
        return undefined, undefined
    measure = as_costs(costs)
    c = measure.mean()
    net_benefit = found - alarms * c / (1.0 - c) if measure.low == measure.high and c < 1.0 else undefined
    return c * alarms + (1.0 - c) * misses, net_benefit


Scale = Literal["mcclish", "index", "raw"]
Bounds = tuple[float, float]


def partial_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    fpr_bounds: Bounds = (0.0, 1.0),
    tpr_bounds: Bounds = (0.0, 1.0),
    scale: Scale = "mcclish",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Area under the part of the ROC curve within bounds on the false and on the true positive rate.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    fpr_bounds : tuple of float, default (0, 1)
        False positive rates, 0 <= low < high <= 1.
    tpr_bounds : tuple of float, default (0, 1)
        True positive rates, 0 <= low < high <= 1. With both, the area is the two-way partial area.
    scale : {"mcclish", "index", "raw"}, default "mcclish"
        McClish's standardised area, 1/2 for chance and 1 for perfect; the share of the largest area within the bounds,
        which is the mean true positive rate for bounds on the false positive rate, and the mean specificity for
        bounds on the true positive rate; or the area itself.
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
        For invalid data, bounds or scale, and for McClish's scale where a score without information has the largest
        area too.

    Notes
    -----
    McClish (1989, doi:10.1177/0272989X8900900307); ``sklearn.metrics.roc_auc_score(max_fpr=f)`` is this with
    ``fpr_bounds=(0, f)``. For true positive rates from a least one up to 1, scale "index" is the partial area index of
    Jiang, Metz and Nishikawa (1996, doi:10.1148/radiology.201.3.8939225): the mean specificity of a test that must be
    that sensitive. The two-way area is that of Yang, Lu and Zhang (2019, doi:10.1177/0962280217718866). Its interval is
    ``metric_interval(..., "partial_auc_score", ...)``.

    Examples
    --------
    >>> from stakes.metrics import partial_auc_score
    >>> y_true, y_score = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]
    >>> partial_auc_score(y_true, y_score, fpr_bounds=(0, 0.5), scale="raw")
    0.25
    >>> partial_auc_score(y_true, y_score, tpr_bounds=(0.5, 1), scale="index")
    0.5
    """
    window = RocWindow.of(fpr_bounds, tpr_bounds, scale)
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("partial_auc_score", "only one class is present")
    return window.shift + window.factor * window.share_below(table)


@dataclass(frozen=True, eq=False, repr=False)
class RocWindow:
    """A rectangle of false and of true positive rates, and the scale on which the area within it is stated.

    A value on the scale is ``shift + factor * share``, where the share is that of the rectangle below the ROC curve.
    """

    fpr: Bounds
    tpr: Bounds
    shift: float
    factor: float

    @classmethod
    def of(
        cls, fpr_bounds: Bounds = (0.0, 1.0), tpr_bounds: Bounds = (0.0, 1.0), scale: Scale = "mcclish"
    ) -> RocWindow:
        """Check bounds and scale."""
        fpr, tpr = as_bounds(fpr_bounds, "fpr_bounds"), as_bounds(tpr_bounds, "tpr_bounds")
        check_choice(scale, "scale", ("mcclish", "index", "raw"))
        if scale != "mcclish":
            largest = (fpr[1] - fpr[0]) * (tpr[1] - tpr[0])
            return cls(fpr, tpr, 0.0, largest if scale == "raw" else 1.0)
        above = _mean_above(fpr[0], fpr[1], tpr[0]) - _mean_above(fpr[0], fpr[1], tpr[1])
        room = 1.0 - float(above) / (tpr[1] - tpr[0])  # of the rectangle, above the diagonal
        if tpr[1] <= fpr[0] or room <= 0.0:
            raise ValueError(
                f'scale must be "index" or "raw" for fpr_bounds={fpr} and tpr_bounds={tpr}, where a score without '
                f"information has the largest area too, got {scale!r}."
            )
        return cls(fpr, tpr, 1.0 - 0.5 / room, 0.5 / room)

    def share_below(self, table: ScoreTable) -> float:
        """Share of the rectangle that lies below the ROC curve, which joins tied scores by a straight line."""
        (left, right), (low, high) = self.fpr, self.tpr
        (f0, f1), (t0, t1) = _ends(table)
        bottom, top = np.clip(t0, low, high), np.clip(t1, low, high)
        rising = top > bottom
        (f0, f1, t0, t1, bottom, top) = (part[rising] for part in (f0, f1, t0, t1, bottom, top))
        slope = (f1 - f0) / (t1 - t0)
        start, end = f0 + slope * (bottom - t0), f1 - slope * (t1 - top)
        beside = right - _mean_within(start, np.maximum(start, end), left, right)
        return float(np.dot(top - bottom, beside)) / ((right - left) * (high - low))

    def placements(self, table: ScoreTable) -> tuple[Floats, Floats]:
        """Derivative of the share to a row of each class (negatives, positives) at each score, up to a constant.

        For the whole square, these are the placements of DeLong, DeLong and Clarke-Pearson (1988).
        """
        (left, right), (low, high) = self._crossed(table)
        (f0, f1), (t0, t1) = _ends(table)
        area = (self.fpr[1] - self.fpr[0]) * (self.tpr[1] - self.tpr[0])
        negatives = (_mean_within(t0, t1, low, high) - low) / area
        positives = (right - _mean_within(f0, f1, left, right)) / area
        return negatives[::-1], positives[::-1]

    def cuts_corner(self, table: ScoreTable) -> bool:
        """Whether the curve crosses two sides of the rectangle that meet, neither of which is a side of the square."""
        (left, right), (low, high) = self._crossed(table)
        lower_right = left > self.fpr[0] and right == self.fpr[1] < 1.0 and self.tpr[0] > 0.0
        upper_left = low > self.tpr[0] and high == self.tpr[1] < 1.0 and self.fpr[0] > 0.0
        return lower_right or upper_left

    def _crossed(self, table: ScoreTable) -> tuple[Bounds, Bounds]:
        """False and true positive rates where the curve enters and leaves the rectangle."""
        (f0, f1), (t0, t1) = _ends(table)
        fpr, tpr = np.append(f0, f1[-1]), np.append(t0, t1[-1])
        left = max(self.fpr[0], _height(tpr, fpr, self.tpr[0]))
        low = max(self.tpr[0], _height(fpr, tpr, self.fpr[0]))
        right = max(left, min(self.fpr[1], _height(tpr, fpr, self.tpr[1])))
        return (left, right), (low, max(low, min(self.tpr[1], _height(fpr, tpr, self.fpr[1]))))


def _ends(table: ScoreTable) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """False and true positive rates above and down to each score, from the highest score to the lowest."""
    fpr = table.false_positives[::-1] * (table.total / table.total_negatives)
    tpr = 1.0 - table.false_negatives[::-1] * (table.total / table.total_positives)
    return (fpr[:-1], fpr[1:]), (tpr[:-1], tpr[1:])


def _height(x: Floats, y: Floats, at: float) -> float:
    """Height of a rising polygon; on a vertical part, the middle of it."""
    first, last = int(np.searchsorted(x, at, side="left")), int(np.searchsorted(x, at, side="right"))
    if last > first:
        return 0.5 * float(y[first] + y[last - 1])
    if last in (0, len(x)):
        return float(y[min(last, len(x) - 1)])
    return float(y[last - 1] + (y[last] - y[last - 1]) * (at - x[last - 1]) / (x[last] - x[last - 1]))


def _mean_within(start: Floats, end: Floats, low: float, high: float) -> Floats:
    """Mean over each interval of a number that is moved to the nearer end where it lies outside [low, high]."""
    return low + _mean_above(start, end, low) - _mean_above(start, end, high)


def _mean_above(start: Floats | float, end: Floats | float, cut: float) -> Floats:
    """Mean over each interval of what a number exceeds a cut by."""
    start, end = np.asarray(start), np.asarray(end)
    width = np.where(end > start, end - start, 1.0)
    crossed = 0.5 * (end - cut) ** 2 / width
    return np.where(start >= cut, 0.5 * (start + end) - cut, np.where(end <= cut, 0.0, crossed))

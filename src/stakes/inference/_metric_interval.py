"""Estimates with their intervals: any metric with a closed form, and the paired difference between two models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._inputs import evaluation_data
from stakes._results import Tabular
from stakes._validation import check_unit, check_weights
from stakes.inference._comparison import PAIRED_NEEDS_ROWS, Comparison
from stakes.inference._dependence import centred_terms, check_dependence, dependent_moments
from stakes.inference._influence import Cells, Influence, cells_of, metric_influence
from stakes.inference._moments import Moments, freed
from stakes.metrics import METRICS
from stakes.metrics._scorers import check_parameters
from stakes.score_table import ScoreTable

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


NEEDED_FOR_SKILL = 15  # positives and negatives; with fewer, intervals of weak skill hold the truth in 85 of 100


@dataclass(frozen=True)
class Estimate(Tabular):
    """The value of a metric with its standard error and interval.

    Parameters
    ----------
    metric : str
        Name of the metric.
    value : float
        On these rows.
    standard_error : float
        Of the value; nan where it is infinite or undefined.
    interval : tuple of float
        Two-sided, corrected for skewness; nan where it is infinite or undefined.
    confidence_level : float
        Of the interval.
    note : str
        Which class has too few rows for the interval, and how many are needed; empty otherwise.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> metric_interval("roc_auc_score", y_true, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5)
    Estimate(roc_auc_score = 0.9, 95% interval [0.8073, 0.9746])
    """

    metric: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence_level: float
    note: str = ""

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "metric": self.metric,
                "value": self.value,
                "standard_error": self.standard_error,
                "ci_low": self.interval[0],
                "ci_high": self.interval[1],
                "confidence_level": self.confidence_level,
                "note": self.note,
            }
        ]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{self.confidence_level:.0%} interval [{low:.4g}, {high:.4g}]"
        return f"Estimate({self.metric} = {self.value:.4g}, {sure}{', ' + self.note if self.note else ''})"


def metric_interval(
    metric: str,
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    confidence_level: float = 0.95,
    **options: Any,
) -> Estimate:
    """How sure a metric is on these rows: its standard error and interval in closed form.

    Parameters
    ----------
    metric : str
        Name of a mean loss, a skill score, "net_benefit_score", "average_net_benefit_score", "roc_auc_score" or
        "auc_regret".
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values (more for multi-class losses), or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class; of every class for multi-class losses.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the standard error.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data: class totals are then known.
    logits : bool, default False
        Whether the scores are log-odds.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients or states: only rows of different clusters are independent.
    lags : int or "auto", optional
        For rows in order of time. "auto" estimates the long-run variance by slow cosines, with Student t intervals; a
        number of lags is Newey and West's estimate, which is too small for strong autocorrelation.
    confidence_level : float, default 0.95
        Of the interval, in (0, 1).
    **options
        Further arguments of the metric, such as ``bounds=`` or ``threshold=``.

    Returns
    -------
    Estimate

    Raises
    ------
    ValueError
        For invalid data or options, a metric without a closed form, or clusters or lags without rows.
    TypeError
        For an argument that the metric does not take, or one that it needs and did not get.

    Notes
    -----
    Means are sums over rows; skill follows by the delta method, AUC by DeLong, DeLong and Clarke-Pearson (1988,
    doi:10.2307/2531595). Intervals of independent and clustered rows are corrected for skewness after Hall (1992,
    doi:10.1111/j.2517-6161.1992.tb01869.x). Where fewer than five rows of a class carry a cost, the interval is
    widened for those unseen, and ``note`` says how many rows are needed.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> y_prob = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    >>> metric_interval("bounded_brier_loss", y_true, y_prob, bounds=(0.2, 0.6))
    Estimate(bounded_brier_loss = 0.078, 95% interval [0.04925, 0.1138])
    """
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    if metric in METRICS and METRICS[metric].task == "multiclass":
        moments = _multiclass(
            metric, (y_true, y_prob), options, sample_weight=sample_weight, clusters=clusters, lags=lags
        )
    else:
        data = evaluation_data(
            y_true,
            y_prob,
            sample_weight=sample_weight,
            pos_label=pos_label,
            prevalence=prevalence,
            logits=logits,
            probability=metric not in METRICS or METRICS[metric].response == "probability",
        )
        cells = cells_of(data, fixed_prevalence=prevalence is not None)
        if data.sample is None and (clusters is not None or lags is not None):
            raise ValueError("clusters= and lags= need the rows: pass y_true and y_prob instead of a ScoreTable.")
        dependence = check_dependence(clusters, lags, len(cells.y), sample_weight)
        moments = influence_moments(cells, metric_influence(metric, cells, options), *dependence)
    low, high = moments.interval(level)
    known = METRICS[metric]
    interval = (max(low, known.low), min(high, known.high)) if math.isfinite(low) else (low, high)
    return Estimate(metric, moments.value, moments.standard_error, interval, level, moments.note)


def metric_difference(
    metric: str,
    y_true: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    /,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    clusters: ArrayLike | None = None,
    lags: int | str | None = None,
    names: tuple[str, str] = ("a", "b"),
    confidence_level: float = 0.95,
    **options: Any,
) -> Comparison:
    """Say whether two models really differ in a metric, on the same rows.

    Parameters
    ----------
    metric : str
        As for :func:`metric_interval`.
    y_true : array_like of shape (n,)
        Labels with two values.
    a, b : array_like of shape (n,) or (n, 2)
        Scores of the two models.
    sample_weight, pos_label, prevalence, logits, clusters, lags, confidence_level
        As for :func:`metric_interval`.
    names : tuple of str, default ("a", "b")
        What to call the models.
    **options
        Further arguments of the metric.

    Returns
    -------
    Comparison
        ``difference`` is the metric of a minus that of b, whichever way is better.

    Raises
    ------
    ValueError
        For invalid data or options, or two score tables.

    Notes
    -----
    The variance is that of the difference of the rows' influences: for AUC this is DeLong's paired test, for a mean
    loss with ``lags`` that of Diebold and Mariano (1995, doi:10.1080/07350015.1995.10524599).

    Examples
    --------
    >>> from stakes.inference import metric_difference
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> a = [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5
    >>> b = [0.2, 0.6, 0.7, 0.5, 0.3, 0.4, 0.1, 0.7, 0.6, 0.8] * 5
    >>> metric_difference("roc_auc_score", y_true, a, b).difference.__round__(3)
    0.18
    """
    level = check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    if any(isinstance(value, ScoreTable) for value in (y_true, a, b)):
        raise ValueError(PAIRED_NEEDS_ROWS)
    probability = metric not in METRICS or METRICS[metric].response == "probability"
    cells, found = [], []
    for scores in (a, b):
        data = evaluation_data(
            y_true,
            scores,
            sample_weight=sample_weight,
            pos_label=pos_label,
            prevalence=prevalence,
            logits=logits,
            probability=probability,
        )
        cells.append(cells_of(data, fixed_prevalence=prevalence is not None))
        found.append(metric_influence(metric, cells[-1], options))
    first, second = found
    slope = first.slope - second.slope
    carries = first.carries | second.carries
    gap = Influence(first.value - second.value, slope, carries, first.unseen, first.by_class, first.ratio)
    moments = influence_moments(cells[0], gap, *check_dependence(clusters, lags, len(slope), sample_weight))
    return Comparison(
        *names,
        moments.value,
        moments.standard_error,
        moments.interval(level),
        moments.p_value(),
        metric,
        level,
        note=moments.note,
    )


def influence_moments(
    cells: Cells, influence: Influence, codes: NDArray[np.intp] | None = None, lags: int | str | None = None
) -> Moments:
    """Moments of an estimate from its influence, for rows that are independent, clustered or in order."""
    terms, total = influence.slope, cells.total
    second = cells.square * terms * terms / total**2
    by_class = float(second[~cells.y].sum()), float(second[cells.y].sum())
    ups = float(cells.count[cells.y].sum())
    rows = round(float(cells.count.sum()) - ups), round(ups)
    factors = [freed(n) for n in rows] if influence.by_class else [freed(sum(rows))] * 2
    carries = influence.carries
    carriers = tuple(round(float(cells.count[carries & mine].sum())) for mine in (~cells.y, cells.y))
    mean_weight = total / sum(rows)
    variances = factors[0] * by_class[0], factors[1] * by_class[1]
    independent = Moments(
        influence.value,
        variances[0] + variances[1],
        float(np.sum(cells.cube * terms**3)) / total**3,
        (carriers[0], carriers[1]),
        rows,
        (influence.unseen[0] * mean_weight / total, influence.unseen[1] * mean_weight / total),
        _degrees(cells, influence, variances, rows),
        NEEDED_FOR_SKILL if influence.ratio else 0,
    )
    return dependent_moments(independent, terms * cells.weight / total, codes, lags)


def _degrees(cells: Cells, influence: Influence, variances: tuple[float, float], rows: tuple[int, int]) -> float:
    """Degrees of freedom of the variance: unlimited for a mean, whose skewness is corrected."""
    if not (influence.ratio or influence.by_class):
        return math.inf
    least = _dominated(cells, influence.slope)
    return min(least, _welch(variances, rows)) if influence.by_class else least


def _dominated(cells: Cells, terms: Floats) -> float:
    """Degrees of freedom of a sum of squares that few rows may dominate: twice its squared mean over its variance."""
    squares = cells.square * terms * terms
    fourth = float(np.dot(squares / cells.count, squares)) - float(squares.sum()) ** 2 / float(cells.count.sum())
    return 2.0 * float(squares.sum()) ** 2 / fourth if fourth > 0.0 else math.inf


def _welch(variances: tuple[float, float], rows: tuple[int, int]) -> float:
    """Degrees of freedom of a sum of two independent variances, after Welch and Satterthwaite."""
    shares = [variance**2 / (n - 1) for variance, n in zip(variances, rows, strict=True) if n > 1]
    return sum(variances) ** 2 / sum(shares) if sum(shares) > 0.0 else math.inf


def _multiclass(
    metric: str,
    data: tuple[Any, Any],
    options: dict[str, Any],
    *,
    sample_weight: Any,
    clusters: Any,
    lags: int | str | None,
) -> Moments:
    """Moments of a mean over rows of several classes."""
    check_parameters(METRICS[metric], options)
    values = np.asarray(METRICS[metric].function(*data, per_sample=True, **options), dtype=np.float64)
    weight = check_weights(sample_weight, len(values))
    if weight is not None:
        values, weight = values[weight > 0.0], weight[weight > 0.0]
    value, count = float(np.average(values, weights=weight)), len(values)
    terms = centred_terms(values, np.ones(count, dtype=bool), weight, by_class=False)
    independent = Moments(value, freed(count) * float(np.dot(terms, terms)), float(np.sum(terms**3)))
    return dependent_moments(independent, terms, *check_dependence(clusters, lags, count, sample_weight))

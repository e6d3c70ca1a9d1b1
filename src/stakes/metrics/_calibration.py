"""Calibration in a handful of numbers, as reporting guidelines for prediction models ask for."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes._inputs import evaluation_data
from stakes._recalibration import fit_recalibration
from stakes._results import Tabular
from stakes._validation import check_choice
from stakes.curves._bins import binned_reliability_of
from stakes.curves._smooth import smoothed_rates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]

Binning = Literal["quantile", "uniform"]


@dataclass(frozen=True)
class CalibrationSummary(Tabular):
    """How far a score is from the event rates it promises.

    Parameters
    ----------
    observed, expected : float
        Event rate and mean score.
    o_e_ratio : float
        observed / expected; 1 is calibrated in the large.
    intercept : float
        Logistic recalibration intercept with the slope held at 1; 0 is calibrated, positive means scores are too low.
    slope : float
        Logistic recalibration slope; 1 is calibrated, below 1 means scores are too extreme.
    ece : float
        Expected calibration error over the bins: mean absolute gap between event rate and mean score.
    n_bins : int
        Number of bins that hold rows.
    binning : str
        "quantile" or "uniform".
    ici, e50, e90 : float
        Mean (integrated calibration index), median and 90th percentile of the absolute distance between the score and
        its smoothed event rate.

    Examples
    --------
    >>> from stakes import calibration_summary
    >>> calibration_summary([0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.4, 0.8, 0.6, 0.9]).o_e_ratio
    0.9677419354838709
    """

    observed: float
    expected: float
    o_e_ratio: float
    intercept: float
    slope: float
    ece: float
    n_bins: int
    binning: str
    ici: float
    e50: float
    e90: float

    def _records(self) -> list[dict[str, Any]]:
        return [{name: getattr(self, name) for name in self.__dataclass_fields__}]


def calibration_summary(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    n_bins: int = 10,
    binning: Binning = "quantile",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
) -> CalibrationSummary:
    """Observed to expected ratio, recalibration intercept and slope, ECE, ICI, E50 and E90 of a score.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    n_bins : int, default 10
        Number of bins of the expected calibration error, which depends on it.
    binning : {"quantile", "uniform"}, default "quantile"
        Bins of about equal weight (tied scores stay together), or of equal width.
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
    CalibrationSummary
        Intercept and slope are nan with a warning for one class only or a score of exactly 0 or 1; the slope is
        infinite where the scores separate the classes.

    Raises
    ------
    ValueError
        For invalid data, binning or number of bins.

    Notes
    -----
    Van Calster et al. (2019); Austin and Steyerberg (2019) for ICI, E50, E90, here with a local linear smoother.
    The binned error is biased upwards and depends on the bins: prefer the miscalibration of :func:`decompose`.

    Examples
    --------
    >>> from stakes import calibration_summary
    >>> summary = calibration_summary([0, 0, 1, 1, 0, 1], [0.1, 0.3, 0.4, 0.8, 0.6, 0.9], n_bins=3)
    >>> round(summary.slope, 4), round(summary.ece, 4)
    (1.4652, 0.1167)
    """
    if n_bins < 1 or int(n_bins) != n_bins:
        raise ValueError(f"n_bins must be a whole number >= 1, got {n_bins}.")
    check_choice(binning, "binning", ("quantile", "uniform"))
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
    weight = table.positives + table.negatives
    expected = float(np.dot(weight, table.scores)) / table.total
    fits = fit_recalibration(table, slope=1.0), fit_recalibration(table)
    for status in dict.fromkeys(fit.status for fit in fits if fit.status):
        _warn(f"the recalibration intercept or slope is undefined: {status}.")
    bins = binned_reliability_of(table, n_bins=int(n_bins), binning=binning)
    distance = np.abs(smoothed_rates(table) - table.scores)
    return CalibrationSummary(
        observed=table.prevalence,
        expected=expected,
        o_e_ratio=table.prevalence / expected if expected > 0.0 else math.nan,
        intercept=fits[0].intercept,
        slope=fits[1].slope,
        ece=bins.expected_calibration_error,
        n_bins=len(bins.weight),
        binning=binning,
        ici=float(np.dot(weight, distance)) / table.total,
        e50=_weighted_quantile(distance, weight, 0.5),
        e90=_weighted_quantile(distance, weight, 0.9),
    )


def _weighted_quantile(values: Floats, weight: Floats, level: float) -> float:
    """Smallest value with at least this share of the weight at or below it (averaged where the share is exact)."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    goal = level * total[-1]
    first = int(np.searchsorted(total, goal * (1.0 - 1e-14), side="left"))
    last = int(np.searchsorted(total, goal * (1.0 + 1e-14), side="right"))
    last = min(last, len(values) - 1)
    return float(values[order[first]] + values[order[last]]) / 2.0


def _warn(message: str) -> None:
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(message, UndefinedMetricWarning, stacklevel=3)

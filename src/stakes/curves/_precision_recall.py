"""The precision-recall curve, with the interpolation that chance among tied scores really gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import ranking_data, undefined
from stakes.curves._curve import straight
from stakes.curves._ratio import RatioCurve, ratio_of
from stakes.curves._roc import selected_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

KIND = "precision"


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionRecallCurve(RatioCurve):
    """Precision over recall, with the thresholds that reach them.

    ``at(x)`` is the precision at recall x when as few as possible are selected, by chance among tied scores where need
    be; ``integral(a, b)`` the area under it. Between thresholds that is a hyperbola, not a straight line.

    Parameters
    ----------
    thresholds : ndarray of shape (k,)
        Descending from infinity (select no one): select where score >= threshold.
    precision, recall : ndarray of shape (k,)
        Precision is nan where no one is selected.

    Examples
    --------
    >>> from stakes import precision_recall_curve
    >>> curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.precision.round(4).tolist(), curve.recall.tolist()
    ([nan, 1.0, 0.5, 0.6667, 0.5], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    thresholds: Floats = None  # type: ignore[assignment]
    precision: Floats = None  # type: ignore[assignment]
    recall: Floats = None  # type: ignore[assignment]

    @cached_property
    def average_precision(self) -> float:
        """Sum of the precision at each threshold times the recall it adds: scikit-learn's average precision."""
        return float(np.dot(np.diff(self.recall), self.precision[1:]))

    def frame(self, backend: Any = None) -> Any:
        """Return the points of the curve as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``threshold``, ``recall``, ``precision``.

        Examples
        --------
        >>> from stakes import precision_recall_curve
        >>> precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars").shape
        (5, 3)
        """
        from stakes.shown.frames import build_frame

        columns = {"threshold": self.thresholds, "recall": self.recall, "precision": self.precision}
        return build_frame(columns, backend)


def precision_recall_curve(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    name: str = "model",
) -> PrecisionRecallCurve:
    """Precision over recall at every threshold, exactly.

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
        Reweight the classes to this share of positives, as for case-control data: precision depends on it.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    PrecisionRecallCurve
        With ``average_precision``; ``references`` holds "treat all" (the prevalence). Undefined (nan, with a warning)
        without positives.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    Interpolated as in Davis and Goadrich (2006), doi:10.1145/1143844.1143874, integrated in closed form. Where no one
    is selected precision is 0/0 and nan here; scikit-learn puts 1. The area is not an average of regret
    (arXiv:2504.04528 claims one for every metric in its table; none is known for this one).

    Examples
    --------
    >>> from stakes import precision_recall_curve
    >>> curve = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(curve.average_precision, 6), round(curve.integral(), 6)
    (0.833333, 0.797267)
    """
    table = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence).table
    if not table.total_positives > 0.0:
        undefined("precision_recall_curve", "there are no positives")
    return precision_recall_curve_of(table, name)


def precision_recall_curve_of(table: ScoreTable, name: str = "model") -> PrecisionRecallCurve:
    """Precision-recall curve from a clean table."""
    thresholds, hits, alarms = selected_weights(table)
    selected = hits + alarms
    rate = table.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, precision = hits / hits[-1], hits / selected
    points = (recall, hits / selected[-1], selected / selected[-1])
    if not table.total_positives > 0.0:
        points = (np.array([0.0, 1.0]), np.array([np.nan, np.nan]), np.array([np.nan, np.nan]))
    return PrecisionRecallCurve(
        **ratio_of(points, KIND, name, "recall"),
        references={"treat all": straight(KIND, "treat all", "recall", (rate, rate))},
        thresholds=thresholds,
        precision=precision,
        recall=recall,
        about=table.about,
    )

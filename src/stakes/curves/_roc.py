"""The ROC curve and its convex hull: what a ranking can trade between false alarms and hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import ranking_data, undefined
from stakes.core.validation import check_flag
from stakes.curves._curve import Curve, straight, through

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

KIND = "true positive rate"
X_LABEL = "false positive rate"


@dataclass(frozen=True, eq=False, repr=False)
class RocCurve(Curve):
    """True positive rate over false positive rate, with the thresholds that reach them.

    ``at(x)`` is the highest true positive rate that the false positive rate x allows, by chance among tied scores where
    need be; ``integral(a, b)`` the raw partial area; ``auc`` the whole.

    Parameters
    ----------
    thresholds : ndarray of shape (k,)
        Descending from infinity (act on no one): act where score >= threshold.
    false_positive_rate, true_positive_rate : ndarray of shape (k,)
        Both ascending from 0 to 1.
    table : ScoreTable
        The scores behind it.

    Examples
    --------
    >>> from stakes import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.false_positive_rate.tolist(), curve.true_positive_rate.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """

    thresholds: Floats = None  # type: ignore[assignment]
    false_positive_rate: Floats = None  # type: ignore[assignment]
    true_positive_rate: Floats = None  # type: ignore[assignment]
    table: ScoreTable = None  # type: ignore[assignment]

    @cached_property
    def auc(self) -> float:
        """Area under the curve, tied scores half; nan for one class only."""
        return self.integral()

    @cached_property
    def hull(self) -> RocCurve:
        """The convex hull: its vertices are the only thresholds that are best for some cost ratio (in-sample).

        Examples
        --------
        >>> from stakes import roc_curve
        >>> hull = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).hull
        >>> hull.thresholds.tolist(), hull.auc
        ([inf, 0.8, 0.35, 0.1], 0.875)
        """
        return _roc_of(self.table, self.table.pav_starts[::-1], f"{self.name}, convex hull")

    @property
    def hull_auc(self) -> float:
        """Area under the convex hull: the AUC after isotonic recalibration on the same data."""
        return self.hull.auc

    def frame(self, backend: Any = None) -> Any:
        """Return the points of the curve as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``threshold``, ``false_positive_rate``, ``true_positive_rate``.

        Examples
        --------
        >>> from stakes import roc_curve
        >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).frame("polars").shape
        (5, 3)
        """
        from stakes.shown.frames import build_frame

        columns = {
            "threshold": self.thresholds,
            "false_positive_rate": self.false_positive_rate,
            "true_positive_rate": self.true_positive_rate,
        }
        return build_frame(columns, backend)


def roc_curve(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    drop_intermediate: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    name: str = "model",
) -> RocCurve:
    """True positive rate over false positive rate at every threshold, exactly, with its convex hull.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    drop_intermediate : bool, default False
        Whether to leave out points halfway along the straight line between their neighbours, as scikit-learn does;
        it keeps the first and the last threshold, and points that divide such a line unevenly.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: the curve does not depend on it, but it must be in (0, 1) with both classes present.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    RocCurve
        With ``auc``, ``hull`` and ``hull_auc``; undefined (nan, with a warning) for one class only.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    The slope of the hull where it is best to work is c (1-pi) / ((1-c) pi) at cost ratio c and prevalence pi:
    Provost and Fawcett (2001), doi:10.1023/A:1007601015854. The hull is isotonic recalibration, so it is optimistic.

    Examples
    --------
    >>> from stakes import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.auc, curve.hull_auc, float(curve.at(0.25))
    (0.75, 0.875, 0.5)
    """
    table = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        undefined("roc_curve", "only one class is present")
    return roc_curve_of(table, name, drop_intermediate=check_flag(drop_intermediate, "drop_intermediate"))


def roc_curve_of(table: ScoreTable, name: str = "model", *, drop_intermediate: bool = False) -> RocCurve:
    """ROC curve from a clean table."""
    cuts = None
    if drop_intermediate and len(table.scores) > 1:
        bend = (np.diff(table.positives) != 0.0) | (np.diff(table.negatives) != 0.0)
        bend[-1] = True  # the highest score
        cuts = np.flatnonzero(np.concatenate([[True], bend, [True]]))[::-1]
    return _roc_of(table, cuts, name)


def selected_weights(table: ScoreTable) -> tuple[Floats, Floats, Floats]:
    """Thresholds descending from infinity, and the weight of positives and negatives at or above each."""
    thresholds = np.concatenate([[np.inf], table.scores[::-1]])
    hits = np.concatenate([[0.0], np.cumsum(table.positives[::-1])])
    alarms = np.concatenate([[0.0], np.cumsum(table.negatives[::-1])])
    return thresholds, hits, alarms


def _roc_of(table: ScoreTable, cuts: NDArray[np.intp] | None, name: str) -> RocCurve:
    """Curve through the points of some thresholds, given by descending position in the table (its length for none)."""
    thresholds, hits, alarms = selected_weights(table)
    if cuts is not None:
        chosen = len(table.scores) - cuts
        thresholds, hits, alarms = thresholds[chosen], hits[chosen], alarms[chosen]
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = alarms / alarms[-1], hits / hits[-1]
    both = table.total_positives > 0.0 and table.total_negatives > 0.0
    line = through(x, y) if both else through(np.array([0.0, 1.0]), np.array([np.nan, np.nan]))
    return RocCurve(
        KIND,
        start=1.0 if both else np.nan,
        name=name,
        x_label=X_LABEL,
        references={"chance": straight(KIND, "chance", X_LABEL, (0.0, 1.0))},
        closed="left",
        **line,
        thresholds=thresholds,
        false_positive_rate=x,
        true_positive_rate=y,
        table=table,
        about=table.about,
    )

"""ROC, precision-recall and lift curves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, check_flag
from stakes.core.options import ranking_data, undefined
from stakes.core.score_table import ScoreTable
from stakes.curves._curve import Curve, RatioCurve, ratio_of, straight, through
from stakes.outputs.result_table import build_frame

# The ROC curve and its convex hull: the trade-off between false alarms and hits.

ROC_KIND = "true positive rate"
ROC_X_LABEL = "false positive rate"


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
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        undefined("roc_curve", "only one class is present")
    cuts = None
    if check_flag(drop_intermediate, "drop_intermediate") and len(table.scores) > 1:
        bend = (np.diff(table.positives) != 0.0) | (np.diff(table.negatives) != 0.0)
        bend[-1] = True  # the highest score
        cuts = np.flatnonzero(np.concatenate([[True], bend, [True]]))[::-1]
    return _roc_of(table, cuts, name)


def selected_weights(table: ScoreTable) -> tuple[Floats, Floats, Floats]:
    """Return descending thresholds from infinity, and the weight of positives and negatives at or above each."""
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
    line |= {"start": 1.0 if both else np.nan, "name": name, "table": table, "about": table.about}
    line |= {"thresholds": thresholds, "false_positive_rate": x, "true_positive_rate": y}
    line["references"] = {"chance": straight(ROC_KIND, "chance", ROC_X_LABEL, (0.0, 1.0))}
    return RocCurve(ROC_KIND, x_label=ROC_X_LABEL, closed="left", **line)


# The precision-recall curve, with the interpolation of a random order of tied scores.

PRECISION_KIND = "precision"


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
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    if not table.total_positives > 0.0:
        undefined("precision_recall_curve", "there are no positives")
    thresholds, hits, alarms = selected_weights(table)
    selected = hits + alarms
    rate = table.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        recall, precision = hits / hits[-1], hits / selected
    points = (recall, hits / selected[-1], selected / selected[-1])
    if not table.total_positives > 0.0:
        points = (np.array([0.0, 1.0]), np.array([np.nan, np.nan]), np.array([np.nan, np.nan]))
    ratio = ratio_of(points, PRECISION_KIND, name, "recall") | {"thresholds": thresholds, "about": table.about}
    ratio["references"] = {"treat all": straight(PRECISION_KIND, "treat all", "recall", (rate, rate))}
    return PrecisionRecallCurve(**ratio, precision=precision, recall=recall)


# Lift and gains: what selecting the cases with the highest scores first is worth.

LIFT_X_LABEL = "share selected"


@dataclass(frozen=True, eq=False, repr=False)
class LiftCurve(RatioCurve):
    """Lift over the share of cases selected, and the cumulative gains behind it.

    ``at(x)`` is how many times more often than at random the selected are positive.

    Parameters
    ----------
    gains : Curve
        Share of all positives found, over the share selected; its ``references`` are "chance" and "perfect".
    thresholds : ndarray of shape (k,)
        Descending from infinity (select no one): select where score >= threshold.

    Examples
    --------
    >>> from stakes.curves import lift_curve
    >>> float(lift_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).gains.at(0.5))
    0.75
    """

    gains: Curve = None  # type: ignore[assignment]
    thresholds: Floats = None  # type: ignore[assignment]

    def frame(self, backend: Any = None) -> Any:
        """Return the points of the curve as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``threshold``, ``share_selected``, ``gain``, ``lift``.

        Examples
        --------
        >>> from stakes.curves import lift_curve
        >>> lift_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).frame("polars")["gain"].to_list()
        [0.0, 0.5, 1.0, 1.0]
        """
        share = self.gains.knots
        gain = np.append(self.gains.intercept, self.gains.intercept[-1] + self.gains.slope[-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = gain / share
        columns = {"threshold": self.thresholds, "share_selected": share, "gain": gain, "lift": lift}
        return build_frame(columns, backend)


def lift_curve(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    name: str = "model",
) -> LiftCurve:
    """Lift and cumulative gains over the share of cases selected, highest scores first.

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
        Reweight the classes to this share of positives, as for case-control data.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    LiftCurve
        ``gains`` is the curve of cumulative gains. Undefined (nan, with a warning) without positives.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    Tied scores that are selected in part contribute their expected value. The area under the gains is
    prevalence / 2 + (1 - prevalence) * AUC, so over budgets that are all alike AUC is what counts
    (arXiv:2504.04528, section 5, corrected).

    Examples
    --------
    >>> from stakes.curves import lift_curve
    >>> curve = lift_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.25)), float(curve.gains.at(0.1)), curve.gains.integral()
    (4.0, 0.4, 0.875)
    """
    table = ranking_data(y_true, y_score, sample_weight, pos_label, prevalence).table
    if not table.total_positives > 0.0:
        undefined("lift_curve", "there are no positives")
    thresholds, hits, alarms = selected_weights(table)
    selected = hits + alarms
    share = selected / selected[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = hits / hits[-1]
    ratio = ratio_of((share, gain, share), "lift", name, LIFT_X_LABEL)
    line = {key: value for key, value in ratio.items() if key not in {"kind", "denominator"}}
    rate = table.prevalence
    x, y = ([0.0, rate, 1.0], [0.0, 1.0, 1.0]) if 0.0 < rate < 1.0 else ([0.0, 1.0], [0.0, 1.0])
    perfect = Curve("gains", start=0.0, name="perfect", x_label=LIFT_X_LABEL, **through(np.array(x), np.array(y)))
    references = {"chance": straight("gains", "chance", LIFT_X_LABEL, (0.0, 1.0)), "perfect": perfect}
    gains = Curve("gains", **line, references=references, about=table.about)
    ratio["references"] = {"chance": straight("lift", "chance", LIFT_X_LABEL, (1.0, 1.0))}
    return LiftCurve(**ratio, gains=gains, thresholds=thresholds, about=table.about)

"""Lift and gains: what selecting the cases with the highest scores first is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import ranking_data, undefined
from stakes.curves._curve import Curve, straight, through
from stakes.curves._ratio import RatioCurve, ratio_of
from stakes.curves._roc import selected_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

X_LABEL = "share selected"


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
        from stakes.shown.frames import build_frame

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
    table = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence).table
    if not table.total_positives > 0.0:
        undefined("lift_curve", "there are no positives")
    return lift_curve_of(table, name)


def lift_curve_of(table: ScoreTable, name: str = "model") -> LiftCurve:
    """Lift curve from a clean table."""
    thresholds, hits, alarms = selected_weights(table)
    selected = hits + alarms
    share = selected / selected[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = hits / hits[-1]
    ratio = ratio_of((share, gain, share), "lift", name, X_LABEL)
    line = {key: value for key, value in ratio.items() if key not in {"kind", "denominator"}}
    references = {"chance": straight("gains", "chance", X_LABEL, (0.0, 1.0)), "perfect": _perfect(table.prevalence)}
    gains = Curve("gains", **line, references=references, about=table.about)
    return LiftCurve(
        **ratio,
        references={"chance": straight("lift", "chance", X_LABEL, (1.0, 1.0))},
        gains=gains,
        thresholds=thresholds,
        about=table.about,
    )


def _perfect(rate: float) -> Curve:
    x, y = (np.array([0.0, rate, 1.0]), np.array([0.0, 1.0, 1.0])) if 0.0 < rate < 1.0 else (np.array([0.0, 1.0]),) * 2
    return Curve("gains", start=0.0, name="perfect", x_label=X_LABEL, **through(x, y))

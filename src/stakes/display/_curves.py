"""Curves over a rate or a share: ROC, precision-recall, lift, gains, and the smooth calibration curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.curves import lift_curve, precision_recall_curve, roc_curve, smooth_calibration_curve
from stakes.display._axes import draw_share_axis
from stakes.display._base import CurvesDisplay
from stakes.display._lines import MODEL, MOST_BANDS, drawn, heights_within, points_to_draw, shade_band
from stakes.display._style import format_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable
    from stakes.curves import Curve
    from stakes.display._axes import Floats, Legend, Range

_UNIT = (-0.02, 1.02)
_FIRST_RECALL = 0.05
_SPARE = 2.5  # times the highest smoothed rate is as much of the diagonal as is shown


class ShareCurvesDisplay(CurvesDisplay):
    """What the displays over a rate, a share or the score itself have in common.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        Curves of the kind that the display draws.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each model.
    reference_lines_ : list of matplotlib lines
        What to compare with, such as chance.

    Examples
    --------
    >>> from stakes.display import LiftCurveDisplay
    >>> LiftCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6]).ax_.get_ylabel()
    'Lift'
    """

    square: ClassVar[bool] = False

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        references: bool = True,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from labels and predicted scores.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Scores of the positive class: one model, or several by name (the columns of a data frame).
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        references, legend, ax
            As in :meth:`plot`.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import RocCurveDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> [line.get_label() for line in RocCurveDisplay.from_predictions([0, 1, 0, 1], models).lines_]
        ['a (AUC 1.000)', 'b (AUC 0.625)']
        """
        display = cls._of(y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence)
        return display.plot(ax, references=references, legend=legend)

    def plot(self, ax: Axes | None = None, *, references: bool = True, legend: Legend = "auto") -> Self:
        """Draw the curves, each jump where it is.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        references : bool, default True
            Whether to draw what to compare with, such as chance.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        display
            This object, with ``ax_``, ``figure_``, ``lines_`` and ``reference_lines_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import roc_curve
        >>> from stakes.display import RocCurveDisplay
        >>> RocCurveDisplay(roc_curve([0, 1], [0.3, 0.6])).plot().ax_.get_xlabel()
        'False positive rate'
        """
        with self._picture(ax, legend) as new:
            if self.square:
                self.ax_.set_aspect("equal", adjustable="box")
                if new:
                    self.figure_.set_size_inches(*[min(self.figure_.get_size_inches())] * 2)
            shown = self._shown()
            heights = self._draw_curves(shown, references=references)
            self._add(shown)
            margin = 0.02 * (shown[1] - shown[0])
            self.ax_.set_xlim(shown[0] - margin, shown[1] + margin)
            self.ax_.set_ylim(self._y_limits(heights, shown))
            self.ax_.set(xlabel=self.x_label, ylabel=self.y_label)
            draw_share_axis(self.ax_)
            self._format_heights()
        return self

    def _shown(self) -> Range:
        return 0.0, 1.0

    def _add(self, shown: Range) -> None:
        """What one kind of curve has beside its line."""

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002  (other kinds use them)
        return _UNIT

    def _format_heights(self) -> None:
        self.ax_.yaxis.set_major_formatter(format_percent)


class RocCurveDisplay(ShareCurvesDisplay):
    """ROC curve with its convex hull, thin, and the AUC in the legend; the upper left corner is best.

    The vertices of the hull are the only thresholds that are best for some cost ratio.

    Parameters
    ----------
    curves : RocCurve, sequence of RocCurve, or mapping of str to RocCurve
        ROC curves.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each model.
    hull_lines_ : list of matplotlib lines
        The convex hull of each model.
    reference_lines_ : list of matplotlib lines
        Chance.

    Examples
    --------
    >>> from stakes.display import RocCurveDisplay
    >>> display = RocCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2])
    >>> display.lines_[0].get_label()
    'AUC 0.750'
    """

    kind = "true positive rate"
    x_label = "False positive rate"
    y_label = "True positive rate"
    square = True
    _curve = staticmethod(roc_curve)
    hull_lines_: list[Line2D]

    def _add(self, shown: Range) -> None:
        self.hull_lines_ = []
        for curve, line in zip(self.curves, self.lines_, strict=True):
            auc = f"AUC {curve.auc:.3f}"
            line.set_label(auc if curve.name == "model" else f"{curve.name} ({auc})")
            x, y = points_to_draw(curve.hull, shown)
            self.hull_lines_ += self.ax_.plot(x, y, color=line.get_color(), linewidth=0.6, zorder=2.2)


class PrecisionRecallDisplay(ShareCurvesDisplay):
    """Precision over recall, with the hyperbolas that chance among tied scores gives; the upper right is best.

    Parameters
    ----------
    curves : PrecisionRecallCurve, sequence of PrecisionRecallCurve, or mapping of str to PrecisionRecallCurve
        Precision-recall curves.

    Examples
    --------
    >>> from stakes.display import PrecisionRecallDisplay
    >>> PrecisionRecallDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2]).ax_.get_xlabel()
    'Recall'
    """

    kind = "precision"
    x_label = "Recall"
    y_label = "Precision"
    _curve = staticmethod(precision_recall_curve)

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002
        # the first few selected, all positive by luck, do not flatten the picture of a rare class
        inside = np.concatenate([heights_within(line, (_FIRST_RECALL, 1.0)) for line in drawn(self.ax_, MODEL)])
        top = float(np.max(inside, initial=0.0, where=np.isfinite(inside)))
        return _UNIT if not 0.0 < top < 0.5 else (0.0, 1.2 * top)


class LiftCurveDisplay(ShareCurvesDisplay):
    """How many times more often than at random the selected are positive, over the share selected.

    Parameters
    ----------
    curves : LiftCurve, sequence of LiftCurve, or mapping of str to LiftCurve
        Lift curves.

    Examples
    --------
    >>> from stakes.display import LiftCurveDisplay
    >>> LiftCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2]).ax_.get_xlabel()
    'Share selected'
    """

    kind = "lift"
    x_label = "Share selected"
    y_label = "Lift"
    _curve = staticmethod(lift_curve)

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002
        return 0.0, 1.05 * float(np.max(heights, initial=1.0, where=np.isfinite(heights)))

    def _format_heights(self) -> None:
        self.ax_.yaxis.set_major_formatter("{x:.6g}")


class GainsDisplay(ShareCurvesDisplay):
    """Cumulative gains: the share of all positives found over the share selected; chance is the diagonal.

    Parameters
    ----------
    curves : Curve, sequence of Curve, or mapping of str to Curve
        ``lift_curve(...).gains``.

    Examples
    --------
    >>> from stakes.display import GainsDisplay
    >>> GainsDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.2]).ax_.get_ylabel()
    'Share of positives found'
    """

    kind = "gains"
    x_label = "Share selected"
    y_label = "Share of positives found"

    @staticmethod
    def _curve(*data: Any, **options: Any) -> Curve:
        return lift_curve(*data, **options).gains


class SmoothCalibrationDisplay(ShareCurvesDisplay):
    """Smoothed event rate over the score, with its 95% band for up to three models; the diagonal is perfect.

    Parameters
    ----------
    curves : SmoothCalibrationCurve, sequence of SmoothCalibrationCurve, or mapping of str to SmoothCalibrationCurve
        Smooth calibration curves.

    Examples
    --------
    >>> from stakes.display import SmoothCalibrationDisplay
    >>> y_true, y_prob = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]
    >>> SmoothCalibrationDisplay.from_predictions(y_true, y_prob).ax_.get_xlabel()
    'Score'
    """

    kind = "smooth calibration"
    x_label = "Score"
    y_label = "Smoothed event rate"
    _curve = staticmethod(smooth_calibration_curve)

    def _shown(self) -> Range:
        reach = max(float(curve.knots[-1]) for curve in self.curves)
        reach = 1.0 if reach > 0.6 else 1.05 * reach or 1.0
        return 0.0, max(reach, self.ax_.get_xlim()[1]) if len(drawn(self.ax_, MODEL)) else reach

    def _add(self, shown: Range) -> None:  # noqa: ARG002
        if len(self.curves) > MOST_BANDS:
            return
        for curve, line in zip(self.curves, self.lines_, strict=True):
            shade_band(self.ax_, curve, line.get_color())

    def _y_limits(self, heights: Floats, shown: Range) -> Range:
        highest = float(heights.max(initial=0.0))
        top = max(min(shown[1], _SPARE * highest), highest) or 1.0
        return -0.02 * top, 1.02 * top

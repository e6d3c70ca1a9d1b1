"""Loss-calibration diagram: event rates against the scores of a weighted model, beside what its weight predicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from stakes.core.validation import check_choice
from stakes.correction import LossCalibrationCurve, loss_calibration_curve
from stakes.display._axes import height_in_points, width_in_points
from stakes.display._base import PredictionsDisplay
from stakes.display._lines import MODEL, draw_diagonal
from stakes.display._models import named_predictions, several
from stakes.display._style import format_percent, model_style, percent_ticks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable
    from stakes.curves import BinnedReliability
    from stakes.display._axes import Floats, Legend, Range
    from stakes.display._style import Style

Scale = Literal["logit", "log", "linear"]
_SCALES = ("logit", "log", "linear")
_BENDS = 400
_TICK_POINTS = 38.0
_WIDENED = 1.6  # factor of the odds by which the axes reach beyond the points


class LossCalibrationDisplay(PredictionsDisplay):
    """Observed event rate against the score, with the theoretical curve of the stated weight; before or after it.

    Points are event rates in bins of about equal weight, with intervals; lines are what a model gives that is
    loss-calibrated to its weight. After correction every theoretical curve is the diagonal.

    Parameters
    ----------
    curves : LossCalibrationCurve, sequence of LossCalibrationCurve, or mapping of str to LossCalibrationCurve
        One or several models.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    points_ : list of matplotlib containers
        Event rates with intervals, one for each model.
    lines_ : list of matplotlib lines
        Theoretical curves, one for each model; empty after correction.
    diagonal_ : matplotlib line
        Perfect calibration.

    Examples
    --------
    >>> from stakes.display import LossCalibrationDisplay
    >>> y, scores = [0, 0, 1, 0, 0, 1, 1, 0], [0.3, 0.6, 0.7, 0.5, 0.4, 0.9, 0.8, 0.7]
    >>> display = LossCalibrationDisplay.from_predictions(y, scores, positive_share=0.8)
    >>> display.ax_.get_xlabel()
    'Score'
    """

    kind: ClassVar[str] = "loss calibration"

    points_: list[ErrorbarContainer]
    diagonal_: Line2D

    def __init__(
        self, curves: LossCalibrationCurve | Sequence[LossCalibrationCurve] | Mapping[str, LossCalibrationCurve]
    ) -> None:
        found = several(curves, "curves", LossCalibrationCurve, "curve")
        for curve in found:
            if not isinstance(curve, LossCalibrationCurve):
                raise ValueError(f"curves must be loss-calibration curves, got {curve!r}.")
        names = list(curves) if isinstance(curves, Mapping) else [curve.name for curve in found]
        if len(set(names)) < len(names):
            raise ValueError("curves must have distinct names: pass name= to loss_calibration_curve, or a mapping.")
        self.curves: dict[str, LossCalibrationCurve] = dict(zip(names, found, strict=True))

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        corrected: bool = False,
        scale: Scale = "logit",
        legend: Legend = "auto",
        ax: Axes | None = None,
        **stated: Any,
    ) -> Self:
        """Draw from labels and scores.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Scores as the model gives them: one model, or several by name (the columns of a data frame).
        corrected, scale, legend, ax
            As in :meth:`plot`.
        **stated
            Arguments of :func:`loss_calibration_curve`, such as ``positive_share=0.9``.

        Returns
        -------
        LossCalibrationDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import LossCalibrationDisplay
        >>> display = LossCalibrationDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], scale_pos_weight=3)
        """
        named = named_predictions(y_true, y_prob, stated.get("sample_weight")).items()
        curves = [loss_calibration_curve(y_true, scores, name=name, **stated) for name, scores in named]
        return cls(curves).plot(ax, corrected=corrected, scale=scale, legend=legend)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        corrected: bool = False,
        scale: Scale = "logit",
        legend: Legend = "auto",
    ) -> Self:
        """Draw event rates, theoretical curves and the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        corrected : bool, default False
            Whether to draw the corrected scores instead of those that the model gives.
        scale : {"logit", "log", "linear"}, default "logit"
            Of both axes. Rates and scores of 0 (with "logit" also of 1) lie at infinity: the edge shows them, hollow.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        LossCalibrationDisplay
            This object, with ``ax_``, ``figure_``, ``points_``, ``lines_`` and ``diagonal_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.correction import loss_calibration_curve
        >>> from stakes.display import LossCalibrationDisplay
        >>> curve = loss_calibration_curve([0, 1, 0, 1], [0.3, 0.9, 0.6, 0.7], scale_pos_weight=4)
        >>> LossCalibrationDisplay(curve).plot(corrected=True, scale="log").ax_.get_xlabel()
        'Corrected score'
        """
        check_choice(scale, "scale", _SCALES)
        bins = [curve.bins_after if corrected else curve.bins_before for curve in self.curves.values()]
        shown_x, shown_y = _reach([b.mean_score for b in bins], scale), _reach([b.event_rate for b in bins], scale)
        if corrected:
            shown_x = shown_y = min(shown_x[0], shown_y[0]), max(shown_x[1], shown_y[1])
        x = _spaced(shown_x, scale)
        with self._picture(ax, legend):
            self.ax_.set(xscale=scale, yscale=scale, xlim=shown_x, ylim=shown_y)
            for axis in (self.ax_.xaxis, self.ax_.yaxis):
                _format_axis(axis, scale)
            looks = [(name, model_style(index)) for index, name in enumerate(self.curves)]
            shown = shown_x, shown_y
            self.points_ = [draw_points(self.ax_, b, shown, *look) for b, look in zip(bins, looks, strict=True)]
            self.lines_ = [] if corrected else self._draw_expected(x)
            self.diagonal_ = draw_diagonal(self.ax_, x)
            self.ax_.set(xlabel="Corrected score" if corrected else "Score", ylabel="Observed event rate")
        self._place_ticks(scale, shown_x, shown_y)
        return self

    def _results(self) -> Iterable[Any]:
        return [curve.before for curve in self.curves.values()]

    def _draw_expected(self, x: Floats) -> list[Line2D]:
        look: Any = {"linewidth": 1.2, "gid": MODEL}
        colours = [model_style(index).color for index in range(len(self.curves))]
        rates = [curve.expected_rate(x) for curve in self.curves.values()]
        return [self.ax_.plot(x, y, color=color, **look)[0] for y, color in zip(rates, colours, strict=True)]

    def _place_ticks(self, scale: Scale, shown_x: Range, shown_y: Range) -> None:
        if scale != "logit":
            return
        from matplotlib.ticker import FixedLocator

        sizes = width_in_points(self.ax_), 2.0 * height_in_points(self.ax_)
        for axis, shown, size in zip((self.ax_.xaxis, self.ax_.yaxis), (shown_x, shown_y), sizes, strict=True):
            axis.set_major_locator(FixedLocator(percent_ticks(*shown, min(_TICK_POINTS / max(size, 1.0), 0.4))))


def _reach(values: Sequence[Floats], scale: Scale) -> Range:
    """The range of an axis: what the finite points need, and a little more."""
    if scale == "linear":
        return -0.02, 1.02
    found = np.concatenate(list(values))
    found = found[(found > 0.0) & (found < 1.0)]
    if len(found) == 0:
        return 0.01, 0.99
    low, high = float(found.min()), float(found.max())
    low = low / (low + _WIDENED * (1.0 - low))
    return low, high * _WIDENED / (1.0 - high + _WIDENED * high) if scale == "logit" else 1.0


def _format_axis(axis: Axis, scale: Scale) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator

    axis.set_major_formatter(format_percent)
    axis.set_minor_formatter(NullFormatter())
    if scale == "logit":
        axis.set_minor_locator(NullLocator())


def _spaced(shown: Range, scale: Scale) -> Floats:
    """Points evenly spaced on the axis."""
    if scale == "linear":
        return np.linspace(0.0, 1.0, _BENDS)
    if scale == "log":
        return np.geomspace(*shown, _BENDS).clip(0.0, 1.0)
    odds = np.geomspace(shown[0] / (1.0 - shown[0]), shown[1] / (1.0 - shown[1]), _BENDS)
    return np.asarray(odds / (1.0 + odds))


def draw_points(
    ax: Axes, bins: BinnedReliability, shown: tuple[Range, Range], name: str, look: Style
) -> ErrorbarContainer:
    """Event rates with intervals; those beyond the axes lie on their edge, hollow."""
    score, rate = np.clip(bins.mean_score, *shown[0]), np.clip(bins.event_rate, *shown[1])
    low, high = np.clip(bins.ci_low, *shown[1]), np.clip(bins.ci_high, *shown[1])
    spread = np.maximum([rate - low, high - rate], 0.0)
    outside = (rate != bins.event_rate) | (score != bins.mean_score)
    style: dict[str, Any] = {"color": look.color, "marker": look.marker, "linestyle": "none", "markersize": 4.0}
    style |= {"elinewidth": 0.8, "zorder": 2.6}
    inside = ax.errorbar(score[~outside], rate[~outside], yerr=spread[:, ~outside], label=name, **style)
    inside.lines[0].set_gid(MODEL)  # names of references keep clear of it
    if np.any(outside):
        style |= {"markerfacecolor": "none", "clip_on": False}
        ax.errorbar(score[outside], rate[outside], yerr=spread[:, outside], **style)
    return inside

"""Displays of ROC, precision-recall, lift and gains curves, and of bands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats
from stakes.core.score_table import ScoreTable
from stakes.curves import Curve, lift_curve, precision_recall_curve, roc_curve, smooth_calibration_curve
from stakes.display import _axes
from stakes.display._axes import Legend, Range, XScale
from stakes.inference import Band
from stakes.outputs.hooks import draw
from stakes.outputs.text import level_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


# Curves over a rate or a share: ROC, precision-recall, lift, gains, and the smooth calibration curve.

_UNIT = (-0.02, 1.02)
_FIRST_RECALL = 0.05
_SPARE = 2.5  # times the highest smoothed rate is as much of the diagonal as is shown


class ShareCurvesDisplay(_axes.CurvesDisplay):
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
            _axes.draw_share_axis(self.ax_)
            self._format_heights()
        return self

    def _shown(self) -> Range:
        return 0.0, 1.0

    def _add(self, shown: Range) -> None:
        """Draw the additional elements of one kind of curve."""

    def _y_limits(self, heights: Floats, shown: Range) -> Range:  # noqa: ARG002  (other kinds use them)
        return _UNIT

    def _format_heights(self) -> None:
        self.ax_.yaxis.set_major_formatter(_axes.format_percent)


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
            line.set_label(auc if curve.name == "model" else _axes.plain(f"{curve.name} ({auc})"))
            x, y = _axes.points_to_draw(curve.hull, shown)
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
        inside = np.concatenate(
            [_axes.heights_within(line, (_FIRST_RECALL, 1.0)) for line in _axes.drawn(self.ax_, _axes.MODEL)]
        )
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
        return 0.0, max(reach, self.ax_.get_xlim()[1]) if len(_axes.drawn(self.ax_, _axes.MODEL)) else reach

    def _add(self, shown: Range) -> None:  # noqa: ARG002
        if len(self.curves) > _axes.MOST_BANDS:
            return
        for curve, line in zip(self.curves, self.lines_, strict=True):
            _axes.shade_band(self.ax_, curve, line.get_color())

    def _y_limits(self, heights: Floats, shown: Range) -> Range:
        highest = float(heights.max(initial=0.0))
        top = max(min(shown[1], _SPARE * highest), highest) or 1.0
        return -0.02 * top, 1.02 * top


# Curves with their pointwise intervals and simultaneous bands.

_Y_LABELS = {
    "regret": "regret per decision",
    "net_benefit": "net benefit",
    "interventions_avoided": "interventions avoided",
    "reliability": "observed event rate",
    "smooth": "observed event rate",
}
_NOTHING = {
    "regret": "",
    "net_benefit": "treat none",
    "interventions_avoided": "treat all",
    "reliability": "calibrated",
    "smooth": "calibrated",
}
_BAR = 8.0  # points, over a single threshold
_BAND, _INTERVAL = 0.14, 0.22  # opacity; the interval lies upon the band
_EXTREME, _BEYOND = 0.05, 0.25  # this share of the bounds may leave the picture, if beyond this share of its height


class BandDisplay(_axes.Display):
    """Curves with pointwise intervals (darker) and simultaneous bands (lighter).

    Drawn into axes that hold the curve of a model of the same name, only its band is added, in the curve's colour.

    Parameters
    ----------
    bands : Band, sequence of Band, or mapping of str to Band
        Bands of one kind.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The estimate of each band.
    intervals_, bands_ : list of matplotlib collections
        The shaded pointwise intervals and simultaneous bands.
    bounds_ : matplotlib patch or None
        The shaded range.

    Examples
    --------
    >>> from stakes.inference import difference_band
    >>> from stakes.display import BandDisplay
    >>> band = difference_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], [0.4, 0.6, 0.5, 0.4], "net_benefit")
    >>> BandDisplay(band).plot().ax_.get_ylabel()
    'Difference in net benefit'
    """

    intervals_: list[PolyCollection]
    bands_: list[PolyCollection]

    def __init__(self, bands: Band | Sequence[Band] | Mapping[str, Band]) -> None:
        found = _axes.several(bands, "bands", Band, "band")
        for band in found:
            if not isinstance(band, Band):
                raise ValueError(f"bands must be Band, got {band!r}.")
            if (band.kind, band.is_difference) != (found[0].kind, found[0].is_difference):
                raise ValueError(f"bands must be of one kind, got {found[0]!r} and {band!r}.")
        self.bands: list[Band] = _axes.renamed(found, bands)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        x_scale: XScale = "linear",
        legend: Legend = "auto",
    ) -> Self:
        """Draw the bands.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        x_scale : {"linear", "log-odds"}, default "linear"
            Scale of the threshold axis; reliability is drawn over a linear one.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        BandDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``intervals_``, ``bands_`` and ``bounds_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.inference import confidence_band
        >>> from stakes.display import BandDisplay
        >>> band = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "regret")
        >>> BandDisplay(band).plot(bounds=(0.2, 0.5)).ax_.get_xlabel()
        'Threshold'
        """
        bounds = _axes.check_bounds(bounds)
        with self._picture(ax, legend):
            earlier = bool(_axes.drawn(self.ax_, _axes.MODEL))
            shown = self._shown(bounds, x_scale)
            if not earlier or bounds is not None:
                self._set_x_axis(shown, x_scale)
            self.bounds_ = _axes.shade_bounds(self.ax_, bounds)
            self.lines_, self.intervals_, self.bands_ = [], [], []
            for band in self.bands:
                self._draw(band)
            self._draw_reference(shown)
            estimates = np.concatenate([band.estimate[_within(band, shown)] for band in self.bands])
            show_bands(self.ax_, self.bands, shown, self.ax_.get_ylim() if earlier else estimates)
            if not earlier:
                self._set_labels()
        return self

    def _results(self) -> Iterable[Any]:
        return self.bands

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        scale: XScale = "linear" if self.bands[0].of_rates else x_scale
        if bounds is not None and bounds != (0.0, 1.0):
            return _axes.widened(bounds, scale)
        low = min(float(band.thresholds[0]) for band in self.bands)
        high = max(float(band.thresholds[-1]) for band in self.bands)
        if scale == "log-odds":
            shown = max(low, 1e-4), min(high, 1.0 - 1e-4)
            return shown if shown[0] < shown[1] else _axes.widened((low, high), scale)
        if low >= high:
            return max(low - 0.05, 0.0), min(high + 0.05, 1.0)
        return low, high

    def _set_x_axis(self, shown: Range, x_scale: XScale) -> None:
        if self.bands[0].of_rates:
            self.ax_.set_xlim(shown)
            _axes.draw_share_axis(self.ax_)
        else:
            _axes.draw_cost_axis(self.ax_, shown, x_scale)

    def _draw(self, band: Band) -> None:
        known = {str(line.get_label()): line for line in _axes.drawn(self.ax_, _axes.MODEL)}
        line = known.get(_axes.plain(band.name))
        if line is None:
            style = _axes.model_style(len(known))
            marker = style.marker if len(band.thresholds) == 1 else None
            line = _axes.draw_line(self.ax_, (band.thresholds, band.estimate), style, band.name, marker=marker)
        self.lines_.append(line)
        # over one threshold a bar, as what is shaded has no width there
        look: dict[str, Any] = {"color": line.get_color(), "linewidth": _BAR if len(band.thresholds) == 1 else 0.0}
        outer = _edges(band, band.simultaneous_low, band.simultaneous_high)
        inner = _edges(band, band.low, band.high)
        names: list[str | None] = [None, None]
        if not self.bands_:  # the legend needs each kind of shading once
            level = level_name(band.confidence_level)
            names = [f"{level} simultaneous band", f"{level} interval at each {band.x_label}"]
        self.bands_.append(self.ax_.fill_between(*outer, alpha=_BAND, zorder=1.4, label=names[0], **look))
        self.intervals_.append(self.ax_.fill_between(*inner, alpha=_INTERVAL, zorder=1.5, label=names[1], **look))

    def _draw_reference(self, shown: Range) -> None:
        """Draw the straight line to compare with, once: no difference, no benefit, or calibration."""
        band = self.bands[0]
        name = "no difference" if band.is_difference else _NOTHING[band.kind]
        gid, rising = f"{_axes.REFERENCE} {name}", band.of_rates and not band.is_difference
        if name and not _axes.drawn(self.ax_, gid):
            x = np.unique([0.0, *shown, 1.0])
            y = x if rising else np.zeros(len(x))
            self.ax_.plot(x, y, color=_axes.REFERENCE_COLOUR, linewidth=0.8, gid=gid, zorder=2.0)

    def _set_labels(self) -> None:
        band = self.bands[0]
        label = _Y_LABELS[band.kind] + ("" if band.per is None else f" per {band.per:,.6g}")
        label = f"difference in {label}" if band.is_difference else label
        self.ax_.set(xlabel=band.x_label.capitalize(), ylabel=label[0].upper() + label[1:])
        _axes.name_amounts(self.ax_, self.bands)
        self.ax_.yaxis.set_major_formatter(_axes.format_percent if band.of_rates else "{x:.6g}")


def show_bands(ax: Axes, bands: Sequence[Band], shown: Range, seen: ArrayLike) -> None:
    """Set the heights to hold what is to be seen, 0 and most of the bounds; of net benefit as far below 0 as above."""
    inside = [(band, _within(band, shown)) for band in bands]
    lows, highs = ([getattr(band, f"simultaneous_{end}")[at] for band, at in inside] for end in ("low", "high"))
    low = min(0.0, *(np.quantile(bounds, _EXTREME) for bounds in lows))
    high = max(0.0, *(np.quantile(bounds, 1.0 - _EXTREME) for bounds in highs))
    every, reach = np.concatenate([[0.0], *lows, *highs]), _BEYOND * (high - low)
    low, high = max(low - reach, float(every.min())), min(high + reach, float(every.max()))
    margin = 0.05 * (high - low) or 0.05
    bottom, top = min(np.min(seen), low - margin * (low < 0.0)), max(np.max(seen), high + margin)
    plunges = bands[0].kind == "net_benefit" and not bands[0].is_difference  # near a threshold of 1
    ax.set_ylim(max(bottom, min(np.min(seen), -top)) if plunges else bottom, top)


def _within(band: Band, shown: Range) -> NDArray[np.bool_]:
    """Which thresholds lie in the range shown; all where none does."""
    inside = (band.thresholds >= shown[0]) & (band.thresholds <= shown[1])
    return inside if inside.any() else ~inside


def _edges(band: Band, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Corners of the shaded area: a rate that never falls is, between two scores, within the outer bounds of both."""
    if band.kind != "reliability" or band.is_consistency or len(low) == 1:
        return band.thresholds, low, high
    return np.repeat(band.thresholds, 2)[1:-1], np.repeat(low[:-1], 2), np.repeat(high[1:], 2)


draw.register(Band, lambda band, ax=None, **options: BandDisplay(band).plot(ax, **options))

"""Calibration: reliability diagrams, and miscalibration against discrimination."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, check_choice, check_kind
from stakes.core.score_table import ScoreTable
from stakes.correction import LossCalibrationCurve, loss_calibration_curve
from stakes.costs import CostsLike, Scale, as_costs
from stakes.curves import (
    BinnedReliability,
    ReliabilityCurve,
    SmoothCalibrationCurve,
    binned_reliability,
    reliability_curve,
    smooth_calibration_curve,
)
from stakes.display import _axes
from stakes.display._axes import Legend, Range, Style
from stakes.metrics import Decomposition, decompose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

# Reliability diagram: observed event rates against scores, with the distribution of the scores above it.

Shape = Literal["isotonic", "smooth", "both"]
SHAPES = ("isotonic", "smooth", "both")
_NEARLY_ALL = 0.6
_CELLS = 60
_MORE_CELLS = 300  # on either side, for readers who zoom out
_STRIP = "stakes scores"
_ROW, _ONE_ROW = 5.5, 24.0  # heights in points


class ReliabilityDisplay(_axes.CurvesDisplay):
    """Observed event rate against the score (isotonic, without bins); the diagonal is perfect calibration.

    Above the diagram one row for each model shows where its scores lie: a histogram for one model, darker cells for
    more cases with several.

    Parameters
    ----------
    curves : ReliabilityCurve, sequence of ReliabilityCurve, or mapping of str to ReliabilityCurve
        Reliability curves.
    tables : sequence of ScoreTable, optional
        The scores of each model, for the rows above the diagram.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each model.
    diagonal_ : matplotlib line
        Perfect calibration.
    scores_ax_ : matplotlib axes or None
        The rows above the diagram.
    bounds_ : matplotlib patch or None
        The shaded range.

    Examples
    --------
    >>> from stakes.display import ReliabilityDisplay
    >>> display = ReliabilityDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6])
    >>> display.ax_.get_ylabel()
    'Observed event rate'
    """

    kind = "reliability"

    diagonal_: Line2D
    scores_ax_: Axes | None

    def __init__(
        self,
        curves: ReliabilityCurve | Sequence[ReliabilityCurve] | Mapping[str, ReliabilityCurve],
        tables: Sequence[ScoreTable] | None = None,
    ) -> None:
        super().__init__(curves)
        self.tables = None if tables is None else list(tables)
        if self.tables is not None and len(self.tables) != len(self.curves):
            raise ValueError(f"tables must be as many as curves, got {len(self.tables)} for {len(self.curves)}.")

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        bounds: Range | None = None,
        shape: Shape = "isotonic",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        logits: bool = False,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        shape
            As in :meth:`plot`.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        logits : bool, default False
            Whether the scores are log-odds.
        legend, ax
            As in :meth:`plot`.

        Returns
        -------
        ReliabilityDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import ReliabilityDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> len(ReliabilityDisplay.from_predictions([0, 1, 0, 1], models).lines_)
        2
        """
        options: Any = {"sample_weight": sample_weight, "pos_label": pos_label, "logits": logits}
        tables = {
            name: y_true if isinstance(y_true, ScoreTable) else ScoreTable.from_predictions(y_true, scores, **options)
            for name, scores in _axes.named_predictions(y_true, y_prob, sample_weight).items()
        }
        curves = [reliability_curve(table, name=name) for name, table in tables.items()]
        return cls(curves, list(tables.values())).plot(ax, bounds=bounds, shape=shape, legend=legend)

    def plot(
        self, ax: Axes | None = None, *, bounds: Range | None = None, shape: Shape = "isotonic", legend: Legend = "auto"
    ) -> Self:
        """Draw the curves, the diagonal, and where the scores lie.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        shape : {"isotonic", "smooth", "both"}, default "isotonic"
            Steps that never fall, a smooth curve (local lines over the log-odds, with 95% intervals at each score for
            up to three models), or both. What is smooth needs ``tables``.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        ReliabilityDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``diagonal_``, ``scores_ax_`` and ``bounds_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import reliability_curve
        >>> from stakes.display import ReliabilityDisplay
        >>> display = ReliabilityDisplay(reliability_curve([0, 1], [0.3, 0.6])).plot(bounds=(0.2, 0.5))
        """
        bounds, smooth = _axes.check_bounds(bounds), self._smooth_curves(shape)
        with self._picture(ax, legend) as new:
            earlier = _axes.drawn(self.ax_, _axes.MODEL)
            shown = self.ax_.get_xlim() if earlier and bounds is None else self._shown(bounds)
            self.ax_.set_xlim(shown)
            self.bounds_ = _axes.shade_bounds(self.ax_, bounds)
            self.lines_ = _axes.draw_models(self.ax_, smooth if shape == "smooth" else self.curves, shown)
            self._add_smooth(smooth, line=shape == "both")
            heights = _axes.heights_of_models(self.ax_, shown)
            self.diagonal_ = _axes.draw_diagonal(self.ax_, [0.0, 1.0])
            self.ax_.set_ylim(*self._y_limits(heights, shown))
            self.ax_.set(xlabel="Score", ylabel="Observed event rate")
            _axes.draw_share_axis(self.ax_)
            self.ax_.yaxis.set_major_formatter(_axes.format_percent)
            self.scores_ax_ = self._draw_scores(shown, new=new) if self.tables is not None and not earlier else None
        return self

    def _smooth_curves(self, shape: Shape) -> list[SmoothCalibrationCurve]:
        check_choice(shape, "shape", SHAPES)
        if shape == "isotonic":
            return []
        if self.tables is None:
            raise ValueError(f'shape="{shape}" needs tables, which from_predictions makes.')
        names = [curve.name for curve in self.curves]
        tables = zip(self.tables, names, strict=True)
        return [smooth_calibration_curve(table, axis="log-odds", name=name) for table, name in tables]

    def _add_smooth(self, curves: list[SmoothCalibrationCurve], *, line: bool) -> None:
        """The bands of few models, and in front of the steps a thin line each."""
        for k, (curve, model) in enumerate(zip(curves, self.lines_, strict=False)):
            if len(curves) <= _axes.MOST_BANDS:
                _axes.shade_band(self.ax_, curve, model.get_color(), None if k else "95% interval at each score")
            if line:
                self.ax_.plot(curve.knots, curve.at(curve.knots), color=model.get_color(), linewidth=0.9, zorder=2.5)

    def _shown(self, bounds: Range | None) -> Range:
        if bounds is not None and bounds != (0.0, 1.0):
            return _axes.widened(bounds)
        reach = max(float(curve.knots[-1]) for curve in self.curves)
        return 0.0, 1.0 if reach > _NEARLY_ALL else 1.05 * reach or 1.0

    @staticmethod
    def _y_limits(heights: Floats, shown: Range) -> Range:
        # a rare last block with a rate of 1 leaves the picture, where scores are low, rather than flatten it
        top = np.clip(heights.max(initial=0.0), shown[1], 2.5 * shown[1])
        low = min(shown[0], float(heights.min(initial=1.0)))
        margin = 0.03 * float(top - low)
        return low - margin, min(float(top) + margin, 1.0 + margin)

    def _draw_scores(self, shown: Range, *, new: bool) -> Axes:
        tables = self.tables or []
        strip = _axes.above(self.ax_, _ONE_ROW if len(tables) == 1 else _ROW * len(tables), new=new)
        strip.set_label(_STRIP)
        span = shown[1] - shown[0]
        edges = shown[0] + span / _CELLS * np.arange(-_MORE_CELLS, _CELLS + _MORE_CELLS + 1)
        for row, (table, line) in enumerate(zip(tables, self.lines_, strict=True)):
            counts, _ = np.histogram(table.scores, edges, weights=table.positives + table.negatives)
            if len(tables) == 1:
                strip.stairs(counts, edges, fill=True, color=line.get_color())
                strip.set_ylim(0.0, counts[_MORE_CELLS:-_MORE_CELLS].max() or 1.0)
            else:
                _draw_row(strip, row, edges, counts, line.get_color())
        if len(tables) > 1:
            strip.set_ylim(len(tables), 0.0)
        strip.tick_params(bottom=False, labelbottom=False, left=False, labelleft=False)
        strip.spines[:].set_visible(False)
        strip.set_facecolor("none")
        strip.set_ylabel("Scores", fontsize=_axes.SMALL, rotation=0, ha="right", va="center")
        return strip


def _draw_row(strip: Axes, row: int, edges: NDArray[Any], counts: Floats, color: Any) -> None:
    """Cells of one model, the darker the more cases; the square root keeps rare scores visible."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("scores", ["white", color])
    darkness = np.sqrt(counts / (counts.max() or 1.0))
    strip.axhspan(row + 0.1, row + 0.9, facecolor=_axes.EMPTY_COLOUR, linewidth=0.0)
    cells = np.ma.masked_equal(darkness, 0.0)[np.newaxis]
    strip.pcolormesh(edges, [row + 0.1, row + 0.9], cells, cmap=shades, vmin=-0.25, vmax=1.0)


# Loss-calibration diagram: event rates against the scores of a weighted model, beside what its weight predicts.

AxisScale = Literal["logit", "log", "linear"]
_SCALES = ("logit", "log", "linear")
_BENDS = 400
_TICK_POINTS = 38.0
_WIDENED = 1.6  # factor of the odds by which the axes reach beyond the points
_THEORY = f"{_axes.MODEL}, theory"
_BINS = "stakes_bins"  # attribute of points that says which bins they show


class LossCalibrationDisplay(_axes.PredictionsDisplay):
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
        found = _axes.several(curves, "curves", LossCalibrationCurve, "curve")
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
        scale: AxisScale = "logit",
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
        named = _axes.named_predictions(y_true, y_prob, stated.get("sample_weight"))
        named = _axes.renamed_one(named, stated.pop("name", None))
        curves = [loss_calibration_curve(y_true, scores, name=name, **stated) for name, scores in named.items()]
        return cls(curves).plot(ax, corrected=corrected, scale=scale, legend=legend)

    def plot(
        self, ax: Axes | None = None, *, corrected: bool = False, scale: AxisScale = "logit", legend: Legend = "auto"
    ) -> Self:
        """Draw event rates, theoretical curves and the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
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
        with self._picture(ax, legend):
            earlier = _binned_points(self.ax_)
            every = [*bins, *(b for _, b, _ in earlier)]
            shown_x, shown_y = (_reach([getattr(b, of) for b in every], scale) for of in ("mean_score", "event_rate"))
            if corrected:
                shown_x = shown_y = min(shown_x[0], shown_y[0]), max(shown_x[1], shown_y[1])
            x = _spaced(shown_x, scale)
            self.ax_.set(xscale=scale, yscale=scale, xlim=shown_x, ylim=shown_y)
            for axis in (self.ax_.xaxis, self.ax_.yaxis):
                _format_axis(axis, scale)
            shown = shown_x, shown_y
            for points, b, chosen in earlier:
                _place_points(points, b, chosen, shown)
            before = sum(line.get_gid() == _axes.MODEL for line in self.ax_.lines)
            looks = [(name, _axes.model_style(index)) for index, name in enumerate(self.curves, start=before)]
            self.points_ = [draw_points(self.ax_, b, shown, *look) for b, look in zip(bins, looks, strict=True)]
            self.lines_ = []
            for curve, (_, look) in zip([] if corrected else self.curves.values(), looks, strict=False):
                self.lines_ += self.ax_.plot(x, curve.expected_rate(x), color=look.color, linewidth=1.2, gid=_THEORY)
            self.diagonal_ = _axes.draw_diagonal(self.ax_, x)
            self.ax_.set(xlabel="Corrected score" if corrected else "Score", ylabel="Observed event rate")
        self._place_ticks(scale, shown_x, shown_y)
        return self

    def _results(self) -> Iterable[Any]:
        return [curve.before for curve in self.curves.values()]

    def _place_ticks(self, scale: AxisScale, shown_x: Range, shown_y: Range) -> None:
        if scale != "logit":
            return
        from matplotlib.ticker import FixedLocator

        sizes = _axes.width_in_points(self.ax_), 2.0 * _axes.height_in_points(self.ax_)
        for axis, shown, size in zip((self.ax_.xaxis, self.ax_.yaxis), (shown_x, shown_y), sizes, strict=True):
            axis.set_major_locator(FixedLocator(_axes.percent_ticks(*shown, min(_TICK_POINTS / max(size, 1.0), 0.4))))


def _reach(values: Sequence[Floats], scale: AxisScale) -> Range:
    """Range of an axis: that of the finite points with a margin."""
    if scale == "linear":
        return -0.02, 1.02
    found = np.concatenate(list(values))
    found = found[(found > 0.0) & (found < 1.0)]
    if len(found) == 0:
        return 0.01, 0.99
    low, high = float(found.min()), float(found.max())
    low = low / (low + _WIDENED * (1.0 - low))
    return low, high * _WIDENED / (1.0 - high + _WIDENED * high) if scale == "logit" else 1.0


def _format_axis(axis: Axis, scale: AxisScale) -> None:
    from matplotlib.ticker import NullFormatter, NullLocator

    axis.set_major_formatter(_axes.format_percent)
    axis.set_minor_formatter(NullFormatter())
    if scale == "logit":
        axis.set_minor_locator(NullLocator())


def _spaced(shown: Range, scale: AxisScale) -> Floats:
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
    score, rate, _, _ = _within(bins, shown)
    outside = (rate != bins.event_rate) | (score != bins.mean_score)
    style: dict[str, Any] = {"color": look.color, "marker": look.marker, "linestyle": "none", "markersize": 4.0}
    style |= {"elinewidth": 0.8, "zorder": 2.6}

    def draw(chosen: NDArray[np.bool_], **more: Any) -> ErrorbarContainer:
        nothing = np.zeros(np.count_nonzero(chosen))
        points = ax.errorbar(score[chosen], rate[chosen], yerr=nothing, **style, **more)
        setattr(points, _BINS, (bins, chosen))
        _place_points(points, bins, chosen, shown)
        return points

    inside = draw(~outside, label=_axes.plain(name))
    inside.lines[0].set_gid(_axes.MODEL)  # names of references keep clear of it
    if np.any(outside):
        draw(outside, markerfacecolor="none", clip_on=False)
    return inside


def _within(bins: BinnedReliability, shown: tuple[Range, Range]) -> list[Floats]:
    """Mean scores, event rates and the ends of their intervals, each beyond the axes moved to their edge."""
    columns = (bins.mean_score, shown[0]), *((each, shown[1]) for each in (bins.event_rate, bins.ci_low, bins.ci_high))
    return [np.clip(column, *limits) for column, limits in columns]


def _place_points(
    points: ErrorbarContainer, bins: BinnedReliability, chosen: NDArray[np.bool_], shown: tuple[Range, Range]
) -> None:
    """Put drawn event rates and their intervals where they lie in axes that show this range."""
    score, rate, low, high = (column[chosen] for column in _within(bins, shown))
    points.lines[0].set_data(score, rate)
    ends = np.stack([np.minimum(low, rate), np.maximum(high, rate)], axis=1)
    (whiskers,) = points.lines[2]
    whiskers.set_segments([np.column_stack([[x, x], y]) for x, y in zip(score, ends, strict=True)])


def _binned_points(ax: Axes) -> list[tuple[ErrorbarContainer, BinnedReliability, NDArray[np.bool_]]]:
    """Points of bins that earlier displays drew in these axes, with their bins and which of these they are."""
    return [(points, *getattr(points, _BINS)) for points in ax.containers if hasattr(points, _BINS)]


# Calibration in bins: event rates with their intervals against mean scores.


class BinnedReliabilityDisplay(_axes.PredictionsDisplay):
    """Observed event rate of each bin with its interval against the mean score; the diagonal is perfect calibration.

    Parameters
    ----------
    bins : BinnedReliability, sequence of BinnedReliability, or mapping of str to BinnedReliability
        One or several models.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    points_ : list of matplotlib containers
        Event rates with intervals, one for each model.
    diagonal_ : matplotlib line
        Perfect calibration.

    Examples
    --------
    >>> from stakes.curves import binned_reliability
    >>> binned_reliability([0, 0, 1, 1], [0.1, 0.3, 0.4, 0.8], n_bins=2).plot().ax_.get_xlabel()
    'Mean score'
    """

    points_: list[ErrorbarContainer]
    diagonal_: Line2D

    def __init__(self, bins: BinnedReliability | Sequence[BinnedReliability] | Mapping[str, BinnedReliability]) -> None:
        found = _axes.several(bins, "bins", BinnedReliability, "BinnedReliability")
        if not all(isinstance(each, BinnedReliability) for each in found):
            raise ValueError(f"bins must hold at least one BinnedReliability and nothing else, got {bins!r}.")
        self.bins: list[BinnedReliability] = _axes.renamed(found, bins)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        legend: Legend = "auto",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        legend, ax
            As in :meth:`plot`.
        **options
            Arguments of :func:`binned_reliability`, such as ``n_bins=20``.

        Returns
        -------
        BinnedReliabilityDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import BinnedReliabilityDisplay
        >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
        >>> len(BinnedReliabilityDisplay.from_predictions([0, 1, 0, 1], models, n_bins=2).points_)
        2
        """
        named = _axes.named_predictions(y_true, y_prob, options.get("sample_weight"))
        named = _axes.renamed_one(named, options.pop("name", None))
        bins = [binned_reliability(y_true, scores, name=name, **options) for name, scores in named.items()]
        return cls(bins).plot(ax, legend=legend)

    def _results(self) -> Iterable[Any]:
        return self.bins

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw the bins and the diagonal.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        BinnedReliabilityDisplay
            This object, with ``ax_``, ``figure_``, ``points_`` and ``diagonal_``.

        Raises
        ------
        ValueError
            For an unknown legend.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.curves import binned_reliability
        >>> binned_reliability([0, 1], [0.3, 0.6], n_bins=1).plot().ax_.get_ylabel()
        'Observed event rate'
        """
        with self._picture(ax, legend):
            reach = max(max(bins.mean_score.max(), bins.ci_high.max()) for bins in self.bins)
            shown = -0.02 * reach, 1.02 * float(reach)
            before = len(_axes.drawn(self.ax_, _axes.MODEL))
            if before:  # whose points stay in sight
                shown = min(shown[0], self.ax_.get_xlim()[0]), max(shown[1], self.ax_.get_xlim()[1])
            looks = [(bins, _axes.model_style(index)) for index, bins in enumerate(self.bins, start=before)]
            self.points_ = [draw_points(self.ax_, bins, (shown, shown), bins.name, look) for bins, look in looks]
            self.diagonal_ = _axes.draw_diagonal(self.ax_, [0.0, 1.0])
            self.ax_.set(xlim=shown, ylim=shown, xlabel="Mean score", ylabel="Observed event rate")
            _axes.draw_share_axis(self.ax_)
            self.ax_.yaxis.set_major_formatter(_axes.format_percent)
        return self


# Miscalibration against discrimination: which of the two makes one model's score better than another's.

_MARGIN = 0.12  # share of the width that holds the models of infinite miscalibration
_MARKER_SIZE = 7.0
_SCORES = "stakes scores"  # lines of equal score and the margin, which a later display draws anew
_TERMS = "stakes_terms"  # attribute of a point that says which decomposition it shows


class DecompositionDisplay(_axes.PredictionsDisplay):
    """Miscalibration (MCB) against discrimination (DSC), with lines of equal score; the best models lie upper left.

    Models of infinite miscalibration stand in the margin at the right, which says so.

    Parameters
    ----------
    decompositions : Decomposition or mapping of str to Decomposition
        Of models on the same rows and the same scale.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One point for each model.
    score_lines_ : list of matplotlib lines
        The lines of equal score.

    Examples
    --------
    >>> from stakes.display import DecompositionDisplay
    >>> models = {"a": [0.1, 0.8, 0.3, 0.6], "b": [0.4, 0.6, 0.5, 0.4]}
    >>> display = DecompositionDisplay.from_predictions([0, 1, 0, 1], models, costs=(0.2, 0.5))
    >>> [line.get_label() for line in display.lines_]
    ['a', 'b']
    """

    score_lines_: list[Line2D]

    def __init__(self, decompositions: Decomposition | Mapping[str, Decomposition]) -> None:
        named = decompositions if isinstance(decompositions, Mapping) else {"model": decompositions}
        self.decompositions = dict(named)
        if not self.decompositions:
            raise ValueError("decompositions must hold at least one model, got none.")
        for parts in self.decompositions.values():
            check_kind(parts, "decompositions", Decomposition, "one Decomposition, or a mapping of names to them")
        scales = {parts.scale for parts in self.decompositions.values()}
        if len(scales) > 1:
            raise ValueError(f"decompositions must share one scale, got {sorted(scales)}.")
        uncertainties = [parts.uncertainty for parts in self.decompositions.values()]
        if not np.allclose(uncertainties, uncertainties[0], rtol=1e-6, atol=0.0, equal_nan=True):
            raise ValueError(
                f"decompositions must be of the same rows, got uncertainties {sorted(set(uncertainties))}."
            )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike | ScoreTable,
        y_prob: Any = None,
        *,
        costs: CostsLike | None = None,
        scale: Scale | None = None,
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        prevalence: float | None = None,
        logits: bool = False,
        legend: Legend = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Decompose and draw from labels and predicted probabilities.

        Parameters
        ----------
        y_true : array_like of shape (n,) or ScoreTable
            Labels with two values; a table stands for the labels and scores of one model.
        y_prob : array_like, mapping of str to array_like, or data frame
            Probabilities of the positive class: one model, or several by name (the columns of a data frame).
        costs : CostDistribution, tuple of float, or float, optional
            How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for
            ``costs.Fixed(c)``. By default the whole range [0, 1].
        scale : {"regret", "integral", "loss"}, optional
            By default "regret", or "loss" where the mass of ``costs`` is infinite.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        prevalence : float, optional
            Reweight the classes to this share of positives, as for case-control data.
        logits : bool, default False
            Whether the scores are log-odds.
        legend, ax
            As in :meth:`plot`.

        Returns
        -------
        DecompositionDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import DecompositionDisplay
        >>> display = DecompositionDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], scale="loss")
        >>> display.ax_.get_xlabel()
        'Miscalibration (loss)'
        """
        options = {"sample_weight": sample_weight, "pos_label": pos_label, "prevalence": prevalence, "logits": logits}
        measure = as_costs((0.0, 1.0) if costs is None else costs)
        parts = {
            name: decompose(y_true, scores, costs=measure, scale=scale, **options)  # type: ignore[arg-type]
            for name, scores in _axes.named_predictions(y_true, y_prob, sample_weight).items()
        }
        return cls(parts).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw a point for each model and the lines of equal score.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        DecompositionDisplay
            This object, with ``ax_``, ``figure_``, ``lines_`` and ``score_lines_``.

        Raises
        ------
        ValueError
            For invalid settings, or axes that show decompositions of other rows or on another scale.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import costs, decompose
        >>> from stakes.display import DecompositionDisplay
        >>> parts = decompose([0, 1, 0, 1], [0.2, 0.1, 0.4, 0.9], costs=costs.Uniform(0, 1))
        >>> point = DecompositionDisplay(parts).plot().lines_[0]
        """
        with self._picture(ax, legend):
            self._draw(list(self.decompositions.values()))
        return self

    def _results(self) -> Iterable[Any]:
        return self.decompositions.values()

    def _draw(self, parts: list[Decomposition]) -> None:
        scale = parts[0].scale
        every = [*self._earlier(parts[0]), *parts]
        right = _limit([p.miscalibration for p in every]) or _limit([p.discrimination for p in every]) or 1.0
        top = _limit([p.discrimination for p in every]) or 0.5 * right
        infinite = any(p.miscalibration == math.inf for p in every)
        edge = right / (1.0 - _MARGIN) if infinite else right
        self.ax_.set(xlim=(-0.03 * right, edge), ylim=(-0.04 * top, top))
        self.ax_.set(xlabel=_axes.plain(f"Miscalibration ({scale})"), ylabel=_axes.plain(f"Discrimination ({scale})"))
        self.score_lines_ = self._draw_score_lines(parts[0].uncertainty, right, top)
        if infinite:
            self._draw_margin(right, edge)
        self.lines_ = self._draw_points(0.5 * (right + edge))
        if math.isnan(parts[0].uncertainty):
            self.ax_.text(0.5, 0.5, "undefined: infinite mass of costs", transform=self.ax_.transAxes, ha="center")
        self.ax_.xaxis.set_major_locator(_axes.few_ticks(self.ax_, room=45.0))
        for axis in (self.ax_.xaxis, self.ax_.yaxis):
            axis.set_major_formatter("{x:.6g}")

    def _earlier(self, like: Decomposition) -> list[Decomposition]:
        """Decompositions that these axes show already; their lines of equal score and margin are removed."""
        found = [getattr(line, _TERMS) for line in self.ax_.lines if hasattr(line, _TERMS)]
        for other in found:
            same_rows = np.isclose(other.uncertainty, like.uncertainty, rtol=1e-6, atol=0.0, equal_nan=True)
            if other.scale != like.scale or not same_rows:
                raise ValueError("ax shows decompositions of other rows or on another scale: draw these elsewhere.")
        for artist in [*self.ax_.lines, *self.ax_.texts, *self.ax_.patches]:
            if artist.get_gid() == _SCORES:
                artist.remove()
        return found

    def _draw_score_lines(self, uncertainty: float, right: float, top: float) -> list[Line2D]:
        if not math.isfinite(uncertainty):
            return []
        from matplotlib.ticker import MaxNLocator

        levels = MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(uncertainty - top, uncertainty + right)
        # the lines next to that of no skill leave room for its name
        near = (
            1.5
            * _axes.small_font()
            * math.hypot(right / _axes.width_in_points(self.ax_), top / _axes.height_in_points(self.ax_))
        )
        others = [level for level in levels if level >= 0.0 and abs(level - uncertainty) > near]
        lines: list[Line2D] = []
        word = "score "  # on the first line long enough for it
        for level in [uncertainty, *others]:
            is_reference = level == uncertainty
            color = _axes.REFERENCE_COLOUR if is_reference else _axes.GUIDE_COLOUR
            start = uncertainty - level  # discrimination where miscalibration is zero
            lines.append(self.ax_.axline((0.0, start), slope=1.0, color=color, linewidth=0.8, zorder=1.0, gid=_SCORES))
            if is_reference:
                self._label_score_line(start, right, top, "no skill")
            elif self._label_score_line(start, right, top, f"{word}{level:.4g}"):
                word = ""
        return lines

    def _label_score_line(self, start: float, right: float, top: float, text: str) -> bool:
        """Write a text at the upper end of a line and return True, if the line is long enough."""
        # points per unit along and up, and the reach of half the text's height around its end
        along, up = _axes.width_in_points(self.ax_) / right, _axes.height_in_points(self.ax_) / top
        points = math.hypot(along, up)
        reach = 0.7 * _axes.small_font() / points
        end = min(right - reach * up / along, top - reach * along / up - start) - 0.5 * reach
        if (end - max(0.0, -start)) * points < (len(text) + 2) * _axes.CHARACTER * _axes.small_font():
            return False
        box = {"facecolor": self.ax_.get_facecolor(), "edgecolor": "none", "pad": 0.5}
        turned: Any = {"rotation": 45.0, "transform_rotates_text": True, "rotation_mode": "anchor"}
        look: Any = {"ha": "right", "va": "center", "color": _axes.REFERENCE_COLOUR, "bbox": box, "zorder": 1.1}
        look["gid"] = _SCORES
        self.ax_.annotate(text, (end, end + start), fontsize=_axes.SMALL, **turned, **look)
        return True

    def _draw_margin(self, right: float, edge: float) -> None:
        self.ax_.axvspan(right, edge, facecolor=self.ax_.get_facecolor(), zorder=1.2, gid=_SCORES)
        line: Any = {"color": _axes.REFERENCE_COLOUR, "linewidth": 0.8, "linestyle": ":", "zorder": 1.3}
        self.ax_.axvline(right, **line, gid=_SCORES)
        place = (0.5 * (right + edge), 0.02)
        look: Any = {
            "rotation": 90.0,
            "ha": "center",
            "va": "bottom",
            "fontsize": _axes.SMALL,
            "color": _axes.REFERENCE_COLOUR,
            "gid": _SCORES,
        }
        self.ax_.annotate("infinite", place, xycoords=("data", "axes fraction"), **look)

    def _draw_points(self, infinite_at: float) -> list[Line2D]:
        before = len(_axes.drawn(self.ax_, _axes.MODEL))
        look: Any = {
            "linestyle": "none",
            "markersize": _MARKER_SIZE,
            "clip_on": False,
            "gid": _axes.MODEL,
            "zorder": 3.0,
        }
        look |= {"markeredgecolor": "white", "markeredgewidth": 0.8}
        lines = []
        for index, (name, parts) in enumerate(self.decompositions.items(), start=before):
            style, points = _axes.model_style(index), ([parts.miscalibration], [parts.discrimination])
            (line,) = self.ax_.plot(*points, color=style.color, marker=style.marker, label=_axes.plain(name), **look)
            setattr(line, _TERMS, parts)
            lines.append(line)
        for line in self.ax_.lines:
            if hasattr(line, _TERMS) and getattr(line, _TERMS).miscalibration == math.inf:
                line.set_xdata([infinite_at])
        return lines


def _limit(values: list[float]) -> float:
    """End of an axis that holds the finite values with some room."""
    return 1.15 * max((value for value in values if math.isfinite(value)), default=0.0)

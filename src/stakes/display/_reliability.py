"""Reliability diagram: observed event rates against scores, with the distribution of the scores above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stakes.core.score_table import ScoreTable
from stakes.core.validation import check_choice
from stakes.curves import ReliabilityCurve, SmoothCalibrationCurve, reliability_curve, smooth_calibration_curve
from stakes.display._axes import SMALL, above, check_bounds, draw_share_axis, shade_bounds, widened
from stakes.display._base import CurvesDisplay
from stakes.display._lines import (
    MODEL,
    MOST_BANDS,
    draw_diagonal,
    draw_models,
    drawn,
    heights_of_models,
    shade_band,
)
from stakes.display._models import named_predictions
from stakes.display._style import EMPTY_COLOUR, format_percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike, NDArray

    from stakes.display._axes import Floats, Legend, Range

Shape = Literal["isotonic", "smooth", "both"]
SHAPES = ("isotonic", "smooth", "both")
_NEARLY_ALL = 0.6
_CELLS = 60
_MORE_CELLS = 300  # on either side, for readers who zoom out
_STRIP = "stakes scores"
_ROW, _ONE_ROW = 5.5, 24.0  # heights in points


class ReliabilityDisplay(CurvesDisplay):
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
            for name, scores in named_predictions(y_true, y_prob, sample_weight).items()
        }
        curves = [reliability_curve(table, name=name) for name, table in tables.items()]
        return cls(curves, list(tables.values())).plot(ax, bounds=bounds, shape=shape, legend=legend)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        shape: Shape = "isotonic",
        legend: Legend = "auto",
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
        bounds, smooth = check_bounds(bounds), self._smooth_curves(shape)
        with self._picture(ax, legend) as new:
            earlier = drawn(self.ax_, MODEL)
            shown = self.ax_.get_xlim() if earlier and bounds is None else self._shown(bounds)
            self.ax_.set_xlim(shown)
            self.bounds_ = shade_bounds(self.ax_, bounds)
            self.lines_ = draw_models(self.ax_, smooth if shape == "smooth" else self.curves, shown)
            self._add_smooth(smooth, line=shape == "both")
            heights = heights_of_models(self.ax_, shown)
            self.diagonal_ = draw_diagonal(self.ax_, [0.0, 1.0])
            self.ax_.set_ylim(*self._y_limits(heights, shown))
            self.ax_.set(xlabel="Score", ylabel="Observed event rate")
            draw_share_axis(self.ax_)
            self.ax_.yaxis.set_major_formatter(format_percent)
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
            if len(curves) <= MOST_BANDS:
                shade_band(self.ax_, curve, model.get_color(), None if k else "95% interval at each score")
            if line:
                self.ax_.plot(curve.knots, curve.at(curve.knots), color=model.get_color(), linewidth=0.9, zorder=2.5)

    def _shown(self, bounds: Range | None) -> Range:
        if bounds is not None and bounds != (0.0, 1.0):
            return widened(bounds)
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
        strip = above(self.ax_, _ONE_ROW if len(tables) == 1 else _ROW * len(tables), new=new)
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
        strip.set_ylabel("Scores", fontsize=SMALL, rotation=0, ha="right", va="center")
        return strip


def _draw_row(strip: Axes, row: int, edges: NDArray[Any], counts: Floats, color: Any) -> None:
    """Cells of one model, the darker the more cases; the square root keeps rare scores visible."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("scores", ["white", color])
    darkness = np.sqrt(counts / (counts.max() or 1.0))
    strip.axhspan(row + 0.1, row + 0.9, facecolor=EMPTY_COLOUR, linewidth=0.0)
    cells = np.ma.masked_equal(darkness, 0.0)[np.newaxis]
    strip.pcolormesh(edges, [row + 0.1, row + 0.9], cells, cmap=shades, vmin=-0.25, vmax=1.0)

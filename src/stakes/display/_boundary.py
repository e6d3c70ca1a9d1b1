"""Thresholds over score and uncertainty, on the observed rates of positives, beside a single threshold."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.boundary import Boundary, fit_boundary
from stakes.display._base import Display
from stakes.display._style import EMPTY_COLOUR, PALETTE, format_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.display._axes import Floats, Legend

_COLOURS = "Blues"
_DARKEST = 0.75  # of the colours, so that the lines stand out everywhere
_MESH = 400
_BETWEEN_LEVELS = 24  # lines of the mesh within one level


class BoundaryDisplay(Display):
    """Levels of uncertainty from the most certain below, thresholds, and the rate of positives among the rows.

    Every level is equally high, however many uncertainties it spans. Inside the boundary, to the right of the line,
    rows are labelled positive. Cells without rows are grey.

    Parameters
    ----------
    boundary : Boundary
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    cells_ : matplotlib mesh
        Observed rates of positives.
    boundary_ : matplotlib line
        The boundary (of a region that is no threshold in each level: its first outline).
    single_ : matplotlib line or None
        The best single threshold, if it selects anything.

    Examples
    --------
    >>> from stakes.display import BoundaryDisplay
    >>> y, score, noise = [1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1]
    >>> display = BoundaryDisplay.from_predictions(y, score, noise, min_precision=1, levels=2)
    >>> display.ax_.get_ylabel()
    'Uncertainty'
    """

    cells_: QuadMesh
    boundary_: Line2D
    single_: Line2D | None

    def __init__(self, boundary: Boundary) -> None:
        if not isinstance(boundary, Boundary):
            raise ValueError(f"boundary must be a Boundary, got {boundary!r}.")
        self.boundary = boundary

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        uncertainty: ArrayLike,
        *,
        legend: Legend = "auto",
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Fit a boundary and draw it.

        Parameters
        ----------
        y_true, y_score, uncertainty : array_like of shape (n,)
            As in :func:`stakes.boundary.fit_boundary`.
        legend, ax
            As in :meth:`plot`.
        **options
            Arguments of :func:`stakes.boundary.fit_boundary`, such as ``min_precision=0.9``.

        Returns
        -------
        BoundaryDisplay

        Raises
        ------
        ValueError
            For invalid data or settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import BoundaryDisplay
        >>> BoundaryDisplay.from_predictions([0, 1], [0.2, 0.7], [1, 1], max_selected=1).ax_.get_xlabel()
        'Score'
        """
        return cls(fit_boundary(y_true, y_score, uncertainty, **options)).plot(ax, legend=legend)

    def plot(self, ax: Axes | None = None, *, legend: Legend = "auto") -> Self:
        """Draw cells, boundary and single threshold.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes.

        Returns
        -------
        BoundaryDisplay
            This object, with its attributes.

        Raises
        ------
        ValueError
            For an unknown legend.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.boundary import fit_boundary
        >>> from stakes.display import BoundaryDisplay
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> BoundaryDisplay(boundary).plot().boundary_.get_label()
        'boundary: most recall, precision >= 1'
        """
        with self._picture(ax, legend):
            self._draw_cells()
            self._draw_boundary()
            self._draw_single()
            self._label_levels()
        return self

    def _draw_cells(self) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap

        cells = self.boundary._counts
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.ma.masked_invalid(cells.positives / cells.totals)
        colours = ListedColormap(colormaps[_COLOURS](np.linspace(0.0, _DARKEST, 256)))
        self.ax_.set_facecolor(EMPTY_COLOUR)
        rows = np.arange(len(rates) + 1.0)
        self.cells_ = self.ax_.pcolormesh(cells.edges, rows, rates, cmap=colours, vmin=0.0, vmax=1.0)
        bar = self.figure_.colorbar(self.cells_, ax=self.ax_, format=format_percent)
        bar.set_label("Observed rate of positives")
        for level in rows[1:-1]:
            self.ax_.axhline(level, color="white", linewidth=1.5)
        self.ax_.set_xlim(cells.edges[0], cells.edges[-1])
        self.ax_.set_ylim(0.0, rows[-1])

    def _draw_boundary(self) -> None:
        look: Any = {"color": PALETTE[1], "linewidth": 2.5, "zorder": 3.0}
        label = f"boundary: {self.boundary.goal}"
        thresholds = self.boundary.thresholds
        if thresholds is not None:
            beyond = self.boundary._counts.edges[-1]
            x = np.repeat(np.where(np.isfinite(thresholds), thresholds, beyond), 2)
            y = np.repeat(np.arange(len(self.boundary.rows) + 1.0), 2)[1:-1]
            if len(thresholds) == 1 < len(self.boundary.rows):
                x = np.repeat(x[:1], len(y))
            (self.boundary_,) = self.ax_.plot(x, y, label=label, clip_on=False, **look)
            return
        outlines = self._outlines()
        for number, (x, y) in enumerate(outlines or [(np.empty(0), np.empty(0))]):
            (line,) = self.ax_.plot(x, y, label=label if number == 0 else None, **look)
            if number == 0:
                self.boundary_ = line

    def _outlines(self) -> list[tuple[Floats, Floats]]:
        """Where a region that is no threshold in each level begins: its lowest score at each height."""
        edges, levels = self.boundary._counts.edges, len(self.boundary.rows)
        heights = np.linspace(0.0, levels, levels * _BETWEEN_LEVELS)
        scores = np.linspace(edges[0], edges[-1], _MESH)
        uncertainty = np.interp(heights, np.arange(levels + 1.0), self._level_bounds())
        mesh = np.meshgrid(scores, uncertainty)
        inside = self.boundary._rule.select(mesh[0].ravel(), mesh[1].ravel()).reshape(mesh[0].shape)
        turns = np.diff(inside.astype(int), axis=1) != 0
        most = int(turns.sum(axis=1).max(initial=0))
        out = []
        for turn in range(most):  # regions seldom begin or end more than once along a row
            place = (np.cumsum(turns, axis=1) == turn + 1) & turns
            x = np.where(place.any(axis=1), scores[np.argmax(place, axis=1)], np.nan)
            out.append((x, heights))
        return out

    def _level_bounds(self) -> Floats:
        low, high = self.boundary._counts.span
        return np.r_[
            min(low, *self.boundary.cuts[:1], low), self.boundary.cuts, max(high, *self.boundary.cuts[-1:], high)
        ]

    def _draw_single(self) -> None:
        self.single_ = None
        threshold = self.boundary.threshold
        if np.isfinite(threshold) and self.boundary.solver != "single_threshold":
            label = f"single threshold: {threshold:.3g}"
            look: Any = {"color": "black", "linestyle": "--", "linewidth": 1.5, "zorder": 2.5}
            self.single_ = self.ax_.axvline(threshold, label=label, **look)

    def _label_levels(self) -> None:
        cuts = [f"{cut:.3g}" for cut in self.boundary.cuts]
        if not cuts:
            names = ["all"]
        else:
            between = [f"{low} to {high}" for low, high in pairwise(cuts)]
            names = [f"up to {cuts[0]}", *between, f"above {cuts[-1]}"]
        self.ax_.set_yticks(np.arange(len(names)) + 0.5, names)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set(xlabel="Score", ylabel="Uncertainty")

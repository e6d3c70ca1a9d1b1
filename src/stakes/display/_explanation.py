"""Display of what tells apart the rows that a boundary decides otherwise than one threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.base.validation import check_kind
from stakes.boundary import BoundaryExplanation
from stakes.display import _axes
from stakes.display._axes import Legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 15  # features
_HEIGHT = 0.32  # of a feature, inches
_FRAME = 1.4  # of the axis and its label, inches


class BoundaryExplanationDisplay(_axes.Display):
    """Features of the rows that a boundary adds and drops, as standardised differences from all other rows.

    Parameters
    ----------
    explanation : BoundaryExplanation
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        Points of the added rows and of the dropped ones.

    Examples
    --------
    >>> from stakes.boundary import fit_boundary
    >>> from stakes.display import BoundaryExplanationDisplay
    >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
    >>> display = BoundaryExplanationDisplay(boundary.explain({"age": [50, 40, 60, 30]})).plot()
    >>> [line.get_label() for line in display.lines_]
    ['added: 0 of 4 rows', 'dropped: 0 of 4 rows']
    """

    def __init__(self, explanation: BoundaryExplanation) -> None:
        check_kind(explanation, "explanation", BoundaryExplanation, "what Boundary.explain returned")
        self.explanation = explanation

    def plot(self, ax: Axes | None = None, *, legend: Legend = "below") -> Self:
        """Draw the features whose differences are largest, the largest on top, at most fifteen.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        legend : {"auto", "inside", "below"} or None, default "below"
            Where the legend goes.

        Returns
        -------
        BoundaryExplanationDisplay
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
        >>> from stakes.display import BoundaryExplanationDisplay
        >>> boundary = fit_boundary([1, 0, 1, 0], [0.9, 0.4, 0.6, 0.5], [0, 0, 1, 1], min_precision=1, levels=2)
        >>> display = BoundaryExplanationDisplay(boundary.explain({"age": [50, 40, 60, 30]})).plot()
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['age']
        """
        found = self.explanation
        groups = {"added": found.added, "dropped": found.dropped}
        apart = np.array([found.difference(name, "unchanged") for name in groups])
        size = np.where(np.isnan(apart), -1.0, np.abs(apart)).max(axis=0)
        shown = np.argsort(-size, kind="stable")[:_SHOWN][::-1]
        with self._picture(ax, legend) as new:
            if new:
                self.figure_.figure.set_figheight(_FRAME + _HEIGHT * max(len(shown), 3))
            places, self.lines_ = np.arange(len(shown)), []
            self.ax_.hlines(places, *apart[:, shown], color=_axes.GUIDE_COLOUR, linewidth=1.5, zorder=1.0)
            for k, (name, rows) in enumerate(groups.items()):
                look: Any = {"color": _axes.PALETTE[k], "marker": _axes.MARKERS[k], "linestyle": "none"}
                label = f"{name}: {int(rows.sum()):,} of {len(rows):,} rows"
                self.lines_ += self.ax_.plot(apart[k, shown], places, label=label, **look)
            self.ax_.axvline(0.0, color=_axes.REFERENCE_COLOUR, linewidth=0.8, zorder=0.5)
            self.ax_.set_yticks(places, [found.features[k] for k in shown])
            self.ax_.tick_params(axis="y", length=0)
            self.ax_.set_ylim(-0.6, len(shown) - 0.4)
            self.ax_.set_xlabel("Standardised difference from rows that do not change sides")
        return self

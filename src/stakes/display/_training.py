"""A training history: F1 and each criterion over the epochs, with the epochs that the criterion would have chosen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.base.validation import check_kind
from stakes.display._axes import GUIDE_COLOUR, REFERENCE_COLOUR, SMALL, model_style, pyplot
from stakes.training import RULES, MonitorComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D


_PANEL = (6.4, 1.55)
_MARKERS = {"early stopping": "o", "checkpoint": "s"}


class MonitorDisplay:
    """F1 on top, one panel for each criterion below it, better always upwards: Figure 3 of arXiv:2407.17697.

    Parameters
    ----------
    comparison : MonitorComparison
        Made by :func:`stakes.training.compare_monitors`.
    run : object, optional
        Which run; by default the first.

    Attributes
    ----------
    figure_ : matplotlib figure
        The figure drawn in.
    axes_ : list of matplotlib axes
        The target's, then one for each criterion.
    lines_ : list of matplotlib lines
        One in each panel.
    markers_ : dict of (criterion, rule) to matplotlib line
        The chosen epochs, in the criterion's panel.

    Raises
    ------
    ValueError
        For a run that is not there.

    Examples
    --------
    >>> from stakes.display import MonitorDisplay
    >>> from stakes.training import compare_monitors
    >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
    >>> display = MonitorDisplay(compare_monitors(history, criteria={"brier": "lower"})).plot()
    >>> bool(display.axes_[1].yaxis_inverted())
    True
    """

    figure_: Figure | SubFigure
    axes_: list[Axes]
    lines_: list[Line2D]
    markers_: dict[tuple[str, str], Line2D]

    def __init__(self, comparison: MonitorComparison, *, run: Any = None) -> None:
        check_kind(comparison, "comparison", MonitorComparison, "what compare_monitors returned")
        first = next(iter(comparison.runs))
        run = first if run is None else run
        if run not in comparison.runs:
            raise ValueError(f"run must be one of {', '.join(map(repr, comparison.runs))}, got {run!r}.")
        self.comparison = comparison
        self.run = run

    def plot(self, figure: Figure | SubFigure | None = None) -> Self:
        """Draw the panels.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.

        Returns
        -------
        MonitorDisplay
            This object, with its attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import MonitorDisplay
        >>> from stakes.training import compare_monitors
        >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
        >>> display = MonitorDisplay(compare_monitors(history, criteria={"brier": "lower"})).plot()
        >>> display.markers_["brier", "checkpoint"].get_xdata().tolist()
        [1]
        """
        panels = 1 + len(self.comparison.criteria)
        if figure is None:
            figure = pyplot().figure(figsize=(_PANEL[0], _PANEL[1] * panels + 0.6), layout="constrained")
        self.figure_ = figure
        self.axes_ = list(np.atleast_1d(figure.subplots(panels, 1, sharex=True)))
        columns = self.comparison.runs[self.run]
        top, *below = self.axes_
        self.lines_ = [self._line(top, columns[self.comparison.target], self.comparison.target, 0)]
        self.markers_ = {}
        for index, (criterion, greater) in enumerate(self.comparison.criteria.items(), start=1):
            ax = below[index - 1]
            self.lines_.append(self._line(ax, columns[criterion], criterion, index))
            if not greater:
                ax.invert_yaxis()  # better upwards, as in the panel of the target
            self._mark(ax, criterion, columns[criterion])
        below[-1].set_xlabel("Epoch")
        from matplotlib.ticker import MaxNLocator

        below[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
        handles = {rule: marker for (_, rule), marker in self.markers_.items()}
        figure.legend(
            handles=list(handles.values()), loc="outside lower center", ncols=2, fontsize=SMALL, frameon=False
        )
        return self

    def _line(self, ax: Axes, values: Any, name: str, index: int) -> Line2D:
        style = model_style(index)
        finite = np.where(np.isfinite(values), values, math.nan)
        (line,) = ax.plot(np.arange(len(values)), finite, color=style.color, linewidth=1.4, label=name)
        ax.set_ylabel(name)
        ax.tick_params(labelsize=SMALL)
        ax.grid(visible=True, axis="y", color=GUIDE_COLOUR, linewidth=0.5)
        return line

    def _mark(self, ax: Axes, criterion: str, values: Any) -> None:
        chosen = [c for c in self.comparison.choices if (c.run, c.criterion) == (self.run, criterion)]
        for choice in chosen:
            if choice.epoch is None:
                continue
            late = choice.rule == RULES[1]
            (marker,) = ax.plot(
                [choice.epoch],
                [values[choice.epoch]],
                marker=_MARKERS[choice.rule],
                markersize=9 if late else 6,
                markerfacecolor="none" if late else REFERENCE_COLOUR,
                markeredgecolor="black",
                linestyle="none",
                label=f"best epoch: {choice.rule}",
                zorder=3,
                clip_on=False,
            )
            self.markers_[criterion, choice.rule] = marker
        if not math.isnan(chosen[0].correlation):
            text = f"correlation with {self.comparison.target}: {chosen[0].correlation:.2f}"
            ax.set_title(text, loc="right", fontsize=SMALL, pad=2)

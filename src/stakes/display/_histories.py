"""Histories: criteria over the epochs of a training, and costs over the days of a monitor."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.base.validation import check_kind
from stakes.display._axes import GUIDE_COLOUR, RANGE_COLOUR, REFERENCE_COLOUR, SMALL, model_style, pyplot
from stakes.monitoring import CostMonitor
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


# A cost monitor over its days: what they cost and promised, the running mean with its limits, and the evidence.

_SIZE = (7.0, 5.2)


class CostMonitorDisplay:
    """Cost of each day per 1,000 decisions, the mean with limits that hold at all looks, and the evidence below.

    Parameters
    ----------
    monitor : CostMonitor
        That took in at least one day.

    Attributes
    ----------
    figure_ : matplotlib figure
        The figure drawn in.
    axes_ : list of matplotlib axes
        The costs, then the evidence on a log scale.
    lines_ : list of matplotlib lines
        The running mean and the evidence.

    Raises
    ------
    ValueError
        For a monitor without a day.

    Examples
    --------
    >>> from stakes.display import CostMonitorDisplay
    >>> from stakes.monitoring import CostMonitor
    >>> monitor = CostMonitor((0.05, 0.3), budget=0.05)
    >>> for day in range(1, 41):
    ...     _ = monitor.update_sums(day, n=200, total=9.0 if day < 11 else 18.0, squares=6.0)
    >>> CostMonitorDisplay(monitor).plot().axes_[1].get_ylabel()
    'Evidence'
    """

    figure_: Figure | SubFigure
    axes_: list[Axes]
    lines_: list[Line2D]

    def __init__(self, monitor: CostMonitor) -> None:
        check_kind(monitor, "monitor", CostMonitor)
        self.records: list[dict[str, Any]] = monitor._records()
        if not self.records:
            raise ValueError("monitor must have taken in a day, got none.")
        self.monitor = monitor

    def plot(self, figure: Figure | SubFigure | None = None) -> Self:
        """Draw the two panels.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostMonitorDisplay
            This object, with its attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.display import CostMonitorDisplay
        >>> from stakes.monitoring import CostMonitor
        >>> monitor = CostMonitor(0.2, budget=0.1).update_sums("2026-11-23", n=200, total=18.0, squares=12.0)
        >>> len(CostMonitorDisplay(monitor).plot().lines_)
        2
        """
        if figure is None:
            figure = pyplot().figure(figsize=_SIZE, layout="constrained")
        self.figure_ = figure
        self.axes_ = list(figure.subplots(2, 1, sharex=True, height_ratios=(2, 1)))
        first = self.records[0]["day"]
        dated = isinstance(first, str)
        days = np.array([record["day"] for record in self.records], dtype="datetime64" if dated else None)
        self.lines_ = [self._draw_costs(self.axes_[0], days), self._draw_evidence(self.axes_[1], days)]
        self.axes_[1].set_xlabel("" if dated else "Day")
        for ax in self.axes_:
            ax.tick_params(labelsize=SMALL)
            ax.grid(visible=True, axis="y", color=GUIDE_COLOUR, linewidth=0.5)
            for day, style in ((self.monitor.since, ":"), (self.monitor.alarm_day, "-")):
                for place in days[[self.monitor.alarm and day == record["day"] for record in self.records]]:
                    ax.axvline(place, color="black", linestyle=style, linewidth=0.9)
        return self

    def _column(self, key: str) -> Any:
        return np.array([record[key] for record in self.records], dtype=float)

    def _draw_costs(self, ax: Axes, days: Any) -> Line2D:
        cost, promised, mean = (1000.0 * self._column(key) for key in ("cost", "promised", "mean"))
        low, high = (1000.0 * self._column(f"simultaneous_{side}") for side in ("low", "high"))
        budget = 1000.0 * self.monitor.budget
        style = model_style(0)
        ax.fill_between(days, low, high, color=RANGE_COLOUR, linewidth=0, label="limits of the mean, at all looks")
        ax.plot(days, cost, ".", color=REFERENCE_COLOUR, markersize=3, label="each day")
        if np.isfinite(promised).any():
            ax.plot(days, promised, color=model_style(1).color, linewidth=1.0, label="as its own scores say")
        (line,) = ax.plot(days, mean, color=style.color, linewidth=1.6, label="mean so far")
        ax.axhline(budget, color="black", linestyle="--", linewidth=1.0, label="budget")
        # limits of few days reach further than anything that was seen
        seen = np.concatenate([cost, mean, [budget], promised[np.isfinite(promised)]])
        ax.set_ylim(min(0.0, float(seen.min())), 1.15 * float(seen.max()))
        ax.set_ylabel("Cost per 1,000 decisions")
        ax.legend(fontsize=SMALL, frameon=False, loc="upper left", ncols=2)
        return line

    def _draw_evidence(self, ax: Axes, days: Any) -> Line2D:
        base = math.log(10.0)
        (line,) = ax.plot(days, self._column("log_evidence") / base, color=model_style(0).color, linewidth=1.4)
        ax.axhline(self.monitor.log_alarm / base, color="black", linestyle="--", linewidth=1.0)
        ax.annotate("alarm", (0.0, self.monitor.log_alarm / base), xycoords=("axes fraction", "data"),
                    xytext=(3, 2), textcoords="offset points", fontsize=SMALL)  # fmt: skip
        ax.yaxis.set_major_formatter(lambda power, _: f"10^{power:g}")  # plain: mathtext warns in old versions
        ax.set_ylabel("Evidence")
        return line

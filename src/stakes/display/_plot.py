"""Figures of several panels: evaluations, trainings, monitors; and the displays behind ``.plot()`` of every result."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from stakes.actions import ActionEvaluation
from stakes.base.validation import check_choice, check_kind
from stakes.boundary import Boundary, BoundaryExplanation
from stakes.core.options import refuse_amounts
from stakes.correction import LossCalibrationCurve
from stakes.costs import CostDistribution
from stakes.curves import BinnedReliability, BrierCurve, Curve, reliability_curve
from stakes.display import _axes
from stakes.display._axes import Legend, XScale
from stakes.display._curves import BandDisplay, show_bands
from stakes.display._decisions import ActionCostsDisplay, BoundaryDisplay, ValueOfInformationDisplay
from stakes.display._reliability import BinnedReliabilityDisplay, DecompositionDisplay, ReliabilityDisplay
from stakes.display._thresholds import (
    CostCurveDisplay,
    CostDistributionDisplay,
    DecisionCurveDisplay,
    RegretCurveDisplay,
)
from stakes.evaluation import (
    ALL_CENTRES,
    ANOTHER_CENTRE,
    CENTRE_HEADS,
    CentreEvaluation,
    Evaluation,
    HorizonEvaluation,
    cost_of_terms,
    estimated_value,
)
from stakes.inference import Band, RandomEffects
from stakes.information import ValueOfInformation
from stakes.monitoring import CostMonitor
from stakes.outputs.hooks import draw
from stakes.outputs.text import level_name, shorten
from stakes.training import RULES, MonitorComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.text import Text


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
            self.ax_.set_yticks(places, [_axes.plain(found.features[k]) for k in shown])
            self.ax_.tick_params(axis="y", length=0)
            self.ax_.set_ylim(-0.6, len(shown) - 0.4)
            self.ax_.set_xlabel("Standardised difference from rows that do not change sides")
        return self


_STRIP = (6.4, 1.55)
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
            figure = _axes.pyplot().figure(figsize=(_STRIP[0], _STRIP[1] * panels + 0.6), layout="constrained")
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
            handles=list(handles.values()), loc="outside lower center", ncols=2, fontsize=_axes.SMALL, frameon=False
        )
        return self

    def _line(self, ax: Axes, values: Any, name: str, index: int) -> Line2D:
        style = _axes.model_style(index)
        finite = np.where(np.isfinite(values), values, math.nan)
        (line,) = ax.plot(np.arange(len(values)), finite, color=style.color, linewidth=1.4, label=_axes.plain(name))
        ax.set_ylabel(_axes.plain(name))
        ax.tick_params(labelsize=_axes.SMALL)
        ax.grid(visible=True, axis="y", color=_axes.GUIDE_COLOUR, linewidth=0.5)
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
                markerfacecolor="none" if late else _axes.REFERENCE_COLOUR,
                markeredgecolor="black",
                linestyle="none",
                label=f"best epoch: {choice.rule}",
                zorder=3,
                clip_on=False,
            )
            self.markers_[criterion, choice.rule] = marker
        if not math.isnan(chosen[0].correlation):
            text = f"correlation with {self.comparison.target}: {chosen[0].correlation:.2f}"
            ax.set_title(_axes.plain(text), loc="right", fontsize=_axes.SMALL, pad=2)


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
            figure = _axes.pyplot().figure(figsize=_SIZE, layout="constrained")
        self.figure_ = figure
        self.axes_ = list(figure.subplots(2, 1, sharex=True, height_ratios=(2, 1)))
        first = self.records[0]["day"]
        dated = isinstance(first, str)
        days = np.array([record["day"] for record in self.records], dtype="datetime64" if dated else None)
        self.lines_ = [self._draw_costs(self.axes_[0], days), self._draw_evidence(self.axes_[1], days)]
        self.axes_[1].set_xlabel("" if dated else "Day")
        for ax in self.axes_:
            ax.tick_params(labelsize=_axes.SMALL)
            ax.grid(visible=True, axis="y", color=_axes.GUIDE_COLOUR, linewidth=0.5)
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
        style = _axes.model_style(0)
        ax.fill_between(
            days, low, high, color=_axes.RANGE_COLOUR, linewidth=0, label="limits of the mean, at all looks"
        )
        ax.plot(days, cost, ".", color=_axes.REFERENCE_COLOUR, markersize=3, label="each day")
        if np.isfinite(promised).any():
            ax.plot(days, promised, color=_axes.model_style(1).color, linewidth=1.0, label="as its own scores say")
        (line,) = ax.plot(days, mean, color=style.color, linewidth=1.6, label="mean so far")
        ax.axhline(budget, color="black", linestyle="--", linewidth=1.0, label="budget")
        # limits of few days reach further than anything that was seen
        seen = np.concatenate([cost, mean, [budget], promised[np.isfinite(promised)]])
        ax.set_ylim(min(0.0, float(seen.min())), 1.15 * float(seen.max()))
        ax.set_ylabel("Cost per 1,000 decisions")
        ax.legend(fontsize=_axes.SMALL, frameon=False, loc="upper left", ncols=2)
        return line

    def _draw_evidence(self, ax: Axes, days: Any) -> Line2D:
        base = math.log(10.0)
        (line,) = ax.plot(days, self._column("log_evidence") / base, color=_axes.model_style(0).color, linewidth=1.4)
        ax.axhline(self.monitor.log_alarm / base, color="black", linestyle="--", linewidth=1.0)
        ax.annotate("alarm", (0.0, self.monitor.log_alarm / base), xycoords=("axes fraction", "data"),
                    xytext=(3, 2), textcoords="offset points", fontsize=_axes.SMALL)  # fmt: skip
        ax.yaxis.set_major_formatter(lambda power, _: f"10^{power:g}")  # plain: mathtext warns in old versions
        ax.set_ylabel("Evidence")
        return line


# Figures of whole evaluations, and the displays behind ``.plot()`` of every result.

_PANELS = {"auc": "AUC", "brier_loss": "Brier loss", "ipa": "IPA", "o_e_ratio": "O:E", "net_benefit": "Net benefit"}
_REFERENCES = {"auc": 0.5, "ipa": 0.0, "o_e_ratio": 1.0, "net_benefit": 0.0}
_AT_BEST = {"auc": 0.5, "o_e_ratio": 1.0, "calibration_in_the_large": 0.0, "slope": 1.0, "net_benefit": 0.0}
_PANEL = (3.2, 2.6)  # inches
_APART = 0.012  # of the axis, between the intervals of two models at one horizon
_PAPER = (6.5, 6.2)
_MOST_HEIGHT = 12.1  # with four models, in the units in which curves take six
_CELLS = 50
_SHADED = 0.15
_TABLE_POINTS = 7.0
_BESIDE = 0.05  # of the width of a column, at both sides
_SHORTEST_LINE = 12  # characters of a long name


class HorizonDisplay:
    """AUC, Brier loss, IPA, O:E and net benefit over the horizons, one panel each, with the interval of each number.

    Parameters
    ----------
    evaluation : HorizonEvaluation
        Made by :func:`stakes.evaluation.evaluate_horizons`.

    Attributes
    ----------
    figure_ : matplotlib figure
        The figure drawn in.
    axes_ : dict of str to matplotlib axes
        By measure.
    bars_ : dict of str to list of matplotlib containers
        Points and intervals by measure, one for each model.

    Examples
    --------
    >>> from stakes import TimeToEvent
    >>> from stakes.evaluation import evaluate_horizons
    >>> from stakes.display import HorizonDisplay
    >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
    >>> risk = [[0.6, 0.9], [0.2, 0.3], [0.3, 0.6], [0.1, 0.2], [0.2, 0.4]] * 8
    >>> list(HorizonDisplay(evaluate_horizons(outcome, {"model": risk}, horizons=[2, 4])).plot().axes_)
    ['auc', 'brier_loss', 'ipa', 'o_e_ratio']
    """

    figure_: Figure | SubFigure
    axes_: dict[str, Axes]
    bars_: dict[str, list[ErrorbarContainer]]

    def __init__(self, evaluation: HorizonEvaluation) -> None:
        check_kind(evaluation, "evaluation", HorizonEvaluation, "what evaluate_horizons returned")
        self.evaluation = evaluation

    def plot(self, figure: Figure | SubFigure | None = None) -> Self:
        """Draw the panels side by side, three in a row.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.

        Returns
        -------
        HorizonDisplay
            This object, with its attributes.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import TimeToEvent
        >>> from stakes.evaluation import evaluate_horizons
        >>> outcome = TimeToEvent(event=[1, 0, 1, 0, 1] * 8, time=[1, 2, 3, 5, 6] * 8, horizon=4)
        >>> found = evaluate_horizons(outcome, {"a": [[0.9], [0.3], [0.6], [0.2], [0.4]] * 8}, horizons=[4])
        >>> found.plot().axes_["auc"].get_xlabel()
        'Horizon'
        """
        measures = list(next(iter(self.evaluation.estimates.values()))[0])
        columns = 3
        rows = -(-len(measures) // columns)
        new = figure is None
        if figure is None:
            figure = _axes.pyplot().figure(figsize=(columns * _PANEL[0], rows * _PANEL[1]), layout="constrained")
        self.figure_ = figure
        self.axes_ = {name: figure.add_subplot(rows, columns, place) for place, name in enumerate(measures, start=1)}
        self.bars_ = {name: self._draw(ax, name) for name, ax in self.axes_.items()}
        handles = self.bars_[measures[0]]
        if new and len(handles) > 1:
            _axes.legend_under(figure.figure, handles, [*map(_axes.plain, self.evaluation.estimates)])
        return self

    def _draw(self, ax: Axes, measure: str) -> list[ErrorbarContainer]:
        times, models = self.evaluation.horizons, self.evaluation.estimates
        span = float(np.ptp(times)) or float(times[0])
        bars = []
        for place, found in enumerate(models.values()):
            style, value = _axes.model_style(place), np.array([at[measure].value for at in found])
            ends = np.array([at[measure].interval for at in found]).T
            reach = np.abs(ends - value)  # nan where there is no interval: nothing is drawn
            shift = _APART * span * (place - 0.5 * (len(models) - 1))
            look: dict[str, Any] = {"color": style.color, "marker": style.marker, "markersize": 4.0, "linewidth": 1.2}
            bars.append(ax.errorbar(times + shift, value, reach, capsize=2.0, linestyle=style.line, **look))
        if measure in _REFERENCES:
            ax.axhline(_REFERENCES[measure], color=_axes.REFERENCE_COLOUR, linewidth=0.8, zorder=0.5)
        label = _PANELS[measure]
        if measure == "net_benefit":
            label += f" at {100.0 * (self.evaluation.threshold or 0.0):g}%"
        ax.set(xlabel="Horizon", ylabel=label)
        ax.tick_params(labelsize=_axes.SMALL)
        ax.grid(visible=True, axis="y", color=_axes.GUIDE_COLOUR, linewidth=0.5)
        return bars


class ForestDisplay:
    """One measure of a model in each centre with its interval, the mean over centres, and the range of another one.

    Parameters
    ----------
    evaluation : CentreEvaluation
        Made by :func:`stakes.evaluation.evaluate_centres`.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    bars_ : matplotlib container
        Points and intervals of the centres, from the top.
    pooled_ : list of matplotlib artists
        The diamond of the mean and the line of another centre; empty where nothing was pooled.

    Examples
    --------
    >>> from stakes.display import ForestDisplay
    >>> from stakes.evaluation import evaluate_centres
    >>> y, p = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 12, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 12
    >>> found = evaluate_centres(y, {"model": p}, ["a"] * 40 + ["b"] * 40 + ["c"] * 40)
    >>> ForestDisplay(found).plot("slope").ax_.get_xlabel()
    'Slope of model'
    """

    ax_: Axes
    figure_: Figure
    bars_: ErrorbarContainer
    pooled_: list[Any]

    def __init__(self, evaluation: CentreEvaluation) -> None:
        check_kind(evaluation, "evaluation", CentreEvaluation, "what evaluate_centres returned")
        self.evaluation = evaluation

    def plot(self, measure: str = "auc", ax: Axes | None = None, *, model: str | None = None) -> Self:
        """Draw the forest plot.

        Parameters
        ----------
        measure : str, default "auc"
            Such as "auc", "o_e_ratio" (on a log axis) or "slope".
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        model : str, optional
            A model, or the difference between two, such as "a - b"; by default the first model.

        Returns
        -------
        ForestDisplay
            This object, with its attributes.

        Raises
        ------
        ValueError
            For an unknown model or measure.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.evaluation import evaluate_centres
        >>> y, p = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 12, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 12
        >>> found = evaluate_centres(y, {"model": p}, ["a"] * 40 + ["b"] * 40 + ["c"] * 40)
        >>> [label.get_text() for label in found.plot("auc").ax_.get_yticklabels()]
        ['a', 'b', 'c', 'all centres', 'another centre']
        """
        estimates = self.evaluation.estimates
        name = next(iter(estimates)) if model is None else check_choice(model, "model", tuple(estimates))
        of = estimates[name]
        check_choice(measure, "measure", tuple(next(iter(of.values()))))
        pooled = self.evaluation.pooled[name].get(measure)
        titles = [*of, *((ALL_CENTRES, ANOTHER_CENTRE) if pooled is not None else ())]
        new = ax is None
        if ax is None:
            ax = _axes.pyplot().subplots(figsize=(_PAPER[0], 0.9 + 0.28 * len(titles)), layout="constrained")[1]
        self.ax_, self.figure_ = ax, _axes.figure_of(ax)
        found = [(estimated_value(each[measure]), *each[measure].interval) for each in of.values()]
        value, low, high = np.array(found).T
        look: dict[str, Any] = {"fmt": "s", "color": _axes.model_style(0).color, "markersize": 5.0, "capsize": 2.0}
        places = np.arange(len(found), dtype=float)
        self.bars_ = ax.errorbar(value, places, xerr=np.abs([low - value, high - value]), **look)
        self.pooled_ = [] if pooled is None else self._draw_pooled(ax, pooled, len(found))
        reference = 0.0 if name not in self.evaluation.models else _AT_BEST.get(measure)
        if reference is not None:
            ax.axvline(reference, color=_axes.REFERENCE_COLOUR, linewidth=0.8, zorder=0.5)
        ax.set(xlabel=_axes.plain(f"{CENTRE_HEADS[measure]} of {name}"), ylim=(len(titles) - 0.5, -0.5))
        ax.set_yticks(range(len(titles)), [*map(_axes.plain, titles)])
        ax.tick_params(labelsize=_axes.SMALL, which="both")
        if new:
            _axes.settle(self.figure_)
        if measure == "o_e_ratio":
            _axes.draw_ratio_axis(ax)
        return self

    def _draw_pooled(self, ax: Axes, pooled: RandomEffects, row: int) -> list[Any]:
        low, high = pooled.interval
        corners = [(low, row), (pooled.value, row - 0.3), (high, row), (pooled.value, row + 0.3)]
        (diamond,) = ax.fill(*zip(*corners, strict=True), color=_axes.model_style(1).color)
        (line,) = ax.plot(
            pooled.prediction_interval, (row + 1, row + 1), color=_axes.model_style(1).color, linewidth=2.0
        )
        return [diamond, line]


def plot_study(
    evaluation: Evaluation,
    *,
    thresholds: ArrayLike | None = None,
    x_scale: XScale = "linear",
    figsize: tuple[float, float] = _PAPER,
) -> Figure:
    """Draw the figure of a paper: decision curves with bands, where the scores lie, and a table below.

    Parameters
    ----------
    evaluation : Evaluation
        What to draw.
    thresholds : array_like, optional
        Columns of the table, at most four look well; by default the ends and the middle of the plausible range, or its
        quarters where it reaches 0 or 1.
    x_scale : {"linear", "log-odds"}, default "linear"
        Scale of the threshold axis.
    figsize : tuple of float, default (6.5, 6.2)
        In inches, for up to four models; more make it taller.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        For amounts, decisions by another rule than the scores, or invalid thresholds.
    ImportError
        If matplotlib is not installed (``pip install 'stakes[plot]'``).

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.display import plot_study
    >>> figure = plot_study(evaluate([0, 1, 0, 1] * 25, {"a": [0.1, 0.8, 0.3, 0.6] * 25}, costs=(0.2, 0.5)))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['Net benefit', 'Scores', '']
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    refuse_amounts(evaluation.score_tables[0])
    low, high = evaluation.costs.low, evaluation.costs.high
    inner = (0.25, 0.5, 0.75) if low == 0.0 or high == 1.0 else (0.0, 0.5, 1.0)  # at 0 and 1 nothing is to be decided
    asked = np.unique([low + (high - low) * at for at in inner]) if thresholds is None else thresholds
    cells = evaluation.clinical_table(asked)._cells()
    bands = evaluation.bands("net_benefit")
    heights = 6.0, 0.35 * len(evaluation.models) + 0.2, 0.75 * len(cells)
    taller = max(sum(heights) / _MOST_HEIGHT, 1.0)  # so that the lines of a table of many models have room
    figure = _axes.pyplot().figure(figsize=(figsize[0], taller * figsize[1]), layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    curves = figure.add_subplot(grid[0])
    strip, table = figure.add_subplot(grid[1], sharex=curves), figure.add_subplot(grid[2])
    display = DecisionCurveDisplay(evaluation.curves("net_benefit"))
    display.plot(curves, bounds=(low, high), x_scale=x_scale, legend=None)
    _draw_bands(curves, display.lines_, [*bands.values()])
    _draw_scores(strip, evaluation, [line.get_color() for line in display.lines_], curves)
    handles: list[Any] = list(display.lines_)
    labels = [*map(_axes.plain, evaluation.models)]
    if low < high:
        handles.append(curves.collections[-1])
        labels.append(f"{level_name(evaluation.confidence_level)} band, at all thresholds at once")
    if display.bounds_ is not None:
        handles, labels = [*handles, display.bounds_], [*labels, "plausible thresholds"]
    _axes.legend_under(figure, handles, labels)
    _axes.settle(figure)
    _draw_table(table, cells)
    _axes.label_references(curves)
    return figure


def _draw_bands(ax: Axes, lines: list[Line2D], bands: list[Band]) -> None:
    """Shade what holds at all thresholds at once."""
    for line, band in zip(lines, bands, strict=True):
        ends = band.simultaneous_low, band.simultaneous_high
        ax.fill_between(band.thresholds, *ends, color=line.get_color(), alpha=_SHADED, linewidth=0.0)
    show_bands(ax, bands, ax.get_xlim(), ax.get_ylim())


def _draw_scores(strip: Axes, evaluation: Evaluation, colours: list[Any], above: Axes) -> None:
    """A row of bars for each model, the first on top: how many of its scores lie at each threshold."""
    scale = above.xaxis.get_transform()
    first, last_edge = scale.transform(np.array(above.get_xlim()))
    edges = scale.inverted().transform(np.linspace(first, last_edge, _CELLS + 1))
    last = len(colours) - 1
    for row, (table, colour) in enumerate(zip(evaluation.score_tables, colours, strict=True)):
        counts, _ = np.histogram(table.scores, edges, weights=table.positives + table.negatives)
        height = 0.85 * counts / (counts.max() or 1.0)
        strip.stairs(last - row + height, edges, baseline=last - row, fill=True, color=colour)
    strip.set(ylim=(0.0, len(colours)), yticks=[])
    strip.tick_params(bottom=False, labelbottom=False)
    strip.spines[:].set_visible(False)
    strip.set_ylabel("Scores", fontsize=_axes.SMALL, rotation=0, ha="right", va="center")


def _draw_table(ax: Axes, cells: list[list[str]]) -> None:
    """Each number above its interval, so that six thresholds fit; each column as wide as what stands in it."""
    from matplotlib.transforms import Bbox

    header, *rows = [[_axes.plain(cell.replace(" (", "\n(").replace(" at ", "\nat ")) for cell in row] for row in cells]
    ax.axis("off")
    table = ax.table(cellText=rows, colLabels=header, cellLoc="center", edges="horizontal", bbox=Bbox.unit())
    table.auto_set_font_size(value=False)
    table.set_fontsize(_TABLE_POINTS)
    for cell in table.get_celld().values():
        cell.set_linewidth(0.5)
        cell.PAD = _BESIDE
    texts = {place: cell.get_text() for place, cell in table.get_celld().items()}
    room = ax.get_window_extent().width / (1.0 + 2.0 * _BESIDE)
    numbers = sum(_width(texts, len(cells), column) for column in range(1, len(header)))
    for row, (name, *_) in enumerate(cells):
        _fold(texts[row, 0], name, room - numbers)
        texts[row, 0].set_horizontalalignment("left")
    table.set_fontsize(_TABLE_POINTS * min(1.0, room / (_width(texts, len(cells), 0) + numbers)))
    table.auto_set_column_width([*range(len(header))])


def _width(texts: dict[tuple[int, int], Text], rows: int, column: int) -> float:
    """Width of the widest text of a column of a table."""
    return max(float(texts[row, column].get_window_extent().width) for row in range(rows))


def _fold(text: Text, name: str, room: float) -> None:
    """Write a name that is too wide for its column on two lines, without its middle if need be."""
    fits = max(int(len(name) * room / max(text.get_window_extent().width, 1.0)), _SHORTEST_LINE)
    if fits < len(name):
        lines = textwrap.wrap(name, fits)
        short = shorten(name, 2 * fits)
        lines = lines if len(lines) == 2 else [short[:fits], short[fits:]]
        text.set_text("\n".join(map(_axes.plain, lines)))


# The displays behind ``.plot()`` of every result.

# What ``Curve.plot`` and ``Evaluation.plot`` reach: one curve on its display, an evaluation on four.

_FIGURE_SIZE = (9.0, 7.0)


def plot_curve(curve: Curve, ax: Axes | None = None, **options: Any) -> Any:
    """Draw one curve on the display of its kind.

    Parameters
    ----------
    curve : Curve
        What to draw.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    **options
        Passed to the display's ``plot``, such as ``bounds=(low, high)``.

    Returns
    -------
    display

    Raises
    ------
    ValueError
        If no display draws this kind of curve, and for invalid options.
    ImportError
        If matplotlib is not installed (``pip install 'stakes[plot]'``).

    Examples
    --------
    >>> from stakes import regret_curve
    >>> from stakes.display import plot_curve
    >>> type(plot_curve(regret_curve([0, 1], [0.3, 0.6]))).__name__
    'RegretCurveDisplay'
    """
    if isinstance(curve, BrierCurve):
        return CostCurveDisplay(curve).plot(ax, **options)
    if getattr(curve, "kind", None) not in _axes.Display.by_kind:
        raise ValueError(f"curve must be one of {', '.join(map(repr, _axes.Display.by_kind))}, got {curve!r}.")
    return _axes.Display.by_kind[curve.kind](curve).plot(ax, **options)


def plot_costs(costs: CostDistribution, ax: Axes | None = None, **options: Any) -> CostDistributionDisplay:
    """Draw one cost distribution.

    Parameters
    ----------
    costs : CostDistribution
        What to draw.
    ax : matplotlib axes, optional
        Where to draw; by default a new figure.
    **options
        Passed to :meth:`CostDistributionDisplay.plot`, such as ``scale="log-odds"``.

    Returns
    -------
    CostDistributionDisplay

    Raises
    ------
    ValueError
        For invalid options.
    ImportError
        If matplotlib is not installed (``pip install 'stakes[plot]'``).

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.display import plot_costs
    >>> plot_costs(costs.Uniform(0.02, 0.1), scale="log-odds").ax_.get_ylabel()
    'Density of the log-odds'
    """
    return CostDistributionDisplay(costs).plot(ax, **options)


def plot_evaluation(
    evaluation: Evaluation, *, x_scale: XScale = "linear", figsize: tuple[float, float] = _FIGURE_SIZE
) -> Figure:
    """Draw regret, decision curve, reliability and decomposition in one figure, the plausible range shaded.

    Of rows with amounts there is no reliability, and the curves are per unit of money at stake.

    Where another decision is shown to cost less than the chosen one at some thresholds, a fifth picture shows their
    difference with its band.

    Parameters
    ----------
    evaluation : Evaluation
        What to draw.
    x_scale : {"linear", "log-odds"}, default "linear"
        Scale of the threshold axis of the upper two pictures.
    figsize : tuple of float, default (9, 7)
        Width and height of the four pictures in inches; the legend adds its own height.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ImportError
        If matplotlib is not installed (``pip install 'stakes[plot]'``).

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.display import plot_evaluation
    >>> figure = plot_evaluation(evaluate([0, 1, 0, 1], {"a": [0.1, 0.8, 0.3, 0.6]}, costs=(0.2, 0.5)))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['Regret per decision', 'Net benefit', 'Observed event rate', 'Discrimination (regret)']
    """
    check_kind(evaluation, "evaluation", Evaluation, "what evaluate returned")
    crossing, (width, height) = [replace(band, about="") for band in evaluation.crossing.values()], figsize
    rows, stake = 2 + bool(crossing), evaluation.options.per_stake
    figure = _axes.pyplot().figure(figsize=(width, height * rows / 2), layout="constrained")
    grid = figure.add_gridspec(rows, 2)
    regret, decision = (figure.add_subplot(grid[0, k]) for k in range(2))
    if evaluation.data_line:
        figure.suptitle(_axes.plain(evaluation.data_line), fontsize="small")
    bounds = evaluation.costs.low, evaluation.costs.high
    # the title says what the rows are
    curves = {name: replace(curve, about="") for name, curve in evaluation.curves("regret").items()}.items()
    # of amounts, regret counts the two amounts together as stated: twice that of cost ratios
    shown = {name: _scaled(curve, 2.0) if stake else curve for name, curve in curves}
    costs = RegretCurveDisplay(shown).plot(regret, bounds=bounds, x_scale=x_scale, legend=None)
    benefits = {name: replace(curve, about="") for name, curve in evaluation.curves("net_benefit").items()}
    DecisionCurveDisplay(benefits).plot(decision, bounds=bounds, x_scale=x_scale, legend=None)
    panels = [regret, decision]
    if stake:
        regret.set(xlabel=_axes.OF_AMOUNTS, ylabel=_axes.plain(f"Regret per {stake}"))
        decision.set(xlabel=_axes.OF_AMOUNTS, ylabel=_axes.plain(f"Gain over acting on nobody,\nper {stake}"))
    else:
        panels.append(figure.add_subplot(grid[1, 0]))
        _draw_reliability(evaluation, panels[-1])
    found = {name: evaluation[name].decomposition for name in evaluation.models}
    parts = {name: replace(terms, about="") for name, terms in found.items() if terms is not None}
    points = DecompositionDisplay(parts).plot(figure.add_subplot(grid[1, :] if stake else grid[1, 1]), legend=None)
    if cost_of_terms(evaluation) != "cost":
        points.ax_.set_title(_axes.plain(f"score: {cost_of_terms(evaluation)}"), fontsize=_axes.small_font())
    if crossing:
        BandDisplay(crossing).plot(figure.add_subplot(grid[2, :]), x_scale=x_scale, legend="inside")
    _draw_legend(figure, costs, points)
    _axes.settle(figure)
    for panel in panels:
        _axes.label_references(panel)
    return figure


def _draw_reliability(evaluation: Evaluation, ax: Axes) -> None:
    named_tables = zip(evaluation.models, evaluation.score_tables, strict=True)
    rates = [replace(reliability_curve(table, name=name), about="") for name, table in named_tables]
    bounds = evaluation.costs.low, evaluation.costs.high
    ReliabilityDisplay(rates, evaluation.score_tables).plot(ax, bounds=bounds, legend=None)


def _scaled(curve: Curve, factor: float) -> Curve:
    """Scale a curve and its references."""
    height, slope = factor * np.asarray(curve.intercept), factor * np.asarray(curve.slope)
    references = {name: _scaled(each, factor) for name, each in curve.references.items()}
    return replace(curve, intercept=height, slope=slope, start=factor * curve.start, references=references)


def _draw_legend(figure: Figure, curves: RegretCurveDisplay, points: DecompositionDisplay) -> None:
    """One legend for the four pictures: the line and the marker of each model, and the shaded range."""
    handles: list[Any] = list(zip(curves.lines_, points.lines_, strict=True))
    labels = [str(line.get_label()) for line in curves.lines_]
    if curves.bounds_ is not None:
        handles.append(curves.bounds_)
        labels.append(str(curves.bounds_.get_label()))
    _axes.legend_under(figure, handles, labels)


# Which display draws which kind of result: ``.plot()`` of every result arrives here.


def _drawn_by(display: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda result, ax=None, **options: display(result).plot(ax, **options)


draw.register(Curve, plot_curve)
draw.register(LossCalibrationCurve, plot_curve)
draw.register(CostDistribution, plot_costs)

draw.register(BinnedReliability, _drawn_by(BinnedReliabilityDisplay))
draw.register(ActionEvaluation, _drawn_by(ActionCostsDisplay))
draw.register(Boundary, _drawn_by(BoundaryDisplay))
draw.register(BoundaryExplanation, _drawn_by(BoundaryExplanationDisplay))
draw.register(ValueOfInformation, _drawn_by(ValueOfInformationDisplay))
draw.register(CostMonitor, _drawn_by(CostMonitorDisplay))
draw.register(HorizonEvaluation, _drawn_by(HorizonDisplay))


@draw.register(CentreEvaluation)
def _centres(evaluation: CentreEvaluation, measure: str = "auc", ax: Any = None, **options: Any) -> ForestDisplay:
    return ForestDisplay(evaluation).plot(measure, ax, **options)


@draw.register(Evaluation)
def _evaluations(evaluation: Evaluation, *, kind: str = "overview", **options: Any) -> Figure:
    draws = {"overview": plot_evaluation, "paper": plot_study}
    return draws[check_choice(kind, "kind", tuple(draws))](evaluation, **options)


@draw.register(MonitorComparison)
def _monitors(comparison: MonitorComparison, figure: Any = None, *, run: Any = None) -> MonitorDisplay:
    return MonitorDisplay(comparison, run=run).plot(figure)

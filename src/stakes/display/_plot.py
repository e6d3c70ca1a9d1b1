"""The displays behind ``.plot()`` of every result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.actions import ActionEvaluation
from stakes.base.validation import check_choice, check_kind
from stakes.boundary import Boundary, BoundaryExplanation
from stakes.correction import LossCalibrationCurve
from stakes.costs import CostDistribution
from stakes.curves import BinnedReliability, BrierCurve, Curve, reliability_curve
from stakes.display._axes import OF_AMOUNTS, Display, XScale, label_references, legend_under, pyplot, settle
from stakes.display._curves import BandDisplay
from stakes.display._decisions import ActionCostsDisplay, BoundaryDisplay, ValueOfInformationDisplay
from stakes.display._decomposition import DecompositionDisplay
from stakes.display._explanation import BoundaryExplanationDisplay
from stakes.display._monitoring import CostMonitorDisplay
from stakes.display._reliability import BinnedReliabilityDisplay, ReliabilityDisplay
from stakes.display._study import ForestDisplay, HorizonDisplay, plot_study
from stakes.display._thresholds import (
    CostCurveDisplay,
    CostDistributionDisplay,
    DecisionCurveDisplay,
    RegretCurveDisplay,
)
from stakes.display._training import MonitorDisplay
from stakes.evaluation import CentreEvaluation, Evaluation, HorizonEvaluation
from stakes.information import ValueOfInformation
from stakes.monitoring import CostMonitor
from stakes.outputs.hooks import draw
from stakes.training import MonitorComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    if getattr(curve, "kind", None) not in Display.by_kind:
        raise ValueError(f"curve must be one of {', '.join(map(repr, Display.by_kind))}, got {curve!r}.")
    return Display.by_kind[curve.kind](curve).plot(ax, **options)


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
    figure = pyplot().figure(figsize=(width, height * rows / 2), layout="constrained")
    grid = figure.add_gridspec(rows, 2)
    regret, decision = (figure.add_subplot(grid[0, k]) for k in range(2))
    if evaluation.data_line:
        figure.suptitle(evaluation.data_line, fontsize="small")
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
        regret.set(xlabel=OF_AMOUNTS, ylabel=f"Regret per {stake}")
        decision.set(xlabel=OF_AMOUNTS, ylabel=f"Gain over acting on nobody,\nper {stake}")
    else:
        panels.append(figure.add_subplot(grid[1, 0]))
        _draw_reliability(evaluation, panels[-1])
    found = {name: evaluation[name].decomposition for name in evaluation.models}
    parts = {name: replace(terms, about="") for name, terms in found.items() if terms is not None}
    points = DecompositionDisplay(parts).plot(figure.add_subplot(grid[1, :] if stake else grid[1, 1]), legend=None)
    if crossing:
        BandDisplay(crossing).plot(figure.add_subplot(grid[2, :]), x_scale=x_scale, legend="inside")
    _draw_legend(figure, costs, points)
    settle(figure)
    for panel in panels:
        label_references(panel)
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
    legend_under(figure, handles, labels)


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

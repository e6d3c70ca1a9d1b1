"""The one lazy hook through which results reach the rooms that draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from stakes.boundary import Boundary
    from stakes.costs import CostDistribution
    from stakes.curves import Curve
    from stakes.evaluation import Evaluation
    from stakes.inference import Band
    from stakes.training import MonitorComparison


def plot_curve(curve: Curve, ax: Any = None, **options: Any) -> Any:
    """Draw a curve with matplotlib."""
    from stakes.display import plot_curve as draw

    return draw(curve, ax, **options)


def plot_band(band: Band, ax: Any = None, **options: Any) -> Any:
    """Draw a curve and its band with matplotlib."""
    from stakes.display import BandDisplay

    return BandDisplay(band).plot(ax, **options)


def plot_costs(costs: CostDistribution, ax: Any = None, **options: Any) -> Any:
    """Draw a cost distribution with matplotlib."""
    from stakes.display import plot_costs as draw

    return draw(costs, ax, **options)


def plot_boundary(boundary: Boundary, ax: Any = None, **options: Any) -> Any:
    """Draw thresholds over score and uncertainty with matplotlib."""
    from stakes.display import BoundaryDisplay

    return BoundaryDisplay(boundary).plot(ax, **options)


def plot_evaluation(evaluation: Evaluation, **options: Any) -> Any:
    """Draw an evaluation with matplotlib."""
    from stakes.display import plot_evaluation as draw

    return draw(evaluation, **options)


def write_report(evaluation: Evaluation, path: str | Path, **options: Any) -> Path:
    """Write an evaluation as one HTML file."""
    from stakes.report import write_report as write

    return write(evaluation, path, **options)


def plot_monitors(comparison: MonitorComparison, figure: Any = None, *, run: Any = None) -> Any:
    """Draw a training history with matplotlib."""
    from stakes.display import MonitorDisplay

    return MonitorDisplay(comparison, run=run).plot(figure)

"""The one lazy hook through which results reach the rooms that draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from stakes.costs import CostDistribution
    from stakes.curves import Curve
    from stakes.evaluation import Evaluation


def plot_curve(curve: Curve, ax: Any = None, **options: Any) -> Any:
    """Draw a curve with matplotlib."""
    from stakes.display import plot_curve as draw

    return draw(curve, ax, **options)


def plot_costs(costs: CostDistribution, ax: Any = None, **options: Any) -> Any:
    """Draw a cost distribution with matplotlib."""
    from stakes.display import plot_costs as draw

    return draw(costs, ax, **options)


def plot_evaluation(evaluation: Evaluation, **options: Any) -> Any:
    """Draw an evaluation with matplotlib."""
    from stakes.display import plot_evaluation as draw

    return draw(evaluation, **options)


def write_report(evaluation: Evaluation, path: str | Path, **options: Any) -> Path:
    """Write an evaluation as one HTML file."""
    from stakes.report import write_report as write

    return write(evaluation, path, **options)

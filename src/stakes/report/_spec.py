"""The parts of which figure specifications are made: plain dictionaries for plotly, colours as names of style.css."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes.report._numbers import at_most
from stakes.report._points import encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.costs import CostDistribution
    from stakes.report._models import Model
    from stakes.report._points import Points
    from stakes.report._windows import Window

Spec = dict[str, Any]

# a figure with more lines than this cannot be read, nor a page with so many points be small
MAX_DRAWN = 20
# points of all lines of a figure together: three figures of them leave the page below six megabytes
BUDGET = 27_000
# positions are stored with seven digits
_ROUNDING = 1e-6
REFERENCE_DASHES = {"treat all": "7px,4px", "treat none": "2px,3px"}


@dataclass(frozen=True)
class Figure:
    """A figure and what is said about it.

    Parameters
    ----------
    key : str
        Identifier in the page.
    axis : str
        What the vertical axis shows, as text.
    label : str
        The figure in words, for those who do not see it, as text.
    caption : str
        HTML.
    spec : dict or None
        For plotly and page.js; None where there is nothing to draw.
    references : tuple of str
        References drawn, for the legend.
    numbers : str
        HTML of a table with the numbers of the figure.
    """

    key: str
    axis: str
    label: str
    caption: str
    spec: Spec | None
    references: tuple[str, ...] = ()
    numbers: str = ""


def model_line(model: Model, points: Points, value_format: str, *, rows: int = 1) -> Spec:
    """A model's line; ``rows=2`` puts it into the lower panel."""
    line = {"color": f"--model-{model.colour}", "width": 2.4 if model.rank == 1 else 1.7, "dash": model.dash}
    return _line(points, line, model.figure_name, value_format, rows)


def reference_line(name: str, points: Points, value_format: str) -> Spec:
    """The line of a reference such as "treat all"."""
    line = {"color": "--reference", "width": 2, "dash": REFERENCE_DASHES.get(name, "solid")}
    return _line(points, line, name, value_format, 1)


def _line(points: Points, line: Spec, name: str, value_format: str, rows: int) -> Spec:
    trace: Spec = {
        "type": "scatter",
        "mode": "lines" if len(points.x) > 1 else "markers",
        "marker": {"size": 9, "color": line["color"]},
        "x": encoded(points.x),
        "y": encoded(points.y),
        "line": line,
        "name": name,
        "hovertemplate": f"%{{fullData.name}}<br>%{{x:.3~p}}: %{{y:{value_format}}}<extra></extra>",
    }
    return trace if rows == 1 else trace | {"yaxis": "y2"}


def threshold_layout(costs: CostDistribution, title: str) -> Spec:
    """Axes over the thresholds, the plausible ones shaded."""
    return base_layout() | {
        "xaxis": axis(title) | {"automargin": False},
        "yaxis": axis() | {"tickformat": "~g"},
        "shapes": shading(costs),
        "hovermode": "closest",
    }


def base_layout() -> Spec:
    """Look shared by all figures."""
    return {
        "autosize": True,
        "margin": {"l": 60, "r": 24, "t": 10, "b": 62},
        "showlegend": False,
        "paper_bgcolor": "--page",
        "plot_bgcolor": "--page",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": "--ink"},
        "hoverlabel": {"bgcolor": "--card", "bordercolor": "--line", "font": {"color": "--ink"}, "namelength": 24},
        "dragmode": "zoom",
    }


def axis(title: str = "") -> Spec:
    """Look of an axis."""
    return {
        "title": {"text": title, "standoff": 8},
        "gridcolor": "--grid",
        "linecolor": "--line",
        "zerolinecolor": "--line",
        "ticks": "outside",
        "tickcolor": "--line",
    }


def shading(costs: CostDistribution, panels: Sequence[str] = ("y",)) -> list[Spec]:
    """The plausible thresholds in each panel: a band, or a line where there is only one."""
    shapes = []
    for panel in panels:
        place = {"yref": f"{panel} domain", "y0": 0, "y1": 1, "layer": "below"}
        band = {"type": "rect", "x0": costs.low, "x1": costs.high, "fillcolor": "--band", "line": {"width": 0}}
        edge = {"type": "line", "line": {"color": "--band-edge", "width": 1}}
        shapes.append(place | band)
        shapes += [place | edge | {"x0": x, "x1": x} for x in sorted({costs.low, costs.high})]
    return shapes


def views(windows: Sequence[Window]) -> Spec:
    """Ranges of the axes for each window, as plotly's relayout takes them."""
    return {
        window.key: {
            "xaxis.range": [window.low, window.high],
            "yaxis.range": [window.bottom, window.top],
        }
        for window in windows
    }


def error_note(errors: dict[str, float]) -> str:
    """How precise the lines of a figure are."""
    if max(errors.values()) < _ROUNDING:
        return "Every line is the exact curve, but for rounding."
    if len(errors) == 1:
        return f"Every line is drawn to within {at_most(next(iter(errors.values())))} of the exact curve."
    near, far = at_most(errors["plausible"]), at_most(errors["whole"])
    return f"Every line is drawn to within {near} of the exact curve as first shown, {far} over the whole range."

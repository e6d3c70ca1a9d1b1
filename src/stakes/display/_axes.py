"""Axes, cost axis, shaded range and legend, alike in every display; matplotlib is imported when something is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.validation import check_choice
from stakes.display._style import (
    BOUNDS_LABEL,
    GUIDE_COLOUR,
    ODDS_LABEL,
    RANGE_COLOUR,
    format_odds,
    format_percent,
    log_odds,
    odds_ticks,
    percent_ticks,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import ModuleType

    from matplotlib.axes import Axes
    from matplotlib.axes._secondary_axes import SecondaryAxis
    from matplotlib.figure import Figure
    from matplotlib.patches import Polygon, Rectangle
    from matplotlib.ticker import FixedLocator, MaxNLocator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

XScale = Literal["linear", "log-odds"]
Legend = Literal["auto", "inside", "below"] | None
Range = tuple[float, float]

SMALL = "small"
_ODDS_AXIS = "stakes odds"
_TICK_POINTS = 38.0  # room for one label such as "1:1000"
CHARACTER = 0.55  # mean width of a character, in font sizes
OF_AMOUNTS = "Cost ratio (1/2: amounts as stated)"
_HANDLE = 4.2  # a legend's handle and the space around it, in font sizes
_PLAIN: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "columnspacing": 1.2}
_NEARLY_ALL = 0.7  # scores that reach this far make the whole axis worth showing
_MARGIN = 0.5  # the range shown reaches this share of the plausible range beyond each of its ends


def pyplot() -> ModuleType:
    """Import matplotlib, or say how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'stakes[plot]'") from error
    return plt


def axes_for(ax: Axes | None) -> tuple[Axes, bool]:
    """Return the caller's axes, or new ones in a figure of their own, and whether they are new."""
    if ax is not None:
        return ax, False
    _, new = pyplot().subplots(layout="constrained")
    return new, True


def figure_of(ax: Axes) -> Figure:
    """The figure that holds the axes, also where they lie in a part of it."""
    figure: Any = ax.figure
    while figure is not getattr(figure, "figure", figure):
        figure = figure.figure
    root: Figure = figure
    return root


def check_bounds(bounds: Range | None) -> Range | None:
    """Return two numbers in order within [0, 1], or None."""
    if bounds is None:
        return None
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        raise ValueError(f"bounds must be (low, high), got {bounds!r}.") from None
    if not 0.0 <= low <= high <= 1.0:
        raise ValueError(f"bounds must satisfy 0 <= low <= high <= 1, got ({low:g}, {high:g}).")
    return low, high


def shown_thresholds(inner: Floats, bounds: Range | None, x_scale: XScale) -> Range:
    """The plausible range with its surroundings; without one, what the thresholds of the curves need."""
    if bounds is not None and bounds != (0.0, 1.0):
        return widened(bounds, x_scale)
    if x_scale == "log-odds":
        low, high = (float(inner.min()), float(inner.max())) if len(inner) else (0.01, 0.99)
        return max(0.8 * low, 1e-4), min(0.2 + 0.8 * high, 1.0 - 1e-4)
    reach = float(inner.max(initial=0.0)) or 1.0
    return 0.0, 1.0 if reach > _NEARLY_ALL or bounds is not None else 1.2 * reach


def widened(bounds: Range, x_scale: XScale = "linear") -> Range:
    """The plausible range with some context on either side."""
    low, high = bounds
    if x_scale == "linear":
        margin = _MARGIN * (high - low) or 0.5 * min(low, 1.0 - low) or 0.05
        return max(low - margin, 0.0), min(high + margin, 1.0)
    start, stop = (log_odds(min(max(bound, 1e-4), 1.0 - 1e-4)) for bound in bounds)
    margin = _MARGIN * (stop - start) or 1.0
    return 1.0 / (1.0 + math.exp(margin - start)), 1.0 / (1.0 + math.exp(-margin - stop))


def draw_cost_axis(ax: Axes, shown: Range, x_scale: XScale, name: str = "x_scale") -> None:
    """Thresholds in percent below the axes, the same as odds above; both follow when the axes are zoomed."""
    check_choice(x_scale, name, ("linear", "log-odds"))
    ax.set_xscale("logit" if x_scale == "log-odds" else "linear")
    odds = new_odds_axis(ax)
    odds.xaxis.set_minor_locator(_fixed([]))
    odds.xaxis.set_major_formatter(format_odds)
    ax.xaxis.set_minor_locator(_fixed([]))
    ax.xaxis.set_major_formatter(format_percent)
    ax.set_xlim(shown)
    _place_cost_ticks(ax)
    ax.callbacks.connect("xlim_changed", _place_cost_ticks)


def new_odds_axis(ax: Axes, **scale: Any) -> SecondaryAxis:
    """An axis of odds above the axes, in place of an earlier one, for ticks to be put on."""
    remove_odds_axis(ax)
    odds = ax.secondary_xaxis("top", functions=(_same, _same))
    odds.set_label(_ODDS_AXIS)
    odds.set_xscale(ax.get_xscale(), **scale)
    odds.tick_params(labelsize=SMALL)
    odds.set_xlabel(ODDS_LABEL, fontsize=SMALL)
    return odds


def remove_odds_axis(ax: Axes) -> None:
    """Take the odds above the axes away."""
    for child in _odds_axes(ax):
        child.remove()


def _odds_axes(ax: Axes) -> list[Any]:
    return [child for child in ax.child_axes if child.get_label() == _ODDS_AXIS]


def _place_cost_ticks(ax: Axes) -> None:
    low, high = sorted(ax.get_xlim())
    gap = min(_TICK_POINTS / max(width_in_points(ax), 1.0), 0.4)
    logarithmic = ax.get_xscale() == "logit"
    if logarithmic:
        ax.xaxis.set_major_locator(_fixed(percent_ticks(low, high, gap)))
    else:
        ax.xaxis.set_major_locator(few_ticks(ax))
    for odds in _odds_axes(ax):
        odds.xaxis.set_major_locator(_fixed(odds_ticks(low, high, gap, logarithmic=logarithmic)))


def draw_share_axis(ax: Axes) -> None:
    """Few round percentages along the horizontal axis."""
    ax.xaxis.set_major_locator(few_ticks(ax))
    ax.xaxis.set_major_formatter(format_percent)


def few_ticks(ax: Axes, room: float = _TICK_POINTS) -> MaxNLocator:
    """Round ticks for the horizontal axis, each with this much room in points."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(max(2, int(width_in_points(ax) / room)), steps=[1, 2, 2.5, 5, 10])


def _fixed(places: Sequence[float]) -> FixedLocator:
    from matplotlib.ticker import FixedLocator

    return FixedLocator(places)


def _same(x: Any) -> Any:
    return x


def width_in_points(ax: Axes) -> float:
    """Width of the axes as they stand now."""
    return float(ax.get_window_extent().width) * 72.0 / figure_of(ax).dpi


def height_in_points(ax: Axes) -> float:
    """Height of the axes as they stand now."""
    return float(ax.get_window_extent().height) * 72.0 / figure_of(ax).dpi


def shade_bounds(ax: Axes, bounds: Range | None) -> Polygon | Rectangle | None:
    """Shade the plausible thresholds; one threshold alone becomes a line's width, the whole axis nothing."""
    if bounds is None or bounds == (0.0, 1.0):
        return None
    for patch in ax.patches:
        if patch.get_gid() == BOUNDS_LABEL:
            patch.remove()
    low, high = bounds
    edge = (GUIDE_COLOUR, 2.0) if low == high else (RANGE_COLOUR, 0.0)
    span = ax.axvspan(low, high, facecolor=RANGE_COLOUR, edgecolor=edge[0], zorder=0, label=BOUNDS_LABEL)
    span.set_linewidth(edge[1])
    span.set_gid(BOUNDS_LABEL)
    return span


def about_rows(results: Iterable[Any]) -> str:
    """What the rows of results are: the horizon, what weighs them."""
    return "; ".join(dict.fromkeys(result.about for result in results if result.about))


def name_rows(ax: Axes, results: Iterable[Any]) -> None:
    """Say below the horizontal axis what the results are about: the horizon, what weighs their rows."""
    told, label = about_rows(results), ax.get_xlabel()
    if told and told not in label:
        ax.set_xlabel(f"{label}\n{told}")


def name_amounts(ax: Axes, results: Iterable[Any]) -> None:
    """Rename the axes of thresholds and of costs per decision where rows count by what is at stake in them."""
    if any(" at stake" in result.about for result in results):
        ax.set(xlabel=OF_AMOUNTS, ylabel=ax.get_ylabel().replace("per decision", "per unit at stake"))


def draw_legend(ax: Axes, legend: Legend, *, new: bool) -> None:
    """Name the lines: below a figure of our own, or the axes where the caller's figure can make room, else inside."""
    if legend is None:
        return
    check_choice(legend, "legend", ("auto", "inside", "below"))
    entries = sorted(zip(*ax.get_legend_handles_labels(), strict=True), key=lambda entry: entry[1] == BOUNDS_LABEL)
    handles, labels = [handle for handle, _ in entries], [label for _, label in entries]
    if not handles or labels == ["model"]:
        return
    if legend == "auto":
        legend = "below" if new or figure_of(ax).get_layout_engine() is not None else "inside"
    if legend == "inside":
        ax.legend(handles, labels, fontsize=SMALL, loc="best", framealpha=0.85)
    elif new:
        legend_under(figure_of(ax), handles, labels)
    else:
        anchor = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": _below(ax)}
        columns = _columns(labels, _room_below(ax))
        ax.legend(handles, labels, ncols=columns, borderaxespad=0.0, **anchor, **_PLAIN)


def _room_below(ax: Axes) -> float:
    """Width for a legend under the axes: their own, or nearly the figure's where nothing stands beside them."""
    figure = figure_of(ax)
    alone = ax.figure is figure and all(
        other is ax or other.get_shared_x_axes().joined(other, ax) for other in figure.axes
    )
    return max(width_in_points(ax), alone * 0.9 * 72.0 * float(figure.get_size_inches()[0]))


def legend_under(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put one legend below everything in a figure of our own, which grows by its height."""
    columns = _columns(labels, 72.0 * float(figure.get_size_inches()[0]))
    rows = math.ceil(len(labels) / columns)
    _grow(figure, (1.6 * rows + 0.5) * small_font())
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, **_PLAIN)


def above(ax: Axes, height: float, *, new: bool) -> Axes:
    """Axes of this height in points on top of others, as wide as they are; a figure of our own makes room."""
    from matplotlib.transforms import ScaledTranslation, blended_transform_factory

    figure = figure_of(ax)
    top: Any = ax.transAxes
    points = figure.dpi_scale_trans + ScaledTranslation(0.0, 1.0, top)
    place = blended_transform_factory(ax.transAxes, points)
    if new:
        _grow(figure, height)
    return ax.inset_axes((0.0, 2.0 / 72.0, 1.0, height / 72.0), transform=place, sharex=ax)


def _grow(figure: Figure, points: float) -> None:
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + points / 72.0)


def _columns(labels: Sequence[str], width: float) -> int:
    """How many columns of a small legend fit in a width in points, filled one column after the other."""
    lengths = [_HANDLE + CHARACTER * len(label) for label in labels]
    for columns in range(len(labels), 1, -1):
        if sum(max(part) for part in np.array_split(lengths, columns)) * small_font() <= width:
            return math.ceil(len(labels) / math.ceil(len(labels) / columns))  # the same rows, evenly filled
    return 1


def settle(figure: Figure) -> None:
    """Lay a figure of our own out, so that its axes have the size that they will be drawn in."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


def small_font() -> float:
    """Size in points of the small print."""
    from matplotlib.font_manager import FontProperties

    return float(FontProperties(size=SMALL).get_size_in_points())


def _below(ax: Axes) -> Any:
    """A transform whose origin lies under the label of the horizontal axis."""
    from matplotlib.transforms import ScaledTranslation

    label = float(ax.xaxis.label.get_fontsize())
    ticks = max((float(text.get_fontsize()) for text in ax.xaxis.get_ticklabels()), default=label)
    depth = 7.0 + 1.3 * ticks + ax.xaxis.labelpad + (1.5 + 1.2 * ax.get_xlabel().count("\n")) * label
    return ax.transAxes + ScaledTranslation(0.0, -depth / 72.0, figure_of(ax).dpi_scale_trans)

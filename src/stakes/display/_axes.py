"""Shared by all displays: axes, styles, lines and labels, and the base classes of displays."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, by_name, check_choice, check_same_order
from stakes.core.score_table import ScoreTable
from stakes.curves import Curve, SmoothCalibrationCurve
from stakes.outputs.text import percent, short_names, shorten, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axes._secondary_axes import SecondaryAxis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Polygon, Rectangle
    from matplotlib.ticker import FixedLocator, MaxNLocator


# What every picture shares, without matplotlib: colours, line styles, and ticks of the cost axis in percent and odds.
#
# The palette is that of Okabe and Ito (2008, Color Universal Design), told apart by readers of every colour vision;
# its yellow is left out, for it is lost on white paper.

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
REFERENCE_COLOUR = "#767676"  # the lightest grey that small text on white may have (contrast 4.5 to 1)
GUIDE_COLOUR = "#C8C8C8"
RANGE_COLOUR = "#EBEBEB"
EMPTY_COLOUR = "#F6F6F6"
LINE_STYLES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D")
BOUNDS_LABEL = "plausible thresholds"
ODDS_LABEL = "cost of a false alarm : of a miss"

_MANTISSAS = ((1,), (2, 5), (3, 4, 7), (1.5, 2.5, 6, 8))
_FINE_MANTISSAS = (np.arange(11, 100) / 10, np.arange(101, 1000) / 100)
_PERCENTS = ((50,), (1, 10, 90, 99), (0.1, 99.9), (2, 5, 20, 80, 95, 98), (0.2, 0.5, 99.5, 99.8), (30, 70))
_FINE_PERCENTS = (
    np.arange(5, 100, 5),
    np.arange(1, 100),
    np.arange(5, 1000, 5) / 10,
    np.arange(1, 1000) / 10,
    np.arange(1, 10000) / 100,
    [end for k in range(3, 7) for m in (1, 2, 5) for end in (m / 10**k, 100.0 - m / 10**k)],
)
_FEW_TICKS = 3
_ROUNDING = 1e-12
_LARGEST_ODDS = 6  # as a power of ten


@dataclass(frozen=True, eq=False, repr=False)
class Style:
    """The style of one model in every figure."""

    color: str
    line: str
    marker: str


def model_style(index: int) -> Style:
    """Style of the model at this index: seven colours, repeated with other lines and markers."""
    turn, place = divmod(index, len(PALETTE))
    return Style(PALETTE[place], LINE_STYLES[turn % len(LINE_STYLES)], MARKERS[turn % len(MARKERS)])


def format_percent(share: float, _position: float | None = None) -> str:
    """Write 0.025 as "2.5%"."""
    return percent(share, 6)


def format_odds(share: float, _position: float | None = None) -> str:
    """Write the cost ratio 1/51 as "1:50": a false positive costs 1 where a false negative costs 50."""
    if not 0.0 < share < 1.0:
        return "0:1" if share <= 0.0 else "1:0"
    odds = (1.0 - share) / share
    return f"1:{_short(odds)}" if odds >= 0.9995 else f"{_short(1.0 / odds)}:1"


def log_odds(share: float) -> float:
    """Map a cost ratio in (0, 1) to the logarithm of its odds."""
    return math.log(share) - math.log1p(-share)


def odds_ticks(low: float, high: float, gap: float, *, logarithmic: bool = False) -> list[float]:
    """Cost ratios with round odds in [low, high], no two closer than ``gap`` times the width of the axis."""
    coarse, fine = ([list(_with_mantissas(group)) for group in kind] for kind in (_MANTISSAS, _FINE_MANTISSAS))
    return _rounded(coarse, fine, low, high, gap, logarithmic=logarithmic)


def percent_ticks(low: float, high: float, gap: float) -> list[float]:
    """Round percentages in [low, high] for an axis in log-odds."""
    coarse, fine = ([[float(p) / 100.0 for p in group] for group in kind] for kind in (_PERCENTS, _FINE_PERCENTS))
    return _rounded(coarse, fine, low, high, gap, logarithmic=True)


def _rounded(
    coarse: list[list[float]], fine: list[list[float]], low: float, high: float, gap: float, *, logarithmic: bool
) -> list[float]:
    """Choose ticks from the coarse groups, and from successive finer groups while there are too few."""
    ticks = _select_spaced(coarse, low, high, gap, logarithmic=logarithmic)
    for more in range(1, len(fine) + 1):
        if len(ticks) >= _FEW_TICKS:
            break
        ticks = _select_spaced([*coarse, *fine[:more]], low, high, gap, logarithmic=logarithmic)
    return ticks


def _select_spaced(
    groups: Sequence[Sequence[float]], low: float, high: float, gap: float, *, logarithmic: bool
) -> list[float]:
    """Select ticks in order of roundness, with a minimum distance from those selected."""
    place: Callable[[float], float] = log_odds if logarithmic else float
    within = [c for c in chain.from_iterable(groups) if low - _ROUNDING <= c <= high + _ROUNDING]
    candidates = [c for c in within if not (logarithmic and c in {0.0, 1.0})]
    return _spaced(candidates, place, gap * (place(high) - place(low)))


def _spaced(candidates: Iterable[float], place: Callable[[float], Any], distance: float) -> list[float]:
    """Select candidates in order, with a minimum distance on the axis from those selected."""
    taken: list[float] = []
    for number in candidates:
        if all(abs(place(number) - place(other)) >= distance for other in taken):
            taken.append(number)
    return sorted(taken)


def _with_mantissas(group: Iterable[float]) -> Iterable[float]:
    """Cost ratios whose odds are m * 10^k to 1, and 1 to that, the most even first."""
    for power in range(_LARGEST_ODDS):
        for mantissa in group:
            odds = float(mantissa) * 10.0**power
            yield 1.0 / (1.0 + odds)
            if odds > 1.0:
                yield odds / (1.0 + odds)


def _short(number: float) -> str:
    rounded = float(f"{number:.3g}")
    return f"{rounded:.10g}"


# Axes, cost axis, shaded range and legend, alike in every display; matplotlib is imported when something is drawn.

XScale = Literal["linear", "log-odds"]
Legend = Literal["auto", "inside", "below"] | None
Range = tuple[float, float]

SMALL = "small"
_ODDS_AXIS = "stakes odds"
_TICK_POINTS = 38.0  # room for one label such as "1:1000"
_LONG_TICK_POINTS = 75.0  # or "99.9968%"
CHARACTER = 0.55  # mean width of a character, in font sizes
OF_AMOUNTS = "Cost ratio (1/2: amounts as stated)"
_SHORTEST_LABEL = 20  # characters of a label of a legend that are always written
_HANDLE = 4.2  # a legend's handle and the space around it, in font sizes
_PLAIN: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "columnspacing": 1.2}
_NEARLY_ALL = 0.7  # scores that reach this far make the whole axis worth showing
_HARM_SHOWN = 0.3  # of the height above zero
_LEAST = 1e-15  # so near to 0 and to 1 an axis of log-odds can be drawn
_MARGIN = 0.5  # the range shown reaches this share of the plausible range beyond each of its ends


def pyplot() -> ModuleType:
    """Import matplotlib, or raise an error that says how to install it."""
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
    return figure


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
    """Range of thresholds to show: the widened plausible range, or the curves' thresholds."""
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
    start, stop = map(log_odds, off_the_ends(bounds))
    margin = _MARGIN * (stop - start) or 1.0
    low, high = 1.0 / (1.0 + math.exp(margin - start)), 1.0 / (1.0 + math.exp(-margin - stop))
    return max(low, _LEAST), min(high, 1.0 - _LEAST)


def off_the_ends(bounds: Sequence[float], end: float = 1e-4) -> Range:
    """Range of bounds on an axis of log-odds, without 0 and 1: nearer to these than ``end`` only where others are."""
    others = [0.1 * each for bound in bounds for each in (bound, 1.0 - bound) if each > 0.0]
    end = max(min(end, *others), _LEAST)
    low, high = (min(max(bound, end), 1.0 - end) for bound in (min(bounds), max(bounds)))
    return low, high


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
    """Remove the axis of odds above the axes."""
    for child in _odds_axes(ax):
        child.remove()


def _odds_axes(ax: Axes) -> list[Any]:
    return [child for child in ax.child_axes if child.get_label() == _ODDS_AXIS]


def _place_cost_ticks(ax: Axes) -> None:
    low, high = sorted(ax.get_xlim())
    gap = min(_TICK_POINTS / max(width_in_points(ax), 1.0), 0.4)
    logarithmic = ax.get_xscale() == "logit"
    if logarithmic:
        ticks = percent_ticks(low, high, gap)  # none of them may lie in a narrow range, where even steps do
        ax.xaxis.set_major_locator(_fixed(ticks) if len(ticks) > 1 else few_ticks(ax, room=_LONG_TICK_POINTS))
    else:
        ax.xaxis.set_major_locator(few_ticks(ax))
    for odds in _odds_axes(ax):
        odds.xaxis.set_major_locator(_fixed(odds_ticks(low, high, gap, logarithmic=logarithmic)))


def draw_share_axis(ax: Axes) -> None:
    """Few round percentages along the horizontal axis."""
    ax.xaxis.set_major_locator(few_ticks(ax))
    ax.xaxis.set_major_formatter(format_percent)


def draw_ratio_axis(ax: Axes) -> None:
    """Ratios along the horizontal axis, of even logarithms; the ticks follow when the axes are zoomed."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(_fixed([]))
    _place_ratio_ticks(ax)
    ax.callbacks.connect("xlim_changed", _place_ratio_ticks)


def _place_ratio_ticks(ax: Axes) -> None:
    """Put ticks at powers of ten and 2 and 5 times these, or evenly in a narrow range, with space for their labels."""
    low, high = sorted(ax.get_xlim())
    powers = sorted(range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1), key=abs)  # 1 before all others
    round_first = [float(f"{mantissa}e{power}") for mantissa in (1, 2, 5) for power in powers]
    even = sorted(few_ticks(ax).tick_values(low, high), key=lambda x: abs(x - 1.0))
    gap = _TICK_POINTS / max(width_in_points(ax), 1.0)
    places, evenly = (spread_out(candidates, (low, high), gap, _log) for candidates in (round_first, even))
    if len(places) < _FEW_TICKS:
        places = max(places, evenly, key=len)
    ax.xaxis.set_major_locator(_fixed(places))


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


def shown_worth(bottom: float, top: float) -> Range:
    """Lowest value to show, and the height that counts as one: harm is shown, but no plunge far below zero."""
    unit = top or -bottom or 1.0
    return (max(bottom, -_HARM_SHOWN * unit) if top > 0.0 else bottom), unit


def shade_bounds(ax: Axes, bounds: Range | None) -> Polygon | Rectangle | None:
    """Shade the plausible thresholds; one threshold alone becomes a line's width, the whole axis nothing."""
    if bounds is None or bounds == (0.0, 1.0):
        return None
    for patch in ax.patches:
        if patch.get_gid() == BOUNDS_LABEL:
            patch.remove()
    low, high = bounds
    if ax.get_xscale() == "logit":  # matplotlib leaves out corners at 0 and 1, which lie at infinity
        low, high = max(low, sys.float_info.epsilon), min(high, 1.0 - sys.float_info.epsilon)
    edge = (GUIDE_COLOUR, 2.0) if low == high else (RANGE_COLOUR, 0.0)
    span = ax.axvspan(low, high, facecolor=RANGE_COLOUR, edgecolor=edge[0], zorder=0, label=BOUNDS_LABEL)
    span.set_linewidth(edge[1])
    span.set_gid(BOUNDS_LABEL)
    return span


def plain(text: object) -> str:
    """Write a text as it is: dollars begin no formula, and legends leave out no name that begins with "_".

    Characters that no font has, such as a tab, are named.
    """
    escaped = visible(str(text), keep="\n").replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def about_rows(results: Iterable[Any]) -> str:
    """Join the notes on the rows of results: horizon and weighting."""
    return plain("; ".join(dict.fromkeys(result.about for result in results if result.about)))


def name_rows(ax: Axes, results: Iterable[Any]) -> None:
    """Add the note on the rows (horizon, weighting) to the label of the horizontal axis."""
    note, label = about_rows(results), ax.get_xlabel()
    if note and note not in label:
        ax.set_xlabel(f"{label}\n{note}")


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
    new |= _remove_legend(ax)
    if legend == "auto":
        legend = "below" if new or figure_of(ax).get_layout_engine() is not None else "inside"
    labels = _short_labels(labels, width_in_points(ax) if legend == "inside" else _room_below(ax))
    if legend == "inside":
        ax.legend(handles, labels, fontsize=SMALL, loc="best", framealpha=0.85)
    elif new:
        legend_under(figure_of(ax), handles, labels).set_gid(_name_of_legend(ax))
    else:
        anchor = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "bbox_transform": _below(ax)}
        columns = _columns(labels, _room_below(ax))
        ax.legend(handles, labels, ncols=columns, borderaxespad=0.0, **anchor, **_PLAIN)


def _remove_legend(ax: Axes) -> bool:
    """Remove the legend that an earlier display has below the figure of these axes, with its height; whether it had."""
    figure, name = figure_of(ax), _name_of_legend(ax)
    earlier = [each for each in figure.legends if each.get_gid() == name]
    for legend in earlier:
        legend.remove()
        _grow(figure, -_height_below(figure, [text.get_text() for text in legend.get_texts()]))
    return bool(earlier)


def _name_of_legend(ax: Axes) -> str:
    """What tells the legend of these axes from those of others in one figure."""
    return f"legend of axes {figure_of(ax).axes.index(ax)}" if ax in figure_of(ax).axes else "legend of inner axes"


def _short_labels(labels: Sequence[str], width: float) -> list[str]:
    """Labels of a legend of a width in points, the middle left out of those that are longer."""
    names = [label.replace(r"\$", "$") for label in labels]
    longest = max(int((width / small_font() - _HANDLE) / CHARACTER), _SHORTEST_LABEL)
    short = {name: shorten(name, longest) for name in names}
    if len({*short.values()}) < len(short):
        short = short_names(names)
    pairs = zip(labels, names, strict=True)
    return [label if len(name) <= longest else plain(short[name]) for label, name in pairs]


def _room_below(ax: Axes) -> float:
    """Width for a legend under the axes: their own, or nearly the figure's where nothing stands beside them."""
    figure = figure_of(ax)
    alone = ax.figure is figure and all(
        other is ax or other.get_shared_x_axes().joined(other, ax) for other in figure.axes
    )
    return max(width_in_points(ax), alone * 0.9 * 72.0 * float(figure.get_size_inches()[0]))


def legend_under(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> Any:
    """Put one legend below everything in a figure of our own, which grows by its height."""
    columns = _columns(labels, 72.0 * float(figure.get_size_inches()[0]))
    _grow(figure, _height_below(figure, labels))
    return figure.legend(handles, labels, loc="outside lower center", ncols=columns, **_PLAIN)


def _height_below(figure: Figure, labels: Sequence[str]) -> float:
    """Height in points of a legend below a figure as wide as this."""
    rows = math.ceil(len(labels) / _columns(labels, 72.0 * float(figure.get_size_inches()[0])))
    return (1.6 * rows + 0.5) * small_font()


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
    """Compute the layout of a new figure, so that its axes have their final size."""
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


# Horizontal axes of cost curves, with cost ratios readable as odds: the probability cost, and stretched thresholds.

_ROOM = 38.0  # points for one label such as "1:1000"
_MOST_ODDS = 1e4
_SHORTEST = 1e-3  # where an axis of logarithms starts at the latest
_ALL_ODDS = odds_ticks(1.0 / (1.0 + _MOST_ODDS), 1.0 - 1.0 / (1.0 + _MOST_ODDS), 0.0, logarithmic=True)


def draw_probability_cost_axis(ax: Axes, prevalence: float | None) -> Range:
    """PC(+) from 0 to 1 below the axes; above them the cost ratios at this prevalence, where it is known."""
    ax.set_xlim(0.0, 1.0)
    ax.set_xlabel("Probability cost PC(+)")
    ax.xaxis.set_major_locator(few_ticks(ax, room=30.0))
    ax.xaxis.set_major_formatter("{x:.6g}")
    if prevalence is not None and 0.0 < prevalence < 1.0:
        odds = prevalence / (1.0 - prevalence)

        def place(c: float) -> float:
            return odds * (1.0 - c) / (odds * (1.0 - c) + c)

        chosen = spread_out(_roundest(), (0.0, 1.0), _ROOM / max(width_in_points(ax), 1.0), place)
        _draw_odds(ax, [place(c) for c in chosen], [format_odds(c) for c in chosen])
    else:
        _draw_odds(ax, [], [])
    return 0.0, 1.0


def draw_brier_axis(ax: Axes, curves: Sequence[Curve], axis: str) -> Range:
    """Thresholds in percent below the axes, the same as odds above, stretched so that areas are scores."""
    ax.set_xlabel("Threshold")
    shown = _range_of(curves, logarithmic=axis in {"log", "log-odds"})
    if axis in {"linear", "log-odds"}:
        draw_cost_axis(ax, shown, "linear" if axis == "linear" else "log-odds")
        return shown
    if axis == "log":
        ax.set_xscale("log")
    else:
        ax.set_xscale("function", functions=(_quadratic, _unquadratic))
    ax.set_xlim(shown)
    place = _log if axis == "log" else _quadratic
    gap = _ROOM / max(width_in_points(ax), 1.0)
    percents = percent_ticks(1e-4, 1.0 - 1e-4, 0.0) if axis == "log" else [k / 100.0 for k in range(0, 101, 5)]
    round_first = sorted(percents, key=lambda c: len(f"{100.0 * c:.6g}".strip("0")) + 0.001 * c)
    ticks = spread_out([shown[0], *round_first] if shown[0] == 0.0 else round_first, shown, gap, place)
    ax.set_xticks(ticks, [format_percent(tick) for tick in ticks])
    ax.set_xticks([], minor=True)
    chosen = spread_out(_roundest(), shown, gap, place)
    _draw_odds(ax, chosen, [format_odds(c) for c in chosen])
    return shown


def spread_out(candidates: Iterable[float], shown: Range, gap: float, place: Callable[[Any], Any]) -> list[float]:
    """Select candidates in order, with a minimum distance on the axis from those selected."""
    low, high = sorted(float(place(end)) for end in shown)
    return _spaced([c for c in candidates if low <= place(c) <= high], place, gap * (high - low))


def _roundest() -> list[float]:
    """Cost ratios of round odds, those with the shortest names first."""
    return sorted(_ALL_ODDS, key=lambda c: (_length(c), abs(np.log(c / (1.0 - c)))))


def _length(c: float) -> int:
    digits = format_odds(c).replace("1:", "").replace(":1", "").replace(".", "").strip("0")
    return {"1": 0, "2": 1, "5": 1}.get(digits, 2)


def _draw_odds(ax: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    if not len(places):
        remove_odds_axis(ax)
        return
    top = new_odds_axis(ax, **({"functions": (_quadratic, _unquadratic)} if ax.get_xscale() == "function" else {}))
    top.set_xticks(places, names)
    top.set_xticks([], minor=True)


def _range_of(curves: Sequence[Curve], *, logarithmic: bool) -> Range:
    inner = np.concatenate([curve.knots[(curve.knots > 0.0) & (curve.knots < 1.0)] for curve in curves])
    if not len(inner):
        return (0.01, 0.99) if logarithmic else (0.0, 1.0)
    reach = float(inner.max())
    if not logarithmic:
        return 0.0, 1.0 if reach > 0.7 else 1.2 * reach
    low = max(0.8 * float(inner.min()), _SHORTEST)
    return min(low, 0.5 * reach), min(0.2 + 0.8 * reach, 1.0 - _SHORTEST)


def _quadratic(c: Any) -> Any:
    return -0.5 * np.square(1.0 - np.asarray(c, dtype=float))


def _unquadratic(place: Any) -> Any:
    return 1.0 - np.sqrt(np.maximum(-2.0 * np.asarray(place, dtype=float), 0.0))


def _log(c: Any) -> Any:
    return np.log(np.maximum(c, 1e-300))


# Lines through the exact points of curves.

MODEL, REFERENCE = "model", "reference"
MOST_BANDS = 3  # that can be told apart
_END_OF_ODDS = 0.999  # net benefit has no value at a threshold of 1, interventions avoided none at 0 either
_BENDS = 256


def points_to_draw(curve: Curve, shown: Range, *, logit: bool = False) -> tuple[Floats, Floats]:
    """Exact points of the whole curve, densest in the range shown; bent pieces get points in between."""
    start, stop = _ends(curve)
    cuts = np.unique(np.clip([start, *shown, stop], start, stop))
    parts = [curve.thinned(low=a, high=b)[:2] for a, b in pairwise(cuts.tolist())]
    x, y = (np.concatenate(column) for column in zip(*(parts or [curve.thinned()[:2]]), strict=True))
    if logit or curve.basis != "linear":
        return _bent(curve, x, y, shown, logit=logit)
    return x, y


def _ends(curve: Curve) -> Range:
    """Where the line of a curve starts and stops."""
    start, stop = float(curve.knots[0]), float(curve.knots[-1])
    if curve.basis != "linear":
        stop = min(stop, _END_OF_ODDS)
    return max(start, 1.0 - _END_OF_ODDS) if curve.basis == "inverse odds" else start, stop


def _bent(curve: Curve, x: Floats, y: Floats, shown: Range, *, logit: bool) -> tuple[Floats, Floats]:
    low, high = shown
    if logit:
        steps = np.linspace(np.log(low / (1.0 - low)), np.log(high / (1.0 - high)), _BENDS)
        extra = 1.0 / (1.0 + np.exp(-steps))
    else:
        extra = np.linspace(low, high, _BENDS)
    extra = np.concatenate([extra, np.linspace(x[0], x[-1], _BENDS)])
    extra = np.setdiff1d(extra[(extra > x[0]) & (extra < x[-1])], x)
    places = np.searchsorted(x, extra)
    return np.insert(x, places, extra), np.insert(y, places, curve.at(extra))


def drawn(ax: Axes, gid: str) -> list[Line2D]:
    """Lines that an earlier display drew in these axes."""
    return [line for line in ax.lines if str(line.get_gid() or "").startswith(gid)]


def draw_models(ax: Axes, curves: Sequence[Curve], shown: Range) -> list[Line2D]:
    """Draw one line for each curve, in colours that no model in these axes has yet."""
    before = len(drawn(ax, MODEL))
    lines = []
    for index, curve in enumerate(curves):
        style = model_style(before + index)
        x, y = points_to_draw(curve, shown, logit=ax.get_xscale() == "logit")
        # where curves coincide, the wider line below still shows
        width = 1.4 + 1.0 * (len(curves) - 1 - index) / max(len(curves) - 1, 1) * (len(curves) > 1)
        marker = style.marker if curve.knots[0] == curve.knots[-1] else None
        lines.append(draw_line(ax, (x, y), style, curve.name, linewidth=width, marker=marker))
    return lines


def draw_line(ax: Axes, points: tuple[ArrayLike, ArrayLike], style: Style, name: str, **look: Any) -> Line2D:
    """Draw a model's line in its style."""
    every: dict[str, Any] = {"linewidth": 1.4, "gid": MODEL, "zorder": 2.5, **look}
    (line,) = ax.plot(*points, color=style.color, linestyle=style.line, label=plain(name), **every)
    return line


def draw_references(ax: Axes, curves: Iterable[Curve], shown: Range) -> list[Line2D]:
    """Draw each reference once, thin and grey, one for each place where it lies; return those that these axes have."""
    for curve in curves:
        for reference in curve.references.values():
            gid = f"{REFERENCE} {reference.name}"
            if not any(_lies_on(line, reference) for line in drawn(ax, REFERENCE) if line.get_gid() == gid):
                x, y = points_to_draw(reference, shown, logit=ax.get_xscale() == "logit")
                look: dict[str, Any] = {"gid": gid, "label": f"_{plain(curve.name)}"}  # a label that legends leave out
                ax.plot(x, y, color=REFERENCE_COLOUR, linewidth=0.8, zorder=2.0, **look)
    return drawn(ax, REFERENCE)


def _lies_on(line: Line2D, curve: Curve) -> bool:
    """Whether a drawn line is this curve, where both exist."""
    x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    start, stop = _ends(curve)
    both = (x >= start) & (x <= stop)
    return np.allclose(curve.at(x[both]), y[both], rtol=1e-9, atol=1e-12, equal_nan=True)


def draw_diagonal(ax: Axes, x: ArrayLike) -> Line2D:
    """Draw the diagonal of perfect calibration through these points, in place of an earlier one."""
    gid = f"{REFERENCE} calibrated"
    for line in drawn(ax, gid):
        line.remove()
    (diagonal,) = ax.plot(x, x, color=REFERENCE_COLOUR, linewidth=0.8, gid=gid, zorder=2.0)
    return diagonal


def heights_of_models(ax: Axes, shown: Range) -> Floats:
    """Values within the range shown of all models that these axes have."""
    return np.concatenate([heights_within(line, shown) for line in drawn(ax, MODEL)])


def heights_within(line: Line2D, shown: Range) -> Floats:
    """Values of a drawn line within the range shown."""
    x, y = np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)
    return y[(x >= shown[0]) & (x <= shown[1])]


def shade_band(ax: Axes, curve: SmoothCalibrationCurve, color: Any, label: str | None = None) -> Any:
    """Shade the band of a smooth curve, at a thousand of its knots at most."""
    low, high = curve.band()
    keep = np.unique(np.linspace(0, len(low) - 1, 1000).astype(np.intp))
    look: dict[str, Any] = {"color": color, "alpha": 0.15, "linewidth": 0.0, "zorder": 1.5, "label": label}
    return ax.fill_between(curve.knots[keep], low[keep], high[keep], **look)


# Names written along reference lines, where they hide least.

_LABEL = "name of a reference"
_STEP = 3.0  # points between samples of a line
_MOST_STEPS = 400
_LINE_HEIGHT = 1.5  # in font sizes


def label_references(ax: Axes) -> None:
    """Write each reference's name along its line, and its model's where it has several; clear of all other lines."""
    from matplotlib.patheffects import withStroke

    for text in [text for text in ax.texts if text.get_gid() == _LABEL]:
        text.remove()
    size = np.array([width_in_points(ax), height_in_points(ax)])
    font = small_font()
    paths = {line: _path(ax, line, size) for line in [*drawn(ax, MODEL), *drawn(ax, REFERENCE)]}
    names = np.empty((0, 2))
    references = [(line, str(line.get_gid()).removeprefix(f"{REFERENCE} ")) for line in drawn(ax, REFERENCE)]
    alike = Counter(name for _, name in references)
    for line, kind in references:
        name = kind if alike[kind] == 1 else f"{kind} ({str(line.get_label()).removeprefix('_').strip()})"
        box = np.array([CHARACTER * font * (len(name) + 1), _LINE_HEIGHT * font])
        rivals = np.concatenate([names, *(places for other, (places, _) in paths.items() if other is not line)])
        rivals = np.unique(np.round(rivals / _STEP), axis=0) * _STEP  # jagged lines visit one place many times
        spot = _best_spot(paths[line], rivals, box, size, enough=font)
        if spot is None:
            continue
        place, direction, above_line = spot
        names = np.concatenate([names, place + np.linspace(-0.5, 0.5, 9)[:, None] * box[0] * direction])
        along, up = direction / size
        ax.annotate(
            name,
            tuple(place / size),
            xycoords="axes fraction",
            rotation=np.degrees(np.arctan2(up, along)),
            transform_rotates_text=True,
            rotation_mode="anchor",
            ha="center",
            va="bottom" if above_line else "top",
            fontsize=SMALL,
            color=REFERENCE_COLOUR,
            gid=_LABEL,
            path_effects=[withStroke(linewidth=2.0, foreground=ax.get_facecolor())],
            zorder=3.0,
        )


def _path(ax: Axes, line: Line2D, size: Floats) -> tuple[Floats, Floats]:
    """Samples of a drawn line within the axes, in points from their lower left corner, and its directions there."""
    data = np.column_stack([line.get_xdata(), line.get_ydata()]).astype(float)
    corners = ax.transAxes.inverted().transform(ax.transData.transform(data)) * size
    start, stop = corners[:-1], corners[1:]
    seen = np.isfinite(start).all(axis=1) & np.isfinite(stop).all(axis=1)
    seen &= (np.maximum(start, stop) >= 0.0).all(axis=1) & (np.minimum(start, stop) <= size).all(axis=1)
    start, stop = start[seen], stop[seen]
    length = np.hypot(*(stop - start).T)
    steps = np.clip(np.ceil(length / _STEP), 1, _MOST_STEPS).astype(int)
    segment = np.repeat(np.arange(len(steps)), steps)
    within = np.arange(steps.sum()) - np.repeat(np.cumsum(steps) - steps, steps)
    share = (within + 0.5) / steps[segment]
    places = start[segment] + share[:, None] * (stop - start)[segment]
    directions = ((stop - start) / np.maximum(length, 1e-9)[:, None])[segment]
    inside = ((places >= 0.0) & (places <= size)).all(axis=1)
    return places[inside], directions[inside]


def _best_spot(
    path: tuple[Floats, Floats], rivals: Floats, box: Floats, size: Floats, enough: float
) -> tuple[Floats, Floats, bool] | None:
    """Choose place, direction and side of a label by the largest clearance; among sufficient ones the rightmost."""
    best: tuple[float, tuple[Floats, Floats, bool] | None] = (-np.inf, None)
    for place, direction in zip(*(part[::2] for part in path), strict=True):
        normal = np.array([-direction[1], direction[0]])
        for above in (True, False):
            side = normal if above else -normal
            ends = place + np.array([[-0.5], [0.5]]) * box[0] * direction
            corners = np.concatenate([ends, ends + box[1] * side])
            if not ((corners > -1.0) & (corners < size + 1.0)).all():
                continue
            away = rivals - place
            along = np.maximum(np.abs(away @ direction) - 0.5 * box[0], 0.0)
            across = away @ side
            gaps = np.hypot(along, np.maximum(np.maximum(across - box[1], -across), 0.0))
            room = min(float(gaps.min(initial=enough)), enough) - 0.05 * np.count_nonzero(gaps == 0.0)
            room += 1e-3 * place[0]
            if room > best[0]:
                best = room, (place, direction, above)
    return best[1]


# One or several models, as predictions, estimators or curves, become named curves.

C = TypeVar("C", bound=Curve)


def named_curves(curves: C | Sequence[C] | Mapping[str, C], kind: str) -> list[C]:
    """Return curves of one kind as a list, renamed where a mapping names them."""
    found = several(curves, "curves", Curve, "curve")
    for curve in found:
        if getattr(curve, "kind", None) != kind:
            raise ValueError(f"curves must be {kind} curves, got {curve!r}.")
    return renamed(found, curves)


def several(given: Any, name: str, kind: type, what: str) -> list[Any]:
    """Return one object of a class, or those of a sequence or mapping, as a list."""
    if isinstance(given, kind):
        return [given]
    found = given.values() if isinstance(given, Mapping) else given
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise ValueError(f"{name} must be one {what}, or a sequence or mapping of them, got {given!r}.")
    found = list(found)
    if not found:
        raise ValueError(f"{name} must hold at least one {what}, got none.")
    return found


def renamed(found: list[Any], given: Any) -> list[Any]:
    """Rename the objects of a mapping to its keys."""
    if not isinstance(given, Mapping):
        return found
    from dataclasses import replace

    return [replace(each, name=name) for name, each in zip(given, found, strict=True)]


def named_predictions(y_true: Any, y_prob: Any, sample_weight: Any = None) -> dict[str, Any]:
    """Return the predictions of each model by name; a score table stands for the labels and scores of one."""
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    if isinstance(y_true, ScoreTable):
        return {"model": y_prob}
    from stakes.evaluation import named_models

    return named_models(y_prob)[0]


def renamed_one(named: dict[str, Any], name: str | None) -> dict[str, Any]:
    """Return the predictions with a name for the only model; None leaves all as they are."""
    if name is None:
        return named
    if len(named) > 1:
        raise ValueError(f"name= is for one model, got {name!r} for {len(named)}: pass y_prob as a mapping of names.")
    return dict.fromkeys([name], *named.values())


def estimator_predictions(estimators: Any, X: Any, pos_label: object) -> dict[str, NDArray[np.float64]]:
    """Return the probability of the positive class from each fitted classifier, by name."""
    named = isinstance(estimators, Mapping)
    models = by_name(estimators, "estimators") if named else {type(estimators).__name__: estimators}
    return {name: _positive_column(name, model, X, pos_label) for name, model in models.items()}


def _positive_column(name: str, estimator: Any, X: Any, pos_label: object) -> NDArray[np.float64]:
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator must have predict_proba, got {name} without it: wrap it in "
            "sklearn.calibration.CalibratedClassifierCV, or pass probabilities to from_predictions."
        )
    columns = np.asarray(estimator.predict_proba(X), dtype=float)
    classes = np.asarray(estimator.classes_).tolist()
    if len(classes) != 2:
        raise ValueError(f"estimator must know two classes, got {name} with {len(classes)}: {classes[:5]}.")
    if pos_label is None:
        if not (set(classes) <= {0, 1} or set(classes) <= {-1, 1}):
            raise ValueError(f"{name} knows the classes {classes}: pass pos_label= to say which is positive.")
        pos_label = 1
    if pos_label not in classes:
        raise ValueError(f"pos_label must be one of the classes {classes} of {name}, got {pos_label!r}.")
    return columns[:, classes.index(pos_label)]


# What the displays share: axes that are laid out once all is drawn, curves of one kind, estimators as predictions.


class Display:
    """A picture in axes of its own or the caller's; one that names a ``kind`` of curve draws all curves of it."""

    by_kind: ClassVar[dict[str, Any]] = {}

    ax_: Axes
    figure_: Figure
    lines_: list[Line2D]
    bounds_: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:
            Display.by_kind[cls.__dict__["kind"]] = cls

    def _results(self) -> Iterable[Any]:
        """The results drawn, each with its note on the rows."""
        return ()

    @contextmanager
    def _picture(self, ax: Axes | None, legend: Legend) -> Iterator[bool]:
        """Context that yields the axes and whether they are new; then adds legend, layout and reference names."""
        self.ax_, new = axes_for(ax)
        self.figure_ = figure_of(self.ax_)
        yield new
        name_rows(self.ax_, self._results())
        draw_legend(self.ax_, legend, new=new)
        if new:
            settle(self.figure_)
        label_references(self.ax_)


class PredictionsDisplay(Display):
    """A display that can be drawn from predictions, and so from the estimators that make them."""

    @classmethod
    def from_predictions(cls, *data: Any, **options: Any) -> Self:
        """Draw from labels and predictions."""
        raise NotImplementedError

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *data: Any, **options: Any) -> Self:
        """Draw from one or several fitted classifiers and data to try them on.

        Parameters
        ----------
        estimator : classifier or mapping of str to classifier
            Fitted, with ``predict_proba``; the positive class is found in ``classes_``.
        X : array_like of shape (n, n_features)
            Rows that the classifiers have not seen.
        y : array_like of shape (n,)
            Their labels.
        *data, **options
            What else :meth:`from_predictions` takes, such as ``pos_label``; ``logits`` makes no sense here.

        Returns
        -------
        display

        Raises
        ------
        ValueError
            For a classifier without ``predict_proba`` or with other than two classes, and for invalid data.
        TypeError
            For options that :meth:`from_predictions` does not take.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.display import RegretCurveDisplay
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]
        >>> RegretCurveDisplay.from_estimator(LogisticRegression().fit(X, y), X, y).lines_[0].get_label()
        'LogisticRegression'
        """
        check_same_order(X=X, y=y, sample_weight=options.get("sample_weight"))
        if "logits" in options:
            raise TypeError("from_estimator() takes no logits: predict_proba gives probabilities.")
        predictions = estimator_predictions(estimator, X, options.get("pos_label"))
        return cls.from_predictions(y, predictions, *data, **options)


class CurvesDisplay(PredictionsDisplay):
    """A display of curves of one kind, beside what to compare them with."""

    kind: ClassVar[str]
    x_label: ClassVar[str]
    y_label: ClassVar[str]
    _curve: ClassVar[Callable[..., Curve]]

    curves: list[Any]
    reference_lines_: list[Line2D]

    def __init__(self, curves: Curve | Sequence[Curve] | Mapping[str, Curve]) -> None:
        self.curves = named_curves(curves, self.kind)

    @classmethod
    def _of(cls, y_true: Any, y_prob: Any, *data: Any, **options: Any) -> Self:
        """Build the display of the curves of each model's predictions."""
        named = named_predictions(y_true, y_prob, options.get("sample_weight")).items()
        return cls([cls._curve(y_true, scores, *data, name=name, **options) for name, scores in named])

    def _draw_curves(self, shown: Range, *, references: bool = True) -> Floats:
        """Draw models and references; return the heights of all models in these axes within the range shown."""
        self.lines_ = draw_models(self.ax_, self.curves, shown)
        self.reference_lines_ = draw_references(self.ax_, self.curves if references else (), shown)
        return heights_of_models(self.ax_, shown)

    def _results(self) -> Iterable[Any]:
        return self.curves

    def _best_constant(self, thresholds: Floats, *, lower: bool) -> Floats:
        """The better reference at each threshold, the highest among the curves; 0 without references."""
        constants = [[line.at(thresholds) for line in curve.references.values()] for curve in self.curves]
        best = [(np.min if lower else np.max)(own, axis=0) for own in constants if own]
        return np.max(best, axis=0) if best else np.zeros(1)

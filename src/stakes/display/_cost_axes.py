"""Horizontal axes of cost curves, with cost ratios readable as odds: the probability cost, and stretched thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.display._axes import draw_cost_axis, few_ticks, new_odds_axis, remove_odds_axis, width_in_points
from stakes.display._style import format_odds, format_percent, odds_ticks, percent_ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from matplotlib.axes import Axes

    from stakes.curves import Curve
    from stakes.display._axes import Range

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
    """Take candidates in order, each if it keeps its distance on the axis from those taken."""
    ends = [float(place(end)) for end in shown]
    low, high = min(ends), max(ends)
    taken: list[float] = []
    for number in candidates:
        at = float(place(number))
        if low <= at <= high and all(abs(at - float(place(other))) >= gap * (high - low) for other in taken):
            taken.append(number)
    return sorted(taken)


def _roundest() -> list[float]:
    """Cost ratios of round odds, those with the shortest names first."""
    return sorted(_ALL_ODDS, key=lambda c: (_length(c), abs(np.log(c / (1.0 - c)))))


def _length(c: float) -> int:
    digits = format_odds(c).replace("1:", "").replace(":1", "").replace(".", "").strip("0")
    return {"": 0, "1": 0, "2": 1, "5": 1}.get(digits, 2)


def _draw_odds(ax: Axes, places: Sequence[float], names: Sequence[str]) -> None:
    if not len(places):
        remove_odds_axis(ax)
        return
    top = new_odds_axis(ax, **_scale_options(ax))
    top.set_xticks(places, names)
    top.set_xticks([], minor=True)


def _scale_options(ax: Axes) -> dict[str, Any]:
    return {"functions": (_quadratic, _unquadratic)} if ax.get_xscale() == "function" else {}


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

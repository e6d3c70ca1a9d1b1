"""Points to draw a curve by, few enough for a page, with a bound on the error of the picture."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from stakes.curves import Curve
    from stakes.report._windows import Window

    Floats = NDArray[np.float64]

_KNOTS = 8000
_BENDS = 3000
# a curve in a figure is about 400 pixels high: a quarter of a pixel cannot be seen
_UNSEEN = 1.0 / 1600.0


@dataclass(frozen=True)
class Stretch:
    """Thousands of points along a stretch of a curve, and how far the lines that join them are from it."""

    x: Floats
    y: Floats
    error: float


@dataclass(frozen=True)
class Points:
    """Points in drawing order, and how far the lines that join them are from the curve.

    Parameters
    ----------
    x, y : ndarray
        Places on the axes.
    errors : dict of str to float
        Bound of the vertical distance in each window, by its key.
    """

    x: Floats
    y: Floats
    errors: dict[str, float]


def sampled(curve: Curve, cuts: Iterable[float]) -> list[Stretch]:
    """The stretches of a curve between cuts, those outside its domain left out."""
    low, high = float(curve.knots[0]), float(curve.knots[-1])
    edges = sorted({min(max(cut, low), high) for cut in cuts})
    if len(edges) == 1:
        return [Stretch(np.array(edges), np.asarray(curve.at(edges)), 0.0)]
    return [_stretch(curve, *ends) for ends in pairwise(edges)]


def reach(lines: Iterable[Sequence[Stretch]], low: float, high: float) -> tuple[float, float]:
    """Smallest and largest value of several lines between two places; (inf, -inf) if none is there."""
    smallest, largest = np.inf, -np.inf
    for part in (part for line in lines for part in line):
        seen = part.y[(part.x >= low) & (part.x <= high)]
        if len(seen):
            smallest, largest = min(smallest, float(seen.min())), max(largest, float(seen.max()))
    return smallest, largest


def drawn(lines: Sequence[Sequence[Stretch]], windows: Sequence[Window], budget: int) -> list[Points]:
    """Choose points of each line, in each stretch as many as the closest window needs.

    If that takes more than ``budget`` points in all, every stretch is drawn with less precision, and the errors say
    so. What lies below the lowest window is drawn under its lower edge.
    """
    floor = min(window.bottom - 0.1 * window.height for window in windows)
    looser = 1.0
    while True:
        chosen = [[_chosen(part, windows, floor, looser) for part in line] for line in lines]
        if sum(len(points.x) for line in chosen for points in line) <= budget:
            return [_joined(line) for line in chosen]
        looser *= 1.4


def worst(lines: Sequence[Points]) -> dict[str, float]:
    """The largest error of several lines in each window."""
    keys = dict.fromkeys(key for line in lines for key in line.errors)
    return {key: max(line.errors.get(key, 0.0) for line in lines) for key in keys}


def _joined(parts: Sequence[Points]) -> Points:
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    return Points(x, y, worst(parts))


def _stretch(curve: Curve, low: float, high: float) -> Stretch:
    part, bend = (curve, 0.0) if curve.basis == "linear" else _straightened(curve, low, high)
    x, y, error = part.thinned(_KNOTS, low=low, high=high)
    # positions are stored in single precision
    rounding = float(np.finfo(np.float32).eps * np.max(np.abs(y)))
    return Stretch(x, y, bend + error + rounding)


def _straightened(curve: Curve, low: float, high: float) -> tuple[Curve, float]:
    """Cut pieces that bend (linear in the odds) until straight lines will do, and bound what is left.

    The chord of 1/u between u and v is at most (1/sqrt(u) - 1/sqrt(v))^2 away, so cuts even in 1/sqrt(1 - x) are best.
    """
    first = int(np.searchsorted(curve.knots, low, side="right")) - 1
    last = int(np.searchsorted(curve.knots, high, side="left"))
    roots = np.linspace(1.0 / np.sqrt(1.0 - low), 1.0 / np.sqrt(1.0 - high), _BENDS + 1)
    knots = np.union1d(curve.knots[first : last + 1], 1.0 - 1.0 / roots[1:-1] ** 2)
    piece = np.searchsorted(curve.knots, knots[1:], side="left") - 1
    start = float(curve.at(knots[0]))
    fine = replace(curve, knots=knots, intercept=curve.intercept[piece], slope=curve.slope[piece], start=start)
    gap = np.diff(1.0 / np.sqrt(1.0 - np.clip(knots, low, high))) ** 2
    return fine, float(np.max(np.abs(fine.slope) * gap))


def _chosen(part: Stretch, windows: Sequence[Window], floor: float, looser: float) -> Points:
    middle = 0.5 * float(part.x[0] + part.x[-1])
    holding = [window for window in windows if window.holds(middle)]
    tolerance = looser * _UNSEEN * min(window.height for window in holding)
    y = np.maximum(part.y, floor)
    kept, gap = _simplified(part.x, y, tolerance)
    return Points(part.x[kept], y[kept], {window.key: part.error + gap for window in holding})


def _simplified(x: Floats, y: Floats, tolerance: float) -> tuple[NDArray[np.intp], float]:
    """Points to keep so that the lines between them pass within the tolerance of all others, and the largest gap."""
    keep, largest = [0, len(x) - 1], 0.0
    waiting = [(0, len(x) - 1)]
    while waiting:
        first, last = waiting.pop()
        if last - first < 2:
            continue
        inner = slice(first + 1, last)
        width = x[last] - x[first]
        share = (x[inner] - x[first]) / width if width > 0.0 else np.linspace(0.0, 1.0, last - first + 1)[1:-1]
        gap = np.abs(y[inner] - y[first] - share * (y[last] - y[first]))
        split = int(np.argmax(gap))
        if gap[split] <= tolerance:
            largest = max(largest, float(gap[split]))
            continue
        middle = first + 1 + split
        keep.append(middle)
        waiting += [(first, middle), (middle, last)]
    return np.unique(keep), largest


def encoded(values: Floats) -> dict[str, str]:
    """Numbers as plotly reads them from a page: single precision, base64."""
    data = np.ascontiguousarray(values, dtype="<f4").tobytes()
    return {"dtype": "f4", "bdata": base64.b64encode(data).decode("ascii")}

"""Lines through the exact points of curves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.display._style import REFERENCE_COLOUR, Style, model_style

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import ArrayLike

    from stakes.curves import Curve, SmoothCalibrationCurve
    from stakes.display._axes import Floats, Range

MODEL, REFERENCE = "model", "reference"
MOST_BANDS = 3  # that can be told apart
_END_OF_ODDS = 0.999  # net benefit has no value at a threshold of 1, interventions avoided none at 0 either
_BENDS = 256


def points_to_draw(curve: Curve, shown: Range, *, logit: bool = False) -> tuple[Floats, Floats]:
    """Exact points of the whole curve, densest in the range shown; bent pieces get points in between."""
    start, stop = float(curve.knots[0]), float(curve.knots[-1])
    if curve.basis != "linear":
        stop = min(stop, _END_OF_ODDS)
    if curve.basis == "inverse odds":
        start = max(start, 1.0 - _END_OF_ODDS)
    cuts = np.unique(np.clip([start, *shown, stop], start, stop))
    parts = [curve.thinned(low=a, high=b)[:2] for a, b in pairwise(cuts.tolist())]
    x, y = (np.concatenate(column) for column in zip(*(parts or [curve.thinned()[:2]]), strict=True))
    if logit or curve.basis != "linear":
        return _bent(curve, x, y, shown, logit=logit)
    return x, y


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
    (line,) = ax.plot(*points, color=style.color, linestyle=style.line, label=name, **every)
    return line


def draw_references(ax: Axes, references: Iterable[Curve], shown: Range) -> list[Line2D]:
    """Draw each reference once, thin and grey, and return those that these axes have."""
    known = {line.get_gid() for line in drawn(ax, REFERENCE)}
    for curve in references:
        gid = f"{REFERENCE} {curve.name}"
        if gid not in known:
            x, y = points_to_draw(curve, shown, logit=ax.get_xscale() == "logit")
            ax.plot(x, y, color=REFERENCE_COLOUR, linewidth=0.8, gid=gid, zorder=2.0)
    return drawn(ax, REFERENCE)


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
    inside: Floats = y[(x >= shown[0]) & (x <= shown[1])]
    return inside


def shade_band(ax: Axes, curve: SmoothCalibrationCurve, color: Any, label: str | None = None) -> Any:
    """Shade the band of a smooth curve, at a thousand of its knots at most."""
    low, high = curve.band()
    keep = np.unique(np.linspace(0, len(low) - 1, 1000).astype(np.intp))
    look: dict[str, Any] = {"color": color, "alpha": 0.15, "linewidth": 0.0, "zorder": 1.5, "label": label}
    return ax.fill_between(curve.knots[keep], low[keep], high[keep], **look)

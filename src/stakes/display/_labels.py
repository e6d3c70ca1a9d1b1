"""Names written along reference lines, where they hide least."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from stakes.display._axes import CHARACTER, SMALL, height_in_points, small_font, width_in_points
from stakes.display._lines import MODEL, REFERENCE, drawn
from stakes.display._style import REFERENCE_COLOUR

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_LABEL = "name of a reference"
_STEP = 3.0  # points between samples of a line
_MOST_STEPS = 400
_LINE_HEIGHT = 1.5  # in font sizes


class Path(NamedTuple):
    """Samples of a drawn line within the axes, in points from their lower left corner, and its directions there."""

    places: Floats
    directions: Floats


class Spot(NamedTuple):
    """Where a label may stand: on the line, turned along it, above or below it."""

    place: Floats
    direction: Floats
    above: bool


def label_references(ax: Axes) -> None:
    """Write each reference's name along its line, where it is clear of all other lines and names."""
    from matplotlib.patheffects import withStroke

    for text in [text for text in ax.texts if text.get_gid() == _LABEL]:
        text.remove()
    size = np.array([width_in_points(ax), height_in_points(ax)])
    font = small_font()
    paths = {line: _path(ax, line, size) for line in [*drawn(ax, MODEL), *drawn(ax, REFERENCE)]}
    names = np.empty((0, 2))
    for line in drawn(ax, REFERENCE):
        name = str(line.get_gid()).removeprefix(f"{REFERENCE} ")
        box = np.array([CHARACTER * font * (len(name) + 1), _LINE_HEIGHT * font])
        rivals = np.concatenate([names, *(path.places for other, path in paths.items() if other is not line)])
        rivals = np.unique(np.round(rivals / _STEP), axis=0) * _STEP  # jagged lines visit one place many times
        spot = _best_spot(paths[line], rivals, box, size, enough=font)
        if spot is None:
            continue
        names = np.concatenate([names, spot.place + np.linspace(-0.5, 0.5, 9)[:, None] * box[0] * spot.direction])
        along, up = spot.direction / size
        ax.annotate(
            name,
            tuple(spot.place / size),
            xycoords="axes fraction",
            rotation=np.degrees(np.arctan2(up, along)),
            transform_rotates_text=True,
            rotation_mode="anchor",
            ha="center",
            va="bottom" if spot.above else "top",
            fontsize=SMALL,
            color=REFERENCE_COLOUR,
            gid=_LABEL,
            path_effects=[withStroke(linewidth=2.0, foreground=ax.get_facecolor())],
            zorder=3.0,
        )


def _path(ax: Axes, line: Line2D, size: Floats) -> Path:
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
    return Path(places[inside], directions[inside])


def _best_spot(path: Path, rivals: Floats, box: Floats, size: Floats, enough: float) -> Spot | None:
    """Choose the spot with the most room; among those with enough, the one farthest right."""
    best: tuple[float, Spot | None] = (-np.inf, None)
    for place, direction in zip(path.places[::2], path.directions[::2], strict=True):
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
                best = room, Spot(place, direction, above)
    return best[1]

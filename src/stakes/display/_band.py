"""Curves with their pointwise intervals and simultaneous bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.curves._curve import straight
from stakes.display._axes import check_bounds, draw_cost_axis, draw_share_axis, name_amounts, shade_bounds, widened
from stakes.display._base import Display
from stakes.display._lines import MODEL, draw_line, draw_references, drawn
from stakes.display._models import renamed, several
from stakes.display._style import format_percent, model_style
from stakes.inference import Band

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from stakes.display._axes import Floats, Legend, Range, XScale

_Y_LABELS = {
    "regret": "regret per decision",
    "net_benefit": "net benefit",
    "interventions_avoided": "interventions avoided",
    "reliability": "observed event rate",
}
_NOTHING = {
    "regret": "",
    "net_benefit": "treat none",
    "interventions_avoided": "treat all",
    "reliability": "calibrated",
}
_BAND, _INTERVAL = 0.14, 0.22  # opacity; the interval lies upon the band
_EXTREME = 0.05  # this share of the highest and of the lowest bounds may leave the picture


class BandDisplay(Display):
    """Curves with pointwise intervals (darker) and simultaneous bands (lighter).

    Drawn into axes that hold the curve of a model of the same name, only its band is added, in the curve's colour.

    Parameters
    ----------
    bands : Band, sequence of Band, or mapping of str to Band
        Bands of one kind.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        The estimate of each band.
    intervals_, bands_ : list of matplotlib collections
        The shaded pointwise intervals and simultaneous bands.
    bounds_ : matplotlib patch or None
        The shaded range.

    Examples
    --------
    >>> from stakes.inference import difference_band
    >>> from stakes.display import BandDisplay
    >>> band = difference_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], [0.4, 0.6, 0.5, 0.4], "net_benefit")
    >>> BandDisplay(band).plot().ax_.get_ylabel()
    'Difference in net benefit'
    """

    intervals_: list[PolyCollection]
    bands_: list[PolyCollection]

    def __init__(self, bands: Band | Sequence[Band] | Mapping[str, Band]) -> None:
        found = several(bands, "bands", Band, "band")
        for band in found:
            if not isinstance(band, Band):
                raise ValueError(f"bands must be Band, got {band!r}.")
            if (band.kind, band.is_difference) != (found[0].kind, found[0].is_difference):
                raise ValueError(f"bands must be of one kind, got {found[0]!r} and {band!r}.")
        self.bands: list[Band] = renamed(found, bands)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        bounds: Range | None = None,
        x_scale: XScale = "linear",
        legend: Legend = "auto",
    ) -> Self:
        """Draw the bands.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        bounds : tuple of float, optional
            The plausible thresholds (low, high): they are shaded, and the axis shows them and their surroundings.
        x_scale : {"linear", "log-odds"}, default "linear"
            Scale of the threshold axis; reliability is drawn over a linear one.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        BandDisplay
            This object, with ``ax_``, ``figure_``, ``lines_``, ``intervals_``, ``bands_`` and ``bounds_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.inference import confidence_band
        >>> from stakes.display import BandDisplay
        >>> band = confidence_band([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6], "regret")
        >>> BandDisplay(band).plot(bounds=(0.2, 0.5)).ax_.get_xlabel()
        'Threshold'
        """
        bounds = check_bounds(bounds)
        with self._picture(ax, legend):
            earlier = bool(drawn(self.ax_, MODEL))
            shown = self._shown(bounds, x_scale)
            if not earlier or bounds is not None:
                self._set_x_axis(shown, x_scale)
            self.bounds_ = shade_bounds(self.ax_, bounds)
            self.lines_, self.intervals_, self.bands_ = [], [], []
            for band in self.bands:
                self._draw(band)
            self._draw_references(shown)
            if not earlier:
                self.ax_.set_ylim(self._y_limits(shown))
                self._set_labels()
        return self

    def _results(self) -> Iterable[Any]:
        return self.bands

    def _shown(self, bounds: Range | None, x_scale: XScale) -> Range:
        reliability = self.bands[0].kind == "reliability"
        if bounds is not None and bounds != (0.0, 1.0):
            return widened(bounds, "linear" if reliability else x_scale)
        low = min(float(band.thresholds[0]) for band in self.bands)
        high = max(float(band.thresholds[-1]) for band in self.bands)
        if x_scale == "log-odds" and not reliability:
            low, high = max(low, 1e-4), min(high, 1.0 - 1e-4)
        if low >= high:
            return max(low - 0.05, 0.0), min(high + 0.05, 1.0)
        return low, high

    def _set_x_axis(self, shown: Range, x_scale: XScale) -> None:
        if self.bands[0].kind == "reliability":
            self.ax_.set_xlim(shown)
            draw_share_axis(self.ax_)
        else:
            draw_cost_axis(self.ax_, shown, x_scale)

    def _draw(self, band: Band) -> None:
        known = {str(line.get_label()): line for line in drawn(self.ax_, MODEL)}
        line = known.get(band.name)
        if line is None:
            style = model_style(len(known))
            marker = style.marker if len(band.thresholds) == 1 else None
            line = draw_line(self.ax_, (band.thresholds, band.estimate), style, band.name, marker=marker)
        self.lines_.append(line)
        look: dict[str, Any] = {"color": line.get_color(), "linewidth": 0.0}
        outer = _edges(band, band.simultaneous_low, band.simultaneous_high)
        inner = _edges(band, band.low, band.high)
        names: list[str | None] = [None, None]
        if not self.bands_:  # the legend needs each kind of shading once
            level = f"{100.0 * band.confidence_level:.6g}%"
            names = [f"{level} simultaneous band", f"{level} interval at each {band.x_label}"]
        self.bands_.append(self.ax_.fill_between(*outer, alpha=_BAND, zorder=1.4, label=names[0], **look))
        self.intervals_.append(self.ax_.fill_between(*inner, alpha=_INTERVAL, zorder=1.5, label=names[1], **look))

    def _draw_references(self, shown: Range) -> None:
        band = self.bands[0]
        name, axis, heights = _NOTHING[band.kind], "threshold", (0.0, 0.0)
        if band.is_difference:
            name = "no difference"
        elif band.kind == "reliability":
            axis, heights = "score", (0.0, 1.0)
        if name:
            draw_references(self.ax_, [straight(band.kind, name, axis, heights)], shown)

    def _y_limits(self, shown: Range) -> Range:
        """What holds the estimates and nearly all of the bounds: close to 1 those of net benefit fall without end."""
        heights: list[Floats] = [np.zeros(1)]
        for band in self.bands:
            inside = (band.thresholds >= shown[0]) & (band.thresholds <= shown[1])
            if not inside.any():
                inside[:] = True
            low, high = band.simultaneous_low[inside], band.simultaneous_high[inside]
            heights += [
                band.estimate[inside],
                np.quantile(low, [_EXTREME, 1.0]),
                np.quantile(high, [0.0, 1.0 - _EXTREME]),
            ]
        every = np.concatenate(heights)
        low_end, high_end = float(every.min()), float(every.max())
        margin = 0.05 * (high_end - low_end) or 0.05
        return low_end - margin * (low_end < 0.0), high_end + margin

    def _set_labels(self) -> None:
        band = self.bands[0]
        label = _Y_LABELS[band.kind] + ("" if band.per is None else f" per {band.per:,.6g}")
        label = f"difference in {label}" if band.is_difference else label
        self.ax_.set(xlabel=band.x_label.capitalize(), ylabel=label[0].upper() + label[1:])
        name_amounts(self.ax_, self.bands)
        self.ax_.yaxis.set_major_formatter(format_percent if band.kind == "reliability" else "{x:.6g}")


def _edges(band: Band, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Corners of the shaded area: a rate that never falls is, between two scores, within the outer bounds of both."""
    if band.kind != "reliability" or band.is_consistency or len(low) == 1:
        return band.thresholds, low, high
    return np.repeat(band.thresholds, 2)[1:-1], np.repeat(low[:-1], 2), np.repeat(high[1:], 2)

"""Pictures of cost distributions: how much each cost ratio counts, on the axis of c or of its log-odds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from stakes.costs import CostDistribution, PiecewiseLinear
from stakes.costs._base import Weighted
from stakes.display._axes import draw_cost_axis, widened
from stakes.display._base import Display
from stakes.display._lines import MODEL, draw_line, drawn
from stakes.display._models import several
from stakes.display._style import model_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

    from stakes.display._axes import Floats, Legend, Range, XScale

_POINTS = 1001
_END = 2e-3  # where an axis of log-odds starts for costs down to 0
_STEP = 1e-9  # beside a jump, relative to its distance from the end
_END_POINTS = 10  # so near an end a peak counts as a spike
_ATOM_AXIS = "stakes weights"
_STEEP = 6.0  # a density that rises to more than so many times its upper quartile leaves the picture
_LONGEST_NAME = 44
_INFINITE = " (infinite mass, not normalized)"


class Shape(NamedTuple):
    """What is drawn of one distribution."""

    x: Floats
    density: Floats
    atoms: Floats
    weights: Floats


class CostDistributionDisplay(Display):
    """How much each cost ratio counts: densities as lines, single cost ratios as stems.

    Each distribution is drawn with mass 1, so that areas compare; one of infinite mass is drawn as it is, and its name
    says so. On the log-odds axis the density is that of the log-odds, density times c (1-c): areas stay shares.

    Parameters
    ----------
    costs : CostDistribution, sequence of CostDistribution, or mapping of str to CostDistribution
        What to draw.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it is drawn.
    atom_ax_ : matplotlib axes or None
        Where the stems are drawn: ``ax_`` itself where there is no density, else an axis at its right.
    figure_ : matplotlib figure
        The figure of the axes.
    lines_ : list of matplotlib lines
        One for each distribution: its density, or the heads of its stems where it has none.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.display import CostDistributionDisplay
    >>> named = {"screening": costs.Uniform(0.01, 0.05), "referral": costs.Triangular(0.02, 0.05, 0.2)}
    >>> display = CostDistributionDisplay(named).plot(scale="log-odds")
    >>> [line.get_label() for line in display.lines_]
    ['screening', 'referral']
    """

    atom_ax_: Axes | None

    def __init__(self, costs: CostDistribution | Sequence[CostDistribution] | Mapping[str, CostDistribution]) -> None:
        if isinstance(costs, Mapping):
            named = [(str(name), measure) for name, measure in costs.items()]
        else:
            found = several(costs, "costs", CostDistribution, "cost distribution")
            named = [(_name(measure), measure) for measure in found]
        if not named:
            raise ValueError("costs must hold at least one cost distribution, got none.")
        for name, measure in named:
            if not isinstance(measure, CostDistribution):
                raise ValueError(f"costs must be cost distributions, got {measure!r} for {name}.")
        self.names = [name for name, _ in named]
        self.costs = [measure for _, measure in named]

    def plot(self, ax: Axes | None = None, *, scale: XScale = "linear", legend: Legend = "auto") -> Self:
        """Draw the distributions.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw, beside what is there; by default a new figure.
        scale : {"linear", "log-odds"}, default "linear"
            The axis: the cost ratio c, or its log-odds.
        legend : {"auto", "inside", "below"} or None, default "auto"
            Where the legend goes: inside the axes where it is short, else below them if the figure is new or has a
            layout engine.

        Returns
        -------
        CostDistributionDisplay
            This object, with ``ax_``, ``atom_ax_``, ``figure_`` and ``lines_``.

        Raises
        ------
        ValueError
            For invalid settings.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import costs
        >>> from stakes.display import CostDistributionDisplay
        >>> CostDistributionDisplay(costs.Fixed(0.1)).plot().ax_.get_ylabel()
        'Weight'
        """
        with self._picture(ax, legend):
            shown = self._shown(scale)
            if drawn(self.ax_, MODEL):
                low, high = self.ax_.get_xlim()
                shown = min(low, shown[0]), max(high, shown[1])
            draw_cost_axis(self.ax_, shown, scale, "scale")
            shapes = [_shape(measure, shown, scale) for measure in self.costs]
            self.atom_ax_ = self._axes_of_atoms(shapes)
            before = len(drawn(self.ax_, MODEL))
            named = enumerate(zip(self._labels(), shapes, strict=True), start=before)
            self.lines_ = [self._draw(shape, name, index) for index, (name, shape) in named]
            self._set_heights()
            self.ax_.set_xlabel("Cost ratio c (threshold)")
        return self

    def _labels(self) -> list[str]:
        return [
            f"{name}{_INFINITE}" if measure.mass == math.inf else name
            for name, measure in zip(self.names, self.costs, strict=True)
        ]

    def _shown(self, scale: XScale) -> Range:
        low, high = min(measure.low for measure in self.costs), max(measure.high for measure in self.costs)
        if scale == "log-odds":
            low, high = min(max(low, _END), 1.0 - _END), max(min(high, 1.0 - _END), _END)
        if high - low > 0.6 and scale == "linear":
            return 0.0, 1.0
        start, stop = widened((low, high), scale)
        if scale == "log-odds":
            return max(start, min(_END, 0.5 * low)), min(stop, 1.0 - min(_END, 0.5 * (1.0 - high)))
        return start, stop

    def _axes_of_atoms(self, shapes: list[Shape]) -> Axes | None:
        twin = next((ax for ax in self.figure_.axes if ax.get_label() == _ATOM_AXIS and _on(ax, self.ax_)), None)
        if twin is not None or not any(len(shape.atoms) for shape in shapes):
            return twin
        if not any(len(shape.x) for shape in shapes) and not drawn(self.ax_, f"{MODEL} density"):
            return self.ax_
        twin = self.ax_.twinx()
        twin.set_label(_ATOM_AXIS)
        return twin

    def _draw(self, shape: Shape, label: str, index: int) -> Line2D:
        style = model_style(index)
        line: Line2D | None = None
        if len(shape.x):
            look: dict[str, Any] = {"linewidth": 1.6, "gid": f"{MODEL} density"}
            line = draw_line(self.ax_, (shape.x, shape.density), style, label, **look)
            finite = np.where(np.isfinite(shape.density), shape.density, 0.0)
            self.ax_.fill_between(shape.x, finite, color=style.color, alpha=0.12, linewidth=0.0, zorder=1.5)
        if line is not None and (not len(shape.atoms) or self.atom_ax_ is None):
            return line
        if self.atom_ax_ is None:
            raise AssertionError("a measure has a density or atoms")
        self.atom_ax_.vlines(shape.atoms, 0.0, shape.weights, color=style.color, linewidth=1.4, zorder=2.5)
        look = {"color": style.color, "linestyle": "none", "marker": style.marker, "markersize": 5.0}
        gid = MODEL if line is None else f"atoms of {MODEL}"
        (heads,) = self.atom_ax_.plot(shape.atoms, shape.weights, **look, gid=gid, zorder=2.6)
        if line is not None:
            return line
        if self.atom_ax_ is self.ax_:
            heads.set_label(label)
        else:  # the legend and the next display look at the axes of the densities
            self.ax_.plot([], [], **look, label=label, gid=MODEL)
        heads.set_label(label)
        return heads

    def _set_heights(self) -> None:
        densities = drawn(self.ax_, f"{MODEL} density")
        if densities:
            top = max(_visible_top(np.asarray(line.get_ydata(), dtype=float)) for line in densities)
            self.ax_.set_ylim(0.0, 1.08 * top or 1.0)
            logit = self.ax_.get_xscale() == "logit"
            self.ax_.set_ylabel("Density of the log-odds" if logit else "Density")
            self.ax_.yaxis.set_major_formatter("{x:.6g}")
        if self.atom_ax_ is None:
            return
        heads = [line for line in self.atom_ax_.lines if MODEL in str(line.get_gid() or "")]
        weights = [np.asarray(line.get_ydata(), dtype=float).max(initial=0.0) for line in heads if line.get_marker()]
        self.atom_ax_.set_ylim(0.0, 1.08 * max(weights, default=1.0))
        self.atom_ax_.set_ylabel("Weight" if not densities else "Weight (stems)")
        self.atom_ax_.yaxis.set_major_formatter("{x:.6g}")


def _name(measure: CostDistribution) -> str:
    name = repr(measure)
    if len(name) <= _LONGEST_NAME:
        return name
    return "weighted sum" if isinstance(measure, Weighted) else type(measure).__name__


def _on(ax: Axes, other: Axes) -> bool:
    return ax is not other and bool(ax.get_shared_x_axes().joined(ax, other))


def _parts(measure: CostDistribution) -> list[CostDistribution]:
    return list(measure.parts) if isinstance(measure, Weighted) else [measure]


def _shape(measure: CostDistribution, shown: Range, scale: XScale) -> Shape:
    """Points of the density, both sides of each jump, and the atoms; of mass 1 where the mass is finite."""
    unit = measure.mass if 0.0 < measure.mass < math.inf else 1.0
    at, weights = measure.atoms
    smooth = [part for part in _parts(measure) if not len(part.atoms[0])]
    if not smooth:
        return Shape(np.empty(0), np.empty(0), at, weights / unit)
    jumps = np.array([end for part in smooth for end in _corners(part)])
    x = _grid(shown, jumps, scale)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        density = np.asarray(measure.density(x), dtype=float) / unit
        if scale == "log-odds":
            density = density * x * (1.0 - x)
    return Shape(x, np.where(np.isfinite(density), density, np.nan), at, weights / unit)


def _corners(part: CostDistribution) -> list[float]:
    inner = part._edges.tolist() if isinstance(part, PiecewiseLinear) else []
    return [part.low, part.high, *inner]


def _grid(shown: Range, jumps: Floats, scale: XScale) -> Floats:
    low, high = shown
    if scale == "log-odds":
        ends = [math.log(end) - math.log1p(-end) for end in shown]
        even = 1.0 / (1.0 + np.exp(-np.linspace(ends[0], ends[1], _POINTS)))
    else:
        even = np.linspace(low, high, _POINTS)
    beside = np.concatenate([jumps, jumps * (1.0 - _STEP), jumps + (1.0 - jumps) * _STEP])
    points = np.unique(np.concatenate([even, beside[(beside >= low) & (beside <= high)]]))
    return points[(points > 0.0) & (points < 1.0)] if scale == "log-odds" else points


def _visible_top(density: Floats) -> float:
    """The highest density, unless it is that of a spike at one end."""
    found = density[np.isfinite(density)]
    positive = found[found > 0.0]
    if not len(positive):
        return 1.0
    peak = int(np.argmax(found))
    if min(peak, len(found) - 1 - peak) > _END_POINTS:
        return float(found[peak])
    return float(min(positive.max(), _STEEP * float(np.quantile(positive, 0.75))))

"""Exact piecewise curves, and ratios of piecewise linear functions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.validation import Floats, blocks, check_number, check_whole, in_percent, to_array, to_floats
from stakes.costs import log_remainder
from stakes.outputs.hooks import draw
from stakes.outputs.result_table import build_frame

# An exact curve: knots, and between them pieces that are linear in the axis, in its odds or in its inverse odds.
#
# No grid and no interpolation: the picture, the table and the integral always agree.

Basis = Literal["linear", "odds", "inverse odds"]
Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """A piecewise curve with exact values on both sides of every knot.

    Piece j holds for ``knots[j] < x <= knots[j + 1]``: the curve is left-continuous, as "act where score >= x" is. With
    ``closed="left"`` it holds for ``knots[j] <= x < knots[j + 1]`` instead. Equal knots make a vertical step.

    Parameters
    ----------
    kind : str
        What is drawn: "regret", "net benefit", "reliability".
    knots : ndarray of shape (m + 1,)
        Ascending; the first and the last bound the domain.
    intercept, slope : ndarray of shape (m,), or what indexes and converts like one
        Value of piece j at x: ``intercept[j] + slope[j] * (basis(x) - origin[j]) / width[j]``.
    start : float
        Value at the one end that belongs to no piece: the first knot, or the last one with ``closed="left"``.
    basis : {"linear", "odds", "inverse odds"}
        x, x / (1 - x), or (1 - x) / x.
    name : str, default "model"
        Label of the curve in pictures.
    x_label : str, default "threshold"
        What the horizontal axis is.
    origin : ndarray of shape (m,), optional
        Where the rise of each piece starts; zero by default.
    width : ndarray of shape (m,), optional
        Over which distance each piece rises by its slope; one by default.
    references : mapping of str to Curve
        Curves to compare with, such as "treat all".
    closed : {"right", "left"}, default "right"
        Which end of each piece belongs to it.
    about : str, default ""
        What a picture must say of the rows: the horizon, what weighs them.

    Examples
    --------
    >>> from stakes import regret_curve
    >>> curve = regret_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> float(curve.at(0.4)), float(curve.at(0.4, side="right"))
    (0.1, 0.15)
    """

    kind: str
    knots: Floats
    intercept: Floats | Combination
    slope: Floats | Combination
    start: float
    basis: Basis = "linear"
    name: str = "model"
    x_label: str = "threshold"
    origin: Floats | None = None
    width: Floats | None = None
    references: Mapping[str, Curve] = field(default_factory=dict)
    closed: Side = "right"
    about: str = field(default="", kw_only=True)

    def at(self, x: ArrayLike, *, side: Side | None = None) -> Floats:
        """Value at x, exactly, or the limit from one side.

        Parameters
        ----------
        x : array_like
            Points in the domain of the curve (net benefit: below 1).
        side : {"left", "right"}, optional
            The limit just below or just above x; by default the value itself, which is the left limit unless the
            curve is ``closed="left"``. At the ends of the domain both limits stay within it.

        Returns
        -------
        ndarray
            Of the shape of ``x``.

        Raises
        ------
        ValueError
            If a point lies outside the domain.

        Examples
        --------
        >>> from stakes import net_benefit_curve
        >>> net_benefit_curve([0, 1], [0.3, 0.6]).at([0.1, 0.5]).round(6).tolist()
        [0.444444, 0.5]
        """
        points = to_floats(to_array(x, "x"), "x")
        self._check_domain(points)
        own: Side = "left" if self.closed == "right" else "right"
        piece = np.searchsorted(self.knots, points, side=side or own) - 1
        outside = piece < 0 if self.closed == "right" else piece >= len(self.slope)
        piece = np.clip(piece, 0, len(self.slope) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = self.intercept[piece] + self._rise(piece, self._basis(points))
        return np.where(outside, self.start, value)

    def integral(self, low: float | None = None, high: float | None = None) -> float:
        """Area under the curve between two points of the domain, exactly.

        Parameters
        ----------
        low, high : float, optional
            By default the ends of the domain.

        Returns
        -------
        float
            ``-inf`` or ``inf`` where the area diverges.

        Raises
        ------
        ValueError
            If the bounds are not in order within the domain.

        Examples
        --------
        >>> from stakes import regret_curve
        >>> round(2 * regret_curve([0, 1], [0.2, 0.6]).integral(), 12)  # the Brier score
        0.1
        """
        pieces, edges = self._between(low, high)
        if edges[0] == edges[-1]:
            return 0.0
        width = np.diff(edges)
        flat = self.intercept[pieces] * width
        return float(np.sum(flat + self._rise(pieces, self._basis_integral(edges), width)))

    def frame(self, backend: Any = None) -> Any:
        """Return the knots with the value at each (left) and just above it (right) as a data frame.

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns named after the axis, ``left``, ``right``; where the domain ends, the limit beyond it is nan.

        Examples
        --------
        >>> from stakes import regret_curve
        >>> regret_curve([0, 1], [0.3, 0.6]).frame("polars").columns
        ['threshold', 'left', 'right']
        """
        left, right = self._sides()
        return build_frame({self.x_label.replace(" ", "_"): self.knots, "left": left, "right": right}, backend)

    def thinned(
        self, max_points: int = 2000, *, low: float | None = None, high: float | None = None
    ) -> tuple[Floats, Floats, float]:
        """Points for a picture of the curve, with a bound on the error of drawing straight lines between them.

        Parameters
        ----------
        max_points : int, default 2000
            About how many knots to keep; every kept knot gives a left and a right value.
        low, high : float, optional
            The part of the domain to draw. An end at which the curve has no value, as net benefit at 1, is replaced by
            .99 (.01), or by the outermost knot if that is nearer to the end.

        Returns
        -------
        x, y : ndarray
            Points in drawing order.
        error : float
            Largest vertical distance at any knot that was left out.

        Raises
        ------
        ValueError
            Unless the ends are in order within the domain.

        Examples
        --------
        >>> from stakes import regret_curve
        >>> x, y, error = regret_curve([0, 1], [0.3, 0.6]).thinned()
        >>> len(x), error
        (8, 0.0)
        """
        lo, hi = self._drawn_ends(low, high)
        check_whole(max_points, "max_points", 2)
        if lo > hi:
            raise self._disordered(low, high)
        inner = self.knots[(self.knots > lo) & (self.knots < hi)]
        knots = np.concatenate([[lo], inner, [hi]])
        knots = knots[np.concatenate([[True], knots[1:] > knots[:-1]])]
        left, right = self.at(knots, side="left"), self.at(knots, side="right")
        right[-1] = self.at(hi)
        keep = _important(knots, left, right, max_points)
        x = np.repeat(knots[keep], 2)
        y = np.column_stack([left[keep], right[keep]]).ravel()
        if len(keep) == len(knots):
            return x, y, 0.0
        segment = np.maximum(np.searchsorted(knots[keep], knots, side="left") - 1, 0)
        x0, x1 = knots[keep][segment], knots[keep][segment + 1]
        line = right[keep][segment] + (left[keep][segment + 1] - right[keep][segment]) * (knots - x0) / (x1 - x0)
        out = np.ones(len(knots), dtype=bool)
        out[keep] = False
        gaps = np.maximum(np.abs(left - line), np.abs(right - line))[out]
        return x, y, float(gaps.max())

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the curve with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Passed to the display, such as ``bounds=(low, high)``.

        Returns
        -------
        Display
            With ``ax_`` and ``figure_``.

        Raises
        ------
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes import regret_curve
        >>> display = regret_curve([0, 1], [0.3, 0.6]).plot()
        """
        return draw(self, ax, **options)

    def _drawn_ends(self, low: float | None, high: float | None) -> tuple[float, float]:
        """The part of the domain to draw, where the curve has values."""
        lo = float(self.knots[0]) if low is None else check_number(low, "low")
        hi = float(self.knots[-1]) if high is None else check_number(high, "high")
        inner = self.knots[(self.knots > lo) & (self.knots < hi)].tolist()
        if high is None and hi == 1.0 and self.basis != "linear":
            hi = max(0.99, (1.0 + lo) / 2.0, *inner[-1:])
        if low is None and lo == 0.0 and self.basis == "inverse odds":
            lo = min(0.01, hi / 2.0, *inner[:1])
        return lo, hi

    def _disordered(self, low: float | None, high: float | None) -> ValueError:
        span = f"[{self.knots[0]:g}, {self.knots[-1]:g}]"
        return ValueError(f"low, high must be in order within {span}, got ({low}, {high}).")

    def _between(self, low: float | None, high: float | None) -> tuple[slice, Floats]:
        """Pieces between two points and the edges of these, or raise unless the points are in order and inside."""
        a = float(self.knots[0]) if low is None else check_number(low, "low")
        b = float(self.knots[-1]) if high is None else check_number(high, "high")
        if not self.knots[0] <= a <= b <= self.knots[-1]:
            raise self._disordered(low, high)
        first = int(np.clip(np.searchsorted(self.knots, a, side="right") - 1, 0, len(self.slope) - 1))
        last = int(np.clip(np.searchsorted(self.knots, b, side="left"), first + 1, len(self.slope)))
        edges = self.knots[first : last + 1].copy()
        edges[0], edges[-1] = a, b
        return slice(first, last), edges

    def _sides(self) -> tuple[Floats, Floats]:
        with np.errstate(divide="ignore"):
            basis = self._basis(self.knots)
        level = np.asarray(self.intercept)
        ends = level + self._rise(slice(None), basis[1:])
        starts = level + self._rise(slice(None), basis[:-1])
        if self.closed == "left":
            return np.append(np.nan, ends), np.append(starts, self.start)
        return np.append(self.start, ends), np.append(starts, np.nan)

    def _rise(self, piece: Any, basis: Floats, length: Floats | float = 1.0) -> Floats:
        """Contribution of the slope: at points, or integrated over intervals."""
        if self.origin is None or self.width is None:
            return product(self.slope[piece], basis)
        return self.slope[piece] * ((basis - self.origin[piece] * length) / self.width[piece])

    def _check_domain(self, points: Floats) -> None:
        low, high = self.knots[0], self.knots[-1]
        good = (points >= low) & (points <= high)
        left, right = "[", "]"
        if self.basis != "linear":
            good &= points < 1.0
            right = ")"
        if self.basis == "inverse odds":
            good &= points > 0.0
            left = "("
        if not np.all(good):
            bad = np.atleast_1d(points)[~np.atleast_1d(good)][0]
            got = f"{bad}{in_percent(bad)}" if high == 1.0 else f"{bad}"
            raise ValueError(f"{self.kind} exists for {self.x_label} in {left}{low:g}, {high:g}{right}, got {got}.")

    def _basis(self, x: Floats) -> Floats:
        if self.basis == "linear":
            return x
        return x / (1.0 - x) if self.basis == "odds" else (1.0 - x) / x

    def _basis_integral(self, edges: Floats) -> Floats:
        if self.basis == "linear":
            return np.diff(edges) * (edges[1:] + edges[:-1]) * 0.5
        if self.basis == "inverse odds":
            with np.errstate(divide="ignore"):
                return np.log1p(np.diff(edges) / edges[:-1]) - np.diff(edges)
        from stakes.costs import NetBenefitUniform

        # the integral of c / (1 - c), as the cost distribution behind net benefit has it
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.diff(NetBenefitUniform(0.0, 1.0).negative_loss(edges))

    def __repr__(self) -> str:
        span = f"[{self.knots[0]:g}, {self.knots[-1]:g}]"
        return f"Curve({self.kind} of {self.name}, {len(self.slope)} pieces on {span})"


def through(x: Floats, y: Floats) -> dict[str, Any]:
    """Knots and pieces of the piecewise linear function through points with ascending x, exact where it is steep."""
    if len(x) == 1:  # a domain of one point
        x, y = np.repeat(x, 2), np.repeat(y, 2)
    width = np.maximum(np.diff(x), np.finfo(float).smallest_subnormal)
    return {"knots": x, "intercept": y[:-1], "slope": np.diff(y), "origin": x[:-1], "width": width}


def straight(kind: str, name: str, x_label: str, y: tuple[float, float], x: tuple[float, float] = (0.0, 1.0)) -> Curve:
    """A straight reference line."""
    line = through(np.array(x, dtype=float), np.array(y, dtype=float))
    return Curve(kind, start=float(y[0]), name=name, x_label=x_label, **line)


def product(slope: Floats, factor: Floats) -> Floats:
    """Multiply, with zero for a slope of zero times an infinite factor."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope == 0.0, 0.0, slope * factor)


def _important(knots: Floats, left: Floats, right: Floats, max_points: int) -> NDArray[np.intp]:
    """Select knots to keep: ones that are evenly spaced, by value and by rank, and those with the largest jumps."""
    if len(knots) <= max_points:
        return np.arange(len(knots))
    count = max(max_points // 4, 2)  # with both ends
    even = np.searchsorted(knots, np.linspace(knots[0], knots[-1], count))
    spread = np.linspace(0, len(knots) - 1, count).astype(np.intp)
    jump = np.argpartition(np.abs(right - left), -(max_points // 2))[-(max_points // 2) :]
    return np.unique(np.concatenate([even, spread, jump]))


# Curves that are a ratio of two piecewise linear functions: precision over recall, lift over the share selected.

_BENDS = 512
_TINY = 1e-100


@dataclass(frozen=True, eq=False, repr=False)
class RatioCurve(Curve):
    """A curve whose numerator and denominator are both linear between points: tied scores split by chance.

    Parameters
    ----------
    denominator : Curve
        The broken line that the pieces of this one are divided by, over the same knots.

    Examples
    --------
    >>> from stakes.curves import lift_curve
    >>> lift_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).at([0.25, 0.5]).tolist()
    [2.0, 1.5]
    """

    denominator: Curve = None  # type: ignore[assignment]

    def at(self, x: ArrayLike, *, side: Side | None = None) -> Floats:
        """Value at x, exactly, or the limit from one side; nan where nothing over nothing is asked for.

        Parameters
        ----------
        x : array_like
            Points in the domain of the curve.
        side : {"left", "right"}, optional
            The limit just below or just above x; by default the value itself.

        Returns
        -------
        ndarray
            Of the shape of ``x``.

        Raises
        ------
        ValueError
            If a point lies outside the domain.

        Examples
        --------
        >>> from stakes import precision_recall_curve
        >>> precision_recall_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).at([0.0, 0.5, 0.75]).tolist()
        [nan, 1.0, 0.75]
        """
        top, bottom = super().at(x, side=side), self.denominator.at(x, side=side)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = top / bottom
        if side != "right":
            return value
        with np.errstate(divide="ignore", invalid="ignore"):  # nobody is selected at the lower end alone
            return np.where(bottom == 0.0, self.slope[0] / self.denominator.slope[0], value)

    def integral(self, low: float | None = None, high: float | None = None) -> float:
        """Area under the curve between two points of the domain, exactly.

        Parameters
        ----------
        low, high : float, optional
            By default the ends of the domain.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the bounds are not in order within the domain.

        Examples
        --------
        >>> from stakes.curves import lift_curve
        >>> lift_curve([0, 1], [0.2, 0.6]).integral(0, 0.5)
        1.0
        """
        pieces, edges = self._between(low, high)
        tops, bottoms = (_piece_ends(line, pieces, edges) for line in (self, self.denominator))
        areas = []
        for part in blocks(len(edges) - 1):
            width = np.diff(edges[part.start : part.stop + 1])
            mean = mean_ratio(*(column[part] for column in (*tops, *bottoms)))
            areas.append(float(np.sum(np.where(width > 0.0, width * mean, 0.0))))
        return math.fsum(areas)

    def thinned(
        self, max_points: int = 2000, *, low: float | None = None, high: float | None = None
    ) -> tuple[Floats, Floats, float]:
        """Points for a picture of the curve: exact ones, with more where its pieces are bent.

        Parameters
        ----------
        max_points : int, default 2000
            About how many knots to keep.
        low, high : float, optional
            The part of the domain to draw.

        Returns
        -------
        x, y : ndarray
            Points in drawing order; it starts at the limit from above.
        error : float
            Largest vertical distance at any knot that was left out.

        Raises
        ------
        ValueError
            Unless the ends are in order within the domain.

        Examples
        --------
        >>> from stakes.curves import lift_curve
        >>> x, y, error = lift_curve([0, 1], [0.3, 0.6]).thinned()
        >>> float(y[0]), float(y[-1])
        (2.0, 1.0)
        """
        x, y, error = super().thinned(max_points, low=low, high=high)
        extra = np.setdiff1d(np.linspace(x[0], x[-1], _BENDS), x)
        places = np.searchsorted(x, extra)
        x, y = np.insert(x, places, extra), np.insert(y, places, self.at(extra))
        defined = ~np.isnan(y)
        return x[defined], y[defined], error


def ratio_of(points: tuple[Floats, Floats, Floats], kind: str, name: str, x_label: str) -> dict[str, Any]:
    """Fields of a ratio curve from ascending x, and the numerator and denominator there."""
    x, top, bottom = points
    line = through(x, top)
    below = {**line, "intercept": bottom[:-1], "slope": np.diff(bottom)}
    about: dict[str, Any] = {"name": name, "x_label": x_label}
    denominator = Curve(f"denominator of {kind}", start=float(bottom[0]), **about, **below)
    return {"kind": kind, "start": float(top[0]), "denominator": denominator, **about, **line}


def _piece_ends(line: Curve, pieces: slice, edges: Floats) -> tuple[Floats, Floats]:
    """Values of a piecewise linear function at the start and end of each piece between the outer edges."""
    starts = line.intercept[pieces].copy()
    ends = starts + line.slope[pieces]
    starts[0], ends[-1] = Curve.at(line, edges[0], side="right"), Curve.at(line, edges[-1], side="left")
    return starts, ends


def mean_ratio(top0: Floats, top1: Floats, bottom0: Floats, bottom1: Floats) -> Floats:
    """Mean of top / bottom where both are linear between two values; denominators >= 0, not both zero."""
    rise = bottom1 - bottom0
    usual = bottom0 > _TINY * rise  # else the ratio is that of the slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(usual, rise, 1.0) / np.where(usual, bottom0, 1.0)
        tilted = log_remainder(-x)  # mean of u / (1 + x u) over u in [0, 1]
        flat = 1.0 - x * tilted  # mean of 1 / (1 + x u)
        return np.where(usual, (top0 * flat + (top1 - top0) * tilted) / bottom0, (top1 - top0) / rise)


# Columns of a long curve computed on access: a table of ten million scores is stored once.


@dataclass(frozen=True, eq=False, repr=False)
class Combination:
    """constant + first_factor * first + second_factor * second, elementwise, over arrays that others own.

    Parameters
    ----------
    first, second : ndarray of shape (m,)
        What is combined; the second may be left out.
    first_factor, second_factor, constant : float
        How.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.curves._curve import Combination
    >>> Combination(np.array([1.0, 2.0]), first_factor=-1.0, constant=5.0)[1:]
    array([3.])
    """

    first: Floats
    second: Floats | None = None
    first_factor: float = 1.0
    second_factor: float = 1.0
    constant: float = 0.0

    def __getitem__(self, index: Any) -> Floats:
        value: Floats = self.first[index] * self.first_factor + self.constant
        if self.second is not None:
            value = value + self.second[index] * self.second_factor
        return value

    def __len__(self) -> int:
        return len(self.first)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:  # noqa: FBT001  (the protocol of numpy)
        if copy is False:
            raise ValueError("a combination is worked out anew and cannot be shared.")
        return np.asarray(self[:], dtype=dtype)

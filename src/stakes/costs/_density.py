"""Cost distributions given by a density: piecewise linear (triangular) in closed form, anything else by quadrature."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import check_number, to_array, to_floats
from stakes.costs._base import CostDistribution, check_interval, clipped
from stakes.costs._quadrature import end_extrapolation, gauss_legendre, gauss_legendre_rule

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_PANEL_NODES = 16
_FIRST_PANELS = 4096
_MAX_PANELS = 100_000
_NARROWEST = 1e-200
_TOLERANCE = 1e-13
_DIVERGES = 1e-6
_BISECTIONS = 60


class _Panels(CostDistribution):
    """A continuous measure cut into panels: whole panels are summed once, the panel of a score is integrated."""

    _edges: Floats

    def _set(self, edges: Floats) -> None:
        self._edges = edges
        self.low, self.high = float(edges[0]), float(edges[-1])
        index = np.arange(len(edges) - 1)
        acting = self._panel_moment(index, edges[:-1], edges[1:], negative=True)
        waiting = self._panel_moment(index, edges[:-1], edges[1:], negative=False)
        self._acting = np.concatenate([[0.0], np.cumsum(acting)])
        self._waiting = np.concatenate([np.cumsum(waiting[::-1])[::-1], [0.0]])

    @abstractmethod
    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:
        """Integral of c (negative) or 1 - c (positive) times the density over [low, high] inside the panel."""

    @property
    def mass(self) -> float:
        return float(self._acting[-1] + self._waiting[0])

    def negative_loss(self, score: ArrayLike) -> Floats:
        t, panel = self._locate(score)
        return self._acting[panel] + self._panel_moment(panel, self._edges[panel], t, negative=True)

    def positive_loss(self, score: ArrayLike) -> Floats:
        t, panel = self._locate(score)
        return self._waiting[panel + 1] + self._panel_moment(panel, t, self._edges[panel + 1], negative=False)

    def _locate(self, score: ArrayLike) -> tuple[Floats, NDArray[np.intp]]:
        t = np.clip(np.asarray(score, dtype=float), self.low, self.high)
        panel = np.searchsorted(self._edges, t, side="right") - 1
        return t, np.minimum(panel, len(self._edges) - 2)

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        goal = self.mass * rng.uniform(size=size)
        lo, hi = np.full(size, self.low), np.full(size, self.high)
        for _ in range(_BISECTIONS):
            middle = (lo + hi) / 2.0
            below = self.negative_loss(middle) + self._waiting[0] - self.positive_loss(middle) < goal
            lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
        return (lo + hi) / 2.0


class PiecewiseLinear(_Panels):
    """A density that is linear between knots, zero outside them.

    Parameters
    ----------
    knots : array_like
        Strictly ascending cost ratios in [0, 1], at least two.
    values : array_like
        Density >= 0 at the knots, not all zero. It is taken as it is, not normalised.

    Raises
    ------
    ValueError
        If the knots do not ascend within [0, 1], or a value is negative, not finite, or all are zero.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.PiecewiseLinear([0.0, 0.1, 0.3], [0.0, 5.0, 0.0]).mass, 12)
    0.75
    """

    kind = "piecewise_linear"

    def __init__(self, knots: ArrayLike, values: ArrayLike) -> None:
        at, height = (
            to_floats(to_array(given, name), name).copy() for given, name in ((knots, "knots"), (values, "values"))
        )
        if at.ndim != 1 or at.size < 2 or height.shape != at.shape:
            raise ValueError(f"knots and values must be 1-D of equal length >= 2, got {at.shape} and {height.shape}.")
        if not (np.all(np.diff(at) > 0) and at[0] >= 0.0 and at[-1] <= 1.0):
            raise ValueError(f"knots must ascend strictly within [0, 1], got {at.tolist()}.")
        if not (np.all(np.isfinite(height) & (height >= 0.0)) and np.any(height > 0.0)):
            raise ValueError(f"values must be finite, >= 0 and not all zero, got {height.tolist()}.")
        self._heights = height
        self._set(at)

    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:
        # Simpson's rule is exact for the quadratic c * density; distances to the ends keep their digits
        left, right = self._edges[panel], self._edges[panel + 1]
        width, before, after = high - low, low - left, right - high
        total: Floats = np.zeros(np.broadcast_shapes(np.shape(low), np.shape(high)))
        for share, weight in ((0.0, 1.0), (0.5, 4.0), (1.0, 1.0)):
            step, rest = share * width, (1.0 - share) * width
            height = self._heights[panel] * (after + rest) + self._heights[panel + 1] * (before + step)
            at = low + step if negative else (1.0 - high) + rest
            total = total + weight * at * height
        return total * width / (6.0 * (right - left))

    def density(self, c: ArrayLike) -> Floats:
        return np.interp(np.asarray(c, dtype=float), self._edges, self._heights, left=0.0, right=0.0)

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        inner = self._edges[(self._edges > lo) & (self._edges < hi)]
        knots = np.concatenate([[lo], inner, [hi]])
        return PiecewiseLinear(knots, np.interp(knots, self._edges, self._heights))

    def flip(self) -> CostDistribution:
        return PiecewiseLinear((1.0 - self._edges)[::-1], self._heights[::-1])

    def _parameters(self) -> dict[str, Any]:
        return {"knots": self._edges.tolist(), "values": self._heights.tolist()}


class Triangular(PiecewiseLinear):
    """Cost ratios between low and high, most likely the mode: what an expert can state in three numbers.

    Parameters
    ----------
    low, mode, high : float
        0 <= low <= mode <= high <= 1 with low < high.

    Raises
    ------
    ValueError
        If the three numbers are not in order within [0, 1].

    Notes
    -----
    Mass 1, loss factor 2. Restricting it gives a :class:`PiecewiseLinear`.

    Examples
    --------
    >>> from stakes import costs
    >>> round(costs.Triangular(0.02, 0.05, 0.20).mean(), 12)
    0.09
    """

    kind = "triangular"

    def __init__(self, low: float, mode: float, high: float) -> None:
        check_interval(low, high, "low, high")
        if not low <= check_number(mode, "mode") <= high:
            raise ValueError(f"low, mode, high must be in order, got ({low}, {mode}, {high}).")
        low, self.mode, high = float(low), float(mode), float(high)
        corners = {low: 0.0, high: 0.0, self.mode: 2.0 / (high - low)}
        knots = sorted(corners)
        super().__init__(knots, [corners[k] for k in knots])

    def flip(self) -> CostDistribution:
        return Triangular(1.0 - self.high, 1.0 - self.mode, 1.0 - self.low)

    def _parameters(self) -> dict[str, Any]:
        return {"low": self.low, "mode": self.mode, "high": self.high}


class Density(_Panels):
    """Any integrable density on [low, high], integrated by adaptive Gauss-Legendre panels.

    Parameters
    ----------
    pdf : callable
        Vectorised density, finite and >= 0 inside (low, high). It is taken as it is, not normalised.
    low, high : float
        Bounds with 0 <= low < high <= 1.

    Raises
    ------
    ValueError
        If the bounds are out of order, the density is negative or not finite, or it is not integrable.

    Notes
    -----
    Loss factor 2. Partial moments of a bounded density are accurate to 1e-12 of the mass, jumps included, and to 1e-10
    where it is infinite at 0. Next to 1 numbers lie 1e-16 apart, too wide for an infinity there: give its mirror image
    and ``flip()`` it. A peak narrower than about 1e-5 of the range may be missed. A function cannot be written to JSON,
    so ``to_dict`` raises.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import costs
    >>> bell = costs.Density(lambda c: np.exp(-(((c - 0.1) / 0.02) ** 2)), 0.0, 0.5)
    >>> round(bell.mean(), 9)
    0.1
    """

    kind = "density"

    def __init__(self, pdf: Callable[[Floats], Floats], low: float, high: float) -> None:
        check_interval(low, high)
        if not callable(pdf):
            raise TypeError(f"pdf must be a function of cost ratios, got {pdf!r}.")
        self.pdf, self.low, self.high = pdf, float(low), float(high)
        self._set(self._refine(self.low, self.high))

    def _refine(self, low: float, high: float) -> Floats:
        """Halve panels until each agrees with its two halves."""
        waiting = np.linspace(low, high, _FIRST_PANELS + 1)
        lo, hi = waiting[:-1], waiting[1:]
        done: list[Floats] = [np.array([high])]
        settled = 0.0
        while lo.size:
            whole, _ = self._checked(lo, hi)
            middle = (lo + hi) / 2.0
            (left, off_left), (right, off_right) = self._checked(lo, middle), self._checked(middle, hi)
            halves = left + right
            total = max(settled + float(halves.sum()), np.finfo(float).tiny)
            off = np.maximum(np.abs(whole - halves), off_left + off_right)
            rough = (off > _TOLERANCE * total) & (hi - lo > 4.0 * np.spacing(hi))
            stuck = rough & (hi - lo < _NARROWEST)
            if np.any(off[stuck] > _DIVERGES * total):
                raise ValueError(f"pdf must be integrable on [{low}, {high}]; its mass near {lo[stuck][0]} diverges.")
            rough &= ~stuck
            settled += float(halves[~rough].sum())
            done.append(lo[~rough])
            lo, hi = np.concatenate([lo[rough], middle[rough]]), np.concatenate([middle[rough], hi[rough]])
            if lo.size > _MAX_PANELS or not math.isfinite(total):
                raise ValueError(f"pdf must be integrable on [{low}, {high}]; the quadrature did not converge.")
        if settled == 0.0:
            raise ValueError(f"pdf must not vanish on [{low}, {high}], got 0 everywhere it was evaluated.")
        return np.unique(np.concatenate(done))

    def _checked(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The mass of each panel, and what may hide between its ends and the outermost nodes, as a jump does."""
        nodes, weights = gauss_legendre_rule(_PANEL_NODES)
        width = high - low
        inside = self._checked_pdf(low + nodes[:, None] * width)
        gap, beside = nodes[0] * width, _TOLERANCE * (self.high - self.low)
        close = np.minimum(beside, gap)
        ends = self._checked_pdf(np.stack([low + close, high - close]))
        hidden = np.abs(end_extrapolation(_PANEL_NODES) @ inside - ends).sum(axis=0) * gap
        return (weights @ inside) * width, np.where(gap > beside, hidden, 0.0)

    def _inner(self, c: Floats) -> Floats:
        """The nearest cost ratios inside the bounds, at which alone the density need be finite."""
        return np.clip(c, np.nextafter(self.low, 1.0), np.nextafter(self.high, 0.0))

    def _checked_pdf(self, c: Floats) -> Floats:
        c = self._inner(c)
        value = np.asarray(self.pdf(c), dtype=float)
        if value.shape not in {(), c.shape}:
            raise ValueError(f"pdf must return one value for each cost ratio, got shape {value.shape} for {c.shape}.")
        value = np.broadcast_to(value, c.shape)
        good = np.isfinite(value) & (value >= 0.0)
        if not np.all(good):
            first = np.unravel_index(int(np.argmin(good)), c.shape)
            raise ValueError(f"pdf must be finite and >= 0, got {value[first]} at c = {c[first]}.")
        return value

    def _panel_moment(self, panel: NDArray[np.intp], low: Floats, high: Floats, *, negative: bool) -> Floats:  # noqa: ARG002  (the density is one function)
        def moment(c: Floats) -> Floats:
            c = self._inner(c)
            return (c if negative else 1.0 - c) * self.pdf(c)

        return gauss_legendre(moment, low, high, _PANEL_NODES)

    def density(self, c: ArrayLike) -> Floats:
        at = np.asarray(c, dtype=float)
        inside = (at >= self.low) & (at <= self.high)
        return np.where(inside, self.pdf(np.clip(at, self.low, self.high)), 0.0)

    def restrict(self, low: float, high: float) -> CostDistribution:
        return Density(self.pdf, *clipped(low, high, self))

    def flip(self) -> CostDistribution:
        return _FlippedDensity(self)

    def _parameters(self) -> dict[str, Any]:
        return {"pdf": self.pdf, "low": self.low, "high": self.high}

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("a Density holds a function and cannot be written to JSON; use PiecewiseLinear instead.")

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, self.pdf, self.low, self.high)


class _FlippedDensity(CostDistribution):
    """The measure of 1 - c under a density, which is evaluated where the caller defined it."""

    kind = "flipped_density"

    def __init__(self, base: Density) -> None:
        self.base = base
        self.low, self.high = 1.0 - base.high, 1.0 - base.low

    @property
    def mass(self) -> float:
        return self.base.mass

    def negative_loss(self, score: ArrayLike) -> Floats:
        return self.base.positive_loss(1.0 - np.asarray(score, dtype=float))

    def positive_loss(self, score: ArrayLike) -> Floats:
        return self.base.negative_loss(1.0 - np.asarray(score, dtype=float))

    def density(self, c: ArrayLike) -> Floats:
        return self.base.density(1.0 - np.asarray(c, dtype=float))

    def restrict(self, low: float, high: float) -> CostDistribution:
        lo, hi = clipped(low, high, self)
        return self.base.restrict(1.0 - hi, 1.0 - lo).flip()

    def flip(self) -> CostDistribution:
        return self.base

    def _parameters(self) -> dict[str, Any]:
        return {"base": self.base}

    def to_dict(self) -> dict[str, Any]:
        return self.base.to_dict()

    def _key(self) -> tuple[Any, ...]:
        return (self.kind, *self.base._key())

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return 1.0 - self.base._draw(size, rng)

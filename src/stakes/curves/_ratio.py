"""Curves that are a ratio of two broken lines: precision over recall, lift over the share selected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.sums import blocks
from stakes.costs._quadrature import log_remainder
from stakes.curves._curve import Curve, Side, through

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

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
        piece = np.clip(np.searchsorted(self.knots, x, side="right") - 1, 0, len(self.slope) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(bottom == 0.0, self.slope[piece] / self.denominator.slope[piece], value)

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
        a = float(self.knots[0]) if low is None else float(low)
        b = float(self.knots[-1]) if high is None else float(high)
        if not self.knots[0] <= a <= b <= self.knots[-1]:
            raise ValueError(
                f"low, high must be in order within [{self.knots[0]:g}, {self.knots[-1]:g}], got ({low}, {high})."
            )
        first = int(np.clip(np.searchsorted(self.knots, a, side="right") - 1, 0, len(self.slope) - 1))
        last = int(np.clip(np.searchsorted(self.knots, b, side="left"), first + 1, len(self.slope)))
        edges = self.knots[first : last + 1].copy()
        edges[0], edges[-1] = a, b
        tops, bottoms = (_piece_ends(line, slice(first, last), a, b) for line in (self, self.denominator))
        areas = []
        for part in blocks(last - first):
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


def _piece_ends(line: Curve, pieces: slice, a: float, b: float) -> tuple[Floats, Floats]:
    """Values of a broken line where each piece starts and ends, the first one starting at a, the last ending at b."""
    starts = line.intercept[pieces].copy()
    ends = starts + line.slope[pieces]
    starts[0], ends[-1] = Curve.at(line, a, side="right"), Curve.at(line, b, side="left")
    return starts, ends


def mean_ratio(top0: Floats, top1: Floats, bottom0: Floats, bottom1: Floats) -> Floats:
    """Mean of top / bottom while both go straight from one value to another; denominators >= 0, not both zero."""
    rise = bottom1 - bottom0
    usual = bottom0 > _TINY * rise  # else the ratio is that of the slopes
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where(usual, rise, 1.0) / np.where(usual, bottom0, 1.0)
        tilted = log_remainder(-x)  # mean of u / (1 + x u) over u in [0, 1]
        flat = 1.0 - x * tilted  # mean of 1 / (1 + x u)
        return np.where(usual, (top0 * flat + (top1 - top0) * tilted) / bottom0, (top1 - top0) / rise)

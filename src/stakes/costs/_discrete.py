"""Cost distributions made of atoms: one known cost ratio, or the list of thresholds that people stated."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.remedies import in_percent
from stakes.core.validation import check_number, to_array, to_floats
from stakes.costs._base import CostDistribution, check_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]


class _Atoms(CostDistribution):
    """A measure on finitely many cost ratios."""

    _values: Floats
    _weights: Floats

    def _set(self, values: Floats, weights: Floats, tie: float) -> None:
        if not 0.0 <= check_number(tie, "tie") <= 1.0:
            raise ValueError(f"tie must lie in [0, 1], got {tie}.")
        self._values, self._weights, self.tie = values, weights, float(tie)
        for array in (values, weights):
            array.setflags(write=False)
        self.low, self.high = float(values[0]), float(values[-1])
        self._acting = np.concatenate([[0.0], np.cumsum(values * weights)])
        missed = (1.0 - values) * weights
        self._waiting = np.concatenate([np.cumsum(missed[::-1])[::-1], [0.0]])

    @property
    def mass(self) -> float:
        return math.fsum(self._weights)

    @property
    def atoms(self) -> tuple[Floats, Floats]:
        return self._values, self._weights

    def negative_loss(self, score: ArrayLike) -> Floats:
        s = np.asarray(score, dtype=float)
        below = self._acting[np.searchsorted(self._values, s, side="left")]
        if self.tie == 0.0:
            return below
        through = self._acting[np.searchsorted(self._values, s, side="right")]
        return through if self.tie == 1.0 else below + self.tie * (through - below)

    def positive_loss(self, score: ArrayLike) -> Floats:
        s = np.asarray(score, dtype=float)
        above = self._waiting[np.searchsorted(self._values, s, side="right")]
        if self.tie == 1.0:
            return above
        through = self._waiting[np.searchsorted(self._values, s, side="left")]
        return through if self.tie == 0.0 else above + (1.0 - self.tie) * (through - above)

    def density(self, c: ArrayLike) -> Floats:
        return np.zeros_like(np.asarray(c, dtype=float))

    def _inside(self, low: float, high: float) -> NDArray[np.bool_]:
        if low != high:
            check_interval(low, high, "low, high")
        keep = (self._values >= low) & (self._values <= high)
        if not np.any(keep):
            raise ValueError(f"[low, high] must hold a cost ratio of {self!r}, got ({low}, {high}).")
        return keep

    def _draw(self, size: int, rng: np.random.Generator) -> Floats:
        return rng.choice(self._values, size=size, p=self._weights / self._weights.sum())


class Fixed(_Atoms):
    """One known cost ratio: cost at a threshold, error rate at 1/2.

    Parameters
    ----------
    c : float
        The cost ratio, in [0, 1].
    tie : float, default 1
        Share of decisions to act when a score equals ``c`` exactly; 1/2 gives half credit.

    Raises
    ------
    ValueError
        If ``c`` or ``tie`` lies outside [0, 1].

    Notes
    -----
    Mass 1, loss factor 2, so that ``Fixed(1/2)`` has the error rate as its loss
    (arXiv:2504.04528 Proposition 2.3: accuracy = 1 - 2 R(1/2)).

    Examples
    --------
    >>> from stakes import costs
    >>> costs.Fixed(0.1).negative_loss([0.05, 0.1, 0.2]).tolist()  # acts from 0.1 on
    [0.0, 0.1, 0.1]
    """

    kind = "fixed"

    def __init__(self, c: float, tie: float = 1.0) -> None:
        if not 0.0 <= check_number(c, "c") <= 1.0:
            raise ValueError(f"c must lie in [0, 1], got {c}{in_percent(c)}.")
        self.c = float(c)
        self._set(np.array([self.c]), np.ones(1), tie)

    def restrict(self, low: float, high: float) -> CostDistribution:
        self._inside(low, high)
        return self

    def flip(self) -> CostDistribution:
        return Fixed(1.0 - self.c, tie=1.0 - self.tie)

    def _parameters(self) -> dict[str, Any]:
        return {"c": self.c, "tie": self.tie}


class Empirical(_Atoms):
    """The cost ratios (thresholds) that people stated, each with its weight.

    Parameters
    ----------
    values : array_like
        Cost ratios in [0, 1]; repeated values are pooled.
    weights : array_like, optional
        Non-negative weights, not all zero; by default every value counts once. Normalised to sum to 1.
    tie : float, default 1
        Share of decisions to act when a score equals a value exactly.

    Raises
    ------
    ValueError
        If a value lies outside [0, 1], a weight is negative or not finite, all are zero, or the lengths differ.

    Notes
    -----
    Mass 1, loss factor 2.

    Examples
    --------
    Five clinicians said at what risk they would treat.

    >>> from stakes import costs
    >>> stated = costs.Empirical([0.05, 0.05, 0.10, 0.10, 0.20])
    >>> round(stated.mean(), 12)
    0.1
    """

    kind = "empirical"

    def __init__(self, values: ArrayLike, weights: ArrayLike | None = None, tie: float = 1.0) -> None:
        at = np.atleast_1d(to_floats(to_array(values, "values"), "values"))
        mass = np.ones(at.shape)
        if weights is not None:
            mass = np.atleast_1d(to_floats(to_array(weights, "weights"), "weights"))
        if at.ndim != 1 or at.size == 0 or mass.shape != at.shape:
            raise ValueError(
                f"values and weights must be 1-D and of equal length > 0, got {at.shape} and {mass.shape}."
            )
        if not np.all((at >= 0.0) & (at <= 1.0)):
            first = int(np.argmin((at >= 0.0) & (at <= 1.0)))
            raise ValueError(f"values must lie in [0, 1], got {at[first]} at index {first}{in_percent(at[first])}.")
        good = np.isfinite(mass) & (mass >= 0.0)
        if not np.all(good):
            first = int(np.argmin(good))
            raise ValueError(f"weights must be finite and >= 0, got {mass[first]} at index {first}.")
        if not np.any(mass):
            raise ValueError(f"weights must not be all zero, got {len(mass)} zeros.")
        distinct, index = np.unique(at[mass > 0.0], return_inverse=True)
        pooled = np.bincount(index, mass[mass > 0.0])
        self._set(distinct, pooled / pooled.sum(), tie)

    def restrict(self, low: float, high: float) -> CostDistribution:
        keep = self._inside(low, high)
        if np.all(keep):
            return self
        share = float(self._weights[keep].sum())
        return share * Empirical(self._values[keep], self._weights[keep], self.tie)

    def flip(self) -> CostDistribution:
        return Empirical(1.0 - self._values, self._weights, 1.0 - self.tie)

    def _parameters(self) -> dict[str, Any]:
        return {"values": self._values.tolist(), "weights": self._weights.tolist(), "tie": self.tie}

    def __repr__(self) -> str:
        return f"Empirical({len(self._values)} values in [{self.low:g}, {self.high:g}], tie={self.tie!r})"

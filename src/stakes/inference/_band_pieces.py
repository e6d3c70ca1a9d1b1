"""A curve at some thresholds as a sum of shares of rows, with the covariance of its errors in closed form.

Regret, net benefit and interventions avoided are sums over two kinds of rows (false positives and misses, for example)
of a coefficient times a share; their differences between two models over four, those that only one model acts on. Rows
are independent and weights linearised; under a stated prevalence each class is centred on its own mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._band_counts import Counts, PairCounts, Totals

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

ABOVE, BELOW = True, False
_ROUNDING = 1e-11  # of a sum of squares: what is left of it where all rows are alike
# which rows of the negatives and of the positives a curve counts: those at or above the threshold, or below it
SIDES = {
    "regret": (ABOVE, BELOW),
    "net_benefit": (ABOVE, ABOVE),
    "interventions_avoided": (BELOW, BELOW),
}


@dataclass(frozen=True)
class Pieces:
    """Estimate at m thresholds, its covariance, and the k shares of rows that it is made of.

    ``share``, ``size`` (effective number of rows behind the share) and ``coefficient`` are (k, m), ``correlation`` is
    (k, k, m); ``known`` marks shares that the definition fixes. ``row`` is what one row more would add to a share;
    ``degrees`` of freedom are those of the errors; ``ends`` are the least and the largest value that the sum can have.
    """

    coefficient: Floats
    share: Floats
    size: Floats
    correlation: Floats
    known: Bools
    row: Floats
    covariance: Floats
    degrees: float = math.inf
    ends: tuple[Floats | float, Floats | float] = (-math.inf, math.inf)

    @property
    def estimate(self) -> Floats:
        return np.asarray((self.coefficient * self.share).sum(axis=0))

    @property
    def standard_error(self) -> Floats:
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


def acting_gains(kind: str, thresholds: Floats, per: float) -> Floats:
    """What acting on a row, rather than not, adds to the curve: for a negative, for a positive."""
    t = thresholds
    if kind == "regret":
        return np.stack([t, t - 1.0])
    if kind == "net_benefit":
        return np.stack([-t / (1.0 - t), np.ones_like(t)])
    return per * np.stack([-np.ones_like(t), (1.0 - t) / t])


def curve_pieces(kind: str, counts: Counts, thresholds: Floats, per: float) -> Pieces:
    """Pieces of one model's curve."""
    gains, sides = acting_gains(kind, thresholds, per), SIDES[kind]
    coefficient = np.stack([gain if side else -gain for gain, side in zip(gains, sides, strict=True)])
    mass = np.stack([(counts.above if side else counts.below)[:, k] for k, side in enumerate(sides)], axis=1)
    order = np.arange(len(thresholds))
    overlaps = {ABOVE: np.maximum.outer(order, order), BELOW: np.minimum.outer(order, order)}
    shared = np.stack([mass[1, k][overlaps[side]] for k, side in enumerate(sides)])
    # every score is at or above a threshold of 0
    known = (thresholds <= 0.0) & (np.array([[not side] for side in sides]) | counts.totals.fixed_prevalence)
    return _Sum(coefficient, mass, counts.totals).pieces(gains[:, :, None] * gains[:, None] * shared, known)


def difference_pieces(kind: str, counts: PairCounts, thresholds: Floats, per: float) -> Pieces:
    """Pieces of the difference between two models: rows that only the first, then only the second, acts on."""
    gains = acting_gains(kind, thresholds, per)
    coefficient = np.concatenate([gains, -gains])
    mass = np.concatenate([counts.only_first, counts.only_second], axis=1)
    order = np.arange(len(thresholds))
    later = np.maximum.outer(order, order)
    first, second = counts.above
    shared = first[:, later] + second[:, later] - counts.both - counts.both.transpose(0, 2, 1)
    known = np.broadcast_to(thresholds <= 0.0, coefficient.shape)
    return _Sum(coefficient, mass, counts.totals).pieces(gains[:, :, None] * gains[:, None] * shared, known)


class _Sum:
    """Sum of coefficients times weighted shares of disjoint rows, negatives and positives in turn."""

    def __init__(self, coefficient: Floats, mass: Floats, totals: Totals) -> None:
        self.coefficient, (self.mass, self.squared), self.totals = coefficient, mass, totals
        self.owner = np.arange(len(coefficient)) % 2
        self.whole = float(totals.weight.sum())
        # what each share is a share of: all rows, or those of its class where the class totals are known
        if totals.fixed_prevalence:
            self.domain, self.domain_squared = totals.weight[self.owner, None], totals.squared[self.owner, None]
        else:
            self.domain = np.full((len(coefficient), 1), self.whole)
            self.domain_squared = np.full((len(coefficient), 1), totals.squared.sum())
        self.share = self.mass / self.domain

    def pieces(self, products: Floats, known: Bools) -> Pieces:
        """The sum; ``products`` are those of the rows' values at two thresholds, by class, with squared weights."""
        share, row = self.share, self.domain_squared / self.domain**2
        variance = (self.squared * (1.0 - 2.0 * share) + share**2 * self.domain_squared) / self.domain**2
        size = np.broadcast_to(1.0 / row, share.shape).copy()
        spread = share * (1.0 - share)
        np.divide(spread, variance, out=size, where=(spread > 0.0) & (variance > 0.0))
        n = self.totals.n_rows
        return Pieces(
            self.coefficient * self.domain / self.whole,
            share,
            size,
            self._correlation(variance),
            known,
            row[:, 0],
            self._covariance(products) * (n / (n - 1) if n > 1 else np.nan),
            ends=self._ends(),
        )

    def _ends(self) -> tuple[Floats, Floats]:
        """Least and largest value: all rows of one kind, or those of each class where its total is known."""
        terms = self.coefficient * self.domain / self.whole
        low, high = (
            np.stack([end(terms[self.owner == k], axis=0, initial=0.0) for k in (0, 1)]) for end in (np.min, np.max)
        )
        if self.totals.fixed_prevalence:
            return low.sum(axis=0), high.sum(axis=0)
        return low.min(axis=0), high.max(axis=0)

    def _correlation(self, variance: Floats) -> Floats:
        """Correlation between the shares; those of classes whose totals are known are independent."""
        share, squared = self.share, self.squared
        cross = share[:, None] * squared[None] + share[None] * squared[:, None]
        joint = share[:, None] * share[None] * self.domain_squared[:, None] - cross
        scale = np.sqrt(np.maximum(variance[:, None] * variance[None], 0.0)) * self.domain[:, None] ** 2
        found = np.divide(joint, scale, out=np.zeros_like(joint), where=scale > 0.0)
        if self.totals.fixed_prevalence:
            found[self.owner[:, None] != self.owner[None]] = 0.0
        found[np.diag_indices(len(found))] = 1.0
        return np.clip(found, -1.0, 1.0)

    def _covariance(self, products: Floats) -> Floats:
        """Covariance between thresholds, each row's value centred on the mean of all rows or of its class."""
        sums = [
            np.stack([(self.coefficient * column)[self.owner == k].sum(axis=0) for k in (0, 1)])
            for column in (self.mass, self.squared)
        ]
        weight, squared = self.totals.weight, self.totals.squared
        if self.totals.fixed_prevalence:
            centre = sums[0] / weight[:, None]
            parts = [_centred(products[k], sums[1][k], centre[k], squared[k]) for k in (0, 1)]
            return np.asarray((parts[0] + parts[1]) / self.whole**2)
        centre = sums[0].sum(axis=0) / self.whole
        return _centred(products.sum(axis=0), sums[1].sum(axis=0), centre, squared.sum()) / self.whole**2


def _centred(products: Floats, linear: Floats, centre: Floats, total: float) -> Floats:
    """Sum of products of centred values, from the sums of products and of values."""
    cross = np.outer(centre, linear)
    found = products - cross - cross.T + total * np.outer(centre, centre)
    rounding = np.diag(found) <= _ROUNDING * np.diag(products)
    found[rounding] = found[:, rounding] = 0.0
    return found

"""`ManyMoments`: the moments of many estimates as arrays, whose intervals and p-values are solved for all at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from stakes.base.arrays import Bools, Floats, Integers
from stakes.variance.sums import FEW_DEGREES, Moments, Variance, half_width, moments_of, p_value


@dataclass(frozen=True)
class ManyMoments:
    """The fields of :class:`Moments` as arrays; ``refused`` says which have no interval, ``notes`` writes theirs."""

    value: Floats
    variance: Floats
    degrees: Floats
    room: Floats
    least_value: Floats
    most_value: Floats
    refused: Bools
    notes: Callable[[], list[str]] = list

    @classmethod
    def of(cls, each: Sequence[Moments]) -> ManyMoments:
        """Put the moments of single estimates side by side."""
        rows = [(m.value, m.variance, m.degrees, m.room, m.least_value, m.most_value) for m in each]
        value, variance, degrees, room, low, high = np.array(rows, dtype=np.float64).T
        refused = np.array([one.refused for one in each])
        return cls(value, variance, degrees, room, low, high, refused, lambda: [one.note for one in each])

    @classmethod
    def from_variance(
        cls,
        value: Floats,
        found: Variance,
        rows: Floats,
        least: Integers | int = 0,
        ends: tuple[float, float] = (-math.inf, math.inf),
    ) -> ManyMoments:
        """Moments of estimates of independent rows from their variances; each class has so many rows."""
        variance = np.where(np.isfinite(value), found.variance, np.nan)
        few = np.asarray((rows < least).any(axis=0))
        low, high = (np.full(len(value), end) for end in ends)
        take_notes = partial(_notes, replace(found, variance=variance), rows, np.broadcast_to(least, few.shape), few)
        return cls(value, variance, found.degrees, found.unseen_variance, low, high, few, take_notes)

    def scaled(self, factor: float) -> ManyMoments:
        """Return the moments of a factor > 0 times the estimates."""
        square = factor * factor
        found = replace(self, value=factor * self.value, variance=square * self.variance, room=square * self.room)
        return replace(found, least_value=factor * self.least_value, most_value=factor * self.most_value)

    def shifted(self, known: float) -> ManyMoments:
        """Return the moments of the estimates and a known amount together."""
        low, high = self.least_value + known, self.most_value + known
        return replace(self, value=self.value + known, least_value=low, most_value=high)

    def minus(self, other: ManyMoments) -> ManyMoments:
        """Return the moments of the differences from estimates on other, independent rows, as :class:`Moments` do."""
        with np.errstate(all="ignore"):  # infinite losses, and parts of one row
            variance = self.variance + other.variance
            parts = [np.where(one.degrees > 0.0, one.variance**2 / one.degrees, np.nan) for one in (self, other)]
            shares = parts[0] + parts[1]
            fewest = np.where(other.degrees < self.degrees, other.degrees, self.degrees)
            degrees = np.where(shares > 0.0, variance**2 / shares, fewest)
            value, room = self.value - other.value, self.room + other.room
            ends = self.least_value - other.most_value, self.most_value - other.least_value
        return ManyMoments(value, variance, degrees, room, *ends, self.refused | other.refused)

    def intervals(self, confidence_level: float) -> list[tuple[float, float]]:
        """Two-sided, as :meth:`Moments.interval` gives them."""
        known = ~self.refused & np.isfinite(self.value)
        half = half_width(self.variance, self.degrees, self.room, 1.0 - confidence_level)
        with np.errstate(invalid="ignore"):
            low = np.maximum(self.value - half, np.minimum(self.least_value, self.value))
            high = np.minimum(self.value + half, np.maximum(self.most_value, self.value))
        return pairs(*(np.where(known, end, np.nan) for end in (low, high)))

    def p_values(self) -> Floats:
        """Two-sided, as :meth:`Moments.p_value` gives them."""
        return np.where(self.refused, np.nan, p_value(self.value, self.variance, self.degrees, self.room))


def pairs(low: Floats, high: Floats) -> list[tuple[float, float]]:
    """Both ends of each interval."""
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _notes(found: Variance, rows: Floats, least: Integers, few: Bools) -> list[str]:
    """The notes of estimates of independent rows; nearly all are empty where groups are large."""
    noted = few | found.scarce.any(axis=0) | ((found.degrees > 0.0) & (found.degrees < FEW_DEGREES))
    notes = [""] * len(few)
    for g in np.flatnonzero(noted & ~np.isnan(found.variance)).tolist():
        own = int(rows[0, g]), int(rows[1, g])
        notes[g] = moments_of(0.0, found.at(g), own, least=int(least[g])).note
    return notes

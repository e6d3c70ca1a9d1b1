"""What one class of rows loses in stretches of cost ratios.

A negative costs c wherever c <= score: all of each stretch below that of its score, part of that, nothing above. A
positive is a negative seen from the other end of the axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Stretches:
    """The axis as the negatives see it, or the positives.

    Parameters
    ----------
    cuts : ndarray of shape (k + 1,)
        Ends of the stretches, ascending from 0 to 1.
    positive : bool
        Whose losses.
    """

    cuts: Floats
    positive: bool

    @property
    def size(self) -> int:
        """Number of stretches."""
        return len(self.cuts) - 1

    @cached_property
    def _seen(self) -> Floats:
        return 1.0 - self.cuts[::-1] if self.positive else self.cuts

    @cached_property
    def full(self) -> Floats:
        """Loss of a row that is always wrong, in each stretch."""
        return self.ascending(self._full)

    @cached_property
    def _full(self) -> Floats:
        return np.asarray(0.5 * np.diff(self._seen) * (self._seen[1:] + self._seen[:-1]))

    def ascending(self, values: Floats) -> Floats:
        """Values by stretch, along the last axis, in ascending order of cost ratios (or back)."""
        return values[..., ::-1] if self.positive else values

    def placed(self, scores: Floats) -> tuple[Places, Floats]:
        """In which stretch each score lies, counted from the class's own end, and the part of that lost."""
        cuts, seen = self._seen, 1.0 - scores if self.positive else scores
        places = np.clip(np.searchsorted(cuts, seen, side="right") - 1, 0, self.size - 1)
        return places, 0.5 * (seen - cuts[places]) * (seen + cuts[places])

    def summed(self, placed: tuple[Places, Floats], weight: Floats, groups: Places, count: int) -> Floats:
        """Weighted sums of losses of the rows of each group, by stretch."""
        places, parts = placed
        cell, shape = groups * self.size + places, (count, self.size)
        held = counted(cell, weight, count * self.size).reshape(shape)
        rest = counted(cell, weight * parts, count * self.size).reshape(shape)
        return self.ascending(self._full * beyond(held) + rest)


def counted(places: Places, weights: Floats | None, size: int) -> Floats:
    """Count, or sum weights, by place."""
    return np.bincount(places, weights=weights, minlength=size).astype(np.float64)


def beyond(held: Floats) -> Floats:
    """What lies in the stretches beyond each, along the last axis."""
    sums = np.cumsum(held[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(sums - held, dtype=np.float64)

"""A batch of rows with independent labels: probabilities in descending order, and how many positives there may be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._sums import accurate_sum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Probability that the number of positives lies outside its window.
TAIL = 1e-20


@dataclass(frozen=True, eq=False)
class Batch:
    """Probabilities, in descending order unless asked otherwise, and their complements.

    The complements are stored where a batch is the mirror image of another one, so that labels can be swapped without
    losing the small probabilities.
    """

    yes: Floats
    no: Floats

    @classmethod
    def of(cls, y_prob: Floats) -> Batch:
        """Sort clean probabilities."""
        ordered = np.sort(y_prob)[::-1].copy()
        return cls(ordered, 1.0 - ordered)

    def mirrored(self) -> Batch:
        """Swap the classes; the order turns round with them."""
        return Batch(self.no[::-1], self.yes[::-1])

    def reversed(self) -> Batch:
        """List the same rows in the opposite order."""
        return Batch(self.yes[::-1], self.no[::-1])

    def descending(self) -> Batch:
        """List the same rows with the most probable one first."""
        return self.reversed() if len(self) and self.yes[0] < self.yes[-1] else self

    def __len__(self) -> int:
        return len(self.yes)

    @cached_property
    def mean(self) -> float:
        """Expected number of positives."""
        return accurate_sum(self.yes)

    @cached_property
    def variance(self) -> float:
        """Variance of the number of positives."""
        return accurate_sum(self.yes * self.no)

    @cached_property
    def window(self) -> tuple[int, int]:
        """Least and largest number of positives, but for a probability of TAIL (Bernstein and Chernoff)."""
        log = math.log(2.0 / TAIL)
        up = log / 3.0 + math.sqrt(log * log / 9.0 + 2.0 * self.variance * log)
        down = min(up, math.sqrt(2.0 * self.mean * log))
        certain = int(np.count_nonzero(self.no == 0.0))
        possible = len(self) - int(np.count_nonzero(self.yes == 0.0))
        low = max(certain, math.floor(self.mean - down))
        high = min(possible, math.ceil(self.mean + up))
        return low, high

    @cached_property
    def none_positive(self) -> float:
        """Probability that no row is positive."""
        rows = self.descending()
        return _product(rows.no, rows.yes)

    @cached_property
    def all_positive(self) -> float:
        """Probability that every row is positive."""
        rows = self.descending()
        return _product(rows.yes[::-1], rows.no[::-1])


def _product(factors: Floats, rest: Floats) -> float:
    """Product of ascending factors, given their complements."""
    if len(factors) == 0:
        return 1.0
    if factors[0] == 0.0:
        return 0.0
    near = np.searchsorted(factors, 0.5)
    return math.exp(math.fsum([float(np.log(factors[:near]).sum()), float(np.log1p(-rest[near:]).sum())]))

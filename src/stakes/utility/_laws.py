"""Laws of the number of positives among the first k rows and among the others, for one k after the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.utility._batch import Batch

    Floats = NDArray[np.float64]


class Law(NamedTuple):
    """Probabilities of low, low + 1, ... positives, and what was cut off."""

    low: int
    mass: Floats
    lost: float

    def counts(self) -> Floats:
        """The numbers of positives."""
        return self.low + np.arange(float(len(self.mass)))

    def with_row(self, yes: float, no: float, drop: float) -> Law:
        """Add one independent row; outer probabilities up to ``drop`` are cut off."""
        mass = np.empty(len(self.mass) + 1)
        np.multiply(self.mass, no, out=mass[:-1])
        mass[-1] = 0.0
        mass[1:] += self.mass * yes
        return Law(self.low, mass, self.lost).trimmed(drop)

    def trimmed(self, drop: float) -> Law:
        """Cut off outer probabilities up to ``drop``."""
        mass = self.mass
        low, high, lost = 0, len(mass), self.lost
        while high - low > 1 and mass[low] <= drop:
            lost += float(mass[low])
            low += 1
        while high - low > 1 and mass[high - 1] <= drop:
            high -= 1
            lost += float(mass[high])
        return Law(self.low + low, mass[low:high], lost)


CERTAIN_ZERO = Law(0, np.ones(1), 0.0)


def first_laws(batch: Batch, last: int, drop: float) -> Iterator[Law]:
    """Laws among the first 0, 1, ..., last rows."""
    law = CERTAIN_ZERO
    yield law
    for yes, no in zip(batch.yes[:last].tolist(), batch.no[:last].tolist(), strict=True):
        law = law.with_row(yes, no, drop)
        yield law


def other_laws(batch: Batch, first: int, drop: float) -> Iterator[Law]:
    """Laws among the rows after the first ``first``, ``first + 1``, ..., n.

    They are built from the end, and kept at every sqrt(n)-th row only. Taking a row away again would divide by 1 - 2p.
    """
    n = len(batch)
    size = max(1, math.isqrt(n - first))
    starts = range(first, n, size)
    law, kept = CERTAIN_ZERO, {n: CERTAIN_ZERO}
    for k in range(n - 1, first - 1, -1):
        law = law.with_row(float(batch.yes[k]), float(batch.no[k]), drop)
        if (k - first) % size == 0:
            kept[k] = law
    for start in starts:
        stop = min(start + size, n)
        laws = [kept[stop]]
        for k in range(stop - 1, start, -1):
            laws.append(laws[-1].with_row(float(batch.yes[k]), float(batch.no[k]), drop))
        yield kept[start]
        yield from reversed(laws[1:])
    yield CERTAIN_ZERO

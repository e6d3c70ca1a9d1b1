"""What a boundary can be made of: for each uncertainty level, how many positives and rows each score cut selects.

Clean integer counts only. Option 0 of every level selects nothing; each further option selects strictly more rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

INT64_SAFE = 2**62


@dataclass(frozen=True)
class Options:
    """Options of level k at ``starts[k]:starts[k + 1]``, from the shallowest to the deepest.

    ``positives`` and ``selected`` are cumulative counts; ``cuts`` says what the option is: a lowest selected score, or
    on a grid the number of top bins. ``by_bins`` says for each level which option the top 0, 1, 2, ... bins are: empty
    bins are no options of their own. Without it every option is one more bin.
    """

    starts: Ints
    positives: Ints
    selected: Ints
    cuts: Floats
    by_bins: tuple[Ints, ...] | None = None

    @classmethod
    def from_levels(cls, levels: Sequence[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]], nothing: float) -> Options:
        """Join the cumulative counts and cuts of each level, in front of each the option of selecting nothing."""
        parts = [(np.r_[0, p], np.r_[0, n], np.r_[nothing, cut]) for p, n, cut in levels]
        starts = np.cumsum([0] + [len(part[0]) for part in parts])
        positives, selected, cuts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return cls(starts.astype(np.int64), positives.astype(np.int64), selected.astype(np.int64), cuts)

    @classmethod
    def from_grid(cls, positives: ArrayLike, totals: ArrayLike) -> Options:
        """From counts by level and score bin, bins in ascending order of the score; empty bins are no options."""
        levels, by_bins = [], []
        for p, n in zip(np.asarray(positives, np.int64), np.asarray(totals, np.int64), strict=True):
            some = np.flatnonzero(n[::-1])
            levels.append((np.cumsum(p[::-1])[some], np.cumsum(n[::-1])[some], some + 1.0))
            by_bins.append(np.cumsum(np.r_[0, n[::-1] > 0]))
        return replace(cls.from_levels(levels, 0.0), by_bins=tuple(by_bins))

    @property
    def n_levels(self) -> int:
        return len(self.starts) - 1

    @property
    def total_positives(self) -> int:
        return int(self.positives[self.starts[1:] - 1].sum())

    @property
    def total(self) -> int:
        return int(self.selected[self.starts[1:] - 1].sum())

    def slices(self) -> Iterator[slice]:
        """Where the options of each level are."""
        return (slice(a, b) for a, b in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True))

    def counts(self, chosen: Ints) -> tuple[int, int]:
        """True positives and selected rows of one option per level."""
        place = self.starts[:-1] + chosen
        return int(self.positives[place].sum()), int(self.selected[place].sum())

    def slack(self, precision: Fraction) -> NDArray[Any]:
        """Return g = B * positives - A * selected for a precision A/B: a boundary keeps it iff its g add up to >= 0."""
        return self.combine(precision.denominator, precision.numerator)

    def combine(self, gain: int, price: int) -> NDArray[Any]:
        """Return gain * positives - price * selected, in Python integers where int64 could overflow."""
        if (abs(gain) + abs(price)) * max(self.total, 1) < INT64_SAFE:
            return gain * self.positives - price * self.selected
        return gain * self.positives.astype(object) - price * self.selected.astype(object)

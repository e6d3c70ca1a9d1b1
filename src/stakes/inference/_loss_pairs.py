"""The pairs of many models, of which each is worked out when it is first asked for: work grows with the questions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._loss_sums import covariance, pair_sums, powers_of, row_parts
from stakes.inference._power_sums import PowerSums, Spread, known, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.inference._loss_sums import Rules
    from stakes.inference._paired_rows import PairedRows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Unasked:
    """Rows, rules, mean losses and the weight of each class: what the pairs of models follow from."""

    rows: PairedRows
    rules: Rules
    means: Floats
    masses: Floats

    def fill(self, spread: Spread, first: Integers, second: Integers) -> None:
        """Put the spread of pairs of models that have not been asked for into its place in the matrices."""
        count, done = self.rules.models, self._known
        first, second = (
            np.where(part < 0, part + self.rules.count, part) for part in np.broadcast_arrays(first, second)
        )
        low, high = np.minimum(first, second), np.maximum(first, second)
        new = (high < count) & (low < high)
        new[new] = ~done[low[new], high[new]]
        if not new.any():
            return
        pairs = np.unique(np.stack([low[new], high[new]]), axis=1)
        found = self._spread(pairs)
        for whole, part in zip(vars(spread).values(), vars(found).values(), strict=True):
            whole[..., pairs[0], pairs[1]] = whole[..., pairs[1], pairs[0]] = part
        done[pairs[0], pairs[1]] = True

    @cached_property
    def covariance(self) -> Floats:
        """Covariances of the mean losses of all rules."""
        parts, fixed = partial(row_parts, self.rows, self.rules), self.rows.fixed_prevalence
        return covariance(parts, self.rules, self.means, self.masses, fixed=fixed)

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        return np.zeros((self.rules.models, self.rules.models), dtype=bool)

    def _spread(self, pairs: Integers) -> Spread:
        rows, fixed = self.rows, self.rows.fixed_prevalence
        sums = pair_sums(partial(row_parts, rows, self.rules), self.rules, list(zip(*pairs.tolist(), strict=True)))
        powers = powers_of(sums, (self.means[pairs[0]], self.means[pairs[1]]), fixed=fixed)
        most = np.tile(self.rules.worst[:, None], (1, pairs.shape[1]))
        found = spread_without_rounding(powers, most, self.masses, fixed=fixed)
        alike = sums.carriers.sum(axis=0) == 0.0
        alike[alike] = [np.array_equal(rows.scores[i], rows.scores[j]) for i, j in pairs[:, alike].T]
        return replace(found, room=np.where(alike, 0.0, found.room), scarce=found.scarce & ~alike)


def spread_without_rounding(sums: PowerSums, most: Floats, masses: Floats, *, fixed: bool) -> Spread:
    """Spread of differences; where no row tells the two apart, or all of a class do by as much, there is none."""
    none = (sums.carriers == 0.0).all(axis=0) | known(sums.second, sums.carried_second)
    second, fourth = (np.where(none, 0.0, part) for part in (sums.second, sums.fourth))
    with np.errstate(invalid="ignore"):
        return spread_of(replace(sums, second=second, fourth=fourth), most, masses, fixed=fixed)

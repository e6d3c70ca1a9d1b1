"""Whether sums over pairs of models agree with the score tables of the same models, over which each loss is a sum."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.regret import losses_by_score
from stakes.inference._pair_checks import CLASSES, EVERY_ORDER, FLOOR, ROUNDING, digits, place_of_pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.inference._pair_checks import Broken
    from stakes.inference._pair_sums import PairSums

    Floats = NDArray[np.float64]


def check_against_tables(pairs: PairSums, tables: Sequence[ScoreTable], broken: Broken) -> None:
    """Refuse sums over pairs that contradict the tables of the models, which rest on the same rows."""
    for i, table in enumerate(tables):
        for k in (0, 1):
            cells = _Cells(pairs, i, table, k, broken)
            cells.check_sums()
            cells.check_rows()
    for i, j in combinations(range(len(tables)), 2):
        at = _place(pairs, i, j)
        if not pairs.apart[:, at].any() and not _same_scores(tables[i], tables[j]):
            raise broken(
                "apart", f"above 0, as the tables of {pairs.models[i]!r} and {pairs.models[j]!r} differ, got 0"
            )


@dataclass(frozen=True)
class _Cells:
    """The cells of the table of a model, and what its rows of one class cost."""

    pairs: PairSums
    model: int
    table: ScoreTable
    k: int
    broken: Broken

    @property
    def where(self) -> str:
        """Which sums are meant."""
        return f"for {self.pairs.models[self.model]!r} less 'nothing' among {CLASSES[self.k]}"

    @property
    def columns(self) -> tuple[Floats, Floats]:
        """Weights and squared weights of the class, as they were before a prevalence was stated."""
        kind, mass = CLASSES[self.k], float(self.pairs.mass[self.k])
        weight, squared = getattr(self.table, kind), getattr(self.table, f"{kind}_squared")
        by = float(weight.sum()) / mass if self.table.fixed_prevalence and mass else 1.0
        return weight / by, squared / by**2

    @property
    def losses(self) -> tuple[Floats, Floats]:
        """The least and the most that a row of each cell can cost; one number where it is of one score."""
        ends = (self.table.scores if end is None else end for end in (self.table.lower, self.table.upper))
        first, second = (losses_by_score(end, self.pairs.costs, self.pairs.rule)[self.k] for end in ends)
        return np.minimum(first, second), np.maximum(first, second)

    def check_sums(self) -> None:
        """The sums of the model alone are those over its table."""
        at, (weight, squared) = _place(self.pairs, self.model, len(self.pairs.models) + 2), self.columns
        for order, (a, b) in enumerate(EVERY_ORDER[:4]):
            column = weight if a == 1 else squared
            low, high = (_total(column, losses**b) for losses in self.losses)
            found = float(self.pairs.powers[order][self.k, at])
            room = ROUNDING * high + FLOOR * float(column.sum()) if np.isfinite(high) else 0.0
            if not low - room <= found <= high + room:
                wanted = digits(low) if low == high else f"{digits(low)} to {digits(high)}"
                what = f"that over the table, {wanted}, {self.where}, got {digits(found)}"
                raise self.broken(f"w{a}_d{b}", what)

    def check_rows(self) -> None:
        """Rows, and rows with a loss, are those of the table, which knows how many there are at least."""
        weight, squared = self.columns
        fewest = np.where(squared > 0.0, weight**2 / np.where(squared > 0.0, squared, 1.0), 0.0)
        low, high = self.losses
        rows, room = float(self.pairs.rows[self.k]), 1.0 - ROUNDING
        if float(fewest.sum()) * room > rows:
            needed = digits(float(fewest.sum()))
            raise self.broken("rows", f"at least those of the table, {needed}, {self.where}, got {digits(rows)}")
        found = float(self.pairs.carriers[self.k, _place(self.pairs, self.model, len(self.pairs.models) + 2)])
        least, most = float(fewest[low > 0.0].sum()), rows - float(fewest[high == 0.0].sum())
        if not least * room <= found <= most + ROUNDING * rows:
            wanted = f"the rows of the table that cost something, {digits(least)} to {digits(most)}"
            raise self.broken("carriers", f"{wanted}, {self.where}, got {digits(found)}")


def _place(pairs: PairSums, i: int, j: int) -> int:
    """Place of a pair among all."""
    return int(place_of_pair(i, j, len(pairs.models) + 3))


def _total(weight: Floats, losses: Floats) -> float:
    """Weighted sum in which what has no weight counts nothing, even where it is infinite."""
    return float(np.dot(weight[weight > 0.0], losses[weight > 0.0]))


def _same_scores(one: ScoreTable, other: ScoreTable) -> bool:
    same = len(one.scores) == len(other.scores)
    return same and np.allclose(one.scores, other.scores, rtol=ROUNDING, atol=0.0)

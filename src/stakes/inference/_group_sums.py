"""Score and skill of every group and of all other rows, from one pass over the rows in the order of their groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.regret import losses_by_score, row_losses
from stakes.inference._central_sums import CentralSums, joined, mean_spread, skill_spread
from stakes.inference._influence import NEEDED_FOR_SKILL
from stakes.inference._moments import Moments, moments_of
from stakes.inference._power_sums import Spread, check_largest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution
    from stakes.inference._paired_rows import PairedRows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pair = tuple[Moments, Moments]  # of score and skill

UNKNOWN = Moments(np.nan, np.nan)


@dataclass(frozen=True)
class GroupedRows:
    """Rows in the order of their groups, and of their classes within; ``order`` are their places."""

    rows: PairedRows
    order: Integers
    counts: Integers

    @classmethod
    def of(cls, rows: PairedRows, codes: Integers, groups: int) -> GroupedRows:
        """Sort the rows by the codes of their groups."""
        keys = 2 * codes + rows.y
        order = np.argsort(keys.astype(np.min_scalar_type(2 * groups)), kind="stable")  # short integers sort by radix
        return cls(replace(rows, scores=[], clusters=None).taken(order), order, np.bincount(keys, minlength=2 * groups))

    @cached_property
    def parts(self) -> list[slice]:
        """Where the rows of each group stand."""
        ends = np.append(0, np.cumsum(self.counts)[1::2]).tolist()
        return [slice(*ends_of_one) for ends_of_one in pairwise(ends)]

    def sums(self, values: Floats) -> Floats:
        """Sums of one value for each row, of the classes (first axis) in the groups."""
        found, some = np.zeros(len(self.counts)), self.counts > 0
        starts = np.cumsum(self.counts) - self.counts
        found[some] = np.add.reduceat(values, starts[some])
        return found.reshape(-1, 2).T

    def central_sums(self, values: Floats) -> CentralSums:
        """Sums of powers of values that stand in the order of the rows; the array passed in is used up."""
        rows, weight = self.counts.astype(np.float64).reshape(-1, 2).T, self.rows.weight
        if weight is not None:
            check_largest(weight)
        carriers = self.sums((values != 0.0).astype(np.float64))
        masses, totals = (rows, self.sums(values)) if weight is None else map(self.sums, (weight, weight * values))
        means = np.divide(totals, masses, out=np.zeros(totals.shape), where=masses > 0.0)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            values -= np.repeat(means.T.ravel(), self.counts)
            fourth = self._powers(values, 4)
            second = fourth[:3] if weight is None else self._powers(values, 2)
        return CentralSums(rows, masses, totals, carriers, means, second, fourth)

    def _powers(self, values: Floats, most: int) -> Floats:
        """Sums of the weights, raised to the highest power too, times each power of the values."""
        power = np.ones(len(values)) if self.rows.weight is None else self.rows.weight**most
        found = [self.sums(power)]
        for _ in range(most):
            power *= values
            found.append(self.sums(power))
        return np.stack(found)


def group_moments(
    grouped: GroupedRows, score: Floats, costs: CostDistribution, rule: Rule
) -> tuple[list[Pair], list[Pair]]:
    """Moments of score and skill in each group, and of their differences from those in all other rows."""
    return _compared(grouped.central_sums(row_losses(grouped.rows.y, score[grouped.order], costs, rule)), costs)


def group_moments_of_tables(
    tables: Sequence[tuple[ScoreTable, int]], costs: CostDistribution, rule: Rule
) -> tuple[list[Pair], list[Pair]]:
    """The same of groups of which the tables and the numbers of positive rows are known.

    Where rows of unlike weights share a score, the degrees of freedom are approximate.
    """
    each = [_central_sums(table, ups, costs, rule) for table, ups in tables]
    return _compared(joined(each, new_axis=True), costs)


def _central_sums(table: ScoreTable, ups: int, costs: CostDistribution, rule: Rule) -> CentralSums:
    losses, parts = losses_by_score(table.scores, costs, rule), []
    columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)
    for k, (weight, square) in enumerate(columns):
        used = weight > 0.0
        parts.append((k, losses[k][used], weight[used], square[used]))
    return replace(CentralSums.of(parts), rows=np.array([table.n_rows - ups, ups], dtype=np.float64))


def _compared(sums: CentralSums, costs: CostDistribution) -> tuple[list[Pair], list[Pair]]:
    own = _moments(sums, costs)
    if len(own) == 1:
        return own, [(UNKNOWN, UNKNOWN)]
    rest = _moments(sums.of_others(), costs)
    return own, [(a[0].minus(b[0]), a[1].minus(b[1])) for a, b in zip(own, rest, strict=True)]


def _moments(sums: CentralSums, costs: CostDistribution) -> list[Pair]:
    share = sums.masses[1] / sums.masses.sum(axis=0)
    constant = np.stack([costs.negative_loss(share), costs.positive_loss(share)])
    worst = np.array([float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))])
    ratio, base, skill = skill_spread(sums, constant, worst)
    needed = np.where(base > 0.0, NEEDED_FOR_SKILL, 0)
    scores = _listed(sums.value, mean_spread(sums, sums.value, worst), sums.rows, 0 * needed, (0.0, float(worst.max())))
    return list(zip(scores, _listed(1.0 - ratio, skill, sums.rows, needed, (-np.inf, 1.0)), strict=True))


def _listed(
    values: Floats, spread: Spread, rows: Floats, least: NDArray[np.int_], ends: tuple[float, float]
) -> list[Moments]:
    """Moments of each group."""
    found = []
    for g, value in enumerate(values.tolist()):
        mine = Spread(*(part[..., g] for part in vars(spread).values()))
        about = {"least": int(least[g]), "least_value": ends[0], "most_value": ends[1]}
        found.append(moments_of(value, mine, (int(rows[0, g]), int(rows[1, g])), **about))
    return found

"""Losses of the rows of every group and of all other rows: their moments, from one pass over the rows.

The spread of a mean loss about any centre follows from sums of powers, up to the fourth, about the means of each group
and class. A constant decision costs all rows of a class alike, so the influence on the skill is a loss, moved by class
and scaled, and needs no sums of its own. The rows outside a group are the sum of the other groups, each about its own
means: no large sums are subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.regret import row_losses
from stakes.core.sums import blocks
from stakes.inference._influence import NEEDED_FOR_SKILL
from stakes.inference._moments import Moments, moments_of
from stakes.inference._power_sums import PowerSums, Spread, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution
    from stakes.inference._loss_moments import PairedRows

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pair = tuple[Moments, Moments]  # of score and skill

_CENTRES = 16  # at once: the sums of all groups about them fit the cache
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

    @cached_property
    def masses(self) -> Floats:
        """Weight of the classes (first axis) in the groups."""
        weight = self.rows.weight
        return self.counts.astype(np.float64).reshape(-1, 2).T if weight is None else self.sums(weight)

    def sums(self, values: Floats) -> Floats:
        """Sums of one value for each row, of the classes (first axis) in the groups."""
        found, some = np.zeros(len(self.counts)), self.counts > 0
        starts = np.cumsum(self.counts) - self.counts
        found[some] = np.add.reduceat(values, starts[some])
        return found.reshape(-1, 2).T

    def spread_out(self, by_class: Floats) -> Floats:
        """Give every row the value of its class in its group."""
        return np.repeat(by_class.T.ravel(), self.counts)


@dataclass(frozen=True)
class GroupLosses:
    """Losses of one model by class (first axis) and group: means, and sums of powers of weights and deviations.

    ``second[j]`` is the sum of w^2 d^j and ``fourth[j]`` that of w^4 d^j, where d is the loss less the mean of its
    class in its group; ``carriers`` are the rows that cost anything.
    """

    costs: CostDistribution
    rows: Floats
    masses: Floats
    means: Floats
    second: Floats
    fourth: Floats
    carriers: Floats

    @classmethod
    def of(cls, grouped: GroupedRows, score: Floats, costs: CostDistribution, rule: Rule) -> GroupLosses:
        """Sum the losses of the scores of the rows."""
        rows = grouped.counts.astype(np.float64).reshape(-1, 2).T
        weight = grouped.rows.weight
        losses = row_losses(grouped.rows.y, score[grouped.order], costs, rule)
        carriers = grouped.sums((losses != 0.0).astype(np.float64))
        masses, total = grouped.masses, grouped.sums(losses if weight is None else weight * losses)
        means = np.divide(total, masses, out=np.zeros(total.shape), where=masses > 0.0)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            losses -= grouped.spread_out(means)
            fourth = _powers(grouped, weight, losses, 4)
            second = fourth[:3] if weight is None else _powers(grouped, weight, losses, 2)
        return cls(costs, rows, masses, means, second, fourth, carriers)

    def compared(self) -> tuple[list[Pair], list[Pair]]:
        """Moments of score and skill in each group, and of their differences from those in all other rows."""
        own = self._moments(others=False)
        if len(own) == 1:
            return own, [(UNKNOWN, UNKNOWN)]
        rest = self._moments(others=True)
        return own, [(a[0].minus(b[0]), a[1].minus(b[1])) for a, b in zip(own, rest, strict=True)]

    def _moments(self, *, others: bool) -> list[Pair]:
        sums = (self.rows, self.masses, self.masses * self.means, self.carriers)
        rows, masses, losses, carriers = map(_of_others, sums) if others else sums
        total = masses.sum(axis=0)
        value, share = losses.sum(axis=0) / total, masses[1] / total
        constant = np.stack([self.costs.negative_loss(share), self.costs.positive_loss(share)])
        base = (masses * np.where(masses > 0.0, constant, 0.0)).sum(axis=0) / total
        worst = np.array([float(self.costs.negative_loss(np.inf)), float(self.costs.positive_loss(-np.inf))])
        with np.errstate(invalid="ignore", divide="ignore"):  # infinite losses, and groups of one class
            ratio = np.where(base > 0.0, value / base, np.nan)
            centres = (
                np.broadcast_to(value, constant.shape),
                value + ratio * (constant - base),
                np.zeros(losses.shape),
            )
            *powers, carried = (self._powers_about(centre, others=others) for centre in centres)
            score, skill = (
                spread_of(PowerSums(rows, second, fourth, carriers, *carried), worst, masses)
                for second, fourth in powers
            )
            skill = replace(skill, variance=skill.variance / base**2, room=skill.room / base**2)
        needed = np.where(base > 0.0, NEEDED_FOR_SKILL, 0)
        both = _listed(value, score, rows, 0 * needed), _listed(1.0 - ratio, skill, rows, needed)
        return list(zip(*both, strict=True))

    def _powers_about(self, centre: Floats, *, others: bool) -> tuple[Floats, Floats]:
        """Second and fourth powers about a centre for each class, of the rows of each group or of all others."""
        second, fourth = (_about(sums, self.means, centre, others=others) for sums in (self.second, self.fourth))
        return second, fourth


def _listed(values: Floats, spread: Spread, rows: Floats, least: NDArray[np.int_]) -> list[Moments]:
    """Moments of each group."""
    found = []
    for g, value in enumerate(values.tolist()):
        mine = Spread(*(part[..., g] for part in vars(spread).values()))
        found.append(moments_of(value, mine, (int(rows[0, g]), int(rows[1, g])), least=int(least[g])))
    return found


def _powers(grouped: GroupedRows, weight: Floats | None, deviations: Floats, most: int) -> Floats:
    """Sums of the weights, raised to the highest power too, times each power of the deviations."""
    power = np.ones(len(deviations)) if weight is None else weight**most
    found = [grouped.sums(power)]
    for _ in range(most):
        power *= deviations
        found.append(grouped.sums(power))
    return np.stack(found)


def _about(sums: Floats, means: Floats, centre: Floats, *, others: bool) -> Floats:
    """Highest power about other centres, of each group or of all others together."""
    if not others:
        return _moved(sums, means - centre)
    found = np.empty(centre.shape)
    for part in blocks(centre.shape[1], _CENTRES):
        moved = _moved(sums[..., None, :], means[:, None, :] - centre[:, part, None])
        places = np.arange(moved.shape[1])
        moved[:, places, part.start + places] = 0.0
        found[:, part] = moved.sum(axis=-1)
    return found


def _moved(sums: Floats, gaps: Floats) -> Floats:
    """Highest power about centres so far below the means, by the binomial theorem and Horner's rule."""
    found, most = sums[0], len(sums) - 1
    for j in range(1, most + 1):
        found = found * gaps + comb(most, j) * sums[j]
    return found


def _of_others(sums: Floats) -> Floats:
    """Sum over the groups (last axis) other than each."""
    found = np.zeros(sums.shape)
    found[..., 1:] = np.cumsum(sums[..., :-1], axis=-1)
    found[..., :-1] += np.cumsum(sums[..., :0:-1], axis=-1)[..., ::-1]
    return found

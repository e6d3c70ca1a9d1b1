"""Sums of powers of row values about the means of the parts they came in, from one pass over the rows.

The spread of a mean about any centre follows from sums of powers, up to the fourth, about the mean of each class in
each part: a block of rows that fits the cache, or a group. A constant decision costs all rows of a class alike, so the
influence on the skill is a loss, moved by class and scaled, and needs no sums of its own. The rows outside a group are
the sum of the other groups, each about its own means: no large sums are subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._power_sums import PowerSums, moved, spread_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from stakes.inference._power_sums import Spread

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    # values of some rows of one class, with their weights and squared weights
    Part = tuple[int, Floats, Floats | None, Floats | None]

BLOCK = 1 << 15  # rows at once
_CENTRES = 16  # at once: the sums of all groups about them fit the cache


@dataclass(frozen=True)
class CentralSums:
    """Sums over the rows of each class (first axis), of all rows or of each group (second axis).

    Parameters
    ----------
    rows, masses, totals : ndarray
        Number of rows, their weight, and the weighted sum of their values.
    carriers : ndarray
        Number of rows whose value is not zero.
    means : ndarray
        Weighted mean of the values.
    second, fourth : ndarray
        At [j], the sum of w^2 d^j and of w^4 d^j, where d is the value less the mean.
    others : bool
        Whether all but the last three speak of the rows of all other groups.
    """

    rows: Floats
    masses: Floats
    totals: Floats
    carriers: Floats
    means: Floats
    second: Floats
    fourth: Floats
    others: bool = False

    @classmethod
    def of(cls, parts: Iterable[Part]) -> CentralSums:
        """Sums over all parts of each class, each part looked at once."""
        found: tuple[list[list[float]], ...] = ([], [])
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            for k, values, weight, square in parts:
                if len(values):
                    found[k].append(_sums_of(values, weight, square))
        pooled = [_pooled(np.array(mine).T) if mine else np.zeros(13) for mine in found]
        columns = np.stack(pooled, axis=1)
        rows, masses, totals, carriers, means = columns[:5]
        return cls(rows, masses, totals, carriers, means, columns[5:8], columns[8:])

    @classmethod
    def of_rows(
        cls, values: Floats, y: Bools, weight: Floats | None = None, square: Floats | None = None
    ) -> CentralSums:
        """Sums over rows, or the cells of a table, with their weights and squared weights."""
        return cls.of(
            (k, values[part][mine], *(None if given is None else given[part][mine] for given in (weight, square)))
            for part in blocks(len(y), BLOCK)
            for k, mine in enumerate((~y[part], y[part]))
        )

    @property
    def value(self) -> Floats:
        """Mean over the rows of both classes."""
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            return np.asarray(self.totals.sum(axis=0) / self.masses.sum(axis=0))

    def of_others(self) -> CentralSums:
        """Sums over the rows of all other groups."""
        rows, masses, totals, carriers = map(_of_others, (self.rows, self.masses, self.totals, self.carriers))
        return CentralSums(rows, masses, totals, carriers, self.means, self.second, self.fourth, others=True)

    def about(self, centre: Floats) -> tuple[Floats, Floats]:
        """Sums of second and fourth powers about a centre for each class."""
        second, fourth = (self._about(sums, centre) for sums in (self.second, self.fourth))
        return second, fourth

    @cached_property
    def carried(self) -> tuple[Floats, Floats]:
        """The same about zero."""
        return self.about(np.zeros(self.rows.shape))

    def power_sums(self, centre: Floats) -> PowerSums:
        """What the spread of a mean about a centre follows from."""
        return PowerSums(self.rows, *self.about(centre), self.carriers, *self.carried)

    def _about(self, sums: Floats, centre: Floats) -> Floats:
        if not self.others:
            return moved(sums, self.means - centre)
        found = np.empty(centre.shape)
        for part in blocks(centre.shape[1], _CENTRES):
            powers = moved(sums[..., None, :], self.means[:, None, :] - centre[:, part, None])
            places = np.arange(powers.shape[1])
            powers[:, places, part.start + places] = 0.0
            found[:, part] = powers.sum(axis=-1)
        return found


def mean_spread(sums: CentralSums, centre: Floats, most: Floats, *, fixed: bool = False) -> Spread:
    """Spread of the mean, whose rows' influences are their values less a centre for each class."""
    centre = sums.means if fixed else np.broadcast_to(centre, sums.rows.shape)
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        return spread_of(sums.power_sums(centre), most, sums.masses, fixed=fixed)


def skill_spread(
    sums: CentralSums, constant: Floats, worst: Floats, *, fixed: bool = False
) -> tuple[Floats, Floats, Spread]:
    """Loss over that of a constant decision, which costs each class so much; that loss; and the spread of the ratio."""
    masses = sums.masses
    base = (masses * np.where(masses > 0.0, constant, 0.0)).sum(axis=0) / masses.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # infinite losses, and rows of one class
        ratio = np.where(base > 0.0, sums.value / base, np.nan)
        spread = mean_spread(sums, sums.value + ratio * (constant - base), worst, fixed=fixed)
        return ratio, base, replace(spread, variance=spread.variance / base**2, room=spread.room / base**2)


def _sums_of(values: Floats, weight: Floats | None, square: Floats | None) -> list[float]:
    """The numbers of one part, in the order of :class:`CentralSums`; a cell of a table holds weight^2 / square rows."""
    carries = values != 0.0
    if weight is None:
        n, total = float(len(values)), float(values.sum())
        powers = [n, *map(_total, _powers(values - total / n))]
        return [n, n, total, float(np.count_nonzero(carries)), total / n, *powers[:3], *powers]
    square = weight * weight if square is None else square
    count, mass, total = weight * weight / square, float(weight.sum()), _total(weight * values)
    away = _powers(values - total / mass)
    fourth = square * square / count  # square^3 / weight^2, without the cost of general powers
    second = [_total(square), *(_total(square * power) for power in away[:2])]
    head = [_total(count), mass, total, _total(count[carries]), total / mass]
    return [*head, *second, _total(fourth), *(_total(fourth * power) for power in away)]


def _powers(away: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    squares = away * away
    return away, squares, squares * away, squares * squares


def _total(values: Floats) -> float:
    return float(values.sum())


def _pooled(parts: Floats) -> Floats:
    """One part in the place of many (the last axis)."""
    with np.errstate(invalid="ignore"):
        mean = parts[2].sum() / parts[1].sum()
        gaps = parts[4] - mean
        sums = [moved(powers[: j + 1], gaps).sum() for powers in (parts[5:8], parts[8:]) for j in range(len(powers))]
    return np.array([*parts[:4].sum(axis=1), mean, *sums])


def _of_others(sums: Floats) -> Floats:
    """Sum over the groups (last axis) other than each."""
    found = np.zeros(sums.shape)
    found[..., 1:] = np.cumsum(sums[..., :-1], axis=-1)
    found[..., :-1] += np.cumsum(sums[..., :0:-1], axis=-1)[..., ::-1]
    return found

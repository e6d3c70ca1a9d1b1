"""Sums of powers of row values about the means of the parts they came in, from one pass over the rows.

The spread of a mean about any centre follows from sums of powers, up to the fourth, about the mean of each class in
each part: a block of rows that fits the cache, or a group. A constant decision costs all rows of a class alike, so the
influence on the skill is a loss, moved by class and scaled, and needs no sums of its own. The rows outside a group are
the sum of the other groups, each about its own means: no large sums are subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._power_sums import PowerSums, dot, moved, spread_of, weight_powers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from stakes.inference._power_sums import Spread

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    # values of some rows of one class, with their weights and squared weights
    Part = tuple[int, Floats, Floats | None, Floats | None]

BLOCK = 1 << 15  # rows at once
_PARTS = 256  # of a class, before they are pooled
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
        found: tuple[list[Floats], ...] = ([], [])
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            for k, values, weight, square in parts:
                if values.shape[-1]:
                    found[k].append(_sums_of(values, weight, square))
                if len(found[k]) == _PARTS:
                    found[k][:] = [_pooled(np.stack(found[k], axis=-1))]
        shape = next((mine[0].shape for mine in found if mine), (13,))
        pooled = [_pooled(np.stack(mine, axis=-1)) if mine else np.zeros(shape) for mine in found]
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

    @property
    def columns(self) -> dict[str, Floats]:
        """All sums by name."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.name != "others"}

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


def joined(each: Iterable[CentralSums], *, new_axis: bool = False) -> CentralSums:
    """Many estimates side by side, of rows of the same classes."""
    join: Any = partial(np.stack if new_axis else np.concatenate, axis=-1)
    columns = [part.columns for part in each]
    return CentralSums(**{name: join([part[name] for part in columns]) for name in columns[0]})


def _sums_of(values: Floats, weight: Floats | None, square: Floats | None) -> Floats:
    """The numbers of one part, in the order of :class:`CentralSums`; a cell of a table holds weight^2 / square rows.

    Rows are the last axis of the values; the numbers are the first axis of what is returned.
    """
    shape, carries = values.shape[:-1], values != 0.0
    if weight is None:
        n, total = float(values.shape[-1]), values.sum(axis=-1)
        powers = [np.full(shape, n), *_powers(values - (total / n)[..., None])]
        carriers = np.array([np.count_nonzero(row) for row in carries.reshape(-1, values.shape[-1])], dtype=np.float64)
        return np.array([powers[0], powers[0], total, carriers.reshape(shape), total / n, *powers[:3], *powers])
    square, count, fourth = weight_powers(weight, square)
    mass, total = float(weight.sum()), (weight * values).sum(axis=-1)
    away = values - (total / mass)[..., None]
    rows, masses, *weights = (np.full(shape, float(part.sum())) for part in (count, weight, square, fourth))
    head = [rows, masses, total, np.where(carries, count, 0.0).sum(axis=-1), total / mass]
    second = away * square
    second = [second.sum(axis=-1), dot(second, away)]
    return np.array([*head, weights[0], *second, weights[1], *_powers(away, fourth)])


def _powers(away: Floats, weight: Floats | None = None) -> list[Floats]:
    """Weighted sums of the first to the fourth powers of values over the last axis."""
    squares = away * away
    first, second = (away, squares) if weight is None else (away * weight, squares * weight)
    return [first.sum(axis=-1), dot(first, away), dot(first, squares), dot(second, squares)]


def _pooled(parts: Floats) -> Floats:
    """One part in the place of many (the last axis)."""
    with np.errstate(invalid="ignore"):
        mean = parts[2].sum(axis=-1) / parts[1].sum(axis=-1)
        gaps = parts[4] - mean[..., None]
        sums = [
            moved(powers[: j + 1], gaps).sum(axis=-1) for powers in (parts[5:8], parts[8:]) for j in range(len(powers))
        ]
    return np.array([*parts[:4].sum(axis=-1), mean, *sums])


def _of_others(sums: Floats) -> Floats:
    """Sum over the groups (last axis) other than each."""
    found = np.zeros(sums.shape)
    found[..., 1:] = np.cumsum(sums[..., :-1], axis=-1)
    found[..., :-1] += np.cumsum(sums[..., :0:-1], axis=-1)[..., ::-1]
    return found

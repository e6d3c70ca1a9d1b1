"""`Sums`, `Variance`, cluster shape."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]
    Part = tuple[int, Floats, Floats | None, Floats | None]


# Second and fourth powers over the rows of each class, and the variance, degrees of freedom and scarcity they give.
#
# The degrees of freedom say how many rows carry the spread: k equal rare rows among many that add nothing give 2 k. A
# class is scarce where fewer than five effective rows of it carry the value and one more row might move the estimate
# by a tenth of its standard error. Sums of parts add up, and further axes hold many estimates at once: models, pairs,
# thresholds, groups.

NEEDED = 5  # effective rows (clusters) of a class that carry the value; with fewer, it is scarce
_NOTICED = 0.1  # what one more row may bring matters from this share of the standard error on
_LARGER = 3.0  # one more row may bring so many times what those seen do
_ROUNDING = 1e-12
FOURTH_WELL = (1e-60, 1e60)  # fourth powers of such weights, times those of values and of counts, are numbers
_CONSTANT = 1e-24  # share of the squares of a constant that subtracting its mean leaves


@dataclass(frozen=True)
class PowerSums:
    """Sums over the rows of each class, which are the first axis: negatives, positives, or classes by their codes.

    Parameters
    ----------
    rows : ndarray
        Number of rows.
    second, fourth : ndarray
        Powers of w (d - centre): each row's part in the error, times the total weight.
    carriers : ndarray
        Number of rows with d != 0.
    carried_second, carried_fourth : ndarray
        Powers of w d, not centred.
    """

    rows: Floats
    second: Floats
    fourth: Floats
    carriers: Floats
    carried_second: Floats
    carried_fourth: Floats

    def __add__(self, other: PowerSums) -> PowerSums:
        return PowerSums(
            *(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True))
        )

    @property
    def effective(self) -> Floats:
        """How many equal rows of each class would carry the value as these do."""
        return effective(self.carried_second, self.carried_fourth)


@dataclass(frozen=True)
class Variance:
    """Variance, its degrees of freedom, and the room for what the scarce classes have not shown.

    ``room`` is the square of what one more row might bring, over the scarce classes; infinite where costs have no
    bound. ``carrying`` are the effective rows of each class (first axis), ``carriers`` their plain number.
    """

    variance: Floats
    degrees: Floats
    room: Floats
    carrying: Floats
    carriers: Floats
    scarce: Bools

    def minus(self, other: Variance) -> Variance:
        """Spread of the difference from an estimate on other, independent rows; the scarcer of the two is named."""
        variance = self.variance + other.variance
        shares = self.variance**2 / self.degrees + other.variance**2 / other.degrees
        degrees = ratio(variance**2, shares, np.minimum(self.degrees, other.degrees))
        fewer = self.carrying <= other.carrying
        return Variance(
            variance,
            degrees,
            self.room + other.room,
            np.where(fewer, self.carrying, other.carrying),
            np.where(fewer, self.carriers, other.carriers),
            self.scarce | other.scarce,
        )


def class_sums(
    part: Floats, carried: Floats, weight: Floats | None = None, square: Floats | None = None
) -> list[Floats]:
    """Sums of one class, in the order of :class:`PowerSums`; rows are the last axis.

    ``part`` are the centred values, ``carried`` the values themselves. A cell of a table has the sum of the weights of
    its rows and of their squares, and holds weight^2 / square rows of weight square / weight.
    """
    squares, carried_squares = part * part, carried * carried
    carries = carried != 0.0
    if weight is None or ((weight == 1.0).all() and (square is None or (square == 1.0).all())):
        return [
            np.full(part.shape[:-1], float(part.shape[-1])),
            squares.sum(axis=-1),
            dot(squares, squares),
            np.count_nonzero(carries, axis=-1).astype(np.float64),
            carried_squares.sum(axis=-1),
            dot(carried_squares, carried_squares),
        ]
    square, count, fourth = weight_powers(weight, square)
    return [
        np.full(part.shape[:-1], float(count.sum())),
        squares @ square,
        dot(squares * fourth, squares),
        np.where(carries, count, 0.0).sum(axis=-1),
        carried_squares @ square,
        dot(carried_squares * fourth, carried_squares),
    ]


def weight_powers(weight: Floats, square: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Squares of weights, number of rows, and fourth powers of cells that hold weight^2 / square rows each."""
    square = weight * weight if square is None else square
    check_largest(square / weight)
    count = weight * weight / square
    return square, count, square * square / count  # square^3 / weight^2, without the cost of general powers


def check_largest(weight: Floats) -> None:
    """Refuse weights whose fourth powers overflow, or vanish all of them: errors would be wrong without a word."""
    largest = float(weight.max(initial=0.0))
    if largest and not FOURTH_WELL[0] <= largest <= FOURTH_WELL[1]:
        raise ValueError(
            f"sample_weight must have a largest value of each class within [{FOURTH_WELL[0]:g}, {FOURTH_WELL[1]:g}] "
            f"where errors are estimated, got {largest:g} (prevalence= weighs too): divide all weights by a constant, "
            "which changes no result."
        )


def by_class(*classes: list[Floats]) -> PowerSums:
    """Sums of all classes."""
    return PowerSums(*(np.stack(each) for each in zip(*classes, strict=True)))


def members(y: Bools | Integers, kinds: int = 2) -> tuple[Bools, ...]:
    """Which rows are of each class: negatives and positives, or those of each code."""
    if y.dtype != np.bool_:
        return tuple(y == k for k in range(kinds))
    positive = y.astype(np.bool_, copy=False)
    return ~positive, positive


def spread_of(sums: PowerSums, most: Floats, masses: Floats, *, fixed: bool = False) -> Variance:
    """Spread of a mean over independent rows.

    ``most`` is the largest value a row of each class can have, ``masses`` the weight of each class; ``fixed`` says that
    the class totals are known and each class is centred on its own mean.
    """
    variance, degrees = (class_variance if fixed else pooled_variance)(sums.rows, sums.second, sums.fourth)
    return with_rows_unseen(variance / aligned(masses.sum(axis=0), variance.ndim) ** 2, degrees, sums, most, masses)


def known(second: Floats, carried_second: Floats) -> Bools:
    """Whether what is left of centred values is rounding: all are one constant, such as that of treating all."""
    return np.asarray(second <= _CONSTANT * carried_second)


def with_rows_unseen(variance: Floats, degrees: Floats, sums: PowerSums, most: Floats, masses: Floats) -> Variance:
    """Add the room for what scarce classes have not shown to the variance of a mean over rows."""
    most, masses = (aligned(part, sums.second.ndim) for part in (most, masses))
    total = masses.sum(axis=0)
    return with_room(variance, degrees, most * mean_weights(masses, sums.rows) / total, sums, total)


def pooled_variance(rows: Floats, second: Floats, fourth: Floats) -> tuple[Floats, Floats]:
    """Variance of a sum over rows of all classes, and its degrees of freedom."""
    n, second, fourth = (part.sum(axis=0) for part in (rows, second, fourth))
    return freed(n) * second, np.minimum(n - 1.0, kurtosis_degrees(second, fourth - second**2 / np.maximum(n, 1.0)))


def class_variance(rows: Floats, second: Floats, fourth: Floats) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom where each class is centred on its own mean."""
    # a single row shows no spread: the room for what was not seen stands for it
    parts = np.where(rows > 1.0, freed(np.maximum(rows, 2.0)) * second, 0.0)
    variance = np.where((rows > 1.0).any(axis=0), parts.sum(axis=0), np.nan)
    least = np.where(rows > 1.0, rows - 1.0, np.inf)
    shares = (parts**2 / least).sum(axis=0)
    cap = ratio(variance**2, shares, least.min(axis=0))
    uneven = (fourth - second**2 / np.maximum(rows, 1.0)).sum(axis=0)
    return variance, np.minimum(cap, kurtosis_degrees(second.sum(axis=0), uneven))


def kurtosis_degrees(second: Floats, uneven: Floats) -> Floats:
    """Degrees of freedom of a sum of squares; ``uneven`` is the sum of fourth powers less that of equal rows."""
    return ratio(2.0 * second**2, np.where(uneven > _ROUNDING * second**2, uneven, 0.0), np.inf)


def with_room(
    variance: Floats, degrees: Floats, one_more: Floats, carried: PowerSums, total: Floats | float = 1.0
) -> Variance:
    """Add the room for what scarce classes have not shown.

    ``one_more`` is how far one more row of each class could move the estimate at most, ``total`` what sums of carried
    values are divided by.
    """
    second, fourth, carriers = carried.carried_second, carried.carried_fourth, carried.carriers
    dominant = np.sqrt(ratio(fourth, second, 0.0))
    jump = np.where(carriers < NEEDED, one_more, np.minimum(one_more, _LARGER * dominant / total))
    carrying = carried.effective
    scarce = (carrying < NEEDED * (1.0 - _ROUNDING)) & (jump > _NOTICED * np.sqrt(variance))
    room = np.where(scarce, np.where(np.isinf(one_more), np.inf, jump) ** 2, 0.0).sum(axis=0)
    return Variance(variance, degrees, room, carrying, carriers, scarce)


def mean_weights(masses: Floats, rows: Floats) -> Floats:
    """Mean weight of a row of each class, or of all rows where a class has none."""
    overall = masses.sum(axis=0) / np.maximum(rows.sum(axis=0), 1.0)
    return ratio(masses, rows, overall)


def moved(sums: Floats, gaps: Floats) -> Floats:
    """Highest power about centres so far below the means, by the binomial theorem and Horner's rule."""
    found, most = sums[0], len(sums) - 1
    for j in range(1, most + 1):
        found = found * gaps + comb(most, j) * sums[j]
    return found


def effective(second: Floats | np.float64, fourth: Floats | np.float64) -> Floats:
    """How many equal values have sums of squares and fourth powers like these; 0 where there is none."""
    return ratio(second**2, fourth, 0.0)


def freed(n: ArrayLike) -> Floats:
    """What a mean square about the mean is multiplied by; one row alone has no spread."""
    n = np.asarray(n, dtype=np.float64)
    return ratio(n, n - 1.0, np.nan)


def ratio(above: ArrayLike, below: ArrayLike, otherwise: ArrayLike) -> Floats:
    """Divide where the divisor is positive, and put something else elsewhere."""
    positive = np.asarray(below) > 0.0
    return np.where(positive, np.divide(above, np.where(positive, below, 1.0)), otherwise)


def aligned(numbers: Floats, axes: int) -> Floats:
    """Give numbers further axes, for those of the estimates."""
    return numbers.reshape(numbers.shape + (1,) * (axes - numbers.ndim))


def dot(a: Floats, b: Floats) -> Floats:
    """Sum of products over the last axis."""
    return np.asarray(np.einsum("...n,...n->...", a, b), dtype=np.float64)


# Sums of powers of row values about the means of the parts they came in, from one pass over the rows.
#
# The spread of a mean about any centre follows from sums of powers, up to the fourth, about the mean of each class in
# each part: a block of rows that fits the cache, or a group. A constant decision costs all rows of a class alike, so
# the influence on the skill is a loss, moved by class and scaled, and needs no sums of its own. The rows outside a
# group are the sum of the other groups, each about its own means: no large sums are subtracted.

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


def mean_spread(sums: CentralSums, centre: Floats, most: Floats, *, fixed: bool = False) -> Variance:
    """Spread of the mean, whose rows' influences are their values less a centre for each class."""
    centre = sums.means if fixed else np.broadcast_to(centre, sums.rows.shape)
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        return spread_of(sums.power_sums(centre), most, sums.masses, fixed=fixed)


def skill_spread(
    sums: CentralSums, constant: Floats, worst: Floats, *, fixed: bool = False
) -> tuple[Floats, Floats, Variance]:
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


# The spread of an estimate over clusters: each one's sum is left out in turn, as in a jackknife of clusters.

NEEDED_CLUSTERS = 5
_MOST_SHARE = 0.5  # of all weight that one cluster may have


class ClusterShape:
    """How many clusters there are, and how evenly rows and weight lie in them.

    ``largest`` is the largest share of all weight that one of them has, ``second`` and ``fourth`` are sums of powers of
    the shares, and ``size`` is the number of rows in the cluster of a typical row.
    """

    def __init__(self, count: int, largest: float, second: float, fourth: float, size: float) -> None:
        self.count, self.largest, self.size = count, largest, size
        self._powers = second, fourth

    def __len__(self) -> int:
        return self.count

    def degrees(self) -> float:
        """Degrees of freedom if clusters were alike within: few large ones count as few."""
        second, fourth = map(np.float64, self._powers)
        return min(len(self) - 1.0, float(effective(second, fourth)))

    def reason(self) -> str:
        """Why there is no interval; empty where there is one."""
        if len(self) < NEEDED_CLUSTERS:
            return f"only {len(self)} clusters: an interval needs {NEEDED_CLUSTERS}"
        if self.largest > _MOST_SHARE:
            return f"one cluster holds {self.largest:.0%} of all weight: an interval needs half at most"
        return ""

    def rows_at_once(self, rates: Floats) -> Floats:
        """How many rows of each class, which has such a share of all rows, come with a row of it."""
        return 1.0 + (self.size - 1.0) * rates


class Clusters(ClusterShape):
    """Rows grouped by their clusters' codes; ``share`` is each row's part of all weight.

    Sums over clusters stand in the last axis, in the order of the codes.
    """

    def __init__(self, codes: Integers, share: Floats) -> None:
        self.order = np.argsort(codes, kind="stable")
        ordered = codes[self.order]
        self.starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self.codes = ordered[self.starts]
        sizes = np.diff(np.append(self.starts, len(codes))).astype(np.float64)
        self.shares = self.sums(share)
        powers = float(np.sum(self.shares**2)), float(np.sum(self.shares**4))
        super().__init__(len(sizes), float(self.shares.max()), *powers, float(np.sum(sizes**2)) / len(codes))

    def sums(self, values: Floats) -> Floats:
        """Sums over each cluster of values whose last axis are the rows."""
        return np.asarray(np.add.reduceat(values[..., self.order], self.starts, axis=-1), dtype=np.float64)

    def left_out(self, parts: Floats) -> Floats:
        """How far leaving out each cluster moves an estimate, from each row's part in its error."""
        with np.errstate(divide="ignore", invalid="ignore"):  # a single cluster has no interval
            return self.sums(parts) / (1.0 - self.shares)

    def carried(self, values: Floats, members: Sequence[Bools]) -> PowerSums:
        """Powers of the clusters' sums of each class; ``rows`` are the clusters that have the class."""
        sums = [class_sums(x, x) for x in (self.sums(np.where(mine, values, 0.0)) for mine in members)]
        for found, mine in zip(sums, members, strict=True):
            found[0] = np.full(found[1].shape, float(np.count_nonzero(self.sums(np.where(mine, 1.0, 0.0)) > 0.0)))
        return by_class(*sums)


def cluster_spread(
    clusters: Clusters, parts: Floats, carried: Floats, members: Sequence[Bools], one_more: Floats
) -> Variance:
    """Spread over clusters.

    ``parts`` are the rows' parts in the error, ``carried`` their uncentred values over all weight, ``members`` which
    rows are of each class, ``one_more`` how far one more row of it could move the estimate at most. Rows are the last
    axis.
    """
    powers = _squares_and_fourths(clusters.left_out(parts))
    return spread_of_clusters(clusters, powers, clusters.carried(carried, members), row_rates(members), one_more)


def row_rates(members: Sequence[Bools]) -> Floats:
    """Share of each class in all rows."""
    return np.array([np.count_nonzero(mine) / len(mine) for mine in members])


def spread_of_clusters(
    shape: ClusterShape, powers: tuple[Floats, Floats], carried: PowerSums, rates: Floats, one_more: Floats
) -> Variance:
    """The same from sums of powers of what leaving out each cluster changes, and from the share of each class."""
    none = known(powers[0], carried.carried_second.sum(axis=0))
    second, fourth = (np.where(none, 0.0, part) for part in powers)
    variance, degrees = _variance(second, fourth, len(shape), shape.degrees())
    if shape.reason():
        variance = np.full_like(variance, np.nan)
    return with_room(variance, degrees, one_more * aligned(shape.rows_at_once(rates), one_more.ndim), carried)


def left_out_variance(moved: Floats, cap: float) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom from what leaving out each cluster changes."""
    return _variance(*_squares_and_fourths(moved), moved.shape[-1], cap)


def _squares_and_fourths(moved: Floats) -> tuple[Floats, Floats]:
    squares = moved * moved
    return squares.sum(axis=-1), np.einsum("...g,...g->...", squares, squares)


def _variance(second: Floats, fourth: Floats, count: int, cap: float) -> tuple[Floats, Floats]:
    degrees = np.minimum(kurtosis_degrees(second, fourth - second**2 / count), cap)
    return second / freed(count), degrees


# Sums over clusters for every pair of decisions, and the spread they give, without rows and without clusters.


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """What clusters add to sums of pairs, for one prevalence: that of the rows (None), or the one that was stated.

    ``rows`` and ``have`` are the rows of each class and the clusters that have it, ``moved`` the second and fourth
    powers of what leaving out each cluster changes, ``carried`` the powers of the clusters' sums.
    """

    shape: ClusterShape
    rows: Floats
    have: Floats
    moved: tuple[Floats, Floats]
    carried: PowerSums
    prevalence: float | None

    @classmethod
    def of(cls, found: Mapping[str, Floats], shares: Floats, prevalence: float | None) -> ClusterSums:
        """From what an engine summed, where ``shares`` are the parts of a weight of one in all weight, by class."""
        count, rows = int(found["clusters"]), found["rows"]
        if count < NEEDED_CLUSTERS:
            raise ValueError(f"clusters must hold at least {NEEDED_CLUSTERS} clusters, got {count}.")
        largest, second, fourth, squares = (float(found[name]) for name in ("largest", "second", "fourth", "squares"))
        shape = ClusterShape(count, largest, second, fourth, squares / float(rows.sum()))
        carry, scale = found["carry"], shares[:, None]
        have = np.broadcast_to(found["have"][:, None], carry.shape[1:])
        none = np.zeros(carry.shape[1:])
        carried = PowerSums(have, none, none, carry[0], carry[1] * scale**2, carry[2] * scale**4)
        return cls(shape, rows, found["have"], (found["moved"][0], found["moved"][1]), carried, prevalence)

    def spread(self, most: Floats, masses: Floats) -> Variance:
        """Spread of every pair; ``most`` is the most that rows of each class can differ by."""
        one_more = aligned(mean_weights(masses, self.rows) / masses.sum(), most.ndim) * most
        return spread_of_clusters(self.shape, self.moved, self.carried, self.rows / self.rows.sum(), one_more)

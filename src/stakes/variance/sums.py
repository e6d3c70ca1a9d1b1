"""`Sums` of powers over independent units, the `Variance` they give, and `Moments` and `Estimate` with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.numerics import order_of_codes
from stakes.base.validation import TO_SCALE, Bools, Floats, Integers, blocks, to_array, to_floats
from stakes.core.score_table import Rule, class_losses
from stakes.costs import CostDistribution
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import level_name, percent

Block = tuple[int, Floats, Floats | None, Floats | None]  # class; values, weights and their squares (last axis)
Raw = tuple[Floats, ...]


# Variance, degrees of freedom and scarcity of a mean, from sums of powers of its values over the units of each class.
#
# A unit is a row, the rows of a table's cell, or a cluster. The degrees of freedom say how many units carry the
# variance: k equal rare values among many zeros give 2 k. A class is scarce where fewer than five effective units of it
# carry the value and one more unit might move the estimate by a tenth of its standard error. Further axes hold many
# estimates at once: models, pairs, thresholds, groups.

NEEDED = 5  # effective rows (clusters) of a class that carry the value; with fewer, it is scarce
_NOTICED = 0.1  # what one more row may bring matters from this share of the standard error on
_LARGER = 3.0  # one more row may bring at most this many times what those seen do
_ROUNDING = 1e-12
FOURTH_WELL = (1e-60, 1e60)  # fourth powers of such weights, times those of values and of counts, are numbers
_RAW_ROUNDING = 1e-13  # share of the raw squares of a constant that is left about its mean
_CONSTANT = 1e-24  # share of the squares of a constant that subtracting its mean leaves


@dataclass(frozen=True, eq=False, repr=False)
class Variance:
    """Variance of estimates, its degrees of freedom, and the allowance for classes with few effective rows.

    ``unseen_variance`` is the square of what one more row might bring, summed over the scarce classes; infinite where
    costs have no bound. ``carrying`` are the effective rows of each class (first axis), ``carriers`` their plain
    number, and ``equal`` how many equal values are as uneven as theirs (Kish). In a class that is ``short``, fewer rows
    spare a part of the largest value than carry some of it, and ``carrying`` counts those.
    """

    variance: Floats
    degrees: Floats
    unseen_variance: Floats
    carrying: Floats
    carriers: Floats
    scarce: Bools
    equal: Floats
    short: Bools

    @classmethod
    def matrices(cls, count: int) -> Variance:
        """Variance of all differences of some decisions, none of which is computed yet."""
        one, both = np.zeros((count, count)), np.zeros((2, count, count))
        return cls(one, one + 1.0, one.copy(), both, both.copy(), both > 0.0, both.copy(), both > 0.0)

    def at(self, *places: Any) -> Variance:
        """Of some of the estimates, which are the last axes."""
        return Variance(*(part[(..., *places)] for part in vars(self).values()))

    def put(self, found: Variance, first: Any, second: Any) -> None:
        """Store the variance of the differences of some pairs in both halves of the matrices."""
        for whole, part in zip(vars(self).values(), vars(found).values(), strict=True):
            whole[..., first, second] = whole[..., second, first] = part

    def without_unseen(self, alike: Bools) -> Variance:
        """The same with no allowance for unseen rows in some of the estimates."""
        unseen = np.where(alike, 0.0, self.unseen_variance)
        return replace(self, unseen_variance=unseen, scarce=self.scarce & ~alike)


# Sums of powers of values about their means, from one pass over the units.
#
# The variance of a mean about any centre follows from sums of powers, up to the fourth, about the mean of each class:
# each block of units that fits the cache has its own mean, and blocks merge by the binomial theorem. A constant
# decision costs all rows of a class alike, so that the influence on a skill is a loss, shifted by class and scaled, and
# needs no sums of its own. The units outside a group are the merged sums of the other groups: no large sums are
# subtracted.

BLOCK = 1 << 15  # numbers at once
_LEAST = 1 << 11  # units at once
_PARTS = 256  # of a class, before they are merged


@dataclass(frozen=True, eq=False, repr=False)
class Sums:
    """Sums over the units of each class (axis 0: negatives, positives, or classes by their codes).

    Further axes are those of the values: pairs of decisions, groups.

    Parameters
    ----------
    count, weight, total : ndarray
        Number of units, their weight, and the weighted sum of their values.
    nonzero : ndarray
        Number of units whose value is not zero.
    mean : ndarray
        Weighted mean of the values.
    second, fourth : ndarray
        At [j], the sum of w^2 d^j and of w^4 d^j, where d is the value less the mean.
    """

    count: Floats
    weight: Floats
    total: Floats
    nonzero: Floats
    mean: Floats
    second: Floats
    fourth: Floats

    @classmethod
    def from_blocks(cls, parts: Iterable[Block], kinds: int = 2) -> Sums:
        """Sums over blocks of units of one class each; every block is read once."""
        found: tuple[list[Sums], ...] = tuple([] for _ in range(kinds))
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            for k, values, weight, square in parts:
                if values.shape[-1]:
                    found[k].append(cls._of_block(values, weight, square))
                if len(found[k]) == _PARTS:
                    found[k][:] = [cls.merged(found[k])]
        pooled = [cls.merged(mine) if mine else None for mine in found]
        some = next((mine for mine in pooled if mine), cls._of_block(np.zeros(1), None, None))
        axis = -1 - some.count.ndim
        return joined([mine or some.changed(np.zeros_like) for mine in pooled], lambda each: np.stack(each, axis=axis))

    @classmethod
    def from_units(
        cls,
        values: Floats,
        labels: Bools | Integers,
        weight: Floats | None = None,
        square: Floats | None = None,
        kinds: int = 2,
    ) -> Sums:
        """Sums over units (last axis), or a table's cells with the sums of their rows' weights and squared weights."""
        size = max(BLOCK * values.shape[-1] // max(values.size, 1), _LEAST)

        def parts() -> Iterator[Block]:
            for part in blocks(len(labels), size):
                for k, mine in enumerate(map(_selected, members(labels[part], kinds))):
                    weights, squares = (None if by is None else by[part][mine] for by in (weight, square))
                    yield k, values[..., part][..., mine], weights, squares

        return cls.from_blocks(parts(), kinds)

    @classmethod
    def from_powers(cls, count: Floats, weight: Floats, powers: Floats, nonzero: Floats) -> Sums:
        """From sums of the raw powers w d, w^2 d^j up to j = 2 and w^4 d^j up to j = 4, of engines and kept files."""
        mean = ratio(powers[0], weight, 0.0)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            second, fourth = (every_recentred(raw, -mean) for raw in (powers[1:4], powers[4:9]))
            alike = second[2] <= _RAW_ROUNDING * powers[3]  # what a constant leaves is rounding
        second[1:, alike] = fourth[1:, alike] = 0.0
        return cls(count, weight, powers[0], nonzero, mean, second, fourth)

    @classmethod
    def by_group(cls, values: Floats, ends: Integers, weight: Floats | None = None) -> Sums:
        """Sums over each group (last axis) of rows in order of groups and, within, of classes that end at ``ends``."""
        found, first, bounds = [], 0, np.append(0, ends)
        while first < len(ends):  # a long part in several blocks, or as many neighbouring ones as fit into one
            last = max(int(np.searchsorted(bounds, bounds[first] + BLOCK, side="right")) - 1, first + 1)
            rows = slice(bounds[first], bounds[last])
            mine, weights = values[rows], None if weight is None else weight[rows]
            if last > first + 1:
                found.append(cls._of_parts(mine, weights, bounds[first : last + 1] - bounds[first]))
            else:
                found.append(cls.from_units(mine, np.zeros(len(mine), dtype=np.intp), weights, kinds=1))
            first = last
        sums = joined(found, partial(np.concatenate, axis=-1))
        return sums.changed(lambda part: np.moveaxis(part.reshape(*part.shape[:-1], -1, 2), -1, -2))

    @classmethod
    def _of_parts(cls, values: Floats, weight: Floats | None, bounds: Integers) -> Sums:
        """Sums over each of several neighbouring parts of the units; some may be empty."""
        weight = np.ones(len(values)) if weight is None else weight
        sizes = np.diff(bounds)
        used, starts = sizes > 0, bounds[:-1][sizes > 0]

        def sums(each: Floats, add: np.ufunc = np.add) -> Floats:
            found = np.zeros(len(sizes))
            found[used] = add.reduceat(each, starts)
            return found

        for largest in np.unique(sums(weight, np.maximum)[used]):
            check_largest(largest)
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            mass, total = sums(weight), sums(weight * values)
            mean = ratio(total, mass, 0.0)
            away = values - np.repeat(mean, sizes)
            square, squares = weight * weight, away * away
            powers = (np.ones(1), away, squares, squares * away, squares * squares)
            second = np.array([sums(square * power) for power in powers[:3]])
            fourth = np.array([sums(square * square * power) for power in powers])
        return cls(sizes.astype(np.float64), mass, total, sums((values != 0.0) * 1.0), mean, second, fourth)

    @classmethod
    def merged(cls, each: Sequence[Sums]) -> Sums:
        """Sums over the units of all."""
        if len(each) == 1:
            return each[0]
        parts = joined(each)
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            weight, total = parts.weight.sum(axis=-1), parts.total.sum(axis=-1)
            mean = ratio(total, weight, 0.0)
            gaps = parts.mean - mean[..., None]
            second, fourth = (every_recentred(sums, gaps).sum(axis=-1) for sums in (parts.second, parts.fourth))
        return cls(parts.count.sum(axis=-1), weight, total, parts.nonzero.sum(axis=-1), mean, second, fourth)

    def __add__(self, other: Sums) -> Sums:
        return Sums.merged([self, other])

    def changed(self, change: Callable[[Floats], Floats]) -> Sums:
        """The same change of every array."""
        return Sums(*map(change, vars(self).values()))

    @property
    def value(self) -> Floats:
        """Mean over the units of all classes."""
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            return np.asarray(self.total.sum(axis=0) / self.weight.sum(axis=0))

    def others(self) -> Sums:
        """Sums over the units of all other groups (last axis)."""
        turned = partial(np.flip, axis=-1)
        return self._before() + self.changed(turned)._before().changed(turned)

    def _before(self) -> Sums:
        """Sums over all groups before each: those before each two neighbours, and then the first of them."""
        count = self.count.shape[-1]
        if count == 1:
            return self.changed(np.zeros_like)
        even = self.changed(lambda part: part[..., ::2])
        odd = self.changed(lambda part: np.pad(part[..., 1::2], [(0, 0)] * (part.ndim - 1) + [(0, count % 2)]))
        before = (even + odd)._before()
        both = joined([before, before + even])
        return both.changed(lambda part: part.reshape(*part.shape[:-2], -1)[..., :count])

    def shifted(self, by: Floats, nonzero: Floats) -> Sums:
        """Sums of values that are all larger by an amount for each class; ``nonzero`` of them are not zero."""
        by = np.where(self.count > 0.0, aligned(by, self.mean.ndim), 0.0)
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            return replace(self, mean=self.mean + by, total=self.total + by * self.weight, nonzero=nonzero)

    def about(self, centre: Floats | float) -> tuple[Floats, Floats]:
        """Sums of second and fourth powers about a centre for each class."""
        gaps = self.mean - centre
        return recentred(self.second, gaps), recentred(self.fourth, gaps)

    @property
    def raw(self) -> Raw:
        """Number of values that are not zero, their sum, and those of their second and fourth powers about zero."""
        return self.nonzero, self.total, *self.about(0.0)

    def variance(
        self,
        max_loss: Floats,
        centre: Floats | None = None,
        *,
        fixed: bool = False,
        raw: Sums | None = None,
        idle: float = 0.0,
    ) -> Variance:
        """Variance of the mean of independent units.

        Parameters
        ----------
        max_loss : ndarray
            The largest value that a unit of each class can have.
        centre : ndarray, optional
            What the values are centred on, for all classes or for each; by default the mean of all.
        fixed : bool, default False
            Whether the class totals are known: each class is then centred on its own mean.
        raw : Sums, optional
            Of the values themselves, where these sums are those of their influence.
        idle : float, default 0
            Further units that were drawn, of no weight.
        """
        with np.errstate(invalid="ignore"):  # infinite losses have no spread
            centre = self.mean if fixed else self.value if centre is None else aligned(centre, self.mean.ndim)
            own = self if raw is None else raw
            second, fourth = self.about(centre)
            constant = is_constant(second, own.about(0.0)[0])
            second, fourth = (np.where(constant, 0.0, part) for part in (second, fourth))
            count = self.count + idle / len(self.count) if idle else self.count
            variance, degrees = (class_variance if fixed else pooled_variance)(count, second, fourth)
            return own.add_unseen(variance / self.weight.sum(axis=0) ** 2, degrees, max_loss, fixed=fixed)

    def add_unseen(self, variance: Floats, degrees: Floats, max_loss: Floats, *, fixed: bool = False) -> Variance:
        """Widen the variance of a mean of these units for classes with few effective ones."""
        total = self.weight.sum(axis=0)
        shift = aligned(max_loss, self.mean.ndim) * mean_weights(self.weight, self.count) / total
        raw = (*self.raw, self.sparing(max_loss)) if fixed else self.raw
        return add_unseen(variance, degrees, shift, raw, total)

    def sparing(self, max_loss: Floats) -> Floats:
        """How many effective units of each class fall short of its largest value, on the side of its mean."""
        most = np.copysign(aligned(max_loss, self.mean.ndim), self.mean)
        with np.errstate(invalid="ignore"):  # of infinite losses none is the largest
            return sparing_units(most * self.weight - self.total, self.about(most)[0], most**2 * self.second[0])

    @classmethod
    def _of_block(cls, values: Floats, weight: Floats | None, square: Floats | None) -> Sums:
        """Sums over units of one class, without its axis; a table's cell holds weight^2 / square rows."""
        shape, nonzero = values.shape[:-1], values != 0.0
        if weight is not None and (weight == 1.0).all() and (square is None or (square == 1.0).all()):
            weight = None
        if weight is None:
            n, total = float(values.shape[-1]), values.sum(axis=-1)
            count, mean = np.full(shape, n), total / n
            fourth = np.array([count, *_powers(values - mean[..., None])])
            rows = [np.count_nonzero(row) for row in nonzero.reshape(-1, values.shape[-1])]
            return cls(count, count, total, np.reshape(rows, shape).astype(np.float64), mean, fourth[:3], fourth)
        square, rows_of, fourth = weight_powers(weight, square)
        mass, total = float(weight.sum()), (weight * values).sum(axis=-1)
        mean = total / mass
        away = values - mean[..., None]
        count, masses, *weights = (np.full(shape, float(part.sum())) for part in (rows_of, weight, square, fourth))
        first = away * square
        second = np.array([weights[0], first.sum(axis=-1), dot(first, away)])
        fourth = np.array([weights[1], *_powers(away, fourth)])
        return cls(count, masses, total, np.where(nonzero, rows_of, 0.0).sum(axis=-1), mean, second, fourth)


def joined(each: Iterable[Sums], join: Callable[[Any], Floats] = lambda parts: np.stack(parts, axis=-1)) -> Sums:
    """Sums of many estimates side by side, of units of the same classes; by default along a new last axis."""
    return Sums(*map(join, zip(*(vars(sums).values() for sums in each), strict=True)))


def skill_variance(
    sums: Sums, constant: Floats, max_loss: Floats, *, fixed: bool = False
) -> tuple[Floats, Floats, Variance]:
    """Loss over that of a constant decision, which costs each class so much; that loss; and the ratio's variance."""
    weight = sums.weight
    base = (weight * np.where(weight > 0.0, constant, 0.0)).sum(axis=0) / weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # infinite losses, and rows of one class
        ratio = np.where(base > 0.0, sums.value / base, np.nan)
        found = sums.variance(max_loss, sums.value + ratio * (constant - base), fixed=fixed)
        scaled = found.variance / base**2, found.unseen_variance / base**2
        return ratio, base, replace(found, variance=scaled[0], unseen_variance=scaled[1])


def _selected(mine: Bools) -> Bools | slice:
    """The same rows without a copy where they are all, as in a table's cells, which stand class by class."""
    return slice(None) if mine.all() else mine


def _powers(away: Floats, weight: Floats | None = None) -> list[Floats]:
    """Weighted sums of the first to the fourth powers of values over the last axis."""
    squares = away * away
    first, second = (away, squares) if weight is None else (away * weight, squares * weight)
    return [first.sum(axis=-1), dot(first, away), dot(first, squares), dot(second, squares)]


def weight_powers(weight: Floats, square: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """Squares of weights, number of rows, and fourth powers of cells that hold weight^2 / square rows each."""
    square = weight * weight if square is None else square
    check_largest(square / weight)
    count = weight * weight / square
    return square, count, square * square / count  # square^3 / weight^2, without the cost of general powers


def check_largest(weight: Floats | np.float64) -> None:
    """Refuse weights whose fourth powers overflow, or vanish all of them: errors would be wrong without a word."""
    largest = float(weight.max(initial=0.0))
    if largest and not FOURTH_WELL[0] <= largest <= FOURTH_WELL[1]:
        raise ValueError(
            f"sample_weight must have a largest value of each class within [{FOURTH_WELL[0]:g}, {FOURTH_WELL[1]:g}] "
            f"where errors are estimated, got {largest:g} (a stated prevalence weighs too): {TO_SCALE}."
        )


def worst_losses(costs: CostDistribution) -> Floats:
    """What a row of each class costs at most."""
    return np.array([float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))])


def members(y: Bools | Integers, kinds: int = 2) -> tuple[Bools, ...]:
    """Which rows are of each class: negatives and positives, or those of each code."""
    if y.dtype != np.bool_:
        return tuple(y == k for k in range(kinds))
    positive = y.astype(np.bool_, copy=False)
    return ~positive, positive


def is_constant(second: Floats, raw_second: Floats) -> Bools:
    """Whether what is left of centred values is rounding: all are one constant, such as that of treating all."""
    return np.asarray(second <= _CONSTANT * raw_second)


def pooled_variance(rows: Floats, second: Floats, fourth: Floats) -> tuple[Floats, Floats]:
    """Variance of a sum over rows of all classes, and its degrees of freedom."""
    n, second, fourth = (part.sum(axis=0) for part in (rows, second, fourth))
    return bessel(n) * second, np.minimum(n - 1.0, kurtosis_degrees(second, fourth - second**2 / np.maximum(n, 1.0)))


def class_variance(rows: Floats, second: Floats, fourth: Floats) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom where each class is centred on its own mean."""
    # a single row shows no spread: the allowance for unseen rows replaces it
    contributions = np.where(rows > 1.0, bessel(np.maximum(rows, 2.0)) * second, 0.0)
    variance = np.where((rows > 1.0).any(axis=0), contributions.sum(axis=0), np.nan)
    least = np.where(rows > 1.0, rows - 1.0, np.inf)
    shares = (contributions**2 / least).sum(axis=0)
    cap = ratio(variance**2, shares, least.min(axis=0))
    uneven = (fourth - second**2 / np.maximum(rows, 1.0)).sum(axis=0)
    return variance, np.minimum(cap, kurtosis_degrees(second.sum(axis=0), uneven))


def kurtosis_degrees(second: Floats, uneven: Floats) -> Floats:
    """Degrees of freedom of a sum of squares; ``uneven`` is the sum of fourth powers less that of equal rows."""
    return ratio(2.0 * second**2, np.where(uneven > _ROUNDING * second**2, uneven, 0.0), np.inf)


def add_unseen(
    variance: Floats, degrees: Floats, next_row_shift: Floats, raw: Raw, total: Floats | float = 1.0
) -> Variance:
    """Widen the variance for classes with few effective rows (rule of three).

    ``next_row_shift`` is how far one more row of each class could move the estimate at most, ``raw`` counts the values
    that are not zero and sums them and their second and fourth powers, ``total`` is what sums of values are divided by.
    Where classes are centred apart, rows that all cost the most show no spread either: ``raw`` then ends with how many
    effective ones do not, and the scarcer of the two is judged.
    """
    nonzero, first, second, fourth, *sparing = raw
    dominant = np.sqrt(ratio(fourth, second, 0.0))
    jump = np.where(nonzero < NEEDED, next_row_shift, np.minimum(next_row_shift, _LARGER * dominant / total))
    carrying = effective(second, fourth)
    spared, few = sparing[0] if sparing else np.float64(np.inf), NEEDED * (1.0 - _ROUNDING)
    short = spared < np.minimum(carrying * (1.0 - _ROUNDING), few)
    carrying, jump = np.where(short, spared, carrying), np.where(short, next_row_shift, jump)
    scarce = (carrying < few) & (jump > _NOTICED * np.sqrt(variance))
    unseen = np.where(scarce, np.where(np.isinf(next_row_shift), np.inf, jump) ** 2, 0.0).sum(axis=0)
    return Variance(variance, degrees, unseen, carrying, nonzero, scarce, effective(first, second), short)


def sparing_units(first: Floats, second: Floats, largest: Floats) -> Floats:
    """How many effective units fall short of the largest value, from sums of powers of what each lacks.

    ``largest`` is the sum of squares if none lacked anything: what is left of them may be rounding.
    """
    found = effective(first, np.where(is_constant(second, largest), 0.0, second))
    return np.where(np.isfinite(largest), found, np.inf)


def mean_weights(masses: Floats, rows: Floats) -> Floats:
    """Mean weight of a row of each class, or of all rows where a class has none."""
    overall = masses.sum(axis=0) / np.maximum(rows.sum(axis=0), 1.0)
    return ratio(masses, rows, overall)


def recentred(sums: Floats, gaps: Floats) -> Floats:
    """Highest power about centres that lie below the means by ``gaps``, by the binomial theorem and Horner's rule."""
    found, most = sums[0], len(sums) - 1
    for j in range(1, most + 1):
        found = found * gaps + comb(most, j) * sums[j]
    return found


def every_recentred(sums: Floats, gaps: Floats) -> Floats:
    """All powers about centres that lie below the means by ``gaps``."""
    return np.stack([recentred(sums[: j + 1], gaps) for j in range(len(sums))])


def effective(sums: Floats | np.float64, squares: Floats | np.float64) -> Floats:
    """How many equal values have a sum and a sum of squares like these (Kish); 0 where there is none."""
    return ratio(sums**2, squares, 0.0)


def bessel(n: ArrayLike) -> Floats:
    """Bessel's correction n / (n - 1) of a mean square about the mean; one row alone has no spread."""
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


# The variance of an estimate over clusters: each one's sum is left out in turn, as in a jackknife of clusters.

NEEDED_CLUSTERS = 5
_MOST_SHARE = 0.5  # of all weight, or of that of a class of its own mean, that one cluster may have


class ClusterShape:
    """How many clusters there are, and how evenly rows and weight lie in them.

    ``largest`` are the largest shares that one of them has of all weight and, where estimates are made of means of the
    classes, of that of each class. ``second`` and ``fourth`` are sums of powers of the shares of all weight, and
    ``size`` is the number of rows in the cluster of a typical row.
    """

    def __init__(self, count: int, largest: Sequence[float], second: float, fourth: float, size: float) -> None:
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
        for k, share in enumerate(self.largest):
            if share > _MOST_SHARE * (1.0 + _ROUNDING):
                what = f"the {CLASSES[k - 1]}s" if len(self.largest) == 1 + len(CLASSES) else "a class"
                what = f"the weight of {what}" if k else "all weight"
                return f"one cluster holds {percent(share)} of {what}: an interval needs half at most"
        return ""

    def rows_at_once(self, rates: Floats) -> Floats:
        """How many rows of each class, which has such a share of all rows, come with a row of it."""
        return 1.0 + (self.size - 1.0) * rates


class Clusters(ClusterShape):
    """Rows grouped by their clusters' codes; ``share`` is each row's part of all weight, and others are not counted.

    Sums over clusters stand in the last axis, in the order of the codes. ``classes`` are given where estimates are made
    of their means: without a cluster, the rest of its own is left of each.
    """

    def __init__(self, codes: Integers, share: Floats, classes: Sequence[Bools] = ()) -> None:
        self.sorted = bool(np.all(codes[1:] >= codes[:-1]))
        self.order = np.arange(len(codes)) if self.sorted else order_of_codes(codes)
        ordered = codes[self.order]
        self.starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        self.codes = ordered[self.starts]
        self.shares, self.classes = self.sums(share), classes
        shares_of = self.shares[None]
        if classes:
            by_class = self.by_class(share, classes)
            shares_of = ratio(by_class, by_class.sum(axis=-1, keepdims=True), 0.0)
        self.rest = np.where(shares_of < 1.0, 1.0 - shares_of, np.nan)  # of all weight, or of each class
        largest = [float(self.shares.max()), *(shares_of.max(axis=-1).tolist() if classes else ())]
        powers = float(np.sum(self.shares**2)), float(np.sum(self.shares**4))
        sizes = self.sums(np.where(share > 0.0, 1.0, 0.0))
        super().__init__(int(np.count_nonzero(sizes)), largest, *powers, float(np.sum(sizes**2) / sizes.sum()))

    def sums(self, values: Floats) -> Floats:
        """Sums over each cluster of values whose last axis are the rows."""
        ordered = values if self.sorted else values[..., self.order]
        return np.asarray(np.add.reduceat(ordered, self.starts, axis=-1), dtype=np.float64)

    def left_out(self, contributions: Floats) -> Floats:
        """How far leaving out each cluster moves an estimate, from each row's contribution to its error."""
        if not self.classes:
            return self.sums(contributions) / self.rest[0]
        rest = np.expand_dims(self.rest, tuple(range(1, contributions.ndim)))
        return np.asarray((self.by_class(contributions, self.classes) / rest).sum(axis=0))

    def by_class(self, values: Floats, classes: Sequence[Bools]) -> Floats:
        """Sums over each cluster of the values of each class (first axis)."""
        return np.stack([self.sums(np.where(mine, values, 0.0)) for mine in classes])


def cluster_variance(
    shape: ClusterShape, powers: tuple[Floats, Floats], raw: Raw, rates: Floats, next_row_shift: Floats
) -> Variance:
    """Variance over clusters.

    ``powers`` are sums of second and fourth powers of what leaving out each cluster changes, ``raw`` is that of
    :func:`add_unseen` for the clusters' sums of uncentred values over all weight, ``rates`` the share of each class in
    all rows, and ``next_row_shift`` how far one more row of each class could move the estimate at most.
    """
    none = is_constant(powers[0], raw[2].sum(axis=0))
    second, fourth = (np.where(none, 0.0, part) for part in powers)
    variance, degrees = _variance(second, fourth, len(shape), shape.degrees())
    if shape.reason():
        variance = np.full_like(variance, np.nan)
    shift = next_row_shift * aligned(shape.rows_at_once(rates), next_row_shift.ndim)
    return add_unseen(variance, degrees, shift, raw)


def left_out_variance(changes: Floats, count: int, cap: float) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom, ``cap`` at most, from what leaving out each of ``count`` clusters changes."""
    return _variance(*squares_and_fourths(changes), count, cap)


def squares_and_fourths(values: Floats) -> tuple[Floats, Floats]:
    """Sums of second and fourth powers over the last axis."""
    squares = values * values
    return squares.sum(axis=-1), dot(squares, squares)


def _variance(second: Floats, fourth: Floats, count: int, cap: float) -> tuple[Floats, Floats]:
    degrees = np.minimum(kurtosis_degrees(second, fourth - second**2 / count), cap)
    return second / bessel(count), degrees


# Sums over clusters for every pair of decisions, and the spread they give, without rows and without clusters.


@dataclass(frozen=True, eq=False, repr=False)
class ClusterSums:
    """What clusters add to sums of pairs, for one prevalence: that of the rows (None), or the one that was stated.

    ``rows`` and ``have`` are the rows of each class and the clusters that have it, ``changes`` the second and fourth
    powers of what leaving out each cluster changes, ``raw`` the number of clusters' sums that are not zero and their
    second and fourth powers; at a stated prevalence ``lacking`` are the second powers of what each class falls short of
    its largest values, and of those values.
    """

    shape: ClusterShape
    rows: Floats
    have: Floats
    changes: tuple[Floats, Floats]
    raw: tuple[Floats, Floats, Floats]
    prevalence: float | None
    lacking: Floats | None = None

    @classmethod
    def of(cls, found: Mapping[str, Floats], shares: Floats, prevalence: float | None) -> ClusterSums:
        """From what an engine summed, where ``shares`` are those of a weight of one in all weight, by class."""
        count, rows = int(found["clusters"]), found["rows"]
        if count < NEEDED_CLUSTERS:
            raise ValueError(f"clusters must hold at least {NEEDED_CLUSTERS} clusters, got {count}.")
        second, fourth, squares = (float(found[name]) for name in ("second", "fourth", "squares"))
        largest = [float(found["largest"]), *(() if prevalence is None else found["largest_of"].tolist())]
        shape = ClusterShape(count, largest, second, fourth, squares / float(rows.sum()))
        carry, scale = found["carry"], shares[:, None]
        raw = carry[0], carry[1] * scale**2, carry[2] * scale**4
        lacking = None if prevalence is None else found["lacking"] * scale**2
        return cls(shape, rows, found["have"], (found["moved"][0], found["moved"][1]), raw, prevalence, lacking)

    def variance(self, max_loss: Floats, sums: Sums) -> Variance:
        """Variance of every pair; ``max_loss`` is the most that rows of each class can differ by."""
        masses = sums.weight[:, 0]
        next_row_shift = aligned(mean_weights(masses, self.rows) / masses.sum(), max_loss.ndim) * max_loss
        raw: Raw = self.raw[0], sums.total / masses.sum(), *self.raw[1:]
        if self.lacking is not None:
            first = np.copysign(max_loss, sums.mean) * sums.weight - sums.total
            raw = *raw, sparing_units(first / masses.sum(), *self.lacking)
        return cluster_variance(self.shape, self.changes, raw, self.rows / self.rows.sum(), next_row_shift)


# Student's t, widened for rows not seen: half-widths and p-values, for one estimate or for many at once.
#
# ``variance`` has ``degrees`` of freedom; ``unseen`` is the square of what one more row of the scarce classes might
# bring. With the rule of three (none seen in n rows, at most 3 / n at 95%) the half-width at level alpha is
#
#     h(alpha)^2 = t(degrees, alpha / 2)^2 variance + log(alpha)^2 unseen
#
# and the p-value is the alpha at which the interval just reaches the null. Every argument is an array or a number.

_NEAR = 4.0 * np.finfo(float).eps
_MOST_STEPS = 64  # as many halvings of a bracket whose ends differ by a factor of two and a half at most are enough


def t_quantile(alpha: ArrayLike, degrees: ArrayLike) -> Floats:
    """Return the t that Student's variable exceeds, either way, with probability alpha."""
    from scipy.special import stdtr, stdtrit

    tail, degrees = 0.5 * np.asarray(alpha, dtype=np.float64), np.asarray(degrees, dtype=np.float64)
    t = np.asarray(stdtrit(degrees, tail))
    # a step of Newton: older versions of scipy stop at eight digits
    density = _density(t, degrees)
    step = np.divide(stdtr(degrees, t) - tail, density, out=np.zeros_like(t), where=density > 0.0)
    return step - t


def two_sided(t: ArrayLike, degrees: ArrayLike) -> Floats:
    """Probability that Student's variable lies further from zero than t."""
    from scipy.special import stdtr

    return 2.0 * np.asarray(stdtr(degrees, -np.abs(t)), dtype=np.float64)


def half_width(variance: ArrayLike, degrees: ArrayLike, unseen: ArrayLike, alpha: ArrayLike) -> Floats:
    """Half of the interval's width; nan where the variance is unknown or the allowance for unseen rows is infinite."""
    variance, unseen = np.asarray(variance, dtype=np.float64), np.asarray(unseen, dtype=np.float64)
    # without spread there is no row that could have degrees of freedom
    t = t_quantile(alpha, np.where(variance > 0.0, degrees, np.inf))
    wide = np.sqrt(t * t * variance + np.log(alpha) ** 2 * unseen)
    return np.where(np.isfinite(wide), wide, np.nan)


def p_value(gap: ArrayLike, variance: ArrayLike, degrees: ArrayLike, unseen: ArrayLike) -> Floats:
    """Two-sided p-value of an estimate that differs from the null by ``gap``; agrees with :func:`half_width`."""
    given = (np.asarray(part, dtype=np.float64) for part in (np.abs(gap), variance, degrees, unseen))
    away, spread, free, unseen = np.broadcast_arrays(*given)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = away / np.sqrt(spread)
    found = np.where(away == 0.0, 1.0, np.where(spread == 0.0, 0.0, two_sided(most, free)))
    known = np.isfinite(away) & np.isfinite(spread) & np.isfinite(unseen)
    widened = known & (unseen > 0.0) & (away > 0.0)
    if widened.any():
        found[widened] = _with_unseen(away[widened], spread[widened], free[widened], unseen[widened])
    return np.where(known, found, np.nan)


def _with_unseen(gap: Floats, variance: Floats, degrees: Floats, unseen: Floats) -> Floats:
    """Where the half-width equals the gap: it falls as alpha grows, and so grows in t with alpha = 2 P(T > t)."""
    found = np.exp(-gap / np.sqrt(unseen))  # of the unseen rows alone
    both = variance > 0.0
    gap, variance, degrees, unseen = (part[both] for part in (gap, variance, degrees, unseen))
    # one of the two terms makes half of the square at least
    high = gap / np.sqrt(variance)
    by_unseen = -gap / np.sqrt(unseen)
    with np.errstate(under="ignore"):
        shared = np.exp(by_unseen)
    with np.errstate(over="ignore", invalid="ignore"):
        there = t_quantile(np.maximum(shared, np.finfo(float).tiny), degrees)
    high = np.where((shared > 0.0) & (there > 0.0), np.fmin(high, there), high)  # so far out there may be none
    low, middle, still = np.zeros_like(high), high.copy(), np.arange(len(high))
    for _ in range(_MOST_STEPS):
        at, below, above = middle[still], low[still], high[still]
        v, df, u = variance[still], degrees[still], unseen[still]
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = two_sided(at, df)
            alone = np.log(tail)
            reach = at * at * v + alone * alone * u - gap[still] * gap[still]
            slope = 2.0 * (at * v - alone * u * 2.0 * _density(at, df) / tail)
            newton = at - reach / slope
        below, above = np.where(reach > 0.0, below, at), np.where(reach > 0.0, at, above)
        following = np.where((newton >= below) & (newton <= above), newton, 0.5 * (below + above))
        middle[still], low[still], high[still] = following, below, above
        still = still[np.abs(following - at) > _NEAR * following]
        if not len(still):
            break
    found[both] = two_sided(middle, degrees)
    return found


def _density(t: Floats, degrees: Floats) -> Floats:
    from scipy.special import gammaln

    finite = np.where(np.isfinite(degrees), degrees, 1.0)
    log_scale = gammaln(0.5 * (finite + 1.0)) - gammaln(0.5 * finite) - 0.5 * np.log(np.pi * finite)
    with np.errstate(over="ignore"):  # so far out the density is zero
        square = t * t
    student = log_scale - 0.5 * (finite + 1.0) * np.log1p(square / finite)
    return np.exp(np.where(np.isfinite(degrees), student, -0.5 * (square + np.log(2.0 * np.pi))))


# The estimator behind most closed forms here: a sum over rows, its variance, and on how few rows it rests.

CLASSES = ("negative", "positive")
EFFECTIVE = ("effective negative", "effective positive")  # weight^2 / square, where rows of unlike weights are summed
FEW_DEGREES = 26.0  # below, a 95% interval is more than 1.05 times as wide as the normal one


@dataclass(frozen=True)
class Moments:
    """An estimate that is a sum over rows, with the spread of its error and the rows that this rests on.

    Parameters
    ----------
    value : float
        The estimate.
    variance, degrees : float
        Variance of the estimate and its degrees of freedom.
    room : float
        Square of what one more row of the scarce classes may bring; infinite where their costs have no bound.
    carrying : tuple of float
        Effective rows (clusters) of the negative and of the positive class that carry the estimate.
    carriers : tuple of float
        Their plain number.
    scarce : tuple of bool
        Whether too few rows of the class carry the estimate, and those unseen matter.
    rows : tuple of int
        Rows (clusters) of each class.
    least : int
        Rows of each class below which there is no interval.
    reason : str
        Why there is no interval for another reason; empty otherwise.
    paired, clustered : bool
        Whether it is a difference between two models, and whether ``rows`` count clusters.
    names : tuple of str
        What to call a row of each class.
    least_value, most_value : float
        Between which the estimated value lies, whatever the rows: its interval ends there.
    equal : tuple of float
        How many equal parts of the estimate are as uneven as those of each class's rows (clusters), by Kish.
    short : tuple of bool
        Whether ``carrying`` counts rows of the class that carry less than the most: they are fewer.

    Examples
    --------
    >>> from stakes.inference import Moments
    >>> [round(end, 4) for end in Moments(0.2, 0.0001, degrees=12.0).interval(0.95)]
    [0.1782, 0.2218]
    """

    value: float
    variance: float
    degrees: float = math.inf
    room: float = 0.0
    carrying: tuple[float, float] = (math.inf, math.inf)
    carriers: tuple[float, float] = (math.inf, math.inf)
    scarce: tuple[bool, bool] = (False, False)
    rows: tuple[int, ...] = (NEEDED, NEEDED)
    least: int = 0
    reason: str = ""
    paired: bool = False
    clustered: bool = False
    names: tuple[str, str] = CLASSES
    least_value: float = -math.inf
    most_value: float = math.inf
    equal: tuple[float, float] = (math.inf, math.inf)
    short: tuple[bool, bool] = (False, False)

    @property
    def standard_error(self) -> float:
        """Square root of the variance; nan where it is."""
        return math.sqrt(self.variance)

    def scaled(self, factor: float) -> Moments:
        """Return the moments of factor times the estimate."""
        square = factor * factor
        found = replace(self, value=factor * self.value, variance=square * self.variance, room=square * self.room)
        return found.within(*sorted((factor * self.least_value, factor * self.most_value)))

    def within(self, least_value: float, most_value: float) -> Moments:
        """Return the moments of a value that lies between these."""
        return replace(self, least_value=least_value, most_value=most_value)

    def shifted(self, known: float) -> Moments:
        """Return the moments of the estimate and a known amount together."""
        return replace(self, value=self.value + known).within(self.least_value + known, self.most_value + known)

    def minus(self, other: Moments) -> Moments:
        """Return the moments of the difference from an estimate on other, independent rows."""
        variance = self.variance + other.variance
        # a part of one row has no spread, and so no degrees of freedom
        shares = sum(part.variance**2 / part.degrees if part.degrees > 0.0 else math.nan for part in (self, other))
        # of each class, the part in which it is scarcer
        fewer = [min((self, other), key=lambda part: (not part.scarce[k], part.carrying[k])) for k in (0, 1)]
        by_class = ("carrying", "carriers", "scarce", "rows", "equal", "short")
        scarcer: dict[str, Any] = {name: (getattr(fewer[0], name)[0], getattr(fewer[1], name)[1]) for name in by_class}
        found = replace(
            self,
            value=self.value - other.value,
            variance=variance,
            degrees=variance**2 / shares if shares > 0.0 else min(self.degrees, other.degrees),
            room=self.room + other.room,
            least=max(self.least, other.least),
            reason=self.reason or other.reason or self._short or other._short,
            **scarcer,
        )
        return found.within(self.least_value - other.most_value, self.most_value - other.least_value)

    def interval(self, confidence_level: float) -> tuple[float, float]:
        """Two-sided: Student's t, and the rule of three for what the scarce classes have not shown; nan without one.

        It does not leave the range of the value.
        """
        if self.refused or not math.isfinite(self.value):
            return math.nan, math.nan
        half = float(half_width(self.variance, self.degrees, self.room, 1.0 - confidence_level))
        low, high = min(self.least_value, self.value), max(self.most_value, self.value)
        return max(self.value - half, low), min(self.value + half, high)

    def p_value(self, null: float = 0.0) -> float:
        """Two-sided p-value that agrees with :meth:`interval`."""
        if self.refused:
            return math.nan
        return float(p_value(self.value - null, self.variance, self.degrees, self.room))

    @property
    def refused(self) -> bool:
        """Whether there is no interval."""
        return bool(self.reason or self._short)

    @property
    def note(self) -> str:
        """On how few rows the estimate rests, and of which class how many would do; empty where there are enough."""
        return self.scarcity or self._few_degrees

    @property
    def scarcity(self) -> str:
        """Of which class too few rows carry the estimate for those unseen not to matter; empty where enough do."""
        if self.reason or math.isnan(self.variance):
            return self.reason
        scarce = [k for k in (1, 0) if self.scarce[k]]
        return self._short or (self._rests_on(scarce[0]) if scarce else "")

    @property
    def _few_degrees(self) -> str:
        if not 0.0 < self.degrees < FEW_DEGREES or not self.variance > 0.0:
            return ""
        what, members = "difference" if self.paired else "estimate", "clusters" if self.clustered else "rows"
        free = f"about {self.degrees:.2g} degrees of freedom"
        return f"few {members} carry the error of the {what} ({free}): the interval is wider than a normal one"

    @property
    def _short(self) -> str:
        return too_few(self.rows, self.least, self.names, clustered=self.clustered)

    def _rests_on(self, k: int) -> str:
        name, unbounded = self.names[k], "" if math.isfinite(self.room) else "; there is no interval"
        if self.short[k] and self.carrying[k] == 0:
            does = "tells the two apart" if self.paired else "costs the most here"
            return f"every {name} {does}: at least {NEEDED} must not{unbounded}"
        if self.carriers[k] == 0:
            does = "tells the two apart" if self.paired else "carries a cost here"
            return f"no {name} {does}: at least {NEEDED} must{unbounded}"
        members = f"of {self.rows[k]:,} {name}s" if not self.clustered else f"of {self.rows[k]:,} clusters with {name}s"
        wanted = two_digits_up(self.rows[k] * NEEDED / max(self.carrying[k], 1.0))
        what = "the difference" if self.paired else "the estimate"
        done = "there is no interval" if unbounded else "few, so the interval is widened"
        enough = f"about {wanted:,} {'such clusters' if self.clustered else f'{name}s'} would do"
        return f"{what} rests on about {self.carrying[k]:.2g} {members}: {done}; {enough}"


def moments_of(value: float, found: Variance, rows: tuple[int, ...], **about: Any) -> Moments:
    """Moments of one estimate from its variance; without a finite value there is none."""
    about |= {
        name: tuple(getattr(found, name).tolist()) for name in ("carrying", "carriers", "scarce", "equal", "short")
    }
    variance = float(found.variance) if math.isfinite(value) else math.nan
    return Moments(value, variance, float(found.degrees), float(found.unseen_variance), rows=rows, **about)


def too_few(rows: tuple[int, ...], least: int, names: tuple[str, str] = CLASSES, *, clustered: bool = False) -> str:
    """Say which class has fewer rows (clusters) than an interval needs; empty where both have enough."""
    for k in (1, 0):
        if rows[k] < least:
            many = "s" if rows[k] != 1 else ""
            members = f"cluster{many} with {names[k]}s" if clustered else f"{names[k]}{many}"
            return f"only {rows[k]} {members}: an interval needs {least}"
    return ""


def two_digits_up(number: float) -> int:
    """Round up to two digits.

    Examples
    --------
    >>> two_digits_up(438.9), two_digits_up(25.0), two_digits_up(7.2)
    (440, 25, 8)
    """
    step = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return math.ceil(round(number / step, 9)) * step


# The value of a metric with its standard error and interval.


@dataclass(frozen=True)
class Estimate(Tabular):
    """The value of a metric with its standard error and interval.

    Parameters
    ----------
    metric : str
        Name of the metric.
    value : float
        On these rows.
    standard_error : float
        Of the value; nan where it is infinite or undefined.
    interval : tuple of float
        Two-sided; nan where it is infinite or undefined.
    confidence_level : float
        Of the interval.
    note : str
        On how few rows of which class the value rests, and how many would do; empty where there are enough.

    Examples
    --------
    >>> from stakes.inference import metric_interval
    >>> y_true = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1] * 5
    >>> metric_interval(y_true, [0.1, 0.8, 0.3, 0.6, 0.4, 0.5, 0.2, 0.9, 0.6, 0.7] * 5, "roc_auc_score")
    Estimate(roc_auc_score = 0.9, 95% interval [0.771, 0.9601])
    """

    metric: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    confidence_level: float
    note: str = ""

    def _records(self) -> list[dict[str, Any]]:
        return [record_of(self)]

    def __repr__(self) -> str:
        low, high = self.interval
        sure = f"{level_name(self.confidence_level)} interval [{low:.4g}, {high:.4g}]"
        return f"Estimate({self.metric} = {self.value:.4g}, {sure}{', ' + self.note if self.note else ''})"


def record_of(result: Any) -> dict[str, Any]:
    """Shown fields of a result by name, the ends of its interval as ci_low and ci_high."""
    record: dict[str, Any] = {}
    for name in (each.name for each in fields(result) if each.repr):
        value = getattr(result, name)
        record |= {"ci_low": value[0], "ci_high": value[1]} if name == "interval" else {name: value}
    return record


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Adjust p-values so that none of the true hypotheses is rejected with more than the stated probability.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        In [0, 1]; nan for what was not tested, which does not count.

    Returns
    -------
    ndarray of shape (m,)
        Holm's step-down adjustment, valid under any dependence.

    Notes
    -----
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Examples
    --------
    >>> from stakes.inference import holm
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = to_floats(to_array(p_values, "p_values"), "p_values")
    if p.ndim != 1 or np.any((p < 0.0) | (p > 1.0)):
        raise ValueError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}.")
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


def raised_to_one(least: Floats) -> Bools:
    """Which p-values Holm's method adjusts to 1, by lower bounds of them.

    Where k of them are at least p >= 1 / k, the smallest of these is multiplied by k or more, and none after it is
    adjusted to less: those below p need to be known, and how many others there are.
    """
    falling = np.sort(least)[::-1]
    enough = falling[falling * np.arange(1, len(falling) + 1) >= 1.0]
    return least >= enough.min(initial=math.inf)


Rows = tuple[Bools, Sequence[Floats], Floats | None]  # classes, scores of each model, weights > 0

# the power of the weight and of the difference in each sum
POWERS = ((1, 1), *((2, j) for j in range(3)), *((4, j) for j in range(5)))
# rows of a class at once: their losses and differences stay in cache, and OpenBLAS divides a dot product of no more
# than 10,000 numbers among no threads, which on a busy machine wait for one another
_ROWS, _LEAST, _LOSSES = 1 << 13, 1 << 11, 1 << 17


def pairs_of_decisions(models: int) -> list[tuple[int, int]]:
    """Every pair of models, "treat all", "treat none" and "nothing"."""
    return list(combinations(range(models + 3), 2))


def sum_powers(parts: Iterable[Rows], models: int, costs: CostDistribution, rule: Rule) -> dict[str, Floats]:
    """Sum over rows, class by class: each loss is computed once, and every row is looked at once.

    Returns
    -------
    dict
        ``rows`` and ``mass`` of each class, by class and pair of decisions the ``powers`` w^a d^b, the ``carriers``,
        whose losses differ, and the rows ``apart``, whose scores do.
    """
    sums = _ClassSums(0, models, costs, rule), _ClassSums(1, models, costs, rule)
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        for y, scores, weight in parts:
            for part in blocks(len(y), 8 * _ROWS):
                for one, mine in zip(sums, (np.flatnonzero(~y[part]), np.flatnonzero(y[part])), strict=True):
                    of_class = [score[part].take(mine) for score in scores]
                    one.add(of_class, None if weight is None else weight[part].take(mine))
    found = [one.assembled() for one in sums]
    stacked = {name: np.stack([of_class[name] for of_class in found], axis=-2) for name in found[0]}
    counts = {"rows": np.array([float(one.rows) for one in sums]), "mass": np.array([one.weights[1] for one in sums])}
    return counts | stacked


class _ClassSums:
    """Sums over rows of one class: of each model's loss, of that less the largest, and of each pair's difference."""

    def __init__(self, kind: int, models: int, costs: CostDistribution, rule: Rule) -> None:
        self.kind, self.models, self.costs, self.rule = kind, models, costs, rule
        self.max_loss = worst_losses(costs)
        self.apart = list(combinations(range(models), 2))
        self.size = min(max(_LOSSES // models, _LEAST), _ROWS)
        self.rows, self.weights = 0, np.zeros(5)
        self.powers = np.zeros((2 * models + len(self.apart), len(POWERS)))
        self.carriers, self.differing = np.zeros(len(self.powers)), np.zeros(len(self.apart))

    def add(self, scores: Sequence[Floats], weight: Floats | None) -> None:
        """Add rows."""
        if weight is not None:
            check_largest(weight)
        for part in blocks(len(scores[0]), self.size):
            some = [score[part] for score in scores]
            losses = [class_losses(self.kind, score, self.costs, self.rule) for score in some]
            powers = _Powers(None if weight is None else weight[part], len(some[0]))
            self.rows += len(some[0])
            self.weights += powers.weights
            at = 0
            for other in (0.0, float(self.max_loss[self.kind])):
                for loss in losses:
                    self._put(at, powers, loss, other)
                    at += 1
            for place, (i, j) in enumerate(self.apart):
                self._put(at + place, powers, losses[i], losses[j])
                self.differing[place] += np.count_nonzero(some[i] != some[j])

    def _put(self, at: int, powers: _Powers, loss: Floats, other: Floats | float) -> None:
        self.carriers[at] += np.count_nonzero(loss != other)  # of two infinite losses none is the larger
        self.powers[at] += powers.of(loss, other)

    def assembled(self) -> dict[str, Floats]:
        """Sums of every pair of decisions in order."""
        n, kind, pairs = self.models, self.kind, pairs_of_decisions(self.models)
        place = {pair: 2 * n + at for at, pair in enumerate(self.apart)}
        powers, carriers, apart = np.zeros((len(POWERS), len(pairs))), np.zeros(len(pairs)), np.zeros(len(pairs))
        for at, (i, j) in enumerate(pairs):
            if i < n:
                # treating all costs the negatives the most and treating none the positives; else they cost nothing
                one = place[i, j] if j < n else i + n * (j - n == kind)
                powers[:, at], carriers[at] = self.powers[one], self.carriers[one]
                apart[at] = self.differing[one - 2 * n] if j < n else carriers[at]
                continue
            gap = float(self.max_loss[kind]) * ((i - n == kind) - (j - n == kind)) if kind in (i - n, j - n) else 0.0
            square = gap * gap
            gaps = (1.0, gap, square, square * gap, square * square)
            # an infinite difference that no row has is nothing
            powers[:, at] = [self.weights[a] * gaps[b] if self.weights[a] else 0.0 for a, b in POWERS]
            carriers[at] = apart[at] = self.rows if gap else 0.0
        return {"powers": powers, "carriers": carriers, "apart": apart}


class _Powers:
    """Sums of powers of weighted differences of some rows; ``weights`` are sums of powers of the weight."""

    def __init__(self, weight: Floats | None, rows: int) -> None:
        self.weight, self.gap, self.square, self.ones = weight, np.empty(rows), np.empty(rows), np.ones(rows)
        self.weights = np.full(5, float(rows))
        if weight is not None:
            self.squares = weight * weight
            self.cubes = self.squares * weight
            self.weights[[1, 2, 4]] = weight.sum(), np.dot(weight, weight), np.dot(self.squares, self.squares)

    def of(self, loss: Floats, other: Floats | float) -> list[float]:
        """Sums in the order of ``POWERS``."""
        gap, square = self.gap, self.square
        np.subtract(loss, other, out=gap)
        if self.weight is None:
            np.multiply(gap, gap, out=square)
            rows, one, two = self.weights[0], np.dot(self.ones, gap), np.dot(gap, gap)
            three, four = np.dot(square, gap), np.dot(square, square)
            return [one, rows, one, two, rows, one, two, three, four]
        weight = self.weight
        np.multiply(gap, weight, out=gap)
        np.multiply(gap, gap, out=square)
        second = [self.weights[2], np.dot(weight, gap), np.dot(gap, gap)]
        fourth = [self.weights[4], np.dot(self.cubes, gap), np.dot(self.squares, square)]
        fourth += [np.dot(square, gap * weight), np.dot(square, square)]
        return [gap.sum(), *second, *fourth]

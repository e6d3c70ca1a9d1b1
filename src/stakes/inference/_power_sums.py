"""Second and fourth powers over the rows of each class, and the variance, degrees of freedom and scarcity they give.

The degrees of freedom say how many rows carry the spread: k equal rare rows among many that add nothing give 2 k. A
class is scarce where fewer than five effective rows of it carry the value and one more row might move the estimate by a
tenth of its standard error. Sums of parts add up, and further axes hold many estimates at once: models, pairs,
thresholds, groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

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
class Spread:
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

    def minus(self, other: Spread) -> Spread:
        """Spread of the difference from an estimate on other, independent rows; the scarcer of the two is named."""
        variance = self.variance + other.variance
        shares = self.variance**2 / self.degrees + other.variance**2 / other.degrees
        degrees = ratio(variance**2, shares, np.minimum(self.degrees, other.degrees))
        fewer = self.carrying <= other.carrying
        return Spread(
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


def spread_of(sums: PowerSums, most: Floats, masses: Floats, *, fixed: bool = False) -> Spread:
    """Spread of a mean over independent rows.

    ``most`` is the largest value a row of each class can have, ``masses`` the weight of each class; ``fixed`` says that
    the class totals are known and each class is centred on its own mean.
    """
    variance, degrees = (class_variance if fixed else pooled_variance)(sums.rows, sums.second, sums.fourth)
    return with_rows_unseen(variance / aligned(masses.sum(axis=0), variance.ndim) ** 2, degrees, sums, most, masses)


def known(second: Floats, carried_second: Floats) -> Bools:
    """Whether what is left of centred values is rounding: all are one constant, such as that of treating all."""
    return np.asarray(second <= _CONSTANT * carried_second)


def with_rows_unseen(variance: Floats, degrees: Floats, sums: PowerSums, most: Floats, masses: Floats) -> Spread:
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
) -> Spread:
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
    return Spread(variance, degrees, room, carrying, carriers, scarce)


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

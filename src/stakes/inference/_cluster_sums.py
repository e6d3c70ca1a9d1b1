"""The spread of an estimate over clusters: each one's sum is left out in turn, as in a jackknife of clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._power_sums import (
    Spread,
    aligned,
    by_class,
    class_sums,
    effective,
    freed,
    known,
    kurtosis_degrees,
    with_room,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.inference._power_sums import PowerSums

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

NEEDED_CLUSTERS = 5
_MOST_SHARE = 0.5  # of all weight that one cluster may have


class Shape:
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


class Clusters(Shape):
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
) -> Spread:
    """Spread over clusters.

    ``parts`` are the rows' parts in the error, ``carried`` their uncentred values over all weight, ``members`` which
    rows are of each class, ``one_more`` how far one more row of it could move the estimate at most. Rows are the last
    axis.
    """
    powers = _powers(clusters.left_out(parts))
    return spread_of_clusters(clusters, powers, clusters.carried(carried, members), row_rates(members), one_more)


def row_rates(members: Sequence[Bools]) -> Floats:
    """Share of each class in all rows."""
    return np.array([np.count_nonzero(mine) / len(mine) for mine in members])


def spread_of_clusters(
    shape: Shape, powers: tuple[Floats, Floats], carried: PowerSums, rates: Floats, one_more: Floats
) -> Spread:
    """The same from sums of powers of what leaving out each cluster changes, and from the share of each class."""
    none = known(powers[0], carried.carried_second.sum(axis=0))
    second, fourth = (np.where(none, 0.0, part) for part in powers)
    variance, degrees = _variance(second, fourth, len(shape), shape.degrees())
    if shape.reason():
        variance = np.full_like(variance, np.nan)
    return with_room(variance, degrees, one_more * aligned(shape.rows_at_once(rates), one_more.ndim), carried)


def left_out_variance(moved: Floats, cap: float) -> tuple[Floats, Floats]:
    """Variance and degrees of freedom from what leaving out each cluster changes."""
    return _variance(*_powers(moved), moved.shape[-1], cap)


def _powers(moved: Floats) -> tuple[Floats, Floats]:
    squares = moved * moved
    return squares.sum(axis=-1), np.einsum("...g,...g->...", squares, squares)


def _variance(second: Floats, fourth: Floats, count: int, cap: float) -> tuple[Floats, Floats]:
    degrees = np.minimum(kurtosis_degrees(second, fourth - second**2 / count), cap)
    return second / freed(count), degrees

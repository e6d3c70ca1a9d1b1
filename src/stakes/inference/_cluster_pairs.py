"""Sums over clusters for every pair of decisions, and the spread they give, without rows and without clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.inference._cluster_sums import NEEDED_CLUSTERS, Shape, spread_of_clusters
from stakes.inference._power_sums import PowerSums, aligned, mean_weights

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from stakes.inference._power_sums import Spread

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClusterSums:
    """What clusters add to sums of pairs, for one prevalence: that of the rows (None), or the one that was stated.

    ``rows`` and ``have`` are the rows of each class and the clusters that have it, ``moved`` the second and fourth
    powers of what leaving out each cluster changes, ``carried`` the powers of the clusters' sums.
    """

    shape: Shape
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
        shape = Shape(count, largest, second, fourth, squares / float(rows.sum()))
        carry, scale = found["carry"], shares[:, None]
        have = np.broadcast_to(found["have"][:, None], carry.shape[1:])
        none = np.zeros(carry.shape[1:])
        carried = PowerSums(have, none, none, carry[0], carry[1] * scale**2, carry[2] * scale**4)
        return cls(shape, rows, found["have"], (found["moved"][0], found["moved"][1]), carried, prevalence)

    def spread(self, most: Floats, masses: Floats) -> Spread:
        """Spread of every pair; ``most`` is the most that rows of each class can differ by."""
        one_more = aligned(mean_weights(masses, self.rows) / masses.sum(), most.ndim) * most
        return spread_of_clusters(self.shape, self.moved, self.carried, self.rows / self.rows.sum(), one_more)

"""Cost matrices and the decisions they ask for: one matrix, a list with weights, or a segment between two.

Along a segment C(theta) = (1 - theta) A + theta B the expected costs of a row are straight lines, one for each action,
so the cheapest action changes at few knots, all of them exact, and the mean over theta needs two partial moments only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.sums import blocks
from stakes.core.validation import to_array, to_floats
from stakes.costs import as_costs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from stakes.costs import CostDistribution, CostsLike

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    # rows, their action, and how much each matrix counts for them while they take it
    Piece = tuple[Any, Integers, tuple[tuple[int, Any], ...]]

_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False)
class CostProblem:
    """Clean matrices (m, classes, actions) with the weight of each, or the two ends of a segment and its measure."""

    matrices: Floats
    weights: Floats
    theta: CostDistribution | None = None

    @property
    def mean_matrix(self) -> Floats:
        """The matrix that each action costs on average."""
        return np.asarray(np.tensordot(self.weights, self.matrices, 1))

    def pieces(self, prob: Floats) -> Iterator[Piece]:
        """Cheapest actions of rows by their probabilities, with what each matrix counts meanwhile."""
        if self.theta is None:
            for m, weight in enumerate(self.weights):
                yield slice(None), np.argmin(prob @ self.matrices[m], axis=1), ((m, float(weight)),)
            return
        whole, above = self.theta.mass, float(self.theta.positive_loss(-np.inf))
        for rows, action, low, high in walk(prob, self.matrices):
            # the ends of the segment hold whatever measure lies there
            ends = [np.where(low > 0.0, low, -np.inf), np.where(high < 1.0, high, np.inf)]
            rising = np.diff([self.theta.negative_loss(end) for end in ends], axis=0)[0]
            before = np.where(low > 0.0, self.theta.positive_loss(ends[0]), above)
            falling = before - self.theta.positive_loss(ends[1])
            yield rows, action, ((0, falling / whole), (1, rising / whole))

    def losses(self, prob: Floats, index: Integers) -> Floats:
        """Cost of each row in the class that came true."""
        found = np.zeros(len(index))
        for part in blocks(len(index), _BLOCK):
            mine, loss = index[part], found[part]
            for rows, action, counts in self.pieces(prob[part]):
                for m, count in counts:
                    loss[rows] += count * self.matrices[m][mine[rows], action]
        return found

    def class_costs(self, prob: Floats, action: int | None = None) -> Floats:
        """Cost of each row in every class (n, K), or the part of it that one action makes."""
        found = np.zeros((len(prob), self.matrices.shape[1]))
        for rows, taken, counts in self.pieces(prob):
            for m, count in counts:
                amount = np.broadcast_to(count, taken.shape)
                if action is not None:
                    amount = np.where(taken == action, amount, 0.0)
                found[rows] += amount[:, None] * self.matrices[m].T[taken]
        return found


def walk(prob: Floats, ends: Floats) -> Iterator[tuple[Integers, Integers, Floats, Floats]]:
    """Rows, their cheapest action, and from where to where in [0, 1] they take it; stretch after stretch."""
    start = np.asarray(prob @ ends[0], dtype=np.float64)
    slope = prob @ ends[1] - start
    rows, low = np.arange(len(prob)), np.zeros(len(prob))
    cheapest = start == start.min(axis=1)[:, None]
    action = np.argmin(np.where(cheapest, slope, np.inf), axis=1)
    while len(rows):
        at = np.arange(len(rows)), action
        fall = slope[at][:, None] - slope
        with np.errstate(divide="ignore", invalid="ignore"):
            cross = np.where(fall > 0.0, (start - start[at][:, None]) / fall, np.inf)
        cross = np.maximum(cross, low[:, None])
        high = cross.min(axis=1)
        yield rows, action, low, np.minimum(high, 1.0)
        left = high < 1.0
        # where several lines cross at once, the one that falls most is lowest afterwards
        following = np.argmin(np.where(cross == high[:, None], slope, np.inf), axis=1)
        rows, action, low, start, slope = rows[left], following[left], high[left], start[left], slope[left]


def check_problem(
    matrices: ArrayLike, n_classes: int, *, theta: CostsLike | None = None, weights: ArrayLike | None = None
) -> CostProblem:
    """Read what was given as cost matrices."""
    table = to_floats(to_array(matrices, "matrices"), "matrices")
    table = table[None] if table.ndim == 2 else table
    if table.ndim != 3 or table.shape[1] != n_classes or 0 in table.shape:
        hint = "; rows are classes: is it transposed?" if table.ndim == 3 and table.shape[2] == n_classes else "."
        raise ValueError(
            f"matrices must be of shape (classes, actions) or (m, classes, actions) with {n_classes} classes, got "
            f"shape {np.shape(matrices)}{hint}"
        )
    if not np.isfinite(table).all():
        which, row, action = (int(place) for place in np.argwhere(~np.isfinite(table))[0])
        raise ValueError(
            f"matrices must be finite, got {table[which, row, action]} for class {row} and action {action} of matrix "
            f"{which}."
        )
    if theta is None:
        return CostProblem(table, _shares(weights, len(table)))
    if weights is not None or len(table) != 2:
        raise ValueError(f"theta needs the two matrices at its ends and no weights, got {len(table)} matrices.")
    return _on_segment(table, as_costs(theta, "theta"))


def _shares(weights: ArrayLike | None, count: int) -> Floats:
    share = np.ones(count) if weights is None else to_floats(to_array(weights, "weights"), "weights")
    if share.shape != (count,) or not (np.all(np.isfinite(share) & (share >= 0.0)) and share.sum() > 0.0):
        raise ValueError(f"weights must hold {count} finite numbers >= 0, not all zero, got {share.tolist()}.")
    return np.asarray(share / share.sum())


def _on_segment(ends: Floats, theta: CostDistribution) -> CostProblem:
    """A measure of single points is a list of matrices; any other keeps the segment."""
    if not 0.0 < theta.mass < math.inf:
        raise ValueError(f"theta must have a mass in (0, inf), got {theta!r}.")
    places, weights = theta.atoms
    if len(places) and weights.sum() >= theta.mass * (1.0 - 1e-12):
        matrices = (1.0 - places)[:, None, None] * ends[0] + places[:, None, None] * ends[1]
        return CostProblem(matrices, weights / weights.sum())
    mean = theta.mean()
    return CostProblem(ends, np.array([1.0 - mean, mean]), theta)

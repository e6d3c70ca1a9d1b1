"""Which number of rows is best, and whether that is certain: a comparison of differences, not of values.

Near the best k, values differ by about 1/n^2, far less than what they are known to. Where the differences of neighbours
are known (to about 1e-12 / n), they are summed from one candidate to the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.utility._estimate import UNIT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.utility._estimate import Estimate

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Choice:
    """Numbers of rows that cannot be told from the best one, and the best one among the others."""

    ties: Integers
    runner_up: int | None
    gap: float  # how much worse it is, nan without one


def choose(estimate: Estimate, sign: float) -> Choice:
    """Find the best k; sign = -1 minimises."""
    values = estimate.values if sign > 0.0 else -estimate.values
    worst = estimate.largest_bound()
    near = np.flatnonzero(values >= float(values.max()) - 2.0 * worst)
    bound = estimate.bound(near)
    rivals = values[near] + bound >= float(np.max(values[near] - bound))
    near = near[rivals]
    best = int(near[np.argmax(values[near])])
    hull = _hull(estimate, near, best)
    if hull is None:
        return _choice(values, near, float(values[best]))
    low, high = hull
    rise, error = estimate.steps(low, high) if estimate.steps is not None else (np.empty(0), np.empty(0))
    height = sign * np.append(0.0, np.cumsum(rise))
    # errors add up along the way from one k to another, and so does the rounding of this sum
    doubt = np.append(0.0, np.cumsum(error + (high - low + 1) * UNIT * np.abs(rise)))
    top = int(np.argmax(height))
    behind = height[top] - height
    level = np.abs(doubt - doubt[top]) + estimate.floor
    level[top] = 0.0
    inside = low + np.flatnonzero(behind <= level)
    outside = near[(near < low) | (near > high)]
    if len(outside):
        best = low + top
        rivals = values[outside] + estimate.bound(outside) >= values[best] - estimate.bound(np.array([best]))
        inside = np.union1d(inside, outside[rivals])
        if np.any(values[outside] > values[best]):
            # the best k may be one without differences: then values decide among all
            return _choice(values, np.union1d(inside, near), float(values.max()))
    choice = _choice(values, inside, float(values[low + top]))
    return _with_exact_gap(choice, low, behind, 2.0 * worst)


def _hull(estimate: Estimate, near: Integers, best: int) -> tuple[int, int] | None:
    """Range of k in which differences decide: all candidates that have them, and the neighbours of the best."""
    first, last = estimate.steps_start, estimate.steps_end
    last = len(estimate.values) - 1 if last is None else last
    if estimate.steps is None or not first <= best <= last or last <= first:
        return None
    inside = near[(near >= first) & (near <= last)]
    return max(first, min(int(inside[0]), best - 1)), min(last, max(int(inside[-1]), best + 1))


def _choice(values: Floats, ties: Integers, best: float) -> Choice:
    """Order what is left by value."""
    if len(ties) == len(values):
        return Choice(ties, None, float("nan"))
    others = values.copy()
    others[ties] = -np.inf
    runner_up = int(np.argmax(others))
    return Choice(ties, runner_up, best - float(others[runner_up]))


def _with_exact_gap(choice: Choice, low: int, behind: Floats, doubt: float) -> Choice:
    """Take the best k outside the ties, and its gap, from the differences where it has them.

    ``doubt`` is by how much the gap between two values may be off: beyond it, the runner-up has no differences.
    """
    rest = behind.copy()
    places = choice.ties - low
    rest[places[(places >= 0) & (places < len(rest))]] = np.inf
    place = int(np.argmin(rest))
    if not np.isfinite(rest[place]) or rest[place] > choice.gap + doubt:
        return choice
    return Choice(choice.ties, low + place, float(rest[place]))

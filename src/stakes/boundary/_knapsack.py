"""The multiple-choice knapsack, exactly: one option per level, most value, slacks that add up to at least zero.

Dominance, the concave hull of each level, the Lagrangian bound of the linear relaxation, fixing by regret, and what
survives (the core) by two lists that are joined. All comparisons that decide are made in integers; floating point only
orders the edges of the hulls, for which any order gives a valid bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._knapsack_core import solve_core
from stakes.boundary._options import INT64_SAFE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._options import Ints

    Values = NDArray[Any]  # int64, or Python integers where those could overflow

# Pairs in a list of the core; with their ways back, two such lists and the work on one of them stay below 0.6 GB.
MAX_LIST = 8_000_000


@dataclass(frozen=True)
class Level:
    """Undominated options: ``value`` and ``cost`` (slack given up against the cheapest) both strictly increasing."""

    index: NDArray[np.intp]
    value: Values
    cost: Values


@dataclass(frozen=True)
class Packing:
    """Chosen option of each level, its total value, and a proved upper bound on the value of any feasible choice."""

    chosen: Ints
    value: int
    bound: int


def solve_knapsack(starts: Ints, value: Values, slack: Values, *, max_list: int = MAX_LIST) -> Packing | None:
    """Choose one option per level with the largest total value among those whose slacks add up to >= 0.

    None if there is no such choice. ``bound == value`` proves the choice optimal; it is larger only where a list of the
    core would have grown beyond ``max_list``.
    """
    levels, capacity = [], 0
    for start, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        kept = undominated(value[start:end], slack[start:end])
        v, s = value[start:end][kept], slack[start:end][kept]
        levels.append(Level(kept, v, s[0] - s))
        capacity += int(s[0])
    if capacity < 0:
        return None
    levels = _widened(levels, capacity)
    best, bound = _solve(levels, capacity, max_list)
    total = sum(int(level.value[place]) for level, place in zip(levels, best, strict=True))
    chosen = np.array([level.index[place] for level, place in zip(levels, best, strict=True)], dtype=np.int64)
    return Packing(chosen, total, bound)


def undominated(value: Values, slack: Values) -> NDArray[np.intp]:
    """Options that no other beats in value and slack together, by ascending value."""
    order = None
    if np.any(value[1:] < value[:-1]):
        order = np.argsort(value, kind="stable")
        value, slack = value[order], slack[order]
    later = np.maximum.accumulate(slack[::-1])[::-1]
    record = np.append(slack[:-1] > later[1:], True).astype(bool)
    kept = np.flatnonzero(record)
    values = value[kept]
    kept = kept[np.append(True, values[1:] > values[:-1]).astype(bool)]
    return kept if order is None else order[kept]


def _widened(levels: list[Level], capacity: int) -> list[Level]:
    """Use Python integers where a product of value and cost could leave int64."""
    values, costs = _largest(levels)
    if 4 * (values + 1) * (costs + capacity + 1) < INT64_SAFE:
        return [Level(v.index, v.value.astype(np.int64), v.cost.astype(np.int64)) for v in levels]
    return [Level(v.index, v.value.astype(object), v.cost.astype(object)) for v in levels]


def _largest(levels: list[Level]) -> tuple[int, int]:
    """Bounds on the total value, without its sign, and on the total cost."""
    values = sum(max(abs(int(level.value[0])), abs(int(level.value[-1]))) for level in levels)
    return values, sum(int(level.cost[-1]) for level in levels)


def _solve(levels: list[Level], capacity: int, max_list: int) -> tuple[list[int], int]:
    """Place of the chosen option in each level, and the upper bound."""
    if sum(int(level.cost[-1]) for level in levels) <= capacity:
        places = [len(level.value) - 1 for level in levels]
        return places, _total(levels, places)
    places, dv, dc = relaxed(levels, capacity)
    shared = math.gcd(dv, dc)
    a, b = dv // shared, dc // shared
    worth = [b * level.value - a * level.cost for level in levels]
    tops = [int(one.max()) for one in worth]
    z = sum(tops) + a * capacity
    bound = z // b
    places = filled(levels, places, capacity)
    least = _total(levels, places)
    if least >= bound:
        return places, least
    allowed = z - b * (least + 1)  # a better choice has at most this regret
    alive = [np.flatnonzero(top - one <= allowed) for top, one in zip(tops, worth, strict=True)]
    values, costs = _largest(levels)
    sums = np.int64 if values + costs + capacity < INT64_SAFE else object  # the lists of the core hold no products
    core = [
        (level.value[keep].astype(sums), level.cost[keep].astype(sums))
        for level, keep in zip(levels, alive, strict=True)
    ]
    found = solve_core(core, capacity, least, price=(a, b), floor=sum(tops) - allowed, tops=tops, max_list=max_list)
    if found is None:
        return places, bound
    if found:
        places = [int(keep[place]) for keep, place in zip(alive, found, strict=True)]
    return places, _total(levels, places)


def _total(levels: list[Level], places: list[int]) -> int:
    return sum(int(level.value[place]) for level, place in zip(levels, places, strict=True))


def relaxed(levels: list[Level], capacity: int) -> tuple[list[int], int, int]:
    """Integral part of the linear relaxation, and value and cost of the first edge that does not fit."""
    edges = [_hull(level) for level in levels]
    owner = np.repeat(np.arange(len(levels)), [len(ends) for ends, _ in edges])
    ends = np.concatenate([ends for ends, _ in edges])
    rate = np.concatenate([rate for _, rate in edges])
    rises = np.concatenate([np.diff(level.value[np.r_[0, e]]) for level, (e, _) in zip(levels, edges, strict=True)])
    costs = np.concatenate([np.diff(level.cost[np.r_[0, e]]) for level, (e, _) in zip(levels, edges, strict=True)])
    order = np.argsort(-rate, kind="stable")
    stop = int(np.argmax(np.cumsum(costs[order]) > capacity))
    places = np.zeros(len(levels), dtype=np.int64)
    np.maximum.at(places, owner[order[:stop]], ends[order[:stop]])
    return places.tolist(), int(rises[order[stop]]), int(costs[order[stop]])


def _hull(level: Level) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Ends and slopes of the upper concave hull of value over cost."""
    from scipy.optimize import isotonic_regression

    if len(level.value) == 1:
        return np.empty(0, np.intp), np.empty(0)
    cost = np.diff(level.cost).astype(np.float64)
    slope = np.diff(level.value).astype(np.float64) / cost
    if len(slope) == 1:
        return np.array([1]), slope
    fit = isotonic_regression(slope, weights=cost, increasing=False)
    return np.asarray(fit.blocks[1:]), np.asarray(fit.x[fit.blocks[:-1]])


def filled(levels: list[Level], places: list[int], capacity: int) -> list[int]:
    """Spend what is left: deepen one level at a time, the one that gains most, while anything fits."""
    places = list(places)
    left = capacity - sum(int(level.cost[place]) for level, place in zip(levels, places, strict=True))
    while True:
        gain, best, target = 0, -1, 0
        for k, (level, place) in enumerate(zip(levels, places, strict=True)):
            deepest = int(np.searchsorted(level.cost, level.cost[place] + left, side="right")) - 1
            gained = int(level.value[deepest] - level.value[place])
            if gained > gain:
                gain, best, target = gained, k, deepest
        if best < 0:
            return places
        left -= int(levels[best].cost[target] - levels[best].cost[places[best]])
        places[best] = target

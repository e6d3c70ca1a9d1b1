"""The core of a multiple-choice knapsack: two lists of undominated partial choices, joined by binary search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._options import INT64_SAFE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]


# Places in a list: lists end long before 2^32 pairs.
_INDEX = np.uint32


class _Partial:
    """Undominated (cost, value) pairs of the levels combined so far, with the way back."""

    def __init__(self, like: Values) -> None:
        self.cost: Values = np.zeros(1, dtype=like.dtype)
        self.value: Values = np.zeros(1, dtype=like.dtype)
        self.floor = 0
        self.steps: list[tuple[int, int, NDArray[Any]]] = []

    def add(
        self, level: int, value: Values, cost: Values, *, capacity: int, price: tuple[int, int], least: int
    ) -> None:
        """Combine with the options of one more level; drop what cannot be part of a better choice."""
        pairs = []
        for place, (v, c) in enumerate(zip(value.tolist(), cost.tolist(), strict=True)):
            fits = slice(0, int(np.searchsorted(self.cost, capacity - c, side="right")))
            costs, values = self.cost[fits] + c, self.value[fits] + v
            keep = np.flatnonzero(_worth_at_least(values, costs, price, least))
            pairs.append((costs[keep], values[keep], (keep * len(cost) + place).astype(_INDEX)))
        costs, values, keep = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
        del pairs
        order = np.argsort(costs, kind="stable").astype(_INDEX)
        values = values[order]
        if len(order):
            best = np.maximum.accumulate(values)
            record = np.append(True, values[1:] > best[:-1]).astype(bool)
            order, values = order[record], values[record]
        self.cost, self.value = costs[order], values
        self.steps.append((level, len(cost), keep[order]))

    def trace(self, place: int) -> dict[int, int]:
        """Option of each level that led to this pair."""
        taken = {}
        for level, options, taken_from in reversed(self.steps):
            place, taken[level] = divmod(int(taken_from[place]), options)
        return taken


def _worth_at_least(values: Values, costs: Values, price: tuple[int, int], least: int) -> NDArray[np.bool_]:
    """Whether b * value - a * cost >= least; where that could leave int64, a few that are not may pass."""
    a, b = price
    if not len(values) or values.dtype == object:
        return np.asarray(b * values - a * costs >= least, dtype=bool)
    size = b * max(abs(int(values.max())), abs(int(values.min()))) + a * int(costs[-1]) + abs(least)
    if size < INT64_SAFE:
        return np.asarray(b * values - a * costs >= least)
    return np.asarray(float(b) * values - float(a) * costs >= float(least) - 1e-14 * float(size))


def solve_core(
    levels: list[tuple[Values, Values]],
    capacity: int,
    least: int,
    *,
    price: tuple[int, int],
    floor: int,
    tops: list[int],
    max_list: int,
) -> list[int] | None:
    """Look for a choice with value > least among (value, cost) options.

    With price (a, b) and ``tops`` the largest b * value - a * cost of each level, only choices whose total of that is
    at least ``floor`` can be better. Return the place of the option of each level, an empty list where none is better,
    and None where a list would grow beyond ``max_list``.
    """
    order = sorted(range(len(levels)), key=lambda k: -len(levels[k][0]))
    spare = sum(tops) - floor  # regret that a better choice may have
    halves = [_Partial(levels[0][0]), _Partial(levels[0][0])]
    for turn, k in enumerate(order):
        half = halves[turn % 2]
        value, cost = levels[k]
        if len(half.cost) * len(cost) > max_list:
            return None
        half.floor += tops[k]
        half.add(k, value, cost, capacity=capacity, price=price, least=half.floor - spare)
        if not len(half.cost):
            return []
    one, two = halves
    mate = np.searchsorted(two.cost, capacity - one.cost, side="right") - 1
    possible = np.flatnonzero(mate >= 0)
    if not len(possible):
        return []
    total = one.value[possible] + two.value[mate[possible]]
    best = int(np.argmax(total))
    if total[best] <= least:
        return []
    place = int(possible[best])
    taken = one.trace(place) | two.trace(int(mate[place]))
    return [taken[k] for k in range(len(levels))]

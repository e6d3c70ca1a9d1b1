"""The core of a multiple-choice knapsack: two lists of undominated partial choices, joined by binary search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[Any]


class _Partial:
    """Undominated (cost, value) pairs of the levels combined so far, with the way back."""

    def __init__(self, like: Values) -> None:
        self.cost: Values = np.zeros(1, dtype=like.dtype)
        self.value: Values = np.zeros(1, dtype=like.dtype)
        self.floor = 0
        self.steps: list[tuple[int, NDArray[np.intp], NDArray[np.intp]]] = []

    def add(
        self, level: int, value: Values, cost: Values, *, capacity: int, price: tuple[int, int], least: int
    ) -> None:
        """Combine with the options of one more level; drop what cannot be part of a better choice."""
        a, b = price
        costs = np.add.outer(self.cost, cost).ravel()
        values = np.add.outer(self.value, value).ravel()
        keep = np.flatnonzero((costs <= capacity) & (b * values - a * costs >= least))
        keep = keep[np.argsort(costs[keep], kind="stable")]
        values = values[keep]
        if len(keep):
            best = np.maximum.accumulate(values)
            record = np.append(True, values[1:] > best[:-1]).astype(bool)
            keep, values = keep[record], values[record]
        self.cost, self.value = costs[keep], values
        self.steps.append((level, keep // len(cost), keep % len(cost)))

    def trace(self, place: int) -> dict[int, int]:
        """Option of each level that led to this pair."""
        taken = {}
        for level, parents, options in reversed(self.steps):
            taken[level] = int(options[place])
            place = int(parents[place])
        return taken


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

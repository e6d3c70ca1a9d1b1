"""Fewest rows that a boundary must select to have exactly t true positives, for every t: the whole frontier, exactly.

"Exactly", because a boundary that gains a positive for nothing still spends capacity: from these counts every goal and
constraint that prefers fewer rows at the same true positives can be read off.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._options import Floats, Ints, Options

NEVER = 2**60
_DIRECT = 20_000_000  # cells up to which the plain double loop is as fast as the pruned one
_ROUNDING = 1e-6  # the minorants are floating-point


@dataclass(frozen=True)
class Node:
    """``fewest[t]`` false positives for exactly t true positives (NEVER: no such choice), by level or by two nodes."""

    fewest: Ints
    level: int = -1
    options: Ints | None = None
    parts: tuple[Node, Node] | None = None


def frontier_of(options: Options) -> Node:
    """Merge the levels pairwise, smallest first."""
    heap: list[tuple[int, int, Node]] = []
    for k, rows in enumerate(options.slices()):
        positives, selected = options.positives[rows], options.selected[rows]
        new = np.flatnonzero(np.r_[True, positives[1:] > positives[:-1]])  # the shallowest with so many positives
        fewest = np.full(int(positives[-1]) + 1, NEVER, dtype=np.int64)
        fewest[positives[new]] = selected[new] - positives[new]
        heap.append((len(fewest), k, Node(fewest, k, new)))
    heapq.heapify(heap)
    turn = options.n_levels
    while len(heap) > 1:
        one, two = heapq.heappop(heap)[2], heapq.heappop(heap)[2]
        merged = Node(min_plus(one.fewest, two.fewest), parts=(one, two))
        heapq.heappush(heap, (len(merged.fewest), turn, merged))
        turn += 1
    return heap[0][2]


def trace(node: Node, positives: int, options: Options) -> Ints:
    """Option of each level in a boundary with exactly so many true positives and the fewest false ones."""
    chosen = np.zeros(options.n_levels, dtype=np.int64)
    open_nodes = [(node, positives)]
    while open_nodes:
        node, t = open_nodes.pop()
        if node.parts is None:
            assert node.options is not None  # noqa: S101  (a node is a level or a pair)
            levels = options.positives[options.starts[node.level] + node.options]
            chosen[node.level] = node.options[np.searchsorted(levels, t)]
            continue
        one, two = node.parts
        first = np.arange(max(0, t - len(two.fewest) + 1), min(t, len(one.fewest) - 1) + 1)
        split = int(first[np.argmin(one.fewest[first] + two.fewest[t - first])])
        open_nodes += [(one, split), (two, t - split)]
    return chosen


def min_plus(one: Ints, two: Ints) -> Ints:
    """Smallest one[a] + two[t - a] for every t."""
    short, long = (one, two) if np.count_nonzero(one < NEVER) <= np.count_nonzero(two < NEVER) else (two, one)
    reached = np.flatnonzero(short < NEVER)
    if len(reached) * len(long) <= _DIRECT or len(reached) <= 64:
        out = np.full(len(one) + len(two) - 1, NEVER, dtype=np.int64)
        for a in reached.tolist():
            part = out[a : a + len(long)]
            np.minimum(part, long + short[a], out=part)
        return out
    return _pruned(one, two)


def _pruned(one: Ints, two: Ints) -> Ints:
    """Walk left and right of the minimiser of the convex minorants, only while they leave room for less.

    The set of a with minorant_1(a) + minorant_2(t - a) <= best - 1 is an interval around that minimiser, because the
    sum is convex in a. All t walk at once; those that are done leave.
    """
    low = minorant(one), minorant(two)
    t = np.arange(len(one) + len(two) - 1)
    centre = _minimisers(*low, t)
    best = np.full(len(t), NEVER, dtype=np.int64)

    def visit(t: NDArray[np.intp], a: NDArray[np.intp]) -> NDArray[np.intp]:
        """Take a as a candidate for each t; return the t that must go on."""
        inside = (a >= 0) & (a < len(one)) & (t - a >= 0) & (t - a < len(two))
        t, a = t[inside], a[inside]
        go_on = low[0][a] + low[1][t - a] <= best[t] - 1 + _ROUNDING
        t, a = t[go_on], a[go_on]
        best[t] = np.minimum(best[t], one[a] + two[t - a])
        return t

    left = visit(t, centre)
    right = t
    step = 1
    while len(left) or len(right):
        left = visit(left, centre[left] - step)
        right = visit(right, centre[right] + step)
        step += 1
    return np.minimum(best, NEVER)


def minorant(fewest: Ints) -> Floats:
    """Greatest convex function below the reached points, at every t."""
    from scipy.optimize import isotonic_regression

    reached = np.flatnonzero(fewest < NEVER)
    heights = fewest[reached].astype(np.float64)
    if len(reached) > 2:
        gaps = np.diff(reached).astype(np.float64)
        ends = isotonic_regression(np.diff(heights) / gaps, weights=gaps).blocks
        reached, heights = reached[ends], heights[ends]
    out: Floats = np.interp(np.arange(len(fewest)), reached, heights)
    return out


def _minimisers(low_one: Floats, low_two: Floats, t: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each t an a that minimises the sum of two convex functions: merge their slopes in ascending order."""
    slopes = np.concatenate([np.diff(low_one), np.diff(low_two)])
    from_one = np.argsort(slopes, kind="stable") < len(low_one) - 1
    a: NDArray[np.intp] = np.r_[0, np.cumsum(from_one)].astype(np.intp)
    return a[t]

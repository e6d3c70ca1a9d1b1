"""Solvers: the exact frontier, the knapsack, and heuristics of the literature."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.base.numerics import next_fraction
from stakes.base.validation import Floats
from stakes.boundary._problem import INT64_SAFE, BoundaryProblem, FitOptions, Ints, combine

Values = NDArray[Any]
Solver = Callable[[FitOptions, Fraction], Ints]


# The exact frontier: the fewest rows that a boundary must select for exactly t true positives, for every t.
#
# "Exactly", because a boundary that gains a positive for nothing still spends capacity: from these counts every goal
# and constraint that prefers fewer rows at the same true positives can be read off.

NEVER = 2**60
_DIRECT = 20_000_000  # cells up to which the plain double loop is as fast as the pruned one
_ROUNDING = 1e-6  # the minorants are floating-point
_MAX_POSITIVES = 5 * 10**8  # about 32 bytes for each


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """``fewest[t]`` false positives for exactly t true positives (NEVER: no such choice), by level or by two nodes."""

    fewest: Ints
    level: int = -1
    options: Ints | None = None
    parts: tuple[Node, Node] | None = None


def frontier_of(options: FitOptions) -> Node:
    """Merge the levels pairwise, smallest first."""
    if options.total_positives > _MAX_POSITIVES:
        raise ValueError(
            f"sample_weight must add up to at most {_MAX_POSITIVES:,} positives under two constraints and for a "
            f"frontier, which take memory for each, got {options.total_positives:,}: divide the weights, or state one "
            "constraint."
        )
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


def trace(node: Node, positives: int, options: FitOptions) -> Ints:
    """Trace the option of each level in a boundary with exactly t true positives and the fewest false positives."""
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
    """Min-plus convolution: the smallest one[a] + two[t - a] for every t."""
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
    """Search left and right of the minimiser of the convex minorants, while they allow a smaller sum.

    The set of a with minorant_1(a) + minorant_2(t - a) <= best - 1 is an interval around that minimiser, because the
    sum is convex in a. All t walk at once; those that are done leave.
    """
    low = minorant(one), minorant(two)
    t = np.arange(len(one) + len(two) - 1)
    centre = _minimisers(*low, t)
    best = np.full(len(t), NEVER, dtype=np.int64)

    def visit(t: NDArray[np.intp], a: NDArray[np.intp]) -> NDArray[np.intp]:
        """Evaluate the candidate a for each t; return the t whose search continues."""
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
    """Greatest convex minorant of the finite points, at every t."""
    from scipy.optimize import isotonic_regression

    reached = np.flatnonzero(fewest < NEVER)
    heights = fewest[reached].astype(np.float64)
    if len(reached) > 2:
        gaps = np.diff(reached).astype(np.float64)
        ends = isotonic_regression(np.diff(heights) / gaps, weights=gaps).blocks
        reached, heights = reached[ends], heights[ends]
    return np.interp(np.arange(len(fewest)), reached, heights)


def _minimisers(low_one: Floats, low_two: Floats, t: NDArray[np.intp]) -> NDArray[np.intp]:
    """Minimise the sum of two convex functions for each t: merge their slopes in ascending order."""
    slopes = np.concatenate([np.diff(low_one), np.diff(low_two)])
    from_one = np.argsort(slopes, kind="stable") < len(low_one) - 1
    a: NDArray[np.intp] = np.r_[0, np.cumsum(from_one)].astype(np.intp)
    return a[t]


# The core of a multiple-choice knapsack: two lists of undominated partial choices, joined by binary search.

# Places in a list: lists end long before 2^32 pairs.
_INDEX = np.uint32


class _Partial:
    """Undominated (cost, value) pairs of the levels combined so far, with backward pointers."""

    def __init__(self, like: Values) -> None:
        self.cost: Values = np.zeros(1, dtype=like.dtype)
        self.value: Values = np.zeros(1, dtype=like.dtype)
        self.floor = 0
        self.steps: list[tuple[int, int, NDArray[Any]]] = []

    def add(
        self, level: int, value: Values, cost: Values, *, capacity: int, price: tuple[int, int], least: int
    ) -> None:
        """Combine with the options of another level; drop pairs that cannot improve on the best choice."""
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
        """Trace the option of each level that led to this pair."""
        taken = {}
        for level, options, taken_from in reversed(self.steps):
            place, taken[level] = divmod(int(taken_from[place]), options)
        return taken


def _worth_at_least(values: Values, costs: Values, price: tuple[int, int], least: int) -> NDArray[np.bool_]:
    """Whether b * value - a * cost >= least; approximately, erring on the side of True, where int64 could overflow."""
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
    """Search for a choice with value > least among (value, cost) options.

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


# The multiple-choice knapsack, exactly: one option per level, most value, slacks that add up to at least zero.
#
# Dominance, the concave hull of each level, the Lagrangian bound of the linear relaxation, fixing by regret, and what
# survives (the core) by two lists that are joined. All comparisons that decide are made in integers; floating point
# only orders the edges of the hulls, for which any order gives a valid bound.

# Pairs in a list of the core; with their ways back, two such lists and the work on one of them stay below 0.6 GB.
MAX_LIST = 8_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Level:
    """Undominated options: ``value`` and ``cost`` (slack given up against the cheapest) both strictly increasing."""

    index: NDArray[np.intp]
    value: Values
    cost: Values


@dataclass(frozen=True, eq=False, repr=False)
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
    levels, capacity = undominated_levels(starts, value, slack)
    if capacity < 0:
        return None
    levels = _widened(levels, capacity)
    best, bound = _solve(levels, capacity, max_list)
    total = sum(int(level.value[place]) for level, place in zip(levels, best, strict=True))
    chosen = np.array([level.index[place] for level, place in zip(levels, best, strict=True)], dtype=np.int64)
    return Packing(chosen, total, bound)


def undominated_levels(starts: Ints, value: Values, slack: Values) -> tuple[list[Level], int]:
    """Undominated options of each level, and the sum of the largest slacks."""
    levels, capacity = [], 0
    for start, end in pairwise(starts.tolist()):
        kept = undominated(value[start:end], slack[start:end])
        v, s = value[start:end][kept], slack[start:end][kept]
        levels.append(Level(kept, v, s[0] - s))
        capacity += int(s[0])
    return levels, capacity


def undominated(value: Values, slack: Values) -> NDArray[np.intp]:
    """Options that no other dominates in value and slack, by ascending value."""
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
    """Convert to Python integers if a product of value and cost could overflow int64."""
    values, costs = _largest(levels)
    if 4 * (values + 1) * (costs + capacity + 1) < INT64_SAFE:
        return [Level(v.index, v.value.astype(np.int64), v.cost.astype(np.int64)) for v in levels]
    return [Level(v.index, v.value.astype(object), v.cost.astype(object)) for v in levels]


def _largest(levels: list[Level]) -> tuple[int, int]:
    """Bounds on the absolute total value and on the total cost."""
    values = sum(max(abs(int(level.value[0])), abs(int(level.value[-1]))) for level in levels)
    return values, sum(int(level.cost[-1]) for level in levels)


def _solve(levels: list[Level], capacity: int, max_list: int) -> tuple[list[int], int]:
    """Return the index of the chosen option in each level, and the upper bound."""
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
    """Use the remaining slack greedily: extend the level of largest gain while anything fits."""
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


# The exact solver: every goal as a knapsack, as choices level by level, or as a scan of the frontier.


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Chosen option of each level, and an upper bound on the goal over all boundaries.

    ``bound`` is on the scale of the goal: true positives ("recall"), precision, minus false positives, F-beta, or
    minus the cost c * FP + (1 - c) * FN. ``optimal`` says that the choice reaches it.
    """

    chosen: Ints
    value: Fraction
    bound: Fraction

    @property
    def optimal(self) -> bool:
        return self.value == self.bound


def goal_value(problem: BoundaryProblem, tp: int, n: int, total_positives: int) -> Fraction:
    """Value of the goal at these counts, larger is better."""
    return Fraction(goal_formula(problem.goal, Fraction(tp), n, total_positives, problem.beta2, problem.cost))


def goal_formula(goal: str, tp: Any, n: Any, total_positives: Any, beta2: Any, cost: Any) -> Any:  # noqa: PLR0917
    """Value of the goal in numbers of any kind, also in arrays of them; zero where a ratio is 0/0."""
    if goal == "recall":
        return tp
    if goal == "false_positives":
        return tp - n
    if goal == "cost":
        return -(cost * (n - tp) + (1 - cost) * (total_positives - tp))
    above, below = (tp, n) if goal == "precision" else ((1 + beta2) * tp, n + beta2 * total_positives)
    return above / (below + (below == 0))


def scaled_value(problem: BoundaryProblem, value: Fraction | None, positives: int, total: int) -> float | None:
    """Value of the goal for display: recall for true positives, cost per row."""
    if value is None:
        return None
    if problem.goal == "recall":
        return float(value / positives) if positives else math.nan
    return float(value / total) if problem.goal == "cost" else float(value)


def solve_exact(options: FitOptions, problem: BoundaryProblem, *, max_list: int = MAX_LIST) -> Solution | None:
    """Find the best boundary for the goal under the constraints; None if infeasible.

    Of boundaries with equal recall, precision or false positives, the one with the most true positives, then the
    fewest rows, is returned; of equal F-beta or cost, the shallowest.
    """
    bounds = (problem.min_precision, problem.min_recall, problem.capacity)
    given = sum(bound is not None for bound in bounds)
    if problem.goal == "recall" and given == 1:
        found = _recall(options, problem, max_list)
    elif problem.goal == "precision" and given == 1:
        return _precision(options, problem, max_list)
    elif problem.goal == "false_positives" and given == 1:
        found = _fewest_false(options, problem.least_positives(options.total_positives), max_list)
    elif problem.goal == "f_beta" and given == 0:
        return _certain(options, problem, _f_beta(options, problem.beta2))
    elif problem.goal == "cost" and given == 0:
        c = problem.cost
        return _certain(options, problem, best_per_level(options, c.denominator, c.numerator))
    else:
        return _scan(options, problem)
    if found is None:
        return None
    value = goal_value(problem, *options.counts(found.chosen), options.total_positives)
    offset = value - found.value
    return Solution(found.chosen, value, found.bound + offset)


def _certain(options: FitOptions, problem: BoundaryProblem, chosen: Ints) -> Solution:
    value = goal_value(problem, *options.counts(chosen), options.total_positives)
    return Solution(chosen, value, value)


def _recall(options: FitOptions, problem: BoundaryProblem, max_list: int) -> Packing | None:
    """Most true positives under a precision bound or a capacity, then the fewest rows."""
    if problem.min_precision is not None:
        slack = options.slack(next_fraction(problem.min_precision, max(options.total, 1)))
    else:
        slack = -options.selected
        slack[: options.starts[1]] += problem.rows_selected(options.total) or 0
    best = solve_knapsack(options.starts, options.positives, slack, max_list=max_list)
    if best is None or best.value == 0:
        return None if best is None else Packing(np.zeros_like(best.chosen), 0, best.bound)
    tidy = _fewest(options, best.value, 0, max_list)
    # a capped second search may end with more rows than the first choice
    if tidy is None or options.counts(tidy.chosen)[1] > options.counts(best.chosen)[1]:
        return best
    return Packing(tidy.chosen, best.value, best.bound)


def _fewest(options: FitOptions, least: int, weight: int, max_list: int) -> Packing | None:
    """Fewest rows (weight 0) or false positives (weight 1) with at least ``least`` true positives.

    A knapsack with reversed options, whose slack is the true positives above the required number.
    """
    gain = weight * options.positives - options.selected
    slack = options.positives.copy()
    slack[: options.starts[1]] -= least
    ends = options.starts[-1] - options.starts[::-1]
    found = solve_knapsack(ends, gain[::-1], slack[::-1], max_list=max_list)
    if found is None:
        return None
    chosen = (np.diff(options.starts) - 1) - found.chosen[::-1]
    return Packing(np.asarray(chosen, dtype=np.int64), found.value, found.bound)


def _fewest_false(options: FitOptions, least: int, max_list: int) -> Packing | None:
    """Fewest false positives with at least the required true positives, then the most true positives."""
    first = _fewest(options, least, 1, max_list)
    if first is None:
        return None
    tp, n = options.counts(first.chosen)
    slack = options.positives - options.selected
    slack[: options.starts[1]] += n - tp
    most = solve_knapsack(options.starts, options.positives, slack, max_list=max_list)
    # a capped second search may end with fewer true positives than the first choice
    return first if most is None or most.value < tp else Packing(most.chosen, first.value, first.bound)


def _precision(options: FitOptions, problem: BoundaryProblem, max_list: int) -> Solution | None:
    """Largest TP / N with TP >= R: Dinkelbach's method, each step a knapsack, the last a proof that none is better."""
    least = max(1, problem.least_positives(options.total_positives))
    found = _fewest(options, least, 1, max_list)
    if found is None:
        return None
    demand = options.positives.copy()
    demand[: options.starts[1]] -= least
    while True:
        chosen = found.chosen
        tp, n = options.counts(chosen)
        reached = Fraction(tp, n)
        gain = options.combine(reached.denominator, reached.numerator)
        step = solve_knapsack(options.starts, gain, demand, max_list=max_list)
        if step is None or step.value <= 0:
            excess = 0 if step is None else max(step.bound, 0)
            break
        found = step
    # a better choice has TP / N - tp / n = (n * TP - tp * N) / (N * n) <= excess / (least * n), as N >= TP >= least
    bound = min(Fraction(1), reached + Fraction(excess, least * reached.denominator))
    widest = solve_knapsack(options.starts, options.positives, options.slack(reached), max_list=max_list)
    if widest is not None and widest.value >= tp:
        chosen = widest.chosen
    return Solution(chosen, goal_value(problem, *options.counts(chosen), options.total_positives), bound)


def best_per_level(options: FitOptions, gain: int, price: int) -> Ints:
    """Maximise gain * TP - price * N in each level separately; the shallowest of ties."""
    value = options.combine(gain, price)
    return np.array([int(np.argmax(value[rows])) for rows in options.slices()], dtype=np.int64)


def _f_beta(options: FitOptions, beta2: Fraction) -> Ints:
    """Maximise a ratio of two sums by Dinkelbach's method; each step takes the best option of every level."""
    p, q = beta2.numerator, beta2.denominator
    ratio = Fraction(0)
    if not options.total_positives:
        return np.zeros(options.n_levels, dtype=np.int64)
    while True:
        trial = best_per_level(options, (p + q) * ratio.denominator, q * ratio.numerator)
        tp, n = options.counts(trial)
        better = Fraction((p + q) * tp, q * n + p * options.total_positives)
        if better <= ratio:
            return trial  # as good as the last, and of all that are the shallowest
        ratio = better


def _scan(options: FitOptions, problem: BoundaryProblem) -> Solution | None:
    """Solve for any goal that prefers fewer rows at equal true positives, from the frontier."""
    node = frontier_of(options)
    tp = np.flatnonzero(node.fewest < NEVER)
    n = node.fewest[tp] + tp
    keep = tp >= problem.least_positives(options.total_positives)
    if problem.goal == "precision":
        keep &= n > 0
    capacity = problem.rows_selected(options.total)
    if capacity is not None:
        keep &= n <= capacity
    if problem.min_precision is not None:
        bound = next_fraction(problem.min_precision, max(options.total, 1))
        if (bound.denominator + bound.numerator) * max(options.total, 1) >= INT64_SAFE:
            tp, n = tp.astype(object), n.astype(object)
        keep &= (bound.denominator * tp - bound.numerator * n >= 0).astype(bool)
    if not np.any(keep):
        return None
    best = _argbest(problem, tp[keep], n[keep], options.total_positives)
    chosen = trace(node, int(tp[keep][best]), options)
    return _certain(options, problem, chosen)


def _argbest(problem: BoundaryProblem, tp: Ints, n: Ints, total_positives: int) -> int:
    """Index of the best counts: candidates by floating point, compared exactly by fractions.

    Of ties the last, and for F-beta and cost the first, which selects the fewest rows.
    """
    counts = tp.astype(np.float64), n.astype(np.float64)
    approximate = goal_formula(problem.goal, *counts, total_positives, float(problem.beta2), float(problem.cost))
    near = np.flatnonzero(approximate >= approximate.max() - 1e-9 * max(1.0, float(np.abs(approximate).max())))
    sign = -1 if problem.goal in {"f_beta", "cost"} else 1
    exact = [(goal_value(problem, int(tp[i]), int(n[i]), total_positives), sign * int(i)) for i in near]
    return abs(max(exact)[1])


# Simpler solvers of the literature, for comparison: all maximise recall under a precision bound.
#
# They are as published: none of them is optimal in general, and each docstring explains why.

_MAX_CELLS = 2 * 10**10
_NONE = -(2**61)  # no choice of this size; sums with counts stay far below zero


def greedy(options: FitOptions, precision: Fraction) -> Ints:
    """Largest option of each level that keeps the precision by itself: levels cannot share slack."""
    slack = options.slack(next_fraction(precision, max(options.total, 1)))
    return np.array([int(np.flatnonzero(slack[rows] >= 0)[-1]) for rows in options.slices()], dtype=np.int64)


def isotonic(options: FitOptions, precision: Fraction) -> Ints:
    """Take blocks of the isotonic fits by descending rate, ties together; keep the longest feasible prefix.

    This is the linear relaxation of the exact problem, stopped at the block that does not fit: arbitrarily far from
    the best on small or tied data.
    """
    return _by_blocks(options, precision, together=True)


def isotonic_completed(options: FitOptions, precision: Fraction) -> Ints:
    """As ``isotonic``, tested after every block, and what slack is left is spent level by level."""
    chosen = _by_blocks(options, precision, together=False)
    slack = options.slack(next_fraction(precision, max(options.total, 1)))
    levels, capacity = undominated_levels(options.starts, options.positives, slack)
    rests = [slack[rows] for rows in options.slices()]
    # the best undominated option that costs no more than the block's end
    ends = zip(levels, rests, chosen.tolist(), strict=True)
    places = [int(np.flatnonzero(rest[level.index] >= rest[depth])[-1]) for level, rest, depth in ends]
    places = filled(levels, places, capacity)
    return np.array([level.index[place] for level, place in zip(levels, places, strict=True)], dtype=np.int64)


def rate_around(options: FitOptions, selected: int) -> float:
    """Rate of positives at the margin of a boundary: over the blocks from 3/4 to 5/4 of its rows.

    Blocks of all levels by descending rate; at least ten rows on either side, for the rate of few rows is noise.
    """
    _, _, p, n, _, order = _ranked_blocks(options)
    rows, found = np.r_[0, np.cumsum(n[order])], np.r_[0, np.cumsum(p[order])]
    reach = max(0.25 * selected, 10.0)
    low, high = max(0.0, selected - reach), min(float(rows[-1]), selected + reach)
    if high <= low:
        return 0.0
    at_low, at_high = np.interp([low, high], rows, found)
    return float((at_high - at_low) / (high - low))


def _ranked_blocks(options: FitOptions) -> tuple[NDArray[Any], ...]:
    """Level, end, positives, rows and rate of the isotonic blocks of all levels, and their order by descending rate."""
    owner, ends, positives, totals = [], [], [], []
    for k, rows in enumerate(options.slices()):
        last = _blocks(options.positives[rows], options.selected[rows])
        owner.append(np.full(len(last), k))
        ends.append(last)
        positives.append(np.diff(options.positives[rows][np.r_[0, last]]))
        totals.append(np.diff(options.selected[rows][np.r_[0, last]]))
    level, end, p, n = (np.concatenate(parts) for parts in (owner, ends, positives, totals))
    rate = p / np.maximum(n, 1)
    return level, end, p, n, rate, np.argsort(-rate, kind="stable")


def _by_blocks(options: FitOptions, precision: Fraction, *, together: bool) -> Ints:
    level, end, p, n, rate, order = _ranked_blocks(options)
    bound = next_fraction(precision, max(options.total, 1))
    slack = np.cumsum(combine(p[order], n[order], bound.denominator, bound.numerator, options.total))
    feasible = slack >= 0
    if together:
        feasible &= np.append(rate[order][1:] != rate[order][:-1], True).astype(bool) if len(order) else True
    chosen = np.zeros(options.n_levels, dtype=np.int64)
    good = np.flatnonzero(feasible)
    if len(good):
        taken = order[: good[-1] + 1]
        np.maximum.at(chosen, level[taken], end[taken])
    return chosen


def _blocks(positives: Ints, selected: Ints) -> NDArray[np.intp]:
    """Ends of the blocks of the non-increasing fit of the rate, equal rates in one block.

    Rates are quotients of counts: recomputed from the counts of a block they are equal only if they are equal.
    """
    from scipy.optimize import isotonic_regression

    n = np.diff(selected)
    if not len(n):
        return np.empty(0, np.intp)
    fit = isotonic_regression(np.diff(positives) / n, weights=n.astype(float), increasing=False)
    ends = np.asarray(fit.blocks[1:], dtype=np.intp)
    while len(ends) > 1:
        bounds = np.r_[0, ends]
        rate = np.diff(positives[bounds]) / np.diff(selected[bounds])
        keep = np.append(rate[:-1] > rate[1:], True).astype(bool)
        if np.all(keep):
            break
        ends = ends[keep]
    return ends


def equal_weight_dp(options: FitOptions, precision: Fraction) -> Ints:
    """Most positives for each number of bins; the largest number that keeps the precision.

    Optimal only where all bins hold equally many rows; empty bins count as bins. Of equal positives the choice with
    fewer rows is kept.
    """
    key = options.positives * (options.total + 1) - options.selected
    by_bins = options.by_bins or tuple(np.arange(size) for size in np.diff(options.starts))
    gains = [key[start + chosen] for start, chosen in zip(options.starts[:-1], by_bins, strict=True)]
    _check_cells(sum(map(len, gains)) ** 2 // 2, "equal_weight_dp")
    tables = [gains[0]]
    for gain in gains[1:]:
        tables.append(_max_plus(tables[-1], gain, np.arange(len(gain))))
    positives = -(-tables[-1] // (options.total + 1))
    selected = positives * (options.total + 1) - tables[-1]
    at = int(_feasible(options, precision, tables[-1], positives, selected)[-1])
    bins = _traced(tables, at, gains, [np.arange(len(gain)) for gain in gains])
    return np.array([chosen[b] for chosen, b in zip(by_bins, bins, strict=True)], dtype=np.int64)


def variable_weight_dp(options: FitOptions, precision: Fraction) -> Ints:
    """Most positives for each number of rows: optimal, in time and memory proportional to the rows."""
    _check_cells(len(options.positives) * (options.total + 1), "variable_weight_dp")
    first = options.selected[: options.starts[1]]
    table = np.full(int(first[-1]) + 1, _NONE, dtype=np.int64)
    table[first] = options.positives[: options.starts[1]]
    tables = [table]
    for rows in list(options.slices())[1:]:
        tables.append(_max_plus(tables[-1], options.positives[rows], options.selected[rows]))
    selected = np.arange(len(tables[-1]))
    feasible = _feasible(options, precision, tables[-1], tables[-1], selected)
    at = int(feasible[np.argmax(tables[-1][feasible])])
    levels = list(options.slices())
    return _traced(tables, at, [options.positives[k] for k in levels], [options.selected[k] for k in levels])


def _max_plus(table: Ints, gain: Ints, size: Ints) -> Ints:
    """Max-plus convolution: the best sum for every total size."""
    out = np.full(len(table) + int(size[-1]), _NONE, dtype=np.int64)
    for one, step in zip(gain.tolist(), size.tolist(), strict=True):
        part = out[step : step + len(table)]
        np.maximum(part, table + one, out=part)
    return out


def _feasible(
    options: FitOptions, precision: Fraction, table: Ints, positives: Ints, selected: Ints
) -> NDArray[np.intp]:
    """Finite entries of a table that keep the precision; the empty choice always does."""
    reached = table > _NONE // 2
    bound = next_fraction(precision, max(options.total, 1))
    counts = np.where(reached, positives, 0), np.where(reached, selected, 0)
    slack = combine(*counts, bound.denominator, bound.numerator, options.total)
    return np.flatnonzero(reached & (slack >= 0).astype(bool))


def _traced(tables: list[Ints], at: int, gains: list[Ints], sizes: list[Ints]) -> Ints:
    """Trace the choice of each level that led to an entry of the last table."""
    chosen = np.zeros(len(tables), dtype=np.int64)
    for k in range(len(tables) - 1, 0, -1):
        rest = at - sizes[k]
        fits = (rest >= 0) & (rest < len(tables[k - 1]))
        value = np.full(len(rest), 2 * _NONE, dtype=np.int64)
        value[fits] = tables[k - 1][rest[fits]] + gains[k][fits]
        chosen[k] = int(np.flatnonzero(value == tables[k][at])[0])
        at = int(rest[chosen[k]])
    chosen[0] = int(np.searchsorted(sizes[0], at))
    return chosen


def _check_cells(cells: int, solver: str) -> None:
    if cells > _MAX_CELLS:
        raise ValueError(
            f"solver={solver!r} would visit {cells:.2g} cells: pass a smaller score_bins, or solver='exact', which is "
            "never worse."
        )


HEURISTICS: dict[str, Solver] = {
    "greedy": greedy,
    "isotonic": isotonic,
    "isotonic_completed": isotonic_completed,
    "equal_weight_dp": equal_weight_dp,
    "variable_weight_dp": variable_weight_dp,
}

"""The exact solver: every goal as a knapsack, as choices level by level, or as a scan of the frontier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._frontier import NEVER, frontier_of, trace
from stakes.boundary._knapsack import MAX_LIST, Packing, solve_knapsack
from stakes.boundary._options import INT64_SAFE
from stakes.core.exact import next_fraction

if TYPE_CHECKING:
    from stakes.boundary._options import Ints, Options
    from stakes.boundary._problem import Problem


@dataclass(frozen=True)
class Solution:
    """Chosen option of each level, and a bound that no boundary of these options can pass.

    ``bound`` is on the scale of the goal: true positives ("recall"), precision, minus false positives, F-beta, or
    minus the cost c * FP + (1 - c) * FN. ``optimal`` says that the choice reaches it.
    """

    chosen: Ints
    value: Fraction
    bound: Fraction

    @property
    def optimal(self) -> bool:
        return self.value == self.bound


def goal_value(problem: Problem, tp: int, n: int, total_positives: int) -> Fraction:
    """Value of the goal at these counts, larger is better."""
    if problem.goal == "recall":
        return Fraction(tp)
    if problem.goal == "precision":
        return Fraction(tp, n) if n else Fraction(0)
    if problem.goal == "false_positives":
        return Fraction(tp - n)
    if problem.goal == "f_beta":
        base = n + problem.beta2 * total_positives
        return (1 + problem.beta2) * tp / base if base else Fraction(0)
    return -(problem.cost * (n - tp) + (1 - problem.cost) * (total_positives - tp))


def scaled_value(problem: Problem, value: Fraction | None, positives: int, total: int) -> float | None:
    """Value of the goal as it is shown: recall for true positives, cost per row."""
    if value is None:
        return None
    if problem.goal == "recall":
        return float(value / positives) if positives else math.nan
    return float(value / total) if problem.goal == "cost" else float(value)


def solve_exact(options: Options, problem: Problem, *, max_list: int = MAX_LIST) -> Solution | None:
    """Best boundary for the goal under the constraints; None if no boundary keeps them all.

    Of boundaries with equal recall, precision or false positives, the one with the most true positives, then the
    fewest rows, is returned; of equal F-beta or cost, the shallowest.
    """
    bounds = (problem.min_precision, problem.min_recall, problem.max_selected)
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


def _certain(options: Options, problem: Problem, chosen: Ints) -> Solution:
    value = goal_value(problem, *options.counts(chosen), options.total_positives)
    return Solution(chosen, value, value)


def _recall(options: Options, problem: Problem, max_list: int) -> Packing | None:
    """Most true positives under a precision bound or a capacity, then the fewest rows."""
    if problem.min_precision is not None:
        slack = options.slack(next_fraction(problem.min_precision, max(options.total, 1)))
    else:
        slack = -options.selected
        slack[: options.starts[1]] += problem.capacity(options.total) or 0
    best = solve_knapsack(options.starts, options.positives, slack, max_list=max_list)
    if best is None or best.value == 0:
        return None if best is None else Packing(np.zeros_like(best.chosen), 0, best.bound)
    tidy = _fewest(options, best.value, 0, max_list)
    # a capped second search may end with more rows than the first choice
    if tidy is None or options.counts(tidy.chosen)[1] > options.counts(best.chosen)[1]:
        return best
    return Packing(tidy.chosen, best.value, best.bound)


def _fewest(options: Options, least: int, weight: int, max_list: int) -> Packing | None:
    """Fewest rows (weight 0) or false positives (weight 1) with at least so many true positives.

    Options in reverse: fewer are more, and the slack is the true positives beyond those asked for.
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


def _fewest_false(options: Options, least: int, max_list: int) -> Packing | None:
    """Fewest false positives with at least so many true ones, then the most true ones."""
    first = _fewest(options, least, 1, max_list)
    if first is None:
        return None
    tp, n = options.counts(first.chosen)
    slack = options.positives - options.selected
    slack[: options.starts[1]] += n - tp
    most = solve_knapsack(options.starts, options.positives, slack, max_list=max_list)
    # a capped second search may end with fewer true positives than the first choice
    return first if most is None or most.value < tp else Packing(most.chosen, first.value, first.bound)


def _precision(options: Options, problem: Problem, max_list: int) -> Solution | None:
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


def best_per_level(options: Options, gain: int, price: int) -> Ints:
    """Largest gain * TP - price * N: each level alone, the shallowest of equals."""
    value = options.combine(gain, price)
    return np.array([int(np.argmax(value[rows])) for rows in options.slices()], dtype=np.int64)


def _f_beta(options: Options, beta2: Fraction) -> Ints:
    """Dinkelbach's method: the ratio of two sums, each step the best option of every level."""
    p, q = beta2.numerator, beta2.denominator
    ratio = Fraction(0)
    chosen = np.zeros(options.n_levels, dtype=np.int64)
    if not options.total_positives:
        return chosen
    while True:
        trial = best_per_level(options, (p + q) * ratio.denominator, q * ratio.numerator)
        tp, n = options.counts(trial)
        better = Fraction((p + q) * tp, q * n + p * options.total_positives)
        if better <= ratio:
            return chosen
        chosen, ratio = trial, better


def _scan(options: Options, problem: Problem) -> Solution | None:
    """Any goal under any constraints that prefer fewer rows at the same true positives, from the frontier."""
    node = frontier_of(options)
    tp = np.flatnonzero(node.fewest < NEVER)
    n = node.fewest[tp] + tp
    keep = tp >= problem.least_positives(options.total_positives)
    if problem.goal == "precision":
        keep &= n > 0
    capacity = problem.capacity(options.total)
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


def _argbest(problem: Problem, tp: Ints, n: Ints, total_positives: int) -> int:
    """Place of the best of these counts, the last of equals: floating point proposes, fractions decide."""
    approximate = _values(problem, tp.astype(np.float64), n.astype(np.float64), total_positives)
    near = np.flatnonzero(approximate >= approximate.max() - 1e-9 * max(1.0, float(np.abs(approximate).max())))
    exact = [(goal_value(problem, int(tp[i]), int(n[i]), total_positives), int(i)) for i in near]
    return max(exact)[1]


def _values(problem: Problem, tp: np.ndarray, n: np.ndarray, total_positives: int) -> np.ndarray:
    if problem.goal == "recall":
        return tp
    if problem.goal == "precision":
        return tp / n
    if problem.goal == "false_positives":
        return tp - n
    if problem.goal == "f_beta":
        beta2 = float(problem.beta2)
        return (1.0 + beta2) * tp / np.maximum(n + beta2 * total_positives, 1e-300)
    c = float(problem.cost)
    return -(c * (n - tp) + (1.0 - c) * (total_positives - tp))

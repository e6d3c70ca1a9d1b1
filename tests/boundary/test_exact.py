"""The exact solver against the reference, against every boundary of small grids, and against an integer program."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from boundary_brute import best_counts, boundaries, f_beta
from boundary_options import options_of_grid
from hypothesis import given, strategies as st

from stakes.base.numerics import next_fraction
from stakes.boundary import fit_boundary, precision_recall_frontier
from stakes.boundary._problem import BoundaryProblem
from stakes.boundary._solvers import (
    NEVER,
    _argbest,
    _pruned,
    _worth_at_least,
    frontier_of,
    goal_value,
    min_plus,
    solve_core,
    solve_exact,
    solve_knapsack,
    trace,
)

KINDS = ["max_recall", "capacity", "max_recall_capacity", "max_precision", "min_fp", "fbeta", "utility"]


def as_problem(query, total_positives):
    """Translate a query of the reference into a goal with constraints."""
    kind = query["type"]
    precision = Fraction(*query["sigma"]) if "sigma" in query else None
    if kind in {"max_precision", "min_fp"}:
        recall = Fraction(query["R"], max(total_positives, 1))
        return BoundaryProblem("precision" if kind == "max_precision" else "false_positives", min_recall=recall)
    if kind == "fbeta":
        return BoundaryProblem("f_beta", beta2=Fraction(*query["beta2"]))
    if kind == "utility":
        gain, cost = query["gain"], query["cost"]
        return BoundaryProblem("cost", cost=Fraction(cost, gain + cost))
    return BoundaryProblem("recall", min_precision=precision, capacity=query.get("C"))


def answer(options, query):
    """Solve and report in the reference's form."""
    solution = solve_exact(options, as_problem(query, options.total_positives))
    kind = query["type"]
    if solution is None:
        return {"precision": None} if kind == "max_precision" else {"FP": None}
    assert solution.optimal
    tp, n = options.counts(solution.chosen)
    if kind == "max_precision":
        ratio = Fraction(tp, n)
        return {"precision": [ratio.numerator, ratio.denominator], "TP": tp, "N": n}
    if kind == "min_fp":
        return {"FP": n - tp}
    if kind == "fbeta":
        value = f_beta(tp, n, Fraction(*query["beta2"]), options.total_positives)
        assert value == solution.value
        return {"F": [value.numerator, value.denominator]}
    if kind == "utility":
        return {"value": query["gain"] * tp - query["cost"] * (n - tp)}
    return {"TP": tp, "N": n}


def random_grid(rng, kind=0):
    """Small grids: anything, rates that rise with the score, every bin at one rate, or a few large bins."""
    levels, bins = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    totals = rng.integers(0, 30, (levels, bins))
    if kind % 4 == 1:
        positives = rng.binomial(totals, np.sort(rng.random((levels, bins)) ** 2, axis=1))
    elif kind % 4 == 2:
        positives, totals = totals, 2 * totals
        positives[0, -1] = totals[0, -1] = int(rng.integers(0, 60))
    elif kind % 4 == 3:
        totals = totals * rng.integers(1, 10**4, totals.shape)
        positives = rng.binomial(totals, rng.random(totals.shape))
    else:
        positives = rng.binomial(totals, rng.random(totals.shape))
    return positives, totals


def random_query(rng, kind, total_positives, total):
    sigma = [(1, 2), (7, 10), (9, 10), (1, 1), (2, 3), (333, 1000)][int(rng.integers(6))]
    if kind == "max_recall":
        return {"type": kind, "sigma": sigma}
    if kind == "capacity":
        return {"type": kind, "C": int(rng.integers(0, total + 2))}
    if kind == "max_recall_capacity":
        return {"type": kind, "sigma": sigma, "C": int(rng.integers(0, total + 2))}
    if kind in {"max_precision", "min_fp"}:
        return {"type": kind, "R": int(rng.integers(1, max(total_positives, 1) + 1))}
    if kind == "fbeta":
        return {"type": kind, "beta2": [int(rng.integers(1, 30)), 4]}
    return {"type": kind, "gain": int(rng.integers(1, 9)), "cost": int(rng.integers(1, 9))}


def agree_with_enumeration(kind, seed, repeats):
    rng = np.random.default_rng(seed)
    for turn in range(repeats):
        positives, totals = random_grid(rng, turn)
        options = options_of_grid(positives, totals)
        pairs = boundaries(positives, totals)
        query = random_query(rng, kind, options.total_positives, options.total)
        best = best_counts(pairs, query, options.total_positives)
        problem = as_problem(query, options.total_positives)
        if kind in {"max_precision", "min_fp"} and not options.total_positives:
            continue
        solution = solve_exact(options, problem)
        assert solution.optimal
        counts = options.counts(solution.chosen)
        if kind == "fbeta":
            beta2 = Fraction(*query["beta2"])
            assert f_beta(*counts, beta2, options.total_positives) == f_beta(*best, beta2, options.total_positives)
        elif kind == "utility":
            assert np.dot(counts, (query["gain"] + query["cost"], -query["cost"])) == np.dot(
                best, (query["gain"] + query["cost"], -query["cost"])
            )
        else:
            assert counts == best, (query, positives.tolist(), totals.tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_every_goal_equals_enumeration_on_random_grids(kind):
    agree_with_enumeration(kind, seed=KINDS.index(kind), repeats=150)


def test_reference_answers_are_reached_exactly(reference_dir):
    path = Path(reference_dir) / "reference" / "boundary_reference.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    checked = 0
    for instance in content["instances"]:
        options = options_of_grid(instance["p"], instance["n"])
        for query, expected in zip(instance["queries"], instance["answers"], strict=True):
            assert answer(options, query) == expected, (instance["name"], query)
            checked += 1
    assert checked == 605


# boundary_reference.json, instances mist_trap and gmt_trap, and the random_00 grid at precision 1/2.
WRITTEN_DOWN = [
    ([[0, 9], [890, 0], [0, 31]], [[1, 9], [1000, 0], [0, 35]], (9, 10), 40),
    ([[70, 10], [0, 100]], [[100, 10], [1, 100]], (8, 10), 180),
    ([[1, 10, 9, 7, 1]], [[6, 23, 12, 16, 3]], (1, 2), 27),
    ([[1, 2], [0, 1]], [[10, 10], [10, 10]], (9, 10), 0),
]


@pytest.mark.parametrize(("positives", "totals", "sigma", "best"), WRITTEN_DOWN)
def test_written_down_optima(positives, totals, sigma, best):
    options = options_of_grid(positives, totals)
    solution = solve_exact(options, BoundaryProblem("recall", min_precision=Fraction(*sigma)))
    assert (solution.value, solution.optimal) == (best, True)


def subset_sum(items, target):
    """One level per item and one pure bin worth the target: adding an item costs its size (weakly NP-hard)."""
    positives = np.zeros((len(items), 2), int)
    totals = np.zeros((len(items), 2), int)
    positives[:, 0], totals[:, 0] = items, 3 * items
    positives[0, 1] = totals[0, 1] = target
    return options_of_grid(positives, totals)


def test_hard_instance_is_solved_though_its_relaxation_is_never_attained():
    items = 2 * np.random.default_rng(5).integers(1, 10**5, 24)
    target = int(items.sum() // 2) | 1
    solution = solve_exact(subset_sum(items, target), BoundaryProblem("recall", min_precision=Fraction(1, 2)))
    reachable = {0}
    for item in items.tolist():
        reachable |= {one + item for one in reachable if one + item <= target}
    assert solution.value == target + max(reachable)
    assert solution.optimal


def test_sums_whose_products_leave_64_bits_are_compared_as_well():
    items = 2 * np.random.default_rng(4).integers(1, 10**11, 14)
    target = int(items.sum() // 2) | 1
    solution = solve_exact(subset_sum(items, target), BoundaryProblem("recall", min_precision=Fraction(1, 2)))
    reachable = {0}
    for item in items.tolist():
        reachable |= {one + item for one in reachable if one + item <= target}
    assert solution.value == target + max(reachable)
    assert solution.optimal


def test_capped_search_says_how_far_from_the_best_it_may_be():
    rng = np.random.default_rng(6)
    gaps = []
    for _ in range(40):
        items = 2 * rng.integers(1, 2000, 12)
        options = subset_sum(items, int(items.sum() // 2) | 1)
        problem = BoundaryProblem("recall", min_precision=Fraction(1, 2))
        best = solve_exact(options, problem).value
        capped = solve_exact(options, problem, max_list=4)
        assert capped.value <= best <= capped.bound
        tp, n = options.counts(capped.chosen)
        assert 2 * tp >= n
        gaps.append(capped.bound - capped.value)
    assert max(gaps) > 0


@pytest.mark.parametrize("kind", ["capacity", "max_precision", "min_fp"])
def test_bounds_of_capped_searches_hold_for_the_other_goals(kind):
    rng = np.random.default_rng(8)
    for turn in range(60):
        positives, totals = random_grid(rng, turn)
        options = options_of_grid(positives, totals)
        if options.total_positives:
            problem = as_problem(
                random_query(rng, kind, options.total_positives, options.total), options.total_positives
            )
            best = solve_exact(options, problem)
            capped = solve_exact(options, problem, max_list=1)
            assert capped.value <= best.value <= capped.bound


def test_mid_size_grids_equal_an_integer_program():
    from scipy.optimize import Bounds, LinearConstraint, milp

    rng = np.random.default_rng(9)
    for turn in range(50):
        levels, bins = int(rng.integers(3, 8)), int(rng.integers(10, 40))
        totals = rng.integers(1, 200, (levels, bins))
        positives = rng.binomial(totals, np.sort(rng.random((levels, bins)) ** 2, axis=1))
        options = options_of_grid(positives, totals)
        a, b = [(7, 10), (9, 10)][turn % 2]
        one_each = np.zeros((levels, len(options.positives)))
        for k, rows in enumerate(options.slices()):
            one_each[k, rows] = 1
        program = milp(
            -options.positives.astype(float),
            constraints=[
                LinearConstraint(one_each, 1, 1),
                LinearConstraint((b * options.positives - a * options.selected)[None, :], 0, np.inf),
            ],
            integrality=np.ones(len(options.positives)),
            bounds=Bounds(0, 1),
            options={"mip_rel_gap": 0},
        )
        solution = solve_exact(options, BoundaryProblem("recall", min_precision=Fraction(a, b)))
        assert solution.value == round(-program.fun)


def test_python_integers_take_over_where_int64_would_overflow():
    grid = ([[0, 9], [890, 0], [0, 31]], [[1, 9], [1000, 0], [0, 35]])
    problem = BoundaryProblem("recall", min_precision=Fraction(9, 10))
    scale = 10**12
    small, large = options_of_grid(*grid), options_of_grid(*(np.array(part) * scale for part in grid))
    assert solve_exact(large, problem).value == scale * solve_exact(small, problem).value
    fine = BoundaryProblem("f_beta", beta2=Fraction(10**9 + 1, 10**9))
    assert float(solve_exact(large, fine).value) == pytest.approx(float(solve_exact(small, fine).value), abs=1e-12)


def test_precision_of_billions_of_rows_is_compared_without_overflow():
    # 5 hits in 4e9 rows against a bound next to 1: the difference of products leaves 64 bits with the wrong sign
    rows = 4 * 10**9
    options = options_of_grid([[5]], [[rows]])
    problem = BoundaryProblem("f_beta", beta2=Fraction(1), min_precision=Fraction(rows - 2, rows - 1))
    assert solve_exact(options, problem).value == 0
    assert solve_exact(options, BoundaryProblem("f_beta", beta2=Fraction(1), min_precision=Fraction(5, rows))).value > 0


@pytest.mark.parametrize("scale", [1, 10**8, 2**31, 10**17])
def test_pairs_worth_at_least_so_much_pass_and_those_worth_clearly_less_do_not(scale):
    rng = np.random.default_rng(0)
    values, costs = rng.integers(-9, 10, 40) * scale, np.sort(rng.integers(0, 10, 40)) * scale
    for price in ((2, 3), (3 * scale, scale)):
        worth = [price[1] * int(v) - price[0] * int(c) for v, c in zip(values, costs, strict=True)]
        least = sorted(worth)[17]
        passed = _worth_at_least(values, costs, price, least)
        assert passed.tolist() == [w >= least for w in worth]


def test_worth_that_leaves_64_bits_is_not_computed_in_them():
    values, costs = np.array([2**40, 2**41]), np.array([0, 0])
    passed = _worth_at_least(values, costs, (1, 2**24), 2**65 - 1)  # worth 2^64 and 2^65: in 64 bits both are 0
    assert passed.tolist() == [False, True]


def test_precision_bound_is_read_as_it_is_written_not_as_a_binary_number():
    # every bin exactly at the bound: sums of p - 0.9 n in floating point would turn most choices down
    options = options_of_grid([[9, 9, 9]] * 5, [[10, 10, 10]] * 5)
    assert solve_exact(options, BoundaryProblem("recall", min_precision=Fraction("0.9"))).value == 135
    assert solve_exact(options, BoundaryProblem("recall", min_precision=Fraction(0.9) + Fraction(1, 10**15))).value == 0


@given(st.fractions(min_value=0, max_value=1, max_denominator=10**7), st.integers(1, 60))
def test_next_fraction_leaves_no_ratio_of_counts_in_between(value, largest):
    found = next_fraction(value, largest)
    ratios = {Fraction(a, b) for b in range(1, largest + 1) for a in range(b + 1)}
    assert found == min(ratio for ratio in ratios if ratio >= value)


@given(st.integers(0, 10**9))
def test_frontier_holds_the_fewest_rows_for_every_count_of_positives(seed):
    rng = np.random.default_rng(seed)
    positives, totals = random_grid(rng, seed % 3)
    options = options_of_grid(positives, totals)
    node = frontier_of(options)
    fewest = {}
    for t, n in boundaries(positives, totals):
        fewest[t] = min(n, fewest.get(t, n))
    assert {t: t + int(f) for t, f in enumerate(node.fewest) if f < NEVER} == fewest
    for t, n in fewest.items():
        assert options.counts(trace(node, t, options)) == (t, n)


@pytest.mark.parametrize("gaps", [False, True])
def test_pruned_merge_equals_the_double_loop(gaps):
    rng = np.random.default_rng(11)
    for _ in range(60):
        one, two = (np.cumsum(rng.geometric(0.3, int(rng.integers(1, 80))) * (rng.random() < 0.9)) - 1 for _ in "ab")
        parts = []
        for rises in (one, two):
            part = np.r_[0, rises + 1].astype(np.int64)
            if gaps:
                part[1:-1][rng.random(len(part) - 2) < 0.5] = NEVER
            parts.append(part)
        assert _pruned(*parts).tolist() == min_plus(*parts).tolist()


@given(st.integers(0, 10**9))
def test_knapsack_takes_values_and_slacks_in_any_order(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 3)
    starts = np.r_[0, np.cumsum(sizes)]
    value, slack = rng.integers(-9, 10, starts[-1]), rng.integers(-9, 10, starts[-1])
    best = None
    for choice in np.ndindex(*sizes):
        place = starts[:-1] + np.array(choice)
        if slack[place].sum() >= 0:
            total = int(value[place].sum())
            best = total if best is None else max(best, total)
    found = solve_knapsack(starts, value, slack)
    assert (found is None) == (best is None)
    if found is not None:
        assert found.value == found.bound == best == value[starts[:-1] + found.chosen].sum()
        assert slack[starts[:-1] + found.chosen].sum() >= 0


@pytest.mark.parametrize(
    ("goal", "tp", "n", "best"),
    [
        ("precision", [9, 5], [10, 5], 1),
        ("precision", [1, 2, 3], [1, 2, 4], 1),  # of equals the last
        ("precision", [1, 4], [1, 5], 0),
        ("precision", [99_999_998, 99_999_999], [99_999_999, 100_000_000], 1),  # 1e-16 apart
        ("precision", [99_999_999, 99_999_998], [100_000_000, 99_999_999], 0),
        ("false_positives", [9, 5], [10, 5], 1),
        ("false_positives", [9, 8], [10, 10], 0),
        ("false_positives", [3, 4], [5, 6], 1),
    ],
)
def test_best_of_some_counts_is_that_of_fractions(goal, tp, n, best):
    assert _argbest(BoundaryProblem(goal), np.array(tp), np.array(n), 10**8) == best


@pytest.mark.parametrize("goal", ["recall", "precision", "false_positives", "f_beta", "cost"])
def test_best_of_random_counts_is_the_best_by_fractions_with_the_fewest_or_most_rows(goal):
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = np.sort(rng.choice(40, 12, replace=False)) + 1
        tp, total = rng.integers(0, n + 1), 40 + int(rng.integers(10))
        weight = Fraction(int(rng.integers(1, 40)), 8)
        problem = BoundaryProblem(goal, beta2=weight, cost=weight / 5)
        by_goal = {
            "recall": lambda t, _n: Fraction(t),
            "precision": Fraction,
            "false_positives": lambda t, n: Fraction(t - n),
            "f_beta": lambda t, n, b=weight, p=total: f_beta(t, n, b, p),
            "cost": lambda t, n, c=weight / 5, p=total: -c * (n - t) - (1 - c) * (p - t),
        }
        exact = [by_goal[goal](t, n) for t, n in zip(tp.tolist(), n.tolist(), strict=True)]
        ties = [k for k, value in enumerate(exact) if value == max(exact)]
        best = ties[0 if goal in {"f_beta", "cost"} else -1]
        assert _argbest(problem, tp, n, total) == best


@pytest.mark.parametrize("goal", [{"goal": "f_beta", "f_beta": 0.5}, {"goal": "cost", "costs": 0.5}])
@pytest.mark.parametrize("bounds", [{}, {"capacity": 8}, {"min_precision": "1/3", "capacity": 8}])
def test_of_equal_f_beta_or_cost_the_fewest_rows_are_selected(goal, bounds):
    # of four positives 1 of 1 and 3 of 5 rows have an F-beta of 5/8, and two false positives cost as much as two misses
    y, score = [1, 0, 1, 0, 1, 1, 0, 0], [0.9, 0.7, 0.7, 0.7, 0.7, 0.2, 0.2, 0.2]
    found = fit_boundary(y, score, np.ones(8), levels=1, **goal, **bounds)
    assert (found.true_positives.sum(), found.selected.sum()) == (1, 1)
    assert found.optimal


@pytest.mark.parametrize("goal", ["recall", "precision", "false_positives", "f_beta", "cost"])
def test_goals_under_two_bounds_equal_enumeration(goal):
    rng, found = np.random.default_rng(5), 0
    for turn in range(40):
        positives, totals = (grid % 4 for grid in random_grid(rng, 0))
        positives = np.minimum(positives, totals)
        if not positives.any():
            continue
        options = options_of_grid(positives, totals)
        least, most = int(rng.integers(1, positives.sum() + 1)), 1 + turn % 8
        problem = BoundaryProblem(
            goal,
            min_recall=Fraction(least, int(positives.sum())),
            capacity=most,
            beta2=Fraction(3),
            cost=Fraction(1, 3),
        )
        allowed = [(t, n) for t, n in boundaries(positives, totals) if t >= least and 0 < n <= most]
        solution = solve_exact(options, problem)
        assert (solution is None) == (not allowed)
        if solution is not None:
            found += 1
            best = max(goal_value(problem, t, n, options.total_positives) for t, n in allowed)
            t, n = options.counts(solution.chosen)
            assert t >= least
            assert n <= most
            assert goal_value(problem, t, n, options.total_positives) == solution.value == best
    assert found > 5


@pytest.mark.parametrize("seed", range(20))
def test_the_core_of_six_levels_has_the_most_value_that_fits(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, 6)
    levels = [tuple(np.sort(rng.choice(40, size, replace=False)) for _ in range(2)) for size in sizes]
    levels = [(value - value[0], cost - cost[0]) for value, cost in levels]
    capacity = sum(int(cost[-1]) for _, cost in levels) // 2
    asked = {"price": (0, 1), "floor": 0, "tops": [int(value[-1]) for value, _ in levels], "max_list": 10**6}
    totals = [
        [sum(int(each[place]) for each, place in zip(kind, choice, strict=True)) for kind in zip(*levels, strict=True)]
        for choice in np.ndindex(*sizes)
    ]
    best = max(value for value, cost in totals if cost <= capacity)
    found = solve_core(levels, capacity, -1, **asked)
    assert sum(int(value[place]) for (value, _), place in zip(levels, found, strict=True)) == best
    assert sum(int(cost[place]) for (_, cost), place in zip(levels, found, strict=True)) <= capacity


def test_lists_of_the_core_end_where_their_product_would_be_too_long():
    levels = [(np.array([0, 2, 4]), np.array([0, 1, 2])), (np.array([0, 3, 4]), np.array([0, 1, 2]))]
    asked = {"price": (0, 1), "floor": 1, "tops": [4, 4]}
    assert solve_core(levels, 3, 0, **asked, max_list=2) is None
    assert solve_core(levels, 3, 0, **asked, max_list=3) == [2, 1]


def test_nothing_selected_has_no_precision_to_be_the_best():
    options = options_of_grid([[0, 1]], [[5, 9]])
    problem = BoundaryProblem("precision", min_precision=Fraction(1, 2), capacity=12)
    assert solve_exact(options, problem) is None
    assert goal_value(problem, 0, 0, 1) == 0


@pytest.mark.parametrize("bound", [0, -0.5, 1.1, 2])
def test_a_point_of_the_frontier_is_asked_for_by_a_share(bound):
    frontier = precision_recall_frontier([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 1, 1, 1])
    with pytest.raises(ValueError, match=rf"min_precision must lie in \(0, 1\], got {bound}"):
        frontier.predict([0.65], [1], min_precision=bound)
    assert frontier.predict([0.65, 0.75, 0.95], [1, 1, 1], min_precision=1).tolist() == [0, 0, 1]

"""Intervals of what many actions cost, where few rows show what is dear: beside two actions, and row by row."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import t as student

from stakes import evaluate
from stakes.actions import decision_calibration_test, evaluate_actions, evaluate_deferral
from stakes.inference import select_best

ONE_DEAR = np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [20.0, 20.0, 1.0]])


def sample(rng, n=60, classes=3, models=2):
    """Labels, with few of the last class, and probabilities of some models."""
    y = np.minimum(rng.integers(0, 7, n) // 2, classes - 1)
    y[:classes] = np.arange(classes)
    probs = {f"m{k}": rng.dirichlet(np.ones(classes), n) for k in range(models)}
    return y, probs


def half_width(values, carried, weight, kinds, most):
    """Half of the interval of a mean, row by row; each part of what is carried gives room, the largest counts."""
    alpha, total, n = 0.05, float(weight.sum()), len(values)
    mean = math.fsum(weight * values) / total
    e = weight * (values - mean) / total
    q2, q4 = math.fsum(e**2), math.fsum(e**4)
    variance, uneven = n / (n - 1) * q2, q4 - q2**2 / n
    degrees = n - 1.0 if uneven <= 1e-12 * q2**2 else min(n - 1.0, 2.0 * q2**2 / uneven)
    rooms = [0.0]
    for part, largest in zip(carried, most, strict=True):
        room = 0.0
        for kind, bound in enumerate(largest):
            mine = kinds == kind
            wd = weight[mine] * part[mine]
            second, fourth, k = math.fsum(wd**2), math.fsum(wd**4), int(np.count_nonzero(wd))
            effective = second**2 / fourth if fourth else 0.0
            jump = bound * float(weight[mine].mean() if mine.any() else weight.mean()) / total
            if k >= 5:
                jump = min(jump, 3.0 * math.sqrt(fourth / second) / total)
            if effective < 5 * (1 - 1e-12) and jump > 0.1 * math.sqrt(variance):
                room += jump**2
        rooms.append(room)
    t = student.isf(alpha / 2, degrees) if variance else 0.0
    if variance:  # a step of Newton: older versions of scipy stop at eight digits
        t += (student.sf(t, degrees) - alpha / 2) / student.pdf(t, degrees)
    return math.sqrt(t**2 * variance + math.log(alpha) ** 2 * max(rooms))


def above_fifth(beyond, kinds, bounds):
    """What lies above the fifth largest of each kind, and the most of that."""
    fifth = np.array([sorted(beyond[kinds == kind], reverse=True)[4] if np.count_nonzero(kinds == kind) >= 5 else 0.0
                      for kind in range(len(bounds))])  # fmt: skip
    return np.maximum(beyond - fifth[kinds], 0.0), np.asarray(bounds) - fifth


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("weighted", [False, True])
def test_two_classes_and_two_actions_give_what_two_classes_give(seed, weighted):
    rng = np.random.default_rng(seed)
    y = (rng.random(80) < (0.04, 0.3)[seed % 2]).astype(int)
    y[:2] = 0, 1
    p = {f"m{k}": rng.random(80) for k in range(3)}
    options = {"sample_weight": rng.integers(1, 4, 80).astype(float)} if weighted else {}
    if seed >= 4:
        options["clusters"] = np.arange(80) // 3
    found = evaluate_actions(
        y,
        {name: np.column_stack([1 - risk, risk]) for name, risk in p.items()},
        matrices=[[0.25, 0.0], [0.0, 0.75]],  # to act comes first: it is taken where both cost the same
        actions=["all", "none"],
        **options,
    )
    other = select_best(y, p, costs=0.25, **options)
    ours = found.selection
    renamed = {"always all": "treat all", "always none": "treat none"}
    intervals = {renamed.get(name, name): ends for name, ends in ours.intervals.items()}
    assert intervals.keys() == other.intervals.keys()
    for name, ends in intervals.items():
        assert ends == pytest.approx(other.intervals[name], rel=1e-13)
    assert [renamed.get(name, name) for name in ours.possible] == list(other.possible)
    assert (renamed.get(ours.chosen, ours.chosen), ours.note) == (other.chosen, other.note.replace("treat", "always"))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_each_class_as_dear_as_no_other_has_its_rule_of_three(seed, weighted):
    rng = np.random.default_rng(seed)
    y, probs = sample(rng)
    weight = rng.uniform(0.5, 2.0, len(y)) if weighted else np.ones(len(y))
    matrix = np.array([[0.0, 1.0, 1.0], [4.0, 1.0, 3.0], [20.0, 24.0, 2.0]])
    found = evaluate_actions(y, probs, matrices=matrix, sample_weight=weight)
    best, worst, rows = matrix.min(axis=1), matrix.max(axis=1), []
    for name, prob in probs.items():
        cost = matrix[y, (prob @ matrix).argmin(axis=1)]
        rows.append(cost)
        regret, bound = cost - best[y], worst - best
        rare, beyond = above_fifth(regret, y, bound)
        half = half_width(cost, (regret, rare, cost), weight, y, (bound, beyond, worst))
        mean = float(weight @ cost / weight.sum())
        assert found[name].cost.interval == pytest.approx((mean - half, mean + half), abs=1e-10)
        half = half_width(regret, (regret, rare), weight, y, (bound, beyond))
        mean = float(weight @ regret / weight.sum())
        assert found[name].regret.interval == pytest.approx((max(mean - half, 0.0), mean + half), abs=1e-10)
    gap = rows[0] - rows[1]
    half, mean = half_width(gap, [gap], weight, y, [worst - best]), float(weight @ gap / weight.sum())
    assert found.compare("m0", "m1").interval == pytest.approx((mean - half, mean + half), abs=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_a_fee_paid_in_most_rows_leaves_room_for_the_dear_mistakes_of_two_classes(seed):
    rng = np.random.default_rng(seed)
    p = rng.beta(1, 3, 200)
    y, matrix = (rng.random(200) < p).astype(int), np.array([[0.0, 0.2, 0.03], [0.8, 0.0, 0.03]])
    prob = np.column_stack([1 - p, p])
    cost = matrix[y, (prob @ matrix).argmin(axis=1)]
    rare, beyond = above_fifth(cost, y, [0.2, 0.8])
    half = half_width(cost, (cost, rare), np.ones(200), y, ([0.2, 0.8], beyond))
    never = np.column_stack([matrix, [5.0, 5.0]])  # dearer than each mistake
    for each in (matrix, never):
        found = evaluate_actions(y, prob, matrices=each, actions=["wait", "act", "defer", "refuse"][: each.shape[1]])
        for estimate in (found["model"].cost, found["model"].regret):
            assert estimate.interval == pytest.approx((max(cost.mean() - half, 0.0), cost.mean() + half), abs=1e-12)
    unpaid = np.where(cost == 0.03, 0.0, cost)
    half = half_width(cost, (cost, unpaid), np.ones(200), y, ([0.2, 0.8], [0.2, 0.8]))
    ends = pytest.approx((max(cost.mean() - half, 0.0), cost.mean() + half), abs=1e-12)
    deferred = evaluate_deferral(y, p, costs=0.2, deferral=0.03)
    assert deferred.interval == ends
    assert "so few carry the estimate" in deferred.estimates["cost"].note
    corrected = evaluate(y, {"m": p}, costs=0.2).with_deferral(0.03).deferral.selection.intervals["m"]
    assert corrected[1] >= cost.mean() + half


@pytest.mark.simulation
@pytest.mark.parametrize("n", [60, 200, 1000])
def test_intervals_hold_what_deferring_most_rows_truly_costs(n):
    low, high = 0.03 / 0.8, 1.0 - 0.03 / 0.2  # calibrated scores of density 3 (1 - p)^2
    missed, falsely = (quad(lambda p: 3 * (1 - p) ** 2 * p, 0, low)[0], quad(lambda p: 3 * (1 - p) ** 3, high, 1)[0])
    truth = 0.03 * ((1 - low) ** 3 - (1 - high) ** 3) + 0.8 * missed + 0.2 * falsely
    held, draws = np.zeros(2), 150
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        p = rng.beta(1, 3, n)
        y = (rng.random(n) < p).astype(int)
        matrix, prob = [[0, 0.2, 0.03], [0.8, 0, 0.03]], np.column_stack([1 - p, p])
        many = evaluate_actions(y, prob, matrices=matrix, actions=["wait", "act", "defer"])["model"].cost
        ends = evaluate_deferral(y, p, costs=0.2, deferral=0.03).interval, many.interval
        held += [bottom <= truth <= top for bottom, top in ends]
    assert np.all(held / draws >= 0.93)  # 55% of 200 rows, 86% of 1,000, while fees passed for what mistakes cost


@pytest.mark.parametrize("seen", [4, 5, 6])
def test_five_rows_of_a_class_that_all_err_alike_leave_room_for_a_dearer_error(seen):
    rng = np.random.default_rng(seen)
    y = np.r_[np.arange(60) % 2, np.full(seen, 2)]
    probs = np.where(y[:, None] == 2, [0.9, 0.1, 0.0], rng.dirichlet(np.ones(3), len(y)))
    matrix = np.array([[0.0, 1.0, 1.0], [4.0, 1.0, 3.0], [4.0, 24.0, 2.0]])  # the third class errs by 2, and may by 22
    best, worst = matrix.min(axis=1), matrix.max(axis=1)
    regret = (matrix - best[:, None])[y, (probs @ matrix).argmin(axis=1)]
    assert np.all(regret[-seen:] == 2.0)
    rare, beyond = above_fifth(regret, y, worst - best)
    half = half_width(regret, (regret, rare), np.ones(len(y)), y, (worst - best, beyond))
    found = evaluate_actions(y, {"m": probs}, matrices=matrix)["m"].regret
    assert found.interval == pytest.approx((max(regret.mean() - half, 0.0), regret.mean() + half), abs=1e-10)


@pytest.mark.parametrize("constant", [-30.0, 0.3, 400.0])
def test_a_constant_added_to_every_cost_moves_the_interval_by_itself(constant):
    rng = np.random.default_rng(7)
    y, probs = np.r_[np.arange(120) % 2, 2, 2], {"m": rng.dirichlet(np.ones(3), 122)}
    matrix = np.array([[0.0, 10.0, 10.0], [10.0, 0.0, 10.0], [40.0, 40.0, 30.0]])  # errors cost as much in each class
    plain, moved = (evaluate_actions(y, probs, matrices=matrix + by)["m"].cost for by in (0.0, constant))
    assert moved.interval == pytest.approx([end + constant for end in plain.interval], abs=1e-9)


def test_classes_whose_errors_cost_about_as_much_are_one_kind():
    rng = np.random.default_rng(3)
    y, probs = sample(rng, n=400, models=1)
    probs["m0"] = 0.04 * probs["m0"] + 0.96 * np.eye(3)[y]  # hardly any error
    wrong = rng.choice(400, 9, replace=False)
    probs["m0"][wrong] = np.eye(3)[(y[wrong] + 1) % 3]
    matrix = np.array([[0.0, 1.0, 1.0], [1.5, 0.0, 1.5], [1.2, 1.2, 0.0]])
    cost = matrix[y, (probs["m0"] @ matrix).argmin(axis=1)]
    half = half_width(cost, [cost], np.ones(400), np.zeros(400, dtype=int), [[1.5]])
    got = evaluate_actions(y, probs, matrices=matrix)["m0"].cost
    assert got.interval == pytest.approx((cost.mean() - half, cost.mean() + half), abs=1e-12)
    assert half < half_width(cost, [cost], np.ones(400), y, [matrix.max(axis=1)])  # no class by itself shows five


@pytest.mark.parametrize("seen", [0, 1, 4])
def test_a_class_of_which_no_row_or_few_are_seen_leaves_room_for_what_it_may_cost(seen):
    n, matrix = 100, np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.0], [50.0, 50.0, 30.0]])
    y = np.arange(n) % 2
    y[:seen] = 2
    prob = np.full((n, 3), 0.01)
    prob[np.arange(n), np.where(np.arange(n) % 9 == 8, 1 - np.arange(n) % 2, np.arange(n) % 2)] = 0.98
    prob[:seen] = 0.0, 0.0, 1.0
    found = evaluate_actions(y, prob, matrices=matrix, labels=[0, 1, 2])
    _, high = found["model"].cost.interval
    once = abs(math.log(0.05)) / n
    assert high - found.cost >= 50.0 * once  # one more row may cost 50 although none erred
    assert found["model"].cost.note.endswith("the interval is widened because so few carry the estimate")
    assert found["model"].regret.note.startswith("no row of a class shows how large the estimate may be there")
    if seen == 0:
        cost = matrix[y, (prob @ matrix).argmin(axis=1)]
        spread = student.isf(0.025, n - 1) * cost.std(ddof=1) / math.sqrt(n)
        assert high - found.cost == pytest.approx(math.hypot(spread, 50.0 * once), rel=0.02)


def test_a_constant_added_to_all_costs_moves_the_interval_and_one_for_a_class_leaves_regrets():
    y, probs = sample(np.random.default_rng(5))
    found, moved = (evaluate_actions(y, probs, matrices=ONE_DEAR + shift) for shift in (0.0, 7.0))
    taller = evaluate_actions(y, probs, matrices=ONE_DEAR + np.array([[0.0], [0.0], [40.0]]))
    for name in probs:
        assert moved[name].cost.interval == pytest.approx([end + 7.0 for end in found[name].cost.interval], abs=1e-10)
        assert taller[name].regret.interval == pytest.approx(found[name].regret.interval, abs=1e-10)
        assert np.diff(taller[name].cost.interval) > np.diff(found[name].cost.interval)


def test_intervals_of_a_segment_have_room_for_the_dearest_error_on_average():
    y, probs = sample(np.random.default_rng(6), n=50, models=1)
    y = np.where(y == 2, 0, y)
    ends = np.array([ONE_DEAR, ONE_DEAR * [[1.0], [1.0], [3.0]]])
    found = evaluate_actions(y, probs, matrices=ends, theta=(0.0, 1.0), labels=[0, 1, 2])
    rows = [evaluate_actions(y, probs, matrices=np.array([(1 - t) * ends[0] + t * ends[1] for t in points]),
                             labels=[0, 1, 2]) for points in [(np.arange(4000) + 0.5) / 4000]]  # fmt: skip
    assert found["m0"].cost.interval == pytest.approx(rows[0]["m0"].cost.interval, rel=1e-3)
    assert found["m0"].cost.interval[1] - found.cost > 40.0 * abs(math.log(0.05)) / 50


def test_the_gap_to_what_was_announced_has_room_for_errors_in_a_class_not_yet_seen():
    y, prob = np.arange(200) % 2, np.full((200, 3), 0.01)
    prob[np.arange(200), y] = 0.98
    found = decision_calibration_test(y, prob, matrices=ONE_DEAR, labels=[0, 1, 2])
    _, high = found.gap.interval
    assert high - found.gap.value >= 20.0 * abs(math.log(0.05)) / 200


def test_small_errors_do_not_hide_that_a_large_one_was_not_seen():
    n, matrix = 1000, np.array([[0.0, 0.5, 1.0], [1.0, 0.0, 1.0], [20.0, 2.0, 0.0]])
    y = np.arange(n) % 2
    y[:12] = 2
    prob = np.full((n, 3), 0.01)
    prob[np.arange(n), np.arange(n) % 2] = 0.98
    prob[:12] = 0.0, 1.0, 0.0  # all twelve cost 2
    found = evaluate_actions(y, prob, matrices=matrix)
    assert found.selection.note.startswith("no row of a class shows how large the cost of model may be there: ")
    assert found["model"].cost.interval[1] - found.cost > 18.0 * abs(math.log(0.05)) / n
    prob[:5] = 1.0, 0.0, 0.0  # five cost 20: no more is unknown than how many
    shown = evaluate_actions(y, prob, matrices=matrix)["model"].cost
    cost = matrix[y, (prob @ matrix).argmin(axis=1)]
    half = half_width(cost, [cost], np.ones(n), np.zeros(n, dtype=int), [[0.0]])
    assert not shown.note
    assert shown.interval[1] - shown.value == pytest.approx(half, rel=1e-9)


def halvings(most, top):
    """How often the most of all can be halved without falling below this one; None of what costs nothing."""
    return None if most == 0 else next(k for k in itertools.count() if 2 ** (k + 1) * most > top)


@pytest.mark.parametrize("unit", [1, Fraction(1, 10), Fraction(7, 1000), 3 * 10**9])
def test_classes_are_of_one_kind_where_their_errors_cost_about_as_much_in_any_unit(unit):
    rng = np.random.default_rng(3)
    for count in (3, 4, 5) * 4:
        whole = rng.integers(0, 9, (count, 3)) + rng.integers(0, 20)
        whole[rng.integers(count)] = whole.max() - 1  # a class in which no decision matters
        asked = [a for a in range(3) if not any((whole[:, b] <= whole[:, a]).all() for b in range(a))]
        worst, best = whole[:, asked].max(axis=1), whole.min(axis=1)
        own, beyond = (worst - best).tolist(), (worst - best.min()).tolist()
        known = [(halvings(a, max(own)), halvings(b, max(beyond))) for a, b in zip(own, beyond, strict=True)]
        matrix = [[float(cell * unit) for cell in row] for row in whole.tolist()]
        found = evaluate_actions(range(count), np.eye(count), matrices=matrix, actions=["x", "y", "z"]).rows.kinds()
        for i, j in itertools.combinations(range(count), 2):
            assert (found[i] == found[j]) == (known[i] == known[j]), (whole, i, j)


@pytest.mark.parametrize(("unit", "fee"), [(0.1, 0.0), (1.0, 2.0), (0.1, -0.7), (7e-6, 0.0), (3e9, 1e9)])
def test_the_unit_of_costs_and_what_every_decision_costs_more_leave_the_room_for_errors_unseen(unit, fee):
    y, rng = np.repeat([0, 1, 2], [60, 12, 4]), np.random.default_rng(0)
    prob = 0.3 * rng.dirichlet(np.full(3, 0.3), 76)
    prob[np.arange(76), y] += 0.7
    for whole in (
        [[1, 4, 2], [5, 3, 3], [7, 7, 4]],
        [[5, 3, 5], [7, 5, 3], [9, 7, 5]],
        [[4, 3, 4], [8, 5, 6], [9, 3, 1]],
    ):
        plain, other = (
            evaluate_actions(y, prob, matrices=matrix, actions=["x", "y", "z"])["model"]
            for matrix in (np.array(whole, float), unit * np.array(whole) + fee)
        )
        assert "so few carry the estimate" in plain.cost.note
        assert (other.cost.note, other.regret.note) == (plain.cost.note, plain.regret.note)
        assert other.cost.interval == pytest.approx([unit * end + fee for end in plain.cost.interval], rel=1e-9)
        assert other.regret.interval == pytest.approx([unit * end for end in plain.regret.interval], rel=1e-9)


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_what_a_class_costs_whatever_is_done_leaves_intervals_of_regrets_and_of_differences(seed):
    rng, count = np.random.default_rng(seed), 4
    y, probs = rng.integers(0, count, 48), {name: rng.dirichlet(np.ones(count), 48) for name in "ab"}
    y[:count], matrix, extra = range(count), rng.integers(0, 9, (count, 3)), rng.integers(0, 20, (count, 1))
    plain, shifted = (
        evaluate_actions(y, probs, matrices=each, labels=range(count), actions=["x", "y", "z"])
        for each in (matrix, matrix + extra)
    )
    pairs = (plain["a"].regret, shifted["a"].regret), (plain.compare("a", "b"), shifted.compare("a", "b"))
    for one, other in pairs:
        assert (one.interval, one.note) == (pytest.approx(other.interval, rel=1e-9), other.note)
    assert pairs[1][0].p_value == pytest.approx(pairs[1][1].p_value, rel=1e-9)
    assert plain.selection.possible == shifted.selection.possible
    assert plain.selection.p_values == pytest.approx(shifted.selection.p_values, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(("seed", "order"), [(0, [2, 0, 1]), (5, [2, 0, 1]), (3, [0, 1, 2])])
def test_the_order_of_classes_and_of_rows_leaves_the_p_value_that_is_drawn(seed, order):
    rng = np.random.default_rng(seed)
    y, prob, matrix = rng.integers(0, 3, 30), rng.dirichlet(np.ones(3), 30), rng.normal(size=(3, 3))
    rows, asked = rng.permutation(30), {"actions": ["x", "y", "z"]}
    plain = decision_calibration_test(y, prob, matrices=matrix, labels=[0, 1, 2], **asked)
    moved = decision_calibration_test(
        y[rows], prob[rows][:, order], matrices=matrix[order], labels=np.array(order), **asked
    )
    assert plain.p_value == pytest.approx(moved.p_value, rel=1e-9)

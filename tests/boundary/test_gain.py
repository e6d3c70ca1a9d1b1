"""What uncertainty adds: compared where both keep the same bound, with intervals that do not see gains in noise."""

from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from stakes import costs
from stakes.boundary import Gain, fit_boundary
from stakes.boundary._out_of_fold import Decided, Settings, _estimate, _meet_bound, _slope, _value, marginal_rate
from stakes.boundary._problem import BoundaryRows, check_problem, check_rows
from stakes.boundary._solvers import rate_around


def test_left_over_precision_is_turned_into_recall():
    # scores uniform, rate of positives equal to the score t: recall 1 - t^2, precision (1 + t) / 2, margin t
    problem = check_problem("recall", min_precision=0.8)
    for t in (0.58, 0.62, 0.65):
        counts = 1e6 * np.array([(1.0 - t * t) / 2.0, 1.0 - t, 0.5, 1.0])
        assert _value(problem, 0.6, counts) == pytest.approx(1.0 - 0.6**2, abs=5.0 * (t - 0.6) ** 2)
        assert abs(1.0 - t * t - 0.64) > 7.0 * (t - 0.6) ** 2


def test_left_over_recall_is_turned_into_false_positives_and_precision():
    t = 0.62
    counts = 1e6 * np.array([(1.0 - t * t) / 2.0, 1.0 - t, 0.5, 1.0])
    fewest = check_problem("false_positives", min_recall=0.64)
    assert _value(fewest, 0.6, counts) == pytest.approx(-0.4 * 0.4, abs=0.001)
    most = check_problem("precision", min_recall=0.64)
    assert _value(most, 0.6, counts) == pytest.approx(0.8, abs=0.001)
    room = check_problem("recall", capacity=0.4)
    assert _value(room, 0.6, counts) == pytest.approx(0.64, abs=0.001)


@pytest.mark.parametrize(
    ("goal", "bounds", "worst", "best"),
    [
        ("recall", {"min_precision": 0.5}, 0.0, 1.0),
        ("recall", {"capacity": 0.7}, 0.0, 1.0),
        ("recall", {"min_precision": 0.9, "capacity": 30}, 0.0, 1.0),
        ("precision", {"min_recall": 0.3}, 0.0, 1.0),
        ("false_positives", {"min_recall": 0.5}, -1.0, 0.0),
    ],
)
def test_no_goal_is_worth_more_than_its_best_or_less_than_its_worst(goal, bounds, worst, best):
    problem, rng, values = check_problem(goal, **bounds), np.random.default_rng(3), []
    for _ in range(300):
        total = int(rng.integers(2, 60))
        ups = int(rng.integers(1, total))
        tp = int(rng.integers(0, ups + 1))
        counts = np.array([tp, tp + rng.integers(0, total - ups + 1), ups, total], dtype=float)
        values.append(_value(problem, float(rng.choice([0.0, 1.0, rng.random()])), counts))
    assert min(values) >= worst
    assert max(values) == best
    assert not np.signbit(max(values))
    assert any(worst < value < best for value in values)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"capacity": 0.8}, "recall is 1, the best"),
        ({"goal": "precision", "min_recall": 0.3}, "precision is 1, the best"),
        ({"goal": "false_positives", "min_recall": 0.3}, "minus the false positive rate is 0, the best"),
    ],
)
def test_what_both_do_as_well_as_can_be_does_not_tell_them_apart(asked, said):
    score, u = np.random.default_rng(0).random((2, 200))
    gain = fit_boundary(score > 0.5, score, u, **asked).gain()
    assert (
        gain.verdict == f"Whether uncertainty helps is not known: out of fold {said} there is, with it and without it."
    )
    assert (gain.value, gain.single, gain.difference) == (gain.single, gain.value, 0.0)
    assert np.isnan([gain.low, gain.high]).all()
    assert "-0" not in repr(gain)
    assert "+0 of an unknown interval" in repr(gain)


def test_decisions_without_a_mistake_cost_the_least_there_is():
    y = np.arange(200) % 3 == 0
    u = np.random.default_rng(0).random(200)
    gain = fit_boundary(y, np.where(y, 0.9, 0.1), u, goal="cost", costs=0.3).gain()
    assert gain.value == gain.single == 0.0
    assert "out of fold minus the cost per row is 0, the best there is" in gain.verdict
    worst = Gain("F-beta", 0.0, 0.0, 0.0, np.nan, np.nan, 0.95, 0.0, 0.0)
    assert "out of fold F-beta is 0, the worst there is" in worst.verdict


def test_what_both_do_as_badly_as_can_be_does_not_tell_them_apart():
    gain = Gain("minus the false positive rate", -1.0, -1.0, 0.0, np.nan, np.nan, 0.95, 0.4, 0.5)
    assert "out of fold minus the false positive rate is -1, the worst there is" in gain.verdict
    gain = Gain("recall", 0.0, 0.0, 0.0, np.nan, np.nan, 0.95, 0.4, 0.5)
    assert "out of fold recall is 0, the worst there is" in gain.verdict


def test_margin_at_the_bound_has_no_infinite_price():
    problem = check_problem("recall", min_precision=0.8)
    counts = np.array([810.0, 1000.0, 5000.0, 10_000.0])
    for rate in (0.79, 0.8, 0.9):
        assert 0.162 < _value(problem, rate, counts) <= (810 + 10 * 19) / 5000 + 1e-12


def _matched_recall(y, score, precision):
    """Trace the curve down to the last threshold that keeps the precision."""
    order = np.argsort(-score)
    tp = np.cumsum(y[order])
    kept = np.flatnonzero(tp >= precision * np.arange(1, len(y) + 1))
    return tp[kept[-1]] / y.sum()


@pytest.mark.simulation
def test_standard_error_is_the_spread_over_data_sets():
    problem = check_problem("recall", min_precision=0.8)
    rng = np.random.default_rng(0)
    recall, variance = [], []
    for _ in range(300):
        truth = rng.random(4000)
        y = rng.random(4000) < truth
        two = truth + rng.normal(scale=0.1, size=4000)
        reached = _matched_recall(y, truth, 0.8), _matched_recall(y, two, 0.8)
        recall.append((reached[0], reached[0] - reached[1]))
        rows = check_rows(y, truth, truth)
        # thresholds and margins from a large sample
        one, other = (
            _estimate(problem, rows, Decided(chosen.astype(float), rate))[1]
            for chosen, rate in ((truth >= 0.6, 0.6), (two >= 0.608, 0.607))
        )
        variance.append((4000 * np.var(one), 4000 * np.var(one - other)))
    assert np.sqrt(np.mean(variance, axis=0)) == pytest.approx(np.std(recall, axis=0), rel=0.12)


def _useless(n, seed):
    rng = np.random.default_rng(seed)
    truth = 1.0 / (1.0 + np.exp(2.0 - 1.5 * rng.normal(size=n)))
    return rng.random(n) < truth, truth, rng.random(n)


@pytest.mark.simulation
@pytest.mark.parametrize(
    "options",
    [
        {"min_precision": 0.8},
        {"capacity": 0.05},
        {"goal": "cost", "costs": costs.Fixed(0.3)},
        {"goal": "f_beta", "f_beta": 1},
        {"goal": "precision", "min_recall": 0.3},
    ],
)
def test_noise_is_seldom_taken_for_a_gain(options):
    gains = [fit_boundary(*_useless(2000, seed), **options).gain(random_state=seed) for seed in range(20)]
    assert sum(gain.helps for gain in gains) <= 2
    gains = [gain for gain in gains if not np.isnan(gain.low)]  # in some samples neither selects a row out of fold
    assert len(gains) >= 15
    spread = np.mean([gain.high - gain.low for gain in gains]) / (2.0 * 1.96)
    assert np.std([gain.difference for gain in gains]) < 1.1 * spread
    assert all(gain.low <= gain.difference <= gain.high for gain in gains)


def test_precision_is_met_by_both():
    gain = fit_boundary(*_useless(4000, 0), min_precision="3/4").gain(random_state=0)
    assert gain.precision == pytest.approx(0.75, abs=1e-9)
    assert gain.single_precision == pytest.approx(0.75, abs=1e-9)


def test_nothing_within_reach_is_no_gain():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.1
    gain = fit_boundary(y, rng.random(500), rng.random(500), min_precision=0.99).gain(random_state=0)
    assert (gain.value, gain.single, gain.helps) == (0.0, 0.0, False)
    assert np.isnan([gain.low, gain.high, gain.precision, gain.single_precision]).all()
    assert gain.verdict == (
        "Whether uncertainty helps is not known: out of fold neither it nor a single threshold on the score selects a "
        "row."
    )
    assert repr(gain) == "Gain(recall 0 against 0, difference +0 of an unknown interval, out of fold)"
    assert '"low": null' in gain.to_json()


@pytest.mark.simulation
def test_few_positives_give_no_interval_without_width_and_few_that_miss():
    # the best boundary takes scores above 0.9 at an uncertainty of 0; no single threshold keeps the precision
    def draw(rng, n):
        score, u = rng.random(n), rng.integers(0, 2, n)
        return rng.random(n) < np.where((score > 0.9) & (u == 0), 0.85, 0.05), score, u

    y, score, u = draw(np.random.default_rng(99), 100_000)
    told, missed, unknown = 0, 0, 0
    for seed in range(40):
        boundary = fit_boundary(*draw(np.random.default_rng(seed), 150), min_precision=0.8, levels=2)
        gain = boundary.gain()
        added = ((boundary.predict(score, u) == 1) & y).sum() - ((score >= boundary.threshold) & y).sum()
        unknown += np.isnan(gain.low)
        told += gain.low < gain.high
        missed += gain.low > added / y.sum() or gain.high < added / y.sum()
    assert told + unknown == 40
    assert told >= 5
    assert missed <= 3  # of 40 at 95%, with chance: 7 with intervals of no width


def test_rows_without_a_positive_have_no_recall_to_compare():
    boundary = fit_boundary([0] * 20, np.linspace(0, 1, 20), [0, 1] * 10, min_precision=0.8)
    said = "Whether uncertainty helps is not known: without a positive there is no recall.\n"
    assert boundary.report().startswith(said)
    assert np.isnan([boundary.gain().value, boundary.gain().single, boundary.gain().difference]).all()


def test_rows_that_both_decide_alike_do_not_tell_them_apart():
    rng = np.random.default_rng(0)
    score = rng.random(400) ** 2
    gain = fit_boundary(rng.random(400) < 0.5 * score, score, np.arange(400) % 2, capacity=40, levels=1).gain()
    assert gain.value == gain.single > 0.2
    assert np.isnan([gain.low, gain.high]).all()
    assert gain.verdict == (
        "Whether uncertainty helps is not known: out of fold it and a single threshold on the score decide alike about "
        "every row."
    )


def test_a_goal_that_no_fold_can_reach_is_worth_nothing_out_of_fold():
    """Of the other four rows four fifths of one may be selected, and without the positive there is none to find."""
    boundary = fit_boundary(
        [0, 0, 0, 0, 1], [1, 2, 3, 4, 5], [0, 1, 0, 1, 0], goal="precision", min_recall=1, capacity=1
    )
    gain = boundary.gain(cv=5)
    assert (boundary.value, gain.value, gain.single) == (1.0, 0.0, 0.0)
    assert np.isnan([gain.low, gain.precision, gain.single_precision]).all()


def test_two_folds_are_enough_and_one_is_not():
    boundary = fit_boundary(*_useless(400, 0), capacity=80)
    assert boundary.gain(cv=2, random_state=0).single == pytest.approx(boundary.gain(random_state=0).single, abs=0.1)
    for cv in (1, 401):
        with pytest.raises(ValueError, match=rf"^cv must be a number of folds from 2 .*\(400\), got {cv}\."):
            boundary.gain(cv=cv)


@pytest.mark.parametrize("levels", [1, 4])
def test_margin_is_where_the_bound_is_met(levels):
    # uniform scores that are the rates of positives: precision 0.8 above 0.6, whatever the level
    rng = np.random.default_rng(1)
    score, u = rng.random((2, 100_000))
    rows = check_rows(rng.random(100_000) < score, score, u)
    problem = check_problem("recall", min_precision=0.8)
    prepared = Settings(problem, "exact", levels, "equal_weight", None).prepare(rows)
    assert marginal_rate(prepared.options, problem.min_precision) == pytest.approx(0.6, abs=0.06)
    assert rate_around(prepared.options, 40_000) == pytest.approx(0.6, abs=0.02)
    assert rate_around(prepared.options, 100_000) == pytest.approx(0.125, abs=0.02)


@pytest.mark.parametrize(("selected", "first", "last"), [(1, 0, 4), (6, 3, 10), (12, 6, 19), (20, 10, 19)])
def test_slope_at_a_threshold_is_that_of_the_rows_up_to_half_of_the_selected_away(selected, first, last):
    rates = np.sort(np.random.default_rng(selected).random(20))[::-1]
    rows = np.arange(first, last + 1)  # two more on either side are the least
    assert _slope(rates, selected / 20) == pytest.approx(-np.polyfit(rows / 20, rates[rows], 1)[0])


def test_one_row_that_may_be_selected_has_its_own_rate():
    problem = check_problem("recall", min_precision=0.8)
    rows = check_rows(np.array([True]), np.array([0.5]), np.array([0.5]))
    prepared = Settings(problem, "exact", 1, "equal_weight", None).prepare(rows)
    assert marginal_rate(prepared.options, Fraction(4, 5)) == 1.0


def test_decisions_of_two_targets_are_mixed_to_the_bound_with_the_nearest_target_that_misses_it():
    y = np.array([True, True, True, True, False, True, False, False, True, False])
    kept = {Fraction(1, 4): 10, Fraction(1, 2): 8, Fraction(3, 5): 7, Fraction(3, 4): 6}  # rows selected, from the left

    def selected(aim):
        return np.arange(10) < max((n for least, n in kept.items() if aim >= least), key=lambda n: -n, default=10)

    held = SimpleNamespace(rows=BoundaryRows(y, np.linspace(0.9, 0.1, 10), np.ones(10), None), selected=selected)
    found = _meet_bound(held, Fraction(3, 4))
    # six rows have precision 5/6, the seven of the next lower target 5/7: (5 + 0 s) / (6 + s) = 3/4 at s = 2/3
    assert found.share.tolist() == pytest.approx([1.0] * 6 + [2.0 / 3.0] + [0.0] * 3)
    assert found.share @ y / found.share.sum() == pytest.approx(0.75)


@pytest.mark.parametrize("bound", [Fraction(1, 2), Fraction(3, 5), Fraction(1)])
def test_any_decisions_are_mixed_to_the_bound_and_lose_nothing_that_keeps_it(bound):
    """By the documented sentence, in fractions: ties of true positives or of distances may go either way."""
    rng = np.random.default_rng(bound.denominator)
    mixed, left = 0, 0
    for _ in range(50):
        y, decisions, most = rng.random(10) < 0.6, {}, rng.random()
        rows = BoundaryRows(y, np.linspace(0.9, 0.1, 10), np.ones(10), None)

        def selected(aim, decisions=decisions, most=most):
            return decisions.setdefault(aim, rng.random(10) < most * rng.random())

        found = _meet_bound(SimpleNamespace(rows=rows, selected=selected), bound)
        assert 0 < min(decisions) < bound <= max(decisions) <= 1
        chosen = [decisions[aim] for aim in sorted(decisions)]
        n, tp = [int(one.sum()) for one in chosen], [int((one & y).sum()) for one in chosen]
        good = [k for k in range(len(n)) if tp[k] > 0 and tp[k] >= bound * n[k]]
        if not good:
            assert not found.share.any()
            assert found.rate == 0.0
            continue
        allowed = []
        for best in (k for k in good if tp[k] == max(tp[j] for j in good)):
            share = chosen[best].astype(float)
            lower = [k for k in range(best) if tp[k] < bound * n[k]]
            if lower:  # part of the way to the next lower one that misses the bound, to where it is met
                spare, missed = tp[best] - bound * n[best], bound * n[lower[-1]] - tp[lower[-1]]
                part = float(spare / (spare + missed))
                share = (1.0 - part) * share + part * chosen[lower[-1]]
                assert float(bound) * share.sum() == pytest.approx(share @ y)
            ends = []
            for size in (2.0 / 3.0 * share.sum(), 1.5 * share.sum()):
                gap = [abs(count - size) for count in n]
                ends.append([k for k in range(len(n)) if gap[k] < min(gap) + 1e-9])
            rates = {
                min(max((tp[j] - tp[i]) / (n[j] - n[i]), 0.0), 1.0) if n[j] > n[i] else 0.0 for i, j in product(*ends)
            }
            allowed.append((share, rates))
            left += not lower
            mixed += bool(lower) and 0.0 < part < 1.0
        assert any(
            np.allclose(found.share, share, rtol=0.0, atol=1e-12)
            and min(abs(found.rate - rate) for rate in rates) < 1e-12
            for share, rates in allowed
        )
    assert left > 0
    assert mixed > 0 or bound == 1


@pytest.mark.parametrize(("ups", "rows"), [(27, 42), (7, 25)])
def test_a_precision_that_is_exactly_the_bound_keeps_it(ups, rows):
    """These shares, rounded and multiplied by the number of rows, exceed the number of positives."""
    assert ups / rows * rows > ups
    boundary = fit_boundary(
        np.arange(rows) < ups, np.full(rows, 0.5), np.arange(rows) % 2, min_precision=Fraction(ups, rows)
    )
    gain = boundary.gain(cv=2, random_state=0)
    assert (boundary.recall, gain.value, gain.single) == (1.0, 1.0, 1.0)
    assert gain.precision == gain.single_precision == ups / rows

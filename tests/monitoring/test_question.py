"""What a monitor is asked: numbers that are refused, days that are borne out, and spread against its own chance."""

import numpy as np
import pytest

from stakes import costs, evaluate
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import CostMonitor, day_spread
from stakes.monitoring._question import sizes_matter, spread_beyond_chance

COSTS = costs.Uniform(0.05, 0.3)


@pytest.fixture(scope="module")
def reference():
    rng = np.random.default_rng(0)
    score = rng.beta(1.0, 7.0, 2000)
    return KeptEvaluation.of(evaluate(rng.random(2000) < score, {"new": score}, costs=COSTS))


@pytest.mark.parametrize("tolerance", [-0.5, -1e-9, np.inf, np.nan])
def test_a_tolerance_is_a_share_from_0_on(reference, tolerance):
    with pytest.raises(ValueError, match=r"^tolerance must be a share >= 0 of the reference's cost"):
        CostMonitor(COSTS, reference=reference, tolerance=tolerance)


def test_a_reference_knows_its_largest_cost(reference):
    with pytest.raises(ValueError, match=r"^largest= belongs to budget="):
        CostMonitor(COSTS, reference=reference, largest=0.9)


@pytest.mark.parametrize(("share", "fine"), [(-0.02, False), (-0.009, True), (0.0, True), (0.009, True), (0.02, False)])
def test_totals_of_days_may_be_off_by_a_hundredth_of_the_width_of_the_limit(reference, share, fine):
    known = CostMonitor(COSTS, reference=reference).reference
    rows = np.full(20, 100.0)
    means = known.mean + share * (known.upper - known.mean) + np.zeros(20)
    days = (rows, rows * means, rows * known.square)
    if fine:
        assert CostMonitor(COSTS, reference=reference, reference_days=days).budget == pytest.approx(known.upper)
        return
    with pytest.raises(ValueError, match="their totals sum to"):
        CostMonitor(COSTS, reference=reference, reference_days=days)


def test_promise_of_a_day_is_the_mean_of_what_its_scores_promise():
    pytest.importorskip("pandas")
    score = np.array([0.1, 0.5, 0.05, 0.9, 0.15])
    monitor = CostMonitor(0.2, budget=0.1).update(1, [0, 1, 0, 1, 1], score)
    promised = np.where(score >= 0.2, 0.2 * (1.0 - score), 0.8 * score).mean()
    assert monitor.frame("pandas")["promised"].tolist() == pytest.approx([promised])


@pytest.mark.parametrize(
    ("totals", "squares", "wrong"),
    [([2.0, 4.0], [2.0, 8.0], "differ within days"), ([1.0, 1.0], [0.4, 0.4], "must be sums of rows")],
)
def test_spread_needs_rows_that_differ_and_squares_that_rows_have(totals, squares, wrong):
    with pytest.raises(ValueError, match=wrong):
        day_spread([2, 2], totals, squares)


@pytest.mark.parametrize("days", [30, 60, 400])
@pytest.mark.parametrize("nearer", [-1e-6, 1e-6])
def test_spread_is_beyond_chance_three_standard_errors_above_it(days, nearer):
    rows, within = np.full(days, 100.0), 1.0
    limit = max(1.2**2, 1.0 + 3.0 * np.sqrt(2.0 / (days - 1)))
    # day means alternate about 10, so that the mean square between days over that within is the limit, or beside it
    off = np.sqrt(limit * (1.0 + nearer) * within * (days - 1) / (100.0 * days))
    total = rows * (10.0 + off * np.where(np.arange(days) % 2, 1.0, -1.0))
    squares = total**2 / rows + (rows - 1.0) * within
    assert day_spread(rows, total, squares) ** 2 == pytest.approx(limit * (1.0 + nearer), rel=1e-8)
    assert spread_beyond_chance(rows, total, squares) is (nearer > 0.0)


@pytest.mark.parametrize(("small", "large", "rate"), [(1, 100, 0.03), (1, 50, 0.05), (2, 200, 0.02)])
def test_days_of_few_rows_whose_rows_cost_the_same_are_seldom_said_to_differ(small, large, rate):
    rng, rows = np.random.default_rng(0), np.repeat([small, large], 20)
    drawn = [rng.binomial(rows, rate).astype(float) for _ in range(300)]
    said = sum(sizes_matter(rows.astype(float), total, total) for total in drawn)
    assert said <= 3
    dear = np.where(rows == small, 1.0, rate) * rows
    assert sizes_matter(rows.astype(float), dear, dear)

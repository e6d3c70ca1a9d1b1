"""How often the evidence is false, how soon it sees a rise, and that limits hold at every look together."""

import math
from dataclasses import replace

import numpy as np
import pytest

from stakes import evaluate
from stakes.costs import Uniform
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import CostMonitor, _monitor as evidence, plan_watch
from stakes.monitoring._monitor import delay
from stakes.monitoring._question import Question, Reference

ROWS, STREAMS = 200, 200
# A false alarm costs about .1 and a missed positive .825. With these chances the mean is .0496 and the standard
# deviation .149, as in section 5 of `reference/monitor.md`; costs rise by more missed positives.
VALUES, CHANCES = np.array([0.0, 0.1, 0.825]), np.array([0.74276, 0.2243, 0.03294])
MEAN = float(CHANCES @ VALUES)


def sums(rng, factor, shape, shock=0.0, rows=ROWS):
    """Sums of days at a mean that is so many times as high; a shock makes every second day dearer, others cheaper."""
    missed = CHANCES[2] + (factor - 1.0) * MEAN / VALUES[2]
    strength = 1.0 + shock * rng.choice((-1.0, 1.0), shape)[..., None]
    wrong = strength * np.array([CHANCES[1], missed])
    counts = rng.multinomial(rows, np.concatenate([1.0 - wrong.sum(axis=-1, keepdims=True), wrong], axis=-1))
    return counts @ VALUES, counts @ VALUES**2


def first_alarms(days, alpha, unit, rng, *, streams=STREAMS, factor=1.0, begins=1, shock=0.0, block=500, rows=ROWS):
    """Day of the first alarm of each stream, or 0."""
    capital, alarm = np.full((streams, len(evidence.BETS)), -np.inf), np.zeros(streams, dtype=int)
    for start in range(1, days + 1, block):
        count = min(block, days + 1 - start)
        risen = sums(rng, factor, (count, streams), shock, rows) if factor != 1.0 else None
        usual = sums(rng, 1.0, (count, streams), shock, rows)
        for i, day in enumerate(range(start, start + count)):
            total, squares = (part[i] for part in (usual if risen is None or day < begins else risen))
            mine = (
                evidence.day_factors(total / rows, MEAN)
                if unit == "day"
                else evidence.row_factors(float(rows), total, squares, MEAN)
            )
            capital = evidence.advance(capital, mine, day)
            new = (alarm == 0) & (evidence.log_evidence(capital, day) >= -math.log(alpha))
            alarm[new] = day
        if factor != 1.0 and (alarm > 0).all():
            break
    return alarm


@pytest.mark.simulation
@pytest.mark.parametrize(("unit", "shock"), [("day", 0.0), ("row", 0.0), ("day", 0.3)])
def test_false_alarms_are_rarer_than_alpha_over_ten_thousand_days(unit, shock):
    for alpha in (0.05, 0.01):
        share = np.mean(first_alarms(10_000, alpha, unit, np.random.default_rng(1), shock=shock) > 0)
        assert share <= alpha + 3.0 * math.sqrt(alpha * (1.0 - alpha) / STREAMS), (unit, alpha)


# median delays of section 5 of `reference/monitor.md`
TABLE = {
    ("row", 1.2, 1): 17,
    ("row", 1.2, 201): 40,
    ("row", 1.5, 1): 4,
    ("row", 1.5, 201): 11,
    ("day", 1.2, 1): 36,
    ("day", 1.2, 201): 54,
    ("day", 1.5, 1): 15,
    ("day", 1.5, 201): 23,
}


@pytest.mark.parametrize(("unit", "factor", "begins"), TABLE)
def test_delays_are_those_of_the_table_and_of_the_plan(unit, factor, begins):
    stated = TABLE[unit, factor, begins]
    alarms = first_alarms(begins + 400, 0.05, unit, np.random.default_rng(3), factor=factor, begins=begins, block=100)
    seen = alarms[alarms >= begins] - begins + 1
    assert len(seen) >= 0.95 * STREAMS
    room = max(0.15 * stated, 1.0)
    assert abs(np.median(seen) - stated) <= room
    known = Reference("a", 1000, 0.0496, 0.149**2 + 0.0496**2, 0.0496)
    asked = Question(Uniform(0.05, 0.3), 0.0496, 0.8, 0.0496, 0.05, unit)
    assert abs(delay(asked, known, ROWS, factor - 1.0, begins) - np.median(seen)) <= room


KNOWN = Reference("a", 1000, MEAN, float(CHANCES @ VALUES**2), MEAN)


@pytest.mark.parametrize(("rows", "factor", "begins"), [(5, 2.0, 1), (10, 2.0, 1), (20, 1.5, 1), (10, 2.0, 201)])
def test_a_plan_of_few_rows_a_day_is_near_the_median_of_simulated_delays(rows, factor, begins):
    options = {"factor": factor, "begins": begins, "rows": rows, "block": 100}
    alarms = first_alarms(begins + 500, 0.05, "day", np.random.default_rng(6), **options)
    seen = alarms[alarms >= begins] - begins + 1
    asked = Question(Uniform(0.05, 0.3), MEAN, 0.825, MEAN, 0.05, "day")
    assert delay(asked, KNOWN, rows, factor - 1.0, begins) == pytest.approx(np.median(seen), rel=0.3)


@pytest.mark.parametrize(
    ("rows", "shock", "factor", "begins"),
    [(200, 0.5, 1.5, 1), (20, 0.5, 1.5, 1), (200, 0.5, 1.5, 201), (200, 0.8, 2.0, 1), (1000, 0.5, 1.3, 1)],
)
def test_a_plan_of_days_that_differ_is_near_the_median_of_simulated_delays(rows, shock, factor, begins):
    options = {"factor": factor, "begins": begins, "rows": rows, "shock": shock, "block": 100}
    alarms = first_alarms(begins + 600, 0.05, "day", np.random.default_rng(7), **options)
    seen = alarms[alarms >= begins] - begins + 1
    assert len(seen) >= 0.95 * STREAMS
    known = replace(KNOWN, day_variance=(shock * MEAN) ** 2)
    asked = Question(Uniform(0.05, 0.3), MEAN, 0.825, MEAN, 0.05, "day")
    assert delay(asked, known, rows, factor - 1.0, begins) == pytest.approx(np.median(seen), rel=0.25)


@pytest.mark.parametrize("rows", [1, 5, 20, 200])
def test_a_rise_within_the_budget_is_never_planned_to_be_seen(rows):
    asked = Question(Uniform(0.05, 0.3), 1.1 * MEAN, 0.825, MEAN, 0.05, "day")
    assert delay(asked, KNOWN, rows, 0.1, 1) is None
    assert delay(asked, KNOWN, rows, 0.09, 201) is None


@pytest.mark.parametrize("unit", ["day", "row"])
def test_a_rise_that_no_rows_can_have_gets_no_delay(unit):
    # a tenth cost .5, others nothing; where those cost .825 and these .5, the mean is .5325, a rise of 965%
    known = Reference("a", 1000, 0.05, 0.025, 0.05)
    asked = Question(Uniform(0.05, 0.3), 0.06, 0.825, 0.05, 0.05, unit)
    assert delay(asked, known, 200, 9.6, 1) is not None
    assert delay(asked, known, 200, 9.7, 1) is None


@pytest.mark.parametrize("unit", ["day", "row"])
def test_a_larger_rise_is_planned_to_be_seen_no_later_where_nearly_all_rows_cost(unit):
    # 86.5% of rows cost .02: more of them make a rise of 15.6%, dearer ones the rest
    known = Reference("a", 4000, 0.0173, 0.000346, 0.018)
    asked = Question(Uniform(0.02, 0.02 + 1e-9), 0.018, 0.98, 0.0173, 0.025, unit)
    found = [delay(asked, known, 200, rise, 1) for rise in np.arange(0.06, 0.6, 0.01)]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("unit", ["day", "row"])
@pytest.mark.parametrize(("ratio", "treated"), [(0.02, 0.865), (0.1, 0.8)])
@pytest.mark.parametrize("rise", [0.3, 0.6, 1.0])
def test_a_plan_beyond_what_more_dear_rows_make_is_near_simulated_delays(unit, ratio, treated, rise):
    # false alarms of so many treated rows, and as many missed positives besides as make the rise
    mean, budget, rng = ratio * treated, 1.04 * ratio * treated, np.random.default_rng(8)
    known = Reference("a", 4000, mean, ratio * mean, budget)
    asked = Question(Uniform(0.05, 0.3), budget, 1.0 - ratio, mean, 0.025, unit)
    planned = delay(asked, known, ROWS, rise, 1)
    values, missed = np.array([1.0 - ratio, ratio, 0.0]), rise * mean / (1.0 - ratio)
    capital, alarm = np.full((STREAMS, len(evidence.BETS)), -np.inf), np.zeros(STREAMS)
    for day in range(1, 300):
        counts = rng.multinomial(ROWS, [missed, treated, 1.0 - treated - missed], STREAMS)
        total, squares = counts @ values, counts @ values**2
        by_day = evidence.day_factors(total / ROWS, budget)
        mine = by_day if unit == "day" else evidence.row_factors(float(ROWS), total, squares, budget)
        capital = evidence.advance(capital, mine, day)
        alarm[(alarm == 0) & (evidence.log_evidence(capital, day) >= math.log(40.0))] = day
    assert (alarm > 0).all()
    assert planned == pytest.approx(np.median(alarm), rel=0.2, abs=1.0)


@pytest.mark.parametrize("variance", [0.0, 1e-12, 0.001, 0.02, 0.0399, 0.04])
def test_expected_factors_are_those_of_a_beta_law_with_two_moments(variance):
    # mean .05 of at most .85: a variance of .04 is that of nothing or .85, 0 that of a constant
    values, chances = evidence._bounded_law(0.05, variance, 0.85)
    assert chances @ values == pytest.approx(0.05, rel=1e-12)
    assert chances @ (values - 0.05) ** 2 == pytest.approx(variance, rel=1e-9, abs=1e-15)
    if 0.0 < variance < 0.04:  # the higher moments of Beta(a, b): the product of (a + i) / (a + b + i)
        strength = 0.05 * 0.8 / variance - 1.0
        share = [(0.05 / 0.85 * strength + i) / (strength + i) for i in range(7)]
        assert chances @ values**3 == pytest.approx(0.85**3 * math.prod(share[:3]), rel=1e-9)
        assert chances @ values**7 == pytest.approx(0.85**7 * math.prod(share), rel=1e-9)


def plain_delay(known, rise, begins, *, budget, alpha):
    """Days until expected factors of 200 rows reach 1 / alpha, by the definition of the evidence.

    Rows cost nothing, ``dear`` or .825, and of all rows a share has gone up to the next.
    """
    dear = known.square / known.mean
    often = known.mean / dear
    up = rise * known.mean / ((1 - often) * dear + often * (0.825 - dear))
    risen = {dear: (1 - often) * up + often * (1 - up), 0.825: often * up}
    moments = [known.mean, known.square], [sum(p * x**k for x, p in risen.items()) for k in (1, 2)]
    assert moments[1][0] == pytest.approx((1.0 + rise) * known.mean)
    grid = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    capital, unspent, day = [0.0] * len(grid), 1.0, 0
    while True:
        day += 1
        mean, square = moments[day >= begins]
        stake = 0.5 if day == 1 else 0.5 / (day * (day - 1))
        unspent -= stake
        for k, u in enumerate(grid):
            excess, psi = 200 * (mean - budget), -math.log(1.0 - u) - u
            spread = 200 * (square - 2.0 * budget * mean + budget**2)
            capital[k] = (capital[k] + stake) * math.exp(u / budget * excess - psi / budget**2 * spread)
        if day >= begins and sum(capital) / len(grid) + unspent >= 1.0 / alpha:
            return day - begins + 1


@pytest.mark.parametrize(("rise", "begins"), [(0.2, 1), (0.5, 1), (1.0, 1), (0.5, 30), (0.5, 201)])
def test_a_plan_is_the_recursion_of_the_evidence(rise, begins):
    known = Reference("a", 1000, 0.0496, 0.149**2 + 0.0496**2, 0.0496)
    asked = Question(Uniform(0.05, 0.3), 0.05, 0.825, 0.0496, 0.02, "row")
    stated = plain_delay(known, rise, begins, budget=0.05, alpha=0.02)
    assert delay(asked, known, ROWS, rise, begins) == stated


@pytest.mark.simulation
def test_limits_hold_at_all_looks_together():
    rng = np.random.default_rng(4)
    total, squares = (np.cumsum(part, axis=0) for part in sums(rng, 1.0, (2000, STREAMS)))
    rows = np.cumsum(np.full((2000, 1), float(ROWS)), axis=0) * np.ones((1, STREAMS))
    low, high = evidence.limits(rows, total, squares, centre=MEAN, largest=0.825, alpha=0.05)
    assert np.mean(((low > MEAN) | (high < MEAN)).any(axis=0)) <= 0.05


def test_a_plan_needs_a_reference_and_a_rise_is_seen_sooner_the_larger_it_is():
    pytest.importorskip("polars")
    from tests.monitoring.test_monitor import COSTS, kept

    monitor = CostMonitor(COSTS, reference=kept(), model="new", tolerance=0.1)
    plan = plan_watch(monitor, rows_per_day=500)
    found = {rise: plan.delays[rise, 1] for rise in (0.1, 0.2, 0.5)}
    assert found[0.1] is None or found[0.1] > 1000  # a tolerance of a tenth and the reference's error are not exceeded
    assert found[0.5] < (found[0.2] or math.inf)
    assert plan.frame("polars").columns == ["rise", "begins", "days"]
    for wrong in ({"rows_per_day": 0}, {"rows_per_day": 10, "rises": [0.0]}, {"rows_per_day": 10, "begins": [0]}):
        with pytest.raises(ValueError, match=list(wrong)[-1]):
            plan_watch(monitor, **wrong)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rises": 0.2}, r"^rises must be a list of shares, got 0\.2: pass \[0\.2\]\.$"),
        ({"rises": np.array(0.2)}, r"^rises must be a list of shares, got array\(0\.2\)\.$"),
        ({"rises": "20%"}, r"^rises must be a list of shares, got '20%'\.$"),
        ({"rises": {0.2: 1}}, r"^rises must be a list of shares, got {0\.2: 1}\.$"),
        ({"rises": []}, r"^rises must be a list of shares, got \[\]\.$"),
        ({"rises": None}, r"^rises must be a list of shares, got None\.$"),
        ({"rises": ["20%"]}, r"^rises must be a number, got '20%'\.$"),
        ({"rises": [10, 20, 50]}, r"^rises must hold shares > 0 and below 5, got 10; 10% is written 0\.1\.$"),
        ({"rises": [math.nan]}, r"^rises must hold shares > 0 and below 5, got nan\.$"),
        ({"rises": [-0.1]}, r"^rises must hold shares > 0 and below 5, got -0\.1\.$"),
        ({"begins": 1}, r"^begins must be a list of days, got 1: pass \[1\]\.$"),
        ({"begins": "1"}, r"^begins must be a list of days, got '1'\.$"),
        ({"begins": []}, r"^begins must be a list of days, got \[\]\.$"),
        ({"begins": [1.5]}, r"^begins must be a whole number >= 1, got 1\.5\.$"),
    ],
)
def test_rises_and_begins_that_are_no_lists_of_shares_and_days_are_refused_by_name(given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        plan_watch(referred(), rows_per_day=200, **given)


def test_rises_and_begins_may_be_of_every_kind_of_list():
    monitor = referred()
    plan = plan_watch(monitor, rows_per_day=200, rises=(0.2, 0.5), begins=[1, 2]).delays
    assert plan_watch(monitor, rows_per_day=200, rises=np.array([0.2, 0.5]), begins=range(1, 3)).delays == plan
    assert list(plan) == [(0.2, 1), (0.2, 2), (0.5, 1), (0.5, 2)]


def referred():
    rows, scores = [0, 1, 1, 0, 0] * 200, [0.1, 0.8, 0.3, 0.6, 0.2] * 200
    return CostMonitor((0.2, 0.6), reference=KeptEvaluation.of(evaluate(rows, {"a": scores}, costs=(0.2, 0.6))))


def test_no_rise_of_a_reference_that_costs_nothing_can_be_planned():
    y = np.arange(400) % 2
    kept = KeptEvaluation.of(evaluate(y, {"perfect": 0.98 * y + 0.01}, costs=0.3))
    plan = plan_watch(CostMonitor(0.3, reference=kept), rows_per_day=50)
    assert (plan.mean, plan.largest_rise) == (0.0, 0.0)
    assert set(plan.delays.values()) == {None}

"""The budget from a reference whose days are stated: what rows of a day have in common, and days that are refused."""

import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from stakes import costs, evaluate
from stakes.evaluation import KeptEvaluation
from stakes.monitoring import ChallengerMonitor, CostMonitor, CostMonitors, plan_watch

COSTS = costs.Uniform(0.05, 0.3)

# Days whose log-odds move together, with nothing that changes in the long run.
RISKS, SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.35]), np.array([0.35, 0.3, 0.2, 0.1, 0.05])


def moved_day(rng, sd, n=2000):
    """Negatives and positives of a day at each score."""
    at, rate = rng.multinomial(n, SHARES), 1 / (1 + (1 / RISKS - 1) * np.exp(-rng.normal(0, sd)))
    positives = rng.binomial(at, rate)
    return np.array([at - positives, positives])


@pytest.fixture(scope="module")
def costs_of_rows():
    """Mean cost of a negative and a positive at each score, over ratios c uniform on [.05, .3]: of c or 1 - c."""
    cut = np.clip(RISKS, 0.05, 0.3)
    return np.array([cut**2 / 2 - 0.05**2 / 2, (0.3 - 0.3**2 / 2) - (cut - cut**2 / 2)]) / 0.25


@pytest.fixture(scope="module")
def reference():
    rng = np.random.default_rng(0)
    score = rng.beta(1.0, 7.0, 4000)
    models = {"new": score, "old": np.clip(score + 0.05, 0.0, 1.0)}
    return KeptEvaluation.of(evaluate(rng.random(4000) < score, models, costs=COSTS))


def from_days(days, costs_of_rows):
    """The evaluation of the rows of days, and the sums of each day."""
    n = sum(days)
    y, p = np.repeat([0, 1], n.sum(axis=1)), np.concatenate([np.repeat(RISKS, n[0]), np.repeat(RISKS, n[1])])
    sums = [(day.sum(), (day * costs_of_rows).sum(), (day * costs_of_rows**2).sum()) for day in days]
    return KeptEvaluation.of(evaluate(y, {"a": p}, costs=COSTS)), tuple(np.transpose(sums))


@pytest.mark.simulation
def test_a_budget_from_days_that_differ_is_seldom_below_the_mean_where_the_days_are_stated(costs_of_rows):
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    rates = 1 / (1 + (1 / RISKS - 1) * np.exp(-0.3 * nodes[:, None]))
    means = ((1 - rates) * costs_of_rows[0] + rates * costs_of_rows[1]) @ SHARES
    mean = weights @ means / weights.sum()
    below = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        kept, days = from_days([moved_day(rng, 0.3) for _ in range(30)], costs_of_rows)
        budgets = [CostMonitor(COSTS, reference=kept, reference_days=each).budget for each in (None, days)]
        below += np.array(budgets) < mean
    assert below[1] <= 2.5 + 3.0 * math.sqrt(0.025 * 0.975 * 100)
    assert below[0] >= 15  # rows taken for independent


def test_a_budget_from_stated_days_is_near_the_t_limit_of_their_means(costs_of_rows):
    rng = np.random.default_rng(0)
    kept, (n, totals, squares) = from_days([moved_day(rng, 0.3) for _ in range(30)], costs_of_rows)
    means = totals / n
    limit = stats.t.interval(0.95, 29, means.mean(), stats.sem(means))[1]
    monitor = CostMonitor(COSTS, reference=kept, reference_days=(n, totals, squares))
    assert monitor.budget == pytest.approx(limit, rel=0.005)
    assert monitor.budget > 1.02 * CostMonitor(COSTS, reference=kept).budget
    assert CostMonitor.from_json(monitor.to_json()).reference.days == 30
    by_rows = {"unit": "row", "force": True, "reference_days": (n, totals, squares)}
    assert CostMonitor(COSTS, reference=kept, **by_rows).budget == CostMonitor(COSTS, reference=kept).budget
    each = CostMonitors(COSTS, reference=kept, reference_days=(n, totals, squares))
    assert each.monitors["a"].budget == monitor.budget


@pytest.mark.parametrize("sizes", [(50,), (20, 80, 300)])
def test_a_plan_takes_the_variance_of_the_stated_days_and_keeps_it(sizes):
    # at a ratio of .1, 8% false alarms and .8% misses, times a gamma variable of mean 1 and variance .5 of each day
    rng = np.random.default_rng(0)
    n = np.resize(sizes, 1500)
    k = rng.gamma(2.0, 0.5, len(n))
    false, missed = rng.binomial(n, 0.08 * k), rng.binomial(n, np.minimum(0.008 * k, 1.0))
    right = n - false - missed
    y = np.repeat([0, 1, 0], [false.sum(), missed.sum(), right.sum()])
    kept = KeptEvaluation.of(evaluate(y, {"a": np.where(np.arange(len(y)) < false.sum(), 0.2, 0.02)}, costs=0.1))
    days = n, 0.1 * false + 0.9 * missed, 0.01 * false + 0.81 * missed
    monitor = CostMonitor(0.1, reference=kept, reference_days=days)
    assert monitor.reference.day_variance == pytest.approx(0.5 * (0.08 * 0.1 + 0.008 * 0.9) ** 2, rel=0.2)
    again, plain = CostMonitor.from_json(monitor.to_json()), CostMonitor(0.1, reference=kept)
    asked = {"rows_per_day": 100, "rises": [0.5]}
    delays = plan_watch(monitor, **asked).delays
    assert plan_watch(again, **asked).delays == delays
    assert plan_watch(plain, **asked).delays[0.5, 1] < 0.7 * delays[0.5, 1]
    state = json.loads(monitor.to_json())
    assert set(json.loads(plain.to_json())["reference"]) == set(state["reference"]) - {"day_variance"}
    state["reference"]["day_variance"] = -1e-9
    with pytest.raises(ValueError, match=r"reference.day_variance must be >= 0, and 0 without days, got -1e-09"):
        CostMonitor.from_json(json.dumps(state))
    del state["reference"]["day_variance"]  # as was written before
    assert CostMonitor.from_json(json.dumps(state)).reference.day_variance == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_few_days_of_unlike_size_widen_the_limit_by_student_and_vary_as_one_random_effect_does(seed, costs_of_rows):
    rng = np.random.default_rng(seed)
    counts = [moved_day(rng, 0.8, size) for size in (60, 200, 500, 900, 2000)]
    kept, days = from_days(counts, costs_of_rows)
    rows = [np.repeat(costs_of_rows.ravel(), day.ravel()) for day in counts]
    ratio = stats.f_oneway(*rows).statistic
    assert ratio > 1.0
    plain, stated = (CostMonitor(COSTS, reference=kept, alpha=0.1, reference_days=each) for each in (None, days))
    wider = math.sqrt(ratio) * stats.t.ppf(0.95, 4) / stats.norm.ppf(0.95)
    mean = np.concatenate(rows).mean()
    assert stated.budget == pytest.approx(mean + wider * (plain.budget - mean), rel=1e-9)
    assert plain.reference.day_variance == 0.0
    # the mean square between days is expected to be that within them plus size times the variance of days
    day = np.repeat(np.eye(5), [len(each) for each in rows], axis=0)
    size = (np.trace(day.T @ day) - np.sum(day.sum(axis=0) ** 2) / len(day)) / 4.0
    within = sum(((each - each.mean()) ** 2).sum() for each in rows) / (len(day) - 5)
    assert stated.reference.day_variance == pytest.approx((ratio - 1.0) * within / size, rel=1e-9)
    kept, alike = from_days([counts[0]] * 40, costs_of_rows)
    same = [CostMonitor(COSTS, reference=kept, reference_days=each) for each in (None, alike)]
    assert same[0].budget == same[1].budget  # days that differ less than chance narrow no limit
    assert same[1].reference.day_variance == 0.0


def test_independent_rows_in_days_leave_the_budget_near_what_rows_give(costs_of_rows):
    rng = np.random.default_rng(0)
    kept, days = from_days([moved_day(rng, 0.0) for _ in range(365)], costs_of_rows)
    plain = CostMonitor(COSTS, reference=kept)
    stated = CostMonitor(COSTS, reference=kept, reference_days=days)
    assert plain.budget <= stated.budget <= plain.reference.mean + 1.1 * (plain.budget - plain.reference.mean)


def test_days_that_differ_beyond_chance_are_said_to_leave_the_budget_too_low(costs_of_rows):
    said = "The budget takes the rows of the reference for independent, but days differ by more than that explains"
    rng = np.random.default_rng(0)
    kept, days = from_days([moved_day(rng, 0.3) for _ in range(30)], costs_of_rows)

    def watched(sd, monitor, rise=0.0):
        for day in range(1, 101):
            (n,), (total,), (squares,) = from_days([moved_day(rng, sd)], costs_of_rows)[1]
            more = rise * total if day > 60 else 0.0
            monitor.update_sums(day, n=n, total=total + more, squares=squares + 0.8 * more)
        return monitor

    unstated = watched(0.3, CostMonitor(COSTS, reference=kept))
    assert said in unstated.describe()
    unstated.update_costs(101, [0.0])  # a row says nothing of how rows differ
    assert said in unstated.describe()
    state = json.loads(unstated.to_json())
    del state["reference"]["days"]  # as was written before
    assert said in CostMonitor.from_json(json.dumps(state)).describe()
    assert said not in watched(0.3, CostMonitor(COSTS, reference=kept, reference_days=days)).describe()
    assert said not in watched(0.3, CostMonitor(COSTS, budget=0.06)).describe()
    assert said not in watched(0.0, CostMonitor(COSTS, reference=kept)).describe()
    risen = watched(0.0, CostMonitor(COSTS, reference=kept), rise=0.8)
    assert risen.alarm
    assert risen.spread > 1.3
    assert said not in risen.describe()


def test_reference_days_that_cannot_be_are_refused_for_days_too():
    with pytest.raises(ValueError, match=r"^reference_days must be \(n, totals, squares\) of days, got 2 parts\.$"):
        CostMonitor(COSTS, budget=0.05, reference_days=([200, 200], [10.0, 11.0]))
    with pytest.raises(ValueError, match=r"^reference_days, day at index 1: squares must lie from .* got 190"):
        CostMonitor(COSTS, budget=0.05, reference_days=([200, 200], [10.0, 11.0], [5.0, 190.0]))


@pytest.mark.parametrize(
    "given",
    [
        {"n": [200] * 3, "totals": [10.0, 11.0, 12.0], "squares": [5.0, 5.0, 5.0]},
        pytest.param("frame", id="frame"),
        "n, totals, squares",
        3,
        np.array(0.5),
        np.ones((2, 3)),
        iter([[200] * 3]),
        {1, 2, 3},
        [],
        ([200] * 3, [10.0, 11.0, 12.0]),
        (200, 10.0, 5.0),
        (np.full((2, 2), 200), np.full((2, 2), 9.0), np.full((2, 2), 5.0)),
        ([200] * 3, [10.0, 11.0], [5.0, 5.0, 5.0]),
        (["many"] * 3, [10.0, 11.0, 12.0], [5.0, 5.0, 5.0]),
        (None, None, None),
    ],
)
@pytest.mark.parametrize("asked", [{"unit": "day"}, {"unit": "row"}, {"unit": "row", "force": True}])
def test_reference_days_of_every_wrong_shape_are_refused_in_words(given, asked, reference):
    if isinstance(given, str) and given == "frame":
        pandas = pytest.importorskip("pandas")
        given = pandas.DataFrame({"n": [200] * 3, "totals": [10.0, 11.0, 12.0], "squares": [5.0, 5.0, 5.0]})
    for watched in ({"budget": 0.05}, {"reference": reference, "model": "new"}):
        with pytest.raises(ValueError, match=r"^(reference_days must be \(n, totals, squares\)|n.* must )"):
            CostMonitor(COSTS, reference_days=given, **watched, **asked)


def test_days_as_the_rows_of_an_array_are_those_of_a_tuple(costs_of_rows):
    kept, days = from_days([moved_day(np.random.default_rng(seed), 0.3) for seed in range(30)], costs_of_rows)
    budgets = [CostMonitor(COSTS, reference=kept, reference_days=each).budget for each in (days, np.array(days))]
    assert budgets[0] == budgets[1] > CostMonitor(COSTS, reference=kept).budget


def sums_of_other(days, costs_of_rows, change):
    n, totals, squares = (np.array(part, dtype=float) for part in days)
    return {
        "later": from_days([moved_day(np.random.default_rng(100 + at), 0.3) for at in range(30)], costs_of_rows)[1],
        "per 1,000": (n, 1000.0 * totals, 1e6 * squares),
        "harm": (n, totals + 0.005 * n, squares + 0.01 * totals + 0.005**2 * n),
        "a day less": (n[1:], totals[1:], squares[1:]),
        "squares": (n, totals, 1.1 * squares),
    }[change]


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ("later", "totals"),
        ("per 1,000", "totals"),
        ("harm", "totals"),
        ("a day less", "n"),
        ("squares", "squares"),
    ],
)
@pytest.mark.parametrize("unit", [{"unit": "day"}, {"unit": "row", "force": True}])
def test_days_that_are_not_those_of_the_reference_are_refused_with_both_sums(unit, change, wrong, costs_of_rows):
    counts = [moved_day(np.random.default_rng(seed), 0.3) for seed in range(30)]
    kept, days = from_days(counts, costs_of_rows)
    given = sums_of_other(days, costs_of_rows, change)
    at = ("n", "totals", "squares").index(wrong)
    own = sum(counts) * costs_of_rows**at
    with pytest.raises(ValueError, match=r"^reference_days must be all days of the reference") as caught:
        CostMonitor(COSTS, reference=kept, reference_days=given, **unit)
    told = re.search(rf"their {wrong} sum to ([\d.,]+), those of the reference to ([\d.,]+)\.", str(caught.value))
    stated, known = (float(each.replace(",", "")) for each in told.groups())
    assert stated == pytest.approx(given[at].sum(), rel=1e-8)
    assert known == pytest.approx(own.sum(), rel=1e-8)


@pytest.mark.parametrize("rounded", [2, 1, 0, "single"])
@pytest.mark.parametrize("size", [2000, 200])
def test_rounded_days_of_the_reference_are_taken(size, rounded, costs_of_rows):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        kept, (n, *sums) = from_days([moved_day(rng, 0.3, size) for _ in range(30)], costs_of_rows)
        given = [part.astype(np.float32) if rounded == "single" else part.round(rounded) for part in sums]
        budget = CostMonitor(COSTS, reference=kept, reference_days=(n, *given)).budget
        assert budget == pytest.approx(CostMonitor(COSTS, reference=kept, reference_days=(n, *sums)).budget, rel=0.02)


def days_of_two_models(seed=0, size=200):
    """Labels, site, scores and day of each row: "moved" errs by another log-odds on each day, "right" does not."""
    rng = np.random.default_rng(seed)
    n = 30 * size
    day, z = np.repeat(np.arange(30), size), rng.normal(-2.0, 1.0, n)
    y, site = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int), np.where(rng.random(n) < 0.3, "north", "south")
    moved = z + rng.normal(0.0, 1.0, 30)[day]
    return y, site, {"right": 1 / (1 + np.exp(-z)), "moved": 1 / (1 + np.exp(-moved))}, day


def sums_of_days(y, score, day):
    each = CostMonitor(COSTS, budget=0.05)._question.sums(y, score).costs
    return np.bincount(day), np.bincount(day, each), np.bincount(day, each**2)


def test_each_monitor_has_the_days_of_its_own_reference():
    y, site, scores, day = days_of_two_models()
    reference = KeptEvaluation.of(evaluate(y, scores, costs=COSTS, groups={"site": site}))
    parts = {name: (name, np.ones(6000, dtype=bool)) for name in scores}
    parts |= {f"{name}, site = {each}": (name, site == each) for name in scores for each in ("north", "south")}
    days = {name: sums_of_days(y[mine], scores[model][mine], day[mine]) for name, (model, mine) in parts.items()}
    watch = CostMonitors(COSTS, reference=reference, reference_days=days)
    assert set(watch.monitors) == set(days)
    for name, (model, mine) in parts.items():
        own = KeptEvaluation.of(evaluate(y[mine], {model: scores[model][mine]}, costs=COSTS))
        alone = CostMonitor(COSTS, reference=own, alpha=0.05 / 6, reference_days=days[name])
        assert watch.monitors[name].budget == pytest.approx(alone.budget, rel=1e-9)
        assert watch.monitors[name].reference.days == 30
    some = CostMonitors(COSTS, reference=reference, reference_days={"moved": days["moved"]}).monitors
    assert [name for name, monitor in some.items() if monitor.reference.days] == ["moved"]


def test_days_of_one_model_are_refused_for_several_and_for_another():
    y, _, scores, day = days_of_two_models()
    reference = KeptEvaluation.of(evaluate(y, scores, costs=COSTS))
    days = {name: sums_of_days(y, score, day) for name, score in scores.items()}
    for unit in ({"unit": "day"}, {"unit": "row"}, {"unit": "row", "force": True}):
        with pytest.raises(
            ValueError, match=r"^reference_days must be .* the name of each monitor.*: 'right', 'moved'"
        ):
            CostMonitors(COSTS, reference=reference, reference_days=days["right"], **unit)
    with pytest.raises(ValueError, match=r"^moved: reference_days must be all days of the reference .* their totals"):
        CostMonitors(COSTS, reference=reference, reference_days={"moved": days["right"]})
    with pytest.raises(ValueError, match=r"^moved: reference_days must be \(n, totals, squares\) of days, got 2 parts"):
        CostMonitors(COSTS, reference=reference, reference_days={"moved": days["moved"][:2]})
    with pytest.raises(ValueError, match=r"each one of 'right', 'moved', got 'move'; did you mean 'moved'\?$"):
        CostMonitors(COSTS, reference=reference, reference_days={"move": days["moved"]})
    with pytest.raises(ValueError, match=r"^right: unit='row' holds where"):
        CostMonitors(COSTS, reference=reference, unit="row", reference_days={"moved": days["moved"]})
    one = CostMonitors(COSTS, reference=reference, models=["moved"], reference_days=days["moved"])
    assert one.monitors["moved"].reference.days == 30


@pytest.mark.simulation
def test_budgets_of_several_are_seldom_below_the_mean_where_each_has_its_days():
    z, w = np.random.default_rng(1).normal(-2.0, 1.0, 200_000), np.random.default_rng(2).normal(0.0, 1.0, 200_000)
    risk, grid = 1 / (1 + np.exp(-z)), np.clip(1 / (1 + np.exp(-z - w)), 0.05, 0.3)
    mean = np.mean((1 - risk) * (grid**2 - 0.05**2) / 2 + risk * (0.3 - grid - (0.3**2 - grid**2) / 2)) / 0.25
    below = np.zeros(2)
    for seed in range(100):
        y, _, scores, day = days_of_two_models(seed, size=1000)
        reference = KeptEvaluation.of(evaluate(y, scores, costs=COSTS))
        days = {name: sums_of_days(y, score, day) for name, score in scores.items()}
        budgets = [
            CostMonitors(COSTS, reference=reference, reference_days=each).monitors["moved"].budget
            for each in (days, {"right": days["right"]})
        ]
        below += np.array(budgets) < mean
    assert below[0] <= 1.25 + 3.0 * math.sqrt(0.0125 * 0.9875 * 100)
    assert below[1] >= 10


def test_days_that_cost_nothing_to_compare_with_are_any_that_can_be():
    days = [2000] * 3, [100.0, 110.0, 105.0], [58.0, 64.0, 61.0]
    assert CostMonitor(COSTS, budget=0.06, reference_days=days).budget == 0.06


@pytest.mark.parametrize("alpha", [0.6, 0.95, 1e-17])
def test_an_alpha_that_no_limit_of_a_reference_has_is_refused_by_its_name(alpha, reference):
    with pytest.raises(
        ValueError, match=rf"^alpha must lie above 1e-16, and at most at 0\.5 with reference=, got {alpha}"
    ):
        CostMonitor(COSTS, reference=reference, model="new", alpha=alpha)
    assert CostMonitor(COSTS, budget=0.1, alpha=alpha).log_alarm == pytest.approx(-math.log(alpha))
    assert CostMonitor(COSTS, reference=reference, model="new", alpha=0.5).log_alarm == pytest.approx(math.log(4.0))


def test_what_is_wrong_is_named_as_it_was_passed(reference):
    with pytest.raises(ValueError, match=r"^tolerance must leave the budget, .* below 0\.825, the most .*, got 50\.$"):
        CostMonitor(COSTS, reference=reference, model="new", tolerance=50)
    with pytest.raises(ValueError, match=r"^models must name at least one of 'new', 'old', got none\.$"):
        CostMonitors(COSTS, reference=reference, models=[])
    watch = CostMonitors(COSTS, reference=reference)
    with pytest.raises(ValueError, match=r"^y_prob\['old'\] must lie in \[0, 1\], got 1\.2 at index 1"):
        watch.update(1, [0, 1], {"new": [0.1, 0.2], "old": [0.1, 1.2]})
    sums = {"n": 3, "total": 0.1, "squares": 0.01}
    with pytest.raises(ValueError, match=r"^sums\['old'\]: squares must lie from total\^2 / n, "):
        watch.update_sums(1, {"new": sums, "old": {**sums, "squares": 5.0}})
    assert [monitor.n_days for monitor in watch.monitors.values()] == [0, 0]
    with pytest.raises(ValueError, match=r"^day must be later than the last, 1, but 1 was counted already\.$"):
        watch.update_sums(1, {"new": sums, "old": sums}).update_sums(1, {"new": sums, "old": sums})
    with pytest.raises(
        ValueError, match=r"^monitor must be a CostMonitor, got CostMonitors: of CostMonitors pass each"
    ):
        plan_watch(watch, rows_per_day=10)


@pytest.mark.parametrize(
    ("a", "b", "say"),
    [
        ([0.1, 0.2], [0.1], "y_true and b must have the same length, got 2 and 1"),
        ([0.1], [0.1, 0.2], "y_true and a must have the same length, got 2 and 1"),
        ([0.1, 0.2], [0.1, 1.2], "b must lie in [0, 1], got 1.2 at index 1"),
        ([[0.5, 0.4], [0.2, 0.8]], [0.1, 0.2], "the two columns of a must sum to 1"),
        (["x", "y"], [0.1, 0.2], "a must be numeric, got 'x' at index 0"),
    ],
)
def test_a_challenger_names_the_scores_that_are_wrong(a, b, say):
    with pytest.raises(ValueError, match=f"^{re.escape(say)}"):
        ChallengerMonitor(COSTS).update(1, [0, 1], a, b)

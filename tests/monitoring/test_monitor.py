"""The cost monitor: rows and sums alike, the budget from a reference, late labels, and what is refused by name."""

import datetime as dt
import json
import math
import re
import warnings

import numpy as np
import pytest
from scipy import stats

from stakes import RowCosts, ScoreTable, costs, evaluate, evaluate_frame
from stakes.evaluation import KeptEvaluation
from stakes.inference import metric_interval
from stakes.monitoring import ChallengerMonitor, CostMonitor, CostMonitors, day_spread

COSTS = costs.Uniform(0.05, 0.3)


def rows(n, seed, shift=0.0):
    """Return labels and calibrated scores, or labels of a higher risk than the scores say."""
    rng = np.random.default_rng(seed)
    score = rng.beta(1.0, 7.0, n)
    return (rng.random(n) < np.clip(score + shift, 0.0, 1.0)).astype(int), score


def kept(n=4000, seed=0, **options):
    y, score = rows(n, seed)
    other = np.clip(score + 0.05, 0.0, 1.0)
    return KeptEvaluation.of(evaluate(y, {"new": score, "old": other}, costs=COSTS, **options))


@pytest.fixture(scope="module")
def reference():
    return kept()


def regret(y, score, low=0.05, high=0.3):
    """Mean over thresholds of what acting on a score costs, by its definition, on a grid fine enough."""
    c = np.linspace(low, high, 20_001)
    c = (c[1:] + c[:-1]) / 2
    return np.array(
        [np.mean(np.where(s >= c, c * (1 - label), (1 - c) * label)) for label, s in zip(y, score, strict=True)]
    )


def test_rows_sums_table_and_costs_are_one_day(reference):
    y, score = rows(300, 1)
    each = regret(y, score)
    asked = {"reference": reference, "model": "new", "unit": "row", "force": True}
    by_rows, by_sums, by_table, by_costs = (CostMonitor(COSTS, **asked) for _ in range(4))
    by_rows.update(1, y, score)
    by_sums.update_sums(1, n=300, total=each.sum(), squares=(each**2).sum())
    by_table.update(1, ScoreTable.from_predictions(y, score))
    by_costs.update_costs(1, by_rows._question.sums(y, score).costs)
    assert by_rows.mean == pytest.approx(each.mean(), abs=1e-6)
    assert by_sums.log_evidence == pytest.approx(by_rows.log_evidence, abs=1e-5)
    assert by_table.log_evidence == pytest.approx(by_rows.log_evidence, abs=1e-12)
    assert by_costs.log_evidence == by_rows.log_evidence


def test_budget_is_the_upper_limit_of_the_reference_at_half_of_alpha(reference):
    monitor = CostMonitor(COSTS, reference=reference, model="new", tolerance=0.1, alpha=0.04)
    upper = metric_interval(reference.tables["new"], metric="expected_regret", costs=COSTS, confidence_level=0.96)
    assert monitor.budget == pytest.approx(1.1 * upper.interval[1], rel=1e-12)
    assert monitor.log_alarm == pytest.approx(math.log(50))
    assert CostMonitor(COSTS, budget=0.05, alpha=0.04).log_alarm == pytest.approx(math.log(25))


def test_before_any_day_the_lower_limit_is_a_zero_without_a_sign():
    assert str(CostMonitor(COSTS, budget=0.05).limits[0]) == "0.0"


def test_the_promise_is_the_mean_cost_of_right_scores():
    score = np.array([0.02, 0.1, 0.2, 0.6])
    expected = np.mean(score * regret(np.ones(4), score) + (1 - score) * regret(np.zeros(4), score))
    assert CostMonitor(COSTS, budget=0.05).promised(score) == pytest.approx(expected, abs=1e-6)


def test_change_tells_harder_cases_from_a_worse_model():
    found = {}
    for case in ("harder", "worse"):
        monitor = CostMonitor(COSTS, budget=0.075)
        for day in range(1, 121):
            y, score = rows(400, day, shift=0.1 if case == "worse" and day > 60 else 0.0)
            if case == "harder" and day > 60:
                rng = np.random.default_rng(day)
                score = rng.beta(2.0, 6.0, 400)
                y = (rng.random(400) < score).astype(int)
            monitor.update(day, y, score)
        assert 61 <= monitor.alarm_day <= 120
        (old, promised), (new, now_promised) = monitor.change().values()
        assert new > 1.3 * old
        found[case] = now_promised / promised, new / old
        assert "as its own scores say" in monitor.describe()
    assert found["harder"][0] == pytest.approx(found["harder"][1], rel=0.15)
    assert found["worse"][0] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("empty", [None, math.nan])
def test_missing_labels_are_refused_or_counted_as_the_dearest(empty):
    y, score = [0, 1, empty, empty], [0.1, 0.2, 0.5, 0.01]
    monitor = CostMonitor(COSTS, budget=0.05)
    with pytest.raises(
        ValueError, match=r"y_true lacks 2 of 4 labels, but a day enters when .* positives are known soon"
    ):
        monitor.update(1, y, score)
    assert monitor.n_days == 0
    dear = monitor.update(1, y, score, missing="cost").mean
    assert dear == max(
        CostMonitor(COSTS, budget=0.05).update(1, [0, 1, a, b], score).mean for a in (0, 1) for b in (0, 1)
    )
    with pytest.raises(ValueError, match="missing must be"):
        monitor.update(2, y, score, missing="drop")


def test_a_day_or_a_group_without_any_label_counts_as_the_dearest():
    y, score = np.array([0, 1] * 20), np.linspace(0.02, 0.6, 40)
    place = np.repeat(["x", "y"], 20)
    models, groups = {"a": score}, {"place": place}
    kept_groups = KeptEvaluation.of(evaluate(y, models, costs=COSTS, groups=groups))
    some, none = np.where(place == "x", y, np.nan), np.full(40, np.nan)
    watch = CostMonitors(COSTS, reference=kept_groups).update(1, some, models, groups=groups, missing="cost")
    dearest = np.maximum(*(regret([label] * 40, score) for label in (0, 1)))
    assert watch.monitors["a, place = y"].mean == pytest.approx(dearest[20:].mean(), abs=1e-5)
    whole = CostMonitor(COSTS, budget=0.05).update(1, none, score, missing="cost")
    assert whole.mean == pytest.approx(dearest.mean(), abs=1e-5)
    with pytest.raises(ValueError, match="y_true lacks 40 of 40 labels"):
        whole.update(2, none, score)
    for monitor, nobody in ((whole, []), (watch, {"a": []})):
        with pytest.raises(ValueError, match="y_true must hold at least one row, got none"):
            monitor.update(2, [], nobody, missing="cost")


def test_two_columns_need_a_label_that_tells_them_apart():
    y, score = np.where(np.arange(40) % 2, "yes", "no"), np.linspace(0.02, 0.6, 40)
    reference = KeptEvaluation.of(evaluate(y, {"a": score}, costs=COSTS, pos_label="yes"))
    none, two = np.full(40, None, dtype=object), np.column_stack([1.0 - score, score])
    for monitor, columns in (
        (CostMonitor(COSTS, reference=reference), two),
        (CostMonitors(COSTS, reference=reference), {"a": two}),
    ):
        with pytest.raises(ValueError, match=r"two columns of y_prob.* cannot be distinguished where y_true holds no"):
            monitor.update(1, none, columns, missing="cost")


def test_days_come_in_order_and_once():
    monitor = CostMonitor(COSTS, budget=0.05)
    monitor.update_sums(dt.date(2026, 11, 23), n=10, total=0.1, squares=0.05)
    for day, message in {
        "2026-11-23": "'2026-11-23' was counted already",
        "2026-11-22": "'2026-11-22' is earlier",
        7: "day must be a date as before",
        "yesterday": "day must be a date such as '2026-11-23'",
        1.5: "day must be a whole number",
        "2026-11-24T00:00:00+00:00": "day must be a date such as",
    }.items():
        with pytest.raises(ValueError, match=message):
            monitor.update_sums(day, n=10, total=0.1, squares=0.05)
    assert monitor.update_sums("2026-11-23T12:00", n=10, total=0.1, squares=0.05).n_days == 2


def test_what_cannot_be_watched_is_refused_by_name(reference):
    y, score = rows(50, 3)
    monitor = CostMonitor(COSTS, budget=0.05)
    with pytest.raises(ValueError, match="sample_weight is not taken"):
        monitor.update(1, y, score, sample_weight=np.ones(50))
    weighted = ScoreTable.from_predictions(y, score, sample_weight=np.full(50, 2.0))
    with pytest.raises(ValueError, match="sample_weight, a stated prevalence"):
        monitor.update(1, weighted)
    with pytest.raises(ValueError, match=r"costs must be those of the reference, Uniform\(low=0.05, high=0.3\), got"):
        CostMonitor((0.1, 0.3), reference=reference, model="new")
    with pytest.raises(ValueError, match="model must be one of 'new', 'old', got 'nwe'; did you mean 'new'"):
        CostMonitor(COSTS, reference=reference, model="nwe")
    with pytest.raises(ValueError, match="model must say which of the reference's models is watched: 'new', 'old'"):
        CostMonitor(COSTS, reference=reference)
    with pytest.raises(ValueError, match="one of budget= and reference="):
        CostMonitor(COSTS)
    with pytest.raises(ValueError, match="tolerance= and model= belong to reference="):
        CostMonitor(COSTS, budget=0.05, tolerance=0.1)
    with pytest.raises(ValueError, match="bounded losses"):
        CostMonitor(costs.LogOddsUniform(0, 1), budget=0.05)
    for budget in (2.0, 0.825, 0, -0.05, math.nan):  # from what every row costs at most on, no rise is possible
        with pytest.raises(ValueError, match=r"budget must lie above 0 and below 0\.825, the most that a row can cost"):
            CostMonitor(COSTS, budget=budget)
    with pytest.raises(ValueError, match='rule="optimal"'):
        CostMonitor(COSTS, reference=kept(rule="optimal"), model="new")
    with pytest.raises(ValueError, match="reference must be a KeptEvaluation, got float"):
        CostMonitor(COSTS, reference=0.05)


@pytest.mark.parametrize(("budget", "largest"), [(1e150, 1e200), (1.0, 1e200), (1e-300, 1.0)])
def test_costs_whose_squares_are_no_numbers_are_refused(budget, largest):
    with pytest.raises(ValueError, match=r"^budget and largest must lie in \[1e-140, 1e\+140\], .* got 1"):
        CostMonitor(0.2, budget=budget, largest=largest)
    monitor = CostMonitor(0.2, budget=1e139, largest=1e140, unit="row", force=True).update_costs(1, [1e140] * 50)
    assert (monitor.mean, monitor.alarm) == (pytest.approx(1e140), True)
    assert all(map(math.isfinite, monitor.limits))


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        ({"n": 0, "total": 0.0, "squares": 0.0}, "n must be at least one row"),
        ({"n": 10, "total": -0.1, "squares": 0.1}, "total must lie from"),
        ({"n": 10, "total": 9.0, "squares": 8.0}, "total must lie from"),
        ({"n": 10, "total": 1.0, "squares": 0.01}, "squares must lie from"),
        ({"n": 10, "total": 1.0, "squares": 0.99}, "squares must lie from"),
        ({"n": 10, "total": math.nan, "squares": 0.5}, "total must lie from"),
        ({"n": 10, "total": 1.0, "squares": math.nan}, "squares must lie from"),
        ({"n": 10.5, "total": 1.0, "squares": 0.5}, "n must be a whole number"),
    ],
)
def test_sums_that_no_rows_have_are_refused(sums, message):
    with pytest.raises(ValueError, match=message):
        CostMonitor(COSTS, budget=0.05).update_sums(1, **sums)


def test_rows_are_the_unit_only_where_days_have_nothing_in_common():
    rng = np.random.default_rng(0)

    def days(shock):
        each = [0.8 * (rng.random(200) < 0.06 * rng.lognormal(-(shock**2) / 2, shock)) for _ in range(60)]
        return [200] * 60, [x.sum() for x in each], [(x**2).sum() for x in each]

    alike, shaken = days(0.0), days(0.4)
    assert day_spread(*alike) == pytest.approx(1.0, abs=0.2)
    assert CostMonitor(COSTS, budget=0.05, unit="row", reference_days=alike).budget == 0.05
    with pytest.raises(ValueError, match=r"unit='row' would raise false alarms: day means spread 1\.\d+ times"):
        CostMonitor(COSTS, budget=0.05, unit="row", reference_days=shaken)
    with pytest.raises(ValueError, match="unit='exact' holds where the rows of a day have nothing in common"):
        CostMonitor(COSTS, budget=0.05, unit="exact")
    assert CostMonitor(COSTS, budget=0.05, unit="row", reference_days=shaken, force=True).budget == 0.05


def test_spread_of_days_is_the_root_of_the_ratio_of_variances_between_and_within():
    days = [[0.1, 0.4], [0.3, 0.2, 0.8], [0.5, 0.1, 0.9, 0.2]]
    sums = [[sum(day) for day in days], [sum(x * x for x in day) for day in days]]
    assert day_spread([len(day) for day in days], *sums) == pytest.approx(np.sqrt(stats.f_oneway(*days).statistic))
    days, sums = [[0.0] * 4, *days], [[0.0, *each] for each in sums]  # a day may cost nothing
    assert day_spread([len(day) for day in days], *sums) == pytest.approx(np.sqrt(stats.f_oneway(*days).statistic))
    with pytest.raises(ValueError, match="one number for each of two days or more, of two rows or more"):
        day_spread([2, 1], [0.5, 0.3], [0.2, 0.09])
    with pytest.raises(ValueError, match="one number for each of two days or more, of two rows or more"):
        day_spread([2], [0.5], [0.2])


@pytest.mark.parametrize(
    ("n", "totals", "squares", "wrong"),
    [
        ([10, 10], [5.0, 0.0], [1.0, 5.0], r"n 10, total 5, squares 1 at index 0"),  # 5^2 / 10 > 1
        ([10, 10], [3.0, -5.0], [5.0, 10.0], r"total -5, squares 10 at index 1"),
        ([10, 10.5], [5.0, 3.0], [5.0, 2.0], r"n 10.5, total 3"),
        ([10, 10], [math.nan, 3.0], [5.0, 2.0], r"total nan"),
        ([10, 10], [5.0, 3.0], [5.0, math.inf], r"squares inf at index 1"),
        ([10, 10], [0.0, 3.0], [-1.0, 5.0], r"squares -1 at index 0"),
    ],
)
def test_a_spread_of_sums_that_no_rows_have_is_refused(n, totals, squares, wrong):
    with pytest.raises(ValueError, match=f"^n, totals and squares must be sums of rows .*{wrong}"):
        day_spread(n, totals, squares)
    with pytest.raises(ValueError, match=f"^n, totals and squares must be sums of rows .*{wrong}"):
        CostMonitor(0.2, budget=0.1, unit="row", reference_days=(n, totals, squares))


def test_days_before_cost_no_more_than_rows_can():
    days = [10, 10], [5.0, 4.9], [4.5, 4.5]  # costs of .9 where .8 is the most
    assert day_spread(*days) < 1.2
    with pytest.raises(ValueError, match=r"^reference_days, day at index 1: squares must lie from .* got 4.5"):
        CostMonitor(0.2, budget=0.1, unit="row", reference_days=([10, 10], [5.0, 4.9], [3.9, 4.5]))


def test_spread_of_days_of_differences_is_that_of_their_rows():
    rng = np.random.default_rng(3)
    y = (rng.random((6, 200)) < 0.2).astype(int)
    a, b = rng.random((2, 6, 200))
    monitor, each = ChallengerMonitor(COSTS), []
    for day in range(6):
        monitor.update(day, y[day], a[day], b[day])
        each.append([monitor._question.sums(y[day], score[day]).costs for score in (a, b)])
    gaps = [first - second for first, second in each]
    assert any(gap.sum() < 0.0 for gap in gaps)
    assert monitor.spread == pytest.approx(np.sqrt(stats.f_oneway(*gaps).statistic))


@pytest.mark.parametrize("kind", ["costs", "differences"])
def test_days_of_a_single_row_hide_no_spread_of_the_others(kind):
    rng = np.random.default_rng(4)
    days = [(0.4 + rng.normal() / 4) * rng.random(rng.integers(2, 60)) / 2 for _ in range(30)]
    days = [np.abs(day) if kind == "costs" else day - 0.05 for day in days]
    alone, beside = (CostMonitor(COSTS, budget=0.2) if kind == "costs" else ChallengerMonitor(COSTS) for _ in range(2))
    for at, day in enumerate(days):
        alone.update_costs(at, day)
        beside.update_costs(2 * at, day).update_costs(2 * at + 1, [0.3])
    ratio = math.sqrt(stats.f_oneway(*days).statistic)
    assert ratio > 1.2
    for monitor in (alone, beside):
        assert monitor.spread == pytest.approx(ratio)
        assert f"Day means spread {ratio:.3g} times as much as their rows explain." in monitor.describe()
    few = CostMonitor(COSTS, budget=0.2)
    for at, day in enumerate(days[:29]):
        few.update_costs(2 * at, np.abs(day)).update_costs(2 * at + 1, [0.3])
    assert "Day means spread" not in few.describe()
    single = CostMonitor(COSTS, budget=0.2)
    for at in range(40):
        single.update_costs(at, [0.3])
    assert math.isnan(single.spread)
    assert "nan" not in single.describe()


@pytest.mark.parametrize("labels", [["yes", "no"], ["no", "no"], [1, 2], ["0", "1"]])
def test_labels_that_no_reference_names_are_asked_for_as_the_monitor_takes_them(labels):
    shown = ", ".join(map(repr, sorted(set(labels))))
    say = f"^y_true holds {re.escape(shown)}: write 1 for the positive label and 0 for the other\\.$"
    for score in ([0.1, 0.2], [[0.9, 0.1], [0.8, 0.2]]):
        with pytest.raises(ValueError, match=say):
            CostMonitor(COSTS, budget=0.05).update(1, labels, score)
        with pytest.raises(ValueError, match=say):
            ChallengerMonitor(COSTS).update(1, labels, score, score)


def test_two_models_are_told_to_wait_for_labels_for_none_is_the_dearer_for_both():
    with pytest.raises(ValueError, match=r"^y_true lacks 1 of 2 labels, but .*, they look dearer\. Wait\.$"):
        ChallengerMonitor(COSTS).update(1, [1, None], [0.1, 0.2], [0.2, 0.3])
    with pytest.raises(ValueError, match=r"Wait, or count rows without a label as the dearest: missing='cost'\.$"):
        CostMonitor(COSTS, budget=0.05).update(1, [1, None], [0.1, 0.2])


def test_limits_of_days_are_those_of_their_means():
    rng = np.random.default_rng(1)
    sizes = rng.integers(100, 300, 400)
    monitor = CostMonitor(COSTS, budget=0.05)
    alike = CostMonitor(COSTS, budget=0.05, unit="row", force=True)
    for day, n in enumerate(sizes, 1):
        each = 0.4 * (rng.random(n) < 0.1)
        monitor.update_sums(day, n=n, total=each.sum(), squares=(each**2).sum())
        alike.update_costs(day, [each.mean()])  # a day as one row
    assert monitor.limits == pytest.approx(alike.limits, abs=1e-12)
    assert monitor.limits[0] < monitor.mean < monitor.limits[1]


def test_an_alarm_stays_and_days_go_on():
    monitor = CostMonitor(COSTS, budget=0.05)
    for day in range(1, 120):
        monitor.update_sums(day, n=200, total=20.0 if day < 20 else 1.0, squares=5.0 if day < 20 else 0.5)
        if day == 19:
            said = monitor.alarm_day, monitor.since
    assert (monitor.alarm_day, monitor.since) == said
    assert said[1] <= said[0] < 20
    assert monitor.alarm
    assert monitor.n_days == 119
    assert f"Alarm on day {monitor.alarm_day}" in monitor.describe()


def test_limits_hold_at_all_of_alpha_about_the_mean_of_the_reference(reference):
    monitor = CostMonitor(COSTS, reference=reference, model="new", alpha=0.1, unit="row", force=True)
    n, total, squares, centre = 5000, 400.0, 120.0, monitor.reference.mean
    spread = squares - 2 * centre * total + n * centre**2
    lower = max(
        (total - (-math.log(1 - u) - u) / (u * centre) * spread - math.log(2 * 11 / 0.1) * centre / u) / n
        for u in (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    )
    assert monitor.update_sums(1, n=n, total=total, squares=squares).limits[0] == pytest.approx(lower, rel=1e-12)


@pytest.mark.parametrize("unit", ["day", "row", "exact"])
def test_a_reference_in_which_no_row_cost_anything_is_watched_against_its_upper_limit(unit):
    y = np.arange(400) % 2
    kept = KeptEvaluation.of(evaluate(y, {"m": np.where(y == 1, 0.9, 0.01)}, costs=COSTS))
    monitor = CostMonitor(COSTS, reference=kept, unit=unit, force=True)
    assert monitor.reference.mean == 0.0 < monitor.budget < 0.1
    for day in range(60):
        cost = np.zeros(200)
        cost[:40] = 0.8
        monitor.update_costs(day, cost if day % 2 else np.zeros(200))
    low, high = monitor.limits  # about the budget, which was known before
    n, total, squares = (60, 60 * 0.08, 30 * 0.16**2) if unit == "day" else (12_000, 960.0, 768.0)
    spread = squares - 2 * monitor.budget * total + n * monitor.budget**2
    bets = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    price = [(-math.log(1 - u) - u) * spread / monitor.budget + math.log(22 / 0.05) * monitor.budget for u in bets]
    assert low == pytest.approx(max(0.0, *((total - each / u) / n for u, each in zip(bets, price, strict=True))))
    assert low < monitor.mean < high < 0.825
    assert CostMonitor.from_json(monitor.to_json()).limits == monitor.limits


def test_an_upper_limit_below_the_budget_is_of_the_mean_since_the_first_day():
    monitor = CostMonitor(COSTS, budget=0.08, unit="row", force=True)
    for day in range(1, 60):
        monitor.update_sums(day, n=500, total=20.0, squares=8.0)
    assert monitor.limits[1] < 0.08
    assert "Since the first day the mean cost is shown to be below 80.0 per 1,000 decisions." in monitor.describe()


def weeks(monitor, days, small, large, sizes=(25, 300)):
    """Feed weeks whose weekend days have few rows, of fixed mean costs; return the cost of a row, by plain sums."""
    cost, count = 0.0, 0
    for day in range(1, days + 1):
        n, mean = (sizes[0], small) if day % 7 in (5, 6) else (sizes[1], large)
        monitor.update_sums(day, n=n, total=n * mean, squares=n * mean * 0.3)
        cost, count = cost + n * mean, count + n
    return cost / count


def test_an_alarm_of_days_says_that_rows_are_within_the_budget():
    monitor = CostMonitor((0.05, 0.3), budget=0.06)
    by_rows = weeks(monitor, 364, 0.12, 0.05)
    said = monitor.describe()
    assert monitor.alarm
    assert by_rows < 0.06
    assert "the mean of the days' costs, each day alike, is shown to exceed 60.0 per 1,000" in said
    assert "the mean cost is shown" not in said
    assert re.search(r"By rows the mean so far is 52\.3 and, from the rise on, 52\.\d \(budget 60\.0\)", said)
    assert 'unit "row"' in said


def test_no_all_clear_of_days_where_rows_cost_more_than_the_budget():
    monitor = CostMonitor((0.05, 0.3), budget=0.06)
    for day in range(1, 1500):
        n, mean = (10, 0.005) if day % 2 else (300, 0.08)
        monitor.update_sums(day, n=n, total=n * mean, squares=n * mean * 0.3)
    assert monitor.limits[1] < 0.06
    assert "below" not in monitor.describe()
    assert "By rows the mean so far is 77.6 (budget 60.0). Days of few rows cost otherwise" in monitor.describe()


def test_an_all_clear_of_days_speaks_of_days():
    monitor = CostMonitor((0.05, 0.3), budget=0.08)
    assert weeks(monitor, 1500, 0.04, 0.04) < 0.08
    said = monitor.describe()
    assert "Since the first day the mean of the days' costs, each day alike, is shown to be below 80.0" in said
    assert "By rows" not in said


@pytest.mark.parametrize("law", ["weeks", "lognormal", "few events"])
def test_rows_are_rarely_said_to_differ_from_days_where_only_sizes_differ(law):
    rng, told = np.random.default_rng(3), 0
    for _ in range(100):
        monitor = CostMonitor((0.05, 0.3), budget=0.5)
        for day in range(1, 91):
            n = int(1 + np.exp(rng.normal(4, 1))) if law == "lognormal" else 25 if day % 7 in (5, 6) else 300
            dear = 0.3 * rng.binomial(n, 0.01 if law == "few events" else 0.1)
            monitor.update_sums(day, n=n, total=dear, squares=0.3 * dear)
        told += "By rows" in monitor.describe()
    assert told <= 4


def test_reference_days_of_unlike_cost_by_size_give_a_warning_for_days():
    n = np.where(np.arange(70) % 7 >= 5, 25, 300)
    rng = np.random.default_rng(0)
    dear, alike = (0.3 * rng.binomial(n, np.where(n < 100, other, 0.1)) for other in (0.4, 0.1))
    with pytest.warns(UserWarning, match="reference_days of few rows cost otherwise than those of many"):
        CostMonitor((0.05, 0.3), budget=0.06, reference_days=(n, dear, 0.3 * dear))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CostMonitor((0.05, 0.3), budget=0.06, reference_days=(n, alike, 0.3 * alike))


def test_nothing_is_said_to_be_below_the_budget_beside_an_alarm():
    monitor = CostMonitor(COSTS, budget=0.1, unit="row", force=True)
    for day in range(1, 1001):  # thirty dear days do not lift the mean of a thousand above the budget
        monitor.update_sums(day, n=200, total=16.6 if day <= 970 else 33.6, squares=4.0 if day <= 970 else 12.0)
    assert monitor.alarm
    assert monitor.limits[1] < 0.1
    assert "below" not in monitor.describe()


def test_challenger_sees_which_model_costs_more():
    right, wrong = (ChallengerMonitor(COSTS) for _ in range(2))
    for day in range(1, 61):
        y, score = rows(400, day)
        worse = np.full(400, 0.5)
        right.update(day, y, score, worse)
        wrong.update(day, y, worse, score)
    assert not right.alarm
    assert wrong.alarm
    assert wrong.limits[0] > 0.0
    assert right.limits[1] < 0.0
    again = ChallengerMonitor.from_json(wrong.to_json())
    assert (again.alarm_day, again.log_evidence) == (wrong.alarm_day, wrong.log_evidence)
    with pytest.raises(ValueError, match="margin must lie between"):
        ChallengerMonitor(COSTS, margin=3.0)


def test_amounts_are_watched_below_a_bound_that_is_named():
    monitor = CostMonitor(COSTS, budget=40.0, largest=500.0)
    monitor.update_costs(1, [0.0, 120.0, 30.0])
    with pytest.raises(ValueError, match="costs must hold a number from 0 to 500 for each row, got 501 at index 1"):
        monitor.update_costs(2, [0.0, 501.0])
    assert monitor.n_days == 1
    score = np.array([0.1, 0.6, 0.3, 0.2])
    outcome = RowCosts([0, 1, 0, 1], false_positive=30.0, false_negative=[10.0, 20.0, 70.0, 120.0], unit="EUR")
    for amounts, *scores in ((outcome, score), (ScoreTable.from_predictions(outcome, score),)):
        with pytest.raises(ValueError, match=r"^y_true must hold labels, got amounts: .* by update_costs .* largest="):
            monitor.update(2, amounts, *scores)
    with pytest.raises(ValueError, match=r"^y_true must hold labels, got amounts: .* of a CostMonitor"):
        ChallengerMonitor(COSTS).update(1, outcome, score, score)
    assert monitor.update_costs(2, outcome.money(score >= 0.5)).mean == pytest.approx((50.0 + 120.0 / 4.0) / 2.0)


def test_several_share_alpha_and_enter_together():
    y, score = rows(3000, 5)
    group = np.where(np.arange(3000) % 3 == 0, "clinic", "home")
    found = evaluate(y, {"new": score, "old": np.clip(score + 0.05, 0, 1)}, costs=COSTS, groups={"place": group})
    watch = CostMonitors(COSTS, reference=KeptEvaluation.of(found), tolerance=0.1)
    assert list(watch.monitors) == ["new", "old", "new, place = clinic", "new, place = home", "old, place = clinic",
                                    "old, place = home"]  # fmt: skip
    assert [each.log_alarm for each in watch.monitors.values()] == pytest.approx([math.log(6 * 2 / 0.05)] * 6)
    models = {"new": score[:30], "old": score[:30]}
    with pytest.raises(ValueError, match="groups must hold the column 'place'"):
        watch.update(1, y[:30], models)
    with pytest.raises(ValueError, match="y_prob must hold the models that are watched, 'new', 'old', got 'new'"):
        watch.update(1, y[:30], {"new": score[:30]})
    watch.update(1, y[:30], models, groups={"place": np.repeat("home", 30)})
    assert watch.monitors["new, place = clinic"].n_rows == 0
    assert watch.monitors["new, place = home"].n_rows == 30
    before = watch.to_json()
    with pytest.raises(ValueError, match="was counted already"):
        watch.update(1, y[:30], models, groups={"place": np.repeat("clinic", 30)})
    assert watch.to_json() == before == CostMonitors.from_json(before).to_json()
    assert watch.models == ["new", "old"]
    assert watch.group_columns == ["place"]


def test_rows_and_sums_of_several_that_do_not_fit_are_refused_by_name():
    y, score = rows(1000, 5)
    kept = KeptEvaluation.of(evaluate(y, {"new": score}, costs=COSTS, groups={"place": np.arange(1000) % 2}))
    watch = CostMonitors(COSTS, reference=kept)
    place, state = {"place": [0, 1, 0, 1]}, watch.to_json()
    for given in (score[:3], score[:5], np.column_stack([1.0 - score[:5], score[:5]])):
        with pytest.raises(
            ValueError, match=rf"^y_prob\['new'\] must have 4 values, as y_true has, got {len(given)}\."
        ):
            watch.update(1, [0, 1, 0, 1], {"new": given}, groups=place)
    for groups in ("place", [0, 1, 0, 1], np.arange(4)):
        with pytest.raises(ValueError, match="groups must be columns by name, got"):
            watch.update(1, [0, 1, 0, 1], {"new": score[:4]}, groups=groups)
    for given, got in ((5, "5"), ([10, 1.0, 0.5], r"\[10, 1.0, 0.5\]"), ({"n": 5}, r"\['n'\]")):
        with pytest.raises(ValueError, match=rf"sums\['new'\] must hold n, total, squares.* got .*{got}"):
            watch.update_sums(1, {"new": given})
    with pytest.raises(ValueError, match=r"models must be a list of names, got 'new': pass \['new'\]"):
        CostMonitors(COSTS, reference=kept, models="new")
    for alpha in (2.0, 0.0, 1, "0.05"):  # that of all together, not of each
        with pytest.raises(ValueError, match=r"^alpha must (lie in \(0, 1\)|be a number), got"):
            CostMonitors(COSTS, reference=kept, alpha=alpha)
    assert watch.to_json() == state
    assert watch.update(1, [0, 1, 0, 1], {"new": score[:4]}, groups=place).monitors["new, place = 0"].n_rows == 2


def test_two_columns_are_read_by_the_label_that_the_reference_kept():
    y, score = rows(400, 5)
    label, two = np.where(y == 1, "bad", "good"), np.column_stack([score, 1.0 - score])  # in the order of the labels
    place = np.where((y == 1) | (score > 0.1), "clinic", "home")  # one class only at home
    asked = {"costs": COSTS, "pos_label": "bad"}
    watch = CostMonitors(
        COSTS, reference=KeptEvaluation.of(evaluate(label, {"m": score}, groups={"at": place}, **asked))
    )
    found = watch.update(1, label, {"m": two}, groups={"at": place}).monitors
    for name, mine in {"m": y < 2, "m, at = clinic": place == "clinic", "m, at = home": place == "home"}.items():
        assert found[name].mean == pytest.approx(regret(y[mine], score[mine]).mean(), abs=2e-6)
    kept = KeptEvaluation.of(evaluate(label, {"m": score}, **asked))
    some = np.where(np.arange(400) < 9, None, label.astype(object))
    means = [CostMonitor(COSTS, reference=kept).update(1, some, each, missing="cost").mean for each in (score, two)]
    assert means[0] == pytest.approx(means[1], rel=1e-12)
    with pytest.raises(ValueError, match=r"y_prob must be 1-D, got shape \(400, 2\)"):
        CostMonitor(COSTS, reference=kept).promised(two)


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_name_their_group_as_integers_and_as_floats(kind):
    y, score = rows(400, 5)
    site = np.arange(400) % 2 + 1
    kept = KeptEvaluation.of(evaluate(y, {"m": score}, costs=COSTS, groups={"site": site.astype(kind)}))
    floats = np.where(np.arange(400) == 3, np.nan, site)
    texts = site.astype(str), site.astype(float).astype(str)
    by_type = (site, 0), (floats, 1), (floats.astype(object), 1), (site.astype(object), 0), *((t, 0) for t in texts)
    for values, lacking in by_type:
        watch = CostMonitors(COSTS, reference=kept).update(1, y, {"m": score}, groups={"site": values})
        assert [monitor.n_rows for monitor in watch.monitors.values()] == [400, 200, 200 - lacking]


def test_times_name_their_group_in_every_unit():
    y, score = rows(400, 5)
    time = np.array(["2026-01-01T00:00", "2026-01-02T05:00"], "M8[m]")[np.arange(400) % 2]
    kept = KeptEvaluation.of(evaluate(y, {"m": score}, costs=COSTS, groups={"at": time.astype("M8[ns]")}))
    lacking = np.where(np.arange(400) == 3, np.datetime64("NaT"), time)
    for values, gone in (
        (time, 0),
        (lacking.astype("M8[ns]"), 1),
        (lacking.astype("M8[us]"), 1),
        (time.astype("M8[s]").astype(str), 0),
    ):
        watch = CostMonitors(COSTS, reference=kept).update(1, y, {"m": score}, groups={"at": values})
        assert [monitor.n_rows for monitor in watch.monitors.values()] == [400, 200, 200 - gone]
    with pytest.raises(ValueError, match="got a missing one in row 3"):
        evaluate(y, {"m": score}, costs=COSTS, groups={"at": lacking.astype("M8[ns]")})


def test_texts_that_are_groups_of_their_own_are_told_apart():
    y, score = rows(400, 5)
    text = np.array(["1", "1.0"])[np.arange(400) % 4 // 3]
    kept = KeptEvaluation.of(evaluate(y, {"m": score}, costs=COSTS, groups={"at": text}))
    watch = CostMonitors(COSTS, reference=kept).update(1, y, {"m": score}, groups={"at": text})
    assert [monitor.n_rows for monitor in watch.monitors.values()] == [400, 300, 100]
    for odd in ("01", "1.00", "1.5", "1e0", " 1"):
        with pytest.raises(ValueError, match=re.escape(f"got {odd!r}")):
            watch.update(2, y, {"m": score}, groups={"at": np.where(text == "1", odd, text)})


@pytest.mark.parametrize(("missing", "called"), [(None, "None"), (np.nan, "nan"), (np.float64("nan"), "nan")])
def test_a_row_without_a_group_is_not_in_the_group_of_that_name(missing, called):
    y, score = rows(400, 5)
    kept = KeptEvaluation.of(
        evaluate(y, {"m": score}, costs=COSTS, groups={"at": np.where(np.arange(400) % 2 == 0, called, "home")})
    )
    place = np.array([missing, called, "home", "home"] * 100, dtype=object)
    watch = CostMonitors(COSTS, reference=kept).update(1, y, {"m": score}, groups={"at": place})
    assert {name: each.n_rows for name, each in watch.monitors.items()} == {
        "m": 400, f"m, at = {called}": 100, "m, at = home": 200,
    }  # fmt: skip


def test_names_of_monitors_that_would_not_tell_them_apart_are_refused():
    y, score = rows(400, 5)
    group = np.where(np.arange(400) % 2 == 0, "A", "B")

    def watch(column, models, groups=group):
        found = evaluate(y, models, costs=COSTS, groups={column: groups})
        return CostMonitors(COSTS, reference=KeptEvaluation.of(found))

    with pytest.raises(ValueError, match="reference must name its columns of groups without ' = ', got 'x = y'"):
        watch("x = y", {"m": score})
    with pytest.raises(ValueError, match="two monitors one name, got 'm, g = A' for the group 'A' of 'm' too"):
        watch("g", {"m": score, "m, g = A": score[::-1]})
    # of a group, the text may be any
    odd = np.where(group == "A", "g = A", "m, g = B")
    kept = CostMonitors.from_json(watch("g", {"m": score}, odd).to_json())
    updated = kept.update(1, y, {"m": score}, groups={"g": odd})
    assert [monitor.n_rows for monitor in updated.monitors.values()] == [400, 200, 200]


def test_groups_that_no_monitor_has_are_refused_by_name():
    y, score = rows(400, 5)
    place = np.where(np.arange(400) % 2 == 0, "clinic", "home")
    kept = KeptEvaluation.of(evaluate(y, {"m": score}, costs=COSTS, groups={"at": place}))
    watch = CostMonitors(COSTS, reference=kept)
    with pytest.raises(ValueError, match=r"groups\['at'\] must hold groups that are watched.*got 'ward', 'hall'"):
        watch.update(1, y[:3], {"m": score[:3]}, groups={"at": ["ward", "home", "hall"]})
    with pytest.raises(ValueError, match=r"groups\['at'\] must name a group that is watched"):
        watch.update(1, y[:3], {"m": score[:3]}, groups={"at": [None, None, None]})
    assert watch.monitors["m"].n_days == 0


@pytest.mark.parametrize("pos_label", ["0", "1"])
def test_labels_that_are_numbers_in_text_are_watched_as_they_were_kept(pos_label):
    y, score = rows(400, 5)
    text = np.where(y == 1, pos_label, "1" if pos_label == "0" else "0")
    kept = KeptEvaluation.of(evaluate(text, {"m": score}, costs=COSTS, pos_label=pos_label))
    two = np.column_stack([score, 1.0 - score] if pos_label == "0" else [1.0 - score, score])
    reference = KeptEvaluation.from_json(kept.to_json())
    for given in (score, two):
        watch = CostMonitors(COSTS, reference=reference).update(1, text, {"m": given})
        assert watch.monitors["m"].mean == pytest.approx(regret(y, score).mean(), abs=2e-6)
        alone = CostMonitor(COSTS, reference=reference).update(1, text, given)
        assert alone.update(2, text[y == 0], score[y == 0]).n_rows == 400 + np.sum(y == 0)
        days = regret(y, score).mean(), regret(y[y == 0], score[y == 0]).mean()
        assert alone.mean == pytest.approx(np.mean(days), abs=2e-6)


def test_sums_of_several_name_every_model(reference):
    watch = CostMonitors(COSTS, reference=reference, models=["new"])
    day = {"n": 100, "total": 5.0, "squares": 2.0}
    assert watch.update_sums(1, {"new": day}).monitors["new"].n_rows == 100
    with pytest.raises(ValueError, match="sums must hold 'new', got 'new', 'old'"):
        watch.update_sums(2, {"new": day, "old": day})
    both = CostMonitors(COSTS, reference=reference)
    with pytest.raises(ValueError, match="squares must lie from"):
        both.update_sums(1, {"new": day, "old": {**day, "squares": 0.001}})
    assert [monitor.n_days for monitor in both.monitors.values()] == [0, 0]
    with pytest.raises(ValueError, match=r"sums\['new'\] must hold n, total, squares"):
        watch.update_sums(2, {"new": {"n": 3}})
    with pytest.raises(ValueError, match="models must each be one of 'new', 'old', got 'older'"):
        CostMonitors(COSTS, reference=reference, models=["older"])


def test_the_page_of_a_watch_has_the_latest_thirty_days(reference):
    pytest.importorskip("matplotlib")
    watch = CostMonitors(COSTS, reference=reference, models=["new"])
    for day in range(700, 733):
        watch.update_sums(day, {"new": {"n": 100, "total": 5.0, "squares": 2.0}})
    page = watch.to_html()
    assert "The latest 30 days, costs per 1,000 decisions" in page
    assert [day for day in range(700, 733) if re.search(rf">{day}</t[hd]>", page)] == list(range(703, 733))


@pytest.mark.parametrize("heavy", [0, 1])
def test_table_with_weights_in_one_class_alone_cannot_be_watched(heavy):
    y, score = rows(50, 3)
    table = ScoreTable.from_predictions(y, score, sample_weight=np.where(y == heavy, 2.0, 1.0))
    with pytest.raises(ValueError, match="sample_weight, a stated prevalence"):
        CostMonitor(COSTS, budget=0.05).update(1, table)


def test_a_reference_kept_in_cells_is_refused_with_how_to_keep_every_score():
    evaluation = evaluate(*rows(4000, 0), costs=COSTS)
    with pytest.raises(ValueError, match=r"keep every score by KeptEvaluation\.of\(evaluation, resolution=None\)\.$"):
        CostMonitor(COSTS, reference=KeptEvaluation.of(evaluation, resolution=100))
    CostMonitor(COSTS, reference=KeptEvaluation.of(evaluation, resolution=None))
    stated = KeptEvaluation.of(evaluate(*rows(4000, 0), costs=COSTS, prevalence=0.2))
    with pytest.raises(ValueError, match=r"its own score, got ScoreTable\([^;]*\)\.$"):
        CostMonitor(COSTS, reference=stated)


def test_a_table_of_another_positive_class_than_the_reference_is_refused():
    y, score = rows(400, 5)
    label = np.where(y == 1, "yes", "no")
    kept = KeptEvaluation.of(evaluate(label, {"m": score}, costs=COSTS, pos_label="yes"))
    watch = CostMonitor(COSTS, reference=kept)
    with pytest.raises(ValueError, match=r"pos_label of the reference, 'yes', got 'no'"):
        watch.update(1, ScoreTable.from_predictions(label, 1.0 - score, pos_label="no"))
    watch.update(1, ScoreTable.from_predictions(label, score, pos_label="yes"))
    assert watch.mean == pytest.approx(regret(y, score).mean(), abs=1e-6)
    unknown = CostMonitor(COSTS, budget=0.05).update(1, ScoreTable.from_predictions(label, score, pos_label="yes"))
    assert unknown.mean == watch.mean


PAIRS = {  # of the other and the positive label, and days that mean something else
    "0 and 1": ((0, 1), None, [(1, 2), (2, 2), (-1, 1), (2, 1), ("no", 1)]),
    "-1 and 1": ((-1, 1), None, [(0, 1), (2, 2)]),
    "booleans": ((False, True), None, [(2, 2), (2, 1)]),
    "1 and 2": ((2, 1), 1, [(0, 1), (0, 0), (3, 1)]),
    "texts": (("no", "yes"), "yes", [("No", "yes"), ("Yes", "Yes"), ("maybe", "maybe"), (0, 1)]),
    "numbers in text": (("1", "0"), "0", [("2", "0"), ("2", "2")]),
}


def labelled(y, pair):
    found = np.empty(len(y), dtype=object)
    found[:] = [pair[k] for k in y]
    return found


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("form", ["rows", "json", "as before", "frame", "lazy", "table", "table of a frame"])
def test_a_label_that_the_reference_never_had_is_refused_with_its_value(name, form):
    pair, pos_label, odd = PAIRS[name]
    y, score = rows(400, 5)
    right, asked = labelled(y, pair), {"costs": COSTS, "pos_label": pos_label}
    if form in {"frame", "lazy", "table of a frame"}:
        pl = pytest.importorskip("polars")
        frame = pl.DataFrame({"y": right.tolist(), "m": score})
        if form == "table of a frame":
            table = ScoreTable.from_frame(frame.lazy(), label="y", score="m", pos_label=pos_label)
            kept = KeptEvaluation.of(evaluate({"m": ScoreTable.from_json(table.to_json())}, costs=COSTS))
        else:
            kept = KeptEvaluation.of(evaluate_frame(frame if form == "frame" else frame.lazy(), label="y", **asked))
    elif form == "table":
        table = ScoreTable.from_predictions(right, score, pos_label=pos_label)
        kept = KeptEvaluation.of(evaluate({"m": table.merge(table)}, costs=COSTS))
    else:
        kept = KeptEvaluation.of(evaluate(right, {"m": score}, **asked))
    if form != "rows":
        content = json.loads(kept.to_json())
        if form == "as before":
            del content["neg_label"]
        kept = KeptEvaluation.from_json(json.dumps(content))
    if form == "as before" and name == "1 and 2":  # nothing says that 2 stands beside 1
        with pytest.raises(ValueError, match="1 and 0 or -1, got 2: write 0 for the negative label, or make the ref"):
            CostMonitor(COSTS, reference=kept).update(1, right, score)
        CostMonitor(COSTS, reference=kept).update(1, y, score)
        return
    alone, several = CostMonitor(COSTS, reference=kept), CostMonitors(COSTS, reference=kept)
    alone.update(1, right, score)
    several.update(1, right, {"m": score})
    for watch in (alone, CostMonitor.from_json(alone.to_json()), several, CostMonitors.from_json(several.to_json())):
        state = watch.to_json()
        for wrong in odd:
            given = labelled(y, wrong)
            got = next(each for each in dict.fromkeys(given) if each not in pair)
            with pytest.raises(ValueError, match=f"y_true must hold the labels from before, .*, got '?{got}'?"):
                watch.update(2, given, {"m": score} if isinstance(watch, CostMonitors) else score)
            if isinstance(watch, CostMonitor) and len({*given}) == 2 and given[y == 1][0] == pair[1]:
                with pytest.raises(ValueError, match="y_true must hold the labels from before"):
                    watch.update(2, ScoreTable.from_predictions(given, score, pos_label=pair[1]))
            assert watch.to_json() == state
    assert alone.mean == pytest.approx(regret(y, score).mean(), abs=1e-6)
    one = y == 0
    assert alone.update(2, right[one], score[one]).n_rows == 400 + one.sum()


def test_a_day_that_is_refused_for_its_labels_or_its_order_leaves_the_label_unknown():
    y, score = rows(400, 5)
    content = json.loads(KeptEvaluation.of(evaluate(y == 1, {"m": score}, costs=COSTS)).to_json())
    content = json.loads(json.dumps(content).replace('"pos_label": 1', '"pos_label": "yes"'))
    del content["neg_label"]
    watch = CostMonitor(COSTS, reference=KeptEvaluation.from_json(json.dumps(content)))
    watch.update(2, np.full(9, "yes"), score[:9])
    with pytest.raises(ValueError, match="is earlier"):
        watch.update(1, np.full(9, "nein"), score[:9])
    watch.update(3, np.full(9, "no"), score[:9])
    with pytest.raises(ValueError, match="'yes' and 'no', got 'nein'"):
        watch.update(4, np.full(9, "nein"), score[:9])
    state = json.loads(watch.to_json())
    for odd, message in (("yes", "another label than pos_label"), ([], "a label, a text or a finite number")):
        with pytest.raises(ValueError, match=message):
            CostMonitor.from_json(json.dumps({**state, "neg_label": odd}))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_days_of_numpy_are_dates(unit):
    days = np.array(["2026-01-01", "2026-01-02"], dtype=f"datetime64[{unit}]")
    monitor = CostMonitor(COSTS, budget=0.1)
    for day in days:
        monitor.update_sums(day, n=10, total=0.1, squares=0.05)
    assert monitor.last_day == "2026-01-02"
    for again in (days[1], "2026-01-02T00:00"):
        with pytest.raises(ValueError, match=r"'2026-01-0.* was counted already"):
            monitor.update_sums(again, n=10, total=0.1, squares=0.05)
    assert CostMonitor.from_json(monitor.to_json()).last_day == "2026-01-02"


def test_times_of_numpy_are_times_and_nothing_is_no_day():
    monitor = CostMonitor(COSTS, budget=0.1)
    monitor.update_sums(np.datetime64("2026-01-01T06:30", "ns"), n=10, total=0.1, squares=0.05)
    assert monitor.last_day == "2026-01-01T06:30"
    with pytest.raises(ValueError, match=r"day must be a date such as '2026-11-23'.*'NaT'"):
        monitor.update_sums(np.datetime64("NaT", "D"), n=10, total=0.1, squares=0.05)

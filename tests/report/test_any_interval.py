"""Intervals over a range that the reader chooses: those that the library states where it is asked for that range."""

import numpy as np
import pytest

from stakes import costs, evaluate
from tests.report.reader import Report, assert_clean, opened, shown

RANGES = ((0.0, 1.0), (0.02, 0.5), (0.011, 0.093), (0.2, 0.35), (0.05, 0.05))
WAYS = {
    "plain": {},
    "prevalence": {"prevalence": 0.1},
    "one weight of each class": {"sample_weight": np.repeat([0.5, 3.0], [6, 400])},
    "rule": {"rule": 0.2, "prevalence": 0.1},
    "harm": {"harm": 0.01},
}


def few_positives(positives, negatives, seed=1):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [positives, negatives])
    return y, 1.0 / (1.0 + np.exp(3.0 - rng.normal(size=len(y)) - 1.5 * y))


def on_the_page(chromium, report, low, high, weighting="uniform"):
    """The ends of the interval of every rule, per decision."""
    opened(chromium, report, f"#thresholds={low}:{high}&weighting={weighting}")
    ends = {name: [float(end) / 1000.0 for end in texts[0].split()] for name, (_, texts) in shown(chromium).items()}
    assert_clean(chromium, report)
    return ends


@pytest.mark.parametrize("name", WAYS)
def test_intervals_of_rows_that_weigh_alike_are_the_librarys(chromium, folder, name):
    y, score = few_positives(6, 400)
    report = Report(evaluate(y, {"a": score}, costs=(0.02, 0.1), **WAYS[name]), folder / "any.html")
    for low, high in RANGES:
        again = evaluate(y, {"a": score}, costs=(low, high) if low < high else low, **WAYS[name])
        for rule, ends in on_the_page(chromium, report, low, high).items():
            assert ends == pytest.approx(again[rule].interval, rel=1e-9, abs=1e-12), (low, high, rule)


def test_so_they_are_where_no_positive_is_found_at_a_stated_prevalence(chromium, folder):
    y, score = np.repeat([1, 0], [10, 500]), np.repeat([0.1, 0.45, 0.1], [10, 25, 475])
    report = Report(evaluate(y, {"a": score}, costs=(0.02, 0.5), prevalence=0.1), folder / "any.html")
    for low, high in ((0.3, 0.3), (0.3, 0.4), (0.2, 0.6)):
        exact = evaluate(y, {"a": score}, costs=(low, high) if low < high else low, prevalence=0.1)["a"].interval
        assert on_the_page(chromium, report, low, high)["a"] == pytest.approx(exact, rel=1e-9)


def test_so_they_are_where_each_order_of_magnitude_counts_alike(chromium, folder):
    y, score = few_positives(12, 300)
    report = Report(evaluate(y, {"a": score}, costs=(0.02, 0.1), prevalence=0.2), folder / "any.html")
    again = evaluate(y, {"a": score}, costs=costs.LogOddsUniform(0.03, 0.4), prevalence=0.2)
    for rule, ends in on_the_page(chromium, report, 0.03, 0.4, "log-odds").items():
        assert ends == pytest.approx(again[rule].interval, rel=1e-9)


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.0), (0.0, 0.01), (0.02, 0.5), (0.1, 0.1)])
def test_no_interval_reaches_below_what_the_score_itself_costs(chromium, folder, low, high):
    y, score = few_positives(3, 27)
    report = Report(evaluate(y, {"a": score}, costs=(0.2, 0.3), harm=0.01), folder / "any.html")
    found = on_the_page(chromium, report, low, high)["a"]
    assert found[0] >= 0.01 * (1.0 - (low + high) / 2.0) * (1.0 - 1e-9)
    again = evaluate(y, {"a": score}, costs=(low, high) if low < high else low, harm=0.01)
    assert found == pytest.approx(again["a"].interval, rel=1e-9)


def test_clusters_that_carry_a_cost_are_counted_as_such(chromium, folder):
    """3.5% of the positives of 114 clusters carry a cost below 0.1: those of 16 clusters, not of 4."""
    rng = np.random.default_rng(5)
    clusters, effects = rng.integers(0, 120, 1500), rng.normal(size=120) * 0.6
    logit = rng.normal(size=1500) + effects[clusters] - 1.2
    y = (rng.random(1500) < 1.0 / (1.0 + np.exp(-logit))).astype(int)
    scores = {"a": 1.0 / (1.0 + np.exp(1.2 - (logit + 1.2)))}
    report = Report(evaluate(y, scores, costs=(0.1, 0.4), clusters=clusters), folder / "any.html")
    low, high = on_the_page(chromium, report, 0.01, 0.1)["a"]
    exact = evaluate(y, scores, costs=(0.01, 0.1), clusters=clusters)["a"].interval
    assert high - low == pytest.approx(exact[1] - exact[0], rel=0.05)


@pytest.mark.parametrize("kind", ["weights", "clusters"])
def test_few_units_widen_the_interval_as_in_the_library(chromium, folder, kind):
    y, score = few_positives(8, 400)
    rng = np.random.default_rng(2)
    way = (
        {"sample_weight": rng.exponential(size=len(y))}
        if kind == "weights"
        else {"clusters": rng.integers(0, 40, len(y))}
    )
    report = Report(evaluate(y, {"a": score}, costs=(0.02, 0.1), **way), folder / "any.html")
    for low, high in RANGES[:4]:
        exact = evaluate(y, {"a": score}, costs=(low, high), **way)["a"].interval
        ends = on_the_page(chromium, report, low, high)["a"]
        assert ends[1] - ends[0] == pytest.approx(exact[1] - exact[0], rel=0.25)

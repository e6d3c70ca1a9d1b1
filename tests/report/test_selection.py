"""The best decision at a range of the reader's own: the page says what `select_best` says there."""

from __future__ import annotations

import json

import numpy as np
import pytest

from stakes import costs, evaluate
from stakes.inference import select_best
from tests.report.conftest import simulated
from tests.report.pages import numbers
from tests.report.reader import SETTLED, Report, assert_clean, choose, opened, type_range

DRAWS = 10_000


def selection(chromium):
    """Return the numbers of the selection on the page."""
    return json.loads(chromium.run("document.querySelector('#stake .lead').dataset.selection"))


def assert_selection_is_the_librarys(found, expected, less=None, more=None):
    """Costs to rounding, sets equal or between two, the rest within four standard errors of the draws."""
    width = expected.interval[1] - expected.interval[0]
    widest = max(high - low for low, high in expected.intervals.values() if not np.isnan(low))
    of_a_mean = 4.0 * widest / (2.0 * expected.critical_value) / np.sqrt(DRAWS)
    assert found["chosen"] == expected.chosen
    assert found["cost"] == pytest.approx(expected.cost, abs=1e-9)
    sets = (less or expected).possible, found["possible"], (more or expected).possible
    assert [*sets[0]] == [name for name in sets[1] if name in sets[0]]
    assert [*sets[1]] == [name for name in sets[2] if name in sets[1]]
    for name, share in expected.p_best.items():
        of_a_share = 4.0 * np.sqrt(1.5 * max(share * (1.0 - share), 1.0 / DRAWS) / DRAWS)
        assert found["chances"][name] == pytest.approx(share, abs=of_a_share)
    assert found["critical"] == pytest.approx(expected.critical_value, abs=0.07)
    # the page has the degrees of freedom of the reported range
    assert found["interval"] == pytest.approx(expected.interval, abs=0.02 * width + 1e-9)
    assert found["corrected"] == pytest.approx(expected.corrected_cost, abs=of_a_mean + 1e-12)
    assert found["loss"] == pytest.approx(expected.expected_regret, abs=of_a_mean + 1e-12)
    assert set(found["limits"]) == set(expected.against)
    for name, other in expected.against.items():
        reach = other.limit - other.difference
        assert found["limits"][name] == pytest.approx(other.limit, abs=0.03 * reach + 1e-12)


CLUSTERS, KNOWN = {"clusters": np.arange(2000) // 4}, {"prevalence": 0.1}


@pytest.mark.parametrize(
    ("models", "dependence"),
    [
        *((1, {}), (2, {}), (3, CLUSTERS), (2, KNOWN)),
        *(pytest.param(9, known, marks=pytest.mark.thorough) for known in ({}, CLUSTERS, KNOWN, CLUSTERS | KNOWN)),
    ],
    ids=str,
)
def test_selection_elsewhere_is_the_librarys(chromium, folder, models, dependence):
    y, scores = simulated([f"m{k}" for k in range(models)], n=2000)
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), **dependence), folder / "choice.html")
    opened(chromium, report)
    cuts = numbers(report.page.payload["spread"]["cuts"])
    inside = cuts[(cuts >= 0.1) & (cuts <= 0.3)]
    for low, high in ((inside[0], inside[6]), (inside[6], inside[-1]), (0.075, 0.4)):
        type_range(chromium, float(low), float(high))
        # a share of 5% of the draws has a standard error of 0.2%
        expected, less, more = (
            select_best(y, scores, costs=(float(low), float(high)), confidence_level=level, **dependence)
            for level in (0.95, 0.941, 0.959)
        )
        assert_selection_is_the_librarys(selection(chromium), expected, less, more)
    assert_clean(chromium, report)


def test_identical_models_share_the_place_and_the_probability(chromium, folder):
    y, scores = simulated(["first", "other"], n=1000)
    scores["twin"] = scores["first"]
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), per=1000), folder / "twins.html")
    opened(chromium, report)
    type_range(chromium, 0.1, 0.2)
    found = selection(chromium)
    assert_selection_is_the_librarys(found, select_best(y, scores, costs=(0.1, 0.2), per=1000))
    assert found["chances"]["first"] == found["chances"]["twin"]
    told = chromium.run("document.querySelector('#stake .lead').textContent")
    assert "first and twin share the lowest cost on these 1,000 rows" in told


def test_a_reference_wins_where_no_model_is_worth_acting_on(chromium, folder):
    y, _ = simulated(["a"], n=1000)
    rng = np.random.default_rng(4)
    scores = {name: rng.random(1000) for name in ("noise", "more noise")}
    report = Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "useless.html")
    opened(chromium, report)
    type_range(chromium, 0.4, 0.6)
    assert_selection_is_the_librarys(selection(chromium), select_best(y, scores, costs=(0.4, 0.6)))
    told = chromium.run("document.querySelector('#stake .lead').textContent")
    assert "no model costs less than treating no one on these 1,000 rows" in told
    assert "Choosing" not in chromium.run("document.querySelector('#stake').textContent")


@pytest.mark.parametrize("low", [0.05, 0.6])
def test_nothing_is_claimed_of_a_picked_model_beyond_chance(chromium, small, low):
    opened(chromium, small)
    type_range(chromium, low, 0.8)
    told = chromium.run("document.querySelector('#stake').textContent")
    assert "beyond chance" not in told
    assert "valid after selection" in told


def test_what_the_page_cannot_say_it_says(chromium, folder):
    y, scores = simulated([f"m{k}" for k in range(22)], n=150)
    report = Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "many.html")
    opened(chromium, report)
    type_range(chromium, 0.1, 0.2)
    assert "only the best models as reported have intervals" in selection(chromium)["why"]
    assert "cannot be said with confidence here" in chromium.run("document.querySelector('#stake').textContent")
    type_range(chromium, 0.3, 0.3)
    assert "costs least on these 150 rows" in chromium.run("document.querySelector('#stake .lead').textContent")


def test_the_same_range_gives_the_same_words(chromium, small):
    opened(chromium, small)
    told = []
    for bounds in ((0.05, 0.2), (0.3, 0.6), (0.05, 0.2)):
        type_range(chromium, *bounds)
        told.append(chromium.run("document.querySelector('#stake').textContent"))
    assert told[0] == told[2] != told[1]


def test_selection_follows_the_weighting(chromium, folder):
    y, scores = simulated(["a", "b", "c"], n=2000)
    report = Report(evaluate(y, scores, costs=costs.LogOddsUniform(0.1, 0.3)), folder / "weighted.html")
    opened(chromium, report)
    choose(chromium, "weighting", "log-odds")
    type_range(chromium, 0.12, 0.28)
    expected = select_best(y, scores, costs=costs.LogOddsUniform(0.12, 0.28))
    assert_selection_is_the_librarys(selection(chromium), expected)


def test_what_holds_at_every_threshold_is_said_for_the_range_as_reported_only(chromium, folder):
    y, scores = simulated(["good"], n=3000)
    scores["poor"] = np.random.default_rng(5).permutation(scores["good"])
    evaluation = evaluate(y, scores, costs=(0.15, 0.3))
    (said,) = (sentence for sentence in evaluation.conclusion if "at every threshold" in sentence)
    report = Report(evaluation, folder / "every.html")
    opened(chromium, report)
    assert said in chromium.run("document.querySelector('#stake').textContent")
    type_range(chromium, 0.2, 0.25)
    told = chromium.run("document.querySelector('#stake').textContent")
    assert said not in told
    assert "Whether it costs less at every threshold is worked out for the range as reported only." in told


def test_the_harm_of_the_test_follows_the_range(chromium, folder):
    y, scores = simulated(["a", "b"], n=2000)
    harm = {"a": 0.004, "b": 0.02}
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), harm=harm), folder / "harm.html")
    opened(chromium, report)
    said = "missed positives (test harm): a 0.00400 and b 0.0200."
    assert said in chromium.run("document.querySelector('#stake').textContent")
    cuts = numbers(report.page.payload["spread"]["cuts"])
    inside = cuts[(cuts >= 0.1) & (cuts <= 0.3)]
    low, high = float(inside[0]), float(inside[6])
    type_range(chromium, low, high)
    expected, less, more = (
        evaluate(y, scores, costs=(low, high), harm=harm, confidence_level=level).selection
        for level in (0.95, 0.941, 0.959)
    )
    assert_selection_is_the_librarys(selection(chromium), expected, less, more)
    assert said in chromium.run("document.querySelector('#stake').textContent")
    chromium.run("document.getElementById('field-at').select()")
    chromium.type("0.18")
    chromium.press("Tab")
    chromium.wait_for(SETTLED)
    cells = "[...row.querySelectorAll('[data-value]')].map((cell) => Number(cell.dataset.value))"
    told = f"[...document.querySelectorAll('#threshold-table tbody tr')].map((row) => {cells})"
    found = dict(zip(("a", "b"), (row[-3:] for row in chromium.run(told)), strict=False))
    t = 0.18
    for name, score in scores.items():
        act = score >= t
        hits, alarms = np.mean(act & y), np.mean(act & ~y)
        benefit = hits - alarms * t / (1.0 - t) - harm[name]
        everyone = np.mean(y) - np.mean(~y) * t / (1.0 - t)
        by_hand = (1000 * benefit, 1000 * (benefit - everyone) * (1.0 - t) / t, (1.0 - t) * (np.mean(y) - benefit))
        assert found[name] == pytest.approx(by_hand, rel=1e-9)
    assert_clean(chromium, report)


def test_models_that_do_harm_are_seen_to_within_the_range(chromium, folder):
    y = np.random.default_rng(3).random(2000) < 0.1
    scores = {name: np.random.default_rng(seed).random(2000) for seed, name in enumerate(("noise", "more noise"))}
    report = Report(evaluate(y, scores, costs=(0.2, 0.4)), folder / "harmful.html")
    opened(chromium, report)
    ticks = "[...document.querySelectorAll('#plot-decision .tick')].map((tick) => tick.textContent)"
    lowest = min(float(text.replace("\u2212", "-")) for text in chromium.run(ticks) if text[-1].isdigit())
    worst = min(float(curve.at(0.4)) for curve in report.evaluation.curves("net_benefit").values())
    assert worst < -0.25
    assert lowest == pytest.approx(worst, abs=0.05)

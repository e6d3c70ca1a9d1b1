"""The reader changes the range: numbers are the library's on the tables of the page, intervals close to its own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from stakes import costs, decompose, evaluate, expected_regret
from stakes.curves import interventions_avoided_curve, threshold_table
from stakes.inference import confidence_band, threshold_intervals
from tests.report.conftest import simulated
from tests.report.reader import (
    SETTLED,
    Report,
    assert_clean,
    assert_table_is_the_librarys,
    choose,
    opened,
    published,
    shown,
    state,
    type_range,
)


@pytest.fixture(scope="module")
def large(folder):
    evaluation = evaluate(*simulated([f"m{k}" for k in range(4)], n=60_000), costs=(0.02, 0.10))
    return Report(evaluation, folder / "large.html")


def test_own_range_shows_the_numbers_of_the_answer(chromium, small):
    rows = shown(opened(chromium, small))
    evaluation = small.evaluation
    assert list(rows) == [*evaluation.ranking, "treat all", "treat none"]
    for record in evaluation.answer.table.rows:
        values, _ = rows[record["model"]]
        assert values[0] == record["cost"]
        if record["rank"] != 1:
            assert values[1] == record["more"]


def test_intervals_beside_the_own_range_are_the_librarys(chromium, small):
    """At the own range itself stands what the library has said; this is what the page works out."""
    opened(chromium, small)
    evaluation = small.evaluation
    type_range(chromium, evaluation.costs.low, evaluation.costs.high * (1.0 + 1e-12))
    for name, (_, intervals) in shown(chromium).items():
        ends = [float(end) / 1000.0 for end in intervals[0].split()]
        assert ends == pytest.approx(evaluation[name].interval, abs=1e-9)


@pytest.mark.parametrize(
    ("weighting", "make"),
    [
        ("uniform", costs.Uniform),
        ("log-odds", costs.LogOddsUniform),
    ],
)
@pytest.mark.parametrize("bounds", [(0.02, 0.1), (0.05, 0.8), (0.0, 1.0), (0.21, 0.2101), (0.0, 0.3), (0.4, 1.0)])
def test_typed_range_gives_the_librarys_numbers_for_every_weighting(chromium, small, weighting, make, bounds):
    opened(chromium, small)
    choose(chromium, "weighting", weighting)
    type_range(chromium, *bounds)
    assert state(chromium) == list(bounds)
    assert_table_is_the_librarys(chromium, small, make(*bounds))
    assert_clean(chromium, small)


def test_one_threshold_alone_is_a_range(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.2, 0.2)
    assert_table_is_the_librarys(chromium, small, costs.Fixed(0.2))
    assert "Treating from a risk of 20%: one missed" in chromium.run("document.querySelector('#stake').textContent")


@pytest.mark.parametrize("where", ["track", "figure"])
def test_handles_are_dragged_by_mouse(chromium, small, where):
    opened(chromium, small)
    if where == "track":
        box = "document.querySelectorAll('[role=slider]')[1].getBoundingClientRect()"
        x, y = chromium.run(f"[({box}).x + 12, ({box}).y + 12]")
    else:
        chromium.run("document.getElementById('plot-regret').scrollIntoView({block: 'center', behavior: 'instant'})")
        box = "document.querySelectorAll('#plot-regret .edge')[1].getBoundingClientRect()"
        x, y = chromium.run(f"[({box}).x, ({box}).y + 100]")
    chromium.drag([x, y], [x + 70, y])
    chromium.wait_for(SETTLED)
    low, high = state(chromium)
    assert low == 0.1
    assert high > 0.32
    assert_table_is_the_librarys(chromium, small, costs.Uniform(low, high))
    assert_clean(chromium, small)


def test_handles_are_moved_by_keyboard_and_stay_in_order(chromium, small):
    opened(chromium, small)
    chromium.run("document.querySelector('[role=slider]').focus()")
    chromium.press("ArrowLeft", 4)
    chromium.wait_for(SETTLED)
    low, high = state(chromium)
    assert (low < 0.1, high) == (True, 0.3)
    assert_table_is_the_librarys(chromium, small, costs.Uniform(low, high))
    chromium.press("End")
    assert state(chromium) == [0.3, 0.3]
    chromium.press("ArrowRight")
    assert state(chromium) == [0.3, 0.3]
    chromium.press("Home")
    chromium.press("Tab")
    chromium.press("End")
    assert state(chromium) == [0.0, 1.0]
    words = "document.querySelector('[role=slider]:focus').getAttribute('aria-valuetext')"
    assert chromium.run(words) == "100%, odds 1:0, one miss is 0 false alarms"
    chromium.wait_for(SETTLED)
    assert_clean(chromium, small)


@pytest.mark.parametrize(
    ("view", "typed", "value"),
    [
        ("probability", "2.5%", 0.025),
        ("probability", "1:49", 0.02),
        ("odds", "1/50", 0.02),
        ("alarms", "49", 0.02),
        ("alarms", "9", 0.1),
        ("probability", "0,125", 0.125),
        ("probability", "0,001%", 0.00001),
        ("probability", "1,250%", 0.0125),
        ("odds", "0,250:2,25", 0.1),
        ("odds", "1:1,249", 0.0008),
        ("alarms", "1,249", 0.0008),
        ("alarms", "1,249.0", 0.0008),
    ],
)
def test_a_threshold_is_typed_as_the_view_has_it(chromium, small, view, typed, value):
    opened(chromium, small)
    choose(chromium, "view", view)
    type_range(chromium, typed, 0.3 if view == "probability" else "3:7")
    assert state(chromium)[0] == pytest.approx(value, abs=1e-15)
    alarms = f"{float(f'{1 / value - 1:.3g}'):,g}"
    written = {"probability": f"{100 * value:g}%", "odds": f"1:{alarms}", "alarms": alarms}
    assert chromium.run("document.getElementById('field-low').value") == written[view]


@pytest.mark.parametrize(
    "typed", ["", "abc", "1.5", "-0.1", "0.5", "1:0:3", "0,1,2", "<img src=x onerror=alert(1)>", "NaN"]
)
def test_what_is_no_threshold_is_refused_and_changes_nothing(chromium, small, typed):
    opened(chromium, small)
    chromium.run("document.getElementById('field-low').select()")
    chromium.run("document.getElementById('field-low').value = ''")
    chromium.type(typed)
    chromium.run("document.getElementById('field-low').dispatchEvent(new Event('change'))")
    assert state(chromium) == [0.1, 0.3]
    assert "is no threshold here" in chromium.run("document.getElementById('problem').textContent")
    assert_clean(chromium, small)


def test_address_holds_the_range_for_a_colleague(chromium, small):
    opened(chromium, small)
    choose(chromium, "weighting", "log-odds")
    choose(chromium, "view", "odds")
    type_range(chromium, 0.0163, 0.0291)
    chromium.wait_for("location.hash.includes('0.0163:0.0291')")
    address = chromium.run("location.hash")
    assert address == "#thresholds=0.0163:0.0291&weighting=log-odds&costs=odds&at=0.2"
    before = shown(chromium)
    opened(chromium, small, address)
    assert state(chromium) == [0.0163, 0.0291]
    assert repr(shown(chromium)) == repr(before)
    assert chromium.run("document.getElementById('view').value") == "odds"


def test_page_opens_with_the_range_of_its_address(chromium, small):
    chromium.call("Page.navigate", url="about:blank")
    chromium.call("Page.navigate", url=small.path.as_uri() + "#thresholds=0.05:0.6&at=0.3")
    chromium.wait_for("document.documentElement?.dataset.drawn === 'true'")
    assert_table_is_the_librarys(chromium, small, costs.Uniform(0.05, 0.6))
    assert "a risk of 5% to 60%:" in chromium.run("document.querySelector('.range').textContent")
    assert "at a threshold of 30%" in chromium.run("document.querySelector('#threshold-table').textContent")
    assert len(shown(chromium, "#decomposition")) == len(small.evaluation.models)


@pytest.mark.parametrize(
    "address",
    ["#thresholds=<img src=x onerror=alert(1)>", "#thresholds=0.9:0.1", "#thresholds=0:2&weighting=beta:-1:0"],
)
def test_address_that_makes_no_sense_is_ignored(chromium, small, address):
    opened(chromium, small)
    chromium.run(f"location.hash = {address!r}")
    chromium.wait_for(SETTLED)
    assert state(chromium) == [0.1, 0.3]
    assert_clean(chromium, small)


def test_links_between_sections_keep_the_range(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.05, 0.2)
    chromium.wait_for("location.hash.includes('0.05:0.2')")
    chromium.run("document.querySelector('nav a[href=\"#roc\"]').click()")
    assert "0.05:0.2" in chromium.run("location.hash")
    assert chromium.run("document.activeElement.id") == "roc"


def test_reset_returns_to_the_words_of_the_library(chromium, small):
    opened(chromium, small)
    before = chromium.run("document.querySelector('#stake').innerText")
    type_range(chromium, 0.02, 0.5)
    assert chromium.run("document.querySelector('#stake').innerText") != before
    chromium.run("document.getElementById('reset').click()")
    chromium.wait_for(SETTLED)
    assert chromium.run("document.querySelector('#stake').innerText") == before
    assert shown(chromium)["plain"][0][0] == 1000.0 * small.evaluation["plain"].score


@pytest.mark.parametrize("bounds", [(0.033, 0.27), (0.0, 1.0), (0.07, 0.07)])
def test_intervals_of_a_thinned_table_are_close_to_those_of_all_rows(chromium, large, bounds):
    opened(chromium, large)
    type_range(chromium, *bounds)
    rows, evaluation = shown(chromium), large.evaluation
    scores = dict(zip(evaluation.models, evaluation.rows.scores, strict=True))
    again = evaluate(evaluation.rows.y, scores, costs=bounds if bounds[0] < bounds[1] else bounds[0])
    apart = 1e-5 if bounds[0] < bounds[1] else 2e-3  # at one threshold a cell of the table is decided alike
    for result in again.results:
        low, high = (float(end) / 1000.0 for end in rows[result.name][1][0].split())
        assert high - low == pytest.approx(result.interval[1] - result.interval[0], rel=apart)


def test_costs_are_within_the_stated_bound_of_those_of_all_rows(chromium, large):
    bounds = {model["name"]: model["integralBound"] for model in large.page.payload["models"]}
    tables = dict(zip(large.evaluation.models, large.evaluation.score_tables, strict=True))
    assert all(0.0 < bound < 1e-4 for bound in bounds.values())
    opened(chromium, large)
    for low, high in ((0.011, 0.07), (0.3, 0.9), (0.0, 1.0)):
        type_range(chromium, low, high)
        rows = shown(chromium)
        for name, table in tables.items():
            exact = expected_regret(table, costs=costs.Uniform(low, high), scale="integral")
            assert abs(rows[name][0][0] * (high - low) / 1000.0 - exact) <= bounds[name]
    assert_table_is_the_librarys(chromium, large, costs.Uniform(0.0, 1.0))
    words = chromium.run("document.querySelector('#figure-regret figcaption').textContent")
    assert "costs per 1,000 decisions are within" in words
    assert_clean(chromium, large)


def test_decomposition_and_cases_in_range_follow(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.05, 0.4)
    rows = shown(chromium, "#decomposition")
    inside = shown(chromium, "#reliability")
    measure = costs.Uniform(0.05, 0.4)
    for name, table in zip(small.evaluation.models, small.evaluation.score_tables, strict=True):
        parts = decompose(table, costs=measure)
        terms = [parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty]
        expected = [*(1000.0 * term for term in terms), parts.skill]
        assert rows[name][0] == pytest.approx(expected, abs=1e-6)
        again = evaluate(table, costs=measure).results[0].in_range
        assert inside[name][0] == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_table_at_one_threshold_is_the_librarys(chromium, small, tied):
    # a case whose score equals the threshold is acted on
    at = float(small.evaluation.score_tables[0].scores[150]) if tied else 0.137
    opened(chromium, small)
    chromium.run("document.getElementById('field-at').select()")
    chromium.type(repr(at))
    chromium.press("Tab")
    chromium.wait_for(SETTLED)
    rows = shown(chromium, "#threshold-table")
    for name, table in zip(small.evaluation.models, small.evaluation.score_tables, strict=True):
        found = threshold_table(table, thresholds=[at], per=1000)
        expected = [
            1000 * found.regret,
            *(found.tp + found.fp, found.tp, found.fp, found.fn),
            *(found.sensitivity, found.specificity, found.ppv, found.npv),
            *(1000 * found.net_benefit, interventions_avoided_curve(table, per=1000).at([at])),
        ]
        assert rows[name][0] == pytest.approx([float(value[0]) for value in expected], abs=1e-9)
    assert rows["treat all"][0][-1] == 0.0


@pytest.mark.parametrize("at", [0.0, 0.02, 0.137, 0.6, 0.97])
def test_intervals_at_one_threshold_are_the_librarys(chromium, small, at):
    """Binomial limits of rates, and of costs and net benefit from those of two shares; no rows but a few beyond .9."""
    opened(chromium, small)
    chromium.run("document.getElementById('field-at').select()")
    chromium.type(repr(at))
    chromium.press("Tab")
    chromium.wait_for(SETTLED)
    places = {"regret": 0, "sensitivity": 5, "specificity": 6, "ppv": 7, "npv": 8, "net_benefit": 9}
    rows = shown(chromium, "#threshold-table")
    y, scores = simulated(small.evaluation.models)
    for name in small.evaluation.models:
        found = threshold_intervals(y, scores[name], thresholds=[at])
        for measure, place in places.items():
            times = 1000.0 if measure in {"regret", "net_benefit"} else 1.0
            ends = times * found.low[measure][0], times * found.high[measure][0]
            shown_ends = [float(end) for end in rows[name][1][place].split()] or [math.nan, math.nan]
            assert shown_ends == pytest.approx(ends, abs=1e-7, nan_ok=True), (name, measure)
        if 0.0 < at < 1.0:
            band = confidence_band(y, scores[name], "interventions_avoided", thresholds=[at], per=1000.0)
            assert [float(end) for end in rows[name][1][10].split()] == pytest.approx(
                [band.low[0], band.high[0]], abs=1e-5
            )
    everyone = small.evaluation.bands("net_benefit", [at], references=True)["treat all"]
    assert [float(end) for end in rows["treat all"][1][9].split()] == pytest.approx(
        [1000.0 * everyone.low[0], 1000.0 * everyone.high[0]], abs=1e-6
    )
    # by definition it finds none and alarms for none, and gains nothing
    assert [rows["treat none"][1][place] for place in (5, 6, 9)] == ["", "", ""]


@pytest.mark.parametrize("rule", ["optimal", 0.25])
def test_other_rules_follow_too(chromium, folder, rule):
    evaluation = evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), rule=rule)
    report = Report(evaluation, folder / f"rule-{rule}.html")
    opened(chromium, report)
    type_range(chromium, 0.05, 0.6)
    rows = shown(chromium)
    for name, table in zip(evaluation.models, evaluation.score_tables, strict=True):
        assert rows[name][0][0] == pytest.approx(
            1000 * expected_regret(table, costs=costs.Uniform(0.05, 0.6), rule=rule), abs=1e-6
        )
    assert ("no interval" in chromium.run("document.querySelector('#answer tbody').textContent")) == (rule == "optimal")
    assert chromium.run("document.querySelector('.looked').textContent") == (
        "The thresholds are fitted to these very rows: costs are optimistic, and no model can be called best."
        if rule == "optimal"
        else "Range chosen after looking: intervals of single models hold, claims over models do not."
    )
    assert_clean(chromium, report)


@pytest.mark.parametrize(("at", "alarm", "miss"), [(0.0, 0.0, 1.0), (0.25, 0.25, 0.75), (1.0, 1.0, 0.0)])
def test_rule_in_use_decides_alike_at_every_threshold(chromium, folder, at, alarm, miss):
    y, scores = simulated(["a", "b"])
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), rule=0.25), folder / "in-use.html")
    opened(chromium, report, f"thresholds={at}:{at}")
    rows = shown(chromium)
    for name, score in scores.items():
        cost = alarm * np.mean(~y & (score >= 0.25)) + miss * np.mean(y & (score < 0.25))
        assert rows[name][0][0] == pytest.approx(1000.0 * cost, abs=1e-9)
    assert_clean(chromium, report)


@pytest.mark.parametrize(
    "measure",
    [costs.Triangular(0.05, 0.1, 0.4), costs.Empirical([0.02, 0.05, 0.1]), costs.Beta(2, 8, 0.02, 0.5)],
    ids=repr,
)
def test_other_weightings_are_shown_as_reported_until_the_range_moves(chromium, folder, measure):
    evaluation = evaluate(*simulated(["a", "b"]), costs=measure)
    report = Report(evaluation, folder / f"{type(measure).__name__}.html")
    opened(chromium, report)
    assert chromium.run("document.getElementById('weighting').value") == "given"
    assert shown(chromium)["a"][0][0] == 1000.0 * evaluation["a"].score
    type_range(chromium, 0.03, measure.high)
    assert chromium.run("document.getElementById('weighting').value") == "uniform"
    assert_table_is_the_librarys(chromium, report, costs.Uniform(0.03, measure.high))
    choose(chromium, "weighting", "given")
    assert state(chromium) == [measure.low, measure.high]
    assert shown(chromium)["a"][0][0] == 1000.0 * evaluation["a"].score
    assert_clean(chromium, report)


def test_reader_chooses_whose_band_is_drawn_in_both_figures(chromium, small):
    opened(chromium, small)
    fills = "[...document.querySelectorAll('#plot-{} .band')].map(band => band.style.fill)"
    colours = {model["name"]: f"var(--model-{model['colour']})" for model in small.page.payload["models"]}
    first, second, third = (colours[name] for name in small.evaluation.ranking)
    box = "document.querySelector('#figure-regret [data-band]')"
    for value, expected in {"best": [first], "1": [second], "all": [first, second, third], "none": []}.items():
        chromium.run(f"{box}.value = {value!r}; {box}.dispatchEvent(new Event('change'))")
        assert [chromium.run(fills.format(key)) for key in ("regret", "decision")] == [expected] * 2
        assert chromium.run("document.querySelector('#figure-decision [data-band]').value") == value
    chromium.run(f"{box}.value = 'all'; {box}.dispatchEvent(new Event('change'))")
    chromium.run("document.querySelector('#figure-regret [data-show=\"1\"]').click()")
    assert chromium.run(fills.format("regret")) == [first, third]
    assert_clean(chromium, small)


@pytest.mark.parametrize("view", ["near", "whole"])
@pytest.mark.parametrize("key", ["regret", "decision"])
def test_figures_of_few_events_hold_the_whole_band(chromium, folder, key, view):
    rng = np.random.default_rng(1)
    p = 1.0 / (1.0 + np.exp(3.2 - rng.normal(size=500)))
    report = Report(evaluate((rng.random(500) < p) * 1, {"a": p, "b": p**1.1}, costs=(0.02, 0.2)), folder / "few.html")
    opened(chromium, report)
    chromium.run(f"document.querySelector('#figure-{key} [data-view={view}]').click()")
    boxes = "[...document.querySelectorAll('#plot-{} .ground {}')].map((each) => each.getBBox())"
    (frame,), bands = (
        chromium.run(f"{boxes.format(key, part)}.map((box) => [box.y, box.y + box.height])")
        for part in ("clipPath rect", ".band")
    )
    assert bands
    assert all(frame[0] < top and bottom < frame[1] for top, bottom in bands)


PATHS = """[...document.querySelectorAll('#plot-{} .curve')].map(path => path.getAttribute('d'))"""
TICKS = """[...document.querySelectorAll('#plot-{} .tick.{}')].map(tick => [
    tick.textContent, Number(tick.getAttribute('{}'))])"""


def drawn(chromium, key):
    """Return every line of a figure as arrays of x and y, by the numbers at its axes."""
    axes = []
    for kind, name in (("middle", "x"), ("end", "y")):
        ticks = [(t, place) for t, place in chromium.run(TICKS.format(key, kind, name)) if t.endswith("%")]
        values, places = zip(
            *((float(t.rstrip("%").replace("\N{MINUS SIGN}", "-")), at) for t, at in ticks), strict=True
        )
        # the words stand four pixels below their line
        axes.append(np.polyfit(np.array(places) - 4.0 * (name == "y"), np.array(values) / 100.0, 1))
    lines = []
    for path in chromium.run(PATHS.format(key)):
        points = np.array([point.split() for point in path[1:].split("L")], dtype=float)
        lines.append(tuple(np.polyval(axis, points[:, k]) for k, axis in enumerate(axes)))
    return lines


@pytest.mark.parametrize("bounds", [(0.1, 0.3), (0.2, 0.205), (0.02, 0.9)])
def test_reliability_is_drawn_where_the_numbers_are_however_near_one_looks(chromium, small, bounds):
    opened(chromium, small)
    type_range(chromium, *bounds)
    diagonal, *curves = drawn(chromium, "reliability")
    assert diagonal[0] == pytest.approx(diagonal[1], abs=0.01 * (bounds[1] - bounds[0]))
    within = np.linspace(*np.minimum(bounds, 0.8), 7)
    exact = small.evaluation.curves("reliability")
    for name, (x, y) in zip(small.evaluation.ranking[::-1], curves, strict=True):
        assert np.interp(within, x, y) == pytest.approx(exact[name].at(within), abs=0.02)


def test_what_is_in_sight_follows_while_the_handle_is_held(chromium, small):
    opened(chromium, small)
    box = "document.querySelectorAll('[role=slider]')[1].getBoundingClientRect()"
    x, y = chromium.run(f"[({box}).x + 12, ({box}).y + 12]")
    chromium._mouse("mousePressed", [x, y])
    for step in range(1, 31):
        chromium._mouse("mouseMoved", [x + 2 * step, y])
    # without a pause: nothing here waits until the reader rests
    chromium.run("new Promise(requestAnimationFrame)")
    _, high = state(chromium)
    assert high > 0.31
    assert f"a risk of 10% to {100 * high:.3g}%" in chromium.run("document.querySelector('.range').textContent")
    chromium._mouse("mouseReleased", [x + 60, y])
    chromium.wait_for(SETTLED)
    assert_clean(chromium, small)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("bcsc_predictions/bcsc_predictions", marks=pytest.mark.thorough),
        "solar_flares_c1/solar_flares_c1",
    ],
)
def test_reports_of_published_data_follow_the_reader(chromium, load_data, folder, name):
    report = published(name, load_data, folder / "published.html")
    opened(chromium, report)
    for low, high in ((0.01, 0.05), (0.2, 0.7)):
        type_range(chromium, low, high)
        assert_table_is_the_librarys(chromium, report, costs.Uniform(low, high))
    lines = chromium.run("document.querySelectorAll('#plot-regret .curve').length")
    assert lines == len(report.evaluation.models) + 2
    # the width of a sheet of A4 less its margins
    chromium.resize(688)
    chromium.emulate(media="print")
    assert chromium.run("document.documentElement.scrollWidth") <= 688
    assert_clean(chromium, report)


def test_reader_sees_the_smooth_reliability_curve_with_its_band(chromium, small):
    opened(chromium, small)
    steps = chromium.run(PATHS.format("reliability"))
    bands = "document.querySelectorAll('#plot-reliability .band').length"
    assert chromium.run(bands) == 0
    chromium.run("document.querySelector('#figure-reliability [data-shape=smooth]').click()")
    smooth = chromium.run(PATHS.format("reliability"))
    assert (len(smooth), chromium.run(bands)) == (len(steps), 1)
    assert set(steps[1:]).isdisjoint(smooth)  # after the diagonal
    assert_clean(chromium, small)

"""The reader changes the range: numbers are the library's on the tables of the page, intervals close to its own."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from stakes import compare, costs, decompose, evaluate, expected_regret, threshold_table
from stakes.report import write_report
from tests.report.conftest import simulated
from tests.report.pages import Page, numbers

SETTLED = "document.documentElement.dataset.settled === 'true'"
ROWS = """[...document.querySelectorAll('{} tbody tr')].map(row => [
    row.querySelector('th').textContent.trim(),
    ...[...row.querySelectorAll('td[data-value]')].map(cell => [cell.dataset.value, cell.dataset.interval ?? ''])
])"""
SCALES = ("regret", "integral", "loss")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("interactive")


class Report:
    """A report, in the browser and as text."""

    def __init__(self, evaluation, path):
        self.evaluation = evaluation
        self.path = write_report(evaluation, path)
        self.page = Page(self.path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def small(example, folder):
    return Report(example, folder / "small.html")


@pytest.fixture(scope="module")
def large(folder):
    evaluation = evaluate(*simulated([f"m{k}" for k in range(10)], n=200_000), costs=(0.02, 0.10))
    return Report(evaluation, folder / "large.html")


def published(name, load_data, path):
    label, bounds = {
        "bcsc_predictions/bcsc_predictions": ("cancer", (0.0163, 0.0291)),
        "solar_flares_c1/solar_flares_c1": ("y", (0.1, 0.6)),
    }[name]
    frame = load_data(name)
    scores = frame.drop(columns=[label, "date"], errors="ignore")
    return Report(evaluate(frame[label], scores, costs=bounds), path)


def opened(chromium, report, address="", **options):
    chromium.open(report.path, **options)
    if address:
        chromium.run(f"location.hash = {address!r}")
    chromium.wait_for("document.documentElement.dataset.drawn === 'true'")
    chromium.wait_for(SETTLED + (f" && document.querySelector('#reset').disabled === {'false' if address else 'true'}"))
    return chromium


def shown(chromium, table="#ranking"):
    """Return name, values and intervals of every row of a table, in order."""
    rows = chromium.run(ROWS.format(table))
    return {
        name: ([float(v.replace("Infinity", "inf")) for v, _ in cells], [text for _, text in cells])
        for name, *cells in rows
    }


def state(chromium):
    values = (
        "[...document.querySelectorAll('[role=slider]')].map(handle => Number(handle.getAttribute('aria-valuenow')))"
    )
    return chromium.run(values)


def type_range(chromium, low, high):
    # the end that moves away from the other first, so that the two are in order all the while
    fields = [("low", low), ("high", high)]
    for key, value in fields[::-1] if isinstance(low, float) and low > state(chromium)[1] else fields:
        chromium.run(f"document.getElementById('field-{key}').select()")
        chromium.type(value if isinstance(value, str) else repr(value))
        chromium.press("Tab")
    chromium.wait_for(SETTLED)


def choose(chromium, name, value):
    act = f"box => {{ box.value = {value!r}; box.dispatchEvent(new Event('change')); }}"
    chromium.run(f"({act})(document.getElementById({name!r}))")
    chromium.wait_for(SETTLED)


def assert_ranking_is_the_librarys(chromium, report, measure):
    """Every number of the ranking, and the order of its rows, from the tables of the page by the library."""
    rows = shown(chromium)
    names = report.evaluation.models
    tables = {name: report.page.table(name) for name in names}
    finite = math.isfinite(measure.mass)
    integral = {name: expected_regret(table, costs=measure, scale="integral") for name, table in tables.items()}
    ranked = list(rows)[: len(names)]
    assert sorted(ranked) == sorted(names)
    # models that decide alike differ by rounding only
    assert all(integral[a] <= integral[b] + 1e-15 for a, b in pairwise(ranked))
    factor = {"integral": 1.0, "loss": measure.loss_factor, "regret": 1.0 / measure.mass if finite else math.nan}
    main = factor["regret" if finite else "loss"]
    table = tables[ranked[0]]
    always = (1 - table.prevalence) * float(measure.negative_loss(np.inf))
    never = table.prevalence * float(measure.positive_loss(-np.inf))
    for name in names:
        values, _ = rows[name]
        expected = [factor[scale] * integral[name] for scale in SCALES]
        assert values[:3] == pytest.approx(expected, abs=1e-9, nan_ok=True)
        skill = decompose(tables[name], costs=measure, scale="integral").skill
        gaps = [values[3], *values[5:]]
        others = [main * (integral[name] - other) for other in (integral[ranked[0]], always, never)]
        assert values[4] == pytest.approx(skill, abs=1e-9, nan_ok=True)
        assert gaps[1:] == pytest.approx(others[1:], abs=1e-9, nan_ok=True)
        assert math.isnan(gaps[0]) if name == ranked[0] else gaps[0] == pytest.approx(others[0], abs=1e-9, nan_ok=True)
    assert rows["treat all"][0][1] == pytest.approx(always, abs=1e-9)
    assert rows["treat none"][0][1] == pytest.approx(never, abs=1e-9)


def assert_clean(chromium, report):
    assert chromium.complaints() == []
    assert chromium.requests(report.path) == []


def test_own_range_shows_the_librarys_numbers_and_intervals(chromium, small):
    rows = shown(opened(chromium, small))
    evaluation = small.evaluation
    assert list(rows) == [*evaluation.ranking, "treat all", "treat none"]
    for name, (values, _) in rows.items():
        assert values[0] == evaluation[name].score
        if name != evaluation.ranking[0]:
            assert values[3] == evaluation.compare(name, evaluation.ranking[0]).difference


@pytest.mark.parametrize(
    ("weighting", "make"),
    [
        ("uniform", costs.Uniform),
        ("log-odds", costs.LogOddsUniform),
        ("beta", lambda low, high: costs.Beta(2, 8, low, high)),
    ],
)
@pytest.mark.parametrize("bounds", [(0.02, 0.1), (0.05, 0.8), (0.0, 1.0), (0.21, 0.2101), (0.0, 0.3), (0.4, 1.0)])
def test_typed_range_gives_the_librarys_numbers_for_every_weighting(chromium, small, weighting, make, bounds):
    opened(chromium, small)
    choose(chromium, "weighting", weighting)
    type_range(chromium, *bounds)
    assert state(chromium) == list(bounds)
    assert_ranking_is_the_librarys(chromium, small, make(*bounds))
    assert_clean(chromium, small)


@pytest.mark.parametrize(("a", "b"), [(0.5, 0.5), (1.0, 1.0), (30.0, 400.0), (2.5, 1.0)])
def test_typed_beta_parameters_count(chromium, small, a, b):
    opened(chromium, small)
    choose(chromium, "weighting", "beta")
    for key, value in (("a", a), ("b", b)):
        chromium.run(f"document.getElementById('beta-{key}').select()")
        chromium.type(str(value))
    chromium.wait_for(SETTLED)
    assert_ranking_is_the_librarys(chromium, small, costs.Beta(a, b, 0.1, 0.3))


def test_one_threshold_alone_is_a_range(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.2, 0.2)
    assert_ranking_is_the_librarys(chromium, small, costs.Fixed(0.2))
    assert "At a threshold of 20%" in chromium.run("document.querySelector('#stake').textContent")


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
    assert_ranking_is_the_librarys(chromium, small, costs.Uniform(low, high))
    assert_clean(chromium, small)


def test_handles_are_moved_by_keyboard_and_stay_in_order(chromium, small):
    opened(chromium, small)
    chromium.run("document.querySelector('[role=slider]').focus()")
    chromium.press("ArrowLeft", 4)
    chromium.wait_for(SETTLED)
    low, high = state(chromium)
    assert (low < 0.1, high) == (True, 0.3)
    assert_ranking_is_the_librarys(chromium, small, costs.Uniform(low, high))
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
    ],
)
def test_a_threshold_is_typed_as_the_view_has_it(chromium, small, view, typed, value):
    opened(chromium, small)
    choose(chromium, "view", view)
    type_range(chromium, typed, 0.3 if view == "probability" else "3:7")
    assert state(chromium)[0] == pytest.approx(value, abs=1e-15)
    written = {"probability": f"{100 * value:g}%", "odds": f"1:{1 / value - 1:.3g}", "alarms": f"{1 / value - 1:.3g}"}
    assert chromium.run("document.getElementById('field-low').value") == written[view]


@pytest.mark.parametrize("typed", ["", "abc", "1.5", "-0.1", "0.5", "1:0:3", "<img src=x onerror=alert(1)>", "NaN"])
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
    choose(chromium, "weighting", "beta")
    choose(chromium, "view", "odds")
    type_range(chromium, 0.0163, 0.0291)
    chromium.wait_for("location.hash.includes('0.0163:0.0291')")
    address = chromium.run("location.hash")
    assert address == "#thresholds=0.0163:0.0291&weighting=beta:2:8&costs=odds&at=0.2"
    before = shown(chromium)
    opened(chromium, small, address)
    assert state(chromium) == [0.0163, 0.0291]
    assert repr(shown(chromium)) == repr(before)
    assert chromium.run("document.getElementById('view').value") == "odds"


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
    before = chromium.run("document.querySelector('#stake').innerHTML")
    type_range(chromium, 0.02, 0.5)
    assert chromium.run("document.querySelector('#stake').innerHTML") != before
    chromium.run("document.getElementById('reset').click()")
    chromium.wait_for(SETTLED)
    assert chromium.run("document.querySelector('#stake').innerHTML") == before
    assert shown(chromium)["plain"][0][0] == small.evaluation["plain"].score


def test_intervals_are_the_librarys_up_to_skewness_where_the_range_ends_at_cut_points(chromium, large):
    opened(chromium, large)
    cuts = numbers(large.page.payload["spread"]["cuts"])
    low, high = float(cuts[3]), float(cuts[-4])
    type_range(chromium, low, high)
    rows = shown(chromium)
    evaluation, z = large.evaluation, NormalDist().inv_cdf(0.975)
    y, scores = evaluation.rows.y, dict(zip(evaluation.models, evaluation.rows.scores, strict=True))
    best = next(iter(rows))
    for name in evaluation.models[:3]:
        if name == best:
            continue
        found = compare(y, scores[name], scores[best], costs=costs.Uniform(low, high))
        ends = [float(end) for end in rows[name][1][3].split()]
        half = z * found.standard_error
        assert ends == pytest.approx([found.difference - half, found.difference + half], rel=1e-3, abs=1e-6)


def test_intervals_between_cut_points_are_close(chromium, large):
    opened(chromium, large)
    type_range(chromium, 0.033, 0.27)
    rows = shown(chromium)
    evaluation = large.evaluation
    again = evaluate(
        evaluation.rows.y, dict(zip(evaluation.models, evaluation.rows.scores, strict=True)), costs=(0.033, 0.27)
    )
    for name in evaluation.models:
        low, high = (float(end) for end in rows[name][1][0].split())
        exact = again[name].interval
        assert high - low == pytest.approx(exact[1] - exact[0], rel=0.05)


def test_costs_are_within_the_stated_bound_of_those_of_all_rows(chromium, large):
    bounds = {model["name"]: model["integralBound"] for model in large.page.payload["models"]}
    tables = dict(zip(large.evaluation.models, large.evaluation.tables, strict=True))
    assert all(0.0 < bound < 1e-4 for bound in bounds.values())
    opened(chromium, large)
    for low, high in ((0.011, 0.07), (0.3, 0.9), (0.0, 1.0)):
        type_range(chromium, low, high)
        rows = shown(chromium)
        for name, table in tables.items():
            exact = expected_regret(table, costs=costs.Uniform(low, high), scale="integral")
            assert abs(rows[name][0][1] - exact) <= bounds[name]
    assert_ranking_is_the_librarys(chromium, large, costs.Uniform(0.0, 1.0))
    assert "costs are within" in chromium.run("document.querySelector('#regret figcaption').textContent")
    assert_clean(chromium, large)


def test_decomposition_and_cases_in_range_follow(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.05, 0.4)
    rows = shown(chromium, "#decomposition")
    inside = shown(chromium, "#reliability")
    measure = costs.Uniform(0.05, 0.4)
    for name, table in zip(small.evaluation.models, small.evaluation.tables, strict=True):
        parts = decompose(table, costs=measure)
        expected = [parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty, parts.skill]
        assert rows[name][0] == pytest.approx(expected, abs=1e-9)
        again = evaluate(table, costs=measure).results[0].in_range
        assert inside[name][0] == pytest.approx(again, abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_table_at_one_threshold_is_the_librarys(chromium, small, tied):
    # a case whose score equals the threshold is acted on
    at = float(small.evaluation.tables[0].scores[150]) if tied else 0.137
    opened(chromium, small)
    chromium.run("document.getElementById('field-at').select()")
    chromium.type(repr(at))
    chromium.press("Tab")
    chromium.wait_for(SETTLED)
    rows = shown(chromium, "#threshold-table")
    for name, table in zip(small.evaluation.models, small.evaluation.tables, strict=True):
        found = threshold_table(table, thresholds=[at], per=1000)
        expected = [
            *(found.tp + found.fp, found.tp, found.fp, found.fn),
            *(found.sensitivity, found.specificity, found.ppv, found.npv),
            *(found.net_benefit, found.regret),
        ]
        assert rows[name][0] == pytest.approx([float(value[0]) for value in expected], abs=1e-9)


@pytest.mark.parametrize("rule", ["optimal", 0.25])
def test_other_rules_follow_too(chromium, folder, rule):
    evaluation = evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), rule=rule)
    report = Report(evaluation, folder / f"rule-{rule}.html")
    opened(chromium, report)
    type_range(chromium, 0.05, 0.6)
    rows = shown(chromium)
    for name, table in zip(evaluation.models, evaluation.tables, strict=True):
        assert rows[name][0][0] == pytest.approx(
            expected_regret(table, costs=costs.Uniform(0.05, 0.6), rule=rule), abs=1e-9
        )
    assert ("no interval" in chromium.run("document.querySelector('#ranking tbody').textContent")) == (
        rule == "optimal"
    )
    assert_clean(chromium, report)


@pytest.mark.parametrize("measure", [costs.Triangular(0.05, 0.1, 0.4), costs.Empirical([0.02, 0.05, 0.1])], ids=repr)
def test_other_weightings_are_shown_as_reported_until_the_range_moves(chromium, folder, measure):
    evaluation = evaluate(*simulated(["a", "b"]), costs=measure)
    report = Report(evaluation, folder / f"{type(measure).__name__}.html")
    opened(chromium, report)
    assert chromium.run("document.getElementById('weighting').value") == "given"
    assert shown(chromium)["a"][0][0] == evaluation["a"].score
    type_range(chromium, 0.03, measure.high)
    assert chromium.run("document.getElementById('weighting').value") == "uniform"
    assert_ranking_is_the_librarys(chromium, report, costs.Uniform(0.03, measure.high))
    choose(chromium, "weighting", "given")
    assert state(chromium) == [measure.low, measure.high]
    assert shown(chromium)["a"][0][0] == evaluation["a"].score
    assert_clean(chromium, report)


def test_dependent_rows_have_no_intervals_elsewhere(chromium, folder):
    y, scores = simulated(["a", "b"])
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), clusters=np.arange(len(y)) // 4)
    report = Report(evaluation, folder / "clusters.html")
    opened(chromium, report)
    assert "no interval" not in chromium.run("document.querySelector('#ranking tbody').textContent")
    type_range(chromium, 0.05, 0.6)
    assert "no interval" in chromium.run("document.querySelector('#ranking tbody').textContent")
    assert "how sure that is cannot be said here" in chromium.run("document.querySelector('#stake').textContent")
    assert_ranking_is_the_librarys(chromium, report, costs.Uniform(0.05, 0.6))


@pytest.mark.parametrize("name", ["bcsc_predictions/bcsc_predictions", "solar_flares_c1/solar_flares_c1"])
def test_reports_of_published_data_follow_the_reader(chromium, load_data, folder, name):
    report = published(name, load_data, folder / "published.html")
    opened(chromium, report)
    for low, high in ((0.01, 0.05), (0.2, 0.7)):
        type_range(chromium, low, high)
        assert_ranking_is_the_librarys(chromium, report, costs.Uniform(low, high))
    lines = chromium.run("document.querySelectorAll('#plot-regret .curve').length")
    assert lines == len(report.evaluation.models) + 2
    assert_clean(chromium, report)

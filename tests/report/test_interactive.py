"""The reader changes the range: numbers are the library's on the tables of the page, intervals close to its own."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from stakes import compare, costs, decompose, evaluate, expected_regret, threshold_table
from stakes.report import write_report
from tests.report.conftest import simulated
from tests.report.pages import Page, numbers

SETTLED = "document.documentElement.dataset.settled === 'true'"
ROWS = """[...document.querySelectorAll('{} tbody tr')].map(row => [
    row.querySelector('th .name, th [data-reference]').textContent.trim(),
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
    evaluation = evaluate(*simulated([f"m{k}" for k in range(10)], n=1_000_000), costs=(0.02, 0.10))
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


def test_page_opens_with_the_range_of_its_address(chromium, small):
    chromium.call("Page.navigate", url="about:blank")
    chromium.call("Page.navigate", url=small.path.as_uri() + "#thresholds=0.05:0.6&at=0.3")
    chromium.wait_for("document.documentElement?.dataset.drawn === 'true'")
    assert_ranking_is_the_librarys(chromium, small, costs.Uniform(0.05, 0.6))
    assert "between 5% and 60%" in chromium.run("document.querySelector('.lead').textContent")
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


TAILS = """[...document.querySelectorAll('#ranking tbody tr')].map(row => [
    row.querySelector('th .name, th [data-reference]').textContent.trim(),
    ...[...row.children].slice(5).map(cell => cell.dataset.p ?? '')])"""


def tails(chromium):
    """Return the p-values of every row against the best model, treating all and treating none."""
    return {name: [float(p or "nan") for p in (cells[0], *cells[2:])] for name, *cells in chromium.run(TAILS)}


@pytest.mark.parametrize("dependence", [{"clusters": np.arange(400) // 4}, {"lags": 3}, {"lags": "auto"}], ids=repr)
def test_dependent_rows_have_the_librarys_intervals_and_p_values_elsewhere(chromium, folder, dependence):
    y, scores = simulated(["a", "b", "c"])
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), **dependence)
    report = Report(evaluation, folder / "dependent.html")
    opened(chromium, report)
    cuts = numbers(report.page.payload["spread"]["cuts"])
    low, high = float(cuts[5]), float(cuts[-6])
    type_range(chromium, low, high)
    assert_ranking_is_the_librarys(chromium, report, costs.Uniform(low, high))
    again = evaluate(y, scores, costs=(low, high), **dependence)
    shown_rows, shown_tails = shown(chromium), tails(chromium)
    # the library allows for the skewness of sums of clusters, the page does not
    apart = 0.1 if "clusters" in dependence else 1e-5
    for name in evaluation.models:
        others = [next(iter(shown_rows)), "treat all", "treat none"]
        for other, place, p in zip(others, (3, 5, 6), shown_tails[name], strict=True):
            if other == name:
                continue
            found = again.compare(name, other)
            ends = [float(end) for end in shown_rows[name][1][place].split()]
            assert ends == pytest.approx(found.interval, rel=apart, abs=apart * found.standard_error)
            assert p == pytest.approx(found.p_value, rel=20 * apart, abs=0.1 * apart)
    assert "No band is drawn, for a band would take the rows as independent" in chromium.run(
        "document.querySelector('#regret figcaption').textContent"
    )
    assert_clean(chromium, report)


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(400) // 4}], ids=repr)
@pytest.mark.parametrize("bounds", [(0.05, 0.6), (0.21, 0.22), (0.0, 1.0), (0.08, 0.12)])
def test_p_values_and_intervals_follow_from_the_covariances_of_the_page(chromium, folder, dependence, bounds):
    report = Report(
        evaluate(*simulated(["a", "b", "c"]), costs=(0.1, 0.3), **dependence), folder / f"tails{len(dependence)}.html"
    )
    opened(chromium, report)
    type_range(chromium, *bounds)
    spread = report.page.payload["spread"]
    cuts, covariances = numbers(spread["cuts"]), numbers(spread["covariances"]).reshape(len(spread["pairs"]), -1)
    width = np.clip(np.minimum(cuts[1:], bounds[1]) - np.maximum(cuts[:-1], bounds[0]), 0.0, None)
    weights = width / np.diff(cuts) / (bounds[1] - bounds[0])
    rows, columns = np.triu_indices(len(weights))
    form = np.where(rows == columns, 1.0, 2.0) * weights[rows] * weights[columns]
    errors = dict(zip(map(tuple, spread["pairs"]), np.sqrt(covariances @ form), strict=True))
    law = stats.t(99) if dependence else stats.norm
    places = {model["name"]: k for k, model in enumerate(report.page.payload["models"])}
    places |= {"treat all": 3, "treat none": 4}
    table, found = shown(chromium), tails(chromium)
    best = next(iter(table))
    for name, (values, intervals) in table.items():
        for other, place, p in zip((best, "treat all", "treat none"), (3, 5, 6), found[name], strict=True):
            if other == name:
                assert math.isnan(p)
                continue
            error = errors[tuple(sorted((places[name], places[other])))]
            assert p == pytest.approx(2 * law.sf(abs(values[place]) / error), rel=1e-8)
            ends = values[place] + law.ppf([0.025, 0.975]) * error
            assert [float(end) for end in intervals[place].split()] == pytest.approx(ends, abs=1e-9)


def sentences(chromium):
    """Return the conclusion as it stands, without its figures in brackets and its intervals."""
    nodes = "[...document.querySelectorAll('#stake .lead, #stake .findings li')].map(node => node.textContent)"
    return [bare(text) for text in chromium.run(nodes)]


def bare(sentence):
    """Leave out what the page knows approximately only."""
    text = re.sub(r" \([^()]*difference[^()]*\)", "", sentence.replace("\N{MINUS SIGN}", "-"))
    return re.sub(r", (approximate )?95% interval [^;]*\.$", ".", text)


def of_all_kinds():
    """Labels, and scores that help, that are too high, that are too low, and that are the same for everyone."""
    y, scores = simulated(["helps", "also helps"], n=3989)
    scores |= {"high": scores["helps"] ** 0.3, "low": 0.02 * scores["helps"], "same": np.full(len(y), y.mean())}
    scores["sure"] = (scores["helps"] > 0.5).astype(float)
    return y, scores


TOLD = [(costs.Uniform, ends) for ends in ((0.05, 0.15), (0.02, 0.6), (0.3, 0.9), (0.2, 0.2), (0.003, 0.05))]
TOLD += [(costs.LogOddsUniform, ends) for ends in ((0.05, 0.15), (0.02, 0.6), (0.3, 0.9))]


@pytest.mark.parametrize(("make", "bounds"), TOLD)
@pytest.mark.parametrize("options", [{}, {"rule": 0.25}, {"per": 1000, "unit_cost": 50}], ids=repr)
def test_sentences_elsewhere_are_the_librarys(chromium, folder, make, bounds, options):
    y, scores = of_all_kinds()
    report = Report(evaluate(y, scores, costs=(0.1, 0.3), **options), folder / f"words{len(options)}.html")
    opened(chromium, report)
    choose(chromium, "weighting", "uniform" if make is costs.Uniform else "log-odds")
    type_range(chromium, *bounds)
    measure = costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else make(*bounds)
    again = evaluate(y, scores, costs=measure, **options)
    assert sentences(chromium) == [bare(sentence) for sentence in again.conclusion]
    note = "head => head.querySelector('.note')?.textContent ?? ''"
    notes = chromium.run(f"[...document.querySelectorAll('#ranking tbody th')].map({note})")
    like = [again[name].acts_like for name in again.ranking]
    assert notes == [f"acts like {one}" if one else "" for one in like] + ["", ""]
    skills = [again[name].decomposition.skill for name in again.ranking]
    shown_skills = [values[4] for values, _ in shown(chromium).values()][: len(skills)]
    assert shown_skills == pytest.approx(skills, abs=1e-9, nan_ok=True)
    assert_clean(chromium, report)


@pytest.mark.parametrize(
    ("rule", "bounds", "wide"),
    [
        ("score", (0.0, 0.004), 1),
        ("score", (0.3, 0.5), 2),
        ("score", (0.05, 0.07), 0),
        (0.4, (0.05, 0.07), 2),
        (0.4, (0.5, 0.5), 2),
        (0.4, (0.6, 0.8), 2),
    ],
)
def test_intervals_are_widened_where_few_rows_carry_a_cost(chromium, folder, rule, bounds, wide):
    rng = np.random.default_rng(7)
    risk = rng.beta(0.6, 12.0, size=1500)
    y = rng.random(1500) < risk
    scores = {"plain": risk, "noisy": np.clip(risk + 0.05 * rng.normal(size=1500), 0.0, 1.0)}
    report = Report(evaluate(y, scores, costs=(0.0, 1.0), rule=rule), folder / "few.html")
    opened(chromium, report)
    type_range(chromium, *bounds)
    measure = costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else costs.Uniform(*bounds)
    again = evaluate(y, scores, costs=measure, rule=rule)
    rows = shown(chromium)
    widths, notes = [], 0
    for name in again.models:
        for other, place in (("treat all", 5), ("treat none", 6)):
            found = again.compare(name, other)
            low, high = (float(end) for end in rows[name][1][place].split())
            # skewness moves the ends, the room for what was not seen makes their distance
            widths.append((high - low) / (found.interval[1] - found.interval[0]))
            notes += bool(found.note)
    assert notes == wide
    assert widths == pytest.approx([1.0] * 4, rel=0.3)


def test_decisions_fitted_to_the_rows_have_no_intervals_and_the_page_says_why(chromium, folder):
    report = Report(evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), rule="optimal"), folder / "fitted.html")
    opened(chromium, report)
    why = "for the decisions were fitted to these same rows"
    assert f"No band is drawn, {why}" in chromium.run("document.querySelector('#regret').textContent")
    type_range(chromium, 0.05, 0.6)
    assert f"how sure that is cannot be said here, {why}" in chromium.run(
        "document.querySelector('#stake').textContent"
    )
    assert f"there are no intervals, {why}" in chromium.run("document.querySelector('#regret').textContent")
    assert "no interval" in chromium.run("document.querySelector('#ranking tbody').textContent")
    assert not any(math.isfinite(p) for row in tails(chromium).values() for p in row)


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
    assert f"between 10% and {100 * high:.3g}%" in chromium.run("document.querySelector('.lead').textContent")
    chromium._mouse("mouseReleased", [x + 60, y])
    chromium.wait_for(SETTLED)
    assert_clean(chromium, small)


@pytest.mark.parametrize("name", ["bcsc_predictions/bcsc_predictions", "solar_flares_c1/solar_flares_c1"])
def test_reports_of_published_data_follow_the_reader(chromium, load_data, folder, name):
    report = published(name, load_data, folder / "published.html")
    opened(chromium, report)
    for low, high in ((0.01, 0.05), (0.2, 0.7)):
        type_range(chromium, low, high)
        assert_ranking_is_the_librarys(chromium, report, costs.Uniform(low, high))
    lines = chromium.run("document.querySelectorAll('#plot-regret .curve').length")
    assert lines == len(report.evaluation.models) + 2
    # the width of a sheet of A4 less its margins
    chromium.resize(688)
    chromium.emulate(media="print")
    assert chromium.run("document.documentElement.scrollWidth") <= 688
    assert_clean(chromium, report)

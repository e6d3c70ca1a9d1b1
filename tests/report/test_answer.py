"""The first screen: what it holds without scrolling, and what it says of a range chosen after looking."""

from __future__ import annotations

import html
import re

import numpy as np
import pytest

from stakes import TimeToEvent, costs, evaluate
from stakes.report import write_report
from tests.report.conftest import simulated
from tests.report.reader import SETTLED, Report, assert_clean, choose, opened, shown, type_range

LOOKED = "Range chosen after looking: intervals of single models hold, claims over models do not."
IN_SIGHT = """[...document.querySelectorAll('{}')].every(element => {{
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}})"""
HEIGHT = "document.documentElement.scrollHeight"


def text_of(chromium, selector="#stake"):
    return " ".join(chromium.run(f"document.querySelector('{selector}').innerText").split())


@pytest.fixture(scope="module")
def ten(folder):
    """Return the report of ten models."""
    y, scores = simulated([f"model {k}" for k in range(10)], n=3000)
    return Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "ten.html")


@pytest.fixture(params=["small", "ten"])
def report(request):
    """Return a report of few models or of ten."""
    return request.getfixturevalue(request.param)


def test_advice_cost_table_and_curve_are_on_the_first_screen(chromium, report):
    opened(chromium, report, width=1280, height=900)
    assert chromium.run(IN_SIGHT.format("#controls, .range, .advice, .cost, #answer, #plot-regret svg"))
    table, curve = (f"document.querySelector('{key}').getBoundingClientRect()" for key in ("#answer", "#plot-regret"))
    assert chromium.run(f"{table}.right <= {curve}.left")
    assert chromium.run(HEIGHT) <= 5000


def test_advice_and_curve_are_on_the_first_screen_of_a_phone(chromium, report):
    opened(chromium, report, width=390, height=844)
    assert chromium.run(IN_SIGHT.format("#controls, .range, .advice, .cost, #plot-regret svg"))
    assert chromium.run("document.documentElement.scrollWidth") <= 390
    assert chromium.run(HEIGHT) <= 7000


@pytest.mark.parametrize("width", [1280, 390])
def test_the_range_stays_within_reach_at_the_end_of_the_page(chromium, small, width):
    opened(chromium, small, width=width)
    chromium.run(f"window.scrollTo({{top: {HEIGHT}, behavior: 'instant'}})")
    assert chromium.run("window.scrollY") > 500
    assert chromium.run(IN_SIGHT.format("#controls, #controls [role=slider]"))


def test_a_link_opens_the_section_that_it_leads_to_and_its_figure_is_drawn_to_fit(chromium, small):
    opened(chromium, small)
    chromium.run("document.querySelector('nav a[href=\"#roc\"]').click()")
    assert chromium.run("document.querySelector('#roc > details').open")
    plot = "document.getElementById('plot-roc')"
    chromium.wait_for(f"{plot}.clientWidth === {plot}.querySelector('svg').viewBox.baseVal.width")
    assert_clean(chromium, small)


def test_a_range_chosen_after_looking_says_what_it_may_not_claim(chromium, small):
    opened(chromium, small)
    assert LOOKED not in text_of(chromium)
    type_range(chromium, 0.05, 0.4)
    told = text_of(chromium)
    assert LOOKED in told
    for claim in ("USE", "Shown", "cannot tell", "at once", "may be the best", "probability"):
        assert claim not in told
    for name, (values, intervals) in shown(chromium).items():
        assert len(intervals[0].split()) == 2  # of the cost of this row alone
        assert intervals[1] == ""
        assert np.isnan(values[2]), name
    assert not chromium.run("document.getElementById('reset').disabled")
    chromium.run("document.getElementById('reset').click()")
    chromium.wait_for(SETTLED)
    assert LOOKED not in text_of(chromium)
    assert_clean(chromium, small)


RANGES = [
    (costs.Uniform, ends) for ends in ((0.05, 0.15), (0.02, 0.6), (0.3, 0.9), (0.2, 0.2), (0.0, 0.3), (0.0021, 0.0053))
]
RANGES += [(costs.LogOddsUniform, ends) for ends in ((0.05, 0.15), (0.5, 0.9), (0.0, 0.3), (0.4, 1.0), (0.0, 1.0))]
RANGES += [(costs.Uniform, (1.0, 1.0)), (costs.Uniform, (0.2, 0.2001))]


def without_level(sentence):
    """Leave out the interval, which is of the one model here and of all rows there, and what it says of rows."""
    rows = r" (None|Just [\d,]+|[\d,]+) of the [\d,]+ .*| For .*"
    return re.sub(rf" \(95%: [^()]*\)|{rows}", "", sentence.replace("\N{MINUS SIGN}", "-"))


@pytest.fixture(scope="module", params=[{}, {"action": "refuse", "event": "bad loan", "rule": 0.25}], ids=repr)
def told(folder, request):
    """Return labels, scores, the options of an evaluation of them, and its report."""
    y, scores = simulated(["a", "b", "c"], n=1000)
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), **request.param)
    return y, scores, request.param, Report(evaluation, folder / f"sentences{len(request.param)}.html")


def test_shares_and_infinite_costs_elsewhere_are_worded_as_in_the_answer(chromium, folder):
    y = np.repeat([1, 0], 2000)
    scores = np.where(y == 1, np.where(np.arange(4000) < 9, 0.39, 0.9), 0.01)
    report = Report(evaluate(y, {"a": scores}, costs=(0.1, 0.3)), folder / "shares.html")
    opened(chromium, report)
    for make, bounds, told in (
        (costs.Uniform, (0.2, 0.4), "over 99% less than treating everyone."),
        (costs.LogOddsUniform, (0.0, 1.0), "and treating everyone an infinite amount."),
    ):
        choose(chromium, "weighting", "uniform" if make is costs.Uniform else "log-odds")
        type_range(chromium, *bounds)
        wanted = evaluate(y, {"a": scores}, costs=make(*bounds)).answer.cost
        assert f", {told}" in wanted
        assert without_level(text_of(chromium, ".cost")) == without_level(wanted)


@pytest.mark.parametrize(("make", "bounds"), RANGES)
def test_sentences_elsewhere_are_those_of_the_answer(chromium, told, make, bounds):
    y, scores, options, report = told
    opened(chromium, report)
    choose(chromium, "weighting", "uniform" if make is costs.Uniform else "log-odds")
    type_range(chromium, *bounds)
    measure = costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else make(*bounds)
    again = evaluate(y, scores, costs=measure, **options)
    assert text_of(chromium, ".range") == again.answer.meaning
    cost = without_level(again.answer.cost).replace(" on these rows.", ".")  # a page claims nothing of what may be best
    assert without_level(text_of(chromium, ".cost")) == cost
    written = [row[0].replace("\N{MINUS SIGN}", "-").replace("∞", "inf") for row in chromium.run(COSTS)]
    assert written == [row[2] for row in again.answer.cells()[1:]]
    assert [row[2] for row in chromium.run(COSTS)] == [row[6] for row in again.answer.cells()[1:]]
    labels = [row[1] for row in again.answer.cells()[1:]]
    assert [row[1].strip() for row in chromium.run(COSTS)] == labels
    assert text_of(chromium, ".screen .findings").startswith(again.answer.unit)
    assert_clean(chromium, report)


COSTS = """[...document.querySelectorAll('#answer tbody tr')].map(row => [
    row.children[2].firstChild.textContent, row.querySelector('.name, [data-reference]').innerText,
    row.children[5].textContent])"""


def test_why_a_cost_is_infinite_is_told_as_in_the_answer(chromium, folder):
    y = np.array([0, 1] * 150)
    scores = np.where(y == 1, 0.8, 0.3)
    scores[:20] = 1.1 - scores[:20]  # some decisions are wrong, and no score is 0 or 1
    for options in ({"rule": 0.5}, {"harm": 0.02}, {"rule": 0.5, "harm": 0.02}):
        opened(chromium, Report(evaluate(y, {"a": scores}, costs=(0.1, 0.3), **options), folder / "infinite.html"))
        choose(chromium, "weighting", "log-odds")
        type_range(chromium, 0.0, 1.0)
        said = text_of(chromium, ".cost")
        if "harm" in options:
            assert said.startswith("a has an infinite cost: a harm")
            assert ("a score of exactly 0" in said) == ("rule" not in options)
        else:
            assert said == evaluate(y, {"a": scores}, costs=costs.LogOddsUniform(0.0, 1.0), **options).answer.cost
        assert ("fixed threshold" in said) == ("rule" in options)


@pytest.mark.parametrize("bounds", [(0.0, 0.3), (0.0, 1.0)])
@pytest.mark.parametrize("models", [("certain",), ("certain", "sure"), ("certain", "a")])
def test_infinite_costs_are_told_as_in_the_answer(chromium, folder, bounds, models):
    y, scores = simulated(["a"], n=1000)
    scores["a"] = np.clip(scores["a"], 0.01, 0.99)
    scores["certain"] = np.where(np.arange(1000) < 300, 1.0 - y, scores["a"])
    scores["sure"] = np.where(np.arange(1000) < 200, 1.0 - y, scores["a"])
    chosen = {name: scores[name] for name in models}
    report = Report(evaluate(y, chosen, costs=(0.1, 0.3), unit_cost=20.0, per=500.0), folder / "certain.html")
    opened(chromium, report, f"thresholds={bounds[0]}:{bounds[1]}&weighting=log-odds")
    answer = evaluate(y, chosen, costs=costs.LogOddsUniform(*bounds)).answer
    none_best = "No decision can be called best here, for every cost is infinite."
    assert (text_of(chromium, ".advice") == none_best) == (answer.advice == none_best)
    # one model is "the best" here too
    cost = without_level(answer.cost).replace("while a costs", "a, the best model,").replace(" on these rows.", ".")
    assert without_level(text_of(chromium, ".cost")) == cost
    assert text_of(chromium, ".screen .findings") == answer.unit
    assert text_of(chromium, "#answer caption").startswith("Costs on the scale of the loss.")
    for row in answer.table.rows:
        values, _ = shown(chromium)[row["model"]]
        assert values[0] == pytest.approx(row["cost"], rel=1e-9)
        if row["rank"] is None:
            assert values[1] == pytest.approx(row["more"], rel=1e-9, nan_ok=True)
    least = chromium.run("document.getElementById('status').textContent").partition(": ")[2]
    assert least == ("a costs least." if "a" in models else "every model has an infinite cost.")
    assert_clean(chromium, report)


def test_interval_in_the_sentence_is_that_of_the_chosen_one_alone(chromium, small):
    opened(chromium, small)
    type_range(chromium, 0.1, 0.3 * (1.0 + 1e-12))
    best = small.evaluation.best
    low, high = (1000.0 * end for end in best.interval)
    assert f"{best.name} costs {1000.0 * best.score:.0f} per 1,000 decisions (95%: {low:.0f} to {high:.0f})" in text_of(
        chromium
    )


def test_a_reference_costs_least_where_no_model_is_worth_acting_on(chromium, folder):
    y, _ = simulated(["a"], n=1000)
    rng = np.random.default_rng(4)
    scores = {name: rng.random(1000) for name in ("noise", "more noise")}
    report = Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "useless.html")
    opened(chromium, report)
    type_range(chromium, 0.4, 0.6)
    assert text_of(chromium, ".advice") == "Treating no one: no model costs less on these rows."


def test_identical_models_share_the_place(chromium, folder):
    y, scores = simulated(["first", "other"], n=1000)
    scores["twin"] = scores["first"]
    report = Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "twins.html")
    opened(chromium, report)
    type_range(chromium, 0.1, 0.2)
    assert text_of(chromium, ".advice") == "first and twin cost the same on these rows."


def test_an_error_of_the_reported_range_says_so_elsewhere(chromium, folder):
    rng = np.random.default_rng(3)
    y = rng.random(1500) < 0.3
    report = Report(evaluate(y, {"noise": rng.beta(2, 5, size=1500)}, costs=(0.05, 0.15)), folder / "error.html")
    opened(chromium, report)
    assert text_of(chromium, ".grave").startswith("error noise")
    type_range(chromium, 0.05, 0.2)
    assert text_of(chromium, ".grave").startswith("For the range as reported: error noise")


def test_models_beyond_those_drawn_have_costs_without_intervals(chromium, folder):
    y, scores = simulated([f"m{k}" for k in range(22)], n=150)
    report = Report(evaluate(y, scores, costs=(0.1, 0.3)), folder / "many.html")
    opened(chromium, report)
    type_range(chromium, 0.1, 0.2)
    known = [len(intervals[0].replace("NaN", "").split()) for _, intervals in shown(chromium).values()]
    assert sum(known) == 2 * 22  # of the twenty drawn, and of the references
    assert_clean(chromium, report)


def test_the_same_range_gives_the_same_words(chromium, small):
    opened(chromium, small)
    told = []
    for bounds in ((0.05, 0.2), (0.3, 0.6), (0.05, 0.2)):
        type_range(chromium, *bounds)
        told.append(text_of(chromium))
    assert told[0] == told[2] != told[1]


def test_page_in_a_frame_without_an_address_works_without_an_error(chromium, small, folder):
    page = folder / "frame.html"
    inner = html.escape(small.path.read_text(encoding="utf-8"))
    page.write_text(f'<!doctype html><meta charset="utf-8"><title>f</title><iframe srcdoc="{inner}"></iframe>')
    chromium.open(page)
    inside = "document.querySelector('iframe').contentDocument"
    chromium.wait_for(f"{inside}.documentElement.dataset.drawn === 'true'")
    typed = f"{inside}.getElementById('field-low')"
    chromium.run(f"{typed}.value = '2%'; {typed}.dispatchEvent(new Event('change'))")
    chromium.wait_for(f"{inside}.querySelector('.looked') !== null")
    chromium.run("new Promise(done => setTimeout(done, 400))")  # until the page has tried to keep its range
    chromium.run(f"{inside}.querySelector('nav a').click()")
    assert LOOKED in chromium.run(f"{inside}.querySelector('.looked').textContent")
    assert chromium.complaints() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_binned_points_are_drawn_where_an_outcome_weighs_the_rows_of_clusters(chromium, folder, width):
    rng = np.random.default_rng(2)
    outcome = TimeToEvent(time=rng.exponential(4.0, 500), event=rng.random(500) < 0.7, horizon=3.0)
    evaluation = evaluate(outcome, {"a": rng.beta(2.0, 3.0, 500)}, costs=(0.3, 0.6), clusters=np.arange(500) // 2)
    report = write_report(evaluation, folder / "weighed.html")
    chromium.open(report, width=width)
    chromium.wait_for(SETTLED)
    points = "document.querySelectorAll('#plot-reliability .point').length"
    assert chromium.run(points) == 0
    chromium.run("document.querySelector('#figure-reliability [data-shape=followed]').click()")
    assert chromium.run(points) == 10
    assert chromium.complaints() == []


def test_costs_and_their_ends_keep_the_zero_before_the_point():
    y = np.repeat([1, 0], [20, 4000])
    page = evaluate(y, {"a": np.where(np.arange(4020) < 18, 0.9, 0.02)}, costs=(0.2, 0.4)).to_html()
    cost, ends = re.search(r"<bdi>a</bdi></span></th><td data-value=[^>]*>([^<]+)<small>([^<]+)</small>", page).groups()
    assert cost == "0.35"  # two of 4,020 missed at a mean cost of 1 - 0.3
    assert re.fullmatch(r"0\.00 to \d\.\d\d", ends)

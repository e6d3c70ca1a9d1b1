"""The page of rows with amounts: what it says is money, it runs no script, and names from outside are text."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest

from stakes import RowCosts, costs, evaluate
from stakes.report import render_report, write_report
from tests.report.conftest import HOSTILE, simulated
from tests.report.pages import Page
from tests.report.test_accessibility import CALL, RULES


def priced(names, unit="EUR", **options):
    y, scores = simulated(names)
    amount = np.random.default_rng(3).lognormal(3, 0.5, len(y))
    outcome = RowCosts(y, false_positive=7.0, false_negative=amount, unit=unit)
    return evaluate(outcome, scores, **options), y, amount, scores


@pytest.fixture(scope="module")
def ranged():
    rows = np.arange(400) % 2
    return priced(
        ["a", "b"], costs=costs.LogOddsUniform(1 / 3, 2 / 3), groups={"half": np.where(rows, "north", "south")}
    )


def test_page_says_what_decisions_cost_in_money(ranged):
    found, y, amount, scores = ranged
    page = Page(render_report(found))
    wrong = (scores["a"] * amount >= (1 - scores["a"]) * 7.0) != y
    cost = np.where(y, amount, 7.0)[wrong].sum() / len(y) * 1000
    table = next(each for each in page.all("table") if "Cost and gain of each model, EUR per 1,000 rows" in each.text)
    assert f"{cost:,.0f}" in table.text
    assert page.source.count("<caption>Mean over the cost ratios as reported, EUR per 1,000 rows: ") == 3
    assert "per 1,000 EUR at stake" in page.one("p", class_="cost").text
    assert "north" in page.source
    for nonsense in ("AUC", "Reliability", "Brier", "recalibrat", "thresholds, "):
        assert nonsense not in re.sub(r'<section id="method".*', "", page.source, flags=re.DOTALL), nonsense


def test_drawing_says_the_cost_as_stated(ranged):
    found, y, amount, scores = ranged
    figure = Page(render_report(found)).one("svg", role="img")
    told = re.search(r"As stated: .*\ba ([\d.,]+\d)", figure.attributes["aria-label"])[1].replace(",", "")
    wrong = (scores["a"] * amount >= (1 - scores["a"]) * 7.0) != y
    stakes = np.where(y, amount, 7.0)
    assert float(told) == pytest.approx(1000 * stakes[wrong].sum() / stakes.sum(), rel=5e-3)


@pytest.mark.parametrize("asked", [None, (0.05, 0.9)])
def test_drawing_multiplies_the_amounts_of_false_positives_alone(asked):
    y, scores = simulated(["a"])
    rng = np.random.default_rng(5)
    missed, alarm, p = rng.lognormal(3, 0.5, len(y)), rng.uniform(2, 12, len(y)), scores["a"]
    outcome = RowCosts(y, false_positive=alarm, false_negative=missed, unit="EUR")
    page = render_report(evaluate(outcome, p, costs=asked))
    drawing = re.search('<figure id="figure-cost">.*?</svg>', page, re.DOTALL)[0]
    marks = re.findall(r'<text x="([\d.]+)" y="274.0"[^>]*>([\d/]+)<', drawing)
    (zero, _), (height, cost) = re.findall(r'<path d="M48 ([\d.]+)H624"[^>]*/><text[^>]*>([\d.]+)<', drawing)[:2]
    per_pixel = float(cost) / (float(zero) - float(height))
    points = re.findall(r'<polyline points="([^"]+)"', drawing)
    lines = [np.array([point.split(",") for point in each.split()], dtype=float).T for each in points]
    stake = 1000 / np.where(y, missed, alarm).mean()
    assert len(marks) >= 3
    for at, word in marks:
        factor = float(Fraction(word))
        acts = p * missed >= (1 - p) * alarm * factor
        costs = [np.where(y, ~acts * missed, acts * alarm * factor), ~y * alarm * factor, y * missed]
        drawn = [per_pixel * (float(zero) - np.interp(float(at), *each)) for each in lines]
        assert drawn == pytest.approx([stake * each.mean() for each in costs], rel=0.01, abs=2 * per_pixel), word


@pytest.mark.parametrize("asked", [(0.05, 0.9), (0.4, 0.6)])
def test_drawing_has_room_around_the_cost_ratios_and_numbers_at_its_lines(asked):
    found, *_ = priced(["a"], costs=asked)
    svg = re.search('<figure id="figure-cost">.*?</svg>', render_report(found), flags=re.DOTALL)[0]
    left, width = map(float, re.search(r'<clipPath id="inside"><rect x="(\S+)" y="\S+" width="(\S+)"', svg).groups())
    shade = re.search(r'<rect x="(\S+)" y="\S+" width="(\S+)" height="\S+" fill="var\(--band\)"', svg)
    low, wide = map(float, shade.groups())
    assert left + 0.04 * width < low < low + wide < left + 0.96 * width
    lines = re.findall(r'<path d="M\S+ (\S+)H\S+" stroke="var\(--grid-strong\)"/><text x="\S+" y="(\S+)"', svg)
    assert len(lines) >= 3
    middle = [float(word) - 0.36 * 12 - float(line) for line, word in lines]  # digits are 0.72 of the font's size high
    assert middle == pytest.approx([0.0] * len(lines), abs=2.0)


def test_drawing_says_that_it_leaves_models_out():
    found, *_ = priced([f"m{i}" for i in range(21)], costs=(0.4, 0.6))
    figure = Page(render_report(found)).one("figure")
    assert "Only the 20 models that cost least are drawn, of 21." in figure.text
    assert found.ranking[20] not in figure.text.split()
    assert found.ranking[19] in figure.text.split()


def test_names_and_units_are_text():
    found, *_ = priced(HOSTILE[:4], unit=HOSTILE[0], costs=(0.4, 0.6))
    page = render_report(found, title="<script>alert(1)</script>")
    for forbidden in ("<script", "<img", 'javascript:alert(2)"', "\u202e", "script-src"):
        assert forbidden not in page


def test_means_that_do_not_exist_are_left_out_with_a_sentence():
    whole, *_ = priced(["a"], costs=(0.0, 0.9))
    page = render_report(whole)
    assert page.count("<caption>Mean over the cost ratios") == 2  # none with false positives held
    assert "Not every mean over the cost ratios is shown" in page
    assert "Not every mean" not in render_report(priced(["a"])[0])


def test_gains_as_they_are_leave_nothing_to_save_and_are_shown():
    y, scores = simulated(["a"])
    outcome = RowCosts(y, matrix=(-5, 1, 20, -300), unit="EUR")
    found = evaluate(outcome, scores)
    page = Page(render_report(found))
    table = next(each for each in page.all("table") if "Cost and gain of each model, EUR per 1,000 rows" in each.text)
    for part in (found.money["a"].cost, found.money["a"].gain):
        assert f"{part.value:,.0f}".replace("-", "\N{MINUS SIGN}") in table.text
    assert "savings need a cost to save, but acting on everybody costs" in page.source


def test_rules_other_than_the_score_have_no_money():
    y, scores = simulated(["a"])
    page = render_report(evaluate(RowCosts(y, false_positive=1, false_negative=9), scores, rule=0.4))
    assert "Money is not shown: it is that of acting by the cost ratio, and these follow another rule" in page


@pytest.fixture(scope="module")
def path(ranged, folder):
    return write_report(ranged[0], folder / "amounts.html")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_browser_and_axe_find_nothing_wrong(chromium, axe, path, width, scheme):
    chromium.open(path, width=width, scheme=scheme)
    assert chromium.complaints() == []
    assert chromium.requests(path) == []
    chromium.run(axe + "; 0")
    assert json.loads(chromium.run(CALL.format(RULES))) == []

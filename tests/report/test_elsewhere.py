"""Away from the reported range: intervals, p-values and sentences are the library's."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy import stats

from stakes import costs, evaluate
from stakes.outputs.text import say
from tests.report.conftest import simulated
from tests.report.pages import numbers
from tests.report.reader import Report, assert_clean, assert_ranking_is_the_librarys, choose, opened, shown, type_range

TAILS = """[...document.querySelectorAll('#ranking tbody tr')].map(row => [
    row.querySelector('th .name, th [data-reference]').textContent.trim(),
    ...[...row.children].slice(5).map(cell => cell.dataset.p ?? '')])"""


def tails(chromium):
    """Return the p-values of every row against the best model, treating all and treating none."""
    return {name: [float(p or "nan") for p in (cells[0], *cells[2:])] for name, *cells in chromium.run(TAILS)}


@pytest.fixture(scope="module")
def report_once(folder):
    """Return a function that evaluates and writes a report the first time that it is asked for, by name."""
    known = {}

    def report(name, *data, **options):
        if name not in known:
            known[name] = Report(evaluate(*data, **options), folder / f"{name}.html")
        return known[name]

    return report


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
    # the page has the degrees of freedom of clusters over the range as reported
    apart = 0.1 if "clusters" in dependence else 1e-5
    for name in evaluation.models:
        others = [next(iter(shown_rows)), "treat all", "treat none"]
        for other, place, p in zip(others, (3, 5, 6), shown_tails[name], strict=True):
            if other == name:
                continue
            found = again.compare(name, other)
            ends = [float(end) for end in shown_rows[name][1][place].split()]
            assert ends == pytest.approx(found.interval, rel=apart, abs=apart * found.standard_error)
            assert p == pytest.approx(found.p_value, rel=20 * apart, abs=max(0.1 * apart, 1e-5))
    words = "The light band is" if "clusters" in dependence else "No band is drawn, for a band would take the rows as"
    assert words in chromium.run("document.querySelector('#regret figcaption').textContent")
    assert_clean(chromium, report)


@pytest.mark.parametrize("dependence", [{}, {"clusters": np.arange(400) // 4}], ids=repr)
@pytest.mark.parametrize(
    "bounds",
    [
        (0.05, 0.6),
        (0.21, 0.22),
        *(pytest.param(ends, marks=pytest.mark.thorough) for ends in ((0.0, 1.0), (0.08, 0.12))),
    ],
)
def test_p_values_and_intervals_follow_from_the_covariances_of_the_page(chromium, report_once, dependence, bounds):
    report = report_once(f"tails {[*dependence]}", *simulated(["a", "b", "c"]), costs=(0.1, 0.3), **dependence)
    opened(chromium, report)
    type_range(chromium, *bounds)
    spread = report.page.payload["spread"]
    cuts, covariances = numbers(spread["cuts"]), numbers(spread["covariances"]).reshape(len(spread["pairs"]), -1)
    width = np.clip(np.minimum(cuts[1:], bounds[1]) - np.maximum(cuts[:-1], bounds[0]), 0.0, None)
    weights = width / np.diff(cuts) / (bounds[1] - bounds[0])
    rows, columns = np.triu_indices(len(weights))
    form = np.where(rows == columns, 1.0, 2.0) * weights[rows] * weights[columns]
    errors = dict(zip(map(tuple, spread["pairs"]), np.sqrt(covariances @ form), strict=True))
    free = dict(zip(map(tuple, spread["pairs"]), numbers(spread["degrees"]), strict=True))
    places = {model["name"]: k for k, model in enumerate(report.page.payload["models"])}
    places |= {"treat all": 3, "treat none": 4}
    table, found = shown(chromium), tails(chromium)
    best = next(iter(table))
    for name, (values, intervals) in table.items():
        for other, place, p in zip((best, "treat all", "treat none"), (3, 5, 6), found[name], strict=True):
            if other == name:
                assert math.isnan(p)
                continue
            pair = tuple(sorted((places[name], places[other])))
            error, law = errors[pair], stats.t(free[pair])
            assert p == pytest.approx(2 * law.sf(abs(values[place]) / error), rel=1e-4)
            ends = values[place] + law.ppf([0.025, 0.975]) * error
            assert [float(end) for end in intervals[place].split()] == pytest.approx(ends, abs=1e-9)


def sentences(chromium):
    """Return the conclusion as it stands, without its figures in brackets and its intervals."""
    nodes = "[...document.querySelectorAll('#stake .lead, #stake .findings li')].map(node => node.textContent)"
    return [bare(text) for text in chromium.run(nodes)]


def bare(sentence):
    """Leave out what the page knows approximately only."""
    text = re.sub(r" \([^()]*(interval|%|by at least)[^()]*\)", "", sentence.replace("\N{MINUS SIGN}", "-"))
    text = re.sub(r"(probability|expected to cost) (above |less than )?[\d.]+%?", r"\1", text)
    return re.sub(r"(best decision: ).*", r"\1", text)


def without_thresholds(conclusion):
    """Leave out what is said of every threshold, which the page knows for the range as reported only, and says so."""
    return [sentence for sentence in conclusion if "every threshold" not in sentence]


def of_all_kinds():
    """Labels, and scores that help, that are too high, that are too low, and that are the same for everyone."""
    y, scores = simulated(["helps", "also helps"], n=3989)
    scores |= {"high": scores["helps"] ** 0.3, "low": 0.02 * scores["helps"], "same": np.full(len(y), y.mean())}
    scores["sure"] = (scores["helps"] > 0.5).astype(float)
    return y, scores


TOLD = [(costs.Uniform, ends) for ends in ((0.05, 0.15), (0.02, 0.6), (0.3, 0.9), (0.2, 0.2), (0.003, 0.05))]
TOLD += [(costs.LogOddsUniform, ends) for ends in ((0.05, 0.15), (0.02, 0.6), (0.3, 0.9))]


OFTEN = [*[({}, *told) for told in TOLD[:6:2]], ({"rule": 0.25}, *TOLD[1]), ({"per": 1000, "unit_cost": 50}, *TOLD[6])]
SELDOM = [*[({}, *told) for told in (*TOLD[1::2], TOLD[6])], *[({"rule": 0.25}, *told) for told in TOLD[3::2]]]
SELDOM += [({"per": 1000, "unit_cost": 50}, *TOLD[0])]


@pytest.mark.parametrize(
    ("options", "make", "bounds"), [*OFTEN, *[pytest.param(*case, marks=pytest.mark.thorough) for case in SELDOM]]
)
def test_sentences_elsewhere_are_the_librarys(chromium, report_once, make, bounds, options):
    y, scores = of_all_kinds()
    report = report_once(f"words {[*options]}", y, scores, costs=(0.1, 0.3), **options)
    opened(chromium, report)
    choose(chromium, "weighting", "uniform" if make is costs.Uniform else "log-odds")
    type_range(chromium, *bounds)
    measure = costs.Fixed(bounds[0]) if bounds[0] == bounds[1] else make(*bounds)
    again = evaluate(y, scores, costs=measure, **options)
    told = sentences(chromium)
    assert without_thresholds(told) == [bare(sentence) for sentence in without_thresholds(again.conclusion)]
    assert [say("every_unsaid")] * (bounds[0] < bounds[1]) == [s for s in told if "every threshold" in s]
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
def test_intervals_are_widened_where_few_rows_carry_a_cost(chromium, report_once, rule, bounds, wide):
    rng = np.random.default_rng(7)
    risk = rng.beta(0.6, 12.0, size=1500)
    y = rng.random(1500) < risk
    scores = {"plain": risk, "noisy": np.clip(risk + 0.05 * rng.normal(size=1500), 0.0, 1.0)}
    report = report_once(f"few {rule}", y, scores, costs=(0.0, 1.0), rule=rule)
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
            widths.append((high - low) / (found.interval[1] - found.interval[0]))
            notes += " at least 5 must" in found.note or "has room for" in found.note
    assert notes == wide
    # the page keeps the degrees of freedom of the report's own range, here 0 to 1
    assert widths == pytest.approx([1.0] * 4, rel=0.4)


def test_decisions_fitted_to_the_rows_have_no_intervals_and_the_page_says_why(chromium, folder):
    report = Report(evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), rule="optimal"), folder / "fitted.html")
    opened(chromium, report)
    why = "for the decisions were fitted to these same rows"
    assert f"No band is drawn, {why}" in chromium.run("document.querySelector('#regret').textContent")
    type_range(chromium, 0.05, 0.6)
    assert f"Which decision is best cannot be said with confidence here, {why}" in chromium.run(
        "document.querySelector('#stake').textContent"
    )
    assert f"there are no intervals, {why}" in chromium.run("document.querySelector('#regret').textContent")
    assert "no interval" in chromium.run("document.querySelector('#ranking tbody').textContent")
    assert not any(math.isfinite(p) for row in tails(chromium).values() for p in row)

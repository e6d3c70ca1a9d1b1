"""What the page says, how it is built, and that nothing in it comes from or goes elsewhere."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from stakes import TimeToEvent, costs, evaluate
from stakes.inference import confidence_band
from stakes.report import render_report
from stakes.report._any_range import is_even
from stakes.report._page import models_of
from stakes.report._sections import deferral_section
from tests.report.conftest import HOSTILE, simulated
from tests.report.pages import Page, numbers

MOST_BYTES = 6_000_000
OPEN = ["decision", "threshold", "reliability", "findings"]
CLOSED = ["calibration", "decomposition", "further", "roc", "data", "method"]
SECTIONS = ["stake", *OPEN, *CLOSED]
FIGURES = ["regret", "decision", "reliability", "decomposition", "roc"]


def render(evaluation, **options):
    return Page(render_report(evaluation, **options))


def test_page_has_one_heading_landmarks_and_a_language(page):
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("h1").text == "What acting on these predictions would cost"
    assert page.one("main")
    assert page.one("nav").attributes["aria-label"] == "Sections"
    assert [e.attributes["id"] for e in page.all("section")] == SECTIONS
    assert len(page.all("h2")) == len(SECTIONS)
    folds = [e for e in page.all("details") if e.inside[-1] == "section"]
    assert ["open" in e.attributes for e in folds] == [True] * len(OPEN) + [False] * len(CLOSED)


def test_every_table_has_a_caption_and_row_and_column_headings(page):
    tables = page.all("table")
    assert len(page.all("caption")) == len(tables) >= 4
    assert all(e.attributes["scope"] in {"row", "col"} for e in page.all("th"))


def test_every_figure_has_words_for_those_who_do_not_see_it(page):
    plots = page.all("div", _class="plot")
    assert [e.attributes["id"] for e in plots] == [f"plot-{key}" for key in FIGURES]
    assert all(e.attributes["role"] == "img" and len(e.attributes["aria-label"]) > 60 for e in plots)
    assert len(page.all("figcaption")) == len(plots)


def test_curves_that_cross_have_a_section_with_the_band_of_their_difference(page):
    assert page.payload["crossing"] == []
    y, scores = simulated(["plain"], n=3000)
    evaluation = evaluate(y, np.where(scores["plain"] < 0.3, 0.001, scores["plain"]), costs=(0.02, 0.8))
    crossing = render(evaluation)
    assert [e.attributes["id"] for e in crossing.all("section")][1:4] == ["decision", "crossing", "threshold"]
    (pair,) = crossing.payload["crossing"]
    band = evaluation.crossing["treat all"]
    assert (pair["name"], pair["model"]) == ("treat all", None)
    limits = np.concatenate([band.simultaneous_low, band.simultaneous_high])
    assert np.allclose(numbers(pair["limits"]), limits, atol=1e-7)
    assert "treating everyone" in crossing.one("figure", id="figure-crossing").text


def test_words_of_a_figure_give_the_main_numbers(page, example):
    best = example.ranking[0]
    for kind, key in (("regret", "regret"), ("net_benefit", "decision")):
        curve = example.curves(kind)[best]
        every, none = curve.references.values()
        lines = {best: curve, "treat everyone": every, "treat no one": none}
        numbers = ", ".join(f"{name} {1000.0 * float(line.at(0.2)):.3g}" for name, line in lines.items())
        assert f"At a threshold of 20%: {numbers}." in page.one("div", id=f"plot-{key}").attributes["aria-label"]


def test_identifiers_are_unique(page):
    names = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(names) == len(set(names))


def test_policy_allows_the_scripts_of_the_page_and_nothing_from_elsewhere(page):
    policy = page.policy
    assert policy["default-src"] == "'none'"
    assert policy["script-src"].split() == [
        f"'sha256-{base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()}'"
        for script in page.all("script")
        if "type" not in script.attributes
    ]
    assert not re.search(r"https?:|\*|unsafe-eval", " ".join(policy.values()))
    # the policy binds only what follows it
    assert page.source.index("Content-Security-Policy") < page.source.index("<style>")


def test_only_links_in_the_text_lead_elsewhere(page):
    for element in page.elements:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            value = element.attributes.get(name, "")
            if element.tag == "a" and name == "href":
                assert value.startswith(("#", "https://doi.org/", "https://arxiv.org/"))
            else:
                assert value.startswith("data:") or not value, (element.tag, value)
        assert not [name for name in element.attributes if name.startswith("on")]
    own = "".join(e.text for e in page.elements if e.tag == "style") + page.all("script")[-1].text
    namespace = "http://www.w3.org/2000/svg"
    assert not re.search(r"https?:|@import|url\((?!#)", own.replace(namespace, ""))


def plain(text):
    """Return text as the library writes it."""
    return " ".join(text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-").split())


def test_table_is_that_of_the_answer(page, example):
    rows = [[plain(cell) for cell in row] for row in page.rows("answer")]
    expected = []
    for rank, label, cost, interval, more, best, auc in example.answer.cells()[1:]:
        value, _, gap = more.partition(" (")
        expected.append([rank, label, plain(cost) + plain(interval), plain(value) + plain(gap.strip(")")), best, auc])
    expected[0][3] = "\N{EN DASH}"  # the first costs nothing more than itself
    assert rows == expected


def test_first_screen_says_what_the_answer_says_and_once(page, example):
    text, answer = plain(page.one("section", id="stake").text), example.answer
    for sentence in (answer.meaning, *answer.sentences, answer.unit):
        assert text.count(sentence) == 1
    for finding in answer.findings:
        assert f"{finding.severity} {finding.sentence}" in text
    assert plain(page.one("p", _class="facts").text) == answer.read


def test_first_screen_has_one_unit_and_no_probability_of_being_best(page):
    text = plain(page.one("section", id="stake").text)
    assert "probability" not in text
    assert set(re.findall(r"per ([\d,]* ?[a-z]+)", text)) == {"1,000 decisions"}


def test_method_states_what_the_numbers_do_not_say(page):
    text = page.one("section", id="method").text
    for words in ("in-sample", "optimistic", "independent", "chosen on these rows", "arXiv:2504.04528", "regret"):
        assert words in text or words in page.one("main").text
    for identifier in ("arXiv:2504.04528", "doi:10.1073/pnas.2016191118", "doi:10.1177/0272989X06295361"):
        assert identifier in text


def test_findings_stand_with_severity_code_and_remedy(page, example):
    text = page.one("section", id="findings").text.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
    assert len(example.findings) > 0
    for finding in example.findings:
        assert f"{finding.severity} {finding.code}{finding.sentence}{finding.remedy}" in text


def test_no_findings_are_said_so():
    y, scores = simulated(["a"], n=4000)
    evaluation = evaluate(y, {"a": np.clip(scores["a"], 0.001, 0.999)}, costs=(0.1, 0.6))
    object.__setattr__(evaluation, "findings", evaluation.check(ignore=evaluation.findings.codes))
    assert re.search(r"None of the \d+ checks", render(evaluation).one("section", id="findings").text)


def test_hostile_names_in_findings_are_text():
    y, scores = simulated([*HOSTILE, "{0}"])
    hard = evaluate(y, {name: (s > 0.3).astype(float) for name, s in scores.items()}, costs=(0.1, 0.3))
    page = render(hard)
    assert len(page.all("script")) == 2
    assert not page.all("img")
    text = page.one("section", id="findings").text
    assert "</script><img src=x onerror=alert(1)>" in text
    assert "{0}" in text
    assert "x" * 50 not in text
    assert "\u202e" not in page.source


def test_signs_in_findings_are_typeset():
    rng = np.random.default_rng(0)
    risk = rng.beta(1.0, 5.0, size=4000)
    sharp_but_high, honest = risk**0.3, 0.3 * risk + 0.7 * risk.mean()
    blurred = np.where(rng.random(4000) < 0.7, honest, rng.permutation(honest))
    evaluation = evaluate(rng.random(4000) < risk, {"sharp": sharp_but_high, "honest": blurred}, costs=(0.1, 0.3))
    assert "auc-disagrees" in evaluation.findings.codes
    section = render(evaluation).source.split('<section id="findings"')[1]
    assert "p\N{NO-BREAK SPACE}&lt;\N{NO-BREAK SPACE}0.001" in section


def test_hostile_group_in_findings_is_text():
    y, scores = simulated(["a"], n=4000)
    groups = np.array(["<script>alert(1)</script>{0}\u202e", "b"])[np.arange(len(y)) % 2]
    worse = np.where(groups == "b", scores["a"], np.random.default_rng(0).permutation(scores["a"]))
    evaluation = evaluate(y, {"a": np.clip(worse, 0.001, 0.999)}, costs=(0.1, 0.3), groups=groups)
    assert "group-not-as-promised" in evaluation.findings.codes
    page = render(evaluation)
    assert len(page.all("script")) == 2
    assert "decisions in <script>alert(1)</script>{0}\\u202e than" in page.one("section", id="findings").text


def test_data_section_counts_rows_weights_and_source():
    y, scores = simulated(["a"])
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), sample_weight=np.full(len(y), 2.5))
    object.__setattr__(evaluation, "source", "<i>folder</i>/predictions.csv")
    object.__setattr__(evaluation, "n_dropped", 7)
    text = render(evaluation).one("section", id="data").text
    for words in ("Source<i>folder</i>/predictions.csv", "Rows400", "incomplete7", "total weight 1,000", "stakes 0."):
        assert words in text


def test_rows_of_which_one_class_is_weighted_are_weighted():
    y, scores = simulated(["a"])
    y = np.asarray(y)
    for weight in (np.where(y == 1, 1.0, 10.0), np.where(y == 1, 10.0, 1.0)):
        text = render(evaluate(y, scores, costs=(0.1, 0.3), sample_weight=weight)).one("section", id="data").text
        assert f"total weight {weight.sum():,.0f}" in text


def test_a_model_has_one_colour_and_one_dash_everywhere(page):
    looks = {(model["colour"], tuple(model["dash"])) for model in page.payload["models"]}
    assert len(looks) == 3
    for place, model in enumerate(page.payload["models"]):
        labels = page.source.split(f'data-show="{place}"')[1:]
        assert len(labels) == len(FIGURES)
        assert all(f"var(--model-{model['colour']})" in label.split("</label>")[0] for label in labels)


@pytest.mark.parametrize(("count", "every"), [(1, False), (2, True), (3, True)])
def test_the_bands_of_several_models_may_be_drawn_at_once(count, every):
    y, scores = simulated(["a", "b", "c"][:count])
    page = render(evaluate(y, scores, costs=(0.1, 0.3)))
    assert ('<option value="all">' in page.source) is every


def test_colours_are_defined_for_light_and_dark(page):
    light, dark = page.one("style").text.split("prefers-color-scheme: dark", 1)
    used = set(re.findall(r'"(--[a-z]+(?:-[a-z]+)*)"', page.all("script")[-1].text))
    used |= {f"--model-{model['colour']}" for model in page.payload["models"]}
    assert len(used) > 4
    for name in used:
        assert f"{name}:" in light, name
        assert f"{name}:" in dark, name


def test_range_and_weighting_of_the_evaluation_are_in_the_page(page):
    assert page.payload["own"] == {"low": 0.1, "high": 0.3, "weighting": "uniform"}
    assert [e.text for e in page.all("button", data_view="whole")] == ["Whole range"] * 3


def test_groups_stand_with_hostile_labels_as_text():
    y, scores = simulated(["a", "b"])
    labels = np.array(["<img src=x onerror=alert(1)>", "\u202eright"])[np.arange(len(y)) % 2]
    page = render(evaluate(y, scores, costs=(0.1, 0.3), groups={"</caption><script>": labels}))
    text = page.one("section", id="groups").text
    assert "Every model in every group of </caption><script>" in text
    assert "<img src=x onerror=alert(1)>" in text
    assert not page.all("img")
    assert "\u202e" not in page.source
    assert len(page.rows("Every model")) == 4


def test_groups_are_compared_by_what_the_scores_promise_there():
    y, scores = simulated(["a"], n=2000)
    groups = np.where(np.arange(len(y)) % 2, "one", "two")
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), groups={"half": groups})
    rows = {row[1]: row for row in render(evaluation).rows("Every model in every group of half")}
    for name in ("one", "two"):
        mine = groups == name
        act = scores["a"][mine]
        low, high = np.clip(act, 0.1, 0.3), 0.3
        loss = {False: 1000 * (low**2 - 0.01) / 0.4, True: 1000 * ((1 - low) ** 2 - (1 - high) ** 2) / 0.4}
        observed = np.where(y[mine], loss[True], loss[False])
        promised = act * loss[True] + (1 - act) * loss[False]
        shown = float(re.match(r"[-+]?\d+", rows[name][5].replace("\N{MINUS SIGN}", "-"))[0])
        assert shown == pytest.approx(np.mean(observed - promised), abs=1.0)
        assert float(re.match(r"\d+", rows[name][4])[0]) == pytest.approx(np.mean(observed), abs=1.0)


def test_provenance_stands_with_the_data():
    y, scores = simulated(["a"])
    evaluation = evaluate(y, scores, costs=(0.1, 0.3))
    known = {"sha256": "ab" * 32, "label": "<cancer>", "weight": "w"}
    text = render(replace(evaluation, provenance=known)).one("section", id="data").text
    for words in ("SHA-256" + "ab" * 32, "Label column<cancer>", "Weight columnw"):
        assert words in text


@pytest.fixture(scope="module")
def hostile_page(hostile):
    return render(hostile, title="</title><script>alert(5)</script>")


def test_hostile_names_are_text(hostile_page):
    page = hostile_page
    assert len(page.all("script")) == 2
    assert not page.all("img")
    assert len(page.all("title")) == 1
    assert page.one("h1").text == "</title><script>alert(5)</script>"
    assert {e.attributes["href"][:8] for e in page.all("a")} <= {"https://", *(f"#{key}"[:8] for key in SECTIONS)}
    names = [row[1].strip() for row in page.rows("answer")]
    assert "</script><img src=x onerror=alert(1)>" in names
    assert "\\u202egnp.exe\\u2066" in names
    assert len(set(names)) == len(HOSTILE) + 2
    assert max(map(len, names)) < 50
    assert "\u202e" not in page.source
    full = [e.attributes["title"] for e in page.all("bdi") if "title" in e.attributes]
    assert "x" * 10_000 in full
    assert "x" * 9_999 + "y" in full
    assert len(page.source.encode()) < MOST_BYTES


def test_hostile_names_cannot_end_the_data_of_the_page(hostile_page):
    names = [model["name"] for model in hostile_page.payload["models"]]
    assert "</script><img src=x onerror=alert(1)>" in names
    assert not set("<>&") & set(hostile_page.one("script", id="payload").text)


@pytest.mark.parametrize("n", [150, pytest.param(5000, marks=pytest.mark.thorough)])
def test_page_of_more_models_than_can_be_drawn_is_small_and_ranks_all(n):
    page = render(evaluate(*simulated([f"m{k}" for k in range(25)], n=n), costs=(0.05, 0.2)))
    assert len(page.source.encode()) < MOST_BYTES
    assert len(page.rows("answer")) == 27
    assert "The figures show the 20 best of the 25 models." in page.one("main").text
    assert len(page.payload["models"]) == 25
    assert page.payload["drawn"] == 20
    assert len(page.all("input", type="checkbox")) == 20 * len(FIGURES)


def test_each_model_has_what_it_costs_with_the_option_to_defer():
    evaluation = evaluate(*simulated(["a", "b", "c"], n=150), costs=0.2).with_deferral(0.02)
    rows = render(evaluation).rows("with and without the option to defer")
    assert [row[1] for row in rows] == [*evaluation.ranking]
    for _, name, cost, without, *_ in rows:
        found = evaluation.deferral[name]
        assert [float(cost), float(without)] == pytest.approx([found.cost, found.cost_without], abs=6e-4)


@pytest.mark.parametrize(
    ("capacity", "limit"),
    [
        (None, ""),
        (1, "At most 1 case is deferred. "),
        (1500, "At most 1,500 cases are deferred. "),
        (0.2, "At most 20% of cases are deferred. "),
    ],
)
def test_the_most_cases_and_the_scores_that_are_deferred_are_said(capacity, limit):
    evaluation = evaluate(*simulated(["a"], n=150), costs=0.2).with_deferral(0.02, capacity=capacity)
    page = render(evaluation)
    assert f"cost 1 together. {limit}Models are compared" in page.one("section", id="deferral").text
    (row,) = page.rows("with and without the option to defer")
    low, high = (float(end.removesuffix("%")) / 100.0 for end in row[6].split(" to "))
    # by Chow's rule: where acting and not acting both cost more than the fee
    most, least = 1.0 - 0.02 / 0.2, 0.02 / (1.0 - 0.2)
    if capacity in (None, 1500):
        assert (low, high) == (pytest.approx(least), pytest.approx(most))
    else:
        assert least < low < 0.2 < high < most  # next to the threshold, where deciding is dearest
        asked, score = evaluation.deferral["a"].shares["deferred"], simulated(["a"], n=150)[1]["a"]
        assert np.mean((score > low - 1e-3) & (score < high + 1e-3)) == pytest.approx(asked, abs=0.02)


@pytest.mark.parametrize("fee", [0.0, 0.07, 0.158, 0.9])
def test_costs_over_the_fee_are_drawn_to_scale_and_the_fee_is_marked(fee):
    evaluation = evaluate(*simulated(["a", "b", "c"], n=150), costs=0.2).with_deferral(fee)
    figure = deferral_section(evaluation, models_of(evaluation)).split("Cost of a case over the fee")[1]
    assert re.findall("<bdi>(.)</bdi>", figure) == [*evaluation.ranking]
    width, height = map(float, re.search(r'viewBox="0 0 (\d+) (\d+)" role', figure).groups())
    left, top, bottom, right = map(float, re.search(r'd="M(\d+) (\d+)V(\d+)H(\d+)"', figure).groups())
    last = 0.2 * (1.0 - 0.2)  # no case can be worth a higher fee
    mark = left + (right - left) * min(fee / last, 1.0)
    assert [float(x) for x in re.findall(r'd="M([\d.]+) \d+V\d+"', figure)] == [pytest.approx(mark, abs=0.06)]
    points = {
        colour: np.array([place.split(",") for place in places.split()], dtype=float).T
        for places, colour in re.findall(r'points="([^"]+)" stroke="var\(--model-(\d)', figure)
    }
    dashes = [
        dict(re.findall(line + r'(?: stroke-dasharray="([\d ,]+)")? fill', figure))
        for line in (
            r'points="[^"]+" stroke="var\(--model-(\d)\)" stroke-width="2"',
            r'd="M1 5H33" stroke="var\(--model-(\d)\)" stroke-width="3"',
        )
    ]
    assert dashes[0] == dashes[1]  # of the lines and of their samples beside the names
    assert "" in dashes[0].values()
    assert len({*dashes[0].values()}) > 1
    found = evaluation.deferral
    highest = max(float(line.max()) for line in found.over_fees.values())
    unit = (bottom - min(y.min() for _, y in points.values())) / highest
    assert top < bottom - unit * highest < top + 12
    for colour, name in enumerate(evaluation.models, start=1):
        x, y = points[str(colour)]
        assert x == pytest.approx(left + (right - left) * found.fees / last, abs=0.06)
        assert bottom - y == pytest.approx(unit * found.over_fees[name], abs=0.2)
    words = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)" font-size="12"[^>]*>([^<]+)<', figure)
    boxes = {}
    for x, y, anchor, word in words:
        start = float(x) - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * 7.0 * len(word)
        boxes.setdefault(word, []).append((start, start + 7.0 * len(word), float(y) - 9.0, float(y) + 3.0))
    zeros = sorted(boxes["0"])
    assert zeros[0][1] < left < zeros[1][1]  # beside the axis, and below it
    assert zeros[0][2] < bottom < zeros[1][2]
    (end,), (level,), (named,) = boxes["0.16"], boxes[f"{highest:.3g}"], boxes[f"fee {fee:.3g}"]
    assert end[0] < right <= end[1]
    assert level[1] < left
    assert level[3] < top + 24.0
    assert named[0] - 0.1 <= mark <= named[1] + 0.1
    assert min(end[2], named[2]) > bottom
    every = [box for some in boxes.values() for box in some]
    assert len(every) == 5
    assert all(x0 >= 0.0 and x1 <= width and y0 >= 0.0 and y1 <= height for x0, x1, y0, y1 in every)
    apart = [a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2] for a, b in combinations(every, 2)]
    assert all(apart)


def test_no_costs_over_the_fee_are_drawn_where_deferring_is_worth_nothing():
    evaluation = evaluate(*simulated(["a"], n=150), costs=0.2).with_deferral(costs.Deferral(0.0, 0.9, 0.9))
    section = deferral_section(evaluation, models_of(evaluation))
    assert "with and without the option to defer" in section
    assert "over the fee" not in section


def test_samples_of_lines_are_dashed_unless_their_line_is_solid():
    page = render(evaluate(*simulated([f"m{k}" for k in range(6)], n=150), costs=(0.05, 0.2)))
    sample = r'stroke="var\(--model-(\d+)\)" stroke-width="3"(?: stroke-dasharray="([\d ,]+)")? fill'
    found = {colour: re.findall(r"\d+", pattern) for colour, pattern in re.findall(sample, page.source)}
    drawn = {str(model["colour"]): [f"{length:g}" for length in model["dash"]] for model in page.payload["models"]}
    assert [] in drawn.values()
    assert len({*map(tuple, drawn.values())}) > 1
    assert {colour: found[colour] for colour in drawn} == drawn


def test_infinite_costs_are_shown_and_not_drawn():
    y, scores = simulated(["finite"])
    scores["infinite"] = (scores["finite"] > 0.5).astype(float)
    evaluation = evaluate(y, scores, costs=costs.LogOddsUniform(0, 1))
    assert math.isinf(evaluation["infinite"].score)
    page = render(evaluation)
    assert page.rows("answer")[1][2] == "∞no interval"
    assert page.rows("Decomposition")[1][2:4] == ["∞", "∞"]
    assert [model["ownParts"] is None for model in page.payload["models"]] == [False, True]
    assert "infinite or undefined: infinite." in page.one("section", id="decomposition").text


@pytest.mark.parametrize(
    "measure",
    [
        costs.Fixed(0.2),
        costs.Fixed(0.0),
        costs.Fixed(1.0),
        costs.Uniform(0, 1),
        costs.Uniform(0.97, 0.999),
        costs.Beta(2, 50),
        costs.Empirical([0.02, 0.05, 0.1]),
        costs.LogOddsUniform(0.01, 0.2),
    ],
    ids=repr,
)
@pytest.mark.parametrize("rule", ["score", "optimal", 0.3])
def test_every_kind_of_costs_and_rule_is_reported(measure, rule):
    page = render(evaluate(*simulated(["a", "b"], n=60), costs=measure, rule=rule))
    assert len(page.payload["models"]) == 2
    assert not re.search(r"\bnan\b", page.one("section", id="stake").text)


def test_score_table_alone_is_reported():
    from stakes import ScoreTable

    y, scores = simulated(["a"])
    page = render(evaluate(ScoreTable.from_predictions(y, scores["a"]), costs=(0.1, 0.3)))
    assert page.rows("answer")[0][1].strip() == "model"


def test_money_is_named_and_counted_per_1000_decisions():
    page = render(evaluate(*simulated(["a", "b"]), costs=(0.1, 0.3), unit_cost=500))
    text = plain(page.one("section", id="stake").text)
    assert "Costs are in money: one missed positive plus one false alarm cost 500." in text
    assert page.payload["unit"] * page.payload["per"] == 500_000.0


def test_another_number_of_decisions_is_counted_where_it_is_named():
    y, scores = simulated(["a", "b"])
    page = render(evaluate(y, scores, costs=(0.1, 0.3), per=50))
    assert page.payload["per"] == 50.0
    assert "cost per 50 decisions, at each threshold" in page.one("figure", id="figure-regret").text


def test_decisions_and_events_are_called_as_asked():
    y, scores = simulated(["a", "b"])
    page = render(evaluate(y, scores, costs=(0.1, 0.3), action="refuse", event="<bad> loan"))
    text = plain(page.one("section", id="stake").text)
    assert "Refusing from a risk of 10% to 30%: one missed <bad> loan is as bad as" in text
    assert [row[1].strip() for row in page.rows("answer")][2:] == ["refuse everyone", "refuse no one"]
    assert page.payload["words"]["decisions"]["treat all"] == "refusing everyone"


def scored(*, knowing):
    """Labels with scores that are too high below and too low above, or with scores that know nothing of them."""
    rng = np.random.default_rng(0)
    risk = rng.beta(2, 6, 5000)
    if not knowing:
        return np.arange(5000) % 2 == 0, rng.random(5000), (0.2, 0.6)
    return rng.random(5000) < risk, (risk + np.where(risk < 0.2, 0.25, -0.2)).clip(0.0), (0.05, 0.6)


@pytest.mark.parametrize(
    ("knowing", "pairs"),
    [(True, ["m - refusing everyone", "m - refusing no one"]), (False, ["refusing everyone - m"])],
    ids=["a model is chosen", "acting on everyone is chosen"],
)
def test_legend_of_curves_that_cross_calls_each_decision_as_asked(knowing, pairs):
    y, scores, costs_asked = scored(knowing=knowing)
    page = render(evaluate(y, {"m": scores}, costs=costs_asked, action="refuse"))
    said = [plain(each.text) for each in page.all("span", _class="reference")]
    assert [each for each in said if " - " in each] == pairs
    assert "treat" not in page.one("figure", id="figure-crossing").text


def test_rows_that_an_outcome_weighs_have_a_smooth_curve_whose_band_allows_for_that():
    rng = np.random.default_rng(2)
    outcome = TimeToEvent(time=rng.exponential(4.0, 500), event=rng.random(500) < 0.7, horizon=3.0)
    score = rng.beta(2.0, 3.0, 500)
    page = render(evaluate(outcome, {"a": score}, costs=(0.1, 0.3)))
    (model,) = page.payload["models"]
    band = confidence_band(outcome, score, "smooth", n_resamples=1000)
    assert numbers(model["smooth"]["x"]) == pytest.approx(band.thresholds, rel=1e-6)
    assert numbers(model["smooth"]["y"]) == pytest.approx(band.estimate, rel=1e-6)
    assert numbers(model["smooth"]["limits"]) == pytest.approx([*band.low, *band.high], rel=1e-6)
    assert "band is its 95% interval at each score alone" in page.one("section", id="reliability").text


def kaplan_meier(time, event, horizon):
    """Share with the event by the horizon, where some are censored."""
    alive = 1.0
    for t in np.unique(time[event & (time <= horizon)]):
        alive *= 1.0 - np.sum(event & (time == t)) / np.sum(time >= t)
    return 1.0 - alive


@pytest.mark.parametrize("clustered", [False, True])
def test_follow_up_has_binned_points_by_kaplan_meier(clustered):
    rng = np.random.default_rng(2)
    time, event, score = rng.exponential(4.0, 500), rng.random(500) < 0.7, rng.beta(2.0, 3.0, 500)
    outcome = TimeToEvent(time=time, event=event, horizon=3.0)
    clusters = np.arange(500) // 2 if clustered else None
    page = render(evaluate(outcome, {"a": score}, costs=(0.3, 0.6), clusters=clusters))
    (model,) = page.payload["models"]
    assert ("smooth" in model) is not clustered  # its band takes the rows as independent
    bins = np.array_split(np.argsort(score), 10)
    assert numbers(model["followed"]["x"]) == pytest.approx([score[rows].mean() for rows in bins], rel=1e-6)
    rates = [kaplan_meier(time[rows], event[rows], 3.0) for rows in bins]
    assert numbers(model["followed"]["y"]) == pytest.approx(rates, rel=1e-6)
    assert [e.text for e in page.all("button", data_shape="followed")] == ["Binned"]
    words = page.one("section", id="reliability").text
    assert ("Smooth" in words) is not clustered
    assert "each with its Kaplan-Meier (Aalen-Johansen) estimate" in words


def test_follow_up_that_ends_in_a_bin_leaves_points_of_weighed_rows():
    rng = np.random.default_rng(2)
    score = np.sort(rng.beta(2.0, 3.0, 500))
    time, event = rng.exponential(4.0, 500), rng.random(500) < 0.7
    time[:50], event[:50] = np.minimum(time[:50], 1.0), False  # nobody of the lowest scores is followed for long
    outcome = TimeToEvent(time=time, event=event, horizon=3.0)
    evaluation = evaluate(outcome, {"a": score}, costs=(0.3, 0.6), clusters=np.arange(500) // 2)
    page = render(evaluation)
    (model,) = page.payload["models"]
    assert "followed" not in model
    table = evaluation.score_tables[0]
    weight = table.positives + table.negatives
    share = np.round(10.0 * (np.cumsum(weight) - 0.5 * weight) / table.total - 0.5).astype(int)
    rates = np.bincount(share, weights=table.positives) / np.bincount(share, weights=weight)
    assert numbers(model["binned"]["y"]) == pytest.approx(rates, abs=0.02)
    assert [e.text for e in page.all("button", data_shape="binned")] == ["Binned"]


@pytest.mark.parametrize("given", ["weights", "clusters", "prevalence", "followed", "order"])
def test_net_benefit_at_single_thresholds_has_intervals_where_the_page_can_make_none(given):
    (y, scores), rng = simulated(["a", "b"]), np.random.default_rng(4)
    about = {
        "weights": {"sample_weight": rng.random(400)},
        "clusters": {"clusters": np.arange(400) // 4},
        "prevalence": {"prevalence": 0.1},
        "followed": {},
        "order": {"lags": "auto"},
    }[given]
    labels = TimeToEvent(time=rng.exponential(4.0, 400), event=y, horizon=2.0) if given == "followed" else y
    evaluation = evaluate(labels, scores, costs=(0.1, 0.3), **about)
    page = render(evaluation)
    assert page.payload["counted"] is None
    section = page.one("section", id="threshold").text
    assert ("Net benefit at single thresholds" in section) is (given != "order")
    if given != "order":
        best = evaluation.ranking[0]
        band = confidence_band(labels, scores[best], "net_benefit", thresholds=[0.1, 0.15, 0.2, 0.25, 0.3], **about)
        for value, low, high in zip(band.estimate, band.low, band.high, strict=True):
            assert f"{value:.3f}{low:.3f} to {high:.3f}".replace("-", "\N{MINUS SIGN}") in section


def test_rows_that_count_alike_need_no_table_beside_that_of_the_page(page):
    assert page.payload["counted"] == 400
    assert "Net benefit at single thresholds" not in page.one("section", id="threshold").text


def test_calibration_has_two_rows_for_each_model_with_the_numbers_of_the_library(page, example):
    rows = page.rows("Calibration over all cases")
    assert len(rows) == 2 * len(example.models)
    overall, in_range = example.calibration.of(example.ranking[0]).parts().values()
    for row, found in zip(rows[:2], (overall, in_range), strict=True):
        low, high = found.interval("o_e_ratio")
        written = f"{found.o_e_ratio:.2f}{low:.2f} to {high:.2f}".replace("-", "\N{MINUS SIGN}")
        assert written in row
        assert row[2].startswith(f"{found.n_rows:,}")


@pytest.mark.parametrize("given", ["all weight", "the weight of the positives"])
def test_clusters_that_allow_no_interval_leave_a_page_without_intervals_and_say_why(given):
    y, scores = simulated(["a", "b"])
    large = np.arange(len(y)) < 0.6 * len(y) if given == "all weight" else y == 1
    prevalence = None if given == "all weight" else 0.1
    evaluation = evaluate(
        y, scores, costs=(0.1, 0.3), prevalence=prevalence, clusters=np.where(large, 0, np.arange(len(y)))
    )
    page = render(evaluation)
    share = "60%" if given == "all weight" else "100%"
    assert page.payload["unsure"] == f"one cluster holds {share} of {given}: an interval needs half at most"
    assert page.payload["spread"] is None
    assert page.payload["bands"] is None
    assert math.isnan(evaluation["a"].interval[0])


@pytest.mark.parametrize(
    ("options", "called"),
    [
        ({}, "Cost"),
        ({"harm": {"b": 0.03}}, "Cost without the harm"),
        ({"rule": 0.3}, "Cost at face value"),
        ({"rule": 0.3, "harm": 0.01}, "Cost at face value without the harm"),
    ],
)
def test_the_cost_that_terms_add_up_to_is_told_from_that_of_the_answer(options, called):
    y, scores = simulated(["a", "b"])
    evaluation = evaluate(y, scores, costs=(0.1, 0.3), **options)
    page = render(evaluation)
    heads = [element.text for element in page.elements if element.tag == "th" and element.text.startswith("Cost")]
    assert called in heads
    assert page.payload["words"]["cost"] == called
    caption = page.one("section", id="decomposition").text
    assert f"{called} = MCB" in caption
    assert f"equal {called.lower()};" in caption
    for row in page.rows("Decomposition"):
        s = np.clip(scores[row[1].strip()], 0.1, 0.3)
        costs_of_rows = np.where(y == 1, (0.3 - 0.045) - (s - s**2 / 2.0), (s**2 - 0.01) / 2.0) / 0.2
        assert float(row[2]) == pytest.approx(1000.0 * costs_of_rows.mean(), abs=0.51)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_weights_that_differ_are_not_taken_for_alike_in_any_unit(unit):
    rng = np.random.default_rng(0)
    y, p, weight = rng.random(300) < 0.3, rng.random(300), rng.choice([1.0, 1.001], 300)
    for each, alike in ((weight, False), (np.ones(300), True)):
        found = evaluate(y, {"a": p}, costs=(0.1, 0.4), sample_weight=unit * each)
        assert is_even(found) is alike

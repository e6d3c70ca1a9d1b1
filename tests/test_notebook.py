"""Results in a notebook: short HTML that shows names as text and leaves all colours to the reader's theme."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import stakes
from stakes import costs
from stakes.boundary import fit_boundary
from stakes.evaluation._finding import Finding, Findings
from stakes.outputs import result_table as _html

EVIL = "</td><script>alert(1)</script>&\x1b[2J\u202e"
SPAN = (0.05, 0.3)


def rows(count=400, seed=3):
    rng = np.random.default_rng(seed)
    risk = rng.beta(1.0, 4.0, count)
    return (rng.random(count) < risk).astype(int), risk, np.clip(risk + rng.normal(0.0, 0.1, count), 0.0, 1.0)


Y, A, B = rows()


class Page(HTMLParser):
    """The tags, attributes and text of a piece of HTML; a tag that is never closed is an error."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words, self._open = [], [], [], []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def evaluation(models, **options):
    return stakes.evaluate(Y, models, costs=SPAN, **options)


def boundary(**options):
    return stakes.boundary.fit_boundary(Y, A, np.abs(A - B), random_state=0, **options)


def from_stranger(name):
    content = json.loads(boundary(min_precision=0.4).to_json()) | {"goal": name, "solver": name}
    return stakes.boundary.Boundary.from_json(json.dumps(content))


RESULTS = {
    "evaluation": lambda name: evaluation({name: A, "b": B}),
    "evaluation of one model": lambda name: evaluation({name: A}),
    "evaluation with groups": lambda name: evaluation({name: A}, groups={name: [name, "x"] * 200}),
    "groups": lambda name: evaluation({name: A}, groups={name: [name, "x"] * 200}).groups,
    "findings": lambda name: evaluation({name: (A > 0.2).astype(float)}).findings,
    "comparison": lambda name: evaluation({name: A, "b": B}).compare(name, "b"),
    "ranking": lambda name: evaluation({name: A, "b": B}).adjusted_ranking(),
    "best by cost": lambda name: evaluation({name: A, "b": B}).best_by_cost(),
    "decomposition": lambda _: stakes.decompose(Y, A, costs=costs.Uniform(*SPAN)),
    "expected utility": lambda _: stakes.utility.expected_utility(A, "f1"),
    "threshold table": lambda _: stakes.curves.threshold_table(Y, A),
    "band": lambda _: stakes.inference.confidence_band(Y, A, "regret", thresholds=np.linspace(0.01, 0.99, 900)),
    "advice": lambda _: stakes.advise(decisions="budget", knowledge="known", capacity=20),
    "boundary": lambda _: boundary(min_precision=0.4),
    "certified boundary": lambda _: boundary(min_precision=0.2, confidence_level=0.5, levels=2),
    "boundary of a stranger": from_stranger,
}


@pytest.mark.parametrize("case", RESULTS)
def test_html_is_short_well_formed_and_without_colours(case):
    text = RESULTS[case](EVIL)._repr_html_()
    page = Page(text)
    assert set(page.tags) <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "p", "b", "code"}
    assert set(page.attributes) <= {("style", "text-align: left")}
    assert not re.search(r"color|background|[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    assert page.tags.count("tr") <= 70
    assert len(text) < 40_000


@pytest.mark.parametrize(
    "case",
    [
        *["evaluation", "evaluation with groups", "groups", "findings", "comparison", "ranking"],
        "boundary of a stranger",
    ],
)
def test_names_are_text(case):
    page = Page(RESULTS[case](EVIL)._repr_html_())
    assert "</td><script>alert(1)" in page.text
    assert "script" not in page.tags


@pytest.mark.parametrize("case", ["evaluation", "findings", "comparison"])
def test_long_names_lose_their_middle(case):
    for letter in ("n", "n "):
        text = RESULTS[case](f"first{letter * 5_000}last")._repr_html_()
        assert len(text) < 6_000
        assert f"first{letter}" in text
        assert case == "comparison" or letter * 30 not in text
        assert max(map(len, Page(text).text.split())) <= 60
        assert f"{letter}last" in text


def test_evaluation_shows_ranking_conclusion_and_findings():
    result = evaluation({"a": A, "b": (B > 0.2).astype(float)})
    page = Page(result._repr_html_())
    text = page.text
    assert re.findall("treat everyone|treat no one", text)
    for sentence in result.conclusion:
        assert sentence in text
    assert len(result.answer.findings) > 0
    for finding in result.answer.findings:
        assert f"{finding.severity} {finding.code}" in text
        assert finding.sentence in text
    low, high = (1000.0 * end for end in result.selection.intervals["a"])  # of all rows of the column at once
    assert low < 1000.0 * result.best.interval[0] < 1000.0 * result.best.interval[1] < high
    assert f"{1000.0 * result.best.score:.1f} {low:.1f} to {high:.1f}" in " ".join(text.split())


def test_evaluation_without_intervals_and_decomposition_of_one_class():
    optimal = evaluation({"a": A}, rule="optimal")
    assert f">{1000.0 * optimal.best.score:.1f}</td>" in optimal._repr_html_()
    Page(stakes.decompose([0, 0], [0.1, 0.2], costs=costs.Uniform(0, 1), pos_label=1)._repr_html_())


def ranked():
    """Return a certified boundary along a learned order: beyond an uncertainty of .5 the score says nothing."""
    rng = np.random.default_rng(0)
    score, uncertainty = rng.random((2, 4000))
    y = rng.random(4000) < np.where(uncertainty < 0.5, score, 0.3)
    found = fit_boundary(y, score, uncertainty, min_precision=0.7, confidence_level=0.9)
    assert (found.solver, found.certificate.abstained) == ("ranker", False)
    return found


def test_boundary_shows_levels_totals_and_how_far_to_trust_them():
    result = boundary(min_precision=0.4)
    text = Page(result._repr_html_()).text
    records = result._records()
    low, high = (f"{cut:.4g}" for cut in result.cuts)
    for name in (f"up to {low}", f"{low} to {high}", f"above {high}", "all levels"):
        assert name in text
    for record in records:
        start = "nothing" if np.isinf(record["threshold"]) else f"{record['threshold']:.6g}"
        cells = f" {start} {record['rows']} {record['positives']} {record['selected']} "
        assert cells in text
    assert f" {len(Y)} {Y.sum()} {sum(record['selected'] for record in records)} " in text
    assert f"Best single threshold on the score: {result.threshold:.6g}." in text
    assert ".report()" in text
    assert ".report()" not in Page(type(result).from_json(result.to_json())._repr_html_()).text
    certified = RESULTS["certified boundary"]("")
    shown = Page(certified._repr_html_()).text
    assert f"lower bound {certified.certificate.lower_bound:.4g}" in shown
    assert certified.solver == "single_threshold"
    assert "from score" in shown
    assert "from score" not in Page(ranked()._repr_html_()).text
    assert "all levels" not in Page(boundary(min_precision=0.4, levels=1)._repr_html_()).text


def test_many_models_are_cut_and_said_so():
    many = stakes.evaluate(Y[:60], {f"m{i}": A[:60] for i in range(200)}, costs=SPAN)
    page = Page(many._repr_html_())
    assert "200 models, the best 58 shown" in page.text
    assert page.tags.count("tr") == 61


def test_rows_of_a_long_table_are_taken_at_even_distances_with_both_ends():
    page = Page(_html.table(["i"], [[str(i)] for i in range(1_001)]))
    shown = [int(word) for word in page.words if word.isdigit()]
    assert (shown[0], shown[-1], len(shown)) == (0, 1_000, 60)
    assert set(np.diff(shown)) <= {16, 17, 18}
    assert "60 of 1,001 rows" in page.text
    assert "rows" not in Page(_html.table(["i"], [[str(i)] for i in range(60)])).text


def test_single_wide_record_stands_upright():
    text = RESULTS["comparison"]("a")._repr_html_()
    assert '<td style="text-align: left">standard_error</td>' in text
    assert "<thead>" not in text
    assert "<thead>" in RESULTS["decomposition"]("a")._repr_html_()


def test_no_findings_are_said_so():
    assert Page(Findings()._repr_html_()).text == "No findings."
    assert Finding in {type(finding) for finding in RESULTS["findings"]("a")}


def test_halves_of_characters_can_be_encoded():
    _html.plain("a\udc80").encode()

"""The page on which a file is dropped, in use: what it asks, shows and saves, and that nothing leaves the machine."""

from __future__ import annotations

import io
import re
import shlex

import pytest

from stakes import evaluate_frame
from stakes.cli import main
from stakes.inference import threshold_intervals
from stakes.report import render_drop_page
from tests.report.drop_files import SMALL, STATED
from tests.report.pages import Page
from tests.report.reader import choose, shown, state, type_range

GERMAN = STATED["german credit"][0]
DRAWN = "document.documentElement.dataset.drawn === 'true' && document.documentElement.dataset.settled === 'true'"
DROP = """(() => {{
    const carried = new DataTransfer();
    carried.items.add(new File([{text}], {name}));
    document.dispatchEvent(new DragEvent('drop', {{ dataTransfer: carried, bubbles: true, cancelable: true }}));
}})()"""
CATCH = """(() => {
    window.saved = [];
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob) => { window.saved.push(blob); return make(blob); };
})()"""


@pytest.fixture(scope="module")
def drop(folder):
    path = folder / "drop.html"
    path.write_text(render_drop_page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def front(folder):
    path = folder / "front.html"
    path.write_text(render_drop_page(example=True), encoding="utf-8")
    return path


def dropped(chromium, path, text, name="risks.csv", **options):
    """Open the page and drop a file on it."""
    chromium.open(path, **options)
    chromium.run(DROP.format(text=repr(text), name=repr(name)))
    chromium.wait_for("!document.getElementById('asked').hidden || document.getElementById('error').textContent")


def answered(chromium, fewest="", most=""):
    """Name the range and ask for the answer."""
    for key, value in (("fewest", fewest), ("most", most)):
        chromium.run(f"document.getElementById({key!r}).value = {value!r}")
    chromium.run("delete document.documentElement.dataset.drawn; document.getElementById('evaluate').click()")
    chromium.wait_for(f"({DRAWN}) || document.getElementById('error').textContent")


def said(chromium, name):
    return chromium.run(f"document.getElementById({name!r}).textContent")


def picked(chromium, name):
    return chromium.run(f"document.getElementById({name!r}).value")


def assert_quiet(chromium, path):
    assert chromium.complaints() == []
    assert chromium.requests(path) == []


def test_dropped_file_gives_the_answer_of_the_library(chromium, drop):
    pandas = pytest.importorskip("pandas")
    dropped(chromium, drop, GERMAN)
    assert said(chromium, "took") == (
        "risks.csv: 5 columns, separated by commas. The outcome is bad; 3 models: logistic, forest, boosting."
    )
    answered(chromium, "3", "9")
    frame = pandas.read_csv(io.StringIO(GERMAN))
    wanted = evaluate_frame(frame, label="bad", costs=(0.1, 0.25), models=["logistic", "forest", "boosting"])
    rows = shown(chromium)
    assert list(rows) == [*wanted.ranking, "treat all", "treat none"]
    for record in wanted._records():
        assert rows[record["model"]][0][0] == pytest.approx(1000 * record["score"], abs=1e-6)
    assert state(chromium) == [0.1, 0.25]
    forest = shown(chromium, "#threshold-table")["forest"][1][5].split()  # sensitivity in the middle of the range
    limits = threshold_intervals(frame["bad"], frame["forest"], thresholds=[0.175])
    ends = [limits.low["sensitivity"][0], limits.high["sensitivity"][0]]
    assert [float(end) for end in forest] == pytest.approx(ends, abs=1e-9)
    advice = chromium.run("document.querySelector('.advice').textContent")
    assert advice == wanted.conclusion[0] == "These rows cannot tell logistic from boosting."
    cost = chromium.run("document.querySelector('.cost').textContent")
    pattern = r"logistic costs 91\.2 per 1,000 decisions \(95%: 78\.\d to 103\.\d\), 26% less than treating everyone\."
    assert re.fullmatch(pattern, cost)
    assert re.fullmatch(pattern, wanted.conclusion[1])
    lines = chromium.run("[...document.querySelectorAll('[data-follows=beneath] li')].map(line => line.textContent)")
    assert lines[1].startswith(
        "Shown (95%, all at once): logistic costs less than forest, treating everyone and treating"
    )
    assert lines[2] == "Not shown: that logistic costs less than boosting."
    assert_quiet(chromium, drop)


def test_model_that_is_shown_to_cost_less_is_named_as_by_the_library(chromium, drop):
    pandas = pytest.importorskip("pandas")
    text = "y,good,poor\n" + "0,0.1,0.4\n1,0.8,0.35\n0,0.15,0.3\n0,0.05,0.1\n1,0.6,0.7\n0,0.45,0.2\n1,0.3,0.1\n" * 60
    dropped(chromium, drop, text)
    answered(chromium, "1", "4")
    wanted = evaluate_frame(pandas.read_csv(io.StringIO(text)), label="y", costs=(0.2, 0.5))
    assert wanted.conclusion[0].startswith("USE good. poor costs ")
    assert chromium.run("document.querySelector('.advice').textContent") == wanted.conclusion[0]
    lines = chromium.run("[...document.querySelectorAll('[data-follows=beneath] li')].map(line => line.textContent)")
    assert lines[1] == "Shown (95%, all at once): good costs less than every other on average over the range."


def test_a_constant_score_that_is_wrong_is_said_to_decide_nothing_as_by_the_library(chromium, drop):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": [1] * 120 + [0] * 180, "flat": [0.25] * 300})
    dropped(chromium, drop, frame.to_csv(index=False))
    answered(chromium, "10%", "80%")
    wanted = evaluate_frame(frame, label="y", costs=(0.1, 0.8)).conclusion[0]
    assert wanted == "Decide nothing by flat: every row has the score 25%, and 40% are positives."
    assert chromium.run("document.querySelector('.advice').textContent") == wanted


@pytest.mark.parametrize("names", ["ab", "abc", "abd", "ad", "ade"])
def test_models_that_cost_the_same_are_told_from_others_as_by_the_library(chromium, drop, names):
    pandas = pytest.importorskip("pandas")
    wrong = {"a": range(6), "b": range(6), "c": range(6), "d": range(20, 26), "e": range(30, 36)}
    columns = {name: [0.9 if (row % 2 == 1) ^ (row in wrong[name]) else 0.1 for row in range(60)] for name in names}
    frame = pandas.DataFrame({"y": [row % 2 for row in range(60)], **columns})
    dropped(chromium, drop, frame.to_csv(index=False))
    answered(chromium, "50%", "50%")
    wanted = evaluate_frame(frame, label="y", costs=0.5)
    assert chromium.run("document.querySelector('.advice').textContent") == wanted.conclusion[0]
    lines = chromium.run("[...document.querySelectorAll('[data-follows=beneath] li')].map(line => line.textContent)")
    assert [line for line in lines if line.startswith("Not shown")] == [*wanted.answer.not_shown]


CLAIMS = {
    "few carry it": ("y,p\n" + "0,0.02\n" * 400 + "0,0.3\n" * 2 + "1,0.6\n" * 24 + "1,0.01\n" * 2, (0.02, 0.2)),
    "unevenly": ("y,p\n" + "0,0.02\n" * 400 + "1,0.6\n" * 24 + "1,0.17\n" * 6 + "1,0.01\n" * 2, (0.02, 0.2)),
    "few positives": ("y,p\n" + "0,0.05\n0,0.2\n0,0.1\n" * 60 + "1,0.15\n1,0.6\n1,0.2\n" * 2 + "1,0.1\n", (0.05, 0.2)),
    "none carries it": ("y,p\n" + "0,0.02\n" * 100 + "0,0.2\n" * 10 + "1,0.9\n" * 12, (0.05, 0.25)),
    "a reference may be best": ("y,p,q\n" + "0,0.1,0.4\n1,0.3,0.3\n1,0.2,0.2\n0,0.2,0.1\n" * 5, (0.1, 0.5)),
    "a better model": ("y,p\n" + "0,0.3\n0,0.1\n1,0.6\n1,0.2\n" * 5, (0.25, 0.5)),
    "equal weights": ("y,p,w\n" + "0,0.1,1\n1,0.3,2\n1,0.2,1.5\n0,0.4,1\n" * 3, (0.1, 0.5)),
    "as much as acting on everyone": ("y,p\n" + "0,0.3\n1,0.8\n" * 100, (0.1, 0.25)),
    "few of each": ("y,p\n" + "0,0.1\n1,0.3\n1,0.2\n0,0.4\n" * 3, (0.1, 0.5)),
    "the only one": ("y,p\n1,0.3\n" + "0,0.2\n" * 29, (0.1, 0.5)),
    "the only one, in vain": ("y,p\n1,0.8\n" + "0,0.2\n" * 9, (0.1, 0.5)),
    "many": (GERMAN, (0.1, 0.25)),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_how_few_rows_carry_the_cost_is_said_as_by_the_library(chromium, drop, name):
    pandas = pytest.importorskip("pandas")
    text, (low, high) = CLAIMS[name]
    label = text[: text.index(",")] if name != "many" else "bad"
    dropped(chromium, drop, text)
    choose_field(chromium, "label", label)
    choose_field(chromium, "weight", "w" if ",w\n" in text else "")
    answered(chromium, f"{100 * low:g}%", f"{100 * high:g}%")
    frame = pandas.read_csv(io.StringIO(text))
    models = [each for each in frame if each not in (label, "age_group", "w")]
    weight = "w" if "w" in frame else None
    wanted = evaluate_frame(frame, label=label, models=models, costs=(low, high), weight=weight).conclusion[1]
    cost = chromium.run("document.querySelector('.cost').textContent")
    # intervals of a whole column are drawn, and differ in the third digit
    assert [re.sub(r" \(.*?\)", "", each) for each in (cost, wanted)] == 2 * [re.sub(r" \(.*?\)", "", wanted)]


def test_what_is_undefined_is_called_so(chromium, drop):
    dropped(chromium, drop, SMALL)
    answered(chromium, "0%", "0%")
    assert state(chromium) == [0, 0]
    skills = chromium.run(
        "[...document.querySelectorAll('#decomposition tbody td:last-child')].map(cell => cell.textContent)"
    )
    assert skills == ["undefined", "undefined"]
    assert_quiet(chromium, drop)


def test_range_can_be_dragged_and_comes_back(chromium, drop):
    dropped(chromium, drop, GERMAN)
    answered(chromium, "3", "9")
    before = str(shown(chromium))
    type_range(chromium, 0.05, 0.4)
    assert "Range chosen after looking" in chromium.run("document.querySelector('.looked').textContent")
    assert str(shown(chromium)) != before
    chromium.run("document.getElementById('reset').click()")
    chromium.wait_for(DRAWN + " && document.getElementById('reset').disabled")
    assert str(shown(chromium)) == before
    assert chromium.run("document.querySelector('.looked')") is None
    assert_quiet(chromium, drop)


def test_what_is_unclear_is_asked(chromium, drop):
    text = "site,died,dose,a,b\n" + "x,no,0,0.1,0.3\ny,yes,1,0.7,0.6\nx,no,1,0.2,0.5\ny,yes,0,0.9,0.4\n" * 10
    dropped(chromium, drop, text)
    assert picked(chromium, "label") == ""
    assert said(chromium, "took").endswith("Say which column is the outcome.")
    answered(chromium)
    assert said(chromium, "error") == "Say which column is the outcome."
    choose_field(chromium, "label", "died")
    answered(chromium)
    assert said(chromium, "error") == "Say which value of died is positive."
    choose_field(chromium, "positive", "yes")
    chromium.run("[...document.querySelectorAll('#models input')].find(box => box.value === 'dose').click()")
    answered(chromium, "many", "9")
    assert "range of false alarms is two numbers" in said(chromium, "error")
    answered(chromium, "10%", "25%")
    assert said(chromium, "error") == ""
    assert sorted(shown(chromium)) == ["a", "b", "treat all", "treat none"]
    assert state(chromium) == [0.1, 0.25]


@pytest.mark.parametrize(("first", "last"), [("no", "yes"), ("1", "2"), ("2", "1")])
def test_labels_of_a_file_sorted_by_its_outcome_are_all_offered(chromium, drop, first, last):
    """Two thousand rows of one class, then those of the other."""
    text = "y,p\n" + f"{first},0.3\n" * 1500 + f"{last},0.6\n" * 500
    dropped(chromium, drop, text)
    assert picked(chromium, "label") == "y"
    offered = chromium.run("[...document.getElementById('positive').options].map(each => each.value)")
    assert offered == ["", first, last]
    answered(chromium)
    assert said(chromium, "error") == "Say which value of y is positive."
    choose_field(chromium, "positive", last)
    answered(chromium, "1", "3")
    # acting on 0.6 and not on 0.3 is right everywhere between 25% and 50% but below 0.3, where everyone is acted on
    model, everyone = (float(shown(chromium)[name][0][0]) for name in ("p", "treat all"))
    alarm = 1000 * 0.75 * (0.3**2 - 0.25**2) / 2 / 0.25
    assert (model, everyone) == (pytest.approx(alarm, rel=1e-2), pytest.approx(1000 * 0.75 * 0.375, rel=1e-2))
    assert_quiet(chromium, drop)


@pytest.mark.parametrize(("first", "last"), [("0", "1"), ("1", "0"), ("true", "false")])
def test_labels_that_say_themselves_which_is_positive_do_so_in_a_sorted_file(chromium, drop, first, last):
    dropped(chromium, drop, "y,p\n" + f"{first},0.3\n" * 1500 + f"{last},0.6\n" * 500)
    assert picked(chromium, "label") == "y"
    words = chromium.run("[...document.getElementById('positive').options].map(each => each.textContent)")
    assert words == (["1", "0"] if "1" in (first, last) else ["true", "false"])


def choose_field(chromium, name, value):
    chromium.run(
        f"(box => {{ box.value = {value!r}; box.dispatchEvent(new Event('change', {{ bubbles: true }})); }})"
        f"(document.getElementById({name!r}))"
    )


def test_commands_and_python_do_what_the_page_did(chromium, drop, tmp_path, monkeypatch, capsys):
    """Also where names hold spaces, signs and quotation marks, and decimals come late."""
    for needed in ("polars", "click", "rich"):
        pytest.importorskip(needed)
    early, late = "no,0,east\nyes,1,west\n" * 60, "no,0.35,east\nyes,0.3,east\nno,0.05,west\n" * 20
    text = '"the ""outcome""","m ""1"", b",my group\n' + early + late
    dropped(chromium, drop, text, name="-my risks.csv")
    choose_field(chromium, "label", 'the "outcome"')
    choose_field(chromium, "positive", "yes")
    choose_field(chromium, "group", "my group")
    answered(chromium, "1", "4")
    evaluation, check, *_, python = chromium.run(
        "[...document.querySelectorAll('#beyond code')].map(code => code.textContent)"
    )
    cost = chromium.run("document.querySelector('.cost').textContent.split(' (')[0]")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-my risks.csv").write_text(text, encoding="utf-8")
    words = shlex.split(evaluation)
    assert (words[0], words[-2:]) == ("stakes", ["--report", "report.html"])
    assert main(words[1:-2]) == 0
    assert cost in " ".join(capsys.readouterr().out.split())
    assert main([*shlex.split(check)[1:], "--fail-on", "none"]) == 0
    capsys.readouterr()
    exec(python, {})  # noqa: S102  (what the page says that one should run)
    assert cost in " ".join(capsys.readouterr().out.split())


def ticked(chromium):
    return chromium.run("[...document.querySelectorAll('#models input:checked')].map(({ value }) => value)")


def tick(chromium, name):
    chromium.run(f"[...document.querySelectorAll('#models input')].find(({{ value }}) => value === {name!r}).click()")


def test_models_that_were_left_out_stay_so_when_other_columns_are_chosen(chromium, drop):
    text = "y,w,site,a,b,c\n" + "0,1,3,0.1,0.3,0.2\n1,2,4,0.7,0.6,0.9\n" * 10
    dropped(chromium, drop, text)
    choose_field(chromium, "label", "y")
    tick(chromium, "b")
    choose_field(chromium, "weight", "w")
    choose_field(chromium, "group", "site")
    assert ticked(chromium) == ["a", "c"]
    assert said(chromium, "took").endswith("2 models: a, c.")
    choose_field(chromium, "group", "")
    assert ticked(chromium) == ["site", "a", "c"]
    tick(chromium, "b")
    choose_field(chromium, "group", "site")
    assert ticked(chromium) == ["a", "b", "c"]
    tick(chromium, "b")
    chromium.run(DROP.format(text=repr(text), name="'again.csv'"))
    chromium.wait_for("document.getElementById('took').textContent.startsWith('again.csv')")
    choose_field(chromium, "label", "y")
    assert ticked(chromium) == ["w", "site", "a", "b", "c"]


def test_pasted_cells_are_read(chromium, drop):
    chromium.open(drop)
    chromium.run("document.getElementById('paste').click()")
    chromium.run(f"document.getElementById('cells').value = {SMALL.replace(',', chr(9))!r}")
    chromium.run("document.getElementById('take').click()")
    chromium.wait_for("!document.getElementById('asked').hidden")
    assert "pasted cells: 3 columns, separated by tabs." in said(chromium, "took")
    answered(chromium)
    assert state(chromium) == [0, 1]


def test_errors_name_the_place(chromium, drop):
    lines = SMALL.splitlines()
    lines[7] = lines[7].rsplit(",", 1)[0] + ",1.5"
    dropped(chromium, drop, "\n".join(lines))
    answered(chromium)
    assert said(chromium, "error").startswith(
        "risks.csv: column 'm1', row 7 (line 8): must lie in [0, 1], got 1.5 (1 of 60"
    )
    dropped(chromium, drop, "y,a\n0,0.1\n\n1,0.5,9\n")
    choose_field(chromium, "label", "y")
    answered(chromium)
    assert said(chromium, "error") == "risks.csv: row 2 (line 4): has 3 fields where the header has 2"


@pytest.mark.thorough
def test_larger_file_than_the_page_takes_is_refused_with_the_command(chromium, drop):
    chromium.open(drop)
    chromium.run("""(() => {
        const rows = '0,0.25\\n1,0.75\\n'.repeat(500_000);
        const carried = new DataTransfer();
        carried.items.add(new File(['y,a\\n', ...Array(9).fill(rows)], 'large.csv'));
        document.dispatchEvent(new DragEvent('drop', { dataTransfer: carried }));
    })()""")
    chromium.wait_for("!document.getElementById('asked').hidden")
    answered(chromium)
    assert said(chromium, "error") == (
        "large.csv: holds more than 8,000,000 numbers of models: stakes evaluate takes such files"
    )


def test_groups_and_missing_values_are_taken_care_of(chromium, drop):
    dropped(chromium, drop, GERMAN.replace("0.28491431453", "", 1))
    answered(chromium, "3", "9")
    assert "column 'forest', row 1 (line 2): must not be missing (1 of 1000 rows)" in said(chromium, "error")
    choose_field(chromium, "missing", "drop")
    choose_field(chromium, "group", "age_group")
    answered(chromium, "3", "9")
    assert chromium.run("document.querySelectorAll('#groups tbody tr').length") == 6
    assert "--groups age_group --on-missing drop" in chromium.run("document.querySelector('#beyond').textContent")
    assert "999" in chromium.run("document.querySelector('#data').textContent")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_front_page_opens_with_the_example(chromium, front, width, scheme):
    chromium.open(front, width=width, scheme=scheme)
    chromium.wait_for(DRAWN)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert chromium.run("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg'))")
    assert (
        chromium.run("document.querySelector('.advice').textContent")
        == "These rows cannot tell logistic from boosting."
    )
    assert "refusing everyone" in chromium.run("document.querySelector('.cost').textContent")
    assert_quiet(chromium, front)


def test_saved_report_is_the_report_and_the_page_made_one_request(chromium, drop, folder):
    dropped(chromium, drop, GERMAN)
    answered(chromium, "3", "9")
    rows = str(shown(chromium))
    chromium.run(CATCH)
    for mark in ("#save-report", "[data-csv]", "#figure-regret [data-save]", "#figure-regret [data-png]"):
        chromium.run(f"document.querySelector({mark!r}).click()")
    chromium.wait_for("saved.length === 4")
    report, table, svg, png = (chromium.run(f"saved[{k}].text()") for k in range(4))
    kinds = chromium.run("saved.map(blob => blob.type)")
    assert kinds == ["text/html", "text/csv", "image/svg+xml", "image/png"]
    assert svg.startswith("<svg")
    assert png[1:4] == "PNG"
    assert table.splitlines()[1].startswith("logistic,model,91.196")
    asked = [
        event["params"]["request"]["url"] for event in chromium.events if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("blob:", "data:"))] == [drop.as_uri()]
    assert chromium.complaints() == []
    path = folder / "saved.html"
    path.write_text(report, encoding="utf-8")
    assert Page(report).policy["default-src"] == "'none'"
    chromium.open(path)
    chromium.wait_for(DRAWN)
    assert str(shown(chromium)) == rows
    assert "1,000 rows, 300 positives (30%) in 'bad'; 3 models" in chromium.run(
        "document.querySelector('.facts').textContent"
    )
    choose(chromium, "weighting", "log-odds")
    assert_quiet(chromium, path)


def test_hostile_names_do_nothing(chromium, drop, folder):
    evil = "</script><img src=x onerror=alert(1)>"
    text = SMALL.replace("m0", f'"{evil}"', 1).replace("m1", '"<b>${x}"', 1)
    dropped(chromium, drop, text, name="<i>$&.csv")
    answered(chromium)
    assert evil in list(shown(chromium))
    chromium.run(CATCH)
    chromium.run("document.querySelector('#save-report').click()")
    path = folder / "hostile.html"
    path.write_text(chromium.run("saved[0].text()"), encoding="utf-8")
    assert_quiet(chromium, drop)
    chromium.open(path)
    chromium.wait_for(DRAWN)
    assert evil in list(shown(chromium))
    assert_quiet(chromium, path)


def test_second_file_takes_the_place_of_the_first(chromium, drop):
    dropped(chromium, drop, GERMAN)
    answered(chromium, "3", "9")
    chromium.run(DROP.format(text=repr(SMALL), name="'second.csv'"))
    chromium.wait_for("document.getElementById('took').textContent.startsWith('second.csv')")
    assert chromium.run("document.getElementById('report').childNodes.length") == 0
    answered(chromium, "3", "9")
    assert set(shown(chromium)) == {"m0", "m1", "treat all", "treat none"}
    chromium.run("window.dispatchEvent(new Event('beforeprint'))")
    assert chromium.run("[...document.querySelectorAll('#report details')].every(block => block.open)")
    chromium.run("window.dispatchEvent(new Event('afterprint'))")
    assert not chromium.run("document.querySelector('#roc details').open")
    assert_quiet(chromium, drop)


def test_page_is_used_by_keyboard(chromium, drop):
    dropped(chromium, drop, SMALL)
    assert chromium.run("document.activeElement.id") == "fewest"
    chromium.type("2")
    chromium.press("Tab")
    chromium.type("9")
    chromium.press("Enter")
    chromium.wait_for(DRAWN)
    assert state(chromium) == pytest.approx([0.1, 1 / 3])


def test_page_is_light_and_has_nothing_that_could_send_or_keep():
    page = render_drop_page()
    assert len(page.encode()) <= 220_000
    assert not re.search(
        r"\b(fetch|eval|XMLHttpRequest|WebSocket|sendBeacon|localStorage|sessionStorage|indexedDB)\b", page
    )
    policy = Page(page).policy
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["worker-src"] == "blob:"
    assert set(policy) == {"default-src", "script-src", "worker-src", "style-src", "img-src", "base-uri", "form-action"}


def test_page_is_accessible(chromium, front, axe):
    for width, scheme in ((1280, "light"), (390, "dark")):
        chromium.open(front, width=width, scheme=scheme)
        chromium.wait_for(DRAWN)
        chromium.run(axe)
        chromium.run("document.getElementById('asked').open = true")
        found = chromium.run("axe.run().then(result => result.violations.map(each => [each.id, each.nodes.length]))")
        assert found == []

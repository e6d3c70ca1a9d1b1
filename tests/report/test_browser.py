"""The report in a real browser: it draws, asks for nothing, answers the reader, and lets no name do anything."""

from __future__ import annotations

import pytest

from stakes import evaluate
from stakes.report import write_report
from tests.report.conftest import simulated

DRAWN = "document.documentElement.dataset.drawn === 'true'"
CURVES = "document.querySelectorAll('#plot-{} .curve').length"
TICKS = "[...document.querySelectorAll('#plot-{} .tick.middle')].map(tick => tick.textContent)"


@pytest.fixture(scope="module")
def report(example, tmp_path_factory):
    return write_report(example, tmp_path_factory.mktemp("report") / "report.html")


def opened(chromium, path, **options):
    chromium.open(path, **options)
    chromium.wait_for(DRAWN)
    return chromium


def assert_clean(chromium, path):
    assert chromium.complaints() == []
    assert chromium.requests(path) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_every_figure_is_drawn_and_nothing_is_asked_for(chromium, report, width, scheme):
    opened(chromium, report, width=width, scheme=scheme)
    assert chromium.run("document.querySelectorAll('.plot').length") == 6
    assert chromium.run("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg'))")
    counts = [chromium.run(CURVES.format(key)) for key in ("regret", "decision", "reliability", "scores", "roc")]
    assert counts == [5, 5, 4, 3, 7]
    assert chromium.run("document.querySelectorAll('#plot-decomposition .point').length") == 3
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert_clean(chromium, report)


def test_browser_sees_a_request_and_an_error(chromium, tmp_path):
    """Without this, the silence asserted elsewhere could be deafness."""
    path = tmp_path / "loud.html"
    path.write_text("<title>t</title><script>alert(1); missing()</script><img src='http://127.0.0.1:9/a.png'>")
    chromium.open(path)
    assert chromium.requests(path) == ["http://127.0.0.1:9/a.png"]
    complaints = " ".join(chromium.complaints())
    assert "missing is not defined" in complaints
    assert "dialog: 1" in complaints


def test_policy_stops_scripts_pictures_and_requests_from_elsewhere(chromium, report, tmp_path):
    tampered = tmp_path / "tampered.html"
    extra = "<script>document.title = 'run'</script><img src='http://127.0.0.1:9/a.png' onerror='alert(1)'></main>"
    tampered.write_text(report.read_text(encoding="utf-8").replace("</main>", extra, 1), encoding="utf-8")
    opened(chromium, tampered)
    assert chromium.run("document.title") != "run"
    assert chromium.requests(tampered) == chromium.blocked() == ["http://127.0.0.1:9/a.png"]
    assert "Content Security Policy" in " ".join(chromium.complaints())
    assert "dialog" not in " ".join(chromium.complaints())


def test_hostile_names_do_nothing(chromium, hostile, tmp_path):
    path = write_report(hostile, tmp_path / "hostile.html", title="</title><img src=x onerror=alert(6)>")
    opened(chromium, path)
    assert chromium.run("document.title") == "</title><img src=x onerror=alert(6)>"
    # what is written for another range is written by the scripts
    chromium.run("location.hash = '#thresholds=0.05:0.5'")
    chromium.wait_for(
        "document.documentElement.dataset.settled === 'true' && !document.querySelector('#reset').disabled"
    )
    assert chromium.run("document.images.length") == 0
    assert chromium.run("document.scripts.length") == 2
    assert chromium.run("document.querySelectorAll('main section a, main b a, bdi *:not(wbr)').length") == chromium.run(
        "document.querySelectorAll('#method a').length"
    )
    text = chromium.run("document.querySelector('#answer').textContent")
    assert "</script><img src=x onerror=alert(1)>" in text
    assert "\u202e" not in chromium.run("document.body.textContent")
    assert chromium.run("document.documentElement.scrollWidth") <= 1280
    assert_clean(chromium, path)


def test_hostile_name_is_text_in_the_readout(chromium, tmp_path):
    name = "<b>B</b><a href='//x.org'>x</a>&lt;%{x}"
    path = write_report(evaluate([0, 1] * 20, {name: [0.1, 0.8] * 20}, costs=(0.2, 0.4)), tmp_path / "label.html")
    opened(chromium, path)
    chromium.run("document.getElementById('plot-regret').scrollIntoView({block: 'center', behavior: 'instant'})")
    box = "document.getElementById('plot-regret').getBoundingClientRect()"
    chromium.hover(chromium.run(f"[({box}).x + 300, ({box}).y + 100]"))
    chromium.wait_for("!document.querySelector('#plot-regret .readout').hidden")
    assert name in chromium.run("document.querySelector('#plot-regret .readout').textContent")
    assert chromium.run("document.querySelectorAll('.plot a').length") == 0
    assert_clean(chromium, path)


def test_readout_gives_the_values_of_the_curves(chromium, report, example):
    opened(chromium, report)
    chromium.run("document.getElementById('plot-regret').scrollIntoView({block: 'center', behavior: 'instant'})")
    # just beside the chosen threshold, which is in the middle of the range
    box = "document.querySelector('#plot-regret .chosen').getBoundingClientRect()"
    chromium.hover(chromium.run(f"[({box}).x, ({box}).y + 100]"))
    head, *rows = chromium.run(
        "[...document.querySelectorAll('#plot-regret .readout > div')].map(row => row.textContent)"
    )
    assert head.startswith("20% · 1:4 · 1 miss = 4 alarms")
    curves = example.curves("regret")
    for name, row in zip(example.ranking, rows[:3], strict=True):
        assert float(row.removeprefix(name)) == pytest.approx(1000.0 * float(curves[name].at(0.2)), abs=3.0)


def test_buttons_switch_between_the_plausible_and_the_whole_range_by_keyboard(chromium, report):
    opened(chromium, report)
    assert chromium.run(TICKS.format("regret"))[:-1][-1] == "40%"
    chromium.run("document.querySelector('#figure-regret [data-view=whole]').focus()")
    chromium.press("Enter")
    assert chromium.run(TICKS.format("regret"))[:-1][-1] == "100%"
    assert chromium.run(TICKS.format("reliability"))[:-1][-1] == "40%"
    pressed = "[...document.querySelectorAll('#figure-regret [data-view]')].map(b => b.getAttribute('aria-pressed'))"
    assert chromium.run(pressed) == ["false", "true"]
    assert_clean(chromium, report)


@pytest.mark.parametrize(("view", "tick"), [("probability", "20%"), ("odds", "1:10"), ("alarms", "10")])
def test_ticks_speak_of_costs_as_chosen(chromium, report, view, tick):
    opened(chromium, report)
    chromium.run(
        f"(box => {{ box.value = '{view}'; box.dispatchEvent(new Event('change')); }})(document.getElementById('view'))"
    )
    chromium.wait_for("document.documentElement.dataset.settled === 'true'")
    assert tick in chromium.run(TICKS.format("regret"))


def test_a_model_is_hidden_in_every_figure_at_once(chromium, report):
    opened(chromium, report)
    chromium.run("document.querySelector('#figure-regret [data-show=\"1\"]').focus()")
    chromium.press(" ")
    assert chromium.run("[...document.querySelectorAll('[data-show=\"1\"]')].filter(box => box.checked).length") == 0
    assert [chromium.run(CURVES.format(key)) for key in ("regret", "decision", "reliability")] == [4, 4, 3]
    assert_clean(chromium, report)


def test_figures_follow_a_change_of_the_colour_scheme(chromium, report):
    opened(chromium, report)
    colour = "getComputedStyle(document.querySelector('#plot-regret .curve:last-child')).stroke"
    light = chromium.run(colour)
    chromium.emulate(scheme="dark")
    chromium.wait_for(f"{colour} !== {light!r}")
    assert_clean(chromium, report)


def test_paper_is_light_and_every_table_open(chromium, report):
    opened(chromium, report, scheme="dark")
    open_blocks = "[...document.querySelectorAll('details')].map(block => block.open)"
    open_before = chromium.run(open_blocks)
    chromium.emulate(scheme="dark", media="print")
    assert chromium.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    chromium.run("window.dispatchEvent(new Event('beforeprint'))")
    assert chromium.run("[...document.querySelectorAll('details')].every(block => block.open)")
    chromium.run("window.dispatchEvent(new Event('afterprint'))")
    assert open_before == chromium.run(open_blocks)
    assert chromium.pdf().startswith(b"%PDF")
    assert_clean(chromium, report)


def test_what_was_closed_is_drawn_anew_for_paper(chromium, report, tmp_path):
    """Some browsers give what is in a closed section no width, as this rule does here."""
    path = tmp_path / "closed.html"
    rule = "<style>details:not([open]) > figure { display: none; }</style></head>"
    path.write_text(report.read_text(encoding="utf-8").replace("</head>", rule, 1), encoding="utf-8")
    opened(chromium, path)
    plot = "document.getElementById('plot-roc')"
    assert chromium.run(f"{plot}.clientWidth") == 0
    chromium.run("window.dispatchEvent(new Event('beforeprint'))")
    assert (
        500 < chromium.run(f"{plot}.clientWidth") == chromium.run(f"{plot}.querySelector('svg').viewBox.baseVal.width")
    )


def test_picture_is_saved_with_the_colours_of_the_page(chromium, report):
    opened(chromium, report)
    chromium.run(
        "window.saved = null; HTMLAnchorElement.prototype.click = () => {};"
        "URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text; }); return 'data:,'; };"
        "document.querySelector('#figure-regret [data-save]').click()"
    )
    chromium.wait_for("window.saved !== null")
    picture = chromium.run("window.saved")
    assert picture.startswith("<svg")
    assert "rgb(0, 114, 178)" in picture
    assert_clean(chromium, report)


def test_names_of_ten_thousand_characters_leave_a_narrow_page_narrow(chromium, tmp_path):
    path = write_report(evaluate(*simulated(["w" * 10_000, "b"]), costs=(0.1, 0.3)), tmp_path / "long.html")
    opened(chromium, path, width=390)
    assert chromium.run("document.documentElement.scrollWidth") <= 390
    assert_clean(chromium, path)

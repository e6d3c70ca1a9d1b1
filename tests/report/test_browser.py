"""The report in a real browser: it draws, asks for nothing, answers the reader, and lets no name do anything."""

from __future__ import annotations

import pytest

from stakes import evaluate
from stakes.report import write_report

pytest.importorskip("plotly")

DRAWN = "document.documentElement.dataset.drawn === 'true'"
RANGE = "Array.from(document.getElementById('plot-{}').layout.xaxis.range)"


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
    assert chromium.run("document.querySelectorAll('.plot').length") == 4
    assert chromium.run("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('svg.main-svg'))")
    lines = "document.querySelectorAll('#plot-{} .scatterlayer .js-line').length"
    assert [chromium.run(lines.format(key)) for key in ("regret", "decision", "reliability")] == [5, 5, 7]
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
    assert chromium.run("document.images.length") == 0
    assert chromium.run("document.scripts.length") == 3
    assert chromium.run("document.querySelectorAll('.plot svg').length") >= 4
    assert chromium.run("document.documentElement.scrollWidth") <= 1280
    assert_clean(chromium, path)


def test_hostile_name_is_text_in_the_label_of_a_point(chromium, tmp_path):
    name = "<b>B</b><a href='//x.org'>x</a>&lt;%{x}"
    path = write_report(evaluate([0, 1] * 20, {name: [0.1, 0.8] * 20}, costs=(0.2, 0.4)), tmp_path / "label.html")
    opened(chromium, path)
    chromium.run("Plotly.Fx.hover('plot-decomposition', [{curveNumber: 0, pointNumber: 0}])")
    assert name in chromium.run("document.querySelector('#plot-decomposition .hovertext').textContent")
    assert chromium.run("document.querySelectorAll('.plot a').length") == 0
    assert_clean(chromium, path)


def test_buttons_switch_between_the_plausible_and_the_whole_range_by_keyboard(chromium, report):
    opened(chromium, report)
    assert chromium.run(RANGE.format("regret")) == pytest.approx([0.0, 0.4])
    chromium.run("document.querySelector('#figure-regret [data-view=whole]').focus()")
    chromium.press("Enter")
    assert chromium.run(RANGE.format("regret")) == [0, 1]
    assert chromium.run(RANGE.format("decision")) == pytest.approx([0.0, 0.4])
    pressed = "[...document.querySelectorAll('#figure-regret [data-view]')].map(b => b.getAttribute('aria-pressed'))"
    assert chromium.run(pressed) == ["false", "true"]
    assert_clean(chromium, report)


def test_ticks_are_percentages_and_odds(chromium, report):
    opened(chromium, report)
    ticks = chromium.run("document.getElementById('plot-regret').layout.xaxis.ticktext")
    assert "20%<br>1:4" in ticks
    assert chromium.run("document.querySelector('#plot-regret .xtick text').textContent") == "0%0:1"


def test_a_model_is_hidden_in_every_figure_at_once(chromium, report):
    opened(chromium, report)
    chromium.run("document.querySelector('#figure-regret [data-model=\"2\"]').focus()")
    chromium.press(" ")
    assert chromium.run("[...document.querySelectorAll('[data-model=\"2\"]')].filter(box => box.checked).length") == 0
    lines = "document.querySelectorAll('#plot-{} .scatterlayer .js-line').length"
    chromium.wait_for(lines.format("reliability") + " === 5")
    assert [chromium.run(lines.format(key)) for key in ("regret", "decision")] == [4, 4]
    assert_clean(chromium, report)


def test_zoom_by_dragging_keeps_percentages_and_odds_and_a_double_click_ends_it(chromium, report):
    opened(chromium, report)
    chromium.run(
        "Plotly.relayout('plot-regret', {'xaxis.range': [0.1, 0.2], 'yaxis.range': [0, 0.1]}).then(() => true)"
    )
    assert chromium.run(RANGE.format("regret")) == [0.1, 0.2]
    assert "15%<br>1:5.7" in chromium.run("document.getElementById('plot-regret').layout.xaxis.ticktext")
    chromium.run("document.getElementById('plot-regret').emit('plotly_doubleclick')")
    assert chromium.run(RANGE.format("regret")) == pytest.approx([0.0, 0.4])
    assert_clean(chromium, report)


def test_figures_follow_a_change_of_the_colour_scheme(chromium, report):
    opened(chromium, report)
    colour = "document.getElementById('plot-regret').layout.paper_bgcolor"
    assert chromium.run(colour) == "#ffffff"
    chromium.emulate(scheme="dark")
    chromium.wait_for(f"{colour} !== '#ffffff'")
    assert_clean(chromium, report)


def test_paper_is_light_and_every_table_open(chromium, report):
    opened(chromium, report, scheme="dark")
    chromium.run("window.dispatchEvent(new Event('beforeprint'))")
    assert chromium.run("document.getElementById('plot-regret').layout.paper_bgcolor") == "#ffffff"
    assert chromium.run("document.getElementById('plot-regret').layout.width") == 660
    assert chromium.run("[...document.querySelectorAll('details')].every(block => block.open)")
    chromium.run("window.dispatchEvent(new Event('afterprint'))")
    assert not chromium.run("[...document.querySelectorAll('details')].some(block => block.open)")
    assert chromium.pdf().startswith(b"%PDF")
    assert_clean(chromium, report)


def test_picture_can_be_saved(chromium, report):
    opened(chromium, report)
    picture = chromium.run("Plotly.toImage('plot-regret', {format: 'png', width: 300, height: 200})")
    assert picture.startswith("data:image/png;base64,")
    assert_clean(chromium, report)


PUBLISHED = {
    "bcsc_predictions/bcsc_predictions": ("cancer", (0.0163, 0.0291)),
    "solar_flares_c1/solar_flares_c1": ("y", (0.1, 0.6)),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_reports_of_published_data_are_clean(chromium, load_data, tmp_path, name):
    label, bounds = PUBLISHED[name]
    frame = load_data(name)
    scores = frame.drop(columns=[label, "date"], errors="ignore")
    path = write_report(evaluate(frame[label], scores, costs=bounds), tmp_path / "report.html")
    opened(chromium, path)
    lines = chromium.run("document.querySelectorAll('#plot-regret .scatterlayer .js-line').length")
    assert lines == len(scores.columns) + 2
    assert_clean(chromium, path)

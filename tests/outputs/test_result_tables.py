"""Tables of answers: their raw numbers are those of frames and attributes, and every face shows every row of them."""

import html
import io
import math
import re

import numpy as np
import pytest

from stakes import RowCosts, evaluate
from stakes.actions import evaluate_actions
from stakes.boundary import fit_boundary
from stakes.outputs.result_table import CellStyle, TableColumn, cell_text, markdown_cell, markdown_table
from stakes.report import render_report
from tests.report.pages import Page

RNG = np.random.default_rng(11)
RISK = RNG.beta(1.0, 4.0, 400)
Y = (RNG.random(400) < RISK).astype(int)
MODELS = {"sharp": RISK, "blurred": np.clip(RISK + RNG.normal(0.0, 0.1, 400), 0.001, 0.999)}
SEX = np.where(np.arange(400) % 3 == 0, "f", "m")
SITE = np.where(np.arange(400) % 7 == 0, "north", "south")


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(Y, MODELS, costs=(0.1, 0.4), groups={"sex": SEX, "site": SITE}, metrics=["h_measure_score"])


@pytest.fixture(scope="module")
def amounts():
    orders = RowCosts(Y, false_positive=10.0, false_negative=RNG.uniform(50.0, 90.0, 400), unit="EUR")
    return evaluate(orders, MODELS, costs=(0.3, 0.6), groups={"sex": SEX})


@pytest.fixture(scope="module")
def actions():
    kind = RNG.integers(0, 2, 200)
    sure = np.where(kind[:, None] == [0, 1], 0.7, 0.3)
    return evaluate_actions(kind, {"p": sure, "q": np.full((200, 2), 0.5)}, matrices=[[0, 4], [1, 0]])


@pytest.fixture(scope="module")
def boundary():
    return fit_boundary(Y, RISK, RNG.random(400), min_precision=0.4)


def shown_as_text(show):
    pytest.importorskip("rich")
    from rich.console import Console

    out = io.StringIO()
    show(Console(file=out, width=250))
    return out.getvalue()


def same(row, record, keys=None):
    """Compare a row of a table with a record; None in a table stands where the record has no number either."""
    for key in keys or record:
        if row[key] is None:
            assert record[key] in {None, 0.0} or math.isnan(record[key])
        else:
            assert row[key] == record[key] or (math.isnan(row[key]) and math.isnan(record[key]))


def test_ranking_has_the_numbers_of_the_frame(evaluation):
    pytest.importorskip("pandas")
    rows = evaluation.tables()["ranking"].rows
    for row, record in zip(rows, evaluation.frame("pandas").to_dict("records"), strict=True):
        same(row, {**record, "rank": None if math.isnan(record["rank"]) else record["rank"]})
    for row in rows[:2]:
        result = evaluation[row["model"]]
        assert (row["share_in_range"], row["mean_score_in_range"], row["positives_in_range"]) == result.in_range
        assert (row["decomposed"], row["regret"]) == (result.decomposition.score, result.score)
        assert row["integral"] == pytest.approx(0.3 * result.score)
    assert rows[0]["vs_best"] is None
    assert rows[2]["skill"] is None


def test_groups_calibration_and_models_are_those_asked_for(evaluation):
    tables = evaluation.tables(["blurred"])
    assert [row["model"] for row in tables["ranking"].rows] == ["blurred", "treat all", "treat none"]
    for row, record in zip(tables["groups"].rows, evaluation.groups.of("blurred"), strict=True):
        assert (row["column"], row["group"], row["score"]) == (record.column, record.group, record.score)
        assert (row["skill_ci_low"], row["skill_ci_high"]) == record.skill_interval
    overall, inside = tables["calibration"].rows
    found = evaluation.calibration.of("blurred")
    assert (overall["slope"], inside["ici"]) == (found.overall.slope, found.in_range.ici)


def test_money_has_the_numbers_of_the_attributes(amounts):
    tables = amounts.tables()
    assert "calibration" not in tables
    for row in tables["money"].rows:
        found = amounts.money[row["model"]]
        assert (row["cost"], row["gain"], row["acted"]) == (found.cost.value, found.gain.value, found.acted)
        assert (row["savings_ci_low"], row["savings_ci_high"]) == found.savings.interval
    assert {row["held"] for row in tables["scales"].rows} == set(amounts.money_over_costs)
    for row in tables["scales"].rows:
        assert row["cost"] == amounts.money_over_costs[row["held"]][row["model"]].cost.value
    for row, group in zip(tables["groups"].rows, amounts.groups, strict=True):
        assert (row["cost"], row["standard_error"]) == (group.money.cost.value, group.standard_error)


def test_actions_have_the_numbers_of_the_frames(actions):
    pytest.importorskip("pandas")
    tables = actions.tables("q")
    models = {row["model"]: row for row in tables["ranking"].rows}
    assert list(models) == ["p", "q", "always 0", "always 1"]
    assert models["q"]["gap"] == actions.compare("q", "p").difference
    assert (models["p"]["gap"], models["always 0"]["skill"]) == (None, None)
    assert {name: row["cost"] for name, row in models.items()} == actions.selection.costs
    for row, record in zip(tables["classes"].rows, actions.by_class("q", "pandas").to_dict("records"), strict=True):
        same(row, record, ["share", "cost", "oracle"])
    assert [row["incurred"] for row in tables["actions"].rows] == [
        row["incurred"] for row in actions.calibration("q").by_action
    ]


def test_an_unknown_model_has_no_tables(evaluation, actions):
    with pytest.raises(ValueError, match="model must be"):
        evaluation.tables(["sharper"])
    with pytest.raises(ValueError, match="model must be one of"):
        actions.tables("r")


def test_a_class_without_rows_has_no_cost():
    found = evaluate_actions([0, 0, 1] * 9, [[0.6, 0.3, 0.1]] * 27, matrices=np.ones((3, 3)) - np.eye(3))
    empty = found.tables()["classes"].rows[2]
    assert (empty["share"], empty["cost"], empty["taken 0"]) == (0.0, None, None)


def test_levels_have_the_numbers_of_the_frame(boundary):
    pytest.importorskip("pandas")
    *levels, every = boundary.tables()["levels"].rows
    for row, record in zip(levels, boundary.frame("pandas").to_dict("records"), strict=True):
        same(row, record)
    assert (every["selected"], every["precision"]) == (boundary.selected.sum(), boundary.precision)


def test_terminal_and_report_show_every_row(evaluation, amounts):
    summary = pytest.importorskip("stakes.cli.summary")
    for found in (evaluation, amounts):
        tables, page = found.tables(), render_report(found)
        text = shown_as_text(lambda console, found=found: summary.print_evaluation(console, found))
        assert not re.search(r"^ +1 +sharp", text, re.MULTILINE)  # ranks stand below one another
        for row, shown in zip(tables["answer"].rows, found.answer.cells()[1:], strict=True):
            line = next(
                line
                for line in text.splitlines()
                if line.split()[:2] == [*filter(None, shown[:1]), *shown[1].split()][:2]
            )
            assert all(cell in line for cell in shown[2:4])
            assert f"{row['cost']:.{found.answer.decimals}f}" == shown[2]
        assert all(f'data-value="{row["cost"]!r}"' in page for row in found.answer.table.rows)
        for row in tables["groups"].rows:
            assert row["group"] in page
            if row["model"] == found.ranking[0]:
                assert f" {row['group']} " in text
        for row in tables.get("money", tables["ranking"]).rows:
            assert "cost" not in row or f"{row['cost']:,.2f}" in text
    rows = Page(render_report(evaluation)).rows("Calibration over all cases")
    assert len(rows) >= len(evaluation.tables()["calibration"].rows)
    text = shown_as_text(lambda console: summary.print_calibration(console, evaluation))
    assert all(f"{row['slope']:.2f}" in text for row in evaluation.tables()["calibration"].rows)


def test_notebooks_show_every_row(evaluation, boundary):
    shown = evaluation._repr_html_()
    assert all(cell in shown for row in evaluation.answer.cells() for cell in row)
    shown = boundary._repr_html_()
    assert all(row["level"] in shown and f"{row['precision']:.4g}" in shown for row in boundary.tables()["levels"].rows)


def test_a_table_is_a_result_of_its_own(evaluation):
    pytest.importorskip("pandas")
    table = evaluation.tables()["ranking"]
    assert repr(table) == "ResultTable(Models by expected cost: 4 rows)"
    assert list(table.frame("pandas")["model"]) == [row["model"] for row in table.rows]
    assert table.to_markdown().count("\n") == 5


@pytest.mark.parametrize(
    ("value", "ends", "text"),
    [
        (1.25, (1.0, 1.5), "1.2 (1.0 to 1.5) p 0.04"),
        (1.25, (math.nan, 1.5), "1.2? p 0.04"),
        (None, (1.0, 1.5), "-"),
    ],
)
def test_a_cell_has_its_interval_and_p_value(value, ends, text):
    formats = {"p": lambda p, _: f"{p:g}"}
    style = CellStyle(lambda x, places: f"{x:.{places}f}", formats, 1, "-", unknown="{value}?", p=" p {}")
    record = {"x": value, "x_low": ends[0], "x_high": ends[1], "p": 0.04}
    assert style.cell(record, TableColumn("x", "x", interval="x", p="p")) == text


@pytest.mark.parametrize(
    "name",
    [
        *("**b**", "_b_", "__b__", "a_b", "*", "`c`", "~~x~~", "[x](http://a.b)", "a|b", "<b>", r"a\*b", "x[1, 2]"),
        *("# best", "###### b", "1. x", "12) y", "- b", "+ c", "> c", ">c", "[a]: http://a.b", "-0.5", "3.5"),
        *("&copy;", "a&lt;b", "&#35; b", "&#x23; b", "R&D; b", "a & b"),
    ],
)
def test_a_reader_of_markdown_shows_a_cell_as_it_is(name):
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    for written in (markdown_table([markdown_cell(name), "n"], [[markdown_cell(name), "1"]]), markdown_cell(name)):
        page = reader.render(written)
        assert re.findall(r"<(?:strong|em|code|s|a|b|h\d|ul|ol|blockquote)\b", page) == []
        shown = [html.unescape(text) for text in re.findall(r">([^<>]+)</(?:th|td|p)>", page)]
        assert shown in ([name, "n", name, "1"], [name])


def test_dollars_begin_no_formula_on_pages_that_read_them_so():
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    plugin = pytest.importorskip("mdit_py_plugins.dollarmath").dollarmath_plugin
    names = ["in $, out $", "$x$", "$$a$$"]
    page = reader.use(plugin).render(markdown_table([*map(markdown_cell, names)], []))
    assert re.findall(r"<th>(.*?)</th>", page) == names


@pytest.mark.parametrize("nothing", [None, math.nan, np.float64("nan")])
def test_what_is_missing_is_an_empty_cell(nothing):
    assert cell_text(nothing) == ""
    assert cell_text(0.12345) == "0.1235"
    assert cell_text(0) == "0"

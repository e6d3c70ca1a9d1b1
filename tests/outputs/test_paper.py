"""Tables for papers: chosen columns, digits, intervals in the cell, LaTeX and Word."""

import re

import numpy as np
import pytest

from stakes import evaluate
from stakes.curves import binned_reliability, threshold_table
from stakes.metrics import top_k_scores
from stakes.outputs.result_table import Tabular

RNG = np.random.default_rng(2)
Q = RNG.beta(1, 5, 600)
Y = RNG.random(600) < Q


@pytest.fixture(scope="module")
def result():
    return evaluate(Y, {"a_1": Q, "b": np.sqrt(Q)}, costs=(0.1, 0.3), groups={"site": np.arange(600) % 2})


def lines(latex):
    return [line.removesuffix(r" \\").split(" & ") for line in latex.split("\n") if line.endswith(r"\\")]


def test_numbers_bring_their_intervals_along(result):
    record = result._records()[0]
    head, first, *_ = lines(result.to_latex(columns={"model": "Model", "score": "Cost", "auc": "AUC"}, digits=2))
    assert head == ["Model", "Cost", "AUC"]
    assert first[0] == r"a\_1"
    assert first[1] == f"{record['score']:.2g} ({record['simultaneous_low']:.2g} to {record['simultaneous_high']:.2g})"
    assert first[2] == f"{record['auc']:.2g}"


def test_defaults_are_what_a_paper_shows(result):
    cost, more = (f"{head} (simultaneous intervals)" for head in ("Expected cost", "More than the first"))
    assert lines(result.to_latex())[0][:3] == ["Model", cost, more]
    assert lines(result.to_latex())[1][2:4] == ["", "yes"]  # nothing more than itself
    assert lines(result.groups.to_latex())[0][:3] == ["By", "Group", "Model"]
    found = result.calibration
    assert lines(found.to_latex())[0] == ["Model", "Cases", "n", "Events", "O:E", "In the large", "Slope", "ICI"]
    assert lines(found.to_latex(columns=["model", "slope"]))[0] == ["model", "slope"]


def test_names_are_no_commands_of_latex():
    names = ["a", "*best", "[1ex] new", "p<q>|r"]
    latex = evaluate(Y, {name: Q + 0.001 * k for k, name in enumerate(names)}, costs=(0.1, 0.3)).to_latex()
    # after the end of a row LaTeX skips spaces and line ends, and reads a star or an argument in brackets
    assert not re.search(r"\\\\\s*[*\[]", latex)
    found = {row[0] for row in lines(latex)}
    assert found >= {"a", "{*}best", "{[}1ex] new", r"p\textless{}q\textgreater{}\textbar{}r"}


class Amounts(Tabular):
    def __init__(self, *values):
        self.values = values

    def _records(self):
        return [{"cost": value} for value in self.values]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (999.4, 3, "999"),
        (999.6, 3, "1000"),
        (-999.6, 3, "-1000"),
        (99.96, 3, "100"),
        (9.6, 1, "10"),
        (1000.4, 3, "1000"),
        (0.09996, 3, "0.100"),
    ],
)
def test_a_number_that_is_rounded_up_to_more_digits_is_written_in_full(value, digits, shown):
    assert lines(Amounts(value).to_latex(digits=digits)) == [["cost"], [shown]]


def test_zero_has_no_sign():
    found = Amounts(-0.0, 0.0)
    assert lines(found.to_latex()) == [["cost"], ["0"], ["0"]]
    assert found.to_markdown().splitlines()[2:] == ["| 0 |", "| 0 |"]


def test_unknown_columns_are_refused(result):
    with pytest.raises(ValueError, match=r"columns must be among model, .*, got 'costs'"):
        result.to_latex(columns=["model", "costs"])


def test_word_table_holds_the_same_cells(result, tmp_path):
    docx = pytest.importorskip("docx")
    written = result.calibration.to_word(tmp_path / "table.docx", columns=["model", "cases", "slope"])
    assert (tmp_path / "table.docx").read_bytes() == written
    (table,) = docx.Document(str(tmp_path / "table.docx")).tables
    cells = [[cell.text for cell in row.cells] for row in table.rows]
    assert cells[0] == ["model", "cases", "slope"]
    assert len(cells) == 5
    assert [row[:2] for row in cells[1:3]] == [["a_1", "all"], ["a_1", "in range"]]


def test_word_table_names_what_to_install(result, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "docx", None)
    with pytest.raises(ImportError, match=r"pip install 'stakes\[word\]'"):
        result.to_word(tmp_path / "table.docx")


@pytest.mark.parametrize(("columns", "upright"), [(6, False), (7, True)])
def test_one_record_of_many_columns_stands_upright_in_a_notebook(columns, upright):
    class Record(Tabular):
        def _records(self):
            return [{f"c{k}": float(k) for k in range(columns)}]

    shown = Record()._repr_html_()
    assert shown.count("<tr>") == (columns if upright else 2)


def test_counts_have_no_decimals_and_all_their_digits():
    y, score = np.arange(30_000) % 3 == 0, np.arange(30_000) % 7 / 8
    table = threshold_table(y, score, sample_weight=np.full(30_000, 1.0))
    _, first, *_ = lines(table.to_latex(columns=["threshold", "tp", "fp", "fn", "tn", "ppv"]))
    assert first == ["0", "10000", "20000", "0", "0", "0.333"]
    assert table.to_markdown().splitlines()[2].startswith("| 0 | 10000 | 20000 | 0 | 0 |")
    assert lines(binned_reliability(y[:46], score[:46], n_bins=1).to_latex())[1][4:6] == ["46", "46"]
    assert lines(top_k_scores([0, 1, 1, 0], [0.9, 0.8, 0.8, 0.1], capacity=[2, 3]).to_latex())[1:] == [
        ["2", "1", "1", "1", "0.500", "0.500", "", ""],
        ["3", "2", "2", "2", "0.667", "1.00", "", ""],
    ]
    # counts that are no whole numbers keep their digits
    halves = threshold_table([0, 1, 1], [0.1, 0.3, 0.3], sample_weight=[1.0, 0.25, 0.5])
    assert lines(halves.to_latex(columns=["tp", "fp"]))[1] == ["0.750", "1"]

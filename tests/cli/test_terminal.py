"""What people see: plain text in pipes, colour on terminals, and strangers' names that do no harm."""

import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import stakes
from stakes.outputs.text import fixed, percent, shorten, shown_name as name, visible

cell_len = pytest.importorskip("rich.cells").cell_len
Console = pytest.importorskip("rich.console").Console
Text = pytest.importorskip("rich.text").Text
summary = pytest.importorskip("stakes.cli.summary")
print_evaluation, print_table = summary.print_evaluation, summary.print_table

RANGE = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]
HOSTILE = {
    "escape": "\x1b[2J\x1b[31mred",
    "bell": "a\x07b",
    "c1": "a\x9b31mb",
    "newline": "a\nerror: all is lost",
    "carriage return": "good\rbad",
    "right to left": "a\u202egnp.exe",
    "isolate": "a\u2066b\u2069",
    "zero width": "a\u200bb",
    "hyperlink": "\x1b]8;;http://example.org\x1b\\x",
    "markup": "[bold red]x[/bold red]",
    "closing markup": "[/]",
    "emoji code": ":bomb:",
    "html": "</script><img src=x onerror=alert(1)>",
    "long": "n" * 10_000,
    "surrogate": "a\udc80b",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_no_character_that_steers_a_terminal_survives(case):
    shown = visible(HOSTILE[case])
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_escapes_are_readable():
    assert visible("a\x1b[0m\x9bb\u202ec\U000e0001d\n") == r"a\x1b[0m\x9bb\u202ec\U000e0001d\n"
    assert visible("naïve Bayes, β = 2, 模型") == "naïve Bayes, β = 2, 模型"


def test_long_names_keep_their_beginning_and_end():
    assert shorten("abcdefghij", 10) == "abcdefghij"
    assert shorten("abcdefghijk", 10) == "abcdef…ijk"
    assert len(name("x" * 10_000)) == 40


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_model_name_is_text_in_the_table(case, terminal):
    evaluation = stakes.evaluate([0, 1, 0, 1, 1], {HOSTILE[case]: [0.1, 0.8, 0.3, 0.6, 0.7], "b": [0.5] * 5})
    buffer = io.StringIO()
    console = Console(file=buffer, width=100, force_terminal=terminal, markup=False, highlight=False, emoji=False)
    print_evaluation(console, evaluation, details=True)
    text = Text.from_ansi(buffer.getvalue()).plain if terminal else buffer.getvalue()
    assert visible(text.replace("\n", "")) == text.replace("\n", "")
    assert len(text) < 10_000
    assert name(HOSTILE[case])[:12] in text


def test_hostile_file_name_and_columns_in_messages(cli, tmp_path):
    file = tmp_path / "\x1b[31mp\u202e.csv"
    file.write_text("y,\x1b[2Ja,b\n0,0.1,0.2\n1,7,0.3\n", encoding="utf-8")
    failed = cli("evaluate", file, "--label", "y")
    assert failed.code == 3
    worked = cli("evaluate", file, "--label", "y", "--models", "b")
    assert worked.code == 0, worked.err
    for text in (failed.err, worked.out, worked.err):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert r"\x1b[31mp\u202e.csv" in worked.out.replace("\n", "")
    assert r"\x1b[2Ja" in failed.err


def test_long_column_name_does_not_flood_the_message(cli, tmp_path):
    file = tmp_path / "p.csv"
    file.write_text(f"y,{'n' * 10_000}\n0,0.1\n1,7\n", encoding="utf-8")
    failed = cli("evaluate", file, "--label", "y")
    assert failed.code == 3
    assert len(failed.err) < 600
    assert "got 7" in failed.err
    missing = cli("evaluate", file, "--label", "z")
    assert len(missing.err) < 1000


def test_pipe_gets_no_escape_codes_and_no_trailing_space(data, cli):
    outcome = cli("evaluate", data, *RANGE)
    assert "\x1b" not in outcome.out + outcome.err
    assert not re.search(r"[ \t]\n", outcome.out)
    assert cli("evaluate", data, *RANGE, "--json").err == ""


@pytest.mark.parametrize("width", [72, 80, 120, 200])
def test_lines_fit_the_width(width, data, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = cli("evaluate", data, *RANGE)
    assert max(map(cell_len, outcome.out.splitlines())) <= width
    assert " to " in outcome.out


HEADS = ["", "per 1,000 rows", "cost", "95% interval", "more than the first", "may be best", "AUC"]
CELLS = [
    ["1", "sharp", "99.0", "90.0 to 108.0", "—", "yes", ".912"],
    ["12", "b" * 20, "165.6", "148.0 to 183.3", "150.0 (134.7 to 165.3)", "no", ".625"],
    ["", "treat all", "8.5", "", "9.5", "no", ""],
]


def laid_out(lines, gap):
    """Numbers to the right and ranks and names to the left, in columns as wide as their longest cell."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    sides = "<<>>>>>"
    return [
        (" " * gap).join(f"{c:{side}{n}}" for c, side, n in zip(line, sides, widths, strict=True)) for line in lines
    ]


def test_answer_has_two_spaces_and_whole_heads_where_the_terminal_is_as_wide():
    answer = SimpleNamespace(cells=lambda: [HEADS, *CELLS])
    shown = [[CELLS[0][0], "sharp one", *CELLS[0][2:]], *CELLS[1:]]
    broken = [[""] * 5 + ["may be", ""], [*HEADS[:5], "best", HEADS[6]]]
    whole, apart, near = laid_out([HEADS, *shown], 2), laid_out([*broken, *shown], 2), laid_out([*broken, *shown], 1)
    first, second, third = (len(lines[0]) for lines in (whole, apart, near))
    assert (first, second) == (third + 6 + 5, third + 6)
    widths = {first + 1: whole, first: whole, first - 1: apart, second: apart, second - 1: near, third: near}
    for width, wanted in widths.items():
        console = Console(
            file=io.StringIO(), width=width, force_terminal=True, color_system="standard", highlight=False
        )
        console.print(summary._answer_table(console, answer, {"sharp": "sharp one"}))
        text = Text.from_ansi(console.file.getvalue())
        assert text.plain.splitlines() == wanted
        bold = "".join(text.plain[span.start : span.end] for span in text.spans if span.style.bold)
        assert bold == wanted[-3]  # the first row, and it alone
    console = Console(file=io.StringIO(), width=third - 7, highlight=False)
    print_table(console, summary._answer_table(console, answer, {}), 1)
    lines = console.file.getvalue().splitlines()
    assert {len(line) for line in lines} == {third - 7}  # only names are folded
    assert [line[3:16].strip() for line in lines if "b" * 7 in line] == ["b" * 13, "b" * 7]
    for cell in (cell for row in CELLS for cell in row[2:]):
        assert any(cell in line for line in lines)


def test_findings_that_are_not_listed_are_counted(monkeypatch):
    p = np.random.default_rng(0).random(300)
    y = np.random.default_rng(1).random(300) < p
    models = {"a": p, "constant": np.full(300, 0.5), "turned": 1 - p, "label": np.round(p)}
    evaluation = stakes.evaluate(y, models, costs=(0.1, 0.3))
    codes = [each.code for each in evaluation.answer.findings]
    assert len(codes) > 3
    for listed in (0, 1, len(codes) - 2, len(codes) - 1, len(codes), len(codes) + 1):
        monkeypatch.setattr(summary, "_MOST_FINDINGS", listed)
        buffer, left = io.StringIO(), len(codes) - listed
        print_evaluation(Console(file=buffer, width=100), evaluation)
        assert re.findall(r"^(?:error|warning|info) +([a-z-]+):", buffer.getvalue(), re.MULTILINE) == codes[:listed]
        told = [line for line in buffer.getvalue().splitlines() if "more finding" in line]
        word = "finding" if left == 1 else "findings"
        assert told == ([f"{left} more {word}: stakes check lists all."] if left > 0 else [])


@pytest.mark.parametrize("width", ["0", "00"])
def test_a_width_of_nothing_is_an_unknown_one(width, data, cli, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    usual = cli("evaluate", data, *RANGE).out
    monkeypatch.setenv("COLUMNS", width)
    assert cli("evaluate", data, *RANGE).out == usual


def test_narrow_terminal_loses_no_number(data, cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    narrow = cli("evaluate", data, *RANGE).out
    monkeypatch.setenv("COLUMNS", "100")
    wide = cli("evaluate", data, *RANGE).out
    assert numbers_of(narrow) == numbers_of(wide)


def numbers_of(text):
    table = text[text.index(" to ") : text.index("A cost of")]
    return sorted(re.findall(r"-?\d+\.\d+", table[table.index("1 ") :]))


def evaluation_on_terminal(**options):
    evaluation = stakes.evaluate([0, 1, 0, 1, 1], {"a": [0.1, 0.8, 0.3, 0.6, 0.7], "b": [0.5] * 5})
    buffer = io.StringIO()
    print_evaluation(Console(file=buffer, width=100, force_terminal=True, **options), evaluation)
    return buffer.getvalue()


def test_colour_only_where_it_is_wanted(monkeypatch):
    assert "\x1b[" in evaluation_on_terminal()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not re.search(r"\x1b\[[\d;]*3[0-7]m", evaluation_on_terminal(color_system="standard"))


def test_stream_that_knows_only_ascii(data, cli, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    cli("evaluate", data, *RANGE)
    text = raw.getvalue().decode("ascii")
    assert "more than the first" in text


def test_numbers_are_readable():
    assert [fixed(x, 2) for x in (0.125, -0.001, float("nan"), float("-inf"))] == ["0.12", "0.00", "-", "-inf"]
    assert percent(0.0265) == "2.65%"

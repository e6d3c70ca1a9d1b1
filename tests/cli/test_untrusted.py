"""Names and labels that somebody else chose: every command shows them as text, short, and does what it should."""

import json
import re

import pytest

from stakes.boundary import fit_boundary

pytest.importorskip("polars")
pytest.importorskip("rich")

STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
NAMES = {
    "escape codes": "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "controls of one byte": "a\x9b31mb\x85c",
    "lines": "a\nerror: all is lost\r\nb",
    "right to left": "a\u202egnp.exe\u2066b",
    "no width": "a\u200bb\ufeff",
    "markup": "[bold red]x[/]{0}%s:bomb:",
    "page": "</script><img src=x onerror=alert(1)>",
    "long": "n" * 10_000,
}
ROLES = ["--score", "NAME", "--uncertainty", "other"]
COMMANDS = {
    "evaluate": ["--label", "LABEL", "--models", "NAME,other", "--costs", "0.05:0.3", "--groups", "GROUP"],
    "check": ["--label", "LABEL", "--models", "NAME,other", "--costs", "0.05:0.3", "--groups", "GROUP"],
    "compare": ["--label", "LABEL", "--models", "NAME,other", "--costs", "0.05:0.3", "--clusters", "GROUP"],
    "decide": ["--models", "NAME", "--measure", "f1", "--groups", "GROUP", "--sensitivity", "-o", "out.jsonl"],
    "correct": ["--models", "NAME", "--label", "LABEL", "--scale-pos-weight", "3", "-o", "out.jsonl"],
    "update": ["--models", "NAME", "--label", "LABEL", "--method", "isotonic", "-o", "out.jsonl"],
    "boundary fit": [*ROLES, "--label", "LABEL", "--min-precision", "0.3", "-o", "b.json"],
    "boundary certify": [*ROLES, "--label", "LABEL", "--min-precision", "0.05", "-o", "b.json"],
    "boundary apply": [*ROLES, "--column", "GROUP new", "-o", "out.jsonl"],
    "boundary monitor": [*ROLES, "--label", "LABEL", "--min-precision", "0.05", "-o", "out.json"],
}


def pairs(commands):
    """Every command with every name; a third of them each time, so that every command and every name has its turn."""
    return [
        pytest.param(command, case, marks=() if (row + place) % 3 == 0 else pytest.mark.thorough)
        for row, command in enumerate(commands)
        for place, case in enumerate(NAMES)
    ]


def from_stranger(folder, name):
    """Write a boundary in which every text is hostile."""
    boundary = fit_boundary([0, 1, 1, 0], [0.1, 0.2, 0.3, 0.05], [1, 2, 3, 4], min_precision=0.4)
    content = json.loads(boundary.to_json())
    roles = dict.fromkeys(("score", "uncertainty", "label", "pos_label"), f"{name} column")
    path = folder / f"{name.replace('/', '')[:60]}.json"
    path.write_text(json.dumps({**content, "goal": name, "solver": name, "columns": roles}), encoding="utf-8")
    return path


def columns_named(name):
    return {"NAME": f"{name} score", "LABEL": f"{name} outcome", "GROUP": f"{name} site", "other": "other"}


@pytest.fixture
def run(cli, columns, tmp_path):
    """Return a function that runs a command on a file in which every name and label is hostile."""

    def run(command, name, *options, broken=False, hard=False):
        names = columns_named(name)
        rows = [
            {names["NAME"]: p, "other": q, names["LABEL"]: f"{name}{y}", names["GROUP"]: f"{name} {row % 7}"}
            for row, (p, q, y) in enumerate(zip(columns["sharp"], columns["blurred"], columns["cancer"], strict=True))
        ]
        for row in rows if hard else ():
            row[names["NAME"]] = round(row[names["NAME"]] * 2) % 2
        if broken:
            rows[3][names["NAME"]] = f"{name} 7"
        path = tmp_path / f"{name.replace('/', '')[:60]}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        argv = []
        for word in COMMANDS[command]:
            for key in ("NAME", "LABEL", "GROUP"):
                comma = (
                    "," if command.startswith("boundary") else "\\,"
                )  # where one column is named, it needs no escape
                word = word.replace(key, names[key].replace(",", comma))  # noqa: PLW2901
            argv.append(word)
        positive = ["--pos-label", f"{name}1"] if "LABEL" in COMMANDS[command] else []
        files = [path]
        if command in {"boundary apply", "boundary monitor"}:
            files = [from_stranger(tmp_path, name), path]
        return cli(*command.split(), *files, *argv, *positive, *options)

    return run


def assert_harmless(outcome):
    text = outcome.out + outcome.err
    assert not STEERING.search(text), repr(STEERING.search(text))
    assert "\nerror: all is lost" not in text
    assert len(text) < 10_000


@pytest.mark.parametrize(("command", "case"), pairs(COMMANDS))
def test_command_works_and_shows_text(command, case, run):
    outcome = run(command, NAMES[case])
    assert outcome.code == 0, outcome.err
    assert_harmless(outcome)
    if case == "page" and command != "boundary monitor":  # which shows no names of columns
        assert "</script><img src=x" in outcome.out


@pytest.mark.parametrize("case", NAMES)
@pytest.mark.parametrize("command", ["evaluate", "check"])
def test_findings_show_text(command, case, run):
    outcome = run(command, NAMES[case], hard=True)
    assert outcome.code == 0, outcome.err
    assert "hard-labels: " in outcome.out
    assert_harmless(outcome)


@pytest.mark.parametrize(("command", "case"), pairs(COMMANDS))
def test_refusal_shows_text(command, case, run, folder):
    outcome = run(command, NAMES[case], broken=True)
    assert outcome.code == 3, outcome.err
    assert_harmless(outcome)
    assert len(outcome.err) < 2_000
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "case"), pairs(["evaluate", "check", "compare", "boundary fit", "boundary certify"])
)
def test_json_gives_the_names_back(command, case, run):
    outcome = run(command, NAMES[case], "--json")
    assert outcome.code == 0, outcome.err
    assert json.dumps(f"{NAMES[case]} score") in outcome.out or command == "check"
    json.loads(outcome.out)
    assert not STEERING.search(outcome.out + outcome.err)


@pytest.mark.parametrize("command", COMMANDS)
def test_names_of_files_to_write_are_text_too(command, cli, data, folder):
    hostile = "no\x1b[2J\u202e/x.csv"
    outcome = cli(
        *command.split(), data, *([data] if "boundary" in command else []), *COMMANDS[command][:-2], "-o", hostile
    )
    assert outcome.code in {2, 3}
    assert_harmless(outcome)
    assert list(folder.iterdir()) == []

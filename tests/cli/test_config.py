"""Options from a file: only from one that is named, less than what is typed, and every mistake has its place."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("click")
run = pytest.importorskip("stakes.cli.program")

COMMANDS = {
    command: {key: option for key, option in options.items() if key not in {"config", "debug"}}
    for command, options in run.PROGRAM.options_of_all().items()
    if "config" in options
}


def test_no_command_has_a_flag_set_by_default():
    flags = [
        (command, key, option.default)
        for command, options in run.PROGRAM.options_of_all().items()
        for key, option in options.items()
        if option.is_flag
    ]
    assert {command for command, key, _ in flags if key == "debug"} >= {"evaluate", "update", "boundary.fit"}
    assert [flag for flag in flags if flag[2]] == []


@pytest.fixture
def write(folder, tmp_path):  # noqa: ARG001  (the folder of the results stays empty)
    def write(text):
        path = tmp_path / "stakes.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def settings_of(outcome):
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)


def test_every_command_that_reads_data_takes_a_file():
    boundary = {f"boundary.{command}" for command in ("fit", "certify", "apply", "monitor")}
    watch = {f"watch.{command}" for command in ("start", "add", "show", "plan")}
    alone = {"evaluate", "decide", "compare", "check", "advise", "correct", "update", "plan"}
    assert set(COMMANDS) == {*alone, *boundary, *watch}


NUMBERS = {
    *["costs", "odds", "false-alarms-per-miss", "lags", "rule", "prevalence", "confidence-level", "unit-cost"],
    *["per", "pos-label", "zero-division", "positive-share", "scale-pos-weight", "prior", "training-prior"],
    *["min-precision", "min-recall", "capacity", "f-beta", "levels", "score-bins", "random-state", "n-tried"],
    *["horizon", "false-positive-cost", "false-negative-cost", "harm", "tolerance", "alpha", "rows-per-day"],
}
OF_ONE_COMMAND = {
    "plan": {
        *["width", "power", "sensitivity", "specificity", "threshold", "standard-deviation", "difference", "auc"],
        *["o-to-e", "error", "max-error"],
    },
    "decide": {"deferral", "capacity"},
    "evaluate": {"deferral", "capacity", "discount", "row-cost"},
}


def test_names_that_are_treated_apart_are_names_of_options():
    known = {key for options in COMMANDS.values() for key in options}
    assert {*NUMBERS, *(key for rivals in run.RIVALS for key in rivals)} <= known
    assert [command for command, own in run.OWN.items() if not own <= set(COMMANDS[command])] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_what_an_option_takes_is_told_by_its_metavar(command):
    options = {key: option.metavar or "" for key, option in COMMANDS[command].items() if not option.multiple}
    lists = {key: option.metavar or "" for key, option in COMMANDS[command].items() if option.multiple}
    numbers = NUMBERS | OF_ONE_COMMAND.get(command, set())
    assert {key for key, takes in options.items() if run.NUMERIC.search(takes)} == numbers & set(options)
    assert {key for key, takes in options.items() if run.RANGE.search(takes)} == {
        *{"costs", "odds", "false-alarms-per-miss"} & set(options),
        *{"capacity"} & set(options if command == "advise" else ()),
    }
    assert {key for key, takes in lists.items() if run.NAMES.match(takes)} == {
        *{"models", "groups", "by", "fail-on", "ignore", "cause", "classes"} & set(lists)
    }


def test_table_of_a_group_is_for_its_commands_and_that_within_it_wins(rows, cli, write):
    file = write(
        """
        [stakes]
        costs = [0.1, 0.2]       # what it means to evaluate is not what it means here
        label = "nobody"
        confidence-level = 0.8
        [boundary]
        label = "outcome"
        score = "risk"
        uncertainty = "spread"
        min-precision = 0.5
        [boundary.fit]
        min-precision = "0.6"
        levels = 2
        """
    )
    outcome = cli("boundary", "fit", rows, "--config", file, "--json")
    found = settings_of(outcome)
    assert (found["goal"], len(found["levels"])) == ("most recall, precision >= 0.6", 2)
    assert found["gain"]["confidence_level"] == 0.8
    taken = "min-precision, levels, label, score, uncertainty, confidence-level\n"
    assert outcome.err.splitlines(keepends=True)[0].endswith(f"stakes.toml: {taken}")
    typed = cli("boundary", "fit", rows, "--config", file, "--json", "--min-precision", "0.7")
    assert settings_of(typed)["goal"] == "most recall, precision >= 0.7"
    certified = settings_of(cli("boundary", "certify", rows, "--config", file, "--json"))["certificate"]
    assert (certified["min_precision"], certified["confidence_level"]) == (0.5, 0.95)


def test_costs_in_the_table_of_the_group_are_meant(rows, cli, write):
    file = write('[boundary]\nlabel = "outcome"\nscore = "risk"\nuncertainty = "spread"\ncosts = 0.2\n')
    assert (
        settings_of(cli("boundary", "fit", rows, "--config", file, "--json"))["goal"] == "least cost at cost ratio 0.2"
    )


def test_file_says_what_the_command_line_would(data, cli, write):
    file = write(
        """
        [stakes]
        label = "cancer"
        models = ["sharp", "blurred"]
        costs = [0.05, 0.3]
        weight = "weight"
        pos-label = 1
        [evaluate]
        confidence-level = 0.8
        unit-cost = 250
        per = "1,000"
        metric = ["net_benefit_score:threshold=0.1", "h_measure_score"]
        on-missing = "drop"
        json = true
        """
    )
    typed = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3", "--weight", "weight"]
    typed += ["--pos-label", "1", "--confidence-level", "0.8", "--unit-cost", "250", "--per", "1000", "--json"]
    typed += ["--metric", "net_benefit_score:threshold=0.1", "--metric", "h_measure_score", "--on-missing", "drop"]
    outcome = cli("evaluate", data, "--config", file)
    assert settings_of(outcome) == settings_of(cli("evaluate", data, *typed))
    assert outcome.err == (
        f"note: options taken from {run.name(str(file), 200)}: confidence-level, unit-cost, per, metric, "
        "on-missing, json, label, models, costs, weight, pos-label\n"
    )


@pytest.mark.parametrize(
    ("typed", "ends"),
    [([], (0.1, 0.2)), (["--costs", "0.3:0.4"], (0.3, 0.4)), (["--odds", "1/4:1/1"], (0.2, 0.5))],
)
def test_command_line_wins_over_the_command_and_that_over_all(typed, ends, data, cli, write):
    file = write('[stakes]\nlabel = "cancer"\nodds = "1/99:1/9"\n[evaluate]\nfalse-alarms-per-miss = "4:9"\n')
    found = settings_of(cli("evaluate", data, "--models", "sharp", "--config", file, "--json", *typed))["costs"]
    assert (found["low"], found["high"]) == pytest.approx(ends)


def test_typed_rival_displaces_the_one_in_the_file(data, cli, write):
    file = write('[stakes]\nlabel = "cancer"\nmodels = "sharp"\ncosts = "0.1:0.2"\nlags = 3\n')
    assert cli("evaluate", data, "--config", file, "--clusters", "weight").code == 3  # three values are no clusters
    assert "clusters" in cli("evaluate", data, "--config", file, "--clusters", "weight").err


def test_table_of_another_command_is_not_used(data, cli, write):
    file = write('[stakes]\nlabel = "cancer"\nmeasure = "f1"\n[check]\nignore = ["half-outside"]\ncosts = 0.7\n')
    outcome = cli("evaluate", data, "--models", "sharp", "--costs", "0.1:0.2", "--json", "--config", file)
    assert settings_of(outcome)["costs"]["high"] == 0.2
    assert outcome.err.endswith("stakes.toml: label\n")


def test_no_file_is_read_unless_it_is_named(data, cli, folder):
    (folder / "stakes.toml").write_text("[stakes]\nlabel = 'cancer'\n", encoding="utf-8")
    outcome = cli("evaluate", data)
    assert outcome.code == 2
    assert "--label" in outcome.err
    assert "stakes.toml" not in outcome.err


def test_variable_names_a_file_and_the_option_another(data, cli, write, monkeypatch, folder):
    file = write('[stakes]\nlabel = "nobody"\n')
    monkeypatch.setenv("STAKES_CONFIG", str(file))
    outcome = cli("evaluate", data, "--models", "sharp")
    assert outcome.code == 3
    assert "(named by STAKES_CONFIG): label\n" in outcome.err
    other = folder / "other.toml"
    other.write_text('[stakes]\nlabel = "cancer"\n', encoding="utf-8")
    assert cli("evaluate", data, "--models", "sharp", "--config", other).code == 0
    monkeypatch.setenv("STAKES_CONFIG", "")
    assert cli("evaluate", data, "--models", "sharp", "--label", "cancer", "--costs", "0.1:0.2").err == ""


def test_help_and_the_demo_need_no_file(cli, monkeypatch):
    monkeypatch.setenv("STAKES_CONFIG", "nowhere.toml")
    assert cli("evaluate", "--help").code == 0
    assert cli("demo", "--json").code == 0
    assert cli("advise").code == 2


def test_comma_in_a_name_of_an_array_is_a_comma(cli, columns, tmp_path, write):
    table = tmp_path / "p.jsonl"
    rows = zip(columns["cancer"], columns["sharp"], strict=True)
    table.write_text("\n".join(json.dumps({"y": y, "a,b": p}) for y, p in rows), encoding="utf-8")
    file = write('[stakes]\nlabel = "y"\nmodels = ["a,b"]\ncosts = "0.1:0.2"\n')
    found = settings_of(cli("evaluate", table, "--config", file, "--json"))
    assert found["models"][0]["model"] == "a,b"


BAD = {
    "unknown option": ("[stakes]\nlable = 'y'\n", ["stakes.toml: [stakes]", "'lable'", "did you mean label?"]),
    "underscore": ("[check]\non_missing = 'drop'\n", ["[check]", "'on_missing'", "did you mean on-missing?"]),
    "option of another command": ("[evaluate]\nmeasure = 'f1'\n", ["[evaluate]", "'measure'"]),
    "unknown table": ("[evalute]\n", ["[evalute]", "[stakes]", "[evaluate]"]),
    "no table": ("label = 'y'\n", ["label belongs in a table", "[stakes]"]),
    "value for a table": ("stakes = 3\n", ["stakes must be a table"]),
    "number for a name": ("[stakes]\nlabel = 3\n", ["[stakes] label must be a string, got 3"]),
    "text for a flag": ("[check]\njson = 'yes'\n", ["[check] json must be true or false, got 'yes'"]),
    "flag for a number": ("[stakes]\nprevalence = true\n", ["prevalence must be a string or a number, got true"]),
    "numbers for names": ("[stakes]\nmodels = [1, 2]\n", ["models must be a string or an array of strings"]),
    "range of three": ("[stakes]\ncosts = [0.1, 0.2, 0.3]\n", ["costs must be a string, a number or an array of two"]),
    "array for a name": ("[stakes]\nlabel = ['y']\n", ["label must be a string"]),
    "date": ("[stakes]\ncosts = 2020-01-01\n", ["costs must be a string or a number, got 2020-01-01"]),
    "a file within": ("[stakes]\nconfig = 'x'\n", ["config belongs on the command line"]),
    "debug": ("[stakes]\ndebug = true\n", ["debug belongs on the command line"]),
    "value that breaks a rule": ("[stakes]\ncosts = '0.3:0.1'\n", ["stakes.toml: costs", "low to high"]),
    "value that is no choice": ("[stakes]\nscale = 'utility'\n", ["stakes.toml: scale", "--scale"]),
    "no TOML": ("[stakes\n", ["stakes.toml' is not TOML", "line 1"]),
    "other command's mistake": ("[decide]\nmeasures = 'f1'\n", ["[decide]", "did you mean measure?"]),
    "unknown command of a group": ("[boundary.fits]\n", ["[boundary.fits]", "[boundary]", "[boundary.fit]"]),
    "option of no command of a group": ("[boundary]\nmeasure = 'f1'\n", ["[boundary]", "'measure'"]),
    "option of another in the group": ("[boundary.apply]\nstate = 's.json'\n", ["[boundary.apply]", "'state'"]),
    "command within the table for all": ("[stakes.check]\nignore = []\n", ["[stakes.check]: write [check] instead"]),
    "command of a group within it": (
        "[stakes.boundary.fit]\n",
        ["[stakes.boundary.fit]: write [boundary.fit] instead"],
    ),
    "group within it": ("[stakes.boundary]\nlabel = 'y'\n", ["[stakes.boundary]: write [boundary] instead"]),
    "table of pyproject.toml": (
        "[tool.stakes]\n",
        ["no table [tool]", "[tool.stakes] is read from pyproject.toml only"],
    ),
    "no end of brackets": ("[stakes]\nlabel=" + "[" * 5000 + "]" * 5000, ["nested too deeply"]),
    "no end of a key": ("a" + ".a" * 30_000 + "=1\n", ["65,536 characters, and 2,000 points in a line"]),
    "no end": ("#" * 70_000, ["65,536 characters"]),
    "hostile key": ('[stakes]\n"\\u001b[2J\\u202e" = 1\n', [r"\x1b[2J", r"\u202e"]),
    "hostile value": ('[stakes]\nlabel = ["\\u001b[2J"]\n', ["label must be a string"]),
}


@pytest.mark.parametrize("case", BAD)
def test_mistake_in_the_file_is_a_usage_error_with_its_place(case, data, cli, write, folder):
    text, parts = BAD[case]
    typed = [] if "label" in text else ["--label", "cancer"]
    outcome = cli("evaluate", data, "--config", write(text), *typed, "--output", "r.json")
    assert (outcome.code, outcome.out) == (2, ""), outcome.err
    assert [part for part in parts if part not in outcome.err] == [], outcome.err
    assert len([line for line in outcome.err.splitlines() if line.startswith("error: ")]) == 1
    assert "\x1b" not in outcome.err
    assert "\u202e" not in outcome.err
    assert list(folder.iterdir()) == []


PROJECT = """
[project]
name = "ward"
[tool.other]
label = "nobody"
[tool.stakes]
label = "cancer"
models = "sharp"
costs = [0.1, 0.2]
[tool.stakes.evaluate]
costs = [0.1, 0.3]
[tool.stakes.boundary]
label = "outcome"
score = "risk"
[tool.stakes.boundary.fit]
uncertainty = "spread"
min-precision = 0.6
"""


def test_project_file_gives_its_own_table_with_those_of_commands(data, rows, cli, folder, tmp_path):
    file = tmp_path / "pyproject.toml"
    file.write_text(PROJECT, encoding="utf-8")
    outcome = cli("evaluate", data, "--config", file, "--json")
    typed = ["--label", "cancer", "--models", "sharp", "--costs", "0.1:0.3"]
    assert settings_of(outcome) == settings_of(cli("evaluate", data, *typed, "--json"))
    assert outcome.err.endswith("pyproject.toml: costs, label, models\n")
    found = settings_of(cli("boundary", "fit", rows, "--config", file, "--json"))
    assert found["goal"] == "most recall, precision >= 0.6"
    assert list(folder.iterdir()) == []


def test_project_file_is_read_only_where_it_is_named(data, cli, folder):
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    outcome = cli("evaluate", data, "--models", "sharp")
    assert (outcome.code, "pyproject.toml" in outcome.err) == (2, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project]\nname = 'a'\n", "pyproject.toml: there is no table [tool.stakes]"),
        ("[stakes]\nlabel = 'cancer'\n", "pyproject.toml: there is no table [tool.stakes]"),
        ("tool = 3\n", "pyproject.toml: there is no table [tool.stakes]"),
        ("[tool]\nstakes = 3\n", "pyproject.toml: there is no table [tool.stakes]"),
        ("[tool.stakes]\nlable = 'a'\n", "pyproject.toml: [tool.stakes] has an unknown option 'lable'; did you mean"),
        ("[tool.stakes.evaluate]\nlable = 'a'\n", "[tool.stakes.evaluate] has an unknown option 'lable'"),
        ("[tool.stakes.evalute]\n", "there is no table [tool.stakes.evalute]; there are [tool.stakes], [tool.stakes."),
        ("[tool.stakes.stakes]\nlabel = 'a'\n", "there is no table [tool.stakes.stakes]"),
    ],
)
def test_mistakes_in_a_project_file_name_their_table(text, message, data, cli, folder):
    file = folder.parent / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    outcome = cli("evaluate", data, "--config", file, "--label", "cancer", "--output", "r.json")
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("path", ["nowhere.toml", ".", ""])
def test_file_that_is_not_there_is_a_usage_error(path, data, cli):
    outcome = cli("evaluate", data, "--label", "cancer", "--config", path)
    assert outcome.code == 2
    assert "--config: " in outcome.err


def test_other_encodings_are_refused(data, cli, tmp_path):
    (tmp_path / "c.toml").write_bytes("[stakes]\nlabel = 'é'\n".encode("latin-1"))
    outcome = cli("evaluate", data, "--config", tmp_path / "c.toml")
    assert (outcome.code, "is not TOML" in outcome.err) == (2, True)
    (tmp_path / "c.toml").write_bytes("\ufeff[stakes]\nlabel = 'cancer'\n".encode())
    assert cli("evaluate", data, "--models", "sharp", "--config", tmp_path / "c.toml").code == 0


@pytest.mark.parametrize("key", ["output", "report", "plot", "state"])
def test_a_file_of_options_names_nothing_that_is_written(key, rows, cli, write, monkeypatch):
    victim = Path("victim.json").absolute()
    victim.write_text("mine", encoding="utf-8")
    command = {"plot": ["boundary", "fit"], "state": ["boundary", "monitor", "b.json"]}.get(key, ["evaluate"])
    for table in ("stakes", ".".join(command[:2])):
        config = write(f"[{table}]\n{key} = {json.dumps(str(victim))}\n")
        outcomes = [cli(*command, rows, "--config", config)]
        with monkeypatch.context() as patch:
            patch.setenv("STAKES_CONFIG", str(config))
            outcomes.append(cli(*command, rows))
        for outcome in outcomes:
            assert (outcome.code, outcome.out) == (2, "")
            assert f"[{table}] {key} names a file that is written: give --{key} on the command line" in outcome.err
        assert victim.read_text(encoding="utf-8") == "mine"


def test_every_option_that_names_what_is_written_is_kept_out_of_files():
    folder = Path(run.__file__).parent
    checked = {
        option
        for path in folder.glob("*.py")
        for option in re.findall(r'check_target\("--([a-z-]+)"', path.read_text())
    }
    assert checked == run.WRITTEN
    targets = {
        key
        for options in COMMANDS.values()
        for key, option in options.items()
        if re.match(r"OUT\b|STATE\b", option.metavar or "")
    }
    assert targets == run.WRITTEN


def test_compare_of_columns_takes_options_from_a_file_and_that_of_kept_evaluations_does_not(
    data, cli, write, monkeypatch
):
    monkeypatch.setenv("STAKES_CONFIG", str(write('[stakes]\nlabel = "cancer"\n')))
    outcome = cli("compare", data, "--models", "sharp,blurred", "--costs", "0.05:0.3")
    assert outcome.code == 0, outcome.err
    assert outcome.err.endswith("stakes.toml (named by STAKES_CONFIG): label\n")
    assert ": none for this command\n" in cli("compare", data, "later.json").err

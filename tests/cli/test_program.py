"""The program as such: help, start, missing libraries, pipes, and errors nobody expected."""

import inspect
import os
import re
import shutil
import subprocess
import sys
import warnings

import pytest

import stakes
from stakes import information
from stakes.boundary._out_of_fold import SOLVERS
from stakes.boundary._problem import BINNINGS, GOALS
from tests.cli.conftest import ROLES, write_csv

evaluate = pytest.importorskip("stakes.cli.evaluate")
plan = pytest.importorskip("stakes.cli.advise")

BOUNDARY = ["boundary fit", "boundary certify", "boundary apply", "boundary monitor"]
COMMANDS = ["evaluate", "decide", "compare", "check", "advise", "correct", "update", "plan", "demo", *BOUNDARY]
RANGE = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]

# as the program itself, whose shell completion reads its own name
PROGRAM = "import sys; from stakes.cli import main; sys.exit(main())"


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("library", ["click", "rich"])
def test_without_its_libraries_the_command_says_how_to_get_them(library):
    for other in {"click", "rich"} - {library}:  # else that one is missed first
        pytest.importorskip(other)
    run = python(f"import sys; sys.modules[{library!r}] = None; from stakes.cli import main; sys.exit(main(['demo']))")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == f"error: the command line needs {library}: pip install 'stakes[cli]'\n"


def test_without_polars_the_command_says_how_to_get_it(cli, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    outcome = cli("evaluate", data, *RANGE)
    assert outcome.code == 1
    assert "pip install 'stakes[cli]'" in outcome.err


@pytest.mark.usefixtures("cli")
def test_help_lists_the_commands_and_starts_without_slow_libraries():
    slow = ["polars", "plotly", "scipy", "pandas", "pyarrow", "matplotlib", "sklearn", "numpy", "stakes.core"]
    run = python(
        "import sys; from stakes.cli import main; code = main(['--help']); "
        f"print([name for name in {slow!r} if name in sys.modules]); sys.exit(code)"
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("[]\n")
    assert "evaluate" in run.stdout
    assert "demo" in run.stdout


@pytest.mark.parametrize("command", [command for command in COMMANDS if " " not in command])
def test_help_says_of_a_command_what_its_own_help_begins_with(command, cli):
    own = " ".join(cli(command, "--help").out.split("\n\n")[1].split())
    assert f" {command} {own} " in " ".join(cli("--help").out.split()) + " "


def test_a_command_is_imported_when_it_is_called():
    loaded = "print('evaluate' in [name.removeprefix('stakes.cli.') for name in sys.modules])"
    run = python(
        f"import sys; from stakes.cli import main; main(['--help']); {loaded}; main(['demo', '--help']); {loaded}"
    )
    assert [line for line in run.stdout.splitlines() if line.startswith(("False", "True"))] == ["False", "True"]


@pytest.fixture
def files_of_the_examples(folder, columns, scores, boundary):
    """Write the files that the examples of the help speak of."""
    sharp, blurred = columns["sharp"], columns["blurred"]
    models = {"new": sharp, "old": blurred, "risk": sharp}
    write_csv(folder / "predictions.csv", {"cancer": columns["cancer"], **models})
    write_csv(folder / "scores.csv", {"outcome": columns["cancer"], "risk": blurred})
    write_csv(folder / "scored.csv", scores)
    (folder / "boundary.json").write_text(boundary, encoding="utf-8")
    return folder


@pytest.mark.usefixtures("files_of_the_examples")
@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_each_command_has_an_example_that_works(command, cli):
    page = cli(*command.split(), "--help")
    assert page.code == 0
    examples = [line.split() for line in page.out.partition("Example")[2].splitlines() if "  stakes " in line]
    assert examples
    for example in examples:
        argv = example[example.index("stakes") + 1 :]
        assert " ".join(argv).startswith(f"{command} ") or argv == [command]
        assert cli(*argv).code == (4 if "--fail-on" in argv else 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_every_command(command, cli):
    options = set(
        re.findall(r"^ +(?:-o, )?(--[a-z-]+)|(?<=, )(--[a-z-]+)", cli(*command.split(), "--help").out, re.MULTILINE)
    )
    names = {name for pair in options for name in pair}
    assert names >= {"--json", "--output", "--help", "--debug"}
    assert ("--config" in names) == (command != "demo")


def test_plans_are_those_of_the_library():
    assert plan.QUESTIONS == information.QUESTIONS


def test_options_are_called_as_in_the_library():
    library = set(inspect.signature(stakes.evaluate_frame).parameters)
    options = set(inspect.signature(evaluate.evaluate).parameters)
    # --metric is repeated, and three options state a range of thresholds in other words than costs.
    amounts = {"false_positive", "false_negative"}
    assert library - options == {"frame", "metrics", "outcome", "action", *amounts}
    told = set(inspect.signature(stakes.outcomes.OutcomeColumns).parameters)
    assert (told - amounts) | {f"{name}_cost" for name in amounts} <= options
    options -= {*told, "event", *(f"{name}_cost" for name in amounts)}
    files = {
        "file",
        "file_format",
        "engine",
        "report",
        "keep",
        "as_json",
        "output",
        "config",
        "debug",
        "calibration",
        "any_size",
    }
    files |= {"classes", "cost_matrix"}  # those of evaluate_actions
    files |= {"action_name", "event_name", "details", "unlabelled"}  # --event is a column; promised_regret
    files |= {"deferral", "capacity", "more_rows", "decisions", "discount", "row_cost"}  # with_deferral and so on
    assert options - library - files == {"metric", "odds", "false_alarms_per_miss", "weighting"}


def test_options_about_boundaries_are_called_as_in_the_library():
    fit = set(inspect.signature(pytest.importorskip("stakes.cli.boundary_fit").fit).parameters)
    library = set(inspect.signature(stakes.boundary.fit_boundary).parameters)
    # a file has columns in place of the arrays
    assert library - fit == {"y_true", "y_score", "sample_weight"}
    enums = pytest.importorskip("stakes.cli.boundary_fit")
    assert {choice.value for choice in enums.Solver} == {*SOLVERS, "cv"}
    assert tuple(choice.value for choice in enums.Binning) == BINNINGS
    assert tuple(choice.value for choice in enums.Goal) == GOALS


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_completion_is_printed(shell, forker, tmp_path):
    run = forker.run(code=PROGRAM, env={**os.environ, "_STAKES_COMPLETE": f"{shell}_source"})
    assert (run.returncode, run.stderr) == (0, b"")
    assert f"_STAKES_COMPLETE={shell}_complete".encode() in run.stdout
    if shutil.which(shell):
        (tmp_path / "script").write_bytes(run.stdout)
        check = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
        assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("stakes co", ["plain,compare", "plain,correct"]),
        ("stakes evaluate p.csv --on-m", ["plain,--on-missing"]),
        ("stakes evaluate p.csv --on-missing d", ["plain,drop"]),
        ("stakes evaluate p.csv --report r", ["file,r"]),
        ("stakes evaluate p.csv --label c", []),
        ("stakes evaluate p", ["file,p"]),
        ("stakes check --conf", ["plain,--confidence-level", "plain,--config"]),
        ("stakes boundary m", ["plain,monitor"]),
        ("stakes boundary fit p.csv --goal f", ["plain,f_beta", "plain,false_positives"]),
        ("stakes boundary monitor b.json p.csv --st", ["plain,--state"]),
    ],
)
def test_completion_offers_commands_options_choices_and_files(typed, offered, forker):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_STAKES_COMPLETE": "bash_complete"}
    environment = {**os.environ, **words, "STAKES_CONFIG": "nowhere.toml"}  # completing reads no file
    run = forker.run(code=PROGRAM, env=environment)
    assert (sorted(run.stdout.decode().split()), run.stderr) == (offered, b"")


def test_without_arguments_the_help_is_shown(cli):
    assert (cli().code, cli().out) == (0, cli("--help").out)


def test_version(cli):
    assert cli("--version").out == f"stakes {stakes.__version__}\n"


@pytest.mark.usefixtures("cli")
def test_module_is_the_command():
    run = subprocess.run(
        [sys.executable, "-m", "stakes", "evaluate", "x.csv"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "--label" in run.stderr


def test_unexpected_error_is_short_and_its_traceback_is_kept_for_debugging(cli, data, monkeypatch):
    def broken(*_, **__):
        raise KeyError("\x1b[31mregret" * 100)

    monkeypatch.setattr("stakes.evaluation.evaluate_predictions", broken)
    outcome = cli("evaluate", data, *RANGE)
    assert (outcome.code, outcome.out) == (1, "")
    assert "KeyError" in outcome.err
    assert "--debug" in outcome.err
    assert "Traceback" not in outcome.err
    assert "\x1b" not in outcome.err
    assert len(outcome.err) < 500
    debugged = cli("evaluate", data, *RANGE, "--debug")
    assert debugged.code == 1
    assert "Traceback" in debugged.err


def test_warnings_of_libraries_become_one_plain_line(cli, data, monkeypatch):
    task = pytest.importorskip("stakes.cli.task").Task
    evaluate = task.evaluate

    def warns(asked, predictions):
        for _ in range(2):
            warnings.warn("few rows", UserWarning, stacklevel=2)
        return evaluate(asked, predictions)

    monkeypatch.setattr(task, "evaluate", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        outcome = cli("evaluate", data, *RANGE)
    assert outcome.code == 0
    assert outcome.err == "warning: few rows\n"


PIPED = {
    "help": ["--help"],
    "help of a command": ["evaluate", "--help"],
    "demo": ["demo"],
    "check": ["check", "predictions.csv", "--label", "cancer", "--costs", "0.1:0.3"],
    "compare": ["compare", "predictions.csv", "--label", "cancer", "--costs", "0.1:0.3", "--models", "new,old"],
    "advise": ["advise"],
    "plan": ["plan", "auc", "--auc", "0.8", "--prevalence", "0.1", "--width", "0.1"],
    "correct": ["correct", "scores.csv", "--models", "risk", "--scale-pos-weight", "3", "--label", "outcome"],
    "corrected rows": ["correct", "scores.csv", "--models", "risk", "--scale-pos-weight", "3", "-o", "-"],
    "update": ["update", "scores.csv", "--label", "outcome", "--method", "isotonic"],
    "updated rows": ["update", "scores.csv", "--label", "outcome", "--method", "isotonic", "-o", "-"],
    "decide": ["decide", "scores.csv", "--models", "risk", "--measure", "f1"],
    "decided rows": ["decide", "scores.csv", "--models", "risk", "--measure", "f1", "-o", "-"],
    "boundary": ["boundary", "fit", "scored.csv", *ROLES, "--min-precision", "0.6"],
    "boundary for others": ["boundary", "fit", "scored.csv", *ROLES, "--min-precision", "0.6", "-o", "-"],
    "certified": ["boundary", "certify", "scored.csv", *ROLES, "--min-precision", "0.5"],
    "applied": ["boundary", "apply", "boundary.json", "scored.csv"],
    "applied rows": ["boundary", "apply", "boundary.json", "scored.csv", "-o", "-"],
    "monitored": ["boundary", "monitor", "boundary.json", "scored.csv"],
}


# Text, tables, rows, and rows by the rule of another file: the rest are of these kinds.
OFTEN = ("help", "check", "corrected rows", "applied rows")


@pytest.mark.usefixtures("cli")
@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=() if case in OFTEN else pytest.mark.thorough) for case in PIPED]
)
def test_reader_of_the_pipe_may_leave_early(case, files_of_the_examples):
    command = [sys.executable, "-m", "stakes", *PIPED[case]]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=files_of_the_examples)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    for word in ("error:", "Broken", "Traceback", "Exception"):
        assert word not in errors

"""The program as such: help, start, missing libraries, pipes, and errors nobody expected."""

import subprocess
import sys
import warnings

import pytest

import stakes
from stakes.cli._settings import Settings

RANGE = ["--label", "cancer", "--models", "sharp,blurred", "--costs", "0.05:0.3"]


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("library", ["typer", "rich"])
def test_without_its_libraries_the_command_says_how_to_get_them(library):
    for other in {"typer", "rich"} - {library}:  # else that one is missed first
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
    slow = ["polars", "plotly", "scipy.stats", "pandas", "pyarrow", "matplotlib", "sklearn"]
    run = python(
        "import sys; from stakes.cli import main; code = main(['--help']); "
        f"print([name for name in {slow!r} if name in sys.modules]); sys.exit(code)"
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.endswith("[]\n")
    assert "evaluate" in run.stdout
    assert "demo" in run.stdout


@pytest.mark.parametrize("command", ["evaluate", "demo"])
def test_help_of_each_command_has_an_example(command, cli):
    outcome = cli(command, "--help")
    assert outcome.code == 0
    assert f"  stakes {command}" in outcome.out.partition("Example:")[2]
    assert "--report" in outcome.out


def test_example_of_the_help_is_a_valid_command(cli):
    example = cli("evaluate", "--help").out.partition("Example:\n")[2].split()
    outcome = cli(*example[1:])
    assert (outcome.code, "predictions.csv: there is no such file" in outcome.err) == (3, True)


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

    monkeypatch.setattr("stakes.evaluation._evaluate.evaluate_predictions", broken)
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
    evaluate = Settings.evaluate

    def warns(settings, predictions):
        for _ in range(2):
            warnings.warn("few rows", UserWarning, stacklevel=2)
        return evaluate(settings, predictions)

    monkeypatch.setattr(Settings, "evaluate", warns)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        outcome = cli("evaluate", data, *RANGE)
    assert outcome.code == 0
    assert outcome.err == "warning: few rows\n"


@pytest.mark.usefixtures("cli")
def test_reader_of_the_pipe_may_leave_early():
    process = subprocess.Popen([sys.executable, "-m", "stakes", "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (0, "")

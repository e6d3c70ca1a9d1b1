"""The program: typer reads the arguments, and what they ask for is run here, under one set of exit codes.

Only the parsing is left to typer. Errors, interruption and broken pipes are handled here, so that they do not change
with its version.
"""

from __future__ import annotations

import traceback
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from stakes._version import __version__
from stakes.cli import advise, check, compare, correct, decide, demo, evaluate
from stakes.cli._console import fail, say, warn, write_out
from stakes.cli._errors import DONE, INTERRUPTED, Problem, explain, parsing_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.cli._options import Job

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
app.command(epilog=evaluate.EPILOG)(evaluate.evaluate)
app.command(epilog=decide.EPILOG)(decide.decide)
app.command(epilog=compare.EPILOG)(compare.compare)
app.command(epilog=check.EPILOG)(check.check)
app.command(epilog=advise.EPILOG)(advise.advise)
app.command(epilog=correct.EPILOG)(correct.correct)
app.command(epilog=demo.EPILOG)(demo.demo)


def _print_version(value: bool) -> None:  # noqa: FBT001  (typer calls it)
    if value:
        write_out(f"stakes {__version__}\n")
        raise typer.Exit


@app.callback()
def stakes(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Evaluate classifiers by the cost of the decisions made with their scores."""


def run(argv: Sequence[str]) -> int:
    """Carry out a command line and return its exit code."""
    try:
        parsed = app(args=list(argv) or ["--help"], prog_name="stakes", standalone_mode=False)
        if not callable(parsed):
            return int(parsed or DONE)
        return _run_job(parsed)
    except (KeyboardInterrupt, typer.Abort):
        say("", "interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the one place where every error becomes a message)
        if "--debug" in argv:
            traceback.print_exc()
        problem = _problem(error)
        fail(problem.message, problem.hint)
        return problem.code


def _run_job(job: Job) -> int:
    """Run, and repeat what libraries warned of in plain words."""
    with warnings.catch_warnings(record=True) as caught:
        code = job()
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        warn(message)
    return DONE if code is None else code


def _problem(error: Exception) -> Problem:
    if isinstance(getattr(error, "exit_code", None), int) and hasattr(error, "format_message"):
        return parsing_problem(error)
    return explain(error)

"""The program: typer reads the arguments, and what they ask for is run here, under one set of exit codes.

Only the parsing is left to typer. Errors, interruption and broken pipes are handled here, so that they do not change
with its version.
"""

from __future__ import annotations

import functools
import io
import signal
import threading
import traceback
import warnings
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from stakes._version import __version__
from stakes.cli._console import fail, open_streams, say, warn, write_out
from stakes.cli._errors import DONE, INTERRUPTED, Problem, explain, parsing_problem
from stakes.cli._group import Group
from stakes.shown.sizes import LIFTED, any_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from stakes.cli._options import Job

# Their default is to end the program on the spot, whatever it is writing.
_ENDING = ("SIGTERM", "SIGHUP")


class _Program(Group):
    about: ClassVar = {
        "evaluate": "Say which model to act on over the plausible thresholds, by how much it is better, and how sure "
        "that is.",
        "decide": "Choose the rows whose selection maximises the expected value of a measure on this batch, and mark "
        "them.",
        "compare": "Say whether one model costs less than another on the same rows, by how much, and how sure that is.",
        "check": "Say what to know of the predictions before acting on them: coded findings, each with its remedy.",
        "advise": "Say which metric fits the decision, why, how to call it, and what accuracy, F1 or AUC would get "
        "wrong.",
        "plan": "Say how many rows a validation needs: for an interval of some width, a difference, or a certificate.",
        "correct": "Undo class weights or sampling in a file of scores, and test with --label what that leaves.",
        "demo": "Evaluate three models on the example that comes with stakes; no file is needed.",
        "boundary": "Thresholds over score and uncertainty: fit, certify, apply and monitor them.",
    }


app = typer.Typer(cls=_Program, rich_markup_mode=None, pretty_exceptions_enable=False)


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


class _Ended(BaseException):
    """A signal that ends the program."""


@open_streams()
def run(argv: Sequence[str]) -> int:
    """Carry out a command line and return its exit code."""
    try:
        with _signals_as_exceptions(), any_size(LIFTED.get()):  # which an option may lift for this run
            parsed = _parse(argv)
            return _run_job(parsed) if callable(parsed) else int(parsed or DONE)
    except (KeyboardInterrupt, typer.Abort):
        say("", "interrupted")
        return INTERRUPTED
    except _Ended as ended:
        say("", f"ended by {signal.Signals(ended.args[0]).name}")
        return 128 + int(ended.args[0])
    except Exception as error:  # noqa: BLE001  (the one place where every error becomes a message)
        if "--debug" in argv:
            traceback.print_exc()
        problem = _problem(error)
        fail(problem.message, problem.hint)
        return problem.code


def _parse(argv: Sequence[str]) -> Any:
    """Let typer read the arguments; the pages that it prints, such as help, leave as all other results do."""
    page = io.StringIO()
    try:
        with redirect_stdout(page):
            return _program()(args=list(argv) or ["--help"], prog_name="stakes", standalone_mode=False)
    finally:
        if page.getvalue():
            write_out(page.getvalue())


@functools.cache
def _program() -> Callable[..., Any]:
    """All commands with their options: building them takes longer than reading a line."""
    return typer.main.get_command(app)


@contextmanager
def _signals_as_exceptions() -> Iterator[None]:
    """Let a signal that ends the program unwind it, so that files written so far are removed."""

    def end(number: int, _: object) -> None:
        raise _Ended(number)

    if threading.current_thread() is not threading.main_thread():  # only there can signals be handled
        yield
        return
    numbers = [getattr(signal, key) for key in _ENDING if hasattr(signal, key)]
    taken = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


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

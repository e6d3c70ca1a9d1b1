"""What can go wrong, with its exit code and the one message that a person sees."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes.cli._memory import limit_in_words
from stakes.shown.nearest import guess
from stakes.shown.text import shorten, visible

if TYPE_CHECKING:
    from stakes.tables import DataError

DONE, UNEXPECTED, USAGE, BAD_DATA, CHECK_FAILED, INTERRUPTED = 0, 1, 2, 3, 4, 130
RERUN = "Rerun with --debug for the details."
_LONGEST_HINT, _LONGEST_FILE = 400, 300
# what other programs call an option, by its words
_ELSEWHERE = {
    **dict.fromkeys(("target", "y", "y_true", "outcome", "class"), "--label"),
    **dict.fromkeys(("score", "scores", "probability", "probabilities", "prediction", "predictions"), "--models"),
    **dict.fromkeys(("threshold", "thresholds", "range", "bounds"), "--costs"),
    **dict.fromkeys(("sample_weight", "weights"), "--weight"),
    **dict.fromkeys(("alpha", "level"), "--confidence-level"),
    **dict.fromkeys(("seed",), "--random-state"),
    **dict.fromkeys(("html",), "--report"),
}


class UsageError(Exception):
    """A request that cannot be carried out as it was typed."""


class LimitError(Exception):
    """A limit of the system under which the program cannot work."""


@dataclass(frozen=True)
class Problem:
    """An exit code and its message."""

    code: int
    message: str
    hint: str | None = None


def explain(error: BaseException) -> Problem:
    """Turn any exception into an exit code and a message without a traceback."""
    tables = sys.modules.get("stakes.tables")  # an error of a room that was never entered cannot be here
    if tables is not None and isinstance(error, tables.DataError | tables.EngineError):
        return Problem(BAD_DATA, describe(error) if isinstance(error, tables.DataError) else str(error))
    if isinstance(error, UsageError):
        return Problem(USAGE, str(error))
    if isinstance(error, LimitError | ImportError):
        said = limit_in_words() if "failed to map segment" in str(error) else ""
        return Problem(UNEXPECTED, f"{error}: {said}" if said else str(error))
    if isinstance(error, OSError):
        name = "" if error.filename is None else f": {str(error.filename)!r}"
        return Problem(UNEXPECTED, f"{error.strerror or error}{name}", RERUN)
    if isinstance(error, MemoryError):
        return Problem(UNEXPECTED, "there is not enough memory for these data")
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Problem(UNEXPECTED, f"unexpected, and probably a bug in stakes: {shorten(visible(text), 300)}", RERUN)


def parsing_problem(error: Any) -> Problem:
    """Explain what typer says of the arguments."""
    context = getattr(error, "ctx", None)
    command = "stakes" if context is None else context.command_path
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        message = _unknown_option(str(error.option_name), context)
    else:
        message = re.sub(r"\s*\n\s*", " ", str(error.format_message()))  # choices stand in lines of their own
    return Problem(error.exit_code, message, f"Try '{command} --help'.")


def _unknown_option(wanted: str, context: Any) -> str:
    """Name the option that is meant; typer's own guess weighs the dashes too, and knows no other program's names."""
    params = [] if context is None else context.command.params
    known = [option for param in params for option in param.opts if option.startswith("--")]
    return f"No such option: {shorten(wanted)}{guess(wanted, known, _ELSEWHERE)}"


def describe(error: DataError) -> str:
    """Write a data error with names and values of bearable length."""
    parts = {name: getattr(error, name) for name in ("rule", "row", "line", "count", "total")}
    short: dict[str, Any] = {name: _bearable(getattr(error, name)) for name in ("column", "value")}
    short["file"] = None if error.file is None else shorten(error.file, _LONGEST_FILE)
    hint = None if error.hint is None else shorten(error.hint, _LONGEST_HINT)
    return str(type(error)(**parts, **short, hint=hint))


def _bearable(value: Any) -> Any:
    return shorten(value) if isinstance(value, str) else value

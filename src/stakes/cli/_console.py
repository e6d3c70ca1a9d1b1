"""The two streams: results on stdout, everything said about them on stderr."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from stakes.cli._text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator


def console(stream: str = "stdout") -> Console:
    """Open a console that takes all text literally; rich decides on colour and width."""
    return Console(file=getattr(sys, stream), highlight=False, markup=False, emoji=False)


def say(kind: str, message: str, style: str = "") -> None:
    """Write one remark to stderr: wrapped on a terminal, one line elsewhere."""
    errors = console("stderr")
    prefix = f"{kind}: " if kind else ""
    text = Text.assemble((prefix, style), visible(message))
    errors.print(text, soft_wrap=not errors.is_terminal)


def note(message: str) -> None:
    """Say something the reader should know."""
    say("note", message, "bold cyan")


def warn(message: str) -> None:
    """Say something the reader should worry about."""
    say("warning", message, "bold yellow")


def fail(message: str, hint: str | None = None) -> None:
    """Say what went wrong, and what to do."""
    say("error", message, "bold red")
    if hint:
        say("", hint)


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal that long work goes on; it vanishes when the work is done."""
    errors = console("stderr")
    if not errors.is_terminal:
        yield
        return
    with errors.status(Text(visible(task))):
        yield


def write_out(text: str) -> None:
    """Write to stdout, whatever its encoding, and say at once if that fails."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        _silence_stdout()
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe may leave when it has seen enough
            raise


def _silence_stdout() -> None:
    """Keep Python from trying, and failing, once more when it closes stdout."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

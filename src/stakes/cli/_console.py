"""The two streams: results on stdout, everything said about them on stderr."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

from stakes.shown.progress import listening, time_left
from stakes.shown.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rich.table import Table

_UNLIMITED, _NARROWEST_NAME = 10_000, 12


class _Closed(io.TextIOBase):
    """Standard output that was closed before the program began: a result for it is lost, which must be said."""

    @property
    def buffer(self) -> _Closed:
        return self

    def write(self, text: str) -> int:
        """Take nothing."""
        if text:
            raise OSError(errno.EBADF, "standard output is closed")
        return 0


@contextmanager
def open_streams() -> Iterator[None]:
    """Put something in the place of the standard streams that are closed, for which Python has None."""
    found = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
    instead = {"stdin": lambda: io.TextIOWrapper(io.BytesIO()), "stdout": _Closed, "stderr": io.StringIO}
    for name in (name for name, stream in found.items() if stream is None):
        setattr(sys, name, instead[name]())
    try:
        yield
    finally:
        for name, stream in found.items():
            setattr(sys, name, stream)


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


def natural_width(out: Console, table: Table) -> int:
    """Return the width that a table takes where it has room."""
    return out.measure(table, options=out.options.update(max_width=_UNLIMITED)).maximum


def print_table(out: Console, table: Table, names: int) -> None:
    """Print a table as wide as its numbers need, even where the terminal is narrower: only names are folded."""
    longest = max((cell_len(str(cell)) for cell in table.columns[names].cells), default=0)
    least = natural_width(out, table) - max(0, longest - _NARROWEST_NAME)
    given = out.size
    out.size = ConsoleDimensions(max(given.width, least), given.height)
    out.print(table)
    out.size = given


class _Rest(ProgressColumn):
    """How long the rest takes, where the work tells how far it is."""

    def render(self, task: Task) -> Text:
        """Make the text."""
        return Text("" if task.total is None else time_left(int(task.completed), int(task.total), task.elapsed or 0.0))


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal that long work goes on, for how long, and how much longer; it vanishes when all is done."""
    errors = console("stderr")
    if not errors.is_terminal or errors.is_dumb_terminal:  # what cannot erase would be left with empty lines
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), _Rest()
    with Progress(*columns, console=errors, transient=True) as progress:
        shown = progress.add_task(visible(task), total=None)
        with listening(lambda done, of: progress.update(shown, completed=done, total=of)):
            yield


def write_out(text: str) -> None:
    """Write to stdout, whatever its encoding, and say at once if that fails."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    with _reader_may_leave():
        sys.stdout.write(text)
        sys.stdout.flush()


def copy_out(path: Path) -> None:
    """Copy a file to stdout, byte by byte."""
    with _reader_may_leave(), path.open("rb") as stream:
        sys.stdout.flush()
        shutil.copyfileobj(stream, sys.stdout.buffer)
        sys.stdout.buffer.flush()


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Let the reader of a pipe leave when it has seen enough; any other failure is one."""
    try:
        yield
    except OSError as error:
        _silence_stdout()
        if not isinstance(error, BrokenPipeError):
            raise


def _silence_stdout() -> None:
    """Keep Python from trying, and failing, once more when it closes stdout."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

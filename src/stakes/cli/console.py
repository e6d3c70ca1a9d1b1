"""Streams, errors, delivery."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from rich.cells import cell_len
from rich.console import Console, ConsoleDimensions
from rich.text import Text

from stakes.cli.memory import limit_in_words
from stakes.outputs.files import DataError, beside, put
from stakes.outputs.hooks import listening, time_left
from stakes.outputs.result_table import markdown_cell, markdown_table
from stakes.outputs.text import guess, shorten, shown_name as name, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType

    from rich.table import Table


# The two streams: results on stdout, everything said about them on stderr.

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
    found = {stream: getattr(sys, stream) for stream in ("stdin", "stdout", "stderr")}
    instead = {"stdin": lambda: io.TextIOWrapper(io.BytesIO()), "stdout": _Closed, "stderr": io.StringIO}
    for key in (key for key, stream in found.items() if stream is None):
        setattr(sys, key, instead[key]())
    try:
        yield
    finally:
        for key, stream in found.items():
            setattr(sys, key, stream)


def console(stream: str = "stdout") -> Console:
    """Open a console that takes all text literally; rich decides on colour and width."""
    nothing = re.fullmatch("0+", os.environ.get("COLUMNS", ""))  # which says that nothing is known of the width
    width = shutil.get_terminal_size().columns if nothing else None
    return Console(file=getattr(sys, stream), width=width, highlight=False, markup=False, emoji=False)


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


class MarkdownConsole(Console):
    """A console that keeps what is printed as Markdown, in parts: tables, lists and paragraphs."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=_UNLIMITED)
        self.parts: list[str] = []

    def print(self, *objects: Any, **_: Any) -> None:
        """Keep each table, grid or line of a text."""
        for each in objects:
            lines = map(markdown_cell, each.plain.split("\n")) if isinstance(each, Text) else [_table_as_markdown(each)]
            self.parts += filter(None, lines)


def _table_as_markdown(table: Table) -> str:
    """Return a table as one, without its empty columns, and a grid as a list."""
    columns = [[str(column.header), *map(_in_one_line, column.cells)] for column in table.columns]
    kept = [list(map(markdown_cell, column)) for column in columns if any(column)]
    header, *rows = zip(*kept, strict=True)
    return markdown_table(header, rows) if table.show_header else "\n".join(f"- {row[-1]}" for row in rows)


def _in_one_line(cell: Any) -> str:
    """Return a number and the interval below it as it stands in a sentence."""
    value, below, interval = str(cell).partition("\n")
    return f"{value} ({' '.join(interval.split())})" if below else value


@contextmanager
def working(task: str) -> Iterator[None]:
    """Show on a terminal that long work goes on, for how long, and how much longer; it vanishes when all is done."""
    errors = console("stderr")
    if not errors.is_terminal or errors.is_dumb_terminal:  # what cannot erase would be left with empty lines
        yield
        return
    from rich.progress import Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn

    class Rest(ProgressColumn):
        """How long the rest takes, where the work tells how far it is."""

        def render(self, task: Task) -> Text:
            of = task.total
            return Text("" if of is None else time_left(int(task.completed), int(of), task.elapsed or 0.0))

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), Rest()
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


# What can go wrong, with its exit code and the one message that a person sees.

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


@dataclass(frozen=True, eq=False, repr=False)
class UsageProblem:
    """An exit code and its message."""

    code: int
    message: str
    hint: str | None = None


def explain(error: BaseException) -> UsageProblem:
    """Turn any exception into an exit code and a message without a traceback."""
    tables = sys.modules.get("stakes.tables")  # an error of a room that was never entered cannot be here
    if isinstance(error, (DataError, *(() if tables is None else (tables.EngineError,)))):
        return UsageProblem(BAD_DATA, describe(error) if isinstance(error, DataError) else str(error))
    if isinstance(error, UsageError):
        return UsageProblem(USAGE, str(error))
    if isinstance(error, LimitError | ImportError):
        said = limit_in_words() if "failed to map segment" in str(error) else ""
        return UsageProblem(UNEXPECTED, f"{error}: {said}" if said else str(error))
    if isinstance(error, OSError):
        name = "" if error.filename is None else f": {str(error.filename)!r}"
        return UsageProblem(UNEXPECTED, f"{error.strerror or error}{name}", RERUN)
    if isinstance(error, MemoryError):
        return UsageProblem(UNEXPECTED, "there is not enough memory for these data")
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return UsageProblem(UNEXPECTED, f"unexpected, and probably a bug in stakes: {shorten(visible(text), 300)}", RERUN)


def parsing_problem(error: Any) -> UsageProblem:
    """Explain what click says of the arguments."""
    context = getattr(error, "ctx", None)
    command = "stakes" if context is None else context.command_path
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        message = _unknown_option(str(error.option_name), context)
    else:
        message = re.sub(r"\s*\n\s*", " ", str(error.format_message()))  # choices stand in lines of their own
    return UsageProblem(error.exit_code, message, f"Try '{command} --help'.")


def _unknown_option(wanted: str, context: Any) -> str:
    """Name the option that is meant; click's own guess weighs the dashes too, and knows no other program's names."""
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


# Files are checked before the work, written beside their target, and renamed when everything has gone well.

REPORT_ENDINGS = (".html", ".htm")
OUTPUT_ENDINGS = (".json", ".csv", ".md", ".txt")
STANDARD_OUTPUT = "-"
_NO_NAME = OSError, RuntimeError, ValueError  # a loop of links, a name too long, a NUL
_BINARY = {".parquet", ".arrow", ".ipc", ".feather"}


def check_target(option: str, text: str | None, endings: Sequence[str]) -> Path | None:
    """Return where a file is to go, or say why it cannot go there."""
    if text is None:
        return None
    path, shown = Path(text), repr(name(text, 200))
    if path.suffix.lower() not in endings:
        listed = " or ".join(filter(None, [", ".join(endings[:-1]), endings[-1]]))
        raise UsageError(f"{option} must name a file that ends in {listed}, got {shown}")
    try:
        folder, target = path.is_dir(), path.resolve()
    except _NO_NAME as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{option} {shown} cannot be the name of a file: {reason}") from None
    if folder:
        raise UsageError(f"{option} must name a file, {shown} is a folder")
    if not target.parent.is_dir():
        raise UsageError(f"{option} {shown}: there is no folder {str(target.parent)!r}")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"{option} {shown}: the folder {str(target.parent)!r} cannot be written to")
    return target


def is_one_file(first: str, second: str) -> bool:
    """Whether two names are of one file."""
    try:
        return Path(first).resolve() == Path(second).resolve()
    except _NO_NAME:  # which the reader will say
        return False


class Staged:
    """Files that appear all together under their names, or not at all."""

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []
        self._held: dict[Path, bytes | None] = {}
        self._undo = ExitStack()

    def beside(self, target: Path) -> Path:
        """Return a free name in the folder of the target, under which to write it first."""
        partial = beside(target)
        self._files.append((partial, target))
        self._undo.callback(partial.unlink, missing_ok=True)
        return partial

    def instead(self, target: Path, held: bytes | None) -> Path:
        """As :meth:`beside`, for a file that must still hold at the end what was read of it; None if there was none."""
        self._held[target] = held
        return self.beside(target)

    def aside(self, ending: str) -> Path:
        """Return a name that only this user can read, for what goes to stdout when it is complete."""
        if ending in _BINARY and sys.stdout.isatty():
            raise UsageError(f"--output -: a terminal cannot show {ending.removeprefix('.')}; name a file, or pipe it")
        folder = tempfile.TemporaryDirectory(prefix="stakes-", ignore_cleanup_errors=True)
        return Path(self._undo.enter_context(folder)) / f"rows{ending}"

    def commit(self) -> None:
        """Give every file its name, replacing older ones."""
        for target, held in self._held.items():
            if (target.read_bytes() if target.exists() else None) != held:
                raise DataError("was changed by another run while this one worked: run it again", file=str(target))
        for partial, target in self._files:
            put(partial, target)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._undo.close()


# Results leave here: printed, as JSON, or as files that appear only when everything has gone well.

ROW_ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl")
_FILE_WIDTH = 120
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class Result(Protocol):
    """What every answer of the library can do."""

    def frame(self, backend: Any = None) -> Any:
        """Return a data frame."""

    def to_json(self) -> str:
        """Return JSON."""

    def to_markdown(self) -> str:
        """Return a Markdown table."""


class Reportable(Result, Protocol):
    """An answer that has a report."""

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the report, and write it where a path is given."""


@dataclass(frozen=True, eq=False, repr=False)
class Delivery:
    """Where a result goes, checked before the work."""

    command: str
    report: Path | None
    output: Path | None
    as_json: bool
    kept: Path | None = None

    @property
    def prints_text(self) -> bool:
        """Whether a person reads the result on stdout."""
        return self.output is None and not self.as_json


def plan_delivery(command: str, report: str | None, output: str | None, *, as_json: bool) -> Delivery:
    """Check everything that can be known of the files before the work is done."""
    if output == STANDARD_OUTPUT:
        output = None
    delivery = Delivery(
        command,
        check_target("--report", report, REPORT_ENDINGS),
        check_target("--output", output, OUTPUT_ENDINGS),
        as_json,
    )
    if as_json and delivery.output is not None and delivery.output.suffix.lower() != ".json":
        raise UsageError(f"--json needs --output to end in .json, got {delivery.output.name!r}")
    return delivery


def with_format(command: str, text: str) -> str:
    """Name the format of what a command prints as JSON, for which there is a schema; a list becomes its "records"."""
    content = json.loads(text)
    page = content if isinstance(content, dict) else {"records": content}
    return json.dumps({"format": f"stakes-{command}-output-1", **page}, indent=2) + "\n"


@dataclass(frozen=True, eq=False, repr=False)
class RowsOut:
    """Where the rows of a file go with their new columns: to a file, to stdout, or nowhere; checked before the work."""

    command: str
    target: Path | None
    piped: bool
    as_json: bool

    def deliver(
        self,
        write: Callable[[Path | None], None],
        ending: str,
        show: Callable[[Console], None],
        page: Callable[[], str],
    ) -> None:
        """Write the rows beside their target or for stdout, say what was done, and only then name the file."""
        with Staged() as staged:
            if self.piped:
                rows = staged.aside(ending)
                write(rows)
                copy_out(rows)
                show(console("stderr"))
                return
            write(None if self.target is None else staged.beside(self.target))
            write_out(with_format(self.command, page()) if self.as_json else for_terminal(show))
            staged.commit()


def plan_rows(command: str, output: str | None, endings: Sequence[str], *, as_json: bool) -> RowsOut:
    """Check everything that can be known of the file to write before the work is done."""
    piped = output == STANDARD_OUTPUT
    if piped and as_json:
        raise UsageError("--json and --output - both need standard output")
    return RowsOut(command, None if piped else check_target("--output", output, endings), piped, as_json)


def deliver(
    result: Result,
    delivery: Delivery,
    show: Callable[[Console], None],
    to_json: Callable[[], str] | None = None,
    keep: Callable[[Path], object] | None = None,
    *,
    beneath: Callable[[Console], None] = lambda _: None,
) -> None:
    """Print, and write all files or none; ``to_json`` stands for the result's own where more was asked for.

    ``beneath`` prints what was asked for besides, for Markdown.
    """
    text = ""

    def page() -> str:
        return with_format(delivery.command, (to_json or result.to_json)())

    with Staged() as staged:
        if delivery.report is not None:
            with working("Writing the report"):
                cast("Reportable", result).to_html(staged.beside(delivery.report))
        if delivery.kept is not None and keep is not None:
            keep(staged.beside(delivery.kept))
        if delivery.output is not None:
            temporary = staged.beside(delivery.output)
            content = _content(result, delivery.output.suffix.lower(), show, page, beneath)
            temporary.write_text(content, encoding="utf-8")
        else:
            text = page() if delivery.as_json else for_terminal(show)
        write_out(text)
        staged.commit()
    for what, path in (("report", delivery.report), ("result", delivery.output), ("kept evaluation", delivery.kept)):
        if path is not None:
            note(f"{what} written to {path}")


def _content(
    result: Result,
    ending: str,
    show: Callable[[Console], None],
    page: Callable[[], str],
    beneath: Callable[[Console], None],
) -> str:
    if ending == ".json":
        return page()
    if ending == ".csv":
        return _csv(result)
    if ending == ".md":
        paper = MarkdownConsole()
        beneath(paper)
        return "\n\n".join([result.to_markdown(), *paper.parts]) + "\n"
    buffer = io.StringIO()
    show(Console(file=buffer, width=_FILE_WIDTH, color_system=None, highlight=False, markup=False, emoji=False))
    return _without_trailing_space(buffer.getvalue())


def _csv(result: Result) -> str:
    """Write the table as CSV, and name the first cell that a spreadsheet would take for a formula."""
    frame = result.frame("polars")
    cells = (cell for column in frame for cell in column)
    formula = next((cell for cell in cells if isinstance(cell, str) and cell.startswith(_FORMULA)), None)
    if formula is not None:
        warn(f"a spreadsheet runs what begins like {name(formula)!r} as a formula: open the file as text, or use .json")
    return str(frame.write_csv())


def for_terminal(show: Callable[[Console], None]) -> str:
    """Render for stdout as it is, but print nothing yet."""
    out = console()
    with out.capture() as capture:
        show(out)
    text = capture.get()
    return text if out.is_terminal else _without_trailing_space(text)


def _without_trailing_space(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.splitlines())

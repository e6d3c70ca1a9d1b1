"""Results leave here: printed, as JSON, or as files that appear only when everything has gone well."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol, cast

import typer
from rich.console import Console

from stakes.cli._console import console, copy_out, note, warn, working, write_out
from stakes.cli._errors import UsageError
from stakes.cli._output import OUTPUT_ENDINGS, REPORT_ENDINGS, STANDARD_OUTPUT, Staged, check_target
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

ROW_ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl")
RowsOutput = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="The file with its new columns: .csv, .parquet, .arrow or .jsonl; - is standard output, as CSV.",
    ),
]
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

    def to_html(self, path: str | Path) -> Path:
        """Write the report."""


@dataclass(frozen=True)
class Delivery:
    """Where a result goes, checked before the work."""

    report: Path | None
    output: Path | None
    as_json: bool

    @property
    def prints_text(self) -> bool:
        """Whether a person reads the result on stdout."""
        return self.output is None and not self.as_json


def plan_delivery(report: str | None, output: str | None, *, as_json: bool, source: str | None = None) -> Delivery:
    """Check everything that can be known of the files before the work is done."""
    if output == STANDARD_OUTPUT:
        output = None
    delivery = Delivery(
        check_target("--report", report, REPORT_ENDINGS, source),
        check_target("--output", output, OUTPUT_ENDINGS, source),
        as_json,
    )
    if as_json and delivery.output is not None and delivery.output.suffix.lower() != ".json":
        raise UsageError(f"--json needs --output to end in .json, got {delivery.output.name!r}")
    return delivery


@dataclass(frozen=True)
class RowsOut:
    """Where the rows of a file go with their new columns: to a file, to stdout, or nowhere; checked before the work."""

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
            write_out(page() + "\n" if self.as_json else for_terminal(show))
            staged.commit()


def plan_rows(output: str | None, endings: Sequence[str], source: str, *, as_json: bool) -> RowsOut:
    """Check everything that can be known of the file to write before the work is done."""
    piped = output == STANDARD_OUTPUT
    if piped and as_json:
        raise UsageError("--json and --output - both need standard output")
    return RowsOut(None if piped else check_target("--output", output, endings, source), piped, as_json)


def deliver(
    result: Result, delivery: Delivery, show: Callable[[Console], None], to_json: Callable[[], str] | None = None
) -> None:
    """Print, and write all files or none; ``to_json`` stands for the result's own where more was asked for."""
    text, to_json = "", to_json or result.to_json
    with Staged() as staged:
        if delivery.report is not None:
            with working("Writing the report"):
                cast("Reportable", result).to_html(staged.beside(delivery.report))
        if delivery.output is not None:
            temporary = staged.beside(delivery.output)
            temporary.write_text(_content(result, delivery.output.suffix.lower(), show, to_json), encoding="utf-8")
        else:
            text = to_json() + "\n" if delivery.as_json else for_terminal(show)
        write_out(text)
        staged.commit()
    for what, path in (("report", delivery.report), ("result", delivery.output)):
        if path is not None:
            note(f"{what} written to {path}")


def _content(result: Result, ending: str, show: Callable[[Console], None], to_json: Callable[[], str]) -> str:
    if ending == ".json":
        return to_json() + "\n"
    if ending == ".csv":
        return _csv(result)
    if ending == ".md":
        return result.to_markdown() + "\n"
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

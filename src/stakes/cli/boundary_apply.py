"""``stakes boundary apply``: decisions about the rows of a file by a boundary, streamed from file to file."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from stakes.cli import _boundary_options as own
from stakes.cli import _options as opt
from stakes.cli._boundary import (
    Columns,
    LevelTable,
    choose_columns,
    print_text,
    read_boundary,
    refuse_twice_standard_input,
)
from stakes.cli._console import console, copy_out, note, print_table, warn, working, write_out
from stakes.cli._deliver import for_terminal
from stakes.cli._errors import UsageError
from stakes.cli._output import STANDARD_OUTPUT, Staged, check_target
from stakes.cli._text import MISSING, name, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary import Boundary
    from stakes.tables._decided import Decided

ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl")
EPILOG = """\b
Example:
  stakes boundary apply boundary.json scored.csv -o decided.csv
"""


def apply(
    boundary: own.BoundaryFile,
    file: opt.File,
    *,
    score: own.SameScore = None,
    uncertainty: own.SameUncertainty = None,
    column: Annotated[
        str, typer.Option("--column", metavar="NAME", help="Name of the new column: 1 selected, 0 not.")
    ] = "decision",
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    as_json: opt.AsJson = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Decided file: .csv, .parquet, .arrow or .jsonl; - is standard output, as CSV.",
        ),
    ] = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Decide about each row of a file by a boundary: every column is copied, and one with the decisions is added.

    No outcomes are needed. Large files are streamed. With --on-missing drop an incomplete row is kept, without a
    decision.
    """
    refuse_twice_standard_input(boundary, [file])
    piped = output == STANDARD_OUTPUT
    if piped and as_json:
        raise UsageError("--json and --output - both need standard output")
    target = None if piped else check_target("--output", output, ENDINGS, file)
    if target is not None and target == Path(boundary).resolve():
        raise UsageError(f"--output {name(str(output), 200)!r} would overwrite the boundary")
    given = {"score": score, "uncertainty": uncertainty}
    return partial(run, Request(boundary, file, given, column, on_missing, file_format, target, as_json, piped))


@dataclass(frozen=True)
class Request:
    """One run."""

    boundary: str
    file: str
    columns: dict[str, str | None]
    column: str
    on_missing: str
    file_format: str | None
    target: Path | None
    as_json: bool
    piped: bool


class Tally:
    """Decide, and count by level; pieces of a file may come in several threads."""

    def __init__(self, boundary: "Boundary") -> None:
        self.boundary = boundary
        self.rows = np.zeros(len(boundary.rows), dtype=np.int64)
        self.selected = self.rows.copy()
        self._lock = Lock()

    def decide(self, score: "NDArray[np.float64]", uncertainty: "NDArray[np.float64]") -> "NDArray[np.int64]":
        """Return 1 inside the boundary and 0 outside."""
        decision = self.boundary.predict(score, uncertainty)
        level = np.searchsorted(self.boundary.cuts, uncertainty, side="left")
        with self._lock:
            self.rows += np.bincount(level, minlength=len(self.rows))
            self.selected += np.bincount(level[decision == 1], minlength=len(self.rows))
        return decision


def run(request: Request) -> None:
    """Read the boundary, decide while copying, and say what was decided."""
    boundary, named = read_boundary(request.boundary)
    columns = choose_columns(named, request.columns, ("score", "uncertainty"))
    if not boundary.selected.any():
        warn("this boundary selects nothing: none was found, or no promise could be made")
    tally = Tally(boundary)
    with Staged() as staged:
        if request.piped:
            rows = staged.aside(ENDINGS[0])
            decided = _copy(request, columns, tally, rows)
            copy_out(rows)
            show(decided, tally, console("stderr"))
        else:
            decided = _copy(request, columns, tally, request.target and staged.beside(request.target))
            if request.as_json:
                write_out(json.dumps(_record(request, columns, decided, tally), indent=2) + "\n")
            else:
                write_out(for_terminal(partial(show, decided, tally)))
        staged.commit()
    if decided.n_undecided:
        note(f"{decided.n_undecided:,} of {decided.n_rows:,} rows get no decision, for a value is missing")
    if request.target is not None:
        note(f"decisions written to {name(str(request.target), 200)}, in column {name(request.column)}")
    elif not request.piped:
        note("no file was written; -o OUT writes the rows with their decisions")


def _copy(request: Request, columns: Columns, tally: Tally, target: Path | None) -> "Decided":
    from stakes.tables._decided import copy_with_decisions

    with working(f"Deciding about {name(request.file)}"):
        decided = copy_with_decisions(
            request.file,
            target,
            columns=[columns.score, columns.uncertainty],
            decide=tally.decide,
            name=request.column,
            on_missing=request.on_missing,  # type: ignore[arg-type]
            format=request.file_format,
        )
    if int(tally.rows.sum()) != decided.n_rows - decided.n_undecided:
        raise RuntimeError(f"{int(tally.rows.sum())} decisions about {decided.n_rows} rows")
    return decided


def _record(request: Request, columns: Columns, decided: "Decided", tally: Tally) -> dict[str, Any]:
    from stakes._results import json_ready

    names = ("uncertainty_above", "uncertainty_up_to", "threshold")
    levels = [
        {**{key: record[key] for key in names}, "rows": int(rows), "selected": int(chosen)}
        for record, rows, chosen in zip(tally.boundary._records(), tally.rows, tally.selected, strict=True)
    ]
    page: dict[str, Any] = json_ready(
        {
            "source": decided.source,
            "goal": tally.boundary.goal,
            "columns": {"score": columns.score, "uncertainty": columns.uncertainty, "decision": request.column},
            "rows": decided.n_rows,
            "undecided": decided.n_undecided,
            "selected": int(tally.selected.sum()),
            "levels": levels,
            "output": None if request.target is None else str(request.target),
        }
    )
    return page


def show(decided: "Decided", tally: Tally, out: Console) -> None:
    """Print how many rows are selected, and whether that is the share that the boundary was fitted to."""
    boundary = tally.boundary
    print_text(out, f"{name(decided.source, 60)}: {decided.n_rows:,} rows, {int(tally.selected.sum()):,} selected")
    print_text(out, name(boundary.goal, 200))
    out.print()
    counts = (tally.rows, tally.selected, boundary.rows, boundary.selected)
    table = LevelTable(boundary, "rows", "selected", "share", "when fitted")
    for k in range(len(boundary.rows)):
        table.add_level(_shares(*(int(count[k]) for count in counts)))
    table.add_total(_shares(*(int(count.sum()) for count in counts)))
    print_table(out, table.table, names=0)


def _shares(rows: int, chosen: int, fitted_rows: int, fitted: int) -> list[str]:
    share = percent(chosen / rows) if rows else MISSING
    return [f"{rows:,}", f"{chosen:,}", share, percent(fitted / fitted_rows) if fitted_rows else MISSING]

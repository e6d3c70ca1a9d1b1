"""``stakes boundary apply``: decisions about the rows of a file by a boundary, streamed from file to file."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from stakes.cli._console import note, print_table, warn, working
from stakes.cli._deliver import ROW_ENDINGS, RowsOut, RowsOutput, plan_rows
from stakes.cli._errors import UsageError
from stakes.cli._output import is_file
from stakes.shown.text import shown_name as name
from stakes.shown.words import MISSING, percent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from stakes.boundary import Boundary
    from stakes.tables import Copied

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
    any_size: opt.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    as_json: opt.AsJson = False,
    output: RowsOutput = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Decide about each row of a file by a boundary: every column is copied, and one with the decisions is added.

    No outcomes are needed. Large files are streamed. With --on-missing drop an incomplete row is kept, without a
    decision.
    """
    refuse_twice_standard_input(boundary, [file])
    where = plan_rows(output, ROW_ENDINGS, file, as_json=as_json)
    if is_file(where.target, boundary):
        raise UsageError(f"--output {name(str(output), 200)!r} would overwrite the boundary")
    given = {"score": score, "uncertainty": uncertainty}
    return partial(run, Request(boundary, file, given, column, on_missing, file_format), where)


@dataclass(frozen=True)
class Request:
    """What is decided by which boundary."""

    boundary: str
    file: str
    columns: dict[str, str | None]
    column: str
    on_missing: str
    file_format: str | None


class Tally:
    """Decide, and count by level."""

    def __init__(self, boundary: "Boundary") -> None:
        import numpy as np

        self.boundary = boundary
        self.rows = np.zeros(len(boundary.rows), dtype=np.int64)
        self.selected = self.rows.copy()

    def decide(self, score: "NDArray[np.float64]", uncertainty: "NDArray[np.float64]") -> "NDArray[np.int64]":
        """Return 1 inside the boundary and 0 outside."""
        import numpy as np

        decision = self.boundary.predict(score, uncertainty)
        level = np.searchsorted(self.boundary.cuts, uncertainty, side="left")
        self.rows += np.bincount(level, minlength=len(self.rows))
        self.selected += np.bincount(level[decision == 1], minlength=len(self.rows))
        return decision


def run(request: Request, where: RowsOut) -> None:
    """Read the boundary, decide while copying, and say what was decided."""
    boundary, named = read_boundary(request.boundary)
    columns = choose_columns(named, request.columns, ("score", "uncertainty"))
    if not boundary.selected.any():
        warn("this boundary selects nothing: none was found, or no promise could be made")
    tally, copied = Tally(boundary), []
    where.deliver(
        lambda path: copied.append(_copy(request, columns, tally, path)),
        ROW_ENDINGS[0],
        lambda out: show(copied[0], tally, out),
        lambda: json.dumps(_record(request, columns, copied[0], tally, where.target), indent=2),
    )
    if undecided := copied[0].n_incomplete:
        note(f"{undecided:,} of {copied[0].n_rows:,} rows get no decision, for a value is missing")
    if where.target is not None:
        note(f"decisions written to {name(str(where.target), 200)}, in column {name(request.column)}")
    elif not where.piped:
        note("no file was written; -o OUT writes the rows with their decisions")


def _copy(request: Request, columns: Columns, tally: Tally, target: Path | None) -> "Copied":
    from stakes.tables import NewColumns, copy_with_columns

    new = NewColumns(
        [columns.score, columns.uncertainty],
        [request.column],
        lambda score, uncertainty: [tally.decide(score, uncertainty)],
        option="--column",
        remedy="--on-missing drop leaves incomplete rows without a decision.",
        probability=False,
        whole=True,
    )
    with working(f"Deciding about {name(request.file)}"):
        copied = copy_with_columns(
            request.file,
            target,
            new,
            on_missing=request.on_missing,  # type: ignore[arg-type]
            format=request.file_format,
        )
    if int(tally.rows.sum()) != copied.n_rows - copied.n_incomplete:
        raise RuntimeError(f"{int(tally.rows.sum())} decisions about {copied.n_rows} rows")
    return copied


def _record(request: Request, columns: Columns, copied: "Copied", tally: Tally, target: Path | None) -> dict[str, Any]:
    from stakes.shown.tabular import json_ready

    names = ("uncertainty_above", "uncertainty_up_to", "threshold")
    levels = [
        {**{key: record[key] for key in names}, "rows": int(rows), "selected": int(chosen)}
        for record, rows, chosen in zip(tally.boundary._records(), tally.rows, tally.selected, strict=True)
    ]
    page: dict[str, Any] = json_ready(
        {
            "source": copied.source,
            "goal": tally.boundary.goal,
            "columns": {"score": columns.score, "uncertainty": columns.uncertainty, "decision": request.column},
            "rows": copied.n_rows,
            "undecided": copied.n_incomplete,
            "selected": int(tally.selected.sum()),
            "levels": levels,
            "output": None if target is None else str(target),
        }
    )
    return page


def show(copied: "Copied", tally: Tally, out: Console) -> None:
    """Print how many rows are selected, and whether that is the share that the boundary was fitted to."""
    boundary = tally.boundary
    print_text(out, f"{name(copied.source, 60)}: {copied.n_rows:,} rows, {int(tally.selected.sum()):,} selected")
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

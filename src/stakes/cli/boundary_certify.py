"""``stakes boundary certify``: a region whose precision is promised with confidence, or none."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from stakes.cli import _boundary_options as own
from stakes.cli import _options as opt
from stakes.cli._boundary import (
    Columns,
    Plan,
    describe,
    leave,
    plan,
    print_text,
    read_number,
    read_rows,
    read_whole,
    remark_unkept,
    show_levels,
)
from stakes.cli._console import console, fail, working
from stakes.cli._errors import CHECK_FAILED, DONE, UsageError
from stakes.cli._settings import read_share
from stakes.cli._source import Source
from stakes.cli._spread import spread
from stakes.cli.boundary_fit import check_options, read_levels
from stakes.shown.words import percent

if TYPE_CHECKING:
    from stakes.boundary import Boundary, Certificate
    from stakes.tables import Predictions

EPILOG = """\b
Example:
  stakes boundary certify scored.csv --label outcome --score risk --uncertainty spread --min-precision 0.5 -o sure.json
"""


class FailOn(StrEnum):
    """What ends the command with exit code 4."""

    ABSTAINED = "abstained"
    NONE = "none"


@dataclass(frozen=True)
class Promised:
    """What is to be promised."""

    min_precision: Annotated[str, typer.Option("--min-precision", metavar="SHARE", help="The precision to promise.")]
    confidence_level: Annotated[str, typer.Option("--confidence-level", metavar="LEVEL", help="Of the promise.")] = (
        "0.95"
    )
    fail_on: Annotated[
        FailOn,
        typer.Option(
            "--fail-on",
            help="Exit code 4, and no boundary file, where no promise can be made (abstained); with none the answer is "
            "a boundary that selects nothing.",
        ),
    ] = FailOn.ABSTAINED
    levels: Annotated[
        str, typer.Option("--levels", metavar="N|CUT,...", help="Uncertainty levels of the table and the picture.")
    ] = "3"


@spread()
def certify(
    file: opt.File, *, named: own.LabelledRows, promised: Promised, reading: own.Reading, kept: own.Kept
) -> opt.Job:
    """Find the rows whose precision can be promised, whatever the scores and uncertainties are.

    A fifth of the rows teaches where to look, the others test it. A region that breaks the promise is certified with
    probability at most 1 - LEVEL, as long as rows are independent and new ones are like them: do not try several seeds.

    Exit codes: 0 certified, 4 no promise could be made (and then no file is written); 1, 2 and 3 as ever.
    """
    if read_levels(promised.levels) == "cv":
        raise UsageError("--levels cv is for `stakes boundary fit`: a certificate learns its own region")
    options = {
        "min_precision": read_number(promised.min_precision),
        "levels": read_levels(promised.levels),
        "confidence_level": read_share("--confidence-level", promised.confidence_level),
        "random_state": read_whole("--random-state", kept.random_state),
    }
    check_options(options)
    columns = Columns.of(named, reading)
    source = columns.source(file, None, reading.on_missing, reading.file_format)
    request = Request(source, columns, options, accepts_nothing=promised.fail_on == FailOn.NONE)
    return partial(run, request, plan(kept, file))


@dataclass(frozen=True)
class Request:
    """One run."""

    source: Source
    columns: Columns
    options: dict[str, Any]
    accepts_nothing: bool


def run(request: Request, where: Plan) -> int:
    """Read, certify, and leave the boundary where there is one to promise."""
    from stakes.boundary import fit_boundary

    rows = read_rows(request.source)
    with working(f"Testing regions on {rows.n_rows:,} rows"):
        boundary = fit_boundary(rows.y, *rows.scores, **request.options)
    certificate = boundary.certificate
    assert certificate is not None  # noqa: S101  (it was asked for)
    failed = certificate.abstained and not request.accepts_nothing
    page = {
        "certified": not certificate.abstained,
        "certificate": asdict(certificate),
        "source": rows.source,
        "data": {"rows": rows.n_rows, "dropped": rows.n_dropped},
        "columns": vars(request.columns),
        "levels": boundary._records(),
    }
    shown = partial(show, request, rows, boundary, certificate)
    if failed and where.piped:
        shown(console("stderr"))
    else:
        kept = Plan(None, None, where.as_json, piped=False) if failed else where
        leave(boundary, request.columns, kept, page, shown)
    if failed:
        asked = where.output or where.piped or where.plot
        fail("no promise could be made" + (": no file was written" if asked else ""))
        return CHECK_FAILED
    remark_unkept(where)
    return DONE


def show(request: Request, rows: "Predictions", boundary: "Boundary", certificate: "Certificate", out: Console) -> None:
    """Print the promise, or that there is none and what it would take, and the numbers behind it."""
    print_text(out, answer(certificate), "bold")
    out.print()
    print_text(out, describe(request.source, rows))
    print_text(out, tested(certificate))
    out.print()
    show_levels(out, boundary)


def answer(certificate: "Certificate") -> str:
    """Say what is promised."""
    least, sure = percent(certificate.min_precision), percent(certificate.confidence_level)
    if not certificate.abstained:
        return f"Promised: at least {least} of the rows selected are positive, with confidence {sure}."
    none = f"No promise: these rows do not show a precision of {least} with confidence {sure}."
    return f"{none} {_need(certificate)}"


def _need(certificate: "Certificate") -> str:
    """Say how many rows would do."""
    needed = certificate.rows_needed
    if needed is None:
        return "No part of them promises more, so further rows like these would not do."
    return f"About {needed:,} rows would do."


def tested(certificate: "Certificate") -> str:
    """Say what the promise rests on."""
    region = "the region" if not certificate.abstained else "the first region tried"
    if certificate.regions_tested == 0:
        return f"{certificate.tested_rows:,} rows set aside, none tested: the others are too few to learn from."
    return (
        f"Among {certificate.tested_rows:,} rows set aside {region} holds {certificate.selected:,}, of which "
        f"{certificate.true_positives:,} are positive: lower bound {percent(certificate.lower_bound)} "
        f"had it been tested alone (p = {certificate.p_value:.2g}; {certificate.regions_tested} tried)."
    )

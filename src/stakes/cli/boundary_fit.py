"""``stakes boundary fit``: one threshold for each level of uncertainty, and whether that is worth it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from stakes.cli import _boundary_options as own
from stakes.cli import _options as opt
from stakes.cli._boundary import (
    Columns,
    Plan,
    as_typed,
    describe,
    leave,
    plan,
    print_text,
    read_number,
    read_whole,
    remark_dropped,
    show_levels,
    threshold_name,
)
from stakes.cli._console import note, warn, working
from stakes.cli._errors import UsageError
from stakes.cli._ranges import read_costs
from stakes.cli._settings import read_amount, read_share
from stakes.cli._source import Source
from stakes.cli._text import name, percent

if TYPE_CHECKING:
    from stakes.boundary import Boundary, Gain, Optimism
    from stakes.tables import Predictions

EPILOG = """\b
Example:
  stakes boundary fit scored.csv --label outcome --score risk --uncertainty spread --min-precision 0.6 -o boundary.json
"""
_FOLDS = 5
_UNKNOWN = "Whether uncertainty helps is not known"


def fit(
    file: opt.File,
    *,
    label: opt.Label,
    score: own.Score,
    uncertainty: own.Uncertainty,
    goal: Annotated[
        own.Goal | None,
        typer.Option(
            "--goal",
            help="What is best: most recall, most precision, fewest false positives, the largest F-beta or the least "
            "cost. Without it: what the bounds ask for, recall where they leave it open.",
        ),
    ] = None,
    min_precision: Annotated[
        str | None, typer.Option("--min-precision", metavar="SHARE", help="At least this precision, read as written.")
    ] = None,
    min_recall: Annotated[
        str | None, typer.Option("--min-recall", metavar="SHARE", help="At least this recall.")
    ] = None,
    max_selected: Annotated[
        str | None,
        typer.Option("--max-selected", metavar="N|SHARE", help="At most so many rows, or this share of them."),
    ] = None,
    f_beta: Annotated[str | None, typer.Option("--f-beta", metavar="BETA", help="Beta of goal f_beta.")] = None,
    costs: opt.Costs = None,
    odds: opt.Odds = None,
    false_alarms_per_miss: opt.FalseAlarms = None,
    solver: Annotated[
        own.Solver,
        typer.Option(
            "--solver",
            help="exact proves its answer, ranker learns a smooth order of score and uncertainty, cv chooses (with "
            "--tune cv); the others are for comparison.",
        ),
    ] = own.Solver.EXACT,
    levels: own.Levels = "3",
    score_bins: Annotated[
        str | None,
        typer.Option("--score-bins", metavar="N", help="Bins of the score in each level. Without it: every score."),
    ] = None,
    binning: Annotated[
        own.Binning, typer.Option("--binning", help="How levels and bins are cut.")
    ] = own.Binning.EQUAL_WEIGHT,
    tune: Annotated[
        own.Tune | None,
        typer.Option("--tune", help="cv: aim at the precision with which --min-precision is kept out of fold."),
    ] = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    confidence_level: opt.ConfidenceLevel = "0.95",
    random_state: own.RandomState = "0",
    plot: own.Plot = None,
    as_json: opt.AsJson = False,
    output: own.Kept = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Find the threshold on the score for each level of uncertainty, all chosen together, and say whether it pays.

    Give at least one bound: --min-precision 0.9 (most recall under it), --max-selected 500, --min-recall 0.3 (most
    precision), --f-beta 1 or --costs 0.02:0.10 (least cost). Bounds combine. Whether uncertainty helps is judged on
    rows that the thresholds were not fitted to. A precision that is promised comes from `stakes boundary certify`.
    """
    no_costs = costs is odds is false_alarms_per_miss is None
    options: dict[str, Any] = {
        "min_precision": read_number(min_precision),
        "min_recall": read_number(min_recall),
        "max_selected": read_number(max_selected),
        "f_beta": None if f_beta is None else read_amount("--f-beta", f_beta),
        "costs": None if no_costs else read_costs(costs, odds, false_alarms_per_miss, None),
        "solver": str(solver),
        "levels": read_levels(levels),
        "score_bins": None if score_bins is None else read_whole("--score-bins", score_bins, 1),
        "binning": str(binning),
        "tune": None if tune is None else str(tune),
    }
    options["goal"] = _implied_goal(options) if goal is None else str(goal)
    check_options(options, weight)
    columns = Columns(score, uncertainty, label, pos_label)
    request = Request(
        columns.source(file, weight, on_missing, file_format),
        columns,
        options,
        read_share("--confidence-level", confidence_level),
        read_whole("--random-state", random_state),
    )
    return partial(run, request, plan(output, plot, as_json=as_json, source=file))


@dataclass(frozen=True)
class Request:
    """One run."""

    source: Source
    columns: Columns
    options: dict[str, Any]
    confidence_level: float
    random_state: int


@dataclass(frozen=True)
class Judged:
    """What a boundary is worth beyond the rows that it was fitted to, as far as that can be said."""

    gain: "Gain | None"
    optimism: "Optimism | None"
    verdict: str
    single: tuple[int, int]  # rows that the best single threshold selects, and the positives among them


def read_levels(text: str) -> Any:
    """Read a number of levels, cuts, or cv."""
    if text == "cv" or text.isdecimal():
        return text if text == "cv" else int(text)
    try:
        return [float(cut) for cut in text.split(",")]
    except ValueError:
        raise UsageError(f"--levels must be a number, cuts between levels, or cv, got {name(text)!r}") from None


def check_options(options: dict[str, Any], weight: str | None = None) -> None:
    """Let the library refuse what it can refuse without rows: it looks at them last."""
    from stakes.boundary import fit_boundary

    try:
        fit_boundary([], [], [], sample_weight=None if weight is None else [], **options)
    except ValueError as error:
        if not str(error).startswith("y_true "):
            raise UsageError(as_typed(str(error))) from None


def _implied_goal(options: dict[str, Any]) -> str:
    """Name the goal that makes sense of the bounds."""
    if options["f_beta"] is not None:
        return "f_beta"
    if options["costs"] is not None:
        return "cost"
    only_recall = options["min_precision"] is None and options["max_selected"] is None
    return "precision" if only_recall and options["min_recall"] is not None else "recall"


def run(request: Request, where: Plan) -> None:
    """Read, fit, judge, and leave the boundary and what there is to say of it."""
    with working(f"Reading {name(request.source.file)}"):
        rows = request.source.read()
    remark_dropped(rows)
    with working(f"Fitting a boundary to {rows.n_rows:,} rows"):
        boundary = fit_rows(rows, request)
    with working("Deciding about rows that the thresholds were not fitted to"):
        judged = judge(boundary, rows, request)
    page = _record(request, rows, boundary, judged)
    leave(boundary, request.columns, where, page, partial(show, request, rows, boundary, judged))
    if not boundary.selected.any():
        warn("this boundary selects nothing: no thresholds for these levels keep every bound")
    if where.output is None and not where.piped:
        note("no file was written; -o BOUNDARY.json keeps the boundary")


def fit_rows(rows: "Predictions", request: Request) -> "Boundary":
    """Fit, and let what the rows do not allow be bad data."""
    from stakes.boundary import fit_boundary
    from stakes.tables import DataError

    if rows.weight is not None:
        refuse_parts(rows, str(request.source.weight))
    try:
        return fit_boundary(
            rows.y, *rows.scores, sample_weight=rows.weight, random_state=request.random_state, **request.options
        )
    except ValueError as error:
        raise DataError(as_typed(str(error)), file=rows.source) from None


def refuse_parts(rows: "Predictions", column: str) -> None:
    """Refuse weights that are no numbers of rows."""
    from stakes.tables import DataError

    weight = np.asarray(rows.weight)
    odd = weight != np.round(weight)
    if odd.any():
        first = int(np.argmax(odd))
        row = first if rows.rows is None else int(rows.rows[first])
        raise DataError(
            "must be whole numbers, for a boundary counts rows",
            file=rows.source,
            column=column,
            row=row + 1,
            value=weight[first],
            count=int(odd.sum()),
            total=len(weight),
        )


def judge(boundary: "Boundary", rows: "Predictions", request: Request) -> Judged:
    """Compare with a single threshold out of fold, and estimate what the fit owes to noise."""
    single = _single(boundary, rows)
    if rows.weight is not None:
        return Judged(None, None, f"{_UNKNOWN}: weighted rows are not independent.", single)
    if rows.n_rows < _FOLDS:
        return Judged(None, None, f"{_UNKNOWN}: {rows.n_rows} rows are too few to tell.", single)
    gain = boundary.gain(confidence_level=request.confidence_level, random_state=request.random_state)
    known = boundary.solver == "exact" and boundary._problem.bounds_precision_alone and bool(boundary.selected.any())
    return Judged(gain, boundary.optimism() if known else None, gain.verdict, single)


def _single(boundary: "Boundary", rows: "Predictions") -> tuple[int, int]:
    """Count what the best single threshold selects, and the positives among it."""
    inside = rows.scores[0] >= boundary.threshold
    weight = np.ones(len(inside)) if rows.weight is None else rows.weight
    return int(weight[inside].sum()), int(weight[inside & rows.y].sum())


def _record(request: Request, rows: "Predictions", boundary: "Boundary", judged: Judged) -> dict[str, Any]:
    gain, optimism = judged.gain, judged.optimism
    chosen, found = judged.single
    return {
        "verdict": judged.verdict,
        "helps": None if gain is None else gain.helps,
        "source": rows.source,
        "data": {"rows": rows.n_rows, "dropped": rows.n_dropped},
        "columns": vars(request.columns) | {"weight": request.source.weight},
        "goal": boundary.goal,
        "solver": boundary.solver,
        "value": boundary.value,
        "upper_bound": boundary.upper_bound,
        "optimal": boundary.optimal,
        "recall": boundary.recall,
        "precision": boundary.precision,
        "selected": int(boundary.selected.sum()),
        "tuned_precision": boundary.tuned_precision,
        "levels": boundary._records(),
        "single_threshold": {"threshold": boundary.threshold, "selected": chosen, "true_positives": found},
        "gain": None if gain is None else gain._records()[0],
        "optimism": None if optimism is None else vars(optimism),
    }


def show(request: Request, rows: "Predictions", boundary: "Boundary", judged: Judged, out: Console) -> None:
    """Print the verdict on uncertainty first, then the thresholds, then how far to trust them."""
    print_text(out, judged.verdict, "bold")
    out.print()
    print_text(out, describe(request.source, rows))
    print_text(out, f"{boundary.goal}{_how(boundary)}")
    out.print()
    alone = ("one threshold", threshold_name(boundary.threshold), *judged.single)
    show_levels(out, boundary, () if boundary.solver == "single_threshold" else (alone,))
    lines = list(_trust(boundary, judged))
    if lines:
        out.print()
    for line in lines:
        print_text(out, line)


def _how(boundary: "Boundary") -> str:
    if boundary.optimal:
        return ": proved, no thresholds for these levels do better on these rows"
    if boundary.upper_bound is not None:
        return f": {boundary.value:.6g}, and no thresholds for these levels exceed {boundary.upper_bound:.6g}"
    return f": solver {boundary.solver}"


def _trust(boundary: "Boundary", judged: Judged) -> Any:
    gain, optimism = judged.gain, judged.optimism
    if boundary.tuned_precision is not None:
        yield f"Aims at a precision of {percent(boundary.tuned_precision)}, with which the bound is kept out of fold."
    if gain is not None:
        sides = {"with uncertainty": gain.precision, "by one threshold": gain.single_precision}
        told = [f"{f'precision {percent(p)}' if p > 0.0 else 'no positive found'} {by}" for by, p in sides.items()]
        yield f"Out of fold: {', '.join(told)}."
    if optimism is not None:
        new, old = percent(optimism.expected_precision), percent(optimism.precision)
        if new != old:
            yield f"On new rows expect a precision of about {new}, not {old}: thresholds fit the noise too."

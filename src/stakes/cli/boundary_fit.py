"""``stakes boundary fit``: one threshold for each level of uncertainty, and whether that is worth it."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

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
    read_rows,
    read_whole,
    remark_unkept,
    show_levels,
    threshold_name,
)
from stakes.cli._console import warn, working
from stakes.cli._errors import UsageError
from stakes.cli._ranges import read_costs
from stakes.cli._settings import read_amount, read_share
from stakes.cli._source import Source
from stakes.cli._spread import spread
from stakes.shown.text import shown_name as name
from stakes.shown.words import percent

if TYPE_CHECKING:
    from stakes.boundary import Boundary, Gain, Optimism
    from stakes.tables import Predictions

EPILOG = """\b
Example:
  stakes boundary fit scored.csv --label outcome --score risk --uncertainty spread --min-precision 0.6 -o boundary.json
"""
_FOLDS = 5
_UNKNOWN = "Whether uncertainty helps is not known"


@spread()
def fit(
    file: opt.File,
    *,
    named: own.LabelledRows,
    asked: own.Asked,
    how: own.Solving,
    weight: opt.Weight = None,
    reading: own.Reading,
    confidence_level: opt.ConfidenceLevel = "0.95",
    kept: own.Kept,
) -> opt.Job:
    """Find the threshold on the score for each level of uncertainty, all chosen together, and say whether it pays.

    Give at least one bound: --min-precision 0.9 (most recall under it), --max-selected 500, --min-recall 0.3 (most
    precision), --f-beta 1 or --costs 0.02:0.10 (least cost). Bounds combine. Whether uncertainty helps is judged on
    rows that the thresholds were not fitted to. A precision that is promised comes from `stakes boundary certify`.
    """
    options = read_options(asked, how)
    check_options(options, weight)
    columns = Columns.of(named, reading)
    request = Request(
        columns.source(file, weight, reading.on_missing, reading.file_format),
        columns,
        options,
        read_share("--confidence-level", confidence_level),
        read_whole("--random-state", kept.random_state),
    )
    return partial(run, request, plan(kept, file))


def read_options(asked: own.Asked, how: own.Solving) -> dict[str, Any]:
    """Read what was typed as arguments of fit_boundary."""
    no_costs = asked.costs is asked.odds is asked.false_alarms_per_miss is None
    options: dict[str, Any] = {
        "min_precision": read_number(asked.min_precision),
        "min_recall": read_number(asked.min_recall),
        "max_selected": read_number(asked.max_selected),
        "f_beta": None if asked.f_beta is None else read_amount("--f-beta", asked.f_beta),
        "costs": None if no_costs else read_costs(asked.costs, asked.odds, asked.false_alarms_per_miss, None),
        "solver": str(how.solver),
        "levels": read_levels(how.levels),
        "score_bins": None if how.score_bins is None else read_whole("--score-bins", how.score_bins, 1),
        "binning": str(how.binning),
        "tune": None if how.tune is None else str(how.tune),
    }
    return options | {"goal": _implied_goal(options) if asked.goal is None else str(asked.goal)}


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
    rows = read_rows(request.source)
    with working(f"Fitting a boundary to {rows.n_rows:,} rows"):
        boundary = fit_rows(rows, request)
    with working("Deciding about rows that the thresholds were not fitted to"):
        judged = judge(boundary, rows, request)
    page = _record(request, rows, boundary, judged)
    leave(boundary, request.columns, where, page, partial(show, request, rows, boundary, judged))
    if not boundary.selected.any():
        warn("this boundary selects nothing: no thresholds for these levels keep every bound")
    remark_unkept(where)


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
    import numpy as np

    from stakes.tables import DataError

    weight = np.asarray(rows.weight)
    odd = weight != weight.round()
    if odd.any():
        first = int(odd.argmax())
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
    weight = 1 if rows.weight is None else rows.weight
    return int((weight * inside).sum()), int((weight * (inside & rows.y)).sum())


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

"""Fit, certify."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console

from stakes.cli import boundary_shared, options
from stakes.cli.boundary_shared import (
    BoundaryColumns,
    BoundaryTarget,
    as_typed,
    describe,
    leave,
    plan,
    print_text,
    read_rows,
    read_whole,
    remark_unkept,
    show_levels,
)
from stakes.cli.console import CHECK_FAILED, DONE, UsageError, console, fail, warn, working
from stakes.cli.options import flag, spread
from stakes.cli.reading import read_amount, read_costs, read_number, read_share
from stakes.cli.task import Source
from stakes.outputs.text import percent
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from stakes.boundary import Boundary, Certificate, Gain, Optimism
    from stakes.tables import Predictions


# ``stakes boundary fit``: one threshold for each level of uncertainty, and whether that is worth it.

FIT_EPILOG = """\b
Example:
  stakes boundary fit scored.csv --label outcome --score risk --uncertainty spread --min-precision 0.6 -o boundary.json
"""
_FOLDS = 5
_UNKNOWN = "Whether uncertainty helps is not known"


@spread()
def fit(
    file: options.File,
    *,
    named: boundary_shared.LabelledRows,
    asked: boundary_shared.FitArguments,
    how: boundary_shared.Solving,
    weight: options.Weight = None,
    reading: boundary_shared.BoundaryInput,
    confidence_level: options.ConfidenceLevel = "0.95",
    kept: boundary_shared.RepeatedUse,
) -> options.Job:
    """Find the threshold on the score for each level of uncertainty, all chosen together, and say whether it pays.

    Give at least one bound: --min-precision 0.9 (most recall under it), --capacity 500, --min-recall 0.3 (most
    precision), --f-beta 1 or --costs 0.02:0.10 (least cost). Bounds combine. Whether uncertainty helps is judged on
    rows that the thresholds were not fitted to. A precision that is promised comes from `stakes boundary certify`.
    """
    options = read_options(asked, how)
    check_options(options, weight)
    columns = BoundaryColumns.of(named, reading)
    request = FitJob(
        columns.source(file, weight, reading.on_missing, reading.file_format),
        columns,
        options,
        read_share("--confidence-level", confidence_level),
        read_whole("--random-state", kept.random_state),
    )
    return partial(run_fit, request, plan("boundary-fit", kept, file))


def read_options(asked: boundary_shared.FitArguments, how: boundary_shared.Solving) -> dict[str, Any]:
    """Read what was typed as arguments of fit_boundary."""
    no_costs = asked.costs is asked.odds is asked.false_alarms_per_miss is None
    options: dict[str, Any] = {
        "min_precision": read_number(asked.min_precision),
        "min_recall": read_number(asked.min_recall),
        "capacity": read_number(asked.capacity),
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
class FitJob:
    """One run."""

    source: Source
    columns: BoundaryColumns
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
    only_recall = options["min_precision"] is None and options["capacity"] is None
    return "precision" if only_recall and options["min_recall"] is not None else "recall"


def run_fit(request: FitJob, where: BoundaryTarget) -> None:
    """Read, fit, judge, and leave the boundary and what there is to say of it."""
    rows = read_rows(request.source)
    with working(f"Fitting a boundary to {rows.n_rows:,} rows"):
        boundary = fit_rows(rows, request)
    with working("Deciding about rows that the thresholds were not fitted to"):
        judged = judge(boundary, rows, request)
    page = _record(request, rows, boundary, judged)
    leave(boundary, request.columns, where, page, partial(show_fit, request, rows, boundary, judged))
    if not boundary.selected.any():
        warn("this boundary selects nothing: no thresholds for these levels keep every bound")
    remark_unkept(where)


def fit_rows(rows: "Predictions", request: FitJob) -> "Boundary":
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


def judge(boundary: "Boundary", rows: "Predictions", request: FitJob) -> Judged:
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


def _record(request: FitJob, rows: "Predictions", boundary: "Boundary", judged: Judged) -> dict[str, Any]:
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


def show_fit(request: FitJob, rows: "Predictions", boundary: "Boundary", judged: Judged, out: Console) -> None:
    """Print the verdict on uncertainty first, then the thresholds, then how far to trust them."""
    print_text(out, judged.verdict, "bold")
    out.print()
    print_text(out, describe(request.source, rows))
    print_text(out, f"{boundary.goal}{_how(boundary)}")
    out.print()
    show_levels(out, boundary, None if boundary.solver == "single_threshold" else judged.single)
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


# ``stakes boundary certify``: a region whose precision is promised with confidence, or none.

CERTIFY_EPILOG = """\b
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

    min_precision: Annotated[str, flag("--min-precision", "SHARE", "The precision to promise.")]
    confidence_level: Annotated[str, flag("--confidence-level", "LEVEL", "Of the promise.")] = "0.95"
    fail_on: Annotated[
        FailOn,
        flag(
            "--fail-on",
            "",
            "Exit code 4, and no boundary file, where no promise can be made (abstained); with none the answer is "
            "a boundary that selects nothing.",
        ),
    ] = FailOn.ABSTAINED
    levels: Annotated[str, flag("--levels", "N|CUT,...", "Uncertainty levels of the table and the picture.")] = "3"


@spread()
def certify(
    file: options.File,
    *,
    named: boundary_shared.LabelledRows,
    promised: Promised,
    reading: boundary_shared.BoundaryInput,
    kept: boundary_shared.RepeatedUse,
) -> options.Job:
    """Find the rows whose precision can be promised, whatever the scores and uncertainties are.

    At most a fifth of the rows teaches where to look, the others test it. A region that breaks the promise is certified
    with probability at most 1 - LEVEL, as long as rows are independent and new ones are like them: do not try several
    seeds.

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
    columns = BoundaryColumns.of(named, reading)
    source = columns.source(file, None, reading.on_missing, reading.file_format)
    request = CertifyJob(source, columns, options, accepts_nothing=promised.fail_on == FailOn.NONE)
    return partial(run_certify, request, plan("boundary-certify", kept, file))


@dataclass(frozen=True)
class CertifyJob:
    """One run."""

    source: Source
    columns: BoundaryColumns
    options: dict[str, Any]
    accepts_nothing: bool


def run_certify(request: CertifyJob, where: BoundaryTarget) -> int:
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
    shown = partial(show_certify, request, rows, boundary, certificate)
    if failed and where.piped:
        shown(console("stderr"))
    else:
        kept = BoundaryTarget(where.command, None, None, where.as_json, piped=False) if failed else where
        leave(boundary, request.columns, kept, page, shown)
    if failed:
        asked = where.output or where.piped or where.plot
        fail("no promise could be made" + (": no file was written" if asked else ""))
        return CHECK_FAILED
    remark_unkept(where)
    return DONE


def show_certify(
    request: CertifyJob, rows: "Predictions", boundary: "Boundary", certificate: "Certificate", out: Console
) -> None:
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

"""``stakes boundary``: what its commands share, fit and certify."""

import json
import math
import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from rich.console import Console
from rich.text import Text

from stakes.cli import options
from stakes.cli.console import (
    CHECK_FAILED,
    DONE,
    STANDARD_OUTPUT,
    Staged,
    UsageError,
    check_target,
    console,
    fail,
    for_terminal,
    note,
    print_table,
    warn,
    with_format,
    working,
    write_out,
)
from stakes.cli.options import argument, flag, spread
from stakes.cli.program import Group
from stakes.cli.reading import read_amount, read_costs, read_number, read_share
from stakes.cli.summary import STYLE, rich_table
from stakes.cli.task import Source
from stakes.outputs.files import DataError
from stakes.outputs.text import level_name, percent, shorten, shown_name as name, threshold_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from stakes.boundary import Boundary, Certificate, Gain, Optimism
    from stakes.outputs.result_table import TableColumn
    from stakes.tables import Content, Predictions


# ``stakes boundary``: thresholds over score and uncertainty, from labelled rows to decisions that are watched.


class _Boundary(Group):
    about: ClassVar = {
        "fit": ("boundary_fit", "Find a threshold for each level of uncertainty, and say whether it pays."),
        "certify": ("boundary_fit", "Find the rows whose precision can be promised."),
        "apply": ("boundary_monitor", "Add the decisions of a boundary to a file."),
        "monitor": ("boundary_monitor", "Watch the promised precision after deployment."),
    }


_ABOUT = "Thresholds over score and uncertainty: fit, certify, apply and monitor them."
GROUP = _Boundary(name="boundary", help=_ABOUT)


# What the commands about boundaries share: the columns, the file of a boundary, the picture, and how it is shown.

PLOT_ENDINGS = (".png", ".svg", ".pdf")
_LONGEST_ERROR = 400
_SPELT = {"sample_weight": "--weight"}
_OPTIONS = ("goal", "min_precision", "min_recall", "capacity", "f_beta", "costs", "solver", "levels", "score_bins",
            "binning", "tune", "confidence_level", "sample_weight")  # fmt: skip
_AS_TYPED = re.compile(rf"\b({'|'.join(_OPTIONS)})\b(?:=(?:(['\"])(\w+)\2|None\b|(?P<bare>(?=\w)))?)?")


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryColumns:
    """What the columns of labelled rows mean; kept in the file of a boundary, so that it can be applied by itself."""

    score: str
    uncertainty: str
    label: str | None = None
    pos_label: str | None = None

    def __post_init__(self) -> None:
        if self.score == self.uncertainty:
            raise UsageError(f"--score and --uncertainty must name two columns, got {name(self.score)!r} twice")

    @classmethod
    def of(cls, named: "LabelledRows", reading: "BoundaryInput") -> "BoundaryColumns":
        """Take the columns that were typed."""
        return cls(named.score, named.uncertainty, named.label, reading.pos_label)

    def with_label(self, rows: "Predictions") -> dict[str, str | None]:
        """What is kept of them, with the label beside the positive one."""
        return asdict(self) | ({} if rows.neg_label is None else {"neg_label": str(rows.neg_label)})

    def source(self, file: str, weight: str | None, on_missing: str, file_format: str | None) -> Source:
        """Say how the rows are to be read."""
        models = [self.score, self.uncertainty]
        return Source(file, str(self.label), models, weight, self.pos_label, on_missing, file_format, probability=False)


def describe(source: Source, rows: "Predictions") -> str:
    """Head the output with the rows and what was read."""
    import numpy as np

    share = percent(float(np.average(rows.y, weights=rows.weight)))
    weighted = "" if source.weight is None else f", weighted by {name(source.weight)!r}"
    score, uncertainty = (source.models or ["", ""])[:2]
    return (
        f"{name(rows.source or source.file, 60)}: {rows.n_rows:,} rows, {share} positive in {name(source.label)!r}"
        f"{weighted}; score {name(score)!r}, uncertainty {name(uncertainty)!r}"
    )


def read_rows(source: Source, *, one_class: bool = False) -> "Predictions":
    """Read a file, and say how many rows were left out."""
    with working(f"Reading {name(source.file)}"):
        rows = source.read(one_class=one_class)
    if rows.n_dropped:
        note(f"{rows.n_dropped:,} of {rows.n_rows + rows.n_dropped:,} rows dropped, for a value is missing")
    return rows


def as_typed(message: str) -> str:
    """Write a message of the library with the names of the options in place of the arguments."""

    def option(found: re.Match[str]) -> str:
        spelt = _SPELT.get(found[1], "--" + found[1].replace("_", "-"))
        if found[0].endswith("=None"):
            return f"no {spelt}"
        return f"{spelt} {found[3]}" if found[3] else spelt if found["bare"] is None else f"{spelt} "

    return shorten(_AS_TYPED.sub(option, message.removesuffix(".")), _LONGEST_ERROR)


def read_whole(option: str, text: str, least: int = 0) -> int:
    """Read a whole number."""
    if not (text.isdecimal() and int(text) >= least):
        raise UsageError(f"{option} must be a whole number >= {least}, got {name(text)!r}")
    return int(text)


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryTarget:
    """Where a fitted boundary goes, checked before the work."""

    command: str
    output: "Path | None"
    plot: "Path | None"
    as_json: bool
    piped: bool


def plan(command: str, kept: "RepeatedUse") -> BoundaryTarget:
    """Check everything that can be known of the files before the work is done."""
    piped = kept.output == STANDARD_OUTPUT
    if piped and kept.as_json:
        raise UsageError("--json and --output - both need standard output")
    target = None if piped else check_target("--output", kept.output, (".json",))
    picture = check_target("--plot", kept.plot, PLOT_ENDINGS)
    if picture is not None and not find_spec("matplotlib"):
        raise ImportError("--plot needs matplotlib: pip install 'stakes[plot]'")
    return BoundaryTarget(command, target, picture, kept.as_json, piped)


def remark_unkept(where: BoundaryTarget) -> None:
    """Say how the boundary would be kept."""
    if where.output is None and not where.piped:
        note("no file was written; -o BOUNDARY.json keeps the boundary")


def leave(
    boundary: "Boundary",
    columns: dict[str, str | None],
    where: BoundaryTarget,
    page: dict[str, Any],
    show: "Callable[[Console], None]",
) -> None:
    """Write all files or none, and print."""
    from stakes.outputs.files import json_ready

    text = to_text(boundary, columns)
    with Staged() as staged:
        if where.plot is not None:
            with working("Drawing"):
                draw(boundary, staged.beside(where.plot))
        if where.output is not None:
            staged.beside(where.output).write_text(text, encoding="utf-8")
        if where.piped:
            write_out(text)
            show(console("stderr"))
        elif where.as_json:
            write_out(with_format(where.command, json.dumps(json_ready(page))))
        else:
            write_out(for_terminal(show))
        staged.commit()
    for what, path in (("boundary", where.output), ("picture", where.plot)):
        if path is not None:
            note(f"{what} written to {name(str(path), 200)}")


def draw(boundary: "Boundary", path: "Path") -> None:
    """Draw without touching what the process has set for its own pictures."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    boundary.plot(figure.subplots(), legend="below")
    figure.savefig(path, dpi=150)


def to_text(boundary: "Boundary", columns: dict[str, str | None]) -> str:
    """Write a boundary, with the columns that it was fitted to, for those who apply it."""
    return json.dumps({**json.loads(boundary.to_json()), "columns": columns}, indent=1) + "\n"


def read_boundary(path: "str | Content") -> "tuple[Boundary, dict[str, str]]":
    """Read a boundary from a file or standard input, and the columns that it names, if it does."""
    from stakes.boundary import Boundary
    from stakes.outputs.serialization import parse_json
    from stakes.tables import Content

    content = Content.of(path)
    try:
        with content.open() as stream:
            text = stream.read().decode("utf-8-sig")
        boundary, columns = Boundary.from_json(text), parse_json(text).get("columns")
    except ValueError as error:
        reason = str(error).removesuffix(".").removeprefix("text ")[:_LONGEST_ERROR]
        raise DataError(f"is no boundary as `stakes boundary fit` writes it: {reason}", file=content.name) from None
    named = {key: value for key, value in columns.items() if value is not None} if isinstance(columns, dict) else {}
    if not all(isinstance(value, str) for value in named.values()):
        raise DataError("the names of its columns must be text", file=content.name)
    return boundary, named


def choose_columns(named: dict[str, str], given: dict[str, str | None], needed: "Sequence[str]") -> BoundaryColumns:
    """Take the columns that were typed, and for the others those in the file of the boundary."""
    chosen = {**named, **{key: text for key, text in given.items() if text is not None}}
    missing = [f"--{key}" for key in needed if key not in chosen]
    if missing:
        raise UsageError(f"the boundary does not name its columns: give {' and '.join(missing)}")
    return BoundaryColumns(chosen["score"], chosen["uncertainty"], chosen.get("label"), chosen.get("pos_label"))


def show_levels(out: "Console", boundary: "Boundary", alone: tuple[int, int] | None = None) -> None:
    """Print counts, precision and recall of each level, of all, and of the rows that one threshold selects."""
    found = boundary.tables()["levels"]
    rows = [*found.rows]
    if alone is not None:
        chosen, right = alone
        name, ups = "one threshold", int(boundary.positives.sum())
        own = name if boundary.thresholds is not None else f"{name}, {threshold_name(boundary.threshold)}"
        shares = {"precision": right / chosen if chosen else math.nan, "recall": right / ups if ups else math.nan}
        rows.append(rows[-1] | {"level": own, "threshold": boundary.threshold, "selected": chosen, **shares})
    print_levels(out, rows, found.columns, len(boundary.rows))


def print_levels(
    out: "Console", rows: "Sequence[dict[str, Any]]", columns: "Sequence[TableColumn]", levels: int = 0
) -> None:
    """Print records by name, with a line below the levels."""
    print_table(out, rich_table(rows, columns, STYLE, names=0, ends=[levels - 1], close=True), names=0)


def print_text(out: "Console", text: str, style: str = "") -> None:
    """Print a sentence, taken literally."""
    out.print(Text(text, style=style))


# The options that the commands about boundaries share; their names are those of the library.


class Goal(StrEnum):
    """What is best."""

    RECALL = "recall"
    PRECISION = "precision"
    FALSE_POSITIVES = "false_positives"
    F_BETA = "f_beta"
    COST = "cost"


class Solver(StrEnum):
    """How the thresholds are found."""

    EXACT = "exact"
    RANKER = "ranker"
    CV = "cv"
    SINGLE_THRESHOLD = "single_threshold"
    HEURISTIC_RECALIBRATION = "heuristic_recalibration"
    GREEDY = "greedy"
    ISOTONIC = "isotonic"
    ISOTONIC_COMPLETED = "isotonic_completed"
    EQUAL_WEIGHT_DP = "equal_weight_dp"
    VARIABLE_WEIGHT_DP = "variable_weight_dp"


class Binning(StrEnum):
    """How levels and bins are cut."""

    EQUAL_WEIGHT = "equal_weight"
    EQUAL_SPAN = "equal_span"
    EQUAL_POSITIVE = "equal_positive"
    UNBINNED = "unbinned"


class Tune(StrEnum):
    """How the precision that is aimed at is chosen."""

    CV = "cv"


BoundaryFile = Annotated[
    str,
    argument("BOUNDARY", "What fit or certify wrote (JSON); - is standard input."),
]
Score = Annotated[str, flag("--score", "COLUMN", "Column with the score; it need not be a probability.")]
Uncertainty = Annotated[
    str, flag("--uncertainty", "COLUMN", "Column with the uncertainty of each score; larger is less certain.")
]
SameScore = Annotated[
    str | None, flag("--score", "COLUMN", "Column with the score. Without it: as the boundary was fitted.")
]
SameUncertainty = Annotated[
    str | None, flag("--uncertainty", "COLUMN", "Column with the uncertainty. Without it: the same.")
]
RandomState = Annotated[str, flag("--random-state", "SEED", "Of the folds, the resampling and the split of the rows.")]
BoundaryOut = Annotated[
    str | None,
    flag(
        "--output -o",
        "OUT.json",
        "Write the boundary here, for apply and monitor (plain JSON, without the rows); - is standard output.",
    ),
]
Plot = Annotated[str | None, flag("--plot", "OUT.png", "Draw it: .png, .svg or .pdf (needs matplotlib).")]
Levels = Annotated[
    str,
    flag(
        "--levels",
        "N|cv|CUT,...",
        "Number of uncertainty levels, the cuts between them, or cv: chosen out of fold (with --tune cv).",
    ),
]
Goals = Annotated[
    Goal | None,
    flag(
        "--goal",
        "",
        "What is best: most recall, most precision, fewest false positives, the largest F-beta or the least "
        "cost. Without it: what the bounds ask for, recall where they leave it open.",
    ),
]
LeastPrecision = Annotated[str | None, flag("--min-precision", "SHARE", "At least this precision, read as written.")]
LeastRecall = Annotated[str | None, flag("--min-recall", "SHARE", "At least this recall.")]
MostSelected = Annotated[str | None, flag("--capacity", "N|SHARE", "At most this number of rows, or share of them.")]
FBeta = Annotated[str | None, flag("--f-beta", "BETA", "Beta of goal f_beta.")]
Solvers = Annotated[
    Solver,
    flag(
        "--solver",
        "",
        "exact proves its answer, ranker learns a smooth order of score and uncertainty, cv chooses (with --tune "
        "cv); the others are for comparison.",
    ),
]
ScoreBins = Annotated[
    str | None, flag("--score-bins", "N", "Bins of the score in each level. Without it: every score.")
]
Binnings = Annotated[Binning, flag("--binning", "", "How levels and bins are cut.")]
Tuning = Annotated[
    Tune | None, flag("--tune", "", "cv: aim at the precision with which --min-precision is kept out of fold.")
]


@dataclass(frozen=True, eq=False, repr=False)
class LabelledRows:
    """What the columns of the rows mean."""

    label: options.Label
    score: Score
    uncertainty: Uncertainty


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryInput:
    """How a file is read."""

    pos_label: options.PosLabel = None
    on_missing: options.Missing = options.OnMissing.RAISE
    file_format: options.FileFormat = None
    any_size: options.AnySize = False


@dataclass(frozen=True, eq=False, repr=False)
class FitArguments:
    """What a boundary is asked for."""

    goal: Goals = None
    min_precision: LeastPrecision = None
    min_recall: LeastRecall = None
    capacity: MostSelected = None
    f_beta: FBeta = None
    costs: options.Costs = None
    odds: options.Odds = None
    false_alarms_per_miss: options.FalseAlarms = None


@dataclass(frozen=True, eq=False, repr=False)
class Solving:
    """How a boundary is found."""

    solver: Solvers = Solver.EXACT
    levels: Levels = "3"
    score_bins: ScoreBins = None
    binning: Binnings = Binning.EQUAL_WEIGHT
    tune: Tuning = None


@dataclass(frozen=True, eq=False, repr=False)
class RepeatedUse:
    """Where a boundary goes, and what every command takes."""

    random_state: RandomState = "0"
    plot: Plot = None
    as_json: options.AsJson = False
    output: BoundaryOut = None
    config: options.Config = None  # the parser reads it
    debug: options.Debug = False  # the program reads it


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
    named: LabelledRows,
    asked: FitArguments,
    how: Solving,
    weight: options.Weight = None,
    reading: BoundaryInput,
    confidence_level: options.ConfidenceLevel = "0.95",
    kept: RepeatedUse,
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
    return partial(run_fit, request, plan("boundary-fit", kept))


def read_options(asked: FitArguments, how: Solving) -> dict[str, Any]:
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
    goal = _implied_goal(options) if asked.goal is None else str(asked.goal)
    if not no_costs and goal != "cost":
        got = "--f-beta, which asks for another" if asked.goal is None else f"--goal {goal}"
        raise UsageError(f"--costs and --goal cost go together, got {got}")
    return options | {"goal": goal}


@dataclass(frozen=True, eq=False, repr=False)
class FitJob:
    """One run."""

    source: Source
    columns: BoundaryColumns
    options: dict[str, Any]
    confidence_level: float
    random_state: int


@dataclass(frozen=True, eq=False, repr=False)
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
    leave(boundary, request.columns.with_label(rows), where, page, partial(show_fit, request, rows, boundary, judged))
    if not boundary.selected.any():
        warn("this boundary selects nothing: no thresholds for these levels keep every bound")
    remark_unkept(where)


def fit_rows(rows: "Predictions", request: FitJob) -> "Boundary":
    """Fit, and let what the rows do not allow be bad data."""
    from stakes.boundary import fit_boundary

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
        "helps": None if gain is None or math.isnan(gain.low) else gain.helps,
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
    if optimism is not None and math.isnan(optimism.expected_precision):
        yield "What precision to expect on new rows is not known: out of fold nothing is selected."
    elif optimism is not None:
        new, old = percent(optimism.expected_precision), percent(optimism.precision)
        if new != old:
            few = " A guess: few rows are selected." if optimism.rough else ""
            yield f"On new rows expect a precision of about {new}, not {old}: thresholds fit the noise too.{few}"


# ``stakes boundary certify``: a region whose precision is promised with confidence, or none.

CERTIFY_EPILOG = """\b
Example:
  stakes boundary certify scored.csv --label outcome --score risk --uncertainty spread --min-precision 0.5 -o sure.json
"""


class FailOn(StrEnum):
    """What ends the command with exit code 4."""

    ABSTAINED = "abstained"
    NONE = "none"


@dataclass(frozen=True, eq=False, repr=False)
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
    named: LabelledRows,
    promised: Promised,
    reading: BoundaryInput,
    kept: RepeatedUse,
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
    return partial(run_certify, request, plan("boundary-certify", kept))


@dataclass(frozen=True, eq=False, repr=False)
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
        leave(boundary, request.columns.with_label(rows), kept, page, shown)
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
    least, sure = percent(certificate.min_precision), level_name(certificate.confidence_level)
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

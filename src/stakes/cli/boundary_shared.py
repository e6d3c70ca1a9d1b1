"""``stakes boundary``: thresholds over score and uncertainty, from labelled rows to decisions that are watched."""

import json
import math
import re
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.text import Text

from stakes.cli import options
from stakes.cli.console import (
    STANDARD_OUTPUT,
    Staged,
    UsageError,
    check_target,
    console,
    for_terminal,
    note,
    print_table,
    with_format,
    working,
    write_out,
)
from stakes.cli.options import flag
from stakes.cli.program import Group
from stakes.cli.summary import STYLE, rich_table
from stakes.cli.task import STANDARD_INPUT, Source
from stakes.outputs.text import percent, shorten, threshold_name
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rich.console import Console

    from stakes.boundary import Boundary
    from stakes.outputs.result_table import TableColumn
    from stakes.tables import Predictions


# ``stakes boundary``: thresholds over score and uncertainty, from labelled rows to decisions that are watched.


class _Boundary(Group):
    about: ClassVar = {
        "fit": ("boundary_fit", "Find a threshold for each level of uncertainty, and say whether it pays."),
        "certify": ("boundary_fit", "Find the rows whose precision can be promised."),
        "apply": ("boundary_monitor", "Add the decisions of a boundary to a file."),
        "monitor": ("boundary_monitor", "Watch the promised precision after deployment."),
    }


_ABOUT = "Thresholds over score and uncertainty: fit, certify, apply and monitor them."
GROUP = _Boundary(name="boundary", help=_ABOUT, rich_markup_mode=None)


# What the commands about boundaries share: the columns, the file of a boundary, the picture, and how it is shown.

PLOT_ENDINGS = (".png", ".svg", ".pdf")
_LONGEST_ERROR = 400
_SPELT = {"sample_weight": "--weight"}
_OPTIONS = ("goal", "min_precision", "min_recall", "capacity", "f_beta", "costs", "solver", "levels", "score_bins",
            "binning", "tune", "confidence_level", "sample_weight")  # fmt: skip
_AS_TYPED = re.compile(rf"\b({'|'.join(_OPTIONS)})\b(?:=(?:(['\"])(\w+)\2|None\b|(?P<bare>(?=\w)))?)?")


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class BoundaryTarget:
    """Where a fitted boundary goes, checked before the work."""

    command: str
    output: "Path | None"
    plot: "Path | None"
    as_json: bool
    piped: bool


def plan(command: str, kept: "RepeatedUse", source: str) -> BoundaryTarget:
    """Check everything that can be known of the files before the work is done."""
    piped = kept.output == STANDARD_OUTPUT
    if piped and kept.as_json:
        raise UsageError("--json and --output - both need standard output")
    target = None if piped else check_target("--output", kept.output, (".json",), source)
    picture = check_target("--plot", kept.plot, PLOT_ENDINGS, source)
    if picture is not None and not find_spec("matplotlib"):
        raise ImportError("--plot needs matplotlib: pip install 'stakes[plot]'")
    return BoundaryTarget(command, target, picture, kept.as_json, piped)


def remark_unkept(where: BoundaryTarget) -> None:
    """Say how the boundary would be kept."""
    if where.output is None and not where.piped:
        note("no file was written; -o BOUNDARY.json keeps the boundary")


def leave(
    boundary: "Boundary",
    columns: BoundaryColumns,
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


def to_text(boundary: "Boundary", columns: BoundaryColumns) -> str:
    """Write a boundary, with the columns that it was fitted to, for those who apply it."""
    return json.dumps({**json.loads(boundary.to_json()), "columns": asdict(columns)}, indent=1) + "\n"


def read_boundary(path: str) -> "tuple[Boundary, dict[str, str]]":
    """Read a boundary from a file or standard input, and the columns that it names, if it does."""
    from stakes.boundary import Boundary
    from stakes.outputs.serialization import parse_json
    from stakes.tables import Content, DataError

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


def refuse_twice_standard_input(boundary: str, files: "Sequence[str]") -> None:
    """Refuse to read from standard input more than once."""
    if [boundary, *files].count(STANDARD_INPUT) > 1:
        raise UsageError("standard input is read once: - can stand for the boundary or for one file")


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
    typer.Argument(
        metavar="BOUNDARY", help="What fit or certify wrote (JSON); - is standard input.", show_default=False
    ),
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


@dataclass(frozen=True)
class LabelledRows:
    """What the columns of the rows mean."""

    label: options.Label
    score: Score
    uncertainty: Uncertainty


@dataclass(frozen=True)
class BoundaryInput:
    """How a file is read."""

    pos_label: options.PosLabel = None
    on_missing: options.Missing = options.OnMissing.RAISE
    file_format: options.FileFormat = None
    any_size: options.AnySize = False


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Solving:
    """How a boundary is found."""

    solver: Solvers = Solver.EXACT
    levels: Levels = "3"
    score_bins: ScoreBins = None
    binning: Binnings = Binning.EQUAL_WEIGHT
    tune: Tuning = None


@dataclass(frozen=True)
class RepeatedUse:
    """Where a boundary goes, and what every command takes."""

    random_state: RandomState = "0"
    plot: Plot = None
    as_json: options.AsJson = False
    output: BoundaryOut = None
    config: options.Config = None  # the parser reads it
    debug: options.Debug = False  # the program reads it

"""The options that the commands about boundaries share; their names are those of the library."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from stakes.cli import _options as opt


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
Score = Annotated[
    str, typer.Option("--score", metavar="COLUMN", help="Column with the score; it need not be a probability.")
]
Uncertainty = Annotated[
    str,
    typer.Option(
        "--uncertainty", metavar="COLUMN", help="Column with the uncertainty of each score; larger is less certain."
    ),
]
SameScore = Annotated[
    str | None,
    typer.Option("--score", metavar="COLUMN", help="Column with the score. Without it: as the boundary was fitted."),
]
SameUncertainty = Annotated[
    str | None,
    typer.Option("--uncertainty", metavar="COLUMN", help="Column with the uncertainty. Without it: the same."),
]
RandomState = Annotated[
    str, typer.Option("--random-state", metavar="SEED", help="Of the folds, the resampling and the split of the rows.")
]
BoundaryOut = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT.json",
        help="Write the boundary here, for apply and monitor (plain JSON, without the rows); - is standard output.",
    ),
]
Plot = Annotated[
    str | None,
    typer.Option("--plot", metavar="OUT.png", help="Draw it: .png, .svg or .pdf (needs matplotlib)."),
]
Levels = Annotated[
    str,
    typer.Option(
        "--levels",
        metavar="N|cv|CUT,...",
        help="Number of uncertainty levels, the cuts between them, or cv: chosen out of fold (with --tune cv).",
    ),
]
Goals = Annotated[
    Goal | None,
    typer.Option(
        "--goal",
        help="What is best: most recall, most precision, fewest false positives, the largest F-beta or the least "
        "cost. Without it: what the bounds ask for, recall where they leave it open.",
    ),
]
LeastPrecision = Annotated[
    str | None, typer.Option("--min-precision", metavar="SHARE", help="At least this precision, read as written.")
]
LeastRecall = Annotated[str | None, typer.Option("--min-recall", metavar="SHARE", help="At least this recall.")]
MostSelected = Annotated[
    str | None, typer.Option("--max-selected", metavar="N|SHARE", help="At most so many rows, or this share of them.")
]
FBeta = Annotated[str | None, typer.Option("--f-beta", metavar="BETA", help="Beta of goal f_beta.")]
Solvers = Annotated[
    Solver,
    typer.Option(
        "--solver",
        help="exact proves its answer, ranker learns a smooth order of score and uncertainty, cv chooses (with --tune "
        "cv); the others are for comparison.",
    ),
]
ScoreBins = Annotated[
    str | None,
    typer.Option("--score-bins", metavar="N", help="Bins of the score in each level. Without it: every score."),
]
Binnings = Annotated[Binning, typer.Option("--binning", help="How levels and bins are cut.")]
Tuning = Annotated[
    Tune | None,
    typer.Option("--tune", help="cv: aim at the precision with which --min-precision is kept out of fold."),
]


@dataclass(frozen=True)
class LabelledRows:
    """What the columns of the rows mean."""

    label: opt.Label
    score: Score
    uncertainty: Uncertainty


@dataclass(frozen=True)
class Reading:
    """How a file is read."""

    pos_label: opt.PosLabel = None
    on_missing: opt.Missing = opt.OnMissing.RAISE
    file_format: opt.FileFormat = None
    any_size: opt.AnySize = False


@dataclass(frozen=True)
class Asked:
    """What a boundary is asked for."""

    goal: Goals = None
    min_precision: LeastPrecision = None
    min_recall: LeastRecall = None
    max_selected: MostSelected = None
    f_beta: FBeta = None
    costs: opt.Costs = None
    odds: opt.Odds = None
    false_alarms_per_miss: opt.FalseAlarms = None


@dataclass(frozen=True)
class Solving:
    """How a boundary is found."""

    solver: Solvers = Solver.EXACT
    levels: Levels = "3"
    score_bins: ScoreBins = None
    binning: Binnings = Binning.EQUAL_WEIGHT
    tune: Tuning = None


@dataclass(frozen=True)
class Kept:
    """Where a boundary goes, and what every command takes."""

    random_state: RandomState = "0"
    plot: Plot = None
    as_json: opt.AsJson = False
    output: BoundaryOut = None
    config: opt.Config = None  # the parser reads it
    debug: opt.Debug = False  # the program reads it

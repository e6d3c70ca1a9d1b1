"""The options that the commands about boundaries share; their names are those of the library."""

from enum import StrEnum
from typing import Annotated

import typer


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
Kept = Annotated[
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

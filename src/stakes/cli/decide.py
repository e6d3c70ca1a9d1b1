"""``stakes decide``: which rows to act on, for the measure that one is judged by, from a file of probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from stakes.cli import _options as opt
from stakes.cli._amounts import AmountDecisions, AmountSettings
from stakes.cli._console import note, working
from stakes.cli._decisions import (
    ColumnSettings,
    Decisions,
    DecisionSettings,
    check_endings,
    read_correction,
    read_measure,
)
from stakes.cli._deferrals import Deferrals, DeferralSettings
from stakes.cli._deliver import RowsOut, plan_rows
from stakes.cli._errors import UsageError
from stakes.cli._outcomes import Amounts, refuse
from stakes.cli._settings import read_amount, read_unit, split_names
from stakes.cli._spread import spread
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from stakes.costs import Deferral

EPILOG = """\b
Example:
  stakes decide predictions.csv --models risk --measure f1 -o decided.csv
  stakes decide predictions.csv --models risk --threshold 0.2 --defer-cost 0.05 -o deferred.csv
"""
NOTHING_ASKED = (
    "name what is maximised with --measure, what deferring costs with --defer-cost, or what mistakes cost with "
    "--false-positive-cost and --false-negative-cost"
)

Probabilities = Annotated[
    list[str],
    typer.Option(
        "--models",
        metavar="COLUMN,...",
        help="Columns with calibrated probabilities; each is decided on its own. "
        r"May be repeated. A comma inside a name is written \,",
    ),
]
MeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        help="What is maximised: f1, fbeta:BETA, jaccard, balanced_accuracy, fowlkes_mallows, g_mean, h_mean, q_mean, "
        "mcc, kappa, precision, recall, accuracy; squared_error_in_counting is minimised.",
    ),
]
ZeroDivision = Annotated[
    str, typer.Option("--zero-division", metavar="VALUE", help="The measure in place of 0/0, from 0 to 1.")
]
Groups = Annotated[
    list[str] | None,
    typer.Option(
        "--groups",
        metavar="COLUMN,...",
        help="Columns that divide the rows into groups: each group is a batch of its own.",
    ),
]
DeferCost = Annotated[
    str | None,
    typer.Option(
        "--defer-cost",
        metavar="AMOUNT",
        help="In place of a measure: what leaving a case to someone else costs, where a false positive and a false "
        "negative cost 1 together. Needs --threshold.",
    ),
]
Threshold = Annotated[
    str | None,
    typer.Option("--threshold", metavar="T", help="With --defer-cost: the cost ratio, to act from without deferring."),
]
Capacity = Annotated[
    str | None,
    typer.Option("--capacity", metavar="SHARE", help="With --defer-cost: the largest share of the rows deferred."),
]
Column = Annotated[
    str,
    typer.Option(
        "--column",
        metavar="NAME",
        help="Name of the new column: 1 to act, 0 not to, -1 to defer. With several models, NAME_MODEL for each.",
    ),
]
PositiveShare = Annotated[
    str | None,
    typer.Option(
        "--positive-share",
        metavar="SHARE",
        help="Undo class weights first: the relative weight that positives had in training, w1 / (w0 + w1).",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="OLD:NEW",
        help="Move the probabilities first from a population with this share of positives to one with that: 0.5:0.02.",
    ),
]
ShowSensitivity = Annotated[
    bool,
    typer.Option(
        "--sensitivity",
        help="Also show what becomes of the choice if the log-odds of the probabilities are shifted or stretched.",
    ),
]
Decided = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write the file with its new column here, in the format that it was read in; - is standard output.",
    ),
]

_WITHOUT_DEFERRAL = "needs --defer-cost: without it a row is acted on where its score reaches the threshold"


@dataclass(frozen=True, kw_only=True)
class Deferring:
    """What leaving cases to someone else costs, as typed."""

    defer_cost: DeferCost = None
    threshold: Threshold = None
    capacity: Capacity = None

    @property
    def further(self) -> dict[str, str | None]:
        """What has no meaning without a cost."""
        return {"--threshold": self.threshold, "--capacity": self.capacity}

    @property
    def terms(self) -> tuple[float, "Deferral", float | None]:
        """The cost ratio, what deferring costs, and how many rows may be deferred."""
        from stakes.costs import Deferral

        if self.threshold is None:
            raise UsageError("--defer-cost needs --threshold, the cost ratio")
        cost = self.defer_cost or ""
        fee = 0.0 if cost.strip() == "0" else read_amount("--defer-cost", cost)
        share = None if self.capacity is None else read_unit("--capacity", self.capacity)
        return read_unit("--threshold", self.threshold), Deferral(fee), share


@spread()
def decide(
    file: opt.File,
    *,
    models: Probabilities,
    measure: MeasureOption = None,
    deferring: Deferring,
    amounts: Amounts,
    zero_division: ZeroDivision = "0",
    groups: Groups = None,
    column: Column = "decision",
    positive_share: PositiveShare = None,
    prior: Prior = None,
    sensitivity: ShowSensitivity = False,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    any_size: opt.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    as_json: opt.AsJson = False,
    output: Decided = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Choose the rows whose selection maximises the expected value of a measure on this batch, and mark them.

    The probabilities must be calibrated, and the rows independent. No outcomes are needed. The choice belongs to the
    whole file (or group): the same row may be decided otherwise among other rows. With --defer-cost each row is decided
    by what it costs, and left to someone else (-1) where that is expected to cost less. With --false-positive-cost and
    --false-negative-cost each row is decided by its own amounts, and a second column holds its threshold.
    """
    correction = read_correction(positive_share, prior)
    of_measure = {"--measure": measure, "--groups": groups, "--sensitivity": sensitivity or None}
    settings: ColumnSettings
    if amounts.stakes:
        refuse({**of_measure, "--defer-cost": deferring.defer_cost, **deferring.further}, "does not fit amounts")
        settings = AmountSettings(correction, column, amounts.stakes, amounts.unit or "", str(amounts.on_dominated))
    elif deferring.defer_cost is None:
        refuse(deferring.further, _WITHOUT_DEFERRAL)
        if measure is None:
            raise UsageError(NOTHING_ASKED)
        zero = read_unit("--zero-division", zero_division)
        settings = DecisionSettings(correction, column, read_measure(measure), zero, sensitivity=sensitivity)
    else:
        of_measure["--zero-division"] = None if zero_division == "0" else zero_division
        refuse(of_measure, "does not fit --defer-cost")
        settings = DeferralSettings(correction, column, *deferring.terms)
    names = {"models": split_names(models, "--models") or [], "groups": split_names(groups, "--groups") or []}
    reading = {**names, "numbers": amounts.stake_columns, "on_missing": on_missing, "format": file_format}
    return partial(run, file, reading, settings, plan_rows(output, check_endings(), file, as_json=as_json))


def run(file: str, reading: Mapping[str, Any], settings: ColumnSettings, where: RowsOut) -> None:
    """Read, decide, and write the rows with their decisions."""
    from stakes.tables import read_scores

    with working(f"Reading {name(file)}"):
        scored = read_scores(file, **reading)
    settings.check(scored, where.target)
    if scored.n_dropped:
        note(f"{scored.n_dropped:,} rows get no decision, for a value is missing")
    with working(f"Deciding about {len(scored.rows):,} rows"):
        decisions: AmountDecisions | Decisions | Deferrals
        if isinstance(settings, AmountSettings):
            decisions = AmountDecisions.about(scored, settings)
        elif isinstance(settings, DeferralSettings):
            decisions = Deferrals.about(scored, settings)
        else:
            decisions = Decisions.about(scored, cast("DecisionSettings", settings))

    def write(path: Path | None) -> None:
        if path is not None:
            with working("Writing the decisions"):
                scored.write(path, decisions.columns)

    where.deliver(write, scored.endings[0], decisions.show, decisions.to_json)
    if where.target is not None:
        note(f"decisions written to {name(str(where.target), 200)}")
    elif not where.piped:
        note("no file was written; -o OUT writes the rows with their decisions")

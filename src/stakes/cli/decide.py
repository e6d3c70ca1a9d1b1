"""``stakes decide``: which rows to act on, for the measure that one is judged by, from a file of probabilities."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from stakes.cli import _options as opt
from stakes.cli._console import console, copy_out, note, working
from stakes.cli._decisions import Decisions, DecisionSettings, check_endings, read_correction, read_measure, read_unit
from stakes.cli._deliver import Delivery, deliver
from stakes.cli._errors import UsageError
from stakes.cli._output import STANDARD_OUTPUT, Staged, check_target
from stakes.cli._settings import split_names
from stakes.cli._text import name

EPILOG = """\b
Example:
  stakes decide predictions.csv --models risk --measure f1 -o decided.csv
"""

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
    str,
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
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="COLUMN,...",
        help="Columns that divide the rows into groups: each group is a batch of its own.",
    ),
]
Column = Annotated[
    str,
    typer.Option(
        "--column",
        metavar="NAME",
        help="Name of the new column: 1 to act, 0 not to. With several models, NAME_MODEL for each.",
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


def decide(
    file: opt.File,
    *,
    models: Probabilities,
    measure: MeasureOption,
    zero_division: ZeroDivision = "0",
    by: By = None,
    column: Column = "decision",
    positive_share: PositiveShare = None,
    prior: Prior = None,
    sensitivity: ShowSensitivity = False,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    as_json: opt.AsJson = False,
    output: Decided = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Choose the rows whose selection maximises the expected value of a measure on this batch, and mark them.

    The probabilities must be calibrated, and the rows independent. No outcomes are needed. The choice belongs to the
    whole file (or group): the same row may be decided otherwise among other rows.
    """
    settings = DecisionSettings(
        read_measure(measure),
        read_unit("--zero-division", zero_division),
        read_correction(positive_share, prior),
        column,
        sensitivity=sensitivity,
    )
    chosen = split_names(models, "--models") or []
    piped = output == STANDARD_OUTPUT
    if piped and as_json:
        raise UsageError("--json and --output - both need standard output")
    target = None if piped else check_target("--output", output, check_endings(), file)
    reading = {
        "models": chosen,
        "groups": split_names(by, "--by") or [],
        "on_missing": on_missing,
        "format": file_format,
    }
    return partial(run, file, reading, settings, Delivery(None, target, as_json), piped=piped)


def run(
    file: str, reading: Mapping[str, Any], settings: DecisionSettings, delivery: Delivery, *, piped: bool = False
) -> None:
    """Read, decide, write the file beside its target, print, and only then give the file its name."""
    from stakes.tables import read_scores

    with working(f"Reading {name(file)}"):
        scored = read_scores(file, **reading)
    settings.check(scored, delivery.output)
    if scored.n_dropped:
        note(f"{scored.n_dropped:,} rows get no decision, for a value is missing")
    with working(f"Deciding about {len(scored.rows):,} rows"):
        decisions = Decisions.about(scored, settings)
    with Staged() as staged:
        if piped:
            rows = staged.aside(scored.endings[0])
            scored.write(rows, decisions.columns)
            copy_out(rows)
            decisions.show(console("stderr"))
            return
        if delivery.output is not None:
            with working("Writing the decisions"):
                scored.write(staged.beside(delivery.output), decisions.columns)
        deliver(decisions, Delivery(None, None, delivery.as_json), decisions.show)
        staged.commit()
    if delivery.output is None:
        note("no file was written; -o OUT writes the rows with their decisions")
    else:
        note(f"decisions written to {name(str(delivery.output), 200)}")

"""``stakes correct``: scores of a class-weighted or resampled model become probabilities, from file to file."""

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._console import console, copy_out, note, print_table, working, write_out
from stakes.cli._deliver import for_terminal
from stakes.cli._errors import UsageError
from stakes.cli._output import STANDARD_OUTPUT, Staged, check_target
from stakes.cli._settings import read_amount, read_share, split_names
from stakes.cli._source import Source
from stakes.cli._text import name

if TYPE_CHECKING:
    from stakes.correction import LossCalibrationTest
    from stakes.tables._odds import Copied

ENDINGS = (".csv", ".parquet", ".arrow", ".jsonl")
EPILOG = """\b
Examples:
  stakes correct scores.csv --models risk --scale-pos-weight 30 -o corrected.csv
  stakes correct scores.csv --models risk --keep 0:0.05 --label outcome
"""


@dataclass(frozen=True)
class Correction:
    """By what the odds are multiplied, and the weight of the positive class that this undoes."""

    factor: float
    positive_share: float


@dataclass(frozen=True)
class Request:
    """One run: what to correct, how, where the result goes, and what to test."""

    file: str
    models: list[str]
    correction: Correction
    suffix: str
    on_missing: str
    file_format: str | None
    target: Path | None
    test: Source | None
    as_json: bool
    piped: bool


def correct(
    file: opt.File,
    *,
    models: Annotated[
        list[str],
        typer.Option(
            "--models",
            metavar="COLUMN,...",
            help=r"Columns with the scores; may be repeated. A comma inside a name is written \,",
        ),
    ],
    positive_share: Annotated[
        str | None,
        typer.Option(
            "--positive-share", metavar="SHARE", help="Weight of the positive class in training, as a share of both."
        ),
    ] = None,
    scale_pos_weight: Annotated[
        str | None,
        typer.Option(
            "--scale-pos-weight", metavar="RATIO", help="The same as a ratio to the negative class (or pos_weight)."
        ),
    ] = None,
    class_weights: Annotated[
        str | None,
        typer.Option("--class-weights", metavar="LABEL:WEIGHT,...", help="The same for each class: 0:1,1:30."),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="LABEL:FRACTION,...",
            help="Which fraction of each class's rows was kept (or repeated) in training: 0:0.05.",
        ),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior", metavar="SHARE", help="Share of positives to correct for, where it is not --training-prior."
        ),
    ] = None,
    training_prior: Annotated[
        str | None,
        typer.Option(
            "--training-prior", metavar="SHARE", help="Share of positives in the training data, before any sampling."
        ),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", metavar="COLUMN", help="Column with the outcome: test the scores before and after."),
    ] = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    suffix: Annotated[str, typer.Option("--suffix", help="What the names of the new columns end in.")] = "_corrected",
    as_json: opt.AsJson = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Corrected file: .csv, .parquet, .arrow or .jsonl; - is standard output, as CSV.",
        ),
    ] = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Undo class weights or sampling in a file of scores, and test with --label what that leaves.

    Every column is copied, and one is added for each column of scores. Large files are streamed.
    """
    correction = read_correction(
        {"--positive-share": positive_share, "--scale-pos-weight": scale_pos_weight, "--class-weights": class_weights},
        keep,
        (training_prior, prior),
        pos_label,
    )
    if output is None and label is None:
        raise UsageError("nothing to do: --output names the corrected file, --label tests the correction")
    names = split_names(models, "--models") or []
    twice = next((model for model in names if names.count(model) > 1), None)
    if twice is not None:
        raise UsageError(f"--models names {name(twice)!r} more than once")
    if weight is not None and label is None:
        raise UsageError("--weight is for the test: it needs --label")
    piped = output == STANDARD_OUTPUT
    if piped and as_json:
        raise UsageError("--json and --output - both need standard output")
    target = None if piped else check_target("--output", output, ENDINGS, file)
    if file == "-" and label is not None and output is not None:
        raise UsageError("standard input is read once: --label and --output together need a file")
    test = None if label is None else Source(file, label, names, weight, pos_label, on_missing, file_format)
    reading = file, names, correction, suffix, on_missing, file_format
    return partial(run, Request(*reading, target, test, as_json, piped))


def read_correction(
    weights: dict[str, str | None], keep: str | None, priors: tuple[str | None, str | None], pos_label: str | None
) -> Correction:
    """Turn the options into one factor of the odds."""
    given = [option for option, text in weights.items() if text is not None]
    if len(given) > 1:
        raise UsageError(f"give one of {', '.join(weights)}, got {' and '.join(given)}")
    if not given and keep is None and priors[1] is None:
        raise UsageError(f"say what to undo: {', '.join(weights)}, --keep, or --training-prior with --prior")
    if (priors[0] is None) != (priors[1] is None):
        raise UsageError("--training-prior and --prior must be given together")
    ratio = 1.0
    for option, text in weights.items():
        if text is not None:
            ratio *= _weight(option, text, pos_label)
    if keep is not None:
        ratio *= _ratio("--keep", keep, pos_label)
    share = ratio / (1.0 + ratio)
    old, new = (None if text is None else read_share(f"{option}", text) for option, text in _named(priors))
    if old is not None and new is not None:
        ratio *= (old / (1.0 - old)) / (new / (1.0 - new))
    return Correction(1.0 / ratio, share)


def _named(priors: tuple[str | None, str | None]) -> list[tuple[str, str | None]]:
    return list(zip(("--training-prior", "--prior"), priors, strict=True))


def _weight(option: str, text: str, pos_label: str | None) -> float:
    if option == "--positive-share":
        share = read_share(option, text)
        return share / (1.0 - share)
    return read_amount(option, text) if option == "--scale-pos-weight" else _ratio(option, text, pos_label)


def _ratio(option: str, text: str, pos_label: str | None) -> float:
    """Read LABEL:NUMBER pairs as the ratio of the positive class's number to the negative's; one left out is 1."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        label, colon, value = part.rpartition(":")
        if not colon or not label.strip() or label.strip() in numbers:
            raise UsageError(f"{option} must be LABEL:NUMBER for each class once, got {name(text)!r}")
        numbers[label.strip()] = read_amount(option, value)
    if pos_label is None:
        pair = next((pair for pair in (("0", "1"), ("-1", "1")) if set(numbers) <= set(pair)), None)
        if pair is None:
            raise UsageError(f"{option} names classes other than 0 and 1: --pos-label says which is positive")
        return numbers.get("1", 1.0) / numbers.get(pair[0], 1.0)
    others = [label for label in numbers if label != pos_label]
    if len(others) > 1:
        raise UsageError(f"{option} names {len(others)} classes besides the positive one, {name(pos_label)!r}")
    return numbers.get(pos_label, 1.0) / (numbers[others[0]] if others else 1.0)


def run(request: Request) -> None:
    """Test, copy, and say what was done."""
    found, copied = _tests(request), None
    with Staged() as staged:
        if request.piped:
            rows = staged.aside(ENDINGS[0])
            copied = _copy(request, rows)
            copy_out(rows)
            _show(console("stderr"), request, found)
        elif request.target is not None:
            copied = _copy(request, staged.beside(request.target))
        if request.as_json:
            write_out(json.dumps(_record(request, copied, found), indent=2) + "\n")
        elif not request.piped:
            write_out(for_terminal(partial(_show, request=request, found=found)))
        staged.commit()
    if copied is not None:
        if copied.n_dropped:
            note(f"{copied.n_dropped:,} of {copied.n_rows + copied.n_dropped:,} rows dropped, for a score is missing")
        where = "standard output" if request.piped else request.target
        note(f"{copied.n_rows:,} rows written to {where}, with {', '.join(map(name, copied.columns.values()))}")


def _copy(request: Request, path: Path) -> "Copied":
    from stakes.tables._odds import copy_with_shifted_odds

    with working(f"Correcting {name(request.file)}"):
        return copy_with_shifted_odds(
            request.file,
            path,
            models=request.models,
            factor=request.correction.factor,
            suffix=request.suffix,
            on_missing=request.on_missing,  # type: ignore[arg-type]
            format=request.file_format,
        )


def _tests(request: Request) -> dict[str, dict[str, "LossCalibrationTest"]]:
    """For each model the scores as they are, and corrected, against the outcome."""
    if request.test is None:
        return {}
    from stakes.correction._shift import shift_odds
    from stakes.correction._test import loss_calibration_test

    with working(f"Testing {name(request.file)}"):
        rows = request.test.read()
        tests: dict[str, dict[str, Any]] = {}
        for model, score in zip(rows.models, rows.scores, strict=True):
            stages = {"before": score, "after": shift_odds(score, request.correction.factor)}
            tests[model] = {
                stage: loss_calibration_test(rows.y, values, sample_weight=rows.weight, random_state=0)
                for stage, values in stages.items()
            }
    return tests


def _record(
    request: Request, copied: "Copied | None", found: dict[str, dict[str, "LossCalibrationTest"]]
) -> dict[str, Any]:
    from stakes._results import json_ready

    page: dict[str, Any] = {
        "odds_multiplied_by": request.correction.factor,
        "positive_share_undone": request.correction.positive_share,
    }
    if copied is not None:
        page |= {"output": str(request.target), "rows": copied.n_rows, "dropped": copied.n_dropped}
        page["columns"] = copied.columns
    if found:
        page["tests"] = {
            model: {stage: _numbers(result) for stage, result in stages.items()} for model, stages in found.items()
        }
    ready: dict[str, Any] = json_ready(page)
    return ready


def _numbers(result: "LossCalibrationTest") -> dict[str, Any]:
    remainder = vars(result.after)
    tests = {row["test"]: {"statistic": row["statistic"], "p_value": row["p_value"]} for row in result._records()}
    return {**remainder, "tests": tests, "best_positive_share": result.implied.positive_share, "status": result.status}


def _show(out: Console, request: Request, found: dict[str, dict[str, "LossCalibrationTest"]]) -> None:
    change = request.correction
    out.print(Text(f"odds multiplied by {change.factor:.6g} (undoes positive share {change.positive_share:.6g})"))
    if not found:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("model", overflow="fold")
    table.add_column("scores", no_wrap=True)
    for title in ("log loss", "Brier", "MCB", "LR p", "z p", "MCB p", "e-value"):
        table.add_column(title, justify="right", no_wrap=True)
    for model, stages in found.items():
        for stage, result in stages.items():
            left = result.after
            losses = [f"{value:.4g}" for value in (left.log_loss, left.brier)]
            tests = [result.p_value, result.z_p_value, result.miscalibration_p_value, result.largest_e_value]
            shown = [*losses, f"{left.miscalibration:.3g}", *(f"{value:.2g}" for value in tests)]
            table.add_row(Text(name(model)), stage, *shown)
    print_table(out, table, names=0)
    for model, stages in found.items():
        implied = stages["before"].implied
        if implied.status and implied.positive_share != implied.positive_share:
            out.print(Text(f"{name(model)}: no weight fits: {implied.status}"))
        else:
            out.print(
                Text(
                    f"{name(model)}: positive share {implied.positive_share:.4g} would fit best "
                    f"({implied.ci_low:.4g} to {implied.ci_high:.4g}), with slope {implied.slope:.3g}"
                )
            )

"""``stakes correct``: scores of a class-weighted or resampled model become probabilities, from file to file."""

import json
import math
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import options as opt
from stakes.cli.console import ROW_ENDINGS, RowsOut, UsageError, note, plan_rows, print_table, working
from stakes.cli.options import flag
from stakes.cli.reading import read_amount, read_priors, read_share, refuse_twice, split_names
from stakes.cli.task import Source, at_hand
from stakes.outputs.files import DataError
from stakes.outputs.text import class_weights, shown_name as name

if TYPE_CHECKING:
    from stakes.correction import LossCalibrationTest
    from stakes.tables import Content, Copied, Predictions

CORRECT_EPILOG = """\b
Examples:
  stakes correct scores.csv --models risk --scale-pos-weight 30 -o corrected.csv
  stakes correct scores.csv --models risk --keep 0:0.05 --label outcome
"""


Scores = Annotated[
    list[str],
    flag("--models", "COLUMN,...", r"Columns with the scores; may be repeated. A comma inside a name is written \,"),
]
PositiveShare = Annotated[
    str | None, flag("--positive-share", "SHARE", "Weight of the positive class in training, as a share of both.")
]
ScalePosWeight = Annotated[
    str | None, flag("--scale-pos-weight", "RATIO", "The same as a ratio to the negative class (or pos_weight).")
]
ClassWeights = Annotated[str | None, flag("--class-weights", "LABEL:WEIGHT,...", "The same for each class: 0:1,1:30.")]
Keep = Annotated[
    str | None,
    flag("--keep", "LABEL:FRACTION,...", "Which fraction of each class's rows was kept in training: 0:0.05."),
]
Repeat = Annotated[
    str | None, flag("--repeat", "LABEL:TIMES,...", "How many times each row of a class was there in training: 1:10.")
]
Outcome = Annotated[str | None, flag("--label", "COLUMN", "Column with the outcome: test the scores before and after.")]
Suffix = Annotated[str, flag("--suffix", "", "What the names of the new columns end in.")]


@dataclass(frozen=True, eq=False, repr=False)
class Correction:
    """By what the odds are multiplied, the weight of the positive class that this undoes, and the classes named.

    ``priors``: the shares of positives in training and where the model is used, if they are stated.
    """

    factor: float
    positive_share: float
    classes: tuple[str, ...] = ()
    priors: tuple[float, float] | None = None

    def undone(self, weight: str) -> str:
        """What the correction undoes, in words; its weight as it is to be written."""
        if self.priors is None:
            return f"undoes {weight}"
        change = f"prior {self.priors[0]:.6g} becomes {self.priors[1]:.6g}"
        return change if self.positive_share == 0.5 else f"undoes {weight}, and {change}"

    def beside_priors(self, share: float) -> float:
        """Take the stated change of the prior out of a weight that holds both."""
        return share if self.priors is None else share / (share + (1.0 - share) / odds_change(self.priors))


def odds_change(priors: tuple[float, float] | None) -> float:
    """By what a change of the prior multiplies the odds."""
    if priors is None:
        return 1.0
    before, after = priors
    return (after / (1.0 - after)) / (before / (1.0 - before))


@dataclass(frozen=True, eq=False, repr=False)
class CorrectJob:
    """What to correct, how, and what to test."""

    file: str
    models: list[str]
    correction: Correction
    suffix: str
    on_missing: str
    file_format: str | None
    test: Source | None

    @property
    def columns(self) -> dict[str, str]:
        """Name of each corrected column by the name of the scores."""
        return {model: f"{model}{self.suffix}" for model in self.models}


def correct(
    file: opt.File,
    *,
    models: Scores,
    positive_share: PositiveShare = None,
    scale_pos_weight: ScalePosWeight = None,
    class_weights: ClassWeights = None,
    keep: Keep = None,
    repeat: Repeat = None,
    prior: opt.Prior = None,
    training_prior: opt.TrainingPrior = None,
    label: Outcome = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    any_size: opt.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    suffix: Suffix = "_corrected",
    as_json: opt.AsJson = False,
    output: opt.RowsOutput = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Undo class weights or sampling in a file of scores, and test with --label what that leaves.

    Every column is copied, and one is added for each column of scores. Large files are streamed.
    """
    weights = {
        "--positive-share": positive_share,
        "--scale-pos-weight": scale_pos_weight,
        "--class-weights": class_weights,
    }
    correction = read_correction(weights, (keep, repeat), (training_prior, prior), pos_label)
    names = _check(split_names(models, "--models") or [], label, weight, output)
    where = plan_rows("correct", output, ROW_ENDINGS, as_json=as_json)
    groups = [label] if label is not None and correction.classes else None  # whose values the classes must be
    test = None if label is None else Source(file, label, names, weight, pos_label, on_missing, file_format, groups)
    return partial(run, CorrectJob(file, names, correction, suffix, on_missing, file_format, test), where)


def _check(names: list[str], label: str | None, weight: str | None, output: str | None) -> list[str]:
    """Refuse what cannot be asked together."""
    if output is None and label is None:
        raise UsageError("nothing to do: --output names the corrected file, --label tests the correction")
    refuse_twice("--models", names)
    if weight is not None and label is None:
        raise UsageError("--weight is for the test: it needs --label")
    return names


def read_correction(
    weights: dict[str, str | None],
    sampling: tuple[str | None, str | None],
    priors: tuple[str | None, str | None],
    pos_label: str | None,
) -> Correction:
    """Turn the options into one factor of the odds."""
    given = [option for option, text in weights.items() if text is not None]
    if len(given) > 1:
        raise UsageError(f"give one of {', '.join(weights)}, got {' and '.join(given)}")
    if not given and sampling == (None, None) and priors[1] is None:
        raise UsageError(f"say what to undo: {', '.join(weights)}, --keep, --repeat, or --training-prior with --prior")
    shares = read_priors(*priors)
    ratio = 1.0
    pairs = {"--class-weights": weights["--class-weights"], **dict(zip(("--keep", "--repeat"), sampling, strict=True))}
    numbers = {option: _numbers_of(option, text) for option, text in pairs.items() if text is not None}
    for option, text in weights.items():
        if text is not None and option not in numbers:
            ratio *= _weight(option, text)
    for option, each in numbers.items():
        ratio *= _ratio(option, each, pos_label)
    share = ratio / (1.0 + ratio)
    classes = tuple(label for each in numbers.values() for label in each)
    return Correction(odds_change(shares) / ratio, share, classes, shares)


def _weight(option: str, text: str) -> float:
    if option == "--scale-pos-weight":
        return _read_weight(option, text)
    share = read_share(option, text)
    return share / (1.0 - share)


def _read_weight(option: str, text: str) -> float:
    """Read a number of the size that the library takes."""
    weight = read_amount(option, text)
    if not 1e-100 <= weight <= 1e100:
        raise UsageError(f"{option} must lie between 1e-100 and 1e+100, got {name(text)!r}")
    return weight


_PAIRS = {"--class-weights": "0:1,1:30", "--keep": "0:0.05", "--repeat": "1:10"}


def _numbers_of(option: str, text: str) -> dict[str, float]:
    """Read LABEL:NUMBER pairs."""
    numbers: dict[str, float] = {}
    for part in text.split(","):
        label, colon, value = part.rpartition(":")
        if not colon or not label.strip() or label.strip() in numbers:
            raise UsageError(
                f"{option} must be LABEL:NUMBER for each class once, such as {_PAIRS[option]}, got {name(text)!r}"
            )
        numbers[label.strip()] = _read_weight(option, value)
    return numbers


def _ratio(option: str, numbers: dict[str, float], pos_label: str | None) -> float:
    """Ratio of the positive class's number to the negative's; one left out is 1."""
    if pos_label is None:
        pair = next((pair for pair in (("0", "1"), ("-1", "1")) if set(numbers) <= set(pair)), None)
        if pair is None:
            raise UsageError(f"{option} names classes other than 0 and 1: --pos-label says which is positive")
        _check_sampling(option, numbers)
        return numbers.get("1", 1.0) / numbers.get(pair[0], 1.0)
    others = [label for label in numbers if label != pos_label]
    alike = next((label for label in others if _meant(label) == _meant(pos_label)), None)
    # a and A may be two labels, and are where both are named
    if alike is not None and (pos_label not in numbers or isinstance(_meant(alike), Decimal)):
        raise UsageError(
            f"{option} must name a class as --pos-label does, {name(pos_label)!r}, or the other one, got "
            f"{name(alike)!r}, which is the same label written otherwise"
        )
    if len(others) > 1:
        raise UsageError(f"{option} names {len(others)} classes besides the positive one, {name(pos_label)!r}")
    _check_sampling(option, numbers)
    return numbers.get(pos_label, 1.0) / (numbers[others[0]] if others else 1.0)


def _meant(label: str) -> Decimal | str:
    """Return one spelling of a label: of 1, 01, 1.0 and true the same, and of letters of either case."""
    text = label.strip().casefold()
    try:
        number = Decimal({"true": "1", "false": "0"}.get(text, text))
    except InvalidOperation:
        return text
    return number if number.is_finite() else text


def _check_sampling(option: str, numbers: dict[str, float]) -> None:
    """A fraction that was kept is at most 1, a number of repetitions at least 1."""
    for label, number in numbers.items():
        if option == "--keep" and number > 1.0:
            raise UsageError(
                f"--keep takes fractions of at most 1, got {number:g} for {name(label)!r}: if one row in {number:g} "
                f"was kept, write {1.0 / number:.6g}; if each row was repeated, write --repeat {name(label)}:{number:g}"
            )
        if option == "--repeat" and number < 1.0:
            raise UsageError(
                f"--repeat takes numbers of at least 1, got {number:g} for {name(label)!r}: if that fraction of its "
                f"rows was kept, write --keep {name(label)}:{number:g}"
            )


def run(request: CorrectJob, where: RowsOut) -> None:
    """Test, copy, and say what was done."""
    content = at_hand(request.file)
    found = _tests(request, content)
    copied: list[Copied] = []

    def write(path: Path | None) -> None:
        if path is not None:
            copied.append(_copy(request, content, path))

    where.deliver(
        write,
        ROW_ENDINGS[0],
        partial(_show, request=request, found=found),
        lambda: json.dumps(_record(request, copied, found, where.target), indent=2),
    )
    note_copied(copied, where, list(request.columns.values()))


def note_copied(copied: "list[Copied]", where: RowsOut, columns: list[str]) -> None:
    """Say how many rows were written where, with which new columns."""
    for done in copied:
        kept = done.n_rows - done.n_incomplete
        if done.n_incomplete:
            note(f"{done.n_incomplete:,} of {done.n_rows:,} rows dropped, for a score is missing")
        file = "standard output" if where.piped else where.target
        note(f"{kept:,} rows written to {file}, with {', '.join(map(name, columns))}")


def _copy(request: CorrectJob, content: "str | Content", path: Path) -> "Copied":
    from stakes.correction import shift_odds
    from stakes.tables import NewColumns, copy_with_columns

    factor = request.correction.factor
    new = NewColumns(
        request.models,
        list(request.columns.values()),
        lambda *scores: [shift_odds(score, factor) for score in scores],
        option="--suffix",
        remedy="--on-missing drop leaves incomplete rows out.",
        drop=True,
    )
    with working(f"Correcting {name(request.file)}"):
        return copy_with_columns(
            content,
            path,
            new,
            on_missing=request.on_missing,  # type: ignore[arg-type]
            format=request.file_format,
        )


def _tests(request: CorrectJob, content: "str | Content") -> dict[str, dict[str, "LossCalibrationTest"]]:
    """For each model the scores as they are, and corrected, against the outcome."""
    if request.test is None:
        return {}
    from stakes.correction import loss_calibration_test, shift_odds

    with working(f"Testing {name(request.file)}"):
        rows = request.test.read(content)
        _check_classes(request, rows)
        tests: dict[str, dict[str, Any]] = {}
        for model, score in zip(rows.models, rows.scores, strict=True):
            stages = {"before": score, "after": shift_odds(score, request.correction.factor)}
            tests[model] = {
                stage: loss_calibration_test(rows.y, values, sample_weight=rows.weight, random_state=0)
                for stage, values in stages.items()
            }
    return tests


def _check_classes(request: CorrectJob, rows: "Predictions") -> None:
    """Refuse a class that is no label of the file: its number would be taken for that of the negative class."""
    from stakes.base.validation import match_label

    for label, column in (rows.groups or {}).items():
        values = list(dict.fromkeys(column.tolist()))
        for each in request.correction.classes:
            if match_label(each, values) not in values:
                rule = f"holds {' and '.join(sorted(map(repr, values)))}, and no class {each!r} that was named"
                raise DataError(rule, file=request.file, column=label)


def _record(
    request: CorrectJob,
    copied: list["Copied"],
    found: dict[str, dict[str, "LossCalibrationTest"]],
    target: Path | None,
) -> dict[str, Any]:
    from stakes.outputs.files import json_ready

    page: dict[str, Any] = {
        "odds_multiplied_by": request.correction.factor,
        "positive_share_undone": request.correction.positive_share,
    }
    for done in copied:
        page |= {"output": str(target), "rows": done.n_rows - done.n_incomplete, "dropped": done.n_incomplete}
        page["columns"] = request.columns
    if found:
        page["tests"] = {
            model: {stage: _numbers(result) for stage, result in stages.items()} for model, stages in found.items()
        }
        for stages in page["tests"].values():
            best = stages["before"]["best_positive_share"]
            stages["before"]["best_positive_share"] = request.correction.beside_priors(best)
    ready: dict[str, Any] = json_ready(page)
    return ready


def _numbers(result: "LossCalibrationTest") -> dict[str, Any]:
    remainder = vars(result.after)
    tests = {row["test"]: {"statistic": row["statistic"], "p_value": row["p_value"]} for row in result._records()}
    return {**remainder, "tests": tests, "best_positive_share": result.implied.positive_share, "status": result.status}


def _show(out: Console, request: CorrectJob, found: dict[str, dict[str, "LossCalibrationTest"]]) -> None:
    change = request.correction
    best = {model: stages["before"].implied for model, stages in found.items()}
    shares = [change.beside_priors(share) for each in best.values() for share in (each.positive_share, *each.interval)]
    unit, (stated, *weights) = class_weights(change.positive_share, *shares)
    stated = f"positive share {change.positive_share:.6g}" if unit == "positive_share" else f"{unit} {stated}"
    out.print(Text(f"odds multiplied by {change.factor:.6g} ({change.undone(stated)})"))
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
    beside = "" if change.priors is None else "beside these priors "
    for at, (model, implied) in enumerate(best.items()):
        weight, low, high = weights[3 * at : 3 * at + 3]
        said = f"{beside}{unit.replace('positive_', 'positive ')} {weight} would fit best ({low} to {high})"
        if not math.isnan(implied.slope):
            said += f", with slope {implied.slope:.3g}"
        if math.isnan(implied.positive_share):
            said = f"no weight fits: {implied.status}"
        out.print(Text(f"{name(model)}: {said}"))

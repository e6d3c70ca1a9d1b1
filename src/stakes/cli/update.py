"""``stakes update``: a model's scores updated to new rows, from file to file, with the tests and the gain."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.text import Text

from stakes.cli import options as opt
from stakes.cli.console import ROW_ENDINGS, RowsOut, UsageError, check_target, note, plan_rows, working
from stakes.cli.correct import Suffix, note_copied
from stakes.cli.options import flag
from stakes.cli.reading import read_costs, split_names
from stakes.cli.task import Source, at_hand
from stakes.outputs.files import DataError
from stakes.outputs.text import short_names, shown_name as name

if TYPE_CHECKING:
    from stakes.correction import ModelUpdate
    from stakes.tables import Content, Copied

_IN_PYTHON = "; where the model rounded it"  # what Python alone can do

UPDATE_EPILOG = """\b
Examples:
  stakes update predictions.csv --label cancer --models new --costs 0.05:0.3
  stakes update predictions.csv --label cancer --models new -o updated.csv --save update.json
  stakes update scores.csv --label outcome --method isotonic
"""


class Method(StrEnum):
    """How scores are updated."""

    AUTO = "auto"
    INTERCEPT = "intercept"
    LOGISTIC = "logistic"
    BETA = "beta"
    ISOTONIC = "isotonic"
    NONE = "none"


Outcome = Annotated[str, flag("--label", "COLUMN", "Column with the outcome, of two values.")]
MethodOption = Annotated[
    Method,
    flag("--method", "", "auto keeps the scores, or shifts (intercept) or refits (logistic) their log-odds, by tests."),
]
Costs = Annotated[
    str | None, flag("--costs", "LOW:HIGH", "Range of plausible thresholds: the gain in regret per decision over it.")
]
Saved = Annotated[
    str | None, flag("--save", "OUT.json", "Also write the update of one model, which ModelUpdate.from_json reads.")
]


@dataclass(frozen=True, eq=False, repr=False)
class UpdateJob:
    """What to update, to which rows, and where the update itself goes."""

    source: Source
    settings: dict[str, Any]
    suffix: str
    save: Path | None


def update(
    file: opt.File,
    *,
    label: Outcome,
    models: opt.Models = None,
    method: MethodOption = Method.AUTO,
    costs: Costs = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    any_size: opt.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    suffix: Suffix = "_updated",
    save: Saved = None,
    as_json: opt.AsJson = False,
    output: opt.RowsOutput = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Update scores to new outcomes, by no more than tests ask for, and say what that saves.

    With --output every column is copied, and one is added for each column of scores.
    """
    names = split_names(models, "--models")
    settings = {"method": method.value, "costs": None if costs is None else read_costs(costs, None, None, None)}
    where = plan_rows("update", output, ROW_ENDINGS, as_json=as_json)
    target = check_target("--save", save, (".json",))
    if target is not None and names is not None:
        _check_one_to_save(names)
    source = Source(file, label, names, weight, pos_label, on_missing, file_format)
    return partial(run, UpdateJob(source, settings, suffix, target), where)


def _check_one_to_save(models: Collection[str]) -> None:
    if len(models) > 1:
        raise UsageError(f"--save is for one model, and there are {len(models)}: --models names it")


def run(request: UpdateJob, where: RowsOut) -> None:
    """Fit, copy, and say what was done."""
    content, copied = at_hand(request.source.file), []
    found = _fitted(request, content)
    if request.save is not None:
        _check_one_to_save(found)

    def write(path: Path | None) -> None:
        if path is not None:
            copied.append(_copy(request, content, found, path))

    where.deliver(
        write, ROW_ENDINGS[0], partial(_show, found=found), lambda: json.dumps(_record(copied, found, where), indent=2)
    )
    note_copied(copied, where, [f"{model}{request.suffix}" for model in found])
    if request.save is not None:
        next(iter(found.values())).to_json(request.save)
        note(f"update written to {request.save}")


def _fitted(request: UpdateJob, content: "str | Content") -> dict[str, "ModelUpdate"]:
    """Fit the update of each model to the rows with outcomes."""
    from stakes.correction import update as fit

    with working(f"Updating {name(request.source.file)}"):
        rows = request.source.read(content)
        found = {}
        for model, score in zip(rows.models, rows.scores, strict=True):
            try:
                found[model] = fit(rows.y, score, sample_weight=rows.weight, **request.settings)
            except ValueError as error:
                raise DataError(_as_typed(str(error)), file=rows.source, column=model) from None
    if request.source.models is None:
        taken = ", ".join(short_names(found).values())
        note(f"models taken: {taken} (every other numeric column; --models names others)")
    return found


def _as_typed(message: str) -> str:
    """Write a message about the scores of a column, which is named before it, with options in place of arguments."""
    said = re.sub(r"method=(['\"])(\w+)\1", r"--method \2", message.partition(_IN_PYTHON)[0])
    return re.sub(r"^y_true\b", "--label", said.removeprefix("y_prob ")).removesuffix(".")


def _copy(request: UpdateJob, content: "str | Content", found: dict[str, "ModelUpdate"], path: Path) -> "Copied":
    from stakes.tables import NewColumns, copy_with_columns

    source = request.source
    new = NewColumns(
        list(found),
        [f"{model}{request.suffix}" for model in found],
        lambda *scores: [each.predict(score) for each, score in zip(found.values(), scores, strict=True)],
        option="--suffix",
        remedy="--on-missing drop leaves incomplete rows out.",
        drop=True,
    )
    with working(f"Copying {name(source.file)}"):
        return copy_with_columns(content, path, new, on_missing=source.on_missing, format=source.format)  # type: ignore[arg-type]


def _record(copied: list["Copied"], found: dict[str, "ModelUpdate"], where: RowsOut) -> dict[str, Any]:
    page: dict[str, Any] = {"models": {model: json.loads(each.to_json()) for model, each in found.items()}}
    for done in copied:
        page |= {"output": str(where.target), "rows": done.n_rows - done.n_incomplete, "dropped": done.n_incomplete}
    return page


def _show(out: Console, found: dict[str, "ModelUpdate"]) -> None:
    for model, each in found.items():
        out.print(Text(f"{name(model)}: {each.describe()}"))

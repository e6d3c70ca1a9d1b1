"""Many actions."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from stakes.cli.console import Delivery, UsageError, deliver, note, print_table, working
from stakes.cli.reading import EvaluationArguments, InputArguments, read_costs, read_count, read_share, split_names
from stakes.cli.summary import findings_grid, listed, rich_table, style_of
from stakes.outputs.files import DataError
from stakes.outputs.text import MISSING, level_name, short_names, shown_name as name, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from stakes.actions import ActionEvaluation
    from stakes.cli.options import Job
    from stakes.costs import CostDistribution
    from stakes.tables import ClassPredictions


# A cost matrix from a small text file: labelled rows and columns, of which either may be the classes.

# what the first cell may say of the rows: "class", or "true \ decision"
_CLASSES = {"class", "classes", "true", "truth", "actual", "label", "outcome"}
_ACTIONS = {"action", "actions", "decision", "decisions", "act", "assigned", "predicted", "do"}
_SAY = "Write class or action into the first cell to say which the rows are."


@dataclass(frozen=True, eq=False, repr=False)
class CostMatrix:
    """What each action (column) costs where each class (row) is true; ``turned`` where the file has actions as rows."""

    actions: tuple[str, ...]
    costs: list[list[float]]
    turned: bool

    def ordered(self, actions: Sequence[str]) -> list[list[float]]:
        """Costs with the actions in another order."""
        places = [self.actions.index(action) for action in actions]
        return [[row[k] for k in places] for row in self.costs]


def read_cost_matrix(path: str, classes: Sequence[str]) -> CostMatrix:
    """Read and orient a matrix; rows come in the order of the classes."""
    corner, heads, cells = _labelled(path)
    rows = list(cells)
    turned, stated = _rows_are_actions(corner, rows, heads, classes)
    mine, actions = (heads, rows) if turned else (rows, heads)
    _check_names(path, mine, classes, "columns" if turned else "rows")
    if turned:
        costs = [[cells[action][heads.index(each)] for action in actions] for each in classes]
    else:
        costs = [cells[each] for each in classes]
    if not stated and set(actions) == set(classes):
        _refuse_dear(path, classes, actions, costs)
    return CostMatrix(tuple(actions), costs, turned)


def _labelled(path: str) -> tuple[str, list[str], dict[str, list[float]]]:
    """First cell, heads of the columns, and numbers by the heads of the rows."""
    lines = [line for line in _lines(path) if any(cell.strip() for cell in line)]
    if len(lines) < 2 or len(lines[0]) < 2:
        raise _error(path, "must hold a row of names, and below it a name and costs in each row")
    corner, *heads = [cell.strip() for cell in lines[0]]
    cells: dict[str, list[float]] = {}
    for place, (head, *texts) in enumerate(lines[1:], start=1):
        if len(texts) != len(heads):
            raise _error(path, f"must have {len(heads)} costs in each row, got {len(texts)}", row=place)
        if head.strip() in cells or not head.strip():
            raise _error(path, "rows must have distinct names", row=place, value=head)
        cells[head.strip()] = [_number(path, text, place, column) for text, column in zip(texts, heads, strict=True)]
    if len(set(heads)) < len(heads) or "" in heads:
        raise _error(path, f"columns must have distinct names, got {', '.join(map(repr, heads))}")
    return corner.lower(), heads, cells


def _lines(path: str) -> list[list[str]]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise _error(path, f"cannot be read: {error.strerror}; --cost-matrix names a text file") from None
    except ValueError:
        raise _error(path, "must be text in UTF-8: names and numbers, separated by commas") from None
    first = text.partition("\n")[0]
    return list(csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count)))


def _number(path: str, text: str, row: int, column: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise _error(path, "costs must be finite numbers", row=row, column=column, value=text)
    return value


def _rows_are_actions(
    corner: str, rows: Sequence[str], heads: Sequence[str], classes: Sequence[str]
) -> tuple[bool, bool]:
    """What the first cell says, or else which side has the names of the classes; and whether it was said."""
    word = next(iter(re.split(r"[^a-z]+", corner)), "")
    if word in _CLASSES or word in _ACTIONS:
        return word in _ACTIONS, True
    return set(rows) != set(classes) and set(heads) == set(classes), False


def _check_names(path: str, found: Sequence[str], classes: Sequence[str], side: str) -> None:
    missing = [each for each in classes if each not in found]
    unknown = [each for each in found if each not in classes]
    if missing:
        listed = ", ".join(map(name, found))
        hint = f"Its {side} are {listed}. Either rows or columns must be the classes. {_SAY}"
        raise _error(path, f"has no costs for the class {name(missing[0])!r}", hint=hint)
    if unknown:
        raise _error(path, f"has costs for {name(unknown[0])!r}, which is not among the classes of --classes")


def _refuse_dear(path: str, classes: Sequence[str], actions: Sequence[str], costs: list[list[float]]) -> None:
    """Where both sides have the same names, only costs can tell that the matrix is transposed."""
    for each, row in zip(classes, costs, strict=True):
        own, least = row[actions.index(each)], min(row)
        if own > least:
            other = actions[row.index(least)]
            said = f"for class {name(each)} the action {name(each)} costs {own:g}, the action {name(other)} {least:g}"
            raise _error(path, f"{said}: rows are read as true classes, and the matrix may be transposed", hint=_SAY)


def _error(path: str, rule: str, **details: object) -> DataError:
    return DataError(rule, file=path, **details)  # type: ignore[arg-type]


# ``stakes evaluate --classes ... --cost-matrix ...``: many classes, many actions, and what each mistake costs.

_SPAN, _NO_SPAN = "{value}  {low} to {high}", f"{{value}}  {MISSING} to {MISSING}"  # beside each other
_MEANT_HERE = {"clusters", "incumbent", "n_tried", "confidence_level"}
_SEGMENT = {"costs", "weighting"}  # how far between two matrices, and how much each place counts


@dataclass(frozen=True, eq=False, repr=False)
class ActionsTask:
    """What was asked for, checked before the rows are read."""

    reading: InputArguments
    classes: list[str]
    models: list[str] | None
    actions: tuple[str, ...]
    matrices: list[list[list[float]]]
    theta: CostDistribution | None
    settings: dict[str, Any]
    clusters: str | None
    delivery: Delivery


def plan_actions(
    reading: InputArguments,
    judging: EvaluationArguments,
    classes: list[str] | None,
    files: list[str] | None,
    delivery: Delivery,
) -> Job:
    """Check everything that can be known before the rows are read."""
    if not classes or not files:
        missing, given = ("--classes", "--cost-matrix") if files else ("--cost-matrix", "--classes")
        raise UsageError(f"{given} needs {missing}")
    names = split_names(classes, "--classes") or []
    if len(names) < 2 or len(set(names)) < len(names):
        raise UsageError(f"--classes must name two classes or more, each once, got {name(','.join(names))!r}")
    if len(files) > 2:
        raise UsageError(f"--cost-matrix may be given twice at most, for the two ends of a segment, got {len(files)}")
    _refuse_meaningless(reading, judging, len(files) == 2)
    settings = {
        "confidence_level": read_share("--confidence-level", judging.confidence_level),
        "incumbent": judging.incumbent,
        "n_tried": read_count("--n-tried", judging.n_tried),
    }
    found = [read_cost_matrix(file, names) for file in files]
    for file, matrix in zip(files, found, strict=True):
        if matrix.turned:
            note(f"{name(file, 60)}: its columns are the classes, so its rows are taken as actions")
    theta = read_costs(judging.costs, None, None, judging.weighting) if len(files) == 2 else None
    matrices = [_ordered(file, matrix, found[0].actions) for file, matrix in zip(files, found, strict=True)]
    models = split_names(reading.models, "--models")
    actions = found[0].actions
    task = ActionsTask(reading, names, models, actions, matrices, theta, settings, judging.clusters, delivery)
    return partial(_run, task)


def _ordered(file: str, matrix: CostMatrix, actions: Sequence[str]) -> list[list[float]]:
    if set(matrix.actions) != set(actions):
        listed_names = ", ".join(map(name, actions))
        raise DataError(f"must have the actions of the first matrix ({listed_names})", file=file)
    return matrix.ordered(actions)


def _refuse_meaningless(reading: InputArguments, judging: EvaluationArguments, segment: bool) -> None:  # noqa: FBT001  (two matrices)
    meant = _MEANT_HERE | (_SEGMENT if segment else set())
    for field in fields(EvaluationArguments):
        if field.name not in meant and getattr(judging, field.name) != field.default:
            why = ": it says how far between two matrices costs may lie" if field.name in _SEGMENT else ""
            raise UsageError(f"--{field.name.replace('_', '-')} has no meaning with --cost-matrix{why}")
    if reading.engine != "auto":
        raise UsageError("--engine has no meaning with --cost-matrix: its rows are read into memory")
    if reading.resolution != "auto":
        raise UsageError("--resolution has no meaning with --cost-matrix: all rows are counted as they are")
    if reading.label is None:
        raise UsageError("--cost-matrix needs --label, the column with the true classes")
    if reading.pos_label is not None:
        raise UsageError("--pos-label has no meaning with --classes")


def _run(task: ActionsTask) -> None:
    """Read, evaluate, deliver."""
    from stakes.evaluation import action_findings

    rows = _read(task)
    with working(f"Evaluating {len(rows.probs)} models on {len(rows.index):,} rows"):
        found = _evaluate(task, rows)
        findings = action_findings(found)
    show = partial(_show, found=found, heading=_heading(task, rows), findings=findings)
    deliver(found, task.delivery, show)


def _read(task: ActionsTask) -> ClassPredictions:
    from stakes.tables import read_class_predictions

    asked = task.reading
    with working(f"Reading {name(asked.file)}"):
        rows = read_class_predictions(
            asked.file,
            label=asked.label or "",
            classes=task.classes,
            models=task.models,
            weight=asked.weight,
            groups=[] if task.clusters is None else [task.clusters],
            on_missing=asked.on_missing.value,
            format=asked.file_format,
        )
    if rows.n_dropped:
        note(f"{rows.n_dropped:,} of {len(rows.index) + rows.n_dropped:,} rows dropped, for a value is missing")
    if rows.n_rounded:
        note(f"the probabilities of {rows.n_rounded:,} rows sum to 1 but for rounding, and are divided by their sum")
    if not task.delivery.prints_text:
        note(f"models taken: {', '.join(short_names(rows.probs).values())}")
    return rows


def _evaluate(task: ActionsTask, rows: ClassPredictions) -> ActionEvaluation:
    """Let the library judge; what the rows do not bear is bad data."""
    from stakes.actions import evaluate_actions

    try:
        found = evaluate_actions(
            [task.classes[k] for k in rows.index],
            rows.probs,
            matrices=task.matrices if task.theta is not None else task.matrices[0],
            theta=task.theta,
            actions=list(task.actions),
            labels=task.classes,
            sample_weight=rows.weight,
            clusters=None if task.clusters is None else rows.groups[task.clusters],
            **task.settings,
        )
        return replace(found, source=rows.source)
    except ValueError as error:
        raise DataError(str(error).rstrip("."), file=rows.source) from None


def _heading(task: ActionsTask, rows: ClassPredictions) -> list[str]:
    models = ", ".join(short_names(rows.probs).values())
    plural = "s" * (len(rows.probs) != 1)
    classes = f"{len(rows.classes)} classes in {name(task.reading.label or '')!r}; {len(task.actions)} actions"
    return [
        f"{name(rows.source, 60)}: {len(rows.index):,} rows of {classes}",
        f"{len(rows.probs)} model{plural}: {models}",
    ]


def _show(console: Console, found: ActionEvaluation, heading: list[str], findings: Any) -> None:
    """Print the answer, what speaks against it, and every number behind it."""
    headline, *others = [visible(sentence) for sentence in found.told()]
    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    console.print(Text(headline, style="bold"), end="\n\n")
    if findings:
        console.print(findings_grid(findings, [each.model for each in found.models]), end="\n\n")
    level = level_name(found.confidence_level)
    tables = found.tables()
    usual = style_of(row["model"] for row in tables["ranking"].rows)
    words = {
        "ranking": f"x to y: {level} intervals, those of cost simultaneous, of all rows at once, the others pointwise. "
        "vs best: the row minus the best. skill: share saved of what lies between the best single action and perfect "
        "knowledge.",
        "classes": f"By true class, decided by {name(found.best.model)}: mean cost, the least possible, and "
        "the share of the class that takes each action.",
        "actions": "By action: share of the decisions, what they cost, and what the probabilities announced.",
    }
    for key, sentence in words.items():
        columns = [each for each in tables[key].columns if each.kind != "rank"]
        style = replace(usual, missing="", interval=_SPAN, unknown=_NO_SPAN) if key == "ranking" else usual
        print_table(console, rich_table(tables[key].rows, columns, style, names=0), 0)
        console.print(Text(sentence, style="dim"), end="\n\n")
    console.print(listed(others))

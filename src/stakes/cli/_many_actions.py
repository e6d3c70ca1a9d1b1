"""``stakes evaluate --classes ... --cost-matrix ...``: many classes, many actions, and what each mistake costs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli._console import note, print_table, working
from stakes.cli._cost_matrix import read_cost_matrix
from stakes.cli._deliver import deliver
from stakes.cli._errors import UsageError
from stakes.cli._judging import Judging
from stakes.cli._ranges import read_costs
from stakes.cli._settings import read_count, read_share, split_names
from stakes.cli._summary import findings_grid, listed
from stakes.shown.text import shown_name as name
from stakes.shown.text import visible
from stakes.shown.words import MISSING, decimals_for, fixed, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from stakes.actions import ActionEvaluation
    from stakes.cli._cost_matrix import CostMatrix
    from stakes.cli._deliver import Delivery
    from stakes.cli._judging import Reading
    from stakes.cli._options import Job
    from stakes.costs import CostDistribution
    from stakes.tables import ClassPredictions

_MEANT_HERE = {"clusters", "incumbent", "tried", "confidence_level"}
_SEGMENT = {"costs", "weighting"}  # how far between two matrices, and how much each place counts


@dataclass(frozen=True)
class ActionsTask:
    """What was asked for, checked before the rows are read."""

    reading: Reading
    classes: list[str]
    models: list[str] | None
    actions: tuple[str, ...]
    matrices: list[list[list[float]]]
    theta: CostDistribution | None
    settings: dict[str, Any]
    clusters: str | None
    delivery: Delivery


def plan_actions(
    reading: Reading, judging: Judging, classes: list[str] | None, files: list[str] | None, delivery: Delivery
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
        "n_tried": read_count("--tried", judging.tried),
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
    from stakes.tables import DataError

    if set(matrix.actions) != set(actions):
        listed_names = ", ".join(map(name, actions))
        raise DataError(f"must have the actions of the first matrix ({listed_names})", file=file)
    return matrix.ordered(actions)


def _refuse_meaningless(reading: Reading, judging: Judging, segment: bool) -> None:  # noqa: FBT001  (two matrices)
    meant = _MEANT_HERE | (_SEGMENT if segment else set())
    for field in fields(Judging):
        if field.name not in meant and getattr(judging, field.name) != field.default:
            why = ": it says how far between two matrices costs may lie" if field.name in _SEGMENT else ""
            raise UsageError(f"--{field.name.replace('_', '-')} has no meaning with --cost-matrix{why}")
    if reading.engine != "auto":
        raise UsageError("--engine has no meaning with --cost-matrix: its rows are read into memory")
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
        note(f"models taken: {', '.join(map(name, rows.probs))}")
    return rows


def _evaluate(task: ActionsTask, rows: ClassPredictions) -> ActionEvaluation:
    """Let the library judge; what the rows do not bear is bad data."""
    from stakes.actions import evaluate_actions
    from stakes.tables import DataError

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
    models = ", ".join(map(name, rows.probs))
    plural = "s" * (len(rows.probs) != 1)
    classes = f"{len(rows.classes)} classes in {name(task.reading.label or '')!r}; {len(task.actions)} actions"
    return [
        f"{name(rows.source, 60)}: {len(rows.index):,} rows of {classes}",
        f"{len(rows.probs)} model{plural}: {models}",
    ]


def _show(console: Console, found: ActionEvaluation, heading: list[str], findings: Any) -> None:
    """Print the answer, what speaks against it, and every number behind it."""
    headline, *others = [visible(sentence) for sentence in found.told(name)]
    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    console.print(Text(headline, style="bold"), end="\n\n")
    if findings:
        console.print(findings_grid(findings), end="\n\n")
    level = percent(found.confidence_level)
    tables = {
        _models_table(
            found
        ): f"x to y: {level} intervals, those of cost simultaneous, of all rows at once, the others pointwise. "
        "vs best: the row minus the best. skill: share saved of what lies between the best single action and perfect "
        "knowledge.",
        _classes_table(
            found
        ): f"By true class, decided by {name(found.best.model)}: mean cost, the least possible, and "
        "the share of the class that takes each action.",
        _actions_table(
            found
        ): "By action: share of the decisions, what they cost, and what the probabilities announced.",
    }
    for table, words in tables.items():
        print_table(console, table, 0)
        console.print(Text(words, style="dim"), end="\n\n")
    console.print(listed(others))


def _models_table(found: ActionEvaluation) -> Table:
    ranked = sorted(found.models, key=lambda each: each.cost.value)
    chosen, best = found.selection, ranked[0].model
    decimals = decimals_for([each.cost.standard_error for each in ranked])
    table = _table("model", "cost", "vs best", "skill", "is best")
    for each in ranked:
        low, high = chosen.intervals[each.model]
        gap = found.compare(each.model, best)
        beside = "" if each.model == best else _ends(gap.difference, *gap.interval, decimals)
        shown = [_ends(chosen.costs[each.model], low, high, decimals), beside, fixed(each.skill, 3)]
        table.add_row(Text(name(each.model)), *shown, f"{100.0 * chosen.p_best[each.model]:.0f}%")
    for single in chosen.references:
        low, high = chosen.intervals[single]
        cost = _ends(chosen.costs[single], low, high, decimals)
        table.add_row(Text(name(single)), cost, "", "", f"{100.0 * chosen.p_best[single]:.0f}%")
    return table


def _ends(value: float, low: float, high: float, decimals: int) -> str:
    return f"{fixed(value, decimals)}  {fixed(low, decimals)} to {fixed(high, decimals)}"


def _classes_table(found: ActionEvaluation) -> Table:
    table = _table("class", "share", "cost", "least", *(name(str(action)) for action in found.rows.actions))
    for row in found.class_records(found.best.model):
        taken = [MISSING if row["share"] == 0.0 else percent(part / row["share"]) for part in row["taken"].values()]
        costs = [MISSING if row["share"] == 0.0 else f"{row['cost']:.4g}", f"{row['oracle']:.4g}"]
        table.add_row(Text(name(row["class"])), percent(row["share"]), *costs, *taken)
    return table


def _actions_table(found: ActionEvaluation) -> Table:
    table = _table("action", "share", "cost", "announced", "p")
    for row in found.calibration()._records():
        p = fixed(row["holm_p_value"], 4)
        costs = f"{row['incurred']:.4g}", f"{row['announced']:.4g}"
        table.add_row(Text(name(str(row["action"]))), percent(row["share"]), *costs, p)
    return table


def _table(*headers: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    for place, header in enumerate(headers):
        table.add_column(Text(header), justify="right" if place else "left", overflow="fold", no_wrap=place > 0)
    return table

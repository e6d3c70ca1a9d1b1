"""``stakes compare``: whether one model really costs less than another over the plausible thresholds."""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._deliver import deliver, plan_delivery
from stakes.cli._errors import UsageError
from stakes.cli._horizons import ByHorizon
from stakes.cli._judging import Judging, Reading
from stakes.cli._outcomes import Told
from stakes.cli._settings import split_names
from stakes.cli._spread import spread
from stakes.cli._task import Task
from stakes.shown.sentences import REFERENCES
from stakes.shown.text import LONGEST_NAME, visible
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from stakes.inference import Comparison

EPILOG = """\b
Example:
  stakes compare predictions.csv --label cancer --models new,old --costs 0.02:0.10
"""
Pair = Annotated[
    list[str],
    typer.Option(
        "--models",
        metavar="FIRST,SECOND",
        help="The two columns with predicted probabilities; one of them may be 'treat all' or 'treat none'. "
        r"A comma inside a name is written \,",
    ),
]


@dataclass(frozen=True, kw_only=True)
class PairReading(Reading):
    """The same of two models."""

    models: Pair = field()


@spread("groups", "metric", "incumbent", "tried")
def compare(
    reading: PairReading,
    told: Told,
    judging: Judging,
    *,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say whether one model costs less than another on the same rows, by how much, and how sure that is.

    The difference is the cost of the first less that of the second: below zero the first is better.
    """
    pair = _read_pair(reading.models)
    delivery = plan_delivery(None, output, as_json=as_json, source=reading.file)
    columns = [model for model in pair if model not in REFERENCES]
    return partial(run, Task.of(reading, told, judging, delivery, columns), pair)


def _read_pair(models: list[str]) -> tuple[str, str]:
    names = split_names(models, "--models") or []
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--models must name two models, separated by a comma, got {name(','.join(models))!r}")
    if set(names) <= set(REFERENCES):
        raise UsageError("--models must name at least one column with predictions")
    return names[0], names[1]


def run(task: Task, pair: tuple[str, str]) -> None:
    """Read, compare, deliver."""
    evaluations = task.judged("Comparing")
    comparisons = {time: evaluation.compare(*pair) for time, evaluation in evaluations.items()}
    headings = {time: task.heading(evaluation) for time, evaluation in evaluations.items()}
    if len(comparisons) > 1:
        several = ByHorizon(comparisons, _to_json)
        deliver(several, task.delivery, partial(several.show, one=partial(_show_at, comparisons, headings)))
        return
    ((time, comparison),) = comparisons.items()
    deliver(comparison, task.delivery, partial(show, comparison=comparison, heading=headings[time]))


def _show_at(
    comparisons: dict[float, "Comparison"], headings: dict[float, list[str]], console: Console, time: float
) -> None:
    show(console, comparisons[time], headings[time])


def _to_json(comparison: "Comparison") -> str:
    return comparison.to_json()


def show(console: Console, comparison: "Comparison", heading: list[str]) -> None:
    """Print the answer in one sentence, and every number behind it."""
    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    console.print(Text(answer(comparison), style="bold"), end="\n\n")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    (record,) = comparison._records()
    for key, value in record.items():
        text = _shown(value, (comparison.first, comparison.second))
        if text:
            grid.add_row(key.replace("_", " "), Text(text))
    console.print(grid)


def answer(comparison: "Comparison") -> str:
    """Say which one is better, or that the rows do not tell."""
    first, second = name(comparison.first), name(comparison.second)
    if math.isnan(comparison.difference):
        return f"{first} and {second} both have an infinite cost: no difference can be taken."
    if comparison.significant or math.isinf(comparison.difference):
        better, worse = (first, second) if comparison.difference < 0.0 else (second, first)
        return f"{better} costs less than {worse}."
    return f"These rows do not show a real difference between {first} and {second}."


def _shown(value: Any, models: tuple[str, str]) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    text = str(value)
    for model in sorted(models, key=len, reverse=True):
        if len(model) > LONGEST_NAME:
            text = text.replace(model, name(model))
    return visible(text)

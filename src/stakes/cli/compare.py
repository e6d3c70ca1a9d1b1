"""``stakes compare``: whether one model really costs less than another over the plausible thresholds."""

import math
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._console import working
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._errors import UsageError
from stakes.cli._ranges import read_costs
from stakes.cli._settings import Settings, read_amount, read_lags, read_rule, read_share, split_names
from stakes.cli._source import Source, describe, remark
from stakes.cli._text import LONGEST_NAME, name, visible
from stakes.evaluation._evaluation import REFERENCES
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


def compare(
    file: opt.File,
    *,
    label: opt.Label,
    models: Pair,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    costs: opt.Costs = None,
    odds: opt.Odds = None,
    false_alarms_per_miss: opt.FalseAlarms = None,
    weighting: opt.Weighting = None,
    clusters: opt.Clusters = None,
    lags: opt.Lags = None,
    rule: opt.Rule = "score",
    scale: opt.ScaleOption = None,
    prevalence: opt.Prevalence = None,
    confidence_level: opt.ConfidenceLevel = "0.95",
    unit_cost: opt.UnitCost = "1",
    per: opt.Per = "1",
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say whether one model costs less than another on the same rows, by how much, and how sure that is.

    The difference is the cost of the first less that of the second: below zero the first is better.
    """
    settings = Settings(
        read_costs(costs, odds, false_alarms_per_miss, weighting),
        read_rule(rule),
        scale,
        None if prevalence is None else read_share("--prevalence", prevalence),
        read_share("--confidence-level", confidence_level),
        read_amount("--unit-cost", unit_cost),
        read_amount("--per", per),
        whole_range=costs is odds is false_alarms_per_miss is None,
        clusters=clusters,
        lags=read_lags(lags),
    )
    pair = _read_pair(models)
    columns = [model for model in pair if model not in REFERENCES]
    delivery = plan_delivery(None, output, as_json=as_json, source=file)
    source = Source(file, label, columns, weight, pos_label, on_missing, file_format, settings.columns)
    return partial(run, source, settings, pair, delivery)


def _read_pair(models: list[str]) -> tuple[str, str]:
    names = split_names(models, "--models") or []
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--models must name two models, separated by a comma, got {name(','.join(models))!r}")
    if set(names) <= set(REFERENCES):
        raise UsageError("--models must name at least one column with predictions")
    return names[0], names[1]


def run(source: Source, settings: Settings, pair: tuple[str, str], delivery: Delivery) -> None:
    """Read, compare, deliver."""
    with working(f"Reading {name(source.file)}"):
        predictions = source.read()
    remark(source, settings, predictions, listed=delivery.prints_text)
    with working(f"Comparing on {predictions.n_rows:,} rows"):
        evaluation = settings.evaluate(predictions)
        comparison = evaluation.compare(*pair)
    heading = describe(source, settings, predictions, evaluation.prevalence)
    deliver(comparison, delivery, partial(show, comparison=comparison, heading=heading))


def show(console: Console, comparison: Comparison, heading: list[str]) -> None:
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


def answer(comparison: Comparison) -> str:
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

"""``stakes evaluate``: which model to act on over the plausible thresholds, from a file of predictions."""

from dataclasses import replace
from functools import partial

from stakes.cli import _options as opt
from stakes.cli._console import working
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._ranges import read_costs
from stakes.cli._settings import Settings, read_amount, read_lags, read_metrics, read_rule, read_share, split_names
from stakes.cli._source import STANDARD_INPUT, Source, describe, remark
from stakes.cli._text import name

EPILOG = """\b
Example:
  stakes evaluate predictions.csv --label cancer --costs 0.02:0.10 --report report.html
"""


def evaluate(
    file: opt.File,
    *,
    label: opt.Label,
    models: opt.Models = None,
    weight: opt.Weight = None,
    pos_label: opt.PosLabel = None,
    on_missing: opt.Missing = opt.OnMissing.RAISE,
    file_format: opt.FileFormat = None,
    costs: opt.Costs = None,
    odds: opt.Odds = None,
    false_alarms_per_miss: opt.FalseAlarms = None,
    weighting: opt.Weighting = None,
    by: opt.By = None,
    clusters: opt.Clusters = None,
    lags: opt.Lags = None,
    rule: opt.Rule = "score",
    scale: opt.ScaleOption = None,
    prevalence: opt.Prevalence = None,
    confidence_level: opt.ConfidenceLevel = "0.95",
    unit_cost: opt.UnitCost = "1",
    per: opt.Per = "1",
    metric: opt.Metrics = None,
    report: opt.Report = None,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    The threshold is the cost ratio c: a false alarm costs c when a miss costs 1 - c. Give its plausible range in one
    of three ways: --costs 0.02:0.10, --odds 1/49:1/9 and --false-alarms-per-miss 9:49 are the same range.
    """
    settings = Settings(
        read_costs(costs, odds, false_alarms_per_miss, weighting),
        read_rule(rule),
        scale,
        None if prevalence is None else read_share("--prevalence", prevalence),
        read_share("--confidence-level", confidence_level),
        read_amount("--unit-cost", unit_cost),
        read_amount("--per", per),
        read_metrics(metric),
        whole_range=costs is odds is false_alarms_per_miss is None,
        by=split_names(by, "--by") or [],
        clusters=clusters,
        lags=read_lags(lags),
    )
    delivery = plan_delivery(report, output, as_json=as_json, source=file)
    columns = split_names(models, "--models")
    source = Source(file, label, columns, weight, pos_label, on_missing, file_format, settings.columns)
    return partial(run, source, settings, delivery)


def provenance(source: Source) -> dict[str, str]:
    """What the report says of the data: names of columns, and the file's hash where there is a file."""
    from stakes.tables import file_digest

    known = {"label": source.label, "weight": source.weight or ""}
    return known if source.file == STANDARD_INPUT else {**known, "sha256": file_digest(source.file)}


def run(source: Source, settings: Settings, delivery: Delivery) -> None:
    """Read, evaluate, deliver."""
    from stakes.cli._summary import print_evaluation

    with working(f"Reading {name(source.file)}"):
        predictions = source.read()
    remark(source, settings, predictions, listed=delivery.prints_text)
    with working(f"Evaluating {len(predictions.models)} models on {predictions.n_rows:,} rows"):
        evaluation = settings.evaluate(predictions)
    if delivery.report is not None:
        evaluation = replace(evaluation, provenance=provenance(source))
    heading = describe(source, settings, predictions, evaluation.prevalence)
    deliver(evaluation, delivery, partial(print_evaluation, evaluation=evaluation, heading=heading))

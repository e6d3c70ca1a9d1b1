"""``stakes check``: what is wrong with the scores, the rows or the usual metrics, for scripts and for people."""

import json
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from stakes._results import json_ready
from stakes.cli import _options as opt
from stakes.cli._console import fail, working
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._errors import CHECK_FAILED, DONE, UsageError
from stakes.cli._ranges import read_costs
from stakes.cli._settings import Settings, read_lags, read_rule, read_share, split_names
from stakes.cli._source import Source, describe, remark
from stakes.cli._text import name, visible
from stakes.evaluation import FINDINGS, Evaluation, Findings
from stakes.evaluation._finding import SEVERITIES

EPILOG = """\b
Example:
  stakes check predictions.csv --label cancer --costs 0.02:0.10 --fail-on error,not-better
"""
NOTHING = "none"

FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on",
        metavar="CODE,...",
        help="Findings that make the command end with exit code 4: codes, or all of a severity (error, warning, info); "
        "none never fails. Without it: error.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="CODE,...", help="Findings to leave out; may be repeated."),
]


def check(
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
    prevalence: opt.Prevalence = None,
    confidence_level: opt.ConfidenceLevel = "0.95",
    fail_on: FailOn = None,
    ignore: Ignore = None,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say what to know of the predictions before acting on them: coded findings, each with its remedy.

    Exit codes: 0 nothing that --fail-on names was found, 4 something was; 1, 2 and 3 as ever.
    """
    settings = Settings(
        read_costs(costs, odds, false_alarms_per_miss, weighting),
        read_rule(rule),
        prevalence=None if prevalence is None else read_share("--prevalence", prevalence),
        confidence_level=read_share("--confidence-level", confidence_level),
        whole_range=costs is odds is false_alarms_per_miss is None,
        by=split_names(by, "--by") or [],
        clusters=clusters,
        lags=read_lags(lags),
    )
    request = Request(read_codes("--fail-on", fail_on, severities=True) or ["error"], read_codes("--ignore", ignore))
    delivery = plan_delivery(None, output, as_json=as_json, source=file)
    columns = split_names(models, "--models")
    source = Source(file, label, columns, weight, pos_label, on_missing, file_format, settings.columns)
    return partial(run, source, settings, request, delivery)


@dataclass(frozen=True)
class Request:
    """Which findings fail, and which are left out."""

    fail_on: list[str]
    ignore: list[str]


@dataclass(frozen=True)
class Checked:
    """An evaluation and its findings, as they leave the command."""

    evaluation: Evaluation
    findings: Findings
    failed_on: list[str]

    def frame(self, backend: Any = None) -> Any:
        """Return the findings as a data frame."""
        return self.findings.frame(backend)

    def to_markdown(self) -> str:
        """Return the findings as a Markdown table."""
        return self.findings.to_markdown()

    def to_json(self) -> str:
        """Return what was checked, the findings, and which of them failed."""
        evaluation = self.evaluation
        content = {
            "source": evaluation.source,
            "data": {"rows": evaluation.n_rows, "dropped": evaluation.n_dropped, "prevalence": evaluation.prevalence},
            "costs": evaluation.costs.to_dict(),
            "rule": evaluation.rule,
            "findings": [finding.record() for finding in self.findings],
            "failed_on": self.failed_on,
        }
        return json.dumps(json_ready(content), indent=2)


def run(source: Source, settings: Settings, request: Request, delivery: Delivery) -> int:
    """Read, evaluate, look, deliver; return the exit code."""
    with working(f"Reading {name(source.file)}"):
        predictions = source.read()
    remark(source, settings, predictions, listed=delivery.prints_text)
    with working(f"Checking {len(predictions.models)} models on {predictions.n_rows:,} rows"):
        evaluation = settings.evaluate(predictions)
        findings = evaluation.check(ignore=request.ignore)
    failed = [f.code for f in findings if f.code in request.fail_on or f.severity in request.fail_on]
    heading = describe(source, settings, predictions, evaluation.prevalence)
    checked = Checked(evaluation, findings, failed)
    deliver(checked, delivery, partial(show, findings=findings, heading=heading))
    if not failed:
        return DONE
    fail(f"the check failed: {', '.join(failed)}")
    return CHECK_FAILED


def read_codes(option: str, texts: list[str] | None, *, severities: bool = False) -> list[str]:
    """Read codes of findings, and severities where they are allowed."""
    known = [*FINDINGS, *([*SEVERITIES, NOTHING] if severities else [])]
    codes = [code.strip() for code in split_names(texts, option) or []]
    for code in codes:
        if code not in known:
            raise UsageError(f"{option} must name {', '.join(known)}; got {name(code)!r}")
    if NOTHING in codes and len(codes) > 1:
        raise UsageError(f"{option} none stands alone, got {name(','.join(codes))}")
    return codes


def show(console: Console, findings: Findings, heading: list[str]) -> None:
    """Print the findings as a person reads them."""
    from stakes.cli._summary import findings_grid

    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    if len(findings) == 0:
        console.print(Text("No findings."))
        return
    console.print(findings_grid(findings, remedies=True))

"""``stakes check``: what is wrong with the scores, the rows or the usual metrics, for scripts and for people."""

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._console import fail, working
from stakes.cli._deliver import deliver, plan_delivery
from stakes.cli._errors import CHECK_FAILED, DONE, UsageError
from stakes.cli._judging import Judging, Reading
from stakes.cli._outcomes import Told
from stakes.cli._settings import split_names
from stakes.cli._spread import spread
from stakes.cli._task import Task
from stakes.shown.nearest import guess
from stakes.shown.tabular import json_ready
from stakes.shown.text import shown_name as name
from stakes.shown.text import visible

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation, Findings

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


@spread("scale", "unit_cost", "per", "metric", "tried")
def check(
    reading: Reading,
    told: Told,
    judging: Judging,
    *,
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
    request = Request(read_codes("--fail-on", fail_on, severities=True) or ["error"], read_codes("--ignore", ignore))
    delivery = plan_delivery(None, output, as_json=as_json, source=reading.file)
    if len(told.horizons) > 1:
        raise UsageError("--horizon must be one time to be checked")
    task = Task.of(reading, told, judging, delivery, split_names(reading.models, "--models"))
    return partial(run, task, request)


@dataclass(frozen=True)
class Request:
    """Which findings fail, and which are left out."""

    fail_on: list[str]
    ignore: list[str]


@dataclass(frozen=True)
class Checked:
    """An evaluation and its findings, as they leave the command."""

    evaluation: "Evaluation"
    findings: "Findings"
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
            "data": evaluation.described,
            "costs": evaluation.costs.to_dict(),
            "rule": evaluation.rule,
            "findings": [finding.record() for finding in self.findings],
            "failed_on": self.failed_on,
        }
        return json.dumps(json_ready(content), indent=2)


def run(task: Task, request: Request) -> int:
    """Read, evaluate, look, deliver; return the exit code."""
    predictions = task.read()
    with working(f"Checking {len(predictions.models)} models on {predictions.n_rows:,} rows"):
        evaluation = task.evaluate(predictions)
        findings = evaluation.check(ignore=request.ignore)
    failed = [f.code for f in findings if f.code in request.fail_on or f.severity in request.fail_on]
    heading = task.heading(evaluation)
    deliver(Checked(evaluation, findings, failed), task.delivery, partial(show, findings=findings, heading=heading))
    if not failed:
        return DONE
    fail(f"the check failed: {', '.join(failed)}")
    return CHECK_FAILED


def read_codes(option: str, texts: list[str] | None, *, severities: bool = False) -> list[str]:
    """Read codes of findings, and severities where they are allowed."""
    from stakes.evaluation import FINDINGS
    from stakes.evaluation._finding import SEVERITIES

    known = [*FINDINGS, *([*SEVERITIES, NOTHING] if severities else [])]
    codes = [code.strip() for code in split_names(texts, option) or []]
    for code in codes:
        if code not in known:
            near = guess(code, known)
            listed = f"must name {', '.join(known)}"
            got = f"got {name(code)!r}"
            raise UsageError(f"{option} {got}{near} It {listed}" if near else f"{option} {listed}; {got}")
    if NOTHING in codes and len(codes) > 1:
        raise UsageError(f"{option} none stands alone, got {name(','.join(codes))}")
    return codes


def show(console: Console, findings: "Findings", heading: list[str]) -> None:
    """Print the findings as a person reads them."""
    from stakes.cli._summary import findings_grid

    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    if len(findings) == 0:
        console.print(Text("No findings."))
        return
    console.print(findings_grid(findings, remedies=True))

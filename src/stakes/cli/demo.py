"""``stakes demo``: the whole path on the example that comes with the package."""

from dataclasses import replace
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._source import Source
from stakes.cli._task import Task

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation

EXAMPLE, LABEL = "breast_cancer.csv", "malignant"
LOW, HIGH = 0.05, 0.30
EPILOG = "Example:  stakes demo --report report.html"
INTRODUCTION = (
    "569 breast masses, 3 models' cross-validated probabilities that a mass is malignant. Acting means a biopsy. "
    "The thresholds from 5% to 30% say that one missed cancer is as bad as 2.3 to 19 needless biopsies."
)
COMMAND = f"stakes evaluate predictions.csv --label {LABEL} --costs {LOW:.2f}:{HIGH:.2f} --report report.html"


def demo(
    *,
    report: opt.Report = None,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Evaluate three models on the example that comes with stakes; no file is needed."""
    return partial(run, plan_delivery(report, output, as_json=as_json))


def run(delivery: Delivery) -> None:
    """Evaluate the shipped example as `stakes evaluate` would."""
    from stakes.core.options import check_options

    with resources.as_file(resources.files("stakes") / "data" / EXAMPLE) as path:
        task = Task(Source(str(path), LABEL), check_options(costs=(LOW, HIGH)), delivery)
        predictions = replace(task.source.read(), source=f"{EXAMPLE} (comes with stakes)")
    evaluation = task.evaluate(predictions)
    named = replace(task, source=replace(task.source, models=list(predictions.models)))
    heading = named.heading(evaluation)
    deliver(evaluation, delivery, partial(show, evaluation=evaluation, heading=heading))


def show(console: Console, evaluation: "Evaluation", heading: list[str]) -> None:
    """Print what the example is, the evaluation, and the way to one's own file."""
    from stakes.cli._summary import print_evaluation

    console.print(Text(INTRODUCTION))
    console.print()
    print_evaluation(console, evaluation, heading)
    console.print()
    console.print(
        Text("For your own file, with its outcome column and your range of thresholds (this also writes a report):")
    )
    console.print(Text(f"  {COMMAND}", style="bold"), soft_wrap=True)

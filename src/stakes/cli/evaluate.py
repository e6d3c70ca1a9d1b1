"""``stakes evaluate``: which model to act on over the plausible thresholds, from a file of predictions."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from stakes.cli import _options as opt
from stakes.cli._deliver import deliver, plan_delivery
from stakes.cli._errors import UsageError
from stakes.cli._further import Further
from stakes.cli._horizons import ByHorizon
from stakes.cli._judging import Judging, Reading
from stakes.cli._outcomes import Told
from stakes.cli._settings import split_names
from stakes.cli._source import STANDARD_INPUT, Source
from stakes.cli._spread import spread
from stakes.cli._task import Task

if TYPE_CHECKING:
    from rich.console import Console

    from stakes.cli._further import Questions
    from stakes.evaluation import Evaluation

EPILOG = """\b
Example:
  stakes evaluate predictions.csv --label cancer --costs 0.02:0.10 --report report.html
"""


@spread()
def evaluate(
    reading: Reading,
    told: Told,
    judging: Judging,
    further: Further,
    *,
    classes: opt.Classes = None,
    cost_matrix: opt.CostMatrices = None,
    calibration: opt.Calibration = False,
    report: opt.Report = None,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    The threshold is the cost ratio c: a false alarm costs c when a miss costs 1 - c. Give its plausible range in one
    of three ways: --costs 0.02:0.10, --odds 1/49:1/9 and --false-alarms-per-miss 9:49 are the same range.

    With more than two classes or actions, name the classes and give a matrix of costs: --classes low,mid,high
    --cost-matrix costs.csv. Each model then has one column for each class, such as gbm_low.
    """
    delivery = plan_delivery(report, output, as_json=as_json, source=reading.file)
    if calibration and told.false_positive_cost is not None:
        raise UsageError("--calibration is of probabilities, and takes no amounts by row")
    if classes is not None or cost_matrix is not None:
        from stakes.cli._many_actions import plan_actions

        if calibration:
            raise UsageError("--calibration has no meaning with --cost-matrix")
        if told != Told():
            raise UsageError("--cost-matrix judges a column of classes, --label, and no other kind of outcome")
        if further != Further():
            raise UsageError("--defer-cost and --more-rows have no meaning with --cost-matrix")
        return plan_actions(reading, judging, classes, cost_matrix, delivery)
    task = Task.of(reading, told, judging, delivery, split_names(reading.models, "--models"))
    return partial(run, task, further.questions(), calibration=calibration)


def provenance(source: Source) -> dict[str, str]:
    """What the report says of the data: names of columns, and the file's hash where there is one file."""
    from stakes.tables import file_digest

    known = {"label": source.label, "weight": source.weight or ""}
    return (
        known
        if source.file == STANDARD_INPUT or not Path(source.file).is_file()
        else {**known, "sha256": file_digest(source.file)}
    )


def run(task: Task, questions: "Questions", *, calibration: bool) -> None:
    """Read, evaluate, deliver."""
    evaluations = {time: questions.answered(each) for time, each in task.judged("Evaluating").items()}
    to_json = partial(_to_json, calibration=calibration)
    if len(evaluations) > 1:
        several = ByHorizon(evaluations, to_json)

        def show_at(console: "Console", time: float) -> None:
            _show(task, console, evaluations[time], calibration=calibration)

        deliver(several, task.delivery, partial(several.show, one=show_at))
        return
    (evaluation,) = evaluations.values()
    if task.delivery.report is not None:
        evaluation = replace(evaluation, provenance=provenance(task.source))
    show = partial(_show, task, evaluation=evaluation, calibration=calibration)
    deliver(evaluation, task.delivery, show, partial(to_json, evaluation))


def _to_json(evaluation: "Evaluation", *, calibration: bool) -> str:
    return evaluation.to_json(calibration=calibration)


def _show(task: Task, console: "Console", evaluation: "Evaluation", *, calibration: bool) -> None:
    """Print the answer, and the calibration where it was asked for."""
    from stakes.cli._calibration import print_calibration
    from stakes.cli._further import print_further
    from stakes.cli._summary import print_evaluation

    print_evaluation(console, evaluation, task.heading(evaluation))
    print_further(console, evaluation)
    if calibration:
        print_calibration(console, evaluation)

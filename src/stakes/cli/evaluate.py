"""Evaluate, compare, check, demo."""

import json
import math
import shlex
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import options
from stakes.cli.console import (
    CHECK_FAILED,
    DONE,
    Delivery,
    UsageError,
    check_target,
    deliver,
    fail,
    is_one_file,
    note,
    plan_delivery,
    working,
)
from stakes.cli.options import argument, flag, spread
from stakes.cli.reading import (
    EvaluationArguments,
    Further,
    InputArguments,
    OutcomeArguments,
    Questions,
    refuse,
    split_names,
)
from stakes.cli.task import STANDARD_INPUT, ByHorizon, Source, Task
from stakes.outputs.files import DataError, json_ready
from stakes.outputs.text import (
    LONGEST_NAME,
    REFERENCES,
    guess,
    join,
    short_names,
    shown_name as name,
    stated,
    visible,
    with_short_names,
)

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation, Findings
    from stakes.inference import Comparison


# ``stakes evaluate``: which model to act on over the plausible thresholds, from a file of predictions.

EVALUATE_EPILOG = """\b
Example:
  stakes evaluate predictions.csv --label cancer --costs 0.02:0.10 --report report.html
"""


@spread()
def evaluate(
    reading: InputArguments,
    told: OutcomeArguments,
    judging: EvaluationArguments,
    further: Further,
    *,
    classes: options.Classes = None,
    cost_matrix: options.CostMatrices = None,
    unlabelled: options.Unlabelled = False,
    details: options.Details = False,
    calibration: options.Calibration = False,
    report: options.Report = None,
    keep: options.Keep = None,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say which model to act on over the plausible thresholds, by how much it is better, and how sure that is.

    The threshold is the cost ratio c: a false alarm costs c when a miss costs 1 - c. Give its plausible range in one
    of three ways: --costs 0.02:0.10, --odds 1/49:1/9 and --false-alarms-per-miss 9:49 are the same range.

    With more than two classes or actions, name the classes and give a matrix of costs: --classes low,mid,high
    --cost-matrix costs.csv. Each model then has one column for each class, such as gbm_low.
    """
    delivery = plan_delivery("evaluate", report, output, as_json=as_json)
    several = unlabelled or classes is not None or cost_matrix is not None
    delivery = replace(delivery, kept=_to_keep(keep, told, judging, binary=not several))
    if calibration and told.false_positive_cost is not None:
        raise UsageError("--calibration is of probabilities, and takes no amounts by row")
    typed = {"--calibration": calibration or None, "--details": details or None}
    if unlabelled:
        from stakes.cli.summary import plan_unlabelled

        if told != OutcomeArguments() or further != Further() or classes is not None or cost_matrix is not None:
            raise UsageError("--unlabelled is of rows without outcomes, and takes none of their options")
        refuse(typed, "needs outcomes, and --unlabelled has none")
        return plan_unlabelled(reading, judging, delivery)
    if classes is not None or cost_matrix is not None:
        from stakes.cli.many_actions import plan_actions

        refuse(typed, "has no meaning with --cost-matrix")
        if told != OutcomeArguments():
            raise UsageError("--cost-matrix judges a column of classes, --label, and no other kind of outcome")
        if further != Further():
            raise UsageError("--deferral and --more-rows have no meaning with --cost-matrix")
        return plan_actions(reading, judging, classes, cost_matrix, delivery)
    task = Task.of(reading, told, judging, delivery, split_names(reading.models, "--models"))
    questions = further.questions()
    questions.check(task.options)
    return partial(run_evaluate, task, questions, details=details, calibration=calibration)


def _to_keep(keep: str | None, told: OutcomeArguments, judging: EvaluationArguments, *, binary: bool) -> Path | None:
    """Where the evaluation is kept, refused where it needs its rows."""
    if keep is not None and (not binary or told != OutcomeArguments()):
        raise UsageError("--keep is of two classes in a column, --label: other outcomes rest on their rows")
    if keep is not None and (judging.clusters is not None or judging.lags is not None):
        raise UsageError("--keep takes no --clusters and no --lags: their errors rest on the rows")
    return check_target("--keep", keep, (".json",))


def provenance(source: Source) -> dict[str, str]:
    """What the report says of the data: names of columns, and the file's hash where there is one file."""
    from stakes.tables import file_digest

    known = {"label": source.label, "weight": source.weight or ""}
    return (
        known
        if source.file == STANDARD_INPUT or not Path(source.file).is_file()
        else {**known, "sha256": file_digest(source.file)}
    )


def run_evaluate(task: Task, questions: "Questions", *, details: bool, calibration: bool) -> None:
    """Read, evaluate, deliver."""
    judged = task.judged("Evaluating", questions.needing)
    evaluations = {time: questions.answered(each) for time, each in judged.items()}

    def to_json(evaluation: "Evaluation") -> str:
        return evaluation.to_json(calibration=calibration)

    def show(console: Console, time: float, *, answer: bool = True) -> None:
        from stakes.cli.summary import print_beneath, print_calibration, print_evaluation, print_further

        evaluation = evaluations[time]
        if answer:
            print_evaluation(console, evaluation, more=_more(task, details=details), details=details)
        else:
            print_beneath(console, evaluation, details=details)
        print_further(console, evaluation)
        if calibration:
            print_calibration(console, evaluation)

    _note_left_out(task, questions, details=details, calibration=calibration)
    if len(evaluations) > 1:
        several = ByHorizon(evaluations, to_json)
        deliver(several, task.delivery, partial(several.show, one=show))
        return
    ((time, evaluation),) = evaluations.items()
    if task.delivery.report is not None:
        evaluations[time] = evaluation = replace(evaluation, provenance=provenance(task.source))
    keep = partial(_keep, evaluation)
    beneath = partial(show, time=time, answer=False)
    deliver(evaluation, task.delivery, partial(show, time=time), partial(to_json, evaluation), keep, beneath=beneath)


def _keep(evaluation: "Evaluation", path: Path) -> None:
    from stakes.evaluation import KeptEvaluation

    KeptEvaluation.of(evaluation).to_json(path)


def _note_left_out(task: Task, questions: "Questions", *, details: bool, calibration: bool) -> None:
    """Say what a file that is one table leaves out of what was asked for."""
    ending, several = (
        "" if task.delivery.output is None else task.delivery.output.suffix.lower(),
        len(task.horizons) > 1,
    )
    asked = {"--groups": task.options.groups, "--calibration": calibration, "--details": details}
    asked |= {"--deferral": questions.fee is not None, "--more-rows": questions.study}
    left = [option for option, given in asked.items() if given]
    if left and (ending == ".csv" or (several and ending == ".md")):
        holding = ".txt holds it" if several else ".txt and .md hold it"
        note(f"{ending} is one table of models, without all that {join(left)} add{'s' * (len(left) == 1)}: {holding}")


def _more(task: Task, *, details: bool) -> str:
    """Where more is that was not asked for."""
    options = {"--details": details, "--report report.html": task.delivery.report is not None}
    check = f"stakes check {shlex.quote(name(task.source.file, LONGEST_NAME))} ..."
    return f"More: {', '.join([*(option for option, given in options.items() if not given), check])}"


# ``stakes check``: what is wrong with the scores, the rows or the usual metrics, for scripts and for people.

CHECK_EPILOG = """\b
Example:
  stakes check predictions.csv --label cancer --costs 0.02:0.10 --fail-on error,not-better
"""
NOTHING, DEARER = "none", "dearer"

FailOn = Annotated[
    list[str] | None,
    flag(
        "--fail-on",
        "CODE,...",
        "Findings that make the command end with exit code 4: codes, or all of a severity (error, warning, info); "
        "none never fails. Without it: error.",
    ),
]
Against = Annotated[
    str | None,
    flag(
        "--against",
        "KEPT.json",
        "Look also whether a model is dearer than in this kept evaluation of other rows, in each of --groups where "
        "there are any (one that was not kept, such as a new day, than all its rows): --fail-on dearer.",
    ),
]
Ignore = Annotated[list[str] | None, flag("--ignore", "CODE,...", "Findings to leave out; may be repeated.")]


@spread("scale", "unit_cost", "per", "metric", "n_tried")
def check(
    reading: InputArguments,
    told: OutcomeArguments,
    judging: EvaluationArguments,
    *,
    fail_on: FailOn = None,
    ignore: Ignore = None,
    against: Against = None,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say what to know of the predictions before acting on them: coded findings, each with its remedy.

    Exit codes: 0 nothing that --fail-on names was found, 4 something was; 1, 2 and 3 as ever.
    """
    failing = read_codes("--fail-on", fail_on, severities=True) or ["error"]
    if DEARER in failing and against is None and not judging.groups:
        raise UsageError(f"--fail-on {DEARER} needs --against KEPT.json, or --groups to hold each against the others")
    request = CheckJob(failing, read_codes("--ignore", ignore), against)
    delivery = plan_delivery("check", None, output, as_json=as_json)
    if len(told.horizons) > 1:
        raise UsageError("--horizon must be one time to be checked")
    task = Task.of(reading, told, judging, delivery, split_names(reading.models, "--models"))
    return partial(run_check, task, request)


@dataclass(frozen=True, eq=False, repr=False)
class CheckJob:
    """Which findings fail, which are left out, and the kept evaluation that models are held against."""

    fail_on: list[str]
    ignore: list[str]
    against: str | None = None

    def needing(self, task: Task) -> str:
        """Why the rows must be in memory; empty where no finding that may fail looks at them."""
        looked = [each for each in task.unseen() if each.code not in self.ignore]
        codes = [each.code for each in looked if each.code in self.fail_on or each.severity in self.fail_on]
        return f"--fail-on of {', '.join(codes)} needs the rows" if codes else ""

    def findings(self, evaluation: "Evaluation") -> "Findings":
        """Look; one group is held against the others where that may fail."""
        from stakes.cli.summary import read_kept

        if self.against is None:
            return evaluation.check(ignore=self.ignore, against="groups" if DEARER in self.fail_on else None)
        before = read_kept(self.against)
        try:
            found = evaluation.check(ignore=self.ignore, against=before.evaluate())
        except ValueError as error:
            raise DataError(f"--against {name(self.against, 200)}: {str(error).removesuffix('.')}") from None
        if before._is_of({model: evaluation.score_table(model) for model in evaluation.models}):
            said = "holds the rows that are checked: those of a kept evaluation must be others"
            raise DataError(f"--against {name(self.against, 200)}: {said}")
        return found


@dataclass(frozen=True, eq=False, repr=False)
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


def run_check(task: Task, request: CheckJob) -> int:
    """Read, evaluate, look, deliver; return the exit code."""
    (evaluation,) = task.judged("Checking", request.needing(task)).values()
    with working("Looking for findings"):
        findings = request.findings(evaluation)
    failed = [f.code for f in findings if f.code in request.fail_on or f.severity in request.fail_on]
    show = partial(show_check, findings=findings, heading=heading_of(evaluation), models=evaluation.models)
    deliver(Checked(evaluation, findings, failed), task.delivery, show)
    if not failed:
        return DONE
    fail(f"the check failed: {', '.join(failed)}")
    return CHECK_FAILED


def heading_of(evaluation: "Evaluation") -> list[str]:
    """What was read, and the models."""
    return [evaluation.read, f"Models: {', '.join(short_names(evaluation.models).values())}"]


def read_codes(option: str, texts: list[str] | None, *, severities: bool = False) -> list[str]:
    """Read codes of findings, and severities where they are allowed."""
    from stakes.evaluation import FINDINGS, SEVERITIES

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


def show_check(console: Console, findings: "Findings", heading: list[str], models: tuple[str, ...]) -> None:
    """Print the findings as a person reads them."""
    from stakes.cli.summary import findings_grid

    console.print(Text("\n".join(map(visible, heading))), end="\n\n")
    if len(findings) == 0:
        console.print(Text("No findings."))
        return
    console.print(findings_grid(findings, models, remedies=True))


# ``stakes compare``: whether one model really costs less than another over the plausible thresholds.

COMPARE_EPILOG = """\b
Of two kept evaluations:
  stakes compare yesterday.json today.json

\b
Example:
  stakes compare predictions.csv --label cancer --models new,old --costs 0.02:0.10
"""
Pair = Annotated[
    list[str] | None,
    flag(
        "--models",
        "FIRST,SECOND",
        "The two columns with predicted probabilities; one of them may be 'treat all' or 'treat none'. "
        r"A comma inside a name is written \,",
    ),
]


Later = Annotated[
    str | None,
    argument(
        "[LATER.json]", "With it, both are kept evaluations (stakes evaluate --keep), and the answer is what changed."
    ),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PairReading(InputArguments):
    """The same of two models, or two kept evaluations."""

    models: Pair = None
    later: Later = None


@spread("groups", "metric", "incumbent", "n_tried")
def compare(
    reading: PairReading,
    told: OutcomeArguments,
    judging: EvaluationArguments,
    *,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say whether one model costs less than another on the same rows, by how much, and how sure that is.

    The difference is the cost of the first less that of the second: below zero the first is better.

    Of two kept evaluations of different rows: what changed in the cost of each model, in the mix of cases, and in
    calibration.
    """
    delivery = plan_delivery("compare", None, output, as_json=as_json)
    if reading.later is not None:
        return _plan_days(reading.file, reading.later, (reading, told, judging), delivery)
    pair = _read_pair(reading.models)
    columns = [model for model in pair if model not in REFERENCES]
    if judging.per is not None and told.false_positive_cost is not None:
        raise UsageError("--per does not fit amounts by row here: models are compared per unit of money at stake")
    return partial(run_compare, Task.of(reading, told, judging, delivery, columns), pair)


def _plan_days(before: str, after: str, typed: tuple[Any, ...], delivery: Delivery) -> options.Job:
    """Two kept evaluations, beside which no settings are typed."""
    from stakes.cli.summary import refuse_settings, run_days

    usual = PairReading(file=before, later=after), OutcomeArguments(), EvaluationArguments()
    for given, default in zip(typed, usual, strict=True):
        refuse_settings(vars(given), vars(default))
    if is_one_file(before, after):
        raise UsageError(f"{name(after, 200)!r} is named twice: the rows of two kept evaluations must be others")
    return partial(run_days, before, after, delivery)


def _read_pair(models: list[str] | None) -> tuple[str, str]:
    if models is None:
        raise UsageError("--models FIRST,SECOND names the two columns to compare")
    names = split_names(models, "--models") or []
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(f"--models must name two models, separated by a comma, got {name(','.join(models))!r}")
    if set(names) <= set(REFERENCES):
        raise UsageError("--models must name at least one column with predictions")
    return names[0], names[1]


def run_compare(task: Task, pair: tuple[str, str]) -> None:
    """Read, compare, deliver."""
    evaluations = task.judged("Comparing")
    comparisons = {time: evaluation.compare(*pair) for time, evaluation in evaluations.items()}
    if len(comparisons) > 1:
        several = ByHorizon(comparisons, _comparison_to_json)
        deliver(several, task.delivery, partial(several.show, one=partial(_show_at, comparisons, evaluations)))
        return
    ((time, comparison),) = comparisons.items()
    deliver(comparison, task.delivery, partial(show_compare, comparison=comparison, evaluation=evaluations[time]))


def _show_at(
    comparisons: dict[float, "Comparison"], evaluations: dict[float, "Evaluation"], console: Console, time: float
) -> None:
    show_compare(console, comparisons[time], evaluations[time])


def _comparison_to_json(comparison: "Comparison") -> str:
    return comparison.to_json()


def show_compare(console: Console, comparison: "Comparison", evaluation: "Evaluation") -> None:
    """Print the answer in one sentence, and every number behind it."""
    console.print(Text("\n".join(map(visible, heading_of(evaluation)))), end="\n\n")
    console.print(Text(answer(comparison), style="bold"), end="\n\n")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    (record,) = comparison._records()
    for key, value in record.items():
        text = _shown(value, (comparison.a, comparison.b))
        if key == "scale" and value == "regret":
            per = evaluation.options.per
            text = f"{text} per {'decision' if per == 1.0 else f'{stated(per)} decisions'}"
        if text:
            grid.add_row(key.replace("_", " "), Text(text))
    console.print(grid)
    if {comparison.a, comparison.b} & {model for model, harm in evaluation.harms.items() if harm}:
        line = visible(with_short_names(evaluation.harm_line, evaluation.models))
        console.print(Text(f"\n{line}", style="dim"))


def answer(comparison: "Comparison") -> str:
    """Say which one is better, or that the rows do not tell."""
    short = short_names([comparison.a, comparison.b])
    first, second = short[comparison.a], short[comparison.b]
    if math.isnan(comparison.difference):
        return f"{first} and {second} both have an infinite cost: no difference can be taken."
    if comparison.significant or math.isinf(comparison.difference):
        better, worse = (first, second) if comparison.difference < 0.0 else (second, first)
        return f"{better} costs less than {worse}."
    if math.isnan(comparison.interval[0]):
        return f"Neither of {first} and {second} can be called better here: their difference has no interval."
    return f"These rows do not show a real difference between {first} and {second}."


def _shown(value: Any, models: tuple[str, str]) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return visible(with_short_names(str(value), models))


# ``stakes demo``: the whole path on the example that comes with the package.

EXAMPLE, LABEL = "german_credit.csv", "bad"
LOW, HIGH = 0.10, 0.25
DEMO_EPILOG = "Example:  stakes demo --report report.html"
ACTION, EVENT = "refuse", "bad loan"
COMMAND = f"stakes evaluate FILE --label {LABEL} --costs {LOW:.2f}:{HIGH:.2f} --details"


def demo(
    *,
    report: options.Report = None,
    as_json: options.AsJson = False,
    output: options.Output = None,
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Evaluate three models on the example that comes with stakes; no file is needed."""
    return partial(run_demo, plan_delivery("demo", report, output, as_json=as_json))


def run_demo(delivery: Delivery) -> None:
    """Evaluate the shipped example as `stakes evaluate` would."""
    from stakes.core.options import Options
    from stakes.costs import Uniform

    options = Options(costs=Uniform(LOW, HIGH), action=ACTION, event=EVENT).checked()
    with resources.as_file(resources.files("stakes") / "data" / EXAMPLE) as path:
        task = Task(Source(str(path), LABEL), options, delivery)
        predictions = replace(task.source.read(), source=EXAMPLE)
    evaluation = task.evaluate(predictions)
    deliver(evaluation, delivery, partial(show_demo, evaluation=evaluation))


def show_demo(console: Console, evaluation: "Evaluation") -> None:
    """Print the evaluation, and the way to one's own file."""
    from stakes.cli.summary import print_evaluation

    print_evaluation(console, evaluation, more=f"Your file: {COMMAND}")

"""Advise, plan."""

import re
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import options
from stakes.cli.console import Delivery, UsageError, deliver, plan_delivery
from stakes.cli.options import argument, flag, spread
from stakes.cli.reading import read_amount, read_capacity, read_costs, read_share, read_unit, without_thousands
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from stakes.evaluation import Advice
    from stakes.information import Plan


# ``stakes advise``: which metric fits the decision, without any file.

ADVISE_EPILOG = """\b
Example:
  stakes advise --decisions independent --knowledge range --costs 0.02:0.10
"""


class DecisionMaking(StrEnum):
    """How cases are decided."""

    INDEPENDENT = "independent"
    BUDGET = "budget"


class Happened(StrEnum):
    """What is known of each row."""

    LABELS = "labels"
    TIME_TO_EVENT = "time_to_event"
    PARTLY_VERIFIED = "partly_verified"
    AMOUNTS = "amounts"


class Knowledge(StrEnum):
    """What is known of the threshold."""

    KNOWN = "known"
    RANGE = "range"
    UNKNOWN = "unknown"


DecisionsOption = Annotated[
    DecisionMaking | None,
    flag("--decisions", "", "Each case on its own, or the highest scores as far as a budget goes."),
]
KnowledgeOption = Annotated[
    Knowledge | None,
    flag("--knowledge", "", "What is known of the threshold, or of the budget. --costs and --capacity tell it."),
]
Budget = Annotated[
    str | None, flag("--capacity", "N|SHARE or LOW:HIGH", "Number or share of the cases acted on under a budget.")
]
RankingOnly = Annotated[bool, flag("--ranking-only", "", "The scores are not meant as probabilities.")]
Prevalence = Annotated[
    str | None, flag("--prevalence", "SHARE", "Share of positives, for what accuracy would make of it.")
]
OutcomeOption = Annotated[
    Happened,
    flag(
        "--outcome",
        "",
        "What is known of each row: a label, follow-up until an event, a label where somebody looked, or also "
        "what a mistake costs there.",
    ),
]


def advise(
    *,
    decisions: DecisionsOption = None,
    knowledge: KnowledgeOption = None,
    costs: options.Costs = None,
    odds: options.Odds = None,
    false_alarms_per_miss: options.FalseAlarms = None,
    capacity: Budget = None,
    ranking_only: RankingOnly = False,
    prevalence: Prevalence = None,
    outcome: OutcomeOption = Happened.LABELS,
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say which metric fits the decision, why, how to call it, and what accuracy, F1 or AUC would get wrong.

    Without options, in short for every kind of decision.
    """
    delivery = plan_delivery("advise", None, output, as_json=as_json)
    value = _value(costs, odds, false_alarms_per_miss, capacity)
    share = None if prevalence is None else read_share("--prevalence", prevalence)
    kinds, places = _implied(value)
    if outcome is Happened.AMOUNTS and decisions is None:
        kinds = [DecisionMaking.INDEPENDENT]
    asked = product([decisions] if decisions else kinds, [knowledge] if knowledge else places)
    further = {"probabilities": not ranking_only, "prevalence": share, "outcome": str(outcome), **value}
    typed = {"--costs": costs, "--odds": odds, "--false-alarms-per-miss": false_alarms_per_miss, "--capacity": capacity}
    given = next(((option, text) for option, text in typed.items() if text is not None), ("", ""))
    return partial(run_advise, Advices([_ask(*situation, further, given) for situation in asked]), delivery)


@dataclass(frozen=True, eq=False, repr=False)
class Advices(Tabular):
    """The advice for one situation or several."""

    all: "list[Advice]"

    _code_columns = ("call",)

    def _records(self) -> list[dict[str, Any]]:
        return [record for advice in self.all for record in advice._records()]


def _value(costs: str | None, odds: str | None, false_alarms: str | None, capacity: str | None) -> dict[str, Any]:
    """Return the one thing that is known of the threshold or the budget, as the library takes it."""
    given = any(text is not None for text in (costs, odds, false_alarms))
    if given and capacity is not None:
        raise UsageError("--capacity is that of a budget and a cost ratio belongs to independent decisions")
    if capacity is not None:
        return {"capacity": _read_budget(capacity)}
    if not given:
        return {}
    measure = read_costs(costs, odds, false_alarms, None)
    return {"cost_ratio": measure.low} if measure.low == measure.high else {"bounds": (measure.low, measure.high)}


def _implied(value: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Kinds of decisions, and kinds of knowledge, that what is known leaves open."""
    if "capacity" in value:
        return ["budget"], ["range" if isinstance(value["capacity"], tuple) else "known"]
    if value:
        return ["independent"], ["range" if "bounds" in value else "known"]
    return list(DecisionMaking), list(Knowledge)


def _read_budget(text: str) -> float | tuple[int, ...]:
    parts = [without_thousands("--capacity", part) for part in text.split(":")]
    if len(parts) == 1:
        return read_capacity(parts[0])
    try:
        ends = tuple(int(part) for part in parts)
    except ValueError:
        ends = ()
    if len(ends) != 2 or not 1 <= ends[0] < ends[1]:
        raise UsageError(f"--capacity must be LOW:HIGH, two whole numbers >= 1 that ascend, got {name(text)!r}")
    return ends


def _ask(decisions: str, knowledge: str, further: dict[str, Any], given: tuple[str, str]) -> "Advice":
    """Let the library advise; its refusal names what was typed."""
    from stakes.evaluation import advise as ask

    try:
        return ask(decisions=str(decisions), knowledge=str(knowledge), **further)  # type: ignore[arg-type]
    except ValueError as error:
        option, text = given
        said = re.sub(r"^(cost_ratio|bounds|capacity)\b", option, str(error).removesuffix("."))
        said = re.sub(r"\b(decisions|knowledge|outcome)='(\w+)'", r"--\1 \2", said).replace("(low, high)", "LOW:HIGH")
        raise UsageError(re.sub(r"got [^:]*", lambda _: f"got {name(text)!r}", said)) from None


def run_advise(advices: Advices, delivery: Delivery) -> None:
    """Print the advice in full, or what there is to choose from."""
    deliver(advices, delivery, partial(show_advise, advices=advices))


def show_advise(console: Console, advices: Advices) -> None:
    """Print one advice in full, or several in short."""
    if len(advices.all) == 1:
        _show_one(console, advices.all[0])
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    for head in ("--decisions", "--knowledge", "metric"):
        table.add_column(head, no_wrap=True)
    for advice in advices.all:
        table.add_row(advice.decisions, advice.knowledge, advice.metric)
    console.print(table)
    console.print()
    console.print(
        Text(
            "Name both for the reason, the code, and what accuracy, F1 or AUC would get wrong; and --outcome where "
            "labels are not all: follow-up, labels looked up for some, amounts by row."
        )
    )


def _show_one(console: Console, advice: "Advice") -> None:
    console.print(Text.assemble("Use ", (advice.metric, "bold"), ". ", advice.why), end="\n\n")
    for line in advice.call.splitlines():
        console.print(Text(f"  {line}", style="bold") if line else Text(), soft_wrap=True)
    console.print()
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for metric, text in advice.wrong.items():
        grid.add_row(metric, Text(text))
    console.print(Text("What others would get wrong here:"))
    console.print(grid)


# ``stakes plan``: how many rows a question needs, before there are any.

PLAN_EPILOG = """\b
Example:
  stakes plan gain --prevalence 0.1 --sensitivity 0.7 --specificity 0.8 --threshold 0.1 --power 0.8
"""

# as in stakes.information, which help need not wait for
QUESTIONS = ("net_benefit", "standardized_net_benefit", "gain", "regret", "auc", "o_to_e", "slope", "certificate")
Question = StrEnum("Question", {word.upper(): word for word in QUESTIONS})  # type: ignore[misc]
_SHARES = ("power", "prevalence", "sensitivity", "specificity", "threshold", "auc", "max_error")


Typed = str | None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Expected:
    """What is asked for and expected, as typed; the names are those of ``rows_needed``."""

    width: Annotated[Typed, flag("--width", "NUMBER", "Full width that the interval is to have.")] = None
    power: Annotated[Typed, flag("--power", "SHARE", "In place of a width: probability of showing it.")] = None
    prevalence: Annotated[Typed, flag("--prevalence", "SHARE", "Expected share of positives.")] = None
    sensitivity: Annotated[Typed, flag("--sensitivity", "SHARE", "Expected at the threshold.")] = None
    specificity: Annotated[Typed, flag("--specificity", "SHARE", "Expected at the threshold.")] = None
    threshold: Annotated[Typed, flag("--threshold", "T", "At which decisions are taken.")] = None
    standard_deviation: Annotated[Typed, flag("--standard-deviation", "NUMBER", "Of the rows' costs, for regret.")] = (
        None
    )
    difference: Annotated[Typed, flag("--difference", "NUMBER", "Of mean costs that is to be shown, for regret.")] = (
        None
    )
    auc: Annotated[Typed, flag("--auc", "SHARE", "Expected AUC.")] = None
    o_to_e: Annotated[
        Typed, flag("--o-to-e", "RATIO", "Expected ratio of observed to expected events; 1 by default.")
    ] = None
    linear_predictor: Annotated[
        Typed, flag("--linear-predictor", "MEAN,SD", "Of the scores' log-odds, for the slope.")
    ] = None
    error: Annotated[
        Typed, flag("--error", "SHARE", "True share of mistakes among the decided, for a certificate.")
    ] = None
    max_error: Annotated[Typed, flag("--max-error", "SHARE", "The limit that a certificate promises.")] = None


@spread()
def plan(
    question: Annotated[Question, argument("QUESTION", f"What is to be known: {', '.join(Question)}.")],
    expected: Expected,
    *,
    confidence_level: options.ConfidenceLevel = "0.95",
    as_json: options.AsJson = False,
    output: options.Output = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Say how many rows a validation needs: for an interval of some width, a difference, or a certificate.

    Needs no data. What a question needs besides is said where it is missing.
    """
    from stakes.information import check_asked, rows_needed

    delivery = plan_delivery("plan", None, output, as_json=as_json)
    given: dict[str, Any] = {key: _read(key, text) for key, text in vars(expected).items() if text is not None}
    try:
        level = read_share("--confidence-level", confidence_level)
        check_asked(str(question), set(given), f"plan {question}", _option)
        found = rows_needed(question=str(question), confidence_level=level, **given)
    except ValueError as problem:
        raise UsageError(_as_typed(str(problem).removesuffix("."))) from None
    return partial(run_plan, found, delivery)


def _option(key: str) -> str:
    return "--" + key.replace("_", "-")


def _as_typed(message: str) -> str:
    """Write the library's arguments as options: width=0.1 as --width 0.1, and max_error as --max-error."""
    names = "|".join(field.name for field in fields(Expected))
    message = re.sub(rf"\b({names})=", lambda found: f"{_option(found[1])} ", message)
    return re.sub(r"^(error|power|linear_predictor)\b|\bmax_error\b", lambda found: _option(found[0]), message)


def _read(key: str, text: str) -> float | tuple[float, ...]:
    option = _option(key)
    if key in _SHARES:
        return read_share(option, text)
    if key == "error":
        return read_unit(option, text)
    if key != "linear_predictor":
        return read_amount(option, text)
    try:
        pair = tuple(float(part) for part in text.split(","))
    except ValueError:
        pair = ()
    if len(pair) != 2:
        raise UsageError(f"{option} must be two numbers, MEAN,SD, got {name(text)!r}")
    return pair


def run_plan(found: "Plan", delivery: Delivery) -> None:
    """Print the plan."""
    deliver(found, delivery, partial(show_plan, found=found))


def show_plan(console: Console, found: "Plan") -> None:
    """Print one sentence."""
    console.print(Text(found.sentence + "."))

"""``stakes advise``: which metric fits the decision, without any file."""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stakes.cli import _options as opt
from stakes.cli._deliver import Delivery, deliver, plan_delivery
from stakes.cli._errors import UsageError
from stakes.cli._ranges import read_costs
from stakes.cli._settings import read_share, without_thousands
from stakes.shown.tabular import Tabular
from stakes.shown.text import shown_name as name

if TYPE_CHECKING:
    from stakes.evaluation import Advice

EPILOG = """\b
Example:
  stakes advise --decisions independent --threshold range --costs 0.02:0.10
"""


class Decisions(StrEnum):
    """How cases are decided."""

    INDEPENDENT = "independent"
    BUDGET = "budget"


class Happened(StrEnum):
    """What is known of each row."""

    LABELS = "labels"
    TIME_TO_EVENT = "time_to_event"
    PARTLY_VERIFIED = "partly_verified"
    AMOUNTS = "amounts"


class Threshold(StrEnum):
    """What is known of the threshold."""

    KNOWN = "known"
    RANGE = "range"
    UNKNOWN = "unknown"


DecisionsOption = Annotated[
    Decisions | None,
    typer.Option("--decisions", help="Each case on its own, or the highest scores as far as a budget goes."),
]
ThresholdOption = Annotated[
    Threshold | None,
    typer.Option("--threshold", help="What is known of the threshold, or of the budget. --costs and --k tell it."),
]
Budget = Annotated[
    str | None, typer.Option("--k", metavar="K or LOW:HIGH", help="Number of cases acted on under a budget.")
]
RankingOnly = Annotated[bool, typer.Option("--ranking-only", help="The scores are not meant as probabilities.")]
Prevalence = Annotated[
    str | None,
    typer.Option("--prevalence", metavar="SHARE", help="Share of positives, for what accuracy would make of it."),
]
OutcomeOption = Annotated[
    Happened,
    typer.Option(
        "--outcome",
        help="What is known of each row: a label, follow-up until an event, a label where somebody looked, or also "
        "what a mistake costs there.",
    ),
]


def advise(
    *,
    decisions: DecisionsOption = None,
    threshold: ThresholdOption = None,
    costs: opt.Costs = None,
    odds: opt.Odds = None,
    false_alarms_per_miss: opt.FalseAlarms = None,
    k: Budget = None,
    ranking_only: RankingOnly = False,
    prevalence: Prevalence = None,
    outcome: OutcomeOption = Happened.LABELS,
    as_json: opt.AsJson = False,
    output: opt.Output = None,
    config: opt.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: opt.Debug = False,  # noqa: ARG001  (the program reads it)
) -> opt.Job:
    """Say which metric fits the decision, why, how to call it, and what accuracy, F1 or AUC would get wrong.

    Without options, in short for every kind of decision.
    """
    delivery = plan_delivery(None, output, as_json=as_json)
    value = _value(costs, odds, false_alarms_per_miss, k)
    share = None if prevalence is None else read_share("--prevalence", prevalence)
    kinds, places = _implied(value)
    if outcome is Happened.AMOUNTS and decisions is None:
        kinds = [Decisions.INDEPENDENT]
    asked = product([decisions] if decisions else kinds, [threshold] if threshold else places)
    further = {"probabilities": not ranking_only, "prevalence": share, "outcome": str(outcome), **value}
    return partial(run, Advices([_ask(*situation, further) for situation in asked]), delivery)


@dataclass(frozen=True)
class Advices(Tabular):
    """The advice for one situation or several."""

    all: "list[Advice]"

    def _records(self) -> list[dict[str, Any]]:
        return [record for advice in self.all for record in advice._records()]


def _value(costs: str | None, odds: str | None, false_alarms: str | None, k: str | None) -> dict[str, Any]:
    """Return the one thing that is known of the threshold or the budget, as the library takes it."""
    given = any(text is not None for text in (costs, odds, false_alarms))
    if given and k is not None:
        raise UsageError("--k is the number of cases of a budget and a cost ratio belongs to independent decisions")
    if k is not None:
        return {"k": _read_budget(k)}
    if not given:
        return {}
    measure = read_costs(costs, odds, false_alarms, None)
    return {"cost_ratio": measure.low} if measure.low == measure.high else {"bounds": (measure.low, measure.high)}


def _implied(value: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Kinds of decisions, and kinds of knowledge, that what is known leaves open."""
    if "k" in value:
        return ["budget"], ["range" if isinstance(value["k"], tuple) else "known"]
    if value:
        return ["independent"], ["range" if "bounds" in value else "known"]
    return list(Decisions), list(Threshold)


def _read_budget(text: str) -> int | tuple[int, ...]:
    parts = [without_thousands("--k", part) for part in text.split(":")]
    try:
        ends = tuple(int(part) for part in parts)
    except ValueError:
        ends = ()
    if len(ends) not in {1, 2} or min(ends) < 1 or ends != tuple(sorted(set(ends))):
        raise UsageError(f"--k must be a whole number >= 1, or LOW:HIGH, got {name(text)!r}")
    return ends if len(ends) == 2 else ends[0]


def _ask(decisions: str, threshold: str, further: dict[str, Any]) -> "Advice":
    from stakes.evaluation import advise as ask

    try:
        return ask(decisions=str(decisions), threshold=str(threshold), **further)  # type: ignore[arg-type]
    except ValueError as error:
        raise UsageError(str(error).removesuffix(".")) from None


def run(advices: Advices, delivery: Delivery) -> None:
    """Print the advice in full, or what there is to choose from."""
    deliver(advices, delivery, partial(show, advices=advices))


def show(console: Console, advices: Advices) -> None:
    """Print one advice in full, or several in short."""
    if len(advices.all) == 1:
        _show_one(console, advices.all[0])
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="")
    for head in ("--decisions", "--threshold", "metric"):
        table.add_column(head, no_wrap=True)
    for advice in advices.all:
        table.add_row(advice.decisions, advice.threshold, advice.metric)
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

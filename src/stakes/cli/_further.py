"""Further questions to an evaluation, as typed: what more rows are worth, what leaving cases to someone else saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from stakes.cli._console import print_table
from stakes.cli._errors import UsageError
from stakes.cli._settings import read_amount, read_count, read_share, read_unit
from stakes.shown.text import shown_name as name
from stakes.shown.text import visible
from stakes.shown.words import MISSING, number, percent

if TYPE_CHECKING:
    from rich.console import Console

    from stakes.actions import DeferredModels
    from stakes.evaluation import Evaluation
    from stakes.information import ValueOfInformation

DeferCost = Annotated[
    str | None,
    typer.Option(
        "--defer-cost",
        metavar="AMOUNT",
        help="Also what leaving cases to someone else saves, at this price, where a false positive and a false "
        "negative cost 1 together.",
    ),
]
Capacity = Annotated[
    str | None,
    typer.Option("--capacity", metavar="SHARE", help="With --defer-cost: the largest share of the rows deferred."),
]
MoreRows = Annotated[
    str | None,
    typer.Option("--more-rows", metavar="NUMBER,...", help="Also what so many further rows would save."),
]
Decisions = Annotated[
    str | None,
    typer.Option(
        "--decisions",
        metavar="NUMBER,...",
        help="With --more-rows: how many decisions the choice is for, in all or by year.",
    ),
]
Discount = Annotated[
    str | None,
    typer.Option("--discount", metavar="SHARE", help="With --decisions by year: how much less each later year counts."),
]
RowCost = Annotated[
    str | None,
    typer.Option(
        "--row-cost", metavar="AMOUNT", help="With --decisions: price of a further row, in the unit of --unit-cost."
    ),
]


@dataclass(frozen=True, kw_only=True)
class Further:
    """What was typed."""

    defer_cost: DeferCost = None
    capacity: Capacity = None
    more_rows: MoreRows = None
    decisions: Decisions = None
    discount: Discount = None
    row_cost: RowCost = None

    def questions(self) -> Questions:
        """Check everything that can be known before any data are read."""
        needs = {"--defer-cost": {"capacity"}, "--more-rows": {"decisions", "discount", "row_cost"}}
        for option, keys in needs.items():
            if getattr(self, option.removeprefix("--").replace("-", "_")) is None:
                given = next((key for key in sorted(keys) if getattr(self, key) is not None), None)
                if given is not None:
                    raise UsageError(f"--{given.replace('_', '-')} needs {option}")
        if self.row_cost is not None and self.decisions is None:
            raise UsageError("--row-cost needs --decisions: a price per row is weighed against what all of them save")
        study: dict[str, Any] = {}
        if self.more_rows is not None:
            study["more_rows"] = [read_count("--more-rows", text) for text in _split("--more-rows", self.more_rows)]
        if self.decisions is not None:
            years = [read_amount("--decisions", text) for text in _split("--decisions", self.decisions)]
            study["decisions"] = years if len(years) > 1 or self.discount is not None else years[0]
        if self.discount is not None:
            study["discount"] = read_share("--discount", self.discount)
        if self.row_cost is not None:
            study["row_cost"] = read_amount("--row-cost", self.row_cost)
        fee = None
        if self.defer_cost is not None:
            fee = 0.0 if self.defer_cost.strip() == "0" else read_amount("--defer-cost", self.defer_cost)
        capacity = None if self.capacity is None else read_unit("--capacity", self.capacity)
        return Questions(fee, capacity, study)


def _split(option: str, text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise UsageError(f"{option} must be numbers, separated by commas, got {name(text)!r}")
    return parts


@dataclass(frozen=True)
class Questions:
    """What is asked besides which model is best: the fee of deferral and its capacity, and a study of further rows."""

    fee: float | None
    capacity: float | None
    study: dict[str, Any]

    def answered(self, evaluation: Evaluation) -> Evaluation:
        """Answer them; what the rows do not bear is bad data."""
        from stakes.tables import DataError

        try:
            if self.study:
                evaluation = evaluation.with_information(**self.study)
            if self.fee is not None:
                evaluation = evaluation.with_deferral(self.fee, capacity=self.capacity)
        except ValueError as error:
            raise DataError(str(error).rstrip("."), file=evaluation.source) from None
        return evaluation


def print_further(console: Console, evaluation: Evaluation) -> None:
    """Print the answers that were asked for."""
    if evaluation.deferral is not None:
        _print_deferral(console, evaluation.deferral)
    if evaluation.information is not None:
        _print_information(console, evaluation.information)


def _print_deferral(console: Console, found: DeferredModels) -> None:
    from stakes.cli._summary import _table

    table = _table("", "with deferral", "cost", "without", "worth", "deferred", "defer from", "to")
    for model, each in found.models.items():
        low, high = each.estimates["value"].interval
        worth = f"{number(each.value)}\n{number(low)} to {number(high)}"
        zone = [MISSING] * 2 if each.zone is None else [f"{end:.4g}" for end in each.zone]
        costs = number(each.cost), number(each.cost_without), worth
        table.add_row("", Text(name(model)), *costs, percent(each.shares["deferred"]), *zone)
    _print(console, table, found.conclusion)


def _print_information(console: Console, found: ValueOfInformation) -> None:
    from stakes.cli._summary import _table

    table = _table("", "further rows", "save per decision", "over all decisions", "less their price")
    if found.per != 1.0:
        table.columns[2].header = f"save per {found.per:,g} decisions"
    for row in found.study_records():
        cells = [MISSING if row[key] is None else number(row[key]) for key in ("saving", "total_saving", "net_gain")]
        table.add_row("", f"{row['more_rows']:,}", *cells)
    _print(console, table, found.conclusion)


def _print(console: Console, table: Any, sentences: list[str]) -> None:
    from stakes.cli._summary import listed

    console.print()
    print_table(console, table, 1)
    console.print()
    console.print(listed(visible(sentence) for sentence in sentences))

"""What happened to the rows where a label alone does not say it, as typed: follow-up, amounts, labels looked up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli._errors import UsageError
from stakes.cli._settings import split_names
from stakes.shown.text import shown_name as name
from stakes.shown.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stakes.outcomes import OutcomeColumns

Time = Annotated[
    str | None,
    typer.Option("--time", metavar="COLUMN", help="Column with when follow-up ended; needs --event and --horizon."),
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event", metavar="COLUMN", help="In place of --label: column with what ended it, 0 for censored rows."
    ),
]
Horizon = Annotated[
    str | None,
    typer.Option(
        "--horizon",
        metavar="T[,T...]",
        help="The scores are risks of the event by this time; with several, one answer for each.",
    ),
]
Cause = Annotated[
    list[str] | None,
    typer.Option(
        "--cause", metavar="VALUE,...", help="The event of interest, where there are several: others compete."
    ),
]
Censored = Annotated[
    str | None,
    typer.Option("--censored", metavar="LABEL", help="The value of --event in censored rows, where it is not 0."),
]
FalsePositiveCost = Annotated[
    str | None,
    typer.Option(
        "--false-positive-cost",
        metavar="COLUMN|AMOUNT",
        help="What acting on a negative costs in each row; needs --false-negative-cost.",
    ),
]
FalseNegativeCost = Annotated[
    str | None,
    typer.Option(
        "--false-negative-cost", metavar="COLUMN|AMOUNT", help="What not acting on a positive costs in each row."
    ),
]
Unit = Annotated[str | None, typer.Option("--unit", metavar="NAME", help="What these are counted in, such as EUR.")]


class OnDominatedRows(StrEnum):
    """What to do with rows in which one decision is never worse."""

    RAISE = "raise"
    SET_ASIDE = "set_aside"


OnDominated = Annotated[
    OnDominatedRows,
    typer.Option("--on-dominated", help="Rows in which one decision is never worse: an error, or set aside."),
]
VerifiedBy = Annotated[
    str | None,
    typer.Option(
        "--verified-by",
        metavar="COLUMN",
        help="Labels are missing where nobody looked, which depended on this column.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Amounts:
    """What wrong decisions cost in each row, as typed."""

    false_positive_cost: FalsePositiveCost = None
    false_negative_cost: FalseNegativeCost = None
    unit: Unit = None
    on_dominated: OnDominated = OnDominatedRows.RAISE

    @property
    def given(self) -> bool:
        """Whether there are amounts; half of them is an error."""
        amounts = {"--false-positive-cost": self.false_positive_cost, "--false-negative-cost": self.false_negative_cost}
        missing = [option for option, text in amounts.items() if text is None]
        if len(missing) == 1:
            raise UsageError(f"the amounts belong together: {missing[0]} is missing")
        if missing:
            refuse({"--unit": self.unit}, "needs amounts")
        return not missing

    @property
    def stakes(self) -> tuple[str | float, ...]:
        """Of a false positive and of a false negative: a column, or one amount for all rows; empty without."""
        if not self.given:
            return ()
        amounts = {"--false-positive-cost": self.false_positive_cost, "--false-negative-cost": self.false_negative_cost}
        return tuple(_read_stake(option, text) for option, text in amounts.items() if text is not None)

    @property
    def stake_columns(self) -> list[str]:
        """The columns among the stakes."""
        return [stake for stake in self.stakes if isinstance(stake, str)]


@dataclass(frozen=True, kw_only=True)
class Told(Amounts):
    """What happened, as typed."""

    time: Time = None
    event: Event = None
    horizon: Horizon = None
    cause: Cause = None
    censored: Censored = None
    verified_by: VerifiedBy = None

    def label(self, label: str | None) -> str:
        """The column that says what happened: that of the label, or that of the event."""
        follow_up = {"--time": self.time, "--event": self.event, "--horizon": self.horizon}
        missing = [option for option, text in follow_up.items() if text is None]
        if 0 < len(missing) < len(follow_up):
            raise UsageError(f"--time, --event and --horizon belong together: {missing[0]} is missing")
        if missing:
            refuse({"--cause": self.cause, "--censored": self.censored}, "needs --time, --event and --horizon")
        elif label is not None:
            raise UsageError("--event stands in place of --label: give one of them")
        found = label or self.event
        if found is None:
            raise UsageError("name the column of outcomes with --label, or with --event for a time to event")
        return found

    @property
    def horizons(self) -> tuple[float, ...]:
        """The times by which the event counts, in ascending order."""
        if self.horizon is None:
            return ()
        try:
            found = tuple(float(text) for text in self.horizon.split(","))
        except ValueError:
            found = ()
        if not found or not all(0.0 < time < math.inf for time in found) or found != tuple(sorted(set(found))):
            raise UsageError(f"--horizon must be one or more times > 0, in order, got {name(self.horizon)!r}")
        if len(found) > 1 and self.false_positive_cost is not None:
            raise UsageError("--horizon must be one time where there are amounts")
        return found

    def columns(self) -> OutcomeColumns | None:
        """What the library takes, at the first horizon; None where labels say all."""
        if not self.given and self.time is self.verified_by is None:
            return None
        from stakes.outcomes import OutcomeColumns

        options: dict[str, Any] = {"cause": split_names(self.cause, "--cause"), "unit": self.unit or ""}
        options["on_dominated"] = str(self.on_dominated)
        if self.censored is not None:
            options["censored"] = self.censored
        if self.horizon is not None:
            options["horizon"] = self.horizons[0]
        options |= zip(("false_positive", "false_negative"), self.stakes, strict=False)
        try:
            return OutcomeColumns(time=self.time, verified_by=self.verified_by, **options)
        except ValueError as error:
            raise UsageError(visible(str(error).removesuffix("."))) from None


def _read_stake(option: str, text: str) -> str | float:
    """Read one amount for all rows, or the name of a column of amounts."""
    try:
        amount = float(text)
    except ValueError:
        return text
    if not math.isfinite(amount):
        raise UsageError(f"{option} must be a column or a finite amount, got {name(text)!r}")
    return amount


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse options that go with something else."""
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise UsageError(f"{given[0]} {why}")

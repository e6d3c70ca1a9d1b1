"""``stakes decide`` and ``stakes export``: choose rows, and write saved rules for where the data are."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from inspect import signature
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli import options
from stakes.cli.boundary_fit import read_boundary
from stakes.cli.console import (
    RowsOut,
    Staged,
    UsageError,
    check_target,
    note,
    plan_rows,
    print_table,
    working,
    write_out,
)
from stakes.cli.options import argument, flag, spread
from stakes.cli.reading import (
    Amounts,
    read_amount,
    read_capacity,
    read_costs,
    read_priors,
    read_share,
    read_stake,
    read_unit,
    refuse,
    split_names,
)
from stakes.cli.task import at_hand
from stakes.outputs.files import DataError
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import MISSING, names_of, percent, shown_name as name, visible

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from rich.console import Console

    from stakes.costs import CostDistribution, Deferral
    from stakes.outcomes import RowDecisions
    from stakes.tables import Content, ScoredFile
    from stakes.utility import ExpectedUtility, Measure, Sensitivity

    Floats = NDArray[np.float64]


# Decisions about the rows of a file, batch by batch, and how a person reads them on a terminal.

MOST_BATCHES_SHOWN = 50


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSettings:
    """From which probabilities rows are decided, and how the answer is called."""

    correction: "Callable[[Floats], ArrayLike] | None"
    column: str

    def column_for(self, model: str, models: tuple[str, ...]) -> str:
        """Name of the column with the decisions from one model."""
        return self.column if len(models) == 1 else f"{self.column}_{model}"

    def columns_for(self, model: str, models: tuple[str, ...]) -> tuple[str, ...]:
        """Names of all columns from one model."""
        return (self.column_for(model, models),)

    def check(self, scored: "ScoredFile", output: Path | None) -> None:
        """Refuse what only shows once the file is known."""
        columns = [*chain.from_iterable(self.columns_for(model, scored.models) for model in scored.models)]
        for column in columns:
            if column in scored.names:
                raise UsageError(f"--column: the file has a column {name(column)!r} already, name another one")
            if columns.count(column) > 1:
                raise UsageError(
                    f"--models: two new columns would be called {name(column)!r}; decide about one model at a time"
                )
        if output is not None and output.suffix.lower() not in scored.endings:
            listed = " or ".join(scored.endings)
            raise UsageError(f"--output must end in {listed}, the format of the file, got {name(output.name)!r}")


@dataclass(frozen=True, eq=False, repr=False)
class DecisionSettings(ColumnSettings):
    """What is maximised."""

    measure: "Measure"
    zero_division: float
    sensitivity: bool = False


def check_endings() -> tuple[str, ...]:
    """How the name of a decided file may end; which of these fits the format is known when it has been read."""
    from stakes.tables import ENDINGS

    return tuple(chain.from_iterable(ENDINGS.values()))


def read_measure(text: str) -> "Measure":
    """Read the name of a measure."""
    from stakes.utility import get_measure

    try:
        return get_measure(text)
    except ValueError as error:
        raise UsageError(f"--measure: {visible(str(error))}") from None


def read_correction(
    positive_share: str | None, training_prior: str | None, prior: str | None
) -> "Callable[[Floats], ArrayLike] | None":
    """Read what is to be done to the probabilities first."""
    priors = read_priors(training_prior, prior)
    if positive_share is None and priors is None:
        return None
    from stakes.correction import shift_prior, undo_class_weight

    steps: list[Callable[[Floats], ArrayLike]] = []
    if positive_share is not None:
        steps.append(partial(undo_class_weight, positive_share=read_share("--positive-share", positive_share)))
    if priors is not None:
        steps.append(partial(shift_prior, training_prior=priors[0], prior=priors[1]))

    def correct(prob: "Floats") -> "ArrayLike":
        for step in steps:
            prob = step(prob)  # type: ignore[assignment]
        return prob

    return correct


@dataclass(frozen=True, eq=False, repr=False)
class DecidedBatch:
    """Rows that were decided together."""

    model: str
    group: dict[str, Any]
    result: "ExpectedUtility"
    sensitivity: "Sensitivity | None"

    def record(self) -> dict[str, Any]:
        """Return what was found."""
        found = self.result._records()[0] | {
            "proved": self.result.proved,
            "certificate": self.result.certificate,
            "tied_numbers_of_rows": self.result.ties.tolist(),
        }
        if self.sensitivity is not None:
            found["sensitivity"] = self.sensitivity._records()
        return {"model": self.model, **({"group": self.group} if self.group else {}), **found}


@dataclass(frozen=True, eq=False, repr=False)
class DecidedRows(Tabular):
    """Every batch of a file, and the new columns."""

    source: str
    settings: DecisionSettings
    n_dropped: int
    batches: list[DecidedBatch]
    columns: "dict[str, NDArray[np.int64]]" = field(repr=False)

    @classmethod
    def about(cls, scored: "ScoredFile", settings: DecisionSettings) -> "DecidedRows":
        """Decide about each model and group."""
        import numpy as np

        from stakes.utility import expected_utility

        batches, columns = [], {}
        for model, prob in zip(scored.models, scored.scores, strict=True):
            decision = np.zeros(len(prob), dtype=np.int64)
            for group, rows in _groups(scored):
                result = expected_utility(
                    prob[rows],
                    settings.measure,
                    zero_division=settings.zero_division,
                    correction=settings.correction,
                )
                decision[rows] = result.predict()
                batches.append(
                    DecidedBatch(model, group, result, result.sensitivity() if settings.sensitivity else None)
                )
            columns[settings.column_for(model, scored.models)] = decision
        return cls(scored.source, settings, scored.n_dropped, batches, columns)

    def _content(self) -> dict[str, Any]:
        """What was asked and every batch."""
        return {
            "source": self.source,
            "measure": repr(self.settings.measure),
            "zero_division": self.settings.zero_division,
            "columns": list(self.columns),
            "dropped": self.n_dropped,
            "batches": [batch.record() for batch in self.batches],
        }

    def _records(self) -> list[dict[str, Any]]:
        return [batch.record() for batch in self.batches]

    def show(self, console: "Console") -> None:
        """Print what a person should know: which rows, what that is worth, and how certain it is."""
        measure = self.settings.measure
        aim = "Maximises" if measure.higher_is_better else "Minimises"
        rows = next(iter(self.columns.values())).size
        console.print(Text(f"{name(self.source, 60)}: {rows:,} rows"), soft_wrap=True)
        console.print(Text(f"{aim} the expected value of {measure!r}, on each batch by itself."), end="\n\n")
        shown = self.batches[:MOST_BATCHES_SHOWN]
        print_table(console, self._table(shown), names=0)
        if len(shown) < len(self.batches):
            console.print(Text(f"and {len(self.batches) - len(shown):,} more batches: --json prints all"))
        console.print()
        for sure, reason in dict.fromkeys((batch.result.certified, batch.result.certificate) for batch in self.batches):
            console.print(Text(f"{'certified' if sure else 'not certified'}: {reason}"), soft_wrap=True)
        if self.settings.sensitivity:
            console.print()
            console.print(Text("If the log-odds of the probabilities are wrong:"))
            for batch in shown:
                console.print(Text(f"- {_title(batch)}: {_worst(batch)}"), soft_wrap=True)

    def _table(self, batches: list[DecidedBatch]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True, header_style="")
        keys = list(batches[0].group)
        for header in ("model", *map(name, keys)):
            table.add_column(Text(header), overflow="fold")
        side = "from" if batches[0].result.ranking.descending else "up to"
        for header in ("rows", "act on", side, "value", "error <=", "certified", "runner-up"):
            table.add_column(header, justify="right", no_wrap=True)
        for batch in batches:
            result = batch.result
            about = "" if result.proved else "about "
            cells = [
                f"{result.n_rows:,}",
                f"{result.best_k:,}",
                MISSING if not math.isfinite(result.threshold) else f"{result.threshold:.6g}",
                f"{result.utility:.6g}",
                f"{about}{result.error_bound:.1e}",
                "yes" if result.certified else "no",
                MISSING if result.runner_up is None else f"{result.runner_up:,} ({-result.gap:+.1e})",
            ]
            group = [Text(name(str(value))) for value in batch.group.values()]
            table.add_row(Text(name(batch.model)), *group, *cells)
        return table


def _groups(scored: "ScoredFile") -> "Iterator[tuple[dict[str, Any], NDArray[np.intp]]]":
    """Yield each combination of the groups' values that occurs, and its rows."""
    import numpy as np

    count = len(scored.rows)
    code = np.zeros(count, dtype=np.int64)
    for values in scored.groups.values():
        _, inverse = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (int(inverse.max(initial=0)) + 1) + inverse, return_inverse=True)
    order = np.argsort(code, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(code[order])) + 1):
        first = rows[0]
        yield {key: _plain(values[first : first + 1]) for key, values in scored.groups.items()}, rows


def _plain(value: "NDArray[Any]") -> str | float:
    """Return a group's value as JSON holds it: dates, times and bytes are texts."""
    found = value.item()
    return found if isinstance(found, (str, int, float)) else names_of(value)[0]


def _title(batch: DecidedBatch) -> str:
    group = ", ".join(f"{name(key)} = {name(str(value))}" for key, value in batch.group.items())
    return f"{name(batch.model)}, {group}" if group else name(batch.model)


def _worst(batch: DecidedBatch) -> str:
    """Say over which numbers of rows the best one moves, and where acting on the chosen one loses most."""
    table = batch.sensitivity
    if table is None:
        return ""
    worst = int(table.loss.argmax())
    return (
        f"the best number of rows moves from {table.best_k.min():,} to {table.best_k.max():,}; acting on "
        f"{table.chosen_k:,} loses at most {table.loss[worst]:.3g}, with slope {table.slope[worst]:g} and shift "
        f"{table.shift[worst]:+g}"
    )


# Rows of a file that are acted on by what mistakes cost in each, and how a person reads that on a terminal.

THRESHOLD = "_threshold"


@dataclass(frozen=True, eq=False, repr=False)
class AmountSettings(ColumnSettings):
    """What mistakes cost, as columns or amounts, in which unit, and what becomes of rows without a decision."""

    stakes: tuple[str | float, ...]
    unit: str
    on_dominated: str

    def columns_for(self, model: str, models: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the columns with the decisions from one model and their thresholds."""
        own = self.column_for(model, models)
        return own, f"{own}{THRESHOLD}"


@dataclass(frozen=True, eq=False, repr=False)
class AmountDecisions(Tabular):
    """The new columns: 1 to act and 0 not to, and the probability from which the row is worth acting on."""

    source: str
    settings: AmountSettings
    n_dropped: int
    found: "dict[str, RowDecisions]" = field(repr=False)
    columns: "dict[str, NDArray[Any]]" = field(repr=False)

    @classmethod
    def about(cls, scored: "ScoredFile", settings: AmountSettings) -> "AmountDecisions":
        """Decide about each model."""
        from stakes.outcomes import decide_rows
        from stakes.outputs.serialization import Location

        found: dict[str, RowDecisions] = {}
        columns: dict[str, NDArray[Any]] = {}
        a, b = (scored.numbers[stake] if isinstance(stake, str) else stake for stake in settings.stakes)
        for model, prob in zip(scored.models, scored.scores, strict=True):
            p: Any = prob if settings.correction is None else settings.correction(prob)
            decision, threshold = settings.columns_for(model, scored.models)
            try:
                rows = decide_rows(p, false_positive=a, false_negative=b, on_dominated=settings.on_dominated)
            except ValueError as error:
                raise Location(scored.source, rows=scored.rows).of_arrays(error) from None
            found[decision] = rows
            columns |= {decision: rows.act.astype("int64"), threshold: rows.threshold}
        return cls(scored.source, settings, scored.n_dropped, found, columns)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "column": column,
                "act": int(rows.act.sum()),
                "do_not_act": int((~rows.act).sum()),
                "set_aside": rows.n_set_aside,
                "expected_cost": rows.expected_cost,
                "expected_cost_treat_all": rows.all,
                "expected_cost_treat_none": rows.none,
                "unit": self.settings.unit,
            }
            for column, rows in self.found.items()
        ]

    def _content(self) -> dict[str, Any]:
        """What was asked and how many rows are acted on."""
        asked = dict(zip(("false_positive", "false_negative"), self.settings.stakes, strict=True))
        return {"source": self.source, **asked, "dropped": self.n_dropped, "columns": self._records()}

    def show(self, console: "Console") -> None:
        """Print how many rows are acted on, and what that is expected to cost."""
        unit = f" {name(self.settings.unit)}" if self.settings.unit else ""
        for column, rows in self.found.items():
            act, count, others = int(rows.act.sum()), len(rows.act), f"{rows.none:,.6g} for nobody and {rows.all:,.6g}"
            aside = f"; in {rows.n_set_aside:,} rows one decision is never worse" if rows.n_set_aside else ""
            said = (
                f"{name(self.source, 60)}: {count:,} rows. {name(column)}: {act:,} acted on ({percent(act / count)}), "
                f"{count - act:,} not{aside}. Expected cost {rows.expected_cost:,.6g}{unit}, against {others} "
                "for all, if the probabilities are calibrated."
            )
            console.print(Text(said))


# Rows of a file that are acted on, not acted on or left to someone else, and how a person reads that on a terminal.


@dataclass(frozen=True, eq=False, repr=False)
class DeferralSettings(ColumnSettings):
    """At which cost ratio, what deferring costs, and how many rows may be deferred."""

    costs: "CostDistribution"
    deferral: "Deferral"
    capacity: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Deferrals(Tabular):
    """The new columns: 1 to act, 0 not to, -1 to defer."""

    source: str
    settings: DeferralSettings
    n_dropped: int
    columns: "dict[str, NDArray[np.int64]]" = field(repr=False)

    @classmethod
    def about(cls, scored: "ScoredFile", settings: DeferralSettings) -> "Deferrals":
        """Decide about each model."""
        from stakes.actions import apply_deferral

        columns = {}
        for model, prob in zip(scored.models, scored.scores, strict=True):
            corrected = prob if settings.correction is None else settings.correction(prob)
            actions = apply_deferral(
                corrected, costs=settings.costs, deferral=settings.deferral, capacity=settings.capacity
            )
            columns[settings.column_for(model, scored.models)] = actions.astype("int64")
        return cls(scored.source, settings, scored.n_dropped, columns)

    def _records(self) -> list[dict[str, Any]]:
        kinds = {"act": 1, "do_not_act": 0, "deferred": -1}
        return [
            {"column": column, **{kind: int((actions == code).sum()) for kind, code in kinds.items()}}
            for column, actions in self.columns.items()
        ]

    def _content(self) -> dict[str, Any]:
        """What was asked and how many rows are treated how."""
        asked = {"costs": self.settings.costs.to_dict(), "deferral": vars(self.settings.deferral)}
        page = {"source": self.source, **asked, "capacity": self.settings.capacity, "dropped": self.n_dropped}
        return {**page, "columns": self._records()}

    def show(self, console: "Console") -> None:
        """Print how many rows are acted on, left alone and deferred."""
        settings, c = self.settings, self.settings.costs.mean()
        low, high = settings.deferral.zone(c)
        console.print(Text(f"{name(self.source, 60)}: {next(iter(self.columns.values())).size:,} rows"), soft_wrap=True)
        note = settings.deferral.note_at(c)
        zone = f"Deferring pays between {float(low):.4g} and {float(high):.4g}, at threshold {c:g}."
        console.print(Text(zone if low < high else f"{note[:1].upper()}{note[1:]}."), soft_wrap=True)
        capacity = settings.capacity
        if capacity is not None:
            most = f"{capacity:,}" if capacity >= 1 else f"{percent(capacity)} of the"
            console.print(Text(f"At most {most} rows are deferred."))
        for row in self._records():
            counts = f"{row['act']:,} acted on, {row['do_not_act']:,} not, {row['deferred']:,} deferred"
            share = row["deferred"] / max(sum(row[kind] for kind in ("act", "do_not_act", "deferred")), 1)
            console.print(Text(f"{name(row['column'])}: {counts} ({percent(share)})"), soft_wrap=True)


# ``stakes decide``: which rows to act on, for the measure that one is judged by, from a file of probabilities.

DECIDE_EPILOG = """\b
Example:
  stakes decide predictions.csv --models risk --measure f1 -o decided.csv
  stakes decide predictions.csv --models risk --costs 0.2 --deferral 0.05 -o deferred.csv
"""
NOTHING_ASKED = (
    "name what is maximised with --measure, what deferring costs with --deferral, or what mistakes cost with "
    "--false-positive-cost and --false-negative-cost"
)

Probabilities = Annotated[
    list[str],
    flag(
        "--models",
        "COLUMN,...",
        "Columns with calibrated probabilities; each is decided on its own. "
        r"May be repeated. A comma inside a name is written \,",
    ),
]
MeasureOption = Annotated[
    str | None,
    flag(
        "--measure",
        "NAME",
        "What is maximised: f1, fbeta:BETA, jaccard, balanced_accuracy, fowlkes_mallows, g_mean, h_mean, q_mean, "
        "mcc, kappa, precision, recall, accuracy; squared_error_in_counting is minimised.",
    ),
]
ZeroDivision = Annotated[str, flag("--zero-division", "VALUE", "The measure in place of 0/0, from 0 to 1.")]
Groups = Annotated[
    list[str] | None,
    flag("--groups", "COLUMN,...", "Columns that divide the rows into groups: each group is a batch of its own."),
]
DeferralFee = Annotated[
    str | None,
    flag(
        "--deferral",
        "AMOUNT",
        "In place of a measure: what leaving a case to someone else costs, where a false positive and a false "
        "negative cost 1 together. Needs --costs.",
    ),
]
DecidedCosts = Annotated[
    str | None,
    flag("--costs", "LOW:HIGH", "With --deferral: the cost ratio, to act from without deferring; of a range its mean."),
]
Capacity = Annotated[
    str | None, flag("--capacity", "N|SHARE", "With --deferral: defer at most this number of rows, or share of them.")
]
Column = Annotated[
    str,
    flag(
        "--column",
        "NAME",
        "Name of the new column: 1 to act, 0 not to, -1 to defer. With several models, NAME_MODEL for each.",
    ),
]
PositiveShare = Annotated[
    str | None,
    flag(
        "--positive-share",
        "SHARE",
        "Undo class weights first: the relative weight that positives had in training, w1 / (w0 + w1).",
    ),
]
ShowSensitivity = Annotated[
    bool,
    flag(
        "--sensitivity",
        "",
        "Also show what becomes of the choice if the log-odds of the probabilities are shifted or stretched.",
    ),
]
Decided = Annotated[
    str | None,
    flag(
        "--output -o",
        "OUT",
        "Write the file with its new column here, in the format that it was read in; - is standard output.",
    ),
]

_WITHOUT_DEFERRAL = "needs --deferral: without it a row is acted on where its score reaches the threshold"


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Deferring:
    """What leaving cases to someone else costs, as typed."""

    deferral: DeferralFee = None
    costs: DecidedCosts = None
    capacity: Capacity = None

    @property
    def further(self) -> dict[str, str | None]:
        """What has no meaning without a cost."""
        return {"--costs": self.costs, "--capacity": self.capacity}

    @property
    def terms(self) -> tuple["CostDistribution", "Deferral", float | None]:
        """The costs of mistakes, what deferring costs, and how many rows may be deferred."""
        from stakes.costs import Deferral

        if self.costs is None:
            raise UsageError("--deferral needs --costs, the cost ratio")
        cost = self.deferral or ""
        fee = 0.0 if cost.strip() == "0" else read_amount("--deferral", cost)
        capacity = None if self.capacity is None else read_capacity(self.capacity)
        return read_costs(self.costs, None, None, None), Deferral(fee), capacity


@spread()
def decide(
    file: options.File,
    *,
    models: Probabilities,
    measure: MeasureOption = None,
    deferring: Deferring,
    amounts: Amounts,
    zero_division: ZeroDivision = "0",
    groups: Groups = None,
    column: Column = "decision",
    positive_share: PositiveShare = None,
    prior: options.Prior = None,
    training_prior: options.TrainingPrior = None,
    sensitivity: ShowSensitivity = False,
    on_missing: options.Missing = options.OnMissing.RAISE,
    file_format: options.FileFormat = None,
    any_size: options.AnySize = False,  # noqa: ARG001  (its callback lifts the limit)
    as_json: options.AsJson = False,
    output: Decided = None,
    config: options.Config = None,  # noqa: ARG001  (the parser reads it)
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Choose the rows whose selection maximises the expected value of a measure on this batch, and mark them.

    The probabilities must be calibrated, and the rows independent. No outcomes are needed. The choice belongs to the
    whole file (or group): the same row may be decided otherwise among other rows. With --deferral each row is decided
    by what it costs, and left to someone else (-1) where that is expected to cost less. With --false-positive-cost and
    --false-negative-cost each row is decided by its own amounts, and a second column holds its threshold.
    """
    correction = read_correction(positive_share, training_prior, prior)
    of_measure = {"--measure": measure, "--groups": groups, "--sensitivity": sensitivity or None}
    settings: ColumnSettings
    if amounts.stakes:
        refuse({**of_measure, "--deferral": deferring.deferral, **deferring.further}, "does not fit amounts")
        settings = AmountSettings(correction, column, amounts.stakes, amounts.unit or "", str(amounts.on_dominated))
    elif deferring.deferral is None:
        refuse(deferring.further, _WITHOUT_DEFERRAL)
        if measure is None:
            raise UsageError(NOTHING_ASKED)
        zero = read_unit("--zero-division", zero_division)
        settings = DecisionSettings(correction, column, read_measure(measure), zero, sensitivity=sensitivity)
    else:
        of_measure["--zero-division"] = None if zero_division == "0" else zero_division
        refuse(of_measure, "does not fit --deferral")
        settings = DeferralSettings(correction, column, *deferring.terms)
    names = {"models": split_names(models, "--models") or [], "groups": split_names(groups, "--groups") or []}
    reading = {**names, "numbers": amounts.stake_columns, "on_missing": on_missing, "format": file_format}
    return partial(run, file, reading, settings, plan_rows("decide", output, check_endings(), as_json=as_json))


def run(file: str, reading: Mapping[str, Any], settings: ColumnSettings, where: RowsOut) -> None:
    """Read, decide, and write the rows with their decisions."""
    from stakes.tables import read_scores

    with working(f"Reading {name(file)}"):
        scored = read_scores(file, **reading)
    settings.check(scored, where.target)
    if scored.n_dropped:
        note(f"{scored.n_dropped:,} rows get no decision, for a value is missing")
    with working(f"Deciding about {len(scored.rows):,} rows"):
        decisions: AmountDecisions | DecidedRows | Deferrals
        if isinstance(settings, AmountSettings):
            decisions = AmountDecisions.about(scored, settings)
        elif isinstance(settings, DeferralSettings):
            decisions = Deferrals.about(scored, settings)
        else:
            decisions = DecidedRows.about(scored, cast("DecisionSettings", settings))

    def write(path: Path | None) -> None:
        if path is not None:
            with working("Writing the decisions"):
                scored.write(path, decisions.columns)

    where.deliver(write, scored.endings[0], decisions.show, decisions.to_json)
    if where.target is not None:
        note(f"decisions written to {name(str(where.target), 200)}")
    elif not where.piped:
        note("no file was written; -o OUT writes the rows with their decisions")


EXPORT_EPILOG = """\b
Example:
  stakes export rule.json --to sql --dialect spark --score risk
"""


class To(StrEnum):
    """Languages of rules."""

    SQL = "sql"
    ONNX = "onnx"
    JSON = "json"


class Dialect(StrEnum):
    """Dialects of SQL."""

    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    BIGQUERY = "bigquery"
    SNOWFLAKE = "snowflake"
    SPARK = "spark"
    SQLITE = "sqlite"


class Missing(StrEnum):
    """Decisions about rows with a missing value."""

    REFUSE = "refuse"
    ACT = "act"
    WAIT = "wait"
    DEFER = "defer"


RuleFile = Annotated[str, argument("RULE.json", "A rule that was saved.")]
ToOption = Annotated[To, flag("--to", "", "What it becomes.")]
DialectOption = Annotated[Dialect | None, flag("--dialect", "", "Of the SQL. Without it: duckdb.")]
Score = Annotated[
    str | None, flag("--score", "COLUMN", "Column with the score. Without it: as the file of a boundary says.")
]
Uncertainty = Annotated[str | None, flag("--uncertainty", "COLUMN", "Of a boundary: column with the uncertainty.")]
FalsePositive = Annotated[
    str | None, flag("--false-positive-cost", "COLUMN|AMOUNT", "Of decisions with amounts by row: what acting costs.")
]
FalseNegative = Annotated[str | None, flag("--false-negative-cost", "COLUMN|AMOUNT", "The same of not acting.")]
MissingOption = Annotated[
    Missing | None,
    flag("--missing", "", "What rows get where a value is missing. Without it: no decision, which is NULL in SQL."),
]
Target = Annotated[str | None, flag("--output -o", "OUT", "Write to this file and not to stdout; ONNX needs it.")]
_FLAGS = {
    "score": "--score",
    "uncertainty": "--uncertainty",
    "false_positive": "--false-positive-cost",
    "false_negative": "--false-negative-cost",
}


def export(
    file: RuleFile,
    *,
    to: ToOption,
    dialect: DialectOption = None,
    score: Score = None,
    uncertainty: Uncertainty = None,
    false_positive_cost: FalsePositive = None,
    false_negative_cost: FalseNegative = None,
    missing: MissingOption = None,
    output: Target = None,
    debug: options.Debug = False,  # noqa: ARG001  (the program reads it)
) -> options.Job:
    """Write a saved rule for where the data are: as SQL, as a model of ONNX, or as JSON.

    Rules are a boundary, a threshold, a pair of thresholds between which cases are deferred, decisions with amounts by
    row, and an update of scores.
    """
    target = check_target("--output", output, (f".{to}",))
    typed = dict(zip(_FLAGS, (score, uncertainty, false_positive_cost, false_negative_cost), strict=True))
    if to == To.JSON:
        given = [_FLAGS[key] for key, text in typed.items() if text is not None] + ["--missing"] * (missing is not None)
        if given:
            raise UsageError(f"{given[0]} is of sql and onnx: JSON holds the rule without columns")
    if to != To.SQL and dialect is not None:
        raise UsageError("--dialect is of sql")
    if to == To.ONNX and target is None:
        raise UsageError("onnx needs -o OUT.onnx: a model is no text")
    about = {"dialect": dialect, "missing": missing}
    further = {key: str(value) for key, value in about.items() if value is not None}
    return partial(run_export, Export(file, to, typed, further), target)


@dataclass(frozen=True, eq=False, repr=False)
class Export:
    """Which rule becomes what, of which columns."""

    file: str
    to: To
    typed: dict[str, str | None]
    further: dict[str, str]

    def content(self) -> str | bytes:
        """Write the rule."""
        source = at_hand(self.file)
        rule = self._rule(source)
        if self.to == To.JSON:
            return str(rule.to_json())
        write = getattr(rule, f"to_{self.to}")
        takes = signature(write).parameters
        if "missing" in self.further and "missing" not in takes:
            raise UsageError("--missing is of rules that decide: an update leaves missing scores missing")
        try:
            found: str | bytes = write(**self._columns(source, rule, list(takes)), **self.further)
        except ValueError as error:  # which names what was typed
            said = re.sub(r"\bfalse_(positive|negative)\b", r"--false-\1-cost", str(error))
            raise UsageError(said.removesuffix(".")) from None
        return found

    def _rule(self, source: "str | Content") -> Any:
        from stakes._load import load, of_json

        try:
            rule = load(source) if isinstance(source, str) else of_json(source.data)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", file=self.file) from None
        except ValueError as error:
            said = str(error).removesuffix(".").removeprefix(f"{Path(self.file).name}: ")
            raise DataError(said, file=self.file) from None
        if not hasattr(rule, "to_sql"):
            raise DataError(f"is no rule: it is a {type(rule).__name__}", file=self.file)
        return rule

    def _columns(self, source: "str | Content", rule: Any, takes: list[str]) -> dict[str, str | float]:
        """Names of columns, and amounts, by the arguments that they are."""
        from stakes.boundary import Boundary

        named = read_boundary(source)[1] if isinstance(rule, Boundary) else {}
        found: dict[str, str | float] = {}
        for key, option in _FLAGS.items():
            text = self.typed[key]
            if key not in takes and text is not None:
                raise UsageError(f"{option} is of other rules than a {type(rule).__name__}")
            if key in takes:
                text = named.get(key) if text is None else text
                if text is None:
                    raise UsageError(f"{option} COLUMN is needed for a {type(rule).__name__}")
                found[key] = read_stake(option, text) if key.startswith("false_") else text
        return found


def run_export(request: Export, target: Path | None) -> None:
    """Write the rule, to a file as a whole."""
    content = request.content()
    if target is None:
        write_out(f"{content!s}\n")
        return
    with Staged() as staged:
        data = content if isinstance(content, bytes) else f"{content}\n".encode()
        staged.beside(target).write_bytes(data)
        staged.commit()
    note(f"rule written to {name(str(target), 200)}")

"""Decisions about the rows of a file, batch by batch, and how a person reads them on a terminal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from stakes.cli._console import print_table
from stakes.cli._errors import UsageError
from stakes.cli._settings import read_share
from stakes.shown.tabular import Tabular, json_ready
from stakes.shown.text import shown_name as name
from stakes.shown.text import visible
from stakes.shown.words import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from rich.console import Console

    from stakes.tables import ScoredFile
    from stakes.utility import ExpectedUtility, Measure, Sensitivity

    Floats = NDArray[np.float64]

MOST_BATCHES_SHOWN = 50


@dataclass(frozen=True)
class ColumnSettings:
    """From which probabilities rows are decided, and how the answer is called."""

    correction: Callable[[Floats], ArrayLike] | None
    column: str

    def column_for(self, model: str, models: tuple[str, ...]) -> str:
        """Name of the column with the decisions from one model."""
        return self.column if len(models) == 1 else f"{self.column}_{model}"

    def columns_for(self, model: str, models: tuple[str, ...]) -> tuple[str, ...]:
        """Names of all columns from one model."""
        return (self.column_for(model, models),)

    def check(self, scored: ScoredFile, output: Path | None) -> None:
        """Refuse what only shows once the file is known."""
        for column in chain.from_iterable(self.columns_for(model, scored.models) for model in scored.models):
            if column in scored.names:
                raise UsageError(f"--column: the file has a column {name(column)!r} already, name another one")
        if output is not None and output.suffix.lower() not in scored.endings:
            listed = " or ".join(scored.endings)
            raise UsageError(f"--output must end in {listed}, the format of the file, got {name(output.name)!r}")


@dataclass(frozen=True)
class DecisionSettings(ColumnSettings):
    """What is maximised."""

    measure: Measure
    zero_division: float
    sensitivity: bool = False


def check_endings() -> tuple[str, ...]:
    """How the name of a decided file may end; which of these fits the format is known when it has been read."""
    from stakes.tables import ENDINGS

    return tuple(chain.from_iterable(ENDINGS.values()))


def read_measure(text: str) -> Measure:
    """Read the name of a measure."""
    from stakes.utility import get_measure

    try:
        return get_measure(text)
    except ValueError as error:
        raise UsageError(f"--measure: {visible(str(error))}") from None


def read_correction(positive_share: str | None, prior: str | None) -> Callable[[Floats], ArrayLike] | None:
    """Read what is to be done to the probabilities first."""
    if positive_share is None and prior is None:
        return None
    from stakes.correction import shift_prior, undo_class_weight

    steps: list[Callable[[Floats], ArrayLike]] = []
    if positive_share is not None:
        steps.append(partial(undo_class_weight, positive_share=read_share("--positive-share", positive_share)))
    if prior is not None:
        old, colon, new = prior.partition(":")
        if not colon:
            raise UsageError(f"--prior must be two shares, OLD:NEW, got {name(prior)!r}")
        steps.append(partial(shift_prior, old=read_share("--prior", old), new=read_share("--prior", new)))

    def correct(prob: Floats) -> ArrayLike:
        for step in steps:
            prob = step(prob)  # type: ignore[assignment]
        return prob

    return correct


@dataclass(frozen=True)
class Batch:
    """Rows that were decided together."""

    model: str
    group: dict[str, Any]
    result: ExpectedUtility
    sensitivity: Sensitivity | None

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


@dataclass(frozen=True)
class Decisions(Tabular):
    """Every batch of a file, and the new columns."""

    source: str
    settings: DecisionSettings
    n_dropped: int
    batches: list[Batch]
    columns: dict[str, NDArray[np.int64]] = field(repr=False)

    @classmethod
    def about(cls, scored: ScoredFile, settings: DecisionSettings) -> Decisions:
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
                batches.append(Batch(model, group, result, result.sensitivity() if settings.sensitivity else None))
            columns[settings.column_for(model, scored.models)] = decision
        return cls(scored.source, settings, scored.n_dropped, batches, columns)

    def to_json(self) -> str:
        """Return what was asked and every batch."""
        import json

        page = {
            "source": self.source,
            "measure": repr(self.settings.measure),
            "zero_division": self.settings.zero_division,
            "columns": list(self.columns),
            "dropped": self.n_dropped,
            "batches": [batch.record() for batch in self.batches],
        }
        return json.dumps(json_ready(page), indent=2)

    def _records(self) -> list[dict[str, Any]]:
        return [batch.record() for batch in self.batches]

    def show(self, console: Console) -> None:
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

    def _table(self, batches: list[Batch]) -> Table:
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


def _groups(scored: ScoredFile) -> Iterator[tuple[dict[str, Any], NDArray[np.intp]]]:
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
        yield {key: np.asarray(values[first]).item() for key, values in scored.groups.items()}, rows


def _title(batch: Batch) -> str:
    group = ", ".join(f"{name(key)} = {name(str(value))}" for key, value in batch.group.items())
    return f"{name(batch.model)}, {group}" if group else name(batch.model)


def _worst(batch: Batch) -> str:
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

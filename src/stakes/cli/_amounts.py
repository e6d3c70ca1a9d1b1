"""Rows of a file that are acted on by what mistakes cost in each, and how a person reads that on a terminal."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.text import Text

from stakes.cli._decisions import ColumnSettings
from stakes.shown.tabular import Tabular, json_ready
from stakes.shown.text import shown_name as name
from stakes.shown.words import percent

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.console import Console

    from stakes.outcomes import RowDecisions
    from stakes.tables import ScoredFile

THRESHOLD = "_threshold"


@dataclass(frozen=True)
class AmountSettings(ColumnSettings):
    """What mistakes cost, as columns or amounts, in which unit, and what becomes of rows without a decision."""

    stakes: tuple[str | float, ...]
    unit: str
    on_dominated: str

    def columns_for(self, model: str, models: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the columns with the decisions from one model and their thresholds."""
        own = self.column_for(model, models)
        return own, f"{own}{THRESHOLD}"


@dataclass(frozen=True)
class AmountDecisions(Tabular):
    """The new columns: 1 to act and 0 not to, and the probability from which the row is worth acting on."""

    source: str
    settings: AmountSettings
    n_dropped: int
    found: dict[str, RowDecisions] = field(repr=False)
    columns: dict[str, NDArray[Any]] = field(repr=False)

    @classmethod
    def about(cls, scored: ScoredFile, settings: AmountSettings) -> AmountDecisions:
        """Decide about each model."""
        from stakes.outcomes import decide_rows
        from stakes.tables import DataError

        found: dict[str, RowDecisions] = {}
        columns: dict[str, NDArray[Any]] = {}
        a, b = (scored.numbers[stake] if isinstance(stake, str) else stake for stake in settings.stakes)
        for model, prob in zip(scored.models, scored.scores, strict=True):
            p: Any = prob if settings.correction is None else settings.correction(prob)
            decision, threshold = settings.columns_for(model, scored.models)
            try:
                rows = decide_rows(p, false_positive=a, false_negative=b, on_dominated=settings.on_dominated)
            except ValueError as error:
                raise DataError(str(error).removesuffix("."), file=scored.source) from None
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

    def to_json(self) -> str:
        """Return what was asked and how many rows are acted on."""
        asked = dict(zip(("false_positive", "false_negative"), self.settings.stakes, strict=True))
        page = {"source": self.source, **asked, "dropped": self.n_dropped, "columns": self._records()}
        return json.dumps(json_ready(page), indent=2)

    def show(self, console: Console) -> None:
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

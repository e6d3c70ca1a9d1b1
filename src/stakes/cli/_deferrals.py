"""Rows of a file that are acted on, not acted on or left to someone else, and how a person reads that on a terminal."""

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
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from stakes.costs import Deferral
    from stakes.tables import ScoredFile


@dataclass(frozen=True)
class DeferralSettings(ColumnSettings):
    """At which cost ratio, what deferring costs, and how many rows may be deferred."""

    threshold: float
    deferral: Deferral
    capacity: float | None


@dataclass(frozen=True)
class Deferrals(Tabular):
    """The new columns: 1 to act, 0 not to, -1 to defer."""

    source: str
    settings: DeferralSettings
    n_dropped: int
    columns: dict[str, NDArray[np.int64]] = field(repr=False)

    @classmethod
    def about(cls, scored: ScoredFile, settings: DeferralSettings) -> Deferrals:
        """Decide about each model."""
        from stakes.actions import apply_deferral

        columns = {}
        for model, prob in zip(scored.models, scored.scores, strict=True):
            corrected = prob if settings.correction is None else settings.correction(prob)
            actions = apply_deferral(
                corrected, threshold=settings.threshold, deferral=settings.deferral, capacity=settings.capacity
            )
            columns[settings.column_for(model, scored.models)] = actions.astype("int64")
        return cls(scored.source, settings, scored.n_dropped, columns)

    def _records(self) -> list[dict[str, Any]]:
        kinds = {"act": 1, "do_not_act": 0, "deferred": -1}
        return [
            {"column": column, **{kind: int((actions == code).sum()) for kind, code in kinds.items()}}
            for column, actions in self.columns.items()
        ]

    def to_json(self) -> str:
        """Return what was asked and how many rows are treated how."""
        asked = {"threshold": self.settings.threshold, "deferral": vars(self.settings.deferral)}
        page = {"source": self.source, **asked, "capacity": self.settings.capacity, "dropped": self.n_dropped}
        return json.dumps(json_ready({**page, "columns": self._records()}), indent=2)

    def show(self, console: Console) -> None:
        """Print how many rows are acted on, left alone and deferred."""
        settings = self.settings
        low, high = settings.deferral.zone(settings.threshold)
        console.print(Text(f"{name(self.source, 60)}: {next(iter(self.columns.values())).size:,} rows"), soft_wrap=True)
        note = settings.deferral.note_at(settings.threshold)
        zone = f"Deferring pays between {float(low):.4g} and {float(high):.4g}, at threshold {settings.threshold:g}."
        console.print(Text(zone if low < high else f"{note[:1].upper()}{note[1:]}."), soft_wrap=True)
        if settings.capacity is not None:
            console.print(Text(f"At most {percent(settings.capacity)} of the rows are deferred."))
        for row in self._records():
            counts = f"{row['act']:,} acted on, {row['do_not_act']:,} not, {row['deferred']:,} deferred"
            share = row["deferred"] / max(sum(row[kind] for kind in ("act", "do_not_act", "deferred")), 1)
            console.print(Text(f"{name(row['column'])}: {counts} ({percent(share)})"), soft_wrap=True)

"""``stakes evaluate --unlabelled``: what acting on the scores will cost, as the scores themselves say."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from stakes.cli.console import UsageError, deliver, note, print_table, working
from stakes.cli.reading import EvaluationArguments, InputArguments, split_names
from stakes.metrics import promised_regret
from stakes.outputs.result_table import Tabular
from stakes.outputs.text import count, visible
from stakes.outputs.text import shown_name as name

if TYPE_CHECKING:
    from rich.console import Console

    from stakes.cli.console import Delivery
    from stakes.cli.options import Job
    from stakes.core.options import Options
    from stakes.tables import ScoredFile

_USED = {"costs", "odds", "false_alarms_per_miss", "weighting", "groups", "unit_cost", "per", "scale"}
_USED |= {"action_name", "event_name"}


@dataclass(frozen=True)
class PromisedCosts(Tabular):
    """What each model's scores promise, over all rows and in groups."""

    scored: ScoredFile
    options: Options
    weight: str | None

    def _records(self) -> list[dict[str, Any]]:
        every = np.ones(len(self.scored.rows), dtype=bool)
        parts = [("", "", every)]
        for column, values in self.scored.groups.items():
            parts += [(column, str(each), values == each) for each in np.unique(values)]
        return [
            {"model": model, "column": column, "group": group, "n_rows": int(mine.sum())}
            | {"promised": self._promised(scores, mine)}
            for column, group, mine in parts
            for model, scores in zip(self.scored.models, self.scored.scores, strict=True)
        ]

    def _promised(self, scores: Any, mine: Any) -> float:
        weight = None if self.weight is None else self.scored.numbers[self.weight][mine]
        units: dict[str, Any] = {"unit_cost": self.options.unit_cost, "per": self.options.per}
        units |= {"costs": self.options.costs, "scale": self.options.scale}
        return promised_regret(scores[mine], sample_weight=weight, **units)

    def show(self, console: Console) -> None:
        """Print the promises as a person reads them."""
        from stakes.evaluation import Unit, meaning

        records = self._records()
        unit = Unit.of(self.options, [record["promised"] for record in records])
        rows, models = f"{len(self.scored.rows):,} rows without outcomes", len(self.scored.models)
        console.print(Text(visible(f"{self.scored.source}: {rows}; {models} model{'s' * (models != 1)}")))
        console.print(Text(f"{meaning(self.options)}\n"))
        table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), header_style="")
        heads = ["", unit.per, "rows", "promised"]
        for place, head in enumerate(heads):
            justify: Any = "left" if place < 2 else "right"
            table.add_column(Text(head), justify=justify, overflow="fold", no_wrap=place != 1)
        for record in records:
            where = f" in {name(record['column'])} {name(record['group'])}" if record["column"] else ""
            told = count(record["n_rows"]), unit.fixed(record["promised"])
            table.add_row("", Text(f"{name(record['model'])}{where}"), *told)
        print_table(console, table, 1)
        console.print(Text("Cost as its own scores say: it is kept where the scores are right. Outcomes will tell."))


def plan_unlabelled(reading: InputArguments, judging: EvaluationArguments, delivery: Delivery) -> Job:
    """Check everything that can be known before the file is read."""
    if reading.label is not None:
        raise UsageError("--unlabelled is of rows without outcomes, and takes no --label")
    models = split_names(reading.models, "--models")
    if models is None:
        raise UsageError("--unlabelled needs --models: without outcomes nothing says which columns are scores")
    if delivery.report is not None:
        raise UsageError("--report needs outcomes, and --unlabelled has none")
    for field in fields(EvaluationArguments):
        if field.name not in _USED and getattr(judging, field.name) != field.default:
            raise UsageError(f"--{field.name.replace('_', '-')} has no meaning with --unlabelled")
    if reading.resolution != "auto":
        raise UsageError("--resolution has no meaning with --unlabelled")
    options = judging.options(None)
    asked: dict[str, Any] = {"models": models, "groups": options.groups or ()}
    asked |= {"numbers": [reading.weight] if reading.weight else [], "on_missing": reading.on_missing}

    def run() -> None:
        from stakes.tables import DataError, read_scores

        with working(f"Reading {name(reading.file)}"):
            scored = read_scores(reading.file, **asked, format=reading.file_format)
        if scored.n_dropped:
            note(f"{scored.n_dropped:,} rows dropped, for a value is missing")
        found = PromisedCosts(scored, options, reading.weight)
        try:
            found._records()
        except ValueError as error:  # weights that are none
            raise DataError(str(error).rstrip("."), file=scored.source, column=reading.weight) from None
        deliver(found, delivery, found.show)

    return run

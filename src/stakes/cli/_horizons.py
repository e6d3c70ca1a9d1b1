"""One answer for each horizon, in one file or page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console


@dataclass(frozen=True)
class ByHorizon(Tabular):
    """Answers by horizon, and how each becomes JSON."""

    answers: Mapping[float, Tabular]
    json_of: Callable[[Any], str]

    def _records(self) -> list[dict[str, Any]]:
        return [{"horizon": time, **record} for time, answer in self.answers.items() for record in answer._records()]

    def to_json(self) -> str:
        """Return a list of answers, each with its horizon."""
        found = {time: json.loads(self.json_of(answer)) for time, answer in self.answers.items()}
        one = {time: answer[0] if isinstance(answer, list) else answer for time, answer in found.items()}
        return json.dumps({"horizons": [{"horizon": time, **answer} for time, answer in one.items()]}, indent=2)

    def show(self, console: Console, one: Callable[[Console, float], None]) -> None:
        """Print one answer after the other."""
        for number, time in enumerate(self.answers):
            console.print(Text(f"{chr(10) * (number > 0)}Horizon {time:g}", style="bold"), end="\n\n")
            one(console, time)

"""The calibration of every model as a person reads it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from stakes.cli._console import natural_width, print_table
from stakes.cli._summary import _STACKED, _table
from stakes.evaluation._ranking import with_interval
from stakes.shown.text import shown_name as name
from stakes.shown.words import fixed, percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from stakes.evaluation import Evaluation
    from stakes.inference import CalibrationSummary

_DECIMALS = {"o_e_ratio": 2, "calibration_in_the_large": 2, "slope": 2, "ici": 4}
_HEADS = ("O:E", "in the large", "slope", "ICI")


def print_calibration(console: Console, evaluation: Evaluation) -> None:
    """Print each model's calibration over all cases, and over those scored within the range."""
    console.print()
    table = calibration_table(evaluation, _STACKED)
    if natural_width(console, table) > console.width:
        table = calibration_table(evaluation, "{value}\n{low} to\n{high}")
    print_table(console, table, 1)
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    words = (
        f"in range: scored from {low} to {high}, where the plausible thresholds decide. O:E observed to expected "
        "events (1 is calibrated); in the large: intercept on the logit scale with slope 1 (0); slope below 1: scores "
        f"too extreme; ICI: mean distance from the smoothed event rate. x to y: pointwise "
        f"{percent(evaluation.confidence_level)} intervals."
    )
    notes = [f"{name(row.model)}: {row.overall.note}." for row in evaluation.calibration if row.overall.note]
    console.print()
    console.print(Text("\n".join([words, *notes]), style="dim"))


def calibration_table(evaluation: Evaluation, interval: str) -> Table:
    """Two rows for each model, numbers above their intervals."""
    table = _table("#", "model", "cases", "rows", *_HEADS)
    for rank, row in enumerate(evaluation.calibration, start=1):
        for cases, found in row.parts().items():
            lead = (str(rank), Text(name(row.model))) if cases == "all" else ("", Text())
            rows = "0" if found is None else f"{found.n_rows:,}"
            table.add_row(*lead, cases, rows, *_cells(found, interval), end_section=cases != "all")
    return table


def _cells(found: CalibrationSummary | None, interval: str) -> list[str]:
    if found is None:
        return ["-"] * len(_HEADS)
    return [
        with_interval(
            getattr(found, number),
            found.interval(number),
            lambda value, places=places: fixed(value, places),  # type: ignore[misc]
            interval=interval,
        )
        for number, places in _DECIMALS.items()
    ]

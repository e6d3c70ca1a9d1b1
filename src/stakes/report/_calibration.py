"""The section of calibration: what reporting guidelines for prediction models ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stakes.report._escaped import text_html
from stakes.report._html import table
from stakes.report._numbers import fixed, interval, percent
from stakes.shown.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.inference import CalibrationSummary
    from stakes.report._html import Cell
    from stakes.report._models import Model

_NUMBERS = {
    "o_e_ratio": ("O:E", "observed to expected; 1 is calibrated", 2),
    "calibration_in_the_large": ("In the large", "intercept with slope 1; 0 is calibrated", 2),
    "slope": ("Slope", "below 1: too extreme", 2),
    "ici": ("ICI", "mean distance to the smooth curve", 4),
    "e90": ("E90", "its 90th percentile", 4),
}


def calibration_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """A table with two rows for each model, and what the numbers are."""
    ends = tuple(percent(end) for end in (evaluation.costs.low, evaluation.costs.high))
    where = f"scored at {ends[0]}" if ends[0] == ends[1] else f"scored {ends[0]} to {ends[1]}"
    found = [(model, evaluation.calibration.of(model.name)) for model in models]
    rows: list[list[Cell]] = [
        [f"{model.rank}", model.sample + f'<small class="note">{words}</small>', *_cells(summary)]
        for model, mine in found
        for words, summary in (("all cases", mine.overall), (where, mine.in_range))
    ]
    heads = [f"{head}<br><small>{meaning}</small>" for head, meaning, _ in _NUMBERS.values()]
    labels = ["", "", "Cases", *(head for head, _, _ in _NUMBERS.values())]
    shown = table(
        f"Calibration over all cases, and of those {where}", ["#", "Model", "Cases", *heads], rows, labels=labels
    )
    level = f"{evaluation.confidence_level * 100:g}%"
    notes = dict.fromkeys(mine.overall.note for _, mine in found if mine.overall.note)
    return (
        "<p>O:E above 1 and calibration in the large above 0 say that risks are too low, below that they are too high. "
        f"Only cases {where} are decided differently by the plausible thresholds, the range as reported. Intervals are "
        f"pointwise {level} intervals.</p>{shown}" + "".join(f"<p>{text_html(note, 200)}</p>" for note in notes)
    )


def _cells(found: CalibrationSummary | None) -> list[str]:
    if found is None:
        return ["0", *["&ndash;"] * len(_NUMBERS)]
    cells = [f"{count(found.n_rows)}<small>{count(found.n_positives)} positive</small>"]
    for name, (_, _, places) in _NUMBERS.items():
        value = fixed(getattr(found, name), places)
        cells.append(f"{value}<small>{interval(found.interval(name), places)}</small>")
    return cells

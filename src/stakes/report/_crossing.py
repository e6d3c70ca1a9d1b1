"""The section on curves that are shown to cross: the difference of two decisions over the range, with its band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.inference import named
from stakes.report._escaped import text_html
from stakes.report._figure import Figure
from stakes.report._models import REFERENCE_DASHES, swatch
from stakes.report._payload import encoded
from stakes.shown.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model


def crossing_section(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The figure, or nothing where no curves are shown to cross."""
    if not evaluation.crossing or evaluation.selection is None:
        return ""
    chosen = evaluation.selection.chosen
    level = f"{evaluation.confidence_level * 100:g}%"
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    by_name = {model.name: model for model in models}
    first = _html(chosen, by_name)
    caption = (
        f"<p>What {first} costs beyond each other decision at every threshold of the range as reported, {low} to "
        f"{high}; the figure does not follow a range that is dragged. Below 0 {first} costs less, above 0 the other "
        f"does. All that the light bands leave on one side of 0 is shown at once, over all pairs of decisions, at "
        f"{level} confidence.</p>"
    )
    label = f"Line chart of differences in regret against the threshold: {len(evaluation.crossing)} with a band."
    figure = Figure("crossing", "difference in regret per decision", label, caption)
    items = "".join(
        f'<span class="reference">{_swatch(name, by_name)} {first} &minus; {_html(name, by_name)}</span>'
        for name in evaluation.crossing
    )
    return figure.html((), f'<div class="legend">{items}</div>')


def crossing_payload(evaluation: Evaluation, models: Sequence[Model]) -> list[dict[str, Any]]:
    """What the page draws: for each difference its thresholds, values, limits, and how its line looks."""
    by_name = {model.name: model for model in models}
    return [
        {
            "name": by_name[name].short if name in by_name else name,
            "model": by_name[name].rank - 1 if name in by_name else None,
            "x": encoded(band.thresholds),
            "y": encoded(band.estimate, "f4"),
            "limits": encoded(np.concatenate([band.simultaneous_low, band.simultaneous_high]), "f4"),
        }
        for name, band in evaluation.crossing.items()
    ]


def _html(name: str, models: dict[str, Model]) -> str:
    return models[name].html if name in models else text_html(named(name), 40)


def _swatch(name: str, models: dict[str, Model]) -> str:
    if name in models:
        return swatch(f"--model-{models[name].colour}", models[name].dash)
    return swatch("--reference", REFERENCE_DASHES[name])

"""Resampled tables of rows with censored follow-up: rows are drawn, known or not, and censoring is estimated anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stakes.core.inputs import evaluation_data
from stakes.core.score_table import ScoreTable
from stakes.inference._resample import sums_by_cell
from stakes.outcomes import BeyondFollowUpError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.inference._resample import Draw, Room
    from stakes.outcomes import TimeToEvent

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]

_MOST_REDRAWN = 100  # in a row: then nearly all resamples end before the horizon


@dataclass
class OutcomeSource:
    """Resampled tables of several models; ``redrawn`` counts resamples in which nobody was followed to the horizon."""

    outcome: TimeToEvent
    models: Sequence[tuple[Floats, Integers]]
    draw: Draw
    redrawn: int = 0

    @classmethod
    def of(cls, outcome: TimeToEvent, scores: Sequence[Any], data: Mapping[str, Any], draw: Draw) -> Self:
        """Source of the resamples of all rows."""
        models = []
        for score in scores:
            origin = evaluation_data(outcome, score, **data).rows.origin
            if origin is None:
                raise TypeError("rows with the status of some unknown come from a TimeToEvent")
            distinct, level = np.unique(origin.score + 0.0, return_inverse=True)
            models.append((distinct, 2 * level.reshape(-1) + outcome.y))
        return cls(outcome, models, draw)

    def tables(self, rng: np.random.Generator, _room: Room | None = None) -> list[ScoreTable]:
        """One resampled table for each model, all from the same rows."""
        counts, outcome = self._drawn(rng)
        weight = outcome.weight
        # a row that is drawn k times is k rows of a k-th of the weight
        squared = np.divide(weight * weight, counts, out=np.zeros(len(weight)), where=counts > 0)
        drawn = int(counts.sum())
        return [
            ScoreTable(*sums_by_cell(scores, code, [weight, squared]), n_rows=drawn, about=outcome.about)
            for scores, code in self.models
        ]

    def _drawn(self, rng: np.random.Generator) -> tuple[Integers, TimeToEvent]:
        for _ in range(_MOST_REDRAWN):
            counts = self.draw(rng)
            try:
                return counts, self.outcome.repeated(counts)
            except BeyondFollowUpError:
                self.redrawn += 1
        raise ValueError(
            f"{_MOST_REDRAWN} resamples in a row end before the horizon {self.outcome.horizon:g}: too few rows were "
            f"followed to it ({self.outcome.at_risk})."
        )

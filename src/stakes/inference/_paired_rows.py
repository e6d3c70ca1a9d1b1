"""Rows that several models share: labels, the scores of each, weights, and how rows depend on each other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from stakes.core.validation import BinarySample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from stakes.core.outcome import Origin

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]


@dataclass(frozen=True)
class PairedRows:
    """Rows that several models share; ``clusters`` are codes of what is independent, ``lags`` is for rows in order.

    Where an outcome weighs the rows, ``origin`` is where they come from and ``every_score`` the scores of all rows.
    """

    y: Bools
    scores: Sequence[Floats]
    weight: Floats | None
    fixed_prevalence: bool = False
    clusters: Integers | None = None
    lags: int | str | None = None
    origin: Origin | None = None
    every_score: Sequence[Floats] = ()

    def taken(self, part: Bools | Integers | slice) -> PairedRows:
        """Some of the rows; where an outcome weighs them, their errors and clusters stay those of all its rows."""
        weight = None if self.weight is None else self.weight[part]
        clusters, origin = self.clusters, self.origin
        if origin is not None:
            origin = replace(origin, places=origin.places[part])
        elif clusters is not None:
            clusters = clusters[part]
        scores = [s[part] for s in self.scores]
        return replace(self, y=self.y[part], scores=scores, weight=weight, clusters=clusters, origin=origin)

    def arguments(self, first: int, second: int) -> tuple[Any, Floats, Floats, Floats | None]:
        """Labels, scores of two models and weights as a public function takes them."""
        if self.origin is None:
            return self.y, self.scores[first], self.scores[second], self.weight
        scattered = self.origin.scattered
        return self.origin.outcome, scattered(self.scores[first]), scattered(self.scores[second]), None

    def sample(self, index: int) -> BinarySample:
        """The rows of one model."""
        origin = self.origin and replace(self.origin, score=self.every_score[index])
        return BinarySample(self.y, self.scores[index], self.weight, origin)

    @property
    def dependent(self) -> bool:
        """Whether rows depend on each other, in clusters, in order of time or by weights estimated from all of them."""
        by_outcome = self.origin is not None and not self.origin.as_weights
        return self.clusters is not None or self.lags is not None or by_outcome

    @property
    def used(self) -> PairedRows:
        """The rows of positive weight."""
        return self if self.weight is None or self.weight.all() else self.taken(self.weight > 0.0)

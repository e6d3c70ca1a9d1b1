"""Regions of score and uncertainty that are labelled positive: what a boundary is when it is applied to new rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._ranker import Ranker
from stakes.boundary._rows import level_of
from stakes.core.expressions import choose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._options import Floats
    from stakes.shown.entries import Entries

    Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class LevelRule:
    """Score >= the threshold of the row's uncertainty level (infinite: nothing is selected there)."""

    cuts: Floats
    thresholds: Floats
    kind = "levels"

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(score >= self.thresholds[level_of(self.cuts, uncertainty)])

    def expression(self, score: Any, uncertainty: Any) -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        found = _reached(score, self.thresholds[-1])
        for cut, threshold in zip(self.cuts[::-1].tolist(), self.thresholds[-2::-1].tolist(), strict=True):
            found = choose(uncertainty <= cut, _reached(score, threshold), found)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, "cuts": self.cuts.tolist(), "thresholds": self.thresholds.tolist()}


@dataclass(frozen=True)
class ShiftedRule:
    """Score + weight * (uncertainty, scaled to [0, 1] on the rows it was fitted to) >= threshold."""

    low: float
    high: float
    weight: float
    threshold: float
    kind = "shifted"

    def shifted(self, score: Floats, uncertainty: Floats) -> Floats:
        """Score moved by its uncertainty."""
        width = self.high - self.low
        return score + (self.weight * (uncertainty - self.low) / width if width > 0.0 else 0.0)

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(self.shifted(score, uncertainty) >= self.threshold)

    def expression(self, score: Any, uncertainty: Any) -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        return _reached(self.shifted(score, uncertainty), self.threshold)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in ("low", "high", "weight", "threshold")}}


@dataclass(frozen=True)
class RankedRule:
    """Value of a learned ranker >= threshold."""

    ranker: Ranker
    threshold: float
    kind = "ranked"

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(self.ranker.rank(score, uncertainty) >= self.threshold)

    def expression(self, *_: Any) -> Any:
        """Refuse: what follows from logarithms is not the same to the last bit everywhere."""
        raise ValueError(
            "a ranked boundary takes logarithms, which engines round differently, so that its decisions would not be "
            "those of predict: fit one with levels=, or apply it here."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, "ranker": self.ranker.to_dict(), "threshold": self.threshold}


def _reached(value: Any, threshold: float) -> Any:
    """1 where a value reaches the threshold, else 0."""
    if math.isinf(threshold):
        always = int(threshold == -math.inf)
        return choose(value >= 0.0, always, always)
    return choose(value >= float(threshold), 1, 0)


Rule = LevelRule | ShiftedRule | RankedRule


def read_rule(described: Entries) -> Rule:
    """Read a rule, whose entries may come from anywhere."""
    kind = described.text("kind")
    if kind == "levels":
        cuts, thresholds = described.numbers("cuts"), described.numbers("thresholds", infinite=True)
        if np.any(np.diff(cuts) <= 0.0):
            raise described.broken("cuts", "strictly increasing numbers")
        if len(thresholds) != len(cuts) + 1:
            raise described.broken("thresholds", f"{len(cuts) + 1} numbers, one more than cuts")
        return LevelRule(cuts, thresholds)
    threshold = described.number("threshold", infinite=True)
    if kind == "shifted":
        low, high, weight = (described.number(name) for name in ("low", "high", "weight"))
        return ShiftedRule(low, high, weight, threshold)
    if kind == "ranked":
        return RankedRule(Ranker.read(described.inside("ranker")), threshold)
    raise described.broken("kind", f"levels, shifted or ranked, got {kind!r}")

"""Regions of score and uncertainty that are labelled positive: what a boundary is when it is applied to new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._ranker import Ranker
from stakes.boundary._rows import finite_covariates, level_of, read_covariates
from stakes.boundary._steps import steps_of
from stakes.core.expressions import by_level, check_missing, decided, is_expression, reaching
from stakes.core.rules import decide_present

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._options import Floats
    from stakes.shown.entries import Entries

    Bools = NDArray[np.bool_]


class _Deciding(ABC):
    """What every rule does with rows that have not been checked."""

    @abstractmethod
    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""

    @abstractmethod
    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""

    def decide(self, score: Any, uncertainty: Any, missing: str) -> Any:
        """Label rows 1 or 0, or make an expression of expressions."""
        if is_expression(score):
            return self.expression(score, uncertainty, check_missing(missing))
        columns = read_covariates(score, uncertainty)
        return decide_present(
            columns, missing, lambda **clean: self.select(*finite_covariates(**clean)).astype(np.int64)
        )


@dataclass(frozen=True)
class LevelRule(_Deciding):
    """Score >= the threshold of the row's uncertainty level (infinite: nothing is selected there)."""

    cuts: Floats
    thresholds: Floats
    kind = "levels"

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(score >= self.thresholds[level_of(self.cuts, uncertainty)])

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        levels = [reaching(score, threshold, 1, 0) for threshold in self.thresholds.tolist()]
        return decided(by_level(uncertainty, self.cuts.tolist(), levels), [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, "cuts": self.cuts.tolist(), "thresholds": self.thresholds.tolist()}


@dataclass(frozen=True)
class ShiftedRule(_Deciding):
    """Score + weight * (uncertainty, scaled to [0, 1] on the rows it was fitted to) >= threshold."""

    low: float
    high: float
    weight: float
    threshold: float
    kind = "shifted"

    def shifted(self, score: Floats, uncertainty: Floats) -> Floats:
        """Score moved by its uncertainty."""
        width = self.high - self.low
        with np.errstate(over="ignore"):
            return score + (self.weight * (uncertainty - self.low) / width if width > 0.0 else 0.0)

    def at(self, threshold: float) -> ShiftedRule:
        """The same with another threshold."""
        return replace(self, threshold=threshold)

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        return np.asarray(self.shifted(score, uncertainty) >= self.threshold)

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        found = reaching(self.shifted(score, uncertainty), self.threshold, 1, 0)
        return decided(found, [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"kind": self.kind, **{name: getattr(self, name) for name in ("low", "high", "weight", "threshold")}}


# a rule begins at the first score, ends before the last, and begins again
_STEPS = ("first", "last", "again")
_STEP_ROUNDING = 1e-9


@dataclass(frozen=True)
class RankedRule(_Deciding):
    """Value of a learned ranker >= threshold, written as scores at each rank of the uncertainty.

    The ranker takes logarithms, which machines and engines round differently, so the scores at which its value crosses
    the threshold are found once, to the last bit; they are the rule.
    """

    ranker: Ranker
    threshold: float
    steps: Floats
    kind = "ranked"

    @classmethod
    def of(cls, ranker: Ranker, threshold: float) -> RankedRule:
        """Find the scores at which the value of the ranker crosses a threshold."""
        return cls(ranker, threshold, steps_of(ranker, threshold))

    def at(self, threshold: float) -> RankedRule:
        """The same with another threshold."""
        return RankedRule.of(self.ranker, threshold)

    def select(self, score: Floats, uncertainty: Floats) -> Bools:
        """Whether each row is labelled positive."""
        first, last, again = self.steps[self.ranker.level(uncertainty)].T
        return np.asarray(((score >= first) & (score < last)) | (score >= again))

    def expression(self, score: Any, uncertainty: Any, missing: str = "refuse") -> Any:
        """The same, 1 or 0, as an expression of expressions."""
        levels = [
            reaching(score, again, 1, reaching(score, last, 0, reaching(score, first, 1, 0)))
            for first, last, again in self.steps.tolist()
        ]
        return decided(by_level(uncertainty, self.ranker.knots[:-1].tolist(), levels), [score, uncertainty], missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        steps = {name: column.tolist() for name, column in zip(_STEPS, self.steps.T, strict=True)}
        return {"kind": self.kind, "ranker": self.ranker.to_dict(), "threshold": self.threshold, "steps": steps}


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
        return _read_ranked(described, threshold)
    raise described.broken("kind", f"levels, shifted or ranked, got {kind!r}")


def _read_ranked(described: Entries, threshold: float) -> RankedRule:
    """Read a learned order and the scores that it makes, which must follow from it but for rounding."""
    ranker = Ranker.read(described.inside("ranker"))
    columns = [described.numbers("steps", name, infinite=True) for name in _STEPS]
    for name, column in zip(_STEPS, columns, strict=True):
        if len(column) != len(ranker.knots):
            raise described.broken(f"steps.{name}", f"{len(ranker.knots)} numbers, as ranker.knots are")
    near = _STEP_ROUNDING * (1.0 if ranker.log_odds else abs(ranker.centre) + ranker.scale)
    for name, column, wanted in zip(_STEPS, columns, steps_of(ranker, threshold).T, strict=True):
        bad = ~np.isclose(column, wanted, rtol=_STEP_ROUNDING, atol=near)
        if np.any(bad):
            place = int(np.argmax(bad))
            raise described.broken(
                f"steps.{name}", f"{wanted[place]} at place {place}, as ranker and threshold say, got {column[place]}"
            )
    return RankedRule(ranker, threshold, np.column_stack(columns))

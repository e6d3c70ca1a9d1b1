"""Censored follow-up in the groups of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Self

import numpy as np

from stakes.base.outcome import Outcome
from stakes.base.validation import Bools, Floats, Integers
from stakes.outcomes import NEEDED_AT_RISK, RowCosts, TimeToEvent, reweighed

if TYPE_CHECKING:
    from stakes.inference import PairedRows


def follow_up_of(outcome: Outcome | None) -> TimeToEvent | None:
    """The follow-up that an outcome is, or whose rows it gives amounts."""
    outcome = outcome.inner if isinstance(outcome, RowCosts) else outcome
    return outcome if isinstance(outcome, TimeToEvent) else None


@dataclass(frozen=True)
class Followed:
    """How many rows of each group were followed to the horizon, whether that is enough, and which it weighs anew.

    It is enough where an interval needs no more, or nobody was lost. Censoring that was estimated from all rows is then
    estimated from those of the group alone, ``own``: that of all rows need not hold in it.
    """

    count: Integers
    known: Bools
    own: list[Integers]

    @classmethod
    def of(cls, rows: PairedRows, groups: int, members: Callable[[], list[Integers]]) -> Self:
        """Count the rows of each group that were followed; ``members`` gives the places of its rows."""
        outcome = None if rows.origin is None else follow_up_of(rows.origin.outcome)
        if outcome is None or not outcome.estimated:
            none = np.zeros(groups, dtype=np.intp)
            return cls(none, none == 0, [])
        reached = outcome.present & (outcome.follow_up.time >= outcome.horizon)
        lost, places = outcome.present & ~outcome.known, members()
        count = np.array([np.count_nonzero(reached[mine]) for mine in places])
        known = (count >= NEEDED_AT_RISK) | ~np.array([lost[mine].any() for mine in places])
        return cls(count, known, list(compress(places, known & outcome.pooled)))

    @property
    def notes(self) -> list[str]:
        """Why nothing is said of a group."""
        each = {0: "no row was", 1: "only 1 row was"}
        few = (each.get(count, f"only {count} rows were") for count in self.count.tolist())
        return [f"{rows} followed to the horizon: a group needs {NEEDED_AT_RISK}" for rows in few]


class _InGroups(Outcome):
    """Follow-up with censoring estimated within some groups of rows, and from all rows for the others."""

    def __init__(self, whole: TimeToEvent, groups: Sequence[Integers]) -> None:
        codes = np.full(len(whole.y), -1)
        for code, mine in enumerate(groups):
            codes[mine] = code
        self.whole, self.apart = whole, codes >= 0
        self.own = whole.take(self.apart).within(codes[self.apart])
        self.y, self.sample_weight, self.weight = whole.y, whole.sample_weight, whole.weight.copy()
        self.weight[self.apart] = self.own.weight

    @property
    def reason(self) -> str:
        return self.whole.reason

    @property
    def about(self) -> str:
        return self.whole.about

    def parts(self, parts: Floats) -> Floats:
        """Contributions of all rows to an error, including the estimation of censoring."""
        found = self.whole.parts(np.where(self.apart, 0.0, parts))
        found[..., self.apart] += self.own.parts(parts[..., self.apart])
        return found


def weighed_within(rows: PairedRows, groups: Sequence[Integers]) -> PairedRows:
    """The rows of some groups weighed by censoring within each, all others as they are."""
    origin, weight = rows.origin, rows.weight
    outcome = None if origin is None else follow_up_of(origin.outcome)
    if origin is None or weight is None or outcome is None or not groups:
        return rows
    own: Outcome = _InGroups(outcome, groups)
    own = reweighed(origin.outcome, own) if isinstance(origin.outcome, RowCosts) else own
    by_class = weight / origin.outcome.weight[origin.places]
    return replace(rows, weight=by_class * own.weight[origin.places], origin=replace(origin, outcome=own))

"""Checks of the option to leave cases to someone else, where an evaluation has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stakes.evaluation._finding import Observation, slots
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from stakes.evaluation._standings import Standings

MOST = 0.5


def harms(standings: Standings) -> Observation | None:
    """Models for which the option costs more than it saves."""
    if standings.deferral is None:
        return None
    worth = {name: found.estimates["value"] for name, found in standings.deferral.models.items()}
    bad = {name: value.value for name, value in worth.items() if value.interval[1] < 0.0}
    if not bad:
        return None
    words = f"leaving cases of {slots(len(bad))} to someone else costs more than it saves"
    return Observation(f"{words} ({number(-min(bad.values()))} per case at most)", tuple(bad), {"value": bad})


def no_model_needed(standings: Standings) -> Observation | None:
    """Deferring every case beside the best model with the option."""
    if standings.deferral is None:
        return None
    chosen = standings.deferral.selection
    reference = chosen.references[-1]
    if chosen.chosen == reference:
        words = f"with the option to defer, {reference} costs no more than {{0}}, the best model"
        return Observation(words, (chosen.best_model,), {"cost": chosen.cost})
    other = chosen.against.get(reference)
    if other is None or other.shown or chosen.chosen not in chosen.models:
        return None
    words = f"with the option to defer, {{0}} is not shown to cost less than {reference}"
    return Observation(words, (chosen.chosen,), {"difference": other.difference, "limit": other.limit})


def most_deferred(standings: Standings) -> Observation | None:
    """The best model with the option, where it decides fewer cases than it leaves to others."""
    if standings.deferral is None:
        return None
    best = standings.deferral.selection.best_model
    share = standings.deferral[best].shares["deferred"]
    if share <= MOST:
        return None
    words = f"with the option to defer, {percent(share)} of the cases of {{0}} are left to someone else"
    return Observation(words, (best,), {"deferred": share})

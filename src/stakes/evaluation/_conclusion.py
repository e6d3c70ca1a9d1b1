"""Plain sentences for people who have to decide, made from the numbers of an evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stakes.evaluation._choice import describe_costs, why_unsaid
from stakes.inference import capital, listed, named
from stakes.shown.sentences import REFERENCES, say
from stakes.shown.words import join, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stakes.evaluation._standings import Standings

_WORTH_RECALIBRATING = 0.05


def conclude(standings: Standings) -> list[str]:
    """Say which decision is best, how sure that is, what being wrong would cost, and how the scores are calibrated."""
    return [
        *_choice(standings),
        *([standings.harm_line] if standings.harms else []),
        *_boundless(standings),
        *_calibration(standings),
        *_constant_models(standings),
    ]


def _choice(standings: Standings) -> Iterator[str]:
    if standings.selection is not None:
        yield from standings.selection.sentences
        yield from _everywhere(standings)
        return
    yield say(
        "lead" if len(standings.models) > 1 else "lead_alone",
        where=describe_costs(standings.costs, standings.options.per_stake),
        best=standings.best.name,
        amount=number(standings.best.score),
        decisions=standings.options.per_stake or "decision"
        if standings.per == 1.0
        else f"{standings.per:,g} decisions",
        unit=standings.scale if standings.unit_cost == 1.0 else say("in_units", scale=standings.scale),
        note=say("hindsight") if standings.rule == "optimal" else "",
    )
    yield say("unsaid", why=why_unsaid(standings.moments, standings.options))


def _everywhere(standings: Standings) -> Iterator[str]:
    """What the chosen decision is shown to beat at every threshold, where it is shown."""
    found, choice = standings.by_threshold, standings.selection
    if found is None or choice is None or not found.everywhere:
        return
    yield say(
        "every_threshold",
        best=capital(named(choice.chosen)),
        other=listed([named(name) for name in found.everywhere]),
        low=percent(standings.costs.low),
        high=percent(standings.costs.high),
    )


def _boundless(standings: Standings) -> Iterator[str]:
    """Models with infinite costs."""
    names = [name for name in standings.ranking if standings[name].score == math.inf]
    if names:
        yield say("boundless_one" if len(names) == 1 else "boundless", others=join(names))


def _calibration(standings: Standings) -> list[str]:
    best, parts = standings.best, standings.best.decomposition
    if parts is None:
        return []
    sentences = []
    share, mean_score, rate = best.in_range
    low, high = percent(standings.costs.low), percent(standings.costs.high)
    if math.isfinite(rate) and standings.costs.low < standings.costs.high:
        ends = {"low": low, "high": high, "share": percent(share)}
        words = "all_cases" if share == 1.0 else "cases"
        sentences.append(say(words, best=best.name, mean=percent(mean_score), rate=percent(rate), **ends))
    if math.isfinite(parts.miscalibration) and parts.score > 0.0 and not standings.options.per_stake:
        harm = standings.factor * float(standings.options.harms([best.name])[0])
        saving = parts.miscalibration / (parts.score + harm)
        words = "recalibrate_little" if saving < _WORTH_RECALIBRATING else "recalibrate"
        sentences.append(say(words, best=best.name, saving=percent(saving)))
    return sentences


def _constant_models(standings: Standings) -> list[str]:
    sentences = []
    for constant in REFERENCES:
        names = [result.name for result in standings.results if result.acts_like == constant]
        if names:
            words = "acts_like" if len(names) == 1 else "act_like"
            sentences.append(say(words, models=join(names), constant=say(constant)))
    return sentences

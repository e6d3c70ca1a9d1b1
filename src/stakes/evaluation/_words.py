"""What an action, an event and a range of thresholds are called in sentences."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stakes.costs import Fixed, LogOddsUniform, Uniform
from stakes.outputs.text import MISSING, REFERENCES, decimals_needed, fixed, percent, percents, stated, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.core.options import Options

_VOWELS = "aeiou"
_MOST_DECIMALS = 2  # of costs per 1,000 decisions; smaller ones are "below 0.01"
# last syllables that are stressed in verbs of several, and words that only look like them
_STRESSED, _UNSTRESSED = ("fer", "mit", "bar", "gin", "cur", "rol", "pel", "set"), ("ffer", "limit", "vomit")


@dataclass(frozen=True, eq=False, repr=False)
class Words:
    """Names of the action and of the event, and the words that follow from them."""

    action: str = "treat"
    event: str = "positive"

    @property
    def acting(self) -> str:
        """The action as a noun: "treating"."""
        verb, _, rest = self.action.partition(" ")
        stem = verb
        if verb.endswith("ie"):
            stem = f"{verb[:-2]}y"
        elif verb.endswith("e") and not verb.endswith(("ee", "ye", "oe")):
            stem = verb[:-1]
        elif _doubles(verb):
            stem = verb + verb[-1]
        return f"{stem}ing {rest}".rstrip()

    @property
    def events(self) -> str:
        """More than one event."""
        return plural(self.event)

    def row(self, name: str) -> str:
        """What a row of a table is called: "treat everyone", or the model."""
        return f"{self.action} {_WHOM[name]}" if name in REFERENCES else name

    def decision(self, name: str) -> str:
        """What a decision is called in a sentence: "treating everyone", or the model."""
        return f"{self.acting} {_WHOM[name]}" if name in REFERENCES else name


_WHOM = dict(zip(REFERENCES, ("everyone", "no one"), strict=True))


def _doubles(verb: str) -> bool:
    """Whether the last letter of a verb is doubled before "ing": stop, refer, but not treat, open or offer."""
    if len(verb) < 3 or verb[-1] in f"{_VOWELS}wxy" or verb[-2] not in _VOWELS or verb[-3] in _VOWELS:
        return False
    alone = len(re.findall(rf"[{_VOWELS}]+", verb)) == 1
    return alone or (verb.endswith(_STRESSED) and not verb.endswith(_UNSTRESSED))


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    if noun.endswith("y") and noun[-2:-1] not in _VOWELS:
        return f"{noun[:-1]}ies"
    if noun.endswith("sis"):
        return f"{noun[:-2]}es"
    return f"{noun}es" if noun.endswith(("s", "x", "z", "ch", "sh")) else f"{noun}s"


def capital(text: str) -> str:
    """Capitalise the start of a sentence."""
    return text[:1].upper() + text[1:]


def counted(tie: float) -> str:
    """How a case on the threshold counts where it is not simply acted on: "as 50% acted on"."""
    if math.isnan(tie):
        return "by the tie of each threshold"
    return f"as {percent(tie) if tie else 'not'} acted on"


def meaning(options: Options) -> str:
    """What the range of thresholds says of mistakes, in one sentence."""
    costs, words = options.costs, Words(options.action, options.event)
    low, high = costs.low, costs.high
    if options.per_stake:
        return _meaning_of_amounts(options)
    weighting = ""
    if isinstance(costs, LogOddsUniform):
        weighting = ", counted alike in log-odds"
    elif not isinstance(costs, Uniform | Fixed):
        weighting = f", weighted by {costs!r}"
    where = percent(low) if low == high else " to ".join(percents([low, high]))
    acting = f"{capital(words.acting)} {'above' if costs.tie == 0.0 else 'from'} a risk of {where}{weighting}"
    if not isinstance(options.rule, str):
        acting = f"{capital(words.acting)} from a score of {options.rule:g}, judged at thresholds of {where}{weighting}"
    return f"{acting}: one missed {words.event} is {_as_bad_as(low, high)}."


def _as_bad_as(low: float, high: float) -> str:
    """How many false alarms are as bad as one missed event, at all thresholds of a range."""
    least, most = (_alarms(end) for end in (high, low))
    if low == high == 0.0:
        return "worse than any number of false alarms"
    if low == high == 1.0:
        return "as bad as no false alarm"
    if high == 1.0:
        return "as bad as any number of false alarms" if low == 0.0 else f"as bad as {_counted(most)} at most"
    if low == 0.0:
        return f"as bad as {_counted(least)} at least"
    return f"as bad as {_counted(most if least == most else f'{least} to {most}')}"


def _counted(alarms: str) -> str:
    return f"{alarms} false alarm{'s' * (alarms != '1')}"


def _alarms(threshold: float) -> str:
    return "" if threshold in {0.0, 1.0} else times((1.0 - threshold) / threshold)


def _meaning_of_amounts(options: Options) -> str:
    costs = options.costs
    factors = [end / (1.0 - end) if end < 1.0 else float("inf") for end in (costs.low, costs.high)]
    ruled = ""
    if not isinstance(options.rule, str):
        acting, share = capital(Words(options.action).acting), percent(options.rule)
        ruled = f" {acting} where the expected cost of a miss is {share} or more of that of both mistakes: this is no "
        ruled += "threshold on the score."
    if factors == [1.0, 1.0]:
        return f"Each row counts what its mistakes cost, with amounts as stated.{ruled}"
    told = " to ".join(dict.fromkeys(f"{factor:.3g}" for factor in factors))
    return f"Each row counts what its mistakes cost, a false positive {told} times the stated amount.{ruled}"


@dataclass(frozen=True, eq=False, repr=False)
class Unit:
    """In what costs are told: by what they are multiplied, what they are counted per, and with how many decimals."""

    factor: float
    per: str
    decimals: int

    @classmethod
    def of(cls, options: Options, costs: list[float], leads: Sequence[float] = ()) -> Unit:
        """Per 1,000 decisions, unless another number was named; other scales than regret stand as they are.

        Decimals show three digits of the least cost, and two of leads that are shown.
        """
        if options.scale != "regret":
            return cls(1.0, f"on the scale of the {options.scale}", max(_decimals(costs, 4), _decimals(leads, 4, 2)))
        factor = 1000.0 if options.per == 1.0 else 1.0
        stake = options.per_stake.replace("unit at stake", "units at stake")
        per = f"per {stated(factor * options.per)} {stake or 'decisions'}"
        decimals = _decimals([factor * cost for cost in costs], _MOST_DECIMALS)
        return cls(factor, per, max(decimals, _decimals([factor * lead for lead in leads], _MOST_DECIMALS, 2)))

    def told(self, cost: float) -> str:
        """A cost in words; one that the decimals would hide is below the least that they show."""
        value = self.factor * cost
        least = 10.0**-self.decimals
        if 0.0 < abs(value) < least / 2.0:
            return f"below {least:.{self.decimals}f}"
        return self.fixed(cost)

    def fixed(self, cost: float) -> str:
        """A cost with the decimals of all."""
        return MISSING if cost != cost else fixed(self.factor * cost, self.decimals)  # noqa: PLR0124  (nan)


def _decimals(costs: Sequence[float], most: int, digits: int = 3) -> int:
    """Decimals that show so many digits of the least cost."""
    sizes = [abs(cost) for cost in costs if 0.0 < abs(cost) < float("inf")]
    return min(decimals_needed(min(sizes, default=0.0), digits), most)

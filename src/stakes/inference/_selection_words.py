"""The headline: which decision is best, how sure that is, and what being wrong would cost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stakes.shown.sentences import REFERENCES
from stakes.shown.sentences import say as fill
from stakes.shown.words import join, number, percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from stakes.inference._selection_result import Selection

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MOST_NAMED = 5
_SURE = 0.995
_WORTH_NAMING = 0.005
_TOO_SMALL = 1e-4


def say(found: Selection, where: str = "") -> Iterator[str]:
    """Sentences about a selection, the most important first; ``where`` opens the first of them."""
    yield _lead(found, where)
    if len(found.costs) > 1:
        yield _set(found)
        yield _probability(found)
        yield _loss(found)
    if found.against:
        yield _against(found)
    if found.note:
        yield fill("carried", note=found.note)


def few_carry(what: str, rows: float) -> str:
    """Note on what few effective rows of a class carry; empty where enough do."""
    if math.isinf(rows):
        return ""
    few = f"{what} rests on about {rows:.2g} rows of a class"
    none = f"no row of a class shows how large {what} may be there"
    return f"{few if rows > 0.0 else none}: the interval has room for costs not yet seen"


def named(name: str) -> str:
    """A decision as a sentence names it."""
    return fill(name) if name in REFERENCES else name


def _lead(found: Selection, where: str) -> str:
    given = {
        "where": where,
        "rows": f"{found.n_rows:,}",
        "amount": number(found.cost),
        "decisions": found.unit if found.per == 1.0 else f"{found.per:,g} {_plural(found)}",
        "sure": _sure(found),
    }
    if found.chosen in found.references:
        said = fill("no_model", best=named(found.chosen), other=_other(found), **given)
        return said if where else said[0].upper() + said[1:]
    if len(found.tied) > 1:
        return fill("costs_shared", best=join(found.tied), **given)
    return fill("costs" if found.n_models == 1 else "costs_least", best=found.chosen, **given)


def _other(found: Selection) -> str:
    """What the best model costs where a reference has the first place."""
    best = found.best_model
    if best in found.tied:
        return fill("other_same", models=join([name for name in found.tied if name in found.models]))
    words = "other_best_model" if found.n_models > 1 else "other_model"
    return fill(words, model=best, amount=number(found.costs[best]))


def _sure(found: Selection) -> str:
    low, high = (number(end) for end in found.interval)
    unit = "" if found.scale == "regret" else fill("unit", scale=found.scale)
    words = "picked_interval" if math.isfinite(found.interval[1]) else "picked_no_interval"
    interval = fill(words, level=percent(found.confidence_level), low=low, high=high)
    tried = max(found.n_tried or 0, found.n_models)
    if found.chosen in found.references or tried == 1:
        return fill("sure", unit=unit, interval=interval)
    among = fill("among_tried" if found.n_tried else "among_shown", count=f"{tried:,}")
    return fill("sure_picked", unit=unit, interval=interval, among=among, corrected=number(found.corrected_cost))


def _set(found: Selection) -> str:
    level, included = percent(found.confidence_level), ""
    count = _NUMBERS[found.n_models] if found.n_models < len(_NUMBERS) else str(found.n_models)
    what = fill("best_decision") if found.references else fill("best_shown", count=count)
    if found.references:
        both = found.references == REFERENCES
        included = fill(
            "included", references=fill("all_or_none") if both else " or ".join(map(named, found.references))
        )
    if len(found.possible) == 1:
        alone = found.possible[0]
        best, included = capital(named(alone)), "" if alone in found.references else included
        return fill("only_possible", best=best, what=what, included=included, level=level)
    names = listed([named(name) for name in found.possible])
    return fill("best_among", what=what, included=included and f"{included},", names=names, level=level)


def listed(names: Sequence[str]) -> str:
    """Names as a sentence lists them: so many and no more."""
    if len(names) <= _MOST_NAMED:
        return join(names)
    more = fill("more", count=str(len(names) - _MOST_NAMED + 1))
    return fill("count_of", count=str(len(names)), names=join([*names[: _MOST_NAMED - 1], more]))


def _probability(found: Selection) -> str:
    others = sorted(((p, name) for name, p in found.p_best.items() if name not in found.tied), reverse=True)
    rest = [_chance(name, p) for p, name in others[:3] if p >= _WORTH_NAMING]
    if len(found.tied) > 1:
        return fill(
            "probable_each", each=", ".join([*(_chance(name, found.p_best[name]) for name in found.tied), *rest])
        )
    aside = fill("aside", text=", ".join(rest)) if rest else ""
    share = _share(found.p_best[found.chosen])
    return fill("probable", best=capital(named(found.chosen)), share=share, aside=aside)


def _chance(name: str, p: float) -> str:
    return fill("share_of", name=named(name), share=_share(p))


def _share(p: float) -> str:
    return fill("sure_share") if p > _SURE else f"{100.0 * p:.0f}%"


def _loss(found: Selection) -> str:
    loss = 1000.0 * found.expected_regret / found.per
    more = number(loss) if loss >= _TOO_SMALL else fill("less_than", amount=f"{_TOO_SMALL:g}")
    own_word = found.chosen in REFERENCES  # "treating everyone"; what else is no model is chosen as a model is
    choosing = capital(named(found.chosen)) if own_word else fill("choosing", best=found.chosen)
    return fill("choice_loss", choosing=choosing, loss=more, decisions=_plural(found))


def _plural(found: Selection) -> str:
    return "decisions" if found.unit == "decision" else found.unit


def _against(found: Selection) -> str:
    words = {
        name: fill("beforehand", name=named(name)) if name == found.incumbent else named(name) for name in found.against
    }
    shown = [
        fill("by_at_least", name=words[name], amount=number(-other.limit))
        for name, other in found.against.items()
        if other.shown
    ]
    unshown = [words[name] for name, other in found.against.items() if not other.shown]
    return fill(
        "shown_partly" if shown and unshown else "shown" if shown else "not_shown",
        best=capital(named(found.chosen)),
        shown=join(shown) if shown else "",
        unshown=join(unshown) if unshown else "",
        limits=fill("limits", level=percent(0.5 + found.confidence_level / 2.0)),
    )


def capital(text: str) -> str:
    """What opens a sentence; the name of a model stays as its author wrote it."""
    return text[0].upper() + text[1:] if text in map(named, REFERENCES) else text

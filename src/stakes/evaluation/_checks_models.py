"""Checks that compare: with deciding the same for all, at every threshold, with AUC, between groups."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

from stakes.evaluation._by_threshold import MOST_RIVALS
from stakes.evaluation._finding import LEVEL, Observation
from stakes.inference import metric_difference
from stakes.shown.sentences import say
from stakes.shown.words import join, number, p_value

if TYPE_CHECKING:
    from stakes.evaluation._by_threshold import ByThreshold
    from stakes.evaluation._finding import Evidence
    from stakes.evaluation._standings import Standings
    from stakes.inference import Comparison

_PHRASES = {"treat all": "treating everyone", "treat none": "treating no one"}


def not_better(standings: Standings) -> Observation | None:
    """Whether the best model is shown to be better than deciding the same for everybody."""
    if standings.rule == "optimal":
        return None
    best = standings.best.name
    versus = {reference: standings.adjusted_difference(best, reference) for reference in _PHRASES}
    failed = {reference: found for reference, found in versus.items() if not _shown_better(found)}
    if not failed:
        return None
    level = f"{standings.confidence_level * 100:g}%"
    clauses = [f"{_PHRASES[reference]} ({_told(found, level)})" for reference, found in failed.items()]
    count = "The best model, {0}," if len(standings.models) > 1 else "{0}"
    keys = {reference: f"vs_{reference.replace(' ', '_')}" for reference in failed}
    evidence = {keys[reference]: found.difference for reference, found in failed.items()}
    evidence |= {f"{keys[reference]}_p_value": found.p_value for reference, found in failed.items()}
    return Observation(f"{count} is not shown to cost less than {join(clauses)}.", (best,), evidence)


def dearer_somewhere(standings: Standings) -> Observation | None:
    """Decisions that are shown to cost less than the chosen one at some thresholds of the range."""
    found, choice = standings.by_threshold, standings.selection
    if found is None or choice is None or not found.dearer:
        return None
    rivals, left = found.dearer[:MOST_RIVALS], len(found.dearer) - MOST_RIVALS
    names = tuple(name for name in (*choice.tied, *rivals) if name in standings.models)
    called = {name: f"{{{names.index(name)}}}" if name in names else _PHRASES[name] for name in (*choice.tied, *rivals)}
    best = join([called[name] for name in choice.tied])
    clauses = [_clause(found, called[name], name, best) for name in rivals]
    if left > 0:
        clauses.append(f"so {'is one other' if left == 1 else f'are {left} others'} somewhere")
    cost = "cost" if len(choice.tied) > 1 else "costs"
    ends = {name: max(found.stretches(found.more[name]), key=lambda ends: ends[1] - ends[0]) for name in rivals}
    evidence: Evidence = {
        "from": {name: low for name, (low, _) in ends.items()},
        "to": {name: high for name, (_, high) in ends.items()},
    }
    template = say("crossing", best=best[0].upper() + best[1:], cost=cost, clauses="; ".join(clauses))
    return Observation(template, names, evidence)


def _clause(found: ByThreshold, called: str, name: str, best: str) -> str:
    there, less = found.told(found.more[name]), found.less[name]
    if not less.any():
        return say("crossing_one", other=called, there=there)
    return say("crossing_both", other=called, there=there, best=best, here=found.told(less))


def _shown_better(found: Comparison) -> bool:
    return found.difference == -math.inf or (found.difference < 0.0 and found.significant)


def _told(found: Comparison, level: str) -> str:
    if not math.isfinite(found.difference):
        return "both are infinite" if math.isnan(found.difference) else "its cost is infinite"
    low, high = found.interval
    interval = "no interval" if math.isnan(low) else f"{level} interval {number(low)} to {number(high)}"
    return f"difference {number(found.difference)}, {interval}"


def auc_disagrees(standings: Standings) -> Observation | None:
    """Whether AUC prefers a model that costs more in this range, both beyond chance, and not for its harm alone."""
    rows, names = standings.rows, standings.models
    if rows is None or standings.rule == "optimal":
        return None
    level = LEVEL / max(len(names) * (len(names) - 1) // 2, 1)
    harms = standings.options.harms(names)
    found = []
    for cheap, dear in permutations(range(len(names)), 2):
        if not standings.results[cheap].auc < standings.results[dear].auc:
            continue
        gap = standings.moments.difference(cheap, dear)
        acting = replace(gap, value=gap.value - (harms[cheap] - harms[dear]))
        if not all(each.value < 0.0 and each.p_value() <= level for each in (gap, acting)):
            continue
        cost = gap.scaled(standings.factor)
        labels, one, other, weight = rows.arguments(dear, cheap)
        area = metric_difference(
            labels, one, other, "roc_auc_score", sample_weight=weight, clusters=rows.clusters, lags=rows.lags
        )
        if area.difference > 0.0 and area.p_value <= level:
            found.append((area, cost, cheap, dear))
    if not found:
        return None
    area, cost, cheap, dear = max(found, key=lambda item: item[0].difference)
    aucs = standings.results[dear].auc, standings.results[cheap].auc
    template = (
        f"AUC prefers {{0}} to {{1}} ({aucs[0]:.3f} against {aucs[1]:.3f}, p {p_value(area.p_value)}), and yet "
        f"{{1}} costs less in this range (difference {number(cost.value)}, p {p_value(cost.p_value())})."
    )
    evidence: Evidence = {
        "auc": {names[dear]: aucs[0], names[cheap]: aucs[1]},
        "auc_p_value": area.p_value,
        "cost_difference": cost.value,
        "cost_p_value": cost.p_value(),
    }
    return Observation(template, (names[dear], names[cheap]), evidence)


def group_served_worse(standings: Standings) -> Observation | None:
    """Groups in which the best model saves a smaller share of the cost than in the other rows, beyond chance."""
    rows = standings.groups.of(standings.best.name)
    level = LEVEL / max(len({row.column for row in rows}), 1)
    found = [row for row in rows if row.skill_difference < 0.0 and row.skill_p_adjusted <= level]
    if not found:
        return None
    found.sort(key=lambda row: row.skill_difference)
    labels = [row.group if row.column == "group" else f"{row.column} {row.group}" for row in found]
    clauses = [
        f"{{{i}}} (skill {row.skill:.3f}, {row.skill - row.skill_difference:.3f} elsewhere)"
        for i, row in enumerate(found, start=1)
    ]
    evidence: Evidence = {
        "skill": {label: row.skill for label, row in zip(labels, found, strict=True)},
        "skill_elsewhere": {label: row.skill - row.skill_difference for label, row in zip(labels, found, strict=True)},
        "p_adjusted": {label: row.skill_p_adjusted for label, row in zip(labels, found, strict=True)},
        "rows": {label: float(row.n_rows) for label, row in zip(labels, found, strict=True)},
        "positives": {label: float(row.n_positives) for label, row in zip(labels, found, strict=True)},
    }
    template = f"{{0}} serves these groups worse than the other rows, beyond chance: {join(clauses)}."
    return Observation(template, (standings.best.name,), evidence, tuple(labels))

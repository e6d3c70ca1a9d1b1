"""Checks of the scores themselves: whether they reach the range, are probabilities at all, are tied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.evaluation._finding import Observation, slots
from stakes.shown.words import join, percent

if TYPE_CHECKING:
    from stakes.core.score_table import ScoreTable
    from stakes.evaluation._standings import Standings

MANY_TIED_PAIRS = 0.05
MANY_ON_THRESHOLD = 0.01
_HARD = (0.0, 1.0)


def acts_like_constant(standings: Standings) -> Observation | None:
    """Models whose decisions are practically the same for every case."""
    found = [result for result in standings.results[: len(standings.models)] if result.acts_like]
    if not found:
        return None
    found.sort(key=lambda result: result.acts_like)
    names = tuple(result.name for result in found)
    clauses = []
    for reference, phrase in (("treat all", "treating everyone"), ("treat none", "treating no one")):
        group = [i for i, result in enumerate(found) if result.acts_like == reference]
        if group:
            acted = [found[i].share_acted_on for i in group]
            share = f"at {'least' if reference == 'treat all' else 'most'} "
            share += percent(min(acted) if reference == "treat all" else max(acted))
            verb = "acts" if len(group) == 1 else "act"
            clauses.append(f"{join([f'{{{i}}}' for i in group])} {verb} like {phrase}, acting on {share} of cases")
    evidence = {
        "share_acted_on": {result.name: result.share_acted_on for result in found},
        "share_in_range": {result.name: result.in_range[0] for result in found},
        "lowest_score": {name: float(standings.table(name).scores[0]) for name in names},
        "highest_score": {name: float(standings.table(name).scores[-1]) for name in names},
    }
    return Observation(f"{'; '.join(clauses)}.", names, evidence)


def hard_labels(standings: Standings) -> Observation | None:
    """Models that give decisions in place of probabilities."""
    if not isinstance(standings.rule, str):
        return None
    names = tuple(name for name in standings.models if is_hard(standings.table(name)))
    if not names:
        return None
    verb = "gives" if len(names) == 1 else "give"
    template = (
        f"{slots(len(names))} {verb} only the scores 0 and 1: decisions that no threshold changes, not probabilities."
    )
    return Observation(template, names, {"share_of_ones": {name: _share_of_ones(standings, name) for name in names}})


def is_hard(table: ScoreTable) -> bool:
    """Whether every score is 0 or 1."""
    return bool(np.isin(table.scores, _HARD).all())


def tied_scores(standings: Standings) -> Observation | None:
    """Models whose AUC hangs on how ties between positives and negatives are counted."""
    shares = {}
    for name in standings.models:
        table = standings.table(name)
        if len(table.scores) > 1 and not is_hard(table):
            shares[name] = _tied_pairs(table)
    names = tuple(name for name, share in shares.items() if share >= MANY_TIED_PAIRS)
    if not names:
        return None
    worst = max(names, key=shares.__getitem__)
    half = shares[worst] / 2.0
    auc = standings[worst].auc
    whose = f"for {{{names.index(worst)}}} " if len(names) > 1 else ""
    template = (
        f"Many scores of {slots(len(names))} are tied: {whose}{percent(shares[worst])} of the pairs of a positive and "
        f"a negative, so that its AUC is anything from {auc - half:.3f} to {auc + half:.3f} as ties are counted."
    )
    evidence = {
        "tied_pairs": {name: shares[name] for name in names},
        "distinct_scores": {name: float(len(standings.table(name).scores)) for name in names},
        "auc": {name: standings[name].auc for name in names},
    }
    return Observation(template, names, evidence)


def score_on_threshold(standings: Standings) -> Observation | None:
    """Models for which many cases score exactly a threshold that counts."""
    atoms = standings.costs.atoms[0] if isinstance(standings.rule, str) else np.array([standings.rule])
    shares = {}
    for name in standings.models:
        table = standings.table(name)
        on = np.isin(table.scores, atoms)
        shares[name] = float(table.positives[on].sum() + table.negatives[on].sum()) / table.total
    names = tuple(name for name, share in shares.items() if share >= MANY_ON_THRESHOLD)
    if not names or standings.rule == "optimal":
        return None
    verb = "scores" if len(names) == 1 else "score"
    template = (
        f"{slots(len(names))} {verb} {percent(max(shares.values()))} of cases or fewer exactly at a threshold that "
        "counts: what that costs hangs on the convention that such a case is acted on."
    )
    return Observation(template, names, {"share_on_threshold": {name: shares[name] for name in names}})


def half_outside(standings: Standings) -> Observation | None:
    """Whether accuracy's threshold is one that nobody holds."""
    low, high = standings.costs.low, standings.costs.high
    if low <= 0.5 <= high:
        return None
    place = (
        f"is not your threshold of {percent(low)}"
        if low == high
        else (f"lies outside your thresholds, {percent(low)} to {percent(high)}")
    )
    template = f"The threshold of 50% {place}: accuracy and F1 at 0.5 judge decisions that you would not take."
    return Observation(template, (), {"low": low, "high": high})


def _share_of_ones(standings: Standings, name: str) -> float:
    table = standings.table(name)
    ones = table.scores == 1.0
    return float(table.positives[ones].sum() + table.negatives[ones].sum()) / table.total


def _tied_pairs(table: ScoreTable) -> float:
    return float(np.dot(table.positives, table.negatives)) / (table.total_positives * table.total_negatives)

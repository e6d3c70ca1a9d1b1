"""Checks of calibration, in the field's words: observed to expected events, the slope, and what they do to the cost."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.logistic import logit
from stakes.evaluation._calibration import event_ratio
from stakes.evaluation._chance import count_tail, excess_tail
from stakes.evaluation._checks_scores import is_hard
from stakes.evaluation._finding import LEVEL, Observation, slots
from stakes.inference import metric_interval
from stakes.shown.words import join, number, percent

if TYPE_CHECKING:
    from stakes.core.score_table import ScoreTable
    from stakes.correction import ImpliedWeight
    from stakes.evaluation._finding import Evidence
    from stakes.evaluation._standings import Standings
    from stakes.inference import Estimate

FAR = 1.5
# the likeliest cause first
_MOST_TOLD = 3
_TRAINING = "class weights or resampled rows in training"
# the likeliest cause first
_CAUSES = {
    "shift": f"no more than a shift as far as these rows tell, most often from {_TRAINING}, else from positives that "
    "are more or less common here than there, or from a forecaster's bias",
    "extreme": f"too extreme as well, most often from overfitting or a forecaster's overconfidence, else from "
    f"{_TRAINING}",
    "timid": f"too timid as well, most often from strong regularisation or averaging, else from {_TRAINING}",
}


def miscalibrated(standings: Standings) -> Observation | None:
    """Models that lose more by miscalibration than they gain by discrimination, beyond chance."""
    if standings.rule != "score" or standings.clusters_unseen:
        return None
    level = LEVEL / len(standings.models)
    found = {}
    for name, table in zip(standings.models, standings.tables, strict=True):
        parts = standings[name].decomposition
        if is_hard(table) or parts is None or not math.isfinite(parts.miscalibration) or not parts.skill < 0.0:
            continue
        if _skill(standings, name, table, 1.0 - 2.0 * level).interval[1] < 0.0 and _uncalibrated(
            table, standings, level
        ):
            found[name] = parts
    if not found:
        return None
    worst = min(found, key=lambda name: found[name].skill)
    costs = found[worst].score / found[worst].uncertainty
    told = _told(event_ratio(standings, worst, standings.confidence_level), _weight(standings.table(worst)))
    verb = "is" if len(found) == 1 else "are"
    which = "it costs" if len(found) == 1 else f"{{{list(found).index(worst)}}} costs"
    template = (
        f"{slots(len(found))} {verb} worse in this range than acting on the prevalence alone, beyond chance: {which} "
        f"{number(costs)} times as much, for miscalibration loses more than discrimination gains ({told})."
    )
    evidence: Evidence = {
        "skill": {name: parts.skill for name, parts in found.items()},
        "miscalibration": {name: parts.miscalibration for name, parts in found.items()},
        "discrimination": {name: parts.discrimination for name, parts in found.items()},
    }
    return Observation(template, tuple(found), evidence)


def _skill(standings: Standings, name: str, table: ScoreTable, level: float) -> Estimate:
    """Skill with an interval that allows for clusters and for rows in order."""
    rows = standings.rows
    if rows is None or not rows.dependent:
        return metric_interval(table, metric="regret_skill_score", costs=standings.costs, confidence_level=level)
    sample: Any = rows.sample(standings.models.index(name))
    return metric_interval(
        sample,
        metric="regret_skill_score",
        clusters=rows.clusters,
        lags=rows.lags,
        costs=standings.costs,
        confidence_level=level,
    )


def _uncalibrated(table: ScoreTable, standings: Standings, level: float) -> bool:
    """Whether calibrated scores would hardly ever do so badly; class weights leave this question without an answer."""
    return table.fixed_prevalence or excess_tail(table, standings.costs, table.prevalence) <= level


def off_in_the_large(standings: Standings) -> Observation | None:
    """Models whose risks are too high or too low on average, beyond chance and by much."""
    if standings.clusters_unseen:
        return None
    level = LEVEL / len(standings.models)
    found = {
        name: (event_ratio(standings, name, standings.confidence_level), _weight(table))
        for name, table in zip(standings.models, standings.tables, strict=True)
        if _far(table) and _beyond_chance(standings, name, table, level)
    }
    if not found:
        return None
    names = tuple(sorted(found, key=lambda name: -abs(_log_odds(standings.table(name)))))
    told, left = names[:_MOST_TOLD], len(names) - _MOST_TOLD
    clauses = [f"{{{i}}} {_times(found[name][0].value)} ({_told(*found[name])})" for i, name in enumerate(told)]
    clauses += [f"{left} more"] if left > 0 else []
    kinds = [_kind(found[name][1]) for name in told]
    causes = "".join(f" {_those(kind, kinds)} {cause}." for kind, cause in _CAUSES.items() if kind in kinds)
    evidence: Evidence = {
        "observed_to_expected": {name: found[name][0].value for name in names},
        "slope": {name: found[name][1].slope for name in names},
        "implied_weight": {name: found[name][1].scale_pos_weight for name in names},
        "prevalence": standings.prevalence,
    }
    return Observation(f"Risks are off on average: {join(clauses)}.{causes}", names, evidence)


def _far(table: ScoreTable) -> bool:
    """Whether the odds of the mean score and of an event differ by much; decisions are no risks."""
    return not is_hard(table) and abs(_log_odds(table)) >= math.log(FAR)


def _log_odds(table: ScoreTable) -> float:
    """Logarithm of the odds of an event over those of the mean score."""
    expected = sum(float(np.dot(weight, table.scores)) for weight in (table.positives, table.negatives)) / table.total
    return float(logit(table.prevalence) - logit(expected))


def _beyond_chance(standings: Standings, name: str, table: ScoreTable, level: float) -> bool:
    """Whether neither the spread of these rows nor calibrated scores with their chances explain the difference."""
    low, high = event_ratio(standings, name, 1.0 - level).interval
    return not low <= 1.0 <= high and (table.fixed_prevalence or count_tail(table) <= level)


def _kind(found: ImpliedWeight) -> str:
    """What the slope says; a slope that cannot be told from 1 is a shift."""
    if found.slope_ci_high < 1.0:
        return "extreme"
    return "timid" if found.slope_ci_low > 1.0 else "shift"


def _those(kind: str, kinds: list[str]) -> str:
    mine = [f"{{{i}}}" for i, other in enumerate(kinds) if other == kind]
    return "This is" if len(kinds) == 1 else f"{join(mine)} {'is' if len(mine) == 1 else 'are'}"


def _times(ratio: float) -> str:
    return f"{number(1.0 / ratio)} times too high" if ratio < 1.0 else f"{number(ratio)} times too low"


def _told(ratio: Estimate, weight: ImpliedWeight) -> str:
    low, high = ratio.interval
    sure = "" if math.isnan(low) else f", {percent(ratio.confidence_level)} interval {number(low)} to {number(high)}"
    slope = f"; slope {number(weight.slope)}" if math.isfinite(weight.slope) else ""
    return f"observed to expected {number(ratio.value)}{sure}{slope}"


def _weight(table: ScoreTable) -> ImpliedWeight:
    from stakes.correction import implied_weight

    # weights taken as known make the errors a little too large, and alarms rarer
    return implied_weight(replace(table, estimated_weights=False))

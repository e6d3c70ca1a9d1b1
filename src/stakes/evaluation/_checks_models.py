"""Calibration, comparisons, deferral."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.numerics import logit
from stakes.evaluation._calibration import event_ratio
from stakes.evaluation._checks_data import is_hard
from stakes.evaluation._finding import LEVEL, Observation, slots
from stakes.evaluation._standings import MOST_RIVALS
from stakes.inference import metric_difference, metric_interval
from stakes.outputs.text import join, number, p_value, percent, say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.correction import ImpliedWeight
    from stakes.costs import CostDistribution
    from stakes.evaluation._finding import Evidence
    from stakes.evaluation._standings import ByThreshold, Standings
    from stakes.inference import Comparison, Estimate

    Floats = NDArray[np.float64]


# How likely calibrated scores are to look this much worse than a constant: a tail probability without resampling.
#
# Under calibration the outcomes are independent with the scores as their probabilities, so that the generating
# function of the excess loss is known, and its tail follows by the saddlepoint approximation of Lugannani and Rice
# (1980), which holds for a handful of events as for millions of rows.

_STEPS = 200
_CENTRE = 1e-4  # nearer to the mean the formula is 0/0, and the normal tail is as good
_EDGE = 1e-9
_FARTHEST = 800.0  # of a logit: as far as from the least number to one half; farther on, outcomes are certain


def excess_tail(table: ScoreTable, costs: CostDistribution, constant: float) -> float:
    """Probability that calibrated scores lose as much more than a constant forecast as these do, or more still.

    The constant is taken as given. Without this, a few cases that reach the range and all turn out negative look like
    proof: their losses then hardly vary.
    """
    prob, gain, weight = _outcomes(table, costs, constant)
    seen = float(np.dot(table.positives, gain))
    # rows of unequal weight count as fewer of the same weight (Kish)
    squares = table.positives_squared + table.negatives_squared
    rows, unit = weight * weight / squares, squares / weight
    open_ = (prob > 0.0) & (prob < 1.0) & (gain != 0.0)
    if np.any((prob == 0.0) & (table.positives > 0.0)) or np.any((prob == 1.0) & (table.negatives > 0.0)):
        return 0.0
    seen -= float(np.dot(table.positives[~open_], gain[~open_]))
    return _upper_tail(prob[open_], unit[open_] * gain[open_], rows[open_], seen)


def count_tail(table: ScoreTable) -> float:
    """Two-sided probability that calibrated scores are as far from the number of events as these, or farther."""
    weight, squares = table.positives + table.negatives, table.positives_squared + table.negatives_squared
    rows, unit = weight * weight / squares, squares / weight
    open_ = (table.scores > 0.0) & (table.scores < 1.0)
    seen = float(table.positives[open_].sum())
    over = seen > float(np.dot(weight[open_], table.scores[open_]))
    sign = 1.0 if over else -1.0
    return min(1.0, 2.0 * _upper_tail(table.scores[open_], sign * unit[open_], rows[open_], sign * seen))


def _outcomes(table: ScoreTable, costs: CostDistribution, constant: float) -> tuple[Floats, Floats, Floats]:
    """Scores, what a positive outcome adds to the excess loss at each, and weights."""
    own = costs.positive_loss(table.scores) - costs.negative_loss(table.scores)
    other = float(costs.positive_loss(constant)) - float(costs.negative_loss(constant))
    return table.scores, own - other, table.positives + table.negatives


def _upper_tail(prob: Floats, gain: Floats, rows: Floats, seen: float) -> float:
    """P(sum of rows independent Bernoulli(prob) times gain >= seen)."""
    top, reach = float(np.dot(rows, np.maximum(gain, 0.0))), float(np.dot(rows, np.abs(gain)))
    mean = float(np.dot(rows, prob * gain))
    variance = float(np.dot(rows, prob * (1.0 - prob) * gain * gain))
    if variance == 0.0 and not seen > mean:
        return 1.0
    if seen >= top - _EDGE * reach:  # every outcome as bad as can be
        return math.exp(float(np.dot(rows, np.where(gain > 0.0, np.log(prob), np.log1p(-prob)))))
    spread = math.sqrt(variance)
    standard = (seen - mean) / spread if spread > 0.0 else math.inf  # the variance of tiny scores vanishes
    if abs(standard) < _CENTRE:
        return 0.5
    if standard < 0.0:  # nothing that a check asks about
        return 0.5 * math.erfc(standard / math.sqrt(2.0))
    tilt = _saddlepoint(prob, gain, rows, seen, standard / spread if spread > 0.0 else math.inf)
    exponent, _, curvature = _generating(prob, gain, rows, tilt)
    w = math.sqrt(max(2.0 * (tilt * seen - exponent), 0.0))
    v = tilt * math.sqrt(curvature)
    density = math.exp(-0.5 * w * w) / math.sqrt(2.0 * math.pi)
    return min(1.0, max(0.0, 0.5 * math.erfc(w / math.sqrt(2.0)) + density * (1.0 / v - 1.0 / w)))


def _generating(prob: Floats, gain: Floats, rows: Floats, tilt: float) -> tuple[float, float, float]:
    """Cumulant generating function of the sum and its first two derivatives."""
    from scipy.special import expit

    logit = np.log(prob) - np.log1p(-prob)
    tilted = expit(logit + tilt * gain)
    # log(1 - p + p e^x) without overflow
    exponent = np.log1p(-prob) + np.logaddexp(0.0, logit + tilt * gain)
    first, second = tilted * gain, tilted * (1.0 - tilted) * gain * gain
    return float(np.dot(rows, exponent)), float(np.dot(rows, first)), float(np.dot(rows, second))


def _saddlepoint(prob: Floats, gain: Floats, rows: Floats, seen: float, start: float) -> float:
    """Tilt at which the mean of the tilted sum is what was seen: Newton's method inside a bracket."""
    low, high = 0.0, min(start, _FARTHEST / float(np.abs(gain).max()))
    while _generating(prob, gain, rows, high)[1] < seen:
        low, high = high, 2.0 * high
    tilt = high
    for _ in range(_STEPS):
        _, mean, variance = _generating(prob, gain, rows, tilt)
        if mean < seen:
            low = tilt
        else:
            high = tilt
        step = tilt - (mean - seen) / variance if variance > 0.0 else math.nan
        new = step if low < step < high else 0.5 * (low + high)
        if abs(new - tilt) <= 1e-12 * abs(tilt):
            break
        tilt = new
    return tilt


# Checks of calibration, in the field's words: observed to expected events, the slope, and what they do to the cost.

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
    for name, table in zip(standings.models, standings.score_tables, strict=True):
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
    told = _ratio_in_words(
        event_ratio(standings, worst, standings.confidence_level), _weight(standings.score_table(worst))
    )
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
        for name, table in zip(standings.models, standings.score_tables, strict=True)
        if _far(table) and _beyond_chance(standings, name, table, level)
    }
    if not found:
        return None
    names = tuple(sorted(found, key=lambda name: -abs(_log_odds(standings.score_table(name)))))
    told, left = names[:_MOST_TOLD], len(names) - _MOST_TOLD
    clauses = [
        f"{{{i}}} {_times(found[name][0].value)} ({_ratio_in_words(*found[name])})" for i, name in enumerate(told)
    ]
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


def _ratio_in_words(ratio: Estimate, weight: ImpliedWeight) -> str:
    low, high = ratio.interval
    sure = "" if math.isnan(low) else f", {percent(ratio.confidence_level)} interval {number(low)} to {number(high)}"
    slope = f"; slope {number(weight.slope)}" if math.isfinite(weight.slope) else ""
    return f"observed to expected {number(ratio.value)}{sure}{slope}"


def _weight(table: ScoreTable) -> ImpliedWeight:
    from stakes.correction import implied_weight

    # weights taken as known make the errors a little too large, and alarms rarer
    return implied_weight(replace(table, estimated_weights=False))


# Checks that compare: with deciding the same for all, at every threshold, with AUC, between groups.

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
    clauses = [f"{_PHRASES[reference]} ({_difference_in_words(found, level)})" for reference, found in failed.items()]
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


def _difference_in_words(found: Comparison, level: str) -> str:
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


# Checks of the option to leave cases to someone else, where an evaluation has it.

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

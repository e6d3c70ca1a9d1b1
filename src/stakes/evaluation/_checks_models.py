"""Calibration, comparisons, deferral."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from stakes import inference
from stakes.base.numerics import logit, sigmoid
from stakes.core.options import EvaluationData
from stakes.evaluation._calibration import area_of, event_ratio
from stakes.evaluation._checks_data import FEW, decisions_of, is_hard
from stakes.evaluation._finding import LEVEL, Evidence, Observation, slots
from stakes.evaluation._groups import GroupResult, label_of
from stakes.evaluation._standings import MOST_RIVALS, ByThreshold, Standings
from stakes.evaluation._words import Unit
from stakes.outputs.text import REFERENCES, join, level_name, number, p_value, percent, say
from stakes.variance.influence import cells_of, relabelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.correction import ImpliedWeight
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]


# How likely calibrated scores are to look this much worse than a constant: a tail probability without resampling.
#
# Under calibration the outcomes are independent with the scores as their probabilities, so that the generating
# function of the excess loss is known, and its tail follows by the saddlepoint approximation of Lugannani and Rice
# (1980), which holds for a handful of events as for millions of rows. Where some scores are next to 0 and all the
# others had events, the sum can hardly lie next to what was seen, and Chernoff's bound takes over.

_STEPS = 200
_CENTRE = 0.05  # of a standard deviation: nearer to the mean the formula is 0/0, and the normal tail is as good
_EDGE = 1e-13  # of a sum: no rounding of it is larger
_FARTHEST = 800.0  # of a logit: as far as from the least number to one half; farther on, outcomes are certain


def excess_tail(table: ScoreTable, costs: CostDistribution, constant: float) -> float:
    """Probability that calibrated scores lose as much more than a constant forecast as these do, or more still.

    The constant is taken as given. Without this, a few cases that reach the range and all turn out negative look like
    proof: their losses then hardly vary.
    """
    score, (other, often) = table.scores, (float(loss(constant)) for loss in (costs.negative_loss, costs.positive_loss))
    if np.any((score == 0.0) & (table.positives > 0.0)) or np.any((score == 1.0) & (table.negatives > 0.0)):
        return 0.0
    own = costs.negative_loss(score)
    return _tail(table, own - other, costs.positive_loss(score) - own - (often - other))


def count_tail(table: ScoreTable) -> float:
    """Two-sided probability that calibrated scores are as far from the number of events as these, or farther."""
    score = table.scores
    missed, false = float(np.dot(table.positives, 1.0 - score)), float(np.dot(table.negatives, score))
    sign = 1.0 if missed > false else -1.0
    return min(1.0, 2.0 * _tail(table, -sign * score, np.full(len(score), sign)))


def _tail(table: ScoreTable, negative: Floats, more: Floats) -> float:
    """P(weighted sum >= that seen) if labels are drawn anew from the scores, and weights with them.

    A positive adds ``more`` than a negative of its score, for each unit of weight. Where it weighs more as well, the
    rows hold fewer positives than the scores say.
    """
    columns = ("negatives", "positives"), ("negatives_squared", "positives_squared")
    weight, square = (np.stack([getattr(table, name) for name in names]) for names in columns)
    count = np.divide(weight * weight, square, out=np.zeros_like(weight), where=square > 0.0)
    times = float(relabelled(*(each.sum(axis=1) for each in (count, weight, square)))[0])
    with np.errstate(invalid="ignore"):  # at scores of 0 and 1 losses may be infinite
        gain = times * more + (times - 1.0) * negative
    # all as if negatives; rows of unequal weight count as fewer of the same weight (Kish)
    score, own = table.scores, weight[1] / times
    no_event, no_rest = (score == 0.0) & (own > 0.0), (score == 1.0) & (weight[0] > 0.0)  # what scores say cannot be
    seen = float(np.dot(own[no_event], gain[no_event]) - np.dot(weight[0, no_rest], gain[no_rest]))
    open_ = (score > 0.0) & (score < 1.0) & (gain != 0.0)
    score, gain, own = score[open_], gain[open_], own[open_]
    weights, squares = weight[0, open_] + own, square[0, open_] + square[1, open_] / times**2
    rows, unit, prob = weights * weights / squares, squares / weights, score / (1.0 + (times - 1.0) * (1.0 - score))
    return _upper_tail(prob, unit * gain, rows, seen + float(np.dot(own, gain)))


def _upper_tail(prob: Floats, gain: Floats, rows: Floats, seen: float) -> float:
    """P(sum of rows independent Bernoulli(prob) times gain >= seen)."""
    top, reach = float(np.dot(rows, np.maximum(gain, 0.0))), float(np.dot(rows, np.abs(gain)))
    mean = float(np.dot(rows, prob * gain))
    variance = float(np.dot(rows, prob * (1.0 - prob) * gain * gain))
    if variance == 0.0 and not seen > mean:
        return 1.0
    if seen > top + _EDGE * reach:
        return 0.0
    if seen >= top - _EDGE * reach:  # every outcome as bad as can be
        return math.exp(float(np.dot(rows, np.where(gain > 0.0, np.log(prob), np.log1p(-prob)))))
    spread = math.sqrt(variance)
    standard = (seen - mean) / spread if spread > 0.0 else math.inf  # the variance of tiny scores vanishes
    if standard < _CENTRE:  # nothing that a check asks about
        return 0.5 * math.erfc(standard / math.sqrt(2.0))
    tilt = _saddlepoint(prob, gain, rows, seen, standard / spread if spread > 0.0 else math.inf)
    exponent, _, curvature = _generating(prob, gain, rows, tilt)
    w = math.sqrt(max(2.0 * (tilt * seen - exponent), 0.0))
    v = tilt * math.sqrt(curvature)
    most = math.exp(-0.5 * w * w)  # Chernoff's bound
    more = 1.0 / v - 1.0 / w if v > 0.0 else math.inf
    return min(most, max(0.0, 0.5 * math.erfc(w / math.sqrt(2.0)) + most * more / math.sqrt(2.0 * math.pi)))


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
_PRIOR = "or a population in which positives are more or less common"
# in the order in which they are looked for
_CAUSES = {
    "inverted": "the label or the score is turned round, for the scores fall where events rise",
    "horizon": "a score of another horizon than {horizon:g}",
    "unknown": "the rows do not distinguish the causes, for the slope is undefined ({status})",
    "shift": f"class weights or sampling in training ({{weight}}), {_PRIOR}",
    "timid": f"class weights or sampling in training ({{weight}}), {_PRIOR}; the scores are too timid as well, as "
    "strong regularisation or averaging make them",
    "extreme": "scores that are too extreme, most often from overfitting",
}


def miscalibrated(standings: Standings) -> Observation | None:
    """Models that lose more by miscalibration than they gain by discrimination, beyond chance."""
    if standings.rule != "score" or standings.clusters_unseen:
        return None
    level, turned = LEVEL / len(standings.models), turned_round(standings)
    found = {}
    for name, table in zip(standings.models, standings.score_tables, strict=True):
        parts = standings[name].decomposition
        if (
            name in turned
            or is_hard(table)
            or parts is None
            or not math.isfinite(parts.miscalibration)
            or not parts.skill < 0.0
        ):
            continue
        skill = _skill(standings, name, table, 1.0 - 2.0 * level)
        if skill.interval[1] < 0.0 and _uncalibrated(table, standings, level):
            found[name] = parts
    if not found:
        return None
    worst = min(found, key=lambda name: found[name].skill)
    costs = found[worst].score / found[worst].uncertainty
    told = _off_by(event_ratio(standings, worst, standings.confidence_level))
    verb = "is" if len(found) == 1 else "are"
    which = "it costs" if len(found) == 1 else f"{{{list(found).index(worst)}}} costs"
    which = f"without the harm {which}" if standings.harms.get(worst) else which
    template = (
        f"{slots(len(found))} {verb} worse in this range than acting on the prevalence alone, beyond chance: {which} "
        f"{number(costs)} times as much, for miscalibration loses more than discrimination gains{told}."
    )
    evidence: Evidence = {
        "skill": {name: parts.skill for name, parts in found.items()},
        "miscalibration": {name: parts.miscalibration for name, parts in found.items()},
        "discrimination": {name: parts.discrimination for name, parts in found.items()},
    }
    return Observation(template, tuple(found), evidence)


def _off_by(ratio: inference.Estimate) -> str:
    """How many times too high or low the risks are, where that is shown."""
    low, high = ratio.interval
    return "" if low <= 1.0 <= high else f"; its risks are {_times(ratio)}"


def _skill(standings: Standings, name: str, table: ScoreTable, level: float) -> inference.Estimate:
    """Skill with an interval that allows for clusters and for rows in order."""
    rows = standings.rows
    if rows is None or not rows.dependent:
        return inference.metric_interval(
            table, metric="regret_skill_score", costs=standings.costs, confidence_level=level
        )
    sample: Any = rows.sample(standings.models.index(name))
    return inference.metric_interval(
        sample,
        metric="regret_skill_score",
        clusters=rows.clusters,
        lags=rows.lags,
        costs=standings.costs,
        prevalence=table.prevalence if table.fixed_prevalence else None,
        confidence_level=level,
    )


def _uncalibrated(table: ScoreTable, standings: Standings, level: float) -> bool:
    """Whether calibrated scores would hardly ever do so badly; class weights leave this question without an answer."""
    return table.fixed_prevalence or excess_tail(table, standings.costs, table.prevalence) <= level


def off_in_the_large(standings: Standings) -> Observation | None:
    """Models whose risks are too high or too low on average, beyond chance and by much."""
    if standings.clusters_unseen or (standings.rule == "optimal" and _linked(standings)):  # their scores are not kept
        return None
    level = LEVEL / len(standings.models)
    found = {
        name: (event_ratio(standings, name, standings.confidence_level), _weight(standings, name))
        for name, table in zip(standings.models, standings.score_tables, strict=True)
        if _far(table) and _beyond_chance(standings, name, table, level)
    }
    if not found:
        return None
    names = tuple(sorted(found, key=lambda name: -abs(_log_odds(standings.score_table(name)))))
    told, left = names[:_MOST_TOLD], len(names) - _MOST_TOLD
    clauses = [f"{{{i}}} {_times(found[name][0], _slope(found[name][1]))}" for i, name in enumerate(told)]
    clauses += [f"{left} more"] if left > 0 else []
    whys = {name: _why(standings, name, found[name][1]) for name in told}
    causes = ""
    for why in dict.fromkeys(whys.values()):
        mine = [f"{{{i}}}" for i, name in enumerate(told) if whys[name] == why]
        causes += f" {'Causes' if len(set(whys.values())) == 1 else f'Causes for {join(mine)}'} that fit: {why}."
    evidence: Evidence = {
        "observed_to_expected": {name: found[name][0].value for name in names},
        "observed_to_expected_low": {name: found[name][0].interval[0] for name in names},
        "observed_to_expected_high": {name: found[name][0].interval[1] for name in names},
        "slope": {name: found[name][1].slope for name in names},
        "slope_low": {name: found[name][1].slope_ci_low for name in names},
        "slope_high": {name: found[name][1].slope_ci_high for name in names},
        "implied_weight": {name: found[name][1].scale_pos_weight for name in names},
        "prevalence": standings.prevalence,
    }
    return Observation(f"Risks are off on average: {join(clauses)}.{causes}", names, evidence)


def _why(standings: Standings, name: str, weight: ImpliedWeight) -> str:
    """The causes that fit, the first of them first."""
    if name in turned_round(standings):
        return _CAUSES["inverted"]
    outcome = standings.outcome if standings.rows is None or standings.rows.origin is None else None
    outcome = standings.rows.origin.outcome if standings.rows is not None and standings.rows.origin else outcome
    horizon = getattr(outcome, "horizon", None)
    share = weight.scale_pos_weight
    low, high = (math.inf if end == 1.0 else end / (1.0 - end) for end in weight.interval)
    told = f"as if a positive had counted {number(share)} times"
    told += "" if math.isnan(low + high) else f", {number(low)} to {number(high)}"
    found = [_CAUSES["horizon"].format(horizon=horizon)] if isinstance(horizon, float | int) else []
    return "; ".join([*found, _CAUSES[_kind(weight)].format(weight=told, status=weight.status)])


def turned_round(standings: Standings) -> dict[str, float]:
    """Models whose AUC is below one half beyond chance, and whose risks fall where events rise."""
    if standings.options.per_stake or standings.clusters_unseen:
        return {}
    level, found = LEVEL / len(standings.models), {}
    for name, table in zip(standings.models, standings.score_tables, strict=True):
        area = standings[name].auc
        if area < 0.5 and area_of(standings, name, 1.0 - level).interval[1] < 0.5:
            slope = _weight(standings, name).slope if not is_hard(table) else math.nan
            if not slope >= 0.0:
                found[name] = area
    return found


def inverted(standings: Standings) -> Observation | None:
    """Models whose scores fall where events rise."""
    found = turned_round(standings)
    if not found:
        return None
    falls = "falls" if len(found) == 1 else "fall"
    told = join([f"{{{i}}} (AUC {area:.3f})" for i, area in enumerate(found.values())])
    return Observation(
        f"The score of {told} {falls} where events rise: is the label or the score turned round?",
        tuple(found),
        {"auc": found},
    )


def constant(standings: Standings) -> Observation | None:
    """Models that give every row the same score."""
    found = {
        name: float(table.scores[0])
        for name, table in zip(standings.models, standings.score_tables, strict=True)
        if len(table.scores) == 1
    }
    if not found:
        return None
    told = join([f"{{{i}}} ({number(score)})" for i, score in enumerate(found.values())])
    gives, tells = ("gives", "it tells") if len(found) == 1 else ("each give", "they tell")
    return Observation(
        f"{told} {gives} every row the same score: {tells} no row from another.", tuple(found), {"score": found}
    )


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
    if math.isnan(low) and _linked(standings):  # of which the tail knows nothing
        return False
    return not low <= 1.0 <= high and (table.fixed_prevalence or count_tail(table) <= level)


def _kind(found: ImpliedWeight) -> str:
    """What the slope says; a slope that cannot be told from 1 is a shift."""
    if not math.isfinite(found.slope):
        return "unknown"
    if found.slope_ci_high < 1.0:
        return "extreme"
    return "timid" if found.slope_ci_low > 1.0 else "shift"


def _times(ratio: inference.Estimate, more: str = "") -> str:
    """How many times too high or low risks are, with an interval."""
    value, (low, high) = ratio.value, ratio.interval
    many = (1.0 / value, 1.0 / high if high else math.inf, 1.0 / low if low else math.inf)
    value, low, high = many if value < 1.0 else (value, low, high)
    aside = "; ".join(filter(None, ["" if math.isnan(low) else f"{number(low)} to {number(high)}", more]))
    sure = f" ({aside})" if aside else ""
    return f"{number(value)} times too {'high' if ratio.value < 1.0 else 'low'}{sure}"


def _slope(weight: ImpliedWeight) -> str:
    return f"slope {number(weight.slope)}" if math.isfinite(weight.slope) else "slope undefined"


def _weight(standings: Standings, name: str) -> ImpliedWeight:
    """The class weight that the scores imply, with intervals that allow for clusters and for rows in order."""
    from stakes.correction import implied_weight

    # weights taken as known make the errors a little too large, and alarms rarer
    found = implied_weight(replace(standings.score_table(name), estimated_weights=False))
    if math.isnan(found.positive_share) or not _linked(standings):
        return found
    held, slope = (each.interval for each in _recalibrated(standings, name, found.confidence_level))
    high, low = sigmoid(-np.array(held)).tolist()
    return replace(found, ci_low=low, ci_high=high, slope_ci_low=slope[0], slope_ci_high=slope[1])


def _linked(standings: Standings) -> bool:
    """Whether rows depend on each other in clusters or in order of time, which tables do not know."""
    rows = (standings.imputations or (standings,))[0].rows
    return rows is not None and (rows.clusters is not None or rows.lags is not None)


def _recalibrated(standings: Standings, name: str, level: float) -> list[inference.Estimate]:
    """Intercept of recalibration beside a slope of 1, and the free slope, of scores other than 0 and 1."""
    if standings.imputations:
        each = [_recalibrated(one, name, level) for one in standings.imputations]
        return [inference.pooled_estimate(found, standings.units) for found in zip(*each, strict=True)]
    rows, place = cast("inference.PairedRows", standings.rows), standings.models.index(name)
    rows = rows.taken((rows.scores[place] > 0.0) & (rows.scores[place] < 1.0))
    cells = cells_of(EvaluationData(rows.sample(place), None), fixed_prevalence=rows.fixed_prevalence)
    return inference.recalibration_estimates(cells, cells.design(rows.clusters, rows.lags), level)[0][1:3]


# Checks that compare: with deciding the same for all, at every threshold, with AUC, between groups.


_DEARER = (
    "Do not act on this model at these thresholds. Recalibration on other rows may lower its cost; more rows will not."
)


def not_better(standings: Standings) -> Observation | None:
    """Whether the best model is shown to be better than deciding the same for everybody, as the answer judges it."""
    if standings.rule == "optimal":
        return None
    best, level, choice = standings.best, level_name(standings.confidence_level), standings.selection
    finite = math.isfinite(best.score)
    open_ = REFERENCES if choice is None or best.name not in choice.possible else choice.possible
    failed = {
        name: standings.more_than_first[name]
        for name in REFERENCES
        if name in open_
        and not (standings.more_than_first[name][1] > 0.0 or (finite and standings[name].score == math.inf))
    }
    if not failed:
        return None
    called = decisions_of(standings)
    clauses = {name: f"{called[name]} ({_difference_in_words(standings, name, level)})" for name in failed}
    more = [name for name, (_, _, high) in failed.items() if finite and high < 0.0]
    less = [clauses[name] for name in failed if name not in more]
    said = [f"shown to cost more than {join([clauses[name] for name in more])}"] if more else []
    said += [f"not shown to cost less than {join(less)}"] if less else []
    count = "The best model, {0}," if len(standings.models) > 1 else "{0}"
    evidence = {f"vs_{name.replace(' ', '_')}": -each[0] for name, each in failed.items()}
    remedy = _DEARER if more else ""
    return Observation(f"{count} is {join(said)}.", (best.name,), evidence, remedy=remedy)


def dearer_somewhere(standings: Standings) -> Observation | None:
    """Decisions that are shown to cost less than the chosen one at some thresholds of the range."""
    found, choice = standings.by_threshold, standings.selection
    if found is None or choice is None or not found.dearer:
        return None
    rivals, left = found.dearer[:MOST_RIVALS], len(found.dearer) - MOST_RIVALS
    names = tuple(name for name in (*choice.tied, *rivals) if name in standings.models)
    everyone = decisions_of(standings)
    called = {name: f"{{{names.index(name)}}}" if name in names else everyone[name] for name in (*choice.tied, *rivals)}
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


def _difference_in_words(standings: Standings, name: str, level: str) -> str:
    value, low, high = standings.more_than_first[name]
    unit = Unit.of(standings.options, [result.score for result in standings.results], [value])
    if not math.isfinite(standings.best.score):
        return "both are infinite" if math.isinf(standings[name].score) else "its cost is infinite"
    interval = "no interval" if math.isnan(low) else f"{level} interval {unit.fixed(-high)} to {unit.fixed(-low)}"
    return f"difference {unit.fixed(-value)} {unit.per}, {interval}"


_NEARLY, _ROUNDING = 0.99, 1e-9


def auc_disagrees(standings: Standings) -> Observation | None:
    """Whether AUC prefers a model that costs more in this range, both beyond chance, and not for its harm alone."""
    rows, names = standings.rows, standings.models
    if rows is None or standings.rule == "optimal":
        return None
    level = LEVEL / max(len(names) * (len(names) - 1) // 2, 1)
    found = None
    for cheap, dear in _dearer_of_larger_area(standings, level):
        gap = standings.moments.difference(cheap, dear)
        harms = standings.options.harms([names[cheap], names[dear]])
        acting = replace(gap, value=gap.value - (harms[0] - harms[1]))
        if not all(each.value < 0.0 and each.p_value() <= level for each in (gap, acting)):
            continue
        labels, one, other, weight = rows.arguments(dear, cheap)
        area = inference.metric_difference(
            labels, one, other, "roc_auc_score", sample_weight=weight, clusters=rows.clusters, lags=rows.lags
        )
        if area.difference > 0.0 and area.p_value <= level and (found is None or area.difference > found[0].difference):
            found = area, gap.scaled(standings.factor), cheap, dear
    if found is None:
        return None
    area, cost, cheap, dear = found
    aucs = standings.results[dear].auc, standings.results[cheap].auc
    unit = Unit.of(standings.options, [result.score for result in standings.results], [cost.value])
    template = (
        f"AUC prefers {{0}} to {{1}} ({aucs[0]:.3f} against {aucs[1]:.3f}, p {p_value(area.p_value)}), and yet "
        f"{{1}} costs less in this range (difference {unit.fixed(cost.value)} {unit.per}, p {p_value(cost.p_value())})."
    )
    evidence: Evidence = {
        "auc": {names[dear]: aucs[0], names[cheap]: aucs[1]},
        "auc_p_value": area.p_value,
        "cost_difference": cost.value,
        "cost_p_value": cost.p_value(),
    }
    return Observation(template, (names[dear], names[cheap]), evidence)


def _dearer_of_larger_area(standings: Standings, level: float) -> list[tuple[int, int]]:
    """Pairs of a model and one of larger area that may cost more by more than chance: few, with many models."""
    means, count = standings.moments.means, len(standings.models)
    area, own = np.array([result.auc for result in standings.results[:count]]), standings.moments.covariance
    with np.errstate(invalid="ignore"):
        gaps, alone = means[:count, None] - means[:count], np.diag(own)[:count]
        both = alone[:, None] + alone
        # no p-value is smaller than that of a normal error of this variance; what is near the limit is judged exactly
        least = _NEARLY * NormalDist().inv_cdf(0.5 * level) ** 2 * (both - 2.0 * own[:count, :count] - _ROUNDING * both)
        chosen = (area[:, None] < area) & (gaps < 0.0) & ~(gaps**2 < least)
    pairs = np.nonzero(chosen)
    if len(pairs[0]):
        standings.moments.variance(*pairs)  # all at once is quicker than one by one
    return list(zip(*(places.tolist() for places in pairs), strict=True))


def group_not_as_promised(standings: Standings) -> Observation | None:
    """Groups in which models cost more or less than their own scores promise there, beyond chance."""
    level = 1.0 - standings.confidence_level
    found = [row for row in standings.groups if row.more_than_promised_p_adjusted < level]
    if not found:
        return None
    unit = Unit.of(standings.options, [result.score for result in standings.results])
    found.sort(key=lambda row: -abs(row.more_than_promised))
    worst = {label_of(row): row.model for row in reversed(found)}
    found.sort(key=lambda row: worst[label_of(row)] != row.model)  # each group once before one of them again
    names = tuple(dict.fromkeys(row.model for row in found[:_MOST_TOLD]))
    labels = [label_of(row) for row in found[:_MOST_TOLD]]
    clauses = [
        _off_promise(row, names.index(row.model), place, unit)
        for place, row in enumerate(found[:_MOST_TOLD], start=len(names))
    ]
    left = len(found) - _MOST_TOLD
    which, of = ("group", "") if len({row.model for row in found}) == 1 else ("pair", " of a model and a group")
    clauses += [f"{left} more such {which}{'s' * (left > 1)}{of}"] if left > 0 else []
    keys = [f"{row.model}: {label_of(row)}" for row in found]
    evidence: Evidence = {
        "more_than_promised": {key: row.more_than_promised for key, row in zip(keys, found, strict=True)},
        "p_adjusted": {key: row.more_than_promised_p_adjusted for key, row in zip(keys, found, strict=True)},
        "rows": {key: float(row.n_rows) for key, row in zip(keys, found, strict=True)},
        "positives": {key: float(row.n_positives) for key, row in zip(keys, found, strict=True)},
    }
    return Observation(f"{'; '.join(clauses)}.", names, evidence, tuple(labels))


def _off_promise(row: GroupResult, model: int, group: int, unit: Unit) -> str:
    """What one model costs more or less in a group than its scores promise, with the slots of their names."""
    ends = sorted(map(abs, row.more_than_promised_interval))
    more = "more" if row.more_than_promised > 0.0 else "less"
    sure = f" ({unit.fixed(ends[0])} to {unit.fixed(ends[1])})"
    costs = f"{{{model}}} costs {unit.fixed(abs(row.more_than_promised))}{sure} {more} {unit.per}"
    return f"{costs} in {{{group}}} than its scores promise there"


def tells_less_in_group(standings: Standings) -> Observation | None:
    """Groups in which the best model's area under the ROC curve is lower than in the other groups, beyond chance."""
    rows = standings.groups.of(standings.best.name)
    found = []
    for column in dict.fromkeys(row.column for row in rows):
        mine = [row for row in rows if row.column == column and _area_known(row)]
        if len(mine) > 1:
            found += [(row, *_against_others(row, mine, standings.confidence_level)) for row in mine]
    if not found:
        return None
    adjusted = inference.holm(np.array([p for *_, p in found]))
    less = [
        (row, other)
        for (row, other, _), p in zip(found, adjusted, strict=True)
        if row.auc < other and p < 1.0 - standings.confidence_level
    ]
    if not less:
        return None
    labels = tuple(label_of(row) for row, _ in less)
    clauses = [f"{{{i}}} (AUC {row.auc:.3f}, {other:.3f} elsewhere)" for i, (row, other) in enumerate(less, start=1)]
    template = (
        f"{{0}} tells events from the rest less well in {join(clauses)}. A narrower mix of cases lowers an AUC too, "
        "with no fault of the model."
    )
    evidence: Evidence = {
        "auc": {label: row.auc for label, (row, _) in zip(labels, less, strict=True)},
        "auc_elsewhere": {label: other for label, (_, other) in zip(labels, less, strict=True)},
    }
    return Observation(template, (standings.best.name,), evidence, labels)


def _area_known(row: GroupResult) -> bool:
    return min(row.n_positives, row.n_rows - row.n_positives) >= FEW and row.auc_interval[0] < row.auc_interval[1]


def _against_others(row: GroupResult, rows: Sequence[GroupResult], level: float) -> tuple[float, float]:
    """Mean area of the other groups, each by its precision, and the p-value of the difference."""
    z = 2.0 * NormalDist().inv_cdf(0.5 + level / 2.0)  # errors are those of the intervals, which chance bounds below
    variance = {id(each): ((each.auc_interval[1] - each.auc_interval[0]) / z) ** 2 for each in rows}
    others = [each for each in rows if each is not row]
    whole = sum(1.0 / variance[id(each)] for each in others)
    mean = sum(each.auc / variance[id(each)] for each in others) / whole
    error = math.sqrt(variance[id(row)] + 1.0 / whole)
    return mean, math.erfc(abs(row.auc - mean) / error / math.sqrt(2.0))


# Checks of the option to leave cases to someone else, where an evaluation has it.

MOST = 0.5


def harms(standings: Standings) -> Observation | None:
    """Models for which the option costs more than it saves, beyond what these rows and right scores explain."""
    if standings.deferral is None:
        return None
    models, level = standings.deferral.models, LEVEL / len(standings.models)
    shown = {name: found.value for name, found in models.items() if found.value < 0.0 and found.p_value <= level}
    bad = {name: value for name, value in shown.items() if _harms_if_right(standings, name) <= level}
    if not bad:
        return None
    worst = min(bad, key=bad.__getitem__)
    unit = Unit.of(standings.options, list(map(abs, bad.values())))
    words = f"leaving cases of {slots(len(bad))} to someone else costs more than it saves"
    whose = f" for {{{list(bad).index(worst)}}}, the most" if len(bad) > 1 else ""
    return Observation(f"{words} ({unit.fixed(-bad[worst])} {unit.per}{whose})", tuple(bad), {"value": bad})


def _harms_if_right(standings: Standings, name: str) -> float:
    """How likely the option looks so bad if scores are right; 0 where a limit to the share leaves that open."""
    table, asked = standings.score_table(name), standings.deferral
    if asked is None or table.fixed_prevalence or asked.capacity is not None:
        return 0.0
    costs = asked.deferral.applied_to(standings.costs), standings.costs
    negative = np.subtract(*(each.negative_loss(table.scores) for each in costs))
    return _tail(table, negative, np.subtract(*(each.positive_loss(table.scores) for each in costs)) - negative)


def no_model_needed(standings: Standings) -> Observation | None:
    """Deferring every case, where that is allowed, beside the best model with the option."""
    if standings.deferral is None:
        return None
    chosen = standings.deferral.selection
    reference = chosen.references[-1]
    if reference in REFERENCES:
        return None
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

"""Plain sentences for people who have to decide, made from the numbers of an evaluation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stakes.costs import LogOddsUniform, NetBenefitUniform, Uniform
from stakes.evaluation._words import join, number, p_value, percent

if TYPE_CHECKING:
    from stakes.costs import CostDistribution
    from stakes.evaluation._evaluation import Evaluation
    from stakes.inference import Comparison

_WORTH_RECALIBRATING = 0.05
_FEW = 3  # so many differences are listed one by one


def conclude(evaluation: Evaluation) -> list[str]:
    """Say which model, by how much, how sure, against treating all or none, and whether it is calibrated there."""
    sentences = [
        _lead(evaluation),
        *_rivals(evaluation),
        _against_constants(evaluation),
        *_calibration(evaluation),
    ]
    sentences += _constant_models(evaluation)
    return [sentence for sentence in sentences if sentence]


def describe_costs(costs: CostDistribution) -> str:
    """The range of thresholds in words."""
    if costs.low == costs.high:
        return f"At a threshold of {percent(costs.low)}"
    words = {
        LogOddsUniform: ", uniform in log-odds",
        NetBenefitUniform: ", uniform in net benefit",
        Uniform: "",
    }
    weighting = next((text for family, text in words.items() if isinstance(costs, family)), f", weighted by {costs!r}")
    return f"With thresholds anywhere between {percent(costs.low)} and {percent(costs.high)}{weighting}"


def _lead(evaluation: Evaluation) -> str:
    best = evaluation.best
    lowest = "the lowest expected cost: " if len(evaluation.models) > 1 else "an expected cost of "
    amount = f"{number(best.score)} per {_decisions(evaluation)} ({_unit(evaluation)})"
    note = ""
    if evaluation.rule == "optimal":
        note = "; its thresholds are fitted to these very rows, so this is optimistic"
    start = f"{describe_costs(evaluation.costs)}, {best.name} has {lowest}{amount}"
    return f"{start}{_interval(evaluation, best.interval)}{note}."


def _decisions(evaluation: Evaluation) -> str:
    return "decision" if evaluation.per == 1.0 else f"{evaluation.per:,g} decisions"


def _unit(evaluation: Evaluation) -> str:
    return evaluation.scale if evaluation.unit_cost == 1.0 else f"{evaluation.scale}, in units of cost"


def _rivals(evaluation: Evaluation) -> list[str]:
    best, *others = evaluation.ranking
    if not others:
        return []
    versus = {other: evaluation._difference(best, other) for other in others}
    boundless = [other for other in others if evaluation[other].score == math.inf]
    others = [other for other in others if other not in boundless]
    tied = [other for other in others if not versus[other].significant]
    beaten = [other for other in others if versus[other].significant]
    sentences = []
    if tied:
        each = "" if len(tied) == 1 else "any of " if len(tied) > 2 else "either of "
        listed = _list_differences(evaluation, {other: versus[other] for other in tied})
        sentences.append(f"The data do not show a real difference between {best} and {each}{join(tied)} ({listed}).")
    if beaten:
        listed = _list_differences(evaluation, {other: versus[other] for other in beaten})
        sentences.append(f"{best} costs less than {join(beaten)}, beyond chance ({listed}).")
    if boundless:
        verb = "has" if len(boundless) == 1 else "have"
        sentences.append(
            f"{join(boundless)} {verb} an infinite cost: a score of exactly 0 for a positive case, "
            "or of exactly 1 for a negative one."
        )
    return sentences


def _against_constants(evaluation: Evaluation) -> str:
    best = evaluation.best.name
    words = {"treat all": "treating everyone", "treat none": "treating no one"}
    parts = []
    for reference, phrase in words.items():
        versus = evaluation._difference(best, reference)
        if math.isnan(versus.difference):
            parts.append(f"as infinitely costly as {phrase}")
            continue
        if versus.significant or math.isinf(versus.difference):
            verdict = "better than" if versus.difference < 0.0 else "worse than"
        else:
            verdict = "not shown to differ from"
        parts.append(f"{verdict} {phrase} ({_difference(evaluation, versus)})")
    return f"Acting on {best} is {parts[0]} and {parts[1]}."


def _calibration(evaluation: Evaluation) -> list[str]:
    best, parts = evaluation.best, evaluation.best.decomposition
    if parts is None:
        return []
    if not 0.0 < evaluation.prevalence < 1.0:
        return ["All cases are of one class, so these data say nothing of calibration or ranking."]
    sentences = []
    share, mean_score, rate = best.in_range
    low, high = percent(evaluation.costs.low), percent(evaluation.costs.high)
    if math.isfinite(rate) and evaluation.costs.low < evaluation.costs.high:
        cases = f"{percent(share)} of cases get a score between {low} and {high} from {best.name}: their"
        if share == 1.0:
            cases = f"All cases get a score in this range from {best.name}: their"
        sentences.append(f"{cases} mean score is {percent(mean_score)}, and {percent(rate)} of them were positive.")
    if math.isfinite(parts.miscalibration) and parts.score > 0.0:
        saving = parts.miscalibration / parts.score
        amount = (
            f"little there, at most {percent(saving)}" if saving < _WORTH_RECALIBRATING else f"up to {percent(saving)}"
        )
        sentences.append(
            f"Recalibrating {best.name} would save {amount} of its cost (in-sample, so an optimistic figure)."
        )
    return sentences


def _constant_models(evaluation: Evaluation) -> list[str]:
    sentences = []
    for reference, phrase in (("treat all", "treating everyone"), ("treat none", "treating no one")):
        names = [result.name for result in evaluation.results if result.acts_like == reference]
        if names:
            verb = "acts" if len(names) == 1 else "act"
            sentences.append(f"In this range {join(names)} practically {verb} like {phrase}.")
    return sentences


def _list_differences(evaluation: Evaluation, versus: dict[str, Comparison]) -> str:
    """All differences where they are few; else that to the closest model, and how sure the least sure of them is."""
    if len(versus) <= _FEW:
        return "; ".join(f"{other}: {_difference(evaluation, found)}" for other, found in versus.items())
    closest = next(iter(versus))
    text = f"the closest, {closest}: {_difference(evaluation, versus[closest])}"
    p_values = [found.p_value for found in versus.values()]
    if any(map(math.isnan, p_values)):
        return text
    least, most = _p(min(p_values)), _p(max(p_values))
    return f"{text}; every p {most}" if least == most else f"{text}; p from {least} to {most}"


def _difference(evaluation: Evaluation, comparison: Comparison) -> str:
    if math.isinf(comparison.difference):
        return "an infinite difference"
    text = f"difference {number(comparison.difference)}{_interval(evaluation, comparison.interval)}"
    return text if math.isnan(comparison.p_value) else f"{text}, p {p_value(comparison.p_value)}"


def _interval(evaluation: Evaluation, interval: tuple[float, float]) -> str:
    if math.isnan(interval[0]):
        return ", no interval"
    return f", {evaluation.confidence_level * 100:g}% interval {number(interval[0])} to {number(interval[1])}"


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.2g}"

"""The sections of words: what is at stake, the data, the method and what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.report._assets import filled
from stakes.report._html import facts
from stakes.report._models import conclusion_html
from stakes.report._numbers import count, odds, percent, times
from stakes.report._ranking import cost_words
from stakes.report._text import text_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation
    from stakes.report._models import Model

_SOURCE_LIMIT = 100
_COSTS_LIMIT = 300


def stake(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The conclusion, and what the range of thresholds means."""
    lead, *others = conclusion_html(evaluation, models)
    listed = "".join(f"<li>{sentence}</li>" for sentence in others)
    return f'<p class="lead">{lead}</p><ul class="findings">{listed}</ul><p class="range">{_meaning(evaluation)}</p>'


def _meaning(evaluation: Evaluation) -> str:
    low, high = evaluation.costs.low, evaluation.costs.high
    if low == high:
        return f"To act from a threshold of {percent(low)} on is to say that {_exchange(low)}."
    if low == 0.0 and high == 1.0:
        return (
            "This is the whole range of thresholds: every exchange of false alarms for misses, from free false alarms "
            "to free misses. If you can say which are plausible for your decision, the answer becomes sharper."
        )
    return (
        f"To act from a threshold of {percent(low)} on is to say that {_exchange(low)}; at {percent(high)}, that "
        f"{_exchange(high)}. The thresholds in between are those that someone might plausibly hold."
    )


def _exchange(threshold: float) -> str:
    if threshold == 0.0:
        return "false alarms cost nothing"
    if threshold == 1.0:
        return "missed positives cost nothing"
    ratio = (1.0 - threshold) / threshold
    if ratio >= 1.0:
        return f"one missed positive is as bad as {times(ratio)} false alarm{'' if times(ratio) == '1' else 's'}"
    return f"one false alarm is as bad as {times(1.0 / ratio)} missed positives"


def data(evaluation: Evaluation, models: Sequence[Model], made: str, version: str) -> str:
    """Where the numbers come from."""
    scores = evaluation.tables[0]
    pairs = [
        ("Source", text_html(evaluation.source, _SOURCE_LIMIT) if evaluation.source else "arrays in memory"),
        ("Rows", count(evaluation.n_rows)),
        ("Rows dropped as incomplete", count(evaluation.n_dropped)),
        ("Positives", _prevalence(evaluation)),
        ("Weights", _weights(evaluation)),
        ("Models", count(len(models))),
        ("Distinct scores", _distinct(evaluation)),
        ("Made", f"{made}, stakes {version}"),
    ]
    if scores.total_positives == 0.0 or scores.total_negatives == 0.0:
        pairs.append(("Note", "only one class: skill, discrimination and AUC are undefined"))
    return facts(pairs) + _full_names(models)


def _prevalence(evaluation: Evaluation) -> str:
    given = " (stated, not counted)" if evaluation.tables[0].fixed_prevalence else ""
    return f"{percent(evaluation.prevalence, 4)} of the weight{given}"


def _weights(evaluation: Evaluation) -> str:
    scores = evaluation.tables[0]
    if np.array_equal(scores.positives, scores.positives_squared) and np.array_equal(
        scores.negatives, scores.negatives_squared
    ):
        return "none: every row counts once"
    return f"weighted; total weight {count(scores.total)}"


def _distinct(evaluation: Evaluation) -> str:
    numbers = [len(scores.scores) for scores in evaluation.tables]
    low, high = count(min(numbers)), count(max(numbers))
    return low if low == high else f"{low} to {high} a model"


def _full_names(models: Sequence[Model]) -> str:
    long = [model for model in models if model.full != model.short]
    if not long:
        return ""
    items = "".join(f"<dt>{model.html}</dt><dd>{text_html(model.full, len(model.full))}</dd>" for model in long)
    return f'<details><summary>Names in full</summary><dl class="names">{items}</dl></details>'


def method(evaluation: Evaluation) -> str:
    """How the numbers were made and what they do not say."""
    return filled(
        "method.html",
        scale=_scale_words(evaluation),
        rule=_rule_words(evaluation),
        costs=_costs_words(evaluation),
        level=f"{evaluation.confidence_level * 100:g}%",
    )


def _scale_words(evaluation: Evaluation) -> str:
    words = {
        "regret": "The regret averaged over the plausible thresholds, per decision.",
        "integral": "The integral of regret over the plausible thresholds.",
        "loss": "The integral of regret times the customary factor, so that the whole range gives the Brier score or "
        "the log loss.",
    }
    unit = evaluation.unit_cost
    stated = "" if unit == 1.0 else f" A false positive and a false negative together cost {unit:,g} units."
    return f"Scale “{evaluation.scale}”: {cost_words(evaluation)}. {words[evaluation.scale]}{stated}"


def _rule_words(evaluation: Evaluation) -> str:
    if evaluation.rule == "score":
        return "A case is acted on when its score reaches the threshold."
    if evaluation.rule == "optimal":
        return (
            "Decisions are the best that the ranking allows in hindsight (isotonic regression on these rows): "
            "in-sample, optimistic, and without intervals."
        )
    return f"A case is acted on when its score reaches {evaluation.rule:g}, whatever the cost ratio."


def _costs_words(evaluation: Evaluation) -> str:
    low, high = evaluation.costs.low, evaluation.costs.high
    words = text_html(repr(evaluation.costs), _COSTS_LIMIT)
    if low == high:
        return f"Only {percent(low)} (odds {odds(low)}): {words}."
    return f"Between {percent(low)} and {percent(high)} (odds {odds(low)} to {odds(high)}): {words}."

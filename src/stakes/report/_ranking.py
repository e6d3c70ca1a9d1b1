"""The ranking table: cost with its interval, the difference to the best, skill, and the two references."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING

from stakes.report._escaped import text_html
from stakes.report._html import table
from stakes.report._models import REFERENCE_DASHES, swatch
from stakes.report._numbers import fixed, interval, percent, skill_percent
from stakes.report._units import regret_words, unit_words
from stakes.shown.sentences import say
from stakes.shown.words import decimals_for, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.evaluation import Evaluation, ModelResult
    from stakes.inference import Comparison
    from stakes.report._html import Cell
    from stakes.report._models import Model

_WIDTH = 96.0
_METRIC_LIMIT = 40
_NONE = "&ndash;"
_SCALES = {"integral": "integral of regret", "loss": "loss"}


def cost_words(evaluation: Evaluation) -> str:
    """What the expected cost is, and in which unit."""
    return regret_words(evaluation) if evaluation.scale == "regret" else _SCALES[evaluation.scale]


def ranking_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Models from the best to the worst, then treating all and treating none, on every scale."""
    results = [model.result for model in models]
    decimals = decimals_for([r.standard_error for r in results], [r.score for r in results])
    ends = _ends(results)
    named = [
        (
            model.result,
            f'<span class="rank">{model.rank}</span>',
            _head(model.sample + _note(model.result), model.rank - 1),
        )
        for model in models
    ]
    for name, dash in REFERENCE_DASHES.items():
        sample = f'<span data-reference="{name}">{swatch("--reference", dash)} {name}</span>'
        named.append((evaluation[name], "", _head(sample)))
    scales = _scales(evaluation)
    places = {name: decimals_for([], [factor * r.score for r in results]) for name, factor in scales.items()}
    rows: list[list[Cell]] = []
    for result, rank, head in named:
        cells: list[Cell] = [
            (_cost(result, decimals, ends), result.score)
            if name == evaluation.scale
            else (fixed(factor * result.score, places[name]), factor * result.score)
            for name, factor in scales.items()
        ]
        rows.append([rank, head, *cells, *_judged(evaluation, result, decimals)])
    columns = _columns(evaluation)
    heads = [head + (f"<br><small>{detail}</small>" if detail else "") for head, detail in columns]
    labels = [head for head, _ in columns]
    return table(caption("ranking", evaluation), heads, rows, key="ranking", labels=labels, follow="ranking")


def _head(name: str, model: int | None = None) -> str:
    place = "" if model is None else f' data-model="{model}"'
    return f'<th scope="row" role="rowheader"{place}>{name}</th>'


def _scales(evaluation: Evaluation) -> dict[str, float]:
    """Factors from the evaluation's scale to every scale; nan where one is not defined."""
    costs = evaluation.costs
    if evaluation.options.per_stake:
        return {evaluation.scale: 1.0}
    units = evaluation.unit_cost * evaluation.per
    factors = {
        "regret": units / costs.mass if 0.0 < costs.mass < math.inf else math.nan,
        "integral": 1.0,
        "loss": math.nan if costs.loss_factor is None else costs.loss_factor,
    }
    return {name: factor / evaluation.factor for name, factor in factors.items()}


def _columns(evaluation: Evaluation) -> list[tuple[str, str]]:
    level = f"{evaluation.confidence_level * 100:g}%"
    versus = f"difference, pointwise {level} interval, p; of this pair alone"
    words = {"regret": "Mean regret", "integral": "Integral", "loss": "Loss"}
    unit = f"{unit_words(evaluation)}, " if evaluation.scale == "regret" else ""
    scales = [
        (words[name], f"{unit}pointwise {level} interval" if name == evaluation.scale else "")
        for name in _scales(evaluation)
    ]
    return [
        ("#", ""),
        ("Model", ""),
        *scales,
        ("More than the best", versus),
        ("Skill", ""),
        ("Against treat all", versus),
        ("Against treat none", versus),
    ]


def further_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """Numbers beside the expected cost, and the metrics that were asked for."""
    asked = list(evaluation.results[0].metrics)
    heads = ["#", "Model", "AUC", "Share acted on", *(text_html(name, _METRIC_LIMIT) for name in asked)]
    decimals = [decimals_for([], [model.result.metrics[name] for model in models]) for name in asked]
    rows = [
        [
            str(model.rank),
            model.sample,
            _with_details(fixed(model.result.auc, 3), interval(evaluation.auc(model.name).interval, 3)),
            percent(model.result.share_acted_on),
            *(fixed(model.result.metrics[name], places) for name, places in zip(asked, decimals, strict=True)),
        ]
        for model in models
    ]
    level = f"{evaluation.confidence_level * 100:g}%"
    caption = (
        f"Further numbers of each model, the area with its pointwise {level} interval; not what the ranking goes by"
    )
    return table(caption, heads, rows)


def caption(of: str, evaluation: Evaluation) -> str:
    """What a table shows, over which thresholds."""
    low, high = evaluation.costs.low, evaluation.costs.high
    return say(of, over=say("over_one" if low == high else "over", low=percent(low), high=percent(high)))


def _note(result: ModelResult) -> str:
    return f'<small class="note">acts like {result.acts_like}</small>' if result.acts_like else ""


def _cost(result: ModelResult, decimals: int, ends: tuple[float, float] | None) -> str:
    numbers = _with_details(fixed(result.score, decimals), interval(result.interval, decimals))
    return _whisker(result, ends) + numbers


def _judged(evaluation: Evaluation, result: ModelResult, decimals: int) -> list[Cell]:
    """Against the best model, the prevalence as forecast, and the references."""
    best = _versus(evaluation, result.name, evaluation.ranking[0], decimals)
    against = [_versus(evaluation, result.name, other, decimals) for other in REFERENCE_DASHES]
    parts = result.decomposition
    skill: Cell = (skill_percent(parts.skill), parts.skill) if parts else _NONE
    return [best, skill, *against]


def _versus(evaluation: Evaluation, name: str, other: str, decimals: int) -> Cell:
    if name == other:
        return _NONE
    found: Comparison = evaluation.difference(name, other)
    details = [interval(found.interval, decimals)]
    if not math.isnan(found.p_value):
        details.append(f"p {html.escape(p_value(found.p_value))}")
    text = _with_details(fixed(found.difference, decimals, sign=True), *details)
    return text, found.difference


def _with_details(number: str, *details: str) -> str:
    return f"<span>{number}</span>" + "".join(f"<small>{detail}</small>" for detail in details)


def _ends(results: Sequence[ModelResult]) -> tuple[float, float] | None:
    numbers = [x for r in results for x in (r.score, *r.interval) if math.isfinite(x)]
    return (min(numbers), max(numbers)) if numbers and min(numbers) < max(numbers) else None


def _whisker(result: ModelResult, ends: tuple[float, float] | None) -> str:
    """Cost and interval as a dot on a line, all rows on one scale; empty where they lie outside it."""
    low, high = result.interval
    if ends is None or not math.isfinite(result.score) or not ends[0] <= result.score <= ends[1]:
        return ""
    x = _place(result.score, ends)
    line = ""
    if math.isfinite(low) and math.isfinite(high):
        line = f'<path d="M{_place(low, ends):.1f} 8H{_place(high, ends):.1f}" class="whisker"/>'
    return (
        f'<svg viewBox="0 0 {_WIDTH:.0f} 16" width="{_WIDTH:.0f}" height="16" aria-hidden="true">{line}'
        f'<circle cx="{x:.1f}" cy="8" r="4" class="dot"/></svg>'
    )


def _place(value: float, ends: tuple[float, float]) -> float:
    share = (value - ends[0]) / (ends[1] - ends[0])
    return 5.0 + (_WIDTH - 10.0) * min(max(share, 0.0), 1.0)

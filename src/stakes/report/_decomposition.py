"""The decomposition table: where each model's cost comes from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.inference import decomposition_interval
from stakes.inference._crossfit_rows import NEEDED
from stakes.report._html import follows, table
from stakes.report._numbers import fixed, skill_percent
from stakes.report._ranking import caption, cost_words
from stakes.shown.words import decimals_for, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.decomposition import Decomposition
    from stakes.evaluation import Evaluation
    from stakes.report._html import Cell
    from stakes.report._models import Model


def decomposition_table(evaluation: Evaluation, models: Sequence[Model]) -> str:
    """The terms of every model."""
    parts = {model: model.result.decomposition for model in models}
    known = {model: p for model, p in parts.items() if p is not None}
    errors = [model.result.standard_error for model in known]
    decimals = decimals_for(errors, [term for p in known.values() for term in _terms(p)])
    rows: list[list[Cell]] = [
        [
            f"{model.rank}",
            model.sample,
            *((fixed(term, decimals), term) for term in _terms(p)),
            (skill_percent(p.skill), p.skill),
        ]
        for model, p in known.items()
    ]
    heads = ["#", "Model", f"Cost<br><small>{cost_words(evaluation)}</small>", "MCB", "DSC", "UNC", "Skill"]
    missing = [model.html for model, p in known.items() if not all(map(math.isfinite, _terms(p)))]
    note = f"<p>Not drawn, because a term is infinite or undefined: {', '.join(missing)}.</p>" if missing else ""
    shown = table(caption("decomposition", evaluation), heads, rows, follow="decomposition")
    return shown + follows("missing", note) + _on_new_rows(evaluation, models[0])


def _on_new_rows(evaluation: Evaluation, best: Model) -> str:
    """What recalibrating the best model would save on rows it is not fitted to; nothing where that cannot be said."""
    rows, costs = evaluation.rows, evaluation.costs
    if rows is None or rows.dependent or evaluation.rule != "score" or min(np.bincount(rows.y, minlength=2)) < NEEDED:
        return ""
    if len(costs.atoms[0]) or not math.isfinite(float(costs.positive_loss(0.0)) + float(costs.negative_loss(1.0))):
        return ""
    y, score, _, weight = rows.arguments(*2 * [evaluation.models.index(best.name)])
    prevalence = evaluation.prevalence if rows.fixed_prevalence else None
    options: dict[str, Any] = {"sample_weight": weight, "prevalence": prevalence}
    options["confidence_level"] = evaluation.confidence_level
    found = decomposition_interval(y, score, costs=costs, scale="integral", **options).miscalibration
    value, low, high = (number(evaluation.factor * end) for end in (found.value, *found.interval))
    sure = f"{100.0 * found.confidence_level:g}% interval {low} to {high}; cross-fitted, over the range as reported"
    if found.interval[0] <= 0.0:
        return f"<p>Recalibrating {best.html} is not shown to save anything on new rows ({sure}).</p>"
    return f"<p>On new rows recalibrating {best.html} would save about {value} ({sure}).</p>"


def _terms(parts: Decomposition) -> tuple[float, float, float, float]:
    return parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty

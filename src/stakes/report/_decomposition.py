"""The decomposition table: where each model's cost comes from."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stakes.report._html import follows, table
from stakes.report._numbers import fixed, skill_percent
from stakes.report._ranking import caption, cost_words
from stakes.shown.words import decimals_for

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
    return shown + follows("missing", note)


def _terms(parts: Decomposition) -> tuple[float, float, float, float]:
    return parts.score, parts.miscalibration, parts.discrimination, parts.uncertainty

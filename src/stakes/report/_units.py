"""In which units regret is, and what it is called in them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from stakes.shown.text import visible

if TYPE_CHECKING:
    from stakes.evaluation import Evaluation


def decisions(evaluation: Evaluation) -> str:
    """What regret is counted per."""
    if evaluation.options.per_stake:
        return visible(evaluation.options.per_stake)
    return "decision" if evaluation.per == 1.0 else f"{evaluation.per:,g} decisions"


def unit_words(evaluation: Evaluation) -> str:
    """In which unit regret is."""
    plain = evaluation.unit_cost == 1.0 or evaluation.options.per_stake
    return html.escape(f"per {decisions(evaluation)}") + ("" if plain else " in units of cost")


def regret_words(evaluation: Evaluation) -> str:
    """What mean regret is called, with its unit where it is not plain."""
    plain = evaluation.per == evaluation.unit_cost == 1.0
    return "mean regret" if plain else f"mean regret {unit_words(evaluation)}"

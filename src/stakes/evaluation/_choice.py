"""Which decision is best, said so that having picked it does not make it false; and where that cannot be said, why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.costs import LogOddsUniform, NetBenefitUniform, Uniform
from stakes.inference import contest_from_moments, select
from stakes.shown.sentences import REFERENCES, say
from stakes.shown.words import percent

if TYPE_CHECKING:
    from stakes.core.options import Options
    from stakes.costs import CostDistribution
    from stakes.inference import LossMoments, Selection


def choose(moments: LossMoments, models: tuple[str, ...], n_rows: int, options: Options) -> Selection | None:
    """Choose among the models and the references, from the moments of their costs; None where nothing is sure."""
    if options.rule == "optimal":
        return None
    worst = float(options.costs.negative_loss(np.inf)), float(options.costs.positive_loss(-np.inf))
    contest = contest_from_moments(
        moments,
        (*models, *REFERENCES),
        len(models),
        n_rows,
        factor=options.factor,
        highest=options.factor * (max(worst) + float(options.harms(models).max())),
    )
    if contest is None:
        return None
    return select(
        contest,
        incumbent=options.incumbent,
        n_tried=options.n_tried,
        confidence_level=options.confidence_level,
        scale=options.scale,
        per=options.per,
        where=f"{describe_costs(options.costs, options.per_stake)}, ",
        unit=options.per_stake or "decision",
    )


def describe_costs(costs: CostDistribution, per_stake: str = "") -> str:
    """The range of thresholds in words, or how far amounts are taken as they were stated."""
    if per_stake and costs.low == costs.high:
        factor = costs.low / (1.0 - costs.low) if costs.low < 1.0 else np.inf
        return (
            "With amounts as stated" if factor == 1.0 else f"With false positives {factor:.3g} times the stated amount"
        )
    if per_stake:
        return describe_costs(costs).replace("thresholds", "cost ratios")
    words = {
        LogOddsUniform: say("log-odds"),
        NetBenefitUniform: ", uniform in net benefit",
        Uniform: say("uniform"),
    }
    weighting = next((text for family, text in words.items() if isinstance(costs, family)), f", weighted by {costs!r}")
    where = "at" if costs.low == costs.high else "average"
    return say(where, low=percent(costs.low), high=percent(costs.high), weighting=weighting)


def why_unsaid(moments: LossMoments, options: Options) -> str:
    """Why there is no selection."""
    if options.rule == "optimal":
        return "the thresholds are fitted to these very rows"
    if not np.isfinite(moments.means).any():
        return "every cost is infinite"
    return moments.reason or moments.unpaired or "one class has too few rows"

"""Scores from several completed data sets: what no rule pools, and the means of what has no error."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stakes.base.outcome import Outcome
from stakes.inference import mean_of
from stakes.outcomes import Imputed
from stakes.outputs.text import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from stakes.core.options import Options
    from stakes.evaluation._standings import ModelResult


def completed_scores(models: Mapping[str, Any], called: Mapping[str, str]) -> list[dict[str, tuple[Any, str]]]:
    """Scores of every model in each completed data set, and what to call them; one data set without imputation."""
    counts = {called[name]: len(scores.scores) for name, scores in models.items() if isinstance(scores, Imputed)}
    if len(set(counts.values())) > 1:
        told = join([f"{count} of {name}" for name, count in counts.items()])
        raise ValueError(f"y_prob must hold Imputed scores of the same completed data sets, got columns: {told}.")
    return [
        {
            name: (scores.scores[k], f"{called[name]}.scores[{k}]")
            if isinstance(scores, Imputed)
            else (scores, called[name])
            for name, scores in models.items()
        }
        for k in range(next(iter(counts.values()), 1))
    ]


def check_poolable(y_true: Any, options: Options) -> None:
    """Refuse what no rule pools over completed data sets."""
    if options.rule == "optimal":
        raise ValueError(
            'rule must be "score" or a threshold for Imputed scores, got "optimal": it fits each data set.'
        )
    if options.groups is not None:
        raise ValueError("groups must be None for Imputed scores: evaluate the rows of each group alone.")
    if isinstance(y_true, Outcome) and y_true.by_amount:
        raise ValueError(
            "y_true must have no amounts for Imputed scores, which weigh rows by the score: evaluate one completed "
            "data set, or pool the costs of all by stakes.inference.pool."
        )


def mean_facts(each: Sequence[ModelResult]) -> dict[str, Any]:
    """What is known of a model beside its cost, as the mean over completed data sets."""

    def mean(values: Iterable[float]) -> float:
        return mean_of(list(values))

    shares = [one.in_range[0] for one in each]
    inside = [
        mean(share * one.in_range[k] if share else 0.0 for share, one in zip(shares, each, strict=True)) for k in (1, 2)
    ]
    share = mean(shares)
    terms = [one.decomposition for one in each if one.decomposition is not None]
    names = ("score", "miscalibration", "discrimination", "uncertainty")
    means: dict[str, Any] = {name: mean(getattr(part, name) for part in terms) for name in names if terms}
    return {
        "decomposition": replace(terms[0], **means) if terms else None,
        "auc": mean(one.auc for one in each),
        "share_acted_on": mean(one.share_acted_on for one in each),
        "in_range": (share, *(part / share if share else math.nan for part in inside)),
        "acts_like": each[0].acts_like if len({one.acts_like for one in each}) == 1 else "",
        "metrics": {name: mean(one.metrics[name] for one in each) for name in each[0].metrics},
    }

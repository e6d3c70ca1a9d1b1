"""What a value of information starts from: costs of each row under each decision, and how many decisions there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.validation import check_number
from stakes.inference import CostRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.validation import BinarySample
    from stakes.costs import CostDistribution

REFERENCES = ("treat all", "treat none")


def decision_rows(
    y_true: ArrayLike, models: Mapping[str, ArrayLike], costs: CostDistribution, **options: Any
) -> tuple[tuple[str, ...], CostRows, list[BinarySample]]:
    """Names, mean regret of each row under the models, treating all and treating no one, and the clean rows."""
    refuse_weighing(y_true, "value_of_information")
    if not models:
        raise ValueError("y_probs must hold at least one model, got none.")
    if not np.isfinite(costs.mass):
        raise ValueError(f"costs must have a finite mass for a value per decision, got {costs!r}.")
    samples = [
        evaluation_data(y_true, score, name=f"y_probs[{name!r}]", **options).rows for name, score in models.items()
    ]
    rows = CostRows.of(samples, costs, factor=1.0 / costs.mass)
    return (*map(str, models), *REFERENCES), rows, samples


def total_decisions(decisions: float | Sequence[float] | None, discount: float | None) -> float | None:
    """All decisions, those of later years discounted."""
    if decisions is None or not isinstance(decisions, Sequence):
        if discount is not None:
            raise ValueError(f"discount needs decisions by year, got decisions={decisions!r}.")
        years = [] if decisions is None else [check_number(decisions, "decisions")]
    else:
        years = [check_number(each, "decisions") for each in decisions]
    rate = 0.0 if discount is None else check_number(discount, "discount")
    if rate < 0.0 or any(not 0.0 <= each < np.inf for each in years):
        raise ValueError(f"decisions and discount must be >= 0, got {decisions!r} and {discount!r}.")
    return sum(each / (1.0 + rate) ** year for year, each in enumerate(years)) if years else None

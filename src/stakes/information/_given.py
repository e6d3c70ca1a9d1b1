"""What a value of information starts from: costs of each row under each decision, and how many decisions there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.inputs import evaluation_data, refuse_weighing
from stakes.core.regret import check_unit_cost
from stakes.core.remedies import brief
from stakes.core.validation import check_number
from stakes.inference import CostRows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.validation import BinarySample
    from stakes.costs import CostDistribution

REFERENCES = ("treat all", "treat none")


class Asked(NamedTuple):
    """What is asked of rows of costs, checked."""

    threshold: float | None
    prior: str
    sizes: tuple[int, ...]
    n_decisions: float | None
    unit_cost: float | None
    per: float
    row_cost: float | None
    fixed_cost: float


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


def _size(m: Any) -> int:
    if not isinstance(m, (int, np.integer)) or isinstance(m, bool) or m < 1:
        raise ValueError(f"more_rows must hold whole numbers > 0, got {m!r}.")
    return int(m)


def check_study(
    *,
    more_rows: Sequence[int] = (100, 1000),
    decisions: float | Sequence[float] | None = None,
    discount: float | None = None,
    unit_cost: float | None = None,
    per: float = 1.0,
    row_cost: float | None = None,
    fixed_cost: float = 0.0,
) -> tuple[tuple[int, ...], float | None, float | None, float, float | None, float]:
    """What :class:`Asked` holds of units, years and prices."""
    if not isinstance(more_rows, (list, tuple, np.ndarray)) or np.ndim(more_rows) != 1:
        remedy = f": pass [{more_rows!r}]" if isinstance(more_rows, int) else ""
        raise TypeError(f"more_rows must be a list of numbers of rows, got {brief(more_rows)}{remedy}.")
    return (
        tuple(_size(m) for m in more_rows),
        total_decisions(decisions, discount),
        None if unit_cost is None else check_unit_cost(unit_cost),
        check_positive(per, "per"),
        None if row_cost is None else check_number(row_cost, "row_cost"),
        check_number(fixed_cost, "fixed_cost"),
    )


def check_positive(value: Any, name: str) -> float:
    """A finite number above zero, or raise."""
    number = check_number(value, name)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}.")
    return number


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

"""Which rows to act on where each has amounts of its own: labels are not needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.validation import check_scores, to_array, to_floats
from stakes.outcomes._row_costs import check_factor, dominated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RowDecisions:
    """Which rows to act on, and what that is expected to cost.

    Parameters
    ----------
    act : ndarray of bool
        Whether acting is expected to cost no more than not acting.
    threshold : ndarray of float
        The probability from which the row is worth acting on; nan where one decision is never worse.
    expected_cost, none, all : float
        Expected cost of these decisions, of acting on nobody and of acting on all, if the probabilities are calibrated.
    n_set_aside : int
        Rows in which one decision is never worse.

    Examples
    --------
    >>> from stakes.outcomes import decide_rows
    >>> decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20]).act.tolist()
    [True, False]
    """

    act: Bools
    threshold: Floats
    expected_cost: float
    none: float
    all: float
    n_set_aside: int


def decide_rows(
    y_prob: ArrayLike,
    *,
    false_positive: ArrayLike,
    false_negative: ArrayLike,
    factor: float = 1.0,
    on_dominated: str = "raise",
) -> RowDecisions:
    """Act on each row where that is expected to cost no more than not acting (Elkan 2001).

    Parameters
    ----------
    y_prob : array_like of shape (n,)
        Calibrated probability of the positive class.
    false_positive, false_negative : float or array_like of shape (n,)
        What acting on a negative, and not acting on a positive, costs in each row.
    factor : float, default 1
        By how much false positives cost more than stated.
    on_dominated : {"raise", "set_aside"}, default "raise"
        Whether rows in which one decision is never worse are an error, or simply get that decision.

    Returns
    -------
    RowDecisions

    Raises
    ------
    ValueError
        For invalid probabilities or amounts.

    Examples
    --------
    >>> from stakes.outcomes import decide_rows
    >>> found = decide_rows([0.5, 0.1], false_positive=5, false_negative=[15, 20])
    >>> found.threshold.tolist(), found.expected_cost
    ([0.25, 0.2], 4.5)
    """
    check_same_order(y_prob=y_prob, false_positive=false_positive, false_negative=false_negative)
    p = check_scores(to_array(y_prob, "y_prob"), "y_prob")
    a = check_factor(factor) * _amounts(false_positive, "false_positive", p)
    b = _amounts(false_negative, "false_negative", p)
    forced = dominated(a, b, np.broadcast_to(1.0, p.shape), on_dominated)
    acting, leaving = (1.0 - p) * a, p * b
    act = np.where(forced == 0, leaving >= acting, forced > 0) & ((a != 0.0) | (b != 0.0))
    open_ = (forced == 0) & (a + b > 0.0)
    threshold = np.divide(a, a + b, out=np.full(len(p), np.nan), where=open_)
    own = float(np.where(act, acting, leaving).sum())
    aside = int(np.count_nonzero(forced))
    return RowDecisions(act, threshold, own, float(leaving.sum()), float(acting.sum()), aside)


def _amounts(values: ArrayLike, name: str, like: Floats) -> Floats:
    found = to_floats(to_array(values, name), name)
    if found.ndim and found.shape != like.shape:
        raise ValueError(f"{name} must be a number or one for each of the {len(like)} rows, got shape {found.shape}.")
    found = np.broadcast_to(found, like.shape)
    if not np.isfinite(found).all():
        first = int(np.argmin(np.isfinite(found)))
        raise ValueError(f"{name} must be finite, got {found[first]} at index {first}.")
    return found

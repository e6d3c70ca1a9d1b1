"""Probabilities, checked and corrected, and the decisions that a threshold makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.validation import check_scores, pick_positive_column, to_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Correction = Callable[[Floats], ArrayLike]


def clean_probabilities(y_prob: ArrayLike, correction: Correction | None = None, *, probability: bool = True) -> Floats:
    """Validate probabilities (or scores), no rows allowed, and correct them first if asked."""
    array = pick_positive_column(y_prob, np.empty(0), None)
    if array.shape == (0,):
        return np.empty(0)
    prob = check_scores(array, probability=probability)
    if correction is None:
        return prob
    if not callable(correction):
        raise ValueError(f"correction must be a function of probabilities, got {correction!r}.")
    corrected = check_scores(to_array(correction(prob), "correction"), "what correction returns")
    if corrected.shape != prob.shape:
        raise ValueError(f"correction must keep the shape {prob.shape}, got {corrected.shape}.")
    return corrected


def decide(prob: Floats, threshold: float, tied: int, *, descending: bool) -> NDArray[np.int64]:
    """Act beyond the threshold, and on the first ``tied`` of the rows at it."""
    decision = (prob > threshold if descending else prob < threshold).astype(np.int64)
    decision[np.flatnonzero(prob == threshold)[:tied]] = 1
    return decision

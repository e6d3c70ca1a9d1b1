"""A multi-class loss from what decisions cost: one class against the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.scale import SCALES
from stakes.core.validation import check_choice, check_flag, to_array, to_floats
from stakes.costs import LogOddsUniform, Uniform, as_bounds
from stakes.metrics._multiclass_inputs import check_multiclass, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.scale import Scale

    Floats = NDArray[np.float64]

_FAMILIES = {"uniform": Uniform, "log_odds": LogOddsUniform}


def one_vs_rest_bounded_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    bounds: tuple[float, float] | Sequence[tuple[float, float]] = (0.0, 1.0),
    weighting: Literal["uniform", "log_odds"] = "uniform",
    class_weight: ArrayLike | None = None,
    scale: Scale = "loss",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> float | Floats:
    """Sum over classes of the bounded loss of "this class against the rest", each over its own plausible thresholds.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes)
        Probabilities; each row sums to 1. One column stands for the second of two classes.
    bounds : tuple of float or sequence of tuples, default (0, 1)
        Plausible thresholds, for all classes or one pair for each.
    weighting : {"uniform", "log_odds"}, default "uniform"
        Uniform in the cost ratio (Brier) or in its log-odds (log loss).
    class_weight : array_like of shape (classes,), optional
        Weight >= 0 of each class in the sum; 1 by default.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is the multi-class Brier score for uniform weighting at bounds (0, 1).
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better. Proper. With log-odds weighting at (0, 1) it is the one-vs-rest log loss, not the
        multi-class log loss, and "regret" is undefined (nan).

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or bounds out of order.

    Examples
    --------
    >>> from stakes.metrics import one_vs_rest_bounded_loss
    >>> round(one_vs_rest_bounded_loss([1], [[0.33, 0.34, 0.33]]), 4)  # the multi-class Brier score
    0.6534
    """
    check_choice(weighting, "weighting", tuple(_FAMILIES))
    check_choice(scale, "scale", SCALES)
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    n_classes = prob.shape[1]
    pairs = _pairs(bounds, n_classes)
    share = np.ones(n_classes)
    if class_weight is not None:
        share = to_floats(to_array(class_weight, "class_weight"), "class_weight")
    if share.shape != (n_classes,) or not np.all(np.isfinite(share) & (share >= 0.0)):
        raise ValueError(f"class_weight must hold {n_classes} finite numbers >= 0, got {share.tolist()}.")
    rows = np.zeros(len(index))
    for k, (low, high) in enumerate(pairs):
        if share[k] == 0.0:
            continue
        costs = _FAMILIES[weighting](low, high)
        factor = {"integral": 1.0, "loss": costs.loss_factor or 1.0, "regret": 1.0 / costs.mass}[scale]
        if scale == "regret" and math.isinf(costs.mass):
            factor = math.nan
        rows += share[k] * factor * costs.row_loss(index == k, np.asarray(prob[:, k], dtype=np.float64))
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)


def _pairs(bounds: Any, n_classes: int) -> list[tuple[float, float]]:
    listed = isinstance(bounds, (list, tuple)) or (isinstance(bounds, np.ndarray) and bounds.ndim > 0)
    several = listed and any(np.ndim(pair) for pair in bounds)
    if not several:
        return [as_bounds(bounds)] * n_classes
    if len(bounds) != n_classes:
        raise ValueError(f"bounds must be (low, high), or one pair for each of {n_classes} classes, got {bounds!r}.")
    return [as_bounds(pair, f"bounds[{k}]") for k, pair in enumerate(bounds)]

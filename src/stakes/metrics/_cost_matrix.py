"""What the best action by the stated probabilities costs, over cost matrices; ordered classes, and many labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.scale import check_scale
from stakes.core.validation import check_flag, to_array, to_floats
from stakes.costs import CostDistribution, as_costs
from stakes.metrics._cost_problem import check_problem
from stakes.metrics._multiclass_inputs import check_multiclass, weighted_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.core.scale import Scale
    from stakes.costs import CostsLike

    Floats = NDArray[np.float64]


def cost_matrix_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> float | Floats:
    """What the best action by the stated probabilities costs, averaged over the cost matrices that are plausible.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes)
        Probabilities; each row sums to 1. One column stands for the second of two classes.
    matrices : array_like of shape (classes, actions) or (m, classes, actions)
        Cost of each action (column) when the class (row) is true; any finite numbers.
    theta : CostDistribution, tuple of float or float, optional
        How much each point of the segment between two matrices counts: (1 - theta) * first + theta * second.
    weights : array_like of shape (m,), optional
        Plausibility of each matrix, >= 0 and not all zero; equal by default. Normalised to sum to 1.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row.

    Returns
    -------
    float or ndarray of shape (n,)
        Mean cost, in the units of the matrices; lower is better. Equal expected costs take the first action.

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or matrices of another shape.

    Notes
    -----
    Proper for every list of matrices: -G(p) - <G'(p), e_y - p> with the convex -min over actions of the expected cost
    (Savage form), averaged. For two classes and matrices [[0, c], [1 - c, 0]] it is regret at c.

    Examples
    --------
    >>> from stakes.metrics import cost_matrix_loss
    >>> three_by_three = [[0, 1, 2], [1, 0, 1], [5, 2, 0]]
    >>> cost_matrix_loss([0, 2], [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], matrices=three_by_three)
    1.0

    A miss of the last class costs from 5 to 15.

    >>> ends = [three_by_three, [[0, 1, 2], [1, 0, 1], [15, 6, 0]]]
    >>> round(cost_matrix_loss([0, 2], [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]], matrices=ends, theta=(0, 1)), 6)
    1.083333
    """
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    rows = check_problem(matrices, prob.shape[1], theta=theta, weights=weights).losses(prob, index)
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)


def ordinal_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    costs: CostsLike = (0.0, 1.0),
    scale: Scale | None = "loss",
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> float | Floats:
    """Loss of probabilities of ordered classes: a step too high costs c and a step too low 1 - c.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes)
        Probabilities, the classes in order; each row sums to 1.
    costs : CostDistribution, tuple of float or float, default (0, 1)
        How much each cost ratio of a step counts.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is the ranked probability score for costs uniform on (0, 1).
    labels : array_like, optional
        The class of each column in order, needed unless labels are column numbers or all appear in sorted order.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better. Proper.

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or invalid costs.

    Notes
    -----
    The sum over cuts k of the binary loss of P(y > k): decisions cut by cut agree with the best class, so
    whatever holds of a binary loss holds of this one. At c = 1/2 the best class is the median. Epstein (1969) for the
    ranked probability score.

    Examples
    --------
    >>> from stakes.metrics import ordinal_loss
    >>> round(ordinal_loss([0, 2], [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2]]), 12)  # the ranked probability score
    0.495
    """
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    measure = as_costs(costs)
    _, factor = check_scale(scale, measure)
    # rounding may carry a sum of probabilities past one
    above = np.minimum(np.cumsum(prob[:, :0:-1], axis=1, dtype=np.float64)[:, ::-1], 1.0)
    rows = np.zeros(len(index))
    for cut in range(above.shape[1]):
        rows += factor * measure.row_loss(index > cut, above[:, cut])
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)


def multilabel_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    costs: CostsLike | Sequence[CostsLike],
    label_weight: ArrayLike | None = None,
    scale: Scale | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> float | Floats:
    """Sum over labels of what the decisions about each cost, where a row may have several.

    Parameters
    ----------
    y_true : array_like of shape (n, labels)
        1 where the row has the label, else 0.
    y_prob : array_like of shape (n, labels)
        Probability of each label.
    costs : CostDistribution, tuple of float, float, or list of these
        How much each cost ratio counts, for all labels or a list with one for each.
    label_weight : array_like of shape (labels,), optional
        Weight >= 0 of each label in the sum; 1 by default.
    scale : {"regret", "integral", "loss"}, optional
        By default "regret", or "loss" where the mass of ``costs`` is infinite.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row. Labels of a row depend on each other, so intervals rest on these.

    Returns
    -------
    float or ndarray of shape (n,)
        Lower is better. Proper.

    Raises
    ------
    ValueError
        For labels other than 0 and 1, scores outside [0, 1], or a list of another length.

    Examples
    --------
    >>> from stakes.metrics import multilabel_loss
    >>> round(multilabel_loss([[0, 1], [1, 1]], [[0.3, 0.6], [0.1, 0.9]], costs=[0.2, 0.5]), 12)
    0.5
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    from stakes.core.inputs import evaluation_data

    y, prob = (np.asarray(to_array(each, name)) for each, name in ((y_true, "y_true"), (y_prob, "y_prob")))
    if y.ndim != 2 or y.shape != prob.shape:
        raise ValueError(f"y_true and y_prob must have the same shape (n, labels), got {y.shape} and {prob.shape}.")
    count = y.shape[1]
    each = [as_costs(one, f"costs[{k}]") for k, one in enumerate(costs)] if isinstance(costs, list) else None
    measures: Sequence[CostDistribution] = [as_costs(costs)] * count if each is None else each  # type: ignore[arg-type]
    share = (
        np.ones(count) if label_weight is None else to_floats(to_array(label_weight, "label_weight"), "label_weight")
    )
    if len(measures) != count or share.shape != (count,) or not np.all(np.isfinite(share) & (share >= 0.0)):
        what = (
            "costs must be a list with one for" if len(measures) != count else "label_weight must be finite, >= 0 for"
        )
        raise ValueError(f"{what} each of the {count} labels, got {len(measures)} and {share.tolist()}.")
    rows = np.zeros(len(y))
    for k, measure in enumerate(measures):
        options: dict[str, Any] = {"sample_weight": sample_weight, "per_sample": True, "name": f"y_prob[:, {k}]"}
        data = evaluation_data(y[:, k], prob[:, k], **options)
        rows += share[k] * check_scale(scale, measure)[1] * data.losses(measure, "score")
    weight = data.rows.weight
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)

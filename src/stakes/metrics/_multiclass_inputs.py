"""Multi-class labels and probabilities become clean arrays here, or an error that says what is wrong and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.row_order import check_same_order
from stakes.core.validation import check_weights, is_missing, one_is_positive, to_array, to_floats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_SUM_TOLERANCE = 1e-6
_SUM_TOLERANCE_SINGLE = 1e-3


def check_multiclass(
    y_true: ArrayLike, y_prob: ArrayLike, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[Any], Floats | None]:
    """Class index of each row, its probabilities in the caller's precision, and weights or None."""
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    columns = to_array(y_prob, "y_prob")
    prob = check_probability_rows(columns)
    index = class_index(to_array(y_true, "y_true"), prob.shape[1], labels, one_column=columns.ndim == 1)
    if len(index) != len(prob):
        raise ValueError(f"y_true and y_prob must have the same length, got {len(index)} and {len(prob)}.")
    return index, prob, check_weights(sample_weight, len(index))


def check_probability_rows(y_prob: ArrayLike) -> NDArray[Any]:
    """Probabilities as an array of shape (rows, classes); one column stands for the second of two classes."""
    prob = to_array(y_prob, "y_prob")
    if prob.dtype.kind != "f":
        prob = to_floats(prob, "y_prob")
    if prob.ndim == 1:
        prob = np.column_stack([1.0 - prob, prob])
    if prob.ndim != 2 or prob.shape[0] == 0 or prob.shape[1] < 2:
        raise ValueError(f"y_prob must have shape (rows, classes) at least one row and two classes, got {prob.shape}.")
    bad = ~np.all(np.isfinite(prob) & (prob >= 0.0) & (prob <= 1.0), axis=1)
    if np.any(bad):
        first = int(np.argmax(bad))
        raise ValueError(
            f"y_prob must lie in [0, 1], got {prob[first].tolist()} in row {first} ({int(bad.sum())} rows are not)."
        )
    off = np.abs(prob.sum(axis=1, dtype=np.float64) - 1.0)
    tolerance = _SUM_TOLERANCE if prob.dtype == np.float64 else _SUM_TOLERANCE_SINGLE
    if np.any(off > tolerance):
        first = int(np.argmax(off > tolerance))
        raise ValueError(
            f"the probabilities y_prob of a row must sum to 1 within {tolerance:g}, got {prob[first].sum():.9g} "
            f"in row {first} ({int((off > tolerance).sum())} rows do not)."
        )
    return prob


def class_index(
    labels_of_rows: NDArray[Any], n_classes: int, labels: ArrayLike | None, *, one_column: bool = False
) -> NDArray[np.intp]:
    """Column of each row's class: from one-hot rows, from the named order of labels, or from their sorted order."""
    if labels_of_rows.ndim == 2 and labels_of_rows.shape[1] == n_classes:
        return _from_one_hot(labels_of_rows)
    if labels_of_rows.ndim != 1 or labels_of_rows.size == 0:
        raise ValueError(f"y_true must be 1-D with at least one row, or one-hot, got shape {labels_of_rows.shape}.")
    if labels_of_rows.dtype == object and any(map(is_missing, labels_of_rows)):
        raise ValueError("y_true must not be missing, got None or NaN among the labels.")
    if labels is None:
        order = np.arange(n_classes) if _are_indices(labels_of_rows, n_classes) else np.unique(labels_of_rows)
        if len(order) != n_classes:
            raise ValueError(
                f"y_true holds {len(order)} labels but y_prob has {n_classes} columns: pass labels= in column order."
            )
        if one_column:
            check_order_of_two(order.tolist())
    else:
        order = to_array(labels, "labels")
        if order.ndim != 1 or len(order) != n_classes or len(set(order.tolist())) != n_classes:
            raise ValueError(f"labels must name the {n_classes} columns of y_prob once each, got {order.tolist()}.")
    sorter = np.argsort(order)
    place = np.searchsorted(order, labels_of_rows, sorter=sorter)
    index = sorter[np.minimum(place, n_classes - 1)]
    unknown = order[index] != labels_of_rows
    if np.any(unknown):
        first = int(np.argmax(unknown))
        raise ValueError(
            f"y_true must hold only the labels {order.tolist()}, got {labels_of_rows[first]!r} in row {first}."
        )
    return index.astype(np.intp)


def check_order_of_two(labels: list[Any]) -> None:
    """Refuse two labels with names of their own beside one column: their order does not say which one is positive."""
    if not one_is_positive(labels):
        raise ValueError(
            f"y_true holds {', '.join(map(repr, labels))}, and y_prob is of one class: pass labels= with the negative "
            "class first and the positive one last."
        )


def _are_indices(values: NDArray[Any], n_classes: int) -> bool:
    return bool(values.dtype.kind in "iu" and values.min() >= 0 and values.max() < n_classes)


def _from_one_hot(rows: NDArray[Any]) -> NDArray[np.intp]:
    good = np.all((rows == 0) | (rows == 1), axis=1) & (rows.sum(axis=1) == 1)
    if not np.all(good):
        first = int(np.argmin(good))
        raise ValueError(f"one-hot y_true must hold a single 1 in each row, got {rows[first].tolist()} in row {first}.")
    return np.argmax(rows, axis=1)


def weighted_mean(values: Floats, weight: Floats | None) -> float:
    """Mean, with infinite values of weight zero left out."""
    if weight is None:
        return float(values.mean(dtype=np.float64))
    keep = weight > 0.0
    return float(np.dot(values[keep], weight[keep])) / float(weight.sum())

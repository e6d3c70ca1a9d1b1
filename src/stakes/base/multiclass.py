"""Multi-class labels and probabilities from NumPy arrays or PyTorch tensors."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.outcome import Outcome
from stakes.base.validation import (
    Bools,
    Floats,
    as_name,
    blocks,
    brief,
    by_label,
    by_name,
    check_labels,
    check_same_order,
    check_weights,
    frame_names,
    label_places,
    labels_seen,
    one_is_positive,
    positive_is_first,
    refuse_missing,
    to_array,
    to_floats,
)
from stakes.outputs.hooks import nw

# Multi-class labels and probabilities become clean arrays here, or an error that says what is wrong and where.

_SUM_TOLERANCE = 1e-6
_SUM_TOLERANCE_SINGLE = 1e-3
WHICH_IS_POSITIVE = "and y_prob is of one class: pass labels= with the negative class first and the positive one last."


def check_multiclass(
    y_true: ArrayLike, y_prob: ArrayLike, labels: ArrayLike | None, sample_weight: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[Any], Floats | None]:
    """Return class index and probabilities (in the caller's precision) of each row, and weights or None."""
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    columns, truth = to_array(y_prob, "y_prob"), to_array(y_true, "y_true")
    prob = check_probability_rows(columns)
    if labels is not None and truth.ndim == 2:
        truth = _one_hot_by_label(truth, y_true, to_array(labels, "labels").tolist())
    labels = stated_labels(truth if truth.ndim == 1 and ordered_categories(y_true) is None else y_true, y_prob, labels)
    index = class_index(truth, prob.shape[1], labels, one_column=columns.ndim == 1)
    if len(index) != len(prob):
        raise ValueError(f"y_true and y_prob must have the same length, got {len(index)} and {len(prob)}.")
    return index, class_columns(y_true, y_prob, labels, prob), check_weights(sample_weight, len(index))


def _one_hot_by_label(rows: NDArray[Any], given: Any, labels: list[Any]) -> NDArray[Any]:
    """One-hot rows with columns in the order of the labels; a frame whose columns have other names is refused."""
    names = frame_names(given)
    if names and label_places(names, labels) is None:
        raise ValueError(
            f"one-hot y_true must have columns named as labels, {labels}, got {names}: "
            "rename them, or pass y_true.to_numpy() if they are in the order of labels."
        )
    return by_label(rows, given, labels)


def class_columns(y_true: Any, y_prob: Any, labels: Any, prob: NDArray[Any]) -> NDArray[Any]:
    """Columns of probabilities in the order of the classes, where a frame names them."""
    if named := frame_names(y_true) if labels is None else []:
        places = label_places(frame_names(y_prob, counted=True), named)
        return prob if places is None else prob[:, places]
    return by_label(prob, y_prob, class_names(y_true, labels, prob.shape[1])) if frame_names(y_prob) else prob


def are_complements(columns: Sequence[Floats]) -> bool:
    """Whether columns are one score and 1 minus it, as the two of ``predict_proba`` are; missing rows say nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.base.multiclass import are_complements
    >>> are_complements([np.array([0.2, 0.7]), np.array([0.8, 0.3])])
    True
    """
    if len(columns) != 2:
        return False
    known = 0
    for part in blocks(len(columns[0])):  # other columns show in the first
        off = np.abs(columns[0][part] + columns[1][part] - 1.0)
        if np.any(off > _SUM_TOLERANCE):
            return False
        known += int(np.count_nonzero(~np.isnan(off)))
    return known > 1


def refuse_both_classes(y_prob: Any) -> None:
    """Refuse a frame of the two columns of one model's predict_proba, which would be two models of opposite scores."""
    frame = nw.from_native(y_prob, eager_only=True, allow_series=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or len(frame.columns) != 2:
        return
    numeric = all(dtype.is_numeric() for dtype in frame.schema.values())
    if numeric and are_complements([column.cast(nw.Float64).to_numpy() for column in frame.iter_columns()]):
        raise ValueError(
            f"y_prob must have a column for each model, got {frame.columns}, which add up to 1 in every row as both "
            "classes of predict_proba do: pass the column of the positive class, or several models as a mapping."
        )


def models_by_name(y_prob: Any, wanted: str = "probabilities") -> dict[str, Any]:
    """Return what is given for each model by the text of its name, or raise where no model is named."""
    refuse_both_classes(y_prob)
    named = hasattr(y_prob, "items") and getattr(y_prob, "ndim", 2) != 1
    found = by_name(y_prob, "y_prob") if named else {}
    if not found:
        raise ValueError(f"y_prob must map the names of models to {wanted}, got {brief(y_prob)}.")
    return found


def ordered_categories(labels_of_rows: Any) -> list[Any] | None:
    """Categories of an ordered Categorical of pandas in their order, also of one-hot columns; else None.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes.base.multiclass import ordered_categories
    >>> ordered_categories(pd.Categorical(["lo"], categories=["lo", "hi"], ordered=True)), ordered_categories(["lo"])
    (['lo', 'hi'], None)
    """
    kind: Any = getattr(getattr(labels_of_rows, "columns", labels_of_rows), "dtype", None)
    return list(kind.categories.tolist()) if getattr(kind, "ordered", False) else None


def ordered_labels(y_true: Any, y_prob: Any) -> list[Any] | None:
    """Labels of the columns in the order that an ordered Categorical states; None for other labels, and one-hot ones.

    Columns without names may stand in that order or be sorted, as scikit-learn has them: they are refused unless both
    are the same.
    """
    categories, shape = ordered_categories(y_true), getattr(y_prob, "shape", None) or np.shape(y_prob)
    if categories is None or np.ndim(y_true) == 2:
        return None
    count, named = max((2, *shape[1:2])), {as_name(name) for name in frame_names(y_prob)}
    order = [each for each in categories if as_name(each) in named]
    if len(order) == len(named) == count:
        return order
    if len(categories) != count:
        seen = set(to_array(y_true, "y_true").tolist())
        categories = [each for each in categories if each in seen]
    if not sys.modules["pandas"].Index(categories).is_monotonic_increasing:
        raise ValueError(
            f"y_true is an ordered Categorical whose order, {categories}, is not sorted, and y_prob does not name its "
            f"columns: pass labels={categories} if they are in that order, else y_prob as a frame with names, such as "
            "pd.DataFrame(y_prob, columns=model.classes_.astype(str))."
        )
    return categories if len(categories) == count else None


def named_numbers(names: Sequence[Any], seen: ArrayLike) -> list[int] | None:
    """Return the whole numbers that name the columns of a frame, sorted, if all labels seen are among them; else None.

    Examples
    --------
    >>> from stakes.base.multiclass import named_numbers
    >>> named_numbers(["1", "2", "3"], [1, 2]), named_numbers(["1", "2", "3"], [0, 2]), named_numbers(["a", "b"], [1])
    ([1, 2, 3], None, None)
    """
    try:
        numbers = sorted(map(int, names))
    except (TypeError, ValueError, OverflowError):
        return None
    return numbers if label_places(names, numbers) and np.isin(seen, numbers).all() else None


def stated_labels(y_true: Any, y_prob: Any, labels: Any) -> Any:
    """Labels as stated, or by an ordered Categorical, or by the names of the columns of a frame of probabilities.

    These names are whole numbers with all labels of the rows among them, or stand beside one-hot rows without names.
    """
    if labels is None and (order := ordered_labels(y_true, y_prob)) is not None:
        return order
    seen = to_array(y_true, "y_true")
    if labels is None and seen.ndim == 2 and not frame_names(y_true, counted=True):
        named = frame_names(y_prob)
        return named if named and label_places(named, range(len(named))) is None else None
    counted = labels is None and seen.ndim == 1 and seen.dtype.kind in "iu"
    return named_numbers(frame_names(y_prob), seen) if counted else labels


def class_names(y_true: Any, labels: Any, count: int) -> tuple[Any, ...]:
    """Return the classes in their order: as stated, as one-hot columns are named, as numbered from 0, or sorted."""
    if labels is not None:
        return tuple(to_array(labels, "labels").tolist())
    seen = to_array(y_true, "y_true")
    if seen.ndim == 2 and (named := frame_names(y_true)):
        return tuple(named)
    if seen.ndim == 2 or seen.dtype.kind == "b" or counted_from_0(seen, count):
        return tuple(range(count))
    return tuple(np.unique(seen).tolist())


def two_labels(y_true: Any, pos_label: object) -> tuple[Bools, bool | None, Sequence[Any]]:
    """Which rows are positive, whether that label sorts first, if that is known, and the labels, sorted.

    Examples
    --------
    >>> from stakes.base.multiclass import two_labels
    >>> two_labels(["ok", "fraud"], "fraud")[1:]
    (True, ['fraud', 'ok'])
    """
    if isinstance(y_true, Outcome):
        return y_true.y, y_true.positive_first, y_true.labels
    labels = to_array(y_true, "y_true")
    y = check_labels(labels, pos_label)
    return y, positive_is_first(labels, y, pos_label), labels_seen(labels, y, pos_label)


def positive_last(pos_label: object, seen: Sequence[Any], named: set[Any]) -> list[Any] | None:
    """Return two labels, the positive one last: those seen in rows, else those that are named; None if they are more.

    None in the place of the other one means that nothing names it.
    """
    others = [label for label in (seen if len(seen) == 2 else named) if label != pos_label]
    return [*(others or [None]), pos_label] if len(others) <= 1 else None


# What is given for each class: a Series or frame of pandas belongs to the names in its index, anything else to places.


def index_names(given: Any) -> list[Any]:
    """Names in the index of a Series or frame of pandas; none where it counts rows from 0, and for anything else.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes.base.multiclass import index_names
    >>> index_names(pd.Series({"b": 2.0, "a": 1.0})), index_names(pd.Series([2.0, 1.0])), index_names([2.0, 1.0])
    (['b', 'a'], [], [])
    """
    index = _pandas_index(given)
    return [] if index is None or _counts(index) else list(index.tolist())


def _pandas_index(given: Any) -> Any:
    pandas = sys.modules.get("pandas")
    native = nw.to_native(given, pass_through=True)
    index: Any = native.index if pandas and isinstance(native, pandas.Series | pandas.DataFrame) else None
    return index.get_level_values(0) if getattr(index, "nlevels", 0) == 1 else index  # of tuples of one name each


def _counts(index: Any) -> bool:
    """Whether an index is the range from 0 that pandas gives to rows without names."""
    return isinstance(index, sys.modules["pandas"].RangeIndex) and index.start == 0 and index.step == 1


def names_of_classes(given: Any, name: str) -> list[Any]:
    """Names in the index of pandas, or raise where it has several levels, as counts by class and site have."""
    index = _pandas_index(given)
    if getattr(index, "nlevels", 1) > 1:
        raise ValueError(
            f"{name} must name each class once in its index, got {index.nlevels} levels, {list(index.names)}: keep one "
            f"of them, by {name}.droplevel, or {name}.groupby(level=0).sum() of counts."
        )
    return index_names(given)


def named_values(given: Any, name: str) -> Any:
    """Return a Series as a mapping from the names in its index to its values; anything else as it was given."""
    names = names_of_classes(given, name)
    if not names or np.ndim(given) != 1:
        return given
    if len(set(names)) < len(names):
        raise ValueError(f"{name} must name each class once in its index, got {names}.")
    return dict(zip(names, to_array(given, name).tolist(), strict=True))


def refuse_counted(given: Any, classes: Sequence[Any], name: str) -> None:
    """Refuse an index that may count rows or name classes, where the classes are these numbers in another order."""
    counted, index = list(range(len(classes))), _pandas_index(given)
    if index is not None and len(index) == len(classes) and set(classes) == set(counted) and list(classes) != counted:
        raise ValueError(
            f"{name} has the index {counted}, which may be the labels or only count, and labels are {list(classes)}: "
            f"pass {name}.loc[{list(classes)}] if it is by label, {name}.to_numpy() if it is in the order of labels."
        )


def in_class_order(given: Any, classes: Sequence[Any], name: str) -> NDArray[Any]:
    """Return values or rows in the order of the classes: by the names in the index of pandas, else as they stand.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes.base.multiclass import in_class_order
    >>> in_class_order(pd.Series({"b": 2.0, "a": 1.0}), ["a", "b"], "weight").tolist()
    [1.0, 2.0]
    """
    values, names = to_array(given, name), names_of_classes(given, name)
    if not names:
        refuse_counted(given, classes, name)
        return values
    places = label_places(names, classes)
    if places is None:
        turned = label_places(frame_names(given), classes) is not None
        remedy = f"pass {name}.to_numpy() if it is in the order of the classes."
        remedy = f"its columns do, is it transposed? Then pass {name}.T." if turned else remedy
        raise ValueError(f"{name} must name the classes {list(classes)} in its index, got {names}: {remedy}")
    return values[places]


def refuse_other_order(name: str, classes: Sequence[Any], y_prob: Any) -> None:
    """Refuse what is listed by class where a frame names its columns in another order."""
    names = frame_names(y_prob)
    if label_places(names, classes) not in (None, [*range(len(classes))]):
        raise ValueError(
            f"{name} is read in the order of the classes, {list(classes)}, and the columns of y_prob are in another, "
            f"{names}: pass labels= in the order of {name}."
        )


def check_probability_rows(y_prob: ArrayLike) -> NDArray[Any]:
    """Return probabilities of shape (rows, classes); one dimension is read as the second of two classes."""
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
    """Return the class index of each row: from one-hot rows, a given order of labels, or their sorted order."""
    if labels_of_rows.ndim == 2 and labels_of_rows.shape[1] == n_classes:
        return _from_one_hot(labels_of_rows)
    if labels_of_rows.ndim != 1 or labels_of_rows.size == 0:
        raise ValueError(f"y_true must be 1-D with at least one row, or one-hot, got shape {labels_of_rows.shape}.")
    refuse_missing(labels_of_rows, "y_true")
    try:
        return _index_of(labels_of_rows, n_classes, labels, one_column=one_column)
    except TypeError:  # text beside times, say, which have no order
        stated = [] if labels is None else to_array(labels, "labels").tolist()
        refuse_mixed([*labels_of_rows.tolist(), *stated], "y_true and labels")
        raise


def refuse_mixed(labels: list[Any], name: str) -> None:
    """Refuse labels of several kinds that cannot be sorted, as numbers beside texts cannot.

    Examples
    --------
    >>> from stakes.base.multiclass import refuse_mixed
    >>> refuse_mixed([1, "none"], "y")
    Traceback (most recent call last):
    ValueError: y must be of one kind, got values of int, str: make them all numbers or all texts.
    """
    try:
        sorted(set(labels))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        if len(kinds) > 1:
            rule = f"{name} must be of one kind, got values of {', '.join(kinds)}"
            raise ValueError(f"{rule}: make them all numbers or all texts.") from None


def counted_from_0(labels_of_rows: NDArray[Any], n_classes: int) -> bool:
    """Whether labels are whole numbers that can be the columns themselves, some of which may have no row."""
    return bool(labels_of_rows.dtype.kind in "iu" and labels_of_rows.min() >= 0 and labels_of_rows.max() < n_classes)


def _index_of(
    labels_of_rows: NDArray[Any], n_classes: int, labels: ArrayLike | None, *, one_column: bool
) -> NDArray[np.intp]:
    """The same for one label a row, none of them missing."""
    if labels is None:
        counted = counted_from_0(labels_of_rows, n_classes)
        order = np.arange(n_classes) if counted else np.unique(labels_of_rows)
        if len(order) != n_classes:
            raise ValueError(
                f"y_true holds {len(order)} labels but y_prob has {n_classes} columns: pass labels= in column order."
            )
        if counted and 2 < n_classes < len(labels_of_rows) and labels_of_rows.min() > 0:  # few rows may lack any class
            raise ValueError(
                f"y_true holds labels from {labels_of_rows.min()} to {labels_of_rows.max()} and no 0, and y_prob has "
                f"{n_classes} columns: pass labels=range({n_classes}) if the first column is of class 0, "
                f"labels=range(1, {n_classes + 1}) if it is of class 1."
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
            f"y_true must hold only the labels {order.tolist()}, got {labels_of_rows[first].tolist()!r} in row {first}."
        )
    return index.astype(np.intp)


def check_order_of_two(labels: list[Any]) -> None:
    """Refuse one column of scores with two text labels: their sorted order does not say which one is positive."""
    if not one_is_positive(labels):
        raise ValueError(f"y_true holds {', '.join(map(repr, labels))}, {WHICH_IS_POSITIVE}")


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


# PyTorch labels, probabilities and weights become clean tensors on the device they are on; nothing imports torch.

# tolerance for the sum of a row's probabilities in each precision
_SUM_TOLERANCES = {"float64": 1e-6, "float32": 1e-3, "float16": 5e-3, "bfloat16": 1e-2}


def is_tensor(values: Any) -> bool:
    """Whether a value is a PyTorch tensor; torch is not imported for this."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(values, torch.Tensor)


def to_host(values: Any) -> Any:
    """Convert a tensor to a numpy array; return anything else unchanged."""
    if not is_tensor(values):
        return values
    host = values.detach().cpu()
    return (host.float() if str(host.dtype) == "torch.bfloat16" else host).numpy()


def rows_to_host(y_prob: Any) -> Any:
    """Convert probabilities to a numpy array; rows in bfloat16, with sums off by up to 1%, are divided by these."""
    host = to_host(y_prob)
    if host is y_prob or host.ndim != 2 or host.shape[1] < 2 or str(y_prob.dtype) != "torch.bfloat16":
        return host
    sums = host.sum(axis=1, keepdims=True)
    return host / np.where(np.abs(sums - 1.0) <= _SUM_TOLERANCES["bfloat16"], sums, 1.0)


def check_multiclass_tensor(
    y_true: Any, y_prob: Any, labels: Any, sample_weight: Any
) -> tuple[Any, Any, Any | None, Any, Any]:
    """Return class index, probabilities, weights or None, the torch module, and row numbers, on y_prob's device."""
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    import torch

    prob, one_column = _check_rows(torch, y_prob), y_prob.ndim == 1
    if is_tensor(y_true):
        index = _tensor_index(torch, y_true.detach().to(prob.device), prob.shape[1], labels, one_column=one_column)
    else:
        truth = to_array(y_true, "y_true")
        if labels is not None and truth.ndim == 2:
            truth = _one_hot_by_label(truth, y_true, to_array(to_host(labels), "labels").tolist())
        labels = ordered_labels(y_true, y_prob) if labels is None else labels
        host = class_index(truth, prob.shape[1], labels, one_column=one_column)
        index = torch.as_tensor(host, device=prob.device)
    if len(index) != len(prob):
        raise ValueError(f"y_true and y_prob must have the same length, got {len(index)} and {len(prob)}.")
    return index, prob, _check_weights(torch, sample_weight, prob), torch, torch.arange(len(prob), device=prob.device)


def _check_rows(torch: Any, y_prob: Any) -> Any:
    """Check probabilities of shape (rows, classes) and convert them to the device's widest precision."""
    name = str(y_prob.dtype).removeprefix("torch.")
    if name not in _SUM_TOLERANCES:
        raise ValueError(f"y_prob must be a tensor of floating-point numbers, got {y_prob.dtype}.")
    wide = torch.float32 if y_prob.device.type == "mps" else torch.float64
    prob = y_prob.to(wide)
    if prob.ndim == 1:
        prob = torch.stack([1.0 - prob, prob], 1)
    if prob.ndim != 2 or prob.shape[0] == 0 or prob.shape[1] < 2:
        raise ValueError(
            f"y_prob must have shape (rows, classes) at least one row and two classes, got {tuple(prob.shape)}."
        )
    values = prob.detach()
    outside = ~((values >= 0.0) & (values <= 1.0)).all(1)  # false for nan too
    off = (values.sum(1) - 1.0).abs()
    tolerance = _SUM_TOLERANCES[name]
    uneven = off > tolerance
    if bool((outside | uneven).any()):  # one transfer from the device for both checks
        _refuse(values, outside, uneven, tolerance)
    return prob


def _refuse(values: Any, outside: Any, uneven: Any, tolerance: float) -> None:
    if bool(outside.any()):
        first = int(outside.int().argmax())
        raise ValueError(
            f"y_prob must lie in [0, 1], got {values[first].tolist()} in row {first} "
            f"({int(outside.sum())} rows are not)."
        )
    first = int(uneven.int().argmax())
    raise ValueError(
        f"the probabilities of a row must sum to 1 within {tolerance:g}, got {float(values[first].sum()):.9g} "
        f"in row {first} ({int(uneven.sum())} rows do not)."
    )


def _tensor_index(torch: Any, y: Any, n_classes: int, labels: Any, *, one_column: bool) -> Any:
    """Return the class index of each row, as :func:`class_index` does for arrays."""
    if y.ndim == 2 and y.shape[1] == n_classes:
        good = (((y == 0) | (y == 1)).all(1)) & (y.sum(1) == 1)
        return y.int().argmax(1) if bool(good.all()) else class_index(to_host(y), n_classes, labels)  # which raises
    if y.ndim != 1 or len(y) == 0:
        class_index(to_host(y), n_classes, labels)  # raises
    if labels is None and not y.dtype.is_floating_point and bool(((y >= 0) & (y < n_classes)).all()):
        return y.long()
    order = torch.unique(y) if labels is None else torch.as_tensor(to_array(to_host(labels), "labels"), device=y.device)
    if labels is None and len(order) != n_classes:
        raise ValueError(
            f"y_true holds {len(order)} labels but y_prob has {n_classes} columns: pass labels= in column order."
        )
    if labels is None and one_column:
        check_order_of_two(order.tolist())
    if len(order) != n_classes or len(torch.unique(order)) != n_classes:
        raise ValueError(f"labels must name the {n_classes} columns of y_prob once each, got {order.tolist()}.")
    same = y[:, None] == order[None, :]
    known = same.any(1)
    if not bool(known.all()):
        first = int((~known).int().argmax())
        raise ValueError(f"y_true must hold only the labels {order.tolist()}, got {y[first].item()} in row {first}.")
    return same.int().argmax(1)


def _check_weights(torch: Any, sample_weight: Any, prob: Any) -> Any | None:
    if sample_weight is None:
        return None
    if not is_tensor(sample_weight):
        return torch.as_tensor(check_weights(sample_weight, len(prob)), dtype=prob.dtype, device=prob.device)
    weight = sample_weight.detach().to(prob.device, prob.dtype)
    plain = weight.shape == (len(prob),) and bool((torch.isfinite(weight) & (weight >= 0.0)).all())
    if not (plain and bool((weight > 0.0).any())):
        check_weights(to_host(weight), len(prob))  # names the broken rule and the row
    return weight


def tensor_mean(values: Any, weight: Any | None) -> float:
    """Mean, with infinite values of weight zero left out."""
    if weight is None:
        return float(values.detach().mean())
    keep = weight > 0.0
    return float((values.detach()[keep] * weight[keep]).sum() / weight.sum())

"""Arrays, lists and in-memory frames become clean arrays here, or an error that says what is wrong and where.

Nothing is dropped, clipped or coerced in silence: the one exception, rows of weight zero, is part of the
conventions (such a row is as if absent).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_TWO_COLUMN_TOLERANCE = 1e-4
_TWO_COLUMN_TOLERANCE_HALF = 5e-3  # half precision
_WEIGHTS = (1e-140, 1e140)
SCORE_HINT = (
    "Pass the probability of the positive class (decision values: logits=True; rank-only scores: "
    "h_measure_score or roc_auc_score)."
)


@dataclass(frozen=True)
class BinarySample:
    """Clean rows: labels as booleans, scores as float64, weights as float64 or None for all ones."""

    y: Bools
    score: Floats
    weight: Floats | None


def check_sample(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    probability: bool = True,
    logits: bool = False,
    keep_zero_weight: bool = False,
    name: str = "y_prob",
) -> BinarySample:
    """Validate labels, scores and weights of one binary classifier."""
    labels, columns = to_array(y_true, "y_true"), to_array(y_prob, name)
    if labels.ndim != 1:
        raise ValueError(f"y_true must be 1-D, got shape {labels.shape}.")
    if columns.ndim == 0:
        raise ValueError(f"{name} must be 1-D, or the two columns of predict_proba, got shape ().")
    if labels.size == 0 or columns.size == 0:
        raise ValueError(f"{'y_true' if labels.size == 0 else name} must hold at least one row, got none.")
    if len(columns) != len(labels):
        raise ValueError(f"y_true and {name} must have the same length, got {len(labels)} and {len(columns)}.")
    weight = check_weights(sample_weight, len(labels))
    present = None if weight is None or keep_zero_weight or np.all(weight) else weight > 0.0
    if present is not None:  # a row of weight zero is as if absent, whatever it holds; places in messages stay
        labels, columns = _without(labels, present), _without(columns, present)
    y = check_labels(labels, pos_label)
    column = pick_positive_column(columns, labels, pos_label, name)
    score = check_scores(column, name, probability=probability, logits=logits)
    if weight is not None and present is not None:
        y, score, weight = y[present], score[present], weight[present]
    return BinarySample(y, score, weight)


def _without(values: NDArray[Any], present: Bools) -> NDArray[Any]:
    """Overwrite absent rows by a present one."""
    values = values.copy()
    values[~present] = values[np.argmax(present)]
    return values


def to_array(values: Any, name: str) -> NDArray[Any]:
    """View any list, array or narwhals-supported series as a numpy array."""
    if np.ma.is_masked(values):
        first = int(np.argmax(np.ma.getmaskarray(values)))
        raise ValueError(f"{name} must not be masked, got a masked value at index {first}.")
    if isinstance(values, np.ndarray):
        return values
    if not isinstance(values, (list, tuple)):
        import narwhals.stable.v2 as nw

        native = nw.from_native(values, allow_series=True, eager_only=True, pass_through=True)
        if isinstance(native, (nw.Series, nw.DataFrame)):
            values = native.to_numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be one value per row, got rows of different lengths.") from None
    if (
        array.dtype == object
        and array.ndim == 1
        and any(hasattr(v, "__len__") and not isinstance(v, (str, bytes)) for v in array[:1])
    ):
        raise ValueError(f"{name} must be one value per row, got a sequence in row 0.")
    return array


def pick_positive_column(
    y_prob: ArrayLike, labels: NDArray[Any], pos_label: object, name: str = "y_prob"
) -> NDArray[Any]:
    """Take the positive class's column where ``predict_proba``'s two columns were passed."""
    array = to_array(y_prob, name)
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if array.ndim != 2:
        if array.ndim != 1:
            raise ValueError(f"{name} must be 1-D, or the two columns of predict_proba, got shape {array.shape}.")
        return array
    if array.shape[1] != 2:
        raise ValueError(
            f"{name} must be 1-D, or the two columns of predict_proba, got shape {array.shape}; "
            "multi-class probabilities go to one_vs_rest_bounded_loss or the penalized losses."
        )
    off = np.abs(np.asarray(array, dtype=float).sum(axis=1) - 1.0)
    tolerance = _TWO_COLUMN_TOLERANCE_HALF if array.dtype == np.float16 else _TWO_COLUMN_TOLERANCE
    if not np.all(off <= tolerance):
        first = int(np.argmax(~(off <= tolerance)))
        raise ValueError(
            f"the two columns of {name} must sum to 1 in every row, got {array[first].tolist()} at index {first}."
        )
    if pos_label is None:
        return array[:, 1]
    return array[:, _column_of(pos_label, _distinct_labels(labels), name)]


def _column_of(pos_label: object, distinct: list[Any], name: str) -> int:
    """The columns follow the sorted labels; one label alone says which they are only if it is of a usual pair."""
    if len(distinct) == 1:
        pairs = [pair for pair in ([0, 1], [-1, 1]) if distinct[0] in pair and pos_label in pair]
        if not pairs:
            raise ValueError(
                f"the two columns of {name} cannot be told apart where y_true holds {distinct[0]!r} only: "
                "pass the column of the positive class."
            )
        distinct = pairs[0]
    return 0 if pos_label == distinct[0] else 1


def check_labels(labels: NDArray[Any], pos_label: object = None) -> Bools:
    """Turn two-valued labels into booleans, True for the positive class."""
    if labels.size == 0:
        raise ValueError("y_true must hold at least one row, got none.")
    if labels.dtype == bool and pos_label is None:
        return labels
    if labels.dtype.kind in "iu" and pos_label is None:
        positive = labels == 1
        if np.count_nonzero(positive) + np.count_nonzero(labels == 0) == len(labels):
            return positive
    _reject_missing_labels(labels)
    distinct = _distinct_labels(labels)
    shown = ", ".join(repr(v) for v in distinct[:5]) + (", ..." if len(distinct) > 5 else "")
    if len(distinct) > 2:
        first = _first(labels == distinct[2])
        raise ValueError(
            f"y_true must hold two values, got {len(distinct)} ({shown}); "
            f"the third, {distinct[2]!r}, is first seen at index {first}."
        )
    if pos_label is None:
        if not set(distinct) <= {0, 1} and not set(distinct) <= {-1, 1}:
            if labels.dtype.kind == "f" and not np.all(labels == np.round(labels)):
                raise ValueError(f"y_true must hold labels, got fractions ({shown}): are y_true and y_prob swapped?")
            raise ValueError(f"y_true holds {shown}: pass pos_label= to say which label is positive.")
        pos_label = 1
    elif len(distinct) == 2 and pos_label not in distinct:
        raise ValueError(f"pos_label must be one of the labels ({shown}), got {pos_label!r}.")
    return np.asarray(labels == pos_label, dtype=bool)


def _distinct_labels(labels: NDArray[Any]) -> list[Any]:
    try:
        return list(np.unique(labels).tolist())
    except TypeError:
        return sorted(set(labels.tolist()), key=repr)


def _reject_missing_labels(labels: NDArray[Any]) -> None:
    if labels.dtype.kind == "f":
        missing = np.isnan(labels)
    elif labels.dtype == object:
        missing = np.array([_is_missing(v) for v in labels], dtype=bool)
    else:
        return
    if np.any(missing):
        raise ValueError(
            f"y_true must not be missing, got {int(missing.sum())} of {len(labels)} missing, "
            f"the first at index {_first(missing)}."
        )


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)  # noqa: PLR0124  (NaN differs from itself)
    except TypeError:  # pandas.NA is neither equal to itself nor different
        return True


def check_scores(
    values: NDArray[Any], name: str = "y_prob", *, probability: bool = True, logits: bool = False
) -> Floats:
    """Turn scores into finite float64, within [0, 1] where a probability is needed."""
    score = _to_floats(values, name)
    if score.ndim != 1:
        raise ValueError(f"{name} must be 1-D, got shape {score.shape}.")
    if score.size == 0:
        raise ValueError(f"{name} must hold at least one row, got none.")
    low, high = score.min(), score.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        bad = ~np.isfinite(score)
        first = _first(bad)
        raise ValueError(
            f"{name} must be finite, got {score[first]} at index {first} "
            f"({int(bad.sum())} of {len(score)} are not finite)."
        )
    if logits:
        from scipy.special import expit

        return np.asarray(expit(score), dtype=np.float64)
    if probability and (low < 0.0 or high > 1.0):
        bad = (score < 0.0) | (score > 1.0)
        first = _first(bad)
        raise ValueError(
            f"{name} must lie in [0, 1], got {score[first]} at index {first} "
            f"({int(bad.sum())} of {len(score)} lie outside). {SCORE_HINT}"
        )
    return score


def _to_floats(values: NDArray[Any], name: str) -> Floats:
    # numpy would read text, times and complex numbers as real numbers
    kind = values.dtype.kind
    plain = kind in "biuf" or (kind == "O" and not any(isinstance(v, (str, bytes)) for v in values.flat))
    if plain:
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            pass
    row = next((i for i, v in enumerate(values) if not _is_number(v)), 0)
    value = values[row].item() if hasattr(values[row], "item") else values[row]
    raise ValueError(f"{name} must be numeric, got {value!r} at index {row}.")


def check_weights(sample_weight: ArrayLike | None, length: int) -> Floats | None:
    """Turn weights into finite, non-negative float64, not all zero."""
    if sample_weight is None:
        return None
    weight = _to_floats(to_array(sample_weight, "sample_weight"), "sample_weight")
    if weight.shape != (length,):
        raise ValueError(f"sample_weight must have one value per row, got shape {weight.shape} for {length} rows.")
    bad = ~np.isfinite(weight) | (weight < 0.0)
    if np.any(bad):
        first = _first(bad)
        raise ValueError(
            f"sample_weight must be finite and >= 0, got {weight[first]} at index {first} "
            f"({int(bad.sum())} of {length})."
        )
    extreme = (weight > 0.0) & ((weight < _WEIGHTS[0]) | (weight > _WEIGHTS[1]))
    if np.any(extreme):  # squared weights, for standard errors, would overflow or vanish
        first = _first(extreme)
        raise ValueError(
            f"sample_weight must be 0 or lie in [{_WEIGHTS[0]:g}, {_WEIGHTS[1]:g}], got {weight[first]} "
            f"at index {first}: divide all weights by a constant, which changes no result."
        )
    if not np.any(weight):
        raise ValueError(f"sample_weight must not be all zero, got {length} zeros.")
    return weight


def check_unit(value: float, name: str, *, open_low: bool = False, open_high: bool = False) -> float:
    """Return a number in [0, 1], ends excluded where asked, or raise."""
    number = float(value)
    good = (number > 0.0 if open_low else number >= 0.0) and (number < 1.0 if open_high else number <= 1.0)
    if not good:
        left, right = "(" if open_low else "[", ")" if open_high else "]"
        raise ValueError(f"{name} must lie in {left}0, 1{right}, got {value}.")
    return number


def check_choice(value: str, name: str, choices: tuple[str, ...]) -> str:
    """Return one of the choices, or raise."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}.")
    return value


def _is_number(value: object) -> bool:
    if isinstance(value, (str, bytes)):
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _first(mask: Bools) -> int:
    return int(np.argmax(mask))

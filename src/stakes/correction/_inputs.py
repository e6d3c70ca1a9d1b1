"""Scores and what is said of the training become arrays here: probabilities or logits, and one factor per class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.expressions import is_expression
from stakes.core.remedies import brief
from stakes.core.validation import (
    check_flag,
    check_number,
    check_scores,
    check_unit,
    one_is_positive,
    to_array,
    to_floats,
)
from stakes.correction._shift import shift_odds, shift_rows
from stakes.metrics import check_probability_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_RANGE = (1e-100, 1e100)
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Scores:
    """Clean scores of one model: shape (n,) for the positive class, or (n, K); probabilities, or logits."""

    values: Floats
    logits: bool

    @property
    def one_column(self) -> bool:
        """Whether they are of the positive class alone, so that no order of columns says which class that is."""
        return self.values.ndim == 1

    @property
    def n_classes(self) -> int:
        return 2 if self.values.ndim == 1 else self.values.shape[1]

    def shifted(self, factors: Floats) -> Floats:
        """Scores of the same kind once class y counts ``factors[y]`` times as much."""
        if self.logits and self.values.ndim == 1:
            return self.values + math.log(factors[1] / factors[0])
        if self.logits:
            return self.values + np.log(factors)
        if self.values.ndim == 1:
            return shift_odds(self.values, factors[1] / factors[0])
        return shift_rows(self.values, factors)


@dataclass(frozen=True)
class Expressed:
    """Scores of the positive class in a data engine: an expression, of which another is made."""

    values: Any
    logits: bool
    n_classes: int = 2
    one_column: bool = True

    def shifted(self, factors: Floats) -> Any:
        """The same as of clean scores, to the last bit."""
        factor = float(factors[1] / factors[0])
        if self.logits:
            return self.values + math.log(factor)
        return self.values / ((1.0 - self.values) * (1.0 / factor) + self.values)


def read_scores(y_prob: ArrayLike, *, logits: bool = False) -> Any:
    """Check probabilities (n,) or (n, K), or as many log-odds or logits; expressions are taken as they are."""
    check_flag(logits, "logits")
    if is_expression(y_prob):
        return Expressed(y_prob, logits)
    array = to_array(y_prob, "y_prob")
    if array.ndim == 1:
        return Scores(check_scores(array, probability=not logits), logits)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"y_prob must have shape (n,) or (n, classes), got {array.shape}.")
    if not logits:
        return Scores(np.asarray(check_probability_rows(array), dtype=np.float64), logits)
    return Scores(check_scores(array.ravel(), probability=False).reshape(array.shape), logits)


def read_columns(y_prob: ArrayLike, *, logits: bool = False) -> Scores:
    """Check scores (n, K) whose columns are separate questions, so that rows need not sum to 1."""
    array = to_array(y_prob, "y_prob")
    if array.ndim != 2:
        raise ValueError(f"y_prob must have shape (n, classes), one column for each weight, got {array.shape}.")
    return Scores(check_scores(array.ravel(), probability=not logits).reshape(array.shape), logits)


def one_of(**given: Any) -> str:
    """Name the one argument that was given."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(f"exactly one of {', '.join(given)} must be given, got {' and '.join(names) or 'none'}.")
    return names[0]


def class_order(
    keys: list[Any], n_classes: int, labels: ArrayLike | None, name: str, *, one_column: bool = False
) -> list[Any]:
    """Labels in the order of the columns; of one column, the positive one last."""
    if labels is not None:
        order = np.atleast_1d(to_array(labels, "labels")).tolist()
        if len(order) != n_classes or len(set(order)) != n_classes:
            raise ValueError(f"labels must name the {n_classes} classes once each, got {order}.")
    elif set(keys) <= set(range(n_classes)):
        order = list(range(n_classes))
    elif n_classes == 2 and set(keys) <= {-1, 1}:
        order = [-1, 1]
    elif one_column:
        raise ValueError(
            f"{name} names the classes {', '.join(map(repr, keys))}, and y_prob is of one class: pass labels= with the "
            "negative class first and the positive one last."
        )
    elif len(keys) == n_classes:
        order = sorted(keys)
    else:
        raise ValueError(
            f"{name} names {len(keys)} of {n_classes} classes ({', '.join(map(repr, keys))}): "
            "pass labels= in the order of the columns, the positive class last."
        )
    unknown = [key for key in keys if key not in order]
    if unknown:
        raise ValueError(f"{name} names the class {unknown[0]!r}, which is not among the labels {order}.")
    return order


def per_class(
    values: Any,
    n_classes: int,
    labels: ArrayLike | None,
    name: str,
    *,
    default: float | None = 1.0,
    one_column: bool = False,
) -> Floats:
    """One positive number per class from a mapping of labels or from as many numbers in column order."""
    if isinstance(values, Mapping):
        keys = [key.item() if isinstance(key, np.generic) else key for key in values]
        numbers = dict(zip(keys, values.values(), strict=True))
        order = class_order(keys, n_classes, labels, name, one_column=one_column)
        missing = [label for label in order if label not in numbers]
        if missing and default is None:
            raise ValueError(f"{name} must name every class, {missing[0]!r} is missing.")
        array = np.array([check_number(numbers.get(label, default), name) for label in order])
    else:
        order = list(range(n_classes)) if labels is None else class_order([], n_classes, labels, name)
        array = np.atleast_1d(to_floats(to_array(values, name), name))
        if array.shape != (n_classes,):
            one = f"; for the first class alone pass {name}={{{order[0]!r}: {values!r}}}" if array.size == 1 else ""
            raise ValueError(f"{name} must hold one number for each of {n_classes} classes, got {brief(values)}{one}.")
    good = (array >= _RANGE[0]) & (array <= _RANGE[1])
    if not np.all(good):
        first = int(np.argmin(good))
        raise ValueError(
            f"{name} must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), "
            f"got {array[first]:g} for class {order[first]!r}."
        )
    return array


def sampling_factors(
    keep: Any,
    repeat: Any,
    n_classes: int,
    labels: ArrayLike | None,
    *,
    keep_name: str = "keep",
    one_column: bool = False,
) -> Floats:
    """How many times the training saw each row of a class: the fraction kept times the number of repetitions."""
    factors = np.ones(n_classes)
    if keep is not None:
        factors = per_class(keep, n_classes, labels, keep_name, one_column=one_column)
        if np.any(factors > 1.0):
            k, label = _first_class(keep, factors > 1.0, labels)
            raise ValueError(
                f"{keep_name} must hold fractions <= 1, got {factors[k]:g} for class {label!r}: if one row in "
                f"{factors[k]:g} was kept, pass {keep_name}={{{label!r}: 1/{factors[k]:g}}}; if each row was repeated "
                f"{factors[k]:g} times, pass repeat={{{label!r}: {factors[k]:g}}}."
            )
    if repeat is not None:
        times = per_class(repeat, n_classes, labels, "repeat", one_column=one_column)
        if np.any(times < 1.0):
            k, label = _first_class(repeat, times < 1.0, labels)
            raise ValueError(
                f"repeat must hold numbers >= 1, got {times[k]:g} for class {label!r}: if that fraction of its rows "
                f"was kept, pass {keep_name}={{{label!r}: {times[k]:g}}}."
            )
        factors = factors * times
    return factors


def _first_class(values: Any, bad: NDArray[np.bool_], labels: ArrayLike | None) -> tuple[int, Any]:
    """Place and label of the first class for which something is wrong."""
    k = int(np.argmax(bad))
    if isinstance(values, Mapping):
        keys = [key.item() if isinstance(key, np.generic) else key for key in values]
        return k, class_order(keys, len(bad), labels, "")[k]
    return k, k if labels is None else np.atleast_1d(to_array(labels, "labels")).tolist()[k]


def weight_ratio(value: Any, name: str) -> float:
    """One positive ratio of weights."""
    ratio = check_number(value, name)
    if not _RANGE[0] <= ratio <= _RANGE[1]:
        raise ValueError(f"{name} must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), got {value}.")
    return ratio


def share_odds(positive_share: float) -> float:
    """Odds of the relative weight of the positive class; at 0 and 1 the map is constant and has no inverse."""
    share = check_unit(positive_share, "positive_share", open_low=True, open_high=True)
    return weight_ratio(share / (1.0 - share), "the odds of positive_share")


def balanced_weights(
    y_train: ArrayLike | None, n_classes: int, labels: ArrayLike | None, *, one_column: bool = False
) -> Floats:
    """What scikit-learn's "balanced" means for these training labels: n / (K n_y)."""
    if y_train is None:
        raise ValueError('class_weight="balanced" needs the labels of the training: pass y_train=.')
    seen = to_array(y_train, "y_train")
    if seen.ndim != 1 or seen.size == 0:
        raise ValueError(f"y_train must be 1-D with at least one label, got shape {seen.shape}.")
    order = np.unique(seen) if labels is None else to_array(labels, "labels")
    if len(order) != n_classes:
        raise ValueError(f"y_train holds {len(order)} classes but y_prob has {n_classes}: pass labels=.")
    if labels is None and one_column and not one_is_positive(order.tolist()):
        shown = ", ".join(map(repr, order.tolist()))
        raise ValueError(
            f"y_train holds {shown}, and y_prob is of one class: pass labels= with the negative class first and the "
            "positive one last."
        )
    counts = np.array([np.count_nonzero(seen == label) for label in order], dtype=float)
    if not np.all(counts):
        raise ValueError(f"y_train must hold every class, {order[int(np.argmin(counts))]!r} is missing.")
    return counts.sum() / (n_classes * counts)


def class_weights(
    n_classes: int,
    *,
    positive_share: float | None,
    class_weight: Any,
    scale_pos_weight: float | None,
    pos_weight: Any,
    y_train: ArrayLike | None,
    labels: ArrayLike | None,
    one_column: bool = False,
) -> Floats:
    """Loss weight of each class, from whichever way it was said."""
    name = one_of(
        positive_share=positive_share,
        class_weight=class_weight,
        scale_pos_weight=scale_pos_weight,
        pos_weight=pos_weight,
    )
    if name != "class_weight":
        if n_classes != 2:
            raise ValueError(f"{name} is for two classes, y_prob has {n_classes}: pass class_weight=.")
        if positive_share is not None:
            return np.array([1.0, share_odds(positive_share)])
        return np.array([1.0, weight_ratio(pos_weight if scale_pos_weight is None else scale_pos_weight, name)])
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ValueError(
                f'class_weight must be "balanced", a mapping or one number per class, got {class_weight!r}.'
            )
        return balanced_weights(y_train, n_classes, labels, one_column=one_column)
    return per_class(class_weight, n_classes, labels, "class_weight", one_column=one_column)


def read_prior(prior: Any, n_classes: int, labels: ArrayLike | None, name: str, *, one_column: bool = False) -> Floats:
    """Class shares: of the positive class alone, or of every class."""
    if not isinstance(prior, Mapping) and np.ndim(to_array(prior, name)) == 0:
        if n_classes != 2:
            raise ValueError(f"{name} must hold the shares of {n_classes} classes, got {prior}.")
        share = check_unit(prior, name, open_low=True, open_high=True)
        return np.array([1.0 - share, share])
    shares = per_class(prior, n_classes, labels, name, default=None, one_column=one_column)
    if abs(shares.sum() - 1.0) > _SUM_TOLERANCE:
        raise ValueError(f"{name} must sum to 1, got {shares.sum():.9g}.")
    return shares

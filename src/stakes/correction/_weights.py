"""Corrections for class weights, sampling, prior shift and weight matrices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Number
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base import validation
from stakes.base.formulas import is_expression, refuse_positive_first, widened
from stakes.base.multiclass import (
    WHICH_IS_POSITIVE,
    in_class_order,
    index_names,
    named_numbers,
    named_values,
    names_of_classes,
    positive_last,
    refuse_counted,
    refuse_mixed,
    two_labels,
)
from stakes.base.outcome import Outcome
from stakes.base.validation import Floats
from stakes.core.score_table import ScoreTable
from stakes.metrics import check_probability_rows

# The arithmetic behind every correction: class odds are multiplied by known factors.
#
# With factors f the posterior of class y becomes proportional to a_y f_y. Only sums and products of non-negative
# numbers are formed, so small probabilities keep their relative precision and scores of 0 and 1 stay what they are.


def shift_odds(prob: Floats, factor: float) -> Floats:
    """Multiply the odds of each probability by a positive factor."""
    out = np.empty(len(prob))
    inverse = 1.0 / factor
    for part in validation.blocks(len(prob)):
        mine, room = prob[part], out[part]
        np.subtract(1.0, mine, out=room)
        room *= inverse
        room += mine
        np.divide(mine, room, out=room)
    return out


def shift_rows(prob: Floats, factors: Floats) -> Floats:
    """Multiply each class's column by its factor and make the rows sum to 1."""
    out = np.empty(prob.shape)
    scaled, ones = factors / factors.max(), np.ones(len(factors))
    for part in validation.blocks(len(prob), max(1, (1 << 13) // prob.shape[1])):
        room = out[part]
        np.multiply(prob[part], scaled, out=room)
        room /= (room @ ones)[:, None]  # sums of short rows are slow
    return out


def shift_columns(prob: Floats, factors: Floats) -> Floats:
    """Multiply the odds of each column by its factor; each column is a separate binary question."""
    return prob / (prob + (1.0 - prob) / factors)


# Scores and statements on training as arrays: probabilities or logits, and one factor per class.

# what boosters call their own weights by class, and the share of each class's rows that they draw for a tree
UNBALANCED = ("is_unbalance", "unbalance", "unbalanced_sets")
FRACTIONS_BY_CLASS = tuple(
    f"{sign}_{name}" for sign in ("pos", "neg") for name in ("bagging_fraction", "sub_row", "subsample", "bagging")
)
_RANGE = (1e-100, 1e100)
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """Clean scores of one model: shape (n,) for the positive class, or (n, K); probabilities, or logits."""

    values: Floats
    logits: bool
    names: Sequence[Any] = ()  # of the columns of a frame

    @property
    def one_column(self) -> bool:
        """Whether they are of the positive class alone, so that the labels' order does not identify it."""
        return self.values.ndim == 1

    @property
    def n_classes(self) -> int:
        return 2 if self.values.ndim == 1 else self.values.shape[1]

    def shifted(self, factors: Floats) -> Floats:
        """Return the scores of the same kind after multiplying the weight of each class y by ``factors[y]``."""
        if self.logits and self.values.ndim == 1:
            return self.values + math.log(factors[1] / factors[0])
        if self.logits:
            return self.values + np.log(factors)
        if self.values.ndim == 1:
            return shift_odds(self.values, factors[1] / factors[0])
        return shift_rows(self.values, factors)


@dataclass(frozen=True, eq=False, repr=False)
class Expressed:
    """Scores of the positive class as an expression of a data engine."""

    values: Any
    logits: bool
    n_classes: int = 2
    one_column: bool = True
    names: Sequence[Any] = ()

    def shifted(self, factors: Floats) -> Any:
        """Shift the expression with the same floating-point result as for arrays."""
        factor = float(factors[1] / factors[0])
        if self.logits:
            return self.values + math.log(factor)
        return self.values / ((1.0 - self.values) * (1.0 / factor) + self.values)


def read_scores(y_prob: ArrayLike, *, logits: bool = False) -> Any:
    """Check probabilities, log-odds or logits of shape (n,) or (n, K); expressions are not checked."""
    validation.check_flag(logits, "logits")
    if is_expression(y_prob):
        return Expressed(widened(y_prob), logits)
    array = validation.to_array(y_prob, "y_prob")
    if array.ndim == 1:
        return Scores(validation.check_scores(array, probability=not logits), logits)
    if array.ndim != 2 or array.shape[1] < 2:
        raise ValueError(f"y_prob must have shape (n,) or (n, classes), got {array.shape}.")
    names = validation.frame_names(y_prob)
    if not logits:
        return Scores(np.asarray(check_probability_rows(array), dtype=np.float64), logits, names)
    return Scores(validation.check_scores(array.ravel(), probability=False).reshape(array.shape), logits, names)


def read_columns(y_prob: ArrayLike, *, logits: bool = False) -> Scores:
    """Check scores (n, K) whose columns are separate questions, so that rows need not sum to 1."""
    array = validation.to_array(y_prob, "y_prob")
    if array.ndim != 2:
        raise ValueError(f"y_prob must have shape (n, classes), one column for each weight, got {array.shape}.")
    return Scores(validation.check_scores(array.ravel(), probability=not logits).reshape(array.shape), logits)


def one_of(**given: Any) -> str:
    """Return the name of the one argument that was passed, or raise."""
    names = [name for name, value in given.items() if value is not None]
    if len(names) != 1:
        raise ValueError(f"exactly one of {', '.join(given)} must be given, got {' and '.join(names) or 'none'}.")
    return names[0]


def weight_ratio(value: Any, name: str) -> float:
    """One positive ratio of weights."""
    ratio = validation.check_number(value, name)
    if not _RANGE[0] <= ratio <= _RANGE[1]:
        raise ValueError(f"{name} must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), got {value}.")
    return ratio


def share_odds(positive_share: float) -> float:
    """Odds of the relative weight of the positive class; at 0 and 1 the map is constant and has no inverse."""
    share = validation.check_unit(positive_share, "positive_share", open_low=True, open_high=True)
    return weight_ratio(share / (1.0 - share), "the odds of positive_share")


def training_labels(y_train: ArrayLike) -> NDArray[Any]:
    """Return the labels that a model was trained on, one a row."""
    seen = validation.to_array(y_train, "y_train")
    if seen.ndim != 1 or seen.size == 0:
        raise ValueError(f"y_train must be 1-D with at least one label, got shape {seen.shape}.")
    validation.refuse_missing(seen, "y_train")
    return seen


class Stated(NamedTuple):
    """The ways to state the weight of the classes in training, of which one is passed."""

    positive_share: float | None
    class_weight: Any
    scale_pos_weight: float | None
    pos_weight: Any


@dataclass(frozen=True, eq=False, repr=False)
class Classes:
    """The classes in the columns of scores, and what is stated for each of them."""

    n: int
    labels: ArrayLike | None = None
    one_column: bool = False
    names: Sequence[Any] = ()  # of the columns, where these are of a frame

    def order(self, keys: list[Any], name: str) -> list[Any]:
        """Return the labels in the order of the columns; for one column the positive label last."""
        if self.labels is not None:
            order = np.atleast_1d(validation.to_array(self.labels, "labels")).tolist()
            if len(order) != self.n or len(set(order)) != self.n:
                raise ValueError(f"labels must name the {self.n} classes once each, got {order}.")
        elif places := self.named(keys):
            order = [keys[place] for place in places]
        elif keys and (named := named_numbers(self.names, keys)):
            order = named
        elif set(keys) <= set(range(self.n)):
            order = list(range(self.n))
        elif self.n == 2 and set(keys) <= {-1, 1}:
            order = [-1, 1]
        elif self.one_column:
            raise ValueError(f"{name} names the classes {', '.join(map(repr, keys))}, {WHICH_IS_POSITIVE}")
        elif len(keys) == self.n:
            refuse_mixed(keys, f"the classes of {name}")
            order = sorted(keys)
        else:
            raise ValueError(
                f"{name} names {len(keys)} of {self.n} classes ({', '.join(map(repr, keys))}): "
                "pass labels= in the order of the columns, the positive class last."
            )
        unknown = [key for key in keys if key not in order]
        if unknown:
            raise ValueError(f"{name} names the class {unknown[0]!r}, which is not among the labels {order}.")
        return self.agreed(order)

    def named(self, keys: list[Any]) -> list[int] | None:
        """Which of the keys each column is named by, in a frame whose columns are named by all of them; else None."""
        places = validation.label_places(self.names, keys) if len(keys) == self.n else None
        return None if places is None else np.argsort(places).tolist()

    def refuse_unsorted(self, keys: list[Any], order: list[Any], name: str) -> None:
        """Refuse names in the index of a Series that are not sorted where nothing states the order of the columns.

        Sorted names, other than numbers, are seldom in the order in which a person writes or counts them.
        """
        stated = self.labels is not None or self.named(order)
        if not stated and not all(isinstance(each, Number) for each in keys) and keys != order:
            raise ValueError(
                f"{name} names the classes in the order {keys}, and sorted they are {order}; nothing says in which "
                "order the columns of y_prob are: pass labels= in the order of the columns."
            )

    def agreed(self, order: list[Any]) -> list[Any]:
        """Return the labels in the order of the columns, or raise where a frame names these in another order."""
        places = validation.label_places(self.names, order)
        if places is not None and places != sorted(places):
            raise ValueError(
                f"the columns of y_prob must be in the order of the labels, {order}, got {list(self.names)}: "
                "order them so, or pass labels= in the order of the columns."
            )
        return order

    def numbers(self, values: Any, name: str, *, default: float | None = 1.0) -> Floats:
        """Read one positive number per class from a mapping, a Series by its index, or a sequence in column order."""
        series, values = bool(index_names(values)), named_values(values, name)
        keys = _plain_keys(values)
        order = self.order(keys, name)
        if series:
            self.refuse_unsorted(keys, order, name)
        if isinstance(values, Mapping):
            numbers = dict(zip(keys, values.values(), strict=True))
            missing = [label for label in order if label not in numbers]
            if missing and default is None:
                raise ValueError(f"{name} must name every class, {missing[0]!r} is missing.")
            array = np.array([validation.check_number(numbers.get(label, default), name) for label in order])
        else:
            refuse_counted(values, order, name)
            array = np.atleast_1d(validation.to_floats(validation.to_array(values, name), name))
            if array.shape != (self.n,):
                one = _instead_of_one(name, self.n, order[0], float(array[0])) if array.size == 1 else ""
                raise ValueError(
                    f"{name} must hold one number for each of {self.n} classes, got {validation.brief(values)}{one}."
                )
        good = (array >= _RANGE[0]) & (array <= _RANGE[1])
        if not np.all(good):
            first = int(np.argmin(good))
            raise ValueError(
                f"{name} must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), "
                f"got {array[first]:g} for class {order[first]!r}."
            )
        return array

    def sampling(self, keep: Any, repeat: Any) -> Floats:
        """Expected copies of a row of each class in training: the fraction kept times the repetitions."""
        factors = np.ones(self.n)
        if keep is not None:
            factors = self.numbers(keep, "keep")
            if np.any(factors > 1.0):
                k, label = self._first(keep, factors > 1.0)
                raise ValueError(
                    f"keep must hold fractions <= 1, got {factors[k]:g} for class {label!r}: if one row in "
                    f"{factors[k]:g} was kept, pass keep={{{label!r}: 1/{factors[k]:g}}}; if each row was repeated "
                    f"{factors[k]:g} times, pass repeat={{{label!r}: {factors[k]:g}}}."
                )
        if repeat is not None:
            times = self.numbers(repeat, "repeat")
            if np.any(times < 1.0):
                k, label = self._first(repeat, times < 1.0)
                raise ValueError(
                    f"repeat must hold numbers >= 1, got {times[k]:g} for class {label!r}: if that fraction of its "
                    f"rows was kept, pass keep={{{label!r}: {times[k]:g}}}."
                )
            factors = factors * times
        return factors

    def _first(self, values: Any, bad: NDArray[np.bool_]) -> tuple[int, Any]:
        """Index and label of the first invalid class."""
        k = int(np.argmax(bad))
        return k, self.order(_plain_keys(named_values(values, "")), "")[k]

    def balanced(self, y_train: ArrayLike | None) -> Floats:
        """What scikit-learn's "balanced" means for these training labels: n / (K n_y)."""
        if y_train is None:
            raise ValueError('class_weight="balanced" needs the labels of the training: pass y_train=.')
        seen = training_labels(y_train)
        if self.labels is None:
            refuse_mixed(seen.tolist(), "y_train")
            order = np.unique(seen)
            order = order[self.named(order.tolist()) or slice(None)]
        else:
            order = validation.to_array(self.labels, "labels")
        if len(order) != self.n:
            raise ValueError(f"y_train holds {len(order)} classes but y_prob has {self.n}: pass labels=.")
        if self.labels is None and self.one_column and not validation.one_is_positive(order.tolist()):
            raise ValueError(f"y_train holds {', '.join(map(repr, order.tolist()))}, {WHICH_IS_POSITIVE}")
        counts = np.array([np.count_nonzero(seen == label) for label in order], dtype=float)
        if not np.all(counts):
            raise ValueError(f"y_train must hold every class, {order[int(np.argmin(counts))]!r} is missing.")
        return counts.sum() / (self.n * counts)

    def weights(self, stated: Stated, y_train: ArrayLike | None) -> Floats:
        """Loss weight of each class, from any of the ways to state it."""
        name = one_of(**stated._asdict())
        positive_share, class_weight, scale_pos_weight, pos_weight = stated
        if name != "class_weight":
            if isinstance(pos_weight, Mapping):
                raise ValueError(
                    "pos_weight must be a number, or hold one for each column of y_prob in their order, got "
                    f"{pos_weight}; what is given by class is a class_weight."
                )
            if self.n != 2:
                raise ValueError(f"{name} is for two classes, y_prob has {self.n}: pass class_weight=.")
            if positive_share is not None:
                return np.array([1.0, share_odds(positive_share)])
            if scale_pos_weight is not None:
                return np.array([1.0, weight_ratio(scale_pos_weight, name)])
            listed = validation.to_array(pos_weight, name)
            return np.array([1.0, weight_ratio(listed.item() if listed.shape == (1,) else pos_weight, name)])
        if isinstance(class_weight, str):
            if class_weight != "balanced":
                raise ValueError(
                    f'class_weight must be "balanced", a mapping or one number per class, got {class_weight!r}.'
                )
            return self.balanced(y_train)
        return self.numbers(class_weight, "class_weight")

    def prior(self, prior: Any, name: str) -> Floats:
        """Class shares: of the positive class alone, or of every class."""
        if not isinstance(prior, Mapping) and np.ndim(validation.to_array(prior, name)) == 0:
            if self.n != 2:
                raise ValueError(f"{name} must hold the shares of {self.n} classes, got {prior}.")
            share = validation.check_unit(prior, name, open_low=True, open_high=True)
            return np.array([1.0 - share, share])
        shares = self.numbers(prior, name, default=None)
        if abs(shares.sum() - 1.0) > _SUM_TOLERANCE:
            raise ValueError(f"{name} must sum to 1, got {shares.sum():.9g}.")
        return shares


def _instead_of_one(name: str, n_classes: int, first: Any, number: float) -> str:
    """What to pass where one number was given for several columns."""
    if name != "pos_weight":
        return f"; for the first class alone pass {name}={{{first!r}: {number:.15g}}}"
    several = f"; for {n_classes} separate questions pass pos_weight={[float(f'{number:.15g}')] * n_classes}"
    return several + (f", for two classes scale_pos_weight={number:.15g}" if n_classes == 2 else "")


def _plain_keys(values: Any) -> list[Any]:
    """Names of the classes in a mapping; none in a sequence, which is in the order of the columns."""
    return [key.item() if isinstance(key, np.generic) else key for key in values] if isinstance(values, Mapping) else []


def classes_of(scores: Any, labels: ArrayLike | None) -> Classes:
    """Return the classes of scores that were read."""
    classes = Classes(scores.n_classes, labels, scores.one_column, scores.names)
    if labels is None:
        refuse_positive_first(scores.names, "y_prob", "pass labels= in the order of the columns")
    elif scores.names:
        classes.order([], "labels")
    return classes


# Class weights, sampling and prior shift: undone, applied, and all three in one formula.


def undo_class_weight(
    y_prob: ArrayLike,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Turn the scores of a model trained with class weights into probabilities of the data as they are.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
        An expression of narwhals, polars or SQL (:func:`stakes.tables.sql_column`) gives an expression.
    positive_share : float, optional
        Relative weight of the positive class, w1 / (w0 + w1), in (0, 1).
    class_weight : mapping of label to weight, array_like of shape (K,) or "balanced", optional
        Weight of each class in the loss; classes that a mapping does not name have weight 1. A Series of pandas whose
        index names classes is a mapping, here and wherever numbers are given by class. "balanced" needs ``y_train``.
    scale_pos_weight : float, optional
        Ratio w1 / w0, as XGBoost, LightGBM and CatBoost have it; equally the r of r-fold oversampling.
    pos_weight : float or array_like of shape (K,), optional
        The same ratio, as PyTorch's ``BCEWithLogitsLoss`` has it; one in a list is that of one column. One for each of
        K columns means K separate yes-or-no questions (one-vs-rest or multi-label); rows then need not sum to 1.
    y_train : array_like of shape (m,), optional
        Labels of the training, for "balanced".
    labels : array_like of shape (K,), optional
        The classes in the order of the columns, the positive one last of two. Without it as a frame names its columns,
        0 to K - 1, -1 and 1, or of several columns the sorted keys; names in the index of a Series that are neither
        sorted nor numbers need it. Scores of the positive class alone need it where classes have other names.
    logits : bool, default False
        Whether ``y_prob`` holds log-odds (n,) or logits (n, K); the result then holds the same. There the map is
        exact even where a probability would round to 1.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        Unless exactly one of the four ways to give the weight is used, and for invalid scores or weights.

    Notes
    -----
    Equation (12) of Caplin, Martin and Marx (2022): logit g = logit a - logit beta, for beta in (0, 1) only (the
    printed corollary includes 0 and 1, where nothing is left to invert); with K classes g_y is proportional to
    a_y / w_y. It undoes what weighting does to a fit that is otherwise right. Where the model is too stiff, penalised
    or stopped early, weighting also changes the fit, and no map of scores can undo that.

    Examples
    --------
    >>> from stakes.correction import undo_class_weight
    >>> undo_class_weight([0.0, 0.5, 0.9, 1.0], positive_share=0.9).round(6).tolist()
    [0.0, 0.1, 0.5, 1.0]
    >>> undo_class_weight([0.5], class_weight="balanced", y_train=[0, 0, 0, 1]).tolist()
    [0.25]
    >>> undo_class_weight([[0.2, 0.3, 0.5]], class_weight={0: 1, 1: 1, 2: 5}).round(6).tolist()
    [[0.333333, 0.5, 0.166667]]
    """
    given = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    return _weighted(y_prob, given, y_train, labels, logits=logits, undo=True)


def apply_class_weight(
    y_prob: ArrayLike,
    *,
    positive_share: float | None = None,
    class_weight: Mapping[Any, float] | ArrayLike | str | None = None,
    scale_pos_weight: float | None = None,
    pos_weight: float | ArrayLike | None = None,
    y_train: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Say which score a model trained with class weights gives where the probability is known.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities.
    positive_share, class_weight, scale_pos_weight, pos_weight, y_train, labels, logits
        As in :func:`undo_class_weight`, whose inverse this is.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        As :func:`undo_class_weight`.

    Notes
    -----
    Proposition 1 of Caplin, Martin and Marx (2022): the best score is the same for every strictly proper loss.

    Examples
    --------
    >>> from stakes.correction import apply_class_weight
    >>> apply_class_weight([0.1, 0.5], scale_pos_weight=9).round(6).tolist()
    [0.5, 0.9]
    """
    given = Stated(positive_share, class_weight, scale_pos_weight, pos_weight)
    return _weighted(y_prob, given, y_train, labels, logits=logits, undo=False)


def _weighted(y_prob: ArrayLike, given: Stated, y_train: Any, labels: Any, *, logits: bool, undo: bool) -> Floats:
    """Multiply the odds of each class by its weight, or divide them by it."""
    pos_weight = given.pos_weight
    per_column = validation.to_array(pos_weight, "pos_weight")
    if per_column.ndim != 1 or (len(per_column) == 1 and np.ndim(y_prob) < 2):
        scores = read_scores(y_prob, logits=logits)
        weights = classes_of(scores, labels).weights(given, y_train)
        return scores.shifted(1.0 / weights if undo else weights)
    one_of(**given._asdict())
    shape = validation.to_array(y_prob, "y_prob").shape
    if len(shape) != 2:
        raise ValueError(f"y_prob must have one column for each pos_weight, got shape {shape}.")
    columns = read_columns(y_prob, logits=logits)
    n = columns.values.shape[1]
    named = validation.frame_names(y_prob) if labels is None else validation.to_array(labels, "labels").tolist()
    questions = names_of_classes(pos_weight, "pos_weight")
    if questions and not named and validation.label_places(questions, range(n)) is None:
        raise ValueError(
            f"pos_weight names {questions} in its index, and nothing says which columns of y_prob these are: pass "
            f"labels= with the names of its {n} columns in their order."
        )
    weights = Classes(n).numbers(in_class_order(pos_weight, named or range(n), "pos_weight"), "pos_weight")
    factors = 1.0 / weights if undo else weights
    return columns.values + np.log(factors) if logits else shift_columns(columns.values, factors)


def undo_sampling(
    y_prob: ArrayLike,
    *,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Turn the scores of a model trained on under- or oversampled classes into probabilities of the data as they are.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
    keep : mapping of label to fraction, or array_like of shape (K,), optional
        Which fraction of each class's rows the model saw, in (0, 1]: ``{0: 0.1}`` if one negative in ten was kept.
        Classes that a mapping does not name were kept as they are.
    repeat : mapping of label to number, or array_like of shape (K,), optional
        How many times the model saw each row of a class, >= 1: ``{1: 10}`` if every positive stood there ten times.
        ``keep`` or ``repeat`` is needed, both may be given, and only their products' ratios count.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores or fractions, and for a fraction above 1.

    Notes
    -----
    Equation (13) of Caplin, Martin and Marx (2022), and of Elkan (2001): a kept fraction acts as a class weight does.
    Rows must be dropped or repeated at random within their class: SMOTE, NearMiss and their kin are not undone by it.

    Examples
    --------
    >>> from stakes.correction import undo_sampling
    >>> undo_sampling([0.5, 0.95], keep={0: 0.05, 1: 1}).round(6).tolist()
    [0.047619, 0.487179]
    >>> undo_sampling([0.5], repeat={1: 9}).round(6).tolist()
    [0.1]
    """
    scores = read_scores(y_prob, logits=logits)
    return scores.shifted(1.0 / _sampling(keep, repeat, scores, labels))


def apply_sampling(
    y_prob: ArrayLike,
    *,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Say which probability holds among sampled rows where it is known among all.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities.
    keep, repeat, labels, logits
        As in :func:`undo_sampling`, whose inverse this is.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores or fractions, and for a fraction above 1.

    Examples
    --------
    >>> from stakes.correction import apply_sampling
    >>> apply_sampling([0.1], keep={0: 0.1}).round(6).tolist()
    [0.526316]
    """
    scores = read_scores(y_prob, logits=logits)
    return scores.shifted(_sampling(keep, repeat, scores, labels))


def _sampling(keep: Any, repeat: Any, scores: Any, labels: ArrayLike | None) -> Floats:
    if keep is None and repeat is None:
        raise ValueError(
            "keep or repeat must be given: the fraction kept of a class, or how often its rows were repeated."
        )
    return classes_of(scores, labels).sampling(keep, repeat)


def shift_prior(
    y_prob: ArrayLike,
    *,
    training_prior: float | Mapping[Any, float] | ArrayLike,
    prior: float | Mapping[Any, float] | ArrayLike,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Move probabilities from a population with one share of each class to a population with another.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Probabilities that are right where the classes have the shares ``training_prior``. Undo class weights first.
        An expression of narwhals, polars or SQL (:func:`stakes.tables.sql_column`) gives an expression.
    training_prior, prior : float, mapping of label to share, or array_like of shape (K,)
        Share of positives, or of every class, before and after.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        For invalid scores, and for shares outside (0, 1) or that do not sum to 1.

    Notes
    -----
    Saerens, Latinne and Decaestecker (2002), doi:10.1162/089976602753284446. Right where only the shares of the
    classes differ, and not the cases within a class. Its inverse is ``shift_prior`` with ``training_prior`` and
    ``prior`` swapped.

    Examples
    --------
    >>> from stakes.correction import shift_prior
    >>> shift_prior([0.5, 0.9], training_prior=0.5, prior=0.01).round(6).tolist()
    [0.01, 0.083333]
    """
    scores = read_scores(y_prob, logits=logits)
    return scores.shifted(_prior_factors(classes_of(scores, labels), training_prior, prior))


def _prior_factors(classes: Classes, training_prior: Any, prior: Any) -> Floats:
    before = classes.prior(training_prior, "training_prior")
    return classes.prior(prior, "prior") / before


def correct_probabilities(
    y_prob: ArrayLike,
    *,
    class_weight: Mapping[Any, float] | ArrayLike | None = None,
    keep: Mapping[Any, float] | ArrayLike | None = None,
    repeat: Mapping[Any, float] | ArrayLike | None = None,
    training_prior: float | Mapping[Any, float] | ArrayLike | None = None,
    prior: float | Mapping[Any, float] | ArrayLike | None = None,
    labels: ArrayLike | None = None,
    logits: bool = False,
) -> Floats:
    """Undo class weights and sampling and move to another population, all in one step.

    Parameters
    ----------
    y_prob : array_like of shape (n,) or (n, K)
        Scores of the positive class, or of every class (rows that sum to 1).
    class_weight : mapping of label to weight, or array_like of shape (K,), optional
        Weight of each class in the loss.
    keep : mapping of label to fraction, or array_like of shape (K,), optional
        Which fraction of each class's rows the model saw, in (0, 1].
    repeat : mapping of label to number, or array_like of shape (K,), optional
        How many times the model saw each row of a class, >= 1.
    training_prior, prior : float, mapping of label to share, or array_like of shape (K,), optional
        Shares of the classes in the data before sampling, and in the population to move to; both or none.
    labels, logits
        As in :func:`undo_class_weight`.

    Returns
    -------
    ndarray of the shape of ``y_prob``

    Raises
    ------
    ValueError
        If nothing is to be corrected, if only one of ``training_prior`` and ``prior`` is given, and for invalid values.

    Notes
    -----
    g_y is proportional to a_y prior_y / (w_y keep_y repeat_y training_prior_y): equations (12) and (13) of Caplin,
    Martin and Marx (2022) with the prior shift of Saerens et al. (2002). The steps commute.

    Examples
    --------
    >>> from stakes.correction import correct_probabilities
    >>> p = correct_probabilities([0.5], class_weight={0: 1, 1: 3}, keep={0: 0.1}, training_prior=0.01, prior=0.02)
    >>> p.round(6).tolist()
    [0.063098]
    """
    if (training_prior is None) != (prior is None):
        raise ValueError("training_prior and prior must be given together: the shares of the classes before and after.")
    if class_weight is None and keep is None and repeat is None and training_prior is None:
        raise ValueError("nothing to correct: pass class_weight=, keep=, repeat=, or training_prior= and prior=.")
    scores = read_scores(y_prob, logits=logits)
    classes = classes_of(scores, labels)
    factors = 1.0 / classes.sampling(keep, repeat)
    if class_weight is not None:
        factors /= classes.numbers(class_weight, "class_weight")
    if training_prior is not None:
        factors *= _prior_factors(classes, training_prior, prior)
    return scores.shifted(factors)


# Scores fitted one coordinate at a time with a matrix of weights: the posterior is a Perron vector.
#
# The score of class k minimises the loss in which a case of class y counts ``beta[y, k]``; so a_k (beta^T g)_k =
# beta_kk g_k, that is T g = g with T_kj = a_k beta_jk / beta_kk.

_CELLS = 1 << 18  # numbers in the matrices of one block of rows
_SHIFT = 1e-13  # keeps the linear systems of inverse iteration solvable
_STILL = 4.0 * np.finfo(float).eps


@overload
def undo_loss_matrix(y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: Literal[False] = False) -> Floats: ...
@overload
def undo_loss_matrix(y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: Literal[True]) -> tuple[Floats, Floats]: ...
def undo_loss_matrix(
    y_prob: ArrayLike, beta: ArrayLike, *, return_misfit: bool = False
) -> Floats | tuple[Floats, Floats]:
    """Turn scores fitted with a matrix of weights, class by class, into the probabilities behind them.

    Parameters
    ----------
    y_prob : array_like of shape (n, K)
        Score of each class in [0, 1], fitted one class at a time; rows need not sum to 1.
    beta : array_like of shape (K, K)
        ``beta[y, k]`` > 0 is the weight of a case of class y in the loss of the score of class k.
    return_misfit : bool, default False
        Whether to return the misfit of each row as well.

    Returns
    -------
    posterior : ndarray of shape (n, K)
        Rows that sum to 1.
    misfit : ndarray of shape (n,)
        Distance of the Perron root from 1: zero where the scores are those of some posterior. Only with
        ``return_misfit``.

    Raises
    ------
    ValueError
        For scores outside [0, 1], a row of zeros, or weights that are not positive.

    Notes
    -----
    Inverts equation (10) of Caplin, Martin and Marx (2022), which has no inverse there. The matrix T is positive, so
    by Perron and Frobenius its positive eigenvector is unique; its root is 1 exactly for scores that some posterior
    has. For other scores a the answer belongs to a divided by the root. A score of 0 means probability 0. The vector
    is found by Noda's iteration (1971), quadratic and monotone. It is not for softmax outputs trained with class
    weights, a different loss: those need :func:`undo_class_weight`.

    Examples
    --------
    >>> from stakes.correction import apply_loss_matrix, undo_loss_matrix
    >>> beta = [[2.0, 0.5, 1.0], [1.5, 3.0, 0.25], [1.0, 1.0, 4.0]]
    >>> scores = apply_loss_matrix([[0.6, 0.3, 0.1]], beta)
    >>> scores.round(6).tolist()
    [[0.685714, 0.692308, 0.372093]]
    >>> undo_loss_matrix(scores, beta).round(12).tolist()
    [[0.6, 0.3, 0.1]]
    """
    scores = read_columns(y_prob).values
    weights = _read_matrix(beta, scores.shape[1], y_prob)
    empty = ~np.any(scores > 0.0, axis=1)
    if np.any(empty):
        raise ValueError(f"y_prob must hold a positive score in every row, got zeros in row {int(np.argmax(empty))}.")
    scale = weights.T / np.diag(weights)[:, None]
    posterior, root = np.empty(scores.shape), np.empty(len(scores))
    for part in validation.blocks(len(scores), max(1, _CELLS // scale.size)):
        posterior[part], root[part] = _perron(scores[part][:, :, None] * scale)
    return (posterior, np.abs(root - 1.0)) if validation.check_flag(return_misfit, "return_misfit") else posterior


def apply_loss_matrix(y_prob: ArrayLike, beta: ArrayLike) -> Floats:
    """Say which scores a model gives that is fitted with a matrix of weights, where the probabilities are known.

    Parameters
    ----------
    y_prob : array_like of shape (n, K)
        Probabilities, rows that sum to 1.
    beta : array_like of shape (K, K)
        As in :func:`undo_loss_matrix`, whose inverse this is.

    Returns
    -------
    ndarray of shape (n, K)
        Scores in [0, 1]; rows need not sum to 1.

    Raises
    ------
    ValueError
        For invalid probabilities or weights.

    Notes
    -----
    Equation (10) of Caplin, Martin and Marx (2022): a_k = beta_kk g_k / sum_y beta_yk g_y.

    Examples
    --------
    >>> from stakes.correction import apply_loss_matrix
    >>> apply_loss_matrix([[0.6, 0.4]], [[1.0, 1.0], [1.0, 3.0]]).round(6).tolist()
    [[0.6, 0.666667]]
    """
    prob = np.asarray(check_probability_rows(y_prob), dtype=np.float64)
    weights = _read_matrix(beta, prob.shape[1], y_prob)
    return prob * np.diag(weights) / (prob @ weights)


def _read_matrix(beta: ArrayLike, n_classes: int, y_prob: ArrayLike) -> Floats:
    """Check the weights; names of rows, columns and scores that are alike must stand in one order."""
    named = [index_names(beta), validation.frame_names(beta), validation.frame_names(y_prob)]
    for one, other in combinations([names for names in named if names], 2):
        if validation.label_places(one, other) not in (None, list(range(n_classes))):
            raise ValueError(f"beta and y_prob must name the classes in one order, got {one} and {other}.")
    weights = validation.to_floats(validation.to_array(beta, "beta"), "beta")
    if weights.shape != (n_classes, n_classes):
        raise ValueError(f"beta must have shape ({n_classes}, {n_classes}), got {weights.shape}.")
    good = (weights >= _RANGE[0]) & (weights <= _RANGE[1])
    if not np.all(good):
        row, column = np.argwhere(~good)[0]
        raise ValueError(
            f"beta must be > 0 and finite ({_RANGE[0]:g} to {_RANGE[1]:g}), got {weights[row, column]:g} "
            f"at [{row}, {column}]."
        )
    return weights


def _perron(matrices: Floats) -> tuple[Floats, Floats]:
    """Perron vectors, summing to 1, and roots of matrices whose rows are positive or zero."""
    vector = matrices.sum(axis=2)
    root = np.full(len(matrices), np.inf)
    active = np.arange(len(matrices))
    while len(active):
        scaled, bound = _in_units_of(vector[active], matrices[active])
        falling = bound < root[active] * (1.0 - _STILL)
        root[active] = np.minimum(root[active], bound)
        vector[active] *= _inverse_step(scaled, bound)
        vector[active] /= vector[active].sum(axis=1, keepdims=True)
        active = active[falling]
    return vector, root


def _in_units_of(vector: Floats, matrices: Floats) -> tuple[Floats, Floats]:
    """The matrix where the vector is all ones, so that its tiny entries keep their digits, and the bound on its root.

    The largest row sum is Collatz's bound. A score of 0 leaves a row of zeros.
    """
    column = vector[:, :, None]
    scaled = np.divide(matrices, column, out=np.zeros_like(matrices), where=column > 0.0)
    scaled *= vector[:, None, :]
    return scaled, scaled.sum(axis=2).max(axis=1)


def _inverse_step(scaled: Floats, bound: Floats) -> Floats:
    """Solve with the matrix shifted just above the bound on its root, against a right-hand side of ones."""
    systems = -scaled
    index = np.arange(scaled.shape[1])
    systems[:, index, index] += (bound * (1.0 + _SHIFT))[:, None]
    solved = np.linalg.solve(systems, np.ones((*scaled.shape[:2], 1)))[:, :, 0]
    # the inverse is positive: a sign can only come from rounding at the last step
    return np.abs(solved) / np.abs(solved).max(axis=1, keepdims=True)


# What is stated beside rows with labels, which say what the order of the classes is.


def stated_factors(
    n_classes: int,
    stated: Stated,
    sampling: tuple[Any, Any],
    y_train: ArrayLike | None,
    labels: ArrayLike | None,
    *,
    pos_label: object,
    rows: tuple[Any, Any] | None = None,
) -> Floats:
    """Combined factor of weight and sampling of each class in training; ones if nothing is stated.

    ``rows``: labels and scores of two classes, checked; None for a table that does not name them.
    """
    factors = np.ones(n_classes)
    seen: Sequence[Any] = ()
    stated = stated._replace(class_weight=named_values(stated.class_weight, "class_weight"))
    sampling = named_values(sampling[0], "keep"), named_values(sampling[1], "repeat")
    if rows is not None and labels is None:
        given = {"class_weight": stated.class_weight, "keep": sampling[0], "repeat": sampling[1]}
        _, first, seen = two_labels(rows[0], pos_label)
        weight, *sampled = _positive_last(given, rows[1], pos_label, first=first)
        stated, sampling = stated._replace(class_weight=weight), (sampled[0], sampled[1])
    elif rows is not None and pos_label is None:
        pos_label = _unnamed_positive(rows[0], np.atleast_1d(validation.to_array(labels, "labels")).tolist())
    if pos_label is not None and n_classes == 2:
        labels = _labels_of(labels, validation.one_label(pos_label), seen, (*sampling, stated.class_weight), y_train)
    classes = Classes(n_classes, labels, n_classes == 2)
    if any(value is not None for value in stated):
        factors = classes.weights(stated, y_train)
    return factors * classes.sampling(*sampling)


def rows_or_classes(y_true: Any, y_prob: Any, pos_label: object, labels: Any) -> tuple[tuple[Any, Any] | None, object]:
    """Labels and scores, of a table as it names its two classes (None where it does not), and the positive label."""
    if not isinstance(y_true, ScoreTable):
        return (y_true, y_prob), pos_label
    positive, negative = y_true.pos_label, y_true.neg_label
    if labels is not None:
        order = np.atleast_1d(validation.to_array(labels, "labels")).tolist()
        if positive != 1 and validation.plain_label(order[-1]) != positive:
            raise ValueError(f"labels must end with the positive class of the table, {positive!r}, got {order}.")
        return None, None
    if negative is None or isinstance(negative, str) != isinstance(positive, str):
        return None, None if positive == 1 else positive
    return ([negative, positive], y_true.scores), positive


def _positive_last(given: dict[str, Any], y_prob: Any, pos_label: object, *, first: bool | None) -> list[Any]:
    """Reverse sequences in the order of two columns of which the first is positive; refuse them for one column."""
    listed = [name for name, value in given.items() if value is not None and not isinstance(value, (Mapping, str))]
    if not listed or not first:
        return list(given.values())
    if validation.to_array(y_prob, "y_prob").shape[1:] != (2,):
        raise ValueError(
            f"{listed[0]} must be a mapping of label to number beside one column of scores where "
            f"{'the positive label' if pos_label is None else f'pos_label={pos_label!r}'} sorts first, got "
            f"{validation.brief(given[listed[0]])}."
        )
    return [
        np.atleast_1d(validation.to_array(value, name))[::-1] if name in listed else value
        for name, value in given.items()
    ]


def _unnamed_positive(y_true: Any, order: list[Any]) -> object:
    """Which of the labels is positive where pos_label= does not say so; None if that is unknown."""
    if isinstance(y_true, Outcome):
        return None if y_true.positive_first is None else sorted(order)[0 if y_true.positive_first else -1]
    return 1 if validation.one_is_positive(order) else None


def _labels_of(
    labels: Any, pos_label: object, seen: Sequence[Any], given: tuple[Any, ...], y_train: Any
) -> list[Any] | None:
    """Return the two classes, the positive one last, from labels=, the rows or the other arguments."""
    if labels is not None:
        order = np.atleast_1d(validation.to_array(labels, "labels")).tolist()
        if order[-1:] != [pos_label]:
            raise ValueError(f"labels must end with the positive class, pos_label={pos_label!r}, got {order}.")
        return order
    named = {label for value in given if isinstance(value, Mapping) for label in value}
    trained = [] if y_train is None else training_labels(y_train).tolist()
    return positive_last(pos_label, seen, named | set(trained))

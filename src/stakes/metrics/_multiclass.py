"""Multi-class losses: penalized, one-vs-rest, and from cost matrices."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes.base.multiclass import (
    check_multiclass,
    check_multiclass_tensor,
    class_names,
    in_class_order,
    index_names,
    is_tensor,
    named_numbers,
    ordered_categories,
    ordered_labels,
    refuse_other_order,
    stated_labels,
    tensor_mean,
    weighted_mean,
)
from stakes.base.validation import (
    Floats,
    Integers,
    blocks,
    check_choice,
    check_flag,
    check_number,
    check_same_order,
    check_unit,
    frame_names,
    label_places,
    near,
    refuse_missing,
    summable,
    to_array,
    to_floats,
)
from stakes.costs import (
    REGRET_SCALES,
    CostDistribution,
    CostsLike,
    LogOddsUniform,
    Scale,
    Uniform,
    as_bounds,
    as_costs,
    check_scale,
)

Piece = tuple[Any, Integers, tuple[tuple[int, Any], ...]]


# Penalized Brier score and log loss: proper multi-class losses in which right always beats wrong.

Ties = Literal["fraction", "first", "correct", "wrong"]
TIES = ("fraction", "first", "correct", "wrong")
_IMPROPER = ("correct", "wrong")


class ImproperScoreWarning(UserWarning):
    """The chosen tie rule makes the loss improper: true probabilities are not the best report.

    Examples
    --------
    >>> import warnings
    >>> from stakes.metrics import ImproperScoreWarning
    >>> issubclass(ImproperScoreWarning, UserWarning)
    True
    """


def penalized_brier_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    ties: Ties = "fraction",
    penalty: float | Literal["minimal"] | None = None,
    normalize: bool = False,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> Any:
    """Multi-class Brier score plus a penalty for a wrong top class: no wrong forecast scores better than a right one.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like or PyTorch tensor of shape (n, classes) or (n,)
        Probabilities; each row sums to 1. Of shape (n,): those of the second of two classes.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order, which an
        ordered Categorical must have too. Whole numbers below the number of columns are column numbers, unless a frame
        names its columns by other whole numbers that hold all labels. More rows than columns, none of class 0, need
        it, for they may count from 1; tensors count from 0.
    ties : {"fraction", "first", "correct", "wrong"}, default "fraction"
        What a tie for the highest probability counts: the expected share of errors, the lowest column, never an error,
        always an error. The last two are improper and warn.
    penalty : float or "minimal", optional
        Cost of a wrong top class; by default (c - 1) / c for c classes, as published. "minimal" is the smallest for
        which every right forecast beats every wrong one, (c - 2) / (2 c).
    normalize : bool, default False
        Whether to divide by the number of classes.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row.

    Returns
    -------
    float, or ndarray or tensor of shape (n,)
        Lower is better, between 0 and 2 + penalty.

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels or tie rules, or a negative penalty.

    Warns
    -----
    ImproperScoreWarning
        For ``ties="correct"`` (the published algorithm) or ``"wrong"``: under the first, answering "uniform" is never
        penalised, so it can beat honest probabilities.

    Notes
    -----
    A tensor is evaluated on its device, in double precision where the device has it, and ``per_sample=True`` gives a
    tensor there that carries the gradient of the Brier part.

    Ahmadian, Ghatee and Wahlstrom, arXiv:2407.17697, Definition 5 in its sum form; the mean is the Brier score plus
    penalty * (1 - accuracy). For two classes with the default rules it is the integral of regret over
    ``4 * Uniform(0, 1) + Fixed(1/2, tie=1/2)``.

    Examples
    --------
    A right but unsure forecast costs less than a wrong one, unlike in the Brier score (0.6534 against 0.5202).

    >>> from stakes.metrics import penalized_brier_loss
    >>> right = penalized_brier_loss([1], [[0.33, 0.34, 0.33]])
    >>> wrong = penalized_brier_loss([1], [[0.51, 0.49, 0.0]])
    >>> round(right, 4), round(wrong, 4)
    (0.6534, 1.1869)
    """
    data = _forecasts(y_true, y_prob, labels, sample_weight)
    n_classes = data.prob.shape[1]
    size = _penalty(penalty, (n_classes - 1) / n_classes, (n_classes - 2) / (2 * n_classes))
    rows = brier_rows(data) + size * miss_rows(data, _check_ties(ties))
    if check_flag(normalize, "normalize"):
        rows = rows / n_classes
    return rows if check_flag(per_sample, "per_sample") else data.mean(rows)


def penalized_log_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    ties: Ties = "fraction",
    penalty: float | Literal["minimal"] | None = None,
    eps: float | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> Any:
    """Multi-class log loss plus a penalty for a wrong top class: no wrong forecast scores better than a right one.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like or PyTorch tensor of shape (n, classes) or (n,)
        Probabilities; each row sums to 1. Of shape (n,): those of the second of two classes.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order, which an
        ordered Categorical must have too. Whole numbers below the number of columns are column numbers, unless a frame
        names its columns by other whole numbers that hold all labels. More rows than columns, none of class 0, need
        it, for they may count from 1; tensors count from 0.
    ties : {"fraction", "first", "correct", "wrong"}, default "fraction"
        What a tie for the highest probability counts; the last two are improper and warn.
    penalty : float or "minimal", optional
        Cost of a wrong top class; by default log(c) for c classes, as published. "minimal" is log(c / 2).
    eps : float, optional
        Lower limit for the probability of the true class; by default none, and a probability of 0 costs infinity.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    per_sample : bool, default False
        Whether to return one value for each row.

    Returns
    -------
    float, or ndarray or tensor of shape (n,)
        Lower is better; infinite where a true class has probability 0.

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels or tie rules, or a negative penalty.

    Warns
    -----
    ImproperScoreWarning
        For ``ties="correct"`` (the published algorithm) or ``"wrong"``.

    Notes
    -----
    A tensor is evaluated on its device, in double precision where the device has it.

    arXiv:2407.17697, Definition 5; its Algorithm 3 lacks the minus sign of the logarithm. ``penalty=0`` is the
    multi-class log loss.

    Examples
    --------
    >>> from stakes.metrics import penalized_log_loss
    >>> round(penalized_log_loss([1], [[0.33, 0.34, 0.33]]), 4)
    1.0788
    """
    data = _forecasts(y_true, y_prob, labels, sample_weight)
    n_classes = data.prob.shape[1]
    size = _penalty(penalty, math.log(n_classes), math.log(n_classes / 2))
    if eps is not None:
        eps = check_unit(eps, "eps", open_low=True, open_high=True)
    true = data.of_true_class()
    if eps is not None:
        true = data.xp.clip(true, eps, None)
    with np.errstate(divide="ignore"):
        rows = -data.xp.log(true) + size * miss_rows(data, _check_ties(ties))
    return rows if check_flag(per_sample, "per_sample") else data.mean(rows)


@dataclass(frozen=True, eq=False, repr=False)
class Forecasts:
    """Clean rows on one device: numpy arrays or PyTorch tensors, and the module that computes with them."""

    index: Any
    prob: Any
    weight: Any
    xp: Any
    rows: Any
    mean_of: Callable[[Any, Any], float]

    def of_true_class(self) -> Any:
        """Predicted probability of each row's true class."""
        return self.prob[self.rows, self.index]

    def mean(self, values: Any) -> float:
        """Weighted mean over the rows."""
        return self.mean_of(values, self.weight)


def _forecasts(y_true: Any, y_prob: Any, labels: Any, sample_weight: Any) -> Forecasts:
    """Validate rows on their device; conversion to double precision preserves ties."""
    if is_tensor(y_prob):
        return Forecasts(*check_multiclass_tensor(y_true, y_prob, labels, sample_weight), tensor_mean)
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    return Forecasts(index, prob.astype(np.float64, copy=False), weight, np, np.arange(len(index)), weighted_mean)


def brier_rows(data: Forecasts) -> Any:
    """Sum over classes of (probability - outcome)**2, for each row."""
    # the squares of the other classes plus that of the miss: no cancellation for confident forecasts
    square = data.prob * data.prob
    missing = 1.0 - data.of_true_class()
    square[data.rows, data.index] = missing * missing
    return square.sum(1)


def miss_rows(data: Forecasts, ties: Ties) -> Any:
    """Whether the top class is wrong, with ties by rule, compared in the caller's precision."""
    xp, prob = data.xp, data.prob
    if ties == "first":
        return xp.asarray(xp.argmax(prob, 1) != data.index, dtype=prob.dtype)
    top = prob == xp.amax(prob, 1)[:, None]
    hit, count = top[data.rows, data.index], top.sum(1, dtype=prob.dtype)
    if ties == "correct":
        return xp.asarray(~hit, dtype=prob.dtype)
    if ties == "wrong":
        return xp.asarray(~(hit & (count == 1)), dtype=prob.dtype)
    return 1.0 - hit / count


def _check_ties(ties: Ties) -> Ties:
    check_choice(ties, "ties", TIES)
    if ties in _IMPROPER:
        warnings.warn(
            f'ties="{ties}" makes the score improper: the true probabilities are not the best report. Use "fraction".',
            ImproperScoreWarning,
            stacklevel=3,
        )
    return ties


def _penalty(penalty: float | str | None, published: float, minimal: float) -> float:
    if penalty is None:
        return published
    if isinstance(penalty, str) and penalty == "minimal":
        return max(minimal, 0.0)
    if isinstance(penalty, str) or not 0.0 <= check_number(penalty, "penalty") < math.inf:
        raise ValueError(
            f"penalty must be a finite number >= 0, or 'minimal', got {penalty!r}{near(penalty, ['minimal'])}"
        )
    return float(penalty)


# A multi-class loss from what decisions cost: one class against the rest.

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
    y_prob : array_like of shape (n, classes) or (n,)
        Probabilities; each row sums to 1. Of shape (n,): those of the second of two classes.
    bounds : tuple of float or sequence of tuples, default (0, 1)
        Plausible thresholds, for all classes or one pair for each.
    weighting : {"uniform", "log_odds"}, default "uniform"
        Uniform in the cost ratio (Brier) or in its log-odds (log loss).
    class_weight : array_like of shape (classes,), optional
        Weight >= 0 of each class in the sum; 1 by default.
    scale : {"loss", "regret", "integral"}, default "loss"
        "loss" is the multi-class Brier score for uniform weighting at bounds (0, 1).
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order, which an
        ordered Categorical must have too. Whole numbers below the number of columns are column numbers, unless a frame
        names its columns by other whole numbers that hold all labels. More rows than columns, none of class 0, need
        it, for they may count from 1; tensors count from 0.
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
    check_choice(scale, "scale", REGRET_SCALES)
    index, prob, weight = check_multiclass(y_true, y_prob, labels, sample_weight)
    n_classes = prob.shape[1]
    pairs = _pairs(bounds, n_classes)
    share = np.ones(n_classes)
    if class_weight is not None or len(set(pairs)) > 1:
        classes = class_names(y_true, stated_labels(y_true, y_prob, labels), n_classes)
        listed = "class_weight" if len(set(pairs)) == 1 else "bounds"
        if labels is None and not (listed == "class_weight" and index_names(class_weight)):
            refuse_other_order(listed, classes, y_prob)
        if class_weight is not None:
            share = _shares_of(class_weight, classes)
    rows = np.zeros(len(index))
    for k, (low, high) in enumerate(pairs):
        if share[k] == 0.0:
            continue
        costs = _FAMILIES[weighting](low, high)
        rows += (
            share[k]
            * check_scale(scale, costs)[1]
            * costs.row_loss(index == k, np.asarray(prob[:, k], dtype=np.float64))
        )
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)


def _shares_of(class_weight: Any, classes: Sequence[Any]) -> Floats:
    """Weight of each class in a sum over them."""
    share = to_floats(in_class_order(class_weight, classes, "class_weight"), "class_weight")
    if share.shape != (len(classes),) or not np.all(np.isfinite(share) & (share >= 0.0)):
        raise ValueError(f"class_weight must hold {len(classes)} finite numbers >= 0, got {share.tolist()}.")
    return share


def _pairs(bounds: Any, n_classes: int) -> list[tuple[float, float]]:
    listed = isinstance(bounds, (list, tuple)) or (isinstance(bounds, np.ndarray) and bounds.ndim > 0)
    several = listed and any(np.ndim(pair) for pair in bounds)
    if not several:
        return [as_bounds(bounds)] * n_classes
    if len(bounds) != n_classes:
        raise ValueError(f"bounds must be (low, high), or one pair for each of {n_classes} classes, got {bounds!r}.")
    return [as_bounds(pair, f"bounds[{k}]") for k, pair in enumerate(bounds)]


# Cost matrices and their optimal decisions: one matrix, a weighted list, or a segment between two.
#
# Along a segment C(theta) = (1 - theta) A + theta B the expected costs of a row are straight lines, one for each
# action, so the cheapest action changes at few knots, all of them exact, and the mean over theta needs two partial
# moments only.

_BLOCK = 1 << 14


@dataclass(frozen=True, eq=False, repr=False)
class CostProblem:
    """Clean matrices (m, classes, actions) with the weight of each, or the two ends of a segment and its measure."""

    matrices: Floats
    weights: Floats
    theta: CostDistribution | None = None

    @property
    def mean_matrix(self) -> Floats:
        """The mean cost matrix."""
        return np.asarray(np.tensordot(self.weights, self.matrices, 1))

    def pieces(self, prob: Floats) -> Iterator[Piece]:
        """Yield the cheapest actions of rows with the weight of each matrix."""
        if self.theta is None:
            for m, weight in enumerate(self.weights):
                yield slice(None), np.argmin(prob @ self.matrices[m], axis=1), ((m, float(weight)),)
            return
        for rows, action, low, high in walk(prob, self.matrices):
            # the ends of the segment hold whatever measure lies there
            ends = [np.where(low > 0.0, low, -np.inf), np.where(high < 1.0, high, np.inf)]
            falling = self.theta.positive_loss(ends[0]) - self.theta.positive_loss(ends[1])
            rising = self.theta.negative_loss(ends[1]) - self.theta.negative_loss(ends[0])
            yield rows, action, ((0, falling / self.theta.mass), (1, rising / self.theta.mass))

    def losses(self, prob: Floats, index: Integers) -> Floats:
        """Cost of each row in its true class."""
        found = np.zeros(len(index))
        for part in blocks(len(index), _BLOCK):
            mine, loss = index[part], found[part]
            for rows, action, counts in self.pieces(prob[part]):
                for m, count in counts:
                    loss[rows] += count * self.matrices[m][mine[rows], action]
        return found

    def class_costs(self, prob: Floats, action: int | None = None) -> Floats:
        """Cost of each row in every class (n, K), or the contribution of one action."""
        found = np.zeros((len(prob), self.matrices.shape[1]))
        for rows, taken, counts in self.pieces(prob):
            for m, count in counts:
                amount = np.broadcast_to(count, taken.shape)
                if action is not None:
                    amount = np.where(taken == action, amount, 0.0)
                found[rows] += amount[:, None] * self.matrices[m].T[taken]
        return found


def walk(prob: Floats, ends: Floats) -> Iterator[tuple[Integers, Integers, Floats, Floats]]:
    """Yield rows, their cheapest action, and the interval of [0, 1] over which it is cheapest."""
    start = np.asarray(prob @ ends[0], dtype=np.float64)
    slope = prob @ ends[1] - start
    rows, low = np.arange(len(prob)), np.zeros(len(prob))
    cheapest = start == start.min(axis=1)[:, None]
    action = np.argmin(np.where(cheapest, slope, np.inf), axis=1)
    while len(rows):
        at = np.arange(len(rows)), action
        fall = slope[at][:, None] - slope
        with np.errstate(divide="ignore", invalid="ignore"):
            cross = np.where(fall > 0.0, (start - start[at][:, None]) / fall, np.inf)
        cross = np.maximum(cross, low[:, None])
        high = cross.min(axis=1)
        yield rows, action, low, np.minimum(high, 1.0)
        left = high < 1.0
        # where several lines cross at once, the steepest descending one is lowest afterwards
        following = np.argmin(np.where(cross == high[:, None], slope, np.inf), axis=1)
        rows, action, low, start, slope = rows[left], following[left], high[left], start[left], slope[left]


def check_problem(
    matrices: ArrayLike,
    classes: Sequence[Any],
    *,
    theta: CostsLike | None = None,
    matrix_weights: ArrayLike | None = None,
    actions: Sequence[Any] | None = None,
) -> CostProblem:
    """Check cost matrices and their weights or measure; frames are read by the names of classes and actions."""
    n_classes, table = len(classes), to_floats(_in_one_order(matrices, classes, actions), "matrices")
    table = table[None] if table.ndim == 2 else table
    if table.ndim != 3 or table.shape[1] != n_classes or 0 in table.shape:
        hint = "; rows are classes: is it transposed?" if table.ndim == 3 and table.shape[2] == n_classes else "."
        raise ValueError(
            f"matrices must be of shape (classes, actions) or (m, classes, actions) with {n_classes} classes, got "
            f"shape {np.shape(matrices)}{hint}"
        )
    if not np.isfinite(table).all():
        which, row, action = (int(place) for place in np.argwhere(~np.isfinite(table))[0])
        raise ValueError(
            f"matrices must be finite, got {table[which, row, action]} for class {classes[row]!r} and action {action} "
            f"of matrix {which}."
        )
    if theta is None:
        return CostProblem(table, _shares(matrix_weights, len(table)))
    if len(table) != 2:
        raise ValueError(f"theta needs the two matrices at its ends, got {len(table)} matrices.")
    if matrix_weights is not None:
        raise ValueError(
            f"matrix_weights= is for a list of matrices, and theta= for a segment between two, got {matrix_weights!r} "
            f"beside theta={theta!r}: leave one out."
        )
    measure = as_costs(theta, "theta")
    if not 0.0 < measure.mass < math.inf:
        raise ValueError(f"theta must have a mass in (0, inf), got {measure!r}.")
    places, weights = measure.atoms
    if len(places) and weights.sum() >= measure.mass * (1.0 - 1e-12):  # a list of matrices
        between = (1.0 - places)[:, None, None] * table[0] + places[:, None, None] * table[1]
        return CostProblem(between, weights / weights.sum())
    mean = measure.mean()
    return CostProblem(table, np.array([1.0 - mean, mean]), measure)


def matrix_actions(matrices: Any, classes: Sequence[Any]) -> list[list[Any]]:
    """Names of the columns of each matrix; none for arrays, and where pandas only counts them.

    Where no columns have names, as many as there are classes are of the classes as the rows are written.
    """
    each, k = _each(matrices), len(classes)
    names, rows = [frame_names(one) for one in each], [label_places(index_names(one), classes) for one in each]
    if any(names) or not any(rows) or any(np.shape(one) != (k, k) for one in each):
        return names
    return [[classes[place] for place in np.argsort(places or range(k))] for places in rows]


def _each(matrices: Any) -> list[Any]:
    """The frames of a list of matrices; anything else as the one item of a list."""
    listed = isinstance(matrices, list | tuple) and any(frame_names(each, counted=True) for each in matrices)
    return list(matrices) if listed else [matrices]


def _in_one_order(matrices: Any, classes: Sequence[Any], actions: Sequence[Any] | None) -> NDArray[Any]:
    """Matrices whose rows are in the order of the classes, and columns of all in that of the actions."""
    each = _each(matrices)
    names = matrix_actions(matrices, classes) if actions is None else [frame_names(one) for one in each]
    wanted = names[0] if actions is None else actions
    in_rows = [in_class_order(one, classes, "matrices") for one in each]
    tables = [_by_action(table, own, wanted) for table, own in zip(in_rows, names, strict=True)]
    if len({table.shape for table in tables}) > 1:
        raise ValueError(f"matrices must have one shape, got {[table.shape for table in tables]}.")
    return tables[0] if each[0] is matrices else np.stack(tables)


def _by_action(table: NDArray[Any], own: Sequence[Any], actions: Sequence[Any]) -> NDArray[Any]:
    """Return columns with names of their own in the order of the actions, or raise where these are others."""
    names, wanted = list(map(str, own)), list(map(str, actions))
    if names and sorted(names) != sorted(wanted):
        raise ValueError(
            f"the columns of matrices must be the actions {wanted}, got {names}: "
            "rename them, or pass matrices.to_numpy() if they are in the order of the actions."
        )
    return table[:, [names.index(each) for each in wanted]] if names else table


def same_in_any_order(matrices: Floats) -> bool:
    """Whether no order of the classes, each with the action of its place, changes a matrix."""
    k = matrices.shape[1]
    orders = np.roll(range(k), 1), [1, 0, *range(2, k)]  # by these two every order is reached
    return matrices.shape[2] == k and all(np.array_equal(matrices, matrices[:, order][:, :, order]) for order in orders)


def refuse_unordered(matrices: Any, classes: Sequence[Any], labels: Any, *given: Any) -> None:
    """Refuse matrices whose rows have no names where classes are texts in an order that no argument states.

    Sorted texts are seldom in the order in which a person writes rows. ``given`` are labels and probabilities of rows.
    """
    if labels is not None or all(index_names(one) for one in _each(matrices)):
        return
    as_given = list(range(len(classes)))
    if not any(isinstance(each, str) for each in classes) or _places_of_numbers(classes) == as_given:
        return
    places = [label_places(names, classes) for each in given if (names := _names_in_order(each, classes))]
    named = [each for each in places if each is not None]
    if not named or any(each != as_given for each in named):
        raise ValueError(
            f"matrices do not say which row is of which class, and the classes are the texts {list(classes)}: pass "
            "labels= in the order of the rows, and of the columns of y_prob where these have no names, or pass a "
            "matrix as a frame of pandas whose index names the classes."
        )


def _names_in_order(given: Any, classes: Sequence[Any]) -> list[Any]:
    """Names of the columns of a frame, or those classes that an ordered Categorical states."""
    return frame_names(given) or [each for each in ordered_categories(given) or () if each in classes]


def _places_of_numbers(names: Sequence[Any]) -> list[int] | None:
    """Where names that are whole numbers stand in their order; None for other names."""
    numbers = named_numbers(names, [])
    return None if numbers is None else label_places(names, numbers)


def _shares(weights: ArrayLike | None, count: int) -> Floats:
    share = np.ones(count) if weights is None else to_floats(to_array(weights, "matrix_weights"), "matrix_weights")
    if share.shape != (count,) or not (np.all(np.isfinite(share) & (share >= 0.0)) and np.any(share)):
        raise ValueError(f"matrix_weights must hold {count} finite numbers >= 0, not all zero, got {share.tolist()}.")
    share = summable(share)
    return np.asarray(share / share.sum())


# Loss of the best action under the predicted probabilities, over cost matrices; ordered classes, and many labels.


def cost_matrix_loss(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    matrix_weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    per_sample: bool = False,
) -> float | Floats:
    """What the best action by the stated probabilities costs, averaged over the cost matrices that are plausible.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_prob : array_like of shape (n, classes) or (n,)
        Probabilities; each row sums to 1. Of shape (n,): those of the second of two classes.
    matrices : array_like of shape (classes, actions) or (m, classes, actions)
        Cost of each action (column) when the class (row) is true; any finite numbers. Rows are in the order of
        ``labels``; those of a frame of pandas whose index names the classes are taken by name.
    theta : CostDistribution, tuple of float or float, optional
        How much each point of the segment between two matrices counts: (1 - theta) * first + theta * second.
    matrix_weights : array_like of shape (m,), optional
        Plausibility of each matrix, >= 0 and not all zero; equal by default. Normalised to sum to 1.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order, which an
        ordered Categorical must have too. Whole numbers below the number of columns are column numbers, unless a frame
        names its columns by other whole numbers that hold all labels. More rows than columns, none of class 0, need
        it, for they may count from 1; tensors count from 0.
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
    classes = class_names(y_true, stated_labels(y_true, y_prob, labels), prob.shape[1])
    problem = check_problem(matrices, classes, theta=theta, matrix_weights=matrix_weights)
    if not same_in_any_order(problem.matrices):
        refuse_unordered(matrices, classes, labels, y_true, y_prob)
    rows = problem.losses(prob, index)
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
        The class of each column in order, needed for texts, unless ``y_true`` is an ordered Categorical of pandas and
        a frame names the columns, or its order is the sorted one; or ``y_true`` is one-hot with columns in an order of
        texts that is not the sorted one and not another in ``y_prob``.
        Whole numbers below the number of columns are column numbers, unless a frame names its columns by other whole
        numbers that hold all labels. More rows than columns, none of them of class 0, need it: they may count from 1.
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
        For rows that are not probabilities, unknown labels, texts without an order, or invalid costs.

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
    index, prob, weight = check_multiclass(y_true, y_prob, _in_order(y_true, y_prob, labels), sample_weight)
    measure = as_costs(costs)
    _, factor = check_scale(scale, measure)
    # rounding may make a sum of probabilities exceed one
    above = np.minimum(np.cumsum(prob[:, :0:-1], axis=1, dtype=np.float64)[:, ::-1], 1.0)
    rows = np.zeros(len(index))
    for cut in range(above.shape[1]):
        rows += factor * measure.row_loss(index > cut, above[:, cut])
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)


def _in_order(y_true: ArrayLike, y_prob: ArrayLike, labels: ArrayLike | None) -> Any:
    """Labels as stated, or in the order of a Categorical or of numbers; the order of other texts is not known."""
    if labels is not None:
        return labels
    seen, categories = to_array(y_true, "y_true"), ordered_categories(y_true)
    if categories is not None:
        return _order_of_one_hot(categories, y_true, y_prob) if seen.ndim == 2 else ordered_labels(y_true, y_prob)
    if seen.ndim == 2:
        return _order_of_columns(y_true, y_prob)
    texts = sorted(label for label in set(seen.ravel().tolist()) if isinstance(label, str))
    if texts:
        raise ValueError(
            f"y_true holds texts without an order, such as {texts[0]!r}: pass labels= in order, which is that of the "
            "columns of y_prob too where these have no names."
        )
    return None


def _order_of_one_hot(categories: list[Any], y_true: ArrayLike, y_prob: ArrayLike) -> list[Any]:
    """Order that the columns of one-hot rows state, in which they stand where those of y_prob have no names."""
    own = frame_names(y_true, counted=True)
    if own != categories and label_places(frame_names(y_prob), categories) is None:
        rule = f"one-hot y_true must have its columns in their order, {categories}, beside y_prob without their names"
        raise ValueError(f"{rule}, got {own}: order both so.")
    return categories


def _order_of_columns(y_true: ArrayLike, y_prob: ArrayLike) -> list[Any] | None:
    """Order of one-hot classes by the names of their columns: of numbers, or of texts that are not merely sorted."""
    own, others = frame_names(y_true, counted=True), frame_names(y_prob, counted=True)
    names = own or others
    places, as_given = label_places(others, names), list(range(len(names)))
    if not names or (not own and label_places(names, as_given)):
        return None  # by place, or by number
    order = named_numbers(names, [])
    if order is None and not any(isinstance(name, str) for name in names):
        order = sorted(names)
    if order is None:
        known, order = names != sorted(names, key=str) and places in (None, as_given), names
    else:
        known = label_places(names, order) == as_given or (bool(own) and places is not None)
    if not known:
        beside = f" beside those of y_prob, {others}" if own and others else ""
        rule = "one-hot y_true must say the order of its classes"
        raise ValueError(f"{rule}, got columns named {names}{beside}: pass labels= in order.")
    return order


def _refuse_other_labels(column: NDArray[Any], k: int) -> None:
    """Raise unless labels are 0 and 1, or truth values; "0" and "1" are texts."""
    refuse_missing(column, "y_true")
    known = np.isin(column, (0, 1)) if column.dtype.kind in "biuf" else [value in {0, 1} for value in column.tolist()]
    if not np.all(known):
        seen = list(dict.fromkeys(column.tolist()))[:5]
        raise ValueError(f"y_true must hold only 0 and 1, got {seen} in column {k}.")


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
        Probability of each label; of two frames with columns of the same names, by name.
    costs : CostDistribution, tuple of float, float, or list or array of these
        How much each cost ratio counts, for all labels or a list with one for each, in the order of ``y_true``.
    label_weight : array_like of shape (labels,), optional
        Weight >= 0 of each label in the sum, in the order of ``y_true``; 1 by default.
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
        For labels other than 0 and 1, none at all, scores outside [0, 1], or a list of another length.

    Examples
    --------
    >>> from stakes.metrics import multilabel_loss
    >>> round(multilabel_loss([[0, 1], [1, 1]], [[0.3, 0.6], [0.1, 0.9]], costs=[0.2, 0.5]), 12)
    0.5
    """
    check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
    from stakes.core.options import evaluation_data

    y, prob = (np.asarray(to_array(each, name)) for each, name in ((y_true, "y_true"), (y_prob, "y_prob")))
    if y.ndim != 2 or y.shape != prob.shape or not y.shape[1]:
        raise ValueError(f"y_true and y_prob must have the same shape (n, labels), got {y.shape} and {prob.shape}.")
    count, given = y.shape[1], cast("Any", costs)
    several = isinstance(given, list) or (isinstance(given, np.ndarray) and given.ndim > 0)
    each = [as_costs(one, f"costs[{k}]") for k, one in enumerate(given)] if several else [as_costs(given)] * count
    named, share = frame_names(y_true) or range(count), np.ones(count)
    if label_weight is not None:
        share = to_floats(in_class_order(label_weight, named, "label_weight"), "label_weight")
    if len(each) != count:
        raise ValueError(f"costs must be a list with one for each of the {count} labels, got {len(each)}.")
    if share.shape != (count,) or not np.all(np.isfinite(share) & (share >= 0.0)):
        raise ValueError(f"label_weight must be finite, >= 0 for each of the {count} labels, got {share.tolist()}.")
    rows = np.zeros(len(y))
    places = label_places(frame_names(y_prob, counted=True), named) or range(count)
    for k, (place, measure) in enumerate(zip(places, each, strict=True)):
        options: dict[str, Any] = {"sample_weight": sample_weight, "per_sample": True, "name": f"y_prob[:, {place}]"}
        _refuse_other_labels(y[:, k], k)
        data = evaluation_data(y[:, k], prob[:, place], **options)
        rows += share[k] * check_scale(scale, measure)[1] * data.losses(measure, "score")
    weight = data.rows.weight
    return rows if check_flag(per_sample, "per_sample") else weighted_mean(rows, weight)

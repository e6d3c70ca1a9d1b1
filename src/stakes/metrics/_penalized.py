"""Penalized Brier score and log loss: proper multi-class losses in which right always beats wrong."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from stakes.core.validation import check_choice, check_flag, check_number, check_unit
from stakes.metrics._multiclass_inputs import check_multiclass, weighted_mean
from stakes.metrics._tensor_inputs import check_multiclass_tensor, is_tensor, tensor_mean

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

Ties = Literal["fraction", "first", "correct", "wrong"]
TIES = ("fraction", "first", "correct", "wrong")
_IMPROPER = ("correct", "wrong")


class ImproperScoreWarning(UserWarning):
    """A tie rule was chosen under which honest probabilities are not the best report.

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
    y_prob : array_like or PyTorch tensor of shape (n, classes)
        Probabilities; each row sums to 1. One column stands for the second of two classes.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
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
    y_prob : array_like or PyTorch tensor of shape (n, classes)
        Probabilities; each row sums to 1. One column stands for the second of two classes.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
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


@dataclass(frozen=True)
class Forecasts:
    """Clean rows on one device: numpy arrays or PyTorch tensors, and the library that computes with them."""

    index: Any
    prob: Any
    weight: Any
    xp: Any
    rows: Any
    mean_of: Callable[[Any, Any], float]

    def of_true_class(self) -> Any:
        """Probability that each row gave to its true class."""
        return self.prob[self.rows, self.index]

    def mean(self, values: Any) -> float:
        """Weighted mean over the rows."""
        return self.mean_of(values, self.weight)


def _forecasts(y_true: Any, y_prob: Any, labels: Any, sample_weight: Any) -> Forecasts:
    """Validate rows where they are. Conversion to double precision keeps every tie and makes none."""
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
    """Whether the top class is wrong, ties by rule; compared exactly, in the caller's precision."""
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
            f'ties="{ties}" makes the score improper: honest probabilities are not the best report. Use "fraction".',
            ImproperScoreWarning,
            stacklevel=3,
        )
    return ties


def _penalty(penalty: float | str | None, published: float, minimal: float) -> float:
    if penalty is None:
        return published
    if isinstance(penalty, str):
        check_choice(penalty, "penalty", ("minimal",))
        return max(minimal, 0.0)
    if not 0.0 <= check_number(penalty, "penalty") < math.inf:
        raise ValueError(f"penalty must be a finite number >= 0, or 'minimal', got {penalty}.")
    return float(penalty)

"""Measures of a confusion table."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.validation import (
    SQUARED_WELL,
    Floats,
    brief,
    check_choice,
    check_flag,
    check_number,
    near,
    to_array,
    to_floats,
)

Coefficients = tuple[float, float, float, float]


# Whether acting on the k most probable rows is the best way to act on k rows: the probability ranking principle.

_CHECK_UP_TO = 40


@dataclass(frozen=True)
class RankingPrinciple:
    """Whether the best k rows are the k most probable ones.

    Parameters
    ----------
    holds : bool or None
        None where it was neither proved nor refuted.
    descending : bool
        False where the best k rows are the k least probable ones.
    reason : str
        Why.

    Examples
    --------
    >>> from stakes.utility import Jaccard
    >>> Jaccard().ranking().descending
    True
    """

    holds: bool | None
    descending: bool
    reason: str


def linear_ranking(c: Coefficients, d: Coefficients) -> RankingPrinciple:
    """Test of a ratio N/D of linear functions: its derivative in u is (c1 D - d1 N) / D^2, where u cancels.

    What remains is linear in v and p, so its signs at the four corners of [0, 1]^2 decide. Where D vanishes the value
    is set by hand, which may break the order: D is a sum of non-negative shares of TP, FP, FN and TN, so it vanishes at
    tables that can be told from others with the same v and p if it has no share of TP and TN, or none of FP and FN.
    """
    true, false = (sum(d), d[0]), (d[0] + d[2], d[0] + d[3])
    base = c[1] * d[0] - d[1] * c[0]
    by_acted, by_positives = c[1] * d[2] - d[1] * c[2], c[1] * d[3] - d[1] * c[3]
    corners = [base, base + by_acted, base + by_positives, base + by_acted + by_positives]
    holds: bool | None = True
    descending, reason = True, "c1 D >= d1 N at every table: more TP is better."
    if max(true) <= 0.0 or max(false) <= 0.0:
        holds, reason = None, "D vanishes at tables where more and fewer TP are possible."
    elif min(corners) < 0.0 < max(corners):
        holds, reason = False, "c1 D - d1 N changes its sign: more TP may be better or worse."
    elif min(corners) < 0.0:
        descending, reason = False, "c1 D <= d1 N at every table: more TP is worse."
    return RankingPrinciple(holds, descending, reason)


def counted_ranking(value: Callable[[Floats, Floats, Floats, Floats], Floats], n: int, sign: float) -> RankingPrinciple:
    """Test of any measure on every table of a small batch; a large one is left open."""
    if n > _CHECK_UP_TO:
        return RankingPrinciple(
            holds=None, descending=True, reason=f"tables of more than {_CHECK_UP_TO} rows are not checked one by one."
        )
    tp, acted, positives = np.meshgrid(*[np.arange(n + 1.0)] * 3, indexing="ij")
    fp, fn, tn = acted - tp, positives - tp, n - acted - positives + tp
    valid = (fp >= 0.0) & (fn >= 0.0) & (tn >= 0.0)
    table = np.full(valid.shape, np.nan)
    table[valid] = sign * value(tp[valid], fp[valid], fn[valid], tn[valid])
    steps = np.diff(table, axis=0)
    slack = 1e-12 * (1.0 + np.nanmax(np.abs(table)))
    if not np.any(steps < -slack):
        return RankingPrinciple(holds=True, descending=True, reason=f"no table of {n} rows loses by more TP.")
    if not np.any(steps > slack):
        return RankingPrinciple(holds=True, descending=False, reason=f"no table of {n} rows gains by more TP.")
    return RankingPrinciple(holds=False, descending=True, reason=f"some tables of {n} rows lose by more TP.")


# What every measure of a confusion table has: its value at counts, and whether the ranking principle holds for it.


class Measure(ABC):
    """A measure of how well decisions match labels, as a function of the counts TP, FP, FN, TN.

    Examples
    --------
    >>> from stakes.utility import F1, Measure
    >>> isinstance(F1(), Measure)
    True
    """

    #: Whether a higher value is a better one.
    higher_is_better: ClassVar[bool] = True
    #: Name of the function of ``sklearn.metrics`` with the same value, if there is one.
    sklearn_name: ClassVar[str | None] = None

    def value(
        self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, *, zero_division: float = 0.0
    ) -> Floats:
        """Value at counts, which broadcast against each other and need not be whole numbers.

        Parameters
        ----------
        tp, fp, fn, tn : array_like
            True positives, false positives, false negatives, true negatives.
        zero_division : float, default 0
            Value in place of 0/0.

        Returns
        -------
        ndarray

        Examples
        --------
        >>> from stakes.utility import F1, Precision
        >>> float(F1().value(tp=6, fp=2, fn=4, tn=8))
        0.6666666666666666
        >>> Precision().value([1, 0], [1, 0], 2, 3, zero_division=1).tolist()
        [0.5, 1.0]
        """
        hits, alarms, misses, rejections = (np.asarray(x, dtype=float) for x in (tp, fp, fn, tn))
        return self._value(hits, alarms, misses, rejections, zero_division)

    @abstractmethod
    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        """Value at clean counts."""

    def ranking(self) -> RankingPrinciple:
        """Whether the best way to act on k rows is to act on the k most probable ones, and why.

        Returns
        -------
        RankingPrinciple

        Notes
        -----
        It is so where the value never falls when a false positive and a false negative become a true positive and a
        true negative (TP monotonicity; arXiv:1505.01802, Theorem 1).

        Examples
        --------
        >>> from stakes.utility import MCC
        >>> MCC().ranking().holds
        True
        """
        return RankingPrinciple(holds=True, descending=True, reason=self._why)

    _why: ClassVar[str] = "the value rises with TP at fixed k and fixed number of positives."


class LinearRatio(Measure):
    """A ratio of two linear functions of TP, of the number of decisions to act and of the number of positives."""

    _coefficients: ClassVar[tuple[Coefficients, Coefficients]]

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d of (c0 + c1 TP/n + c2 k/n + c3 P/n) / (d0 + d1 TP/n + d2 k/n + d3 P/n)."""
        return self._coefficients

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        acted, positives = tp + fp, tp + fn
        rows = acted + fn + tn
        above, below = (
            factors[0] * rows + factors[1] * tp + factors[2] * acted + factors[3] * positives
            for factors in self.coefficients
        )
        return ratio(above, below, zero_division)

    def ranking(self) -> RankingPrinciple:
        """Whether the best way to act on k rows is to act on the most (or the least) probable ones, and why."""
        return linear_ranking(*self.coefficients)


def class_rates(tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> tuple[Floats, Floats]:
    """Rates of true positives and of true negatives."""
    return ratio(tp, tp + fn, zero_division), ratio(tn, tn + fp, zero_division)


def ratio(above: Floats, below: Floats, fill: float | Floats) -> Floats:
    """Quotient with ``fill`` where the denominator is zero."""
    empty = np.asarray(below) == 0.0
    if not empty.any():
        return np.asarray(above / below)
    out = np.array(np.broadcast_to(fill, np.broadcast_shapes(np.shape(above), empty.shape)), dtype=float)
    return np.divide(above, below, out=out, where=np.broadcast_to(~empty, out.shape))


# Measures that are ratios of linear functions of the counts: F-beta, Jaccard, precision, recall, accuracy, your own.
#
# The formulas are those of the definitions; Table 1 of arXiv:1505.01802 misprints several (see each class).


@dataclass(frozen=True)
class FBeta(LinearRatio):
    """F-beta: (1 + b) TP / ((1 + b) TP + b FN + FP) with b = beta squared; beta > 1 favours recall.

    Parameters
    ----------
    beta : float
        Positive. For beta = 0 use :class:`Precision`.

    Notes
    -----
    Table 1 of arXiv:1505.01802 prints F_{1/beta} as the definition and the right formula in u, v, p beside it; its
    equation (3) has FN for TP in the first term of the denominator.

    Examples
    --------
    >>> from stakes.utility import FBeta
    >>> round(float(FBeta(2).value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.625
    """

    beta: float
    sklearn_name: ClassVar[str | None] = "fbeta_score"

    def __post_init__(self) -> None:
        number = check_number(self.beta, "beta")
        if not (math.isfinite(number) and number > 0.0):
            raise ValueError(f"beta must be finite and > 0, got {self.beta}; for beta = 0 use Precision.")
        if number > SQUARED_WELL[1]:
            raise ValueError(
                f"beta must be at most {SQUARED_WELL[1]:g}, got {self.beta}; so large a beta asks for Recall."
            )
        if number != self.beta or not isinstance(self.beta, int):  # a whole number is shown as one
            object.__setattr__(self, "beta", number)

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        square = self.beta**2
        return (0.0, 1.0 + square, 0.0, 0.0), (0.0, 0.0, 1.0, square)


@dataclass(frozen=True, init=False, repr=False)
class F1(FBeta):
    """F1: harmonic mean of precision and recall, 2 TP / (2 TP + FN + FP).

    Examples
    --------
    >>> from stakes.utility import F1
    >>> F1().value(tp=[1, 0], fp=[1, 0], fn=[1, 0], tn=[0, 3], zero_division=1).tolist()
    [0.5, 1.0]
    """

    sklearn_name: ClassVar[str | None] = "f1_score"

    def __init__(self) -> None:
        super().__init__(1.0)

    def __repr__(self) -> str:
        return "F1()"


@dataclass(frozen=True)
class Jaccard(LinearRatio):
    """Jaccard coefficient: TP / (TP + FP + FN).

    Notes
    -----
    On one table F1 = 2 J / (1 + J), but the decisions that maximise their expectations differ.

    Examples
    --------
    >>> from stakes.utility import Jaccard
    >>> float(Jaccard().value(tp=6, fp=2, fn=4, tn=8))
    0.5
    """

    sklearn_name: ClassVar[str | None] = "jaccard_score"
    _coefficients: ClassVar = (0.0, 1.0, 0.0, 0.0), (0.0, -1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Precision(LinearRatio):
    """Precision: TP / (TP + FP). Acting on the one most probable row maximises it.

    Examples
    --------
    >>> from stakes.utility import Precision
    >>> float(Precision().value(tp=6, fp=2, fn=4, tn=8))
    0.75
    """

    sklearn_name: ClassVar[str | None] = "precision_score"
    _coefficients: ClassVar = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Recall(LinearRatio):
    """Recall: TP / (TP + FN). Acting on every row maximises it.

    Examples
    --------
    >>> from stakes.utility import Recall
    >>> float(Recall().value(tp=6, fp=2, fn=4, tn=8))
    0.6
    """

    sklearn_name: ClassVar[str | None] = "recall_score"
    _coefficients: ClassVar = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Accuracy(LinearRatio):
    """Accuracy: (TP + TN) / n. Acting where the probability exceeds one half maximises it.

    Examples
    --------
    >>> from stakes.utility import Accuracy
    >>> float(Accuracy().value(tp=6, fp=2, fn=4, tn=8))
    0.7
    """

    sklearn_name: ClassVar[str | None] = "accuracy_score"
    _coefficients: ClassVar = (1.0, 2.0, -1.0, -1.0), (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class FractionalLinear(LinearRatio):
    """Any ratio (c0 + c1 u + c2 v + c3 p) / (d0 + d1 u + d2 v + d3 p), with u = TP/n, v = k/n and p = P/n.

    Parameters
    ----------
    c : tuple of float
        Coefficients (c0, c1, c2, c3) of the numerator; c3 may be left out.
    d : tuple of float
        Coefficients (d0, d1, d2, d3) of the denominator, which must not be negative at any table.

    Notes
    -----
    The paper's condition "c1 > d1" for the ranking principle (arXiv:1505.01802, Proposition 8) is not sufficient;
    :meth:`ranking` tests the sign of c1 D - d1 N, with N and D the numerator and the denominator.

    Examples
    --------
    The counter-example, with positive coefficients and c1 > d1:

    >>> from stakes.utility import FractionalLinear
    >>> FractionalLinear(c=(4, 4, 4), d=(2, 3, 3, 2)).ranking().holds
    False
    """

    c: tuple[float, ...]
    d: tuple[float, ...]

    def __post_init__(self) -> None:
        c, d = read_numbers(self.c, "c"), read_numbers(self.d, "d")
        if len(c) not in {3, 4} or len(d) != 4:
            raise ValueError(f"c must hold 3 or 4 numbers and d 4, got {len(c)} and {len(d)}.")
        if not all(map(math.isfinite, c + d)) or not any(d):
            raise ValueError(f"c and d must be finite and d not all zero, got c = {self.c}, d = {self.d}.")
        lowest = min(d[0], d[0] + d[2], d[0] + d[3], sum(d))
        if lowest < 0.0:
            raise ValueError(f"the denominator must not be negative at any table, got d = {self.d} with {lowest:g}.")
        object.__setattr__(self, "c", (*c, 0.0)[:4])
        object.__setattr__(self, "d", d)

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        return (self.c[0], self.c[1], self.c[2], self.c[3]), (self.d[0], self.d[1], self.d[2], self.d[3])


def read_numbers(values: Any, name: str) -> tuple[float, ...]:
    """Read numbers, one for each count."""
    array = to_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.")
    return tuple(check_number(value, name) for value in array.tolist())


# Measures of both classes' error rates, and of agreement: balanced accuracy, means of rates, correlation, counting.
#
# The formulas are those of the definitions; Table 1 of arXiv:1505.01802 misprints several (see each class).


@dataclass(frozen=True)
class BalancedAccuracy(Measure):
    """Balanced accuracy (AM): the mean of the true positive rate and the true negative rate.

    Parameters
    ----------
    absent : {"zero_division", "drop"}, default "zero_division"
        What the rate of a class without rows is: ``zero_division``, or left out of the mean, as scikit-learn does.

    Notes
    -----
    The formula in u, v, p of Table 1 of arXiv:1505.01802 lacks the factor 1/2.

    Examples
    --------
    >>> from stakes.utility import BalancedAccuracy
    >>> float(BalancedAccuracy().value(tp=6, fp=2, fn=4, tn=8))
    0.7
    >>> float(BalancedAccuracy(absent="drop").value(tp=0, fp=2, fn=0, tn=8))
    0.8
    """

    absent: Literal["zero_division", "drop"] = "zero_division"
    sklearn_name: ClassVar[str | None] = "balanced_accuracy_score"

    def __post_init__(self) -> None:
        check_choice(self.absent, "absent", ("zero_division", "drop"))

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        up, down = class_rates(tp, fp, fn, tn, math.nan if self.absent == "drop" else zero_division)
        if self.absent == "drop":
            up, down = np.where(np.isnan(up), down, up), np.where(np.isnan(down), up, down)
            up, down = (np.where(np.isnan(rate), zero_division, rate) for rate in (up, down))
        return 0.5 * (up + down)


@dataclass(frozen=True)
class FowlkesMallows(Measure):
    """Geometric mean of precision and recall (G-TP/PR): TP / sqrt((TP + FN) (TP + FP)).

    Zero where just one of the two factors is; ``zero_division`` where nothing is positive and nothing is acted on.

    Examples
    --------
    >>> from stakes.utility import FowlkesMallows
    >>> round(float(FowlkesMallows().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.67082
    """

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        positives, acted = tp + fn, tp + fp
        fill = np.where((positives == 0.0) & (acted == 0.0), zero_division, 0.0)
        return ratio(tp, np.sqrt(positives * acted) + 0.0 * tn, fill)


@dataclass(frozen=True)
class GMean(Measure):
    """Geometric mean of the true positive rate and the true negative rate.

    Notes
    -----
    The formula in u, v, p of Table 1 of arXiv:1505.01802 lacks the square root.

    Examples
    --------
    >>> from stakes.utility import GMean
    >>> round(float(GMean().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.69282
    """

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        up, down = class_rates(tp, fp, fn, tn, zero_division)
        return np.sqrt(up * down)


@dataclass(frozen=True)
class HMean(Measure):
    """Harmonic mean of the true positive rate and the true negative rate; zero where one of them is.

    Examples
    --------
    >>> from stakes.utility import HMean
    >>> round(float(HMean().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.685714
    """

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        up, down = class_rates(tp, fp, fn, tn, zero_division)
        return ratio(2.0 * up * down, up + down, 0.0)


@dataclass(frozen=True)
class QMean(Measure):
    """Quadratic mean: 1 - ((1 - TPR)^2 + (1 - TNR)^2) / 2.

    Notes
    -----
    Table 1 of arXiv:1505.01802 prints ((p - u) / 2)^2 and ((v - u) / 2)^2 for ((p - u) / p)^2 and
    ((v - u) / (1 - p))^2.

    Examples
    --------
    >>> from stakes.utility import QMean
    >>> round(float(QMean().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.9
    """

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        up, down = class_rates(tp, fp, fn, tn, zero_division)
        return 1.0 - 0.5 * ((1.0 - up) ** 2 + (1.0 - down) ** 2)


@dataclass(frozen=True)
class MCC(Measure):
    """Matthews correlation: (TP TN - FP FN) / sqrt((TP+FP) (TP+FN) (TN+FP) (TN+FN)); zero where that is 0/0.

    Examples
    --------
    >>> from stakes.utility import MCC
    >>> round(float(MCC().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.408248
    """

    sklearn_name: ClassVar[str | None] = "matthews_corrcoef"

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        del zero_division
        spread = np.sqrt((tp + fp) * (tp + fn)) * np.sqrt((tn + fp) * (tn + fn))  # the product of all four may overflow
        return ratio(tp * tn - fp * fn, spread, 0.0)


@dataclass(frozen=True)
class Kappa(Measure):
    """Cohen's kappa: agreement beyond chance, 2 (TP TN - FP FN) / ((TP+FP) (FP+TN) + (TP+FN) (FN+TN)); zero for 0/0.

    Examples
    --------
    >>> from stakes.utility import Kappa
    >>> round(float(Kappa().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.4
    """

    sklearn_name: ClassVar[str | None] = "cohen_kappa_score"

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        del zero_division
        chance = (tp + fp) * (fp + tn) + (tp + fn) * (fn + tn)
        return ratio(2.0 * (tp * tn - fp * fn), chance, 0.0)


@dataclass(frozen=True)
class SquaredErrorInCounting(Measure):
    """Squared error of the number of rows acted on as an estimate of the number of positives: ((FN - FP) / n)^2.

    A loss: the decisions minimise its expectation, (variance + (mean - k)^2) / n^2. It knows nothing of which rows are
    acted on, so the most probable ones are one optimum among many.

    Notes
    -----
    Table 1 of arXiv:1505.01802 prints "v + p" where (v - p)^2 is meant.

    Examples
    --------
    >>> from stakes.utility import SquaredErrorInCounting
    >>> round(float(SquaredErrorInCounting().value(tp=6, fp=2, fn=4, tn=8)), 6)
    0.01
    """

    higher_is_better: ClassVar[bool] = False
    _why: ClassVar[str] = "the value does not depend on TP at fixed k: every set of k rows is as good."

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        gap, rows = fn - fp, tp + fp + fn + tn
        return ratio(gap * gap, rows * rows, zero_division)


# Measures of the user's own, and measures by name.

MEASURES: dict[str, Callable[[], Measure]] = {
    "f1": F1,
    "jaccard": Jaccard,
    "balanced_accuracy": BalancedAccuracy,
    "fowlkes_mallows": FowlkesMallows,
    "g_mean": GMean,
    "h_mean": HMean,
    "q_mean": QMean,
    "mcc": MCC,
    "kappa": Kappa,
    "precision": Precision,
    "recall": Recall,
    "accuracy": Accuracy,
    "squared_error_in_counting": SquaredErrorInCounting,
}


@dataclass(frozen=True)
class ConfusionMeasure(Measure):
    """A measure of your own: any function of the four counts.

    Parameters
    ----------
    f : callable
        ``f(tp, fp, fn, tn)`` on arrays that broadcast against each other. Where it is nan (0/0) the measure is
        ``zero_division``.
    smooth : bool, default False
        Whether f is smooth and takes counts that are not whole numbers, so that large batches may use Gauss rules
        instead of the slow exact sum.
    rises_with_tp : bool, optional
        State that f never falls when a false positive and a false negative become a true positive and a true negative
        (False: that it never rises). Unless stated, this is checked on small batches and left open on large ones.
    higher_is_better : bool, default True
        Whether a higher value is a better one.
    name : str, optional
        Name to show; by default that of the function.

    Notes
    -----
    Beyond 300 rows the tables of negligible probability are left out, and nobody can know how large f is there: the
    error bound is then an estimate, and nothing is certified.

    Examples
    --------
    >>> from stakes.utility import ConfusionMeasure, optimal_decisions
    >>> profit = ConfusionMeasure(lambda tp, fp, fn, tn: 10 * tp - 3 * fp + 0 * fn + 0 * tn, name="profit")
    >>> optimal_decisions([0.9, 0.4, 0.2], profit).tolist()
    [1, 1, 0]
    """

    f: Callable[[Floats, Floats, Floats, Floats], Floats]
    smooth: bool = field(default=False, kw_only=True)
    rises_with_tp: bool | None = field(default=None, kw_only=True)
    # the class says True for every other measure
    higher_is_better: bool = field(default=True, kw_only=True)  # type: ignore[misc]
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ValueError(f"f must be a function of tp, fp, fn and tn, got {self.f!r}.")
        check_flag(self.smooth, "smooth")
        check_flag(self.higher_is_better, "higher_is_better")
        if self.rises_with_tp is not None:
            check_flag(self.rises_with_tp, "rises_with_tp")
        try:
            signature = inspect.signature(self.f)
        except ValueError:  # of some functions in C nobody knows
            return
        try:
            signature.bind(1, 1, 1, 1)
        except TypeError as error:
            raise ValueError(f"f must be a function of tp, fp, fn and tn, got {self.f!r}: {error}.") from None

    def _value(self, tp: Floats, fp: Floats, fn: Floats, tn: Floats, zero_division: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.asarray(self.f(tp, fp, fn, tn))
        if found.dtype == object and None in found.ravel().tolist():
            raise ValueError("f must return a number or nan at every table, got None.")
        value = to_floats(found, "f")
        shape = np.broadcast_shapes(tp.shape, fp.shape, fn.shape, tn.shape)
        if value.ndim > len(shape) or np.broadcast_shapes(value.shape, shape) != shape:
            raise ValueError(f"f must broadcast over counts of shape {shape}, got a value of shape {value.shape}.")
        if np.any(np.isinf(value)):
            raise ValueError(f"f must be finite or nan at every table, got {value[np.isinf(value)].flat[0]}.")
        return np.broadcast_to(np.where(np.isnan(value), zero_division, value), shape)

    def ranking(self) -> RankingPrinciple:
        """Whether the best k rows are the k most probable ones: as stated, or left open."""
        if self.rises_with_tp is None:
            return RankingPrinciple(holds=None, descending=True, reason="nothing is stated about f.")
        return RankingPrinciple(
            holds=True, descending=self.rises_with_tp == self.higher_is_better, reason="stated by rises_with_tp."
        )

    def __repr__(self) -> str:
        return f"ConfusionMeasure({self.name or getattr(self.f, '__name__', 'f')})"


def get_measure(measure: Measure | type[Measure] | str) -> Measure:
    """Find a measure by name, or make one from its class.

    Parameters
    ----------
    measure : Measure, class or str
        "f1", "fbeta:2", "jaccard", "balanced_accuracy", "fowlkes_mallows", "g_mean", "h_mean", "q_mean", "mcc",
        "kappa", "precision", "recall", "accuracy" or "squared_error_in_counting".

    Returns
    -------
    Measure

    Raises
    ------
    ValueError
        If there is no measure of that name.

    Examples
    --------
    >>> from stakes.utility import get_measure
    >>> get_measure("fbeta:2")
    FBeta(beta=2.0)
    """
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, type) and issubclass(measure, Measure):
        return measure()
    if isinstance(measure, str):
        name, _, beta = measure.partition(":")
        if name == "fbeta" and beta:
            return FBeta(_number(beta, measure))
        if measure in MEASURES:
            return MEASURES[measure]()
    choices = ", ".join(map(repr, [*MEASURES, "fbeta:2"]))
    meant = near(str(measure).removesuffix("_score"), [*MEASURES, "fbeta:2"])
    raise ValueError(f"measure must be a measure of stakes.utility or one of {choices}, got {brief(measure)}{meant}")


def name_measure(measure: Measure) -> str:
    """Return the name by which :func:`get_measure` finds a measure."""
    if type(measure) is FBeta:
        return f"fbeta:{measure.beta!r}"
    names = [name for name, kind in MEASURES.items() if kind() == measure]
    if not names:
        raise ValueError(f"measure must be one that has a name to be kept, got {measure!r}: keep .threshold alone.")
    return names[0]


def _number(text: str, measure: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"measure must have a number after 'fbeta:', got {measure!r}.") from None

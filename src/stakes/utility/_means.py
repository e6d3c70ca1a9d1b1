"""Measures of both classes' error rates, and of agreement: balanced accuracy, means of rates, correlation, counting.

The formulas are those of the definitions; Table 1 of arXiv:1505.01802 misprints several (see each class).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from stakes.core.validation import check_choice
from stakes.utility._measure import Measure, class_rates, ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


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
        product = (tp + fp) * (tp + fn) * ((tn + fp) * (tn + fn))
        return ratio(tp * tn - fp * fn, np.sqrt(product), 0.0)


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

"""Measures that are ratios of linear functions of the counts: F-beta, Jaccard, precision, recall, accuracy, your own.

The formulas are those of the definitions; Table 1 of arXiv:1505.01802 misprints several (see each class).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from stakes.core.validation import SQUARED_WELL, check_number, to_array
from stakes.utility._measure import Coefficients, LinearRatio


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

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        return (0.0, 1.0, 0.0, 0.0), (0.0, -1.0, 1.0, 1.0)


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

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        return (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)


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

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        return (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


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

    @property
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d."""
        return (1.0, 2.0, -1.0, -1.0), (1.0, 0.0, 0.0, 0.0)


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
        c, d = _coefficients(self.c, "c"), _coefficients(self.d, "d")
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


def _coefficients(values: Any, name: str) -> tuple[float, ...]:
    """Read numbers, one for each count."""
    array = to_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.")
    return tuple(check_number(value, name) for value in array.tolist())

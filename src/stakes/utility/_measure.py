"""What every measure of a confusion table has: its value at counts, and whether the ranking principle holds for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from stakes.utility._ranking import RankingPrinciple, linear_ranking

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

Coefficients = tuple[float, float, float, float]


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

    @property
    @abstractmethod
    def coefficients(self) -> tuple[Coefficients, Coefficients]:
        """Coefficients c and d of (c0 + c1 TP/n + c2 k/n + c3 P/n) / (d0 + d1 TP/n + d2 k/n + d3 P/n)."""

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

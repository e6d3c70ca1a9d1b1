"""Measures of the user's own, and measures by name."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.remedies import brief, near
from stakes.core.validation import check_flag
from stakes.utility._means import (
    MCC,
    BalancedAccuracy,
    FowlkesMallows,
    GMean,
    HMean,
    Kappa,
    QMean,
    SquaredErrorInCounting,
)
from stakes.utility._measure import Measure
from stakes.utility._ranking import RankingPrinciple
from stakes.utility._ratios import F1, Accuracy, FBeta, Jaccard, Precision, Recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

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
            value = np.asarray(self.f(tp, fp, fn, tn), dtype=float)
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

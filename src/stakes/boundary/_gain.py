"""What uncertainty adds to a single threshold, on rows that neither boundary was fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._results import Tabular
from stakes._validation import check_unit
from stakes.boundary._folds import chosen_out_of_fold, out_of_fold, split_rows, tune_precision

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Bools, Rows
    from stakes.boundary._settings import Settings

_DRAWS = 2000
_NAMES = {"recall": "recall", "precision": "precision", "false_positives": "minus the false positive rate",
          "f_beta": "F-beta", "cost": "minus the cost per row"}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Gain(Tabular):
    """Value of a goal with and without uncertainty, out of fold, and the paired interval of the difference.

    Parameters
    ----------
    measure : str
        What is compared, larger is better.
    value, single : float
        With uncertainty, and by one threshold on the score; under a precision bound both aim so that they keep it out
        of fold.
    difference, low, high : float
        ``value - single`` and its interval.
    confidence_level : float
        Of the interval.
    precision, single_precision : float
        Precision of both, out of fold.

    Examples
    --------
    >>> from stakes.boundary import Gain
    >>> gain = Gain("recall", 0.42, 0.35, 0.07, 0.05, 0.09, 0.95, 0.8, 0.8)
    >>> print(gain.verdict)
    Uncertainty helps on these data: recall 0.42 with it, 0.35 by a single threshold on the score (difference ...).
    """

    measure: str
    value: float
    single: float
    difference: float
    low: float
    high: float
    confidence_level: float
    precision: float
    single_precision: float

    @property
    def helps(self) -> bool:
        """Whether the interval lies above zero."""
        return self.low > 0.0

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        said = (
            f"{self.measure} {self.value:.4g} with it, {self.single:.4g} by a single threshold on the score "
            f"(difference {self.difference:+.4g}, {self.confidence_level:.4g} interval {self.low:+.4g} to "
            f"{self.high:+.4g})"
        )
        if self.helps:
            return f"Uncertainty helps on these data: {said}."
        if self.high < 0.0:
            return f"Uncertainty does not help on these data, it harms: {said}."
        return f"Uncertainty does not help on these data as far as they can tell: {said}."

    def _records(self) -> list[dict[str, Any]]:
        names = ("measure", "value", "single", "difference", "low", "high", "confidence_level")
        return [{name: getattr(self, name) for name in (*names, "precision", "single_precision")}]

    def __repr__(self) -> str:
        return (
            f"Gain({self.measure} {self.value:.4g} against {self.single:.4g}, difference {self.difference:+.4g} "
            f"[{self.low:+.4g}, {self.high:+.4g}] at {self.confidence_level:g}, out of fold)"
        )


def estimate_gain(rows: Rows, settings: Settings, *, confidence_level: float, cv: int, random_state: Any) -> Gain:
    """Fit both to all folds but one, decide about that one, and resample the rows with their pairs of decisions."""
    check_unit(confidence_level, "confidence_level", open_low=True, open_high=True)
    if rows.weight is not None:
        raise ValueError("gain needs rows without weights: repeated rows are not independent.")
    rng = np.random.default_rng(random_state)
    folds = split_rows(len(rows), cv, rng)
    bound = settings.problem.min_precision
    if settings.rivals and bound is not None:
        # a choice made on all rows has seen the fold: choose again without it, and let the single threshold aim so too
        with_u = chosen_out_of_fold(rows, settings.rivals, folds, bound, rng)
        alone = chosen_out_of_fold(rows, [settings.alone()], folds, bound, rng)
    else:
        with_u, alone = (_decisions(rows, one, folds) for one in (settings, settings.alone()))
    cells = _cells(rows, with_u, alone)
    draws = rng.multinomial(int(cells.sum()), cells / cells.sum(), size=_DRAWS)
    problem = settings.problem
    value, single = (float(one[0]) for one in _values(problem, cells[None, :]))
    differences = np.subtract(*_values(problem, draws))
    tail = 50.0 * (1.0 - confidence_level)
    low, high = np.nanpercentile(differences, [tail, 100.0 - tail])
    precisions = [rows.count(one & rows.y) / max(rows.count(one), 1) for one in (with_u, alone)]
    measure = _NAMES[problem.goal]
    return Gain(measure, value, single, value - single, float(low), float(high), confidence_level, *precisions)


def _decisions(rows: Rows, settings: Settings, folds: list[NDArray[np.intp]]) -> Bools:
    held = out_of_fold(rows, settings, folds)
    bound = settings.problem.min_precision
    return held.selected() if bound is None else tune_precision(held, bound).selected


def _cells(rows: Rows, one: Bools, two: Bools) -> NDArray[np.int64]:
    """Counts of label and the two decisions, as eight cells."""
    place = 4 * rows.y.astype(np.int64) + 2 * one + two
    return np.bincount(place, minlength=8)


def _values(problem: Problem, cells: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Value of the goal for both decisions, for every row of counts."""
    counts = cells.reshape(-1, 2, 2, 2).astype(np.float64)
    ups, total = counts[:, 1].sum((1, 2)), counts.sum((1, 2, 3))
    out = []
    for other in (3, 2):
        chosen = counts.sum(axis=other)
        fp, tp = chosen[:, 0, 1], chosen[:, 1, 1]
        out.append(_value(problem, tp, fp, ups, total))
    return out[0], out[1]


def _value(problem: Problem, tp: Any, fp: Any, ups: Any, total: Any) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        if problem.goal == "recall":
            return np.asarray(tp / ups)
        if problem.goal == "precision":
            return np.asarray(np.where(tp + fp > 0.0, tp / (tp + fp), 0.0))
        if problem.goal == "false_positives":
            return np.asarray(-fp / (total - ups))
        if problem.goal == "f_beta":
            beta2 = float(problem.beta2)
            return np.asarray((1.0 + beta2) * tp / (tp + fp + beta2 * ups))
        c = float(problem.cost)
        return np.asarray(-(c * fp + (1.0 - c) * (ups - tp)) / total)

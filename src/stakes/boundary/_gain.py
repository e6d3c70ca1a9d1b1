"""What uncertainty adds to a single threshold, on rows that neither boundary was fitted to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._folds import decide_out_of_fold, split_rows
from stakes.core.random_state import generator
from stakes.core.validation import check_level
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from stakes.boundary._folds import Decided
    from stakes.boundary._options import Floats
    from stakes.boundary._problem import Problem
    from stakes.boundary._rows import Rows
    from stakes.boundary._settings import Settings

_HIGHEST_RATE = 0.95  # of the bound: the price of precision has no limit as the margin nears it
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
        With uncertainty, and by one threshold on the score, out of fold, each at the point where its constraint just
        holds.
    difference, low, high : float
        ``value - single`` and its interval.
    confidence_level : float
        Of the interval.
    precision, single_precision : float
        Precision of both out of fold; a precision bound is met exactly, by mixing two neighbouring aims.

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
    """Fit both to all folds but one, decide about that one, and compare what they reach at the same constraint."""
    from scipy.special import ndtri

    check_level(confidence_level)
    if rows.weight is not None:
        raise ValueError("gain needs rows without weights: repeated rows are not independent.")
    rng = generator(random_state)
    folds = split_rows(len(rows), cv, rng)
    problem = settings.problem
    with_u = settings.rivals or (settings,)
    both = [decide_out_of_fold(rows, choices, folds, rng) for choices in (with_u, (settings.alone(),))]
    results = [_reached_with_influence(problem, rows, one) for one in both]
    difference = results[0][0] - results[1][0]
    influence = results[0][1] - results[1][1]
    # Nadeau and Bengio's correction: folds share their training rows, and other rows would fit other boundaries
    refitted = 1.0 + cv / (cv - 1.0)
    spread = math.sqrt(refitted * len(rows) * float(np.var(influence)))
    half = -float(ndtri(0.5 * (1.0 - confidence_level))) * spread
    low, high = difference - half, difference + half
    precisions = [float(one.share[rows.y].sum() / max(one.share.sum(), 1e-300)) for one in both]
    measure = _NAMES[problem.goal]
    return Gain(measure, results[0][0], results[1][0], difference, low, high, confidence_level, *precisions)


def _reached_with_influence(problem: Problem, rows: Rows, one: Decided) -> tuple[float, Floats]:
    """Value of the goal, and what each row adds to it to first order."""
    counts = np.array([one.share[rows.y].sum(), one.share.sum(), rows.y.sum(), len(rows)])
    steps = np.diag(1e-4 * (1.0 + counts))[:3]  # the number of rows is no chance
    slope = [
        (_reached(problem, one.rate, counts + step) - _reached(problem, one.rate, counts - step)) / (2.0 * step.sum())
        for step in steps
    ]
    influence = (slope[0] * rows.y + slope[1]) * one.share + slope[2] * rows.y
    return _reached(problem, one.rate, counts), influence


def _reached(problem: Problem, rate: float, counts: Floats) -> float:
    """Value of the goal for a boundary, moved along its own path until its constraint just holds.

    ``counts``: true positives, selected rows, positives, rows.

    Two boundaries that keep a bound by different margins cannot be compared as they are: what is left over of the
    constraint is turned into the goal at the rate of positives at the boundary's margin. There the goal is stationary
    in the boundary, so that the noise of fitting enters the comparison at second order only.
    """
    tp, n, ups, total = counts.tolist()
    if problem.goal == "recall":
        return (tp + _spare_positives(problem, rate, tp, n, total)) / max(ups, 1e-300)
    if problem.goal == "f_beta":
        beta2 = float(problem.beta2)
        return (1.0 + beta2) * tp / max(n + beta2 * ups, 1e-300)
    if problem.goal == "cost":
        c = float(problem.cost)
        return -(c * (n - tp) + (1.0 - c) * (ups - tp)) / total
    least = float(problem.min_recall or 0) * ups
    fewer = (tp - least) / rate if rate > 0.0 else 0.0  # rows that the margin can do without
    if problem.goal == "precision":
        return (tp - rate * fewer) / max(n - fewer, 1e-300)
    return -(n - tp - (1.0 - rate) * fewer) / max(total - ups, 1e-300)


def _spare_positives(problem: Problem, rate: float, tp: float, n: float, total: float) -> float:
    """True positives that what is left of the constraint would buy at the margin (negative: what it overdrew)."""
    spare = math.inf
    if problem.min_precision is not None:
        bound = float(problem.min_precision)
        rate = min(rate, _HIGHEST_RATE * bound)
        if 0.0 < n < 0.999 * total:
            spare = (tp - bound * n) * rate / (bound - rate)
    if problem.max_selected is not None:
        most = problem.max_selected
        spare = min(spare, rate * ((float(most) if isinstance(most, int) else float(most) * total) - n))
    return spare if math.isfinite(spare) else 0.0

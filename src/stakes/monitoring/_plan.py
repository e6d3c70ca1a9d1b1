"""How many days a rise takes to be seen: the recursion of the evidence, fed with what each day is expected to add."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.base.validation import check_number, check_whole
from stakes.monitoring import _evidence
from stakes.outputs.result_table import Tabular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stakes.monitoring._monitor import CostMonitor
    from stakes.monitoring._question import Question, Reference

    Floats = _evidence.Floats

MOST_DAYS = 3650  # a rise that takes longer is not seen
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)


@dataclass(frozen=True)
class WatchPlan(Tabular):
    """Days from a rise to its alarm, about the median.

    Parameters
    ----------
    delays : dict of tuple to int or None
        By the rise and the day on which it begins; None where it is not seen within ten years.
    rows_per_day : int
        Rows of each day.
    budget, mean : float
        The mean cost above which the evidence grows, and that of the reference.

    Examples
    --------
    >>> from stakes import evaluate
    >>> from stakes.evaluation import KeptEvaluation
    >>> from stakes.monitoring import CostMonitor, plan_watch
    >>> scores = [0.1, 0.8, 0.3, 0.6, 0.2] * 200
    >>> kept = KeptEvaluation.of(evaluate([0, 1, 1, 0, 0] * 200, {"a": scores}, costs=(0.2, 0.6)))
    >>> plan = plan_watch(CostMonitor((0.2, 0.6), reference=kept), rows_per_day=200)
    >>> plan.delays[0.5, 1] < plan.delays[0.2, 1]
    True
    """

    delays: dict[tuple[float, int], int | None]
    rows_per_day: int
    budget: float
    mean: float

    def _records(self) -> list[dict[str, Any]]:
        return [{"rise": rise, "begins": day, "days": found} for (rise, day), found in self.delays.items()]


def plan_watch(
    monitor: CostMonitor,
    *,
    rows_per_day: int,
    rises: Sequence[float] = (0.1, 0.2, 0.5),
    begins: Sequence[int] = (1, 201),
) -> WatchPlan:
    """Say how many days a monitor would take to see that the cost has risen.

    Parameters
    ----------
    monitor : CostMonitor
        With a reference, whose mean and spread are those of the rows to come. Units of rows by sums are taken for
        exact ones, which are somewhat faster.
    rows_per_day : int
        Labelled rows of each day.
    rises : sequence of float, default (0.1, 0.2, 0.5)
        How much dearer than the reference: 0.2 is a fifth. Dear rows become more, and not dearer.
    begins : sequence of int, default (1, 201)
        The days on which the rise begins.

    Returns
    -------
    WatchPlan

    Raises
    ------
    ValueError
        For a monitor without a reference, and numbers out of bounds.

    Examples
    --------
    >>> from stakes.monitoring import CostMonitor, plan_watch
    >>> plan_watch(CostMonitor(0.2, budget=0.1), rows_per_day=200)
    Traceback (most recent call last):
    ValueError: monitor must have a reference=, whose mean and spread a plan needs.
    """
    asked = monitor._question
    if asked.reference is None:
        raise ValueError("monitor must have a reference=, whose mean and spread a plan needs.")
    rows = check_whole(rows_per_day, "rows_per_day", 1)
    found: dict[tuple[float, int], int | None] = {}
    for rise in rises:
        if not 0.0 < check_number(rise, "rises") < math.inf:
            raise ValueError(f"rises must hold shares > 0, got {rise!r}.")
        for day in begins:
            found[float(rise), check_whole(day, "begins", 1)] = delay(asked, asked.reference, rows, rise, day)
    return WatchPlan(found, rows, monitor.budget, asked.reference.mean)


def delay(asked: Question, known: Reference, rows: int, rise: float, begins: int) -> int | None:
    """Days until the evidence reaches the alarm where each day adds what is expected of it."""
    usual, risen = (_expected(asked, known, rows, factor) for factor in (1.0, 1.0 + rise))
    capital = np.full(len(_evidence.BETS), -math.inf)
    for day in range(1, begins + MOST_DAYS):
        capital = _evidence.advance(capital, usual if day < begins else risen, day)
        if day >= begins and _evidence.log_evidence(capital, day) >= -math.log(asked.alpha):
            return day - begins + 1
    return None


def _expected(asked: Question, known: Reference, rows: int, factor: float) -> Floats:
    """Expected log factor of each bet for a day whose dear rows are so many times as many."""
    mean, square = factor * known.mean, factor * known.square
    if asked.unit != "day":
        return _evidence.row_factors(rows, rows * mean, rows * square, asked.budget)
    means = mean + math.sqrt(max(square - mean * mean, 0.0) / rows) * _NODES
    factors = _evidence.day_factors(np.clip(means, 0.0, asked.largest), asked.budget)
    return np.asarray(_WEIGHTS @ factors / _WEIGHTS.sum())

"""What each row contributes to the error of a metric: its influence, from which the closed-form intervals follow.

An estimate differs from its population value by nearly a sum over rows. For a mean the terms are the centred values;
for a ratio they follow by the delta method. Their second and fourth powers give the interval, their differences that of
a paired difference, their sums by cluster that of clustered rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import refuse_weighing
from stakes.core.regret import row_losses
from stakes.inference._dependence import Design

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.outcome import Origin
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


NEEDED_FOR_SKILL = 5  # rows of each class


@dataclass(frozen=True)
class Cells:
    """Rows, or groups of rows of one class and one score: sums of their weights and of the squares of these."""

    y: Bools
    score: Floats
    weight: Floats
    square: Floats
    data: EvaluationData
    fixed_prevalence: bool

    @property
    def plain(self) -> bool:
        """Whether every cell is one row of weight one."""
        return self.data.sample is not None and self.data.sample.weight is None

    @property
    def table(self) -> ScoreTable:
        """Weights of the classes at each distinct score of the data."""
        return self.data.table

    @cached_property
    def level(self) -> NDArray[np.intp]:
        """Place of each cell's score in the table: only rankings need it."""
        if self.data.sample is not None:
            return _places(self.data._weighted_rows().score)
        used = np.concatenate([self.table.negatives, self.table.positives]) > 0.0
        return np.tile(np.arange(len(self.table.scores)), 2)[used]

    def design(self, codes: NDArray[np.intp] | None = None, lags: int | str | None = None) -> Design:
        """How the cells weigh, and which rows depend on each other."""
        return Design(self.y, self.weight, self.square, self.fixed_prevalence, codes, lags, self.origin)

    @property
    def origin(self) -> Origin | None:
        """Where the rows come from, if an outcome weighs them."""
        return None if self.data.sample is None else self.data.sample.origin

    @cached_property
    def total(self) -> float:
        return float(self.weight.sum())

    @cached_property
    def masses(self) -> tuple[float, float]:
        """Weights of the two classes."""
        positive = float(self.weight[self.y].sum())
        return float(self.weight[~self.y].sum()), positive

    @cached_property
    def rows(self) -> tuple[float, float]:
        """How many rows of each class the cells hold."""
        count = self.weight**2 / self.square
        return float(count[~self.y].sum()), float(count[self.y].sum())

    @property
    def prevalence(self) -> float:
        return self.masses[1] / self.total

    @property
    def mean_score(self) -> float:
        """Of all rows, those of unknown class too."""
        if self.origin is None:
            return float(np.dot(self.weight, self.score)) / self.total
        return float(np.average(self.origin.score[self.origin.outcome.present], weights=self.origin.counted))


@dataclass(frozen=True)
class Influence:
    """An estimate, and the derivative of its value to the share of each cell, centred.

    ``carried`` is what each row itself adds to the estimate, zero for rows that cost nothing; ``most`` is the largest
    that a row of each class can add; ``least`` how many rows of each class an interval needs; ``ends`` the least and
    the largest value that the estimate can have.
    """

    value: float
    slope: Floats
    carried: Floats
    most: tuple[float, float]
    least: int = 0
    ends: tuple[float, float] = (-math.inf, math.inf)

    def minus(self, other: Influence) -> Influence:
        """Return the influence on the difference from another estimate on the same rows."""
        carried = self.carried - other.carried
        ends = self.ends[0] - other.ends[1], self.ends[1] - other.ends[0]
        return replace(self, value=self.value - other.value, slope=self.slope - other.slope, carried=carried, ends=ends)


def cells_of(data: EvaluationData, *, fixed_prevalence: bool) -> Cells:
    """Cells of clean rows or of the table that stands for them."""
    if data.sample is not None:
        rows = data._weighted_rows()
        if rows.weight is None:
            ones = np.broadcast_to(1.0, len(rows.y))
            return Cells(rows.y, rows.score, ones, ones, data, fixed_prevalence)
        return Cells(rows.y, rows.score, rows.weight, rows.weight**2, data, fixed_prevalence)
    table = data.table
    refuse_weighing(table, "an interval from a table")
    classes, squares = (table.negatives, table.positives), (table.negatives_squared, table.positives_squared)
    used = [column > 0.0 for column in classes]
    y = np.repeat([False, True], [np.count_nonzero(mine) for mine in used])
    score = np.concatenate([table.scores[mine] for mine in used])
    weight, square = (
        np.concatenate([column[mine] for column, mine in zip(each, used, strict=True)]) for each in (classes, squares)
    )
    return Cells(y, score, weight, square, data, fixed_prevalence or table.fixed_prevalence)


def _places(score: Floats) -> NDArray[np.intp]:
    """Place of each score among the distinct ones, by a sort: to look each one up would leave the cache every time."""
    order = np.argsort(score)
    ordered = score[order]
    places = np.empty(len(score), dtype=np.intp)
    places[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1]))
    return places


def mean_influence(cells: Cells, values: Floats, best: tuple[float, float], worst: tuple[float, float]) -> Influence:
    """Influence on a weighted mean; ``best`` and ``worst`` are the values of perfect and of opposite decisions."""
    value = float(np.dot(cells.weight, values)) / cells.total
    if not math.isfinite(value):
        return undefined(cells, value)
    most = abs(worst[0] - best[0]), abs(worst[1] - best[1])
    carried = values - np.where(cells.y, best[1], best[0])
    return Influence(value, cells.design().centred(values), carried, most)


def loss_influence(cells: Cells, costs: CostDistribution, rule: Rule) -> Influence:
    """Influence on the integral of regret."""
    worst = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    found = mean_influence(cells, row_losses(cells.y, cells.score, costs, rule), (0.0, 0.0), worst)
    return replace(found, ends=(0.0, max(worst)))


def skill_influence(cells: Cells, costs: CostDistribution, rule: Rule, reference: float | None) -> Influence:
    """Influence on 1 - loss / loss of the reference, by the delta method."""
    own = loss_influence(cells, costs, rule)
    # the prevalence is the best constant, so that its own error moves the reference's loss to second order only
    guess = cells.prevalence if reference is None else reference
    base = loss_influence(replace(cells, score=np.full(len(cells.y), guess)), costs, "score")
    if base.value == 0.0:
        return undefined(cells, math.nan)
    ratio = own.value / base.value
    slope = (ratio * base.slope - own.slope) / base.value
    most = own.most[0] / base.value, own.most[1] / base.value
    return Influence(1.0 - ratio, slope, -own.carried / base.value, most, NEEDED_FOR_SKILL, (-math.inf, 1.0))


def undefined(cells: Cells, value: float) -> Influence:
    """Influence on a value that is infinite or unknown."""
    nothing = np.full(len(cells.y), np.nan)
    return Influence(value, nothing, nothing, (0.0, 0.0))

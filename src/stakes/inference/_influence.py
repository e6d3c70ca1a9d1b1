"""What each row contributes to the error of a metric: its influence, from which the closed-form intervals follow.

An estimate differs from its population value by nearly a sum over rows. For a mean the terms are the centred values;
for a ratio they follow by the delta method. Their second and fourth powers give the interval, their differences that of
a paired difference, their sums by cluster that of clustered rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import refuse_weighing
from stakes.core.regret import check_rule, row_losses
from stakes.core.validation import check_unit
from stakes.inference._dependence import Design
from stakes.metrics import METRICS
from stakes.metrics._scorers import check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.outcome import Origin
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Options = Mapping[str, Any]


NEEDED_FOR_SKILL = 5  # rows of each class


@dataclass(frozen=True)
class Cells:
    """Rows, or groups of rows of one class and one score: sums of their weights and of the squares of these."""

    y: Bools
    score: Floats
    weight: Floats
    square: Floats
    data: EvaluationData
    fixed_prevalence: bool = False

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
    that a row of each class can add; ``least`` how many rows of each class an interval needs.
    """

    value: float
    slope: Floats
    carried: Floats
    most: tuple[float, float]
    least: int = 0

    def scaled(self, factor: float) -> Influence:
        """Return the influence on factor > 0 times the estimate."""
        most = factor * self.most[0], factor * self.most[1]
        return Influence(factor * self.value, factor * self.slope, factor * self.carried, most, self.least)

    def minus(self, other: Influence) -> Influence:
        """Return the influence on the difference from another estimate on the same rows."""
        carried = self.carried - other.carried
        return replace(self, value=self.value - other.value, slope=self.slope - other.slope, carried=carried)


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
    weight = np.concatenate([table.negatives, table.positives])
    square = np.concatenate([table.negatives_squared, table.positives_squared])
    used = weight > 0.0
    y = np.repeat([False, True], len(table.scores))[used]
    score = np.tile(table.scores, 2)[used]
    return Cells(y, score, weight[used], square[used], data, fixed_prevalence or table.fixed_prevalence)


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
    return mean_influence(cells, row_losses(cells.y, cells.score, costs, rule), (0.0, 0.0), worst)


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
    return Influence(1.0 - ratio, slope, -own.carried / base.value, most, NEEDED_FOR_SKILL)


def undefined(cells: Cells, value: float) -> Influence:
    """Influence on a value that is infinite or unknown."""
    nothing = np.full(len(cells.y), np.nan)
    return Influence(value, nothing, nothing, (0.0, 0.0))


def _skill(name: str) -> Callable[[Cells, Options], Influence]:
    def influence(cells: Cells, options: Options) -> Influence:
        metric, free = METRICS[name], dict(options)
        rule, reference = check_rule(free.pop("rule", "score")), free.pop("reference", None)
        _refuse_optimal(rule)
        if metric.costs is None:
            raise ValueError(f"{name} has no cost distribution.")
        arguments = {"bounds": (0.0, 1.0), **free} if metric.bounded else free
        if reference is not None:
            reference = check_unit(reference, "reference")
        return skill_influence(cells, metric.costs(**arguments), rule, reference)

    return influence


def _net_benefit(cells: Cells, options: Options) -> Influence:
    t = check_unit(options["threshold"], "threshold", open_high=True)
    rule = check_rule(options.get("rule", "score"))
    _refuse_optimal(rule)
    acting = cells.score >= (t if isinstance(rule, str) else rule)
    odds = t / (1.0 - t)
    return mean_influence(cells, np.where(acting, np.where(cells.y, 1.0, -odds), 0.0), (0.0, 1.0), (-odds, 0.0))


AREAS = ("roc_auc_score", "auc_regret")  # of another form: see _area_rows
CLOSED_FORMS: dict[str, Callable[[Cells, Options], Influence]] = {
    "net_benefit_score": _net_benefit,
    "bounded_brier_skill_score": _skill("bounded_brier_skill_score"),
    "bounded_log_skill_score": _skill("bounded_log_skill_score"),
    "regret_skill_score": _skill("regret_skill_score"),
}


def metric_influence(name: str, cells: Cells, options: Options) -> Influence:
    """Influence on a registered metric of two classes, or raise for one without a closed form."""
    if name in METRICS:
        check_parameters(METRICS[name], dict(options))
    if name in CLOSED_FORMS:
        return CLOSED_FORMS[name](cells, options)
    if name in METRICS and METRICS[name].per_sample:
        _refuse_optimal(options.get("rule", "score"))
        function = METRICS[name].function
        values = np.asarray(function(cells.y, cells.score, per_sample=True, **options), dtype=np.float64)
        ends = function([0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0], per_sample=True, **options)
        return mean_influence(cells, values, (float(ends[0]), float(ends[1])), (float(ends[2]), float(ends[3])))
    known = sorted({*CLOSED_FORMS, *AREAS, *(key for key, entry in METRICS.items() if entry.per_sample)})
    raise ValueError(
        f"metric must have a closed-form interval ({', '.join(known)}), got {name!r}; bootstrap serves the others."
    )


def _refuse_optimal(rule: Any) -> None:
    if rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )

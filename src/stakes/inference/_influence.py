"""What each row contributes to the error of a metric: its influence, from which every closed-form interval follows.

An estimate differs from its population value by nearly a sum over rows. For a mean the terms are the centred values;
for a ratio they follow by the delta method; for AUC they are the placements of DeLong. Their squares give the standard
error, their differences that of a paired difference, their sums by cluster that of clustered rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._kernel import check_rule, row_losses
from stakes._validation import check_unit
from stakes.metrics import METRICS
from stakes.metrics._scorers import check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from stakes._inputs import EvaluationData
    from stakes._kernel import Rule
    from stakes.costs import CostDistribution
    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Options = Mapping[str, Any]


@dataclass(frozen=True)
class Cells:
    """Rows, or groups of rows of one class and one score: sums of the powers 0 to 3 of their weights."""

    y: Bools
    score: Floats
    weight: Floats
    square: Floats
    cube: Floats
    count: Floats
    table: ScoreTable
    level: NDArray[np.intp]
    fixed_prevalence: bool = False

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @property
    def masses(self) -> tuple[float, float]:
        """Weights of the two classes."""
        positive = float(self.weight[self.y].sum())
        return float(self.weight[~self.y].sum()), positive

    @property
    def prevalence(self) -> float:
        return self.masses[1] / self.total


@dataclass(frozen=True)
class Influence:
    """An estimate, and the derivative of its value to the share of each cell, centred.

    ``carries`` marks the cells that cost anything; ``unseen`` is how far one more row of each class could move the
    estimate at most, times the number of rows; ``by_class`` says that the derivative is centred in each class, so that
    each class has its own degrees of freedom; ``ratio`` that a few rows may dominate numerator and denominator.
    """

    value: float
    slope: Floats
    carries: Bools
    unseen: tuple[float, float]
    by_class: bool = False
    ratio: bool = False

    def scaled(self, factor: float) -> Influence:
        """Return the influence on factor > 0 times the estimate."""
        unseen = factor * self.unseen[0], factor * self.unseen[1]
        return replace(self, value=factor * self.value, slope=factor * self.slope, unseen=unseen)


def cells_of(data: EvaluationData, *, fixed_prevalence: bool) -> Cells:
    """Cells of clean rows or of the table that stands for them."""
    table = data.table
    if data.sample is not None:
        rows = data._weighted_rows()
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        level = np.searchsorted(table.scores, rows.score)
        ones = np.ones(len(rows.y))
        return Cells(rows.y, rows.score, weight, weight**2, weight**3, ones, table, level, fixed_prevalence)
    weight = np.concatenate([table.negatives, table.positives])
    square = np.concatenate([table.negatives_squared, table.positives_squared])
    level = np.tile(np.arange(len(table.scores)), 2)
    used = weight > 0.0
    level, weight, square = level[used], weight[used], square[used]
    y = np.repeat([False, True], len(table.scores))[used]
    fixed = fixed_prevalence or table.fixed_prevalence
    # a table keeps two powers of the weights: the others are exact where tied rows weigh the same
    return Cells(y, table.scores[level], weight, square, square**2 / weight, weight**2 / square, table, level, fixed)


def mean_influence(cells: Cells, values: Floats, best: tuple[float, float], worst: tuple[float, float]) -> Influence:
    """Influence on a weighted mean; ``best`` and ``worst`` are the values of perfect and of opposite decisions."""
    value = float(np.dot(cells.weight, values)) / cells.total
    if not math.isfinite(value):
        return _undefined(cells, value)
    unseen = abs(worst[0] - best[0]), abs(worst[1] - best[1])
    carries = values != np.where(cells.y, best[1], best[0])
    return Influence(value, _centred(cells, values), carries, unseen, cells.fixed_prevalence)


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
        return _undefined(cells, math.nan)
    ratio = own.value / base.value
    slope = (ratio * base.slope - own.slope) / base.value
    unseen = own.unseen[0] / base.value, own.unseen[1] / base.value
    return Influence(1.0 - ratio, slope, own.carries, unseen, cells.fixed_prevalence, ratio=True)


def auc_influence(cells: Cells) -> Influence:
    """Influence on the area under the ROC curve: the placements of DeLong, DeLong and Clarke-Pearson (1988)."""
    negative, positive = cells.masses
    if not (negative > 0.0 and positive > 0.0):
        return _undefined(cells, math.nan)
    table, level = cells.table, cells.level
    below = np.cumsum(table.negatives) - 0.5 * table.negatives
    above = positive - np.cumsum(table.positives) + 0.5 * table.positives
    placement = np.where(cells.y, below[level] / negative, above[level] / positive)
    value = float(np.dot(table.positives, below)) / (negative * positive)
    shares = negative / cells.total, positive / cells.total
    slope = (placement - value) / np.where(cells.y, shares[1], shares[0])
    return Influence(value, slope, placement != 1.0, (1.0 / shares[0], 1.0 / shares[1]), by_class=True)


def _undefined(cells: Cells, value: float) -> Influence:
    size = len(cells.y)
    return Influence(value, np.full(size, np.nan), np.ones(size, dtype=bool), (0.0, 0.0))


def _centred(cells: Cells, values: Floats) -> Floats:
    if not cells.fixed_prevalence:
        return values - float(np.dot(cells.weight, values)) / cells.total
    centred = np.empty(len(values))
    for mine in (cells.y, ~cells.y):
        if mine.any():
            centred[mine] = values[mine] - np.average(values[mine], weights=cells.weight[mine])
    return centred


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


def _auc(cells: Cells, _: Options) -> Influence:
    return auc_influence(cells)


def _auc_regret(cells: Cells, _: Options) -> Influence:
    """AUC = 1 - regret / (2 pi (1 - pi))."""
    area, rate = auc_influence(cells), cells.prevalence
    spread = 2.0 * rate * (1.0 - rate)
    moving = 0.0 if cells.fixed_prevalence else 2.0 * (1.0 - 2.0 * rate) * (1.0 - area.value)
    slope = moving * (cells.y - rate) - spread * area.slope
    unseen = spread * area.unseen[0], spread * area.unseen[1]
    return Influence(spread * (1.0 - area.value), slope, area.carries, unseen, cells.fixed_prevalence)


CLOSED_FORMS: dict[str, Callable[[Cells, Options], Influence]] = {
    "net_benefit_score": _net_benefit,
    "bounded_brier_skill_score": _skill("bounded_brier_skill_score"),
    "bounded_log_skill_score": _skill("bounded_log_skill_score"),
    "regret_skill_score": _skill("regret_skill_score"),
    "roc_auc_score": _auc,
    "auc_regret": _auc_regret,
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
    known = sorted({*CLOSED_FORMS, *(key for key, entry in METRICS.items() if entry.per_sample)})
    raise ValueError(
        f"metric must have a closed-form interval ({', '.join(known)}), got {name!r}; bootstrap serves the others."
    )


def _refuse_optimal(rule: Any) -> None:
    if rule == "optimal":
        raise ValueError(
            'rule="optimal" is fitted to the same rows and has no closed-form interval; compare by "score".'
        )

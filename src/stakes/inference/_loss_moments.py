"""Standard errors of mean losses and of their paired differences, in closed form.

A mean loss is a weighted mean of per-row losses, so its variance is a sum of squares; weights are linearised (ratio
estimator). Under a stated prevalence the class totals are known, and each class is centred on its own mean.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from stakes._kernel import losses_by_score, row_losses
from stakes.score_table import blocks, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes._kernel import Rule
    from stakes.costs import CostDistribution
    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True)
class LossMoments:
    """Mean integrated losses of several decision rules on the same rows, and the covariance of those means."""

    means: Floats
    covariance: Floats

    def standard_error(self, index: int) -> float:
        return math.sqrt(self.covariance[index, index])

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Mean and standard error of first minus second."""
        cov = self.covariance
        if self.means[first] == self.means[second] == math.inf:
            return math.nan, math.nan
        total = cov[first, first] + cov[second, second]
        variance = total - 2.0 * cov[first, second]
        gap = float(self.means[first] - self.means[second])
        # what two equal rules leave is rounding, not a difference
        if math.isfinite(gap) and abs(gap) <= _ROUNDING * (abs(self.means[first]) + abs(self.means[second])):
            gap = 0.0
        return gap, math.nan if math.isnan(variance) else math.sqrt(variance) if variance > _ROUNDING * total else 0.0


def table_moments(table: ScoreTable, costs: CostDistribution, rule: Rule) -> LossMoments:
    """Moments of one model's integrated cost from its table, then of "always act" and "never act"."""
    constants = np.array([[float(costs.negative_loss(np.inf)), 0.0], [0.0, float(costs.positive_loss(-np.inf))]])
    scores = table.pav_by_score() if rule == "optimal" else table.scores
    plain: Rule = "score" if rule == "optimal" else rule
    weights, squares = (table.negatives, table.positives), (table.negatives_squared, table.positives_squared)
    totals = np.array([table.total_negatives, table.total_positives])
    sums = np.zeros((2, 3))  # class x rule
    sums[:, 1:] = np.where(totals[:, None] > 0.0, totals[:, None] * constants, 0.0)
    for part in blocks(len(scores)):
        for k, loss in enumerate(losses_by_score(scores[part], costs, plain)):
            sums[k, 0] += weighted_sum(weights[k][part], loss)
    means = sums.sum(axis=0) / totals.sum()
    centres = _centres(sums, totals, means, fixed_prevalence=table.fixed_prevalence)
    powers = np.zeros((2, 3))  # class x power of the centred loss
    for part in blocks(len(scores)):
        for k, loss in enumerate(losses_by_score(scores[part], costs, plain)):
            with np.errstate(invalid="ignore"):  # infinite losses: their covariance is set to nan below
                spread = loss - centres[k, 0]
            square = squares[k][part]
            powers[k] += [square.sum(), weighted_sum(square, spread), weighted_sum(square, spread * spread)]
    products = np.zeros((3, 3))
    with np.errstate(invalid="ignore"):
        for (total, first, second), spread in zip(powers, constants - centres[:, 1:], strict=True):
            products[0, 0] += second
            products[0, 1:] += first * spread
            products[1:, 1:] += total * np.outer(spread, spread)
    products[1:, 0] = products[0, 1:]
    return _moments(means, products, totals.sum(), table.n_rows)


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    return math.nan if rule == "optimal" else table_moments(table, costs, rule).standard_error(0)


def _centres(sums: Floats, totals: Floats, means: Floats, *, fixed_prevalence: bool) -> Floats:
    """What each class's losses are centred on: the mean of all, or of the class where its total is known."""
    if not fixed_prevalence:
        return np.stack([means, means])
    return np.divide(sums, totals[:, None], out=np.zeros_like(sums), where=totals[:, None] > 0.0)


def _moments(means: Floats, products: Floats, total: float, n: int) -> LossMoments:
    covariance = products * (n / (n - 1) if n > 1 else math.nan) / total**2
    infinite = ~np.isfinite(means)
    covariance[infinite, :] = covariance[:, infinite] = np.nan
    return LossMoments(means, covariance)


@dataclass(frozen=True)
class PairedRows:
    """Rows that several models share."""

    y: Bools
    scores: Sequence[Floats]
    weight: Floats | None
    fixed_prevalence: bool = False

    def losses(self, part: slice, costs: CostDistribution, rule: Rule, *, constants: bool) -> Floats:
        """Integrated costs: one line for each model, then "always act" and "never act" where asked for."""
        positive = self.y[part]
        lines = [row_losses(positive, score[part], costs, rule) for score in self.scores]
        if constants:
            lines.append(np.where(positive, 0.0, float(costs.negative_loss(np.inf))))
            lines.append(np.where(positive, float(costs.positive_loss(-np.inf)), 0.0))
        return np.array(lines)


def loss_moments(rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False) -> LossMoments:
    """Means of the models' integrated costs, and the covariance of those means; ``constants`` adds two rules."""
    count = len(rows.scores) + 2 * constants
    sums, masses = np.zeros((2, count)), np.zeros(2)
    for part in blocks(len(rows.y)):
        loss = rows.losses(part, costs, rule, constants=constants)
        for k, mine in enumerate(_class_weights(rows, part)):
            masses[k] += mine.sum()
            sums[k] += [weighted_sum(mine, line) for line in loss]
    means = sums.sum(axis=0) / masses.sum()
    centres = _centres(sums, masses, means, fixed_prevalence=rows.fixed_prevalence)
    products = np.zeros((count, count))
    for part in blocks(len(rows.y)):
        loss = rows.losses(part, costs, rule, constants=constants)
        with np.errstate(invalid="ignore"):  # infinite losses: their covariance is set to nan below
            if rows.fixed_prevalence:
                loss -= np.where(rows.y[part], centres[1][:, None], centres[0][:, None])
            else:
                loss -= means[:, None]
            if rows.weight is not None:
                loss *= rows.weight[part]
            products += loss @ loss.T
    return _moments(means, products, float(masses.sum()), len(rows.y))


def _class_weights(rows: PairedRows, part: slice) -> tuple[Floats, Floats]:
    """Weights of the negatives and of the positives, zero elsewhere."""
    positive = rows.y[part].astype(np.float64)
    if rows.weight is None:
        return 1.0 - positive, positive
    positive *= rows.weight[part]
    return rows.weight[part] - positive, positive


def normal_interval(estimate: float, standard_error: float, confidence_level: float) -> tuple[float, float]:
    """Two-sided normal interval; nan where the standard error is."""
    half = NormalDist().inv_cdf(0.5 + confidence_level / 2.0) * standard_error
    return estimate - half, estimate + half


def normal_p_value(estimate: float, standard_error: float) -> float:
    """Two-sided p-value of the null hypothesis that the estimate is zero."""
    if math.isnan(standard_error) or math.isnan(estimate):
        return math.nan
    if standard_error == 0.0:
        return 1.0 if estimate == 0.0 else 0.0
    return math.erfc(abs(estimate) / standard_error / math.sqrt(2.0))

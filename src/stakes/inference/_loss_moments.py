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

from stakes._kernel import losses_by_level, row_losses
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


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    if rule == "optimal" or table.n_rows < 2:
        return math.nan
    negative, positive = losses_by_level(table, costs, rule)
    centre0 = _mean(table.negatives, negative)
    centre1 = _mean(table.positives, positive)
    if not (math.isfinite(centre0) and math.isfinite(centre1)):
        return math.nan
    if not table.fixed_prevalence:
        share = table.prevalence
        centre0 = centre1 = share * centre1 + (1.0 - share) * centre0
    squares = weighted_sum(table.negatives_squared, (negative - centre0) ** 2)
    squares += weighted_sum(table.positives_squared, (positive - centre1) ** 2)
    return math.sqrt(squares * table.n_rows / (table.n_rows - 1)) / table.total


def _mean(weight: Floats, loss: Floats) -> float:
    total = float(weight.sum())
    return weighted_sum(weight, loss) / total if total > 0.0 else 0.0


@dataclass(frozen=True)
class PairedRows:
    """Rows that several models share, or groups of rows with one total and total squared weight each."""

    y: Bools
    scores: Sequence[Floats]
    weight: Floats | None
    squared: Floats | None = None
    n_rows: int | None = None
    fixed_prevalence: bool = False

    def losses(self, part: slice, costs: CostDistribution, rule: Rule, *, constants: bool) -> Floats:
        """Integrated costs: one line for each model, then "always act" and "never act" where asked for."""
        positive = self.y[part]
        lines = [row_losses(positive, score[part], costs, rule) for score in self.scores]
        if constants:
            lines.append(np.where(positive, 0.0, float(costs.negative_loss(np.inf))))
            lines.append(np.where(positive, float(costs.positive_loss(-np.inf)), 0.0))
        return np.array(lines)

    def weights(self, part: slice) -> tuple[Floats, Floats]:
        """Weights of the rows, and the roots of their squared weights."""
        weight = np.ones(len(self.y[part])) if self.weight is None else self.weight[part]
        return weight, weight if self.squared is None else np.sqrt(self.squared[part])


def loss_moments(rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False) -> LossMoments:
    """Means of the models' integrated costs, and the covariance of those means; ``constants`` adds two rules."""
    count = len(rows.scores) + 2 * constants
    sums, masses = np.zeros((2, count)), np.zeros(2)
    for part in blocks(len(rows.y)):
        loss, (weight, _) = rows.losses(part, costs, rule, constants=constants), rows.weights(part)
        for k, mine in enumerate((~rows.y[part], rows.y[part])):
            masses[k] += weight[mine].sum()
            sums[k] += loss[:, mine] @ weight[mine]
    means = sums.sum(axis=0) / masses.sum()
    centres = np.stack([means, means])
    if rows.fixed_prevalence:
        centres = np.divide(sums, masses[:, None], out=np.zeros_like(sums), where=masses[:, None] > 0.0)
    products = np.zeros((count, count))
    for part in blocks(len(rows.y)):
        loss, (_, root) = rows.losses(part, costs, rule, constants=constants), rows.weights(part)
        with np.errstate(invalid="ignore"):  # infinite losses: their covariance is set to nan below
            spread = (loss - centres[rows.y[part].astype(np.intp)].T) * root
            products += spread @ spread.T
    n = len(rows.y) if rows.n_rows is None else rows.n_rows
    covariance = products * (n / (n - 1) if n > 1 else math.nan) / masses.sum() ** 2
    infinite = ~np.isfinite(means)
    covariance[infinite, :] = covariance[:, infinite] = np.nan
    return LossMoments(means, covariance)


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
    return 2.0 * NormalDist().cdf(-abs(estimate) / standard_error)

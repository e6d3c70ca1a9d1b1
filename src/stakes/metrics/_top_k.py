"""Acting on the K highest scores: what a fixed budget finds, misses and costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.exact import as_fraction, refuse_one
from stakes.core.inputs import ranking_data
from stakes.core.validation import to_array, to_floats
from stakes.costs import as_costs
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostsLike

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TopKScores(Tabular):
    """What acting on the K highest scores gives, for each K, with the luck of the draw among tied scores.

    Parameters
    ----------
    k : ndarray
        Budgets: numbers of rows, or total weight.
    true_positives, true_positives_worst, true_positives_best : ndarray
        Expected number of positives among the K, and its bounds over all ways to break ties at the K-th score.
    precision, recall : ndarray
        Expected values; nan where K is 0 or there are no positives.
    cost : ndarray
        Expected regret per row; nan without costs.
    net_benefit : ndarray
        Expected net benefit; nan unless the cost is a single ratio below 1.

    Examples
    --------
    >>> from stakes.metrics import top_k_scores
    >>> top_k_scores([0, 1, 1, 0], [0.9, 0.8, 0.3, 0.3], k=3)
    TopKScores(k=3: 1.5 positives, precision 0.5, recall 0.75)
    """

    k: Floats
    true_positives: Floats
    true_positives_worst: Floats
    true_positives_best: Floats
    precision: Floats
    recall: Floats
    cost: Floats
    net_benefit: Floats

    def _records(self) -> list[dict[str, Any]]:
        names = tuple(self.__dataclass_fields__)
        return [{name: float(getattr(self, name)[i]) for name in names} for i in range(len(self.k))]

    def __repr__(self) -> str:
        lines = (
            f"k={k:g}: {tp:g} positives, precision {p:.4g}, recall {r:.4g}"
            for k, tp, p, r in zip(self.k, self.true_positives, self.precision, self.recall, strict=True)
        )
        return f"TopKScores({'; '.join(lines)})"


def top_k_scores(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    k: ArrayLike,
    costs: CostsLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> TopKScores:
    """Precision, recall, cost and net benefit of acting on the K highest scores, as under a fixed budget.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    k : int, float or array_like
        One or more budgets: counts of rows, 0 <= k <= number of rows (total weight, if rows are weighted; then
        fractions count), or shares of them in (0, 1), rounded down to whole rows where rows are not weighted. The
        number 1.0, which can mean either, is refused: 1 is one row.
    costs : CostDistribution, tuple of float, or float, optional
        How much each cost ratio counts; (low, high) stands for ``costs.Uniform(low, high)``, c for ``costs.Fixed(c)``.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives; the total weight is kept.

    Returns
    -------
    TopKScores
        Expected values over random tie-breaking, with the best and worst number of positives.

    Raises
    ------
    ValueError
        For invalid data, and for a budget that is negative, exceeds the total, is 1.0, or is a share of less than one
        row.

    Notes
    -----
    arXiv:2504.04528, Appendix H, with ties at the K-th score. For an unknown budget, averaging recall over all
    budgets gives prevalence/2 + (1 - prevalence) AUC: that is the question AUC answers.

    Examples
    --------
    >>> from stakes.metrics import top_k_scores
    >>> result = top_k_scores([0, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.3, 0.1], k=[1, 2], costs=0.2)
    >>> result.recall.tolist()
    [0.0, 0.5]
    >>> top_k_scores([0, 1, 1, 0, 0], [0.9, 0.8, 0.3, 0.3, 0.1], k=0.4)
    TopKScores(k=2: 1 positives, precision 0.5, recall 0.5)
    """
    table = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence).table
    budget = _budgets(k, table)
    bad = ~((budget >= 0.0) & (budget <= table.total * (1.0 + 1e-12)))
    if budget.ndim != 1 or np.any(bad):
        shown = budget[bad][0] if budget.ndim == 1 else k
        raise ValueError(f"k must lie between 0 and the total weight {table.total:g}, got {shown}.")
    expected, worst, best = _positives_found(table, budget)
    alarms, misses = budget - expected, table.total_positives - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(budget > 0.0, expected / budget, np.nan)
        recall = expected / table.total_positives if table.total_positives > 0.0 else np.full(len(budget), np.nan)
    cost, net_benefit = _cost(alarms, misses, expected, costs)
    return TopKScores(budget, expected, worst, best, precision, recall, cost / table.total, net_benefit / table.total)


def _budgets(k: Any, table: ScoreTable) -> Floats:
    """Counts of rows or weight; shares of them become such counts."""
    array = to_array(k, "k")
    budget = np.atleast_1d(to_floats(array, "k"))
    if array.dtype.kind in "biu" or budget.ndim != 1:
        return budget
    given = list(k) if isinstance(k, (list, tuple)) else np.atleast_1d(array).tolist()
    budget = budget.copy()
    for i in np.flatnonzero((budget > 0.0) & (budget <= 1.0)):
        if budget[i] < 1.0:
            budget[i] = _of_share(given[i], table)
        elif table.total != 1.0:
            refuse_one(given[i], "k", f"pass k={table.total:.15g}")
    return budget


def _of_share(share: Any, table: ScoreTable) -> float:
    """The weight that a share is of; whole rows where none is weighted."""
    exact = as_fraction(share, "k")
    columns = (table.positives, table.positives_squared), (table.negatives, table.negatives_squared)
    if not all(np.array_equal(weight, squares) for weight, squares in columns):
        return float(exact) * table.total
    rows = math.floor(exact * int(table.total))
    if rows < 1:
        raise ValueError(
            f"k={share} is a share, here of less than one of {table.total:g} rows: pass a larger share, or the whole "
            "number of rows."
        )
    return float(rows)


def _positives_found(table: ScoreTable, budget: Floats) -> tuple[Floats, Floats, Floats]:
    """Expected, least and most positives among the highest scores of a given total weight."""
    positives, weight = table.positives[::-1], (table.positives + table.negatives)[::-1]
    taken, found = np.append(0.0, np.cumsum(weight)), np.append(0.0, np.cumsum(positives))
    level = np.clip(np.searchsorted(taken, budget, side="left") - 1, 0, len(weight) - 1)
    rest = np.minimum(budget - taken[level], weight[level])
    expected = found[level] + rest * positives[level] / weight[level]
    best = found[level] + np.minimum(rest, positives[level])
    worst = found[level] + np.maximum(0.0, rest - (weight[level] - positives[level]))
    return expected, worst, best


def _cost(alarms: Floats, misses: Floats, found: Floats, costs: CostsLike | None) -> tuple[Floats, Floats]:
    undefined = np.full(len(alarms), np.nan)
    if costs is None:
        return undefined, undefined
    measure = as_costs(costs)
    c = measure.mean()
    net_benefit = found - alarms * c / (1.0 - c) if measure.low == measure.high and c < 1.0 else undefined
    return c * alarms + (1.0 - c) * misses, net_benefit

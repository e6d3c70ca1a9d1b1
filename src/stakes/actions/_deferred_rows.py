"""What each row costs with and without the option to defer, and how often it is deferred, at one cost ratio or many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.actions._pair import best_pair
from stakes.actions._zone import ACT, DEFER, action_costs, between, capacity_price, capped_actions, face_actions
from stakes.core.regret import row_losses
from stakes.core.score_table import ScoreTable
from stakes.core.validation import BinarySample
from stakes.costs import Fixed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.actions._zone import Actions
    from stakes.costs import CostDistribution, Deferral

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]


@dataclass(frozen=True)
class DeferredRows:
    """Costs of the rows with and without the option, of what is decided, and of mistakes about what is deferred.

    ``deferred`` and ``acted`` are the shares of the cost ratios at which each row is deferred and acted on.
    """

    total: Floats
    without: Floats
    decided: Floats
    errors: Floats
    deferred: Floats
    acted: Floats


def deferred_rows(
    sample: BinarySample, costs: CostDistribution, deferral: Deferral, capacity: float | None
) -> DeferredRows:
    """Take the scores at face value."""
    if not isinstance(costs, Fixed):
        return _over_costs(sample, costs, deferral)
    if capacity is None:
        actions = face_actions(sample.score, costs.c, deferral)
    else:
        price = capacity_price(ScoreTable.from_sample(sample), costs.c, deferral, capacity)
        actions = capped_actions(sample.score, costs.c, deferral, price)
    return _of_actions(sample, actions, row_losses(sample.y, sample.score, costs, "score"), costs.c, deferral)


def cross_fitted_rows(
    sample: BinarySample,
    costs: CostDistribution,
    deferral: Deferral,
    capacity: float | None,
    folds: Integers,
) -> DeferredRows:
    """Decide each fold by what the other folds are recalibrated to, or by the pair that is best on them."""
    if capacity is None:
        score = sample.score.copy()
        for table, mine in _left_out(sample, folds):
            place = np.searchsorted(table.scores, sample.score[mine], side="right") - 1
            score[mine] = table.pav_by_score()[np.maximum(place, 0)]
        return deferred_rows(BinarySample(sample.y, score, sample.weight), costs, deferral, None)
    c = costs.low  # a capacity has one cost ratio
    actions, alone = np.empty((2, len(sample.y)), dtype=np.int8)
    for table, mine in _left_out(sample, folds):
        for column, cap in ((actions, capacity), (alone, 0.0)):
            pair = best_pair(table, c, deferral, cap)
            column[mine] = between(sample.score[mine], pair.low, pair.high)
    without = action_costs(sample.y, alone, c, deferral)
    return _of_actions(sample, actions, without, c, deferral)


def _left_out(sample: BinarySample, folds: Integers) -> Iterator[tuple[ScoreTable, NDArray[np.bool_]]]:
    """Table of the other rows, and which rows are left out, fold by fold."""
    for k in range(int(folds.max()) + 1):
        mine = folds == k
        weight = None if sample.weight is None else sample.weight[~mine]
        yield ScoreTable.from_sample(BinarySample(sample.y[~mine], sample.score[~mine], weight)), mine


def _of_actions(sample: BinarySample, actions: Actions, without: Floats, c: float, deferral: Deferral) -> DeferredRows:
    total, deferred = action_costs(sample.y, actions, c, deferral), actions == DEFER
    decided, errors = np.where(deferred, 0.0, total), np.where(deferred, total - deferral.fee, 0.0)
    acted = (actions == ACT).astype(np.float64)
    return DeferredRows(total, without, decided, errors, deferred.astype(np.float64), acted)


def _over_costs(sample: BinarySample, costs: CostDistribution, deferral: Deferral) -> DeferredRows:
    """Averages over the cost ratios, in closed form."""
    total, without = (
        row_losses(sample.y, sample.score, each, "score") / costs.mass for each in (deferral.applied_to(costs), costs)
    )
    rising, falling, acted = (part / costs.mass for part in deferral.where_deferred(costs, sample.score))
    share, a, b = rising + falling, deferral.false_positive_rate, deferral.false_negative_rate
    errors = np.where(sample.y, b * falling, a * rising)
    return DeferredRows(total, without, total - deferral.fee * share - errors, errors, share, acted)

"""What acting on class probabilities costs where there are many actions: by model, class and action, with intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.actions._action_result import ActionEvaluation, ModelCosts
from stakes.actions._estimates import mean_estimates
from stakes.actions._problem import read_rows
from stakes.core.row_order import check_same_order
from stakes.core.sums import blocks
from stakes.core.validation import check_level
from stakes.inference import check_contest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from stakes.actions._problem import ActionRows
    from stakes.costs import CostsLike

    Floats = NDArray[np.float64]

_BLOCK = 1 << 14


def evaluate_actions(
    y_true: ArrayLike,
    y_probs: ArrayLike | Mapping[str, ArrayLike],
    *,
    matrices: ArrayLike,
    theta: CostsLike | None = None,
    weights: ArrayLike | None = None,
    actions: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    incumbent: str | None = None,
    n_tried: int | None = None,
    confidence_level: float = 0.95,
) -> ActionEvaluation:
    """Say what acting on class probabilities costs where there are many actions.

    Parameters
    ----------
    y_true : array_like of shape (n,) or (n, classes)
        Class labels, or one-hot rows.
    y_probs : array_like of shape (n, classes) or mapping of str to array_like
        Probabilities of one model, or by model; each row sums to 1.
    matrices : array_like of shape (classes, actions), (m, classes, actions) or (2, classes, actions)
        Cost of each action (column) where the class (row) is true: one matrix, a list, or the ends of a segment.
    theta : CostDistribution, tuple of float or float, optional
        How much each point of the segment counts: (1 - theta) * first + theta * second.
    weights : array_like of shape (m,), optional
        Plausibility of each matrix of a list.
    actions : array_like of str, optional
        Names of the columns of the matrices; by default the classes, where there are as many.
    labels : array_like, optional
        The class of each column, needed unless labels are column numbers or all appear in sorted order.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0, linearised in the errors.
    clusters : array_like of shape (n,), optional
        Clusters, such as patients: only rows of different clusters are independent.
    incumbent : str, optional
        A model that was named before these rows were seen, such as the one in use.
    n_tried : int, optional
        How many models were tried on these rows, those not shown included.
    confidence_level : float, default 0.95
        Of the intervals, in (0, 1).

    Returns
    -------
    ActionEvaluation

    Raises
    ------
    ValueError
        For rows that are not probabilities, unknown labels, or matrices of another shape.

    Warns
    -----
    UserWarning
        Where actions are not named, and some class has a cheaper action than its own.

    Notes
    -----
    Each row takes the action with the lowest expected cost by its probabilities, the first of equals, at each matrix.
    Adding a constant to a row of a matrix changes no decision and no regret. The best of several models looks better
    than it is: ``.selection`` and ``.conclusion`` allow for that. Where few rows of a class show what is dear there,
    intervals have room for what was not seen, and their notes say so.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> y_true, y_prob = [0, 2, 2] * 9, [[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0, 0.1, 0.9]] * 9
    >>> evaluate_actions(y_true, y_prob, matrices=[[0, 1, 2], [1, 0, 1], [5, 2, 0]])
    ActionEvaluation(model 0.6667; oracle 0)
    """
    check_same_order(y_true=y_true, y_probs=y_probs, sample_weight=sample_weight, clusters=clusters)
    level = check_level(confidence_level)
    rows = read_rows(
        y_true,
        y_probs,
        matrices=matrices,
        theta=theta,
        weights=weights,
        actions=actions,
        labels=labels,
        sample_weight=sample_weight,
        clusters=clusters,
    )
    if len(rows.index) < 2:
        raise ValueError(f"y_true must hold at least two rows, got {len(rows.index)}.")
    check_contest(tuple(rows.probs), incumbent, n_tried)
    return replace(_evaluated(rows, level), incumbent=incumbent, n_tried=n_tried)


def _evaluated(rows: ActionRows, level: float) -> ActionEvaluation:
    best, share = rows.best(), rows.class_share
    costs = np.stack([rows.problem.losses(prob, rows.index) for prob in rows.probs.values()], axis=1)
    regret = np.maximum(costs - best[rows.index][:, None], 0.0)
    pairs = {name: (k, -1) for k, name in enumerate(rows.probs)}
    most = np.tile((rows.worst() - best)[:, None], len(pairs))
    regrets = mean_estimates(rows.cost_rows(regret, regret, most, whole=False), pairs, level, (0.0, most.max()))
    cost_rows = rows.cost_rows(costs, regret, most)
    estimates = mean_estimates(cost_rows, pairs, level, (best.min(), rows.worst().max()))
    oracle, single = float(share @ best), float(share @ rows.constant())
    found = [
        ModelCosts(
            name,
            estimates[name],
            regrets[name],
            oracle,
            single,
            1.0 - regrets[name].value / (single - oracle) if single > oracle else math.nan,
            *_tables(rows, rows.probs[name]),
            _class_costs(rows, costs[:, k]),
        )
        for k, name in enumerate(pairs)
    ]
    return ActionEvaluation(tuple(found), rows, cost_rows, level)


def _tables(rows: ActionRows, prob: Floats) -> tuple[Floats, Floats]:
    """Share of the weight by class and action, and the part of the mean cost that each action makes."""
    k, a = rows.problem.matrices.shape[1:]
    weight = rows.weight / rows.weight.sum()
    shares, costs = np.zeros(k * a), np.zeros(a)
    for part in blocks(len(weight), _BLOCK):
        for some, action, counts in rows.problem.pieces(prob[part]):
            index, mine = rows.index[part][some], weight[part][some]
            for m, count in counts:
                shares += np.bincount(index * a + action, mine * count, k * a)
                costs += np.bincount(action, mine * count * rows.problem.matrices[m][index, action], a)
    return shares.reshape(k, a), costs


def _class_costs(rows: ActionRows, costs: Floats) -> Floats:
    sums = [np.bincount(rows.index, part, len(rows.classes)) for part in (rows.weight * costs, rows.weight)]
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[0] / sums[1], dtype=np.float64)

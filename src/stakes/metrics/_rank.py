"""Measures of ranking alone. They say nothing about calibration, and each assumes a cost that it does not name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.inputs import ranking_data, undefined
from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from stakes.core.score_table import ScoreTable


def roc_auc_score(
    y_true: ArrayLike | ScoreTable,
    y_score: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
) -> float:
    """Probability that a positive is ranked above a negative (area under the ROC curve), ties counting one half.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_score : array_like of shape (n,) or (n, 2), optional
        Any finite score that ranks; only the order matters.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Accepted for symmetry: AUC does not depend on it, but it must be in (0, 1) with both classes present.

    Returns
    -------
    float
        In [0, 1], higher is better; ``nan`` with a warning for one class only.

    Raises
    ------
    ValueError
        For invalid data.

    Notes
    -----
    AUC is not regret over one cost distribution: it pairs each threshold with the local event rate as its cost
    ratio, AUC = 1 - sum_k m_k R(r_k; t_k) / (2 pi (1 - pi)), so the costs differ from model to model. Use it to
    describe a ranking, not to choose a model for independent decisions.

    Examples
    --------
    >>> from stakes.metrics import roc_auc_score
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    data = ranking_data(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence)
    table = data.table
    if not (table.total_positives > 0.0 and table.total_negatives > 0.0):
        return undefined("roc_auc_score", "only one class is present")
    return area_under_roc(table)


def area_under_roc(table: ScoreTable) -> float:
    """AUC of a table that holds both classes."""
    pairs, below = [], 0.0
    for part in blocks(len(table.scores)):
        positives, negatives = table.positives[part], table.negatives[part]
        ranked = np.cumsum(negatives)
        pairs.append(float(np.dot(positives, ranked + (below - 0.5 * negatives))))
        below += float(ranked[-1])
    return math.fsum(pairs) / (table.total_positives * table.total_negatives)

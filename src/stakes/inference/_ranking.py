"""The order of many models, with what multiple comparisons leave of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.validation import to_array, to_floats
from stakes.shown.tabular import Tabular

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.inference._moments import Moments

    Floats = NDArray[np.float64]


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Adjust p-values so that none of the true hypotheses is rejected with more than the stated probability.

    Parameters
    ----------
    p_values : array_like of shape (m,)
        In [0, 1]; nan for what was not tested, which does not count.

    Returns
    -------
    ndarray of shape (m,)
        Holm's step-down adjustment, valid under any dependence.

    Notes
    -----
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Examples
    --------
    >>> from stakes.inference import holm
    >>> holm([0.01, 0.04, 0.03]).round(6).tolist()
    [0.03, 0.06, 0.06]
    """
    p = to_floats(to_array(p_values, "p_values"), "p_values")
    if p.ndim != 1 or np.any((p < 0.0) | (p > 1.0)):
        raise ValueError(f"p_values must be a list of numbers in [0, 1], got {p_values!r}.")
    adjusted = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


@dataclass(frozen=True)
class RankedModel:
    """One model's place.

    Parameters
    ----------
    model : str
        Its name.
    score : float
        Expected cost.
    rank : int
        On these rows, 1 for the lowest cost.
    rank_low, rank_high : int
        Ranks that the data allow; all models' ranges hold at once with the stated confidence.
    p_value : float
        Adjusted, for the difference from the model ranked first on these rows.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true = [0, 1, 0, 1] * 10
    >>> evaluate(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}).adjusted_ranking()[
    ...     1
    ... ].rank_low
    2
    """

    model: str
    score: float
    rank: int
    rank_low: int
    rank_high: int
    p_value: float


class Ranking(tuple[RankedModel, ...], Tabular):  # noqa: SLOT001  (a mix-in without slots)
    """Models from the lowest to the highest expected cost, with the ranks that the data allow.

    Examples
    --------
    >>> from stakes import evaluate
    >>> y_true = [0, 1, 0, 1] * 10
    >>> evaluate(y_true, {"a": [0.1, 0.8, 0.3, 0.6] * 10, "b": [0.4, 0.6, 0.5, 0.4] * 10}).adjusted_ranking().best
    ('a',)
    """

    @property
    def best(self) -> tuple[str, ...]:
        """Models that may be the best: with the stated confidence the truly best is among them."""
        return tuple(row.model for row in self if row.rank_low == 1)

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "model": row.model,
                "score": row.score,
                "rank": row.rank,
                "rank_low": row.rank_low,
                "rank_high": row.rank_high,
                "p_value_vs_first": row.p_value,
                "may_be_best": row.rank_low == 1,
            }
            for row in self
        ]


def rank_models(
    names: Sequence[str], scores: Sequence[float], differences: dict[tuple[int, int], Moments], level: float
) -> Ranking:
    """Rank by score; Holm over all pairs says which differences hold at once."""
    count = len(names)
    pairs = list(combinations(range(count), 2))
    adjusted = dict(zip(pairs, holm([differences[pair].p_value() for pair in pairs]), strict=True))
    better, worse = np.zeros(count, dtype=int), np.zeros(count, dtype=int)  # how many are surely so
    for (i, j), p in adjusted.items():
        if p <= 1.0 - level:
            ahead, behind = (i, j) if differences[i, j].value < 0.0 else (j, i)
            better[behind] += 1
            worse[ahead] += 1
    order = sorted(range(count), key=lambda i: scores[i])
    rows = []
    for rank, i in enumerate(order, start=1):
        p = math.nan if i == order[0] else float(adjusted[min(i, order[0]), max(i, order[0])])
        rows.append(RankedModel(names[i], scores[i], rank, 1 + int(better[i]), count - int(worse[i]), p))
    return Ranking(rows)

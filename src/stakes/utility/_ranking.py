"""Whether acting on the k most probable rows is the best way to act on k rows: the probability ranking principle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Coefficients = tuple[float, float, float, float]

_CHECK_UP_TO = 40


@dataclass(frozen=True)
class RankingPrinciple:
    """Whether the best k rows are the k most probable ones.

    Parameters
    ----------
    holds : bool or None
        None where it was neither proved nor refuted.
    descending : bool
        False where the best k rows are the k least probable ones.
    reason : str
        Why.

    Examples
    --------
    >>> from stakes.utility import Jaccard
    >>> Jaccard().ranking().descending
    True
    """

    holds: bool | None
    descending: bool
    reason: str


def linear_ranking(c: Coefficients, d: Coefficients) -> RankingPrinciple:
    """Test of a ratio N/D of linear functions: its derivative in u is (c1 D - d1 N) / D^2, where u cancels.

    What remains is linear in v and p, so its signs at the four corners of [0, 1]^2 decide. Where D vanishes the value
    is set by hand, which may break the order: D is a sum of non-negative shares of TP, FP, FN and TN, so it vanishes at
    tables that can be told from others with the same v and p if it has no share of TP and TN, or none of FP and FN.
    """
    true, false = (sum(d), d[0]), (d[0] + d[2], d[0] + d[3])
    if max(true) <= 0.0 or max(false) <= 0.0:
        return RankingPrinciple(
            holds=None, descending=True, reason="D vanishes at tables where more and fewer TP are possible."
        )
    base = c[1] * d[0] - d[1] * c[0]
    by_acted, by_positives = c[1] * d[2] - d[1] * c[2], c[1] * d[3] - d[1] * c[3]
    corners = [base, base + by_acted, base + by_positives, base + by_acted + by_positives]
    if min(corners) >= 0.0:
        return RankingPrinciple(holds=True, descending=True, reason="c1 D >= d1 N at every table: more TP is better.")
    if max(corners) <= 0.0:
        return RankingPrinciple(holds=True, descending=False, reason="c1 D <= d1 N at every table: more TP is worse.")
    return RankingPrinciple(
        holds=False, descending=True, reason="c1 D - d1 N changes its sign: more TP may be better or worse."
    )


def counted_ranking(value: Callable[[Floats, Floats, Floats, Floats], Floats], n: int, sign: float) -> RankingPrinciple:
    """Test of any measure on every table of a small batch; a large one is left open."""
    if n > _CHECK_UP_TO:
        return RankingPrinciple(
            holds=None, descending=True, reason=f"tables of more than {_CHECK_UP_TO} rows are not checked one by one."
        )
    tp, acted, positives = np.meshgrid(*[np.arange(n + 1.0)] * 3, indexing="ij")
    fp, fn, tn = acted - tp, positives - tp, n - acted - positives + tp
    valid = (fp >= 0.0) & (fn >= 0.0) & (tn >= 0.0)
    table = np.full(valid.shape, np.nan)
    table[valid] = sign * value(tp[valid], fp[valid], fn[valid], tn[valid])
    steps = np.diff(table, axis=0)
    slack = 1e-12 * (1.0 + np.nanmax(np.abs(table)))
    if not np.any(steps < -slack):
        return RankingPrinciple(holds=True, descending=True, reason=f"no table of {n} rows loses by more TP.")
    if not np.any(steps > slack):
        return RankingPrinciple(holds=True, descending=False, reason=f"no table of {n} rows gains by more TP.")
    return RankingPrinciple(holds=False, descending=True, reason=f"some tables of {n} rows lose by more TP.")

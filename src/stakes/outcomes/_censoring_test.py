"""Whether people with some scores left earlier than others: a test of trend, and one between groups of the score."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]

GROUPS = 5


@dataclass(frozen=True)
class CensoringTest:
    """Whether censoring before the horizon depends on a score.

    Parameters
    ----------
    trend_z : float
        Score test of the hazard of censoring on the rank of the score, standard normal if it does not depend on it;
        positive where higher scores leave earlier. nan where nobody leaves.
    logrank : float
        Log-rank test between groups of the score, chi-square with ``degrees`` degrees of freedom.
    degrees : int
        One less than the groups.

    Examples
    --------
    >>> from stakes.outcomes import CensoringTest
    >>> round(CensoringTest(trend_z=-0.276, logrank=8.138, degrees=4).p_value, 3)
    0.173
    """

    trend_z: float
    logrank: float
    degrees: int

    @property
    def trend_p_value(self) -> float:
        """Two-sided p-value of the trend."""
        return math.erfc(abs(self.trend_z) / math.sqrt(2.0))

    @property
    def logrank_p_value(self) -> float:
        """P-value of the log-rank test; nan without groups."""
        from scipy.special import chdtrc

        return float(chdtrc(self.degrees, self.logrank)) if self.degrees else math.nan

    @property
    def p_value(self) -> float:
        """The smaller of the two p-values, twice (Bonferroni)."""
        return min(1.0, 2.0 * float(np.fmin(self.trend_p_value, self.logrank_p_value)))


def censoring_test(time: Floats, censored: Bools, score: Floats, horizon: float) -> CensoringTest:
    """Test clean rows: Breslow's form for ties in the trend, fifths of the score for the log-rank test."""
    order = np.argsort(time, kind="stable")
    t, leaves = time[order], (censored & (time < horizon))[order]
    times, at = np.unique(t[leaves], return_inverse=True)
    if not len(times):
        return CensoringTest(math.nan, math.nan, 0)
    after, gone = np.searchsorted(t, times, side="right"), np.bincount(at).astype(float)

    def at_risk(values: Floats) -> Floats:
        """Sums over those who leave at each time or later, none of whom has an event then."""
        sums = np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
        return np.asarray(sums[after] + np.bincount(at, values[leaves], len(times)))

    rank, n = _mean_ranks(score)[order] / len(score), at_risk(np.ones(len(t)))
    mean = at_risk(rank) / n
    slope = float(rank[leaves].sum() - np.dot(gone, mean))
    information = float(np.dot(gone, at_risk(rank * rank) / n - mean * mean))
    group = np.searchsorted(np.unique(np.quantile(score, np.arange(1, GROUPS) / GROUPS)), score, side="right")[order]
    _, group = np.unique(group, return_inverse=True)
    members = [group == k for k in range(int(group.max()) + 1)]
    share = np.stack([at_risk(mine.astype(float)) for mine in members]) / n
    excess = np.array([float(np.count_nonzero(mine & leaves)) for mine in members]) - share @ gone
    covariance = np.diag(share @ gone) - (share * gone) @ share.T
    logrank = float(excess[:-1] @ np.linalg.pinv(covariance[:-1, :-1]) @ excess[:-1]) if len(members) > 1 else math.nan
    z = slope / math.sqrt(information) if information > 0.0 else math.nan
    return CensoringTest(z, logrank, len(members) - 1)


def _mean_ranks(score: Floats) -> Floats:
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - 0.5 * (counts - 1.0))[place])

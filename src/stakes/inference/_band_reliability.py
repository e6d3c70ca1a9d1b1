"""Bounds of the true event rate over the score, if it never falls: those of the band hold for every number of rows.

The event rate of rows with scores up to x is at most the true rate at x, so that a lower confidence limit of the one is
a lower limit of the other; rows from x on give upper limits. Clopper-Pearson limits of groups of neighbouring blocks of
rows are shared out by Bonferroni (Dimitriadis, Duembgen, Henzi, Puke and Ziegel 2023, doi:10.1093/biomet/asac068).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.curves._bins import bin_starts
from stakes.curves._reliability import reliability_curve_of
from stakes.curves._smooth import local_limits, times_odds
from stakes.inference._band_result import Band

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_MOST_BLOCKS = 128
_MOST_TIED = 0.05  # of all weight at one score: where scores are tied, groups of rows tell more than lines across them


def reliability_band(table: ScoreTable, points: Floats, name: str, level: float) -> Band:
    """Isotonic curve with its bounds at some scores between the smallest and the largest."""
    starts = _blocks(table)
    lows, highs = table.scores[starts], table.scores[np.append(starts[1:], len(table.scores)) - 1]
    # blocks that lie wholly up to each score, and the first that lies wholly from it on
    before, after = np.searchsorted(highs, points, side="right"), np.searchsorted(lows, points, side="left")
    groups = _Groups(table, starts)
    n = len(starts)
    together = (1.0 - level) / (n * (n + 1))
    lower, upper = groups.limits(together)
    bounds = np.maximum.accumulate(lower)[before], np.minimum.accumulate(upper[::-1])[::-1][after]
    low, high = _alone(groups, before, after, level)
    # the groups that end elsewhere may happen to say more; the band gives that up, so as to hold the intervals
    outer = np.minimum(bounds[0], low), np.maximum(bounds[1], high)
    if _untied(table):
        low, high = (np.clip(ends, *outer) for ends in local_limits(table, points, level))
        outer = np.minimum(outer[0], low), np.maximum(outer[1], high)  # where the true rate falls they may cross
    squared = float(table.positives_squared.sum())
    return Band(
        "reliability",
        points,
        reliability_curve_of(table, name).at(points),
        np.full(points.shape, np.nan),
        low,
        high,
        *outer,
        _normal_tail(together),
        level,
        table.n_rows,
        table.total_positives**2 / squared if squared > 0.0 else 0.0,
        name,
        about=table.about,
    )


def _untied(table: ScoreTable) -> bool:
    return bool(np.max(table.positives + table.negatives) <= _MOST_TIED * table.total)


def _alone(groups: _Groups, before: Places, after: Places, level: float) -> tuple[Floats, Floats]:
    """At one score few groups are worth their share of the error: those of 1, 2, 4, ... blocks beside it."""
    lengths = 2 ** np.arange(groups.n.bit_length())
    lower, upper = groups.limits((1.0 - level) / (2 * len(lengths)), lengths)
    return lower[before], upper[after]


def _blocks(table: ScoreTable) -> Places:
    """First score of each block: of about equally many rows, whatever their class weighs, or the labels would choose.

    The curve can be told within about as many groups of rows as the cube root of their number.
    """
    hits = _effective(table.positives, table.positives_squared)
    rows = replace(table, positives=hits, negatives=_effective(table.negatives, table.negatives_squared))
    return bin_starts(rows, int(min(np.ceil(2.0 * np.cbrt(table.n_rows)), _MOST_BLOCKS)), "quantile")


class _Groups:
    """All runs of neighbouring blocks, with limits of their event rates."""

    def __init__(self, table: ScoreTable, starts: Places) -> None:
        self.n = len(starts)
        columns = (table.negatives, table.positives, table.negatives_squared, table.positives_squared)
        self.columns = [np.add.reduceat(column, starts) for column in columns]
        self.totals = [float(column.sum()) for column in self.columns]
        # at [i, j]: from block i to block j, where i <= j
        self.sums = [self._runs(column) for column in self.columns]

    def _runs(self, column: Floats) -> Floats:
        runs = np.zeros((self.n, self.n))
        for first in range(self.n):  # few; differences of cumulative sums would leave rounding
            runs[first, first:] = np.cumsum(column[first:])
        return runs

    def limits(self, tail: float, lengths: Places | None = None) -> tuple[Floats, Floats]:
        """Best lower limit of the groups that end at each block, best upper limit of those that start there."""
        first, last = np.triu_indices(self.n)
        if lengths is not None:
            kept = np.isin(last - first + 1, lengths)
            first, last = first[kept], last[kept]
        low, high = self._limits(first, last, tail)
        lower, upper = np.zeros((self.n, self.n)), np.ones((self.n, self.n))
        lower[first, last], upper[first, last] = low, high
        return np.append(0.0, lower.max(axis=0)), np.append(upper.min(axis=1), 1.0)

    def _limits(self, first: Places, last: Places, tail: float) -> tuple[Floats, Floats]:
        """Clopper-Pearson limits from effective numbers of rows of each class, each with the class's mean weight."""
        from scipy.special import betaincinv

        downs, ups, downs_squared, ups_squared = (column[first, last] for column in self.sums)
        misses, hits = _effective(downs, downs_squared), _effective(ups, ups_squared)
        factor = self._mean_weight(ups, ups_squared, 1) / self._mean_weight(downs, downs_squared, 0)
        some, rest = hits > 0.0, misses > 0.0
        low = np.where(some, betaincinv(np.where(some, hits, 1.0), misses + 1.0, tail), 0.0)
        high = np.where(rest, betaincinv(hits + 1.0, np.where(rest, misses, 1.0), 1.0 - tail), 1.0)
        return times_odds(low, factor), times_odds(high, factor)

    def _mean_weight(self, weight: Floats, squared: Floats, k: int) -> Floats:
        """Mean weight of a class in each group, as its rows have it; of the class, or of all, where there are none."""
        of_all = sum(self.totals[2:]) / sum(self.totals[:2])
        usual = self.totals[2 + k] / self.totals[k] if self.totals[k] > 0.0 else of_all
        return np.divide(squared, weight, out=np.full(weight.shape, usual), where=weight > 0.0)


def _effective(weight: Floats, squared: Floats) -> Floats:
    return np.divide(weight**2, squared, out=np.zeros_like(weight), where=squared > 0.0)


def _normal_tail(tail: float) -> float:
    from statistics import NormalDist

    return -NormalDist().inv_cdf(tail)

"""Moments of mean losses and of their paired differences, in closed form.

A mean loss is a weighted mean of per-row losses, so its variance and third moment are sums of powers; weights are
linearised (ratio estimator). Under a stated prevalence the class totals are known, and each class is centred on its own
mean. Every rule is compared with every other and with "nothing", whose loss is zero: that pair is the rule itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stakes._kernel import losses_by_score, row_losses
from stakes.inference._dependence import dependent_moments
from stakes.inference._moments import Moments, freed
from stakes.score_table import blocks, weighted_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes._kernel import Rule
    from stakes.costs import CostDistribution
    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

_ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True)
class LossMoments:
    """Mean integrated losses of several decision rules on the same rows, and the spread of their differences.

    ``spread`` holds, for each pair of rules (the last is "nothing"), variance, third moment, and how many negatives and
    positives carry the difference.
    """

    means: Floats
    spread: Floats
    rows: tuple[int, int]
    unseen: tuple[float, float]
    degrees: float = math.inf
    reason: str = ""

    def of(self, index: int) -> Moments:
        """Moments of one rule's mean loss."""
        return self._pair(float(self.means[index]), index, len(self.means))

    def difference(self, first: int, second: int) -> Moments:
        """Moments of first minus second."""
        a, b = float(self.means[first]), float(self.means[second])
        if a == b == math.inf:
            return self._pair(math.nan, first, second)
        gap = a - b
        # what two equal rules leave is rounding, not a difference
        if math.isfinite(gap) and abs(gap) <= _ROUNDING * (abs(a) + abs(b)):
            gap = 0.0
        return self._pair(gap, first, second)

    def standard_error(self, index: int) -> float:
        return self.of(index).standard_error

    def _pair(self, value: float, first: int, second: int) -> Moments:
        variance, third, downs, ups = self.spread[:, first, second].tolist()
        if not math.isfinite(value):
            variance = third = math.nan
        # rules that no row tells apart are taken as the same rule
        unseen = (0.0, 0.0) if value == downs == ups == 0.0 and second < len(self.means) else self.unseen
        carriers = int(downs), int(ups)
        return Moments(value, variance, third, carriers, self.rows, unseen, self.degrees, reason=self.reason)

    def without_intervals(self, count: int) -> LossMoments:
        """Return the same means, the first rules' spread unknown: their decisions were fitted to these rows."""
        spread = self.spread.copy()
        spread[:2, :count, :] = spread[:2, :, :count] = np.nan
        return replace(self, spread=spread)


def table_moments(table: ScoreTable, costs: CostDistribution, rule: Rule, *, constants: bool = True) -> LossMoments:
    """Moments of one model's integrated cost from its table; ``constants`` adds "always act" and "never act"."""
    scores = table.pav_by_score() if rule == "optimal" else table.scores
    plain: Rule = "score" if rule == "optimal" else rule
    added = _constant_losses(costs) if constants else np.zeros((2, 0))
    count = added.shape[1] + 2
    weights, squares = (table.negatives, table.positives), (table.negatives_squared, table.positives_squared)
    totals = np.array([table.total_negatives, table.total_positives])
    sums = np.zeros((2, count))  # class x rule
    sums[:, 1:-1] = np.where(totals[:, None] > 0.0, totals[:, None] * added, 0.0)
    for part in blocks(len(scores)):
        for k, loss in enumerate(losses_by_score(scores[part], costs, plain)):
            sums[k, 0] += weighted_sum(weights[k][part], loss)
    centres = _centres(sums, totals, fixed_prevalence=table.fixed_prevalence)
    powers = np.zeros((5, count, count))
    for part in blocks(len(scores)):
        for k, loss in enumerate(losses_by_score(scores[part], costs, plain)):
            lines = [loss, *(np.full(len(loss), value) for value in added[k]), np.zeros(len(loss))]
            _add_cells((powers[k], powers[2], powers[3 + k]), lines, centres[k], weights[k][part], squares[k][part])
    rows = _rows_of(weights, squares, table.n_rows)
    return _moments(sums, totals, powers, rows, costs, fixed_prevalence=table.fixed_prevalence)


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    if rule == "optimal":
        return math.nan
    return table_moments(table, costs, rule, constants=False).standard_error(0)


@np.errstate(invalid="ignore")  # infinite losses have no interval
def _add_cells(
    sums: tuple[Floats, Floats, Floats], lines: list[Floats], centres: Floats, weight: Floats, square: Floats
) -> None:
    """Add cells of one class of a table, whose rows share a loss: second and third powers, and rows that differ."""
    used = weight > 0.0
    # a table keeps two powers of the weights: the third and the count are exact where tied rows weigh the same
    cube = np.divide(square * square, weight, out=np.zeros_like(square), where=used)
    count = np.divide(weight * weight, square, out=np.zeros_like(square), where=used)
    for i, j in combinations(range(len(lines)), 2):
        gap = lines[i] - lines[j]
        spread = np.where(used, gap - (centres[i] - centres[j]), 0.0)
        sums[0][i, j] += (square * spread * spread).sum()
        sums[1][i, j] += (cube * spread * spread * spread).sum()
        sums[2][i, j] += count[gap != 0.0].sum()


@dataclass(frozen=True)
class PairedRows:
    """Rows that several models share; ``clusters`` are codes of what is independent, ``lags`` is for rows in order."""

    y: Bools
    scores: Sequence[Floats]
    weight: Floats | None
    fixed_prevalence: bool = False
    clusters: Integers | None = None
    lags: int | str | None = None

    def taken(self, part: Bools | slice) -> PairedRows:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[part]
        clusters = None if self.clusters is None else self.clusters[part]
        return replace(self, y=self.y[part], scores=[s[part] for s in self.scores], weight=weight, clusters=clusters)

    def losses(self, part: slice, costs: CostDistribution, rule: Rule, *, constants: bool) -> list[Floats]:
        """Integrated costs of each model, then of "always act" and "never act" where asked for, then of "nothing"."""
        positive = self.y[part]
        lines = [row_losses(positive, score[part], costs, rule) for score in self.scores]
        if constants:
            always, never = _constant_losses(costs).diagonal()
            lines += [np.where(positive, 0.0, always), np.where(positive, never, 0.0)]
        return [*lines, np.zeros(len(positive))]


def loss_moments(rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False) -> LossMoments:
    """Moments of the models' mean integrated costs and of their differences; ``constants`` adds two rules."""
    count = len(rows.scores) + 2 * constants + 1
    sums, masses = np.zeros((2, count)), np.zeros(2)
    for part in blocks(len(rows.y)):
        loss = rows.losses(part, costs, rule, constants=constants)
        for k, mine in enumerate(_class_weights(rows, part)):
            masses[k] += mine.sum()
            sums[k] += [weighted_sum(mine, line) for line in loss]
    centres = _centres(sums, masses, fixed_prevalence=rows.fixed_prevalence)
    powers = np.zeros((5, count, count))
    for part in blocks(len(rows.y)):
        weight = None if rows.weight is None else rows.weight[part]
        _add_rows(powers, rows.losses(part, costs, rule, constants=constants), centres, weight, rows.y[part])
    used = rows.y if rows.weight is None else rows.y[rows.weight > 0.0]
    ups = int(np.count_nonzero(used))
    counts = len(used) - ups, ups
    moments = _moments(sums, masses, powers, counts, costs, fixed_prevalence=rows.fixed_prevalence)
    if rows.clusters is None and rows.lags is None:
        return moments
    return _dependent(moments, rows, centres, rows.losses(slice(None), costs, rule, constants=constants))


def _dependent(moments: LossMoments, rows: PairedRows, centres: Floats, lines: list[Floats]) -> LossMoments:
    """The same means with the spread of rows in clusters or in order."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    share = weight / weight.sum()
    spread, degrees, reason = moments.spread.copy(), math.inf, ""
    for i, j in combinations(range(len(lines)), 2):
        with np.errstate(invalid="ignore"):  # infinite losses have no interval
            down, up = centres[:, i] - centres[:, j]
            terms = share * (lines[i] - lines[j] - np.where(rows.y, up, down))
        pair = dependent_moments(Moments(0.0, 0.0, 0.0), terms, rows.clusters, rows.lags)
        spread[:2, [i, j], [j, i]] = [[pair.variance] * 2, [pair.third, -pair.third]]
        degrees, reason = pair.degrees, pair.reason
    return replace(moments, spread=spread, degrees=degrees, reason=reason)


@np.errstate(invalid="ignore")  # infinite losses have no interval
def _add_rows(powers: Floats, lines: list[Floats], centres: Floats, weight: Floats | None, positive: Bools) -> None:
    for i, j in combinations(range(len(lines)), 2):
        down, up = centres[:, i] - centres[:, j]
        gap = lines[i] - lines[j]
        spread = gap - (np.where(positive, up, down) if up != down else up)
        carries = gap != 0.0
        if weight is not None:
            spread *= weight
            carries &= weight > 0.0
        second = spread * spread
        ups, of_ups = int(np.count_nonzero(carries & positive)), float(second[positive].sum())
        count, whole = int(np.count_nonzero(carries)), float(second.sum())
        powers[:, i, j] += whole - of_ups, of_ups, float(np.dot(second, spread)), count - ups, ups


def _constant_losses(costs: CostDistribution) -> Floats:
    """Integrated cost of a negative and a positive (rows) when always and when never acting (columns)."""
    return np.diag([float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))])


def _centres(sums: Floats, totals: Floats, *, fixed_prevalence: bool) -> Floats:
    """What each class's losses are centred on: the mean of all, or of the class where its total is known."""
    if not fixed_prevalence:
        return np.tile(sums.sum(axis=0) / totals.sum(), (2, 1))
    return np.divide(sums, totals[:, None], out=np.zeros_like(sums), where=totals[:, None] > 0.0)


def _rows_of(weights: tuple[Floats, Floats], squares: tuple[Floats, Floats], n_rows: int) -> tuple[int, int]:
    """Rows of each class of a table: exact without weights, else shared out by their effective numbers."""
    downs, ups = (
        float(w.sum()) ** 2 / float(s.sum()) if s.any() else 0.0 for w, s in zip(weights, squares, strict=True)
    )
    positives = round(n_rows * ups / (downs + ups))
    return n_rows - positives, positives


def _moments(
    sums: Floats,
    totals: Floats,
    powers: Floats,
    rows: tuple[int, int],
    costs: CostDistribution,
    *,
    fixed_prevalence: bool,
) -> LossMoments:
    total = float(totals.sum())
    # a class that is centred on its own mean has its own degrees of freedom
    factors = [freed(n) for n in rows] if fixed_prevalence else [freed(sum(rows))] * 2
    variance = (factors[0] * powers[0] + factors[1] * powers[1]) / total**2
    spread = np.stack([variance, powers[2] / total**3, powers[3], powers[4]])
    spread[:2, (powers[3] == 0.0) & (powers[4] == 0.0)] = 0.0  # no row tells the two apart: the rest is rounding
    spread = spread + np.swapaxes(spread, 1, 2) * np.array([1.0, -1.0, 1.0, 1.0])[:, None, None]
    worst = _constant_losses(costs).diagonal()
    heavy = [mass / n if n else 1.0 for mass, n in zip(totals.tolist(), rows, strict=True)]
    unseen = float(worst[0]) * heavy[0] / total, float(worst[1]) * heavy[1] / total
    return LossMoments(sums.sum(axis=0)[:-1] / total, spread, rows, unseen)


def _class_weights(rows: PairedRows, part: slice) -> tuple[Floats, Floats]:
    """Weights of the negatives and of the positives, zero elsewhere."""
    positive = rows.y[part].astype(np.float64)
    if rows.weight is None:
        return 1.0 - positive, positive
    positive *= rows.weight[part]
    return rows.weight[part] - positive, positive

"""Moments of mean losses and of their paired differences, in closed form.

A mean loss is a weighted mean of per-row losses, so its spread follows from sums of powers over rows; weights are
linearised (ratio estimator). Under a stated prevalence the class totals are known, and each class is centred on its own
mean. Every rule is compared with every other and with "nothing", whose loss is zero: that pair is the rule itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.regret import losses_by_score, row_losses
from stakes.core.sums import blocks, weighted_sum
from stakes.inference._dependence import Design
from stakes.inference._loss_pairs import Unasked, spread_without_rounding
from stakes.inference._loss_sums import Rules, row_parts, rule_sums
from stakes.inference._moments import Moments, moments_of
from stakes.inference._power_sums import PowerSums, Spread

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution
    from stakes.inference._loss_sums import Part
    from stakes.inference._paired_rows import PairedRows

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]

UNPAIRED = (
    "separate score tables do not say which scores belong together: evaluate the rows, or pass pairs=, the PairSums of "
    "the models"
)
_ROUNDING = 64 * np.finfo(float).eps
_FEW = 8  # models of which every pair is worked out at once


@dataclass(frozen=True)
class LossMoments:
    """Mean integrated losses of several decision rules on the same rows, and the spread of their differences.

    ``spread`` holds a matrix for every pair of rules, the last of which is "nothing"; ``rows`` are the rows of each
    class (of the ``clusters``, those that have it). ``reason`` says why there is no spread, ``unpaired`` why there is
    none of the difference between two models; ``unasked`` works out the pairs of many models when they are asked for.
    ``highest`` is the most that a rule can cost, and ``known`` what each costs beyond its losses.
    """

    means: Floats
    spread: Spread
    rows: tuple[int, ...]
    clusters: int = 0
    reason: str = ""
    unpaired: str = ""
    unasked: Unasked | None = None
    highest: float = math.inf
    known: Floats | None = None

    def costing(self, more: Floats) -> LossMoments:
        """Return the same where each rule costs a known amount more."""
        return replace(self, means=self.means + more, known=more)

    def of(self, index: int) -> Moments:
        """Moments of one rule's mean loss."""
        more = self._known(index)
        return self._pair(float(self.means[index]), index, len(self.means)).within(more, self.highest + more)

    def _known(self, index: int) -> float:
        return 0.0 if self.known is None else float(self.known[index])

    def difference(self, first: int, second: int) -> Moments:
        """Moments of first minus second."""
        a, b = float(self.means[first]), float(self.means[second])
        if a == b == math.inf:
            return self._pair(math.nan, first, second)
        more = self._known(first) - self._known(second)
        gap = a - b
        # what two equal rules leave is rounding, not a difference
        if math.isfinite(gap) and abs(gap) <= _ROUNDING * (abs(a) + abs(b)):
            gap = 0.0
        return self._pair(gap, first, second).within(more - self.highest, more + self.highest)

    def standard_error(self, index: int) -> float:
        return self.of(index).standard_error

    def spread_at(self, first: Integers | int, second: Integers | int) -> Spread:
        """Spread of the differences of some pairs; those of models that are not known yet are worked out."""
        if self.unasked is not None:
            self.unasked.fill(self.spread, np.atleast_1d(first), np.atleast_1d(second))
        return Spread(*(part[..., first, second] for part in vars(self.spread).values()))

    @property
    def covariance(self) -> Floats:
        """Covariances of the rules' mean losses."""
        if self.unasked is not None:
            return self.unasked.covariance
        variance = self.spread.variance
        alone = variance[:-1, -1]
        return 0.5 * (alone[:, None] + alone[None, :] - variance[:-1, :-1])

    def _pair(self, value: float, first: int, second: int) -> Moments:
        paired = second < len(self.means)
        spread = self.spread_at(first, second)
        return moments_of(
            value,
            spread,
            self.rows,
            reason=self.reason or (self.unpaired if np.isnan(spread.variance) and math.isfinite(value) else ""),
            paired=paired,
            clustered=self.clusters > 0,
        )

    def without_intervals(self, count: int) -> LossMoments:
        """Return the same means, the first rules' spread unknown: their decisions were fitted to these rows."""
        variance = self.spread.variance.copy()
        variance[:count, :] = variance[:, :count] = np.nan
        return replace(self, spread=replace(self.spread, variance=variance), unasked=None)


def table_moments(table: ScoreTable, costs: CostDistribution, rule: Rule, *, constants: bool = True) -> LossMoments:
    """Moments of one model's integrated cost from its table; ``constants`` adds "always act" and "never act"."""
    scores = table.pav_by_score() if rule == "optimal" else table.scores
    rules = Rules(costs, "score" if rule == "optimal" else rule, 1, constants)
    columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)

    def parts(_models: Sequence[int], size: int) -> Iterator[Part]:
        for part in blocks(len(scores), size):
            losses = losses_by_score(scores[part], costs, rules.rule)
            for k, (weight, square) in enumerate(columns):
                used = weight[part] > 0.0
                yield k, losses[k][used][None], weight[part][used], square[part][used]

    sums = rule_sums(parts, rules, (), fixed=table.fixed_prevalence)
    powers = replace(sums.powers, rows=sums.powers.rows * (table.n_rows / sums.powers.rows[:, 0, -1].sum()))
    return moments_of_sums(sums.means, powers, sums.masses, rules, fixed=table.fixed_prevalence)


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    if rule == "optimal":
        return math.nan
    return table_moments(table, costs, rule, constants=False).standard_error(0)


def loss_moments(rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False) -> LossMoments:
    """Moments of the models' mean integrated costs and of their differences; ``constants`` adds two rules."""
    rows = rows.used
    rules = Rules(costs, rule, len(rows.scores), constants)
    if rows.dependent:
        found = _dependent(rows, rules)
        return without_room_for_copies(found, _apart(rows, found.spread.carriers.sum(axis=0) > 0.0))
    fixed, few = rows.fixed_prevalence, rules.models <= _FEW
    pairs = list(combinations(range(rules.models), 2)) if few else []
    sums = rule_sums(partial(row_parts, rows, rules), rules, pairs, fixed=fixed)
    found = moments_of_sums(sums.means, sums.powers, sums.masses, rules, fixed=fixed)
    if not few:
        return replace(found, unasked=Unasked(rows, rules, sums.means, sums.masses))
    return without_room_for_copies(found, _apart(rows, sums.powers.carriers.sum(axis=0) > 0.0))


def _apart(rows: PairedRows, apart: Bools) -> Bools:
    """Which models give a row different scores; those whose costs differ do."""
    count = len(rows.scores)
    apart = apart[:count, :count].copy()
    alike: list[list[int]] = np.argwhere(~apart).tolist()
    for i, j in alike:
        apart[i, j] = not np.array_equal(rows.scores[i], rows.scores[j])
    return apart


def moments_of_sums(means: Floats, sums: PowerSums, masses: Floats, rules: Rules, *, fixed: bool) -> LossMoments:
    """Moments of all rules from the power sums of every pair."""
    counts = sums.rows[:, 0, -1]
    positives = round(float(counts[1]))
    rows = round(float(counts.sum())) - positives, positives
    sums = replace(sums, rows=sums.rows + np.eye(sums.rows.shape[-1]) * counts[:, None, None])
    spread = spread_without_rounding(sums, rules.most(fixed=fixed), masses, fixed=fixed)
    return LossMoments(means, spread, rows, highest=rules.highest(masses, fixed=fixed))


def _dependent(rows: PairedRows, rules: Rules) -> LossMoments:
    """The same for rows in clusters or in order."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    design = Design(rows.y, weight, None, rows.fixed_prevalence, rows.clusters, rows.lags, rows.origin)
    lines, count = np.empty((rules.count, len(rows.y))), rules.count
    for k, mine in enumerate((~rows.y, rows.y)):
        losses = [row_losses(rows.y[mine], score[mine], rules.costs, rules.rule) for score in rows.scores]
        lines[:, mine] = rules.completed(losses, k)
    most = rules.most(fixed=rows.fixed_prevalence)
    one, both = np.zeros((count, count)), np.zeros((2, count, count))
    found = Spread(one, one + 1.0, one.copy(), both, both.copy(), both > 0.0)
    with np.errstate(invalid="ignore"):  # infinite losses have no interval
        for i in range(count - 1):
            gaps = lines[i] - lines[i + 1 :]
            spread, counts, reason = design.spread(design.centred(gaps), gaps, most[:, i, i + 1 :])
            for matrix, part in zip(vars(found).values(), vars(spread).values(), strict=True):
                matrix[..., i, i + 1 :] = matrix[..., i + 1 :, i] = part
    means = np.array([weighted_sum(weight, line) / float(weight.sum()) for line in lines[:-1]])
    clusters = 0 if rows.clusters is None else len(np.unique(rows.clusters))
    masses = np.array([float(weight[~rows.y].sum()), float(weight[rows.y].sum())])
    highest = rules.highest(masses, fixed=rows.fixed_prevalence)
    return LossMoments(means, found, counts, clusters, reason, highest=highest)


def without_room_for_copies(moments: LossMoments, apart: Bools) -> LossMoments:
    """Models with the same score in every row are the same model: no row unseen will tell them apart."""
    room, scarce = moments.spread.room.copy(), moments.spread.scarce.copy()
    models = slice(len(apart))
    room[models, models][~apart] = 0.0
    scarce[:, models, models][:, ~apart] = False
    return replace(moments, spread=replace(moments.spread, room=room, scarce=scarce))


def unpaired_moments(
    tables: Sequence[ScoreTable], costs: CostDistribution, rule: Rule, why: str = UNPAIRED
) -> LossMoments:
    """Moments of models of which only the tables are known; the spread of their differences is not."""
    each = [table_moments(table, costs, rule) for table in tables]
    count = len(tables) + 3
    one, both = np.zeros((count, count)), np.zeros((2, count, count))
    spread = Spread(one + np.nan, one + 1.0, one, both, both.copy(), both > 0.0)
    for i, mine in enumerate(each):
        places = np.array([i, *range(len(tables), count)])
        for whole, part in zip(vars(spread).values(), vars(mine.spread).values(), strict=True):
            whole[..., places[:, None], places] = part
    means = np.array([*(mine.means[0] for mine in each), *each[0].means[1:]])
    unpaired, highest = why if len(tables) > 1 else "", max(mine.highest for mine in each)
    return LossMoments(means, spread, each[0].rows, unpaired=unpaired, highest=highest)

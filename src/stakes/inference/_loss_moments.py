"""Moments of mean losses and of their paired differences, in closed form.

A mean loss is a weighted mean of per-row losses, so its spread follows from sums of powers over rows; weights are
linearised (ratio estimator). Under a stated prevalence the class totals are known, and each class is centred on its own
mean. Every rule is compared with every other and with "nothing", whose loss is zero: that pair is the rule itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import losses_by_score, row_losses
from stakes.core.sums import blocks, weighted_sum
from stakes.core.validation import BinarySample
from stakes.inference._dependence import Design
from stakes.inference._moments import Moments, moments_of
from stakes.inference._power_sums import PowerSums, Spread, class_sums, spread_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from stakes.core.outcome import Origin
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]
    Integers = NDArray[np.intp]
    # losses of every rule (rows) for some rows of one class, with their weights and squared weights
    Part = tuple[int, Floats, Floats | None, Floats | None]

UNPAIRED = (
    "separate score tables do not say which scores belong together: evaluate the rows, or pass pairs=, the PairSums of "
    "the models"
)
_ROUNDING = 64 * np.finfo(float).eps
_CONSTANT = 1e-24  # share of the squares of a constant that subtracting its mean leaves
_BLOCK = 1 << 18  # numbers at once


@dataclass(frozen=True)
class LossMoments:
    """Mean integrated losses of several decision rules on the same rows, and the spread of their differences.

    ``spread`` holds a matrix for every pair of rules, the last of which is "nothing"; ``rows`` are the rows of each
    class (the clusters that have it). ``reason`` says why there is no spread, ``unpaired`` why there is none of the
    difference between two models.
    """

    means: Floats
    spread: Spread
    rows: tuple[int, int]
    clustered: bool = False
    reason: str = ""
    unpaired: str = ""

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

    @property
    def covariance(self) -> Floats:
        """Covariances of the rules' mean losses."""
        variance = self.spread.variance
        alone = variance[:-1, -1]
        return 0.5 * (alone[:, None] + alone[None, :] - variance[:-1, :-1])

    def _pair(self, value: float, first: int, second: int) -> Moments:
        paired = second < len(self.means)
        spread = Spread(*(part[..., first, second] for part in vars(self.spread).values()))
        return moments_of(
            value,
            spread,
            self.rows,
            reason=self.reason or (self.unpaired if np.isnan(spread.variance) and math.isfinite(value) else ""),
            paired=paired,
            clustered=self.clustered,
        )

    def without_intervals(self, count: int) -> LossMoments:
        """Return the same means, the first rules' spread unknown: their decisions were fitted to these rows."""
        variance = self.spread.variance.copy()
        variance[:count, :] = variance[:, :count] = np.nan
        return replace(self, spread=replace(self.spread, variance=variance))


@dataclass(frozen=True)
class PairedRows:
    """Rows that several models share; ``clusters`` are codes of what is independent, ``lags`` is for rows in order.

    Where an outcome weighs the rows, ``origin`` is where they come from and ``every_score`` the scores of all rows.
    """

    y: Bools
    scores: Sequence[Floats]
    weight: Floats | None
    fixed_prevalence: bool = False
    clusters: Integers | None = None
    lags: int | str | None = None
    origin: Origin | None = None
    every_score: Sequence[Floats] = ()

    def taken(self, part: Bools | Integers | slice) -> PairedRows:
        """Some of the rows; where an outcome weighs them, their errors and clusters stay those of all its rows."""
        weight = None if self.weight is None else self.weight[part]
        clusters, origin = self.clusters, self.origin
        if origin is not None:
            origin = replace(origin, places=origin.places[part])
        elif clusters is not None:
            clusters = clusters[part]
        scores = [s[part] for s in self.scores]
        return replace(self, y=self.y[part], scores=scores, weight=weight, clusters=clusters, origin=origin)

    def arguments(self, first: int, second: int) -> tuple[Any, Floats, Floats, Floats | None]:
        """Labels, scores of two models and weights as a public function takes them."""
        if self.origin is None:
            return self.y, self.scores[first], self.scores[second], self.weight
        scattered = self.origin.scattered
        return self.origin.outcome, scattered(self.scores[first]), scattered(self.scores[second]), None

    def sample(self, index: int) -> BinarySample:
        """The rows of one model."""
        origin = self.origin and replace(self.origin, score=self.every_score[index])
        return BinarySample(self.y, self.scores[index], self.weight, origin)

    @property
    def dependent(self) -> bool:
        """Whether rows depend on each other, in clusters, in order of time or by weights estimated from all of them."""
        return self.clusters is not None or self.lags is not None or self.origin is not None

    @property
    def used(self) -> PairedRows:
        """The rows of positive weight."""
        return self if self.weight is None or self.weight.all() else self.taken(self.weight > 0.0)


@dataclass(frozen=True)
class Rules:
    """Models under one rule; where asked for, "always act" and "never act"; and last "nothing"."""

    costs: CostDistribution
    rule: Rule
    models: int
    constants: bool

    @property
    def count(self) -> int:
        return self.models + 2 * self.constants + 1

    @property
    def worst(self) -> Floats:
        """What a row of each class costs at most."""
        return np.array([float(self.costs.negative_loss(np.inf)), float(self.costs.positive_loss(-np.inf))])

    def completed(self, losses: list[Floats], k: int) -> Floats:
        """Losses of all rules for rows of one class, from those of the models."""
        lines = np.zeros((self.count, len(losses[0])))
        lines[: self.models] = losses
        if self.constants:  # always acting costs the negatives all, never acting the positives
            lines[self.models + k] = self.worst[k]
        return lines

    def most(self, *, fixed: bool) -> Floats:
        """How far the losses of a row of each class can lie apart, for every pair of rules."""
        most = np.tile(self.worst[:, None, None], (1, self.count, self.count))
        if self.constants:
            always, never, nothing = range(self.models, self.count)
            # treating all cannot miss, treating none raises no false alarm; class totals that are known leave no error
            for k, i, j in [(1, always, nothing), (0, never, nothing)]:
                most[k, [i, j], [j, i]] = 0.0
            if fixed:
                most[:, self.models :, self.models :] = 0.0
        return most


def table_moments(table: ScoreTable, costs: CostDistribution, rule: Rule, *, constants: bool = True) -> LossMoments:
    """Moments of one model's integrated cost from its table; ``constants`` adds "always act" and "never act"."""
    scores = table.pav_by_score() if rule == "optimal" else table.scores
    rules = Rules(costs, "score" if rule == "optimal" else rule, 1, constants)
    columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)

    def parts() -> Iterator[Part]:
        for part in blocks(len(scores)):
            losses = losses_by_score(scores[part], costs, rules.rule)
            for k, (weight, square) in enumerate(columns):
                used = weight[part] > 0.0
                yield k, rules.completed([losses[k][used]], k), weight[part][used], square[part][used]

    means, sums, masses = _summed(parts, rules.count, fixed=table.fixed_prevalence)
    sums = replace(sums, rows=sums.rows * (table.n_rows / sums.rows[:, 0, 1].sum()))
    return moments_of_sums(means, sums, masses, rules, fixed=table.fixed_prevalence)


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    if rule == "optimal":
        return math.nan
    return table_moments(table, costs, rule, constants=False).standard_error(0)


def loss_moments(rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False) -> LossMoments:
    """Moments of the models' mean integrated costs and of their differences; ``constants`` adds two rules."""
    rows = rows.used
    rules = Rules(costs, rule, len(rows.scores), constants)

    if not rows.dependent:
        means, sums, masses = _summed(partial(row_parts, rows, rules), rules.count, fixed=rows.fixed_prevalence)
        found = moments_of_sums(means, sums, masses, rules, fixed=rows.fixed_prevalence)
    else:
        found = _dependent(rows, rules)
    count = len(rows.scores)
    apart: Bools = found.spread.carriers.sum(axis=0)[:count, :count] > 0.0
    alike: list[list[int]] = np.argwhere(~apart).tolist()
    for i, j in alike:
        apart[i, j] = not np.array_equal(rows.scores[i], rows.scores[j])
    return without_room_for_copies(found, apart)


def row_parts(rows: PairedRows, rules: Rules) -> Iterator[Part]:
    """Losses of all rules, class by class, for some rows at a time."""
    for part in blocks(len(rows.y), min(max(_BLOCK // rules.count, 1 << 10), 1 << 13)):
        for k, mine in enumerate((~rows.y[part], rows.y[part])):
            weight = None if rows.weight is None else rows.weight[part][mine]
            y = rows.y[part][mine]
            losses = [row_losses(y, score[part][mine], rules.costs, rules.rule) for score in rows.scores]
            yield k, rules.completed(losses, k), weight, None


def _summed(parts: Callable[[], Iterator[Part]], count: int, *, fixed: bool) -> tuple[Floats, PowerSums, Floats]:
    """Mean loss of every rule, power sums of every pair, and weight of each class."""
    sums, masses = np.zeros((2, count)), np.zeros(2)
    for k, lines, weight, _ in parts():
        if lines.shape[1]:
            ones = np.ones(lines.shape[1]) if weight is None else weight
            masses[k] += ones.sum()
            sums[k] += [weighted_sum(ones, line) for line in lines]
    means = sums.sum(axis=0) / masses.sum()
    centres = sums / np.maximum(masses, np.finfo(float).tiny)[:, None] if fixed else np.stack([means, means])
    powers = np.zeros((6, 2, count, count))
    with np.errstate(invalid="ignore"):  # infinite losses have no interval
        for k, lines, weight, square in parts():
            if not lines.shape[1]:
                continue
            for i in range(count - 1):
                gaps = lines[i] - lines[i + 1 :]
                centred = gaps - (centres[k, i] - centres[k, i + 1 :])[:, None]
                powers[:, k, i, i + 1 :] += class_sums(centred, gaps, weight, square)
    return means[:-1], PowerSums(*(powers + np.swapaxes(powers, 2, 3))), masses


def moments_of_sums(means: Floats, sums: PowerSums, masses: Floats, rules: Rules, *, fixed: bool) -> LossMoments:
    """Moments of all rules from the power sums of every pair."""
    counts = sums.rows[:, 0, 1]
    positives = round(float(counts[1]))
    rows = round(float(counts.sum())) - positives, positives
    # no row tells the two apart, or all of a class do by as much: the rest is rounding
    none = (sums.carriers == 0.0).all(axis=0) | (sums.second <= _CONSTANT * sums.carried_second)
    second, fourth = (np.where(none, 0.0, part) for part in (sums.second, sums.fourth))
    sums = replace(sums, rows=sums.rows + np.eye(none.shape[-1]) * counts[:, None, None], second=second, fourth=fourth)
    with np.errstate(invalid="ignore"):
        spread = spread_of(sums, rules.most(fixed=fixed), masses, fixed=fixed)
    return LossMoments(means, spread, rows)


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
    return LossMoments(means, found, counts, rows.clusters is not None, reason)


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
    return LossMoments(means, spread, each[0].rows, unpaired=why if len(tables) > 1 else "")

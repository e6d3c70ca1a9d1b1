"""`Decisions`, `PairSums`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stakes.base.numerics import weighted_sum
from stakes.base.validation import BinarySample, blocks, check_kind, check_same_order, plain_label
from stakes.core.kept import Serializable
from stakes.core.options import Options, refuse_weighing
from stakes.core.regret import losses_by_score, row_losses
from stakes.costs import CostDistribution, as_costs
from stakes.variance.checks import check_columns
from stakes.variance.dependence import Design, PairedRows
from stakes.variance.estimates import Moments, half_width, moments_of, p_value
from stakes.variance.sums import (
    CentralSums,
    ClusterSums,
    PowerSums,
    Variance,
    check_largest,
    freed,
    joined,
    known,
    moved,
    spread_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from stakes.base.outcome import Origin
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable
    from stakes.costs import CostsLike
    from stakes.outputs.serialization import JsonReader

    Floats = NDArray[np.float64]
    Part = tuple[int, Floats, Floats | None, Floats | None]
    Parts = Callable[[Sequence[int], int], Iterator[Part]]
    Integers = NDArray[np.intp]
    Bools = NDArray[np.bool_]


# Sums of powers of the losses of several decision rules and of their differences, from one pass over the rows.
#
# The differences of many models are summed when they are asked for. A rule that is the same for all costs every row
# of a class alike: the sums of its differences from a model are those of the model, moved.

_ROOM = 1 << 16  # numbers at once
_LEAST = 1 << 11  # rows at once
_SETS = 64  # pairs at once


@dataclass(frozen=True)
class DecisionRules:
    """Models under one rule; where asked for, "always act" and "never act"; and last "nothing"."""

    costs: CostDistribution
    rule: Rule
    models: int
    constants: bool

    @property
    def count(self) -> int:
        """Number of rules: the models, the constant ones for each, and the one that costs nothing."""
        return self.models + 2 * self.constants + 1

    @property
    def worst(self) -> Floats:
        """What a row of each class costs at most."""
        return np.array([float(self.costs.negative_loss(np.inf)), float(self.costs.positive_loss(-np.inf))])

    def highest(self, masses: Floats, *, fixed: bool) -> float:
        """What a rule can cost on average at most, the shares of the classes known or not."""
        return float(self.worst @ masses / masses.sum()) if fixed else float(self.worst.max())

    def completed(self, losses: Sequence[Floats] | Floats, k: int) -> Floats:
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


def row_parts(rows: PairedRows, rules: DecisionRules, models: Sequence[int], size: int) -> Iterator[Part]:
    """Losses of some models, class by class, for so many rows at a time."""
    for part in blocks(len(rows.y), size):
        y = rows.y[part]
        for k, mine in enumerate((np.flatnonzero(~y), np.flatnonzero(y))):
            labels, weight = y[mine], None if rows.weight is None else rows.weight[part][mine]
            if weight is not None:
                check_largest(weight)
            lines = np.empty((len(models), len(mine)))
            for line, model in zip(lines, models, strict=True):
                line[:] = row_losses(labels, rows.scores[model][part][mine], rules.costs, rules.rule)
            yield k, lines, weight, None


def block_size(count: int) -> int:
    """Rows at once, so that so many numbers of each fit the cache."""
    return max(_ROOM // count, _LEAST)


@dataclass(frozen=True)
class RuleSums:
    """Means of all rules, power sums of the pairs that were asked for, and the weight of each class."""

    means: Floats
    powers: PowerSums
    masses: Floats


def rule_sums(parts: Parts, rules: DecisionRules, pairs: Sequence[tuple[int, int]], *, fixed: bool) -> RuleSums:
    """Sums of every model, of all rules that are the same for all, and of some pairs of models."""
    unlike = np.zeros((2, rules.models))
    alone = [(i, -1) for i in range(rules.models)]
    sums = CentralSums.of(_gaps(parts, rules, [*alone, *pairs], unlike))
    with np.errstate(invalid="ignore"):  # two infinite losses have no difference
        first, second, every = _with_constants(sums, rules, [*alone, *pairs], unlike)
        itself = np.flatnonzero(second == rules.count - 1)  # less nothing
        means = every.totals[:, itself].sum(axis=0) / every.masses[:, 0].sum()
        means = np.append(means[np.argsort(first[itself])], 0.0)
        powers = powers_of(every, (means[first], means[second]), fixed=fixed)
    whole = []
    for part in vars(powers).values():
        matrix = np.zeros((2, rules.count, rules.count))
        matrix[:, first, second] = matrix[:, second, first] = part
        whole.append(matrix)
    return RuleSums(means[:-1], PowerSums(*whole), every.masses[:, 0])


def pair_sums(parts: Parts, rules: DecisionRules, pairs: Sequence[tuple[int, int]]) -> CentralSums:
    """Sums of the differences of some pairs of models."""
    found = [CentralSums.of(_gaps(parts, rules, pairs[some], None)) for some in blocks(len(pairs), _SETS)]
    return joined(found)


def powers_of(sums: CentralSums, means: tuple[Floats, Floats], *, fixed: bool) -> PowerSums:
    """Power sums about the means: of each class where its weight is known, else of all rows."""
    with np.errstate(invalid="ignore"):  # infinite losses have no interval
        gaps = means[0] - means[1]
        return sums.power_sums(sums.means if fixed else np.stack([gaps, gaps]))


def covariance(parts: Parts, rules: DecisionRules, means: Floats, masses: Floats, *, fixed: bool) -> Floats:
    """Covariance of the mean losses of all rules but "nothing", by the products of their centred losses."""
    count = rules.count - 1
    products, rows, centres = np.zeros((2, count, count)), np.zeros(2), np.stack([means, means])
    models = range(rules.models)
    if fixed:
        totals = np.zeros((2, count))
        for k, lines, weight, _ in parts(models, block_size(rules.count)):
            totals[k] += rules.completed(lines, k)[:-1] @ (np.ones(lines.shape[1]) if weight is None else weight)
        centres = totals / masses[:, None]
    for k, lines, weight, _ in parts(models, block_size(rules.count)):
        with np.errstate(invalid="ignore"):  # infinite losses have no covariance
            centred = rules.completed(lines, k)[:-1] - centres[k][:, None]
            centred = centred if weight is None else centred * weight
            products[k] += centred @ centred.T
        rows[k] += lines.shape[1]
    scale = freed(rows) if fixed else freed([rows.sum()] * 2)
    return np.asarray((scale[:, None, None] * products).sum(axis=0)) / masses.sum() ** 2


def _gaps(
    parts: Parts, rules: DecisionRules, pairs: Sequence[tuple[int, int]], unlike: Floats | None
) -> Iterator[tuple[int, Floats, Floats | None, Floats | None]]:
    """Losses (second: -1) and differences of losses; counts the rows on which a model does not cost the most."""
    models = sorted({i for pair in pairs for i in pair if i >= 0})
    place = {model: at for at, model in enumerate(models)} | {-1: -1}
    worst = rules.worst
    for k, lines, weight, square in parts(models, block_size(len(pairs))):
        gaps = np.empty((len(pairs), lines.shape[1]))
        with np.errstate(invalid="ignore"):  # infinite losses have no interval
            for at, (i, j) in enumerate(pairs):
                np.subtract(lines[place[i]], 0.0 if j < 0 else lines[place[j]], out=gaps[at])
        if unlike is not None:
            for i, line in enumerate(lines):
                off = line != worst[k]
                if square is None:
                    unlike[k, i] += np.count_nonzero(off)
                elif weight is not None:
                    unlike[k, i] += float((weight * weight / square)[off].sum())
        yield k, gaps, weight, square


def _with_constants(
    sums: CentralSums, rules: DecisionRules, pairs: Sequence[tuple[int, int]], unlike: Floats
) -> tuple[NDArray[np.intp], NDArray[np.intp], CentralSums]:
    """The pairs of models and those of any rule with a rule that is the same for all, and their sums."""
    nothing = rules.count - 1
    first, second = [i for i, _ in pairs], [j if j >= 0 else nothing for _, j in pairs]
    every, alone = [sums], slice(0, rules.models)
    if rules.constants:
        for k in (0, 1):  # always acting differs from nothing for negatives, never acting for positives
            first += range(rules.models)
            second += [rules.models + k] * rules.models
            every.append(_moved(sums, alone, {k: -rules.worst[k]}, {k: unlike[k]}))
        for i, j in combinations(range(rules.models, rules.count), 2):
            first.append(i)
            second.append(j)
            every.append(_constant(sums, {i - rules.models: 1.0, j - rules.models: -1.0}, rules.worst))
    return np.array(first), np.array(second), joined(every)


def _moved(sums: CentralSums, some: slice, by: dict[int, float], carriers: dict[int, Floats]) -> CentralSums:
    """The sums of values of a class that are all moved."""
    parts: dict[str, Any] = {name: part[..., some].copy() for name, part in sums.columns.items()}
    for k, gap in by.items():
        if parts["rows"][k].any():
            parts["means"][k] += gap
            parts["totals"][k] += gap * parts["masses"][k]
            parts["carriers"][k] = carriers[k]
    return replace(sums, **parts)


def _constant(sums: CentralSums, sign: Mapping[int, float], worst: Floats) -> CentralSums:
    """The sums of what always acting (0) and never acting (1) cost, or do not."""
    one, nothing = slice(0, 1), np.zeros((2, 1))
    second, fourth = (np.zeros((len(part), 2, 1)) for part in (sums.second, sums.fourth))
    second[0], fourth[0] = sums.second[0][:, one], sums.fourth[0][:, one]
    base = CentralSums(sums.rows[:, one], sums.masses[:, one], nothing, nothing, nothing, second, fourth)
    by = {k: sign[k] * float(worst[k]) for k in sign if k < len(worst)}
    return _moved(base, one, by, {k: base.rows[k] * (gap != 0.0) for k, gap in by.items()})


# The pairs of many models, of which each is worked out when it is first asked for: work grows with the questions.


@dataclass(frozen=True)
class LazyPairs:
    """Rows, rules, mean losses and the weight of each class: what the pairs of models follow from."""

    rows: PairedRows
    rules: DecisionRules
    means: Floats
    masses: Floats

    def fill(self, spread: Variance, first: Integers, second: Integers) -> None:
        """Put the spread of pairs of models that have not been asked for into its place in the matrices."""
        count, done = self.rules.models, self._known
        first, second = (
            np.where(part < 0, part + self.rules.count, part) for part in np.broadcast_arrays(first, second)
        )
        low, high = np.minimum(first, second), np.maximum(first, second)
        new = (high < count) & (low < high)
        new[new] = ~done[low[new], high[new]]
        if not new.any():
            return
        pairs = np.unique(np.stack([low[new], high[new]]), axis=1)
        found = self._spread(pairs)
        for whole, part in zip(vars(spread).values(), vars(found).values(), strict=True):
            whole[..., pairs[0], pairs[1]] = whole[..., pairs[1], pairs[0]] = part
        done[pairs[0], pairs[1]] = True

    @cached_property
    def covariance(self) -> Floats:
        """Covariances of the mean losses of all rules."""
        parts, fixed = partial(row_parts, self.rows, self.rules), self.rows.fixed_prevalence
        return covariance(parts, self.rules, self.means, self.masses, fixed=fixed)

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        return np.zeros((self.rules.models, self.rules.models), dtype=bool)

    def _spread(self, pairs: Integers) -> Variance:
        rows, fixed = self.rows, self.rows.fixed_prevalence
        sums = pair_sums(partial(row_parts, rows, self.rules), self.rules, list(zip(*pairs.tolist(), strict=True)))
        powers = powers_of(sums, (self.means[pairs[0]], self.means[pairs[1]]), fixed=fixed)
        most = np.tile(self.rules.worst[:, None], (1, pairs.shape[1]))
        found = spread_without_rounding(powers, most, self.masses, fixed=fixed)
        alike = sums.carriers.sum(axis=0) == 0.0
        alike[alike] = [np.array_equal(rows.scores[i], rows.scores[j]) for i, j in pairs[:, alike].T]
        return replace(found, room=np.where(alike, 0.0, found.room), scarce=found.scarce & ~alike)


def spread_without_rounding(sums: PowerSums, most: Floats, masses: Floats, *, fixed: bool) -> Variance:
    """Spread of differences; where no row tells the two apart, or all of a class do by as much, there is none."""
    none = (sums.carriers == 0.0).all(axis=0) | known(sums.second, sums.carried_second)
    second, fourth = (np.where(none, 0.0, part) for part in (sums.second, sums.fourth))
    with np.errstate(invalid="ignore"):
        return spread_of(replace(sums, second=second, fourth=fourth), most, masses, fixed=fixed)


# Moments of mean losses and of their paired differences, in closed form.
#
# A mean loss is a weighted mean of per-row losses, so its spread follows from sums of powers over rows; weights are
# linearised (ratio estimator). Under a stated prevalence the class totals are known, and each class is centred on its
# own mean. Every rule is compared with every other and with "nothing", whose loss is zero: that pair is the rule
# itself.

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
    spread: Variance
    rows: tuple[int, ...]
    clusters: int = 0
    reason: str = ""
    unpaired: str = ""
    unasked: LazyPairs | None = None
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
        """Return the standard error of one mean."""
        return self.of(index).standard_error

    def spread_at(self, first: Integers | int, second: Integers | int) -> Variance:
        """Spread of the differences of some pairs; those of models that are not known yet are worked out."""
        if self.unasked is not None:
            self.unasked.fill(self.spread, np.atleast_1d(first), np.atleast_1d(second))
        return Variance(*(part[..., first, second] for part in vars(self.spread).values()))

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
    rules = DecisionRules(costs, "score" if rule == "optimal" else rule, 1, constants)
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
    rules = DecisionRules(costs, rule, len(rows.scores), constants)
    if rows.dependent:
        found = _dependent(rows, rules)
        return without_room_for_copies(found, _apart(rows, found.spread.carriers.sum(axis=0) > 0.0))
    fixed, few = rows.fixed_prevalence, rules.models <= _FEW
    pairs = list(combinations(range(rules.models), 2)) if few else []
    sums = rule_sums(partial(row_parts, rows, rules), rules, pairs, fixed=fixed)
    found = moments_of_sums(sums.means, sums.powers, sums.masses, rules, fixed=fixed)
    if not few:
        return replace(found, unasked=LazyPairs(rows, rules, sums.means, sums.masses))
    return without_room_for_copies(found, _apart(rows, sums.powers.carriers.sum(axis=0) > 0.0))


def _apart(rows: PairedRows, apart: Bools) -> Bools:
    """Which models give a row different scores; those whose costs differ do."""
    count = len(rows.scores)
    apart = apart[:count, :count].copy()
    alike: list[list[int]] = np.argwhere(~apart).tolist()
    for i, j in alike:
        apart[i, j] = not np.array_equal(rows.scores[i], rows.scores[j])
    return apart


def moments_of_sums(
    means: Floats, sums: PowerSums, masses: Floats, rules: DecisionRules, *, fixed: bool
) -> LossMoments:
    """Moments of all rules from the power sums of every pair."""
    counts = sums.rows[:, 0, -1]
    positives = round(float(counts[1]))
    rows = round(float(counts.sum())) - positives, positives
    sums = replace(sums, rows=sums.rows + np.eye(sums.rows.shape[-1]) * counts[:, None, None])
    spread = spread_without_rounding(sums, rules.most(fixed=fixed), masses, fixed=fixed)
    return LossMoments(means, spread, rows, highest=rules.highest(masses, fixed=fixed))


def _dependent(rows: PairedRows, rules: DecisionRules) -> LossMoments:
    """The same for rows in clusters or in order."""
    weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
    design = Design(rows.y, weight, None, rows.fixed_prevalence, rows.clusters, rows.lags, rows.origin)
    lines, count = np.empty((rules.count, len(rows.y))), rules.count
    for k, mine in enumerate((~rows.y, rows.y)):
        losses = [row_losses(rows.y[mine], score[mine], rules.costs, rules.rule) for score in rows.scores]
        lines[:, mine] = rules.completed(losses, k)
    most = rules.most(fixed=rows.fixed_prevalence)
    one, both = np.zeros((count, count)), np.zeros((2, count, count))
    found = Variance(one, one + 1.0, one.copy(), both, both.copy(), both > 0.0)
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
    spread = Variance(one + np.nan, one + 1.0, one, both, both.copy(), both > 0.0)
    for i, mine in enumerate(each):
        places = np.array([i, *range(len(tables), count)])
        for whole, part in zip(vars(spread).values(), vars(mine.spread).values(), strict=True):
            whole[..., places[:, None], places] = part
    means = np.array([*(mine.means[0] for mine in each), *each[0].means[1:]])
    unpaired, highest = why if len(tables) > 1 else "", max(mine.highest for mine in each)
    return LossMoments(means, spread, each[0].rows, unpaired=unpaired, highest=highest)


# Sums over rows from which the paired difference of any two models follows: they add up, and can be kept.
#
# For every pair of decisions and each class there are sums of the powers of the difference d of their losses,
# weighted: w d, and w^2 d^j and w^4 d^j up to j = 2 and 4. The moments about any centre follow by the binomial
# theorem, so that one pass over the rows is enough, wherever they are. Among the decisions are "treat all", "treat
# none" and, last, "nothing", whose loss is zero.

# the power of the weight and of the difference in each sum
POWERS = ((1, 1), *((2, j) for j in range(3)), *((4, j) for j in range(5)))
_COLUMNS = tuple(f"w{a}_d{b}" for a, b in POWERS)
_SECOND, _FOURTH = slice(1, 4), slice(4, 9)
# what is left of the second powers of a constant, as a share of them
_CONSTANT_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class PairSums(Serializable):
    """Sums over rows that say how sure the differences between models are.

    Build them with :meth:`from_predictions` or :meth:`from_frame`, add those of other rows with :meth:`merge`, and
    pass them with the tables of the models to :func:`evaluate`.

    Parameters
    ----------
    models : tuple of str
        Names.
    costs : CostDistribution
        How much each cost ratio counts.
    rule : "score" or float
        How scores become decisions.
    rows, mass : ndarray of shape (2,)
        Rows of each class (negatives, positives) and their weight.
    powers : ndarray of shape (9, 2, p)
        Sums for each class and pair of decisions, of ``w d``, ``w^2 d^j`` up to j = 2, and
        ``w^4 d^j`` up to j = 4.
    carriers : ndarray of shape (2, p)
        Rows with d != 0.
    apart : ndarray of shape (2, p)
        Rows that two models score differently; of the other decisions, the carriers.
    clusters : ClusterSums, optional
        Sums over clusters, where only rows of different clusters are independent. Such sums are not merged or kept.
    pos_label : str, int or float, default 1
        The label of the positive class. Sums of other classes are not merged.

    Examples
    --------
    >>> from stakes.inference import PairSums
    >>> PairSums.from_predictions([0, 1] * 9, {"a": [0.1, 0.8] * 9, "b": [0.3, 0.6] * 9}, costs=(0.2, 0.5))
    PairSums(2 models, 18 rows, costs=Uniform(low=0.2, high=0.5))
    """

    models: tuple[str, ...]
    costs: CostDistribution
    rule: Rule
    rows: Floats
    mass: Floats
    powers: Floats
    carriers: Floats
    apart: Floats
    clusters: ClusterSums | None = None
    pos_label: str | float = 1

    _what: ClassVar[str] = "set of pair sums"
    _form: ClassVar[str] = "stakes-pairs-2"

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: Mapping[str, ArrayLike],
        *,
        costs: CostsLike,
        rule: Rule = "score",
        sample_weight: ArrayLike | None = None,
        pos_label: object = None,
        logits: bool = False,
    ) -> Self:
        """Sum over rows in memory.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            Labels with two values.
        y_prob : mapping of str to array_like of shape (n,)
            Probabilities of the positive class, by model.
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts.
        rule : "score" or float, default "score"
            How scores become decisions.
        sample_weight : array_like of shape (n,), optional
            Weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        logits : bool, default False
            Whether the scores are log-odds.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            For invalid data or ``rule="optimal"``.

        Examples
        --------
        >>> from stakes.inference import PairSums
        >>> PairSums.from_predictions([0, 1], {"a": [0.1, 0.8]}, costs=0.5).rows.tolist()
        [1.0, 1.0]
        """
        check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        options = Options(
            costs=as_costs(costs), rule=rule, sample_weight=sample_weight, pos_label=pos_label, logits=logits
        ).checked()
        if not (hasattr(y_prob, "items") and len(y_prob)):
            raise ValueError(f"y_prob must map the names of models to probabilities, got {y_prob!r}.")
        refuse_weighing(y_true, "PairSums")
        samples = {str(n): options.data(y_true, p, f"y_prob[{n!r}]").rows for n, p in y_prob.items()}
        found = cls.from_samples(samples, options.costs, _check_rule(options.rule))
        return replace(found, pos_label=plain_label(pos_label))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        models: Iterable[str],
        costs: CostsLike,
        rule: Rule = "score",
        weight: str | None = None,
        pos_label: object = None,
        clusters: str | None = None,
        prevalence: float | None = None,
    ) -> Self:
        """Sum over the rows of a data frame; those of a lazy one stay in its engine, which sums them in one pass.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
            Anything narwhals understands, eager or lazy.
        label : str
            Column with the labels.
        models : iterable of str
            Columns with probabilities.
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts. In an engine: ``Fixed``, ``Empirical``, ``Uniform``, ``LogOddsUniform`` and
            sums of them.
        rule : "score" or float, default "score"
            How scores become decisions.
        weight : str, optional
            Column with weights >= 0.
        pos_label : object, optional
            The label of the positive class.
        clusters : str, optional
            Column of what only differs independently, such as patients: another pass sums over its values.
        prevalence : float, optional
            The stated share of positives that sums over clusters are for.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            For missing columns, invalid values, fewer than five clusters, or costs whose losses an engine cannot
            compute.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes.inference import PairSums
        >>> frame = pl.LazyFrame({"y": [0, 1], "a": [0.1, 0.8], "b": [0.3, 0.6]})
        >>> PairSums.from_frame(frame, label="y", models=["a", "b"], costs=(0.2, 0.5)).models
        ('a', 'b')
        """
        import narwhals.stable.v2 as nw

        from stakes.tables import frame_columns, sum_clusters, sum_pairs

        options, names = Options(costs=as_costs(costs), rule=rule, prevalence=prevalence).checked(), tuple(models)
        what: dict[str, Any] = {"label": label, "models": names, "weight": weight, "pos_label": pos_label}
        native: Any = nw.from_native(frame)
        asked: dict[str, Any] = {"costs": options.costs, "rule": _check_rule(options.rule)}
        if isinstance(native, nw.LazyFrame):
            found = cls(models=names, **asked, **sum_pairs(native, **what, **asked, powers=POWERS))
        else:
            rows = frame_columns(frame, **what, groups=None if clusters is None else [clusters])
            samples = [BinarySample(rows.y, score, rows.weight) for score in rows.scores]
            found = cls.from_samples(dict(zip(names, samples, strict=True)), **asked)
        found = replace(found, pos_label=plain_label(pos_label))
        if clusters is None:
            return found
        by, _, centres = found._centred(prevalence)
        shares = by / (by * found.mass).sum()
        sums = sum_clusters(native.lazy(), **what, **asked, clusters=clusters, centres=centres, shares=shares)
        return replace(found, clusters=ClusterSums.of(sums, shares, prevalence))

    @classmethod
    def from_samples(cls, samples: Mapping[str, BinarySample], costs: CostDistribution, rule: Rule) -> Self:
        """Sum over rows that are checked already and share labels and weights."""
        first, names = next(iter(samples.values())), tuple(samples)
        rows = PairedRows(first.y, [sample.score for sample in samples.values()], first.weight).used
        rules = DecisionRules(costs, rule, len(names), constants=True)
        pairs = _pairs(len(names))
        counts, mass, powers = np.zeros(2), np.zeros(2), np.zeros((len(POWERS), 2, len(pairs)))
        carriers = np.zeros((2, len(pairs)))
        for k, found, weight, _ in row_parts(rows, rules, range(rules.models), block_size(rules.count)):
            lines = rules.completed(found, k)
            ones = np.ones(lines.shape[1]) if weight is None else weight
            counts[k] += len(ones)
            mass[k] += ones.sum()
            for at, (i, j) in enumerate(pairs):
                with np.errstate(invalid="ignore"):  # infinite losses have no spread
                    gap = lines[i] - lines[j]
                    powers[:, k, at] += _powers(ones, gap)
                carriers[k, at] += np.count_nonzero(gap)
        apart = carriers.copy()
        for at, (i, j) in enumerate(pairs):
            if j < len(names):
                differ = rows.scores[i] != rows.scores[j]
                apart[:, at] = np.count_nonzero(differ & ~rows.y), np.count_nonzero(differ & rows.y)
        return cls(names, costs, rule, counts, mass, powers, carriers, apart)

    def merge(self, other: PairSums) -> Self:
        """Add the sums over other rows.

        Parameters
        ----------
        other : PairSums
            Of the same models, costs, rule and positive class.

        Returns
        -------
        PairSums

        Raises
        ------
        ValueError
            If ``other`` holds no sums, models, costs, rule or ``pos_label`` differ, or there are clusters, which may
            have rows in both.

        Examples
        --------
        >>> from stakes.inference import PairSums
        >>> one = PairSums.from_predictions([0, 1], {"a": [0.1, 0.8]}, costs=0.5)
        >>> one.merge(one).rows.tolist()
        [2.0, 2.0]
        """
        check_kind(other, "other", PairSums, remedy="build one by PairSums.from_predictions")
        self._refuse_clusters("merged")
        other._refuse_clusters("merged")
        for name in ("models", "costs", "rule", "pos_label"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise ValueError(f"merge needs sums of the same {name}, got {mine!r} and {its!r}.")
        sums = ("rows", "mass", "powers", "carriers", "apart")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in sums})

    def moments(self, prevalence: float | None = None) -> LossMoments:
        """Means and the spread of all differences, the classes weighted to a stated prevalence."""
        n, pairs = len(self.models), _pairs(len(self.models))
        by, powers, centres = self._centred(prevalence)
        mass = by * self.mass
        alone = [pairs.index((i, n + 2)) for i in range(n + 2)]
        means, fixed = powers[0][:, alone].sum(axis=0) / mass.sum(), prevalence is not None
        rules = DecisionRules(self.costs, self.rule, n, constants=True)
        if self.clusters is not None:
            found = self._over_clusters(self.clusters, means, mass, rules, prevalence)
        else:
            with np.errstate(invalid="ignore"):  # infinite losses have no interval
                second, fourth = (moved(powers[part], -centres) for part in (_SECOND, _FOURTH))
                constant = second <= _CONSTANT_ROUNDING * (powers[3] + centres**2 * powers[1])
                second, fourth = (np.where(constant, 0.0, np.maximum(part, 0.0)) for part in (second, fourth))
            rows = np.broadcast_to(self.rows[:, None], self.carriers.shape)
            parts = (rows, second, fourth, self.carriers, powers[3], powers[8])
            sums = PowerSums(*(_square(part, n) for part in parts))
            found = moments_of_sums(means, sums, mass, rules, fixed=fixed)
        return without_room_for_copies(found, _square(self.apart.any(axis=0), n)[:n, :n])

    def _centred(self, prevalence: float | None) -> tuple[Floats, Floats, Floats]:
        """What each class is weighted by, sums of powers, and what differences are centred on, at a prevalence."""
        if prevalence is None:
            with np.errstate(invalid="ignore"):  # infinite losses have no interval
                return np.ones(2), self.powers, np.tile(self.powers[0].sum(axis=0) / self.mass.sum(), (2, 1))
        if not self.mass.all():
            raise ValueError("prevalence= needs rows of both classes, got one class only.")
        by = np.array([1.0 - prevalence, prevalence]) * self.mass.sum() / self.mass
        powers = self.powers * np.stack([by**a for a, _ in POWERS])[:, :, None]
        with np.errstate(invalid="ignore"):
            return by, powers, powers[0] / (by * self.mass)[:, None]

    def _over_clusters(
        self, clusters: ClusterSums, means: Floats, mass: Floats, rules: DecisionRules, prevalence: float | None
    ) -> LossMoments:
        stated = clusters.prevalence
        if (stated is None) != (prevalence is None) or not math.isclose(stated or 1.0, prevalence or 1.0, rel_tol=1e-9):
            raise ValueError(f"these sums over clusters are for prevalence={stated}, got {prevalence}.")
        n = len(self.models)
        first, second = np.array(_pairs(n)).T
        spread = clusters.spread(rules.most(fixed=prevalence is not None)[:, first, second], mass)
        matrices = Variance(*(_square(part, n) for part in vars(spread).values()))
        have = tuple(round(float(count)) for count in clusters.have)
        highest = rules.highest(mass, fixed=prevalence is not None)
        return LossMoments(means, matrices, have, len(clusters.shape), clusters.shape.reason(), highest=highest)

    def _refuse_clusters(self, what: str) -> None:
        if self.clusters is not None:
            raise ValueError(f"sums over clusters cannot be {what}: a cluster may have rows elsewhere. Sum all rows.")

    def _kept(self) -> tuple[dict[str, Any], dict[str, Floats]]:
        self._refuse_clusters("kept")
        facts: dict[str, Any] = {"models": list(self.models), "costs": self.costs.to_dict(), "rule": self.rule}
        facts["pos_label"] = self.pos_label
        size = self.carriers.shape[1]
        columns = {"rows": self.rows.repeat(size), "mass": self.mass.repeat(size)}
        columns |= dict(zip(_COLUMNS, self.powers.reshape(len(POWERS), -1), strict=True))
        return facts, {**columns, "carriers": self.carriers.ravel(), "apart": self.apart.ravel()}

    @classmethod
    def _from_entries(cls, entries: JsonReader) -> Self:
        models = entries.at("models")
        if not (isinstance(models, list) and models and all(isinstance(name, str) for name in models)):
            raise entries.broken("models", "a list of names")
        if len(set(models)) < len(models):
            raise entries.broken("models", "a list of names that differ")
        described = entries.plain("costs")
        try:
            costs = CostDistribution.from_dict(described)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise entries.broken("costs", f"a cost distribution ({error})") from None
        shape = 2, len(_pairs(len(models)))
        taken: Rule = "score" if entries.at("rule") == "score" else entries.number("rule")
        columns = {}
        for name in ("rows", "mass", *_COLUMNS, "carriers", "apart"):
            power = name in _COLUMNS
            columns[name] = entries.numbers(name, undefined=power, infinite=power)
            if columns[name].size != shape[0] * shape[1]:
                raise entries.broken(name, f"{shape[0] * shape[1]:,} numbers, two for each pair")
            if not power and not np.all(columns[name] >= 0.0):
                raise entries.broken(name, "made of finite numbers >= 0")
            columns[name] = columns[name].reshape(shape)
        check_columns(
            columns, tuple(models), DecisionRules(costs, taken, len(models), constants=True).worst, entries.broken
        )
        powers = np.stack([columns[name] for name in _COLUMNS])
        rows, mass = columns["rows"][:, 0], columns["mass"][:, 0]
        counts, label = (columns["carriers"], columns["apart"]), entries.label("pos_label")
        return cls(tuple(models), costs, taken, rows, mass, powers, *counts, pos_label=label)

    def __repr__(self) -> str:
        plural = "model" if len(self.models) == 1 else "models"
        return f"PairSums({len(self.models)} {plural}, {int(self.rows.sum())} rows, costs={self.costs!r})"


def _pairs(models: int) -> list[tuple[int, int]]:
    """Every pair of models, "treat all", "treat none" and "nothing"."""
    return list(combinations(range(models + 3), 2))


def _square(values: Any, models: int) -> Any:
    """Values of all pairs (last axis) as matrices, whose diagonals are zero."""
    first, second = np.array(_pairs(models)).T
    found = np.zeros((*values.shape[:-1], models + 3, models + 3), dtype=values.dtype)
    found[..., first, second] = found[..., second, first] = values
    return found


def _powers(weight: Floats, gap: Floats) -> list[float]:
    squares = weight * weight, gap * gap
    weights = {1: weight, 2: squares[0], 4: squares[0] * squares[0]}
    gaps = np.ones(len(gap)), gap, squares[1], squares[1] * gap, squares[1] * squares[1]
    return [float(np.dot(weights[a], gaps[b])) for a, b in POWERS]


def _check_rule(rule: Rule) -> Rule:
    if rule == "optimal":
        raise ValueError('rule="optimal" is fitted to the same rows and has no sums of pairs; use "score".')
    return rule


# Mean costs of several decisions on the same rows, their covariance, and how far the difference of two may be off.
#
# Only here does selection see rows: what decides needs the means, one covariance matrix (one matrix product over the
# rows) and, for the few pairs that a verdict rests on, the degrees of freedom and the room for rows not yet seen.

_COLUMNS_AT_ONCE = 32


@dataclass(frozen=True)
class Spread:
    """Variance, degrees of freedom and squared room for unseen rows of some estimates; ``scarce`` rests on few rows.

    Parameters
    ----------
    variance, degrees, room : ndarray of shape (p,)
        Of each estimate.
    scarce : ndarray of shape (p,)
        Effective number of rows that carry the scarcest class, where it is scarce; else inf.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Spread
    >>> Spread.normal(np.array([0.01])).reach(1.96).round(3).tolist()
    [0.196]
    """

    variance: Floats
    degrees: Floats
    room: Floats
    scarce: Floats

    @classmethod
    def normal(cls, variance: Floats) -> Spread:
        """Return estimates with normal errors of known variance."""
        size = np.shape(variance)
        return cls(variance, np.full(size, np.inf), np.zeros(size), np.full(size, np.inf))

    def reach(self, critical: float) -> Floats:
        """How far an interval reaches that would be ``critical`` standard errors long if the errors were normal."""
        alpha = math.erfc(critical / math.sqrt(2.0))
        return half_width(self.variance, self.degrees, self.room, alpha)

    def tail(self, gap: Floats) -> Floats:
        """One-sided p-value of differences >= 0: below the level exactly where the interval leaves zero out."""
        return 0.5 * p_value(gap, self.variance, self.degrees, self.room)


@dataclass(frozen=True)
class Contest:
    """Decisions that compete on the same rows.

    Parameters
    ----------
    names : tuple of str
        Models first, then references.
    n_models : int
        How many are models.
    means : ndarray of shape (k,)
        Mean cost of each.
    covariance : ndarray of shape (k, k)
        Of the means.
    n_rows : int
        Rows they rest on.
    spread : callable, optional
        Spread of the differences of decisions a and b, given by places; a b of -1 is no cost at all. By
        default normal, from the covariance.
    highest : float, default inf
        The most that a mean can be.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Contest, select
    >>> select(Contest(("a", "b"), 2, np.array([0.1, 0.2]), 0.0001 * np.eye(2), 500)).chosen
    'a'
    """

    names: tuple[str, ...]
    n_models: int
    means: Floats
    covariance: Floats
    n_rows: int
    spread: Callable[[Integers, Integers], Spread] | None = None
    highest: float = math.inf

    def spread_of(self, a: Integers, b: Integers) -> Spread:
        """Spread of the differences of pairs."""
        if self.spread is not None:
            return self.spread(a, b)
        own = np.diag(self.covariance)
        pair = own[a] + own[b] - 2.0 * self.covariance[a, b]
        return Spread.normal(np.maximum(np.where(b < 0, own[a], pair), 0.0))


@dataclass(frozen=True)
class CostRows:
    """Costs of each row (n) under each decision (k), and what makes rows unequal or dependent.

    ``y`` says which rows are positive, or of which kind each one is; ``largest`` holds the most that a row of each kind
    may cost under each decision: first negatives, then positives. Where a kind costs something whatever is decided,
    ``carried`` holds what rows cost beyond some least, and the most of that: what is rare must show in one of them.
    ``unsteady`` is how many times as large as the rows show the variance of a difference is, for decisions by fits that
    would be others with other rows.
    """

    costs: Floats
    y: Bools | Integers
    weight: Floats
    clusters: Integers | None
    largest: Floats
    by_class: bool = False
    origin: Origin | None = None
    carried: tuple[tuple[Floats, Floats], ...] = ()
    unsteady: float = 1.0

    @classmethod
    def of(
        cls,
        samples: Sequence[BinarySample],
        costs: CostDistribution,
        rule: Rule = "score",
        factor: float = 1.0,
        *,
        references: bool = True,
        clusters: Integers | None = None,
        by_class: bool = False,
    ) -> CostRows:
        """Costs of each row under each model, then under treating all and no one, all times a factor."""
        y, weight, count = samples[0].y, samples[0].weight, len(samples)
        always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
        lines = [row_losses(y, sample.score, costs, rule) for sample in samples]
        largest = np.full((2, count + 2 * references), [[always], [never]])
        if references:
            lines += [np.where(y, 0.0, always), np.where(y, never, 0.0)]
            largest[1, count] = largest[0, count + 1] = 0.0
        weight = np.ones(len(y)) if weight is None else weight
        origin = samples[0].origin
        return cls(factor * np.stack(lines, axis=1), y, weight, clusters, factor * largest, by_class, origin)

    @property
    def means(self) -> Floats:
        """Weighted mean cost of each rule."""
        return np.asarray(self.weight @ self.costs / self.weight.sum())

    def covariance(self) -> Floats:
        """Covariance of the means."""
        units = self._design.units(self.costs.T)
        return np.asarray(units @ units.T)

    def spread(self, a: Integers, b: Integers) -> Spread:
        """Spread of a less b, worked out from the rows; -1 is no cost at all."""
        parts = [
            self._spread(a[k : k + _COLUMNS_AT_ONCE], b[k : k + _COLUMNS_AT_ONCE])
            for k in range(0, len(a), _COLUMNS_AT_ONCE)
        ]
        columns = zip(*((p.variance, p.degrees, p.room, p.scarce) for p in parts), strict=True)
        return Spread(*(np.concatenate(column) for column in columns))

    @property
    def _design(self) -> Design:
        return Design(
            self.y,
            self.weight,
            fixed=self.by_class,
            codes=self.clusters,
            origin=self.origin,
            kinds=len(self.largest),
        )

    def _spread(self, a: Integers, b: Integers) -> Spread:
        alone = b < 0
        gap = (self.costs[:, a] - np.where(alone, 0.0, self.costs[:, b])).T
        centred, every = self._design.centred(gap), self.largest.max(axis=1)[:, None]
        parts = []
        for values, largest in (self.carried if alone.any() else ()) or ((self.costs, self.largest),):
            carried = gap if values is self.costs else np.where(alone[:, None], values[:, a].T, gap)
            found, _, _ = self._design.spread(centred, carried, np.where(alone, largest[:, a], every))
            parts.append(found)
        room = np.max([part.room for part in parts], axis=0)
        scarcest = [np.where(part.scarce, part.carrying, np.inf).min(axis=0) for part in parts]
        variance = found.variance * np.where(alone, 1.0, self.unsteady)
        return Spread(variance, found.degrees, room, np.min(scarcest, axis=0))

"""`Decisions`: mean losses of several decision rules on the same rows, and their differences; `PairSums`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from stakes.base import validation
from stakes.base.multiclass import models_by_name
from stakes.base.numerics import order_of_codes, weighted_sum
from stakes.base.outcome import Origin
from stakes.core.options import Options, refuse_weighing
from stakes.core.score_table import Rule, ScoreTable, Serializable, losses_by_score, row_losses
from stakes.costs import CostDistribution, CostsLike, as_costs
from stakes.outputs.hooks import nw
from stakes.outputs.serialization import JsonReader
from stakes.variance.checks import check_columns
from stakes.variance.dependence import Design, PairedRows
from stakes.variance.largest import ManyMoments
from stakes.variance.sums import (
    POWERS,
    Block,
    ClusterSums,
    Moments,
    Sums,
    Variance,
    bessel,
    check_largest,
    half_width,
    joined,
    members,
    moments_of,
    p_value,
    pairs_of_decisions,
    sum_powers,
    worst_losses,
)

Pairs = Sequence[tuple[int, int]]


# Losses of several decision rules and of their differences, block by block.
#
# A rule that is the same for all rows costs every row of a class alike: the sums of its differences from a model are
# those of the model, shifted.

_AT_ONCE = 1 << 16  # numbers
_LEAST = 1 << 11  # rows at once
_PAIRS_AT_ONCE = 64
_KEPT = 1 << 22  # losses


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRules:
    """Models under one rule; with ``constants`` "always act" and "never act"; last "nothing", which costs nothing."""

    costs: CostDistribution
    rule: Rule
    models: int
    constants: bool

    @property
    def count(self) -> int:
        """Number of rules: the models, the constant ones, and the one that costs nothing."""
        return self.models + 2 * self.constants + 1

    @property
    def max_loss(self) -> validation.Floats:
        """What a row of each class costs at most."""
        return worst_losses(self.costs)

    def highest(self, masses: validation.Floats, *, fixed: bool) -> float:
        """What a rule can cost on average at most, the shares of the classes known or not."""
        return float(self.max_loss @ masses / masses.sum()) if fixed else float(self.max_loss.max())

    def with_constants(self, losses: Sequence[validation.Floats] | validation.Floats, k: int) -> validation.Floats:
        """Losses of all rules for rows of one class, from those of the models."""
        lines = np.zeros((self.count, len(losses[0])))
        lines[: self.models] = losses
        if self.constants:  # always acting costs the negatives all, never acting the positives
            lines[self.models + k] = self.max_loss[k]
        return lines

    def max_gap(self, *, fixed: bool) -> validation.Floats:
        """How far the losses of a row of each class can lie apart, for every pair of rules."""
        most = np.tile(self.max_loss[:, None, None], (1, self.count, self.count))
        if self.constants:
            always, never, nothing = range(self.models, self.count)
            # treating all cannot miss, treating none raises no false alarm; class totals that are known leave no error
            for k, i, j in [(1, always, nothing), (0, never, nothing)]:
                most[k, [i, j], [j, i]] = 0.0
            if fixed:
                most[:, self.models :, self.models :] = 0.0
        return most


@dataclass(frozen=True, eq=False, repr=False)
class _RowLosses:
    """Losses of the models for rows in memory."""

    rows: PairedRows
    rules: DecisionRules

    @cached_property
    def computed(self) -> validation.Bools:
        """Which pairs of models have a variance already."""
        return np.zeros((self.rules.models, self.rules.models), dtype=bool)

    @cached_property
    def known(self) -> dict[tuple[int, int, int, int], validation.Floats]:
        """Losses that were computed before, by model, block of rows and class."""
        return {}

    @property
    def lines(self) -> validation.Floats:
        """Losses of all rules (first axis) for every row."""
        rows, rules = self.rows, self.rules
        lines = np.zeros((rules.count, len(rows.y)))
        for part in validation.blocks(len(rows.y)):
            for line, score in zip(lines, rows.scores, strict=False):
                line[part] = row_losses(rows.y[part], score[part], rules.costs, rules.rule)
        if rules.constants:  # always acting costs the negatives all, never acting the positives
            for k, mine in enumerate(members(rows.y)):
                lines[rules.models + k, mine] = rules.max_loss[k]
        return lines

    def __call__(self, models: Sequence[int], at_once: int) -> Iterator[Block]:
        """Losses of some models, class by class, for so many rows that ``at_once`` numbers of each fit the cache."""
        rows = self.rows
        for part in validation.blocks(len(rows.y), max(_AT_ONCE // at_once, _LEAST)):
            y = rows.y[part]
            for k, mine in enumerate((np.flatnonzero(~y), np.flatnonzero(y))):
                weight, lines = None, np.empty((len(models), len(mine)))
                if rows.weight is not None:
                    weight = rows.weight[part][mine]
                    check_largest(weight)
                for line, model in zip(lines, models, strict=True):
                    line[:] = self._line(model, part, k, mine)
                yield k, lines, weight, None

    def _line(self, model: int, part: slice, kind: int, mine: validation.Integers) -> validation.Floats:
        """Losses of a model for rows of one class; where all losses fit into memory, they are computed once."""
        key = model, part.start, part.stop, kind
        line = self.known.get(key)
        if line is None:
            y, score = self.rows.y[part][mine], self.rows.scores[model][part][mine]
            line = row_losses(y, score, self.rules.costs, self.rules.rule)
            if self.rules.models * len(self.rows.y) <= _KEPT:
                self.known[key] = line
        return line


@dataclass(frozen=True, eq=False, repr=False)
class _TableLosses:
    """Losses of one model for the rows of a score table."""

    table: ScoreTable
    scores: validation.Floats
    rules: DecisionRules

    def __call__(self, _models: Sequence[int], at_once: int) -> Iterator[Block]:
        """The same, cell by cell."""
        table = self.table
        columns = (table.negatives, table.negatives_squared), (table.positives, table.positives_squared)
        for part in validation.blocks(len(self.scores), max(_AT_ONCE // at_once, _LEAST)):
            losses = losses_by_score(self.scores[part], self.rules.costs, self.rules.rule)
            for k, (weight, square) in enumerate(columns):
                used = weight[part] > 0.0
                yield k, losses[k][used][None], weight[part][used], square[part][used]


Losses = _RowLosses | _TableLosses


def _difference_sums(losses: Losses, pairs: Pairs, unlike: validation.Floats | None = None) -> Sums:
    """Sums of losses (second: -1) and of their differences; counts the rows on which a model does not cost the most."""
    models = sorted({i for pair in pairs for i in pair if i >= 0})
    place = {model: at for at, model in enumerate(models)}
    max_loss = losses.rules.max_loss

    def gaps() -> Iterator[Block]:
        for k, lines, weight, square in losses(models, len(pairs)):
            gaps = np.empty((len(pairs), lines.shape[1]))
            with np.errstate(invalid="ignore"):  # infinite losses have no interval
                for at, (i, j) in enumerate(pairs):
                    np.subtract(lines[place[i]], 0.0 if j < 0 else lines[place[j]], out=gaps[at])
            if unlike is not None:
                off = lines != max_loss[k]
                if square is None or weight is None:
                    unlike[k] += [np.count_nonzero(row) for row in off]
                else:
                    unlike[k] += off @ (weight * weight / square)
            yield k, gaps, weight, square

    return Sums.from_blocks(gaps())


def _all_sums(losses: Losses, pairs: Pairs) -> tuple[Sums, validation.Integers]:
    """Sums of every model, of pairs of models, and of all pairs with rules that are the same for all; and the pairs."""
    rules, nothing = losses.rules, losses.rules.count - 1
    unlike, models = np.zeros((2, rules.models)), range(rules.models)
    sums = _difference_sums(losses, [*((i, -1) for i in models), *pairs], unlike)
    places, every = [*((i, nothing) for i in models), *pairs], [sums]
    if rules.constants:
        alone, shifts = sums.changed(lambda part: part[..., : rules.models]), np.diag(rules.max_loss)
        for k in (0, 1):  # always acting differs from nothing for negatives, never acting for positives
            places += [(i, rules.models + k) for i in models]
            nonzero = np.where(np.arange(2)[:, None] == k, unlike, alone.nonzero)
            every.append(alone.shifted(-shifts[k], nonzero))
        zero = sums.changed(lambda part: np.zeros_like(part[..., :1]))
        zero.second[0], zero.fourth[0] = sums.second[0][:, :1], sums.fourth[0][:, :1]
        zero = replace(zero, count=sums.count[:, :1], weight=sums.weight[:, :1])
        shifts = np.vstack([shifts, np.zeros(2)])
        for i, j in combinations(range(3), 2):
            places.append((rules.models + i, rules.models + j))
            by = shifts[i] - shifts[j]
            every.append(zero.shifted(by, zero.count * (by != 0.0)[:, None]))
    return joined(every, lambda parts: np.concatenate(parts, axis=-1)), np.array(places).T


# Mean losses and their paired differences, in closed form.
#
# A mean loss is a weighted mean of per-row losses, so its variance follows from sums of powers over rows; weights are
# linearised (ratio estimator). Under a stated prevalence the class totals are known, and each class is centred on its
# own mean. Every rule is compared with every other and with "nothing", whose loss is zero: that pair is the rule
# itself. The pairs of many models are computed when they are first needed.

UNPAIRED = (
    "separate score tables do not say which scores belong together: evaluate the rows, or pass pairs=, the PairSums of "
    "the models"
)
_ROUNDING = 64 * np.finfo(float).eps
_BELOW = 1e-6  # more than rounding adds to a p-value
_FEW = 8  # models of which every pair is computed at once


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Mean losses of several decision rules on the same rows, and the variance of their differences.

    ``matrices`` has an entry for every pair of rules, the last of which is "nothing"; ``rows`` are the rows of each
    class (of the ``clusters``, those that have it). ``reason`` says why there is no variance, ``unpaired`` why there is
    none of the difference between two models. ``highest`` is the most that a rule can cost, and ``known`` what each
    costs beyond its losses. ``losses`` are those from which the pairs of many models are computed.
    """

    means: validation.Floats
    matrices: Variance
    rows: tuple[int, ...]
    clusters: int = 0
    reason: str = ""
    unpaired: str = ""
    highest: float = math.inf
    known: validation.Floats | None = None
    losses: _RowLosses | None = None

    @classmethod
    def from_scores(
        cls, rows: PairedRows, costs: CostDistribution, rule: Rule, *, constants: bool = False
    ) -> Decisions:
        """From rows that all models scored; ``constants`` adds "always act" and "never act"."""
        losses = _RowLosses(rows, DecisionRules(costs, rule, len(rows.scores), constants))
        if rows.dependent:
            return cls._from_dependent(losses)._with_copies(rows)
        few = losses.rules.models <= _FEW
        found = cls._from_losses(losses, list(combinations(range(losses.rules.models), 2)) if few else [])
        return found._with_copies(rows) if few else replace(found, losses=losses)

    @classmethod
    def from_table(cls, table: ScoreTable, costs: CostDistribution, rule: Rule, *, constants: bool = True) -> Decisions:
        """From the score table of one model."""
        optimal = rule == "optimal"
        rules = DecisionRules(costs, "score" if optimal else rule, 1, constants)
        losses = _TableLosses(table, table.pav_by_score() if optimal else table.scores, rules)
        return cls._from_losses(losses, (), n_rows=table.n_rows)

    @classmethod
    def from_tables(
        cls, tables: Sequence[ScoreTable], costs: CostDistribution, rule: Rule, why: str = UNPAIRED
    ) -> Decisions:
        """From the tables of models that do not say which scores belong together: differences have no variance."""
        each, n = [cls.from_table(table, costs, rule) for table in tables], len(tables)
        matrices = Variance.matrices(n + 3)
        matrices.variance[:] = np.nan
        for i, mine in enumerate(each):
            places = np.array([i, *range(n, n + 3)])
            matrices.put(mine.matrices, places[:, None], places)
        means = np.array([*(mine.means[0] for mine in each), *each[0].means[1:]])
        unpaired, highest = why if n > 1 else "", max(mine.highest for mine in each)
        return cls(means, matrices, each[0].rows, unpaired=unpaired, highest=highest)

    @classmethod
    def from_sums(
        cls, sums: Sums, pairs: validation.Integers, rules: DecisionRules, *, fixed: bool, idle: float = 0.0
    ) -> Decisions:
        """From the sums of every pair, and the number of rows of no weight."""
        first, second = pairs
        masses, counts, matrices = sums.weight[:, 0], sums.count[:, 0], Variance.matrices(rules.count)
        alone = np.flatnonzero(second == rules.count - 1)
        means = sums.value[alone][np.argsort(first[alone])]
        max_gap = rules.max_gap(fixed=fixed)[:, first, second]
        matrices.put(sums.variance(max_gap, fixed=fixed, idle=idle), first, second)
        positives = round(float(counts[1]))
        rows = round(float(counts.sum())) - positives, positives
        return cls(means, matrices, rows, highest=rules.highest(masses, fixed=fixed))

    @classmethod
    def _from_losses(cls, losses: Losses, pairs: Pairs, n_rows: int | None = None) -> Decisions:
        fixed = (losses.rows if isinstance(losses, _RowLosses) else losses.table).fixed_prevalence
        sums, places = _all_sums(losses, pairs)
        if n_rows is not None:
            sums = replace(sums, count=sums.count * (n_rows / sums.count[:, 0].sum()))
        return cls.from_sums(sums, places, losses.rules, fixed=fixed)

    @classmethod
    def _from_dependent(cls, losses: _RowLosses) -> Decisions:
        """From rows in clusters or in order."""
        rows, rules = losses.rows, losses.rules
        if rows.clusters is not None and rows.origin is None:  # sorted once, not for every sum
            rows = rows.taken(order_of_codes(rows.clusters))
        losses = replace(losses, rows=rows)
        weight, fixed = np.ones(len(rows.y)) if rows.weight is None else rows.weight, rows.fixed_prevalence
        design = Design(rows.y, weight, None, fixed, rows.clusters, rows.lags, rows.origin)
        lines, max_gap, matrices = losses.lines, rules.max_gap(fixed=fixed), Variance.matrices(rules.count)
        with np.errstate(invalid="ignore"):  # infinite losses have no interval
            for i in range(rules.count - 1):
                later = slice(i + 1, None)
                found, counts, reason = design.variance(lines[i] - lines[later], max_gap[:, i, later])
                matrices.put(found, i, later)
        means = np.array([weighted_sum(weight, line) / float(weight.sum()) for line in lines[:-1]])
        clusters = 0 if rows.clusters is None else len(design.clusters)
        masses = np.array([float(weight[mine].sum()) for mine in members(rows.y)])
        return cls(means, matrices, counts, clusters, reason, highest=rules.highest(masses, fixed=fixed))

    def costing(self, more: validation.Floats) -> Decisions:
        """Return the same where each rule costs a known amount more."""
        return replace(self, means=self.means + more, known=more)

    def of(self, index: int) -> Moments:
        """Moments of one rule's mean loss."""
        more = self._known(index)
        return self._moments(float(self.means[index]), index, -1).within(more, self.highest + more)

    def _known(self, index: int) -> float:
        return 0.0 if self.known is None else float(self.known[index])

    def differences(self, first: validation.Integers, second: validation.Integers) -> ManyMoments:
        """Values and p-values of the differences of many pairs of rules, as :meth:`difference` gives them."""
        a, b = self.means[first], self.means[second]
        with np.errstate(invalid="ignore"):  # two infinite losses have no difference
            gap = np.where(np.abs(a - b) <= _ROUNDING * (np.abs(a) + np.abs(b)), 0.0, a - b)
        gap = np.where((a == b) & np.isinf(a), np.nan, gap)
        found = self.variance(first, second)
        refused = np.isnan(found.variance) & np.isfinite(gap) if self.unpaired else np.full(len(gap), bool(self.reason))
        return replace(ManyMoments.from_variance(gap, found, np.zeros((2, len(gap)))), refused=refused)

    def least_p_values(self, first: validation.Integers, second: validation.Integers) -> validation.Floats:
        """Lower bounds of the p-values of differences between models, by their covariance; 0 where there is none.

        They are those of normal errors: Student's t and the allowance for unseen rows make p-values larger.
        """
        from scipy.special import ndtr

        if self.losses is None or not np.isfinite(self.losses.rules.max_loss).all():
            return np.zeros(len(first))
        covariance, rounded = self.covariance, 8.0 * np.finfo(float).eps * len(self.losses.rows.y)
        both = np.diag(covariance)[first] + np.diag(covariance)[second]
        gap, variance = np.abs(self.means[first] - self.means[second]), both - 2.0 * covariance[first, second]
        error = np.sqrt(np.maximum(variance - rounded * both, 0.0))
        away = np.where(gap == 0.0, 0.0, np.divide(gap, error, out=np.full_like(gap, np.inf), where=error > 0.0))
        return np.where(np.isfinite(both), (2.0 - _BELOW) * ndtr(-away), 0.0)

    def difference(self, first: int, second: int) -> Moments:
        """Moments of first minus second."""
        a, b = float(self.means[first]), float(self.means[second])
        if a == b == math.inf:
            return self._moments(math.nan, first, second)
        more = self._known(first) - self._known(second)
        gap = a - b
        # what two equal rules leave is rounding, not a difference
        if math.isfinite(gap) and abs(gap) <= _ROUNDING * (abs(a) + abs(b)):
            gap = 0.0
        return self._moments(gap, first, second).within(more - self.highest, more + self.highest)

    def variance(self, first: validation.Integers | int, second: validation.Integers | int) -> Variance:
        """Variance of the differences of pairs of rules, computed where it is new; a second of -1 costs nothing."""
        if self.losses is not None:
            self._compute(self.losses, *np.broadcast_arrays(np.atleast_1d(first), np.atleast_1d(second)))
        return self.matrices.at(first, second)

    @cached_property
    def covariance(self) -> validation.Floats:
        """Covariances of the rules' mean losses."""
        if self.losses is not None:
            return _covariance(self.losses, self.means)
        variance = self.matrices.variance
        alone = variance[:-1, -1]
        return 0.5 * (alone[:, None] + alone[None, :] - variance[:-1, :-1])

    def _compute(self, losses: _RowLosses, first: validation.Integers, second: validation.Integers) -> None:
        """Compute and store the variance of pairs of models not computed yet."""
        n, count, done = losses.rules.models, losses.rules.count, losses.computed
        low, high = np.sort(np.stack([first, second]) % count, axis=0)
        new = (high < n) & (low < high)
        new[new] = ~done[low[new], high[new]]
        if not new.any():
            return
        low, high = np.unique(np.stack([low[new], high[new]]), axis=1)
        pairs = list(zip(low.tolist(), high.tolist(), strict=True))
        every = [_difference_sums(losses, pairs[some]) for some in validation.blocks(len(pairs), _PAIRS_AT_ONCE)]
        sums = joined(every, lambda parts: np.concatenate(parts, axis=-1))
        found = sums.variance(losses.rules.max_loss, fixed=losses.rows.fixed_prevalence)
        alike, scores = sums.nonzero.sum(axis=0) == 0.0, losses.rows.scores
        alike[alike] = [np.array_equal(scores[low[at]], scores[high[at]]) for at in np.flatnonzero(alike)]
        self.matrices.put(found.without_unseen(alike), low, high)
        done[low, high] = True

    def _with_copies(self, rows: PairedRows) -> Decisions:
        """The same, where models with the same scores are one model."""
        n = len(rows.scores)
        different = self.matrices.carriers[:, :n, :n].sum(axis=0) > 0.0
        alike: list[list[int]] = np.argwhere(~different).tolist()
        for i, j in alike:
            different[i, j] = not np.array_equal(rows.scores[i], rows.scores[j])
        return self.without_unseen(different)

    def without_unseen(self, distinguishable: validation.Bools) -> Decisions:
        """The same with no allowance for copies: no unseen row will tell models with the same scores apart."""
        alike, n = np.zeros(self.matrices.variance.shape, dtype=bool), len(distinguishable)
        alike[:n, :n] = ~distinguishable
        return replace(self, matrices=self.matrices.without_unseen(alike))

    def _moments(self, value: float, first: int, second: int) -> Moments:
        found = self.variance(first, second)
        paired = 0 <= second < len(self.means)
        unpaired = paired and np.isnan(found.variance) and math.isfinite(value)
        reason = self.reason or (self.unpaired if unpaired else "")
        return moments_of(value, found, self.rows, reason=reason, paired=paired, clustered=self.clusters > 0)

    def contest(
        self, names: tuple[str, ...], n_models: int, n_rows: int, *, factor: float = 1.0, highest: float = math.inf
    ) -> Contest | None:
        """Let the rules compete by their means and the variance of every pair; None where that variance is unknown.

        Parameters
        ----------
        names : tuple of str
            Of the rules, models first.
        n_models, n_rows : int
            How many are models, and the rows that the means rest on.
        factor : float, default 1
            From the means to the scale of the costs.
        highest : float, default inf
            The most that a mean can be on that scale.

        Returns
        -------
        Contest or None

        Examples
        --------
        >>> from stakes import ScoreTable, costs
        >>> from stakes.inference import Decisions, select
        >>> table = ScoreTable.from_predictions([0, 1] * 50, [0.1, 0.8] * 50)
        >>> moments = Decisions.from_table(table, costs.Uniform(0.2, 0.6), "score")
        >>> select(moments.contest(("a", "treat all", "treat none"), 1, 100)).chosen
        'a'
        """
        means, covariance = factor * self.means, factor**2 * self.covariance
        finite = np.flatnonzero(np.isfinite(means))
        if self.reason or not len(finite) or not np.isfinite(covariance[np.ix_(finite, finite)]).all():
            return None

        def spread(a: validation.Integers, b: validation.Integers) -> Spread:
            return spread_from(self.variance(a, b), factor)

        return Contest(names, n_models, means, covariance, n_rows, spread, highest)

    def without_intervals(self, count: int) -> Decisions:
        """Return the same means, the first rules' variance unknown: their decisions were fitted to these rows."""
        variance = self.matrices.variance.copy()
        variance[:count, :] = variance[:, :count] = np.nan
        matrices = replace(self.matrices, variance=variance)
        return replace(self, matrices=matrices, losses=None, unpaired="the thresholds are fitted to these very rows")


def _covariance(losses: _RowLosses, means: validation.Floats) -> validation.Floats:
    """Covariance of the mean losses of all rules but "nothing", by the products of their centred losses."""
    rules, fixed, models = losses.rules, losses.rows.fixed_prevalence, range(losses.rules.models)
    count = rules.count - 1
    products, centres, classes = np.zeros((2, count, count)), np.stack([means, means]), members(losses.rows.y)
    rows, weight = np.array([np.count_nonzero(mine) for mine in classes]), losses.rows.weight
    masses = rows if weight is None else np.array([weight[mine].sum() for mine in classes])
    if fixed:
        totals = np.zeros((2, count))
        for k, lines, weight, _ in losses(models, rules.count):
            totals[k] += rules.with_constants(lines, k)[:-1] @ (np.ones(lines.shape[1]) if weight is None else weight)
        centres = totals / masses[:, None]
    for k, lines, weight, _ in losses(models, rules.count):
        with np.errstate(invalid="ignore"):  # infinite losses have no covariance
            centred = rules.with_constants(lines, k)[:-1] - centres[k][:, None]
            centred = centred if weight is None else centred * weight
            products[k] += centred @ centred.T
    scale = bessel(rows) if fixed else bessel([rows.sum()] * 2)
    return np.asarray((scale[:, None, None] * products).sum(axis=0)) / masses.sum() ** 2


def table_standard_error(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Standard error of the integral of regret from a table; nan for "optimal", which is fitted to the data."""
    if rule == "optimal":
        return math.nan
    return Decisions.from_table(table, costs, rule, constants=False).of(0).standard_error


# Sums over rows from which the paired difference of any two models follows: they add up, and can be kept.
#
# For every pair of decisions and each class there are sums of the powers of the difference d of their losses,
# weighted: w d, and w^2 d^j and w^4 d^j up to j = 2 and 4. The moments about any centre follow by the binomial
# theorem, so that one pass over the rows is enough, wherever they are. Among the decisions are "treat all", "treat
# none" and, last, "nothing", whose loss is zero.

_COLUMNS = tuple(f"w{a}_d{b}" for a, b in POWERS)


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
    idle : float, default 0
        Further rows, in which nothing is at stake: they are none of ``rows``, and errors count them.

    Examples
    --------
    >>> from stakes.inference import PairSums
    >>> PairSums.from_predictions([0, 1] * 9, {"a": [0.1, 0.8] * 9, "b": [0.3, 0.6] * 9}, costs=(0.2, 0.5))
    PairSums(2 models, 18 rows, costs=Uniform(low=0.2, high=0.5))
    """

    models: tuple[str, ...]
    costs: CostDistribution
    rule: Rule
    rows: validation.Floats
    mass: validation.Floats
    powers: validation.Floats
    carriers: validation.Floats
    apart: validation.Floats
    clusters: ClusterSums | None = None
    pos_label: str | float = 1
    idle: float = 0.0

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
        validation.check_same_order(y_true=y_true, y_prob=y_prob, sample_weight=sample_weight)
        about: dict[str, Any] = {"sample_weight": sample_weight, "pos_label": pos_label, "logits": logits}
        options = Options(costs=as_costs(costs), rule=rule, **about).checked()
        named = models_by_name(y_prob)
        refuse_weighing(y_true, "PairSums")
        samples = {n: options.data(y_true, p, f"y_prob[{n!r}]").rows for n, p in named.items()}
        found = cls.from_samples(samples, options.costs, _check_rule(options.rule))
        return replace(found, pos_label=validation.plain_label(pos_label))

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
        """Sum over the rows of a data frame in one pass.

        Those of a lazy frame of polars or DuckDB are streamed through this process, others stay in their engine.

        Parameters
        ----------
        frame : pandas, polars, pyarrow, DuckDB, Dask or Spark frame
            Anything narwhals understands, eager or lazy.
        label : str
            Column with the labels.
        models : iterable of str
            Columns with probabilities.
        costs : CostDistribution, tuple of float, or float
            How much each cost ratio counts. Where rows stay in an engine: ``Fixed``, ``Empirical``, ``Uniform``,
            ``LogOddsUniform`` and sums of them.
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
        from stakes.tables import frame_columns, sum_clusters

        options, names = Options(costs=as_costs(costs), rule=rule, prevalence=prevalence).checked(), tuple(models)
        what: dict[str, Any] = {"label": label, "models": names, "weight": weight, "pos_label": pos_label}
        native: Any = nw.from_native(frame)
        asked: dict[str, Any] = {"costs": options.costs, "rule": _check_rule(options.rule)}
        if isinstance(native, nw.LazyFrame):
            found = cls(names, **asked, **_sums_of_frame(native, what, asked))
        else:
            rows = frame_columns(frame, **what, groups=None if clusters is None else [clusters])
            samples = [validation.BinarySample(rows.y, score, rows.weight) for score in rows.scores]
            found = cls.from_samples(dict(zip(names, samples, strict=True)), **asked)
        found = replace(found, pos_label=validation.plain_label(pos_label))
        if clusters is None:
            return found
        by = found._factors(prevalence)
        shares, sums = by / (by * found.mass).sum(), found._sums(by)
        centres = sums.mean if prevalence is not None else np.tile(sums.value, (2, 1))
        about: dict[str, Any] = {"clusters": clusters, "centres": centres, "shares": shares, "prevalence": prevalence}
        if prevalence is not None:
            rules = DecisionRules(found.costs, found.rule, len(names), constants=True)
            about["most"] = rules.max_gap(fixed=True)[:, *np.array(pairs_of_decisions(len(names))).T]
        summed = sum_clusters(native.lazy(), **what, **asked, **about)
        return replace(found, clusters=ClusterSums.of(summed, shares, prevalence))

    @classmethod
    def from_samples(cls, samples: Mapping[str, validation.BinarySample], costs: CostDistribution, rule: Rule) -> Self:
        """Sum over rows that are checked already and share labels and weights."""
        first, names = next(iter(samples.values())), tuple(samples)
        rows = PairedRows(first.y, [sample.score for sample in samples.values()], first.weight)
        sums: dict[str, Any] = sum_powers([(rows.y, rows.scores, rows.weight)], len(names), costs, rule)
        return cls(names, costs, rule, **sums)

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
        validation.check_kind(other, "other", PairSums, remedy="build one by PairSums.from_predictions")
        self._refuse_clusters("merged")
        other._refuse_clusters("merged")
        for name in ("models", "costs", "rule", "pos_label"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                raise ValueError(f"merge needs sums of the same {name}, got {mine!r} and {its!r}.")
        sums = ("rows", "mass", "powers", "carriers", "apart", "idle")
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in sums})

    def moments(self, prevalence: float | None = None) -> Decisions:
        """Means and the variance of all differences, the classes weighted to a stated prevalence."""
        n, fixed = len(self.models), prevalence is not None
        rules, pairs = DecisionRules(self.costs, self.rule, n, constants=True), np.array(pairs_of_decisions(n)).T
        sums = self._sums(self._factors(prevalence))
        found = Decisions.from_sums(sums, pairs, rules, fixed=fixed, idle=self.idle)
        if self.clusters is not None:
            stated, shape = self.clusters.prevalence, self.clusters.shape
            if (stated is None) == fixed or not math.isclose(stated or 1.0, prevalence or 1.0, rel_tol=1e-9):
                raise ValueError(f"these sums over clusters are for prevalence={stated}, got {prevalence}.")
            max_gap = rules.max_gap(fixed=fixed)[:, *pairs]
            found.matrices.put(self.clusters.variance(max_gap, sums), *pairs)
            have = tuple(round(float(count)) for count in self.clusters.have)
            found = replace(found, rows=have, clusters=len(shape), reason=shape.reason())
        distinguishable = np.zeros((n + 3, n + 3), dtype=bool)
        distinguishable[*pairs] = distinguishable[*pairs[::-1]] = self.apart.any(axis=0)
        return found.without_unseen(distinguishable[:n, :n])

    def _factors(self, prevalence: float | None) -> validation.Floats:
        """What the weights of each class are multiplied by at a prevalence."""
        if prevalence is None:
            return np.ones(2)
        if not self.mass.all():
            raise ValueError("prevalence= needs rows of both classes, got one class only.")
        return np.array([1.0 - prevalence, prevalence]) * self.mass.sum() / self.mass

    def _sums(self, by: validation.Floats) -> Sums:
        """Sums of every pair, the weights of each class multiplied by a factor."""
        rows, mass = (np.tile(part[:, None], self.carriers.shape[1]) for part in (self.rows, by * self.mass))
        powers = self.powers * np.stack([by**a for a, _ in POWERS])[:, :, None]
        return Sums.from_powers(rows, mass, powers, self.carriers)

    def _refuse_clusters(self, what: str) -> None:
        if self.clusters is not None:
            raise ValueError(f"sums over clusters cannot be {what}: a cluster may have rows elsewhere. Sum all rows.")

    def _kept(self) -> tuple[dict[str, Any], dict[str, validation.Floats]]:
        self._refuse_clusters("kept")
        facts: dict[str, Any] = {"models": list(self.models), "costs": self.costs.to_dict(), "rule": self.rule}
        size, powers = self.carriers.shape[1], dict(zip(_COLUMNS, self.powers.reshape(len(POWERS), -1), strict=True))
        columns = {"rows": self.rows.repeat(size), "mass": self.mass.repeat(size), **powers}
        counts = {"carriers": self.carriers.ravel(), "apart": self.apart.ravel()}
        told = {"pos_label": self.pos_label} | ({"idle": round(self.idle)} if self.idle else {})
        return facts | told, columns | counts

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
        shape = 2, len(pairs_of_decisions(len(models)))
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
        check_columns(columns, tuple(models), worst_losses(costs), entries.broken)
        powers = np.stack([columns[name] for name in _COLUMNS])
        rows, mass = columns["rows"][:, 0], columns["mass"][:, 0]
        told: dict[str, Any] = {"pos_label": entries.label("pos_label")}
        if "idle" in entries.content:
            told["idle"] = float(entries.count("idle"))
        return cls(tuple(models), costs, taken, rows, mass, powers, columns["carriers"], columns["apart"], **told)

    def __repr__(self) -> str:
        plural = "model" if len(self.models) == 1 else "models"
        return f"PairSums({len(self.models)} {plural}, {int(self.rows.sum())} rows, costs={self.costs!r})"


def _sums_of_frame(frame: Any, what: dict[str, Any], asked: dict[str, Any]) -> dict[str, Any]:
    """Sum over the rows that an engine on this machine streams, or have another engine sum."""
    from stakes.tables import stream_rows, sum_pairs

    rows = stream_rows(frame, **what)
    if rows is None:
        return sum_pairs(frame, **what, **asked, powers=POWERS)
    return sum_powers(rows, len(what["models"]), **asked)


def _check_rule(rule: Rule) -> Rule:
    if rule == "optimal":
        raise ValueError('rule="optimal" is fitted to the same rows and has no sums of pairs; use "score".')
    return rule


# Mean costs of several decisions on the same rows, their covariance, and how far the difference of two may be off.
#
# Only here does selection see rows: what decides needs the means, one covariance matrix (one matrix product over the
# rows) and, for the few pairs that a verdict rests on, the degrees of freedom and the allowance for unseen rows.

_COLUMNS_AT_ONCE = 32


@dataclass(frozen=True, eq=False, repr=False)
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
    >>> from stakes.variance.decisions import Spread
    >>> Spread.normal(np.array([0.01])).reach(1.96).round(3).tolist()
    [0.196]
    """

    variance: validation.Floats
    degrees: validation.Floats
    room: validation.Floats
    scarce: validation.Floats

    @classmethod
    def normal(cls, variance: validation.Floats) -> Spread:
        """Return estimates with normal errors of known variance."""
        size = np.shape(variance)
        return cls(variance, np.full(size, np.inf), np.zeros(size), np.full(size, np.inf))

    def reach(self, critical: float | validation.Floats) -> validation.Floats:
        """How far an interval reaches that would be ``critical`` standard errors long if the errors were normal."""
        from scipy.special import erfc

        return half_width(self.variance, self.degrees, self.room, erfc(critical / math.sqrt(2.0)))

    def tail(self, gap: validation.Floats) -> validation.Floats:
        """One-sided p-value of differences >= 0: below the level exactly where the interval leaves zero out."""
        return 0.5 * p_value(gap, self.variance, self.degrees, self.room)


@dataclass(frozen=True, eq=False, repr=False)
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
    lowest : float, default 0
        The least that it can be: negative where there are gains.
    reason : str, default ""
        Why no difference can be shown; empty where one can.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.inference import Contest, select
    >>> select(Contest(("a", "b"), 2, np.array([0.1, 0.2]), 0.0001 * np.eye(2), 500)).chosen
    'a'
    """

    names: tuple[str, ...]
    n_models: int
    means: validation.Floats
    covariance: validation.Floats
    n_rows: int
    spread: Callable[[validation.Integers, validation.Integers], Spread] | None = None
    highest: float = math.inf
    lowest: float = 0.0
    reason: str = ""

    def spread_of(self, a: validation.Integers, b: validation.Integers) -> Spread:
        """Spread of the differences of pairs."""
        if self.spread is not None:
            return self.spread(a, b)
        own = np.diag(self.covariance)
        pair = own[a] + own[b] - 2.0 * self.covariance[a, b]
        return Spread.normal(np.maximum(np.where(b < 0, own[a], pair), 0.0))


def spread_from(found: Variance, factor: float = 1.0) -> Spread:
    """Variance of estimates that are multiplied by a factor, with the effective rows of the scarcest class."""
    scarce = np.where(found.scarce, found.carrying, np.inf).min(axis=0)
    return Spread(factor**2 * found.variance, found.degrees, factor**2 * found.unseen_variance, scarce)


@dataclass(frozen=True, eq=False, repr=False)
class CostRows:
    """Costs of each row (n) under each decision (k), and what makes rows unequal or dependent.

    ``y`` says which rows are positive, or of which kind each one is; ``largest`` holds the most that a row of each kind
    may cost under each decision: first negatives, then positives. Where a kind costs something whatever is decided,
    ``raw`` holds what rows cost beyond some least, and the most of that: what is rare must show in one of them.
    ``inflation`` is how many times as large as the rows show the variance of a difference is, for decisions by fits
    that would differ with other rows.
    """

    costs: validation.Floats
    y: validation.Bools | validation.Integers
    weight: validation.Floats
    clusters: validation.Integers | None
    largest: validation.Floats
    by_class: bool = False
    origin: Origin | None = None
    raw: tuple[tuple[validation.Floats, validation.Floats], ...] = ()
    inflation: float = 1.0

    @classmethod
    def of(
        cls,
        samples: Sequence[validation.BinarySample],
        costs: CostDistribution,
        rule: Rule = "score",
        factor: float = 1.0,
        *,
        references: bool = True,
        clusters: validation.Integers | None = None,
        by_class: bool = False,
    ) -> CostRows:
        """Costs of each row under each model, then under treating all and no one, all times a factor."""
        first, rules = samples[0], DecisionRules(costs, rule, len(samples), references)
        lines = _RowLosses(PairedRows(first.y, [sample.score for sample in samples], None), rules).lines[:-1]
        largest = factor * rules.max_gap(fixed=by_class)[:, :-1, -1]  # from nothing, the last rule
        weight = np.ones(len(first.y)) if first.weight is None else first.weight
        return cls(factor * lines.T.copy(), first.y, weight, clusters, largest, by_class, first.origin)

    @property
    def means(self) -> validation.Floats:
        """Weighted mean cost of each rule."""
        return np.asarray(self.weight @ self.costs / self.weight.sum())

    def covariance(self) -> validation.Floats:
        """Covariance of the means, by which every difference has the variance that :meth:`spread` gives it."""
        with np.errstate(invalid="ignore"):  # an infinite loss has no spread
            units = self._design.units(self.costs.T)
        finite = np.isfinite(units).all(axis=1)
        apart = units - units[finite].sum(axis=0) / max(np.count_nonzero(finite), 1)
        return np.asarray(units @ units.T + (self.inflation - 1.0) * (apart @ apart.T))

    def contest(self, names: tuple[str, ...], n_models: int) -> Contest:
        """Let the decisions compete by their means and covariance."""
        if len(self.y) < 2:
            raise ValueError(f"y_true must hold at least two rows, got {len(self.y)}.")
        with np.errstate(invalid="ignore"):  # an infinite loss has no spread
            means, covariance = self.means, self.covariance()
        most = self.largest.max(axis=1)
        highest = float(most[self.y.astype(int)] @ self.weight / self.weight.sum() if self.by_class else most.max())
        reason = self._design.unsure
        return Contest(names, n_models, means, covariance, len(self.y), self.spread, highest, reason=reason)

    def spread(self, a: validation.Integers, b: validation.Integers) -> Spread:
        """Variance of a less b, computed from the rows; -1 is no cost at all."""
        parts = [self._spread(a[some], b[some]) for some in validation.blocks(len(a), _COLUMNS_AT_ONCE)]
        return Spread(*map(np.concatenate, zip(*(vars(part).values() for part in parts), strict=True)))

    @property
    def _design(self) -> Design:
        kinds = len(self.largest)
        return Design(self.y, self.weight, None, self.by_class, self.clusters, origin=self.origin, kinds=kinds)

    def _spread(self, a: validation.Integers, b: validation.Integers) -> Spread:
        alone = b < 0
        gap = (self.costs[:, a] - np.where(alone, 0.0, self.costs[:, b])).T
        design, every = self._design, np.tile(self.largest.max(axis=1)[:, None], len(a))
        if self.by_class:  # two that each cost a class the same, whatever its rows, do not differ by chance
            every[:, ~(self.largest[:, a] + self.largest[:, b]).any(axis=0)] = 0.0
        parts = []
        for values, largest in (self.raw if alone.any() else ()) or ((None, self.largest),):
            most = np.where(alone, largest[:, a], every)
            # the values that are judged, and the slope of those that are averaged
            judged = (gap,) if values is None else (np.where(alone[:, None], values[:, a].T, gap), design.centred(gap))
            parts.append(spread_from(design.variance(judged[0], most, *judged[1:])[0]))
        room, scarce = np.max([part.room for part in parts], axis=0), np.min([part.scarce for part in parts], axis=0)
        known = np.nan if design.unsure else 1.0
        return Spread(known * parts[0].variance * np.where(alone, 1.0, self.inflation), parts[0].degrees, room, scarce)

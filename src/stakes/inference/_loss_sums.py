"""Sums of powers of the losses of several decision rules and of their differences, from one pass over the rows.

The differences of many models are summed when they are asked for. A rule that is the same for all costs every row of a
class alike: the sums of its differences from a model are those of the model, moved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.regret import row_losses
from stakes.core.sums import blocks
from stakes.inference._central_sums import CentralSums, joined
from stakes.inference._power_sums import PowerSums, check_largest, freed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from stakes.core.regret import Rule
    from stakes.costs import CostDistribution
    from stakes.inference._paired_rows import PairedRows

    Floats = NDArray[np.float64]
    # losses of the models (rows) for some rows of one class, with their weights and squared weights
    Part = tuple[int, Floats, Floats | None, Floats | None]
    Parts = Callable[[Sequence[int], int], Iterator[Part]]

_ROOM = 1 << 16  # numbers at once
_LEAST = 1 << 11  # rows at once
_SETS = 64  # pairs at once


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


def row_parts(rows: PairedRows, rules: Rules, models: Sequence[int], size: int) -> Iterator[Part]:
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


def rule_sums(parts: Parts, rules: Rules, pairs: Sequence[tuple[int, int]], *, fixed: bool) -> RuleSums:
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


def pair_sums(parts: Parts, rules: Rules, pairs: Sequence[tuple[int, int]]) -> CentralSums:
    """Sums of the differences of some pairs of models."""
    found = [CentralSums.of(_gaps(parts, rules, pairs[some], None)) for some in blocks(len(pairs), _SETS)]
    return joined(found)


def powers_of(sums: CentralSums, means: tuple[Floats, Floats], *, fixed: bool) -> PowerSums:
    """Power sums about the means: of each class where its weight is known, else of all rows."""
    with np.errstate(invalid="ignore"):  # infinite losses have no interval
        gaps = means[0] - means[1]
        return sums.power_sums(sums.means if fixed else np.stack([gaps, gaps]))


def covariance(parts: Parts, rules: Rules, means: Floats, masses: Floats, *, fixed: bool) -> Floats:
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
    parts: Parts, rules: Rules, pairs: Sequence[tuple[int, int]], unlike: Floats | None
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
    sums: CentralSums, rules: Rules, pairs: Sequence[tuple[int, int]], unlike: Floats
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

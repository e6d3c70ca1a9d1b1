"""Covariances of the losses in narrow stretches of cost ratios, from which the page makes approximate intervals.

The loss of a row over a range is the sum of its losses over the stretches in it. So the variance of a mean loss, and of
a paired difference, is a quadratic form in the weights of the stretches: exact for ranges that end at cut points and
cost ratios that count alike, approximate else. The sums over rows come from counts in pairs of stretches, not from rows
times stretches.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks
from stakes.inference._power_sums import freed
from stakes.report._class_losses import Stretches, beyond, counted
from stakes.report._left_out import no_intervals
from stakes.report._spread_dependent import dependent_covariances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.costs import CostDistribution
    from stakes.evaluation import Evaluation
    from stakes.inference import PairedRows

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_COARSE = (
    *(0.0, 0.001, 0.003, 0.007, 0.015, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5),
    *(0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0),
)
_FINE = 13
# cut points closer than this share of the range's width to one of its own are left out
_APART = 0.02
_BLOCK = 1 << 16
_ROUNDING = 1e-12  # of a sum of squares: what is left of it where all rows are alike


@dataclass(frozen=True, eq=False)
class Spread:
    """Covariance matrices of mean losses in stretches, for pairs of rules.

    Parameters
    ----------
    cuts : ndarray of shape (k + 1,)
        Ends of the stretches.
    pairs : tuple of (int, int)
        Rules: models in the order given, "treat all", "treat none", and then "nothing", whose loss is zero.
    covariances : ndarray of shape (pairs, k (k + 1) / 2)
        Upper triangles, row by row, for the difference of each pair.
    """

    cuts: Floats
    pairs: tuple[tuple[int, int], ...]
    covariances: Floats


def cut_points(costs: CostDistribution) -> Floats:
    """Ends of the stretches: fine within the plausible range, coarse outside.

    Examples
    --------
    >>> from stakes import costs
    >>> cuts = cut_points(costs.Uniform(0.1, 0.3))
    >>> bool(np.any(np.isclose(cuts, 0.1))), len(cuts) < 40
    (True, True)
    """
    own = np.linspace(costs.low, costs.high, _FINE) if costs.low < costs.high else np.array([costs.low])
    room = _APART * (costs.high - costs.low)
    coarse = [cut for cut in _COARSE if np.min(np.abs(own - cut)) > room or cut in {0.0, 1.0}]
    return np.unique(np.concatenate([own, coarse]))


def spread_of(evaluation: Evaluation, chosen: Sequence[int]) -> Spread | None:
    """Covariances for some models; None where the page has no intervals."""
    if no_intervals(evaluation):
        return None
    cuts, rows = cut_points(evaluation.costs), evaluation.rows
    kinds = Stretches(cuts, positive=False), Stretches(cuts, positive=True)
    dependent = rows is not None and rows.dependent
    pairs = [] if dependent else _pairs(len(chosen))
    sums = _Sums(kinds[0], len(chosen), pairs), _Sums(kinds[1], len(chosen), pairs)
    if rows is None:
        _add_table(sums, evaluation)
    else:
        _add_rows(sums, evaluation, rows, chosen)
    classes = [_completed(mine) for mine in sums]
    centres = _centres(classes, fixed_prevalence=evaluation.tables[0].fixed_prevalence)
    if rows is not None and dependent:
        scores = [partial(_taken, evaluation, rows.scores[index]) for index in chosen]
        covariances = dependent_covariances(rows, scores, kinds, centres)
    else:
        covariances = _independent(classes, centres, evaluation.n_rows)
    return _differences(cuts, covariances, len(chosen))


def _taken(evaluation: Evaluation, scores: Floats, part: NDArray[np.intp] | slice) -> Floats:
    return _acted(evaluation, scores[part])


def _add_table(sums: tuple[_Sums, _Sums], evaluation: Evaluation) -> None:
    table = evaluation.tables[0]
    columns = ((table.negatives, table.negatives_squared), (table.positives, table.positives_squared))
    for part in blocks(len(table.scores), _BLOCK):
        scores = _acted(evaluation, table.scores[part])
        for k, (weight, square) in enumerate(columns):
            sums[k].add([scores], weight[part], square[part])


def _add_rows(sums: tuple[_Sums, _Sums], evaluation: Evaluation, rows: PairedRows, chosen: Sequence[int]) -> None:
    for part in blocks(len(rows.y), _BLOCK):
        for k, mine in enumerate((~rows.y[part], rows.y[part])):
            if not mine.any():
                continue
            weight = None if rows.weight is None else rows.weight[part][mine]
            scores = [_acted(evaluation, rows.scores[index][part][mine]) for index in chosen]
            square = None if weight is None else weight * weight
            sums[k].add(scores, weight, square)


def _acted(evaluation: Evaluation, scores: Floats) -> Floats:
    """Scores as the rule takes them: a deployed threshold makes them 0 and 1."""
    return scores if isinstance(evaluation.rule, str) else (scores >= evaluation.rule).astype(np.float64)


class _Sums:
    """Sums over the rows of one class: losses in stretches, and products of the losses of two models."""

    def __init__(self, kind: Stretches, models: int, pairs: Sequence[tuple[int, int]]) -> None:
        self.kind, self.models, self.size = kind, models, kind.size
        self.total, self.squares = 0.0, 0.0
        # sums of losses, by the weights and by their squares
        self.first = np.zeros((2, models, self.size))
        self.second = {pair: np.zeros((self.size, self.size)) for pair in pairs}

    def add(self, scores: Sequence[Floats], weight: Floats | None, square: Floats | None) -> None:
        """Add rows; without weights each counts one."""
        ones = np.ones(len(scores[0]))
        weights = [ones if by is None else by for by in (weight, square)]
        self.total += float(weights[0].sum())
        self.squares += float(weights[1].sum())
        placed = [self.kind.placed(s) for s in scores]
        whole = np.zeros(len(ones), dtype=np.intp)
        for index, mine in enumerate(placed):
            sums = [self.kind.summed(mine, by, whole, 1)[0] for by in weights[: 1 if weight is None else 2]]
            self.first[:, index] += sums
        for i, j in self.second:
            (place, part), (other, its) = placed[i], placed[j]
            gram = self._products((place, other), (part, its), square)
            self.second[i, j] += gram[::-1, ::-1] if self.kind.positive else gram

    def _products(self, places: tuple[Places, Places], parts: tuple[Floats, Floats], square: Floats | None) -> Floats:
        """Sum over rows of the products of two losses, for every pair of stretches."""
        cell = places[0] * self.size + places[1]
        a, b = parts

        def held(by: Floats | None) -> Floats:
            weights = by if square is None else square if by is None else by * square
            return counted(cell, weights, self.size**2).reshape(self.size, self.size)

        full = self.kind.ascending(self.kind.full)
        whole = np.outer(full, full) * beyond(beyond(held(None)).T).T
        first_part = full[None, :] * beyond(held(a))
        second_part = full[:, None] * beyond(held(b).T).T
        return np.asarray(whole + first_part + second_part + held(a * b), dtype=np.float64)


def _pairs(models: int) -> list[tuple[int, int]]:
    return [(i, i) for i in range(models)] + list(combinations(range(models), 2))


@dataclass(frozen=True)
class _Class:
    """Sums of one class for all rules, in ascending order of the stretches; "treat all" and "treat none" added."""

    first: Floats
    squared: Floats
    second: dict[tuple[int, int], Floats]
    total: float
    squares: float


def _completed(sums: _Sums) -> _Class:
    """Treating all costs every negative all of every stretch, and no positive anything."""
    n, size, full = sums.models, sums.size, sums.kind.full
    lines = np.zeros((2, n + 2, size))
    lines[:, :n] = sums.first
    acting = n + sums.kind.positive
    lines[:, acting] = np.outer([sums.total, sums.squares], full)
    second = dict(sums.second)
    zero = np.zeros((size, size))
    for rule in (n, n + 1):
        for model in range(n):
            second[model, rule] = np.outer(lines[1, model], full) if rule == acting else zero
        second[rule, rule] = np.outer(full, full) * sums.squares if rule == acting else zero
    second[n, n + 1] = zero
    return _Class(lines[0], lines[1], second, sums.total, sums.squares)


def _centres(classes: Sequence[_Class], *, fixed_prevalence: bool) -> list[Floats]:
    """What each class's losses are centred on: the mean of all, or of the class where its total is known."""
    if fixed_prevalence:
        return [mine.first / mine.total if mine.total > 0.0 else mine.first for mine in classes]
    pooled = sum(mine.first for mine in classes) / sum(mine.total for mine in classes)
    return [np.asarray(pooled)] * 2


def _independent(classes: Sequence[_Class], centres: Sequence[Floats], n_rows: int) -> dict[tuple[int, int], Floats]:
    total = sum(mine.total for mine in classes)
    covariances: dict[tuple[int, int], Floats] = {}
    for mine, mean in zip(classes, centres, strict=True):
        for (i, j), gram in mine.second.items():
            centred = gram - np.outer(mean[i], mine.squared[j]) - np.outer(mine.squared[i], mean[j])
            centred += np.outer(mean[i], mean[j]) * mine.squares
            centred[np.abs(centred) <= _ROUNDING * gram] = 0.0
            covariances[i, j] = covariances.get((i, j), 0.0) + centred * (float(freed(n_rows)) / total**2)
    return covariances


def _differences(cuts: Floats, covariances: dict[tuple[int, int], Floats], models: int) -> Spread:
    """Covariance of the difference of every pair of rules, and of every model alone."""
    nothing = models + 2
    alone = [(i, nothing) for i in range(nothing)]
    pairs = [*alone, *combinations(range(nothing), 2)]
    above = np.triu_indices(len(cuts) - 1)
    found = np.empty((len(pairs), len(above[0])))
    for row, (i, j) in enumerate(pairs):
        matrix = covariances[i, i]
        if j < nothing:
            across = covariances[i, j]
            matrix = matrix + covariances[j, j] - across - across.T
        found[row] = matrix[above]
    return Spread(cuts, tuple(pairs), found)

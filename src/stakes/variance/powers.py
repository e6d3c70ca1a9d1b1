"""Sums of powers of the differences of losses of every pair of decisions, over blocks of rows that fit the cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from stakes.base.arrays import Bools, Floats
from stakes.base.validation import blocks
from stakes.core.regret import Rule, class_losses
from stakes.costs import CostDistribution
from stakes.variance.sums import check_largest, worst_losses

Rows = tuple[Bools, Sequence[Floats], Floats | None]  # classes, scores of each model, weights > 0

# the power of the weight and of the difference in each sum
POWERS = ((1, 1), *((2, j) for j in range(3)), *((4, j) for j in range(5)))
# rows of a class at once: their losses and differences stay in cache, and OpenBLAS divides a dot product of no more
# than 10,000 numbers among no threads, which on a busy machine wait for one another
_ROWS, _LEAST, _LOSSES = 1 << 13, 1 << 11, 1 << 17


def pairs_of_decisions(models: int) -> list[tuple[int, int]]:
    """Every pair of models, "treat all", "treat none" and "nothing"."""
    return list(combinations(range(models + 3), 2))


def sum_powers(parts: Iterable[Rows], models: int, costs: CostDistribution, rule: Rule) -> dict[str, Floats]:
    """Sum over rows, class by class: each loss is computed once, and every row is looked at once.

    Returns
    -------
    dict
        ``rows`` and ``mass`` of each class, by class and pair of decisions the ``powers`` w^a d^b, the ``carriers``,
        whose losses differ, and the rows ``apart``, whose scores do.
    """
    sums = _ClassSums(0, models, costs, rule), _ClassSums(1, models, costs, rule)
    with np.errstate(invalid="ignore"):  # infinite losses have no spread
        for y, scores, weight in parts:
            for part in blocks(len(y), 8 * _ROWS):
                for one, mine in zip(sums, (np.flatnonzero(~y[part]), np.flatnonzero(y[part])), strict=True):
                    of_class = [score[part].take(mine) for score in scores]
                    one.add(of_class, None if weight is None else weight[part].take(mine))
    found = [one.assembled() for one in sums]
    stacked = {name: np.stack([of_class[name] for of_class in found], axis=-2) for name in found[0]}
    counts = {"rows": np.array([float(one.rows) for one in sums]), "mass": np.array([one.weights[1] for one in sums])}
    return counts | stacked


class _ClassSums:
    """Sums over rows of one class: of each model's loss, of that less the largest, and of each pair's difference."""

    def __init__(self, kind: int, models: int, costs: CostDistribution, rule: Rule) -> None:
        self.kind, self.models, self.costs, self.rule = kind, models, costs, rule
        self.max_loss = worst_losses(costs)
        self.apart = list(combinations(range(models), 2))
        self.size = min(max(_LOSSES // models, _LEAST), _ROWS)
        self.rows, self.weights = 0, np.zeros(5)
        self.powers = np.zeros((2 * models + len(self.apart), len(POWERS)))
        self.carriers, self.differing = np.zeros(len(self.powers)), np.zeros(len(self.apart))

    def add(self, scores: Sequence[Floats], weight: Floats | None) -> None:
        """Add rows."""
        if weight is not None:
            check_largest(weight)
        for part in blocks(len(scores[0]), self.size):
            some = [score[part] for score in scores]
            losses = [class_losses(self.kind, score, self.costs, self.rule) for score in some]
            powers = _Powers(None if weight is None else weight[part], len(some[0]))
            self.rows += len(some[0])
            self.weights += powers.weights
            at = 0
            for other in (0.0, float(self.max_loss[self.kind])):
                for loss in losses:
                    self._put(at, powers, loss, other)
                    at += 1
            for place, (i, j) in enumerate(self.apart):
                self._put(at + place, powers, losses[i], losses[j])
                self.differing[place] += np.count_nonzero(some[i] != some[j])

    def _put(self, at: int, powers: _Powers, loss: Floats, other: Floats | float) -> None:
        self.carriers[at] += np.count_nonzero(loss != other)  # of two infinite losses none is the larger
        self.powers[at] += powers.of(loss, other)

    def assembled(self) -> dict[str, Floats]:
        """Sums of every pair of decisions in order."""
        n, kind, pairs = self.models, self.kind, pairs_of_decisions(self.models)
        place = {pair: 2 * n + at for at, pair in enumerate(self.apart)}
        powers, carriers, apart = np.zeros((len(POWERS), len(pairs))), np.zeros(len(pairs)), np.zeros(len(pairs))
        for at, (i, j) in enumerate(pairs):
            if i < n:
                # treating all costs the negatives the most and treating none the positives; else they cost nothing
                one = place[i, j] if j < n else i + n * (j - n == kind)
                powers[:, at], carriers[at] = self.powers[one], self.carriers[one]
                apart[at] = self.differing[one - 2 * n] if j < n else carriers[at]
                continue
            gap = float(self.max_loss[kind]) * ((i - n == kind) - (j - n == kind)) if kind in (i - n, j - n) else 0.0
            square = gap * gap
            gaps = (1.0, gap, square, square * gap, square * square)
            # an infinite difference that no row has is nothing
            powers[:, at] = [self.weights[a] * gaps[b] if self.weights[a] else 0.0 for a, b in POWERS]
            carriers[at] = apart[at] = self.rows if gap else 0.0
        return {"powers": powers, "carriers": carriers, "apart": apart}


class _Powers:
    """Sums of powers of weighted differences of some rows; ``weights`` are sums of powers of the weight."""

    def __init__(self, weight: Floats | None, rows: int) -> None:
        self.weight, self.gap, self.square, self.ones = weight, np.empty(rows), np.empty(rows), np.ones(rows)
        self.weights = np.full(5, float(rows))
        if weight is not None:
            self.squares = weight * weight
            self.cubes = self.squares * weight
            self.weights[[1, 2, 4]] = weight.sum(), np.dot(weight, weight), np.dot(self.squares, self.squares)

    def of(self, loss: Floats, other: Floats | float) -> list[float]:
        """Sums in the order of ``POWERS``."""
        gap, square = self.gap, self.square
        np.subtract(loss, other, out=gap)
        if self.weight is None:
            np.multiply(gap, gap, out=square)
            rows, one, two = self.weights[0], np.dot(self.ones, gap), np.dot(gap, gap)
            three, four = np.dot(square, gap), np.dot(square, square)
            return [one, rows, one, two, rows, one, two, three, four]
        weight = self.weight
        np.multiply(gap, weight, out=gap)
        np.multiply(gap, gap, out=square)
        second = [self.weights[2], np.dot(weight, gap), np.dot(gap, gap)]
        fourth = [self.weights[4], np.dot(self.cubes, gap), np.dot(self.squares, square)]
        fourth += [np.dot(square, gap * weight), np.dot(square, square)]
        return [gap.sum(), *second, *fourth]

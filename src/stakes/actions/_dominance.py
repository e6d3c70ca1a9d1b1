"""Along a segment of cost matrices, where one model costs less than another: exact knots and straight lines between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.metrics import walk
from stakes.shown.tabular import Tabular
from stakes.shown.words import number, percent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from stakes.actions._problem import ActionRows
    from stakes.costs import CostDistribution

    Floats = NDArray[np.float64]

_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False, repr=False)
class ActionDominance(Tabular):
    """Mean cost of one model less that of another along a segment of matrices, on these rows; no test.

    Parameters
    ----------
    first, second : str
        Names of the models.
    low, high : ndarray of shape (m,)
        Ends of the pieces, which cover [0, 1]; every sign change within a piece is an end.
    left, right : ndarray of shape (m,)
        Difference just after the start and just before the end of each piece; straight in between.
    first_better, second_better : float
        Shares of the measure of theta where each costs less.
    difference : float
        Averaged over theta.

    Examples
    --------
    >>> from stakes.actions import evaluate_actions
    >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
    >>> found = evaluate_actions([0, 1] * 9, models, matrices=[[[0, 0], [1, 0]], [[0, 1], [0, 0]]], theta=(0, 1))
    >>> found.dominance("a", "b").intervals()
    [(0.0, 0.3, 'same'), (0.3, 0.8, 'a'), (0.8, 1.0, 'same')]
    """

    first: str
    second: str
    low: Floats
    high: Floats
    left: Floats
    right: Floats
    first_better: float
    second_better: float
    difference: float

    def intervals(self) -> list[tuple[float, float, str]]:
        """Return the stretches of theta with who costs less there: a name, or "same".

        Returns
        -------
        list of tuple

        Examples
        --------
        >>> from stakes.actions import evaluate_actions
        >>> models = {"a": [[0.7, 0.3], [0.2, 0.8]] * 9, "b": [[0.6, 0.4], [0.6, 0.4]] * 9}
        >>> found = evaluate_actions([0, 1] * 9, models, matrices=[[[0, 0], [1, 0]], [[0, 1], [0, 0]]], theta=(0, 1))
        >>> found.dominance("a", "b").intervals()[-1]
        (0.8, 1.0, 'same')
        """
        sign = np.sign(self.left + self.right).astype(int)
        starts = np.flatnonzero(np.append(True, sign[1:] != sign[:-1]))
        ends = np.append(starts[1:], len(sign)) - 1
        who = {-1: self.first, 0: "same", 1: self.second}
        return [(float(self.low[a]), float(self.high[b]), who[int(sign[a])]) for a, b in zip(starts, ends, strict=True)]

    def _records(self) -> list[dict[str, Any]]:
        return [{"low": low, "high": high, "lower_cost": who} for low, high, who in self.intervals()]

    @property
    def sentence(self) -> str:
        """What a report says of it, on these rows."""
        parts = {self.first: self.first_better, self.second: self.second_better}
        if min(parts.values()) > 0.0:
            shares = ", ".join(f"{name} costs less on {percent(share)}" for name, share in parts.items())
            return f"{shares} of the segment of matrices; on average over it {self._mean}."
        if max(parts.values()) == 0.0:
            return f"{self.first} and {self.second} cost the same on all of the segment of matrices."
        better = max(parts, key=lambda name: parts[name])
        other = self.second if better == self.first else self.first
        less = f"less on {percent(parts[better])} of the segment of matrices"
        return f"{better} costs no more than {other} anywhere, {less}; on average over it {self._mean}."

    @property
    def _mean(self) -> str:
        return f"{self.first} costs {number(abs(self.difference))} {'less' if self.difference < 0.0 else 'more'}"

    def __repr__(self) -> str:
        return f"ActionDominance({self.sentence.removesuffix('.')})"


def dominance_of(rows: ActionRows, first: str, second: str) -> ActionDominance:
    """Work out the difference of two models on every piece, cut where it changes sign."""
    theta = rows.problem.theta
    if theta is None:
        raise ValueError("dominance needs a segment of matrices: pass the two ends and theta, a range such as (0, 1).")
    knots, level, slope = _difference(rows, rows.probs[first], rows.probs[second])
    low, high = knots[:-1], knots[1:]
    left, right = level + slope * low, level + slope * high
    scale = _ROUNDING * float(np.abs(rows.problem.matrices).max())
    left, right = (np.where(np.abs(side) <= scale, 0.0, side) for side in (left, right))
    crossing = left * right < 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        zero = np.where(crossing, low + (high - low) * left / (left - right), np.nan)[crossing]
    place = np.flatnonzero(crossing) + 1
    low, high = np.insert(low, place, zero), np.insert(high, place - 1, zero)
    left, right = np.insert(left, place, 0.0), np.insert(right, place - 1, 0.0)
    weight = _masses(theta, low, high)
    sign = np.sign(left + right)
    costs = [
        float(np.average(rows.problem.losses(rows.probs[name], rows.index), weights=rows.weight))
        for name in (first, second)
    ]
    better = (float(weight[sign < 0.0].sum()), float(weight[sign > 0.0].sum()))
    return ActionDominance(first, second, low, high, left, right, *better, costs[0] - costs[1])


def _difference(rows: ActionRows, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Knots from 0 to 1, and between them level and slope of the mean cost of the first less the second."""
    ends, weight = rows.problem.matrices, rows.weight / rows.weight.sum()
    places, levels, slopes = [], [], []
    for sign, prob in ((1.0, first), (-1.0, second)):
        for part, action, low, high in walk(prob, ends):
            index = rows.index[part]
            level = sign * weight[part] * ends[0][index, action]
            slope = sign * weight[part] * (ends[1] - ends[0])[index, action]
            left = high < 1.0
            places += [low, high[left]]
            levels += [level, -level[left]]
            slopes += [slope, -slope[left]]
    place = np.concatenate(places)
    knots, index = np.unique(place, return_inverse=True)
    sums = [np.cumsum(np.bincount(index.ravel(), np.concatenate(part), len(knots))) for part in (levels, slopes)]
    return np.append(knots, 1.0).astype(np.float64), sums[0].astype(np.float64), sums[1].astype(np.float64)


def _masses(theta: CostDistribution, low: Floats, high: Floats) -> Floats:
    """Share of the measure between the ends of each piece."""
    negative, positive = ([part(end) for end in (low, high)] for part in (theta.negative_loss, theta.positive_loss))
    return np.asarray((negative[1] - negative[0] + positive[0] - positive[1]) / theta.mass)

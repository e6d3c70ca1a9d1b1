"""Losses of rows as expressions of a data engine, for the cost distributions that have a short closed form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.costs import Empirical, Fixed, LogOddsUniform, Uniform
from stakes.costs._base import Weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.costs import CostDistribution

    Expr = nw.Expr
    Losses = tuple[Expr, Expr]  # of a negative and of a positive row

_MOST_ATOMS = 100
NO_CLOSED_FORM = (
    "have no losses that a data engine computes, as Fixed, Empirical (up to 100 values), Uniform, LogOddsUniform and "
    "sums of them have: for differences evaluate the rows in memory"
)


def expressible(costs: CostDistribution) -> bool:
    """Whether a data engine can compute the losses of rows.

    Examples
    --------
    >>> from stakes import costs
    >>> from stakes.tables import expressible
    >>> expressible(costs.Uniform(0.1, 0.4)), expressible(costs.Beta(2, 2))
    (True, False)
    """
    if isinstance(costs, Weighted):
        return all(map(expressible, costs.parts))
    return type(costs) in _FAMILIES and len(costs.atoms[0]) <= _MOST_ATOMS


def row_loss(score: Expr, positive: Expr, costs: CostDistribution, rule: float | str) -> Expr:
    """Integrated cost of each row, as the rows in memory have it for arrays."""
    if isinstance(rule, str):
        negative, missed = _both(score, costs)
    else:
        always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
        negative, missed = _choose(score >= rule, always, 0.0), _choose(score >= rule, 0.0, never)
    return nw.when(positive).then(missed).otherwise(negative)


def _both(score: Expr, costs: CostDistribution) -> Losses:
    if isinstance(costs, Weighted):
        pairs = [_both(score, part) for part in costs.parts]
        sums = [sum((f * p[k] for f, p in zip(costs.factors, pairs, strict=True)), nw.lit(0.0)) for k in (0, 1)]
        return sums[0], sums[1]
    return _FAMILIES[type(costs)](score, costs)


def _atoms(score: Expr, costs: Any) -> Losses:
    tie, negative, positive = costs.tie, nw.lit(0.0), nw.lit(0.0)
    for value, weight in zip(*(part.tolist() for part in costs.atoms), strict=True):
        acting, missed = value * weight, (1.0 - value) * weight
        at = _choose(score == value, tie * acting, 0.0), _choose(score == value, (1.0 - tie) * missed, 0.0)
        negative = negative + nw.when(score > value).then(nw.lit(acting)).otherwise(at[0])
        positive = positive + nw.when(score < value).then(nw.lit(missed)).otherwise(at[1])
    return negative, positive


def _uniform(score: Expr, costs: Any) -> Losses:
    low, high = costs.low, costs.high
    inside = (score - low) * (score + low) * 0.5, (high - score) * ((1.0 - high) + (1.0 - score)) * 0.5
    return _within(score, costs, inside)


def _log_odds(score: Expr, costs: Any) -> Losses:
    inside = math.log1p(-costs.low) - _logarithm(1.0 - score), math.log(costs.high) - _logarithm(score)
    return _within(score, costs, inside)


def _within(score: Expr, costs: Any, inside: Losses) -> Losses:
    """Losses at scores between the bounds, and beyond them exactly what the constant decisions cost."""
    always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
    found = []
    for loss, below, above in ((inside[0], 0.0, always), (inside[1], never, 0.0)):
        upper = nw.when(score >= costs.high).then(nw.lit(above)).otherwise(loss)
        found.append(nw.when(score <= costs.low).then(nw.lit(below)).otherwise(upper))
    return found[0], found[1]


def _logarithm(value: Expr) -> Expr:
    # some engines refuse the logarithm of 0
    inside = nw.when(value > 0.0).then(value).otherwise(nw.lit(1.0)).log()
    return nw.when(value > 0.0).then(inside).otherwise(nw.lit(-math.inf))


def _choose(condition: Expr, yes: float, no: float) -> Expr:
    return nw.when(condition).then(nw.lit(yes)).otherwise(nw.lit(no))


_FAMILIES: dict[type[Any], Callable[[Expr, Any], Losses]] = {
    Fixed: _atoms,
    Empirical: _atoms,
    Uniform: _uniform,
    LogOddsUniform: _log_odds,
}

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
    if not isinstance(rule, str):
        always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
        return _choose(positive, _choose(score >= rule, 0.0, never), _choose(score >= rule, always, 0.0))
    if isinstance(costs, Weighted):
        parts = (f * row_loss(score, positive, p, rule) for f, p in zip(costs.factors, costs.parts, strict=True))
        return sum(parts, nw.lit(0.0))
    return _FAMILIES[type(costs)](score, positive, costs)


def _atoms(score: Expr, positive: Expr, costs: Any) -> Expr:
    tie, negative, missed = costs.tie, nw.lit(0.0), nw.lit(0.0)
    for value, weight in zip(*(part.tolist() for part in costs.atoms), strict=True):
        acting, waiting = value * weight, (1.0 - value) * weight
        at = _choose(score == value, tie * acting, 0.0), _choose(score == value, (1.0 - tie) * waiting, 0.0)
        negative = negative + _choose(score > value, acting, at[0])
        missed = missed + _choose(score < value, waiting, at[1])
    return _choose(positive, missed, negative)


def _uniform(score: Expr, positive: Expr, costs: Any) -> Expr:
    # one expression for both classes, as the rows in memory have it: engines choose between values at a price
    at, y = score.clip(costs.low, costs.high), _choose(positive, 1.0, 0.0)
    best = _choose(positive, costs.high, costs.low)
    return (best - at) * ((y - best) + (y - at)) * 0.5


def _log_odds(score: Expr, positive: Expr, costs: Any) -> Expr:
    """Losses at scores between the bounds, and beyond them exactly what the constant decisions cost."""
    always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
    inside = math.log1p(-costs.low) - _logarithm(1.0 - score), math.log(costs.high) - _logarithm(score)
    found = []
    for loss, below, above in ((inside[0], 0.0, always), (inside[1], never, 0.0)):
        found.append(_choose(score <= costs.low, below, _choose(score >= costs.high, above, loss)))
    return _choose(positive, found[1], found[0])


def _logarithm(value: Expr) -> Expr:
    # some engines refuse the logarithm of 0
    inside = nw.when(value > 0.0).then(value).otherwise(nw.lit(1.0)).log()
    return nw.when(value > 0.0).then(inside).otherwise(nw.lit(-math.inf))


def _choose(condition: Expr, yes: float | Expr, no: float | Expr) -> Expr:
    first, second = (nw.lit(value) if isinstance(value, float) else value for value in (yes, no))
    return nw.when(condition).then(first).otherwise(second)


_FAMILIES: dict[type[Any], Callable[[Expr, Expr, Any], Expr]] = {
    Fixed: _atoms,
    Empirical: _atoms,
    Uniform: _uniform,
    LogOddsUniform: _log_odds,
}

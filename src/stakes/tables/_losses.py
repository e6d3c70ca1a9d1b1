"""Losses of rows as expressions of a data engine, for the cost distributions that have a short closed form."""

from __future__ import annotations

import math
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from stakes.core.expressions import Formula, at_least, at_most, choose, decided, where_known
from stakes.core.scale import check_scale
from stakes.core.validation import check_number
from stakes.costs import Empirical, Fixed, LogOddsUniform, Uniform, as_costs
from stakes.costs._base import Weighted

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.core.scale import Scale
    from stakes.costs import CostDistribution, CostsLike

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


def loss_expression(
    score: Any, positive: Any, costs: CostsLike, *, rule: float | str = "score", scale: Scale | None = None
) -> Any:
    """Return what each row costs as an expression of an engine, SQL or ONNX.

    Parameters
    ----------
    score : expression of narwhals, Sql or Onnx
        Probabilities.
    positive : expression of the same kind
        A condition, true for positive rows.
    costs : CostDistribution, tuple of float, or float
        ``Fixed``, ``Empirical`` (up to 100 values), ``Uniform`` and sums of them; with narwhals ``LogOddsUniform`` too.
    rule : "score" or float, default "score"
        How scores become decisions.
    scale : {"regret", "integral", "loss"}, optional
        Regret, the plain integral over the cost ratios, or the customary loss (``costs.loss_factor`` times the
        integral), as for :func:`expected_regret`. By default "regret".

    Returns
    -------
    narwhals.Expr, Sql or Onnx
        Its mean is the regret of :func:`evaluate`, or the integral or loss asked for. NULL (in ONNX NaN) where the
        score is missing or outside [0, 1], and where it is not known whether the row is positive.

    Raises
    ------
    ValueError
        For costs whose losses are no such expression, and an unknown scale.

    Examples
    --------
    >>> from stakes.tables import loss_expression, sql_column
    >>> print(loss_expression(sql_column("risk"), sql_column("cancer") >= 1, 0.25, rule=0.5))
    CASE WHEN (CASE WHEN ... IS NOT NULL) THEN CASE WHEN ... ELSE CAST('0.75' AS DOUBLE) END ... END END
    """
    measure = as_costs(costs)
    if isinstance(rule, str) and rule != "score":
        raise ValueError(f'rule must be "score" or a threshold, got {rule!r}.')
    if not expressible(measure):
        raise ValueError(f"costs={measure!r} {NO_CLOSED_FORM}.")
    factor = check_scale(scale, measure)[1]
    loss = row_loss(score, positive, measure, rule if isinstance(rule, str) else check_number(rule, "rule"))
    if factor != 1.0:
        loss = loss * factor
    return where_known(positive, decided(loss, [score], within=(0.0, 1.0)))


def row_loss(score: Any, positive: Any, costs: CostDistribution, rule: float | str) -> Any:
    """Integrated cost of each row, as the rows in memory have it for arrays."""
    if not isinstance(rule, str):
        always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
        return _as_double(
            choose(positive, choose(at_least(score, rule), 0.0, never), choose(at_least(score, rule), always, 0.0)),
            score,
        )
    if isinstance(costs, Weighted):
        parts = (row_loss(score, positive, p, rule) * float(f) for f, p in zip(costs.factors, costs.parts, strict=True))
        return reduce(add, parts)
    return _FAMILIES[type(costs)](score, positive, costs)


def _atoms(score: Any, positive: Any, costs: Any) -> Any:
    losses = []
    for value, weight in zip(*(part.tolist() for part in costs.atoms), strict=True):
        acting, waiting = value * weight, (1.0 - value) * weight
        negative = choose(at_least(score, value), choose(at_most(score, value), costs.tie * acting, acting), 0.0)
        missed = choose(
            at_most(score, value), choose(at_least(score, value), (1.0 - costs.tie) * waiting, waiting), 0.0
        )
        losses.append(_as_double(choose(positive, missed, negative), score))
    return reduce(add, losses)


def _as_double(loss: Any, score: Any) -> Any:
    # Ibis and SQLFrame make decimals of numbers, with other sums and without fourth powers; a score is a double
    return loss if isinstance(score, Formula) else loss + score * 0.0


def _uniform(score: Any, positive: Any, costs: Any) -> Any:
    # one expression for both classes, as the rows in memory have it: engines choose between values at a price
    low, high = costs.low, costs.high
    bounded = isinstance(score, Formula)
    at = (
        choose(at_least(score, high), high, choose(at_most(score, low), low, score))
        if bounded
        else score.clip(low, high)
    )
    y, best = choose(positive, 1.0, 0.0), choose(positive, high, low)
    return (best - at) * ((y - best) + (y - at)) * 0.5


def _log_odds(score: Any, positive: Any, costs: Any) -> Any:
    """Losses at scores between the bounds, and beyond them exactly what the constant decisions cost."""
    if isinstance(score, Formula):
        raise ValueError(f"costs={costs!r} take logarithms, of which SQL and ONNX are not written here.")
    always, never = float(costs.negative_loss(math.inf)), float(costs.positive_loss(-math.inf))
    inside = math.log1p(-costs.low) - _logarithm(1.0 - score), math.log(costs.high) - _logarithm(score)
    found = []
    for loss, below, above in ((inside[0], 0.0, always), (inside[1], never, 0.0)):
        found.append(choose(score <= costs.low, below, choose(score >= costs.high, above, loss)))
    return choose(positive, found[1], found[0])


def _logarithm(value: nw.Expr) -> nw.Expr:
    # some engines refuse the logarithm of 0
    inside = nw.when(value > 0.0).then(value).otherwise(nw.lit(1.0)).log()
    return nw.when(value > 0.0).then(inside).otherwise(nw.lit(-math.inf))


_FAMILIES: dict[type[Any], Callable[[Any, Any, Any], Any]] = {
    Fixed: _atoms,
    Empirical: _atoms,
    Uniform: _uniform,
    LogOddsUniform: _log_odds,
}

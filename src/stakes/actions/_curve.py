"""What cases cost with the option to defer: over its fee, the share that may be deferred, or the share decided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from stakes.actions._risk_coverage import coverage_levels
from stakes.actions._zone import gain
from stakes.core.inputs import evaluation_data
from stakes.core.validation import check_choice, check_unit
from stakes.costs import Deferral, as_deferral
from stakes.curves import Curve, RatioCurve, ratio_of, straight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

Axis = Literal["fee", "capacity", "coverage"]
KIND = "cost with deferral"
_LABELS = {"fee": "fee", "capacity": "largest share deferred", "coverage": "share decided"}


def deferral_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    threshold: float,
    deferral: Deferral | float = 0.0,
    over: Axis = "fee",
    rule: str = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> Curve:
    """Cost of a case with the option to defer, over the price of the option, or over how much of it there is.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    threshold : float
        The cost ratio c, in (0, 1).
    deferral : Deferral or float, default 0
        What deferring costs, or its fee alone. Over the fee only its error rates count, over coverage nothing of it.
    over : {"fee", "capacity", "coverage"}, default "fee"
        Cost per case over the fee; cost per case over the largest share deferred, whole levels of equal gain only;
        or cost per *decided* case over the share decided, the surest first (the risk-coverage curve).
    rule : {"score", "optimal"}, default "score"
        Take the scores at face value, or the pair of thresholds that is best for each fee, which is optimistic on the
        same rows and offered over the fee only.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    Curve
        Exact. Over the fee it ends at c (1 - c), where no case is worth its fee; its slope is the share deferred.

    Raises
    ------
    ValueError
        For invalid data or settings.

    Notes
    -----
    With the best pairs the cost is concave in the fee. At face value it may jump, and deferring may do harm: the curve
    then lies above that of deciding all.

    Examples
    --------
    >>> from stakes.actions import deferral_curve
    >>> curve = deferral_curve([0, 1, 0, 1], [0.1, 0.6, 0.3, 0.9], threshold=0.2)
    >>> curve.at([0.0, 0.02, 0.16]).round(6).tolist()
    [0.0, 0.015, 0.05]
    """
    c = check_unit(threshold, "threshold", open_low=True, open_high=True)
    check_choice(over, "over", tuple(_LABELS))
    check_choice(rule, "rule", ("score", "optimal") if over == "fee" else ("score",))
    option = as_deferral(deferral)
    table = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    ).table
    if rule == "optimal":
        table = table.recalibrated()
    if over == "fee":
        found = _over_fee(table, c, option, name)
    else:
        found = _over_capacity(table, c, option, name) if over == "capacity" else _over_coverage(table, c, name)
    return replace(found, about=table.about)


def _levels(table: ScoreTable, c: float, deferral: Deferral) -> tuple[Floats, Floats, Floats, Floats, float]:
    """Distinct positive gains, descending; then, as the levels of each join the deferred: weight, and what they save.

    The saving is that of the decision given up, less the mistakes made then; fees are not counted. Last, the cost
    where nothing is deferred. All as shares of the weight.
    """
    n0, n1 = table.negatives / table.total, table.positives / table.total
    own = np.where(table.scores >= c, c * n0, (1.0 - c) * n1)
    errors = deferral.false_positive_rate * c * n0 + deferral.false_negative_rate * (1.0 - c) * n1
    gains = gain(table.scores, c, deferral)
    used = gains > 0.0
    distinct, place = np.unique(-gains[used], return_inverse=True)
    columns = (np.bincount(place.ravel(), each[used], len(distinct)) for each in (n0 + n1, own - errors))
    weight, saved = (np.concatenate([[0.0], np.cumsum(each)]) for each in columns)
    return -distinct, weight, saved, np.array([errors.sum()]), float(own.sum())


def _over_fee(table: ScoreTable, c: float, deferral: Deferral, name: str) -> Curve:
    free = Deferral(0.0, deferral.false_positive_rate, deferral.false_negative_rate)
    gains, weight, saved, errors, cost = _levels(table, c, free)
    top = c * (1.0 - c)
    inner = gains[::-1]
    ends = {"decide all": (cost, cost), "defer all": (float(errors[0]), float(errors[0]) + top)}
    return _steps("fee", name, np.append(inner, top), (cost - saved[::-1], weight[::-1]), ends)


def _over_capacity(table: ScoreTable, c: float, deferral: Deferral, name: str) -> Curve:
    _, weight, saved, _, cost = _levels(table, c, deferral)
    costs = cost - saved + deferral.fee * weight
    knots = np.append(weight[1:], 1.0)
    return _steps("capacity", name, knots, (costs, np.zeros(len(costs))), {"decide all": (cost, cost)})


def _steps(
    over: Axis,
    name: str,
    ends: Floats,
    pieces: tuple[Floats, Floats],
    references: dict[str, tuple[float, float]],
) -> Curve:
    """Pieces from 0 to these ends, each with its lower end."""
    level, slope = pieces
    top, label = float(ends[-1]), _LABELS[over]
    inner = ends[ends < top * (1.0 - 1e-14)]
    knots, count = np.concatenate([[0.0], inner, [top]]), len(inner) + 1
    return Curve(
        KIND,
        knots,
        level[:count],
        slope[:count],
        start=float(level[-1] + slope[-1] * top),
        name=name,
        x_label=label,
        closed="left",
        references={key: straight(KIND, key, label, line, (0.0, top)) for key, line in references.items()},
    )


def _over_coverage(table: ScoreTable, c: float, name: str) -> Curve:
    mass, loss = (np.concatenate([[0.0], np.cumsum(part)]) / table.total for part in coverage_levels(table, c))
    mass[-1] = 1.0
    return RatioCurve(**ratio_of((mass, loss, mass), KIND, name, _LABELS["coverage"]))

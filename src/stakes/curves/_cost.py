"""Drummond and Holte's cost curve: normalised expected cost against the weight of the positive class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, undefined
from stakes.core.regret import check_rule
from stakes.curves._curve import Curve, straight
from stakes.curves._decision import error_pieces

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

KIND = "normalized expected cost"
X_LABEL = "probability cost"


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """A cost curve and the straight lines, one for each threshold, that it is made of.

    Parameters
    ----------
    table : ScoreTable
        The scores behind it.

    Examples
    --------
    >>> from stakes.curves import cost_curve
    >>> cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).lines()[0].tolist()
    [0.1, 0.4, 0.8, inf]
    """

    table: ScoreTable = None  # type: ignore[assignment]

    def lines(self) -> tuple[Floats, Floats, Floats]:
        """Thresholds and, for acting at each of them, the cost at 0 (false positive rate) and at 1 (miss rate).

        Returns
        -------
        thresholds, at_zero, at_one : ndarray
            Every distinct score ascending, then infinity (never act).

        Examples
        --------
        >>> from stakes.curves import cost_curve
        >>> thresholds, at_zero, at_one = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8]).lines()
        >>> at_zero.tolist(), at_one.tolist()
        ([1.0, 0.5, 0.0, 0.0], [0.0, 0.0, 0.5, 1.0])
        """
        thresholds = np.append(self.table.scores, np.inf)
        return thresholds, *_rates(self.table, self.table.false_positives, self.table.false_negatives)

    def probability_cost(self, c: ArrayLike) -> Floats:
        """Place of a cost ratio on the axis: the share of the worst cost that falls on positives.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        ndarray
            pi (1-c) / (pi (1-c) + (1-pi) c), falling from 1 to 0.

        Examples
        --------
        >>> from stakes.curves import cost_curve
        >>> float(cost_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6]).probability_cost(0.25))
        0.5
        """
        return probability_cost(np.asarray(c, dtype=float), self.table.prevalence)


def cost_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "optimal",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> CostCurve:
    """Expected cost as a share of the worst possible, against how much of the worst would fall on positives.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Scores of the positive class: probabilities for ``rule="score"``, else anything that ranks.
    rule : {"optimal", "score"} or float, default "optimal"
        The lower envelope of all thresholds (in-sample, so optimistic), the threshold that the cost ratio asks of a
        probability, or one fixed threshold, which is a straight line.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Share of positives that places cost ratios on the axis. The lower envelope does not depend on it.
    logits : bool, default False
        Whether the scores are log-odds.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    CostCurve
        Over the probability cost PC in [0, 1]; ``lines()`` gives the line of every threshold, ``references`` "treat
        all" (1 - PC) and "treat none" (PC). Undefined (nan, with a warning) for one class only.

    Raises
    ------
    ValueError
        For invalid data or rule.

    Notes
    -----
    Drummond and Holte (2006), doi:10.1007/s10994-006-8199-5. With c the cost ratio, pi the prevalence and
    D = pi (1-c) + (1-pi) c the cost of deciding everything wrong: PC = pi (1-c) / D and the height is regret / D
    = FNR * PC + FPR * (1 - PC). Its area is the integral of regret over costs with density pi (1-pi) / D**3.

    Examples
    --------
    >>> from stakes.curves import cost_curve
    >>> curve = cost_curve([0, 1, 0, 1], [0.1, 0.4, 0.4, 0.8])
    >>> curve.at([0.25, 0.5]).tolist()
    [0.125, 0.25]
    """
    rule = check_rule(rule)
    data = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        probability=rule == "score",
    )
    if not 0.0 < data.table.prevalence < 1.0:
        undefined("cost_curve", "only one class is present")
    return cost_curve_of(data.table, rule, name)


def cost_curve_of(table: ScoreTable, rule: Rule = "optimal", name: str = "model") -> CostCurve:
    """Cost curve from a clean table."""
    knots, alarms, misses = _pieces(table, rule)
    at_zero, at_one = _rates(table, alarms, misses)
    wide = knots[1:] > knots[:-1]
    at_zero, at_one, knots = at_zero[wide], at_one[wide], np.append(knots[:-1][wide], 1.0)
    # the cost ratio falls along this axis: what is left-continuous in one is right-continuous in the other
    closed: dict[str, Any] = {"closed": "left", "start": 0.0} if rule == "score" else {"start": float(at_zero[0])}
    references = {
        "treat all": straight(KIND, "treat all", X_LABEL, (1.0, 0.0)),
        "treat none": straight(KIND, "treat none", X_LABEL, (0.0, 1.0)),
    }
    return CostCurve(
        KIND,
        knots,
        at_zero,
        at_one - at_zero,
        name=name,
        x_label=X_LABEL,
        references=references,
        table=table,
        about=table.about,
        **closed,
    )


def probability_cost(c: Floats, prevalence: float) -> Floats:
    """Share of the worst cost that falls on positives; nan where there is no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return prevalence * (1.0 - c) / (prevalence * (1.0 - c) + (1.0 - prevalence) * c)


def _pieces(table: ScoreTable, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Knots of the axis, and the shares of false positives and false negatives in between."""
    whole = np.array([0.0, 1.0])
    if not 0.0 < table.prevalence < 1.0:
        return whole, np.array([np.nan]), np.array([np.nan])
    if rule == "score":
        knots, alarms, misses = (column[::-1] for column in error_pieces(table, rule))
        return probability_cost(knots, table.prevalence), alarms, misses
    if rule == "optimal":
        cuts = table.pav_starts[::-1]
        return _block_knots(table), table.false_positives[cuts], table.false_negatives[cuts]
    return whole, *error_pieces(table, rule)[1:]


def _block_knots(table: ScoreTable) -> Floats:
    """Where the best threshold changes: at each isotonic block's share of negatives over its summed class shares."""
    starts = table.pav_starts[:-1]
    up = np.add.reduceat(table.positives, starts)[::-1] * table.total_negatives
    down = np.add.reduceat(table.negatives, starts)[::-1] * table.total_positives
    return np.concatenate([[0.0], down / (up + down), [1.0]])


def _rates(table: ScoreTable, alarms: Floats, misses: Floats) -> tuple[Floats, Floats]:
    """False positive and miss rates from shares of all weight; nan for a class that is absent."""
    rate = table.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(alarms / (1.0 - rate), 1.0), np.minimum(misses / rate, 1.0)

"""Brier and cost curves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from stakes.base.arrays import Floats
from stakes.base.validation import check_choice
from stakes.core.options import check_rule, evaluation_data, undefined
from stakes.core.regret import Rule
from stakes.core.score_table import ScoreTable
from stakes.costs import CostDistribution, LogOddsUniform, Uniform
from stakes.curves._curve import Curve, product, straight
from stakes.curves._decision import error_pieces
from stakes.outputs.result_table import build_frame

# Brier curves: regret over the cost ratio, on an axis transformed so that areas equal the scores.

Axis = Literal["linear", "log-odds", "quadratic", "log"]
AXES = ("linear", "log-odds", "quadratic", "log")


@dataclass(frozen=True, eq=False, repr=False)
class BrierCurve(Curve):
    """Regret, or the net benefit that is lost, over the cost ratio, with a stretched axis to draw it on.

    Parameters
    ----------
    axis : {"linear", "log-odds", "quadratic", "log"}
        How the axis is stretched; see :func:`brier_curve`.

    Examples
    --------
    >>> from stakes.curves import brier_curve
    >>> curve = brier_curve([0, 1], [0.2, 0.6], axis="log-odds")
    >>> round(curve.integral(), 6)  # the log loss
    0.366985
    """

    axis: Axis = "linear"

    def position(self, c: ArrayLike) -> Floats:
        """Where a cost ratio lies on the stretched axis.

        Parameters
        ----------
        c : array_like
            Cost ratios in [0, 1].

        Returns
        -------
        ndarray
            c, log(c / (1-c)), -(1-c)**2 / 2 or log(c); infinite at the ends of a logarithmic axis.

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> float(brier_curve([0, 1], [0.2, 0.6], axis="quadratic").position(0.5))
        -0.125
        """
        at = np.asarray(c, dtype=float)
        with np.errstate(divide="ignore"):
            if self.axis == "quadratic":
                return -0.5 * (1.0 - at) ** 2
            if self.axis == "log":
                return np.log(at)
            return at + 0.0 if self.axis == "linear" else np.log(at) - np.log1p(-at)

    def integral(self, low: float | None = None, high: float | None = None) -> float:
        """Area under the curve on the stretched axis: the integral of regret that the axis stands for.

        Parameters
        ----------
        low, high : float, optional
            Cost ratios, by default 0 and 1.

        Returns
        -------
        float
            As ``expected_regret(..., scale="integral")`` with ``costs.Uniform(low, high)`` on the linear and the
            quadratic axis, with ``costs.LogOddsUniform(low, high)`` on the log-odds and the log axis.

        Raises
        ------
        ValueError
            If the bounds are not in order within [0, 1].

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> round(2 * brier_curve([0, 1], [0.2, 0.6]).integral(), 12)  # the Brier score
        0.1
        """
        a, b = 0.0 if low is None else float(low), 1.0 if high is None else float(high)
        if not 0.0 <= a <= b <= 1.0:
            raise ValueError(f"low, high must be in order within [0, 1], got ({low}, {high}).")
        if a == b:
            return 0.0
        costs = Uniform(a, b) if self.axis in {"linear", "quadratic"} else LogOddsUniform(a, b)
        misses, alarms = np.asarray(self.intercept), np.asarray(self.slope)
        if self.basis != "odds":
            alarms = misses + alarms
        return weighted_area(self.knots, alarms, misses, costs)

    def frame(self, backend: Any = None) -> Any:
        """Return the knots with their place on the axis and the value at each (left) and just above it (right).

        Parameters
        ----------
        backend : str or module, optional
            "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Returns
        -------
        DataFrame
            Columns ``threshold``, ``position``, ``left``, ``right``; the last right value is nan.

        Examples
        --------
        >>> from stakes.curves import brier_curve
        >>> brier_curve([0, 1], [0.2, 0.6]).frame("polars").columns
        ['threshold', 'position', 'left', 'right']
        """
        left, right = self._sides()
        columns = {"threshold": self.knots, "position": self.position(self.knots), "left": left, "right": right}
        return build_frame(columns, backend)


def brier_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    axis: Axis = "linear",
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> BrierCurve:
    """Regret over the cost ratio, on an axis stretched so that the area between two bounds is the bounded score.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
    axis : {"linear", "log-odds", "quadratic", "log"}, default "linear"
        "linear" and "log-odds" draw regret: areas are half the bounded Brier loss and the bounded log loss.
        "quadratic" and "log" draw the net benefit that is lost, prevalence - NB(c), over -(1-c)**2 / 2 and log(c): a
        decision curve whose areas are the same two scores.
    rule : {"score", "optimal"} or float, default "score"
        How scores become decisions; see :func:`expected_regret`.
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
    BrierCurve
        ``at(c)`` is the height, ``position(c)`` the place on the axis, ``integral(a, b)`` the area between two costs.

    Raises
    ------
    ValueError
        For invalid data, axis or rule.

    Notes
    -----
    Hernandez-Orallo, Flach and Ferri (2011) for the curve, there with costs 2c and 2(1-c); arXiv:2504.04528, E.3 and
    E.4 for the last two axes, whose integrands are printed as prevalence - NB(x) where NB at the inverse of the
    stretching is meant.

    Examples
    --------
    >>> from stakes import bounded_log_loss
    >>> from stakes.curves import brier_curve
    >>> y_true, y_prob = [0, 0, 1, 0, 1], [0.01, 0.04, 0.05, 0.09, 0.40]
    >>> round(brier_curve(y_true, y_prob, axis="log").integral(0.02, 0.10), 9)
    0.157574888
    >>> round(bounded_log_loss(y_true, y_prob, bounds=(0.02, 0.10)), 9)
    0.157574888
    """
    check_choice(axis, "axis", AXES)
    data = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, logits=logits)
    table, rule = data.table, check_rule(rule)
    knots, alarms, misses = error_pieces(table, rule)
    start = 0.0 if isinstance(rule, str) else float(misses[0])
    curve = _drawn(axis, knots, alarms, misses, start=start, name=name)
    rate, zero, whole = np.array([table.prevalence]), np.array([0.0]), np.array([0.0, 1.0])
    treat_all = _drawn(axis, whole, 1.0 - rate, zero, start=0.0, name="treat all")
    treat_none = _drawn(axis, whole, zero, rate, start=table.prevalence, name="treat none")
    references = {"treat all": treat_all, "treat none": treat_none}
    return replace(curve, references=references, about=table.about)


def _drawn(axis: Axis, knots: Floats, alarms: Floats, misses: Floats, **more: Any) -> BrierCurve:
    """Pieces of c * alarms + (1-c) * misses, or of this divided by 1 - c, the loss of net benefit."""
    if axis in {"linear", "log-odds"}:
        return BrierCurve("regret", knots, misses, alarms - misses, basis="linear", axis=axis, **more)
    return BrierCurve("net benefit lost", knots, misses, alarms, basis="odds", axis=axis, **more)


def weighted_area(knots: Floats, alarms: Floats, misses: Floats, costs: CostDistribution) -> float:
    """Integral of c * alarms + (1-c) * misses over a cost distribution without atoms, piece by piece."""
    first = int(np.clip(np.searchsorted(knots, costs.low, side="right") - 1, 0, len(alarms) - 1))
    last = int(np.clip(np.searchsorted(knots, costs.high, side="left"), first + 1, len(alarms)))
    edges, part = knots[first : last + 1], slice(first, last)
    acting, waiting = np.diff(costs.negative_loss(edges)), -np.diff(costs.positive_loss(edges))
    return float(np.sum(product(alarms[part], acting) + product(misses[part], waiting)))


# Drummond and Holte's cost curve: normalised expected cost against the weight of the positive class.

KIND = "normalized expected cost"
X_LABEL = "probability cost"


@dataclass(frozen=True, eq=False, repr=False)
class CostCurve(Curve):
    """A cost curve and its lines, one for each threshold, whose envelope it is.

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
        """Position of a cost ratio on the axis: the share of the maximum cost that falls on positives.

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
    needs: dict[str, Any] = {"logits": logits, "probability": rule == "score"}
    table = evaluation_data(y_true, y_prob, sample_weight, pos_label, prevalence, **needs).table
    if not 0.0 < table.prevalence < 1.0:
        undefined("cost_curve", "only one class is present")
    knots, alarms, misses = _pieces(table, rule)
    at_zero, at_one = _rates(table, alarms, misses)
    wide = knots[1:] > knots[:-1]
    at_zero, at_one, knots = at_zero[wide], at_one[wide], np.append(knots[:-1][wide], 1.0)
    # the cost ratio decreases along this axis, which swaps left and right continuity
    closed: dict[str, Any] = {"closed": "left", "start": 0.0} if rule == "score" else {"start": float(at_zero[0])}
    ends = {"treat all": (1.0, 0.0), "treat none": (0.0, 1.0)}
    references = {line: straight(KIND, line, X_LABEL, heights) for line, heights in ends.items()}
    closed |= {"name": name, "x_label": X_LABEL, "table": table, "about": table.about}
    return CostCurve(KIND, knots, at_zero, at_one - at_zero, references=references, **closed)


def probability_cost(c: Floats, prevalence: float) -> Floats:
    """Share of the maximum cost that falls on positives; nan if there is no cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return prevalence * (1.0 - c) / (prevalence * (1.0 - c) + (1.0 - prevalence) * c)


def _pieces(table: ScoreTable, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Knots of the axis, and the shares of false positives and false negatives between them."""
    whole = np.array([0.0, 1.0])
    if not 0.0 < table.prevalence < 1.0:
        return whole, np.array([np.nan]), np.array([np.nan])
    if rule == "score":
        knots, alarms, misses = (column[::-1] for column in error_pieces(table, rule))
        return probability_cost(knots, table.prevalence), alarms, misses
    if rule == "optimal":
        cuts = table.pav_starts[::-1]
        # the best threshold changes at the share of negatives of each isotonic block, by class shares
        starts = table.pav_starts[:-1]
        up = np.add.reduceat(table.positives, starts)[::-1] * table.total_negatives
        down = np.add.reduceat(table.negatives, starts)[::-1] * table.total_positives
        knots = np.concatenate([[0.0], down / (up + down), [1.0]])
        return knots, table.false_positives[cuts], table.false_negatives[cuts]
    return whole, *error_pieces(table, rule)[1:]


def _rates(table: ScoreTable, alarms: Floats, misses: Floats) -> tuple[Floats, Floats]:
    """False positive and miss rates from shares of all weight; nan for a class that is absent."""
    rate = table.prevalence
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(alarms / (1.0 - rate), 1.0), np.minimum(misses / rate, 1.0)

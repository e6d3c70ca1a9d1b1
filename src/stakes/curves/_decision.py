"""Regret and net benefit over every threshold, exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._inputs import evaluation_data
from stakes._kernel import check_rule
from stakes.curves._curve import Curve

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes._kernel import Rule
    from stakes.score_table import ScoreTable

    Floats = NDArray[np.float64]


def regret_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> Curve:
    """Cost per decision in excess of a perfect oracle, at every cost ratio in [0, 1].

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
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
    Curve
        Its ``integral(a, b)`` is half the bounded Brier loss; ``references`` holds "treat all" and "treat none".

    Raises
    ------
    ValueError
        For invalid data or rule.

    Notes
    -----
    R(c) = c FP(c) + (1-c) FN(c), with FP and FN as shares of all rows and acting where score >= c (arXiv:2504.04528;
    its distribution functions must be left limits).

    Examples
    --------
    >>> from stakes import regret_curve
    >>> regret_curve([0, 0, 1], [0.2, 0.5, 0.7]).at([0.1, 0.3]).round(6).tolist()
    [0.066667, 0.1]
    """
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return regret_curve_of(data.table, check_rule(rule), name)


def net_benefit_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    name: str = "model",
) -> Curve:
    """Decision curve: net benefit at every threshold, beside treating everyone and no one.

    Parameters
    ----------
    y_true : array_like of shape (n,) or ScoreTable
        Labels with two values, or a table that stands for labels and scores.
    y_prob : array_like of shape (n,) or (n, 2), optional
        Probability of the positive class.
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
    Curve
        Defined for thresholds in [0, 1); ``references`` holds "treat all" and "treat none". No smoothing.

    Raises
    ------
    ValueError
        For invalid data or rule.

    Notes
    -----
    Vickers and Elkin (2006). NB(t) = prevalence - R(t)/(1-t).

    Examples
    --------
    >>> from stakes import net_benefit_curve
    >>> curve = net_benefit_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.2)), round(float(curve.references["treat all"].at(0.2)), 6)
    (0.1875, 0.0625)
    """
    data = evaluation_data(
        y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, prevalence=prevalence, logits=logits
    )
    return net_benefit_curve_of(data.table, check_rule(rule), name)


def regret_curve_of(table: ScoreTable, rule: Rule = "score", name: str = "model") -> Curve:
    """Regret curve from a clean table."""
    knots, alarms, misses = error_pieces(table, rule)
    start = 0.0 if isinstance(rule, str) else float(misses[0])
    rate = table.prevalence
    references = {
        "treat all": _single("regret", 0.0, 1.0 - rate, "linear", "treat all"),
        "treat none": _single("regret", rate, -rate, "linear", "treat none"),
    }
    return Curve("regret", knots, misses, alarms - misses, start, "linear", name, references=references)


def net_benefit_curve_of(table: ScoreTable, rule: Rule = "score", name: str = "model") -> Curve:
    """Decision curve from a clean table."""
    knots, alarms, misses = error_pieces(table, rule)
    rate = table.prevalence
    start = rate if isinstance(rule, str) else float(rate - misses[0])
    references = {
        "treat all": _single("net benefit", rate, -(1.0 - rate), "odds", "treat all"),
        "treat none": _single("net benefit", 0.0, 0.0, "odds", "treat none"),
    }
    return Curve("net benefit", knots, rate - misses, -alarms, start, "odds", name, references=references)


def error_pieces(table: ScoreTable, rule: Rule) -> tuple[Floats, Floats, Floats]:
    """Knots of the threshold axis [0, 1], and the shares of false positives and false negatives on each piece."""
    if not isinstance(rule, str):
        cut = int(np.searchsorted(table.scores, rule, side="left"))
        return (
            np.array([0.0, 1.0]),
            table.false_positives[cut : cut + 1],
            table.false_negatives[cut : cut + 1],
        )
    scores, alarms, misses = table.scores, table.false_positives, table.false_negatives
    if rule == "optimal":
        scores = table.pav_values
        alarms, misses = alarms[table.pav_starts], misses[table.pav_starts]
    first = int(scores[0] <= 0.0)
    last = len(scores) - int(scores[-1] >= 1.0)
    knots = np.concatenate([[0.0], scores[first:last], [1.0]]) if first < last else np.array([0.0, 1.0])
    stop = first + len(knots) - 1
    return knots, alarms[first:stop], misses[first:stop]


def _single(kind: str, intercept: float, slope: float, basis: Any, name: str) -> Curve:
    piece = np.array([intercept]), np.array([slope])
    return replace(Curve(kind, np.array([0.0, 1.0]), *piece, intercept, basis, name), references={})

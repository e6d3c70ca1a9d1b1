"""Regret and net benefit over every threshold, exactly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.core.inputs import evaluation_data, undefined
from stakes.core.regret import check_harm, check_rule
from stakes.core.validation import check_choice, check_flag
from stakes.curves._combination import Combination
from stakes.curves._curve import Curve
from stakes.curves._thresholds import check_thresholds
from stakes.outcomes import TimeToEvent, acted_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from stakes.core.inputs import EvaluationData
    from stakes.core.regret import Rule
    from stakes.core.score_table import ScoreTable

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
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        amounts=True,
    )
    return regret_curve_of(data.table, check_rule(rule), name)


def net_benefit_curve(
    y_true: ArrayLike | ScoreTable,
    y_prob: ArrayLike | None = None,
    *,
    rule: Rule = "score",
    harm: float = 0.0,
    standardized: bool = False,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
    prevalence: float | None = None,
    logits: bool = False,
    censoring: str | None = None,
    thresholds: ArrayLike | None = None,
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
    harm : float, default 0
        What obtaining the score costs each case, in true positives: 1/30 if one would test 30 people to find one
        positive. Treating everyone or no one needs no test.
    standardized : bool, default False
        Whether to divide by the prevalence: the share of the best possible net benefit.
    sample_weight : array_like of shape (n,), optional
        Weights >= 0.
    pos_label : object, optional
        The label of the positive class.
    prevalence : float, optional
        Reweight the classes to this share of positives, as for case-control data.
    logits : bool, default False
        Whether the scores are log-odds.
    censoring : "acted", optional
        For a :class:`TimeToEvent`: estimate the event rate anew among the rows acted on at each threshold, as the
        packages named dcurves do, in place of one weight per row. nan where nobody acted on was followed for long
        enough. Takes one product limit for each distinct score.
    thresholds : array_like of shape (k,), optional
        With ``censoring="acted"``: the only thresholds, in [0, 1], at which the curve is to be exact; between them it
        is that of scores rounded down to them. By default it is exact everywhere.
    name : str, default "model"
        Label of the curve in pictures.

    Returns
    -------
    Curve
        Defined for thresholds in [0, 1); ``references`` holds "treat all" and "treat none". Never smoothed.

    Raises
    ------
    ValueError
        For invalid data, rule or harm.

    Notes
    -----
    Vickers and Elkin (2006); test harm as there, standardised net benefit as in Kerr et al. (2016).
    NB(t) = prevalence - R(t)/(1-t) - harm.

    Examples
    --------
    >>> from stakes import net_benefit_curve
    >>> curve = net_benefit_curve([0, 0, 0, 1], [0.1, 0.3, 0.1, 0.6])
    >>> float(curve.at(0.2)), round(float(curve.references["treat all"].at(0.2)), 6)
    (0.1875, 0.0625)
    """
    data = evaluation_data(
        y_true,
        y_prob,
        sample_weight=sample_weight,
        pos_label=pos_label,
        prevalence=prevalence,
        logits=logits,
        amounts=True,
    )
    harm = check_harm(harm)
    check_flag(standardized, "standardized")
    if censoring is not None:
        check_choice(censoring, "censoring", ("acted",))
        if rule != "score" or standardized or prevalence is not None:
            raise ValueError('censoring="acted" takes neither rule= nor standardized= nor prevalence=.')
        return _acted_curve(y_true, data, harm, name, thresholds)
    if thresholds is not None:
        raise ValueError('thresholds= belongs to censoring="acted": other curves are exact at every threshold.')
    if standardized and data.prevalence == 0.0:
        undefined("standardized net benefit", "there are no positives")
    return net_benefit_curve_of(data.table, check_rule(rule), name, harm=harm, standardized=standardized)


def _acted_curve(outcome: Any, data: EvaluationData, harm: float, name: str, thresholds: Any) -> Curve:
    """Decision curve from the event rate among the rows acted on at each threshold."""
    if not isinstance(outcome, TimeToEvent) or not outcome.pooled:
        raise ValueError('censoring="acted" needs a TimeToEvent without groups= and censoring=.')
    sample, use = data.rows, outcome.present
    score = np.zeros(len(use))
    score[use] = sample.score if sample.origin is None else sample.origin.score[use]
    if thresholds is not None:
        grid = np.unique(np.append(check_thresholds(thresholds, probability=True), 0.0))
        score = grid[np.searchsorted(grid, score, side="right") - 1]
    cuts, hits, alarms = acted_shares(outcome, score)
    inside = (cuts > 0.0) & (cuts < 1.0)
    last = float(cuts[-1] >= 1.0)  # whether anybody is acted on at the highest thresholds
    height, slope = (np.append(part[inside], last * part[-1]) for part in (hits, -alarms))
    rate = outcome.prevalence
    references = {
        "treat all": _single("net benefit", rate, -(1.0 - rate), "odds", "treat all"),
        "treat none": _single("net benefit", 0.0, 0.0, "odds", "treat none"),
    }
    knots = np.concatenate([[0.0], cuts[inside], [1.0]])
    about = outcome.about.replace("weighted", "acted on weighted")
    start = rate - harm
    return Curve("net benefit", knots, height - harm, slope, start, "odds", name, references=references, about=about)


def regret_curve_of(table: ScoreTable, rule: Rule = "score", name: str = "model", *, harm: float = 0.0) -> Curve:
    """Regret curve from a clean table; the harm of obtaining a score is one of so many more positives missed."""
    knots, alarms, misses = error_pieces(table, rule)
    start = (0.0 if isinstance(rule, str) else float(misses[0])) + harm
    rate = table.prevalence
    references = {
        "treat all": _single("regret", 0.0, 1.0 - rate, "linear", "treat all"),
        "treat none": _single("regret", rate, -rate, "linear", "treat none"),
    }
    slope = Combination(alarms, misses, second_factor=-1.0, constant=-harm)
    height = Combination(misses, constant=harm) if harm else misses
    return Curve("regret", knots, height, slope, start, "linear", name, references=references, about=table.about)


def net_benefit_curve_of(
    table: ScoreTable, rule: Rule = "score", name: str = "model", *, harm: float = 0.0, standardized: bool = False
) -> Curve:
    """Decision curve from a clean table."""
    knots, alarms, misses = error_pieces(table, rule)
    rate = table.prevalence
    start = (rate if isinstance(rule, str) else float(rate - misses[0])) - harm
    kind, unit = "net benefit", 1.0
    if standardized:
        kind, unit = "standardized net benefit", rate or math.nan
    references = {
        "treat all": _single(kind, rate / unit, -(1.0 - rate) / unit, "odds", "treat all"),
        "treat none": _single(kind, 0.0, 0.0, "odds", "treat none"),
    }
    height = Combination(misses, first_factor=-1.0 / unit, constant=(rate - harm) / unit)
    slope = Combination(alarms, first_factor=-1.0 / unit)
    return Curve(kind, knots, height, slope, start / unit, "odds", name, references=references, about=table.about)


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
    knots = table.knots
    if rule == "optimal":
        knots = np.concatenate([[0.0], scores[first:last], [1.0]]) if first < last else np.array([0.0, 1.0])
    stop = first + len(knots) - 1
    return knots, alarms[first:stop], misses[first:stop]


def _single(kind: str, intercept: float, slope: float, basis: Any, name: str) -> Curve:
    piece = np.array([intercept]), np.array([slope])
    return replace(Curve(kind, np.array([0.0, 1.0]), *piece, intercept, basis, name), references={})

"""Regret integrated over cost ratios, from rows or from a score table.

Assumes clean arrays. Three rules turn scores into decisions: ``"score"`` (act where score >= c), ``"optimal"`` (the
best threshold for each c, which is the isotonic recalibration of the score), or a number (one deployed threshold).
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from stakes.base.arrays import Floats
from stakes.base.numerics import weighted_sum
from stakes.base.validation import BinarySample, blocks
from stakes.core.score_table import ScoreTable
from stakes.costs import CostDistribution

Rule = float | Literal["score", "optimal"]


def losses_by_score(score: Floats, costs: CostDistribution, rule: Rule) -> tuple[Floats, Floats]:
    """Integrated cost of a negative and of a positive at each score ("score" or a number; not "optimal")."""
    if isinstance(rule, str):
        return costs.negative_loss(score), costs.positive_loss(score)
    acting = score >= rule
    always, never = float(costs.negative_loss(np.inf)), float(costs.positive_loss(-np.inf))
    return np.where(acting, always, 0.0), np.where(acting, 0.0, never)


def class_losses(kind: int, score: Floats, costs: CostDistribution, rule: Rule) -> Floats:
    """Integrated cost of rows of one class (0: negatives, 1: positives) at their scores, not for "optimal"."""
    if isinstance(rule, str):
        return costs.positive_loss(score) if kind else costs.negative_loss(score)
    return losses_by_score(score, costs, rule)[kind]


def table_integral(table: ScoreTable, costs: CostDistribution, rule: Rule) -> float:
    """Integral of regret over the cost distribution, from a table."""
    if rule == "optimal":
        starts = table.pav_starts[:-1]
        columns = np.add.reduceat(table.negatives, starts), np.add.reduceat(table.positives, starts)
        losses = losses_by_score(table.pav_values, costs, "score")
        return math.fsum(weighted_sum(w, v) for w, v in zip(columns, losses, strict=True)) / table.total
    terms = []
    for part in blocks(len(table.scores)):
        negative, positive = losses_by_score(table.scores[part], costs, rule)
        terms += [weighted_sum(table.negatives[part], negative), weighted_sum(table.positives[part], positive)]
    return math.fsum(terms) / table.total


def row_integral(sample: BinarySample, costs: CostDistribution, rule: Rule) -> float:
    """Integral of regret from rows, in one pass without a sort ("score" or a number)."""
    terms, masses = [], []
    for part in blocks(len(sample.score)):
        loss = row_losses(sample.y[part], sample.score[part], costs, rule)
        if sample.weight is None:
            terms.append(float(loss.sum()))
        else:
            terms.append(float(np.dot(sample.weight[part], loss)))
            masses.append(float(sample.weight[part].sum()))
    return math.fsum(terms) / (len(sample.score) if sample.weight is None else math.fsum(masses))


def row_losses(y: NDArray[np.bool_], score: Floats, costs: CostDistribution, rule: Rule) -> Floats:
    """Integrated cost of each row ("score" or a number)."""
    if isinstance(rule, str):
        return costs.row_loss(y, score)
    acting = score >= rule
    loss = np.zeros(len(score))
    loss[~y & acting] = float(costs.negative_loss(np.inf))
    loss[y & ~acting] = float(costs.positive_loss(-np.inf))
    return loss


def promised_losses(score: Floats, costs: CostDistribution, rule: Rule = "score") -> Floats:
    """Integrated cost that each row's own score expects, where it is the probability of the positive class."""
    negative, positive = losses_by_score(score, costs, rule)
    with np.errstate(invalid="ignore"):  # what cannot happen costs nothing, however much it would
        expected = np.where(score > 0.0, score * positive, 0.0) + np.where(score < 1.0, (1.0 - score) * negative, 0.0)
    return np.asarray(expected)


def regret_at(table: ScoreTable, c: Floats, rule: Rule) -> Floats:
    """Regret at each cost ratio: c * false positives + (1 - c) * false negatives, as shares of all weight."""
    c = np.asarray(c, dtype=np.float64)
    scores = table.pav_values if rule == "optimal" else table.scores
    cut = np.searchsorted(scores, c if isinstance(rule, str) else np.full(c.shape, float(rule)), side="left")
    if rule == "optimal":
        cut = table.pav_starts[cut]
    regret: Floats = c * table.false_positives[cut] + (1.0 - c) * table.false_negatives[cut]
    return regret

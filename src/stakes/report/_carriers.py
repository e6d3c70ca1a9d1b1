"""How many units, weighed rows or clusters, carry a cost where so many rows of the page's table do."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.variance.decisions import Decisions
from stakes.variance.sums import Clusters, effective, members, squares_and_fourths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable
    from stakes.evaluation import Evaluation
    from stakes.inference import PairedRows

    Floats = NDArray[np.float64]

# The page finds how many rows of its table carry a cost over any range, as if those of a class weighed alike. What it
# holds for every rule, class and cut point is by how much the units differ from them: of negatives above the cut, of
# positives below it.

_ENOUGH = 10_000  # rows: where more of them carry a cost, enough units do


def rows_by_class(rows: PairedRows) -> Floats:
    """Rows of each class that count (first), and how many come with one of them, in its cluster (second)."""
    counts = np.array([np.count_nonzero(mine) for mine in members(rows.y)], dtype=np.float64)
    codes = _clusters_of(rows)
    if codes is None:
        return np.stack([counts, np.ones(2)])
    sizes = np.unique(codes, return_counts=True)[1].astype(np.float64)
    return np.stack([counts, 1.0 + (np.sum(sizes**2) / sizes.sum() - 1.0) * counts / counts.sum()])


def _clusters_of(rows: PairedRows) -> NDArray[np.intp] | None:
    """The cluster of each row that counts; those of an outcome are held for all of its rows of positive weight."""
    return rows.clusters if rows.clusters is None or rows.origin is None else rows.clusters[rows.origin.among_present]


def inverse_degrees(evaluation: Evaluation, chosen: Sequence[int], counts: Floats) -> Floats:
    """Factor and summand that turn the inverse degrees of freedom of rows alike into those of each rule.

    Weights multiply fourth powers; clusters of rows add the unevenness of the clusters to that of the rows.
    """
    even = [
        Decisions.from_table(_evened(evaluation, index, counts), evaluation.costs, evaluation.rule) for index in chosen
    ]
    free = [*(each.of(0).degrees for each in even), even[0].of(1).degrees, even[0].of(2).degrees]
    rules = [*chosen, *range(len(evaluation.models), len(evaluation.models) + 2)]
    own = np.array([evaluation.moments.of(rule).degrees for rule in rules])
    if evaluation.rows is not None and evaluation.rows.clusters is not None:
        return np.stack([np.ones(len(own)), 1.0 / own - 1.0 / np.array(free)])
    return np.stack([np.array(free) / own, np.zeros(len(own))])


def _evened(evaluation: Evaluation, index: int, counts: Floats) -> ScoreTable:
    table = evaluation.score_tables[index]
    negatives, positives = table.negatives, table.positives
    alike = {
        "negatives_squared": negatives * (negatives.sum() / counts[0]),
        "positives_squared": positives * (positives.sum() / counts[1]),
    }
    return replace(table, n_rows=int(counts.sum()), **alike)


def most_degrees(rows: PairedRows) -> float:
    """The most degrees of freedom that these rows, or their clusters, can have."""
    weight, codes = np.ones(len(rows.y)) if rows.weight is None else rows.weight, _clusters_of(rows)
    return len(rows.y) - 1.0 if codes is None else Clusters(codes, weight / weight.sum()).degrees()


def unit_ratios(rows: PairedRows, scores: Sequence[Callable[[slice], Floats]], cuts: Floats) -> Floats:
    """Units over rows, of shape (rules, classes, 3, cuts): effective number, number and dominant cost of carriers.

    ``scores`` are functions that return the scores of each model as they are acted on; the last rules are "treat all"
    and "treat none".
    """
    weight, clusters = np.ones(len(rows.y)) if rows.weight is None else rows.weight, _clusters_of(rows)
    found = np.ones((len(scores) + 2, 2, 3, len(cuts)))
    for k, mine in enumerate(members(rows.y)):
        codes = None if clusters is None else clusters[mine]
        ends = 1.0 - cuts if k else cuts
        for rule in range(len(found)):
            # treating all costs the negatives everything, treating none the positives
            seen = np.full(np.count_nonzero(mine), float(rule - len(scores) == k))
            if rule < len(scores):
                acted = scores[rule](slice(None))[mine]
                seen = 1.0 - acted if k else acted
            found[rule, k] = np.stack([_ratios(seen, weight[mine], codes, end) for end in ends], axis=-1)
    return found


def _ratios(seen: Floats, weight: Floats, codes: NDArray[np.intp] | None, cut: float) -> Floats:
    carrying = np.flatnonzero(seen > cut)
    if not 0 < len(carrying) <= _ENOUGH:
        return np.ones(3)
    losses = (seen[carrying] - cut) * (seen[carrying] + cut)
    units = weight[carrying] * losses
    if codes is not None:
        units = np.bincount(np.unique(codes[carrying], return_inverse=True)[1], units).astype(np.float64)
    return _carried(units) / _carried(losses * weight.mean())


def _carried(values: Floats) -> Floats:
    most = float(values.max())
    second, fourth = squares_and_fourths(values / most)  # no power of a small cost vanishes
    return np.array([float(effective(second, fourth)), float(len(values)), most * math.sqrt(fourth / second)])

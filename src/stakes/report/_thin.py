"""A score table small enough for a page, with a bound on what leaving rows apart unsaid can change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from stakes.core.score_table import ScoreTable

    Floats = NDArray[np.float64]

# beside the steps of equal weight: where log-odds are even, for ranges near 0 and 1
_LOGITS = 14.0


@dataclass(frozen=True, eq=False)
class Thinned:
    """Scores in ascending order with the weight of positives and negatives at each, and how exact they are.

    Parameters
    ----------
    scores, positives, negatives : ndarray of shape (m,)
        As in :class:`ScoreTable`.
    integral_bound : float
        Of the integral of regret over any range of cost ratios that count alike.
    share_bound : float
        Of the regret, and of the share of all weight that is a false alarm or a miss, at any one threshold.
    """

    scores: Floats
    positives: Floats
    negatives: Floats
    integral_bound: float = 0.0
    share_bound: float = 0.0


def passing(table: ScoreTable) -> ScoreTable:
    """The same table, whose cumulative sums are forgotten with it; its recalibration, which is small, is shared."""
    copy = replace(table)
    vars(copy).update({name: getattr(table, name) for name in ("pav_starts", "pav_values")})
    return copy


def thinned(table: ScoreTable, limit: int, focus: tuple[float, float]) -> Thinned:
    """Pool neighbouring scores until about ``limit`` are left, more finely within the focus.

    The positives of a cell stand at their own mean score and the negatives at theirs: the loss of each class is smooth
    in the score, so what is lost is of second order in the width of the cell.
    """
    if len(table.scores) <= limit:
        return Thinned(table.scores, table.positives, table.negatives)
    starts = _starts(table, limit // 2, focus)
    totals, means, seconds = _cells(table, starts)
    lower, upper = table.scores[starts], table.scores[np.append(starts[1:], len(table.scores)) - 1]
    means = np.clip(means, lower, upper)
    bounds = _bounds(table.total, (lower, upper), totals, means, seconds)
    return Thinned(*_entries(totals, means), *bounds)


def _starts(table: ScoreTable, cells: int, focus: tuple[float, float]) -> NDArray[np.intp]:
    """First score of each cell: steps of weight, of positives, of score, of log-odds, and of score within the focus."""
    part = max(cells // 5, 1)
    even = np.linspace(0.0, 1.0, part + 1)[1:-1]
    logits = _LOGITS * (2.0 * even - 1.0)
    edges = np.concatenate([even, 1.0 / (1.0 + np.exp(-logits)), np.linspace(*focus, part)])
    ends = np.array([np.nextafter(0.0, 1.0), 1.0])
    starts = [np.array([0]), np.searchsorted(table.scores, np.concatenate([edges, ends]))]
    starts += [_quantiles(weight, even) for weight in (table.positives, table.negatives)]
    found = np.unique(np.concatenate(starts))
    return found[found < len(table.scores)]


def _quantiles(weight: Floats, shares: Floats) -> NDArray[np.intp]:
    """Where the sums of the weights reach shares of their total; found in pieces, so that no long sums are kept."""
    parts = list(blocks(len(weight)))
    ends = np.cumsum([weight[part].sum() for part in parts])
    goals = shares * ends[-1]
    places = np.minimum(np.searchsorted(ends, goals), len(parts) - 1)
    found = np.empty(len(goals), dtype=np.intp)
    for k in np.unique(places):
        sums = np.cumsum(weight[parts[k]]) + (ends[k - 1] if k else 0.0)
        found[places == k] = parts[k].start + np.searchsorted(sums, goals[places == k])
    return found


def _cells(table: ScoreTable, starts: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Weight, mean score and loss of what each cell holds (columns) of negatives and positives (rows)."""
    totals, means, seconds = (np.zeros((2, len(starts))) for _ in range(3))
    for k, weight in enumerate((table.negatives, table.positives)):
        for part, cells, firsts in _stretches(starts, len(table.scores)):
            score, mine = table.scores[part], weight[part]
            loss = 0.5 * (1.0 - score if k else score) ** 2
            for column, values in ((totals, mine), (means, mine * score), (seconds, mine * loss)):
                column[k, cells] = np.add.reduceat(values, firsts)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(totals > 0.0, means / totals, 0.0)
    return totals, means, seconds


def _stretches(starts: NDArray[np.intp], length: int) -> Iterator[tuple[slice, slice, NDArray[np.intp]]]:
    """Whole cells, so many at a time that the temporaries stay small: their scores, their numbers, their starts."""
    ends = np.append(starts[1:], length)
    for cells in blocks(len(starts), 256):
        part = slice(int(starts[cells][0]), int(ends[cells][-1]))
        yield part, cells, starts[cells] - part.start


def _entries(totals: Floats, means: Floats) -> tuple[Floats, Floats, Floats]:
    """The two classes of every cell as scores of their own, equal ones pooled."""
    scores, place = np.unique(means[totals > 0.0], return_inverse=True)
    held = totals > 0.0
    first = int(np.count_nonzero(held[0]))
    negatives = np.bincount(place[:first], weights=totals[0][held[0]], minlength=len(scores))
    positives = np.bincount(place[first:], weights=totals[1][held[1]], minlength=len(scores))
    return scores, positives.astype(np.float64), negatives.astype(np.float64)


def _bounds(
    total: float, ends: tuple[Floats, Floats], totals: Floats, means: Floats, seconds: Floats
) -> tuple[float, float]:
    """How far the integral of regret from 0 can be apart at two places, and the regret at one."""
    lower, upper = ends
    losses = np.stack([0.5 * means[0] ** 2, 0.5 * (1.0 - means[1]) ** 2])
    at_edges = np.append(0.0, np.cumsum((seconds - totals * losses).sum(axis=0) / total))
    wide = upper > lower
    # within a cell the regrets differ by what the cell holds at most
    height = np.where(wide, (upper * totals[0] + (1.0 - lower) * totals[1]) / total, 0.0)
    inside = float((height * (upper - lower)).max(initial=0.0))
    rounding = 1e-13
    return float(np.ptp(at_edges)) + 2.0 * inside + rounding, float(height.max(initial=0.0)) + rounding

"""Simpler solvers of the literature, for comparison: all for the most recall under a precision bound.

They are kept as published, with their weaknesses: none of them is optimal in general, and each docstring says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.boundary._knapsack import Level, filled, undominated
from stakes.core.exact import next_fraction

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import NDArray

    from stakes.boundary._options import Ints, Options

    Solver = Callable[[Options, Fraction], Ints]

_MAX_CELLS = 2 * 10**10
_NONE = -(2**61)  # no choice of this size; sums with counts stay far below zero


def greedy(options: Options, precision: Fraction) -> Ints:
    """Deepest option of each level that keeps the precision by itself: levels cannot share their slack."""
    slack = options.slack(next_fraction(precision, max(options.total, 1)))
    return np.array([int(np.flatnonzero(slack[rows] >= 0)[-1]) for rows in options.slices()], dtype=np.int64)


def isotonic(options: Options, precision: Fraction) -> Ints:
    """Take blocks of the isotonic fits by descending rate, ties together; keep the last prefix that is feasible.

    This is the linear relaxation of the exact problem, stopped at the block that does not fit: arbitrarily far from
    the best on small or tied data.
    """
    return _by_blocks(options, precision, together=True)


def isotonic_completed(options: Options, precision: Fraction) -> Ints:
    """As ``isotonic``, tested after every block, and what slack is left is spent level by level."""
    chosen = _by_blocks(options, precision, together=False)
    slack = options.slack(next_fraction(precision, max(options.total, 1)))
    levels, places, capacity = [], [], 0
    for rows, depth in zip(options.slices(), chosen.tolist(), strict=True):
        value, rest = options.positives[rows], slack[rows]
        kept = undominated(value, rest)
        levels.append(Level(kept, value[kept], rest[kept[0]] - rest[kept]))
        capacity += int(rest[kept[0]])
        # the best undominated option that costs no more than the block's end
        places.append(int(np.flatnonzero(rest[kept] >= rest[depth])[-1]))
    places = filled(levels, places, capacity)
    return np.array([level.index[place] for level, place in zip(levels, places, strict=True)], dtype=np.int64)


def rate_around(options: Options, selected: int) -> float:
    """Rate of positives at the margin of a boundary with so many rows: over the blocks from 3/4 to 5/4 of them.

    Blocks of all levels by descending rate; at least ten rows on either side, for the rate of few rows is noise.
    """
    _, _, p, n, _, order = _ranked_blocks(options)
    rows, found = np.r_[0, np.cumsum(n[order])], np.r_[0, np.cumsum(p[order])]
    reach = max(0.25 * selected, 10.0)
    low, high = max(0.0, selected - reach), min(float(rows[-1]), selected + reach)
    if high <= low:
        return 0.0
    at_low, at_high = np.interp([low, high], rows, found)
    return float((at_high - at_low) / (high - low))


def _ranked_blocks(options: Options) -> tuple[NDArray[Any], ...]:
    """Level, end, positives, rows and rate of the isotonic blocks of all levels, and their order by descending rate."""
    owner, ends, positives, totals = [], [], [], []
    for k, rows in enumerate(options.slices()):
        last = _blocks(options.positives[rows], options.selected[rows])
        owner.append(np.full(len(last), k))
        ends.append(last)
        positives.append(np.diff(options.positives[rows][np.r_[0, last]]))
        totals.append(np.diff(options.selected[rows][np.r_[0, last]]))
    level, end, p, n = (np.concatenate(parts) for parts in (owner, ends, positives, totals))
    rate = p / np.maximum(n, 1)
    return level, end, p, n, rate, np.argsort(-rate, kind="stable")


def _by_blocks(options: Options, precision: Fraction, *, together: bool) -> Ints:
    level, end, p, n, rate, order = _ranked_blocks(options)
    bound = next_fraction(precision, max(options.total, 1))
    slack = np.cumsum(options_slack(p[order], n[order], bound))
    feasible = slack >= 0
    if together:
        feasible &= np.append(rate[order][1:] != rate[order][:-1], True).astype(bool) if len(order) else True
    chosen = np.zeros(options.n_levels, dtype=np.int64)
    good = np.flatnonzero(feasible)
    if len(good):
        taken = order[: good[-1] + 1]
        np.maximum.at(chosen, level[taken], end[taken])
    return chosen


def options_slack(p: Ints, n: Ints, bound: Fraction) -> NDArray[np.int64]:
    """Slack of blocks; their counts are those of rows, so that int64 holds the products of ordinary bounds."""
    a, b = bound.numerator, bound.denominator
    if (a + b) * int(n.sum() + 1) < 2**62:
        return b * p - a * n
    return b * p.astype(object) - a * n.astype(object)


def _blocks(positives: Ints, selected: Ints) -> NDArray[np.intp]:
    """Ends of the blocks of the non-increasing fit of the rate, equal rates in one block.

    Rates are quotients of counts: recomputed from the counts of a block they are equal only if they are equal.
    """
    from scipy.optimize import isotonic_regression

    n = np.diff(selected)
    if not len(n):
        return np.empty(0, np.intp)
    fit = isotonic_regression(np.diff(positives) / n, weights=n.astype(float), increasing=False)
    ends = np.asarray(fit.blocks[1:], dtype=np.intp)
    while len(ends) > 1:
        bounds = np.r_[0, ends]
        rate = np.diff(positives[bounds]) / np.diff(selected[bounds])
        keep = np.append(rate[:-1] > rate[1:], True).astype(bool)
        if np.all(keep):
            break
        ends = ends[keep]
    return ends


def equal_weight_dp(options: Options, precision: Fraction) -> Ints:
    """Most positives for each number of bins; the largest number whose boundary keeps the precision.

    Optimal only where all bins hold equally many rows; empty bins count as bins. Of equal positives the choice with
    fewer rows is kept.
    """
    key = options.positives * (options.total + 1) - options.selected
    by_bins = options.by_bins or tuple(np.arange(size) for size in np.diff(options.starts))
    gains = [key[start + chosen] for start, chosen in zip(options.starts[:-1], by_bins, strict=True)]
    _check_cells(sum(map(len, gains)) ** 2 // 2, "equal_weight_dp")
    tables = [gains[0]]
    for gain in gains[1:]:
        tables.append(_max_plus(tables[-1], gain, np.arange(len(gain))))
    positives = -(-tables[-1] // (options.total + 1))
    selected = positives * (options.total + 1) - tables[-1]
    at = int(_feasible(options, precision, tables[-1], positives, selected)[-1])
    bins = _traced(tables, at, gains, [np.arange(len(gain)) for gain in gains])
    return np.array([chosen[b] for chosen, b in zip(by_bins, bins, strict=True)], dtype=np.int64)


def variable_weight_dp(options: Options, precision: Fraction) -> Ints:
    """Most positives for each number of rows: optimal, in time and memory proportional to the rows."""
    _check_cells(len(options.positives) * (options.total + 1), "variable_weight_dp")
    first = options.selected[: options.starts[1]]
    table = np.full(int(first[-1]) + 1, _NONE, dtype=np.int64)
    table[first] = options.positives[: options.starts[1]]
    tables = [table]
    for rows in list(options.slices())[1:]:
        tables.append(_max_plus(tables[-1], options.positives[rows], options.selected[rows]))
    selected = np.arange(len(tables[-1]))
    feasible = _feasible(options, precision, tables[-1], tables[-1], selected)
    at = int(feasible[np.argmax(tables[-1][feasible])])
    levels = list(options.slices())
    return _traced(tables, at, [options.positives[k] for k in levels], [options.selected[k] for k in levels])


def _max_plus(table: Ints, gain: Ints, size: Ints) -> Ints:
    """Best sum for every total size."""
    out = np.full(len(table) + int(size[-1]), _NONE, dtype=np.int64)
    for one, step in zip(gain.tolist(), size.tolist(), strict=True):
        part = out[step : step + len(table)]
        np.maximum(part, table + one, out=part)
    return out


def _feasible(options: Options, precision: Fraction, table: Ints, positives: Ints, selected: Ints) -> NDArray[np.intp]:
    """Entries of a table that are reached and keep the precision; the empty choice always does."""
    reached = table > _NONE // 2
    bound = next_fraction(precision, max(options.total, 1))
    slack = options_slack(np.where(reached, positives, 0), np.where(reached, selected, 0), bound)
    return np.flatnonzero(reached & (slack >= 0).astype(bool))


def _traced(tables: list[Ints], at: int, gains: list[Ints], sizes: list[Ints]) -> Ints:
    """Choice of each level that led to an entry of the last table."""
    chosen = np.zeros(len(tables), dtype=np.int64)
    for k in range(len(tables) - 1, 0, -1):
        rest = at - sizes[k]
        fits = (rest >= 0) & (rest < len(tables[k - 1]))
        value = np.full(len(rest), 2 * _NONE, dtype=np.int64)
        value[fits] = tables[k - 1][rest[fits]] + gains[k][fits]
        chosen[k] = int(np.flatnonzero(value == tables[k][at])[0])
        at = int(rest[chosen[k]])
    chosen[0] = int(np.searchsorted(sizes[0], at))
    return chosen


def _check_cells(cells: int, solver: str) -> None:
    if cells > _MAX_CELLS:
        raise ValueError(
            f"solver={solver!r} would visit {cells:.2g} cells: pass a smaller score_bins, or solver='exact', which is "
            "never worse."
        )


HEURISTICS: dict[str, Solver] = {
    "greedy": greedy,
    "isotonic": isotonic,
    "isotonic_completed": isotonic_completed,
    "equal_weight_dp": equal_weight_dp,
    "variable_weight_dp": variable_weight_dp,
}

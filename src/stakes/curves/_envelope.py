"""Which of several regret curves is the lowest, at every cost ratio: their lower envelope, exactly.

Between knots every curve is straight, so the lowest changes only at a knot or where two lines cross. A coarse look
first rules out, cell by cell, the curves that cannot be the lowest there; only what it leaves open is looked at exactly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Bools = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pieces = tuple[Floats, Floats, Floats]  # knots, shares of false positives and of false negatives in between

TIE = 1e-12  # curves this close, relative to their height, count as equal: the first one is taken
_KNOTS = 1 << 10  # every so many knots of a curve, a cell ends
_CELLS = 1 << 6  # at once


def lower_envelope(pieces: Sequence[Pieces], low: float = 0.0, high: float = 1.0) -> tuple[Floats, Integers]:
    """Knots between two cost ratios and, in between (each with its upper end), the index of the lowest regret.

    Each curve is given by its knots from 0 to 1 and, in between, its shares of false positives, which fall, and of
    false negatives, which rise.
    """
    cells = _cells([knots for knots, _, _ in pieces], low, high)
    rivals = _rivals(pieces, cells)
    turns = np.flatnonzero(np.append(True, (rivals[:, 1:] != rivals[:, :-1]).any(axis=0))[: rivals.shape[1]])
    parts: list[tuple[Floats, Integers]] = [(np.empty(0), np.empty(0, dtype=np.intp))]
    for first, last in pairwise([*turns.tolist(), rivals.shape[1]]):
        chosen = np.flatnonzero(rivals[:, first])
        if len(chosen) == 1:
            parts.append((cells[first : first + 1], chosen))
            continue
        for part in blocks(last - first, _CELLS):
            ends = float(cells[first + part.start]), float(cells[first + part.stop])
            starts, best = _block_envelope(*ends, [_inside(*pieces[k], *ends) for k in chosen.tolist()])
            parts.append((starts, chosen[best]))
    starts, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    new = np.diff(best, prepend=-1) != 0
    return np.append(starts[new], high), best[new]


def _cells(knots: Sequence[Floats], low: float, high: float) -> Floats:
    """Ends of cells that hold about a thousand knots of all curves together."""
    inside = [c[np.searchsorted(c, low, side="right") : np.searchsorted(c, high, side="left")] for c in knots]
    return np.unique(np.concatenate([[low, high], *(c[:: _KNOTS] for c in inside)]))


def _rivals(pieces: Sequence[Pieces], cells: Floats) -> Bools:
    """Which curves (rows) may be the lowest somewhere in each cell.

    False positives fall and false negatives rise: their shares at the ends of a cell bound a curve in it from both
    sides by straight lines. Whose lower bound lies above another's upper bound at both ends is never the lowest.
    """
    low, high = cells[:-1], cells[1:]
    ends = np.empty((2, 2, len(pieces), len(low)))  # (lower and upper bound, end of the cell, curve, cell)
    for row, (knots, alarms, misses) in enumerate(pieces):
        first = np.searchsorted(knots, low, side="right") - 1
        last = np.searchsorted(knots, high, side="left") - 1
        for bound, (alarm, miss) in enumerate(((alarms[last], misses[first]), (alarms[first], misses[last]))):
            ends[bound, :, row] = alarm * low + miss * (1.0 - low), alarm * high + miss * (1.0 - high)
    lower, upper = ends
    least = np.argmin(upper.sum(axis=0), axis=0)
    above = lower > np.take_along_axis(upper, least[None, None], axis=1) * (1.0 + 4.0 * TIE)
    return ~above.all(axis=0)


def _inside(knots: Floats, alarms: Floats, misses: Floats, low: float, high: float) -> Pieces:
    """The pieces of a curve that reach between two cost ratios."""
    first = int(np.searchsorted(knots, low, side="right")) - 1
    last = int(np.searchsorted(knots, high, side="left"))
    return knots[first : last + 1], alarms[first:last], misses[first:last]


def _block_envelope(start: float, stop: float, pieces: Sequence[Pieces]) -> tuple[Floats, Integers]:
    """Where each stretch of one lowest curve starts, between two cost ratios, and which curve it is."""
    edges = np.unique(np.concatenate([[start, stop], *(knots[1:-1] for knots, _, _ in pieces)]))
    low, high = edges[:-1], edges[1:]
    alarms, misses = np.empty((2, len(pieces), len(low)))
    for row, (knots, alarm, miss) in enumerate(pieces):
        at = np.searchsorted(knots, high, side="left") - 1
        alarms[row], misses[row] = alarm[at], miss[at]
    first, last = _lowest(alarms, misses, low), _lowest(alarms, misses, high)
    settled = first == last  # lowest at both ends of a straight stretch is lowest all along
    kept = settled & np.append(True, ~settled[:-1] | (first[1:] != first[:-1]))
    bent = ~settled
    done = [(low[kept], first[kept])]
    done += _crossings((low[bent], high[bent]), (first[bent], last[bent]), alarms[:, bent], misses[:, bent])
    starts, best = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(starts, kind="stable")
    return starts[order], best[order]


def _crossings(
    ends: tuple[Floats, Floats], best: tuple[Integers, Integers], alarms: Floats, misses: Floats
) -> list[tuple[Floats, Integers]]:
    """Split stretches whose lowest line changes, where the two lines cross, until no third line is lower there."""
    done: list[tuple[Floats, Integers]] = []
    (low, high), (first, last) = ends, best
    while len(low):
        column = np.arange(len(low))
        alarm, miss = (rows[first, column] - rows[last, column] for rows in (alarms, misses))
        gaps = [alarm * c + miss * (1.0 - c) for c in (low, high)]
        with np.errstate(invalid="ignore"):
            share = np.nan_to_num(gaps[0] / (gaps[0] - gaps[1]))
        cross = low + (high - low) * np.clip(share, 0.0, 1.0)
        third = _lowest(alarms, misses, cross)
        height = alarms * cross + misses * (1.0 - cross)
        beaten = height[third, column] < height[first, column] * (1.0 - TIE)
        beaten &= (third != first) & (third != last)
        before, after = ~beaten & (cross > low), ~beaten & (high > cross)
        done += [(low[before], first[before]), (cross[after], last[after])]
        low, high = np.concatenate([low[beaten], cross[beaten]]), np.concatenate([cross[beaten], high[beaten]])
        first, last = np.concatenate([first[beaten], third[beaten]]), np.concatenate([third[beaten], last[beaten]])
        alarms, misses = (np.concatenate([rows[:, beaten]] * 2, axis=1) for rows in (alarms, misses))
    return done


def _lowest(alarms: Floats, misses: Floats, c: Floats) -> Integers:
    """Index of the first line that is as low as any."""
    height = alarms * c + misses * (1.0 - c)
    return np.argmax(height <= height.min(axis=0) * (1.0 + TIE), axis=0)

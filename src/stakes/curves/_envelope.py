"""Which of several regret curves is the lowest, at every cost ratio: their lower envelope, exactly.

Between knots every curve is straight, so the lowest changes only at a knot or where two lines cross. A coarse look
first rules out, cell by cell, the curves that cannot be the lowest there; what it leaves open is looked at exactly.
"""

from __future__ import annotations

from functools import reduce
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
    Owned = tuple[Floats, Floats, Floats, Integers]  # and whose piece it is

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
            curves = [_inside(pieces[k], k, *ends) for k in chosen.tolist()]
            while len(curves) > 1:  # in rounds, so that work grows as the knots times the logarithm of the curves
                curves = [reduce(_lower, curves[k : k + 2]) for k in range(0, len(curves), 2)]
            knots, _, _, best = curves[0]
            parts.append((knots[:-1], best))
    starts, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    new = np.diff(best, prepend=-1) != 0
    return np.append(starts[new], high), best[new]


def _cells(knots: Sequence[Floats], low: float, high: float) -> Floats:
    """Ends of cells that hold about a thousand knots of all curves together."""
    inside = [c[np.searchsorted(c, low, side="right") : np.searchsorted(c, high, side="left")] for c in knots]
    return np.unique(np.concatenate([[low, high], *(c[::_KNOTS] for c in inside)]))


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
    return np.asarray(~above.all(axis=0))


def _inside(piece: Pieces, owner: int, low: float, high: float) -> Owned:
    """The pieces of a curve that reach between two cost ratios."""
    knots, alarms, misses = piece
    first, last = int(np.searchsorted(knots, low, side="right")) - 1, int(np.searchsorted(knots, high, side="left"))
    edges = np.concatenate([[low], knots[first + 1 : last], [high]])
    return edges, alarms[first:last], misses[first:last], np.full(last - first, owner)


def _lower(first: Owned, second: Owned) -> Owned:
    """The lower of two curves, its pieces joined where neither the line nor its owner changes."""
    edges = np.unique(np.concatenate([first[0], second[0]]))
    low, high = edges[:-1], edges[1:]
    at = [np.searchsorted(knots, high, side="left") - 1 for knots, *_ in (first, second)]
    alarms, misses, owners = (np.stack([first[k][at[0]], second[k][at[1]]]) for k in (1, 2, 3))
    heights = [alarms * c + misses * (1.0 - c) for c in (low, high)]
    before, after = (mine > other * (1.0 + TIE) for mine, other in heights)
    gaps = [mine - other for mine, other in heights]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(gaps[0] / (gaps[0] - gaps[1]))
    cross = np.where(before == after, low, low + (high - low) * np.clip(share, 0.0, 1.0))
    split = np.flatnonzero((before != after) & (cross > low) & (cross < high))
    later = np.concatenate([np.where(cross > low, before, after), after[split]]).astype(np.intp)
    starts, place = np.concatenate([low, cross[split]]), np.concatenate([np.arange(len(low)), split])
    order = np.argsort(starts, kind="stable")
    starts, later, place = starts[order], later[order], place[order]
    columns = [part[later, place] for part in (alarms, misses, owners)]
    new = np.append(True, np.logical_or.reduce([part[1:] != part[:-1] for part in columns]))
    return np.append(starts[new], edges[-1]), *(part[new] for part in columns)

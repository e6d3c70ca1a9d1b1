"""Which of several regret curves is the lowest, at every cost ratio: their lower envelope, exactly.

Between knots every curve is straight, so the lowest changes only at a knot or where two lines cross.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.intp]
    Pieces = tuple[Floats, Floats, Floats]  # knots, shares of false positives and of false negatives in between

TIE = 1e-12  # curves this close, relative to their height, count as equal: the first one is taken
_BLOCK = 1 << 17


def lower_envelope(pieces: Sequence[Pieces]) -> tuple[Floats, Integers]:
    """Knots from 0 to 1 and, in between (each with its upper end), the index of the curve with the lowest regret.

    Each curve is given by its knots from 0 to 1 and its shares of false positives and false negatives in between.
    """
    edges = np.sort(np.concatenate([knots for knots, _, _ in pieces]), kind="stable")
    edges = edges[np.append(edges[1:] > edges[:-1], True)]
    parts = [_block_envelope(edges[part.start : part.stop + 1], pieces) for part in blocks(len(edges) - 1, _BLOCK)]
    low, best = (np.concatenate(column) for column in zip(*parts, strict=True))
    new = np.append(True, best[1:] != best[:-1])
    return np.append(low[new], edges[-1]), best[new]


def _block_envelope(edges: Floats, pieces: Sequence[Pieces]) -> tuple[Floats, Integers]:
    """Where each stretch of one lowest curve starts, between the first and the last edge, and which curve it is."""
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

"""Counts by uncertainty level and score interval, for the picture of a boundary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from stakes.boundary._rows import level_of

if TYPE_CHECKING:
    from stakes.boundary._options import Floats, Ints
    from stakes.boundary._rows import Rows

_CELLS = 20


@dataclass(frozen=True)
class Cells:
    """Counts by uncertainty level and score interval, and the range of the uncertainty."""

    edges: Floats
    positives: Ints
    totals: Ints
    span: Floats


def count_cells(rows: Rows, cuts: Floats) -> Cells:
    """Counts in equal intervals of the score, by level."""
    low, high = float(rows.score.min()), float(rows.score.max())
    low, high = (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high if high > low else low + 1.0)
    edges = np.linspace(low, high, _CELLS + 1)
    column = np.clip(((rows.score - low) * (_CELLS / (high - low))).astype(np.int64), 0, _CELLS - 1)
    place = level_of(cuts, rows.uncertainty) * _CELLS + column
    weight = None if rows.weight is None else rows.weight.astype(np.float64)
    size = (len(cuts) + 1) * _CELLS
    totals = np.bincount(place, weights=weight, minlength=size)
    ups = np.bincount(place[rows.y], weights=None if weight is None else weight[rows.y], minlength=size)
    shape = (len(cuts) + 1, _CELLS)
    span = np.array([rows.uncertainty.min(), rows.uncertainty.max()])
    return Cells(edges, ups.astype(np.int64).reshape(shape), totals.astype(np.int64).reshape(shape), span)

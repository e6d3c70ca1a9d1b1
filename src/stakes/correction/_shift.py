"""The arithmetic behind every correction: class odds are multiplied by known factors.

With factors f the posterior of class y becomes proportional to a_y f_y. Only sums and products of non-negative numbers
are formed, so small probabilities keep their relative precision and scores of 0 and 1 stay what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stakes.core.sums import blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def shift_odds(prob: Floats, factor: float) -> Floats:
    """Multiply the odds of each probability by a positive factor."""
    out = np.empty(len(prob))
    inverse = 1.0 / factor
    for part in blocks(len(prob)):
        mine, room = prob[part], out[part]
        np.subtract(1.0, mine, out=room)
        room *= inverse
        room += mine
        np.divide(mine, room, out=room)
    return out


def shift_rows(prob: Floats, factors: Floats) -> Floats:
    """Multiply each class's column by its factor and make the rows sum to 1."""
    out = np.empty(prob.shape)
    scaled, ones = factors / factors.max(), np.ones(len(factors))
    for part in blocks(len(prob), max(1, (1 << 13) // prob.shape[1])):
        room = out[part]
        np.multiply(prob[part], scaled, out=room)
        room /= (room @ ones)[:, None]  # sums of short rows are slow
    return out


def shift_columns(prob: Floats, factors: Floats) -> Floats:
    """Multiply the odds of each column by a factor of its own, each column a yes-or-no question."""
    return prob / (prob + (1.0 - prob) / factors)

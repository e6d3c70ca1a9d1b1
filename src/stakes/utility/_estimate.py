"""A computed curve of expected utilities with what is known about its error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Steps = Callable[[int, int], tuple[Floats, Floats]]

UNIT = 2.0**-53
# Rounding of a sum of positive terms weight * exp(x) * (sum of rows), relative to it, in units of 2^-53: up to 768 for
# the rows added or multiplied one by one within a block, 800 for an exponent |x| <= 40 that is right to twenty units in
# its last place (terms with a larger one are below 1e-9 of the sum), 100 for adding the nodes up, 100 for the rest.
ROUNDING = 2e-13


@dataclass(frozen=True, eq=False)
class Estimate:
    """Expected utility U_0, ..., U_n of acting on the k most probable rows, and its error.

    The error of U_k is at most ``relative * scale_k + absolute``. Differences of neighbours are known far better than
    values: ``steps(first, last)`` returns U_{k+1} - U_k and its bound for first <= k < last, where first is at least
    ``steps_start`` and last at most ``steps_end``; sums of differences are off by ``floor`` on top.
    """

    values: Floats
    relative: float
    absolute: float
    method: str
    scale: Floats | float | None = None  # by default the values themselves
    proved: bool = True
    steps: Steps | None = None
    steps_start: int = 1
    steps_end: int | None = None  # n
    floor: float = 0.0

    def bound(self, rows: slice | NDArray[np.intp] = slice(None)) -> Floats:
        """Bound on the absolute error of some values."""
        scale = self.values if self.scale is None else self.scale
        if isinstance(scale, np.ndarray):
            return self.relative * np.abs(scale[rows]) + self.absolute
        return np.full(len(self.values[rows]), self.relative * scale + self.absolute)

    def largest_bound(self) -> float:
        """Bound on the absolute error of every value."""
        scale = self.values if self.scale is None else self.scale
        if isinstance(scale, np.ndarray):
            scale = max(float(scale.max()), -float(scale.min()))
        return self.relative * scale + self.absolute

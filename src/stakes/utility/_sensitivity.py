"""What becomes of a choice if the probabilities it was made with are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes._results import Tabular
from stakes.utility._batch import Batch
from stakes.utility._certify import choose
from stakes.utility._methods import estimate_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.utility._result import ExpectedUtility

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Tabular):
    """Best choice and loss of the actual one for each way in which the log-odds may be wrong.

    The true log-odds are taken to be ``slope * logit(p) + shift``. The order of the rows stays the same, so only the
    number of rows to act on can be wrong.

    Parameters
    ----------
    slope, shift : ndarray of shape (m,)
        The scenarios.
    best_k : ndarray of int, shape (m,)
        Best number of rows to act on if the scenario were true.
    best_utility : ndarray of shape (m,)
        What that is worth.
    utility : ndarray of shape (m,)
        What the actual choice is worth if the scenario were true.
    chosen_k : int
        The actual choice.

    Examples
    --------
    >>> from stakes.utility import F1, expected_utility
    >>> table = expected_utility([0.9, 0.2, 0.6, 0.1], F1()).sensitivity(shifts=(-1, 0, 1), slopes=(1,))
    >>> table.best_k.tolist(), table.loss.round(4).tolist()
    ([1, 2, 2], [0.0117, 0.0, 0.0])
    """

    slope: Floats
    shift: Floats
    best_k: NDArray[np.intp]
    best_utility: Floats
    utility: Floats
    chosen_k: int

    @property
    def loss(self) -> Floats:
        """What the actual choice loses against the best one in each scenario."""
        return np.abs(self.best_utility - self.utility)

    def _records(self) -> list[dict[str, Any]]:
        columns = {
            "slope": self.slope,
            "shift": self.shift,
            "best_k": self.best_k,
            "chosen_k": np.full(len(self.slope), self.chosen_k),
            "best_utility": self.best_utility,
            "utility": self.utility,
            "loss": self.loss,
        }
        lines = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, line, strict=True)) for line in lines]

    def __repr__(self) -> str:
        low, high = int(self.best_k.min()), int(self.best_k.max())
        return (
            f"Sensitivity({len(self.slope)} scenarios: best k from {low} to {high}, "
            f"acting on {self.chosen_k} loses at most {self.loss.max():.4g})"
        )


def sensitivity(result: ExpectedUtility, shifts: Sequence[float], slopes: Sequence[float]) -> Sensitivity:
    """Solve the batch again for every pair of a slope and a shift of the log-odds."""
    if result._weighted:
        raise ValueError("sensitivity needs a result without sample_weight: its best k are not certain to begin with.")
    pairs = np.array(list(product(slopes, shifts)), dtype=float).reshape(-1, 2)
    if len(pairs) == 0 or not np.all(np.isfinite(pairs)) or not np.all(pairs[:, 0] > 0.0):
        raise ValueError(f"slopes must be > 0 and shifts finite, at least one of each, got {slopes} and {shifts}.")
    sign = 1.0 if result.measure.higher_is_better else -1.0
    best_k, best, actual = [], [], []
    for slope, shift in pairs:
        batch = Batch.of(tilted(result._prob, slope, shift))
        batch = batch if result.ranking.descending else batch.reversed()
        estimate = estimate_curve(batch, result.measure, result.zero_division, "auto")
        best_k.append(int(choose(estimate, sign).ties[0]))
        best.append(float(estimate.values[best_k[-1]]))
        actual.append(float(estimate.values[result.best_k]))
    return Sensitivity(pairs[:, 0], pairs[:, 1], np.array(best_k), np.array(best), np.array(actual), result.best_k)


def tilted(prob: Floats, slope: float, shift: float) -> Floats:
    """Probabilities whose log-odds are slope * logit(p) + shift; 0 and 1 stay."""
    with np.errstate(divide="ignore", over="ignore"):
        logit = np.log(prob) - np.log1p(-prob)
        return 1.0 / (1.0 + np.exp(-(slope * logit + shift)))

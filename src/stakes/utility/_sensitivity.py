"""What becomes of a choice if the probabilities it was made with are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stakes.core.logistic import logit, sigmoid
from stakes.core.validation import check_number, to_array
from stakes.shown.tabular import Tabular
from stakes.utility._batch import Batch
from stakes.utility._certify import choose
from stakes.utility._methods import estimate_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from stakes.utility._measure import Measure
    from stakes.utility._ranking import RankingPrinciple

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


class Asked(NamedTuple):
    """What was maximised."""

    measure: Measure
    ranking: RankingPrinciple
    zero_division: float


def sensitivity(
    prob: Floats, asked: Asked, chosen_k: int, shifts: Sequence[float], slopes: Sequence[float]
) -> Sensitivity:
    """Solve the batch again for every pair of a slope and a shift of the log-odds."""
    pairs = np.array(list(product(_numbers(slopes, "slopes"), _numbers(shifts, "shifts")))).reshape(-1, 2)
    if len(pairs) == 0 or not np.all(np.isfinite(pairs)) or not np.all(pairs[:, 0] > 0.0):
        raise ValueError(f"slopes must be > 0 and shifts finite, at least one of each, got {slopes} and {shifts}.")
    sign = 1.0 if asked.measure.higher_is_better else -1.0
    best_k, best, actual = [], [], []
    for slope, shift in pairs:
        batch = Batch.of(tilted(prob, slope, shift))
        batch = batch if asked.ranking.descending else batch.reversed()
        estimate = estimate_curve(batch, asked.measure, asked.zero_division, "auto")
        best_k.append(int(choose(estimate, sign).ties[0]))
        best.append(float(estimate.values[best_k[-1]]))
        actual.append(float(estimate.values[chosen_k]))
    return Sensitivity(pairs[:, 0], pairs[:, 1], np.array(best_k), np.array(best), np.array(actual), chosen_k)


def _numbers(values: Sequence[float], name: str) -> list[float]:
    array = to_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of numbers, got {values!r}.")
    return [check_number(value, name) for value in array.tolist()]


def tilted(prob: Floats, slope: float, shift: float) -> Floats:
    """Probabilities whose log-odds are slope * logit(p) + shift; 0 and 1 stay."""
    return np.asarray(sigmoid(slope * logit(prob) + shift))

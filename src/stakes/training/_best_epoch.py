"""Which epoch is the best so far: the rule that early stopping, checkpoints and the comparison of monitors share."""

from __future__ import annotations

import math
from collections.abc import Iterable

from stakes.core.validation import check_number


class BestEpoch:
    """Values of a criterion by epoch, the best of them, and how long ago it was."""

    def __init__(self, *, greater_is_better: bool, min_delta: float, history: object = ()) -> None:
        self.sign = 1.0 if greater_is_better else -1.0
        self.min_delta = check_number(min_delta, "min_delta")
        if not 0.0 <= self.min_delta < math.inf:
            raise ValueError(f"min_delta must be a finite number >= 0, got {min_delta!r}.")
        self.history: list[float] = []
        self.best_epoch: int | None = None
        if isinstance(history, str) or not isinstance(history, Iterable):
            raise TypeError(f"history must hold one number for each epoch, got {history!r}.")
        for value in history:
            self.add(value)

    @property
    def best_value(self) -> float:
        """Value at the best epoch, nan before there is one."""
        return math.nan if self.best_epoch is None else self.history[self.best_epoch]

    @property
    def wait(self) -> int:
        """Epochs since the best one."""
        return len(self.history) - (0 if self.best_epoch is None else self.best_epoch + 1)

    def improves(self, value: float) -> bool:
        """Whether this would be the best value so far; nan never is."""
        if math.isnan(value) or self.best_epoch is None:
            return not math.isnan(value)
        # without subtraction, for infinite losses
        return self.sign * value > self.sign * self.best_value + self.min_delta

    def add(self, value: float) -> bool:
        """Record an epoch, and say whether it is the best so far."""
        value = as_number(value)
        improved = self.improves(value)
        self.history.append(value)
        if improved:
            self.best_epoch = len(self.history) - 1
        return improved


def as_number(value: object) -> float:
    """A float from any number of a library, such as a tensor of one value."""
    if not hasattr(value, "__float__") or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"the value of an epoch must be a number, got {value!r}.")
    return float(value)

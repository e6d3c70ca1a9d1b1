"""Which epoch is the best so far: the one rule that early stopping and checkpoints share."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from stakes.metrics import Metric
from stakes.training._monitor import PenalizedScoreMonitor

if TYPE_CHECKING:
    from collections.abc import Iterable

Criterion = str | Metric | PenalizedScoreMonitor


class Progress:
    """Values of a criterion by epoch, the best of them, and how long ago it was."""

    def __init__(self, *, greater_is_better: bool, min_delta: float, history: Iterable[float] = ()) -> None:
        if not 0.0 <= min_delta < math.inf:
            raise ValueError(f"min_delta must be a finite number >= 0, got {min_delta}.")
        self.sign = 1.0 if greater_is_better else -1.0
        self.min_delta = float(min_delta)
        self.history: list[float] = []
        self.best_epoch: int | None = None
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

    def add(self, value: float) -> bool:
        """Record an epoch, and say whether it is the best so far; nan never is."""
        value = float(value)
        self.history.append(value)
        if math.isnan(value):
            return False
        # without subtraction, for infinite losses
        if self.best_epoch is None or self.sign * value > self.sign * self.best_value + self.min_delta:
            self.best_epoch = len(self.history) - 1
            return True
        return False


def as_monitor(monitor: Criterion) -> PenalizedScoreMonitor:
    """A monitor from a metric's name, a metric, or a monitor."""
    return monitor if isinstance(monitor, PenalizedScoreMonitor) else PenalizedScoreMonitor(monitor)

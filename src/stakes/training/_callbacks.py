"""What the callbacks of all libraries share: one validation value for each epoch goes to both objects."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from stakes.training._checkpoint import Checkpoint
    from stakes.training._early_stopping import EarlyStopping
    from stakes.training._monitor import PenalizedScoreMonitor


@dataclass
class Watch:
    """Early stopping, a checkpoint, or both, on the value of one monitor."""

    stopping: EarlyStopping | None
    checkpoint: Checkpoint | None

    def __post_init__(self) -> None:
        if self.stopping is None and self.checkpoint is None:
            raise ValueError("a callback needs stopping=, checkpoint= or both.")
        if self.stopping is None or self.checkpoint is None:
            return
        ours, theirs = self.stopping.monitor.settings(), self.checkpoint.monitor.settings()
        if ours != theirs:
            raise ValueError(f"stopping and checkpoint must have the same monitor, got {ours} and {theirs}.")
        if self.stopping.min_delta != self.checkpoint._progress.min_delta:
            deltas = f"{self.stopping.min_delta} and {self.checkpoint._progress.min_delta}"
            raise ValueError(f"stopping and checkpoint must have the same min_delta, got {deltas}.")
        if not self.stopping.history and self.checkpoint.history:
            self.stopping.replay(self.checkpoint.history)

    @property
    def monitor(self) -> PenalizedScoreMonitor:
        part = self.stopping or self.checkpoint
        assert part is not None  # noqa: S101  (checked above; for the type checker)
        return part.monitor

    @property
    def restores(self) -> bool:
        return self.stopping is not None and self.stopping.restore_best

    @property
    def best_epoch(self) -> int | None:
        part = self.stopping or self.checkpoint
        return None if part is None else part.best_epoch

    def since(self, epoch: int) -> int:
        """Epochs after this one."""
        part = self.stopping or self.checkpoint
        return 0 if part is None else len(part.history) - 1 - epoch

    def value(self) -> float:
        """Value of the epoch that was just evaluated; the monitor is ready for the next one."""
        value = self.monitor.compute()
        self.monitor.reset()
        return value

    def step(self, value: float, save: Callable[[Path], Any], suffix: str, weights: Any = None) -> bool:
        """Record an epoch in both, and say whether to stop."""
        if self.checkpoint is not None:
            self.checkpoint.step(value, save, suffix=suffix)
        return self.stopping is not None and self.stopping.step(value, weights)

    def best_file(self) -> Path | None:
        """Where the best weights are if not in memory: it was an epoch of an earlier process."""
        if self.checkpoint is not None and self.best_epoch == self.checkpoint.best_epoch:
            return self.checkpoint.best_path
        if self.best_epoch is not None:
            warnings.warn(
                f"the best epoch, {self.best_epoch}, was before this process, and no checkpoint holds it: "
                "the weights are those of the last epoch.",
                stacklevel=2,
            )
        return None

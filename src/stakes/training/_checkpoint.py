"""The last and the best epoch in a folder, from which training goes on after the process was killed at any moment."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stakes._results import json_ready
from stakes._validation import check_choice
from stakes.training._atomic import replacing
from stakes.training._progress import Criterion, Progress, as_monitor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_RECORD = "checkpoint.json"


class Checkpoint:
    """Keep the last and the best epoch of a training run in a folder, by a metric of the library.

    Parameters
    ----------
    folder : str or Path
        Where the files go; it is made if it does not exist. If it holds a checkpoint of the same monitor, that run is
        continued.
    monitor : str, Metric or PenalizedScoreMonitor, default "penalized_brier_loss"
        What decides which epoch is the best.
    min_delta : float, default 0.0
        Smallest change that counts as an improvement, >= 0.

    Attributes
    ----------
    monitor : PenalizedScoreMonitor
        Update it with validation batches.
    history : list of float
        One value for each epoch saved, from earlier processes too.
    epoch : int
        Number of epochs saved: the next one to train, counted from 0.
    best_epoch : int or None
        Counted from 0.
    best_value : float
        The value there.
    last_path, best_path : Path or None
        The files; one and the same where the last epoch is the best.

    Raises
    ------
    ValueError
        If the folder holds a checkpoint of another monitor, or ``min_delta`` is negative.

    Notes
    -----
    Every file is written beside its place, flushed to the disk and renamed. The model comes first, then the record
    ``checkpoint.json`` that names it and holds the history, then files that it no longer names are removed: a process
    killed at any moment leaves the state of a whole epoch.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from stakes.training import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(folder)
    ...     for value in (0.5, 0.3, 0.4):
    ...         _ = checkpoint.step(value, lambda path: path.write_text("a model"), suffix=".txt")
    ...     again = Checkpoint(folder)
    ...     again.epoch, again.best_epoch, again.best_path.name, again.last_path.name
    (3, 1, 'epoch-0001.txt', 'epoch-0002.txt')
    """

    def __init__(
        self, folder: str | Path, monitor: Criterion = "penalized_brier_loss", *, min_delta: float = 0.0
    ) -> None:
        self.folder = Path(folder)
        self.monitor = as_monitor(monitor)
        record = self._read()
        self._progress = Progress(
            greater_is_better=self.monitor.greater_is_better,
            min_delta=min_delta,
            history=[math.nan if value is None else float(value) for value in record["history"]],
        )
        # the files of the record, not of the history: another min_delta may call another epoch the best
        self._progress.best_epoch = record["best_epoch"]
        self._last, self._best = record["last"], record["best"]

    @property
    def history(self) -> list[float]:
        """Values by epoch."""
        return self._progress.history

    @property
    def epoch(self) -> int:
        """Number of epochs saved."""
        return len(self.history)

    @property
    def best_epoch(self) -> int | None:
        """Number of the best epoch."""
        return self._progress.best_epoch

    @property
    def best_value(self) -> float:
        """Value at the best epoch."""
        return self._progress.best_value

    @property
    def last_path(self) -> Path | None:
        """File of the last epoch."""
        return None if self._last is None else self.folder / self._last

    @property
    def best_path(self) -> Path | None:
        """File of the best epoch."""
        return None if self._best is None else self.folder / self._best

    def step(self, value: float, state: Mapping[str, Any] | Callable[[Path], Any], *, suffix: str = ".pt") -> bool:
        """Save an epoch, and say whether it is the best so far.

        Parameters
        ----------
        value : float
            Usually ``checkpoint.monitor.compute()``.
        state : mapping or callable
            What ``torch.save`` shall write, such as ``{"model": model.state_dict(), "optimizer": ...}``, or a function
            that writes the model to the path it is given.
        suffix : str, default ".pt"
            Of the file; Keras wants ".keras".

        Returns
        -------
        bool

        Raises
        ------
        ImportError
            If ``state`` is a mapping and PyTorch is not installed (``pip install 'stakes[torch]'``).

        Examples
        --------
        >>> import tempfile
        >>> from stakes.training import Checkpoint
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Checkpoint(folder).step(0.5, lambda path: path.write_text("a model"), suffix=".txt")
        True
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"epoch-{self.epoch:04d}{suffix}"
        with replacing(self.folder / name) as path:
            if callable(state):
                state(path)
            else:
                _torch().save(dict(state), path)
        before = {self._last, self._best} - {None}
        improved = self._progress.add(value)
        self._last = name
        if improved:
            self._best = name
        self._write()
        for old in sorted(before - {self._last, self._best}):
            (self.folder / old).unlink(missing_ok=True)
        return improved

    def load(self, which: Literal["last", "best"] = "last", *, map_location: Any = None) -> dict[str, Any] | None:
        """Read what ``torch.save`` wrote.

        Parameters
        ----------
        which : {"last", "best"}, default "last"
            Which epoch.
        map_location : optional
            Where the tensors go; see ``torch.load``.

        Returns
        -------
        dict or None
            None if there is no such epoch yet.

        Raises
        ------
        ImportError
            If PyTorch is not installed (``pip install 'stakes[torch]'``).

        Notes
        -----
        Read with ``weights_only=True``: tensors and plain Python values, no code.

        Examples
        --------
        >>> import tempfile
        >>> from stakes.training import Checkpoint
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Checkpoint(folder).load() is None
        True
        """
        check_choice(which, "which", ("last", "best"))
        path = self.last_path if which == "last" else self.best_path
        if path is None:
            return None
        state: dict[str, Any] = _torch().load(path, map_location=map_location, weights_only=True)
        return state

    def _read(self) -> dict[str, Any]:
        path = self.folder / _RECORD
        if not path.exists():
            return {"history": [], "best_epoch": None, "last": None, "best": None}
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if record["monitor"] != self.monitor.settings():
            raise ValueError(
                f"{self.folder} holds a checkpoint by {record['monitor']}, but monitor is {self.monitor.settings()}: "
                "take another folder."
            )
        return record

    def _write(self) -> None:
        record = {
            "monitor": self.monitor.settings(),
            "last": self._last,
            "best": self._best,
            "best_epoch": self.best_epoch,
            "history": self.history,
        }
        with replacing(self.folder / _RECORD) as path:
            path.write_text(json.dumps(json_ready(record), indent=1) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        best = "" if self.best_epoch is None else f", best {self.best_value:.4g} at epoch {self.best_epoch}"
        return f"Checkpoint({str(self.folder)!r}, {self.monitor.name}, {self.epoch} epochs{best})"


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("saving a state needs PyTorch: pip install 'stakes[torch]'") from error
    return torch

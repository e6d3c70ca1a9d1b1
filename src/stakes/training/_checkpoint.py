"""The last and the best epoch in a folder, from which training goes on after the process was killed at any moment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stakes.core.validation import check_choice
from stakes.shown.files import replacing
from stakes.training._best_epoch import BestEpoch, as_number
from stakes.training._checkpoint_record import Record, epoch_name, unlinked
from stakes.training._metric_monitor import Criterion, as_monitor

if TYPE_CHECKING:
    from collections.abc import Callable

_READS_SAFELY = (2, 10)  # the first version of PyTorch without the known ways past weights_only=True


class Checkpoint:
    """Keep the last and the best epoch of a training run in a folder, by a metric of the library.

    Parameters
    ----------
    folder : str or Path
        Where the files go; it is made if it does not exist. If it holds a checkpoint of the same monitor, that run is
        continued.
    monitor : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What decides which epoch is the best.
    min_delta : float, default 0.0
        Smallest change that counts as an improvement, >= 0.

    Attributes
    ----------
    monitor : MetricMonitor
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
    TypeError
        If the folder is no path.
    ValueError
        If it holds a checkpoint of another monitor, a record that no checkpoint wrote, or epochs of which the
        record does not know; if ``min_delta`` is negative.

    Notes
    -----
    Every file is written beside its place, flushed to the disk and renamed. The model comes first, then the record
    ``checkpoint.json`` that names it and holds the history, then files that it does not name are removed, those of
    killed processes too: a process killed at any moment leaves the state of a whole epoch. Only files of the folder
    itself that are named as a checkpoint names them are ever removed.

    A folder belongs to one process. One that finds that another has written there meanwhile stops with an error; in
    distributed training only the first process saves.

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
        if not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folder must be a path, got {folder!r}.")
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"folder must be a folder, got the file {str(folder)!r}.")
        self.monitor = as_monitor(monitor)
        better = self.monitor.greater_is_better
        self._record = Record.read(self.folder, self.monitor.settings(), greater_is_better=better)
        self._progress = BestEpoch(greater_is_better=better, min_delta=min_delta, history=self._record.history)
        # the best epoch of the record, whose file there is: another min_delta may call another one the best
        self._progress.best_epoch = self._record.best_epoch

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
        return None if self._record.last is None else self.folder / self._record.last

    @property
    def best_path(self) -> Path | None:
        """File of the best epoch."""
        return None if self._record.best is None else self.folder / self._record.best

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
            Of the file; LightGBM's ``save_model`` wants ".txt".

        Returns
        -------
        bool

        Raises
        ------
        ValueError
            If the suffix is none.
        TypeError
            If the value is no number, or the state cannot be saved.
        RuntimeError
            If another process has written to the folder meanwhile.
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
        value, name = as_number(value), epoch_name(self.epoch, suffix)
        if not callable(state) and not isinstance(state, Mapping):
            raise TypeError(f"state must be a mapping for torch.save or a function that writes a file, got {state!r}.")
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(unlinked(self.folder / name)) as path:
            if callable(state):
                state(path)
            else:
                _torch().save(dict(state), path)
            self._record.check_unchanged(self.folder)
        improved = self._progress.improves(value)
        self._record = self._record.with_epoch(name, value, improved=improved).written(self.folder)
        self._progress.add(value)
        self._record.remove_others(self.folder)
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
            If PyTorch is not installed, or is older than 2.10 (``pip install 'torch>=2.10'``).

        Notes
        -----
        Read with ``weights_only=True``: tensors and plain Python values, no code. Older PyTorch can be made to run
        code all the same, up to 2.5.1 by CVE-2025-32434 and before 2.10 by CVE-2026-24747, so it reads nothing here.

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
        state: dict[str, Any] = _torch_that_reads().load(path, map_location=map_location, weights_only=True)
        return state

    def __repr__(self) -> str:
        best = "" if self.best_epoch is None else f", best {self.best_value:.4g} at epoch {self.best_epoch}"
        return f"Checkpoint({str(self.folder)!r}, {self.monitor.name}, {self.epoch} epochs{best})"


def _torch_that_reads() -> Any:
    """PyTorch, if it is of a version that runs nothing of what it reads."""
    torch = _torch()
    version = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if version is None or (int(version[1]), int(version[2])) < _READS_SAFELY:
        least = ".".join(map(str, _READS_SAFELY))
        raise ImportError(
            f"a checkpoint is read with PyTorch {least} or newer, got {torch.__version__}: a crafted file makes older "
            f"versions run code (CVE-2025-32434, CVE-2026-24747); pip install 'torch>={least}'"
        )
    return torch


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise ImportError("saving a state needs PyTorch: pip install 'stakes[torch]'") from error
    return torch

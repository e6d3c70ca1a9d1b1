"""Epochs: the best one, early stopping and checkpoints, and the epoch that each criterion would have chosen."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from stakes.base.multiclass import is_tensor
from stakes.base.validation import (
    Floats,
    check_choice,
    check_flag,
    check_level,
    check_number,
    check_whole,
    refuse_missing,
    to_array,
)
from stakes.metrics import METRICS
from stakes.outputs.files import is_partial, json_ready, replacing
from stakes.outputs.hooks import draw, import_optional
from stakes.outputs.result_table import Tabular, backend_of
from stakes.outputs.serialization import parse_json
from stakes.training._metric_monitor import Criterion, as_monitor

# Which epoch is the best so far: the rule that early stopping, checkpoints and the comparison of monitors share.


class BestEpoch:
    """Values of a criterion by epoch, the best epoch, and the epochs since."""

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
        """Record an epoch, and return whether it is the best so far."""
        value = as_number(value)
        improved = self.improves(value)
        self.history.append(value)
        if improved:
            self.best_epoch = len(self.history) - 1
        return improved


def as_number(value: object) -> float:
    """Convert a number of any library, such as a tensor of one value, to a float."""
    if not hasattr(value, "__float__") or getattr(value, "ndim", 0) != 0:
        raise TypeError(f"the value of an epoch must be a number, got {value!r}.")
    return float(value)


class _Followed:
    """What is known of the epochs so far."""

    _best: BestEpoch

    @property
    def history(self) -> list[float]:
        """Values by epoch."""
        return self._best.history

    @property
    def best_epoch(self) -> int | None:
        """Number of the best epoch."""
        return self._best.best_epoch

    @property
    def best_value(self) -> float:
        """Value at the best epoch."""
        return self._best.best_value


# Stop a plain PyTorch loop when validation no longer improves, and go back to the weights of the best epoch.


class EarlyStopping(_Followed):
    """Stop when a metric of the library has not improved for some epochs, and keep the weights of the best one.

    Parameters
    ----------
    monitor : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What is watched on validation data; a monitor carries its settings, such as ``bounds=``.
    patience : int, default 10
        Epochs without improvement after which to stop, >= 1.
    min_delta : float, default 0.0
        Change that an improvement must exceed, >= 0.
    restore_best : bool, default True
        Whether :meth:`step` copies the weights of the best epoch, for :meth:`restore`.
    history : iterable of float, optional
        Values of the epochs before this process, such as ``checkpoint.history``: stopping goes on where it was.

    Attributes
    ----------
    monitor : MetricMonitor
        Update it with validation batches.
    history : list of float
        One value for each epoch.
    best_epoch : int or None
        Counted from 0.
    best_value : float
        The value there.
    wait : int
        Epochs since the best one.
    should_stop : bool
        Whether ``wait`` has reached ``patience``.

    Raises
    ------
    ValueError
        For a patience below 1 or a negative ``min_delta``.

    Notes
    -----
    An undefined value (nan), such as AUC with one class, is no improvement and counts towards the patience. Keras,
    Lightning, XGBoost and LightGBM have early stopping of their own, which follows :func:`keras_metric`,
    :func:`lightning_metric`, :func:`xgboost_metric` and :func:`lightgbm_metric`.

    Examples
    --------
    >>> from stakes.training import EarlyStopping
    >>> stopping = EarlyStopping("penalized_brier_loss", patience=2)
    >>> [stopping.step(value) for value in (0.9, 0.7, 0.8, 0.71)]
    [False, False, False, True]
    >>> stopping.best_epoch, stopping.best_value
    (1, 0.7)
    """

    def __init__(
        self,
        monitor: Criterion = "penalized_brier_loss",
        *,
        patience: int = 10,
        min_delta: float = 0.0,
        restore_best: bool = True,
        history: Iterable[float] = (),
    ) -> None:
        self.monitor = as_monitor(monitor)
        self.patience = check_whole(patience, "patience", 1)
        self.restore_best = check_flag(restore_best, "restore_best")
        better = self.monitor.greater_is_better
        self._best = BestEpoch(greater_is_better=better, min_delta=min_delta, history=history)
        self._weights: Any = None

    @property
    def wait(self) -> int:
        """Epochs since the best one."""
        return self._best.wait

    @property
    def should_stop(self) -> bool:
        """Whether the patience is exhausted."""
        return self.wait >= self.patience

    @property
    def best_weights(self) -> Any:
        """Copy of the weights at the best epoch, or None."""
        return self._weights

    def step(self, value: float, model: Any = None) -> bool:
        """Record the value of an epoch, and copy the weights if it is the best so far.

        Parameters
        ----------
        value : float
            Usually ``stopping.monitor.compute()``.
        model : PyTorch module or mapping, optional
            Whose weights to keep: a module or its ``state_dict()``.

        Returns
        -------
        bool
            Whether to stop.

        Raises
        ------
        TypeError
            If the value is no number, or the model has no weights.

        Examples
        --------
        >>> from stakes.training import EarlyStopping
        >>> EarlyStopping(patience=1).step(0.4)
        False
        """
        state = None if model is None else _state(model)
        if self._best.add(value):
            self._weights = _copied(state) if self.restore_best and state is not None else None
        return self.should_stop

    def restore(self, model: Any) -> None:
        """Put the weights of the best epoch back into a PyTorch module.

        Parameters
        ----------
        model : PyTorch module
            The one whose weights :meth:`step` was given.

        Raises
        ------
        TypeError
            If the model takes no weights.
        RuntimeError
            If there are none: the best epoch was before this process, or :meth:`step` was given no model.

        Examples
        --------
        >>> from stakes.training import EarlyStopping
        >>> EarlyStopping().restore(None)
        Traceback (most recent call last):
        RuntimeError: there are no best weights in memory: pass the model to step(), or load the checkpoint's best_path.
        """
        if self._weights is None:
            raise RuntimeError(
                "there are no best weights in memory: pass the model to step(), or load the checkpoint's best_path."
            )
        if not hasattr(model, "load_state_dict"):
            raise TypeError(f"model must be a PyTorch module, got {model!r}.")
        model.load_state_dict(self._weights)

    def __repr__(self) -> str:
        best = "no epoch yet" if self.best_epoch is None else f"best {self.best_value:.4g} at epoch {self.best_epoch}"
        return f"EarlyStopping({self.monitor.name}, {best}, wait {self.wait} of {self.patience})"


def _state(model: Any) -> Mapping[str, Any]:
    state = model.state_dict() if hasattr(model, "state_dict") else model
    if not isinstance(state, Mapping):
        raise TypeError(f"model must be a PyTorch module or its state_dict(), got {model!r}.")
    return state


def _copied(state: Mapping[str, Any]) -> dict[str, Any]:
    """Copy the weights, on the device where they are."""
    return {name: value.detach().clone() if is_tensor(value) else deepcopy(value) for name, value in state.items()}


# The record ``checkpoint.json`` of a folder, checked on reading.

FILE = "checkpoint.json"
_LARGEST = 10**300
# A name, not a path: no separator, so that it lies in the folder, and nothing that a user would call a file.
_EPOCH = re.compile(r"epoch-([0-9]{4,9})((?:\.[A-Za-z0-9_]+)*)")


@dataclass(frozen=True, eq=False, repr=False)
class Record:
    """Values by epoch, and the files of the last and the best one."""

    monitor: dict[str, Any]
    history: tuple[float, ...] = ()
    best_epoch: int | None = None
    last: str | None = None
    best: str | None = None
    text: str | None = None  # of the file as this process left it

    @classmethod
    def read(cls, folder: Path, monitor: dict[str, Any], *, greater_is_better: bool) -> Record:
        """Read the record of a folder (empty if there is none); refuse an invalid one."""
        text = _text(folder)
        found = cls(monitor)
        if text is not None:
            found = _parsed(text, folder / FILE, monitor, greater_is_better=greater_is_better)
        later = [name for name in _epochs(folder) if number_of(name) > len(found.history)]
        if later:
            raise ValueError(f"{folder} holds {min(later)!r}, of which no record knows: take another folder.")
        return found

    def with_epoch(self, name: str, value: float, *, improved: bool) -> Record:
        """Return the record after one more epoch."""
        best, epoch = (name, len(self.history)) if improved else (self.best, self.best_epoch)
        return replace(self, history=(*self.history, value), last=name, best=best, best_epoch=epoch)

    def written(self, folder: Path) -> Record:
        """Write the record, and return it with the text of the file."""
        content = {name: getattr(self, name) for name in ("monitor", "last", "best", "best_epoch", "history")}
        text = json.dumps(json_ready(content), indent=1) + "\n"
        with replacing(unlinked(folder / FILE)) as path:
            path.write_text(text, encoding="utf-8")
        return replace(self, text=text)

    def check_unchanged(self, folder: Path) -> None:
        """Refuse to write if another process has written since this one read or wrote the record."""
        if _text(folder) != self.text:
            raise RuntimeError(
                f"another process has changed {folder / FILE} since epoch {len(self.history)} began: "
                "give each run a folder of its own, and save in the first process only."
            )

    def remove_others(self, folder: Path) -> None:
        """Remove files of epochs that are neither the last nor the best, and unfinished files."""
        for name in [*_epochs(folder), *filter(is_partial, _names(folder))]:
            if name not in {self.last, self.best}:
                (folder / name).unlink(missing_ok=True)


def epoch_name(number: int, suffix: object) -> str:
    """Name of an epoch's file."""
    name = f"epoch-{number:04d}{suffix}"
    if not isinstance(suffix, str) or _EPOCH.fullmatch(name) is None:
        raise ValueError(f"suffix must be that of a file, such as '.pt', got {suffix!r}.")
    return name


def number_of(name: str) -> int:
    """Return the epoch number of a file name, -1 for other names."""
    match = _EPOCH.fullmatch(name)
    return -1 if match is None else int(match[1])


def unlinked(path: Path) -> Path:
    """Return the path, after removing a symbolic link that would lead out of the folder."""
    if path.is_symlink():
        path.unlink()
    return path


def _names(folder: Path) -> Iterator[str]:
    return (path.name for path in folder.iterdir()) if folder.is_dir() else iter(())


def _epochs(folder: Path) -> list[str]:
    return [name for name in _names(folder) if number_of(name) >= 0]


def _text(folder: Path) -> str | None:
    path = folder / FILE
    return path.read_bytes().decode("utf-8", errors="replace") if path.exists() else None


def _parsed(text: str, path: Path, monitor: dict[str, Any], *, greater_is_better: bool) -> Record:
    try:
        record = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no record of a checkpoint: {error}.") from error
    keys = {"monitor", "last", "best", "best_epoch", "history"}
    if not isinstance(record, dict) or not keys <= set(record) or not isinstance(record["history"], list):
        raise ValueError(f"{path} is no record of a checkpoint: it must hold {', '.join(sorted(keys))}.")
    if record["monitor"] != monitor:
        raise ValueError(
            f"{path.parent} holds a checkpoint by {record['monitor']}, but monitor is {monitor}: take another folder."
        )
    history = tuple(_value(value, path) for value in record["history"])
    last, best, epoch = record["last"], record["best"], record["best_epoch"]
    _check_name(last, "last", len(history) - 1 if history else None, path)
    if epoch is not None and (type(epoch) is not int or not 0 <= epoch < len(history)):
        raise ValueError(f"best_epoch in {path} must be an epoch of its history, got {epoch!r}.")
    _check_name(best, "best", epoch, path)
    _check_best(history, epoch, path, greater_is_better=greater_is_better)
    return Record(monitor, history, epoch, last, best, text)


def _check_best(history: tuple[float, ...], epoch: int | None, path: Path, *, greater_is_better: bool) -> None:
    """Check the best epoch: it improves on all before it; None only if no epoch has a value."""
    known = [value for value in history if not math.isnan(value)]
    if epoch is None:
        if known:
            raise ValueError(f"best_epoch in {path} must be an epoch of its history, got None.")
        return
    best, before = history[epoch], [value for value in history[:epoch] if not math.isnan(value)]
    sign = 1.0 if greater_is_better else -1.0
    if math.isnan(best) or any(sign * value >= sign * best for value in before):
        raise ValueError(
            f"best_epoch in {path} must be an epoch whose value is better than all before it, got {epoch} with the "
            f"value {best!r}."
        )


def _value(value: object, path: Path) -> float:
    if value is None:
        return math.nan
    known = (isinstance(value, str) and value in {"inf", "-inf"}) or type(value) is float
    if known or (type(value) is int and abs(value) < _LARGEST):
        return float(value)  # type: ignore[arg-type]  # one of these
    raise ValueError(f"history in {path} must hold numbers, got {value!r}.")


def _check_name(name: object, key: str, epoch: int | None, path: Path) -> None:
    """Check a file name from a record, which decides what is read and removed: only the epoch's name in this folder."""
    if (None if name is None else number_of(str(name))) != epoch or not isinstance(name, (str, type(None))):
        wanted = "null" if epoch is None else f"the name of a file of epoch {epoch}"
        raise ValueError(f"{key} in {path} must be {wanted}, got {name!r}.")


# The last and the best epoch in a folder, from which training resumes after an interruption at any moment.

_NEEDED = "saving a state needs PyTorch: pip install 'stakes[torch]'"
_READS_SAFELY = (2, 10)  # the first version of PyTorch without the known ways past weights_only=True


class Checkpoint(_Followed):
    """Keep the last and the best epoch of a training run in a folder, by a metric of the library.

    Parameters
    ----------
    folder : str or Path
        Where the files go; it is made if it does not exist. If it holds a checkpoint of the same monitor, that run is
        continued.
    monitor : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What decides which epoch is the best.
    min_delta : float, default 0.0
        Change that an improvement must exceed, >= 0.

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
        self._best = BestEpoch(greater_is_better=better, min_delta=min_delta, history=self._record.history)
        # the best epoch of the record, whose file there is: another min_delta may call another one the best
        self._best.best_epoch = self._record.best_epoch

    @property
    def epoch(self) -> int:
        """Number of epochs saved."""
        return len(self.history)

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
            If the suffix is none, or ``state`` wrote no file.
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
                import_optional("torch", _NEEDED).save(dict(state), path)
            self._record.check_unchanged(self.folder)
            if not path.exists():
                raise ValueError(f"state must write a file to the path it is given, {path.name!r}, and wrote none.")
        improved = self._best.improves(value)
        self._record = self._record.with_epoch(name, value, improved=improved).written(self.folder)
        self._best.add(value)
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
    torch = import_optional("torch", _NEEDED)
    version = re.match(r"(\d+)\.(\d+)", str(torch.__version__))
    if version is None or (int(version[1]), int(version[2])) < _READS_SAFELY:
        least = ".".join(map(str, _READS_SAFELY))
        raise ImportError(
            f"a checkpoint is read with PyTorch {least} or newer, got {torch.__version__}: a crafted file makes older "
            f"versions run code (CVE-2025-32434, CVE-2026-24747); pip install 'torch>={least}'"
        )
    return torch


# The epoch that each criterion would have chosen in a recorded training history, and its correlation with F1.

RULES = ("early stopping", "checkpoint")
_COLUMNS = ("criterion", "rule", "epoch", "epochs_trained", "correlation")


@dataclass(frozen=True)
class MonitorChoice:
    """What one criterion chose in one run by one rule."""

    run: Any
    criterion: str
    rule: str
    epoch: int | None
    epochs_trained: int
    correlation: float
    report: dict[str, float]


@dataclass(frozen=True)
class MonitorComparison(Tabular):
    """Epochs chosen by each criterion, made by :func:`compare_monitors`.

    Parameters
    ----------
    choices : tuple
        One for each run, criterion and rule.
    runs : mapping of run to mapping of str to ndarray
        The columns of each run.
    criteria : mapping of str to bool
        Whether greater is better, by criterion.
    target : str
        The column that criteria are correlated with.
    report : tuple of str
        The columns read at the chosen epoch.

    Examples
    --------
    >>> from stakes.training import compare_monitors
    >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
    >>> result = compare_monitors(history, criteria={"brier": "lower"}, patience=2)
    >>> result.choices[0].epoch, round(result.choices[0].correlation, 3)
    (1, 0.886)
    """

    choices: tuple[MonitorChoice, ...]
    runs: Mapping[Any, Mapping[str, Floats]]
    criteria: Mapping[str, bool]
    target: str
    report: tuple[str, ...]
    backend: Any = None

    def _records(self) -> list[dict[str, Any]]:
        several = len(self.runs) > 1
        return [
            {
                **({"run": choice.run} if several else {}),
                **{name: getattr(choice, name) for name in _COLUMNS},
                **choice.report,
            }
            for choice in self.choices
        ]

    def differences(self, baseline: str, *, confidence_level: float = 0.95) -> ChoiceDifferences:
        """Compare the chosen epochs of each criterion with those of a baseline, run by run.

        Parameters
        ----------
        baseline : str
            The criterion to compare with.
        confidence_level : float, default 0.95
            Of the t-interval for the mean of the paired differences.

        Returns
        -------
        ChoiceDifferences
            Mean difference (criterion less baseline) and interval, for each rule, criterion and reported column, and
            for the correlation with the target.

        Raises
        ------
        ValueError
            For an unknown baseline or a single run.

        Examples
        --------
        >>> from stakes.training import compare_monitors
        >>> run = {"f1": [0.2, 0.5, 0.4], "brier": [0.5, 0.3, 0.4], "accuracy": [0.2, 0.4, 0.6]}
        >>> both = compare_monitors(
        ...     {name: values * 2 for name, values in run.items()} | {"seed": [1, 1, 1, 2, 2, 2]},
        ...     criteria={"brier": "lower", "accuracy": "higher"},
        ...     run="seed",
        ... )
        >>> [(row["rule"], row["of"], round(row["difference"], 2)) for row in both.differences("brier")._records()][:2]
        [('early stopping', 'f1', -0.1), ('checkpoint', 'f1', -0.1)]
        """
        if baseline not in list(self.criteria):
            raise ValueError(f"baseline must be one of {', '.join(map(repr, self.criteria))}, got {baseline!r}.")
        if len(self.runs) < 2:
            raise ValueError("paired differences need at least 2 runs, got 1: pass run=.")
        confidence_level = check_level(confidence_level)
        records = []
        for criterion in self.criteria:
            if criterion == baseline:
                continue
            for of in self.report:
                for rule in RULES:
                    gap = self._column(criterion, rule, of) - self._column(baseline, rule, of)
                    records.append({"criterion": criterion, "rule": rule, "of": of, **_paired(gap, confidence_level)})
            gap = self._column(criterion, RULES[0], None) - self._column(baseline, RULES[0], None)
            shown = {"criterion": criterion, "rule": "", "of": f"correlation with {self.target}"}
            records.append({**shown, **_paired(gap, confidence_level)})
        return ChoiceDifferences(baseline, tuple(records), self.backend)

    def _column(self, criterion: str, rule: str, of: str | None) -> Floats:
        """A reported column at the epochs chosen by one criterion, or else the correlations."""
        chosen = [choice for choice in self.choices if (choice.criterion, choice.rule) == (criterion, rule)]
        return np.array([choice.correlation if of is None else choice.report[of] for choice in chosen])

    def plot(self, figure: Any = None, *, run: Any = None) -> Any:
        """Draw the target and each criterion over the epochs of one run, with the chosen epochs.

        Parameters
        ----------
        figure : matplotlib figure or subfigure, optional
            Where to draw; by default a new figure.
        run : object, optional
            Which run; by default the first.

        Returns
        -------
        stakes.display.MonitorDisplay

        Raises
        ------
        ValueError
            For a run that is not there.
        ImportError
            If matplotlib is not installed (``pip install 'stakes[plot]'``).

        Examples
        --------
        >>> from stakes.training import compare_monitors
        >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
        >>> display = compare_monitors(history, criteria={"brier": "lower"}).plot()
        >>> [ax.get_ylabel() for ax in display.axes_]
        ['f1', 'brier']
        """
        return draw(self, figure, run=run)

    def __repr__(self) -> str:
        runs = f"{len(self.runs)} runs, " if len(self.runs) > 1 else ""
        return f"MonitorComparison({runs}criteria {', '.join(self.criteria)}, against {self.target})"


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceDifferences(Tabular):
    """Paired differences between criteria, made by :meth:`MonitorComparison.differences`."""

    baseline: str
    records: tuple[dict[str, Any], ...]
    backend: Any = None

    def _records(self) -> list[dict[str, Any]]:
        return list(self.records)


def compare_monitors(
    history: Any,
    *,
    criteria: Mapping[str, str] | Sequence[str],
    target: str = "f1",
    report: Sequence[str] | None = None,
    patience: int = 10,
    min_delta: float = 0.0,
    run: str | None = None,
) -> MonitorComparison:
    """Say which epoch of a recorded training history each criterion would have chosen, and how well it follows F1.

    Parameters
    ----------
    history : mapping of str to array_like, or data frame
        One row for each epoch, in order; columns with the criteria and F1 on validation data, and others to report.
    criteria : mapping of str to {"lower", "higher"}, or sequence of str
        The columns to choose by, and which values are better; the direction may be left out for metrics of the library.
    target : str, default "f1"
        The column that criteria are correlated with.
    report : sequence of str, optional
        Columns to read at the chosen epoch, such as test F1 and test accuracy; by default the target.
    patience : int, default 10
        Epochs without improvement after which early stopping ends the training.
    min_delta : float, default 0.0
        Change that an improvement must exceed, >= 0.
    run : str, optional
        Column that tells runs apart, such as the seed.

    Returns
    -------
    MonitorComparison
        ``checkpoint`` takes the last epoch that was better by more than ``min_delta`` than the best before it: without
        ``min_delta`` the best of all epochs, the first of equally good ones. ``early stopping`` does so until the
        patience was spent. The correlation (Pearson) is over all epochs of a run, with losses negated, so that
        1 is best; it is undefined (nan) for a constant or infinite criterion.

    Raises
    ------
    ValueError
        For missing columns, no rows, missing values, or a criterion without a direction.

    Notes
    -----
    Tables 2 and 3 and Figure 3 of arXiv:2407.17697 for any data. The mean penalized Brier score is the Brier score plus
    penalty * (1 - accuracy): where classes are balanced F1 is close to accuracy, so a part of the higher correlation is
    there by construction. Put accuracy among the criteria to see how much.

    Examples
    --------
    >>> from stakes.training import compare_monitors
    >>> history = {"f1": [0.2, 0.5, 0.4, 0.6], "brier": [0.5, 0.3, 0.4, 0.35]}
    >>> print(compare_monitors(history, criteria={"brier": "lower"}, patience=2).to_markdown())
    | criterion | rule | epoch | epochs_trained | correlation | f1 |
    | --- | --- | --- | --- | --- | --- |
    | brier | early stopping | 1 | 4 | 0.8857 | 0.5 |
    | brier | checkpoint | 1 | 4 | 0.8857 | 0.5 |
    """
    directions = _directions(criteria)
    if isinstance(report, str) or not isinstance(report, (Sequence, type(None))):
        raise ValueError(f"report must be a list of columns, got {report!r}.")
    shown = (target,) if report is None else tuple(report)
    _check_names({"target": [target], "report": shown, "run": [] if run is None else [run]})
    taken = [name for name in shown if name in _COLUMNS or (name == "run" and run is not None)]
    if taken:
        raise ValueError(
            f"{'target' if report is None else 'report'} must not name a column {taken[0]!r}, which the table of "
            "choices has itself: give it another name in history."
        )
    patience = check_whole(patience, "patience", 1)
    runs = _runs(history, run, [*directions, target, *shown])
    choices = [
        MonitorChoice(name, criterion, rule, epoch, trained, correlation, {of: _at(columns[of], epoch) for of in shown})
        for name, columns in runs.items()
        for criterion, greater in directions.items()
        for correlation in [_correlation(columns[criterion] if greater else -columns[criterion], columns[target])]
        for rule in RULES
        for epoch, trained in [_chosen(columns[criterion], greater, min_delta, patience if rule == RULES[0] else None)]
    ]
    return MonitorComparison(tuple(choices), runs, directions, target, shown, backend_of(history))


def _directions(criteria: Mapping[str, str] | Sequence[str]) -> dict[str, bool]:
    if not isinstance(criteria, (Mapping, list, tuple)) or not criteria:
        raise ValueError(f"criteria must name at least one column in a list or mapping, got {criteria!r}.")
    if isinstance(criteria, Mapping):
        for name, way in criteria.items():
            if way not in ("lower", "higher"):
                raise ValueError(f'criteria[{name!r}] must be "lower" or "higher", got {way!r}.')
        return {name: way == "higher" for name, way in criteria.items()}
    _check_names({"criteria": criteria})
    unknown = [name for name in criteria if name not in METRICS]
    if unknown:
        raise ValueError(f'criteria must say what is better, as in {{{unknown[0]!r}: "lower"}}: it is no metric here.')
    return {name: METRICS[name].greater_is_better for name in criteria}


def _check_names(given: Mapping[str, Sequence[Any]]) -> None:
    for argument, names in given.items():
        for name in names:
            if not isinstance(name, str):
                raise ValueError(f"{argument} must name columns, got {name!r}.")


def _runs(history: Any, run: str | None, names: list[str]) -> dict[Any, dict[str, Floats]]:
    """Read the columns of each run as numbers, one row for each epoch."""
    if not isinstance(history, Mapping) and not hasattr(history, "columns"):
        raise TypeError(f"history must be a mapping of columns or a data frame, got {type(history).__name__}.")
    known = list(history.keys()) if isinstance(history, Mapping) else list(history.columns)
    known = [name if isinstance(name, str) else getattr(name, "_name", name) for name in known]
    columns: dict[str, Floats] = {}
    for name in dict.fromkeys(names):
        if name not in known:
            raise ValueError(f"history must have the column {name!r}, got {', '.join(map(str, known))}.")
        columns[name] = _numbers(history[name], name)
    if len({len(column) for column in columns.values()}) > 1:
        raise ValueError(f"columns must be equally long, got { {name: len(c) for name, c in columns.items()} }.")
    if run is None:
        return {None: columns}
    if run not in known:
        raise ValueError(f"history must have the column {run!r} that run= names, got {', '.join(map(str, known))}.")
    labels = to_array(history[run], run)
    refuse_missing(labels, run)
    if len(labels) != len(next(iter(columns.values()))):
        raise ValueError(f"columns must be equally long, got {len(labels)} values of {run!r}.")
    return {
        label: {name: column[labels == label] for name, column in columns.items()}
        for label in dict.fromkeys(labels.tolist())
    }


def _numbers(values: Any, name: str) -> Floats:
    """Check one number for each epoch."""
    values = to_array(values, name)
    if values.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold numbers, got {values.dtype}.")
    column = values.astype(np.float64)
    if column.ndim != 1 or len(column) == 0:
        raise ValueError(f"{name} must hold one value for each epoch, got shape {column.shape}.")
    missing = np.flatnonzero(np.isnan(column))
    if len(missing):
        raise ValueError(f"{name} must not be missing, got nan in row {missing[0]}.")
    return column


def _chosen(values: Floats, greater: bool, min_delta: float, patience: int | None) -> tuple[int | None, int]:  # noqa: FBT001
    progress = BestEpoch(greater_is_better=greater, min_delta=min_delta)
    for value in values.tolist():
        progress.add(value)
        if patience is not None and progress.wait >= patience:
            break
    return progress.best_epoch, len(progress.history)


def _at(column: Floats, epoch: int | None) -> float:
    return math.nan if epoch is None else float(column[epoch])


def _correlation(values: Floats, target: Floats) -> float:
    varies = len(values) > 1 and all(np.isfinite(v).all() and np.ptp(v) > 0.0 for v in (values, target))
    return float(np.corrcoef(values, target)[0, 1]) if varies else math.nan


def _paired(gap: Floats, level: float) -> dict[str, float]:
    """Mean of paired differences with its t-interval."""
    from scipy.stats import t

    mean, count = float(gap.mean()), len(gap)
    half = float(t.ppf(0.5 + level / 2.0, count - 1)) * float(gap.std(ddof=1)) / math.sqrt(count)
    return {"difference": mean, "ci_low": mean - half, "ci_high": mean + half, "runs": count}

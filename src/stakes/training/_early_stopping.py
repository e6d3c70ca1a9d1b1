"""Stop training when validation no longer improves, and go back to the weights of the best epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.metrics._tensor_inputs import is_tensor
from stakes.training._progress import Criterion, Progress, as_monitor

if TYPE_CHECKING:
    from collections.abc import Iterable


class EarlyStopping:
    """Stop when a metric of the library has not improved for some epochs, and keep the weights of the best one.

    Parameters
    ----------
    monitor : str, Metric or PenalizedScoreMonitor, default "penalized_brier_loss"
        What is watched on validation data; a monitor carries its settings, such as ``bounds=``.
    patience : int, default 10
        Epochs without improvement after which to stop, >= 1.
    min_delta : float, default 0.0
        Smallest change that counts as an improvement, >= 0.
    restore_best : bool, default True
        Whether :meth:`step` copies the weights of the best epoch, for :meth:`restore`.
    history : iterable of float, optional
        Values of the epochs before this process, such as ``checkpoint.history``: stopping goes on where it was.

    Attributes
    ----------
    monitor : PenalizedScoreMonitor
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
    An undefined value (nan), such as AUC with one class, is no improvement and counts towards the patience. The same
    object serves a PyTorch loop, :func:`keras_callback`, :func:`lightning_callback`, :func:`xgboost_callback` and
    :func:`lightgbm_callback`.

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
        if int(patience) != patience or patience < 1:
            raise ValueError(f"patience must be a whole number >= 1, got {patience}.")
        self.monitor = as_monitor(monitor)
        self.patience = int(patience)
        self.min_delta = min_delta
        self.restore_best = restore_best
        self._weights: Any = None
        self.replay(history)

    def replay(self, history: Iterable[float]) -> None:
        """Start again from the values of earlier epochs.

        Parameters
        ----------
        history : iterable of float
            One value for each epoch.

        Examples
        --------
        >>> from stakes.training import EarlyStopping
        >>> stopping = EarlyStopping(patience=2)
        >>> stopping.replay([0.5, 0.6])
        >>> stopping.wait
        1
        """
        better = self.monitor.greater_is_better
        self._progress = Progress(greater_is_better=better, min_delta=self.min_delta, history=history)
        self._weights = None

    @property
    def history(self) -> list[float]:
        """Values by epoch."""
        return self._progress.history

    @property
    def best_epoch(self) -> int | None:
        """Number of the best epoch."""
        return self._progress.best_epoch

    @property
    def best_value(self) -> float:
        """Value at the best epoch."""
        return self._progress.best_value

    @property
    def wait(self) -> int:
        """Epochs since the best one."""
        return self._progress.wait

    @property
    def should_stop(self) -> bool:
        """Whether the patience is spent."""
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
        model : PyTorch module or state, optional
            Whose weights to keep: a module, its ``state_dict()``, or a list of arrays such as Keras's
            ``get_weights()``.

        Returns
        -------
        bool
            Whether to stop.

        Examples
        --------
        >>> from stakes.training import EarlyStopping
        >>> EarlyStopping(patience=1).step(0.4)
        False
        """
        if self._progress.add(value):
            self._weights = _copied(model) if self.restore_best and model is not None else None
        return self.should_stop

    def restore(self, model: Any) -> None:
        """Put the weights of the best epoch back into a PyTorch module.

        Parameters
        ----------
        model : PyTorch module
            The one whose weights :meth:`step` was given.

        Raises
        ------
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
        model.load_state_dict(self._weights)

    def __repr__(self) -> str:
        best = "no epoch yet" if self.best_epoch is None else f"best {self.best_value:.4g} at epoch {self.best_epoch}"
        return f"EarlyStopping({self.monitor.name}, {best}, wait {self.wait} of {self.patience})"


def _copied(model: Any) -> Any:
    """Copy the weights, on the device where they are."""
    state = model.state_dict() if hasattr(model, "state_dict") else model
    if isinstance(state, (list, tuple)):
        return [value.copy() for value in state]
    return {name: value.detach().clone() if is_tensor(value) else _copy_of(value) for name, value in state.items()}


def _copy_of(value: Any) -> Any:
    from copy import deepcopy

    return deepcopy(value)

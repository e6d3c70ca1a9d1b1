"""Stop a plain PyTorch loop when validation no longer improves, and go back to the weights of the best epoch."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from stakes.core.validation import check_flag, check_whole
from stakes.metrics._tensor_inputs import is_tensor
from stakes.training._best_epoch import BestEpoch
from stakes.training._metric_monitor import Criterion, as_monitor

if TYPE_CHECKING:
    from collections.abc import Iterable


class EarlyStopping:
    """Stop when a metric of the library has not improved for some epochs, and keep the weights of the best one.

    Parameters
    ----------
    monitor : str, Metric or MetricMonitor, default "penalized_brier_loss"
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

    @property
    def wait(self) -> int:
        """Epochs since the best one."""
        return self._best.wait

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

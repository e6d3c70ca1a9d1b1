"""Metrics of the library in the logs of Keras 3, where Keras's own callbacks find them, on any backend."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from stakes.core.row_order import check_same_order
from stakes.core.validation import check_whole
from stakes.training._metric_monitor import as_monitor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from stakes.training._metric_monitor import Criterion


def keras_metric(
    metric: Criterion = "penalized_brier_loss",
    *,
    validation_data: Any,
    batch_size: int = 256,
    correct: Mapping[str, Any] | None = None,
    logits: bool = False,
    **params: Any,
) -> Any:
    """Make a callback that adds a metric of the library to the logs of ``keras.Model.fit``.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    validation_data : tuple of arrays or iterable of batches
        ``(x, y)`` or ``(x, y, sample_weight)``, or an iterable of such batches that can be gone through once in each
        epoch. The model's output are probabilities, unless ``logits=True``.
    batch_size : int, default 256
        Rows predicted at a time, where arrays are given.
    correct : mapping, optional
        How the classes are weighted or sampled in training, as :func:`undo_class_weight` and :func:`undo_sampling` take
        it, such as ``{"scale_pos_weight": 58}`` or ``{"keep": {0: 0.1, 1: 1}}``: undone before the metric is
        evaluated.
    logits : bool, default False
        Whether scores are raw, the output of a last layer without sigmoid or softmax.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    keras.callbacks.Callback
        Its ``name`` is ``val_`` and the metric's name, its ``mode`` "min" or "max": pass both on to
        ``EarlyStopping``, ``ModelCheckpoint`` or ``ReduceLROnPlateau``, and list these after it.

    Raises
    ------
    ValueError
        For a metric that is not registered, for a correction that is not understood, or in training for validation
        data of another form.
    TypeError
        For a parameter that the metric does not take, or a missing one.
    ImportError
        If Keras is not installed (``pip install 'stakes[keras]'``).

    Notes
    -----
    A ``keras.metrics.Metric`` becomes part of the backend's graph, where only sums over batches can be kept; AUC, skill
    and exact sums need all rows, so the value is computed at the end of the epoch.

    Examples
    --------
    >>> from stakes.training import keras_metric
    >>> brier = keras_metric("bounded_brier_loss", validation_data=(x, y), bounds=(0.02, 0.1))  # doctest: +SKIP
    >>> stopping = keras.callbacks.EarlyStopping(brier.name, mode=brier.mode, patience=5)  # doctest: +SKIP
    >>> model.fit(x_train, y_train, epochs=100, callbacks=[brier, stopping])  # doctest: +SKIP
    """
    monitor = as_monitor(metric, params, correct=correct, logits=logits)
    return _callback_class()(monitor, validation_data, check_whole(batch_size, "batch_size", 1))


@cache
def _callback_class() -> Any:
    try:
        import keras
    except ModuleNotFoundError as error:
        if error.name != "keras":  # its backend, of which Keras says more
            raise
        raise ImportError("a Keras metric needs Keras: pip install 'stakes[keras]'") from error

    class KerasMetric(keras.callbacks.Callback):  # type: ignore[misc]  # Keras ships no annotations
        """Evaluate at the end of each epoch, and add the value to the logs."""

        def __init__(self, monitor: Any, validation_data: Any, batch_size: int) -> None:
            super().__init__()
            self.monitor, self.validation_data, self.batch_size = monitor, validation_data, batch_size
            self.name = f"val_{monitor.name}"
            self.mode = "max" if monitor.greater_is_better else "min"

        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            del epoch
            self.monitor.reset()
            for y_true, y_prob, weight in _predicted(self.model, self.validation_data, self.batch_size):
                self.monitor.update(y_true, y_prob, weight)
            if logs is not None:
                logs[self.name] = self.monitor.compute()

    return KerasMetric


def _predicted(model: Any, data: Any, batch_size: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield labels, probabilities and weights batch by batch."""
    arrays = isinstance(data, tuple)
    for batch in [data] if arrays else data:
        if not isinstance(batch, (tuple, list)) or len(batch) not in {2, 3}:
            raise ValueError("validation_data must hold (x, y) or (x, y, sample_weight), or an iterable of these.")
        check_same_order(validation_data=batch)
        x, y_true, *weight = batch
        y_prob = model.predict(x, batch_size=batch_size, verbose=0) if arrays else model.predict_on_batch(x)
        yield _column(y_true), _column(y_prob), weight[0] if weight else None


def _column(values: Any) -> Any:
    """Take a single column as a vector: Keras gives a sigmoid's output, and wants its labels, of shape (n, 1)."""
    shape = tuple(getattr(values, "shape", ()))
    return values[:, 0] if len(shape) == 2 and shape[1:] == (1,) else values

"""Early stopping and checkpoints in Keras 3, on any backend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.training._callbacks import Watch

if TYPE_CHECKING:
    from stakes.training._checkpoint import Checkpoint
    from stakes.training._early_stopping import EarlyStopping


def keras_callback(
    validation_data: Any,
    *,
    stopping: EarlyStopping | None = None,
    checkpoint: Checkpoint | None = None,
    batch_size: int = 256,
) -> Any:
    """Make a callback for ``keras.Model.fit``.

    Parameters
    ----------
    validation_data : tuple of arrays or iterable of batches
        ``(x, y)`` or ``(x, y, sample_weight)``, or an iterable of such batches that can be gone through once in each
        epoch. The model's output are probabilities.
    stopping : EarlyStopping, optional
        When to stop; the best weights are put back when training ends.
    checkpoint : Checkpoint, optional
        Where to save; the files are whole ``.keras`` models.
    batch_size : int, default 256
        Rows predicted at a time, where arrays are given.

    Returns
    -------
    keras.callbacks.Callback
        The value of each epoch also stands in the logs, as ``val_`` and the metric's name.

    Raises
    ------
    ValueError
        If neither object is given, or their monitors or ``min_delta`` differ.
    ImportError
        If Keras is not installed (``pip install 'stakes[keras]'``).

    Notes
    -----
    To go on after an interruption: ``keras.saving.load_model(checkpoint.last_path)``, then
    ``fit(..., initial_epoch=checkpoint.epoch)``.

    Examples
    --------
    >>> from stakes.training import EarlyStopping, keras_callback
    >>> callback = keras_callback((x, y), stopping=EarlyStopping(patience=5))  # doctest: +SKIP
    >>> model.fit(x_train, y_train, epochs=100, callbacks=[callback])  # doctest: +SKIP
    """
    try:
        import keras
    except ImportError as error:
        raise ImportError("a Keras callback needs Keras: pip install 'stakes[keras]'") from error

    watch = Watch(stopping, checkpoint)

    class StakesCallback(keras.callbacks.Callback):  # type: ignore[misc]  # Keras ships no annotations
        """Evaluate, save and stop at the end of each epoch."""

        def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
            del epoch
            for y_true, y_prob, weight in _predicted(self.model, validation_data, batch_size):
                watch.monitor.update(y_true, y_prob, weight)
            value = watch.value()
            if logs is not None:
                logs[f"val_{watch.monitor.name}"] = value
            stop = watch.step(value, self.model.save, ".keras", self.model.get_weights() if watch.restores else None)
            if stop:
                self.model.stop_training = True

        def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
            del logs
            if not watch.restores or stopping is None:
                return
            if stopping.best_weights is not None:
                self.model.set_weights(stopping.best_weights)
            elif (best := watch.best_file()) is not None:
                self.model.load_weights(best)

    return StakesCallback()


def _predicted(model: Any, data: Any, batch_size: int) -> Any:
    """Yield labels, probabilities and weights batch by batch."""
    arrays = isinstance(data, tuple)
    for batch in [data] if arrays else data:
        if not isinstance(batch, (tuple, list)) or len(batch) not in {2, 3}:
            raise ValueError("validation_data must hold (x, y) or (x, y, sample_weight), or an iterable of these.")
        x, y_true, *weight = batch
        y_prob = model.predict(x, batch_size=batch_size, verbose=0) if arrays else model.predict_on_batch(x)
        yield _column(y_true), _column(y_prob), weight[0] if weight else None


def _column(values: Any) -> Any:
    """Take a single column as a vector: Keras gives a sigmoid's output, and wants its labels, of shape (n, 1)."""
    shape = tuple(getattr(values, "shape", ()))
    return values[:, 0] if len(shape) == 2 and shape[1:] == (1,) else values

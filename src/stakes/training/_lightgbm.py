"""Metrics of the library, early stopping and checkpoints in LightGBM."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.training._callbacks import Watch
from stakes.training._progress import Criterion, as_monitor

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.training._checkpoint import Checkpoint
    from stakes.training._early_stopping import EarlyStopping


def lightgbm_metric(monitor: Criterion = "penalized_brier_loss") -> Callable[[Any, Any], tuple[str, float, bool]]:
    """Make a metric of the library an evaluation metric of ``lightgbm.train``.

    Parameters
    ----------
    monitor : str, Metric or PenalizedScoreMonitor, default "penalized_brier_loss"
        What to evaluate.

    Returns
    -------
    callable
        For ``feval=``. Built-in objectives hand it probabilities.

    Raises
    ------
    ValueError
        For a metric that is not registered.

    Examples
    --------
    >>> from stakes.training import lightgbm_metric
    >>> lightgbm_metric("bounded_brier_loss").__name__
    'bounded_brier_loss'
    """
    watched = as_monitor(monitor)

    def evaluate(y_prob: Any, data: Any) -> tuple[str, float, bool]:
        value = watched.evaluate(data.get_label(), y_prob, data.get_weight())
        return watched.name, value, watched.greater_is_better

    evaluate.__name__ = watched.name
    return evaluate


def lightgbm_callback(
    data_name: str, *, stopping: EarlyStopping | None = None, checkpoint: Checkpoint | None = None
) -> Any:
    """Make a callback for ``lightgbm.train``, beside ``feval=lightgbm_metric(...)``.

    Parameters
    ----------
    data_name : str
        The name in ``valid_names=`` of the validation data.
    stopping : EarlyStopping, optional
        When to stop; ``best_iteration`` of the booster is the best round, and its ``predict`` uses that one.
    checkpoint : Checkpoint, optional
        Where to save; the files are whole models (``.txt``).

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If neither object is given, or their monitors or ``min_delta`` differ; in training, if the metric was not
        evaluated.
    ImportError
        If LightGBM is not installed (``pip install 'stakes[lightgbm]'``).

    Notes
    -----
    To go on after an interruption: ``train(..., num_boost_round=total - checkpoint.epoch,
    init_model=checkpoint.last_path)``.

    Examples
    --------
    >>> from stakes.training import EarlyStopping, lightgbm_callback
    >>> callback = lightgbm_callback("validation", stopping=EarlyStopping(patience=5))  # doctest: +SKIP
    """
    try:
        import lightgbm
    except ImportError as error:
        raise ImportError("a LightGBM callback needs LightGBM: pip install 'stakes[lightgbm]'") from error

    watch = Watch(stopping, checkpoint)

    def callback(env: Any) -> None:
        values = {(entry[0], entry[1]): float(entry[2]) for entry in env.evaluation_result_list or ()}
        if (data_name, watch.monitor.name) not in values:
            raise ValueError(
                f"{watch.monitor.name} was not evaluated on {data_name!r}: pass feval=lightgbm_metric(...) and "
                f"valid_names=[{data_name!r}]."
            )
        stop = watch.step(values[data_name, watch.monitor.name], env.model.save_model, ".txt")
        best = watch.best_epoch if watch.restores else None
        if stop or (best is not None and env.iteration == env.end_iteration - 1):
            # this is how LightGBM's own early stopping sets best_iteration, also when the rounds are used up
            chosen = env.iteration if best is None else env.iteration - watch.since(best)
            raise lightgbm.callback.EarlyStopException(chosen, env.evaluation_result_list)

    callback.order = 40  # type: ignore[attr-defined]  # after what logs and records
    return callback

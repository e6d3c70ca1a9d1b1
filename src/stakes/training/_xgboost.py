"""Metrics of the library, early stopping and checkpoints in XGBoost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.training._callbacks import Watch
from stakes.training._progress import Criterion, as_monitor

if TYPE_CHECKING:
    from collections.abc import Callable

    from stakes.training._checkpoint import Checkpoint
    from stakes.training._early_stopping import EarlyStopping


def xgboost_metric(monitor: Criterion = "penalized_brier_loss") -> Callable[[Any, Any], tuple[str, float]]:
    """Make a metric of the library an evaluation metric of ``xgboost.train``.

    Parameters
    ----------
    monitor : str, Metric or PenalizedScoreMonitor, default "penalized_brier_loss"
        What to evaluate.

    Returns
    -------
    callable
        For ``custom_metric=``. Objectives "binary:logistic" and "multi:softprob" hand it probabilities.

    Raises
    ------
    ValueError
        For a metric that is not registered.

    Notes
    -----
    The scikit-learn interface takes a loss itself: ``XGBClassifier(eval_metric=penalized_brier_loss)``.

    Examples
    --------
    >>> from stakes.training import xgboost_metric
    >>> xgboost_metric("bounded_brier_loss").__name__
    'bounded_brier_loss'
    """
    watched = as_monitor(monitor)

    def evaluate(y_prob: Any, data: Any) -> tuple[str, float]:
        weight = data.get_weight()
        return watched.name, watched.evaluate(data.get_label(), y_prob, weight if len(weight) else None)

    evaluate.__name__ = watched.name
    return evaluate


def xgboost_callback(
    data_name: str, *, stopping: EarlyStopping | None = None, checkpoint: Checkpoint | None = None
) -> Any:
    """Make a callback for ``xgboost.train``, beside ``custom_metric=xgboost_metric(...)``.

    Parameters
    ----------
    data_name : str
        The name in ``evals=[(data, name)]`` of the validation data.
    stopping : EarlyStopping, optional
        When to stop; the booster that is returned ends with the best round.
    checkpoint : Checkpoint, optional
        Where to save; the files are whole models (``.ubj``).

    Returns
    -------
    xgboost.callback.TrainingCallback

    Raises
    ------
    ValueError
        If neither object is given, or their monitors or ``min_delta`` differ; in training, if the metric was not
        evaluated.
    ImportError
        If XGBoost is not installed (``pip install 'stakes[xgboost]'``).

    Notes
    -----
    To go on after an interruption: ``train(..., num_boost_round=total - checkpoint.epoch,
    xgb_model=checkpoint.last_path)``.

    Examples
    --------
    >>> from stakes.training import EarlyStopping, xgboost_callback
    >>> callback = xgboost_callback("validation", stopping=EarlyStopping(patience=5))  # doctest: +SKIP
    """
    try:
        import xgboost
    except ImportError as error:
        raise ImportError("an XGBoost callback needs XGBoost: pip install 'stakes[xgboost]'") from error

    watch = Watch(stopping, checkpoint)

    class StakesCallback(xgboost.callback.TrainingCallback):  # type: ignore[misc]  # a class of an optional library
        """Read the evaluation of each round; save, stop, and cut the booster."""

        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            del epoch
            values = evals_log.get(data_name, {}).get(watch.monitor.name)
            if values is None:
                raise ValueError(
                    f"{watch.monitor.name} was not evaluated on {data_name!r}: pass "
                    f"custom_metric=xgboost_metric(...) and evals=[(data, {data_name!r})]."
                )
            return watch.step(float(values[-1]), model.save_model, ".ubj")

        def after_training(self, model: Any) -> Any:
            if not watch.restores or watch.best_epoch is None:
                return model
            rounds = model.num_boosted_rounds() - watch.since(watch.best_epoch)
            cut = model[:rounds]
            cut.best_iteration = rounds - 1
            return cut

    return StakesCallback()

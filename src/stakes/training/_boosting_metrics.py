"""Metrics of the library as evaluation metrics of XGBoost and LightGBM, in their own and their scikit-learn interface.

Both libraries call a metric with predictions and their data object, or, in the scikit-learn interface, with labels and
predictions. Their own early stopping then works on the value, so the direction must be the one that they expect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stakes.training._metric_monitor import MetricMonitor, as_monitor

if TYPE_CHECKING:
    from stakes.training._metric_monitor import Criterion

# Without being told, XGBoost takes a metric whose name begins so as better when higher, and any other as a loss.
_MAXIMISED = ("auc", "map", "ndcg", "pre")


def xgboost_metric(metric: Criterion = "penalized_brier_loss", **params: Any) -> XGBoostMetric:
    """Make a metric of the library an evaluation metric of XGBoost.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    callable
        For ``xgboost.train(custom_metric=...)`` and for ``XGBClassifier(eval_metric=...)``. XGBoost minimises what it
        does not know, so a score is reported with its sign changed, as ``neg_`` and its name; a loss whose name
        XGBoost would take for a score's, as ``loss_`` and its name.

    Raises
    ------
    ValueError
        For a metric that is not registered.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Objectives "binary:logistic" and "multi:softprob" hand it probabilities. ``early_stopping_rounds=``,
    ``xgboost.callback.EarlyStopping`` and ``cv`` follow it.

    Examples
    --------
    >>> from stakes.training import xgboost_metric
    >>> metric = xgboost_metric("bounded_brier_loss", bounds=(0.02, 0.1))
    >>> metric.__name__, round(metric([0, 1], [0.05, 0.05]), 6)
    ('bounded_brier_loss', 0.0473)
    >>> xgboost_metric("roc_auc_score").__name__
    'neg_roc_auc_score'
    """
    return XGBoostMetric(as_monitor(metric, params))


def lightgbm_metric(metric: Criterion = "penalized_brier_loss", **params: Any) -> LightGBMMetric:
    """Make a metric of the library an evaluation metric of LightGBM.

    Parameters
    ----------
    metric : str, Metric or MetricMonitor, default "penalized_brier_loss"
        What to evaluate.
    **params
        What the metric takes, such as ``bounds=``.

    Returns
    -------
    callable
        For ``lightgbm.train(feval=...)`` and for ``LGBMClassifier().fit(eval_metric=...)``; it tells LightGBM the
        direction.

    Raises
    ------
    ValueError
        For a metric that is not registered.
    TypeError
        For a parameter that the metric does not take, or a missing one.

    Notes
    -----
    Built-in objectives hand it probabilities. ``lightgbm.early_stopping`` follows it, and every other metric too:
    ``metric="None"`` among the model's settings leaves this one alone.

    Examples
    --------
    >>> from stakes.training import lightgbm_metric
    >>> name, value, greater_is_better = lightgbm_metric("bounded_brier_loss", bounds=(0.02, 0.1))([0, 1], [0.05, 0.05])
    >>> name, round(value, 6), greater_is_better
    ('bounded_brier_loss', 0.0473, False)
    """
    return LightGBMMetric(as_monitor(metric, params))


@dataclass(frozen=True)
class XGBoostMetric:
    """A metric under the name and with the sign that XGBoost expects; it can be pickled with a fitted model."""

    monitor: MetricMonitor

    @property
    def __name__(self) -> str:
        name = self.monitor.name
        if self.monitor.greater_is_better:
            return f"neg_{name}"
        return f"loss_{name}" if name.startswith(_MAXIMISED) else name

    def __call__(self, first: Any, second: Any, sample_weight: Any = None) -> Any:
        value = _evaluated(self.monitor, first, second, sample_weight)
        value = -value if self.monitor.greater_is_better else value
        return (self.__name__, value) if _is_data(second) else value


@dataclass(frozen=True)
class LightGBMMetric:
    """A metric with its name and direction, as LightGBM expects them; it can be pickled with a fitted model."""

    monitor: MetricMonitor

    @property
    def __name__(self) -> str:
        return self.monitor.name

    # LightGBM counts the parameters: with three of them the scikit-learn interface passes the weights
    def __call__(self, first: Any, second: Any, weight: Any = None) -> tuple[str, float, bool]:
        value = _evaluated(self.monitor, first, second, weight)
        return self.monitor.name, value, self.monitor.greater_is_better


def _is_data(values: Any) -> bool:
    """Whether this is the data object of a library's own interface, not an array."""
    return hasattr(values, "get_label")


def _evaluated(monitor: MetricMonitor, first: Any, second: Any, weight: Any) -> float:
    """Value for (predictions, data object) or for (labels, predictions, weights)."""
    if not _is_data(second):
        return monitor.evaluate(first, second, weight)
    weight = second.get_weight()
    return monitor.evaluate(second.get_label(), first, weight if weight is not None and len(weight) else None)

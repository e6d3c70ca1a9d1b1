"""Metrics during training: callbacks for the common libraries and for plain PyTorch loops."""

from stakes.training._epochs import RULES, Checkpoint, EarlyStopping, MonitorComparison, compare_monitors
from stakes.training._metric_monitor import (
    MetricMonitor,
    keras_metric,
    lightgbm_metric,
    lightning_metric,
    xgboost_metric,
)
from stakes.training._splits import HBlockSplit, segment_windows

__all__ = [
    "Checkpoint",
    "EarlyStopping",
    "HBlockSplit",
    "MetricMonitor",
    "MonitorComparison",
    "compare_monitors",
    "keras_metric",
    "lightgbm_metric",
    "lightning_metric",
    "segment_windows",
    "xgboost_metric",
]


def __dir__() -> list[str]:
    return __all__

"""Metrics of the library while a model is trained: in each training library's own form, and for plain PyTorch loops."""

from stakes.training._boosting_metrics import lightgbm_metric, xgboost_metric
from stakes.training._checkpoint import Checkpoint
from stakes.training._early_stopping import EarlyStopping
from stakes.training._h_block_split import HBlockSplit
from stakes.training._keras_metric import keras_metric
from stakes.training._lightning_metric import lightning_metric
from stakes.training._metric_monitor import MetricMonitor
from stakes.training._monitor_comparison import MonitorComparison, compare_monitors
from stakes.training._segment_windows import segment_windows

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

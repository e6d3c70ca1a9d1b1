"""Metrics of the library while a model is trained: monitors, early stopping, checkpoints, splits of ordered data."""

from stakes.training._checkpoint import Checkpoint
from stakes.training._compare import MonitorComparison, compare_monitors
from stakes.training._early_stopping import EarlyStopping
from stakes.training._h_block import HBlockSplit
from stakes.training._keras import keras_callback
from stakes.training._lightgbm import lightgbm_callback, lightgbm_metric
from stakes.training._lightning import lightning_callback
from stakes.training._monitor import PenalizedScoreMonitor
from stakes.training._windows import segment_windows
from stakes.training._xgboost import xgboost_callback, xgboost_metric

__all__ = [
    "Checkpoint",
    "EarlyStopping",
    "HBlockSplit",
    "MonitorComparison",
    "PenalizedScoreMonitor",
    "compare_monitors",
    "keras_callback",
    "lightgbm_callback",
    "lightgbm_metric",
    "lightning_callback",
    "segment_windows",
    "xgboost_callback",
    "xgboost_metric",
]

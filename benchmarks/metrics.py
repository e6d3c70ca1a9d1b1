"""Metrics, curves and decompositions beside the packages that people use for them today."""

import numpy as np

import stakes
from benchmarks._rows import PEER_ROWS, Entry, Row, faster_than
from benchmarks.core import AUC, DCURVES, NET_BENEFIT, ours, sklearn_metric

SIZES = (16_000, 10**6, 10**7)
QUADRATIC_ROWS = 16_000  # metric_at_thresholds evaluates its metric anew at every threshold
BRIER = stakes.costs.Uniform(0, 1)


def decomposition(inputs):
    return stakes.decompose(inputs.y, inputs.score, costs=BRIER, scale="loss")


def model_diagnostics(inputs):
    from model_diagnostics.scoring import SquaredError, decompose

    return decompose(inputs.y, inputs.score, scoring_function=SquaredError())


def h_score(inputs):
    from hmeasure import h_score

    return h_score(inputs.y, inputs.score)


def sensitivity_at_every_threshold(inputs):
    table = stakes.curves.threshold_table(inputs.y, inputs.score)
    return table.sensitivity


def metric_at_thresholds(inputs):
    from sklearn.metrics import metric_at_thresholds, recall_score

    return metric_at_thresholds(inputs.y, inputs.score, recall_score)[0]


def terms(parts):
    return [parts.miscalibration, parts.discrimination, parts.uncertainty]


ROWS = (
    Row(
        "net benefit at 100 thresholds",
        NET_BENEFIT,
        (DCURVES,),
        goals=(faster_than("dcurves", 25, rows=PEER_ROWS),),
    ),
    Row(
        "decompose",
        ours("decompose", decomposition, answer=terms),
        (
            Entry(
                "model-diagnostics",
                "decompose",
                model_diagnostics,
                answer=lambda frame: frame.select("miscalibration", "discrimination", "uncertainty").row(0),
                max_rows=PEER_ROWS,
            ),
        ),
    ),
    Row("roc_auc_score", AUC, (sklearn_metric("roc_auc_score"),)),
    Row(
        "h_measure_score",
        ours("h_measure_score", lambda inputs: stakes.metrics.h_measure_score(inputs.y, inputs.score), answer=float),
        (Entry("hmeasure", "h_score", h_score, answer=float, max_rows=PEER_ROWS),),
    ),
    Row(
        "sensitivity at every threshold",
        ours("threshold_table().sensitivity", sensitivity_at_every_threshold, answer=lambda v: np.sort(v)[:1000]),
        (
            Entry(
                "scikit-learn",
                "metric_at_thresholds(recall_score)",
                metric_at_thresholds,
                answer=lambda v: np.sort(v)[:1000],
                max_rows=QUADRATIC_ROWS,
            ),
        ),
    ),
)

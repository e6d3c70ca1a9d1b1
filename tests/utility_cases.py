"""Measures by the names of the reference values, and batches that hurt."""

from __future__ import annotations

import numpy as np

from stakes.utility import (
    F1,
    MCC,
    Accuracy,
    BalancedAccuracy,
    FBeta,
    FowlkesMallows,
    GMean,
    HMean,
    Jaccard,
    Kappa,
    Precision,
    QMean,
    Recall,
    SquaredErrorInCounting,
)

MEASURES = {
    "f1": F1(),
    "f2": FBeta(2),
    "f0.5": FBeta(0.5),
    "jaccard": Jaccard(),
    "precision": Precision(),
    "recall": Recall(),
    "g_tp_pr": FowlkesMallows(),
    "am": BalancedAccuracy(),
    "am_present": BalancedAccuracy(absent="drop"),
    "g_mean": GMean(),
    "h_mean": HMean(),
    "q_mean": QMean(),
    "mcc": MCC(),
    "accuracy": Accuracy(),
    "kappa": Kappa(),
    "sec": SquaredErrorInCounting(),
}
PROVED = tuple(name for name in MEASURES if name not in {"g_mean", "h_mean"})  # on batches of any size
TINY = (0.0, 1.0, 1e-300, 1 - 2**-53, 5e-324)


def golden(n, power=1.0, scale=1.0):
    """Deterministic probabilities of the reference: scale * frac(i * golden ratio)^power."""
    return scale * ((np.arange(1, n + 1) * 0.6180339887498949) % 1.0) ** power


def stress_batches(n, rng):
    """All one half; zeros, ones and neighbours; two levels; rare; common; a few rows near one half."""
    some = rng.random(n)
    return {
        "halves": np.full(n, 0.5),
        "ends": np.where(some < 0.7, rng.choice(TINY, n), some),
        "only ends": rng.choice(TINY, n),
        "two levels": rng.choice([0.2, 0.7], n),
        "rare": some * min(1.0, 6.0 / n),
        "common": 1.0 - some * min(1.0, 6.0 / n),
        "all zero": np.zeros(n),
        "all one": np.ones(n),
    }

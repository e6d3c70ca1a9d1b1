"""Measures of a confusion table, and the decisions that maximise their expected value on a batch.

Mathematics: arXiv:1505.01802, with its misprints corrected where they are met, and exponential sums, Fourier
frequencies and Gauss rules in place of its O(n^2) and O(n^3) algorithms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.utility._expected import ExpectedUtility, Sensitivity, UtilityCurve, expected_utility, optimal_decisions
from stakes.utility._measures import (
    F1,
    MCC,
    Accuracy,
    BalancedAccuracy,
    ConfusionMeasure,
    FBeta,
    FowlkesMallows,
    FractionalLinear,
    GMean,
    HMean,
    Jaccard,
    Kappa,
    Measure,
    Precision,
    QMean,
    RankingPrinciple,
    Recall,
    SquaredErrorInCounting,
    get_measure,
)
from stakes.utility._population import BatchDifference, PopulationThreshold, population_threshold, utility_curve

if TYPE_CHECKING:
    from stakes.utility._estimators import ExpectedUtilityClassifier, PlugInThresholdClassifier

__all__ = [
    "F1",
    "MCC",
    "Accuracy",
    "BalancedAccuracy",
    "BatchDifference",
    "ConfusionMeasure",
    "ExpectedUtility",
    "ExpectedUtilityClassifier",
    "FBeta",
    "FowlkesMallows",
    "FractionalLinear",
    "GMean",
    "HMean",
    "Jaccard",
    "Kappa",
    "Measure",
    "PlugInThresholdClassifier",
    "PopulationThreshold",
    "Precision",
    "QMean",
    "RankingPrinciple",
    "Recall",
    "Sensitivity",
    "SquaredErrorInCounting",
    "UtilityCurve",
    "expected_utility",
    "get_measure",
    "optimal_decisions",
    "population_threshold",
    "utility_curve",
]


def __getattr__(name: str) -> Any:
    """Import the estimators, and with them scikit-learn, on first access."""
    if name in {"ExpectedUtilityClassifier", "PlugInThresholdClassifier"}:
        from stakes.utility import _estimators

        return getattr(_estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__

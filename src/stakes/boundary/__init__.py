"""Exactly optimal thresholds over score and uncertainty, with certified and monitored precision.

A model that also says how uncertain it is can be given one threshold for each level of uncertainty. Choosing them
together is a knapsack problem, solved here exactly on the counts of a hold-out set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.boundary._boundary import Boundary, BoundaryExplanation
from stakes.boundary._certificate import Certificate
from stakes.boundary._fit import PrecisionRecallFrontier, fit_boundary, precision_recall_frontier
from stakes.boundary._monitor import PrecisionMonitor
from stakes.boundary._out_of_fold import Gain, Optimism
from stakes.boundary._rules import UncertaintyCalibration, uncertainty_calibrate

if TYPE_CHECKING:
    from stakes.boundary._estimator import UncertaintyBoundaryClassifier

__all__ = [
    "Boundary",
    "BoundaryExplanation",
    "Certificate",
    "Gain",
    "Optimism",
    "PrecisionMonitor",
    "PrecisionRecallFrontier",
    "UncertaintyBoundaryClassifier",
    "UncertaintyCalibration",
    "fit_boundary",
    "precision_recall_frontier",
    "uncertainty_calibrate",
]


def __getattr__(name: str) -> Any:
    """Import the estimator, and with it scikit-learn, on first access."""
    if name == "UncertaintyBoundaryClassifier":
        from stakes.boundary._estimator import UncertaintyBoundaryClassifier

        return UncertaintyBoundaryClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__

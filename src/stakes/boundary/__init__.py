"""Thresholds over score and uncertainty, exactly optimal, and the promise of a precision that holds.

A model that also says how uncertain it is can be given one threshold for each level of uncertainty. Choosing them
together is a knapsack problem, solved here exactly on the counts of a hold-out set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.boundary._boundary import Boundary
from stakes.boundary._certificate import Certificate
from stakes.boundary._fit import PrecisionRecallFrontier, fit_boundary, precision_recall_frontier
from stakes.boundary._monitor import PrecisionMonitor
from stakes.boundary._out_of_fold import Gain, Optimism
from stakes.boundary._rules import UncertaintyCalibration, uncertainty_calibrate

if TYPE_CHECKING:
    from stakes.boundary._estimator import UncertaintyBoundaryClassifier

__all__ = [
    "Boundary",
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
    """Load the estimator, and with it scikit-learn, when it is first asked for."""
    if name == "UncertaintyBoundaryClassifier":
        from stakes.boundary._estimator import UncertaintyBoundaryClassifier

        return UncertaintyBoundaryClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List what this module offers, and nothing else."""
    return __all__

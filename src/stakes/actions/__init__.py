"""More than two actions: leaving cases to someone else, many classes, and matrices of costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.actions._deferral import (
    DecidedCertificate,
    DeferralPair,
    apply_deferral,
    certify_decided,
    deferral_curve,
    deferral_zone,
    fit_deferral,
    risk_coverage_score,
)
from stakes.actions._deferral_value import Deferred, DeferredModels, deferred_models, evaluate_deferral
from stakes.actions._many_actions import (
    ActionDominance,
    ActionEvaluation,
    DecisionCalibration,
    ModelCosts,
    decision_calibration_test,
    evaluate_actions,
)

if TYPE_CHECKING:
    from stakes.actions._classifier import DeferralClassifier

__all__ = [
    "ActionDominance",
    "ActionEvaluation",
    "DecidedCertificate",
    "DecisionCalibration",
    "DeferralClassifier",
    "DeferralPair",
    "Deferred",
    "DeferredModels",
    "ModelCosts",
    "apply_deferral",
    "certify_decided",
    "decision_calibration_test",
    "deferral_curve",
    "deferral_zone",
    "evaluate_actions",
    "evaluate_deferral",
    "fit_deferral",
    "risk_coverage_score",
]


def __getattr__(name: str) -> Any:
    """Import the estimator, and with it scikit-learn, on first access."""
    if name == "DeferralClassifier":
        from stakes.actions import _classifier

        return _classifier.DeferralClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

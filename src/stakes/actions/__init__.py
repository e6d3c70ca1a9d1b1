"""More than two actions: leaving cases to someone else, many classes, and matrices of costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.actions._action_result import ActionEvaluation, ModelCosts
from stakes.actions._certificate import DecidedCertificate, certify_decided
from stakes.actions._curve import deferral_curve
from stakes.actions._decision_calibration import DecisionCalibration, decision_calibration_test
from stakes.actions._deferred_models import DeferredModels
from stakes.actions._deferred_models import deferred_models as deferred_models
from stakes.actions._dominance import ActionDominance
from stakes.actions._evaluate_actions import evaluate_actions
from stakes.actions._evaluate_deferral import Deferred, evaluate_deferral
from stakes.actions._pair import DeferralPair, fit_deferral
from stakes.actions._risk_coverage import risk_coverage_score
from stakes.actions._zone import apply_deferral, deferral_zone

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
    """Load the estimator, and with it scikit-learn, when it is first asked for."""
    if name == "DeferralClassifier":
        from stakes.actions import _classifier

        return _classifier.DeferralClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

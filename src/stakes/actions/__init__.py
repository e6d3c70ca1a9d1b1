"""More than two actions: leaving cases to someone else, many classes, and matrices of costs."""

from __future__ import annotations

from stakes.actions._certificate import DecidedCertificate, certify_decided
from stakes.actions._curve import deferral_curve
from stakes.actions._evaluate_deferral import Deferred, evaluate_deferral
from stakes.actions._pair import DeferralPair, fit_deferral
from stakes.actions._risk_coverage import risk_coverage_score
from stakes.actions._zone import deferral_zone

__all__ = [
    "DecidedCertificate",
    "DeferralPair",
    "Deferred",
    "certify_decided",
    "deferral_curve",
    "deferral_zone",
    "evaluate_deferral",
    "fit_deferral",
    "risk_coverage_score",
]


def __dir__() -> list[str]:
    return __all__

"""More than two actions: leaving cases to someone else, many classes, and matrices of costs."""

from __future__ import annotations

from stakes.actions._evaluate_deferral import Deferred, evaluate_deferral
from stakes.actions._pair import DeferralPair, fit_deferral
from stakes.actions._zone import deferral_zone

__all__ = [
    "DeferralPair",
    "Deferred",
    "deferral_zone",
    "evaluate_deferral",
    "fit_deferral",
]


def __dir__() -> list[str]:
    return __all__

"""Corrections of scores for class weights, sampling, cost matrices and prior shift, tests of them, and updates.

Mathematics: Caplin, Martin and Marx, "Calibrating for Class Weights by Modeling Machine Learning" (2022), with its
misprints corrected where they are met, and Saerens, Latinne and Decaestecker (2002).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.correction._loss_calibration import (
    ImpliedWeight,
    LossCalibrationCurve,
    LossCalibrationTest,
    MulticlassLossCalibrationTest,
    Remainder,
    implied_weight,
    loss_calibration_curve,
    loss_calibration_test,
)
from stakes.correction._update import METHODS, ModelUpdate, PriorEstimate, UpdateTest, estimate_prior, update
from stakes.correction._weights import (
    FRACTIONS_BY_CLASS,
    UNBALANCED,
    apply_class_weight,
    apply_loss_matrix,
    apply_sampling,
    correct_probabilities,
    shift_odds,
    shift_prior,
    undo_class_weight,
    undo_loss_matrix,
    undo_sampling,
)

if TYPE_CHECKING:
    from stakes.correction._estimator import LossCorrectedClassifier

__all__ = [
    "ImpliedWeight",
    "LossCalibrationCurve",
    "LossCalibrationTest",
    "LossCorrectedClassifier",
    "ModelUpdate",
    "MulticlassLossCalibrationTest",
    "PriorEstimate",
    "Remainder",
    "UpdateTest",
    "apply_class_weight",
    "apply_loss_matrix",
    "apply_sampling",
    "correct_probabilities",
    "estimate_prior",
    "implied_weight",
    "loss_calibration_curve",
    "loss_calibration_test",
    "shift_prior",
    "undo_class_weight",
    "undo_loss_matrix",
    "undo_sampling",
    "update",
]


def __getattr__(name: str) -> Any:
    """Import the classifier, and with it scikit-learn, on first access."""
    if name == "LossCorrectedClassifier":
        from stakes.correction import _estimator

        return _estimator.LossCorrectedClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names only."""
    return __all__

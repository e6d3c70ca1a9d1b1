"""Pictures of curves, evaluations, decompositions and cost distributions with matplotlib; nothing is computed here."""

from stakes.display import _registered as _registered
from stakes.display._actions import ActionCostsDisplay
from stakes.display._band import BandDisplay
from stakes.display._benefit import InterventionsAvoidedDisplay, StandardizedDecisionCurveDisplay
from stakes.display._bins import BinnedReliabilityDisplay
from stakes.display._boundary import BoundaryDisplay
from stakes.display._cost import CostCurveDisplay
from stakes.display._costs import CostDistributionDisplay
from stakes.display._curves import (
    GainsDisplay,
    LiftCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    SmoothCalibrationDisplay,
)
from stakes.display._decomposition import DecompositionDisplay
from stakes.display._deferral import DeferralDisplay
from stakes.display._information import ValueOfInformationDisplay
from stakes.display._loss_calibration import LossCalibrationDisplay
from stakes.display._plot import plot_costs, plot_curve, plot_evaluation
from stakes.display._rates import ThresholdDisplay
from stakes.display._reliability import ReliabilityDisplay
from stakes.display._threshold import DecisionCurveDisplay, RegretCurveDisplay
from stakes.display._training import MonitorDisplay
from stakes.display._utility import ExpectedUtilityDisplay, UtilityCurveDisplay

__all__ = [
    "ActionCostsDisplay",
    "BandDisplay",
    "BinnedReliabilityDisplay",
    "BoundaryDisplay",
    "CostCurveDisplay",
    "CostDistributionDisplay",
    "DecisionCurveDisplay",
    "DecompositionDisplay",
    "DeferralDisplay",
    "ExpectedUtilityDisplay",
    "GainsDisplay",
    "InterventionsAvoidedDisplay",
    "LiftCurveDisplay",
    "LossCalibrationDisplay",
    "MonitorDisplay",
    "PrecisionRecallDisplay",
    "RegretCurveDisplay",
    "ReliabilityDisplay",
    "RocCurveDisplay",
    "SmoothCalibrationDisplay",
    "StandardizedDecisionCurveDisplay",
    "ThresholdDisplay",
    "UtilityCurveDisplay",
    "ValueOfInformationDisplay",
    "plot_costs",
    "plot_curve",
    "plot_evaluation",
]


def __dir__() -> list[str]:
    return __all__

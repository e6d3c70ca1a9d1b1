"""Figures of curves, evaluations, decompositions and cost distributions with matplotlib."""

from stakes.display._curves import (
    BandDisplay,
    GainsDisplay,
    LiftCurveDisplay,
    PrecisionRecallDisplay,
    RocCurveDisplay,
    SmoothCalibrationDisplay,
)
from stakes.display._decisions import (
    ActionCostsDisplay,
    BoundaryDisplay,
    DeferralDisplay,
    ExpectedUtilityDisplay,
    UtilityCurveDisplay,
    ValueOfInformationDisplay,
)
from stakes.display._plot import (
    BoundaryExplanationDisplay,
    CostMonitorDisplay,
    ForestDisplay,
    HorizonDisplay,
    MonitorDisplay,
    plot_costs,
    plot_curve,
    plot_evaluation,
    plot_study,
)
from stakes.display._reliability import (
    BinnedReliabilityDisplay,
    DecompositionDisplay,
    LossCalibrationDisplay,
    ReliabilityDisplay,
)
from stakes.display._thresholds import (
    CostCurveDisplay,
    CostDistributionDisplay,
    DecisionCurveDisplay,
    InterventionsAvoidedDisplay,
    RegretCurveDisplay,
    StandardizedDecisionCurveDisplay,
    ThresholdDisplay,
)

__all__ = [
    "ActionCostsDisplay",
    "BandDisplay",
    "BinnedReliabilityDisplay",
    "BoundaryDisplay",
    "BoundaryExplanationDisplay",
    "CostCurveDisplay",
    "CostDistributionDisplay",
    "CostMonitorDisplay",
    "DecisionCurveDisplay",
    "DecompositionDisplay",
    "DeferralDisplay",
    "ExpectedUtilityDisplay",
    "ForestDisplay",
    "GainsDisplay",
    "HorizonDisplay",
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
    "plot_study",
]


def __dir__() -> list[str]:
    return __all__

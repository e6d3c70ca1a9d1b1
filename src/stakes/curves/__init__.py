"""Exact curves over every threshold, as knots with left and right values."""

from stakes.curves._curve import Curve, RatioCurve, ratio_of, straight
from stakes.curves._decision import (
    TIE,
    BestThreshold,
    BrierCurve,
    CostCurve,
    InterventionsCurve,
    ThresholdTable,
    brier_curve,
    cost_curve,
    error_pieces,
    flagged_among,
    interventions_avoided_curve,
    lower_envelope,
    net_benefit_curve,
    net_benefit_curve_of,
    regret_curve,
    regret_curve_of,
    threshold_table,
    threshold_table_of,
    weighted_area,
)
from stakes.curves._ranking import (
    LiftCurve,
    PrecisionRecallCurve,
    RocCurve,
    lift_curve,
    precision_recall_curve,
    roc_curve,
)
from stakes.curves._registry import CURVES, CurveEntry
from stakes.curves._reliability import (
    SPAN,
    BinnedReliability,
    LocalFits,
    LocalLogisticFits,
    Neighbourhoods,
    ReliabilityCurve,
    SmoothCalibrationCurve,
    bin_starts,
    binned_reliability,
    binned_reliability_of,
    curve_over_log_odds,
    jeffreys,
    local_limits,
    rarer_rows,
    reliability_curve,
    reliability_curve_of,
    smooth_calibration_curve,
    times_odds,
)

# What is not in __all__ serves the rest of the library, and is not public.
__all__ = [
    "CURVES",
    "BestThreshold",
    "BinnedReliability",
    "BrierCurve",
    "CostCurve",
    "Curve",
    "CurveEntry",
    "InterventionsCurve",
    "LiftCurve",
    "PrecisionRecallCurve",
    "ReliabilityCurve",
    "RocCurve",
    "SmoothCalibrationCurve",
    "ThresholdTable",
    "binned_reliability",
    "brier_curve",
    "cost_curve",
    "interventions_avoided_curve",
    "lift_curve",
    "net_benefit_curve",
    "precision_recall_curve",
    "regret_curve",
    "reliability_curve",
    "roc_curve",
    "smooth_calibration_curve",
    "threshold_table",
]


def __dir__() -> list[str]:
    return __all__

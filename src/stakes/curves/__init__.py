"""Exact curves over every threshold, as knots with left and right values."""

from stakes.curves._bins import BinnedReliability, binned_reliability
from stakes.curves._brier import BrierCurve, brier_curve
from stakes.curves._cost import CostCurve, cost_curve
from stakes.curves._curve import Curve

# "X as X": what other rooms build curves of, importable here, and no part of what users are offered.
from stakes.curves._curve import straight as straight
from stakes.curves._decision import net_benefit_curve, regret_curve
from stakes.curves._interventions import InterventionsCurve, interventions_avoided_curve
from stakes.curves._lift import LiftCurve, lift_curve
from stakes.curves._precision_recall import PrecisionRecallCurve, precision_recall_curve
from stakes.curves._ratio import RatioCurve as RatioCurve
from stakes.curves._ratio import ratio_of as ratio_of
from stakes.curves._registry import CURVES, CurveEntry
from stakes.curves._reliability import ReliabilityCurve, reliability_curve
from stakes.curves._roc import RocCurve, roc_curve
from stakes.curves._smooth import SmoothCalibrationCurve, smooth_calibration_curve
from stakes.curves._smooth import curve_over_log_odds as curve_over_log_odds
from stakes.curves._thresholds import ThresholdTable, threshold_table

__all__ = [
    "CURVES",
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

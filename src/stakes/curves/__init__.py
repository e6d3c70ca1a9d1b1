"""Exact curves over every threshold, as knots with left and right values."""

from stakes.curves._curve import Curve
from stakes.curves._curve import RatioCurve as RatioCurve
from stakes.curves._curve import ratio_of as ratio_of

# "X as X": imported by other rooms, and not part of the public interface.
from stakes.curves._curve import straight as straight
from stakes.curves._decision import TIE as TIE
from stakes.curves._decision import (
    BestThreshold,
    BrierCurve,
    CostCurve,
    InterventionsCurve,
    ThresholdTable,
    brier_curve,
    cost_curve,
    interventions_avoided_curve,
    net_benefit_curve,
    regret_curve,
    threshold_table,
)
from stakes.curves._decision import error_pieces as error_pieces
from stakes.curves._decision import lower_envelope as lower_envelope
from stakes.curves._decision import net_benefit_curve_of as net_benefit_curve_of
from stakes.curves._decision import regret_curve_of as regret_curve_of
from stakes.curves._decision import threshold_table_of as threshold_table_of
from stakes.curves._decision import weighted_area as weighted_area
from stakes.curves._ranking import (
    LiftCurve,
    PrecisionRecallCurve,
    RocCurve,
    lift_curve,
    precision_recall_curve,
    roc_curve,
)
from stakes.curves._registry import CURVES, CurveEntry
from stakes.curves._reliability import SPAN as SPAN
from stakes.curves._reliability import (
    BinnedReliability,
    ReliabilityCurve,
    SmoothCalibrationCurve,
    binned_reliability,
    reliability_curve,
    smooth_calibration_curve,
)
from stakes.curves._reliability import LocalFits as LocalFits
from stakes.curves._reliability import LocalLogisticFits as LocalLogisticFits
from stakes.curves._reliability import Neighbourhoods as Neighbourhoods
from stakes.curves._reliability import bin_starts as bin_starts
from stakes.curves._reliability import binned_reliability_of as binned_reliability_of
from stakes.curves._reliability import curve_over_log_odds as curve_over_log_odds
from stakes.curves._reliability import jeffreys as jeffreys
from stakes.curves._reliability import local_limits as local_limits
from stakes.curves._reliability import rarer_rows as rarer_rows
from stakes.curves._reliability import reliability_curve_of as reliability_curve_of
from stakes.curves._reliability import times_odds as times_odds

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

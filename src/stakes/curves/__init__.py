"""Exact curves over every threshold, as knots with left and right values."""

from stakes.curves._curve import Curve
from stakes.curves._decision import net_benefit_curve, regret_curve
from stakes.curves._reliability import ReliabilityCurve, reliability_curve

__all__ = ["Curve", "ReliabilityCurve", "net_benefit_curve", "regret_curve", "reliability_curve"]

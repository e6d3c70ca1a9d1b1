"""Pictures of curves, evaluations and decompositions with matplotlib; nothing is computed here."""

from stakes.display._decomposition import DecompositionDisplay
from stakes.display._plot import plot_curve, plot_evaluation
from stakes.display._reliability import ReliabilityDisplay
from stakes.display._threshold import DecisionCurveDisplay, RegretCurveDisplay

__all__ = [
    "DecisionCurveDisplay",
    "DecompositionDisplay",
    "RegretCurveDisplay",
    "ReliabilityDisplay",
    "plot_curve",
    "plot_evaluation",
]

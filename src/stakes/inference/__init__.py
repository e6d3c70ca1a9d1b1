"""How sure a number is: standard errors, intervals and paired differences."""

from stakes.inference._band_result import Band
from stakes.inference._bands import confidence_band, difference_band
from stakes.inference._best_models import BestModels, best_models
from stakes.inference._bootstrap import Bootstrap, bootstrap
from stakes.inference._comparison import PAIRED_NEEDS_ROWS, Comparison, compare, comparison_from_moments
from stakes.inference._consistency import consistency_band
from stakes.inference._crossfit_rank import h_measure_interval, hull_auc_interval
from stakes.inference._decomposition_interval import DecompositionInterval, decomposition_interval
from stakes.inference._dominance import Dominance, dominance
from stakes.inference._loss_moments import (
    LossMoments,
    PairedRows,
    loss_moments,
    table_moments,
    table_standard_error,
)
from stakes.inference._metric_interval import Estimate, metric_difference, metric_interval
from stakes.inference._moments import Moments
from stakes.inference._ranking import RankedModel, Ranking, holm, rank_models
from stakes.inference._threshold_intervals import ThresholdIntervals, threshold_intervals

__all__ = [
    "PAIRED_NEEDS_ROWS",
    "Band",
    "BestModels",
    "Bootstrap",
    "Comparison",
    "DecompositionInterval",
    "Dominance",
    "Estimate",
    "LossMoments",
    "Moments",
    "PairedRows",
    "RankedModel",
    "Ranking",
    "ThresholdIntervals",
    "best_models",
    "bootstrap",
    "compare",
    "comparison_from_moments",
    "confidence_band",
    "consistency_band",
    "decomposition_interval",
    "difference_band",
    "dominance",
    "h_measure_interval",
    "holm",
    "hull_auc_interval",
    "loss_moments",
    "metric_difference",
    "metric_interval",
    "rank_models",
    "table_moments",
    "table_standard_error",
    "threshold_intervals",
]

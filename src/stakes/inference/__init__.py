"""How sure a number is: standard errors, intervals and paired differences."""

from stakes.inference._area_rows import area_estimate as area_estimate
from stakes.inference._band_counts import reached as reached
from stakes.inference._band_result import Band
from stakes.inference._bands import confidence_band, difference_band
from stakes.inference._best_models import BestModels, best_models
from stakes.inference._bootstrap import Bootstrap, bootstrap
from stakes.inference._by_threshold import shown_band as shown_band
from stakes.inference._by_threshold import shown_less as shown_less
from stakes.inference._calibration import CalibrationSummary, calibration_summary
from stakes.inference._calibration import calibration_of as calibration_of
from stakes.inference._calibration_intervals import observed_to_expected as observed_to_expected
from stakes.inference._comparison import PAIRED_NEEDS_ROWS, Comparison, compare

# "X as X": what the rooms above build on, importable here, and no part of what users are offered.
from stakes.inference._comparison import comparison_from_moments as comparison_from_moments
from stakes.inference._consistency import consistency_band
from stakes.inference._decomposition_interval import DecompositionInterval, decomposition_interval
from stakes.inference._dependence import check_dependence as check_dependence
from stakes.inference._dependence import ordered_variance as ordered_variance
from stakes.inference._dominance import Dominance, dominance
from stakes.inference._estimate import Estimate
from stakes.inference._horizons import integrated_metric
from stakes.inference._loss_moments import UNPAIRED as UNPAIRED
from stakes.inference._loss_moments import (
    LossMoments as LossMoments,
)
from stakes.inference._loss_moments import (
    loss_moments as loss_moments,
)
from stakes.inference._loss_moments import (
    table_moments as table_moments,
)
from stakes.inference._loss_moments import (
    table_standard_error as table_standard_error,
)
from stakes.inference._loss_moments import unpaired_moments as unpaired_moments
from stakes.inference._metric_interval import metric_difference, metric_interval
from stakes.inference._moments import FEW_DEGREES as FEW_DEGREES
from stakes.inference._moments import Moments
from stakes.inference._money import FEW_AMOUNTS as FEW_AMOUNTS
from stakes.inference._money import MONEY_SCALES as MONEY_SCALES
from stakes.inference._money import Money, money
from stakes.inference._money import carriers as carriers
from stakes.inference._money import law_of as law_of
from stakes.inference._money import money_of as money_of
from stakes.inference._money import to_expect as to_expect
from stakes.inference._pair_sums import PairSums
from stakes.inference._pair_tables import check_against_tables as check_against_tables
from stakes.inference._paired_rows import PairedRows as PairedRows
from stakes.inference._pooled import Pooled, pool
from stakes.inference._power_sums import NEEDED as NEEDED
from stakes.inference._ranking import RankedModel, Ranking, holm
from stakes.inference._ranking import rank_models as rank_models
from stakes.inference._select_best import select_best
from stakes.inference._selection import check_contest as check_contest
from stakes.inference._selection import select
from stakes.inference._selection_moments import contest_from_moments as contest_from_moments
from stakes.inference._selection_normal import Largest, largest_of
from stakes.inference._selection_result import Against, Selection
from stakes.inference._selection_rows import Contest, Spread
from stakes.inference._selection_rows import CostRows as CostRows
from stakes.inference._selection_words import capital as capital
from stakes.inference._selection_words import few_carry as few_carry
from stakes.inference._selection_words import listed as listed
from stakes.inference._selection_words import named as named
from stakes.inference._threshold_intervals import ThresholdIntervals, threshold_intervals

__all__ = [
    "PAIRED_NEEDS_ROWS",
    "Against",
    "Band",
    "BestModels",
    "Bootstrap",
    "CalibrationSummary",
    "Comparison",
    "Contest",
    "DecompositionInterval",
    "Dominance",
    "Estimate",
    "Largest",
    "Moments",
    "Money",
    "PairSums",
    "Pooled",
    "RankedModel",
    "Ranking",
    "Selection",
    "Spread",
    "ThresholdIntervals",
    "best_models",
    "bootstrap",
    "calibration_summary",
    "compare",
    "confidence_band",
    "consistency_band",
    "decomposition_interval",
    "difference_band",
    "dominance",
    "holm",
    "integrated_metric",
    "largest_of",
    "metric_difference",
    "metric_interval",
    "money",
    "pool",
    "select",
    "select_best",
    "threshold_intervals",
]


def __dir__() -> list[str]:
    return __all__

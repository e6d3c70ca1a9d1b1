"""Standard errors, confidence intervals and paired differences."""

from stakes.inference._area import Area as Area
from stakes.inference._area import area_estimate as area_estimate
from stakes.inference._area import group_areas as group_areas
from stakes.inference._area import table_area as table_area
from stakes.inference._bands import RATES_NEEDED as RATES_NEEDED
from stakes.inference._bands import confidence_band, consistency_band, difference_band
from stakes.inference._bootstrap import Bootstrap, bootstrap
from stakes.inference._calibration import CalibrationSummary, calibration_summary
from stakes.inference._calibration import calibration_of as calibration_of
from stakes.inference._calibration import log_ratio_moments as log_ratio_moments
from stakes.inference._calibration import observed_to_expected as observed_to_expected
from stakes.inference._calibration import pooled_calibration as pooled_calibration
from stakes.inference._calibration import recalibration_estimates as recalibration_estimates
from stakes.inference._comparison import PAIRED_NEEDS_ROWS as PAIRED_NEEDS_ROWS
from stakes.inference._comparison import Comparison, Dominance, compare, dominance
from stakes.inference._comparison import check_against_tables as check_against_tables

# "X as X": imported by other rooms, and not part of the public interface.
from stakes.inference._comparison import comparison_from_moments as comparison_from_moments
from stakes.inference._cross_fitting import ROWS_NEEDED as ROWS_NEEDED
from stakes.inference._cross_fitting import DecompositionInterval, decomposition_interval
from stakes.inference._cross_fitting import expanded_rows as expanded_rows
from stakes.inference._imputation import Pooled, pool
from stakes.inference._imputation import mean_of as mean_of
from stakes.inference._imputation import pooled as pooled
from stakes.inference._imputation import pooled_band as pooled_band
from stakes.inference._imputation import pooled_decisions as pooled_decisions
from stakes.inference._imputation import pooled_estimate as pooled_estimate
from stakes.inference._metric_interval import (
    RandomEffects,
    integrated_metric,
    metric_difference,
    metric_interval,
    random_effects,
)
from stakes.inference._money import FEW_AMOUNTS as FEW_AMOUNTS
from stakes.inference._money import MONEY_SCALES as MONEY_SCALES
from stakes.inference._money import AmountLaw as AmountLaw
from stakes.inference._money import Money, money
from stakes.inference._money import MoneySums as MoneySums
from stakes.inference._money import carriers as carriers
from stakes.inference._money import law_of as law_of
from stakes.inference._money import money_of as money_of
from stakes.inference._money import to_expect as to_expect
from stakes.inference._selection import Against, RankedModel, Ranking, Selection, select_best
from stakes.inference._selection import check_contest as check_contest
from stakes.inference._selection import differences_from as differences_from
from stakes.inference._selection import few_carry as few_carry
from stakes.inference._selection import rank_models as rank_models
from stakes.inference._selection import select as select
from stakes.inference._simultaneous import Band
from stakes.inference._simultaneous import reached as reached
from stakes.inference._thresholds import BestModels, ThresholdIntervals, best_models, threshold_intervals
from stakes.inference._thresholds import shown_band as shown_band
from stakes.inference._thresholds import shown_less as shown_less
from stakes.outputs.text import capital as capital
from stakes.outputs.text import listed as listed
from stakes.outputs.text import named as named
from stakes.variance.decisions import UNPAIRED as UNPAIRED
from stakes.variance.decisions import Contest as Contest
from stakes.variance.decisions import CostRows as CostRows
from stakes.variance.decisions import Decisions as Decisions
from stakes.variance.decisions import PairSums
from stakes.variance.decisions import table_standard_error as table_standard_error
from stakes.variance.dependence import PairedRows as PairedRows
from stakes.variance.dependence import check_dependence as check_dependence
from stakes.variance.dependence import ordered_variance as ordered_variance
from stakes.variance.largest import largest_of as largest_of
from stakes.variance.sums import FEW_DEGREES as FEW_DEGREES
from stakes.variance.sums import NEEDED as NEEDED
from stakes.variance.sums import Estimate
from stakes.variance.sums import Moments as Moments
from stakes.variance.sums import holm as holm

__all__ = [
    "Against",
    "Band",
    "BestModels",
    "Bootstrap",
    "CalibrationSummary",
    "Comparison",
    "DecompositionInterval",
    "Dominance",
    "Estimate",
    "Money",
    "PairSums",
    "Pooled",
    "RandomEffects",
    "RankedModel",
    "Ranking",
    "Selection",
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
    "integrated_metric",
    "metric_difference",
    "metric_interval",
    "money",
    "pool",
    "random_effects",
    "select_best",
    "threshold_intervals",
]


def __dir__() -> list[str]:
    return __all__

"""Standard errors, confidence intervals and paired differences."""

from stakes.inference._area import Area, area_estimate, area_of, group_areas, table_area
from stakes.inference._bands import RATES_NEEDED, confidence_band, consistency_band, difference_band
from stakes.inference._bootstrap import Bootstrap, bootstrap
from stakes.inference._calibration import (
    CalibrationSummary,
    calibration_of,
    calibration_summary,
    log_ratio_moments,
    observed_to_expected,
    pooled_calibration,
    recalibration_estimates,
)
from stakes.inference._comparison import (
    PAIRED_NEEDS_ROWS,
    Comparison,
    Dominance,
    check_against_tables,
    compare,
    comparison_from_moments,
    dominance,
)
from stakes.inference._cross_fitting import ROWS_NEEDED, DecompositionInterval, decomposition_interval, expanded_rows
from stakes.inference._imputation import Pooled, mean_of, pool, pooled, pooled_band, pooled_decisions, pooled_estimate
from stakes.inference._metric_interval import (
    RandomEffects,
    integrated_metric,
    metric_difference,
    metric_interval,
    random_effects,
)
from stakes.inference._money import (
    FEW_AMOUNTS,
    MONEY_SCALES,
    AmountLaw,
    Borne,
    Money,
    MoneySums,
    fewest_borne,
    law_of,
    money,
    money_of,
    to_expect,
)
from stakes.inference._selection import (
    Against,
    RankedModel,
    Ranking,
    Selection,
    check_contest,
    differences_from,
    few_carry,
    rank_models,
    select,
    select_best,
)
from stakes.inference._simultaneous import Band, reached
from stakes.inference._thresholds import (
    BestModels,
    ThresholdIntervals,
    best_models,
    shown_band,
    shown_less,
    threshold_intervals,
)
from stakes.outputs.text import capital, listed, named
from stakes.variance.decisions import UNPAIRED, Contest, CostRows, Decisions, PairSums, table_standard_error
from stakes.variance.dependence import PairedRows, check_dependence, ordered_variance
from stakes.variance.largest import largest_of
from stakes.variance.sums import FEW_DEGREES, NEEDED, Estimate, Moments, holm

# What is not in __all__ serves the rest of the library, and is not public.
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

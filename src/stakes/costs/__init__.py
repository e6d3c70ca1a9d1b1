"""Cost distributions: how much each cost ratio (decision threshold) counts.

A cost ratio c says that a false positive costs c when a false negative costs 1 - c. Every loss and score of the
library is regret averaged over one of these distributions.
"""

from stakes.costs._base import CostDistribution, Mixture, Weighted
from stakes.costs._deferral import Deferral, as_deferral
from stakes.costs._distributions import (
    REGRET_SCALES,
    Beta,
    CostsLike,
    Density,
    Empirical,
    Fixed,
    LogOddsUniform,
    NetBenefitUniform,
    PiecewiseLinear,
    Scale,
    Shifted,
    Triangular,
    Uniform,
    as_bounds,
    as_costs,
    check_scale,
    log_remainder,
)
from stakes.costs._stated import (
    SCALES,
    NoMeanError,
    Profit,
    churn_profit,
    credit_profit,
    from_cost_matrix,
    from_false_alarms_per_miss,
    from_harm_to_benefit,
    from_odds,
    held,
)

__all__ = [
    "Beta",
    "CostDistribution",
    "CostsLike",
    "Deferral",
    "Density",
    "Empirical",
    "Fixed",
    "LogOddsUniform",
    "Mixture",
    "NetBenefitUniform",
    "PiecewiseLinear",
    "Profit",
    "Shifted",
    "Triangular",
    "Uniform",
    "churn_profit",
    "credit_profit",
    "from_cost_matrix",
    "from_false_alarms_per_miss",
    "from_harm_to_benefit",
    "from_odds",
]


def __dir__() -> list[str]:
    return __all__

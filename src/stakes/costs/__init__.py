"""Cost distributions: how much each cost ratio (decision threshold) counts.

A cost ratio c says that a false positive costs c when a false negative costs 1 - c. Every loss and score of the
library is regret averaged over one of these distributions.
"""

from stakes.costs._base import CostDistribution, Mixture
from stakes.costs._base import Weighted as Weighted
from stakes.costs._deferral import Deferral
from stakes.costs._deferral import as_deferral as as_deferral
from stakes.costs._distributions import REGRET_SCALES as REGRET_SCALES
from stakes.costs._distributions import (
    Beta,
    CostsLike,
    Density,
    Empirical,
    Fixed,
    LogOddsUniform,
    NetBenefitUniform,
    PiecewiseLinear,
    Shifted,
    Triangular,
    Uniform,
)
from stakes.costs._distributions import Scale as Scale
from stakes.costs._distributions import as_bounds as as_bounds
from stakes.costs._distributions import as_costs as as_costs
from stakes.costs._distributions import check_scale as check_scale
from stakes.costs._distributions import log_remainder as log_remainder
from stakes.costs._stated import SCALES as SCALES
from stakes.costs._stated import NoMeanError as NoMeanError
from stakes.costs._stated import (
    Profit,
    churn_profit,
    credit_profit,
    from_cost_matrix,
    from_false_alarms_per_miss,
    from_harm_to_benefit,
    from_odds,
)
from stakes.costs._stated import held as held

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

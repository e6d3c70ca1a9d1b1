"""Cost distributions: how much each cost ratio (decision threshold) counts.

A cost ratio c says that a false positive costs c when a false negative costs 1 - c. Every loss and score of the
library is regret averaged over one of these distributions.
"""

from stakes.costs._base import CostDistribution, Mixture
from stakes.costs._continuous import Beta, LogOddsUniform, NetBenefitUniform, Shifted, Uniform
from stakes.costs._convert import (
    from_cost_matrix,
    from_false_alarms_per_miss,
    from_harm_to_benefit,
    from_odds,
)
from stakes.costs._deferral import Deferral, as_deferral
from stakes.costs._density import Density, PiecewiseLinear, Triangular
from stakes.costs._discrete import Empirical, Fixed
from stakes.costs._given import CostsLike, as_bounds, as_costs
from stakes.costs._held import SCALES as SCALES
from stakes.costs._held import NoMeanError as NoMeanError
from stakes.costs._held import held as held
from stakes.costs._profit import Profit, churn_profit, credit_profit

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
    "as_bounds",
    "as_costs",
    "as_deferral",
    "churn_profit",
    "credit_profit",
    "from_cost_matrix",
    "from_false_alarms_per_miss",
    "from_harm_to_benefit",
    "from_odds",
]


def __dir__() -> list[str]:
    return __all__

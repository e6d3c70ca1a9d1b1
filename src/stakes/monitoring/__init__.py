"""Has the cost risen since a model was taken into use? Evidence that is valid at every look.

A monitor takes in the rows or sums of each day and raises an alarm when the mean cost is shown to exceed a budget.
"""

from stakes.monitoring._monitor import ChallengerMonitor, CostMonitor, WatchPlan, plan_watch
from stakes.monitoring._question import day_spread
from stakes.monitoring._several import CostMonitors

__all__ = ["ChallengerMonitor", "CostMonitor", "CostMonitors", "WatchPlan", "day_spread", "plan_watch"]


def __dir__() -> list[str]:
    return __all__

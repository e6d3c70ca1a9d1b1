"""Outcomes, which may be passed instead of labels: classes, weights and scores of rows.

Each turns its rows into classes, weights and scores for the same score table, so that every metric, curve and
decomposition is that of weighted rows; and it propagates the error of estimated weights into every standard error.
"""

from stakes.outcomes._columns import OutcomeColumns
from stakes.outcomes._partly_verified import Imputed, PartlyVerified
from stakes.outcomes._row_costs import (
    MONEY_PER,
    AmountTotals,
    RowCosts,
    RowDecisions,
    check_factor,
    check_money_per,
    decide_rows,
    reweighed,
    rows_for_money,
)
from stakes.outcomes._time_to_event import (
    CENSORED,
    NEEDED_AT_RISK,
    BeyondFollowUpError,
    CensoringTest,
    TimeToEvent,
    acted_shares,
    censoring_trend,
)

__all__ = [
    "CensoringTest",
    "Imputed",
    "OutcomeColumns",
    "PartlyVerified",
    "RowCosts",
    "RowDecisions",
    "TimeToEvent",
    "decide_rows",
]


def __dir__() -> list[str]:
    return __all__

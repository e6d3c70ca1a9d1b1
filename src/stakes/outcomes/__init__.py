"""What happened, and how much it counts: outcomes that stand where labels stand.

Each turns its rows into classes, weights and scores for the same score table, so that every metric, curve and
decomposition is that of weighted rows; and it says what its weights' own error does to the error of an estimate.
"""

from stakes.outcomes._acted import acted_shares as acted_shares
from stakes.outcomes._censoring_test import CensoringTest
from stakes.outcomes._columns import OutcomeColumns
from stakes.outcomes._imputed import Imputed
from stakes.outcomes._partly_verified import PartlyVerified
from stakes.outcomes._row_costs import RowCosts
from stakes.outcomes._row_costs import check_factor as check_factor
from stakes.outcomes._row_decisions import RowDecisions, decide_rows
from stakes.outcomes._time_to_event import BeyondFollowUpError as BeyondFollowUpError
from stakes.outcomes._time_to_event import TimeToEvent

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

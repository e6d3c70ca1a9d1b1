"""How sure a number is: standard errors, intervals and paired differences."""

from stakes.inference._comparison import PAIRED_NEEDS_ROWS, Comparison, compare, comparison_from_moments
from stakes.inference._loss_moments import (
    LossMoments,
    PairedRows,
    loss_moments,
    normal_interval,
    normal_p_value,
    table_moments,
    table_standard_error,
)

__all__ = [
    "PAIRED_NEEDS_ROWS",
    "Comparison",
    "LossMoments",
    "PairedRows",
    "compare",
    "comparison_from_moments",
    "loss_moments",
    "normal_interval",
    "normal_p_value",
    "table_moments",
    "table_standard_error",
]

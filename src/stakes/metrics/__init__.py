"""Named losses (lower is better) and scores (higher is better), and the registry that lists them."""

from stakes.metrics._losses import (
    beta_loss,
    bounded_brier_loss,
    bounded_log_loss,
    expected_regret,
    shifted_brier_loss,
)
from stakes.metrics._net_benefit import average_net_benefit_score, net_benefit_score
from stakes.metrics._rank import roc_auc_score
from stakes.metrics._registry import METRICS, Metric, register
from stakes.metrics._skill import bounded_brier_skill_score, bounded_log_skill_score, h_measure_score

__all__ = [
    "METRICS",
    "Metric",
    "average_net_benefit_score",
    "beta_loss",
    "bounded_brier_loss",
    "bounded_brier_skill_score",
    "bounded_log_loss",
    "bounded_log_skill_score",
    "expected_regret",
    "h_measure_score",
    "net_benefit_score",
    "register",
    "roc_auc_score",
    "shifted_brier_loss",
]

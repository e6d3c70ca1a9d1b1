"""What is at stake when a classifier's scores become decisions."""

from stakes import costs, curves, metrics
from stakes._version import __version__
from stakes.curves import Curve, net_benefit_curve, regret_curve, reliability_curve
from stakes.decomposition import Decomposition, decompose
from stakes.evaluation import Evaluation, evaluate, evaluate_frame
from stakes.inference import Comparison, compare
from stakes.metrics import (
    average_net_benefit_score,
    beta_loss,
    bounded_brier_loss,
    bounded_brier_skill_score,
    bounded_log_loss,
    bounded_log_skill_score,
    expected_regret,
    h_measure_score,
    net_benefit_score,
    roc_auc_score,
    shifted_brier_loss,
)
from stakes.score_table import ScoreTable

__all__ = [
    "Comparison",
    "Curve",
    "Decomposition",
    "Evaluation",
    "ScoreTable",
    "__version__",
    "average_net_benefit_score",
    "beta_loss",
    "bounded_brier_loss",
    "bounded_brier_skill_score",
    "bounded_log_loss",
    "bounded_log_skill_score",
    "compare",
    "costs",
    "curves",
    "decompose",
    "evaluate",
    "evaluate_frame",
    "expected_regret",
    "h_measure_score",
    "metrics",
    "net_benefit_curve",
    "net_benefit_score",
    "regret_curve",
    "reliability_curve",
    "roc_auc_score",
    "shifted_brier_loss",
]

"""Named losses (lower is better) and scores (higher is better), and the registry that lists them."""

from stakes.metrics._catalogue import metrics_table
from stakes.metrics._cost_matrix import cost_matrix_loss, multilabel_loss, ordinal_loss

# "X as X": what other rooms build on, importable here, and no part of what users are offered.
from stakes.metrics._cost_problem import CostProblem as CostProblem
from stakes.metrics._cost_problem import check_problem as check_problem
from stakes.metrics._cost_problem import walk as walk
from stakes.metrics._losses import beta_loss, bounded_brier_loss, bounded_log_loss, expected_regret, shifted_brier_loss
from stakes.metrics._multiclass_inputs import check_multiclass as check_multiclass
from stakes.metrics._multiclass_inputs import check_probability_rows as check_probability_rows
from stakes.metrics._net_benefit import average_net_benefit_score, net_benefit_score
from stakes.metrics._one_vs_rest import one_vs_rest_bounded_loss
from stakes.metrics._partial_auc import auc_regret, bounded_auc_score, partial_auc_score
from stakes.metrics._penalized import ImproperScoreWarning, penalized_brier_loss, penalized_log_loss
from stakes.metrics._propriety import Propriety, check_proper
from stakes.metrics._rank import roc_auc_score
from stakes.metrics._registry import METRICS, Metric, register
from stakes.metrics._registry import guess_metric as guess_metric
from stakes.metrics._scorers import get_scorer
from stakes.metrics._skill import (
    bounded_brier_skill_score,
    bounded_log_skill_score,
    h_measure_score,
    regret_skill_score,
)
from stakes.metrics._top_k import TopKScores, top_k_scores

__all__ = [
    "METRICS",
    "ImproperScoreWarning",
    "Metric",
    "Propriety",
    "TopKScores",
    "auc_regret",
    "average_net_benefit_score",
    "beta_loss",
    "bounded_auc_score",
    "bounded_brier_loss",
    "bounded_brier_skill_score",
    "bounded_log_loss",
    "bounded_log_skill_score",
    "check_proper",
    "cost_matrix_loss",
    "expected_regret",
    "get_scorer",
    "h_measure_score",
    "metrics_table",
    "multilabel_loss",
    "net_benefit_score",
    "one_vs_rest_bounded_loss",
    "ordinal_loss",
    "partial_auc_score",
    "penalized_brier_loss",
    "penalized_log_loss",
    "register",
    "regret_skill_score",
    "roc_auc_score",
    "shifted_brier_loss",
    "top_k_scores",
]


def __dir__() -> list[str]:
    return __all__

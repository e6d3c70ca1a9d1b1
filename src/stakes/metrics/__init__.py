"""Named losses (lower is better) and scores (higher is better), and the registry that lists them."""

from stakes.base.multiclass import check_multiclass as check_multiclass
from stakes.base.multiclass import check_probability_rows as check_probability_rows
from stakes.metrics._losses import Decomposition as Decomposition
from stakes.metrics._losses import (
    Propriety,
    average_net_benefit_score,
    beta_loss,
    bounded_brier_loss,
    bounded_brier_skill_score,
    bounded_log_loss,
    bounded_log_skill_score,
    check_proper,
    expected_regret,
    h_measure_score,
    net_benefit_score,
    promised_regret,
    regret_skill_score,
    shifted_brier_loss,
)
from stakes.metrics._losses import costs_of_severity as costs_of_severity
from stakes.metrics._losses import decompose as decompose
from stakes.metrics._losses import decompose_table as decompose_table

# "X as X": imported by other rooms, and not part of the public interface.
from stakes.metrics._multiclass import CostProblem as CostProblem
from stakes.metrics._multiclass import (
    ImproperScoreWarning,
    cost_matrix_loss,
    multilabel_loss,
    one_vs_rest_bounded_loss,
    ordinal_loss,
    penalized_brier_loss,
    penalized_log_loss,
)
from stakes.metrics._multiclass import check_problem as check_problem
from stakes.metrics._multiclass import walk as walk
from stakes.metrics._ranking import RocWindow as RocWindow
from stakes.metrics._ranking import (
    TopKScores,
    auc_regret,
    bounded_auc_score,
    partial_auc_score,
    roc_auc_score,
    top_k_scores,
)
from stakes.metrics._registry import METRICS, Metric, get_scorer, metrics_table, register
from stakes.metrics._registry import MONEY as MONEY
from stakes.metrics._registry import check_parameters as check_parameters
from stakes.metrics._registry import guess_metric as guess_metric

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
    "promised_regret",
    "register",
    "regret_skill_score",
    "roc_auc_score",
    "shifted_brier_loss",
    "top_k_scores",
]


def __dir__() -> list[str]:
    return __all__

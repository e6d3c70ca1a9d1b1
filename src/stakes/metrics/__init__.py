"""Named losses (lower is better) and scores (higher is better), and the registry that lists them."""

from stakes.base.multiclass import check_multiclass, check_probability_rows
from stakes.metrics._losses import (
    Decomposition,
    Propriety,
    average_net_benefit_score,
    beta_loss,
    bounded_brier_loss,
    bounded_brier_skill_score,
    bounded_log_loss,
    bounded_log_skill_score,
    check_proper,
    costs_of_severity,
    decompose,
    decompose_table,
    expected_regret,
    h_measure_score,
    net_benefit_score,
    promised_regret,
    regret_skill_score,
    shifted_brier_loss,
)
from stakes.metrics._multiclass import (
    CostProblem,
    ImproperScoreWarning,
    check_problem,
    cost_matrix_loss,
    matrix_actions,
    multilabel_loss,
    one_vs_rest_bounded_loss,
    ordinal_loss,
    penalized_brier_loss,
    penalized_log_loss,
    refuse_unordered,
    same_in_any_order,
    walk,
)
from stakes.metrics._ranking import (
    RocWindow,
    TopKScores,
    auc_regret,
    bounded_auc_score,
    partial_auc_score,
    roc_auc_score,
    top_k_scores,
)
from stakes.metrics._registry import (
    METRICS,
    MONEY,
    Metric,
    check_parameters,
    get_scorer,
    guess_metric,
    metrics_table,
    register,
)

# What is not in __all__ serves the rest of the library, and is not public.
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

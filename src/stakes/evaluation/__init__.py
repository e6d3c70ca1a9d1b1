"""The answers: which model to act on over the plausible thresholds, and how sure that is."""

from stakes.evaluation._best_by_cost import BestByCost, best_by_cost, lc_index
from stakes.evaluation._evaluate import evaluate, evaluate_frame
from stakes.evaluation._evaluation import Evaluation, ModelResult
from stakes.evaluation._sensitivity import BestByBounds, best_by_bounds

__all__ = [
    "BestByBounds",
    "BestByCost",
    "Evaluation",
    "ModelResult",
    "best_by_bounds",
    "best_by_cost",
    "evaluate",
    "evaluate_frame",
    "lc_index",
]

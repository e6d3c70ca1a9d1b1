"""The answers: which model to act on over the plausible thresholds, and how sure that is."""

from stakes.evaluation._evaluate import evaluate, evaluate_frame
from stakes.evaluation._evaluation import Evaluation, ModelResult

__all__ = ["Evaluation", "ModelResult", "evaluate", "evaluate_frame"]

"""The answers: which model to act on over the plausible thresholds, and how sure that is."""

from stakes.evaluation._advise import Advice, advise
from stakes.evaluation._best_by_cost import BestByCost, best_by_cost, lc_index
from stakes.evaluation._calibration import Calibrations, ModelCalibration
from stakes.evaluation._checks_actions import ACTION_FINDINGS, action_findings
from stakes.evaluation._evaluate import evaluate, evaluate_frame
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._finding import Check, Finding, Findings
from stakes.evaluation._findings import FINDINGS, findings_table
from stakes.evaluation._groups import GroupResult, Groups
from stakes.evaluation._kept import KeptEvaluation
from stakes.evaluation._money import AS_STATED as AS_STATED
from stakes.evaluation._refit import Refit, evaluate_estimator
from stakes.evaluation._refit_selection import select_estimator
from stakes.evaluation._sensitivity import BestByBounds, best_by_bounds
from stakes.evaluation._standings import ModelResult

__all__ = [
    "ACTION_FINDINGS",
    "FINDINGS",
    "Advice",
    "BestByBounds",
    "BestByCost",
    "Calibrations",
    "Check",
    "Evaluation",
    "Finding",
    "Findings",
    "GroupResult",
    "Groups",
    "KeptEvaluation",
    "ModelCalibration",
    "ModelResult",
    "Refit",
    "action_findings",
    "advise",
    "best_by_bounds",
    "best_by_cost",
    "evaluate",
    "evaluate_estimator",
    "evaluate_frame",
    "findings_table",
    "lc_index",
    "select_estimator",
]

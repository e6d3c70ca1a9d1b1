"""The answers: which model to act on over the plausible thresholds, and how sure that is."""

from stakes.evaluation._advise import Advice, advise
from stakes.evaluation._answer import Answer
from stakes.evaluation._best_by_cost import BestByBounds, BestByCost, best_by_bounds, best_by_cost, lc_index
from stakes.evaluation._calibration import Calibrations, ModelCalibration
from stakes.evaluation._centres import (
    ALL_CENTRES,
    ANOTHER_CENTRE,
    CENTRE_HEADS,
    CentreEvaluation,
    estimated_value,
    evaluate_centres,
)
from stakes.evaluation._changes import Change, Changes
from stakes.evaluation._checks import ACTION_FINDINGS, FINDINGS, action_findings, findings_table
from stakes.evaluation._evaluate import (
    check_request,
    divided,
    evaluate,
    evaluate_frame,
    evaluate_predictions,
    named_models,
    why_rows_are_needed,
)
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._finding import SEVERITIES, Check, Finding, Findings
from stakes.evaluation._groups import AS_STATED, GroupResult, Groups, check_groups, why_amounts_need_rows
from stakes.evaluation._horizons import HorizonEvaluation, evaluate_horizons
from stakes.evaluation._kept import KeptEvaluation
from stakes.evaluation._refit import Refit, evaluate_estimator, select_estimator
from stakes.evaluation._standings import ModelResult, cost_of_terms
from stakes.evaluation._tables import ClinicalTable
from stakes.evaluation._words import Unit, Words, counted, meaning

__all__ = [
    "ACTION_FINDINGS",
    "FINDINGS",
    "Advice",
    "Answer",
    "BestByBounds",
    "BestByCost",
    "Calibrations",
    "CentreEvaluation",
    "Change",
    "Changes",
    "Check",
    "ClinicalTable",
    "Evaluation",
    "Finding",
    "Findings",
    "GroupResult",
    "Groups",
    "HorizonEvaluation",
    "KeptEvaluation",
    "ModelCalibration",
    "ModelResult",
    "Refit",
    "action_findings",
    "advise",
    "best_by_bounds",
    "best_by_cost",
    "evaluate",
    "evaluate_centres",
    "evaluate_estimator",
    "evaluate_frame",
    "evaluate_horizons",
    "findings_table",
    "lc_index",
    "select_estimator",
]


def __dir__() -> list[str]:
    return __all__

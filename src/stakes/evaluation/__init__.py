"""The answers: which model to act on over the plausible thresholds, and how sure that is."""

from stakes.evaluation._advise import Advice, advise
from stakes.evaluation._answer import Answer
from stakes.evaluation._best_by_cost import BestByBounds, BestByCost, best_by_bounds, best_by_cost, lc_index
from stakes.evaluation._calibration import Calibrations, ModelCalibration
from stakes.evaluation._centres import ALL_CENTRES as ALL_CENTRES
from stakes.evaluation._centres import ANOTHER_CENTRE as ANOTHER_CENTRE
from stakes.evaluation._centres import CENTRE_HEADS as CENTRE_HEADS
from stakes.evaluation._centres import CentreEvaluation, evaluate_centres
from stakes.evaluation._centres import estimated_value as estimated_value
from stakes.evaluation._changes import Change, Changes
from stakes.evaluation._checks import ACTION_FINDINGS, FINDINGS, action_findings, findings_table
from stakes.evaluation._evaluate import check_request as check_request
from stakes.evaluation._evaluate import divided as divided
from stakes.evaluation._evaluate import evaluate, evaluate_frame
from stakes.evaluation._evaluate import evaluate_predictions as evaluate_predictions
from stakes.evaluation._evaluate import named_models as named_models
from stakes.evaluation._evaluate import why_rows_are_needed as why_rows_are_needed
from stakes.evaluation._evaluation import Evaluation
from stakes.evaluation._finding import SEVERITIES as SEVERITIES
from stakes.evaluation._finding import Check, Finding, Findings
from stakes.evaluation._groups import AS_STATED as AS_STATED
from stakes.evaluation._groups import GroupResult, Groups
from stakes.evaluation._groups import check_groups as check_groups
from stakes.evaluation._groups import why_amounts_need_rows as why_amounts_need_rows
from stakes.evaluation._horizons import HorizonEvaluation, evaluate_horizons
from stakes.evaluation._kept import KeptEvaluation
from stakes.evaluation._refit import Refit, evaluate_estimator, select_estimator
from stakes.evaluation._standings import ModelResult
from stakes.evaluation._tables import ClinicalTable
from stakes.evaluation._words import Unit as Unit
from stakes.evaluation._words import Words as Words
from stakes.evaluation._words import meaning as meaning

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

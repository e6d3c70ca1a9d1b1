"""What is at stake when a classifier's scores become decisions.

The names here are those that most programs need; everything else lives in its module: losses, scores and their
registry in `stakes.metrics`, curves in `stakes.curves`, intervals, bands and tests in `stakes.inference`.
"""

from functools import partial as _partial
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from stakes._version import __version__
from stakes.outputs.hooks import defer_import as _defer_import

if _TYPE_CHECKING:
    from typing import Any

    from stakes import (
        actions,
        boundary,
        correction,
        costs,
        curves,
        display,
        evaluation,
        inference,
        information,
        metrics,
        monitoring,
        outcomes,
        report,
        tables,
        training,
        uncertainty,
        utility,
    )
    from stakes._load import load
    from stakes.core.score_table import ScoreTable
    from stakes.correction import undo_class_weight, undo_sampling
    from stakes.curves import (
        net_benefit_curve,
        precision_recall_curve,
        regret_curve,
        reliability_curve,
        roc_curve,
        threshold_table,
    )
    from stakes.evaluation import advise, evaluate, evaluate_frame
    from stakes.inference import compare, metric_interval, money
    from stakes.information import value_of_information
    from stakes.metrics import (
        bounded_brier_loss,
        bounded_log_loss,
        decompose,
        expected_regret,
        get_scorer,
        net_benefit_score,
    )
    from stakes.outcomes import PartlyVerified, RowCosts, TimeToEvent

__all__ = [
    "PartlyVerified",
    "RowCosts",
    "ScoreTable",
    "TimeToEvent",
    "__version__",
    "actions",
    "advise",
    "boundary",
    "bounded_brier_loss",
    "bounded_log_loss",
    "compare",
    "correction",
    "costs",
    "curves",
    "decompose",
    "display",
    "evaluate",
    "evaluate_frame",
    "evaluation",
    "expected_regret",
    "get_scorer",
    "inference",
    "information",
    "load",
    "metric_interval",
    "metrics",
    "money",
    "monitoring",
    "net_benefit_curve",
    "net_benefit_score",
    "outcomes",
    "precision_recall_curve",
    "promised_regret",
    "regret_curve",
    "reliability_curve",
    "report",
    "roc_curve",
    "tables",
    "threshold_table",
    "training",
    "uncertainty",
    "undo_class_weight",
    "undo_sampling",
    "utility",
    "value_of_information",
]


# Where each name lives: a room is imported when one of its names is first asked for.
_LIVES_IN = {
    "stakes._load": ["load"],
    "stakes.core.score_table": ["ScoreTable"],
    "stakes.correction": ["undo_class_weight", "undo_sampling"],
    "stakes.curves": [
        "net_benefit_curve",
        "precision_recall_curve",
        "regret_curve",
        "reliability_curve",
        "roc_curve",
        "threshold_table",
    ],
    "stakes.metrics._losses": ["decompose"],
    "stakes.evaluation": ["advise", "evaluate", "evaluate_frame"],
    "stakes.inference": ["compare", "metric_interval", "money"],
    "stakes.information": ["value_of_information"],
    "stakes.metrics": [
        "bounded_brier_loss",
        "bounded_log_loss",
        "expected_regret",
        "get_scorer",
        "net_benefit_score",
        "promised_regret",
    ],
    "stakes.outcomes": ["PartlyVerified", "RowCosts", "TimeToEvent"],
}
_ROOM_OF = {name: room for room, names in _LIVES_IN.items() for name in names}

_defer_import("draw", _partial(_import_module, "stakes.display"))
_defer_import("report", _partial(_import_module, "stakes.report"))


def __dir__() -> list[str]:
    return __all__


if not _TYPE_CHECKING:  # a type checker would take every name for known

    def __getattr__(name: str) -> "Any":
        if name in _ROOM_OF:
            value = getattr(_import_module(_ROOM_OF[name]), name)
        elif name in __all__:
            value = _import_module(f"{__name__}.{name}")
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

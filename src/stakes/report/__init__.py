"""The report: one HTML file that shows what acting on each model would cost, and needs no network."""

from functools import partial as _partial

from stakes.actions import ActionEvaluation as _ActionEvaluation
from stakes.evaluation import Evaluation as _Evaluation
from stakes.monitoring import CostMonitors as _CostMonitors
from stakes.outputs import hooks as _hooks
from stakes.report._drop_page import render_drop_page
from stakes.report._page import render_watch
from stakes.report._report import (
    deliver_report as _deliver_report,
    render_actions,
    render_amounts,
    render_report,
    write_report,
)

__all__ = ["render_actions", "render_amounts", "render_drop_page", "render_report", "render_watch", "write_report"]

_hooks.report.register(_Evaluation, _deliver_report)
_hooks.report.register(_ActionEvaluation, _partial(_deliver_report, render=render_actions))
_hooks.report.register(_CostMonitors, _partial(_deliver_report, render=render_watch))


def __dir__() -> list[str]:
    return __all__

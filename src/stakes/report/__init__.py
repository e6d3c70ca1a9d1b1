"""The report: one HTML file that shows what acting on each model would cost, and needs no network."""

from functools import partial as _partial

from stakes.actions import ActionEvaluation as _ActionEvaluation
from stakes.evaluation import Evaluation as _Evaluation
from stakes.report._actions import render_actions
from stakes.report._amounts import render_amounts
from stakes.report._report import render_report
from stakes.report._write import write_report
from stakes.shown.faces import report as _report

__all__ = ["render_actions", "render_amounts", "render_report", "write_report"]

_report.register(_Evaluation, write_report)
_report.register(_ActionEvaluation, _partial(write_report, render=render_actions))

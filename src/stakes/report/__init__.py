"""The report: one HTML file that shows what acting on each model would cost, and needs no network."""

from stakes.evaluation import Evaluation as _Evaluation
from stakes.report._report import render_report
from stakes.report._write import write_report
from stakes.shown.faces import report as _report

__all__ = ["render_report", "write_report"]

_report.register(_Evaluation, write_report)

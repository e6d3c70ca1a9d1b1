"""The report: one HTML file that shows what acting on each model would cost, and needs no network."""

from stakes.report._report import render_report
from stakes.report._write import write_report

__all__ = ["render_report", "write_report"]

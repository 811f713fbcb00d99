"""The report: one self-contained HTML page about the scores of answers."""

from ralph_grounding.report.data import ReportData, worst
from ralph_grounding.report.page import render_report

__all__ = ["ReportData", "render_report", "worst"]

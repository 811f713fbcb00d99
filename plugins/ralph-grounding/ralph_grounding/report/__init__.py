"""The report: one HTML page that needs nothing else, for people who want to see what answers are worth."""

from ralph_grounding.report.data import ReportData, worst
from ralph_grounding.report.page import render_report

__all__ = ["ReportData", "render_report", "worst"]

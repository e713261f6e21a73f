"""Reports: figures and self-contained pages."""

from anonhist.report.figures import k_plus_figure
from anonhist.report.page import Guessing, guessing_figure
from anonhist.report.shown import check_report_path, plot, write_report

__all__ = [
    "Guessing",
    "check_report_path",
    "guessing_figure",
    "k_plus_figure",
    "plot",
    "write_report",
]

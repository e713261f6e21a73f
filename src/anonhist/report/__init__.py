"""Reports: figures and one self-contained page."""

from anonhist.report.figures import guessing_figure, k_plus_figure, plot
from anonhist.report.page import write_report

__all__ = ["guessing_figure", "k_plus_figure", "plot", "write_report"]

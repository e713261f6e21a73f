"""What a notebook shows of a comparison: the errors that matter most, and how they fall with epsilon."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import spell_out
from anonhist.mechanisms import METRICS
from anonhist.mechanisms.comparison.rows import NOT_PRIVATE
from anonhist.privacy import short_decimal
from anonhist.report.comparison.figures import comparison_figure
from anonhist.report.comparison.wording import HOW_TO_READ, basis, cell, notes, units
from anonhist.report.notebook.cell import Cell

if TYPE_CHECKING:
    from anonhist.mechanisms import Comparison


def comparison_cell(comparison: Comparison) -> Cell:
    """Return the cell of a comparison: its first metric; tables have the others."""
    metric = METRICS[0]
    return Cell(
        title=f"{metric.title}, in {units()[metric.name]}",
        head=("mechanism", *(f"ε = {short_decimal(epsilon)}" for epsilon in comparison.epsilons)),
        rows=[
            (name, *(cell(comparison, name, epsilon, metric.name) for epsilon in comparison.epsilons))
            for name in comparison.mechanisms
        ],
        alarms=[NOT_PRIVATE],
        told=[("What was compared", basis(comparison)), ("How to read it", HOW_TO_READ)],
        folded=[("Note", spell_out(note)) for note in notes(comparison)],
        figure=lambda: comparison_figure(comparison, metric, legend=True),
    )

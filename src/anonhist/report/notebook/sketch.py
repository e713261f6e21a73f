"""What a notebook shows of a sketch: what it is and what it promises, nothing of its counters.

Notebooks are kept and sent around with what they show. Of two states of a sketch anybody can learn what was counted in
between, so its state is shown only by who asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.report.notebook.cell import Cell
from anonhist.report.sketch_wording import labels_text
from anonhist.report.wording import PROMISE_NAMES, promise_lines

if TYPE_CHECKING:
    from anonhist.sketches import Sketch


def sketch_cell(sketch: Sketch) -> Cell:
    """Return the cell of a sketch."""
    with sketch.turn:
        rows = [
            ("counters", f"{sketch.addresses.size:,}"),
            ("bytes of counters", f"{sketch.counters.nbytes:,}"),
            ("parts of the noise", f"{len(sketch.noise):,}"),
        ]
        told = labels_text(sketch)
        try:
            lines = promise_lines(sketch.guarantee)
        except UsageError as error:
            lines = [("Promise", f"none. {error}")]
    return Cell(
        title=f"Private sketch, protecting {sketch.unit}",
        head=(),
        rows=rows,
        alarms=[sentence for name, sentence in lines if name == PROMISE_NAMES[-1]],
        told=[("Sketch", told), *(line for line in lines if line[0] != PROMISE_NAMES[-1])],
    )

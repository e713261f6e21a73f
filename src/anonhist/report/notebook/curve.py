"""What a notebook shows of a curve: some of its points with their intervals, and the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.privacy import warning
from anonhist.report.curve.figures import curve_figure
from anonhist.report.curve.wording import (
    NOT_PRIVATE,
    band_name,
    facts,
    interval_text,
    notes,
    shown_points,
    value_text,
    view_of,
    x_text,
)
from anonhist.report.notebook.cell import Cell
from anonhist.report.wording import PROMISE_NAMES

if TYPE_CHECKING:
    from anonhist.properties.curve import Curve


def curve_cell(curve: Curve) -> Cell:
    """Return the cell of a curve."""
    alarm = NOT_PRIVATE if curve.guarantee is None else warning(curve.guarantee.epsilon)
    told = facts(curve)
    return Cell(
        title=view_of(curve).title,
        head=(curve.x_name, curve.value_name, band_name(curve)),
        rows=[(x_text(curve, at), value_text(curve, at), interval_text(curve, at)) for at in shown_points(curve)],
        alarms=[alarm] if alarm else [],
        told=[*(("Note", note) for note in notes(curve)), *(fact for fact in told if fact[0] in PROMISE_NAMES[:-1])],
        folded=[fact for fact in told if fact[0] not in PROMISE_NAMES],
        figure=lambda: curve_figure(curve),
    )

"""What a notebook shows of each kind of value: one line a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.catalogue import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.outward import Shown
    from anonhist.report.notebook.cell import Cell

# Where the cell of each kind of value is made, by the name it is known as: loaded for those alone who look at such.
CELLS = {
    "release": ".report.notebook.cells:release_cell",
    "groups": ".report.notebook.groups:groups_cell",
    "windows": ".report.notebook.windows:windows_cell",
    "windows of groups": ".report.notebook.windows:grouped_windows_cell",
    "estimate": ".report.notebook.cells:estimate_cell",
    "estimates": ".report.notebook.cells:estimates_cell",
    "curve": ".report.notebook.cells:curve_cell",
    "comparison": ".report.notebook.cells:comparison_cell",
    "balance": ".report.notebook.budget:balance_cell",
    "survey": ".report.notebook.local:survey_cell",
    "tally": ".report.notebook.local:tally_cell",
    "frequencies": ".report.notebook.local:frequencies_cell",
    "sketch": ".report.notebook.cells:sketch_cell",
}


def html_of(value: Shown) -> str:
    """Return what a notebook shows of a value.

    Examples
    --------
    >>> from anonhist.local import KRR
    >>> html_of(KRR(alphabet=["<b>", "c"], epsilon=1))[:22]
    '<div class="anonhist">'
    """
    cell: Callable[[Shown], Cell] = load(CELLS[value.known_as])
    return cell(value).html()

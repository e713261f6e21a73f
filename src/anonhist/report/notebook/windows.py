"""What a notebook shows of a release of cumulative windows."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from anonhist.privacy import short_decimal
from anonhist.report.groups.wording import names_of
from anonhist.report.notebook.cell import Cell
from anonhist.report.remarks import bound_of
from anonhist.report.windows.figures import windows_figure
from anonhist.report.windows.wording import cells_of, heads_of, shown_days, told_of, told_of_groups
from anonhist.report.wording import many, promise_of

if TYPE_CHECKING:
    from anonhist.releases.cumulative import CumulativeRelease, GroupedCumulativeRelease

_ROWS, _GROUPS = 10, 20


def windows_cell(release: CumulativeRelease) -> Cell:
    """Return the cell of a release of cumulative windows: some days, and the curves."""
    alarms, promise = promise_of(release.guarantee)
    return Cell(
        title=f"Private release of {told_of(release)}, ε = {short_decimal(release.guarantee.epsilon)}, protecting "
        f"{release.guarantee.unit}",
        head=heads_of(release),
        rows=[(day, *cells_of(release, day)) for day in shown_days(release, _ROWS)],
        alarms=alarms,
        told=[*promise, *bound_of(release)],
        folded=[("Mechanism", f"{release.mechanism.name}. {release.reason}")],
        figure=lambda: windows_figure(release),
    )


def grouped_windows_cell(release: GroupedCumulativeRelease) -> Cell:
    """Return the cell of a release of cumulative windows of groups: the last day of the first groups."""
    alarms, promise = promise_of(release.guarantee)
    last, left = release.days[-1], len(release) - _GROUPS
    more = [("More", f"{many(left, 'more group')}, in the table of to_pandas().")] if left > 0 else []
    return Cell(
        title=f"Private release of {told_of_groups(release)}, ε = {short_decimal(release.guarantee.epsilon)}, "
        f"protecting {release.guarantee.unit}; here by the end of {last}",
        head=[*release.by, *heads_of(release.first)[1:]],
        rows=[(*names_of(group), *cells_of(each, last)) for group, each in islice(release.items(), _GROUPS)],
        alarms=alarms,
        told=[*more, *promise, *bound_of(release)],
        folded=[("Mechanism", f"{release.mechanism.name}. {release.first.reason}")],
    )

"""What a notebook shows of a release of groups."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.privacy import short_decimal
from anonhist.report.groups.active import active_person
from anonhist.report.groups.wording import how_added, how_found, row_names
from anonhist.report.notebook.cell import Cell
from anonhist.report.remarks import bound_of
from anonhist.report.wording import interval, many, no_intervals, promise_of

if TYPE_CHECKING:
    from anonhist.properties.estimate import Estimate
    from anonhist.releases import Release
    from anonhist.releases.grouped import GroupedRelease

_ROWS = 20


def groups_cell(release: GroupedRelease) -> Cell:
    """Return the cell of a release of groups: the first of them, whose errors are computed if they have not been."""
    alarms, promise = promise_of(release.guarantee)
    shown = {group: _with_error(each) for group, each in islice(release.everything.items(), _ROWS)}
    first = next(iter(shown.values()))
    words = first.words
    found, added = how_found(release), how_added(release)
    left = len(release.everything) - len(shown)
    more = [("More", f"{many(left, 'more group')}, in the table of to_pandas().")] if left else []
    return Cell(
        title=f"Private release of {many(len(release), 'group')} by {', '.join(release.by)}, "
        f"ε = {short_decimal(release.guarantee.epsilon)}, protecting {release.guarantee.unit}",
        head=(*release.by, words.total, "95 % interval", words.labels, "95 % interval"),
        rows=[
            (
                *row_names(group, release),
                *(text for found in (each.num_items(), each.k_plus(1)) for text in _told(found)),
            )
            for group, each in shown.items()
        ],
        alarms=alarms,
        told=[
            *more,
            *promise,
            *bound_of(release),
            *([("Groups", found)] if found else []),
            *([("Totals", added)] if added else []),
        ],
        folded=[
            ("Mechanism", f"{release.mechanism.name}. {release.reason}"),
            *(("Note", each) for each in (no_intervals(first.error), active_person(release)) if each),
        ],
    )


def _told(found: Estimate) -> tuple[str, str]:
    return f"{found.value:,.0f}", interval(*found.interval)


def _with_error(release: Release) -> Release:
    try:
        _ = release.error
    except DataError:
        # Profiles that no memory holds are not simulated; they are shown all the same.
        return replace(release, simulations=0)
    return release

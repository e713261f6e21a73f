"""What a notebook shows of a release: what was promised, how many labels there are, and how far off that may be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.privacy import short_decimal, warning
from anonhist.report.kinds import view_of
from anonhist.report.notebook.cell import Cell
from anonhist.report.summary import facts, rows
from anonhist.report.wording import interval

if TYPE_CHECKING:
    from anonhist.releases import Release

_FIRST = ("Released", "Promise", "Protection", "Towards a party", "Bound")


def release_cell(release: Release) -> Cell:
    """Return the cell of a release, whose error is computed first if it has not been yet: as a page does."""
    said = warning(release.guarantee.epsilon)
    alarms = [said] if said else []
    try:
        _ = release.error
    except DataError as error:
        # Profiles that no memory holds are not simulated; they are shown all the same.
        release, alarms = replace(release, simulations=0), [*alarms, str(error)]
    told = [fact for fact in facts(release) if fact[0] in _FIRST]
    return Cell(
        title=f"Private release by {release.mechanism.name}, ε = {short_decimal(release.guarantee.epsilon)}, "
        f"protecting {release.guarantee.unit}",
        head=("", "released", "95 % interval"),
        rows=[(name, f"{found.value:,.0f}", interval(*found.interval)) for name, found in rows(release)],
        alarms=alarms,
        told=told,
        folded=[fact for fact in facts(release) if fact[0] not in (*_FIRST, "Warning")],
        figure=lambda: view_of(release).figure(release),
    )

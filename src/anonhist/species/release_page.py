"""A private release of incidence frequencies as a table, as sentences and as a notebook cell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.properties.estimate import Holds
from anonhist.report.notebook import Cell
from anonhist.report.page import how_made
from anonhist.report.wording import number_and_ends, promise_lines

if TYPE_CHECKING:
    from anonhist.species.releasing import IncidenceRelease

HEADS = ("number of", "released", "95% interval")
_TOO_HIGH = "some species are in more units than there are, by noise; estimates take them for species in all units."
_LEVELS = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def incidence_rows(made: IncidenceRelease) -> list[tuple[str, str, str]]:
    """Return a row for the number of units, some for the species found, and one for all species, if it is known."""
    release = made.release
    found = [
        ("species found" if k == 1 else f"species found in at least {k:,} units", release.k_plus(k))
        for k in _LEVELS
        if k == 1 or (k <= made.sampling_units and release.profile.k_plus(k))
    ]
    rows = [("sampling units", f"{made.sampling_units:,}", _units_interval(made))]
    rows += [(name, *number_and_ends(estimate)) for name, estimate in found]
    try:
        every = made.species_richness()
    except DataError:
        return rows
    ends = f"at least {every.interval[0]:,.0f}" if every.statement.holds is Holds.AT_LEAST else "none"
    return [*rows, ("species, also those not found", f"{every.value:,.0f}", ends)]


def _units_interval(made: IncidenceRelease) -> str:
    """Return the interval of T, whose noise X has ``P(|X| > h) = 2q^(h+1)/(1 + q)`` with ``q = e^(−ε)``."""
    if made.units_epsilon is None:
        return "exact: it is public"
    rate = float(made.units_epsilon)
    reach = max(math.ceil(math.log(2 / (0.05 * (1 + math.exp(-rate)))) / rate) - 1, 0)
    return f"{max(made.sampling_units - reach, 0):,} to {made.sampling_units + reach:,}"


def incidence_facts(made: IncidenceRelease) -> list[tuple[str, str]]:
    """Return names and sentences: what was promised and done."""
    bound = f"{made.guarantee.unit.bound:,}"
    return [
        *promise_lines(made.guarantee),
        (
            "Bound",
            f"each sampling unit keeps at most {bound} of its species, chosen at random; no interval covers that.",
        ),
        ("All species", "by Chao2, bias-corrected; what it is at least allows for sampling and privacy noise."),
        *([("Noise", _TOO_HIGH)] if made.frequencies.profile != made.release.profile else []),
        *how_made(made.release),
    ]


def incidence_cell(made: IncidenceRelease) -> Cell:
    """Return the notebook cell."""
    made = made.with_error()
    told = incidence_facts(made)
    return Cell(
        title="Species by sampling units, released privately",
        head=HEADS,
        rows=incidence_rows(made),
        told=told[:2],
        folded=told[2:],
    )

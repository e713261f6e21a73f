"""All entrances and sources, and cases in which each pair of choices occurs at least once."""

from __future__ import annotations

from itertools import count, product
from typing import TYPE_CHECKING

from anonhist_testing.way_in.command_line import COMMANDS
from anonhist_testing.way_in.databases import DATABASES
from anonhist_testing.way_in.edge_files import OF_EDGES
from anonhist_testing.way_in.entrances import CUMULATIVE, GROUPS, PROFILES
from anonhist_testing.way_in.judging import Case
from anonhist_testing.way_in.other_entrances import COUNTED, EDGES, FOUND, PARTS, REPORTS, SKETCHES, SPECIES
from anonhist_testing.way_in.sources import IN_FILES, IN_MEMORY
from anonhist_testing.way_in.values import BEGINNINGS, ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist_testing.way_in.entrances import Entrance
    from anonhist_testing.way_in.sources import Source

ENTRANCES = (
    *(*PROFILES, *GROUPS, *CUMULATIVE, *EDGES, *SKETCHES, *COUNTED, *PARTS, *FOUND, *REPORTS, *SPECIES),
    *COMMANDS,
)
#: The sources that need no server and no virtual machine.
SOURCES = (*IN_FILES, *IN_MEMORY, *DATABASES, *OF_EDGES)
# Of two sources that are read in the same way, an entrance is tried with one, and the next entrance with the other.
_ALIKE = (("csv", "tsv"), ("sqlite", "sqlite of ibis"), ("arrow", "duckdb relation"))


def pairwise(entrances: Iterable[Entrance] = ENTRANCES, sources: Iterable[Source] = SOURCES) -> list[Case]:
    """Return one case for each entrance and source, the same cases at every call.

    Of sources that are read in the same way, one has a case.

    Beginnings and endings take turns, so that all pairs of them occur; a source that cannot hold a beginning begins
    with missing values instead.

    Examples
    --------
    >>> case = pairwise()[0]
    >>> case.entrance.name, case.source.name, case.beginning, case.ending
    ('profile', 'tsv', 'missing', 'numbers and their text')
    """
    both = list(product(BEGINNINGS, ENDINGS))
    both.sort(key=lambda pair: (list(ENDINGS).index(pair[1]) - list(BEGINNINGS).index(pair[0])) % len(ENDINGS))
    cells = [
        (entrance, source)
        for place, entrance in enumerate(entrances)
        for source in sources
        if entrance.takes(source) and not any(source.name == alike[place % 2] for alike in _ALIKE)
    ]
    return [
        Case(number, entrance, source, *both[number % len(both)])
        for number, (entrance, source) in zip(count(), cells, strict=False)
    ]

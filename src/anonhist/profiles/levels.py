"""Levels of groups: those of fewer grouping columns, up to everything together, beside those of all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.catalogue.levels import Levels
from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.profiles.grouped import Group


def parse_levels(given: str | Levels | None) -> Levels | None:
    """Return the levels that a name asks for; None for none.

    Raises
    ------
    UsageError
        If there is no such name.

    Examples
    --------
    >>> parse_levels("crossing")
    <Levels.CROSSING: 'crossing'>
    """
    if given is None or isinstance(given, Levels):
        return given
    known = {each.value: each for each in Levels}
    if not isinstance(given, str) or given not in known:
        raise UsageError(f"`levels` must be {' or '.join(map(repr, known))}, not {given!r:.80}.")
    return known[given]


def prefixes_of(groups: Iterable[Group]) -> list[Group]:
    """Return the first names of groups, from none to all but the last: everything first, each level in order.

    Examples
    --------
    >>> prefixes_of([("CA", "Kings"), ("CA", "Napa"), ("NV", "Elko")])
    [(), ('CA',), ('NV',)]
    """
    known = list(groups)
    return [prefix for depth in range(len(known[0])) for prefix in dict.fromkeys(group[:depth] for group in known)]

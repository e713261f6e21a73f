"""Levels of groups: those of fewer grouping columns, up to everything together, beside those of all columns."""

from __future__ import annotations

from enum import Enum


class Levels(Enum):
    """What a total of groups counts.

    ``NESTED``: a label of one group is another than the same label of a second group, as households of two counties
    are. Totals are sums of the released groups: they cost nothing, and all levels agree.

    ``CROSSING``: a label is the same in all groups, as a query that is typed in many countries. A sum over groups would
    count it several times, so each level is released on its own, with a share of the budget.

    Examples
    --------
    >>> Levels("nested")
    <Levels.NESTED: 'nested'>
    """

    NESTED = "nested"
    CROSSING = "crossing"

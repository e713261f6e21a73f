"""Limits of estimates from a release, because the data were bounded before noise was added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.properties.statement import Holds, Statement

if TYPE_CHECKING:
    from anonhist.privacy import PrivacyUnit


def truncation_reason(unit: PrivacyUnit) -> Statement | None:
    """Return why estimates that depend on large counts have no interval in a release for this unit; None if they may.

    Label privacy caps counts, and node privacy removes edges until no node has too many. Both affect the most frequent
    labels most, so entropies are too large and the shares of frequent labels too small. By how much is unknown, so no
    interval covers it.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> truncation_reason(PrivacyUnit.label(max_count=20)).reason
    'counts of 20 or more were merged, so the value is that of capped counts'
    >>> truncation_reason(PrivacyUnit.item()) is None
    True
    """
    if unit.needs_bounded_degrees:
        return Statement(
            Holds.NONE, "edges of nodes with too many were left out, so the value is that of the remaining graph"
        )
    if unit.max_count is not None:
        return Statement(
            Holds.NONE, f"counts of {unit.max_count:,} or more were merged, so the value is that of capped counts"
        )
    return None


def assumption(unit: PrivacyUnit) -> str:
    """Return what every estimate from a release for this unit assumes about its bound; empty if it has none.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> assumption(PrivacyUnit.user(max_items=2))
    'the items of a user beyond 2, which were left out, are like the others'
    """
    if unit.max_items is None:
        return ""
    return f"the items of a user beyond {unit.max_items:,}, which were left out, are like the others"

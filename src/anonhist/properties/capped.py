"""Releases that take large counts together, because labels are protected: what can still be said of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.errors import UsageError
from anonhist.properties.statement import Holds, Statement

if TYPE_CHECKING:
    from anonhist.privacy import Guarantee


@runtime_checkable
class HoldsOfCapped(Protocol):
    """An interval that rests on the number of labels alone, so it holds of capped counts, too."""

    @property
    def holds_of_capped(self) -> bool:
        """Always true."""


def cap_of(guarantee: Guarantee | None) -> int | None:
    """Return the count from which on a release takes counts together; None where it takes each for itself."""
    return guarantee.unit.bound if guarantee is not None and guarantee.unit.kind == "label" else None


def of_capped(cap: int) -> Statement:
    """Return what is said of a property of capped counts: it may be on either side of the truth, by any amount.

    Examples
    --------
    >>> of_capped(10).reason
    'counts of 10 or more are taken together, so the frequent labels count too little'
    """
    why = f"counts of {cap:,} or more are taken together, so the frequent labels count too little"
    return Statement(Holds.NONE, why)


def refuse_capped(guarantee: Guarantee | None, what: str) -> None:
    """Refuse what would be false of capped counts.

    Raises
    ------
    UsageError
        If large counts were taken together.
    """
    if (cap := cap_of(guarantee)) is not None:
        message = f"Counts of {cap:,} or more are taken together in this release: {what} needs each for itself."
        raise UsageError(message)

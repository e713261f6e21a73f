"""Which sketches can be merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.privacy import NeighboringRelation, PrivacyUnit
    from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
    from anonhist.sketches.noise import NoiseComponent
    from anonhist.sketches.promise import UsersIn


class Mergeable(Protocol):
    """The public properties of a sketch that determine what it can be merged with."""

    addresses: HashedAddresses | DomainAddresses
    unit: PrivacyUnit
    relation: NeighboringRelation
    users_in: UsersIn
    noise: tuple[NoiseComponent, ...]
    clipped: int | None


def check_mergeable(one: Mergeable, other: Mergeable) -> None:
    """Refuse sketches whose sum would not be a sketch with independent noise; see :meth:`Sketch.merge`."""
    if one.addresses != other.addresses:
        raise UsageError(
            "Only sketches with the same domain, or with the same key and number of buckets, can be merged."
        )
    if (one.unit, one.relation) != (other.unit, other.relation):
        raise UsageError("Only sketches that protect the same unit can be merged.")
    if one.users_in is not other.users_in:
        raise UsageError("Only sketches with the same `users_in` can be merged.")
    if one.clipped is not None or other.clipped is not None:
        raise UsageError("A clipped sketch cannot be merged before it is unfolded.")
    if {part.identity for part in one.noise} & {part.identity for part in other.noise}:
        raise UsageError("These sketches share noise: one already contains the other or a copy of it.")

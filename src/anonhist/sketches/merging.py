"""Two sketches become one: counters and noise add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from anonhist.sketches.sketch import Sketch


def check_mergeable(one: Sketch, other: Sketch) -> None:
    """Refuse sketches whose sum would not be a sketch with independent noise; see :meth:`Sketch.merge`."""
    if type(one) is not type(other) or one.addresses != other.addresses:
        raise UsageError("Only sketches of one domain, or with one key and as many buckets, can be merged.")
    if (one.unit, one.relation) != (other.unit, other.relation):
        raise UsageError("Only sketches that protect the same unit can be merged.")
    if one.clipped is not None or other.clipped is not None:
        raise UsageError("A clipped sketch cannot be merged before it is unfolded.")
    if {part.identity for part in one.noise} & {part.identity for part in other.noise}:
        raise UsageError("These sketches share noise: one holds the other, or a copy of it, already.")


def merged(one: Sketch, other: Sketch) -> Sketch:
    """Return the sum of two sketches, a new sketch."""
    check_mergeable(one, other)
    # 2^62 and 2^62 wrap around to −2^63, which the range of counters leaves out too.
    return one.from_parts(
        one.addresses,
        unit=one.unit,
        relation=one.relation,
        noise=(*one.noise, *other.noise),
        counters=one.counters + other.counters,
    )

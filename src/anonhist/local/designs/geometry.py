"""The projective space that is large enough for an alphabet, and the field with the lowest error."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, SupportsIndex

from anonhist.numeric.projective_space import ProjectiveSpace, prime_at_least, prime_at_most
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from fractions import Fraction

LARGEST_FIELD = (1 << 31) - 1
# A space with more points than this, and than twice the values, is used only on request.
MANY_POINTS = 1 << 27


def space_for(field: SupportsIndex, size: int) -> ProjectiveSpace:
    """Return the smallest space over a field with at least this many points.

    Raises
    ------
    UsageError
        If the field is not a prime from 2 to 2³¹ − 1, or F^t is 2⁶² or more.
    """
    prime = parse_whole_number(field, name="field", least=2, most=LARGEST_FIELD)
    return ProjectiveSpace(prime, _length(prime, size))


def best_field(size: int, epsilon: Fraction) -> int:
    """Return the field with the lowest error of projective geometry: one near e^ε + 1, or one with few spare points."""
    aim = int(min(math.exp(epsilon) + 1, LARGEST_FIELD))
    below, above = prime_at_most(aim), prime_at_least(aim + 1)
    near = {2, below, prime_at_most(max(2, below - 1)), above, prime_at_least(above + 1)}
    # For each vector length, the first field that is large enough for all values.
    near |= {prime_at_least(_least_field(size, length)) for length in range(2, size.bit_length() + 2)}
    possible = [field for field in near if field <= LARGEST_FIELD and field ** _length(field, size) < 1 << 62]
    spaces = [space_for(field, size) for field in sorted(possible)]
    few = [space for space in spaces if space.points <= max(MANY_POINTS, 2 * size)]
    return min(few, key=lambda space: _variance(space, math.expm1(epsilon))).field


def _length(field: int, size: int) -> int:
    """Return the smallest t ≥ 2 with (F^t − 1)/(F − 1) ≥ size."""
    length, points = 2, field + 1
    while points < size:
        length, points = length + 1, field * points + 1
    return length


def _least_field(size: int, length: int) -> int:
    """Return the smallest F ≥ 2, prime or not, with (F^t − 1)/(F − 1) ≥ size."""
    field = max(2, int(size ** (1 / (length - 1))) - 2)
    while (field**length - 1) // (field - 1) < size:
        field += 1
    return field


def _variance(space: ProjectiveSpace, gain: float) -> float:
    """Return n times the variance of a value that nobody has, given e^ε − 1."""
    base = 1 / (gain * space.support + space.points)
    q = (gain * space.num_shared + space.support) * base
    return q * (1 - q) / (gain * (space.support - space.num_shared) * base) ** 2

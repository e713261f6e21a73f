"""Hybrid projective geometry response: blocks of values, a small projective space each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from anonhist.local.designs.block_design import BlockDesign
from anonhist.local.designs.block_law import BlockLaw
from anonhist.local.designs.geometry import space_for
from anonhist.local.randomizers.blocks import BlockSurvey
from anonhist.numeric.primes import prime_at_most
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from fractions import Fraction

# With five elements the variance is about 25 % above that of the best field; with two it would be twice as large.
_FIELD = 5


@dataclass(frozen=True, kw_only=True)
class HybridProjectiveGeometry(BlockSurvey):
    """Hybrid projective geometry response: B blocks, each a projective space over a small field of F elements.

    Value x is point ``x mod b`` of block ``⌊x/b⌋``, b points a block, numbered as :class:`ProjectiveSpace` says. The
    points of its block that support it are e^ε times as likely as all others. With ``B ≈ (e^ε + 1)/F`` the variance
    is about ``1 + 1/(F − 1)`` times that of projective geometry. Spaces have little room to spare and are quick to
    decode.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        What a report costs.
    field
        F, a prime; by default 5, or the largest prime ≤ e^ε + 1 if that is smaller.
    blocks
        B, from 1 to k; by default what errs least on average. Each has the smallest space with ``B·b ≥ k``.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If F is no prime, or so large that F^t ≥ 2^62, or B is out of range.

    References
    ----------
    Feldman, Nelson, Nguyen, Talwar 2022, "Private Frequency Estimation via Projective Geometry", §4.

    Examples
    --------
    >>> survey = HybridProjectiveGeometry(alphabet=22_000, epsilon=5, blocks=30)
    >>> survey.field, survey.cells, round(1000 * survey.variance(), 2)
    (5, 23430, 34.73)
    """

    decode_cost: ClassVar[str] = "n + K"
    name: ClassVar[str] = "hybrid-projective-geometry"
    field: int | None = None
    blocks: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        aim = math.exp(cast("Fraction", self.epsilon)) + 1
        field = prime_at_most(int(min(_FIELD, aim))) if self.field is None else self.field
        if self.blocks is None:
            blocks = min(sorted(self._filled(field)), key=lambda number: self._mean_variance(field, number))
        else:
            blocks = parse_whole_number(self.blocks, name="blocks", most=self.size)
        object.__setattr__(self, "field", space_for(field, -(-self.size // blocks)).field)
        object.__setattr__(self, "blocks", blocks)

    @property
    def parameters(self) -> dict[str, Any]:
        """The alphabet, F and B, as JSON values."""
        return super().parameters | {"field": self.field, "blocks": self.blocks}

    @cached_property
    def block_design(self) -> BlockDesign:
        """The B spaces."""
        return self._with(cast("int", self.field), cast("int", self.blocks))

    def _with(self, field: int, blocks: int) -> BlockDesign:
        return BlockDesign(space_for(field, -(-self.size // blocks)), blocks)

    def _mean_variance(self, field: int, blocks: int) -> float:
        return BlockLaw(self._with(field, blocks), self.size, cast("Fraction", self.epsilon)).mean_variance

    def _filled(self, field: int) -> set[int]:
        """Return the numbers of blocks that spaces of each size fill; with more, some would be empty."""
        found, points = set(), space_for(field, 2).points
        while points < field * self.size:
            found.add(-(-self.size // points))
            points = field * points + 1
        return found

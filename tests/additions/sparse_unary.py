"""A randomizer as docs/extending.md adds one: unary encoding whose bits are rarely set, by a parameter of its own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, SupportsIndex

from anonhist.frozen import Converted, frozen, named
from anonhist.local.randomizers.unary import UnarySurvey
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from anonhist.numeric import ExponentialQuotient


@frozen(kw_only=True)
class SparseUnary(UnarySurvey):
    """Unary encoding with ``p = 1/(1 + w)`` and ``q = 1/(1 + w·e^ε)``."""

    name: ClassVar[str] = "sparse-unary"
    decode_cost: ClassVar[str] = "n·k"
    weight: Converted[SupportsIndex, int] = named(parse_whole_number, default=2)

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + w)``."""
        return self.odds / ((1 + self.weight) * self.odds)

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(1 + w·e^ε)``."""
        return 1 / (self.weight * self.odds + 1)

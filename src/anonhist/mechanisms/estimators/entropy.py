"""Private entropy: plug-in, Miller–Madow or best polynomial, with noise (INSPECTRE, with exact sensitivities)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.mechanisms.estimators.mechanism import StatisticMechanism
from anonhist.properties.entropy.plug_in import plug_in_statistic

if TYPE_CHECKING:
    from anonhist.properties import LinearStatistic

PRIVATE_ENTROPY_METHODS = ("plug-in",)


@dataclass(frozen=True)
class EntropyMechanism(StatisticMechanism):
    """x."""

    quantity: ClassVar[str] = "the entropy"
    counted: ClassVar[str] = "nats"

    _: KW_ONLY
    method: str = "plug-in"
    alphabet_size: int | None = None

    @property
    def assumes(self) -> str:
        """What must be so for the interval to hold."""
        return ""

    def statistic(self, items: int) -> LinearStatistic:
        """Return the weights, in nats."""
        return plug_in_statistic(items)

    def ends(self, items: int) -> tuple[float, float]:
        """Return 0 and ln k."""
        del items
        return 0.0, math.inf

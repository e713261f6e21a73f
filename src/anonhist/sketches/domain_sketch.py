"""A sketch of labels that are known beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.privacy import NeighboringRelation
from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses
from anonhist.sketches.sketch import Sketch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.privacy import EpsilonLike, PrivacyUnit
    from anonhist.randomness import RandomSource


class DomainSketch(Sketch):
    """A sketch of labels that are known beforehand: a counter for each, or for each of a sample."""

    def __init__(
        self,
        *,
        labels: Iterable[str],
        epsilon: EpsilonLike,
        key: bytes = LISTED_KEY,
        sample_share: EpsilonLike = 1,
        unit: PrivacyUnit | None = None,
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
        source: RandomSource | None = None,
    ) -> None:
        addresses = DomainAddresses.of(labels, key=key, sample_share=sample_share)
        super().__init__(addresses, epsilon=epsilon, unit=unit, relation=relation, source=source)

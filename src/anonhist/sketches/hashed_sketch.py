"""A sketch of labels that nobody can list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.privacy import NeighboringRelation
from anonhist.sketches.addresses import HashedAddresses
from anonhist.sketches.sketch import Sketch

if TYPE_CHECKING:
    from anonhist.privacy import EpsilonLike, PrivacyUnit
    from anonhist.randomness import RandomSource


class HashedSketch(Sketch):
    """A sketch of labels that nobody can list: thrown into buckets by their hash."""

    def __init__(
        self,
        *,
        buckets: int,
        epsilon: EpsilonLike,
        key: bytes,
        sample_share: EpsilonLike = 1,
        unit: PrivacyUnit | None = None,
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
        source: RandomSource | None = None,
    ) -> None:
        addresses = HashedAddresses(buckets, key, sample_share)  # type: ignore[arg-type]  # read exactly there
        super().__init__(addresses, epsilon=epsilon, unit=unit, relation=relation, source=source)

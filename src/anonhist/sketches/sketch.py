"""The sketch: an array of counters, private from its first moment, that is updated, merged and read back."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.keyed_hash import keyed_hash
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon
from anonhist.randomness import SystemSource, discrete_laplace
from anonhist.releases import DEFAULT_SIMULATIONS
from anonhist.sketches.addresses import UNKNOWN, DomainAddresses, HashedAddresses
from anonhist.sketches.noise import NoiseComponent, NoiseLaw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from anonhist.privacy import EpsilonLike
    from anonhist.randomness import RandomSource
    from anonhist.releases import Release
    from anonhist.sketches.decoding.decoder import Decoder

ARITHMETIC = "noise is exact and added to whole numbers, so floating point costs nothing"
# Counters stay this far from the ends of int64.
LARGEST_COUNTER = 2**62
# So many labels are hashed and added at a time.
_CHUNK = 1 << 16


class Sketch:
    """Counters with exact discrete Laplace noise from the start.

    Make one with :class:`~anonhist.sketches.HashedSketch` or :class:`~anonhist.sketches.DomainSketch`.

    Attributes
    ----------
    addresses
        Which counter a label has.
    unit, relation
        Whom the noise protects, and between which data sets.
    noise : tuple of NoiseComponent
        What the noise consists of: one part for each sketch that was merged.
    counters : ndarray of int64, shape (addresses.size,)
        Noisy counts; never clipped.
    """

    addresses: HashedAddresses | DomainAddresses
    unit: PrivacyUnit
    relation: NeighboringRelation
    noise: tuple[NoiseComponent, ...]
    counters: NDArray[np.int64]

    def __init__(
        self,
        addresses: HashedAddresses | DomainAddresses,
        *,
        epsilon: EpsilonLike,
        unit: PrivacyUnit | None,
        relation: NeighboringRelation,
        source: RandomSource | None,
    ) -> None:
        """Begin a sketch of no data, its noise freshly drawn."""
        entropy = source or SystemSource()
        protected = _checked_unit(unit or PrivacyUnit.item())
        gamma = parse_epsilon(epsilon) / (protected.max_distance * relation.steps)
        identity = entropy.words(2).astype("<u8").tobytes().hex()
        counters = discrete_laplace(gamma, addresses.size, source=entropy)
        self._set(addresses, protected, relation, [NoiseComponent(identity, gamma)], counters)

    @classmethod
    def from_parts(
        cls,
        addresses: HashedAddresses | DomainAddresses,
        *,
        unit: PrivacyUnit,
        relation: NeighboringRelation,
        noise: Iterable[NoiseComponent],
        counters: NDArray[np.int64],
    ) -> Sketch:
        """Put a sketch together from what was kept of it; what it is follows from its addresses."""
        from anonhist.sketches.domain_sketch import DomainSketch
        from anonhist.sketches.hashed_sketch import HashedSketch

        kind = HashedSketch if isinstance(addresses, HashedAddresses) else DomainSketch
        sketch: Sketch = object.__new__(kind)
        sketch._set(addresses, _checked_unit(unit), relation, noise, counters)
        return sketch

    def _set(
        self,
        addresses: HashedAddresses | DomainAddresses,
        unit: PrivacyUnit,
        relation: NeighboringRelation,
        noise: Iterable[NoiseComponent],
        counters: NDArray[np.int64],
    ) -> None:
        self.addresses, self.unit, self.relation = addresses, unit, relation
        self.noise = tuple(sorted(noise))
        self.counters = counters
        if not self.noise or len({part.identity for part in self.noise}) < len(self.noise):
            raise DataError("A sketch has one part of noise at least, and no part twice.")
        if counters.dtype != np.int64 or counters.shape != (addresses.size,):
            raise DataError("A sketch has one counter, a 64-bit whole number, for each of its addresses.")

    @property
    def law(self) -> NoiseLaw:
        """The law of the noise on one counter."""
        return NoiseLaw.of(self.noise)

    @property
    def guarantee(self) -> Guarantee:
        """What this sketch, and whatever is made of it, promises."""
        steps = self.unit.max_distance * self.relation.steps
        return Guarantee(
            self.unit, self.relation, max(part.gamma for part in self.noise) * steps, Fraction(0), ARITHMETIC
        )

    def update(self, labels: Iterable[str], counts: ArrayLike | None = None, *, ignore_unknown: bool = False) -> None:
        """Count labels, as many and as long a stream as there are."""
        if isinstance(labels, str):
            raise UsageError("update takes a list of labels, one for each item; put a single label into a list.")
        if counts is not None:
            listed = list(labels)
            weights = np.asarray(counts)
            self.add(self._addresses(listed, ignore_unknown=ignore_unknown), weights)
            return
        stream = iter(labels)
        while chunk := list(islice(stream, _CHUNK)):
            self.add(self._addresses(chunk, ignore_unknown=ignore_unknown))

    def add(self, addresses: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> None:
        """Add to counters by their address; addresses below zero are left out."""
        kept = addresses >= 0
        added = np.zeros_like(self.counters)
        np.add.at(added, addresses[kept], 1 if counts is None else counts[kept])
        self.counters += added

    def reconstruct(self, method: str | Decoder | None = None, *, simulations: int = DEFAULT_SIMULATIONS) -> Release:
        """Return the profile of what was counted, as a release: post-processing, as often as one likes."""
        from anonhist.sketches.reconstruction import reconstruct

        return reconstruct(self, method, simulations=simulations)

    def _addresses(self, labels: Sequence[str], *, ignore_unknown: bool) -> NDArray[np.int64]:
        places = self.addresses.of_hashes(keyed_hash(labels, key=self.addresses.key))
        if not ignore_unknown and bool((places == UNKNOWN).any()):
            raise DataError(
                "A label is not in the sketch's domain; add it to a new sketch's domain, or ignore what is unknown."
            )
        return places

    def merge(self, other: Sketch) -> None:
        """Add another sketch of other items: its counts, and its noise."""
        if not isinstance(other, Sketch) or self.addresses != other.addresses:
            raise UsageError("Only sketches of one domain, or with one key and as many buckets, can be merged.")
        if (self.unit, self.relation) != (other.unit, other.relation):
            raise UsageError("Only sketches that protect the same unit can be merged.")
        if {part.identity for part in self.noise} & {part.identity for part in other.noise}:
            raise UsageError("These sketches share noise: one holds the other, or a copy of it, already.")
        self.counters = self.counters + other.counters
        self.noise = tuple(sorted((*self.noise, *other.noise)))


def _checked_unit(unit: object) -> PrivacyUnit:
    """Refuse a unit that a sketch cannot protect."""
    if not isinstance(unit, PrivacyUnit):
        message = f"unit must be a PrivacyUnit, such as PrivacyUnit.user(max_items=5), not {unit!r:.80}."
        raise UsageError(message)
    if unit.kind == "label":
        raise UsageError("A sketch protects items or users; it cannot cap counts, which protecting labels would need.")
    return unit

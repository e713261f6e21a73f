"""Sketches of the parts of one table, each with noise of its own, that are merged into a sketch that exists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.errors import UsageError
from anonhist.randomness import RandomSource, SystemSource, discrete_laplace
from anonhist.sketches.changes import check_unclipped
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.sketch import Sketch

if TYPE_CHECKING:
    from fractions import Fraction

    import numpy as np
    from numpy.typing import NDArray

    from anonhist.privacy import NeighboringRelation, PrivacyUnit
    from anonhist.sketches.addresses import DomainAddresses, HashedAddresses


@dataclass(frozen=True)
class PartialSketches:
    """What the sketches of parts have in common: public values, and nothing of the state of a sketch; see :meth:`of`.

    Attributes
    ----------
    addresses, unit, relation, users_in
        Those of the sketch that they will be merged into.
    gamma
        The rate of the noise of each, the largest in that sketch: its epsilon stays as it is.
    """

    addresses: HashedAddresses | DomainAddresses
    unit: PrivacyUnit
    relation: NeighboringRelation
    users_in: UsersIn
    gamma: Fraction

    @classmethod
    def of(cls, sketch: Sketch) -> PartialSketches:
        """Return what sketches must have in common with one to be merged into it, or refuse one that cannot have parts.

        Raises
        ------
        UsageError
            If the sketch is clipped, has shares of noise, or protects users that may be in every sketch: the epsilons
            of all parts would add up, though no user has more than m items in all parts together.

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> PartialSketches.of(HashedSketch(buckets=8, epsilon=1, key=b"week 47")).gamma
        Fraction(1, 1)
        """
        check_unclipped(sketch, "updated")
        if any(part.shape < 1 for part in sketch.noise):
            raise UsageError(
                "A sketch with a share of the noise takes no partitions with the whole noise: count exact partials."
            )
        if sketch.unit.max_items is not None and sketch.users_in is not UsersIn.ONE_SKETCH:
            raise UsageError(
                "Partitions with noise of their own are sketches, and here a user may be in every sketch: the "
                "epsilons would add up. Make the sketch with `users_in=UsersIn.ONE_SKETCH`, or count exact "
                "partials."
            )
        gamma = max(part.gamma for part in sketch.noise)
        return cls(sketch.addresses, sketch.unit, sketch.relation, sketch.users_in, gamma)

    def empty(self, source: RandomSource | None = None) -> Sketch:
        """Return a sketch of a part before anything is counted, with fresh noise.

        Parameters
        ----------
        source
            The source of randomness; the operating system by default.
        """
        entropy = source or SystemSource()
        identity = entropy.words(2).astype("<u8").tobytes().hex()
        return self.restored(identity, discrete_laplace(self.gamma, self.addresses.size, source=entropy))

    def restored(self, identity: str, counters: NDArray[np.int64]) -> Sketch:
        """Return the sketch of a part that has this noise and these counters.

        Raises
        ------
        DataError
            If they are none.
        """
        return Sketch.from_parts(
            self.addresses,
            unit=self.unit,
            relation=self.relation,
            noise=[NoiseComponent(identity, self.gamma)],
            counters=counters,
            users_in=self.users_in,
        )

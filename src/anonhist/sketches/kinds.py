"""The two kinds of sketch: of labels that cannot be listed, and of labels that are known beforehand."""

from __future__ import annotations

from collections.abc import Iterable

from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit
from anonhist.randomness import RandomSource
from anonhist.sketches.addresses import LISTED_KEY, DomainAddresses, HashedAddresses
from anonhist.sketches.noise import NoiseShare
from anonhist.sketches.promise import UsersIn
from anonhist.sketches.sketch import Sketch


class HashedSketch(Sketch):
    """A sketch of labels that cannot be listed, assigned to buckets by their hash.

    Parameters
    ----------
    buckets
        How many counters, from 1 to 2^31.
    epsilon
        Total ε of the sketch, > 0, read exactly.
    key
        One byte or more, any: the bucket of a label is its keyed hash modulo the number of buckets (docs/hashing.md,
        section 3). It is public, and chosen before the data. Sketches of one key can be merged.
    sampling_rate
        The share of all labels that is counted, 2^−32 to 1, chosen by the hash. It saves counters and adds no privacy:
        whoever knows a label knows whether it is in the sample.
    unit
        Whom the sketch protects: an item by default, or ``PrivacyUnit.user(max_items=m)``.
    relation
        Between which data sets.
    users_in
        With the unit ``user``, whether a user may have items in every one of the sketches that are to be merged, or,
        as everybody knows, in one of them only.
    noise_share
        Draw only a share of the noise, for a sum of several parties' sketches; **not private alone**.
    source
        The source of randomness; the operating system by default.

    Raises
    ------
    UsageError
        If a parameter is invalid, or epsilon is too small: below 2^−40 for each item of the unit.

    See Also
    --------
    Sketch : Methods of all sketches, and their guarantees for one and two intrusions.

    Examples
    --------
    >>> sketch = HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
    >>> sketch.update(["pets", "cats", "pets"])
    >>> print(sketch.guarantee.epsilon, sketch.counters.shape)
    1 (1000,)
    """

    def __init__(
        self,
        *,
        buckets: int,
        epsilon: EpsilonLike,
        key: bytes,
        sampling_rate: EpsilonLike = 1,
        unit: PrivacyUnit | None = None,
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
        users_in: UsersIn = UsersIn.EVERY_SKETCH,
        noise_share: NoiseShare | None = None,
        source: RandomSource | None = None,
    ) -> None:
        addresses = HashedAddresses(buckets, key, sampling_rate)
        super().__init__(addresses, epsilon, unit, relation, users_in, noise_share, source)


class DomainSketch(Sketch):
    """A sketch of labels that are known beforehand: a counter for each, or for each of a sample.

    Parameters
    ----------
    alphabet
        All possible labels, the domain of the sketch: public, chosen before the data, all different. Updates refuse or
        skip other labels.
    epsilon
        Total ε of the sketch, > 0, read exactly.
    key
        One byte or more, public: it determines which labels are in the sample.
    sampling_rate
        The share of the labels that is counted, 2^−32 to 1, chosen by the hash. It saves memory and adds no privacy:
        whoever knows a label knows whether it is in the sample.
    unit
        Whom the sketch protects: an item by default, or ``PrivacyUnit.user(max_items=m)``.
    relation
        Between which data sets.
    users_in
        With the unit ``user``, whether a user may have items in every one of the sketches that are to be merged, or,
        as everybody knows, in one of them only.
    noise_share
        Draw only a share of the noise, for a sum of several parties' sketches; **not private alone**.
    source
        The source of randomness; the operating system by default.

    Raises
    ------
    UsageError
        If a parameter is invalid, or epsilon is too small: below 2^−40 for each item of the unit.
    DataError
        If labels are not strings, or not all different.

    See Also
    --------
    Sketch : Methods of all sketches, and their guarantees for one and two intrusions.

    Examples
    --------
    >>> sketch = DomainSketch(alphabet=["cats", "dogs", "pets"], epsilon=1)
    >>> sketch.update(["pets", "cats", "birds", "pets"], ignore_unknown=True)
    >>> sketch.counters.shape
    (3,)
    """

    def __init__(
        self,
        *,
        alphabet: Iterable[str],
        epsilon: EpsilonLike,
        key: bytes = LISTED_KEY,
        sampling_rate: EpsilonLike = 1,
        unit: PrivacyUnit | None = None,
        relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
        users_in: UsersIn = UsersIn.EVERY_SKETCH,
        noise_share: NoiseShare | None = None,
        source: RandomSource | None = None,
    ) -> None:
        addresses = DomainAddresses.of(alphabet, key=key, sampling_rate=sampling_rate)
        super().__init__(addresses, epsilon, unit, relation, users_in, noise_share, source)

"""The kinds of sketches: of labels that cannot be listed, with how many buckets, or of known labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.kinds import Printed, Tabular
from anonhist.mechanisms.setting import check_relation
from anonhist.numeric.pulse import tell_share
from anonhist.privacy import EpsilonLike, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.properties.estimate import percent
from anonhist.randomness import RandomSource
from anonhist.sketches.addresses import LISTED_KEY, MOST_COUNTERS, DomainAddresses, HashedAddresses
from anonhist.sketches.decoder import Counters, CounterSetting
from anonhist.sketches.likelihood import Decompounding
from anonhist.sketches.noise import NoiseDistribution, NoiseShare
from anonhist.sketches.promise import UsersIn, checked_unit, rate_of
from anonhist.sketches.sketch import Sketch


class HashedSketch(Sketch):
    """A sketch of labels that cannot be listed, assigned to buckets by their hash.

    Parameters
    ----------
    buckets
        The number of counters, from 1 to 2^31.
    epsilon
        Total ε of the sketch, > 0, read exactly.
    key
        One or more arbitrary bytes: the bucket of a label is its keyed hash modulo the number of buckets
        (docs/hashing.md, section 3). It is public, and chosen before the data. Sketches with the same key can be
        merged.
    sampling_rate
        The share of all labels that is counted, 2^−32 to 1, selected by the hash. It saves counters and adds no
        privacy: anyone who knows a label knows whether it is in the sample.
    unit
        Whom the sketch protects: an item by default, or ``PrivacyUnit.user(max_items=m)``.
    relation
        The neighboring relation.
    users_in
        With the unit ``user``, whether a user may have items in every one of the sketches to be merged or, as a public
        fact, in only one of them.
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
    """A sketch of labels that are known beforehand: a counter for each, or for each label of a sample.

    Parameters
    ----------
    alphabet
        All possible labels, the domain of the sketch: public, chosen before the data, and distinct. Updates refuse or
        skip other labels.
    epsilon
        Total ε of the sketch, > 0, read exactly.
    key
        One or more public bytes, which determine the labels in the sample.
    sampling_rate
        The share of the labels that is counted, 2^−32 to 1, selected by the hash. It saves memory and adds no privacy:
        anyone who knows a label knows whether it is in the sample.
    unit
        Whom the sketch protects: an item by default, or ``PrivacyUnit.user(max_items=m)``.
    relation
        The neighboring relation.
    users_in
        With the unit ``user``, whether a user may have items in every one of the sketches to be merged or, as a public
        fact, in only one of them.
    noise_share
        Draw only a share of the noise, for a sum of several parties' sketches; **not private alone**.
    source
        The source of randomness; the operating system by default.

    Raises
    ------
    UsageError
        If a parameter is invalid, or epsilon is too small: below 2^−40 for each item of the unit.
    DataError
        If labels are not strings, or not distinct.

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


# Labels per bucket, and the margin above the lowest error within which fewer buckets are preferred.
LOADS = (Fraction(4), Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(1, 4), Fraction(1, 8))
TOLERANCE = 1.25
BYTES = 8
# Labels and runs of a simulation; with f times as many labels, errors are smaller by a factor of √f.
_LABELS, _RUNS = 20_000, 8
_LARGEST = 10_000


@frozen
class BucketRow:
    """Expected errors with a number of buckets.

    Attributes
    ----------
    buckets
        B.
    load
        Labels per bucket, on average.
    size
        Bytes of the counters, 8·B.
    labels_error
        Expected root mean square error of the number of distinct labels, relative to that number.
    prevalences_error
        Expected ``Σ_r |φ_r − φ̂_r|``, relative to the number of labels.
    uncertainty
        Standard error of ``prevalences_error``, from the simulations.
    """

    buckets: int
    load: float
    size: int
    labels_error: float
    prevalences_error: float
    uncertainty: float


@dataclass(frozen=True, repr=False)
class BucketRecommendation(Printed, Tabular):
    """Numbers of buckets with their expected errors, fewest first, and the recommended one.

    Attributes
    ----------
    rows
        One per number of buckets.
    best
        The recommended number of buckets.
    reason
        The reason, in a sentence.
    """

    known_as = "buckets"
    rows: tuple[BucketRow, ...]
    best: int
    reason: str


def recommend_buckets(
    *,
    labels: int,
    epsilon: EpsilonLike,
    unit: PrivacyUnit | None = None,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    max_bytes: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> BucketRecommendation:
    """Recommend the number of buckets of a hashed sketch for an expected number of distinct labels.

    With too few buckets, many labels share one and are hard to separate; with too many, most buckets contain only
    noise. The range between is wide. Sketches of labels with prevalences ``φ_r ∝ r^(−2)`` are simulated and decoded.
    Among numbers with at least one bucket per label, the smallest is recommended for which the error of prevalences is
    at most a quarter above the least. Fewer buckets than labels are recommended only if ``max_bytes`` requires it,
    because the loss then depends on how smooth the prevalences are.

    Parameters
    ----------
    labels
        The approximate number of distinct labels, from 1 to 2^31: a public guess, not computed from the data.
    epsilon, unit, relation
        The guarantee of the sketch.
    max_bytes
        The largest size of the counters in bytes; no limit by default.
    progress
        Receives the share done, in (0, 1].

    Raises
    ------
    UsageError
        If a number is out of range, or no sketch is so small.

    Notes
    -----
    Up to 20,000 labels are simulated, 8 times for each number of buckets, with the same seed, so the result is
    reproducible. For more labels errors are scaled by ``(20,000/labels)^(1/2)``.

    Examples
    --------
    >>> found = recommend_buckets(labels=50, epsilon=3, max_bytes=100)
    >>> found.best, len(found.rows)
    (12, 1)
    """
    expected = parse_whole_number(labels, name="labels", most=MOST_COUNTERS)
    most = None if max_bytes is None else parse_whole_number(max_bytes, name="max_bytes")
    protected = checked_unit(PrivacyUnit.item() if unit is None else unit)
    distribution = NoiseDistribution.of([(rate_of(epsilon, protected, check_relation(relation)), Fraction(1))])
    loads = [load for load in LOADS if most is None or BYTES * _buckets(expected, load) <= most]
    if not loads:
        message = f"For so many labels a sketch takes at least {BYTES * _buckets(expected, LOADS[0]):,} bytes."
        raise UsageError(f"{message} Allow more, or sample the labels (`sampling_rate`).")
    rows = []
    for place, load in enumerate(loads):
        with tell_share(progress, place / len(loads), (place + 1) / len(loads)):
            rows.append(_row(expected, load, distribution))
    eligible = [row for row in rows if row.load <= 1] or rows
    least = min(row.prevalences_error for row in eligible)
    best = next(row for row in eligible if row.prevalences_error <= TOLERANCE * least)
    reason = (
        "At this number the expected total error of prevalences is "
        f"{percent(best.prevalences_error)} of the labels; the lowest found is {percent(least)}."
    )
    return BucketRecommendation(tuple(rows), best.buckets, reason)


def _buckets(labels: int, load: Fraction) -> int:
    return min(max(1, round(labels / load)), MOST_COUNTERS)


def _row(labels: int, load: Fraction, distribution: NoiseDistribution) -> BucketRow:
    simulated = min(labels, _LABELS)
    buckets = _buckets(simulated, load)
    setting, rng = CounterSetting(distribution, is_hashed=True), np.random.default_rng(7)
    counts_errors, labels_errors = [], []
    for _ in range(_RUNS):
        counts = np.minimum(rng.zipf(2, simulated), _LARGEST)
        counters = distribution.simulate(buckets, rng=rng)
        np.add.at(counters, rng.integers(buckets, size=simulated), counts)
        found = Decompounding().decode(Counters.of(counters), setting)
        away = np.bincount(counts, minlength=_LARGEST + 1).astype(np.float64)
        near = found.counts <= _LARGEST
        np.add.at(away, found.counts[near], -found.numbers[near])
        counts_errors.append((float(np.abs(away).sum()) + float(found.numbers[~near].sum())) / simulated)
        labels_errors.append(float(found.numbers.sum()) / simulated - 1)
    scale = (simulated / labels) ** 0.5
    return BucketRow(
        buckets=_buckets(labels, load),
        load=float(load),
        size=BYTES * _buckets(labels, load),
        labels_error=scale * float(np.sqrt(np.mean(np.square(labels_errors)))),
        prevalences_error=scale * float(np.mean(counts_errors)),
        uncertainty=scale * float(np.std(counts_errors, ddof=1)) / _RUNS**0.5,
    )

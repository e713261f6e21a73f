"""The sketch: an array of counters, private from the start, that is updated, merged and decoded."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from functools import partial
from threading import RLock
from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.accounting import Ledger
from anonhist.accounting.recording import account_of
from anonhist.catalogue import load
from anonhist.errors import DataError, UsageError
from anonhist.kinds import Saved, Shown
from anonhist.numeric.hashing import hash_buffer, keyed_hash
from anonhist.privacy import EpsilonLike, Guarantee, NeighboringRelation, PrivacyUnit, parse_whole_number
from anonhist.privacy.guarantee import short_decimal
from anonhist.randomness import RandomSource, SystemSource, discrete_laplace
from anonhist.releases import Release
from anonhist.sketches.addresses import DomainAddresses, HashedAddresses, known_places
from anonhist.sketches.changes import (
    CHUNK,
    FULL,
    LARGEST_COUNTER,
    Described,
    check_counters,
    check_foldable,
    check_mergeable,
    check_unclipped,
    fold,
    label_chunks,
    total_of,
    unfold,
    whole_counts,
)
from anonhist.sketches.decoder import Decoder, DecoderName
from anonhist.sketches.noise import NoiseComponent, NoiseDistribution, NoiseShare
from anonhist.sketches.promise import UsersIn, checked_parts, checked_setting, promise, rate_of

_KINDS = {HashedAddresses: ".sketches.kinds:HashedSketch", DomainAddresses: ".sketches.kinds:DomainSketch"}


class Sketch(Described, Shown, Saved):
    """Counters with exact discrete Laplace noise from the start.

    Make one with :class:`~anonhist.sketches.HashedSketch` or :class:`~anonhist.sketches.DomainSketch`. Counter i holds
    ``h_i + Z_i``: the number of counted items of its labels, plus noise that is drawn once, when the sketch is made,
    with ``P(Z_i = k) = (1 − p)/(1 + p)·p^|k|``, ``p = e^(−γ)``, ``γ = ε/(m·s)``; m is the number of items of the unit,
    s is 1 for ``ADD_OR_REMOVE`` and 2 for ``SUBSTITUTE``.

    Attributes
    ----------
    addresses : HashedAddresses or DomainAddresses
        The map from labels to counters.
    unit : PrivacyUnit
        Whom the noise protects: an item, or a user with at most m items in *each* of the merged sketches. The caller
        must make sure that nobody has more.
    users_in : UsersIn
        Whether a user may be in every one of the merged sketches, or is in only one of them.
    relation : NeighboringRelation
        The neighboring relation.
    noise : tuple of NoiseComponent
        The parts of the noise, sorted: one part for each sketch that was merged, each with a public identity.
    counters : ndarray of int64, shape (addresses.size,)
        The noisy counts, from −2^62 to 2^62.
    clipped : int or None
        n, if the counters are clipped to [0, n].
    turn : lock
        Held while a thread changes the sketch; one that reads several attributes does so ``with sketch.turn:``.

    Guarantees
    ----------
    *One intrusion.* An adversary who sees the whole state (all attributes) at one moment sees only an ε-differentially
    private state of what was counted before, and learns nothing more about it later. *Two intrusions.* The difference
    of two states is exactly what was counted between them, which is not protected from an adversary who sees both; what
    was counted before the first stays protected. A result read from the sketch, a copy, a backup and an older file are
    states, too. An observer of the memory while items are counted sees these items.

    The noise is in the counters first, so memory never holds counts without it, only the chunk of labels being counted.

    Notes
    -----
    A sketch may be pickled, to move it to another process; it cannot be copied, because the copy would keep an old
    state.
    """

    known_as = "sketch"
    counters: NDArray[np.int64]
    turn: AbstractContextManager[object]

    def __init__(
        self,
        addresses: HashedAddresses | DomainAddresses,
        epsilon: EpsilonLike,
        unit: PrivacyUnit | None,
        relation: NeighboringRelation,
        users_in: UsersIn,
        noise_share: NoiseShare | None,
        source: RandomSource | None,
    ) -> None:
        """Create an empty sketch with fresh noise."""
        entropy = source or SystemSource()
        unit, relation, users_in = checked_setting(PrivacyUnit.item() if unit is None else unit, relation, users_in)
        gamma = rate_of(epsilon, unit, relation)
        identity = entropy.words(2).astype("<u8").tobytes().hex()
        part, draw = NoiseComponent(identity, gamma), discrete_laplace
        if noise_share is not None:
            part = NoiseComponent(identity, gamma, noise_share.shape, noise_share.session, noise_share.participants)
            draw = noise_share.draw
        counters = draw(gamma, addresses.size, source=entropy)
        made = self.from_parts(
            addresses, unit=unit, relation=relation, noise=[part], counters=counters, users_in=users_in
        )
        vars(self).update(vars(made))

    @classmethod
    def from_parts(
        cls,
        addresses: HashedAddresses | DomainAddresses,
        *,
        unit: PrivacyUnit,
        relation: NeighboringRelation,
        noise: Iterable[NoiseComponent],
        counters: NDArray[np.int64],
        clipped: int | None = None,
        users_in: UsersIn = UsersIn.EVERY_SKETCH,
    ) -> Sketch:
        """Make a sketch from its stored parts; its kind follows from its addresses.

        Parameters
        ----------
        addresses, unit, relation, noise, counters, clipped, users_in
            As for the attributes. Counters that cannot be written to, such as those of a file mapped into memory, are
            copied when they first have to change; others are not copied and belong to the sketch from then on.

        Raises
        ------
        UsageError
            If a sketch cannot have the unit, the relation or users_in.
        DataError
            If the parts do not belong together: no noise or the same noise twice, shares of one session that differ, or
            counters of the wrong type, number or range (±2^62, or the clipped range).

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> new = HashedSketch(buckets=8, epsilon=1, key=b"week 47")
        >>> parts = {"unit": new.unit, "relation": new.relation, "noise": new.noise, "counters": new.counters}
        >>> Sketch.from_parts(new.addresses, **parts) == new
        True
        """
        if (kind := _KINDS.get(type(addresses))) is None:
            raise UsageError("The addresses of a sketch must be HashedAddresses or DomainAddresses.")
        sketch: Sketch = object.__new__(load(kind))
        sketch.addresses, sketch.turn = addresses, RLock()
        sketch.unit, sketch.relation, sketch.users_in = checked_setting(unit, relation, users_in)
        sketch.noise, sketch.counters, sketch.clipped = checked_parts(noise), counters, clipped
        if clipped is not None:
            sketch.clipped = parse_whole_number(clipped, name="clipped", most=LARGEST_COUNTER)
            check_foldable(sketch)
        check_counters(counters, addresses.size, sketch.clipped)
        return sketch

    @property
    def noise_distribution(self) -> NoiseDistribution:
        """The distribution of the noise on one counter, while it is not clipped."""
        return NoiseDistribution.of(self.noise)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of this sketch and of everything computed from it.

        Each *item* is in one of the merged sketches, so the largest of their epsilons counts: the others' contributions
        are independent of it. A *user* may have m items in each of them, so their epsilons add up, even if they share
        one noise; with ``UsersIn.ONE_SKETCH`` the largest counts, on that condition. If noise is shared, the guarantee
        states how many parties must be honest and, if it holds toward outsiders only, the epsilon toward a party.

        Raises
        ------
        UsageError
            If shares of the noise are still missing: then there is no guarantee.

        Examples
        --------
        >>> from anonhist.privacy import PrivacyUnit
        >>> from anonhist.sketches import HashedSketch
        >>> user = PrivacyUnit.user(max_items=5)
        >>> days = [HashedSketch(buckets=8, epsilon="0.5", key=b"week 47", unit=user) for _ in range(2)]
        >>> print(days[0].guarantee.epsilon, (days[0] + days[1]).guarantee.epsilon)
        1/2 1
        """
        return promise(self.unit, self.relation, self.noise, self.users_in)

    def update(
        self, labels: Iterable[str], counts: Iterable[int] | ArrayLike | None = None, *, ignore_unknown: bool = False
    ) -> None:
        """Count labels from a stream of any length, in constant memory.

        Parameters
        ----------
        labels
            Strings, one for each item: a list, a NumPy array of strings, a generator, or a column or table of one
            column of pandas, Polars or Arrow. For a mapping from labels to counts, such as a ``Counter``, give both:
            ``update(found, found.values())``.
        counts
            Number of items per label, whole numbers ≥ 1; 1 each by default.
        ignore_unknown
            Whether labels outside a listed domain are skipped; otherwise they are refused.

        Raises
        ------
        UsageError
            If labels are a single string or a mapping without counts, or the sketch is clipped.
        DataError
            If a label is not a string or not in the domain, a count is not a whole number ≥ 1, the numbers of labels
            and counts differ, or a counter could pass 2^62.

        Notes
        -----
        Labels are counted 65,536 at a time. An error drops the whole chunk in which it occurs and all chunks
        after it; chunks before it stay counted.

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> sketch = HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
        >>> sketch.update(["pets", "cats", "pets"])
        >>> sketch.update(["dogs"], counts=[40])
        """
        check_unclipped(self, "updated")
        for chunk, numbers in label_chunks(labels, counts):
            hashes = keyed_hash(chunk, key=self.addresses.key)
            self.add(known_places(self.addresses, hashes, ignore_unknown=ignore_unknown), numbers)

    def update_buffer(
        self,
        data: NDArray[np.uint8],
        offsets: ArrayLike,
        counts: ArrayLike | None = None,
        *,
        ignore_unknown: bool = False,
    ) -> None:
        """Count labels that are contiguous in a buffer of bytes, as in Arrow: the fastest way.

        Parameters
        ----------
        data
            The bytes of all labels, shape (bytes,); UTF-8, which is not checked.
        offsets
            m + 1 integers that never fall: label i is ``data[offsets[i]:offsets[i + 1]]``.
        counts, ignore_unknown
            As for :meth:`update`.

        Raises
        ------
        UsageError, DataError
            As for :meth:`update`, and if offsets fall or leave the buffer.

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> sketch = HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
        >>> sketch.update_buffer(np.frombuffer(b"petscats", dtype=np.uint8), [0, 4, 8])
        """
        check_unclipped(self, "updated")
        bounds = np.asarray(offsets)
        numbers = None if counts is None else whole_counts(counts)
        size = max(bounds.size - 1, 0)
        if numbers is not None and numbers.size != size:
            raise DataError("There must be one count for each label.")
        for start in range(0, size, CHUNK):
            hashes = hash_buffer(data, bounds[start : start + CHUNK + 1], key=self.addresses.key)
            chunk = None if numbers is None else numbers[start : start + CHUNK]
            self.add(known_places(self.addresses, hashes, ignore_unknown=ignore_unknown), chunk)

    def add(self, addresses: NDArray[np.int64], counts: NDArray[np.int64] | None = None) -> None:
        """Add to counters by address: to all or, if there is an error, to none.

        Parameters
        ----------
        addresses
            Integers below the number of counters, shape (m,); negative ones are left out.
        counts
            How much to add, whole numbers ≥ 1, shape (m,); 1 each by default.

        Raises
        ------
        UsageError
            If the sketch is clipped, or an address beyond the last.
        DataError
            If a count is not a whole number ≥ 1, or a counter could pass 2^62: if the largest of these counters plus
            the sum of all counts exceeds it.
        """
        with self.turn:
            check_unclipped(self, "updated")
            numbers = None if counts is None else whole_counts(counts)
            if addresses.ndim != 1 or (numbers is not None and numbers.shape != addresses.shape):
                raise DataError("There must be one count for each label.")
            kept = addresses >= 0
            if not kept.all():
                addresses, numbers = addresses[kept], None if numbers is None else numbers[kept]
            if not addresses.size:
                return
            if int(addresses.max()) >= self.addresses.size:
                raise UsageError("An address is larger than that of the last counter of the sketch.")
            total = addresses.size if numbers is None else total_of(numbers)
            if int(self.counters[addresses].max()) + total > LARGEST_COUNTER:
                raise DataError(FULL)
            if not self.counters.flags.writeable:
                self.counters = self.counters.copy()
            # Directly to the noisy counters: no array of counts without noise ever exists.
            np.add.at(self.counters, addresses, 1 if numbers is None else numbers)

    def merge(self, other: Sketch) -> None:
        """Add another sketch of other items: its counts, and its noise.

        The order of merging does not matter, bit for bit. The variances of the noise add up, and the errors of decoded
        profiles grow even faster, so merge few sketches, or add shares of noise (:class:`NoiseShare`).

        Parameters
        ----------
        other
            A sketch with the same addresses (domain, or key and buckets), unit and relation; it stays unchanged, and no
            other thread may change it meanwhile.

        Raises
        ------
        UsageError
            If the sketches do not match, either is clipped, or they have noise in common: then one is a copy of the
            other or already contains it.
        DataError
            If a counter would pass 2^62.

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> monday, tuesday = (HashedSketch(buckets=1000, epsilon=1, key=b"week 47") for _ in range(2))
        >>> monday.merge(tuesday)
        >>> len(monday.noise)
        2
        """
        if not isinstance(other, Sketch):
            raise UsageError("Only sketches can be merged.")
        with self.turn:
            total = self + other
            self.counters, self.noise = total.counters, total.noise

    def __add__(self, other: object) -> Sketch:
        """Return the merged sketch; both stay unchanged. See :meth:`merge`."""
        if not isinstance(other, Sketch):
            return NotImplemented
        check_mergeable(self, other)
        return self.from_parts(
            self.addresses,
            unit=self.unit,
            relation=self.relation,
            noise=(*self.noise, *other.noise),
            # 2^62 and 2^62 wrap around to −2^63, which is also outside the range of counters.
            counters=self.counters + other.counters,
            users_in=self.users_in,
        )

    def clip(self, largest: int) -> None:
        """Move all counters into [0, largest], to store them in fewer bits; they must be unfolded before anything else.

        This is post-processing: the guarantee stays. It is only for a sketch that is not merged and has all of its
        noise.

        Parameters
        ----------
        largest
            n, from 1 to 2^62, a public number that no true count exceeds; larger counts would be cut.

        Raises
        ------
        UsageError
            If the sketch is clipped, merged or has a share of noise, or n is out of range.

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> sketch = HashedSketch(buckets=1000, epsilon=1, key=b"week 47")
        >>> sketch.clip(255)
        >>> bool((sketch.counters >= 0).all()), sketch.clipped
        (True, 255)
        >>> sketch.unfold()
        """
        with self.turn:
            check_unclipped(self, "clipped again")
            check_foldable(self)
            whole = parse_whole_number(largest, name="largest", most=LARGEST_COUNTER)
            self.counters, self.clipped = fold(self.counters, whole), whole

    def unfold(self, *, source: RandomSource | None = None) -> None:
        """Undo the clipping: draw the cut-off noise again, so that counters are distributed exactly as before.

        This is post-processing: the guarantee stays.

        Parameters
        ----------
        source
            The source of random words; the operating system by default.

        Raises
        ------
        UsageError
            If the sketch is not clipped, or was unfolded already.
        """
        with self.turn:
            if self.clipped is None:
                raise UsageError(
                    "This sketch is not clipped; a sketch can only be unfolded once, after it was clipped."
                )
            gamma, entropy = self.noise[0].gamma, source or SystemSource()
            self.counters, self.clipped = unfold(self.counters, self.clipped, gamma, source=entropy), None

    def reconstruct(
        self,
        decoder: DecoderName | Decoder | None = None,
        *,
        simulations: int | None = None,
        ledger: Ledger | str | None = None,
        dataset: str | None = None,
        purpose: str | None = None,
        run_id: str | None = None,
    ) -> Release:
        """Return the profile of the counted labels, as a release: post-processing, which can be repeated.

        A ledger is charged the sketch's guarantee, and nothing more for reading the same state again. For a sum of
        sketches, earlier charges for them are deducted.

        Parameters
        ----------
        decoder
            A decoder or its name: ``"empirical-bayes"``, ``"decompounding"``, ``"maximum-likelihood"``, ``"isotonic"``,
            ``"three-tap"``, ``"wu-pagh"`` or ``"fourier"``; by default the best one known for this kind of sketch.
        simulations
            The number of runs behind the expected error: :attr:`~anonhist.releases.Release.simulations`.
        ledger, dataset, purpose, run_id
            The ledger to charge before the profile is read, as for :func:`~anonhist.mechanisms.release`.

        Raises
        ------
        UsageError
            If the sketch is clipped, shares of its noise are missing, or no decoder has that name; or if a ledger knows
            that it was read in another state, or has too little left (``BudgetError``).

        Examples
        --------
        >>> from anonhist.sketches import HashedSketch
        >>> sketch = HashedSketch(buckets=1000, epsilon=2, key=b"week 47")
        >>> sketch.reconstruct().guarantee.epsilon
        Fraction(2, 1)
        """
        account = account_of(ledger, dataset, purpose, run_id)
        made: Release = load(".sketches.release:reconstruct")(self, decoder, simulations, account)
        return made

    def __eq__(self, other: object) -> bool:
        """Whether all parts are equal."""
        if not isinstance(other, Sketch):
            return NotImplemented
        mine = (self.addresses, self.unit, self.relation, self.users_in, self.noise, self.clipped)
        others = (other.addresses, other.unit, other.relation, other.users_in, other.noise, other.clipped)
        return mine == others and np.array_equal(self.counters, other.counters)

    __hash__ = None  # type: ignore[assignment]  # a sketch changes

    def __repr__(self) -> str:
        try:
            promised = f"epsilon={short_decimal(self.guarantee.epsilon)}"
        except UsageError:  # Shares of the noise are missing.
            promised = "no guarantee"
        rest = f", {len(self.noise):,} parts of noise" if len(self.noise) > 1 else ""
        rest += "" if self.clipped is None else f", clipped={self.clipped}"
        return f"{type(self).__name__}({self.addresses.size:,} counters, {self.unit}, {promised}{rest})"

    def __reduce__(self) -> tuple[object, ...]:
        fields = ("unit", "relation", "users_in", "noise", "counters", "clipped")
        return partial(Sketch.from_parts, self.addresses, **{name: getattr(self, name) for name in fields}), ()

    def __copy__(self, _memo: object = None) -> NoReturn:
        """Refuse, because two sketches of different data with the same noise would reveal the difference."""
        raise UsageError("A sketch cannot be copied: both would have the same noise; start a new one, and merge them.")

    __deepcopy__ = __copy__

"""Changes of a sketch: streams of updates, merging, clipping and unfolding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from fractions import Fraction
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import DataError, UsageError
from anonhist.numeric.value_name import one_column
from anonhist.privacy import NeighboringRelation, PrivacyUnit
from anonhist.randomness import RandomSource, geometric
from anonhist.sketches.addresses import DomainAddresses, HashedAddresses
from anonhist.sketches.noise import NoiseComponent
from anonhist.sketches.promise import UsersIn


class Described:
    """The settings of a sketch, apart from its counters; :class:`~anonhist.sketches.Sketch` explains them."""

    addresses: HashedAddresses | DomainAddresses
    unit: PrivacyUnit
    relation: NeighboringRelation
    users_in: UsersIn
    noise: tuple[NoiseComponent, ...]
    clipped: int | None


def check_mergeable(one: Described, other: Described) -> None:
    """Refuse sketches whose sum would not be a sketch with independent noise; see :meth:`Sketch.merge`."""
    if one.addresses != other.addresses:
        raise UsageError(
            "Only sketches with the same domain, or with the same key and number of buckets, can be merged."
        )
    if (one.unit, one.relation) != (other.unit, other.relation):
        raise UsageError("Only sketches that protect the same unit can be merged.")
    if one.users_in is not other.users_in:
        raise UsageError("Only sketches with the same `users_in` can be merged.")
    if one.clipped is not None or other.clipped is not None:
        raise UsageError("A clipped sketch cannot be merged before it is unfolded.")
    if {part.identity for part in one.noise} & {part.identity for part in other.noise}:
        raise UsageError("These sketches share noise: one already contains the other or a copy of it.")


def check_unclipped(sketch: Described, what: str) -> None:
    """Refuse a sketch that is clipped."""
    if sketch.clipped is not None:
        raise UsageError(f"A clipped sketch cannot be {what} before it is unfolded.")


def check_foldable(sketch: Described) -> None:
    """Refuse a sketch that cannot be clipped."""
    if len(sketch.noise) > 1 or sketch.noise[0].shape < 1:
        raise UsageError("Only a sketch that was not merged and has the whole noise of one sketch can be clipped.")


def fold(counters: NDArray[np.int64], largest: int) -> NDArray[np.int64]:
    """Return the counters moved into [0, largest]."""
    return np.clip(counters, 0, largest)


def unfold(counters: NDArray[np.int64], largest: int, gamma: Fraction, *, source: RandomSource) -> NDArray[np.int64]:
    """Return counters distributed as before they were clipped to [0, largest], largest ≥ 1.

    It subtracts a geometric number of rate γ from a counter at 0, and adds one to a counter at the largest value:
    beyond the range, discrete Laplace noise of one part is memoryless, as long as true counts are in the range (Wu and
    Pagh 2024, lemma 4.1).
    """
    wide = counters.copy()
    for end, sign in ((0, -1), (largest, 1)):
        places = np.flatnonzero(counters == end)
        wide[places] += sign * geometric(gamma, places.size, source=source)
    return wide


# This many labels are hashed and added at a time.
CHUNK = 1 << 16
# Counters and increments stay within this bound, so that int64 does not overflow.
LARGEST_COUNTER = 2**62
FULL = "A counter could pass 2^62, the largest that a sketch holds; count into a new sketch."


def label_chunks(
    labels: Iterable[str], counts: Iterable[int] | ArrayLike | None
) -> Iterator[tuple[Sequence[str] | NDArray[np.str_], NDArray[np.int64] | None]]:
    """Yield labels, and their counts if there are any, CHUNK at a time; counts are whole and at least 1.

    A single label or count is refused, and so is a mapping without counts: its values would be lost.
    """
    labels, counts = one_column(labels), one_column(counts)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise UsageError("update takes a list of labels, one for each item; put a single label into a list.")
    if counts is None:
        if isinstance(labels, Mapping):
            raise UsageError(
                "update needs the values of a mapping as a separate argument: update(found, found.values())."
            )
        for chunk in _chunks(labels):
            yield chunk, None
        return
    if not isinstance(counts, Iterable):
        raise UsageError("`counts` must be a list of whole numbers, one for each label.")
    if isinstance(labels, Sized) and isinstance(counts, Sized) and len(labels) != len(counts):
        raise DataError(_MISMATCH)
    for chunk, numbers in zip_longest(_chunks(labels), _chunks(counts), fillvalue=()):
        found = whole_counts(numbers)
        if found.size != len(chunk):
            raise DataError(_MISMATCH)
        yield chunk, found


def whole_counts(counts: Any) -> NDArray[np.int64]:
    """Return counts as an array, shape (m,), or refuse any that is not a whole number from 1 to 2^62."""
    found = np.asarray(counts)
    if not found.size:
        return np.zeros(0, dtype=np.int64)
    # NumPy may treat booleans among whole numbers as numbers.
    has_truth = isinstance(counts, list | tuple) and not {bool, np.bool_}.isdisjoint(map(type, counts))
    if (
        has_truth
        or found.ndim != 1
        or found.dtype.kind not in "iu"
        or int(found.min()) < 1
        or int(found.max()) > LARGEST_COUNTER
    ):
        raise DataError("Counts must be whole numbers from 1 to 2^62, one for each label; drop labels of count zero.")
    return found.astype(np.int64, copy=False)


def total_of(counts: NDArray[np.int64]) -> int:
    """Return the sum of numbers from 0 to 2^62, which may exceed int64."""
    return (int((counts >> 31).sum()) << 31) + int((counts & 0x7FFFFFFF).sum())


_MISMATCH = "There must be one count for each label."


def _chunks(things: Iterable[Any]) -> Iterator[Any]:
    if isinstance(things, np.ndarray | list | tuple):
        for start in range(0, len(things), CHUNK):
            yield things[start : start + CHUNK]
        return
    stream = iter(things)
    while chunk := list(islice(stream, CHUNK)):
        yield chunk


def check_counters(counters: object, size: int, clipped: int | None) -> None:
    """Refuse arrays that cannot be the counters of a sketch with this many addresses, clipped or not."""
    if not isinstance(counters, np.ndarray) or counters.dtype != np.int64 or counters.shape != (size,):
        raise DataError("A sketch must have one counter, a 64-bit whole number, for each of its addresses.")
    least, most = (-LARGEST_COUNTER, LARGEST_COUNTER) if clipped is None else (0, clipped)
    if int(counters.min()) < least or int(counters.max()) > most:
        raise DataError("A counter of the sketch is outside its range.")

"""Streams of labels and counts, a chunk at a time: memory does not grow with their length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.numeric.value_name import one_column

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# So many labels are hashed and added at a time.
CHUNK = 1 << 16
# Counters and increments stay within this bound, so that int64 does not overflow.
LARGEST_COUNTER = 2**62
FULL = "A counter could pass 2^62, the largest that a sketch holds; count into a new sketch."


def label_chunks(
    labels: Iterable[str], counts: Iterable[int] | ArrayLike | None
) -> Iterator[tuple[Sequence[str] | NDArray[np.str_], NDArray[np.int64] | None]]:
    """Yield labels, and their counts if there are any, CHUNK at a time.

    Raises
    ------
    UsageError
        If labels or counts are a single one, or labels are a mapping without counts: its values would be lost.
    DataError
        If there are not as many counts as labels, or a count is not a whole number of at least 1.

    Examples
    --------
    >>> [(chunk, counts.tolist()) for chunk, counts in label_chunks(iter(["a", "b"]), [1, 5])]
    [(['a', 'b'], [1, 5])]
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
    numbers = _chunks(counts)
    for chunk in _chunks(labels):
        found = whole_counts(next(numbers, ()))
        if found.size != len(chunk):
            raise DataError(_MISMATCH)
        yield chunk, found
    if next(numbers, None) is not None:
        raise DataError(_MISMATCH)


def whole_counts(counts: Any) -> NDArray[np.int64]:
    """Return counts as an array, shape (m,), or refuse any that is not a whole number from 1 to 2^62.

    Examples
    --------
    >>> whole_counts([3, 1])
    array([3, 1])
    """
    found = np.asarray(counts)
    if not found.size:
        return np.zeros(0, dtype=np.int64)
    # Among whole numbers, NumPy takes truth values for some.
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
    """Return the sum of numbers from 0 to 2^62, which may exceed int64.

    Examples
    --------
    >>> total_of(np.array([2**62, 2**62])) == 2**63
    True
    """
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
    """Refuse what cannot be the counters of a sketch with so many addresses, clipped or not.

    Raises
    ------
    DataError
        If there are more or fewer, of another type, or beyond their range.

    Examples
    --------
    >>> check_counters(np.array([-3, 7]), 2, None)
    """
    if not isinstance(counters, np.ndarray) or counters.dtype != np.int64 or counters.shape != (size,):
        raise DataError("A sketch must have one counter, a 64-bit whole number, for each of its addresses.")
    least, most = (-LARGEST_COUNTER, LARGEST_COUNTER) if clipped is None else (0, clipped)
    if int(counters.min()) < least or int(counters.max()) > most:
        raise DataError("A counter of the sketch is outside its range.")

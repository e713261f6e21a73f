"""A sorted merge of two parts, in batches: memory does not depend on how large they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.parts.rows import Rows, lower_bound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anonhist.ingest.parts.document import PartDocument

TOO_LARGE = "A label has more than 2^63 − 1 items in these parts, the most that can be counted: split the data."


def all_rows(document: PartDocument, runs: list[Iterator[Rows]]) -> Iterator[Rows]:
    """Merge the rows of parts, at least one; it is fastest if the first is much the longest."""
    join = added if document.holds == "labels" else side_by_side
    first, others = runs[0], runs[1:]
    # Pair by pair, so that merges of a thousand parts are nested ten deep, not a thousand.
    while len(others) > 1:
        pairs = zip(others[::2], others[1::2], strict=False)
        left = others[len(others) // 2 * 2 :]
        others = [*(merged(ours, theirs, join) for ours, theirs in pairs), *left]
    return merged(first, others[0], join) if others else first


def merged(first: Iterator[Rows], second: Iterator[Rows], join: Callable[[Rows, Rows], Rows]) -> Iterator[Rows]:
    """Merge two runs of rows with ascending keys into one.

    Parameters
    ----------
    first, second
        The runs, in batches. It is faster if the second is the shorter one.
    join
        Merges rows that are all there: :func:`added` or :func:`side_by_side`.
    """
    ours, theirs = _next(first), _next(second)
    while ours is not None and theirs is not None:
        stop = _common(ours, theirs)
        yield join(ours.between(0, stop[0]), theirs.between(0, stop[1]))
        ours = ours.between(stop[0], len(ours)) if stop[0] < len(ours) else _next(first)
        theirs = theirs.between(stop[1], len(theirs)) if stop[1] < len(theirs) else _next(second)
    for rest, run in ((ours, first), (theirs, second)):
        if rest is not None:
            yield rest
            yield from run


def added(first: Rows, second: Rows) -> Rows:
    """Merge labels with their counts; those of a label in both are added up.

    Raises
    ------
    DataError
        If a sum passes 2^63 − 1.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(first) < len(second):
        first, second = second, first
    if not len(second):
        return first
    places = lower_bound(first.keys, second.keys)
    nearest = first.keys.take(pa.array(np.minimum(places, len(first) - 1)))
    is_there = (places < len(first)) & np.asarray(pc.equal(nearest, second.keys).to_numpy(zero_copy_only=False))
    counts = np.array(first.values.to_numpy())
    counts[places[is_there]] += second.values.to_numpy()[is_there]
    if (counts < 1).any():
        raise DataError(TOO_LARGE)
    both = Rows(first.keys, pa.array(counts))
    new = np.flatnonzero(~is_there)
    return _woven(both, second.at(new), places[new]) if len(new) else both


def side_by_side(first: Rows, second: Rows) -> Rows:
    """Merge items of users: each stays a row of its own."""
    if len(first) < len(second):
        first, second = second, first
    return _woven(first, second, lower_bound(first.keys, second.keys)) if len(second) else first


def _woven(first: Rows, second: Rows, places: NDArray[np.int64]) -> Rows:
    """Put each of the second rows before the first row at its place."""
    import pyarrow as pa

    index = np.empty(len(first) + len(second), dtype=np.int64)
    is_first = np.ones(len(index), dtype=np.bool_)
    into = places + np.arange(len(second))
    is_first[into] = False
    index[into] = np.arange(len(first), len(index))
    index[is_first] = np.arange(len(first))
    both = (pa.concat_arrays(pair) for pair in zip(first, second, strict=True))
    return Rows(*both).at(index)


def _common(ours: Rows, theirs: Rows) -> tuple[int, int]:
    """Return how many rows of each are not beyond the last of the other: what comes later is beyond these."""
    import pyarrow.compute as pc

    ends = (ours.keys.slice(len(ours) - 1), theirs.keys.slice(len(theirs) - 1))
    if pc.less(*ends)[0].as_py():
        return len(ours), int(lower_bound(theirs.keys, ends[0], pc.less_equal)[0])
    return int(lower_bound(ours.keys, ends[1], pc.less_equal)[0]), len(theirs)


def _next(run: Iterator[Rows]) -> Rows | None:
    return next((rows for rows in run if len(rows)), None)

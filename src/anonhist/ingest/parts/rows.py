"""The rows of a part in the order of their keys: how they are laid out in Arrow, and what makes them valid.

Without users a row is a label with its count, and its key is the label: its text in UTF-8, or 16 bytes of hash. With
users a row is an item with its label, and its key is 32 bytes: the hash of the user, then that of the item. Items
without a label are counted in one row without a key, before all others; with users they are rows without a label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from anonhist.ingest.parts.document import PartDocument

KEY_BYTES = 16
AT_ONCE = 1 << 17


class Rows(NamedTuple):
    """Some rows: their keys, ascending, and their counts or their labels, as Arrow arrays of one length."""

    keys: Any
    values: Any

    def __len__(self) -> int:
        return len(self.keys)

    def between(self, start: int, stop: int) -> Rows:
        """Return some of them, without a copy."""
        return Rows(self.keys.slice(start, stop - start), self.values.slice(start, stop - start))

    def at(self, places: NDArray[np.int64]) -> Rows:
        """Return those at some places."""
        import pyarrow as pa

        indices = pa.array(places)
        return Rows(self.keys.take(indices), self.values.take(indices))


def schema_of(document: PartDocument) -> Any:
    """Return the Arrow schema of a part: its key first."""
    import pyarrow as pa

    label = pa.string() if document.labels == "text" else pa.binary(KEY_BYTES)
    if document.holds == "users":
        fields = [pa.field("user_item", pa.binary(2 * KEY_BYTES), nullable=False), pa.field("label", label)]
    else:
        fields = [pa.field("label", label), pa.field("count", pa.int64(), nullable=False)]
    return pa.schema(fields)


class ascending:  # noqa: N801  # reads as a verb where it is used
    """Check that keys ascend from batch to batch; those of labels strictly, so that each is there once."""

    def __init__(self, document: PartDocument) -> None:
        self._is_strict = document.holds == "labels"
        self._last: Any = None

    def __call__(self, keys: Any) -> bool:
        """Return whether the next keys, none of them missing, go on where the last ended."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(keys):
            return True
        before = keys.slice(0, len(keys) - 1)
        if self._last is not None:
            before = pa.concat_arrays([self._last, before])
        compare = pc.less if self._is_strict else pc.less_equal
        after = keys if self._last is not None else keys.slice(1)
        # Its own copy, for a slice would hold all of the batch.
        self._last = pa.array(keys.slice(len(keys) - 1).to_pylist(), keys.type)
        return bool(pc.all(compare(before, after), min_count=0).as_py())


def users_of(keys: Any) -> NDArray[np.uint64]:
    """Return the hashes of users in keys, shape (rows, 2)."""
    return _words(keys)[:, : KEY_BYTES // 8]


def _words(keys: Any) -> NDArray[np.uint64]:
    """Return the bytes of keys of one width, none of them missing, in words of eight: shape (rows, words)."""
    width = keys.type.byte_width
    held = np.frombuffer(keys.buffers()[1], dtype=np.uint8)[keys.offset * width : (keys.offset + len(keys)) * width]
    return held.reshape(-1, width).view(np.uint64)


def _heads(keys: Any) -> NDArray[np.uint64]:
    """Return the first eight bytes of keys as numbers in the order of the keys."""
    return _words(keys)[:, 0].copy().view(">u8").astype(np.uint64)


def bounded(rows: Iterator[Rows], most: int) -> Iterator[Rows]:
    """Keep the first rows of each user, in the order of their hashes.

    Parameters
    ----------
    rows
        Of users, ascending.
    most
        How many rows to keep of each.
    """
    last, places = np.zeros(2, dtype=np.uint64), 0
    for batch in rows:
        if not len(batch):
            continue
        users = users_of(batch.keys)
        is_new = np.empty(len(users), dtype=np.bool_)
        is_new[0] = not places or bool((users[0] != last).any())
        np.any(users[1:] != users[:-1], axis=1, out=is_new[1:])
        starts = np.flatnonzero(is_new)
        indices = np.arange(len(users))
        # Rows of the last batch's user go on from its number.
        first = np.full(len(users), -places)
        if len(starts):
            first[starts[0] :] = np.repeat(starts, np.diff(starts, append=len(users)))
        rank = indices - first
        last, places = users[-1].copy(), int(rank[-1]) + 1
        kept = np.flatnonzero(rank < most)
        yield batch if len(kept) == len(batch) else batch.at(kept)


def lower_bound(keys: Any, wanted: Any, compare: Callable[[Any, Any], Any] | None = None) -> NDArray[np.int64]:
    """Return how many of some ascending keys are below each wanted one: a binary search for all at once.

    Parameters
    ----------
    keys, wanted
        Arrow arrays of one type, without missing values; the first not empty.
    compare
        What "below" means; strictly by default.

    Examples
    --------
    >>> import pyarrow as pa
    >>> lower_bound(pa.array(["b", "d"]), pa.array(["a", "b", "c", "e"])).tolist()
    [0, 0, 1, 2]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    compare = compare or pc.less
    if pa.types.is_fixed_size_binary(keys.type):
        # Hashes are nearly told apart by their first eight bytes, which NumPy finds ten times as fast.
        heads = _heads(keys), _heads(wanted)
        low, high = (np.searchsorted(*heads, side=side).astype(np.int64) for side in ("left", "right"))
    else:
        low, high = np.zeros(len(wanted), dtype=np.int64), np.full(len(wanted), len(keys), dtype=np.int64)
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        tried = keys.take(pa.array(np.minimum(middle, len(keys) - 1)))
        is_open = low < high
        is_below = is_open & np.asarray(compare(tried, wanted).to_numpy(zero_copy_only=False))
        low = np.where(is_below, middle + 1, low)
        high = np.where(is_open & ~is_below, middle, high)
    return low


def without_missing(rows: Iterator[Rows]) -> tuple[int, Iterator[Rows]]:
    """Return how many items have no label, which is the first row of all if there are some, and the other rows."""
    first = next(rows, None)
    if first is None:
        return 0, rows
    missing = first.keys.null_count

    def others() -> Iterator[Rows]:
        yield first.between(missing, len(first))
        yield from rows

    return int(first.values[0].as_py()) if missing else 0, others()

"""The public metadata of a part's file, and the layout and order of its rows.

Without users a row is a label with its count, and its key is the label: its text in UTF-8, or 16 bytes of hash. With
users a row is an item with its label, and its key is 32 bytes: the hash of the user, then that of the item. Items
without a label are counted in one row without a key, before all others; with users they are rows without a label.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from unicodedata import normalize

import numpy as np

from anonhist.errors import UsageError, public_error
from anonhist.privacy import parse_order_key
from anonhist.profiles.where import where_text
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

ENDING = ".counts"
FORMAT, VERSION = "anonhist.counts", 1
_LONGEST = 200
_KEY_OF = {"users": "a user", "labels": "a label"}


@dataclass(frozen=True)
class PartDocument:
    """The description of a part's content; public.

    A total has several ``parts``. ``holds`` is ``"labels"`` (with their counts) or ``"users"`` (at most
    ``max_per_user`` items of each); ``key`` is the hash key of users and labels, 32 hexadecimal digits, or None if
    nothing is hashed. Only rows for which ``where`` is true were counted.
    """

    parts: tuple[str, ...]
    holds: Literal["labels", "users"]
    labels: Literal["text", "hashes"]
    key: str | None
    max_per_user: int | None
    keep_null: bool
    where: str | None = None

    def __post_init__(self) -> None:
        """Refuse contradictory fields: see :meth:`read`."""
        for name in self.parts:
            parse_part(name)
        bound = self.max_per_user
        good_bound = bound is None if self.holds == "labels" else type(bound) is int and bound >= 1
        needs_key = self.holds == "users" or self.labels == "hashes"
        known = self.holds in _KEY_OF and self.labels in ("text", "hashes") and type(self.keep_null) is bool
        if not self.parts or not good_bound or (self.key is not None) != needs_key or not known:
            raise UsageError("It does not hold what it says.")
        if self.key is not None:
            parse_order_key(self.key)
        if self.where is not None and where_text(self.where) != self.where:
            raise UsageError("It does not hold what it says.")
        check_distinct(self.parts)

    def to_json(self) -> bytes:
        """Return the text for the file's metadata."""
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "private": True, "parts": list(self.parts)}
        fields |= {"holds": self.holds, "labels": self.labels, "key": self.key, "max_per_user": self.max_per_user}
        fields |= {"keep_null": self.keep_null, "where": self.where, "software": f"anonhist {__version__}"}
        return json.dumps(fields).encode()

    @classmethod
    def read(cls, text: bytes, shown: str) -> PartDocument:
        """Read the metadata of a file, which sentences call ``shown``; refuse damaged metadata and newer versions."""
        damaged = public_error(f"The part {shown} is damaged: count its events again.")
        try:
            fields = json.loads(text)
            version = fields["version"]
            is_ours = fields["format"] == FORMAT and type(version) is int
        except (ValueError, TypeError, KeyError):
            raise damaged from None
        if not is_ours or version < 1:
            raise damaged
        if version > VERSION:
            raise public_error(f"The part {shown} was written by a newer version of anonhist: update anonhist.")
        try:
            names = ("holds", "labels", "key", "max_per_user", "keep_null", "where")
            return cls(tuple(fields["parts"]), **{name: fields[name] for name in names})
        except (KeyError, TypeError, UsageError):
            raise damaged from None

    def order_key(self) -> str:
        """Return the key of the random order of this part's rows: each part numbers occurrences separately."""
        (part,) = self.parts
        return sha256(f"{self.key} part {part}".encode()).hexdigest()[:32]


def together(documents: Iterable[PartDocument]) -> PartDocument:
    """Return the joint description of parts, with the items per user that all have; refuse repeats and mismatches."""
    documents = list(documents)
    first = documents[0]
    for other in documents[1:]:
        if other.holds != first.holds:
            raise UsageError(
                "Some of these parts hold items of users, and some only counts of labels: count all with `user` and "
                "`max_per_user`, or all without."
            )
        if other.labels != first.labels:
            raise UsageError(
                "Some of these parts hold labels as text and some as hashes: count all with `hash_labels`, or all "
                "without."
            )
        if other.key != first.key:
            raise UsageError(
                f"These parts have different keys, so that {_KEY_OF[first.holds]} has a different hash in each: count "
                "them like the first (`like`)."
            )
        if other.keep_null != first.keep_null:
            raise UsageError(
                "Some of these parts count rows without a label, and some leave them out: count all with `keep_null`, "
                "or all without."
            )
        if other.where != first.where:
            raise UsageError(
                "These parts were counted with different conditions (`where`): count all with the same condition, or "
                "all without."
            )
    names = tuple(name for each in documents for name in each.parts)
    check_distinct(names)
    bounds = [each.max_per_user for each in documents if each.max_per_user is not None]
    return replace(first, parts=names, max_per_user=min(bounds) if bounds else None)


def check_distinct(names: tuple[str, ...]) -> None:
    """Refuse a repeated part, whose items would count twice."""
    seen: set[str] = set()
    for name in names:
        # Names that differ in case, in surrounding spaces or in the encoding of accents may be meant as one.
        plain = normalize("NFC", name).strip().casefold()
        if plain in seen:
            raise UsageError(
                f"The part {name!r} is given twice, on its own or in a total: leave one out or, if different events "
                "have that name, count these again under another (`part`)."
            )
        seen.add(plain)


def parse_part(name: object) -> str:
    """Return the public name of a part, or refuse it."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(
            f"`part` must be a name of at most {_LONGEST} printable characters, such as 2026-11-30, not {name!r:.80}."
        )
    return name


KEY_BYTES = 16
AT_ONCE = 1 << 17


class Rows(NamedTuple):
    """Some rows: their keys, ascending, and their counts or their labels, as Arrow arrays of one length."""

    keys: Any
    values: Any

    def __len__(self) -> int:
        return len(self.keys)

    def between(self, start: int, stop: int) -> Rows:
        """Return a range of them, without a copy."""
        return Rows(self.keys.slice(start, stop - start), self.values.slice(start, stop - start))

    def at(self, places: NDArray[np.int64]) -> Rows:
        """Return the rows at some positions."""
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
    """Check that keys ascend from batch to batch; keys of labels strictly, so that each occurs once."""

    def __init__(self, document: PartDocument) -> None:
        self._is_strict = document.holds == "labels"
        self._last: Any = None

    def __call__(self, keys: Any) -> bool:
        """Return whether the next keys, none of them missing, continue from the last ones."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(keys):
            return True
        before = keys.slice(0, len(keys) - 1)
        if self._last is not None:
            before = pa.concat_arrays([self._last, before])
        compare = pc.less if self._is_strict else pc.less_equal
        after = keys if self._last is not None else keys.slice(1)
        # Its own copy, because a slice would keep all of the batch.
        self._last = pa.array(keys.slice(len(keys) - 1).to_pylist(), keys.type)
        return bool(pc.all(compare(before, after), min_count=0).as_py())


def users_of(keys: Any) -> NDArray[np.uint64]:
    """Return the hashes of users in keys, shape (rows, 2)."""
    return _words(keys)[:, : KEY_BYTES // 8]


def _words(keys: Any) -> NDArray[np.uint64]:
    """Return the bytes of keys of one width, none missing, in words of eight: shape (rows, words)."""
    width = keys.type.byte_width
    held = np.frombuffer(keys.buffers()[1], dtype=np.uint8)[keys.offset * width : (keys.offset + len(keys)) * width]
    return held.reshape(-1, width).view(np.uint64)


def _heads(keys: Any) -> NDArray[np.uint64]:
    """Return the first eight bytes of keys as numbers in the order of the keys."""
    return _words(keys)[:, 0].copy().view(">u8").astype(np.uint64)


def bounded(rows: Iterator[Rows], most: int) -> Iterator[Rows]:
    """Keep the first ``most`` rows of each user, in the order of their hashes, of ascending rows of users."""
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
        # Rows of the last batch's user continue its numbering.
        first = np.full(len(users), -places)
        if len(starts):
            first[starts[0] :] = np.repeat(starts, np.diff(starts, append=len(users)))
        rank = indices - first
        last, places = users[-1].copy(), int(rank[-1]) + 1
        kept = np.flatnonzero(rank < most)
        yield batch if len(kept) == len(batch) else batch.at(kept)


def lower_bound(keys: Any, wanted: Any, compare: Callable[[Any, Any], Any] | None = None) -> NDArray[np.int64]:
    """Return how many of some ascending keys, at least one, are below each wanted one: a vectorized binary search.

    ``compare`` defines "below", strictly by default.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    compare = compare or pc.less
    if pa.types.is_fixed_size_binary(keys.type):
        # The first eight bytes nearly always distinguish hashes, and NumPy finds them ten times as fast.
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
    """Return the number of items without a label, from the first row if it counts them, and the other rows."""
    first = next(rows, None)
    if first is None:
        return 0, rows
    missing = first.keys.null_count

    def others() -> Iterator[Rows]:
        yield first.between(missing, len(first))
        yield from rows

    return int(first.values[0].as_py()) if missing else 0, others()

"""What a part says about itself in the metadata of its file: public choices, and nothing about its rows."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal
from unicodedata import normalize

from anonhist.errors import UsageError, public_error
from anonhist.privacy import parse_order_key
from anonhist.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

FORMAT, VERSION = "anonhist.counts", 1
_LONGEST = 200
_KEY_OF = {"users": "a user", "labels": "a label"}


@dataclass(frozen=True)
class PartDocument:
    """What a part holds: public.

    Attributes
    ----------
    parts
        The public names of the parts in it: one, or several in a total.
    holds
        ``"labels"``: labels with their counts; ``"users"``: some items of each user.
    labels
        Whether labels are there as text or as keyed hashes.
    key
        32 hexadecimal digits, by which users and labels are hashed; None where nothing is.
    max_per_user
        How many items of each user there are at most, where it holds users.
    keep_null
        Whether rows without a label count as one more label.
    """

    parts: tuple[str, ...]
    holds: Literal["labels", "users"]
    labels: Literal["text", "hashes"]
    key: str | None
    max_per_user: int | None
    keep_null: bool

    def __post_init__(self) -> None:
        """Refuse what contradicts itself: see :meth:`read`."""
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
        check_distinct(self.parts)

    def to_json(self) -> bytes:
        """Return the text for the file's metadata."""
        fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "private": True, "parts": list(self.parts)}
        fields |= {"holds": self.holds, "labels": self.labels, "key": self.key, "max_per_user": self.max_per_user}
        return json.dumps(fields | {"keep_null": self.keep_null, "software": f"anonhist {__version__}"}).encode()

    @classmethod
    def read(cls, text: bytes, shown: str) -> PartDocument:
        """Read the metadata of a file, which sentences call ``shown``.

        Raises
        ------
        DataError
            If it is damaged, or was written by a newer version.
        """
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
            names = ("holds", "labels", "key", "max_per_user", "keep_null")
            return cls(tuple(fields["parts"]), **{name: fields[name] for name in names})
        except (KeyError, TypeError, UsageError):
            raise damaged from None

    def order_key(self) -> str:
        """Return the key of the random order of this part's rows: occurrences are numbered anew in each part.

        Examples
        --------
        >>> monday = PartDocument(("monday",), "users", "text", "0" * 32, 5, False)
        >>> monday.order_key() == replace(monday, parts=("tuesday",)).order_key()
        False
        """
        (part,) = self.parts
        return sha256(f"{self.key} part {part}".encode()).hexdigest()[:32]


def together(documents: Iterable[PartDocument]) -> PartDocument:
    """Return what parts hold when they are added up, of each user as many items as all of them have.

    Raises
    ------
    UsageError
        If a part is in two of them, or they do not go together.
    """
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
    names = tuple(name for each in documents for name in each.parts)
    check_distinct(names)
    bounds = [each.max_per_user for each in documents if each.max_per_user is not None]
    return replace(first, parts=names, max_per_user=min(bounds) if bounds else None)


def check_distinct(names: tuple[str, ...]) -> None:
    """Refuse a part that is there twice: its items would count twice."""
    seen: set[str] = set()
    for name in names:
        # Names that differ in case, in spaces around or in how an accent is written may be meant as one.
        plain = normalize("NFC", name).strip().casefold()
        if plain in seen:
            raise UsageError(
                f"The part {name!r} is there twice, on its own or in a total: leave one out, or, if other events have "
                "that name, count these again under another (`part`)."
            )
        seen.add(plain)


def parse_part(name: object) -> str:
    """Return the public name of a part, or refuse it.

    Examples
    --------
    >>> parse_part("2026-11-30")
    '2026-11-30'
    """
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > _LONGEST:
        raise UsageError(
            f"`part` must be a name of at most {_LONGEST} printable characters, such as 2026-11-30, not {name!r:.80}."
        )
    return name

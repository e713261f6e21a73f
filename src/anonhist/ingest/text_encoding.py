"""Whether text is UTF-8, by how it begins: engines only say that they cannot read it, or read it wrongly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import DataError
from anonhist.ingest.failures import NOT_LINES, NOT_TEXT, WIDE_TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

# How many bytes are looked at.
BEGINNING = 64
_UTF_8_MARK = b"\xef\xbb\xbf"
# The longer ones first.
_MARKS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_FEWEST = 4


def other_encoding(beginning: bytes) -> str | None:
    r"""Return the encoding of a text whose characters have several bytes each, None for any other text.

    Without a byte order mark, every second byte is zero: such is UTF-16 of a Latin script, which is UTF-8 as well.

    Examples
    --------
    >>> [other_encoding("cat, dog".encode(name)) for name in ("utf-16", "utf-16-le", "utf-16-be", "utf-8")]
    ['UTF-16', 'UTF-16LE', 'UTF-16BE', None]
    """
    for mark, name in _MARKS.items():
        if beginning.startswith(mark):
            return name
    even, odd = beginning[:BEGINNING:2], beginning[1:BEGINNING:2]
    if len(beginning) < _FEWEST or any(even) == any(odd):
        return None
    return "UTF-16LE" if any(even) else "UTF-16BE"


def not_utf_8(beginning: bytes) -> str:
    """Return what a text is that is not UTF-8, as the end of a sentence."""
    encoding = other_encoding(beginning)
    return NOT_TEXT if encoding is None else WIDE_TEXT.format(encoding=encoding)


def check_beginning(beginning: bytes, what: str) -> None:
    """Refuse a text of rows that is not UTF-8 by its first bytes.

    Raises
    ------
    DataError
        If it is not; the message holds nothing of it.
    """
    if other_encoding(beginning):
        raise DataError(f"{what} {not_utf_8(beginning)}")


def check_beginnings(beginnings: Sequence[bytes], what: str, *, is_json: bool) -> None:
    """Refuse texts of rows, labels or JSON lines, that are another kind of text by their first bytes.

    Raises
    ------
    DataError
        If one is; the message holds nothing of it.
    """
    for beginning in beginnings:
        check_beginning(beginning, what)
        if is_json and beginning.removeprefix(_UTF_8_MARK).lstrip().startswith(b"["):
            raise DataError(f"{what} {NOT_LINES}")

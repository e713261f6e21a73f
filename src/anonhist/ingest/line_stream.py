"""Labels one a line, as they come: a stream of any length in memory that does not grow."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from anonhist.errors import DataError
from anonhist.ingest.failures import NOT_TEXT
from anonhist.ingest.text_encoding import BEGINNING, check_beginning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_BLOCK = 1 << 20
# Longer lines are not labels.
LONGEST_LINE = 1 << 24
_LINE_FEED, _RETURN = 10, 13
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS = re.compile(rb"^(?:" + _BYTE_ORDER_MARK + rb")+", re.MULTILINE)


def label_blocks(stream: BinaryIO, *, block: int = _BLOCK) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    r"""Read labels block by block, in the form in which they are hashed.

    Lines end in a line feed, or in a carriage return and a line feed; the last one need not. Empty lines are no
    labels, and come out as labels of no length. Byte order marks at the beginning of a line are skipped.

    Parameters
    ----------
    stream
        UTF-8 text, read once.
    block
        How many bytes to read at a time, ≥ 1.

    Yields
    ------
    data : ndarray of uint8, shape (bytes,)
        The bytes of some labels, one after the other.
    offsets : ndarray of int64, shape (labels + 1,)
        Label i is ``data[offsets[i]:offsets[i + 1]]``.

    Raises
    ------
    DataError
        If a line is not UTF-8, or longer than 2^24 bytes; the message holds nothing of it.

    Examples
    --------
    >>> import io
    >>> [(bytes(data), offsets.tolist()) for data, offsets in label_blocks(io.BytesIO(b"cat\ndog\r\n\nemu"))]
    [(b'catdog', [0, 3, 6, 6]), (b'emu', [0, 3])]
    """
    rest: list[bytes] = []
    pending, is_first = 0, True
    for part in _parts(stream, block):
        if is_first:
            check_beginning(part[:BEGINNING], "The input")
            is_first = False
        # The second half of a line's end may be in the next part, so only line feeds end lines here.
        end = part.rfind(b"\n") + 1
        if pending + (part.find(b"\n") if end else len(part)) > LONGEST_LINE:
            raise DataError("A line is longer than 2^24 bytes: give one label a line.")
        if not end:
            rest.append(part)
            pending += len(part)
            continue
        yield _split(b"".join((*rest, part[:end])))
        rest, pending = [part[end:]], len(part) - end
    if last := b"".join(rest):
        yield _split(last + b"\n")


def _parts(stream: BinaryIO, block: int) -> Iterator[bytes]:
    """Read parts of this size or more.

    Each call reads once: one that goes on reading until it has enough would not hear of Ctrl-C in between, and then
    wait for more.
    """
    pieces: list[bytes] = []
    size = 0
    while piece := stream.read1(block):  # type: ignore[attr-defined]  # buffered streams have it
        pieces.append(piece)
        size += len(piece)
        if size >= block:
            yield b"".join(pieces)
            pieces, size = [], 0
    if pieces:
        yield b"".join(pieces)


def _split(lines: bytes) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Split whole lines."""
    if _BYTE_ORDER_MARK in lines:
        # At every line, not the first alone: another line before it must not change how one is read.
        lines = _MARKS.sub(b"", lines)
    try:
        lines.isascii() or lines.decode()
    except UnicodeDecodeError:
        raise DataError(f"The input {NOT_TEXT}") from None
    text = np.frombuffer(lines, dtype=np.uint8)
    feeds = np.flatnonzero(text == _LINE_FEED)
    is_end = np.zeros(text.size, dtype=np.bool_)
    is_end[feeds] = True
    # Before a line feed at the very beginning, index −1 is the last byte, which is a line feed.
    before = feeds - 1
    has_return = text[before] == _RETURN
    is_end[before[has_return]] = True
    ends = feeds - np.arange(feeds.size) - np.cumsum(has_return)
    return text[~is_end], np.concatenate((np.zeros(1, dtype=np.int64), ends))

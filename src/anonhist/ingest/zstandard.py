"""Whether a Zstandard file is whole: the engine takes what there is of a cut one for all of it, and says nothing."""

from __future__ import annotations

from typing import IO

_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"
_DICTIONARY_BYTES = (0, 1, 2, 4)
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_REPEATED = 1


def is_whole(file: IO[bytes]) -> bool:
    """Return whether a file consists of complete frames, by walking from block header to block header (RFC 8878, §3.1).

    Nothing is decompressed: a block holds up to 128 KiB and only its three bytes of header are read.

    Parameters
    ----------
    file
        Open for reading in binary, at its beginning, and able to seek.

    Examples
    --------
    >>> from io import BytesIO
    >>> frame = bytes.fromhex("28b52ffd 20 01 090000 61")  # the letter a
    >>> is_whole(BytesIO(frame)), is_whole(BytesIO(frame[:-1]))
    (True, False)
    """
    size = file.seek(0, 2)
    file.seek(0)
    while (at := file.tell()) < size:
        magic = file.read(4)
        if magic[1:] == _SKIPPABLE and magic[0] >> 4 == 5:
            file.seek(int.from_bytes(file.read(4), "little"), 1)
        elif magic != _MAGIC or not _past_frame(file):
            return False
        if file.tell() > size or file.tell() - at < 8:
            return False
    return size > 0


def _past_frame(file: IO[bytes]) -> bool:
    descriptor = file.read(1)
    if not descriptor:
        return False
    flags = descriptor[0]
    single_segment, checksum = bool(flags & 0x20), bool(flags & 0x04)
    content_size = _CONTENT_SIZE_BYTES[flags >> 6] or int(single_segment)
    file.seek((not single_segment) + _DICTIONARY_BYTES[flags & 3] + content_size, 1)
    last = False
    while not last:
        header = file.read(3)
        if len(header) < 3:
            return False
        number = int.from_bytes(header, "little")
        last, kind, length = bool(number & 1), (number >> 1) & 3, number >> 3
        file.seek(1 if kind == _REPEATED else length, 1)
    file.seek(4 * checksum, 1)
    return True

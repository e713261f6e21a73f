"""JSON lines: the keys to read are said, and each row is read for itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import Opened, Schema, distinct_names, opened_relation, quoted
from anonhist.ingest.engine import NOT_TEXT
from anonhist.ingest.locations import BEGINNING, check_beginning
from anonhist.ingest.parquet_files import keys_of_path, value_in_folder
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb
    from numpy.typing import NDArray

# What the engine says of a row, in our words.
LARGE_FLOAT = "floats of 2^53 and more"
_TEXT = "({value} ->> '$')"
_FLOAT = f"TRY_CAST({_TEXT} AS DOUBLE)"
# The engine takes whole numbers beyond 64 bits for floats, too, but keeps all their digits; and NaN and Infinity, which
# programs write although JSON has none.
_NAME = (
    f"CASE WHEN json_type({{value}}) IS DISTINCT FROM 'DOUBLE' OR regexp_full_match({_TEXT}, '-?[0-9]+') THEN {_TEXT} "
    f"WHEN isnan({_FLOAT}) THEN NULL "
    f"WHEN coalesce(abs({_FLOAT}), 'inf') >= {LARGEST_NAMED} THEN error('{LARGE_FLOAT}') "
    f"WHEN {_FLOAT} = trunc({_FLOAT}) THEN CAST(CAST({_FLOAT} AS BIGINT) AS VARCHAR) "
    f"ELSE {_TEXT} END"
)


def json_table(
    connection: duckdb.DuckDBPyConnection, patterns: list[str], paths: Sequence[str], keys: Iterable[str | None]
) -> Opened:
    """Return the values of some keys, at least one, every column as text.

    Nothing depends on the keys, or on the types of values, that other rows have. A key that a row lacks is null there,
    as is a row ``null``; keys are compared exactly, with regard to case. Where a row has no value, but a folder of its
    file is named for the key, it has the value of the folder.

    Strings come as they are, and whole numbers as such, 7.0 like 7: programs write whole numbers as floats once a value
    is missing. Floats of 2^53 and more, infinity among them, no longer tell whole numbers apart: the engine refuses
    them. NaN is null. Fractions come in their shortest form, truth values as words, lists and objects as JSON without
    spaces.
    """
    names = keys_to_read(keys)
    spelled = [{spelling for path in paths if (spelling := keys_of_path(path).get(name))} for name in names]
    # The engine calls the column with the name of the file so.
    file, *held = distinct_names(["filename", *names])
    is_plain = held == names
    columns = dict.fromkeys(names, "JSON") if is_plain else {"keys": "MAP(VARCHAR, JSON)"}
    rows = connection.read_json(
        patterns,
        format="newline_delimited",
        records="true" if is_plain else "false",
        columns=columns,
        hive_partitioning=False,
        filename=any(spelled),
    )
    if not is_plain:
        # Columns are told apart without regard to case, and keys are not.
        picked = [f"keys[{_literal(name)}] AS {quoted(each)}" for name, each in zip(names, held, strict=True)]
        rows = rows.project(", ".join(picked + ([file] if any(spelled) else [])))
    texts = []
    for name, spellings in zip(held, spelled, strict=True):
        values = (_NAME.format(value=quoted(name)), *(value_in_folder(file, each) for each in sorted(spellings)))
        texts.append(f"coalesce({', '.join(values)}) AS {quoted(name)}")
    return opened_relation(rows.project(", ".join(texts)), Schema.FOUND, names)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def keys_to_read(keys: Iterable[str | None]) -> list[str]:
    """Return the keys to read, at least one, each once."""
    names = list(dict.fromkeys(key for key in keys if key))
    if not names:
        raise UsageError("JSON lines have no header: say which keys to read.")
    return names


_BLOCK = 1 << 20
# Longer lines are not labels.
LONGEST_LINE = 1 << 24
_LINE_FEED, _RETURN = 10, 13
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS = re.compile(rb"^(?:" + _BYTE_ORDER_MARK + rb")+", re.MULTILINE)


def label_blocks(stream: BinaryIO, *, block: int = _BLOCK) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Read labels from UTF-8 text by blocks, as hashing takes them: label i is ``data[offsets[i]:offsets[i + 1]]``.

    Lines end in a line feed, or in a carriage return and a line feed; the last one need not. Empty lines are no labels,
    and come out as labels of no length. Byte order marks at the beginning of a line are skipped. A line that is not
    UTF-8, or longer than 2^24 bytes, is refused; the message holds nothing of it.
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
    """Read parts of this size or more, one read a call: reading on until there is enough would not hear of Ctrl-C."""
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

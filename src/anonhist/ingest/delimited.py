"""Delimited text and lines: the header is read here, the rows by DuckDB, with nothing left for it to guess.

Comments are whole lines that begin with a sign, never parts of lines: the engine would end a row at that sign anywhere,
and so split hashtags.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from anonhist.errors import AnonhistError, DataError, UsageError, mask, public_error
from anonhist.ingest.columns import Opened, Schema, distinct_names, literal, opened_relation, quoted
from anonhist.ingest.engine import NO_COUNTED_LINE, NOT_TEXT, WIDE_LINE
from anonhist.ingest.locations import (
    BEGINNING,
    check_beginning,
    escape_pattern,
    folder_keys,
    not_utf_8,
    other_encoding,
    value_in_folder,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import IO

    import duckdb
    from numpy.typing import NDArray

STDIN = "/dev/stdin"
_LONGEST_HEADER = 2**20
_LINE_END = re.compile(rb"\r\n|\n|\r")
# As written in the engine's options.
_NAMED_ENDS = {b"\n": r"\n", b"\r": r"\r", b"\r\n": r"\r\n"}
_QUOTED_BYTES = re.compile(rb'"[^"]*"')
# Separators in files of other programs, to detect when another one is expected.
_SEPARATORS = ";\t|,"
_LINE_OF_EXCEL = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
COUNTED_LINE = "^ *([0-9]+) "
_QUOTED = re.compile(r'"[^"]*"')
# U+FEFF, as the engine writes it.
_MARK = "chr(65279)"
# Few lines contain a zero byte, and searching for it is cheap.
_UNLESS_WIDE = (
    "CASE WHEN contains(label, chr(0)) AND regexp_full_match(label, '\\x00?([^\\x00]\\x00){2,}') "
    f"THEN error('{WIDE_LINE}') ELSE label END AS label"
)


@dataclass(frozen=True)
class Layout:
    """What separates the columns of a text, and whether its first line names them.

    ``is_said`` says whether the caller gave the separator; otherwise it follows from the file's ending.
    """

    sign: str
    is_said: bool
    header: bool

    def __post_init__(self) -> None:
        """Refuse a text that cannot separate columns."""
        if len(self.sign) != 1 or self.sign in '"\r\n':
            raise UsageError(f"The delimiter must be one character other than a quote or line end, not {self.sign!r}.")

    @property
    def schema(self) -> Schema:
        """The origin of the column names."""
        return Schema.FIRST_LINE if self.header else Schema.FOUND


def labels_relation(connection: duckdb.DuckDBPyConnection, paths: Any) -> Any:
    """Return the lines of files, or of standard input, as labels: no header, no quoting."""
    if paths != STDIN:
        return lines_relation(connection, paths)
    _check_unread()
    if _is_regular(0):
        check_beginning(os.pread(0, BEGINNING, 0), "The input")
        return lines_relation(connection, paths)
    # Nobody can look into a pipe before the engine does.
    return lines_relation(connection, paths).project(_UNLESS_WIDE)


def counted_lines(connection: duckdb.DuckDBPyConnection, paths: Any) -> Any:
    """Return the lines of ``uniq -c``, or of standard input, as rows (label, count); an empty label is null.

    Each line is a count, with spaces before it and one after, and the label, with all of its spaces.
    """
    lines = labels_relation(connection, paths)
    label = f"regexp_replace(label, '{COUNTED_LINE}', '')"
    checked = (
        f"CASE WHEN regexp_matches(label, '{COUNTED_LINE}') THEN regexp_extract(label, '{COUNTED_LINE}', 1) "
        f"ELSE error('{NO_COUNTED_LINE}') END"
    )
    return lines.project(f"nullif({label}, '') AS label, {checked} AS count").project(
        f"{without_marks('label')}, count"
    )


def delimited_table(
    connection: duckdb.DuckDBPyConnection,
    ends: Mapping[str, bytes | None],
    first_lines: Mapping[str, bytes],
    layout: Layout,
) -> Opened:
    """Return the rows of files with equal headers, every column as text, and the keys of their folders.

    ``first_lines`` has the first line of each file, by its name; ``ends`` has its line end, if known, by its name as a
    pattern.
    """
    names = common_names(first_lines, layout)
    keys = {key: spelled for key, spelled in folder_keys(first_lines).items() if key not in names}
    alike: dict[bytes | None, list[str]] = {}
    for pattern, end in ends.items():
        alike.setdefault(end, []).append(pattern)
    read = partial(_rows, connection, names=names, delimiter=layout.sign, header=layout.header, keys=keys)
    rows = reduce(lambda some, more: some.union(more), (read(paths, end) for end, paths in alike.items()))
    return opened_relation(rows, layout.schema, names, tuple(keys))


def line_end(line: bytes) -> bytes | None:
    """Return the line end outside of quotes; None if there is none."""
    found = _LINE_END.search(_QUOTED_BYTES.sub(b"", line))
    return found and found[0]


def stdin_table(connection: duckdb.DuckDBPyConnection, layout: Layout) -> Opened:
    """Return the rows of a table on standard input; a pipe can be read only once."""
    if not layout.header:
        raise UsageError(
            "A table on standard input needs a header line: use `format='labels'` for one label per line, or put a "
            "line of names before the rest, as in (echo label,count; cat rows) | …."
        )
    _check_unread()
    if _is_regular(0):
        # DuckDB opens the file behind the descriptor again, from its first byte, so it must skip the header.
        with Path(STDIN).open("rb") as file:
            line = file.readline(_LONGEST_HEADER)
    else:
        line = _piped_line()
    names, header = names_in_line(line, layout, "Standard input"), _is_regular(0)
    rows = _rows(connection, [STDIN], line_end(line), names=names, delimiter=layout.sign, header=header, keys={})
    return opened_relation(rows, Schema.FIRST_LINE, names)


def _rows(
    connection: duckdb.DuckDBPyConnection,
    paths: list[str],
    end: bytes | None,
    *,
    names: list[str],
    delimiter: str,
    header: bool,
    keys: Mapping[str, str],
) -> Any:
    """Return the rows of files with the same line end.

    By default, the engine uses the first line end that it finds, even in quotes: then the first row would decide
    whether a table can be read.
    """
    # This is the engine's name of the column with the file name.
    file, *held = distinct_names(["filename", *names])
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in held)
    new_line = "" if end is None else f", new_line = {literal(_NAMED_ENDS[end])}"
    # The connection's method does not accept line ends.
    rows = connection.sql(
        f"FROM read_csv([{', '.join(map(literal, paths))}], header = {header}, columns = {{{columns}}}, "
        f"sep = {literal(delimiter)}, quote = '\"', escape = '\"', auto_detect = false, hive_partitioning = false, "
        f"filename = {bool(keys)}{new_line})"
    )
    if not header:
        rows = rows.project(f"* REPLACE ({without_marks(held[0])})")
    if keys:
        values = (f"{value_in_folder(file, spelled)} AS {quoted(key)}" for key, spelled in keys.items())
        rows = rows.project(", ".join((*map(quoted, held), *values)))
    return rows


def common_names(lines: Mapping[str, bytes], layout: Layout) -> list[str]:
    """Return the column names that the first lines of all files share, or refuse files that differ."""
    names: dict[str, list[str]] = {}
    for path, line in lines.items():
        names[path] = names_in_line(line, layout, f"The file {mask(path)!r}")
        first = next(iter(names))
        if names[path] != names[first]:
            raise _about_names(
                f"The file {mask(path)!r} does not have the same columns, in the same order, as {mask(first)!r}.",
                layout,
            )
    return next(iter(names.values()))


def names_in_line(line: bytes, layout: Layout, what: str) -> list[str]:
    """Return the column names in the first line of a file, or default names for columns without names."""
    if not line:
        raise DataError(f"{what} is empty: a table needs at least a header line.")
    if other_encoding(line[:BEGINNING]):
        raise _about_names(f"{what} {not_utf_8(line)}", layout)
    try:
        text = (_LINE_END.split(line, maxsplit=1)[0] if layout.header else line).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise _about_names(f"{what} {not_utf_8(line)}", layout) from None
    if not text and layout.header:
        raise public_error(f"{what} begins with an empty line where the names of its columns should be.")
    if layout.header:
        _check_separator(text, layout, what)
    try:
        fields: Iterable[str] = next(
            csv.reader(io.StringIO(text, newline=""), delimiter=layout.sign, strict=True), []
        ) or [""]
    except csv.Error:
        message = f"The first line of {what[0].lower()}{what[1:]} is not a row with this delimiter and quoting."
        raise _about_names(message, layout) from None
    if not layout.header:
        return [f"column{index}" for index, _ in enumerate(fields)]
    return [field.strip() or f"column{index}" for index, field in enumerate(fields)]


def _check_separator(header: str, layout: Layout, what: str) -> None:
    """Refuse a header line of one column that another character may separate, unless the caller said how to read it."""
    if found := _LINE_OF_EXCEL.fullmatch(header):
        raise public_error(
            f"{what} begins with a line for Excel where the names of its columns should be: remove that line, and give "
            f"the separator of its columns (`delimiter={found[1]!r}`)."
        )
    if layout.is_said:
        return
    is_quoted = _QUOTED.fullmatch(header) is not None
    # A line that is one quoted name was quoted as a whole.
    plain = header[1:-1] if is_quoted else _QUOTED.sub("", header)
    if layout.sign in plain:
        if is_quoted:
            raise public_error(
                f"{what} has one column, by its header line, which is in quotes with {layout.sign!r} in it: if its "
                f"lines were quoted as a whole, take these quotes away; if it is one column, give "
                f"`delimiter={layout.sign!r}`."
            )
        return
    other = max(_SEPARATORS, key=plain.count)
    if other in plain:
        raise public_error(
            f"{what} has one column, by its header line, and {other!r} in its name: if that separates columns, give "
            f"`delimiter={other!r}`, or write the file with {layout.sign!r} instead; if it is one column, give "
            f"`delimiter={layout.sign!r}`."
        )


def _about_names(sentence: str, layout: Layout) -> AnonhistError:
    """Return an error about first lines, which is public if they are header lines, and reveals rows if they are not."""
    return public_error(sentence) if layout.header else DataError(sentence)


def first_line(path: str) -> bytes:
    """Return the first line of a local file, up to the largest length of column names."""
    with unpacked(path) as file:
        line: bytes = file.readline(_LONGEST_HEADER)
    return line


def first_row(path: str) -> bytes:
    """Return the first row of a local file without a header line, as the engine finds it.

    Empty lines are not rows, and a line end in quotes does not end a row, so a row's position in the file does not
    matter.
    """
    row = b""
    with unpacked(path) as file:
        while len(row) < _LONGEST_HEADER and (line := file.readline(_LONGEST_HEADER)):
            row += line if row else line.lstrip(b"\r\n")
            if row and row.count(b'"') % 2 == 0:
                break
    return row


def beginning(path: str) -> bytes:
    """Return the first bytes of a local file."""
    with unpacked(path) as file:
        first: bytes = file.read(BEGINNING)
    return first


def unpacked(path: str) -> Any:
    """Open a local file, compressed or not, as bytes."""
    if path.lower().endswith(".gz"):
        import gzip

        return gzip.open(path, "rb")
    if path.lower().endswith(".zst"):
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"))
    file: IO[bytes] = Path(path).open("rb")  # noqa: SIM115  # the caller closes it
    return file


def unpacked_lines(path: str) -> io.TextIOWrapper:
    """Open a local file as lines that end in a line feed, a carriage return or both, with one character per byte."""
    return io.TextIOWrapper(unpacked(path), encoding="latin-1")


def _piped_line() -> bytes:
    """Read one line and not a byte more: the rest is for DuckDB.

    After a lone carriage return, a row would have begun. Only the header line determines that, so the error may say so.
    """
    line = b""
    while not line.endswith(b"\n") and len(line) < _LONGEST_HEADER and (byte := os.read(0, 1)):
        if line.endswith(b"\r") and byte != b"\n":
            raise public_error(
                "The header line of standard input ends in a carriage return alone: read that from a file, or end "
                "lines in line feeds, as tr '\\r' '\\n' does."
            )
        line += byte
    return line


def _is_regular(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _check_unread() -> None:
    if _is_regular(0) and os.lseek(0, 0, os.SEEK_CUR):
        raise UsageError("Standard input is a file that was already partly read; pipe the rest in with cat.")


def lines_relation(connection: duckdb.DuckDBPyConnection, paths: Any, **options: Any) -> Any:
    """Return each line of files as one value (label); an empty line is null.

    Lines end in a line feed, in a carriage return or in both, the same in the whole file. Byte order marks are skipped
    at the beginning of every line, not only the first: another row before it must not change how a row is read.
    """
    # Every option is given: on a pipe, detection would swallow the rows that it inspects.
    lines = connection.read_csv(
        paths,
        header=False,
        columns={"label": "VARCHAR"},
        # No line contains a line end. It may contain every other character.
        sep="\n",
        quotechar="",
        escapechar="",
        auto_detect=False,
        hive_partitioning=False,
        **options,
    )
    return lines.project(without_marks("label"))


def without_marks(column: str) -> str:
    """Return SQL for a text column without leading byte order marks; null if nothing is left."""
    name = quoted(column)
    # Few lines begin with one, and searching for it is cheap.
    return f"CASE WHEN starts_with({name}, {_MARK}) THEN nullif(ltrim({name}, {_MARK}), '') ELSE {name} END AS {name}"


# How far into a file its header may be.
_LONGEST_PREFACE = 2**20
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def commented_table(connection: duckdb.DuckDBPyConnection, paths: list[str], layout: Layout, comment: str) -> Opened:
    """Return the rows of local files with the same columns, as text, without lines that begin with ``comment``.

    The sign is one character. With a header, the first line of each file that is neither a comment nor empty names its
    columns. A file that begins with too many comments, or with a row of more or fewer columns than the first, is
    refused.
    """
    if len(comment) != 1 or comment in ('"', "\r", "\n", layout.sign):
        raise UsageError(f"`comment` must be one character other than a quote or separator, not {comment!r:.80}.")
    found = {path: _first_line(path, comment.encode()) for path in paths}
    names = common_names({path: line for path, (line, _) in found.items()}, layout)
    parts = [
        lines_relation(connection, escape_pattern(path), skiprows=before + layout.header)
        for path, (_, before) in found.items()
    ]
    lines = parts[0]
    for part in parts[1:]:
        lines = lines.union(part)
    rows = lines.filter(f"label IS NOT NULL AND NOT starts_with(label, {literal(comment)})")
    return opened_relation(_fields(rows, layout.sign, len(names)), layout.schema, names)


def _first_line(path: str, comment: bytes) -> tuple[bytes, int]:
    """Return the first line that is neither a comment nor empty, and the number of lines before it."""
    with unpacked(path) as file:
        preface = file.read(_LONGEST_PREFACE)
    if other_encoding(preface[:BEGINNING]):
        # Line ends are not found there, and the text after one begins in the middle of a character.
        return preface, 0
    for number, line in enumerate(_LINE.findall(preface if preface[-1:] in b"\r\n" else preface + b"\n")):
        begins = line.removeprefix(_BYTE_ORDER_MARK)
        if begins.strip(b"\r\n") and not begins.startswith(comment):
            return line, number
    raise DataError(f"The file {mask(path)!r} has no row among its first {_LONGEST_PREFACE:,} bytes, only comments.")


def _fields(rows: Any, delimiter: str, columns: int) -> Any:
    """Split lines like CSV, with quotes that end on the same line."""
    sign = re.escape(delimiter).replace("'", "''")
    field = rf'"(?:[^"]|"")*"|[^"{sign}][^{sign}]*|'
    # A separator precedes each field, because an empty match would be found once too often.
    before = f"{literal(delimiter)} || label"
    quoted = f"regexp_extract_all({before}, '{sign}({field})', 1)"
    is_whole = f"regexp_full_match({before}, '(?:{sign}(?:{field}))*')"
    unquoted = f"list_transform({quoted}, lambda field: {_unquoted()})"
    parts = (
        f"CASE WHEN NOT contains(label, '\"') THEN string_split(label, {literal(delimiter)}) "
        f"WHEN {is_whole} THEN {unquoted} ELSE error('unterminated quote') END"
    )
    split = rows.project(f"{parts} AS fields")
    checked = split.project(
        f"CASE WHEN len(fields) = {columns} THEN fields ELSE error('expected number of columns') END AS fields"
    )
    return checked.project(", ".join(f"nullif(fields[{at}], '') AS c{at}" for at in range(1, columns + 1)))


def _unquoted() -> str:
    return "CASE WHEN starts_with(field, '\"') THEN replace(field[2:-2], '\"\"', '\"') ELSE field END"


_BLOCK = 1 << 20
# Longer lines are not labels.
LONGEST_LINE = 1 << 24
_LINE_FEED, _RETURN = 10, 13
_MARKS_OF_LINES = re.compile(rb"^(?:" + _BYTE_ORDER_MARK + rb")+", re.MULTILINE)


def label_blocks(stream: BinaryIO, *, block: int = _BLOCK) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Read labels from UTF-8 text in blocks, as hashing accepts them: label i is ``data[offsets[i]:offsets[i + 1]]``.

    Lines end in a line feed, or in a carriage return and a line feed; the last one need not. Empty lines are not
    labels, and appear as labels of length zero. Byte order marks at the beginning of a line are skipped. A line that is
    not UTF-8, or longer than 2^24 bytes, is refused; the message contains nothing of it.
    """
    rest: list[bytes] = []
    pending, is_first = 0, True
    for part in _parts(stream, block):
        if is_first:
            check_beginning(part[:BEGINNING], "The input")
            is_first = False
        # The second half of a line end may be in the next part, so only line feeds end lines here.
        end = part.rfind(b"\n") + 1
        if pending + (part.find(b"\n") if end else len(part)) > LONGEST_LINE:
            raise DataError("A line is longer than 2^24 bytes: write one label per line.")
        if not end:
            rest.append(part)
            pending += len(part)
            continue
        yield _split(b"".join((*rest, part[:end])))
        rest, pending = [part[end:]], len(part) - end
    if last := b"".join(rest):
        yield _split(last + b"\n")


def _parts(stream: BinaryIO, block: int) -> Iterator[bytes]:
    """Read parts of at least this size, one per call: a loop that collects more would not notice Ctrl-C."""
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
        # At every line, not only the first: another line before it must not change how a line is read.
        lines = _MARKS_OF_LINES.sub(b"", lines)
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

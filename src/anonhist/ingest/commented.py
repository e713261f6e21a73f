"""Delimited text with comments: lines that begin with a sign, and nothing else of any line.

The engine would end a row at that sign wherever it stands, and so take hashtags apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError, mask
from anonhist.ingest.column_names import NamedTable, named_relation
from anonhist.ingest.delimited import Separator, common_names, lines_relation, unpacked
from anonhist.ingest.local_files import escape_pattern
from anonhist.ingest.text_encoding import BEGINNING, other_encoding

if TYPE_CHECKING:
    import duckdb

# How far into a file its header may stand.
_LONGEST_PREFACE = 2**20
_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)")
_MARK = b"\xef\xbb\xbf"


def commented_table(
    connection: duckdb.DuckDBPyConnection, paths: list[str], separator: Separator, comment: str, *, header: bool
) -> NamedTable:
    """Return the rows of local files without comments, every column as text.

    Parameters
    ----------
    connection
        The engine.
    paths
        The files, which have the same columns.
    separator, comment
        Lines that begin with the comment, one character, are left out.
    header
        Whether the first line of each file that is neither a comment nor empty names its columns.

    Raises
    ------
    UsageError
        If the comment is no such sign.
    DataError
        If a file holds nothing else than comments at its beginning, or a row has more or fewer columns than the first.
    """
    if len(comment) != 1 or comment in ('"', "\r", "\n", separator.sign):
        raise UsageError(f"`comment` must be one character that neither quotes nor separates, not {comment!r:.80}.")
    found = {path: _first_line(path, comment.encode()) for path in paths}
    names = common_names({path: line for path, (line, _) in found.items()}, separator, header=header)
    parts = [
        lines_relation(connection, escape_pattern(path), skiprows=before + header)
        for path, (_, before) in found.items()
    ]
    lines = parts[0]
    for part in parts[1:]:
        lines = lines.union(part)
    rows = lines.filter(f"label IS NOT NULL AND NOT starts_with(label, {_text(comment)})")
    return named_relation(_fields(rows, separator.sign, len(names)), names)


def _first_line(path: str, comment: bytes) -> tuple[bytes, int]:
    """Return the first line that is neither a comment nor empty, and how many there are before it."""
    with unpacked(path) as file:
        preface = file.read(_LONGEST_PREFACE)
    if other_encoding(preface[:BEGINNING]):
        # Ends of lines are not found there, and what follows one begins in the middle of a character.
        return preface, 0
    for number, line in enumerate(_LINE.findall(preface if preface[-1:] in b"\r\n" else preface + b"\n")):
        begins = line.removeprefix(_MARK)
        if begins.strip(b"\r\n") and not begins.startswith(comment):
            return line, number
    raise DataError(f"The file {mask(path)!r} has no row among its first {_LONGEST_PREFACE:,} bytes, but comments.")


def _fields(rows: Any, delimiter: str, columns: int) -> Any:
    """Split lines as CSV does, with quotes that end on their line."""
    sign = re.escape(delimiter).replace("'", "''")
    field = rf'"(?:[^"]|"")*"|[^"{sign}][^{sign}]*|'
    # A separator before each field: a match of nothing would be found once too often.
    before = f"{_text(delimiter)} || label"
    quoted = f"regexp_extract_all({before}, '{sign}({field})', 1)"
    is_whole = f"regexp_full_match({before}, '(?:{sign}(?:{field}))*')"
    unquoted = f"list_transform({quoted}, lambda field: {_unquoted()})"
    parts = (
        f"CASE WHEN NOT contains(label, '\"') THEN string_split(label, {_text(delimiter)}) "
        f"WHEN {is_whole} THEN {unquoted} ELSE error('unterminated quote') END"
    )
    split = rows.project(f"{parts} AS fields")
    checked = split.project(
        f"CASE WHEN len(fields) = {columns} THEN fields ELSE error('expected number of columns') END AS fields"
    )
    return checked.project(", ".join(f"nullif(fields[{at}], '') AS c{at}" for at in range(1, columns + 1)))


def _unquoted() -> str:
    return "CASE WHEN starts_with(field, '\"') THEN replace(field[2:-2], '\"\"', '\"') ELSE field END"


def _text(sign: str) -> str:
    return "'" + sign.replace("'", "''") + "'"

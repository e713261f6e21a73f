"""Formats of graphs: how a file's format is recognized, and which of its lines are not edges."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any, Literal, get_args

from anonhist.errors import UsageError
from anonhist.ingest.engine import IS_GML, IS_GRAPHML, IS_MATRIX_MARKET, IS_PAJEK, OPEN_QUOTE
from anonhist.ingest.files import input_files
from anonhist.ingest.locations import is_remote

EdgeFormatName = Literal["lines", "snap", "konect", "pajek", "matrix-market", "graphml", "gml"]
EDGE_FORMATS: tuple[EdgeFormatName, ...] = get_args(EdgeFormatName)
_COMPRESSED = (".gz", ".zst")
# The prefix of KONECT file names, before the name of the network.
_KONECT = "out."


class EdgeFormat(Enum):
    """A format that defines edges by itself, unlike tables, whose columns must be named."""

    LINES = "lines"
    SNAP = "snap"
    KONECT = "konect"
    PAJEK = "pajek"
    MATRIX_MARKET = "matrix-market"
    GRAPHML = "graphml"
    GML = "gml"

    @property
    def comments(self) -> str:
        """The characters at the start of a line that mark a comment."""
        return {"snap": "#", "konect": "%"}.get(self.value, "#%")

    @property
    def is_document(self) -> bool:
        """Whether a file is one graph, rather than lines each of which is an edge."""
        return self not in (EdgeFormat.LINES, EdgeFormat.SNAP, EdgeFormat.KONECT)


_ENDINGS = {
    **dict.fromkeys((".txt", ".edges", ".edgelist"), EdgeFormat.LINES),
    ".net": EdgeFormat.PAJEK,
    ".mtx": EdgeFormat.MATRIX_MARKET,
    ".graphml": EdgeFormat.GRAPHML,
    ".gml": EdgeFormat.GML,
}
# Endings of files that hold something else, whatever precedes them.
_OTHERS = {
    *(".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"),
    *(".db", ".duckdb", ".sqlite", ".sqlite3", ".counts", ".sketch"),
}


def parse_edge_format(given: object) -> EdgeFormat | None:
    """Return the format given by its name, if any."""
    if given is None:
        return None
    try:
        return EdgeFormat(given)
    except ValueError:
        raise UsageError(f"`format` must be one of {', '.join(EDGE_FORMATS)}, not {given!r:.80}.") from None


def edge_format_of(source: str) -> EdgeFormat | None:
    """Return the format that file names imply, None for tables; standard input is lines."""
    if source == "-":
        return EdgeFormat.LINES
    names = input_files(source) or [source.split("?", 1)[0] if is_remote(source) else source]
    found = {_format_of(name) for name in names}
    return found.pop() if len(found) == 1 else None


def _format_of(name: str) -> EdgeFormat | None:
    called = Path(name).name.lower()
    for packed in _COMPRESSED:
        called = called.removesuffix(packed)
    ending = Path(called).suffix
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    is_konect = called.startswith(_KONECT) and len(called) > len(_KONECT) and ending not in _OTHERS
    return EdgeFormat.KONECT if is_konect else None


# \s and \S are ASCII bytes here. A quote inside quotes is doubled, as in CSV.
_QUOTED = '"(?:[^"]|"")*"'


def edges_of_lines(table: Any, form: EdgeFormat) -> Any:
    """Return rows (source, target) of a DuckDB relation of lines (label), one for each line that is not a comment."""
    return _words(table, form.comments, f"{_first()} AS source, nullif(words.target, '') AS target")


def nodes_of_lines(table: Any, form: EdgeFormat) -> Any:
    """Return rows (node), the first word of each line that is not a comment."""
    return _words(table, form.comments, "words.source AS node")


def _words(table: Any, comments: str, selected: str) -> Any:
    """Return rows of the first two words of each line; a comment and an empty line have no first word."""
    import narwhals as nw

    plain = rf"regexp_extract(label, '^\s*([^{comments}\s]\S*)(?:\s+(\S+))?', ['source', 'target'])"
    # Few lines have quotes, and searching for one is cheap.
    words = f"CASE WHEN contains(label, '\"') THEN {_quoted_words(comments)} ELSE {plain} END AS words"
    if "%" in comments:
        is_matrix = "starts_with(label, '%%') AND starts_with(lower(label), '%%matrixmarket ')"
        words = f"CASE WHEN {is_matrix} THEN {_refusing(IS_MATRIX_MARKET)} {words.removeprefix('CASE ')}"
    lines = table.to_native().project(f"label, {words}")
    return nw.from_native(lines.filter("words.source IS DISTINCT FROM '' AND words IS NOT NULL").project(selected))


def _quoted_words(comments: str) -> str:
    """Return SQL for the two words of a line with quotes: the name inside quotes, null if that is empty.

    The closing quote of a name must precede a space, otherwise the line is refused: split at spaces, it would be an
    edge between parts of names. Quotes inside a word are part of it.
    """
    first, second = rf"(?:{_QUOTED}|[^{comments}\"\s]\S*)", rf"(?:{_QUOTED}|[^\"\s]\S*)"
    whole = rf"^\s*{first}(?:\s*$|\s+{second}(?:\s|$))"
    held = rf"^\s*({first})(?:\s+({second}))?"
    names = ", ".join(f"'{end}': {_unquoted(f'held.{end}')}" for end in ("source", "target"))
    found = f"list_transform([regexp_extract(label, '{held}', ['source', 'target'])], lambda held: {{{names}}})[1]"
    return (
        rf"CASE WHEN regexp_matches(label, '^\s*[{comments}]') THEN {{'source': '', 'target': ''}} "
        f"WHEN NOT regexp_matches(label, '{whole}') THEN {_refusing(OPEN_QUOTE)} ELSE {found} END"
    )


def _unquoted(word: str) -> str:
    inside = f"replace({word}[2:-2], '\"\"', '\"')"
    return f"CASE WHEN starts_with({word}, '\"') THEN nullif({inside}, '') ELSE {word} END"


def _first() -> str:
    """Return SQL for the first word, or the refusal of a line that indicates another format of graphs.

    A word in quotes is always a name. A line with only [ is not an edge.
    """
    is_pajek = r"lower(words.source) = '*vertices' AND regexp_matches(words.target, '^\d+$')"
    refused = [
        f"WHEN starts_with(words.source, '*') AND {is_pajek} THEN error('{IS_PAJEK}')",
        f"WHEN words.source IN ('<?xml', '<graphml') THEN error('{IS_GRAPHML}')",
        f"WHEN words.target = '[' AND lower(words.source) = 'graph' THEN error('{IS_GML}')",
        f"WHEN words.source = '[' AND words.target = '' THEN error('{IS_GML}')",
    ]
    is_name = "contains(label, '\"') AND regexp_matches(label, '^\\s*\"')"
    return f"CASE WHEN {is_name} THEN words.source {' '.join(refused)} ELSE words.source END"


def _refusing(reason: str) -> str:
    return f"{{'source': error('{reason}'), 'target': NULL}}"

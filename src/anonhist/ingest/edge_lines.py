"""Lines of words as edges: names in quotes stay whole, and what is no list of edges is refused by its own lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.ingest.engine import IS_GML, IS_GRAPHML, IS_MATRIX_MARKET, IS_PAJEK, OPEN_QUOTE

if TYPE_CHECKING:
    from anonhist.ingest.edge_formats import EdgeFormat

# \s and \S are bytes of ASCII here. A quote in quotes is written twice, as in CSV.
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
    # Few lines have quotes, and looking for one is cheap.
    words = f"CASE WHEN contains(label, '\"') THEN {_quoted_words(comments)} ELSE {plain} END AS words"
    if "%" in comments:
        is_matrix = "starts_with(label, '%%') AND starts_with(lower(label), '%%matrixmarket ')"
        words = f"CASE WHEN {is_matrix} THEN {_refusing(IS_MATRIX_MARKET)} {words.removeprefix('CASE ')}"
    lines = table.to_native().project(f"label, {words}")
    return nw.from_native(lines.filter("words.source IS DISTINCT FROM '' AND words IS NOT NULL").project(selected))


def _quoted_words(comments: str) -> str:
    """Return SQL for the two words of a line with quotes: a name in quotes is what they hold, null if that is nothing.

    A quote that opens a name must close it before a space, else the line is refused: read by its spaces, it would be
    an edge between parts of names. Quotes inside of a word are what others are.
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
    """Return SQL for the first word, or the refusal of a line that no list of edges has: of a graph in its format.

    In quotes it is a name, whatever it is. A line of nothing but [ is no edge.
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

"""Formats of graphs: what says which one a file has, and what is no edge in it."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Literal, get_args

from anonhist.errors import UsageError
from anonhist.ingest.files import input_files
from anonhist.ingest.local_files import is_remote

EdgeFormatName = Literal["lines", "snap", "konect", "pajek", "matrix-market", "graphml", "gml"]
EDGE_FORMATS: tuple[EdgeFormatName, ...] = get_args(EdgeFormatName)
_COMPRESSED = (".gz", ".zst")
# What a file of KONECT is called, before the name of its network.
_KONECT = "out."


class EdgeFormat(Enum):
    """A format in which each file says by itself what an edge is; tables do not, whose columns are named.

    Examples
    --------
    >>> EdgeFormat("lines").comments, EdgeFormat.PAJEK.is_document
    ('#%', True)
    """

    LINES = "lines"
    SNAP = "snap"
    KONECT = "konect"
    PAJEK = "pajek"
    MATRIX_MARKET = "matrix-market"
    GRAPHML = "graphml"
    GML = "gml"

    @property
    def comments(self) -> str:
        """The signs that a line of words begins with if it is a comment."""
        return {"snap": "#", "konect": "%"}.get(self.value, "#%")

    @property
    def is_document(self) -> bool:
        """Whether a file is one graph, and not lines each of which is an edge."""
        return self not in (EdgeFormat.LINES, EdgeFormat.SNAP, EdgeFormat.KONECT)

    @property
    def is_of_networkx(self) -> bool:
        """Whether networkx reads it."""
        return self in (EdgeFormat.GRAPHML, EdgeFormat.GML)


_ENDINGS = {
    **dict.fromkeys((".txt", ".edges", ".edgelist"), EdgeFormat.LINES),
    ".net": EdgeFormat.PAJEK,
    ".mtx": EdgeFormat.MATRIX_MARKET,
    ".graphml": EdgeFormat.GRAPHML,
    ".gml": EdgeFormat.GML,
}
# Of files that hold something else, whatever they are called before it.
_OTHERS = {
    *(".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"),
    *(".db", ".duckdb", ".sqlite", ".sqlite3", ".counts", ".sketch"),
}


def parse_edge_format(given: object) -> EdgeFormat | None:
    """Return the format that was given by its name, if any."""
    if given is None:
        return None
    try:
        return EdgeFormat(given)
    except ValueError:
        raise UsageError(f"`format` must be one of {', '.join(EDGE_FORMATS)}, not {given!r:.80}.") from None


def edge_format_of(source: str) -> EdgeFormat | None:
    """Return the format that the names of files say, None for tables; standard input is lines.

    Examples
    --------
    >>> edge_format_of("facebook.txt.gz").value, edge_format_of("out.petster"), edge_format_of("out.csv")
    ('lines', <EdgeFormat.KONECT: 'konect'>, None)
    """
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

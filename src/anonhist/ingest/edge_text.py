"""Lines of edges as large collections of graphs publish them: two names, whatever else follows, and comments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from anonhist.ingest.files import input_files
from anonhist.ingest.local_files import is_remote

_ENDINGS = {".txt", ".edges", ".edgelist"}
_COMPRESSED = (".gz", ".zst")
# A comment and an empty line have no first word; \s and \S are bytes of ASCII here.
_WORDS = r"^\s*([^#%\s]\S*)(?:\s+(\S+))?"


def is_edge_text(source: str) -> bool:
    """Return whether lines of words are to be read: from standard input, and from files whose endings say so.

    Examples
    --------
    >>> is_edge_text("facebook.txt.gz"), is_edge_text("-"), is_edge_text("calls.csv")
    (True, True, False)
    """
    if source == "-":
        return True
    names = input_files(source) or [source.split("?", 1)[0] if is_remote(source) else source]
    return all(_ending(name) in _ENDINGS for name in names)


def edges_of_lines(table: Any) -> Any:
    """Return rows (source, target) of a DuckDB relation of lines (label), one for each line that is not a comment."""
    return _words(table, "nullif(words.source, '') AS source, nullif(words.target, '') AS target")


def nodes_of_lines(table: Any) -> Any:
    """Return rows (node), the first word of each line that is not a comment."""
    return _words(table, "words.source AS node")


def _words(table: Any, selected: str) -> Any:
    import narwhals as nw

    words = f"regexp_extract(label, '{_WORDS}', ['source', 'target']) AS words"
    return nw.from_native(table.to_native().project(words).filter("words.source <> ''").project(selected))


def _ending(name: str) -> str:
    lowered = name.lower()
    for packed in _COMPRESSED:
        lowered = lowered.removesuffix(packed)
    return Path(lowered).suffix

"""Files behind URLs, which only the engine can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.ingest.lines import lines_relation
from anonhist.ingest.local_files import escape_pattern

if TYPE_CHECKING:
    import duckdb


def remote_files(connection: duckdb.DuckDBPyConnection, url: str) -> list[str]:
    """Return the files that a URL or a pattern of one names, as patterns that the engine reads, each once."""
    found = {name for (name,) in connection.execute("SELECT file FROM glob($1)", [url]).fetchall()}
    # Only what a pattern matched would be taken for a pattern wrongly; other URLs may hold question marks.
    return [escape_pattern(name) for name in sorted(found)] if found - {url} else [url]


def remote_line(connection: duckdb.DuckDBPyConnection, url: str) -> bytes:
    """Return the first line of a remote file, which is no longer than the engine allows."""
    # Without order, the first row that comes may be any.
    connection.execute("SET preserve_insertion_order = true")
    # Inside quotes lines may end otherwise than rows do, which is an error to an engine that is strict.
    lines = lines_relation(connection, url, strict_mode=False).limit(1).fetchall()
    connection.execute("SET preserve_insertion_order = false")
    return b"".join(f"{line or ''}\n".encode() for (line,) in lines)

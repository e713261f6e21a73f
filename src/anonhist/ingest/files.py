"""Files and standard input as DuckDB relations: text stays text, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from anonhist.errors import UsageError, mask
from anonhist.ingest.delimited import (
    STDIN,
    delimited_relation,
    first_line,
    labels_relation,
    stdin_relation,
)
from anonhist.ingest.json_lines import json_relation
from anonhist.ingest.local_files import escape_pattern, is_remote, match_files, readable
from anonhist.ingest.parquet import parquet_relation
from anonhist.ingest.remote_files import remote_files, remote_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_COMPRESSED = (".gz", ".zst")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_OF_DATABASES = (".db", ".duckdb", ".sqlite", ".sqlite3")
HOW_TO_NAME = "Name a database as duckdb:///FILE, sqlite:///FILE or postgresql://…, and one of its tables (`table`)."
_DATABASES = ("duckdb://", "sqlite://", "postgres://", "postgresql://")
_LOCAL_DATABASES = ("duckdb:///", "sqlite:///")


def file_relation(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    *,
    format: str | None,  # noqa: A002  # the name users know
    delimiter: str | None,
    header: bool,
    keys: Iterable[str | None] = (),
) -> Any:
    """Open a path, glob, URL or ``-`` (standard input) as a relation.

    Of standard input the format must be said, as :func:`stdin_format` has it.

    Delimited text: every column is text as written. One label per line (``format="labels"``): no header, no quoting.
    JSON lines: the columns are ``keys`` (but for None), whatever keys the rows have; see :func:`json_relation`.
    """
    if source == "-":
        if format == "labels":
            return labels_relation(connection, STDIN)
        return stdin_relation(connection, "," if delimiter is None else delimiter, header=header)
    remote = is_remote(source)
    paths = [source] if remote else readable(source)
    # A name is taken for a pattern once more, so what would be read as one is escaped.
    patterns = remote_files(connection, source) if remote else [escape_pattern(path) for path in paths]
    if format == "labels":
        return labels_relation(connection, patterns)
    ending = _common_ending(source, paths, remote=remote)
    if ending in (*_PARQUET, *_JSON):
        is_parquet = ending in _PARQUET
        return parquet_relation(connection, patterns) if is_parquet else json_relation(connection, patterns, keys)
    delimiter = _DELIMITERS.get(ending) if delimiter is None else delimiter
    if delimiter is None and ending in _OF_DATABASES:
        message = f"{mask(source)!r} does not end like a file of rows. {HOW_TO_NAME}"
        raise UsageError(message)
    if delimiter is None and ending == ".sketch":
        message = (
            f"{mask(source)!r} is a sketch, by its ending: 'anonhist sketch profile' reads one, and 'anonhist sketch "
            "merge' adds several."
        )
        raise UsageError(message)
    if delimiter is None:
        message = (
            f"{mask(source)!r} has an unknown ending (known are .csv, .tsv, .jsonl, .parquet, each also with .gz "
            "or .zst); give the separator of its columns (`delimiter`)."
        )
        raise UsageError(message)
    if remote:
        lines = {url: remote_line(connection, url) for url in patterns}
    else:
        lines = {path: first_line(path) for path in paths}
    return delimited_relation(connection, patterns, lines, delimiter, header=header)


def stdin_format(label: str | None) -> Literal["events"]:
    """Return what standard input holds where that is not said: CSV with a header, if a column of labels is named.

    Its first line may be a row of data, so nothing is guessed from it.

    Raises
    ------
    UsageError
        If none is.

    Examples
    --------
    >>> stdin_format("query")
    'events'
    """
    if label is None:
        message = (
            "Give the format of standard input: one label per line (`format='labels'`), or CSV with a header line "
            "and the name of its label column (`label`)."
        )
        raise UsageError(message)
    return "events"


def names_are_a_line(source: Any, *, format: str | None, header: bool) -> bool:  # noqa: A002
    """Return whether the names of the columns are the first line of a text, and so a row of data if it has no header.

    Examples
    --------
    >>> names_are_a_line("log.csv", format=None, header=True), names_are_a_line("log.parquet", format=None, header=True)
    (True, False)
    """
    if not isinstance(source, str) or format == "labels" or not header:
        return False
    if source == "-":
        return format is not None
    return not source.startswith(_DATABASES) and _ending_of(source) not in (*_PARQUET, *_JSON)


def is_json(source: Any, *, format: str | None) -> bool:  # noqa: A002
    """Return whether a source is JSON lines: of these the keys to read must be said.

    Examples
    --------
    >>> is_json("log.jsonl.gz", format=None), is_json("log.csv", format=None)
    (True, False)
    """
    if not isinstance(source, str) or format == "labels" or source == "-":
        return False
    return not source.startswith(_DATABASES) and _ending_of(source) in _JSON


def check_there(source: str) -> None:
    """Refuse a local path or pattern that names no file that can be read."""
    if not is_remote(source):
        readable(source)


def input_files(source: str) -> list[str]:
    """Return the local files that a source reads, as far as they are there."""
    if source == "-":
        return [STDIN]
    local = next((source.removeprefix(url) for url in _LOCAL_DATABASES if source.startswith(url)), source)
    return [] if is_remote(local) else [path for path in match_files(local) if Path(path).exists()]


def _ending_of(source: str) -> str:
    remote = is_remote(source)
    paths = [] if remote else match_files(source)
    return _common_ending(source, paths or [source], remote=remote)


def _common_ending(source: str, paths: list[str], *, remote: bool) -> str:
    endings = set()
    for path in paths:
        name = (path.split("?", 1)[0] if remote else path).lower()
        for packed in _COMPRESSED:
            name = name.removesuffix(packed)
        endings.add(Path(name).suffix)
    if len(endings) > 1:
        message = f"{mask(source)!r} matches files of different kinds ({', '.join(sorted(endings))}); read one kind."
        raise UsageError(message)
    return endings.pop()

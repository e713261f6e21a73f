"""Files and standard input as DuckDB relations: text stays text, and nothing is guessed."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.delimited import (
    STDIN,
    delimited_relation,
    escaped,
    labels_relation,
    remote_relation,
    stdin_relation,
)
from anonhist.ingest.json_lines import json_relation
from anonhist.ingest.zstandard import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_COMPRESSED = (".gz", ".zst")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
_DATABASES = ("duckdb://", "sqlite://", "postgres://", "postgresql://")
_LOCAL_URLS = ("duckdb:///", "sqlite:///", "file://localhost", "file://")


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

    Delimited text: every column is text as written. One label per line (``format="labels"``): no header, no quoting.
    JSON lines: the columns are ``keys`` (but for None), whatever keys the rows have; see :func:`json_relation`.
    """
    if source == "-":
        if format in (None, "labels"):
            return labels_relation(connection, STDIN)
        return stdin_relation(connection, "," if delimiter is None else delimiter, header=header)
    remote = "://" in source
    paths = [source] if remote else _found(source)
    patterns = paths if remote else [escaped(path) for path in paths]
    if format == "labels":
        return labels_relation(connection, patterns)
    ending = _common_ending(source, paths, remote=remote)
    if ending in (*_PARQUET, *_JSON):
        is_parquet = ending in _PARQUET
        return connection.read_parquet(patterns) if is_parquet else json_relation(connection, patterns, keys)
    delimiter = _DELIMITERS.get(ending) if delimiter is None else delimiter
    if delimiter is None:
        message = (
            f"{source!r} has an ending that is not known (.csv, .tsv, .jsonl, .parquet, each with .gz or .zst too); "
            "say what separates its columns (--delimiter)."
        )
        raise UsageError(message)
    if remote:
        return remote_relation(connection, source, delimiter, header=header)
    return delimited_relation(connection, paths, delimiter, header=header)


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


def input_files(source: str) -> list[str]:
    """Return the local files that a source reads, as far as they are there."""
    if source == "-":
        return [STDIN]
    local = next((source.removeprefix(url) for url in _LOCAL_URLS if source.startswith(url)), source)
    return [] if "://" in local else [path for path in _matched(local) if Path(path).exists()]


def _matched(source: str) -> list[str]:
    return [source] if Path(source).exists() else sorted(glob.glob(source, recursive=True))  # noqa: PTH207  # absolute patterns too


def _ending_of(source: str) -> str:
    paths = [source] if "://" in source else _matched(source)
    return _common_ending(source, paths or [source], remote="://" in source)


def _common_ending(source: str, paths: list[str], *, remote: bool) -> str:
    endings = set()
    for path in paths:
        name = (path.split("?", 1)[0] if remote else path).lower()
        for packed in _COMPRESSED:
            name = name.removesuffix(packed)
        endings.add(Path(name).suffix)
    if len(endings) > 1:
        message = f"{source!r} matches files of different kinds ({', '.join(sorted(endings))}); read one kind."
        raise UsageError(message)
    return endings.pop()


def _found(source: str) -> list[str]:
    """Return the readable, whole, non-empty files that a path or pattern names."""
    found = _matched(source)
    if not found:
        message = f"There is no file {source!r}."
        raise DataError(message)
    for name in found:
        _check_readable(name)
    return found


def _check_readable(name: str) -> None:
    path = Path(name)
    if path.is_dir():
        message = f"{name!r} is a folder; name its files, such as '{name}/*.parquet'."
        raise DataError(message)
    if not path.is_file():
        # A pipe can be read once, and finding the columns would be that once.
        message = f"{name!r} is not a plain file; pipe what it holds into standard input and read '-'."
        raise DataError(message)
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
            whole = empty or path.suffix.lower() != ".zst" or is_whole(file)
    except OSError as error:
        message = f"The file {name!r} cannot be read: {error.strerror}."
        raise DataError(message) from None
    if empty:
        message = f"The file {name!r} is empty."
        raise DataError(message)
    if not whole:
        message = f"The file {name!r} cannot be decompressed: it is cut off or not what its ending says."
        raise DataError(message)

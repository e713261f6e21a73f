"""Files and standard input as DuckDB relations: text stays text, and nothing is guessed."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    import duckdb

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t"}
_COMPRESSED = (".gz", ".zst")
_JSON = (".jsonl", ".ndjson", ".json")
_PARQUET = (".parquet", ".pq")
STDIN = "-"


def file_relation(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    *,
    format: str | None,  # noqa: A002  # the name users know
    delimiter: str | None,
    header: bool,
) -> Any:
    """Open a path, glob, URL or ``-`` (standard input) as a relation.

    Delimited text: every column is text as written. One label per line (``format="labels"``): no header, no quoting.
    """
    if source == STDIN:
        return _stdin_relation(connection, format or "labels", delimiter, header=header)
    ending = _ending(source)
    _check_exists(source)
    if format == "labels":
        return _lines(connection, source)
    if ending in _PARQUET:
        return connection.read_parquet(source)
    if ending in _JSON:
        # Text as written, as far as JSON has it: numbers keep their digits.
        return connection.read_json(source, format="newline_delimited")
    if delimiter is None and ending not in _DELIMITERS:
        message = (
            f"{source!r} has an ending that is not known (.csv, .tsv, .jsonl, .parquet, each with .gz or .zst too); "
            "say what separates its columns (--delimiter)."
        )
        raise UsageError(message)
    return _delimited(connection, source, delimiter or _DELIMITERS[ending], header=header)


def _stdin_relation(
    connection: duckdb.DuckDBPyConnection,
    format: str,  # noqa: A002
    delimiter: str | None,
    *,
    header: bool,
) -> Any:
    if format == "labels":
        return _lines(connection, "/dev/stdin")
    return _delimited(connection, "/dev/stdin", delimiter or ",", header=header)


def _lines(connection: duckdb.DuckDBPyConnection, path: str) -> Any:
    # Every option is given: on a pipe, detection would swallow the rows it looked at.
    return connection.read_csv(
        path,
        header=False,
        columns={"label": "VARCHAR"},
        sep="\x01",
        quotechar="",
        escapechar="",
        auto_detect=False,
    )


def _delimited(connection: duckdb.DuckDBPyConnection, path: str, delimiter: str, *, header: bool) -> Any:
    if len(delimiter) != 1:
        message = f"The delimiter must be one character, not {delimiter!r}."
        raise UsageError(message)
    if path == "/dev/stdin":
        return _delimited_stdin(connection, delimiter, header=header)
    return connection.read_csv(
        path,
        header=header,
        sep=delimiter,
        quotechar='"',
        escapechar='"',
        all_varchar=True,
        null_padding=False,
        ignore_errors=False,
        skiprows=0,
        comment="",
    )


def _delimited_stdin(connection: duckdb.DuckDBPyConnection, delimiter: str, *, header: bool) -> Any:
    """Read the header line in Python, the rest by DuckDB with nothing left to detect."""
    import csv
    import os

    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            break
        line += byte
    try:
        fields = next(csv.reader([line.decode("utf-8").rstrip("\r\n")], delimiter=delimiter), [])
    except (UnicodeDecodeError, csv.Error):
        raise DataError("The first line of standard input cannot be read as text with this delimiter.") from None
    if not fields:
        raise DataError("Standard input is empty: a table needs at least its header line.")
    if not header:
        raise UsageError("A table on standard input needs a header line; use --format labels for one label per line.")
    return connection.read_csv(
        "/dev/stdin",
        header=False,
        columns=dict.fromkeys(fields, "VARCHAR"),
        sep=delimiter,
        quotechar='"',
        escapechar='"',
        auto_detect=False,
    )


def _ending(source: str) -> str:
    path = source.split("?", 1)[0].lower()
    for packed in _COMPRESSED:
        path = path.removesuffix(packed)
    return Path(path).suffix


def _check_exists(source: str) -> None:
    if "://" in source:
        return
    found = [source] if Path(source).exists() else glob.glob(source, recursive=True)  # noqa: PTH207  # absolute patterns too
    if not found:
        message = f"There is no file {source!r}."
        raise DataError(message)
    for name in found:
        path = Path(name)
        if path.is_dir():
            message = f"{name!r} is a folder; name its files, such as '{name}/*.parquet'."
            raise DataError(message)
        try:
            with path.open("rb") as file:
                empty = path.is_file() and not file.read(1)
        except OSError as error:
            message = f"The file {name!r} cannot be read: {error.strerror}."
            raise DataError(message) from None
        if empty:
            message = f"The file {name!r} is empty."
            raise DataError(message)

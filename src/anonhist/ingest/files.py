"""Files, URLs and standard input as DuckDB relations: text stays text, and nothing is guessed."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonhist.errors import DataError, UsageError, mask
from anonhist.frozen import Converted, converted, frozen
from anonhist.ingest.columns import Opened, Schema, opened_relation
from anonhist.ingest.delimited import (
    STDIN,
    Layout,
    beginning,
    commented_table,
    counted_lines,
    delimited_table,
    first_line,
    first_row,
    labels_relation,
    line_end,
    lines_relation,
    stdin_table,
)
from anonhist.ingest.locations import attach, check_beginnings, escape_pattern, is_remote, match_files, readable
from anonhist.ingest.typed_files import Malformed, json_table, parquet_table
from anonhist.ingest.warehouses import WAREHOUSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    import duckdb

# The last ones are the histograms of preseq.
DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", ".hist": "\t"}
# The meaning of a line of text without columns.
LINES = ("labels", "uniq")
# The column names of counted data.
COUNTED = {"counts": ("label", "count"), "prevalences": ("count", "prevalence")}


class Form(Enum):
    """The form of files of rows."""

    LABELS = "labels"
    UNIQ = "uniq"
    DELIMITED = "delimited text"
    #: The keys to read must be named, and are data.
    JSON = "JSON lines"
    #: Columns have declared names and types.
    PARQUET = "Parquet"


_COMPRESSED = (".gz", ".zst")
# By their endings; all others are text.
_FORMS = {
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), Form.JSON),
    **dict.fromkeys((".parquet", ".pq"), Form.PARQUET),
}
DATABASES = ("duckdb://", "sqlite://", "postgres://", "postgresql://", *(f"{scheme}://" for scheme in WAREHOUSES))
# A standalone cluster, and a server of Spark Connect.
SPARK_URLS = ("spark://", "sc://")
HOW_TO_NAME = (
    f"Name a database as duckdb:///FILE, sqlite:///FILE, postgresql://…, "
    f"{', '.join(f'{scheme}://…' for scheme in WAREHOUSES)}, or Spark as spark://HOST:PORT or sc://HOST:PORT (Spark "
    "Connect), and one of its tables (`table`)."
)
_LOCAL_DATABASES = ("duckdb:///", "sqlite:///")
_SCHEMES_BY_ENDING = {
    ".db": ("sqlite", "duckdb"),
    ".duckdb": ("duckdb",),
    ".sqlite": ("sqlite",),
    ".sqlite3": ("sqlite",),
}


def how_to_name(source: object) -> str:
    """Return how to name a database: the very file that was named, if its name says that it is one."""
    schemes = _SCHEMES_BY_ENDING.get(Path(source).suffix.lower(), ()) if isinstance(source, str) else ()
    if not schemes or "://" in str(source):
        return HOW_TO_NAME
    urls = " or ".join(f"{scheme}:///{mask(str(source))}" for scheme in schemes)
    return f"Read a database as {urls}, and name one of its tables (`table`)."


# Engines that read files: the first, unless the other is requested.
ENGINES = ("duckdb", "spark")
_NO_FILES = ("duckdb://", "sqlite://", "postgres://", "postgresql://", *SPARK_URLS)


def _parse_file(path: str) -> str:
    if path.startswith(_NO_FILES):
        raise UsageError(f"`engine` applies only to files, and {mask(path)!r} is not one: leave it out.")
    return path


def _parse_path(given: str | os.PathLike[str]) -> str:
    path = os.fspath(given)
    if path == "-":
        raise UsageError("Spark cannot read standard input: write it to a file, or read it with DuckDB.")
    return _parse_file(path)


@frozen
class SparkFiles:
    """Files that Spark reads: a source for every reader, like a path that DuckDB reads.

    Spark is the session of this process if there is one, otherwise a new one with your settings
    (``spark-defaults.conf``, ``SPARK_REMOTE``), which by default has all cores of this machine.

    Attributes
    ----------
    path
        Path, folder or pattern of .csv, .tsv, .txt, .jsonl or .parquet, the first four also with .gz, in any place that
        Spark reads, as in ``"hdfs://host/events/*.parquet"``.

    Raises
    ------
    UsageError
        If the path names no files.

    Examples
    --------
    >>> SparkFiles("events/*.parquet")
    SparkFiles(path='events/*.parquet')
    """

    path: Converted[str | os.PathLike[str], str] = converted(_parse_path)


def read_by(engine: str | None, source: str) -> str | SparkFiles:
    """Return a source for its engine: ``"duckdb"``, ``"spark"``, or None for the default."""
    if engine is None:
        return source
    if engine not in ENGINES:
        raise UsageError(f"`engine` must be one of {', '.join(ENGINES)}, not {engine!r}.")
    return SparkFiles(source) if engine == "spark" else _parse_file(source)


def file_table(
    connection: duckdb.DuckDBPyConnection,
    source: str,
    *,
    format: str | None,  # noqa: A002  # the name users know
    delimiter: str | None,
    header: bool,
    comment: str | None = None,
    keys: Iterable[str | None] = (),
    malformed: Malformed = Malformed.REFUSED,
) -> Opened:
    """Open a path, glob, URL or ``-`` (standard input; see :func:`check_stated`) as a table.

    Delimited text: every column is text as written. One label per line (``format="labels"``): no header, no quoting.
    JSON lines: the columns are ``keys`` (except None), whatever keys the rows have; see
    :func:`~anonhist.ingest.typed_files.json_table`. The keys of folders, as in ``day=1/part-0.csv``, are columns if
    they are named.
    """
    if source == "-":
        if format in LINES:
            return _lines(connection, STDIN, Form(format))
        said = format is not None or delimiter is not None
        return stdin_table(connection, Layout("," if delimiter is None else delimiter, said, header))
    remote = is_remote(source)
    paths = [source] if remote else readable(source)
    # The name is read as a pattern once more, so it is escaped.
    patterns = remote_files(connection, source) if remote else [escape_pattern(path) for path in paths]
    ending = "" if format in LINES else _common_ending(source, paths, remote=remote)
    form = Form(format) if format in LINES else _FORMS.get(ending, Form.DELIMITED)
    # Where anybody can send a line, a first one that looks like another kind of file is a bad row like others.
    is_checked = form in (Form.LABELS, Form.UNIQ) or (form is Form.JSON and malformed is Malformed.REFUSED)
    if is_checked and not remote:
        check_beginnings(list(map(beginning, paths)), "The input", is_json=form is Form.JSON)
    if form in (Form.LABELS, Form.UNIQ):
        return _lines(connection, patterns, form)
    if form in (Form.JSON, Form.PARQUET):
        opened = patterns if remote else paths
        return (
            json_table(connection, patterns, opened, keys, malformed)
            if form is Form.JSON
            else parquet_table(connection, patterns, opened)
        )
    _refuse_no_rows(source, ending, delimiter)
    layout = _layout(source, ending, layout_of(ending, format, delimiter, header=header))
    if comment is not None and not remote:
        return commented_table(connection, paths, layout, comment)
    ends: dict[str, bytes | None] = dict.fromkeys(patterns)
    if remote:
        # For these, the engine returns the first line, but not its line end.
        lines = {url: remote_line(connection, url) for url in patterns}
    else:
        lines = {path: (first_line if header else first_row)(path) for path in paths}
        ends = {escape_pattern(path): line_end(line) for path, line in lines.items()}
    return delimited_table(connection, ends, lines, layout)


def _layout(source: str, ending: str, known: Layout | None) -> Layout:
    """Return the known layout, or refuse a file for which nothing says what separates its columns."""
    if known is None and ending in _SCHEMES_BY_ENDING:
        raise UsageError(f"{mask(source)!r} does not end like a file of rows. {how_to_name(source)}")
    if known is None:
        raise UsageError(
            f"{mask(source)!r} has an unknown ending (known are .csv, .tsv, .jsonl, .parquet, each also with .gz "
            "or .zst); give the separator of its columns (`delimiter`)."
        )
    return known


def is_delimited(source: Any) -> bool:
    """Return whether a source is delimited text on this machine, from which comments can be left out."""
    if not isinstance(source, str) or source == "-" or is_remote(source):
        return False
    return ending_of(source) not in (None, *_FORMS, *_SCHEMES_BY_ENDING)


def layout_of(ending: str, format: str | None, delimiter: str | None, *, header: bool) -> Layout | None:  # noqa: A002
    """Return the layout of a file with this ending; None if nothing says what separates its columns."""
    if delimiter is not None:
        return Layout(delimiter, is_said=True, header=header)
    return None if ending not in DELIMITERS else Layout(DELIMITERS[ending], format is not None, header)


def _lines(connection: duckdb.DuckDBPyConnection, patterns: Any, form: Form) -> Opened:
    relation = (labels_relation if form is Form.LABELS else counted_lines)(connection, patterns)
    return opened_relation(relation, Schema.FOUND, relation.columns)


def _refuse_no_rows(source: str, ending: str, delimiter: str | None) -> None:
    """Refuse files of this program that are not tables of rows."""
    if ending == ".counts":
        raise UsageError(
            f"{mask(source)!r} is a part, by its ending: it holds counts and no columns, and is read by 'anonhist "
            "release', 'estimate', 'curve', 'compare' and 'count'."
        )
    if ending == ".sketch" and delimiter is None:
        raise UsageError(
            f"{mask(source)!r} is a sketch, by its ending: 'anonhist sketch profile' reads one, and 'anonhist sketch "
            "merge' adds several."
        )


def check_stated(
    source: Any,
    format: str | None,  # noqa: A002
    label: str | None,
    *,
    header: bool = True,
) -> None:
    """Refuse standard input and .txt files without a declared format.

    The first line of standard input may be a row of data, so nothing is guessed from it: it needs a format, or the name
    of the column of labels, which makes it CSV with a header line. The first line of a .txt file, which may hold only
    labels, is not used for guessing either: the file needs a format of columns with names, the column of labels, or
    ``header=False``.
    """
    if source != "-":
        if label is None and header and format in (None, "events") and ending_of(source) == ".txt":
            check_there(source)
            raise UsageError(
                "A .txt file may hold one label per line or columns: give `format='labels'` for the first, or, for "
                "columns with a header line, the name of the column of labels (`label`)."
            )
    elif format is None and label is None:
        raise UsageError(
            "Give the format of standard input: one label per line (`format='labels'`), or CSV with a header line "
            "and the name of its label column (`label`)."
        )


def form_of(source: Any, format: str | None) -> Form:  # noqa: A002
    """Return the layout of the files of a source; it has no meaning for other sources."""
    return Form(format) if format in LINES else _FORMS.get(ending_of(source) or "", Form.DELIMITED)


def check_there(source: Any) -> None:
    """Refuse a local path or pattern that names no readable file; for Spark files, Spark checks."""
    if isinstance(source, str) and source != "-" and not is_remote(source):
        readable(source)


def input_files(source: str) -> list[str]:
    """Return the local files that a source reads, as far as they exist."""
    if source == "-":
        return [STDIN]
    local = next((source.removeprefix(url) for url in _LOCAL_DATABASES if source.startswith(url)), source)
    return [] if is_remote(local) else [path for path in match_files(local) if Path(path).exists()]


def ending_of(source: Any) -> str | None:
    """Return the ending of files that hold a table; None for standard input, databases and sources in memory."""
    if isinstance(source, SparkFiles):
        return _common_ending(source.path, [source.path], remote=True)
    if not isinstance(source, str) or source == "-" or source.startswith((*DATABASES, *SPARK_URLS)):
        return None
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


def remote_files(connection: duckdb.DuckDBPyConnection, url: str) -> list[str]:
    """Return the files that a URL or a URL pattern names, as patterns that the engine reads, each once."""
    attach(connection, url)
    found = {name for (name,) in connection.execute("SELECT file FROM glob($1)", [url]).fetchall()}
    if not found:
        raise DataError(f"There is no file {mask(url)!r}.")
    # Only matches of a pattern could be mistaken for patterns; other URLs may contain question marks.
    return [escape_pattern(name) for name in sorted(found)] if found - {url} else [url]


def remote_line(connection: duckdb.DuckDBPyConnection, url: str) -> bytes:
    """Return the first line of a remote file, which is no longer than the engine allows."""
    # Without order, the first returned row may be any row.
    connection.execute("SET preserve_insertion_order = true")
    # Inside quotes, line ends may differ from row ends, which is an error to a strict engine.
    lines = lines_relation(connection, url, strict_mode=False).limit(1).fetchall()
    connection.execute("SET preserve_insertion_order = false")
    return b"".join(f"{line or ''}\n".encode() for (line,) in lines)

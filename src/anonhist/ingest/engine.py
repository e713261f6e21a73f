"""DuckDB inside this process: how it is started, where it spills, and how it ends."""

from __future__ import annotations

import atexit
import os
import re
import stat
import sys
import threading
from contextlib import ExitStack, contextmanager
from enum import Enum
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, SupportsIndex

from anonhist.errors import AnonhistError, DataError, UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.privacy import parse_whole_number
from anonhist.temporary_folder import temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]i?B)", re.IGNORECASE)
_SIZES = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_LEAST, _MOST = 16 * 10**6, 10**15
_MOST_THREADS = 1024


def _parse_memory(given: str | None) -> str | None:
    if given is None:
        return None
    found = _SIZE.fullmatch(given.strip()) if isinstance(given, str) else None
    if found is None:
        raise UsageError(f"`memory_limit` must be a size such as 2GB or 512MiB, not {given!r:.40}.")
    if not _LEAST <= float(found[1]) * _SIZES[found[2][0].lower()] <= _MOST:
        raise UsageError(f"`memory_limit` must be between 16MB and 1000TB, not {given!r:.40}.")
    return f"{found[1]}{found[2][0].upper()}{found[2][1:-1].lower()}B"


def _parse_threads(given: SupportsIndex | None) -> int | None:
    threads = None if given is None else parse_whole_number(given, name="threads")
    if threads is not None and threads > _MOST_THREADS:
        raise UsageError(f"`threads` must be at most {_MOST_THREADS:,}, not {threads}.")
    return threads


def _parse_folder(given: str | os.PathLike[str] | None) -> str | None:
    if given is None:
        return None
    folder = os.fspath(given)
    if not Path(folder).is_dir():
        raise UsageError(f"`temp_directory` must be a folder that exists, not {folder!r:.200}.")
    try:
        # Only trying shows whether the system permits it, and that before data are read.
        with TemporaryDirectory(prefix="anonhist-", dir=folder):
            return folder
    except OSError as error:
        raise UsageError(
            f"`temp_directory` must be a folder that you can write to, not {folder!r:.200} ({error.strerror})."
        ) from None


@frozen
class EngineLimits:
    """How much of the machine DuckDB may use while it counts files and its own databases.

    They affect how long a reading takes, and whether it succeeds, but never its result. Other engines, such as a
    database server, Spark or a Polars table, have their own settings.

    Attributes
    ----------
    memory_limit
        The most memory for the engine's data, such as ``"2GB"`` or ``"512MiB"``: beyond it, the engine writes to
        temporary files. The default is four fifths of the machine's memory. The process itself takes about 150 MB more.
    threads
        The number of threads that count at once; by default one for each core.
    temp_directory
        The folder for temporary files; by default the system's. They are in a subfolder that only this user can read,
        which is removed at the end, or by the next process if this one is killed.

    Raises
    ------
    UsageError
        If a value is impossible.

    Examples
    --------
    >>> EngineLimits(memory_limit="2 gb", threads=2)
    EngineLimits(memory_limit='2GB', threads=2, temp_directory=None)
    """

    memory_limit: Checked[str | None] = converted(_parse_memory, default=None)
    threads: Converted[SupportsIndex | None, int | None] = converted(_parse_threads, default=None)
    temp_directory: Converted[str | os.PathLike[str] | None, str | None] = converted(_parse_folder, default=None)

    @property
    def config(self) -> dict[str, Any]:
        """DuckDB's names of these settings, except the folder."""
        named = {"memory_limit": self.memory_limit, "threads": self.threads}
        return {name: value for name, value in named.items() if value is not None}


NO_LIMITS = EngineLimits()


# Nothing is requested over the network: missing extensions are an error, not a download.
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "preserve_insertion_order": "false",
}
_NO_MEMORY = (
    "Not enough memory, and private data are never written to temporary files: split the input so that all rows "
    "of a user are in one part, and read the parts one by one."
)


class Spilling(Enum):
    """Where an engine puts data that do not fit in memory."""

    #: Into a folder that only this user can read. It is removed at the end, or by the next process.
    TO_FOLDER = "to-folder"
    #: Nowhere: the query fails instead. For data that must never be stored without noise.
    FORBIDDEN = "forbidden"


@contextmanager
def connect(
    path: str = ":memory:",
    *,
    read_only: bool = False,
    spilling: Spilling = Spilling.TO_FOLDER,
    limits: EngineLimits = NO_LIMITS,
) -> Iterator[Any]:
    """Open DuckDB, which may or must not spill data that do not fit in memory."""
    import duckdb

    let_go_at_exit()
    with ExitStack() as opening:
        folder = ""
        if spilling is Spilling.TO_FOLDER:
            folder = opening.enter_context(temporary_folder(limits.temp_directory))
        # DuckDB spills nothing if no folder is named.
        config = CONFIG | limits.config | {"temp_directory": folder}
        connection = opening.enter_context(duckdb.connect(path, read_only=read_only, config=config))
        try:
            yield connection
        except Exception as error:
            # Arrow passes the engine's error on as its own.
            if spilling is Spilling.TO_FOLDER or "out of memory" not in str(error).lower():
                raise
            raise DataError(_NO_MEMORY) from None


@cache
def let_go_at_exit() -> None:
    """Have caches of Narwhals emptied when the interpreter ends; once is enough.

    Otherwise, if NumPy is also used, they would still be held when DuckDB's binding checks for unreleased objects.
    """
    atexit.register(_empty_caches)


def _empty_caches() -> None:
    """Empty the caches of functions in modules of Narwhals, whatever their names."""
    kind = type(let_go_at_exit)
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "narwhals":
            for value in list(vars(module).values()):
                if isinstance(value, kind):
                    value.cache_clear()


_INTERVAL_SECONDS = 0.1


@contextmanager
def followed(connection: Any, progress: Callable[[float], None] | None) -> Iterator[None]:
    """Report progress of a connection while the block runs; without a receiver, do nothing."""
    if progress is None:
        yield
        return
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    stop = threading.Event()

    def ask() -> None:
        while not stop.wait(_INTERVAL_SECONDS):
            share = float(connection.query_progress())
            if share > 0:
                progress(min(1.0, share / 100))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    try:
        yield
    finally:
        # This must happen before the connection closes.
        stop.set()
        thread.join()


OTHER_TEXT = (
    "is not UTF-8 text: convert it, such as with iconv -f CP1252 -t UTF-8 (from Windows, Latin-1) or -f UTF-16 (from "
    "Excel's 'Unicode Text')."
)
NOT_TEXT = f"{OTHER_TEXT} What is compressed must be unpacked first (zcat), or end in .gz or .zst."
NOT_LINES = (
    "is not in JSON lines format: an array, or an object over several lines, must become one object on each line "
    "(as jq -c '.[]' writes an array)."
)
WIDE_TEXT = (
    "is {encoding} text, as from Excel's 'Unicode Text' and some editors: convert it, such as with iconv -f {encoding} "
    "-t UTF-8."
)
# The beginning of the engine's message; quotations come later.
_LINE = re.compile(r"Invalid Input Error: CSV Error on Line: (\d+)\n(.*)", re.DOTALL)
# The engine's message about such a line from a pipe, which cannot be inspected beforehand.
WIDE_LINE = "a line of wide characters"
# Errors that our queries raise inside the engine.
NO_COUNTED_LINE = "no counted line"
# For edges whose in- or out-degrees are requested.
UNDIRECTED = "has edges without a direction, and so no in- or out-degrees: count degrees without one (`direction`)."
# Errors that our readers of remote files raise inside the engine.
CUT_OFF = "a part of the file is missing"
# Errors that our edge queries and parsers raise inside it.
OPEN_QUOTE = "edges: open quote"
IS_PAJEK, IS_MATRIX_MARKET, IS_GRAPHML, IS_GML = (
    f"edges: a file of {name}" for name in ("pajek", "matrix market", "graphml", "gml")
)
NO_ENTRY, NO_PAJEK, NO_VERTEX = "edges: no entry", "edges: no pajek", "edges: no vertex"
TWO_ALIKE, NO_DIRECTION, IS_COMMENT = "edges: vertices alike", "edges: no direction", "edges: a comment"
TRY_AGAIN = "was cut off during the download, or has changed since: try again."
# The engine's message (a pattern), and our sentence. The first match counts.
_EXPLANATIONS = {
    CUT_OFF: TRY_AGAIN,
    WIDE_LINE: WIDE_TEXT.format(encoding="UTF-16LE"),
    NO_COUNTED_LINE: "is not output of uniq -c: each line must be a count, a space and a label.",
    OPEN_QUOTE: (
        "has a line with a name that begins with a quote and does not end with one before a space or a tab: write "
        'names with spaces as "Ann Lee", and quotes inside of them twice.'
    ),
    IS_PAJEK: "has a line *Vertices, as a network of Pajek: rename it to end in .net, or give `format='pajek'`.",
    IS_MATRIX_MARKET: (
        "has a line %%MatrixMarket, as a matrix: rename it to end in .mtx, or give `format='matrix-market'`."
    ),
    IS_GRAPHML: "has lines of XML: rename it to end in .graphml, or give `format='graphml'`.",
    IS_GML: "has a line that opens a graph of GML: rename it to end in .gml, or give `format='gml'`.",
    NO_ENTRY: (
        "has a line that is no entry of its matrix: each must be the numbers of a row and of a column, then a number "
        "unless the matrix is a pattern, or two if it is complex."
    ),
    NO_PAJEK: (
        "is not a network of Pajek that is read here: one list *Vertices with their number, then *Edges, *Arcs, "
        "*Edgeslist or *Arcslist, whose lines hold the numbers of vertices."
    ),
    NO_VERTEX: "has an edge to a missing vertex: vertices are numbered from 1.",
    TWO_ALIKE: "has two vertices with the same name: give each a unique label.",
    NO_DIRECTION: UNDIRECTED,
    IS_COMMENT: (
        "has a row that begins with # or %, and a space or nothing after it, as comments do: say so (`comment='#'` or "
        "`comment='%'`), or, if it is a node, give as comment a sign that no row begins with."
    ),
    # The kind of error in a JSON line comes before its content, because some of that is quoted after it.
    "surrogate in string": (
        "contains half of a surrogate pair, such as \\ud83d, which is not a character: write such texts in UTF-8."
    ),
    r"line \d+: invalid utf-8 encoding": NOT_TEXT,
    "expected object, but got array|unexpected end of data. try auto-detecting": NOT_LINES,
    "expected object, but got": "is not in JSON lines format: each line must be one object with unique keys.",
    # For Spark, by its own error classes: the text after them quotes much else.
    r"\[user_raised_exception\] invalid unicode": NOT_TEXT,
    r"\[user_raised_exception\] state machine": (
        "is not a table: its lines have different endings, or its quoting is broken."
    ),
    r"\[path_not_found\]": "does not exist, according to Spark.",
    r"\[failed_read_file\.cannot_read_file_footer|\[unable_to_infer_schema": (
        "is not a complete Parquet file, despite its ending."
    ),
    r"\[cannot_merge_schemas\]": "consists of files with different columns.",
    r"\[column_already_exists\]": (
        "has columns that Spark cannot distinguish, since their names differ at most in case: rename all but one of "
        "them."
    ),
    r"\[failed_read_file": (
        "is not a table that Spark can read: a file is damaged or begins with other columns than the first, or a row "
        "has more or fewer columns than the first (check `delimiter` and quoting)."
    ),
    r"\[malformed_record_in_parsing|\[user_raised_exception\] malformed json": (
        "is not in JSON lines format: each line must be one object with unique keys."
    ),
    "python_version_mismatch|different (minor )?version": (
        "is on executors with another Python: set PYSPARK_PYTHON to this one's path."
    ),
    "no module named .anonhist": "is on a cluster whose executors lack this package: install anonhist on them.",
    "maxresultsize": "has results that are too large for the driver: raise Spark's setting spark.driver.maxResultSize.",
    r"floats of 2\^53 and more": (
        "holds floats of 2^53 and more, which cannot represent every whole number: write whole numbers or text."
    ),
    "not a valid duckdb database|extension .sqlite. is an existing|cannot launch in-memory database in read-only": (
        "is not a DuckDB database, despite its name (read an SQLite database as sqlite:///PATH)."
    ),
    "file is not a database|database disk image is malformed": "is not a complete SQLite database.",
    "could not set lock": "is being written by another program; close that program first.",
    "database is locked": "is locked by another program; close that program first.",
    "different configuration than existing connections": (
        "is already open in this program: close that connection, or read through it, as in "
        "read_profile(connection.table('events'))."
    ),
    "connection has already been closed": "belongs to a connection that was closed.",
    "connection (failed|is bad|refused)|could not connect|failed to resolve|authentication failed": (
        "cannot be reached; check its address and your permissions."
    ),
    "gzip|zstd|frame descriptor|inflate|decompress|compressed file": (
        "cannot be decompressed: it is cut off, or not of the type of its ending."
    ),
    "httpfs|extension|protocol": "cannot be read by DuckDB without an extension; make a Parquet file of it first.",
    "schema mismatch|mismatch between the schema": "consists of files with different columns.",
    "expected unique column names": "has several columns with the same name: rename all but one of them.",
    "invalid byte sequence for encoding": (
        "holds text that is not UTF-8, as databases without an encoding (SQL_ASCII) may: restore it into a database "
        "with the encoding UTF8, and read that."
    ),
    "byte order mark": "begins with a byte order mark, which JSON lines must not have.",
    "malformed json|json transform|json_read|read_json": (
        "is not in JSON lines format: each line must be one object with unique keys."
    ),
    "surrogates not allowed": ("contains a lone surrogate, which is not a character: decode the texts properly first."),
    "could not decode to utf-8|user-defined function raised exception": (
        "holds text that is not UTF-8: convert the column, or read it from a view that does."
    ),
    "invalid unicode|utf-?8|invalid byte sequence": NOT_TEXT,
    "expected number of columns|when sniffing": (
        "is not a table: a row has more or fewer columns than the first (check `delimiter` and quoting)."
    ),
    "maximum line size|maximum_object_size": (
        "has a line that is too long (the limit is 2 MB for text, 16 MB for JSON lines)."
    ),
    "unterminated quote": "is not a table: a quoted field is never closed (check `delimiter` and quoting).",
    "state machine": "is not a table: its lines have different endings, or its quoting is broken.",
    "csv": "is not a table with this delimiter and quoting.",
    "magic bytes|parquet file|footer length|thrift|tprotocol|out of buffer|snappy": (
        "is not a complete Parquet file, despite its ending."
    ),
    "out of memory": "is too large for the available memory: allow more of it, or count parts of it (anonhist count).",
    "parser stack overflow|expression tree is too large": (
        "is in an engine that cannot run such a deep query: export the table to a Parquet file, and read that."
    ),
    "overflow|out of range|out of bounds|too large to|convert decimal": ("holds more than 2^63 − 1 items, the limit."),
}


@contextmanager
def translate_failures(what: str, *, path: str = "") -> Iterator[None]:
    """Translate an engine's error into a DataError about ``what``; ``path`` is public, and not a cause of the error."""
    try:
        yield
    except AnonhistError:
        raise
    except EOFError:
        raise DataError(f"{what} cannot be decompressed: it is cut off, or not of the type of its ending.") from None
    except Exception as error:  # noqa: BLE001  # engines raise what they like
        if isinstance(error, RuntimeError) and "interrupt" in str(error).lower():
            # DuckDB's way of reporting that Ctrl-C was pressed.
            raise KeyboardInterrupt from None
        # Engine messages quote the data that they failed on, so only the kind of error is reported.
        raise _about_row(f"{what} {_explain(error, path)}", error, path) from None


def _about_row(sentence: str, error: Exception, path: str) -> DataError:
    """Return the error with, for the operator, the line of delimited text at which the engine stopped."""
    told, found = DataError(sentence), _LINE.match(str(error))
    if not found:
        return told
    line = int(found[1])
    if path == "-" and not stat.S_ISREG(os.fstat(0).st_mode):
        # The header line of a pipe was read before, and labels have none.
        line += "Expected Number of Columns" in found[2]
    told.for_operator = f"{sentence} That is in line {line:,}, if no quoted field before it has a line end."
    return told


def _explain(error: Exception, path: str) -> str:
    text = str(error)
    if path:
        text = text.replace(path, "")
    # Neither a line of the data nor a file name says anything about the cause.
    text = re.sub(r"original line:.*|file [\"'][^\"']*[\"']", "", text.lower())
    for pattern, explanation in _EXPLANATIONS.items():
        if re.search(pattern, text):
            return explanation
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror}."
    return f"could not be read by the engine ({type(error).__name__})."

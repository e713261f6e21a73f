"""Spark: its sessions, files as its tables, read as DuckDB would, and results of its partitions: sums, never rows.

Text stays text, and nothing is inferred. Spark differs on some files that DuckDB refuses or reads differently: empty
lines are left out; of equal keys in a JSON object, the last one counts; columns that some Parquet files lack are null
there; U+FFFD is refused as invalid UTF-8; an unclosed quote is noticed after 2 MB. One task reads a CSV file, because a
quoted field may contain line breaks.

Executors import this package, so it must be installed on them, with PyArrow.
"""

from __future__ import annotations

import csv
import os
import shutil
import signal
import socket
import subprocess
import warnings
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.columns import Opened, Schema, opened_frame
from anonhist.ingest.delimited import COUNTED_LINE, Layout, names_in_line
from anonhist.ingest.engine import NO_COUNTED_LINE, translate_failures
from anonhist.ingest.files import Form
from anonhist.ingest.plain_types import backquoted
from anonhist.ingest.query import record_batches
from anonhist.ingest.typed_files import LARGE_FLOAT, ComparedKey, keys_to_read
from anonhist.numeric.value_name import LARGEST_NAMED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

_NUMBERS = "place long, number long"
_ROWS = 1 << 20


def work_on_partitions(frame: Any, work: Callable[[Iterator[Any]], Iterator[Any]], schema: str) -> Iterator[Any]:
    """Run a function on the Arrow batches of each partition of a Spark table, and return the batches it yields."""
    import narwhals as nw

    with warnings.catch_warnings():
        # Spark asks for pandas first, and warns of versions that it does not know; none of it is used here.
        warnings.simplefilter("ignore", FutureWarning)
        worked = frame.mapInArrow(work, schema)
    return record_batches(nw.from_native(worked), _ROWS)


def numbers_of_partitions(
    frame: Any, work: Callable[[Iterator[Any]], Iterator[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Run a function that yields batches of numbers on each partition; return all positions and all numbers."""
    batches = list(work_on_partitions(frame, work, _NUMBERS))
    nothing = np.zeros(0, dtype=np.int64)
    places, numbers = ([batch.column(name).to_numpy() for batch in batches] for name in ("place", "number"))
    return np.concatenate([nothing, *places]), np.concatenate([nothing, *numbers])


def numbers_batch(places: NDArray[np.int64], numbers: NDArray[np.int64]) -> Any:
    """Return positions and their numbers as an Arrow batch."""
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array(places), pa.array(numbers)], names=["place", "number"])


_OF_QUERIES = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@contextmanager
def without_logs_of_rows() -> Iterator[None]:
    """Keep pyspark from logging the errors of queries while the block runs; the errors are still raised."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:
        # Before Spark 4 there are no such logs.
        yield
        return
    loggers = [PySparkLogger.getLogger(name) for name in _OF_QUERIES]
    before = [each.disabled for each in loggers]
    for each in loggers:
        each.disabled = True
    try:
        yield
    finally:
        for each, was_disabled in zip(loggers, before, strict=True):
            each.disabled = was_disabled


# These are the messages that `failures` explains.
_NOT_UTF8 = "raise_error('invalid unicode')"
_OTHER_LINE_END = "raise_error('state machine')"
_NO_OBJECT = "raise_error('malformed json')"
_HALF = "raise_error('half a surrogate in string')"
# Escapes that are not lone surrogates; once they are removed, the second pattern finds lone ones.
_WHOLE_ESCAPES = r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F]"
_SURROGATE = r"\\u[dD][89a-fA-F]"
_IS_UTF8 = "encode(value, 'UTF-8') = CAST(value AS BINARY)"
_STRICT = "'mode', 'FAILFAST', 'allowSingleQuotes', 'false'"
_LONGEST_FIELD = 2**21


def spark_relation(
    session: Any, path: str, form: Form | None, layout: Layout | None, keys: Iterable[str | None]
) -> tuple[Any, Schema]:
    """Return the rows of files as a DataFrame, like :func:`~anonhist.ingest.files.file_table`.

    For delimited text, ``layout`` is None if nothing says what separates its columns.
    """
    if path.lower().endswith(".zst"):
        raise UsageError(f"Spark does not read {mask(path)!r}: it unpacks .gz, but not .zst.")
    # The name of a folder is not a column.
    reader = session.read.option("recursiveFileLookup", value=True)
    if form is Form.PARQUET:
        # Files whose columns have other types are then an error.
        return reader.option("mergeSchema", value=True).parquet(path), Schema.DECLARED
    if form is Form.LABELS:
        return reader.text(path).selectExpr(f"{_without_marks(_line())} AS label"), Schema.FOUND
    if form is Form.UNIQ:
        return _counted_rows(reader.text(path)), Schema.FOUND
    if form is Form.JSON:
        return _json_rows(reader.text(path), keys), Schema.FOUND
    if layout is None:
        raise UsageError(
            f"{mask(path)!r} does not end like files that Spark reads (.csv, .tsv, .jsonl, .parquet): name the files, "
            "as in events/*.csv, or give the separator of their columns (`delimiter`)."
        )
    return _delimited_rows(session, path, layout), layout.schema


def _delimited_rows(session: Any, path: str, layout: Layout) -> Any:
    from pyspark.sql.types import StringType, StructField, StructType

    reader = session.read.option("recursiveFileLookup", value=True)
    # Spark may begin with any of the files.
    found = reader.text(path).where("_metadata.file_block_start = 0").limit(1).collect()
    line = str(found[0][0]) if found else ""
    names = names_in_line(line.encode(), layout, "The input")
    fields = next(csv.reader([line], delimiter=layout.sign), []) or [""]
    called = fields if layout.header else names
    rows = (
        # Every file must begin with these fields, and every row must have as many: with line breaks in fields, Spark
        # parses all of a row, whichever fields are requested.
        session.read.option("recursiveFileLookup", value=True)
        .schema(StructType([StructField(name, StringType()) for name in called]))
        .options(header=layout.header, enforceSchema=False, mode="FAILFAST", multiLine=True)
        .options(sep=layout.sign, quote='"', escape='"', unescapedQuoteHandling="RAISE_ERROR")
        .options(nullValue="", emptyValue="", maxCharsPerColumn=_LONGEST_FIELD)
        .csv(path)
        .toDF(*(f"field{at}" for at, _ in enumerate(names)))
    )
    texts = [_field(f"field{at}") for at, _ in enumerate(names)]
    if not layout.header:
        texts[0] = _without_marks(texts[0])
    return rows.selectExpr(*(f"{text} AS {backquoted(name)}" for text, name in zip(texts, names, strict=True)))


def _counted_rows(lines: Any) -> Any:
    """Return the lines of ``uniq -c`` by the rules of :func:`~anonhist.ingest.delimited.counted_lines`."""
    rows = lines.selectExpr(f"{_without_marks(_line())} AS line")
    line = _literal(COUNTED_LINE)
    label = _without_marks(f"regexp_replace(line, {line}, '')")
    count = f"regexp_extract(line, {line}, 1)"
    return rows.selectExpr(
        f"{label} AS label",
        f"CASE WHEN line RLIKE {line} THEN {count} ELSE raise_error('{NO_COUNTED_LINE}') END AS count",
    )


def _json_rows(lines: Any, keys: Iterable[str | None]) -> Any:
    """Return the values of keys by the rules of :func:`~anonhist.ingest.typed_files.json_table`."""
    names = keys_to_read(keys)
    if len({name.casefold() for name in names}) < len(names):
        raise UsageError("Spark cannot read two keys together that differ only in case: rename one of them.")
    # For each line: the text, and the numbers, which strings are not.
    texts, numbers = (", ".join(f"{backquoted(name)} {kind}" for name in names) for kind in ("STRING", "DOUBLE"))
    trimmed = f"trim({_line()})"
    surrogate = _literal(_SURROGATE)
    # Text after an object on its line would be ignored.
    whole = f"startswith({trimmed}, '{{') AND endswith({trimmed}, '}}')"
    # Spark would replace them with question marks.
    half = f"value RLIKE {surrogate} AND regexp_replace(value, {_literal(_WHOLE_ESCAPES)}, '') RLIKE {surrogate}"
    an_object = (
        f"CASE WHEN {trimmed} = 'null' THEN '{{}}' WHEN {half} THEN {_HALF} WHEN {whole} THEN value "
        f"ELSE {_NO_OBJECT} END"
    )
    rows = lines.where("trim(value) <> ''").selectExpr(f"{an_object} AS line")
    rows = rows.selectExpr(
        f"from_json(line, {_literal(texts)}, map({_STRICT})) AS written",
        f"from_json(line, {_literal(numbers)}) AS number",
    )
    return rows.selectExpr(*(f"{_name_of_json(name)} AS {backquoted(name)}" for name in names))


def _name_of_json(key: str) -> str:
    text, number = f"written.{backquoted(key)}", f"number.{backquoted(key)}"
    large = text if isinstance(key, ComparedKey) else f"raise_error('{LARGE_FLOAT}')"
    # NaN and Infinity arrive in quotation marks if they had none; strings with these names arrive without, and as
    # numbers, too.
    return (
        f"CASE WHEN {number} IS NULL OR {text} RLIKE '^-?[0-9]+$|^[-+]?[A-Za-z]' THEN {text} "
        f"WHEN isnan({number}) THEN NULL "
        f"WHEN abs({number}) >= {LARGEST_NAMED} THEN {large} "
        f"WHEN {number} = floor({number}) THEN CAST(CAST({number} AS BIGINT) AS STRING) ELSE {text} END"
    )


def _line() -> str:
    """Return SQL for a line of text, null if it is empty: Spark keeps its bytes, whatever they are."""
    return f"CASE WHEN value = '' THEN NULL WHEN NOT {_IS_UTF8} THEN {_NOT_UTF8} ELSE value END"


def _field(name: str) -> str:
    """Return SQL for a field of delimited text, null if it is empty."""
    return (
        f"CASE WHEN {name} = '' THEN NULL WHEN contains({name}, '\ufffd') THEN {_NOT_UTF8} "
        f"WHEN endswith({name}, char(13)) THEN {_OTHER_LINE_END} ELSE {name} END"
    )


def _without_marks(text: str) -> str:
    """Return SQL for a text without leading byte order marks, null if nothing is left."""
    return f"nullif(ltrim('\ufeff', {text}), '')"


def _literal(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_INSTALL = "pip install 'anonhist[spark]'"
_NO_PYSPARK = f"Spark is used through pyspark, and runs on Java 17 or later; install the first with: {_INSTALL}."
_NO_JAVA = (
    f"Spark runs on Java 17 or later, beside pyspark ({_INSTALL}): install Java, as with apt install "
    "default-jre-headless, or name where it is in JAVA_HOME."
)
_NO_CONNECT = f"Spark Connect needs packages beside pyspark; install them with: {_INSTALL}."
_NOT_STARTED = "Spark did not start: it needs Java 17 or later, and settings with which its own spark-submit starts."
_SECONDS_TO_REACH = 10
_CONNECT = "sc://"
_PORTS = {_CONNECT: 15002, "spark://": 7077}
# It should show nothing, and nobody looks at its pages.
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def opened_files(
    path: str, form: Form | None, layout: Layout | None, keys: Iterable[str | None], what: str
) -> Iterator[Opened]:
    """Open files as a Narwhals table; sentences call them ``what``."""
    import narwhals as nw

    with _session(None) as session, translate_failures(what, path=path):
        rows, schema = spark_relation(session, path, form, layout, keys)
        yield opened_frame(nw.from_native(rows), schema)


@contextmanager
def opened_table(url: str, table: str | None) -> Iterator[Opened]:
    """Open a table of a cluster as a Narwhals table.

    If files are named as a table, their columns may come from their rows, like keys of JSON.
    """
    import narwhals as nw

    with _session(url) as session, translate_failures("The table"):
        schema = Schema.DECLARED if is_declared(table) else Schema.FOUND
        yield opened_frame(nw.from_native(_table(session, table)), schema)


def is_declared(table: str | None) -> bool:
    """Return whether the columns of a named table are declared: it is not files whose rows determine them."""
    return "`" not in str(table) or str(table).startswith("parquet.")


def _table(session: Any, name: str | None) -> Any:
    from pyspark.errors import AnalysisException

    if name is None:
        raise UsageError(f"Name the table of Spark to read (`table`); it has {_tables(session)}.")
    try:
        table = session.table(name)
        # A connection requests it only now.
        table.schema  # noqa: B018
    except AnalysisException:
        if "://" in name:
            # A path, which may contain keys.
            shown = mask(name.strip("`").rpartition("`")[2])
            raise public_error(
                f"Spark cannot read {shown!r} as a table: check its path and your permissions."
            ) from None
        raise public_error(f"Spark has no table {name!r}; it has {_tables(session)}.") from None
    return table


def _tables(session: Any) -> str:
    return ", ".join(repr(each.name) for each in session.catalog.listTables()) or "none"


@contextmanager
def _session(url: str | None) -> Iterator[Any]:
    """Yield a session; everything started for it ends with it."""
    url = os.environ.get("SPARK_REMOTE") if url is None else url
    if url is not None and url.startswith(_CONNECT):
        opening = _connected(url)
    else:
        opening = _in_this_process(url if url is not None and url.startswith("spark://") else None)
    with opening as session:
        yield session


@contextmanager
def _connected(url: str) -> Iterator[Any]:
    check_reachable(url)
    with translate_failures(f"Spark at {mask(url)}"), warnings.catch_warnings():
        # It warns about the newest pandas.
        warnings.simplefilter("ignore")
        try:
            from pyspark.sql.connect.session import SparkSession
        except ImportError:
            raise MissingExtraError(_NO_PYSPARK if _lacks_pyspark() else _NO_CONNECT) from None
        session = SparkSession.builder.remote(url).create()
    try:
        yield session
    finally:
        session.stop()


def _lacks_pyspark() -> bool:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return True
    return False


@contextmanager
def _in_this_process(master: str | None) -> Iterator[Any]:
    """Yield the session of this process, or start one."""
    if _lacks_pyspark():
        raise MissingExtraError(_NO_PYSPARK)
    from pyspark.sql import SparkSession

    if master is not None:
        check_reachable(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        if master is not None and running.sparkContext.master != master:
            raise UsageError(f"This process already has a session of Spark, but not of {mask(master)}: stop it first.")
        yield running
        return
    session = _started(master)
    try:
        yield session
    finally:
        session.stop()


def _started(master: str | None) -> Any:
    """Start Spark in a process that writes to no stream of ours."""
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        raise MissingExtraError(_NO_JAVA)
    conf = SparkConf().setAll(list(_QUIET.items())).setAppName("anonhist")
    if master is not None:
        conf = conf.setMaster(master)
    with warnings.catch_warnings(), translate_failures("Spark"):
        warnings.simplefilter("ignore")
        try:
            # A session that was started earlier in this process is used again.
            launch: Callable[..., Any] = java_gateway.launch_gateway
            silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            gateway = getattr(SparkContext, "_gateway", None) or launch(conf, silent)
            with _keeping_handler():
                context = SparkContext(conf=conf, gateway=gateway)
        except PySparkException:
            raise DataError(_NOT_STARTED) from None
        return SparkSession(context)


@contextmanager
def _keeping_handler() -> Iterator[None]:
    """Keep a program's own handler of Ctrl-C: Spark installs its own, whatever was installed."""
    kept = signal.getsignal(signal.SIGINT)
    yield
    if kept is not signal.default_int_handler and current_thread() is main_thread():
        signal.signal(signal.SIGINT, kept)


def check_reachable(url: str) -> None:
    """Refuse an address at which nobody answers, before Spark tries it for many minutes."""
    scheme = f"{url.partition('://')[0]}://"
    addresses = url.removeprefix(scheme).partition("/")[0].split(",")
    for address in addresses:
        host, _, port = address.rpartition(":") if ":" in address else (address, "", "")
        try:
            number = int(port or _PORTS[scheme])
            socket.create_connection((host.strip("[]"), number), timeout=_SECONDS_TO_REACH).close()
        except (OSError, ValueError, OverflowError):
            continue
        return
    raise public_error(f"Spark at {mask(url)} cannot be reached; check its address and your permissions.")

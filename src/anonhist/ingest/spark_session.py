"""Sessions of Spark: that of this process, one that is started for a reading, or a connection to a server."""

from __future__ import annotations

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

from anonhist.errors import DataError, MissingExtraError, UsageError, mask, public_error
from anonhist.ingest.failures import translate_failures
from anonhist.ingest.files import has_schema
from anonhist.ingest.spark_files import spark_relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anonhist.ingest.spark_source import SparkFiles

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
# It is asked to show nothing, and nobody is there to look at its pages.
_QUIET = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


@contextmanager
def opened_files(files: SparkFiles, reading: dict[str, Any], *, what: str) -> Iterator[tuple[Any, bool]]:
    """Open files as a Narwhals table, and say whether their columns are declared; ``reading`` is how to read them."""
    import narwhals as nw

    with _session(None) as session, translate_failures(what, path=files.path):
        table = nw.from_native(spark_relation(session, files, **reading))
        yield table, has_schema(files, format=reading["format"], header=reading["header"])


@contextmanager
def opened_table(url: str, table: str | None) -> Iterator[tuple[Any, bool]]:
    """Open a table of a cluster as a Narwhals table, and say whether somebody declared its columns.

    Those of files that are named as a table may be found in their rows, as are keys of JSON.
    """
    import narwhals as nw

    with _session(url) as session, translate_failures("The table"):
        yield nw.from_native(_table(session, table)), "`" not in str(table) or str(table).startswith("parquet.")


def _table(session: Any, name: str | None) -> Any:
    from pyspark.errors import AnalysisException

    if name is None:
        raise UsageError(f"Say which table of Spark to read (`table`); it has {_tables(session)}.")
    try:
        table = session.table(name)
        # A connection asks for it only now.
        table.schema  # noqa: B018
    except AnalysisException:
        if "://" in name:
            # A path, in which there may be keys.
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
    """Yield a session; what was started for it ends with it."""
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
        # It warns of the newest pandas.
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
    """Yield the session of this process, or one that is started."""
    if _lacks_pyspark():
        raise MissingExtraError(_NO_PYSPARK)
    from pyspark.sql import SparkSession

    if master is not None:
        check_reachable(master)
    running = SparkSession.getActiveSession()
    if running is not None:
        if master is not None and running.sparkContext.master != master:
            raise UsageError(f"This process has a session of Spark already, but not of {mask(master)}: stop it first.")
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
            # One that was started before in this process is used again.
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
    """Keep what a program does at Ctrl-C, if that is its own: Spark sets what is to be done, whatever was set."""
    kept = signal.getsignal(signal.SIGINT)
    yield
    if kept is not signal.default_int_handler and current_thread() is main_thread():
        signal.signal(signal.SIGINT, kept)


def check_reachable(url: str) -> None:
    """Refuse an address that nobody answers at, before Spark tries it for many minutes.

    Raises
    ------
    DataError
        If so.

    Examples
    --------
    >>> check_reachable("sc://localhost:1")
    Traceback (most recent call last):
    anonhist.errors.DataError: Spark at sc://localhost:1 cannot be reached; check its address and your permissions.
    """
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

"""Reads reports of local privacy into a tally: grouped on the engine, or streamed if grouping would save nothing."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import Any

from anonhist.errors import DataError, UsageError, mask
from anonhist.ingest.columns import Opened, Schema, opened_frame, opened_relation, required_key
from anonhist.ingest.engine import Spilling, connect, followed, translate_failures
from anonhist.ingest.files import Form, SparkFiles, check_stated, file_table, form_of
from anonhist.ingest.holders import holder_of
from anonhist.ingest.locations import as_path, identity, match_files
from anonhist.ingest.memory import is_table
from anonhist.ingest.naming import as_text, check_batch, is_sqlite, name_columns
from anonhist.ingest.plain_types import holds_objects, mapped_objects, with_plain_types
from anonhist.ingest.query import batches
from anonhist.ingest.source import refuse_counts
from anonhist.ingest.sqlite_values import as_declared, with_names_of_values
from anonhist.ingest.typed_files import Malformed
from anonhist.local.report_cluster import count_on_cluster
from anonhist.local.report_columns import keys_of, report_query
from anonhist.local.report_rows import (
    TIMES,
    Counted,
    LeftOut,
    TallySum,
    count_rows,
    foreign_rows,
    is_groupable,
    sound_rows,
)
from anonhist.local.reports import Tally
from anonhist.local.reports_once import OnceInEngine
from anonhist.local.survey import Survey
from anonhist.numeric.value_name import value_name
from anonhist.privacy import parse_whole_number
from anonhist.temporary_folder import temporary_folder

# If more different reports are possible, grouping them saves nothing: they are counted as they arrive.
_MOST_GROUPS = 1 << 22
_BATCH_BYTES, _BATCH_ROWS = 1 << 26, 1 << 20


def tally_reports(
    survey: Survey,
    sources: Any,
    *,
    unique: str | None = None,
    skip_bad: int = 0,
    progress: Callable[[float], None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Tally:
    """Count the reports in files and tables, any number of them and of any size, on an engine.

    Parameters
    ----------
    survey
        The survey of the reports; every row has the survey's digest in the column ``survey``.
    sources
        A path or pattern, or several: .parquet, .csv, .ndjson or .jsonl; .gz and .zst too. ``"-"`` is standard input,
        JSON lines or CSV. Or a table in memory, or several: PyArrow, pandas, Polars, DuckDB, Ibis and Spark, with the
        columns of the files. Tables of Spark are counted on the cluster: equal reports by grouping or, if more than
        2^22 different ones are possible, partition by partition, which requires this package on the executors.
        Instead of ``survey`` and the survey's columns, all may have a column ``reports``, as lines of devices do (see
        :func:`wire_line`): JSON, or a structure with a list of hexadecimal texts for each column.
    unique
        A column, such as ``"id"``, whose values are unique to a report, or to a line of devices: what was sent again
        counts once, in all sources together. If different reports have the same value, someone forged one of them: none
        of them counts, and each is a bad row, as is a row without a value. A table of Spark must then be the only
        source. By default, all rows count.
    skip_bad
        The number of rows that may be left out, in all sources together: rows that answer another survey, and rows that
        no device can have sent, according to :meth:`Survey.possible`. The default is 0. A row that breaks the format of
        its file, such as a line with too many fields, always makes the file unreadable, except that with ``unique`` a
        line that is not JSON is a bad row: anybody can send one. Days are not checked: give no files of later days than
        the last of a collection.
    progress
        Receives the share done, in [0, 1].
    notify
        Called once with a sentence if rows were left out; it gives their number, which is for the operator alone.

    Returns
    -------
    Tally
        The tally of all reports together.

    Raises
    ------
    DataError
        If a file is missing or damaged, or if more rows than ``skip_bad`` are invalid. The message names the first such
        row of its file by its position, counted from 1 without the header line, and contains no value; rows of Spark
        have no positions. In this case, nothing is counted.
    UsageError
        If a file or table is named twice, ``skip_bad`` is not a whole number of at least 0, or a table of Spark with a
        unique column is not the only source.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.files import write
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> reports = survey.randomize([0, 2, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(reports, f"{folder}/reports.parquet")
    ...     tally_reports(survey, f"{folder}/*.parquet") == survey.tally(reports)
    True
    """
    found = _listed(sources)
    bad = _Allowance(parse_whole_number(skip_bad, name="skip_bad", least=0))
    total = TallySum(survey.empty_tally())
    if unique is not None:
        parts = _tallies_once(survey, found, unique, bad, progress)
    else:
        shares = (_share(progress, place, len(found)) for place in range(len(found)))
        each = (_tallies(survey, source, bad, share) for source, share in zip(found, shares, strict=True))
        parts = chain.from_iterable(each)
    for tally in parts:
        total.add(tally)
    if bad.used and notify is not None:
        notify(f"{bad.used:,} {'row was' if bad.used == 1 else 'rows were'} left out: invalid for this survey.")
    return total.sum()


def report_files(sources: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the single files that paths and patterns name, in their order, or refuse one that would count twice."""
    found: list[str] = []
    for source in map(as_path, sources):
        found += [source] if source == "-" else match_files(source) or [source]
    if not found:
        raise UsageError("Name at least one file of reports.")
    if len(set(map(identity, found))) < len(found):
        raise UsageError("A file is named twice, so its reports would count twice; name each file once.")
    return found


def _listed(sources: Any) -> list[Any]:
    """Return files and tables one by one, or refuse those that would count twice."""
    listed = [sources] if isinstance(sources, str | os.PathLike | SparkFiles) or is_table(sources) else list(sources)
    if any(isinstance(each, SparkFiles) for each in listed):
        raise UsageError(
            "Reports in files are counted by DuckDB; for Spark, pass its table, such as spark.read.parquet(…)."
        )
    tables = [each for each in listed if is_table(each)]
    if len({id(each) for each in tables}) < len(tables):
        raise UsageError("A table is given twice, so its reports would count twice; give each table once.")
    paths = [each for each in listed if not is_table(each)]
    return [*(report_files(paths) if paths or not tables else []), *tables]


class _Allowance:
    """The number of rows that may be left out, and the number that were."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0

    def use(self, counted: Counted) -> bool:
        """Leave out the rows that were not counted; return whether that is still allowed."""
        self.used += counted.foreign + counted.impossible
        return self.used <= self.most


def _tallies(survey: Survey, source: Any, bad: _Allowance, progress: Callable[[float], None] | None) -> Iterator[Tally]:
    source = _native(source)
    if _is_on_cluster(source):
        yield from _tallies_on_cluster(survey, source, bad)
        return
    what = _called(source)
    with _open_reports(survey, source, what, progress) as (connection, query):
        with closing(count_rows(survey, batches(*_counted_query(survey, query)))) as parts:
            for counted in parts:
                if not bad.use(counted):
                    break
                yield counted.tally
        if bad.used > bad.most:
            error = _first_bad(survey, connection, query, what, bad)
            raise error or DataError(f"{what} was changed while it was read. Nothing was counted.")


def _native(source: Any) -> Any:
    """Return a path unchanged, and a table as that of its package."""
    if isinstance(source, str):
        return source
    import narwhals as nw

    return nw.to_native(source, pass_through=True)


def _is_on_cluster(source: Any) -> bool:
    return type(source).__module__.startswith("pyspark")


def _called(source: Any) -> str:
    if not isinstance(source, str):
        return "The table"
    return "Standard input" if source == "-" else f"The file {mask(source)!r}"


def _tallies_once(
    survey: Survey, found: list[Any], unique: str, bad: _Allowance, progress: Callable[[float], None] | None
) -> Iterator[Tally]:
    """Count what was sent again once, in all sources together."""
    sources = [_native(source) for source in found]
    if any(map(_is_on_cluster, sources)):
        if len(sources) > 1:
            raise UsageError(
                "With a unique column, a table of Spark must be the only source: unite it with the others there first."
            )
        yield from _tallies_on_cluster(survey, sources[0], bad, unique=unique)
        return
    with ExitStack() as kept:
        # Standard input can be read only once, but a file of it again.
        opened = [
            (kept.enter_context(spool_stdin()) if isinstance(each, str) and each == "-" else each, _called(each))
            for each in sources
        ]
        once = OnceInEngine(kept.enter_context(connect()), survey)
        for place, (source, what) in enumerate(opened):
            share = _share(progress, place, len(opened))
            with _open_reports(survey, source, what, share, unique=unique) as (_, query):
                for batch in batches(query, _rows_at_once(survey)):
                    once.add(batch)
        with translate_failures("What was read"):
            bad.used += sum(once.left_out)
        with (
            translate_failures("What was read"),
            closing(count_rows(survey, batches(*_counted_query(survey, once.rows)))) as parts,
        ):
            for counted in parts:
                if not bad.use(counted):
                    break
                yield counted.tally
        if bad.used <= bad.most:
            return
        for source, what in opened:
            with _open_reports(survey, source, what, None, unique=unique) as (connection, query):
                if error := _first_bad(survey, connection, query, what, bad):
                    raise error
        raise DataError(_forged(unique, bad))


def _tallies_on_cluster(survey: Survey, source: Any, bad: _Allowance, *, unique: str | None = None) -> Iterator[Tally]:
    """Count a table of Spark on its cluster."""
    foreign = forged = 0
    with holder_of(source).open() as opened:
        for counted in count_on_cluster(survey, opened.table, "The table", unique=unique, most_groups=_MOST_GROUPS):
            if isinstance(counted, LeftOut):
                bad.used += sum(counted)
                forged = counted.forged
                continue
            foreign += counted.foreign
            bad.use(counted)
            yield counted.tally
    if bad.used > bad.most:
        if unique is not None and bad.used == forged:
            raise DataError(_forged(unique, bad))
        raise DataError(f"The table {_wrong(bad, is_foreign=bool(foreign))}. Nothing was counted.")


def _wrong(bad: _Allowance, *, is_foreign: bool, where: str = "") -> str:
    """Describe the problem with a row, and how to leave out such rows."""
    wrong = (
        "holds reports of another survey; count them with the file of that survey"
        if is_foreign
        else "holds a row that is not a report of this survey"
    )
    return f"{wrong}{where}; {_more(bad)}"


def _forged(unique: str, bad: _Allowance) -> str:
    return (
        f"Different reports have the same value in the column {unique!r}, so none of these counts; {_more(bad)}. "
        "Nothing was counted."
    )


def _more(bad: _Allowance) -> str:
    return f"more than {bad.most:,} such rows" if bad.most else "`skip_bad` sets how many to leave out"


def _counted_query(survey: Survey, query: Any) -> tuple[Any, int]:
    """Return the engine's query, which groups equal reports if few differ, and how many rows to fetch at a time."""
    if is_groupable(survey, most=_MOST_GROUPS):
        names = ", ".join(query.columns)
        return query.aggregate(f"{names}, count(*) AS {TIMES}", names), _BATCH_ROWS
    return query, _rows_at_once(survey)


def _rows_at_once(survey: Survey) -> int:
    width = sum(-(-column.bits // 8) for column in survey.columns)
    return max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, width)))


def _first_bad(survey: Survey, connection: Any, query: Any, what: str, bad: _Allowance) -> DataError | None:
    """Search for the first invalid row in the order of the file, and return its description."""
    # Counting takes rows as they arrive; their positions need the order, which takes longer.
    connection.execute("SET preserve_insertion_order = true")
    passed = 0
    for batch in batches(query, _BATCH_ROWS if survey.report_bytes < 64 else 1 << 12):
        sound = sound_rows(survey, batch)
        if not sound.all():
            place = int(sound.argmin())
            told = _wrong(bad, is_foreign=bool(foreign_rows(batch)[place]), where=f": row {passed + place + 1:,}")
            return DataError(f"{what} {told}. Nothing was counted.")
        passed += batch.num_rows
    return None


@contextmanager
def _open_reports(
    survey: Survey, source: Any, what: str, progress: Callable[[float], None] | None, *, unique: str | None = None
) -> Iterator[tuple[Any, Any]]:
    if not isinstance(source, str):
        with translate_failures(what), connect() as connection:
            named = _named_in_memory(connection, source, keys_of(survey, unique), unique)
            yield connection, report_query(survey, named, what, unique=unique, is_json=False)
        return
    spooled = spool_stdin() if source == "-" else nullcontext(source)
    with translate_failures(what, path=source), connect() as connection, spooled as path:
        is_json = form_of(path, None) is Form.JSON
        keys = keys_of(survey, unique)
        # Anybody can send a line to whoever collects; without a unique column, the lines are somebody's file.
        malformed = Malformed.REFUSED if unique is None else Malformed.MISSING
        named = file_table(connection, path, format=None, delimiter=None, header=True, keys=keys, malformed=malformed)
        query = report_query(survey, named, what, unique=unique, is_json=is_json)
        with followed(connection, progress):
            yield connection, query


def _named_in_memory(connection: Any, source: Any, used: list[str], unique: str | None) -> Opened:
    """Return a table in memory in a form that DuckDB reads."""
    import narwhals as nw

    if type(source).__module__.startswith("pyarrow"):
        return opened_relation(connection.from_arrow(source), Schema.DECLARED, source.schema.names)
    frame = nw.from_native(source)
    if frame.implementation.is_duckdb():
        return opened_frame(frame, Schema.DECLARED)
    if is_sqlite(frame):
        frame = with_names_of_values(as_declared(frame), bytes_in_hexadecimal=True)
    if isinstance(frame, nw.LazyFrame):
        schema = frame.collect_schema()
        # Only these are fetched, and Arrow takes no identifiers of PostgreSQL but as text.
        columns = {name: nw.col(name) for name in schema.names() if name in used}
        if unique in columns and schema[unique] == nw.Unknown:
            columns[unique] = columns[unique].cast(nw.String)
        frame = (frame.select(*columns.values()) if columns else frame).collect()
    objects = [name for name in frame.columns if holds_objects(frame, name)]
    table = frame.with_columns(*(mapped_objects(frame, name, _text_in_report) for name in objects)).to_arrow()
    return opened_relation(connection.from_arrow(table), Schema.DECLARED, table.schema.names)


def _text_in_report(value: Any) -> str | None:
    """Return a value as a text file would contain it: bytes are hexadecimal there."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return json.dumps(value, default=list)
    try:
        return value_name(value)
    except DataError:
        # A value without a name is not a report.
        return ""


def _share(progress: Callable[[float], None] | None, place: int, files: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((place + share) / files)


@contextmanager
def spool_stdin() -> Iterator[str]:
    """Copy standard input to a file that only this user can read, and remove the file afterwards.

    Its ending states its format: JSON lines if it begins with a brace, else CSV. The first byte may decide that,
    because reports are private before they arrive here.
    """
    with temporary_folder() as folder:
        stream = sys.stdin.buffer
        first = stream.read(1)
        path = Path(folder, "reports.ndjson" if first == b"{" else "reports.csv")
        with path.open("xb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield str(path)


_ROWS = 1 << 17


@contextmanager
def opened_values(
    source: str,
    label: str | None,
    *,
    format: str | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Iterator[list[str]]]:
    """Open a column of a file, a pattern or ``-`` (standard input) as texts, in batches and in any order.

    ``label`` may be left out if there is only one column. ``format`` is ``"events"``, the default, or ``"labels"`` (one
    label per line); standard input needs it or ``label``. A row without a value is refused; the message contains no
    value.
    """
    check_stated(source, format, label, header=header)
    if format == "labels" and (label is not None or delimiter is not None):
        raise UsageError(
            "Data with one label per line have no columns: leave out the columns, or leave out the format."
        )
    with connect(spilling=Spilling.FORBIDDEN) as connection:
        # Failures while the values are used are not about the input.
        with translate_failures("The input", path=source):
            keys = [required_key(label)] if form_of(source, format) is Form.JSON else []
            named = file_table(connection, source, format=format, delimiter=delimiter, header=header, keys=keys)
            names = named.header
            label = names.label_column(label)
            if format is None:
                refuse_counts(names.without(label), "write a row for each item, or give `format='events'` if each is")
            name, table = names.in_table(label), with_plain_types(named.table)
            query = table.select(value=as_text(table, name), **name_columns(table, {name: False})).to_native()
        with followed(connection, progress):
            yield _texts(query, source)


def _texts(query: Any, source: str) -> Iterator[list[str]]:
    with translate_failures("The input", path=source):
        for batch in batches(query, _ROWS):
            check_batch(batch)
            values = batch.column("value")
            if values.null_count:
                raise DataError("A row has no value in that column: remove such rows, or give them a label.")
            yield values.to_pylist()

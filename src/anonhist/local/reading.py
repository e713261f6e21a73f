"""Reads reports of local privacy into a tally: grouped on the engine, or streamed if grouping would save nothing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from anonhist.errors import DataError, UsageError, mask
from anonhist.ingest.columns import Opened, Schema, opened_frame, opened_relation, quoted, required_key
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
from anonhist.ingest.typed_files import NO_TYPE
from anonhist.local.report_rows import (
    FOREIGN,
    TIMES,
    Counted,
    TallySum,
    check_columns,
    count_on_cluster,
    count_rows,
    foreign_rows,
    is_groupable,
    names_of,
    sound_rows,
)
from anonhist.local.reports import BytesColumn, Tally, WholeColumn
from anonhist.local.survey import Survey
from anonhist.numeric.value_name import value_name
from anonhist.privacy import parse_whole_number
from anonhist.temporary_folder import temporary_folder

# If more different reports are possible, grouping them saves nothing: they are counted as they arrive.
_MOST_GROUPS = 1 << 22
_BATCH_BYTES, _BATCH_ROWS = 1 << 26, 1 << 20
_WHOLE_TYPES = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}


def tally_reports(
    survey: Survey,
    sources: Any,
    *,
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
    skip_bad
        The number of rows that may be left out, in all sources together: rows that answer another survey, and rows that
        no device can have sent, according to :meth:`Survey.possible`. The default is 0. A row that breaks the format of
        its file, such as a line with too many fields, always makes the file unreadable.
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
        If a file or table is named twice, or ``skip_bad`` is not a whole number of at least 0.

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
    for place, source in enumerate(found):
        for tally in _tallies(survey, source, bad, _share(progress, place, len(found))):
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
    if not isinstance(source, str):
        import narwhals as nw

        source = nw.to_native(source, pass_through=True)
    if type(source).__module__.startswith("pyspark"):
        yield from _tallies_on_cluster(survey, source, bad)
        return
    is_path = isinstance(source, str)
    what = "The table" if not is_path else "Standard input" if source == "-" else f"The file {mask(source)!r}"
    with _open_reports(survey, source, what, progress) as (connection, query):
        with closing(count_rows(survey, batches(*_counted_query(survey, query)))) as parts:
            for counted in parts:
                if not bad.use(counted):
                    break
                yield counted.tally
        if bad.used > bad.most:
            raise _first_bad(survey, connection, query, what, bad)


def _tallies_on_cluster(survey: Survey, source: Any, bad: _Allowance) -> Iterator[Tally]:
    """Count a table of Spark on its cluster."""
    foreign = 0
    with holder_of(source).open() as opened:
        for counted in count_on_cluster(survey, opened.table, "The table", most_groups=_MOST_GROUPS):
            foreign += counted.foreign
            bad.use(counted)
            yield counted.tally
    if bad.used > bad.most:
        raise DataError(f"The table {_wrong(bad, is_foreign=bool(foreign))}. Nothing was counted.")


def _wrong(bad: _Allowance, *, is_foreign: bool, where: str = "") -> str:
    """Describe the problem with a row, and how to leave out such rows."""
    wrong = (
        "holds reports of another survey; count them with the file of that survey"
        if is_foreign
        else "holds a row that is not a report of this survey"
    )
    more = f"more than {bad.most:,} such rows" if bad.most else "`skip_bad` sets how many to leave out"
    return f"{wrong}{where}; {more}"


def _counted_query(survey: Survey, query: Any) -> tuple[Any, int]:
    """Return the engine's query, which groups equal reports if few differ, and how many rows to fetch at a time."""
    if is_groupable(survey, most=_MOST_GROUPS):
        names = ", ".join(query.columns)
        return query.aggregate(f"{names}, count(*) AS {TIMES}", names), _BATCH_ROWS
    width = sum(-(-column.bits // 8) for column in survey.columns)
    return query, max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, width)))


def _first_bad(survey: Survey, connection: Any, query: Any, what: str, bad: _Allowance) -> DataError:
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
    return DataError(f"{what} was changed while it was read. Nothing was counted.")


@contextmanager
def _open_reports(
    survey: Survey, source: Any, what: str, progress: Callable[[float], None] | None
) -> Iterator[tuple[Any, Any]]:
    if not isinstance(source, str):
        with translate_failures(what), connect() as connection:
            yield connection, _query(survey, _named_in_memory(connection, source), what)
        return
    keys = names_of(survey)
    spooled = spool_stdin() if source == "-" else nullcontext(source)
    with translate_failures(what, path=source), connect() as connection, spooled as path:
        named = file_table(connection, path, format=None, delimiter=None, header=True, keys=keys)
        query = _query(survey, named, what)
        with followed(connection, progress):
            yield connection, query


def _named_in_memory(connection: Any, source: Any) -> Opened:
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
        frame = frame.collect()
    objects = [name for name in frame.columns if holds_objects(frame, name)]
    table = frame.with_columns(*(mapped_objects(frame, name, _text_in_report) for name in objects)).to_arrow()
    return opened_relation(connection.from_arrow(table), Schema.DECLARED, table.schema.names)


def _text_in_report(value: Any) -> str | None:
    """Return a value as a text file would contain it: bytes are hexadecimal there."""
    if isinstance(value, bytes):
        return value.hex()
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


def _query(survey: Survey, named: Opened, what: str) -> Any:
    """Return the query for the engine: every column of the reports, and whether a row is foreign."""
    # Column names of reports are not data, whatever contains them.
    header, relation = replace(named.header, schema=Schema.DECLARED), named.table.to_native()
    check_columns(survey, (*header.names, *header.folders), what)
    for name in names_of(survey):
        header.require(column=name)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    columns = {}
    for column in survey.columns:
        place = header.in_table(column.name)
        columns[column.name] = _expression(column, place, types[place], what)
    columns[FOREIGN] = f"CAST({quoted(header.in_table('survey'))} AS VARCHAR) IS DISTINCT FROM '{survey.digest}'"
    return relation.project(", ".join(f"{expression} AS {quoted(name)}" for name, expression in columns.items()))


def _expression(column: WholeColumn | BytesColumn, place: str, kind: str, what: str) -> str:
    """Return the engine's expression for a column in this place, of this type: −1 or null for an invalid report."""
    name = quoted(place)
    if isinstance(column, WholeColumn):
        is_whole = {
            # A cast alone would round fractions. Programs write floats beside a missing number.
            "VARCHAR": f"regexp_full_match({name}, '0|[1-9][0-9]{{0,18}}')",
            **dict.fromkeys(_WHOLE_TYPES, "true"),
            **dict.fromkeys(("FLOAT", "DOUBLE"), f"{name} = trunc({name})"),
            NO_TYPE: "false",
        }
        if kind in is_whole:
            return f"coalesce(CASE WHEN {is_whole[kind]} THEN TRY_CAST({name} AS BIGINT) END, -1)"
        raise DataError(f"{what} must hold whole numbers in its column {column.name!r}.")
    in_bytes = {
        "VARCHAR": (
            f"CASE WHEN length({name}) = {2 * column.width} AND regexp_full_match({name}, '[0-9a-f]*') "
            f"THEN unhex({name}) END"
        ),
        "BLOB": f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END",
        NO_TYPE: "CAST(NULL AS BLOB)",
    }
    if kind in in_bytes:
        return in_bytes[kind]
    raise DataError(f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}.")


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

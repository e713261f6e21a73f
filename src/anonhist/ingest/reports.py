"""Reports of local privacy into a tally: grouped on the engine, or streamed where there is nothing to group."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing, contextmanager, nullcontext
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import DataError, UsageError, mask
from anonhist.ingest.engine import connect
from anonhist.ingest.failures import translate_failures
from anonhist.ingest.files import file_relation
from anonhist.ingest.local_files import identity, match_files
from anonhist.ingest.progress import followed
from anonhist.ingest.record_batches import batches
from anonhist.ingest.sources import as_path
from anonhist.local.surveys.reports import BytesColumn, Reports, WholeColumn
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from anonhist.local.surveys.survey import Survey
    from anonhist.local.surveys.tally import Tally

# Where more different reports are possible, grouping them saves nothing: they are counted as they come.
_MOST_GROUPS = 1 << 22
_BATCH_BYTES, _BATCH_ROWS = 1 << 26, 1 << 20
# Whether a row answers another survey.
FOREIGN = "is_foreign"
_WHOLE_TYPES = {
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
}


def tally_reports(
    survey: Survey,
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    skip_bad: int = 0,
    progress: Callable[[float], None] | None = None,
    notify: Callable[[str], None] | None = None,
) -> Tally:
    """Count the reports in files, any number of them and of any size, on an engine.

    Parameters
    ----------
    survey
        Whose reports they are; every row says so by the survey's digest, in the column ``survey``.
    sources
        A path or pattern, or several: .parquet, .csv, .ndjson or .jsonl; .gz and .zst too. ``"-"`` is standard input,
        JSON lines or CSV.
    skip_bad
        How many rows may be left out, in all sources together: rows that answer another survey, and those of which
        :meth:`Survey.possible` says that no device can have sent them. By default none. A row that breaks the format of
        its file, such as a line with too many fields, always makes the file unreadable.
    progress
        Receives the share done, in [0, 1].
    notify
        Called once with a sentence if rows were left out; it says how many, which is for the operator alone.

    Returns
    -------
    Tally
        Of all reports together.

    Raises
    ------
    DataError
        If a file is missing or damaged, or if more rows than ``skip_bad`` are invalid. The message names the first
        such row of its file by its position, counted from 1 without a line of names, and holds no value. Nothing is
        counted then.
    UsageError
        If a file is named twice, or ``skip_bad`` is no whole number from 0 on.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats.writing import write
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> reports = survey.randomize([0, 2, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(reports, f"{folder}/reports.parquet")
    ...     tally_reports(survey, f"{folder}/*.parquet") == survey.tally(reports)
    True
    """
    files = report_files([sources] if isinstance(sources, str | os.PathLike) else sources)
    bad = _Allowance(parse_whole_number(skip_bad, name="skip_bad", least=0))
    total = _Total(survey.empty_tally())
    for place, source in enumerate(files):
        for tally in _tallies(survey, source, bad, _share(progress, place, len(files))):
            total.add(tally)
    if bad.used and notify is not None:
        notify(f"{bad.used:,} {'row was' if bad.used == 1 else 'rows were'} left out: invalid for this survey.")
    return total.sum()


def report_files(sources: Iterable[str | os.PathLike[str]]) -> list[str]:
    """Return the single files that paths and patterns name, in their order, or refuse one that is named twice.

    Raises
    ------
    UsageError
        If there is none, or a file is there twice: its reports would count twice.
    """
    found: list[str] = []
    for source in map(as_path, sources):
        found += [source] if source == "-" else match_files(source) or [source]
    if not found:
        raise UsageError("Name at least one file of reports.")
    if len(set(map(identity, found))) < len(found):
        raise UsageError("A file is named twice, so its reports would count twice; name each file once.")
    return found


class _Total:
    """A running sum that adds tallies of about the same length, so that no cell is moved often."""

    def __init__(self, empty: Tally) -> None:
        self._parts = [empty]

    def add(self, tally: Tally) -> None:
        self._parts.append(tally)
        while len(self._parts) > 1 and 2 * self._parts[-1].cells.size >= self._parts[-2].cells.size:
            self._parts.append(self._parts.pop() + self._parts.pop())

    def sum(self) -> Tally:
        while len(self._parts) > 1:
            self._parts.append(self._parts.pop() + self._parts.pop())
        return self._parts[0]


class _Allowance:
    """How many rows may be left out, and how many were."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.used = 0

    def use(self, rows: int) -> bool:
        """Leave out this many more; return whether that is still allowed."""
        self.used += rows
        return self.used <= self.most


def _tallies(survey: Survey, source: str, bad: _Allowance, progress: Callable[[float], None] | None) -> Iterator[Tally]:
    what = "Standard input" if source == "-" else f"The file {mask(source)!r}"
    follow = followed(progress)
    with _open_reports(survey, source, what, follow) as (connection, relation), follow:
        columns = expressions(survey, relation, what)
        query = relation.project(", ".join(f"{expression} AS {name}" for name, expression in columns.items()))
        few = all(isinstance(each, WholeColumn) for each in survey.columns)
        is_grouped = few and prod(each.size for each in survey.columns if isinstance(each, WholeColumn)) <= _MOST_GROUPS
        with closing((_group_reports if is_grouped else _stream_reports)(survey, query)) as parts:
            for tally, left_out in parts:
                if left_out and not bad.use(left_out):
                    break
                yield tally
        if bad.used > bad.most:
            raise _first_bad(survey, connection, query, what, bad)


def _group_reports(survey: Survey, query: Any) -> Generator[tuple[Tally, int], None, None]:
    """Let the engine count equal reports; yield tallies, and how many rows were left out of each."""
    names = ", ".join(query.columns)
    for batch in batches(query.aggregate(f"{names}, count(*) AS times", names), _BATCH_ROWS):
        sound = sound_rows(survey, batch)
        times = batch.column("times").to_numpy().astype(np.int64)
        yield survey.tally_groups(reports_of(survey, batch, sound), times[sound]), int(times[~sound].sum())


def _stream_reports(survey: Survey, query: Any) -> Generator[tuple[Tally, int], None, None]:
    """Count reports as they come; yield tallies, and how many rows were left out of each."""
    width = sum(-(-column.bits // 8) for column in survey.columns)
    for batch in batches(query, max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, width)))):
        sound = sound_rows(survey, batch)
        yield survey.tally(reports_of(survey, batch, sound)), int(np.count_nonzero(~sound))


def _first_bad(survey: Survey, connection: Any, query: Any, what: str, bad: _Allowance) -> DataError:
    """Return what to tell of the first row that is invalid, having looked for it in the order of the file."""
    # Counting takes rows as they come; their positions need the order, which takes longer.
    connection.execute("SET preserve_insertion_order = true")
    passed = 0
    for batch in batches(query, _BATCH_ROWS if survey.report_bytes < 64 else 1 << 12):
        sound = sound_rows(survey, batch)
        if not sound.all():
            place = int(sound.argmin())
            wrong = (
                "holds reports of another survey; count them with the file of that survey"
                if foreign_rows(batch)[place]
                else "holds a row that is not a report of this survey"
            )
            more = f"more than {bad.most:,} such rows" if bad.most else "`skip_bad` says how many to leave out"
            return DataError(f"{what} {wrong}: row {passed + place + 1:,}; {more}. Nothing was counted.")
        passed += batch.num_rows
    return DataError(f"{what} was changed while it was read. Nothing was counted.")


@contextmanager
def _open_reports(survey: Survey, source: str, what: str, follow: followed) -> Iterator[tuple[Any, Any]]:
    keys = names_of(survey)
    with translate_failures(what, path=source), connect() as connection:
        follow.attach(connection)
        with spool_stdin() if source == "-" else nullcontext(source) as path:
            yield connection, file_relation(connection, path, format=None, delimiter=None, header=True, keys=keys)


def _share(progress: Callable[[float], None] | None, place: int, files: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((place + share) / files)


@contextmanager
def spool_stdin() -> Iterator[str]:
    """Copy standard input to a file that only this user can read, and that is removed afterwards.

    Its ending says what it is: JSON lines where it begins with a brace, else CSV. The first byte may decide that, since
    reports are private before they come here.
    """
    with TemporaryDirectory(prefix="anonhist-", ignore_cleanup_errors=True) as folder:
        stream = sys.stdin.buffer
        first = stream.read(1)
        path = Path(folder, "reports.ndjson" if first == b"{" else "reports.csv")
        with path.open("xb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file, 1 << 20)
        yield str(path)


def names_of(survey: Survey) -> list[str]:
    """Return the columns, or keys of JSON lines, that reports of a survey have."""
    return ["survey", *(column.name for column in survey.columns)]


def expressions(survey: Survey, relation: Any, what: str) -> dict[str, str]:
    """Return by name what the engine is to compute: every column of the reports, and whether a row is foreign.

    Raises
    ------
    DataError
        If a column is missing or of another type.
    """
    names = names_of(survey)
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    if not set(names) <= set(types):
        raise DataError(f"{what} does not hold reports of this survey, which have the columns {', '.join(names)}.")
    columns = {column.name: _expression(column, types[column.name], what) for column in survey.columns}
    return columns | {FOREIGN: f"CAST(\"survey\" AS VARCHAR) IS DISTINCT FROM '{survey.digest}'"}


def _expression(column: WholeColumn | BytesColumn, kind: str, what: str) -> str:
    name = f'"{column.name}"'
    if isinstance(column, WholeColumn):
        if kind == "VARCHAR":
            # A cast alone would round fractions.
            return (
                f"coalesce(CASE WHEN regexp_full_match({name}, '0|[1-9][0-9]{{0,18}}') "
                f"THEN TRY_CAST({name} AS BIGINT) END, -1)"
            )
        if kind in _WHOLE_TYPES:
            return f"coalesce(TRY_CAST({name} AS BIGINT), -1)"
        raise DataError(f"{what} must hold whole numbers in its column {column.name!r}.")
    if kind == "VARCHAR":
        return (
            f"CASE WHEN length({name}) = {2 * column.width} AND regexp_full_match({name}, '[0-9a-f]*') "
            f"THEN unhex({name}) END"
        )
    if kind == "BLOB":
        return f"CASE WHEN octet_length({name}) = {column.width} THEN {name} END"
    raise DataError(f"{what} must hold bytes, or hexadecimal text, in its column {column.name!r}.")


def sound_rows(survey: Survey, batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it is a report of this survey that a device can have sent, shape (n,)."""
    sound = ~foreign_rows(batch)
    for column in survey.columns:
        sound &= batch.column(column.name).is_valid().to_numpy(zero_copy_only=False)
    sound[sound] = survey.possible(reports_of(survey, batch, sound))
    return sound


def foreign_rows(batch: Any) -> NDArray[np.bool_]:
    """Say of each row whether it answers another survey, or none that it names, shape (n,)."""
    return np.array(batch.column(FOREIGN).to_numpy(zero_copy_only=False))


def reports_of(survey: Survey, batch: Any, rows: NDArray[np.bool_]) -> Reports:
    """Return some rows of a record batch as reports; bytes of theirs are of the right length."""
    chosen = batch if rows.all() else batch.filter(rows)
    return Reports(survey.digest, {each.name: _array(each, chosen.column(each.name)) for each in survey.columns})


def _array(column: WholeColumn | BytesColumn, values: Any) -> NDArray[Any]:
    if isinstance(column, WholeColumn):
        return np.asarray(values.to_numpy())
    rows = len(values)
    if not rows:
        return column.empty(0)
    _, offsets, data = values.buffers()
    start = np.frombuffer(offsets, dtype=np.int32)[values.offset]
    return np.frombuffer(data, dtype=np.uint8)[start : start + rows * column.width].reshape(rows, column.width)

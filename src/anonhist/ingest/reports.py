"""Reports of local privacy into a tally: grouped on the engine, or streamed where there is nothing to group."""

from __future__ import annotations

import os
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.errors import UsageError
from anonhist.ingest.failures import translated
from anonhist.ingest.files import file_relation
from anonhist.ingest.local_files import identity, matched
from anonhist.ingest.progress import followed
from anonhist.ingest.report_columns import FOREIGN, arrays_of, expressions, names_of, refuse_foreign
from anonhist.ingest.sources import as_path, connected
from anonhist.ingest.spool import spooled
from anonhist.local.reports import Reports, WholeColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from anonhist.local.survey import Survey
    from anonhist.local.tally import Tally

# Where more different reports are possible, grouping them saves nothing: they are counted as they come.
_MOST_GROUPS = 1 << 22
_BATCH_BYTES, _BATCH_ROWS = 1 << 26, 1 << 20


def tally_reports(
    survey: Survey,
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    progress: Callable[[float], None] | None = None,
) -> Tally:
    """Count the reports in files, any number of them and of any size, on an engine.

    Parameters
    ----------
    survey
        Whose reports they are; every row says so by the survey's digest, in the column ``survey``.
    sources
        A path or pattern, or several: .parquet, .csv, .ndjson or .jsonl; .gz and .zst too. ``"-"`` is standard input,
        JSON lines or CSV.
    progress
        Receives the share done, in [0, 1].

    Returns
    -------
    Tally
        Of all reports together.

    Raises
    ------
    DataError
        If a file is missing or damaged, holds reports of another survey, or something that is no report of this one;
        the message holds no value. Nothing is counted then.
    UsageError
        If a file is named twice.

    Examples
    --------
    >>> import tempfile
    >>> from anonhist.formats import write
    >>> from anonhist.local import KRR
    >>> survey = KRR(alphabet=3, epsilon=1)
    >>> reports = survey.randomize([0, 2, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(reports, f"{folder}/reports.parquet")
    ...     tally_reports(survey, f"{folder}/*.parquet") == survey.tally(reports)
    True
    """
    files = report_files([sources] if isinstance(sources, str | os.PathLike) else sources)
    total = _Total(survey.empty_tally())
    for place, source in enumerate(files):
        for tally in _tallies(survey, source, _share(progress, place, len(files))):
            total.add(tally)
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
        found += [source] if source == "-" else matched(source) or [source]
    if not found:
        raise UsageError("Name one file of reports at least.")
    if len(set(map(identity, found))) < len(found):
        raise UsageError("A file is named twice, so that its reports would count twice; name each once.")
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


def _tallies(survey: Survey, source: str, progress: Callable[[float], None] | None) -> Iterator[Tally]:
    what = "Standard input" if source == "-" else f"The file {source!r}"
    follow = followed(progress)
    with _opened(survey, source, what, follow) as relation, follow:
        columns = expressions(survey, relation, what)
        few = all(isinstance(each, WholeColumn) for each in survey.columns)
        if few and prod(each.size for each in survey.columns if isinstance(each, WholeColumn)) <= _MOST_GROUPS:
            yield from _grouped(survey, relation, columns, what)
        else:
            yield from _streamed(survey, relation, columns, what)


def _grouped(survey: Survey, relation: Any, columns: dict[str, str], what: str) -> Iterator[Tally]:
    """Let the engine count equal reports."""
    query = relation.project(", ".join(f"{expression} AS {name}" for name, expression in columns.items()))
    names = ", ".join(name for name in columns if name != FOREIGN)
    counts = f"count(*) AS times, count_if({FOREIGN}) AS {FOREIGN}"
    for batch in batches(query.aggregate(f"{names}, {counts}", names), _BATCH_ROWS):
        refuse_foreign(batch, what)
        times = batch.column("times").to_numpy().astype(np.int64)
        yield survey.tally_grouped(Reports(survey.digest, arrays_of(survey, batch, what)), times)


def _streamed(survey: Survey, relation: Any, columns: dict[str, str], what: str) -> Iterator[Tally]:
    """Count reports as they come."""
    query = relation.project(", ".join(f"{expression} AS {name}" for name, expression in columns.items()))
    width = sum(-(-column.bits // 8) for column in survey.columns)
    for batch in batches(query, max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(1, width)))):
        refuse_foreign(batch, what)
        yield survey.tally(Reports(survey.digest, arrays_of(survey, batch, what)))


def batches(relation: Any, rows: int) -> Iterator[Any]:
    """Run a query once and return its result as record batches that have some rows."""
    # Older engines have the same by another name.
    reader = (
        relation.to_arrow_reader(rows) if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch(rows)
    )
    for batch in reader:
        if batch.num_rows:
            yield batch


@contextmanager
def _opened(survey: Survey, source: str, what: str, follow: followed) -> Iterator[Any]:
    keys = names_of(survey)
    with translated(what, path=source), connected() as connection:
        follow.attach(connection)
        if source == "-":
            with spooled() as path:
                yield file_relation(connection, path, format=None, delimiter=None, header=True, keys=keys)
            return
        yield file_relation(connection, source, format=None, delimiter=None, header=True, keys=keys)


def _share(progress: Callable[[float], None] | None, place: int, files: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((place + share) / files)

"""What a reading takes from a source, by its schema alone: it reads no row, and reveals nothing that rows determine.

A source whose columns are declared, or named by a header line, is opened, and its queries are built up to the bounding
of users, so that the schema causes the same refusals as a reading; no query is run. Column names are shown if they were
declared or given by the caller: a header line counts as one once a word of it was given (see
:mod:`~anonhist.ingest.columns`).

In place of text without a header line and of JSON lines, an empty table with the columns of the call is opened. For a
view that infers its columns, not even that is possible: its outline shows only what the call says. An error that may
reveal rows is left to the reading, which is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from anonhist.errors import AnonhistError
from anonhist.ingest.columns import Header, Opened, Schema, opened_relation
from anonhist.ingest.engine import connect
from anonhist.ingest.files import COUNTED, Form
from anonhist.ingest.groups.reading import columns_of_groups, rows_of_groups
from anonhist.ingest.locations import is_remote
from anonhist.ingest.naming import declared
from anonhist.ingest.parts.files import Parts, check_bound, refuse_settled
from anonhist.ingest.protection import Protection, unit_of_profile
from anonhist.ingest.query import Columns, named_rows, prevalences_query
from anonhist.ingest.source import Source
from anonhist.ingest.typed_files import keys_to_read
from anonhist.ingest.windows import WindowsAsked, columns_of_windows, with_dates

if TYPE_CHECKING:
    from anonhist.catalogue import Levels
    from anonhist.ingest.group_values import Part
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Bounded

_COUNTS = ("count", "prevalence")
_WHOLE = "whole numbers"
_BY_VALUE = "each value separately, because {}"
_FOUND = "by a type that is not shown, because rows may decide it"
_UNKNOWN = "unknown until they are read, because this source may find its columns in them"
_ROWS = {
    "events": "each is one item (events)",
    "counts": "each is a label with its count (counts)",
    "prevalences": "each is a count with the number of labels that have it (prevalences)",
}


class Taken(NamedTuple):
    """A column that is read: its role, its name (None if that may be data), and how its values are interpreted."""

    role: str
    name: str | None
    held: str


class Outline(NamedTuple):
    """The parts of a source that a reading takes; ``unread`` has its other columns' names, None if they may be data."""

    source: str
    rows: str
    columns: tuple[Taken, ...] = ()
    unread: tuple[str, ...] | None = None


def outline_profile(source: Source, protection: Protection) -> Outline:
    """Return what :func:`~anonhist.ingest.read.read_profile` takes from a source, or refuse it by its schema."""
    with _opened(source, protection) as opened:
        if opened is None:
            return _of_words(source, protection)
        columns = protection.columns(source.kind(opened.header, protection), opened.header)
        return _outline(source, opened, columns, protection)


def outline_groups(
    source: Source,
    protection: Protection,
    groups: str | None,
    *,
    levels: Levels | None,
    bounded: tuple[Bounded, int] | None,
) -> Outline:
    """Return what :func:`~anonhist.ingest.groups.read.read_groups` takes from a source, or refuse it by its schema.

    ``groups`` are the listed groups; None if they should be found.
    """
    rows = rows_of_groups(source, protection, groups, to_find=groups is None)
    with _opened(source, protection) as opened:
        if opened is None:
            return _of_words(source, protection)
        columns = columns_of_groups(opened, source, protection, rows, levels=levels, bounded=bounded)
        return _outline(source, opened, columns, protection)


def outline_windows(source: Source, asked: WindowsAsked) -> Outline:
    """Return what a reading of cumulative windows takes from a source, or refuse it by its schema."""
    source.refuse_labels("column of dates")
    protection, date = asked.protection, asked.dates[0].column
    with _opened(source, protection, date) as opened:
        if opened is None:
            return _of_words(source, protection, date)
        columns = columns_of_windows(opened, source, asked)
        return _outline(source, opened, columns, protection, date)


def outline_parts(paths: Any, max_per_user: int | None, unit: PrivacyUnit | None, **settled: Any) -> Outline:
    """Return what is read of parts, which declare their content, or refuse an incompatible request."""
    refuse_settled(**settled)
    parts = Parts(paths, check_bound(max_per_user))
    unit_of_profile(unit, parts.max_per_user)
    rows = _ROWS["counts"] if parts.max_per_user is None else "items of users, as many of each as the parts keep"
    return Outline("parts that 'anonhist count' made", rows)


@contextmanager
def _opened(source: Source, protection: Protection, *others: str) -> Iterator[Opened | None]:
    """Open a source for its schema, or an empty table for text without one; return None if rows may decide it."""
    if source.holder.declares():
        with source.open(protection, *others) as opened:
            yield opened
    elif source.holder.form is None:
        yield None
    else:
        _refuse_for_all_rows(source, protection, *others)
        names = _names(source, (*protection.columns_read, *protection.filtering, *others))
        with connect() as connection:
            columns = ", ".join(f"NULL::VARCHAR AS c{at}" for at, _ in enumerate(names))
            yield opened_relation(connection.sql(f"SELECT {columns} WHERE false"), Schema.FOUND, names)


def _refuse_for_all_rows(source: Source, protection: Protection, *others: str) -> None:
    """Refuse a text for its name and the call; at most the beginnings of local files are inspected for that."""
    if not source.holder.is_ours or is_remote(source.holder.of):
        return
    try:
        with source.open(protection, *others):
            pass
    except AnonhistError as error:
        if error.is_same_for_all_rows:
            raise


def _names(source: Source, said: tuple[str | None, ...]) -> list[str]:
    """Return the columns that a call names in a text without a header line, and positions for the others."""
    form, rows = source.holder.form, source.rows
    if form is Form.JSON:
        return keys_to_read((*rows.keys(), *said))
    if form is Form.LABELS:
        return ["label"]
    if form is Form.UNIQ:
        return ["label", "count"]
    own = [name for name in (rows.label, rows.column_of_counts) if name is not None]
    needed = 1 if rows.format not in COUNTED and rows.column_of_counts is None else 2
    named = list(dict.fromkeys([*own, *(name for name in said if name is not None)]))
    places = (name for at in count() if (name := f"column{at}") not in named)
    return sorted([*named, *islice(places, max(0, needed - len(own)))])


def _of_words(source: Source, protection: Protection, date: str | None = None) -> Outline:
    """Return what a call says about a source whose columns may depend on its rows."""
    roles = {
        "label": source.rows.label,
        "count": source.rows.column_of_counts,
        "user": protection.user,
        "order": protection.order_by,
    }
    named = [(role, name) for role, name in roles.items() if name is not None]
    named += [("group", part.column) for part in protection.grouping.parts]
    named += [] if date is None else [("date", date)]
    named += [("condition", name) for name in protection.filtering]
    taken = tuple(Taken(role, name, _FOUND) for role, name in named)
    return Outline(source.holder.told, _counted(_UNKNOWN, protection), taken)


def _counted(rows: str, protection: Protection) -> str:
    """Describe which rows count."""
    return rows if protection.where is None else f"{rows}; only those where {protection.where} count"


def _outline(
    source: Source, opened: Opened, columns: Columns, protection: Protection, date: str | None = None
) -> Outline:
    """Return the outline of an open source."""
    # Built but never run: a column whose values have no names is refused.
    (prevalences_query if columns.rows == "prevalences" else named_rows)(with_dates(opened.table, columns), columns)
    table, header = opened.table, opened.header
    roles = {
        "label": None if columns.rows == "prevalences" else columns.label,
        "count": columns.count,
        "prevalence": columns.prevalence,
        "user": columns.user,
        "order": columns.order_by,
    }
    taken = [(role, name, _held(table, name, source)) for role, name in roles.items() if name is not None]
    taken = [(role, name, _whole(held) if role in _COUNTS else held) for role, name, held in taken]
    taken += [("group", part.column, _held_by(table, part, source)) for part in columns.grouping.parts]
    if columns.days is not None:
        taken.append(("date", columns.days[0].column, _held_by(table, columns.days[0], source)))
    held_names = map(header.in_table, protection.filtering)
    taken += [("condition", name, _held(table, name, source)) for name in held_names]
    called = {held: name for name, held in header.renamed.items()}
    read = [called.get(name, name) for _, name, _ in taken]
    unread = tuple(name for name in header.names if name not in read)
    is_public = _is_public(source, header, (*protection.columns_read, *protection.filtering, date))
    named = zip(taken, read, strict=True)
    return Outline(
        source.holder.told,
        _counted(_ROWS[columns.rows], protection),
        tuple(Taken(role, name if is_public(name) else None, held) for (role, _, held), name in named),
        unread if all(map(is_public, unread)) else None,
    )


def _is_public(source: Source, header: Header, said: tuple[str | None, ...]) -> Callable[[str], bool]:
    """Return a test of whether a name is public: a declared column, or a name that was given."""
    known = {name for names in COUNTED.values() for name in names}
    known |= {name for name in (*said, source.rows.label, source.rows.column_of_counts) if name is not None}
    # Names of positions are not words of a line, and the only other names are those that were given.
    is_header = not header.is_line or not known.isdisjoint(header.names)
    return lambda name: is_header or name in known


def _held(table: Any, name: str, source: Source) -> str:
    """Return how the values of a column are interpreted, by the type in its schema."""
    import narwhals as nw

    if source.holder.form is Form.JSON:
        return _BY_VALUE.format("JSON lines have no types")
    if declared(table, name) is not None:
        is_parquet = source.holder.form is Form.PARQUET
        return _BY_VALUE.format("its type differs between files" if is_parquet else "SQLite does not enforce types")
    kind = table.collect_schema()[name]
    named = {
        "text": isinstance(kind, nw.String | nw.Categorical | nw.Enum),
        _WHOLE: kind.is_integer(),
        "floats, with whole ones written as whole numbers": kind.is_float(),
        "decimals, without zeros at their end": kind.is_decimal(),
        "times, in UTC if they have a zone": isinstance(kind, nw.Datetime),
        "dates": isinstance(kind, nw.Date),
        "times of day": isinstance(kind, nw.Time),
        "durations, in seconds": isinstance(kind, nw.Duration),
        "truth values": isinstance(kind, nw.Boolean),
        "bytes": isinstance(kind, nw.Binary),
        "lists or structures, as their engine writes them": kind.is_nested(),
    }
    return next((told for told, is_so in named.items() if is_so), "values, as their engine writes them")


def _whole(held: str) -> str:
    """Return how a column of counts is interpreted, in which every value must be a count."""
    return held if held == _WHOLE else f"whole numbers, from {held}"


def _held_by(table: Any, part: Part, source: Source) -> str:
    """Return how a grouping column, or the dates of a column, are interpreted."""
    if part.period is not None:
        return f"dates, by {part.period.value}; {_held(table, part.column, source)}"
    return _held(table, part.column, source)

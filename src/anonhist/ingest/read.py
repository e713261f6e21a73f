"""From a source of events or counts to a profile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from anonhist.accounting import Ledger
from anonhist.accounting.recording import Recorded, Unrecorded, recording_reading
from anonhist.errors import UsageError
from anonhist.frozen import optional
from anonhist.ingest.columns import Opened, RowKind
from anonhist.ingest.engine import NO_LIMITS, EngineLimits
from anonhist.ingest.naming import check_named
from anonhist.ingest.parts.files import Parts, check_bound, is_parts, refuse_settled
from anonhist.ingest.protection import Protection, unit_of_profile
from anonhist.ingest.query import (
    Columns,
    Shares,
    check_sums,
    check_whole,
    counted_events,
    counts_query,
    events_query,
    fetch,
    prevalences_query,
    profile_pairs,
    tell_of_bound,
)
from anonhist.ingest.source import SaidOfRows, Source
from anonhist.ingest.unit_sizes import bounded_units, sizes_of_users
from anonhist.mechanisms.bound_choosing import PreparedChoice, prepare_choice
from anonhist.numeric.value_name import value_name
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import BoundedUnits, Profile
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.where import parse_where
from anonhist.randomness import RandomSource

_CHARGED_LATER = (
    "`ledger`, `dataset`, `purpose` and `run_id` are for a bound that is chosen: all other reading costs nothing; give "
    "them to `release`."
)
FORMATS = ("events", "labels", "counts", "prevalences", "uniq")


def read_profile(
    source: Any,
    /,
    *,
    label: str | None = None,
    count: str | None = None,
    user: str | None = None,
    max_per_user: int | ChosenBound | None = None,
    max_count: ChosenBound | None = None,
    order_by: str | None = None,
    order_key: str | None = None,
    count_users: bool = False,
    table: str | None = None,
    format: Literal["events", "labels", "counts", "prevalences", "uniq"] | None = None,  # noqa: A002  # the name users know
    delimiter: str | None = None,
    header: bool = True,
    keep_null: bool = False,
    where: str | None = None,
    unit: PrivacyUnit | None = None,
    notify: Callable[[str], None] | None = None,
    progress: Callable[[float], None] | None = None,
    limits: EngineLimits | None = None,
    randomness: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
    run_id: str | None = None,
) -> Profile:
    """Read how often things occur, on the engine that holds the data.

    Parameters
    ----------
    source
        A path or glob (.csv, .tsv, .jsonl, .parquet; .gz and .zst too; .txt, if ``format`` or ``label`` says how to
        read its lines), such a file behind ``https://``, ``s3://`` or ``gs://``, ``"-"`` for standard input, a database
        (``"duckdb:///file.db"``, ``"sqlite:///file.db"``, ``"postgresql://…"``), a warehouse (``"bigquery://…"``,
        ``"clickhouse://…"``, ``"databricks://…"``, ``"snowflake://…"``, ``"trino://…"``) or Spark
        (``"spark://host:port"``, ``"sc://host:port"`` for Spark Connect, :class:`~anonhist.ingest.SparkFiles`); a
        pandas, polars, pyarrow, DuckDB, Ibis or Spark table; a NumPy array or any iterable of labels; a mapping with
        its format. Or parts that ``anonhist.ingest.write_part`` made, which are added up: a path or a pattern that ends
        in .counts, or a list of such paths (``pathlib.Path``; texts in a list are labels).
    label
        The column of labels, or the key in JSON lines; may be left out if there is only one column. Names are compared
        exactly. A key of folders, as in ``day=1/part-0.parquet``, is a column of text if it is named, all files have
        the same keys and none has a column of that name. Labels are compared as text, as written; in a column of
        floats, 7.0 is the label 7, because whole numbers often become floats beside a missing value. Decimals lose
        trailing zeros, times with a zone are converted to UTC, and durations to seconds.
    count
        The column with the number of items of each row, or ``"none"`` if each row is one item. Rows of equal labels are
        added up, and zeros count nothing. It is required if an unused column has a typical name of counts: count,
        counts, freq, frequency, n, num, abundance or reads, in any case.
    user, max_per_user
        The column of users, and the largest number of items of each that count: a random choice, or the first ones by
        ``order_by``. Rows without a user are always left out. The profile's unit becomes that user. For parts that hold
        users, the bound alone may be given, if it is smaller than theirs. A :class:`ChosenBound` spends a share of the
        budget on choosing the bound, which takes one more query; every call spends it again.
    max_count
        With labels as units: a :class:`ChosenBound` that chooses the count at which counts are capped. A given cap is a
        part of ``unit``.
    order_by
        The column that decides which items of a user count; ties are broken at random. In text files it is compared as
        text: 10 comes before 9. So are categories and enumerations everywhere, whatever order they declare. Whole
        numbers are compared as floats. Rows without a value come first.
    order_key
        With ``user``: the key of the random choice, 32 hexadecimal digits, to keep the items that an earlier reading of
        the same data kept. The profile and its release store it as ``order_key``. By default, a new key is drawn. It
        may be public, but must be chosen independently of the data.
    count_users
        With ``user``: also count the items of each user, for :attr:`Profile.users`, which ``release(…,
        excess_share=…)`` needs. This takes one more query.
    table
        The table of a database, or of Spark.
    format
        ``"events"`` (one row per item), ``"labels"`` (one label per line), ``"counts"`` (columns label, count, or those
        that ``label`` and ``count`` name), ``"prevalences"`` (columns count, prevalence, or that which ``count`` names
        and one more) or ``"uniq"`` (lines as ``sort | uniq -c`` writes them). Without a header line, counted data of
        two columns have them in this order. By default the schema decides: a table whose columns are exactly
        ``count,prevalence`` or ``label,count`` is already counted. The header line of delimited text is schema, and so
        public. JSON lines have none: they are events by default. On standard input nothing is guessed: give the format,
        or name the column of labels. For a mapping, give ``"counts"`` for ``{label: count}`` or ``"prevalences"`` for
        ``{count: prevalence}``; for a Series of pandas or Modin with its own names or counts, such as
        ``x.value_counts()``, give ``"counts"`` for those, or ``"labels"`` if its values are labels.
    delimiter
        The separator of columns; by default, it follows from the file's ending. It is required if the header line is
        one column whose name contains another separator.
    header
        Whether the first line of delimited text names the columns; without one they are column0, column1, ….
    keep_null
        Count rows without a label as one more label instead of leaving them out.
    where
        The rows that count, such as ``"country = 'DE' and day >= '2026-11-01'"``: all others are left out before
        anything is bounded. Columns are compared with literals of their types by =, <>, <, <=, >, >=, ``in``,
        ``between`` and ``is null``, joined by ``and``, ``or`` and ``not``; a missing value is neither equal nor unequal
        to anything. The condition is public: the profile and its release store it as ``where``. Choose it without
        looking at the data. Columns of text, such as all of delimited text and JSON lines, are compared with texts.
    unit
        Whom a release protects, if the source does not name users. Nodes of a graph need more than counts: see
        :func:`release_degrees`.
    notify
        Receives remarks for the operator's terminal, such as how many rows were left out. They are as private as
        the data.
    progress
        Receives the share done, in [0, 1], while the engine works.
    limits
        The memory and the number of threads that DuckDB may use, and where it spills: for files and its own databases.
    randomness
        Privacy randomness of :class:`ChosenBound`; the operating system's by default.
    ledger, dataset, purpose, run_id
        With :class:`ChosenBound`: the ledger to charge with the whole budget before any row is read, as for
        :func:`release`; by default the one in the environment variable ``ANONHIST_LEDGER``, if any. The release then
        completes that charge, once: give it the same ``ledger`` and ``dataset``.

    Returns
    -------
    Profile
        A private profile: it holds the exact counts.

    Raises
    ------
    DataError
        If the data cannot be used, such as floats of 2^53 and more among labels or users, which no longer distinguish
        whole numbers; the message contains none of their values. If a column is missing, ``error.columns`` lists the
        existing columns, which the message leaves out if they might be a row of data.
    UsageError
        If the call contradicts itself; and for the ledger, as for :func:`release`.

    Examples
    --------
    >>> read_profile(["a", "b", "a"])
    Profile(n=3, num_labels=2, {1: 1, 2: 1})
    """
    if is_parts(source):
        refuse_settled(
            label=label,
            count=count,
            user=user,
            order_by=order_by,
            order_key=order_key,
            table=table,
            format=format,
            delimiter=delimiter,
            header=header,
            keep_null=keep_null,
            where=where,
            count_users=count_users,
        )
    has_parts = is_parts(source)
    protection = Protection.of_profile(
        unit,
        user=user,
        max_per_user=None if has_parts else max_per_user,
        max_count=max_count,
        order_by=order_by,
        order_key=order_key,
        keep_null=keep_null,
        count_users=count_users,
        where=where,
    )
    if format is not None and format not in FORMATS:
        raise UsageError(f"`format` must be one of {', '.join(FORMATS)}, not {format!r}.")
    choice = None if protection.choice is None else prepare_choice(protection.choice, protection.protected)
    charging = recording_reading(
        None if choice is None else choice.dearest.price,
        (ledger, dataset, purpose, run_id),
        settings={"label": label, "count": count, "user": user, "order_by": order_by, "where": protection.said_where},
        refusal=_CHARGED_LATER,
    )
    if has_parts:
        with charging as recorded, recorded.reading():
            return _of_parts(source, max_per_user, _Reading(protection, choice, recorded, randomness), limits, progress)
    said = SaidOfRows(format, label, count, header)
    named = Source.named(source, said, user=user, table=table, delimiter=delimiter, limits=limits).as_counted()
    with charging as recorded, recorded.reading():
        reading = _Reading(protection, choice, recorded, randomness)
        labels = named.lone_labels(protection)
        if labels is not None:
            return _from_labels(labels, reading, notify)
        return _of_source(named, reading, notify, None if progress is None else Shares(progress), count_users)


class _Reading(NamedTuple):
    """A reading under way: which rows count, how a bound is chosen, if it is, and where that was charged."""

    protection: Protection
    choice: PreparedChoice | None
    recorded: Recorded | Unrecorded
    randomness: RandomSource | None

    def draw(self, sizes: Mapping[int, int]) -> PrivacyUnit:
        """Choose the bound; every failure from here on may depend on it."""
        assert self.choice is not None  # noqa: S101
        self.recorded.keep()
        return self.choice.draw(sizes, source=self.randomness)

    def profile(self, pairs: list[tuple[int, int]], users: BoundedUnits | None = None) -> Profile:
        """Return the profile of pairs of a count and a prevalence; a cap of labels is chosen by them."""
        found: Counter[int] = Counter()
        for count, prevalence in pairs:
            found[count] += prevalence
        counts, unit, choice = sorted(found), self.protection.unit, self.choice
        if choice is not None and choice.unit.max_count is not None:
            unit = self.draw(found)
        return Profile(
            counts,
            [found[count] for count in counts],
            unit=unit,
            order_key=self.protection.order_key,
            where=self.protection.said_where,
            users=users,
            choice=None if choice is None else choice.asked,
            receipt=self.recorded.receipt,
        )


def _of_source(
    named: Source,
    reading: _Reading,
    notify: Callable[[str], None] | None,
    shares: Shares | None,
    count_users: bool,  # noqa: FBT001
) -> Profile:
    protection = reading.protection
    chooses = protection.user is not None and reading.choice is not None
    asks_again = count_users or chooses or (protection.user is not None and notify is not None)
    with named.open(protection, twice=asks_again, progress=shares) as opened:
        kind = named.kind(opened.header, protection)
        columns = protection.columns(kind, opened.header)
        if chooses:
            largest = protection.protected.bound
            protection = protection.bounded_to(reading.draw(sizes_of_users(opened.table, columns, largest)))
            reading, columns = (
                reading._replace(protection=protection),
                replace(columns, max_per_user=protection.max_per_user),
            )
        if kind.rows == "prevalences":
            pairs = _prevalences(opened.table, columns, kind, notify)
        elif kind.rows == "counts":
            pairs = _counts(opened.table, columns, kind, notify)
        else:
            pairs = _events(opened, columns, notify, shares)
        # This query is last, so that data are refused for the same reasons as in every reading.
        users = bounded_units(opened.table, columns, *protection.bounded) if count_users else None
    return reading.profile(pairs, users)


def _of_parts(
    source: Any,
    max_per_user: int | ChosenBound | None,
    reading: _Reading,
    limits: EngineLimits | None,
    progress: Callable[[float], None] | None,
) -> Profile:
    if isinstance(max_per_user, ChosenBound):
        raise UsageError("Parts keep few items of each user: give the bound, or choose it from the events.")
    parts = Parts(source, check_bound(max_per_user))
    unit = unit_of_profile(reading.protection.unit, parts.max_per_user)
    key = None if parts.max_per_user is None else parts.document.key
    where = optional(parse_where)(parts.document.where)
    protection = replace(reading.protection, unit=unit, order_key=key, where=where)
    return reading._replace(protection=protection).profile(parts.pairs(limits or NO_LIMITS, progress))


def _events(
    opened: Opened, columns: Columns, notify: Callable[[str], None] | None, shares: Shares | None
) -> list[tuple[int, int]]:
    table = opened.table
    if opened.read_again and columns.user is None:
        counted = counted_events(opened, columns, shares)
    else:
        counted = fetch(events_query(table, columns))
    check_named(all(all(row[3:]) for row in counted))
    pairs = profile_pairs([row[:3] for row in counted], keep_null=columns.keep_null, notify=notify)
    if columns.user is not None and notify is not None:
        tell_of_bound(table, columns, sum(count * prevalence for count, prevalence in pairs), notify)
    return pairs


def _prevalences(
    table: Any, columns: Columns, kind: RowKind, notify: Callable[[str], None] | None
) -> list[tuple[int, int]]:
    rows = fetch(prevalences_query(table, columns))
    check_whole(kind.count, sum(int(row[3]) for row in rows))
    check_whole(kind.prevalence, sum(int(row[4]) for row in rows))
    check_sums([(row[1], row[5]) for row in rows])
    if notify is not None and any(row[2] > 1 for row in rows):
        notify("Some counts are listed more than once; their prevalences were summed.")
    return [(int(row[0]), int(row[1])) for row in rows if row[0] and row[1]]


def _counts(table: Any, columns: Columns, kind: RowKind, notify: Callable[[str], None] | None) -> list[tuple[int, int]]:
    rows = fetch(counts_query(table, columns))
    check_named(all(all(row[5:]) for row in rows))
    check_whole(kind.count, sum(int(row[3]) for row in rows))
    check_sums([(row[0], row[4]) for row in rows])
    return profile_pairs([row[:3] for row in rows], keep_null=columns.keep_null, notify=notify)


def _from_labels(labels: list[Any], reading: _Reading, notify: Callable[[str], None] | None) -> Profile:
    texts = Counter(map(value_name, labels))
    rows = [(count, text is None, 1) for text, count in texts.items()]
    return reading.profile(profile_pairs(rows, keep_null=reading.protection.keep_null, notify=notify))

"""A source as given in a call, and what each of its rows stands for.

This is one item, a label with its count, or a count with its prevalence. The caller says so, by the format and the
column of counts; otherwise the column names, which are public, decide. An unused column with a typical name of counts
is an error that asks the caller: ignoring it would lose its counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import Header, Opened, RowKind, required_key
from anonhist.ingest.engine import EngineLimits, Spilling
from anonhist.ingest.files import COUNTED, LINES, Form, check_stated, check_there
from anonhist.ingest.holders import ArrowTable, Files, FrameOfPolars, Holder, NoTable, Reading, StandardInput, holder_of
from anonhist.ingest.memory import counted_table, plain_labels
from anonhist.ingest.protection import Protection
from anonhist.ingest.typed_files import ComparedKey
from anonhist.ingest.where import filtered

_STRUCTURES = (
    "An array of structures, as value_counts() of Arrow makes them, holds no labels: pass a table with named columns."
)
#: The value for the column of counts if there is none: each row is one item.
NO_COUNT = "none"
OF_USERS = "Counted data do not say which user an item came from, so the items of a user cannot be bounded."
_HOW_OF_USERS = (
    f"give `count={NO_COUNT!r}` if each row is one item; the items of a user cannot be bounded in data that are counted"
)
_CALLED = {"count", "counts", "freq", "frequency", "n", "num", "abundance", "reads"}


@dataclass(frozen=True)
class SaidOfRows:
    """Public options about rows, as for ``read_profile``; None for those not given."""

    format: str | None
    label: str | None
    count: str | None
    header: bool = True

    @property
    def column_of_counts(self) -> str | None:
        """The column of counts, if one is named."""
        return None if self.count == NO_COUNT else self.count

    def check(self, user: str | None) -> None:
        """Refuse contradictory options, and bounds on users in counted data."""
        if self.format in LINES and self.count is not None:
            raise UsageError(
                "Data with one label per line have no columns: leave out the columns, or leave out the format."
            )
        if self.format == "events" and self.column_of_counts is not None:
            raise UsageError(
                "`format='events'` means that each row is one item, and `count` names a column of counts: leave one of "
                "the two out."
            )
        if self.format in COUNTED and self.count == NO_COUNT:
            raise UsageError(
                f"`count='none'` means that each row is one item, and `format={self.format!r}` that rows have counts: "
                "leave one of the two out."
            )
        if self.format == "prevalences" and self.label is not None:
            raise UsageError("Data of format prevalences have no labels: leave out `label`.")
        if user is not None and (self.column_of_counts is not None or self.format in (*COUNTED, "uniq")):
            raise UsageError(OF_USERS)

    def keys(self) -> tuple[str | None, ...]:
        """Return the keys of JSON lines to read, which their rows must not determine."""
        if self.format == "prevalences":
            return self.column_of_counts or "count", "prevalence"
        if self.format == "counts":
            return self.label or "label", self.column_of_counts or "count"
        return required_key(self.label), self.column_of_counts

    def prevalences(self, others: Header) -> RowKind:
        """Return the columns of counts and of prevalences, if these are given or known."""
        count = self.column_of_counts
        rest = [] if count is None else others.without(count).names
        named = rest[0] if len(rest) == 1 and len(others.names) > 1 else None
        count, prevalence = self.in_place(others, count, named, "prevalences")
        if count == prevalence:
            raise UsageError(f"Column {count!r} cannot hold both counts and prevalences: name the counts (`count`).")
        return RowKind("prevalences", count, count, prevalence)

    def in_place(self, others: Header, first: str | None, second: str | None, kind: str) -> tuple[str, str]:
        """Return two columns: the given ones, else those with the usual names, else, without any names, by position."""
        names = COUNTED[kind]
        if not self.header and {*others.names} == {"column0", "column1"}:
            left = iter(name for name in others.names if name not in (first, second))
            return first or next(left), second or next(left)
        has_none = not self.header and names[0] not in others.names and names[1] not in others.names
        if has_none and (first is None or second is None):
            how = "name those of the labels and of the counts (`label`, `count`)" if kind == "counts" else "keep those"
            raise DataError(
                f"Without a header line, data of format {kind} have the two columns {' and '.join(names)}, in this "
                f"order; these have others: {how}."
            )
        return first or names[0], second or names[1]


@dataclass(frozen=True)
class Source:
    """A source as given in a call: the holder of its rows, and the options about them."""

    holder: Holder
    rows: SaidOfRows
    limits: EngineLimits | None = None

    @classmethod
    def named(
        cls,
        source: Any,
        rows: SaidOfRows,
        *,
        user: str | None,
        table: str | None,
        delimiter: str | None,
        limits: EngineLimits | None,
    ) -> Source:
        """Return the source given in a call, or refuse contradictory or incomplete options."""
        rows.check(user)
        holder = holder_of(source, table=table, format=rows.format, delimiter=delimiter, header=rows.header)
        if isinstance(holder, Files):
            check_stated(holder.of, rows.format, rows.label, header=rows.header)
        return cls(holder, rows, limits)

    def as_counted(self) -> Source:
        """Return it with a mapping, or a counted Series, converted to a table."""
        of = self.holder.of
        if not isinstance(of, Mapping) and all(each.__name__ != "Series" for each in type(of).__mro__):
            return self
        return replace(self, holder=holder_of(counted_table(of, self.rows.format), table=self.holder.table))

    def lone_labels(self, protection: Protection) -> list[Any] | None:
        """Return the labels of a source that is only a list of labels in memory, without columns; else None."""
        of = self.holder.of
        if isinstance(self.holder, FrameOfPolars | ArrowTable):
            # Each structure would be a label, and counts in it would be part of that. Only columns have one type.
            kind = getattr(of, "dtype", None) or getattr(of, "type", None)
            if str(kind).casefold().startswith("struct"):
                raise UsageError(_STRUCTURES)
        labels = plain_labels(of) if isinstance(self.holder, NoTable) else None
        named = (self.rows.label, self.rows.count, protection.user, protection.where, self.holder.table)
        if labels is None or (named == (None,) * len(named) and self.rows.format not in (*COUNTED, "uniq")):
            return labels
        raise UsageError("A list of labels has no columns; to name columns or give counts, pass a table.")

    def refuse_labels(self, needed: str) -> None:
        """Refuse a source that is only a list of labels in memory if other columns are needed."""
        if isinstance(self.holder, NoTable) and plain_labels(self.holder.of) is not None:
            raise UsageError(f"A list of labels has no {needed}: pass a table.")

    def kind(self, header: Header, protection: Protection, *used: str) -> RowKind:
        """Return what a row stands for; refuse missing columns, and an ambiguous schema.

        ``used`` are columns with other roles, besides those of the protection. Items of a user cannot be bounded if
        rows are already counted.
        """
        said, user, known = self.rows, protection.user, self.rows.format
        others, count = header.without(*protection.columns_read, *used), said.column_of_counts
        # A column that decides which rows count is not the label, unless that is given or it is the only column.
        unasked = others.without(*protection.filtering)
        is_unsaid = (said.format, said.count) == (None, None)
        # Column names may decide what rows are if they are public: keys are data, and so may the first line be.
        if is_unsaid and self.holder.form is not Form.JSON and not isinstance(self.holder, StandardInput):
            names = tuple(others.names), tuple(unasked.names)
            if said.label is None and COUNTED["prevalences"] in names:
                known = "prevalences"
            elif said.label in (None, "label") and COUNTED["counts"] in names:
                known = "counts"
        if user is not None and known in COUNTED:
            raise UsageError(f"{OF_USERS[:-1]}: give `count={NO_COUNT!r}` if each row is one item.")
        if known == "prevalences":
            kind = said.prevalences(others)
        elif known in ("counts", "uniq"):
            kind = RowKind("counts", *said.in_place(others, said.label, count, "counts"))
        else:
            header.require(count=count)
            lone = (unasked if len(unasked.without(count).names) == 1 else others).without(count)
            label = lone.label_column(None) if said.label is None else said.label
            kind = RowKind("events" if count is None else "counts", label, count)
        if kind.rows == "counts" and kind.label == kind.count:
            raise UsageError(f"Column {kind.label!r} cannot hold both labels and counts: name two (`label`, `count`).")
        roles = {"count": kind.count, "prevalence": kind.prevalence}
        header.require(**roles if kind.rows == "prevalences" else {"label": kind.label, **roles})
        if kind.rows == "events" and is_unsaid:
            # A single column is that of labels, unless it has a typical name of counts and was not named.
            refuse_counts(others.without(said.label), None if user is None else _HOW_OF_USERS)
        header.require(user=user, order=protection.order_by)
        if kind.rows != "events" and {kind.count, kind.prevalence} & {*protection.filtering}:
            raise UsageError(
                "`where` must not use the column of counts: one more item could decide whether all items of its label "
                "count."
            )
        return kind

    @contextmanager
    def open(
        self,
        protection: Protection,
        *others: str,
        twice: bool = False,
        progress: Callable[[float], None] | None = None,
        spilling: Spilling = Spilling.TO_FOLDER,
    ) -> Iterator[Opened]:
        """Open it to read the columns of its rows, of a protection, and others: see :meth:`Holder.open`.

        It has only the rows for which the condition of the protection is true.
        """
        keys: tuple[str | None, ...] = ()
        if self.holder.form is Form.JSON:
            # A user who mistyped the name of a release should not read about keys.
            check_there(self.holder.of)
            # The first of equal keys counts: a named key must have a name.
            compared = map(ComparedKey, protection.filtering)
            keys = (*self.rows.keys(), *protection.columns_read, *others, *compared)
        asked = Reading(keys, twice=twice, progress=progress, spilling=spilling, limits=self.limits)
        with self.holder.open(asked) as opened:
            yield opened if protection.where is None else filtered(opened, protection.where)


def refuse_counts(unused: Header, how: str | None) -> None:
    """Refuse unused columns with typical names of counts; ``how`` says what to do instead."""
    found = [name for name in unused.names if str(name).strip().casefold() in _CALLED]
    if not found:
        return
    named = f"`count={found[0]!r}`" if len(found) == 1 else "its name (`count`)"
    how = how or f"give {named} if so, or `count={NO_COUNT!r}` if each row is one item"
    raise UsageError(f"Column {' or '.join(map(repr, found))} may hold the number of items of each row: {how}.")

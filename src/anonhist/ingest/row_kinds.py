"""What a row stands for: one item, a label with its count, or a count with its prevalence.

A person says so, by the format and by the column of counts; otherwise the names of the columns do, which are public. A
column that is called as counts are, and that nothing reads, is asked about: to leave it out would lose its counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.errors import DataError, UsageError
from anonhist.ingest.columns import required_key
from anonhist.ingest.files import LINES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anonhist.ingest.columns import Header

COUNTED = {"counts": ("label", "count"), "prevalences": ("count", "prevalence")}
#: What people give for the column of counts where there is none: each row is one item.
NO_COUNT = "none"
OF_USERS = "Counted data do not say which user an item came from, so the items of a user cannot be bounded."
_HOW_OF_USERS = (
    f"give `count={NO_COUNT!r}` if each row is one item; the items of a user cannot be bounded in data that are counted"
)
_CALLED = {"count", "counts", "freq", "frequency", "n", "num", "abundance", "reads"}


@dataclass(frozen=True)
class RowKind:
    """What a row stands for (``"events"``, ``"counts"`` or ``"prevalences"``), and which columns say so.

    Of prevalences, ``label`` is the column of counts.
    """

    rows: str
    label: str
    count: str | None = None
    prevalence: str | None = None


@dataclass(frozen=True)
class SaidOfRows:
    """What a person says of the rows, as for ``read_profile``: public choices, None for what is not said."""

    format: str | None
    label: str | None
    count: str | None
    header: bool = True

    @property
    def column_of_counts(self) -> str | None:
        """The column of counts, if one is named."""
        return None if self.count == NO_COUNT else self.count

    def check(self, user: str | None) -> None:
        """Refuse what contradicts itself, and users to be bounded in data that are counted."""
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
                f"`count='none'` means that each row is one item, and `format={self.format!r}` that rows are counted: "
                "leave one of the two out."
            )
        if self.format == "prevalences" and self.label is not None:
            raise UsageError("Data of format prevalences have no labels: leave out `label`.")
        if user is not None and (self.column_of_counts is not None or self.format in (*COUNTED, "uniq")):
            raise UsageError(OF_USERS)

    def keys(self) -> tuple[str | None, ...]:
        """Return the keys of JSON lines to read, whose rows must not decide them."""
        if self.format == "prevalences":
            return self.column_of_counts or "count", "prevalence"
        if self.format == "counts":
            return self.label or "label", self.column_of_counts or "count"
        return required_key(self.label), self.column_of_counts

    def kind(
        self, header: Header, used: Sequence[str | None] = (), *, user: str | None = None, may_recognize: bool = True
    ) -> RowKind:
        """Return what a row stands for; refuse missing columns, and a schema that says one thing and may mean another.

        ``used`` are columns that are read for something else, the user's among them; items of a ``user`` cannot be
        bounded where rows are counted. ``may_recognize`` lets the names of the columns say that rows are counted.
        """
        others, count = header.without(*used), self.column_of_counts
        known = self.format
        if may_recognize and (self.format, self.count) == (None, None):
            names = tuple(others.names)
            if self.label is None and names == COUNTED["prevalences"]:
                known = "prevalences"
            elif self.label in (None, "label") and names == COUNTED["counts"]:
                known = "counts"
        if user is not None and known in COUNTED:
            raise UsageError(f"{OF_USERS[:-1]}: give `count={NO_COUNT!r}` if each row is one item.")
        if known == "prevalences":
            kind = self._prevalences(others)
        elif known in ("counts", "uniq"):
            kind = RowKind("counts", *self._in_place(others, self.label, count, "counts"))
        else:
            header.require(count=count)
            label = others.without(count).label_column(None) if self.label is None else self.label
            kind = RowKind("events" if count is None else "counts", label, count)
        if kind.rows == "counts" and kind.label == kind.count:
            raise UsageError(f"Column {kind.label!r} cannot hold both labels and counts: name two (`label`, `count`).")
        roles = {"count": kind.count, "prevalence": kind.prevalence}
        header.require(**roles if kind.rows == "prevalences" else {"label": kind.label, **roles})
        if kind.rows == "events" and (self.format, self.count) == (None, None):
            # A single column is that of labels, unless it is called as counts are and nobody named it.
            refuse_counts(others.without(self.label), None if user is None else _HOW_OF_USERS)
        return kind

    def _prevalences(self, others: Header) -> RowKind:
        count = self.column_of_counts
        rest = [] if count is None else others.without(count).names
        named = rest[0] if len(rest) == 1 and len(others.names) > 1 else None
        count, prevalence = self._in_place(others, count, named, "prevalences")
        if count == prevalence:
            raise UsageError(f"Column {count!r} cannot hold both counts and prevalences: name the counts (`count`).")
        return RowKind("prevalences", count, count, prevalence)

    def _in_place(self, others: Header, first: str | None, second: str | None, kind: str) -> tuple[str, str]:
        """Return two columns: as they are named, else by their names, else, without any names, by their places."""
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


def refuse_counts(unused: Header, how: str | None) -> None:
    """Refuse columns that are called as counts are, and are not read; ``how`` says what to do instead."""
    found = [name for name in unused.names if str(name).strip().casefold() in _CALLED]
    if not found:
        return
    named = f"`count={found[0]!r}`" if len(found) == 1 else "its name (`count`)"
    how = how or f"give {named} if it does, or `count={NO_COUNT!r}` if each row is one item"
    raise UsageError(f"Column {' or '.join(map(repr, found))} may say how many items a row stands for: {how}.")

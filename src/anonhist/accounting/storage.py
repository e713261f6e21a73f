"""Where entries are kept: what every database must be able to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class Row(NamedTuple):
    """An entry as it is stored.

    Attributes
    ----------
    number
        Its place, from 1 on.
    dataset
        The name of the data set.
    about
        The number of the charge that it completes or voids; None for others. No two entries are about one charge.
    document
        The entry, as canonical JSON.
    digest
        The digest of the chain up to it.
    """

    number: int
    dataset: str
    about: int | None
    document: str
    digest: str


class Transaction(Protocol):
    """Reads and appends, all or none of which are kept; no other transaction runs meanwhile."""

    def ledger_id(self) -> str:
        """Return the id of the ledger, drawn when it was made."""
        ...

    def last(self) -> tuple[int, str]:
        """Return number and digest of the last entry; 0 and an empty text if there is none."""
        ...

    def append(self, row: Row) -> None:
        """Add an entry."""
        ...

    def row(self, number: int) -> Row | None:
        """Return an entry, or None."""
        ...

    def about(self, number: int) -> Row | None:
        """Return the entry about a charge, or None."""
        ...

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets, in the order of their first entries."""
        ...

    def rows(self, dataset: str | None) -> list[Row]:
        """Return the entries of a data set, or all, in order."""
        ...

    def rows_after(self, number: int) -> list[Row]:
        """Return the entries after one, in order."""
        ...


class Storage(Protocol):
    """A database, opened when it is first used."""

    @property
    def shown(self) -> str:
        """Its address without secrets."""
        ...

    def make(self) -> None:
        """Make the tables, if they are not there."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that is on the disk when its block ends, and left out if it raises."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """Return a transaction that sees one state and changes nothing."""
        ...

    def close(self) -> None:
        """Close what is open; it is opened again when used."""
        ...

"""The queries of a ledger, in the words of SQLite and PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anonhist.accounting.damage import damaged
from anonhist.accounting.storage import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_COLUMNS = "number, dataset, about, document, digest"


class SqlTransaction:
    """The queries, in the words of both databases."""

    def __init__(self, connection: Any, worded: Callable[[str], str], shown: str) -> None:
        self._connection, self._worded, self._shown = connection, worded, shown

    def _all(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        found: list[Any] = self._connection.execute(self._worded(query), values).fetchall()
        return found

    def _do(self, query: str, values: Sequence[object]) -> None:
        self._connection.execute(self._worded(query), values)

    def ledger_id(self) -> str:
        """Return the id of the ledger."""
        found = self._all("SELECT value FROM anonhist_ledger WHERE name = 'id'")
        if not found or not isinstance(found[0][0], str):
            raise damaged(self._shown, "it has no id")
        own: str = found[0][0]
        return own

    def last(self) -> tuple[int, str]:
        """Return number and digest of the last entry."""
        found = self._all("SELECT number, digest FROM anonhist_entries ORDER BY number DESC LIMIT 1")
        number, digest = found[0] if found else (0, "")
        if not isinstance(number, int) or not isinstance(digest, str):
            raise damaged(self._shown, "its last entry has no number or no digest")
        return number, digest

    def append(self, row: Row) -> None:
        """Add an entry."""
        self._do(f"INSERT INTO anonhist_entries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", row)  # noqa: S608  # no input

    def row(self, number: int) -> Row | None:
        """Return an entry, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE number = ?", (number,))  # noqa: S608
        return _row(found[0]) if found else None

    def about(self, number: int) -> Row | None:
        """Return the entry about a charge, or None."""
        found = self._all(f"SELECT {_COLUMNS} FROM anonhist_entries WHERE about = ?", (number,))  # noqa: S608
        return _row(found[0]) if found else None

    def datasets(self) -> tuple[str, ...]:
        """Return the names of all data sets, in the order of their first entries."""
        query = "SELECT dataset FROM anonhist_entries GROUP BY dataset ORDER BY min(number)"
        return tuple(name for (name,) in self._all(query))

    def rows(self, dataset: str | None) -> list[Row]:
        """Return the entries of a data set, or all, in order."""
        where, values = ("", ()) if dataset is None else (" WHERE dataset = ?", (dataset,))
        query = f"SELECT {_COLUMNS} FROM anonhist_entries{where} ORDER BY number"  # noqa: S608  # no input
        return [_row(each) for each in self._all(query, values)]

    def rows_after(self, number: int) -> list[Row]:
        """Return the entries after one, in order."""
        query = f"SELECT {_COLUMNS} FROM anonhist_entries WHERE number > ? ORDER BY number"  # noqa: S608  # no input
        return [_row(each) for each in self._all(query, (number,))]


def _row(found: Sequence[Any]) -> Row:
    """Return an entry; texts that are none are empty, which no entry is."""
    number, dataset, about, document, digest = found
    return Row(number, dataset, about, *(each if isinstance(each, str) else "" for each in (document, digest)))

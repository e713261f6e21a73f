"""From the address of a ledger to the database that holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anonhist.errors import UsageError, mask

if TYPE_CHECKING:
    from anonhist.accounting.storage import Storage

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")


def storage_at(address: str) -> Storage:
    """Return the database at an address, without opening it.

    Parameters
    ----------
    address
        A file, as its path or ``sqlite:///PATH``; or ``postgresql://…``.

    Raises
    ------
    UsageError
        If it is neither.

    Examples
    --------
    >>> storage_at("sqlite:///budget.db").shown, storage_at("postgresql://eve:secret@db/shop").shown
    ('budget.db', 'postgresql://***@db/shop')
    """
    if not isinstance(address, str) or not address.strip() or not address.isprintable():
        raise UsageError(
            "`ledger` must be a file, such as budget.db, or an address, such as postgresql://host/database."
        )
    if address.startswith(_POSTGRESQL):
        from anonhist.accounting.postgresql import PostgresqlStorage

        return PostgresqlStorage(address)
    path = address.removeprefix(_SQLITE)
    if "://" in path or not path:
        raise UsageError(
            f"A ledger is a file, such as budget.db or sqlite:///budget.db, or a postgresql:// address, not "
            f"{mask(address)!r:.200}."
        )
    from anonhist.accounting.sqlite import SqliteStorage

    return SqliteStorage(path)

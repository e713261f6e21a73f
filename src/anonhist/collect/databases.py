"""Which database an address names."""

from __future__ import annotations

from anonhist.collect.postgresql import PostgresqlStorage
from anonhist.collect.sqlite import SqliteStorage
from anonhist.collect.storage import Storage
from anonhist.errors import UsageError, mask


def storage_at(address: str) -> Storage:
    """Return the database at an address.

    Examples
    --------
    >>> storage_at("sqlite:///collected.db").shown
    'sqlite:///collected.db'
    """
    if address.startswith("sqlite:///") and len(address) > len("sqlite:///"):
        return SqliteStorage(address)
    if address.startswith(("postgresql://", "postgres://")):
        return PostgresqlStorage(address)
    raise UsageError(f"`database` must be sqlite:///FILE or postgresql://HOST/DATABASE, not {mask(address)!r}.")

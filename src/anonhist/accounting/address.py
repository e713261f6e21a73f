"""From the address of a ledger to the database that holds it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from anonhist.errors import UsageError, mask

if TYPE_CHECKING:
    from anonhist.accounting.repeating import Storage

_SQLITE = "sqlite:///"
_POSTGRESQL = ("postgresql://", "postgres://")

# Settings as PostgreSQL's programs take them, addresses without their slashes, and files with parameters.
_MAY_HOLD_A_SECRET = re.compile(
    r"^\s*postgres(?:ql)?:(?!//)|^(?!postgres).*(?:\b(?:password|passfile|host|user|dbname)\s*=|[?#])", re.IGNORECASE
)
# As in [::1]:5432.
_NUMERIC_HOST = re.compile(r"\[[^\]]*\]")


def storage_at(address: str) -> Storage:
    """Return the database at an address, ``PATH``, ``sqlite:///PATH`` or ``postgresql://…``, without opening it."""
    if not isinstance(address, str) or not address.strip() or not address.isprintable():
        raise UsageError(
            "`ledger` must be a file, such as budget.db, or an address, such as postgresql://host/database."
        )
    if _MAY_HOLD_A_SECRET.search(address) or (address.startswith(_POSTGRESQL) and _has_odd_colon(address)):
        raise UsageError(
            "A ledger is a file, such as budget.db or sqlite:///budget.db, or an address such as "
            "postgresql://user@host/database; what was given is neither, and is not shown, as it may hold a password."
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


def _has_odd_colon(address: str) -> bool:
    """Return whether an address has a colon before something that is no port: it may be a user and a password."""
    parts = urlsplit(address)
    hosts = _NUMERIC_HOST.sub("", parts.netloc.rpartition("@")[2]).split(",")
    ports = [host.partition(":")[2] for host in hosts]
    return ":" in parts.path or any(port and not port.isdigit() for port in ports)

"""Connections to PostgreSQL, made with psycopg."""

from __future__ import annotations

from typing import Any

from anonhist.errors import MissingExtraError
from anonhist.storage.failure import Failure

_SECONDS = 20
_FAILURES = {
    "55P03": Failure.LOCKED,  # lock_not_available
    "42501": Failure.NOT_ALLOWED,  # insufficient_privilege
    "25006": Failure.READ_ONLY,  # read_only_sql_transaction
    "53100": Failure.NO_ROOM,  # disk_full
    "3F000": Failure.NOT_THERE,  # invalid_schema_name
    "42P01": Failure.NOT_THERE,  # undefined_table
}


def connect(address: str, what: str) -> Any:
    """Open a connection whose transactions are begun in words; ``what`` needs it.

    No statements are prepared, because a pool may hand the next transaction to a session without them. Databases
    without an encoding would return bytes.
    """
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError(f"{what} needs psycopg; install it with: pip install 'anonhist[ledger]'.") from None
    return psycopg.connect(
        address, connect_timeout=_SECONDS, autocommit=True, prepare_threshold=None, client_encoding="utf8"
    )


def why_not_connected(address: str, error: Exception) -> str:
    """Return why :func:`connect` failed: libpq gives only text, so ping the server.

    The ping needs neither user nor password.
    """
    import psycopg

    answers = psycopg.pq.Ping
    if isinstance(error, psycopg.errors.ConnectionTimeout):
        answer = answers.NO_RESPONSE
    else:
        try:
            asked = psycopg.conninfo.make_conninfo(address, connect_timeout=_SECONDS)
            answer = answers(psycopg.pq.PGconn.ping(asked.encode()))
        except psycopg.Error:
            answer = answers.NO_ATTEMPT
    return {
        answers.OK: "refuses this login: check user, password and database, or try again if it may have too many "
        "connections",
        answers.REJECT: "accepts no connections while it starts or stops: try again",
        answers.NO_RESPONSE: "cannot be reached: check host, port and sslmode, and that the server runs",
        answers.NO_ATTEMPT: "has an address that PostgreSQL does not accept: check its parameters",
    }[answer]


def begin(connection: Any, *, write: bool, lock: int, search_path: str, patience: str) -> None:
    """Begin a transaction that is on the server's disk when it ends, whatever its settings say.

    One that writes waits for those that hold the same lock, at most as long as ``patience``. Settings are made for each
    transaction, because a pool may hand it to another session.
    """
    # Otherwise a writing transaction that has the lock would see rows as they were before it waited.
    level = "READ COMMITTED" if write else "REPEATABLE READ READ ONLY"
    settings = {"search_path": search_path, "synchronous_commit": "on", "lock_timeout": f"'{patience}'"}
    set_them = (f"SET LOCAL {name} TO {value}" for name, value in settings.items())
    turn = (f"SELECT pg_catalog.pg_advisory_xact_lock({lock})",) if write else ()
    connection.execute("; ".join((f"BEGIN ISOLATION LEVEL {level}", *set_them, *turn)))


def failure_of(error: Exception) -> Failure | None:
    """Return what an error of the database means; None if it is not one."""
    state = getattr(error, "sqlstate", ...)
    if state is ...:
        return None
    # 08: the connection broke; 57: the server is shutting down. Without a state, the connection is gone.
    if state is None or state[:2] in {"08", "57"}:
        return Failure.DISCONNECTED
    return _FAILURES.get(state, Failure.OTHER)

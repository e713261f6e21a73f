"""A PostgreSQL server of a test's own, in a temporary folder, run by the programs of Debian's packages."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from anonhist_testing.starting import after

if TYPE_CHECKING:
    from collections.abc import Iterator

# The only role that needs a password.
PASSWORDED = "passworded"
# PostgreSQL does not run as root.
_OTHERS = ("postgres", "nobody")


def programs() -> Path | None:
    """Return the folder of the newest PostgreSQL programs, or None if there are none.

    Examples
    --------
    >>> found = programs()
    >>> found is None or (found / "initdb").exists()
    True
    """
    installed = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if installed:
        return max(installed, key=lambda path: int(path.parent.name))
    found = shutil.which("initdb")
    return None if found is None else Path(found).parent


@contextmanager
def server(*, fsync: bool = False) -> Iterator[Server]:
    """Run a server that only this machine's users reach, through a socket in its folder.

    Parameters
    ----------
    fsync
        Whether commits survive a loss of power: measurements need this, tests do not.
    """
    bin_ = programs()
    assert bin_ is not None
    folder = Path(tempfile.mkdtemp(prefix="anonhist-pg-", dir="/tmp"))  # others must reach it
    owner = None if os.getuid() else next(user for user in _OTHERS if _exists(user))
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        _run(owner, bin_ / "initdb", "-D", folder / "data", "-A", "trust", "-U", "tester", "-N", "-E", "UTF8")
        hba = folder / "data" / "pg_hba.conf"
        hba.write_text(f"local all {PASSWORDED} scram-sha-256\n{hba.read_text()}")
        settings = f"-k {folder} -c listen_addresses='' -c fsync={'on' if fsync else 'off'} -c max_connections=40"
        _run(owner, bin_ / "pg_ctl", "-D", folder / "data", "-o", settings, "-l", folder / "log", "-w", "start")
        try:
            yield Server(folder, owner)
        finally:
            _run(owner, bin_ / "pg_ctl", "-D", folder / "data", "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Server:
    """A running server.

    Parameters
    ----------
    folder
        The folder of its socket.
    owner
        The user that runs it; None for that of this process.
    """

    def __init__(self, folder: Path, owner: str | None = None) -> None:
        self._folder, self.owner = folder, owner

    def address(self, database: str = "postgres", user: str = "tester") -> str:
        """Return the address of a database, for the server's owner or another user."""
        return f"postgresql://{user}@/{database}?host={self._folder}"

    def database(self) -> str:
        """Make a new database and return its address."""
        import psycopg

        name = f"test{uuid4().hex}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return self.address(name)


class Database:
    """A new database and its users.

    Parameters
    ----------
    server
        The server that holds it.

    Attributes
    ----------
    name
        Its name.
    sql
        A connection that may do everything.
    """

    def __init__(self, server: Server) -> None:
        import psycopg

        address = server.database()
        self.name = address.partition("@/")[2].partition("?")[0]
        self.sql = psycopg.connect(address, autocommit=True)
        self._server = server

    def address(self, user: str = "tester", **parameters: str) -> str:
        """Return its address for a user."""
        more = "".join(f"&{name}={quote(value)}" for name, value in parameters.items())
        return self._server.address(self.name, user) + more

    def role(self, rights: str = "") -> str:
        """Make a role with a schema of its own, and return its name."""
        name = f"r{uuid4().hex}"
        self.sql.execute(f"CREATE ROLE {name} LOGIN {rights}".encode())
        self.sql.execute(f"CREATE SCHEMA {name} AUTHORIZATION {name}".encode())
        return name

    def tables(self) -> list[tuple[str, str]]:
        """Return the schema and the name of each table of ledgers, of any kind."""
        query = (
            "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            r"WHERE c.relname LIKE 'anonhist\_%' ORDER BY 1, 2"
        )
        found: list[tuple[str, str]] = self.sql.execute(query).fetchall()
        return found

    def schemas(self) -> list[str]:
        """Return the schemas that have a table of ledgers."""
        return sorted({schema for schema, _ in self.tables()})


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _run(owner: str | None, *command: str | Path) -> None:
    words = [str(word) for word in command]
    if owner is not None:
        words = after(f"os.setuid(pwd.getpwnam({owner!r}).pw_uid)", *words)
    subprocess.run(  # programs of the system
        words,
        check=True,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

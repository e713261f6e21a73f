"""What becomes of a ledger with several names, of one that cannot be written, and of connections that were dropped."""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from anonhist.accounting import Charge, Ledger, postgresql, verify
from anonhist.errors import DataError, OutputError

Asking = Callable[..., Charge]
SEVERAL = "has other names \\(hard links\\)"
NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a ledger with a budget of ε = 2 for the users of "passwords"."""
    made = tmp_path / "budget.db"
    with Ledger(str(made)) as ledger:
        ledger.create("passwords", "user", epsilon=2)
    return made


def test_a_file_with_two_names_is_refused(path: Path, tmp_path: Path, asking: Asking) -> None:
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "budget.db"
    with Ledger(str(path)) as opened:
        opened.charge(asking("1"))
        other.hardlink_to(path)
        # Beside each name there would be other entries, and both together would be overspent.
        for ledger in (opened, Ledger(str(other)), Ledger(str(path))):
            with pytest.raises(OutputError, match=SEVERAL):
                ledger.charge(asking("1"))
        with pytest.raises(OutputError, match=SEVERAL):
            Ledger(str(other)).balance("passwords")
        with pytest.raises(OutputError, match=SEVERAL):
            Ledger(str(other)).create("more", "user", epsilon=1)
        other.unlink()
        opened.charge(asking("1"))
        assert opened.balance("passwords").left.epsilon == 0


def test_links_to_a_file_share_it(path: Path, tmp_path: Path, asking: Asking) -> None:
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.db"
    link.symlink_to(path)
    with Ledger(str(path)) as one, Ledger(str(link)) as two:
        one.charge(asking("1"))
        two.charge(asking("1/2"))
        assert one.balance("passwords").left.epsilon == two.balance("passwords").left.epsilon == 1 / 2
    assert [each.name for each in link.parent.iterdir()] == ["link.db"]


def test_a_file_that_takes_the_place_of_another_is_opened(path: Path, tmp_path: Path, asking: Asking) -> None:
    backup = tmp_path / "backup.db"
    shutil.copy(path, backup)
    with Ledger(str(path)) as ledger:
        ledger.charge(asking("1"))
        path.rename(tmp_path / "damaged.db")
        for beside in tmp_path.glob("budget.db-*"):
            beside.unlink()
        with pytest.raises(DataError, match="There is no ledger"):
            ledger.charge(asking("1/2"))
        backup.rename(path)
        ledger.charge(asking("1/2"))
    with Ledger(str(path)) as again:
        assert again.balance("passwords").spent.epsilon == 1 / 2


@pytest.fixture
def unwritable(path: Path) -> Iterator[Callable[..., Path]]:
    """Return what puts a ledger into a folder where this process can write nothing from then on."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # others must reach it
    is_root = os.geteuid() == 0

    def put(*more: str) -> Path:
        for name in ("", *more):
            shutil.copy(f"{path}{name}", folder)
            (folder / f"{path.name}{name}").chmod(0o444)
        folder.chmod(0o555)
        if is_root:
            os.seteuid(NOBODY)
        return folder / path.name

    yield put
    if is_root:
        os.seteuid(0)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_where_nothing_can_be_written_a_ledger_can_be_read(
    path: Path, unwritable: Callable[..., Path], asking: Asking
) -> None:
    with Ledger(str(path)) as ledger:
        ledger.charge(asking("1/2"))
    copy = unwritable()
    with Ledger(str(copy)) as ledger:
        for _ in range(2):
            assert ledger.balance("passwords").left.epsilon == 3 / 2
            assert verify(ledger).problems == ()
            with pytest.raises(OutputError, match="cannot be written to"):
                ledger.charge(asking("1/2"))
        with pytest.raises(OutputError, match="cannot be written to"):
            ledger.create("more", "user", epsilon=1)


def test_entries_beside_a_ledger_are_not_left_out(path: Path, unwritable: Callable[..., Path], asking: Asking) -> None:
    with Ledger(str(path)) as ledger:
        ledger.charge(asking("1/2"))
        copy = unwritable("-wal")
    with Ledger(str(copy)) as ledger, pytest.raises(DataError, match=r"last entries are in 'budget\.db-wal' beside it"):
        ledger.balance("passwords")


@pytest.mark.skipif(os.getuid() != 0, reason="only root changes what this process may not write")
def test_a_ledger_that_changes_while_it_is_read_is_not_relied_on(unwritable: Callable[..., Path]) -> None:
    copy = unwritable()
    with Ledger(str(copy)) as ledger:
        ledger.balance("passwords")

        def read() -> None:
            with ledger._storage.reading() as state:
                state.rows(None)
                # Somebody who may write it does, who sees it under another folder.
                os.seteuid(0)
                os.utime(copy)
                os.seteuid(NOBODY)

        with pytest.raises(DataError, match="was changed while it was read"):
            read()
        ledger.balance("passwords")


def test_entries_beside_a_ledger_that_were_removed_are_named(path: Path, asking: Asking) -> None:
    beside = Path(f"{path}-wal")
    with Ledger(str(path)) as ledger, Ledger(str(path)) as other:
        ledger.charge(asking("1/2"))
        beside.unlink()
        told = f"The file {beside.name!r} beside the ledger {str(path)!r}, which holds its last entries, was removed"
        for each in (ledger, other):
            with pytest.raises(OutputError) as refused:
                each.charge(asking("1/2"))
            assert str(refused.value).startswith(told)
    with Ledger(str(path)) as again:
        assert verify(again).problems == ()
        assert again.balance("passwords").left.epsilon == 3 / 2


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Ledger, Any]]:
    """Return a ledger in PostgreSQL, and a connection to its database."""
    server = request.getfixturevalue("postgresql")
    import psycopg

    address = server.database()
    with Ledger(address) as ledger, psycopg.connect(address, autocommit=True) as other:
        ledger.create("passwords", "user", epsilon=2)
        yield ledger, other


def _drop(other: Any) -> None:
    """End all other connections to the database, as a server does that restarts."""
    other.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def test_an_idle_connection_that_was_dropped_is_opened_again(served: tuple[Ledger, Any], asking: Asking) -> None:
    ledger, other = served
    _drop(other)
    ledger.charge(asking("1/2"))
    _drop(other)
    assert ledger.balance("passwords").left.epsilon == 3 / 2
    assert len(ledger.entries()) == 2


def test_a_connection_that_is_dropped_after_something_was_written_is_not(
    served: tuple[Ledger, Any], asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    from anonhist.accounting.sql import SqlTransaction

    ledger, other = served
    whole = SqlTransaction.append

    def dropped(*given: Any) -> None:
        whole(*given)
        _drop(other)

    monkeypatch.setattr(SqlTransaction, "append", dropped)
    with pytest.raises(DataError, match="broke, and a charge may have been recorded"):
        ledger.charge(asking("1/2"))
    monkeypatch.undo()
    assert ledger.balance("passwords").left.epsilon == 2


def test_a_lock_that_is_not_had_in_time_leaves_no_trace(
    served: tuple[Ledger, Any], asking: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger, other = served
    ledger.close()
    monkeypatch.setattr(postgresql, "_PATIENCE", "100ms")
    other.execute(f"SELECT pg_advisory_lock({postgresql._LOCK})")
    for _ in range(2):
        with pytest.raises(DataError, match="locked by another program"):
            ledger.charge(asking("1/2"))
    other.execute(f"SELECT pg_advisory_unlock({postgresql._LOCK})")
    ledger.charge(asking("1/2"))


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_no_ledger_has_the_name_of_what_is_beside_another(ending: str, tmp_path: Path) -> None:
    # Whoever used the other would remove it.
    with Ledger(f"{tmp_path}/budget.db{ending}") as ledger, pytest.raises(OutputError, match="another name"):
        ledger.create("passwords", "user", epsilon=1)
    assert not [*tmp_path.iterdir()]


def test_a_database_of_another_program_is_no_place_for_a_ledger(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE orders (number)")
    before = path.read_bytes()
    with Ledger(str(path)) as ledger, pytest.raises(OutputError, match="of another program"):
        ledger.create("passwords", "user", epsilon=1)
    assert path.read_bytes() == before

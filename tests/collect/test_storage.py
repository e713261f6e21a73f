"""The databases: requests are recognized, and the parts of a tally add up to it and stay few."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from anonhist.collect.databases import storage_at
from anonhist.collect.storage import Head, Identifier, Storage, Tier
from anonhist.errors import DataError, OutputError, UsageError
from anonhist.local import KRR, Collection, LocalHashing, Tally
from anonhist.local.survey import Survey


def made(address: str, collection: Collection) -> tuple[Storage, int]:
    storage = storage_at(address)
    storage.make()
    storage.make()
    session = storage.session()
    with session.writing() as ours:
        number = ours.number_of(collection)
    with session.writing() as ours:
        assert ours.number_of(collection) == number
    session.close()
    return storage, number


def test_identifiers_are_new_once_and_old_days_are_forgotten_in_pieces(collection: Collection, address: str) -> None:
    storage, number = made(address, collection)
    given = [Identifier(day, bytes([place % 256, place // 256] * 7)) for day in (7, 8) for place in range(1_500)]
    session = storage.session()
    with session.writing() as ours:
        assert ours.add_identifiers(number, given[:2_000]) == set(given[:2_000])
        assert ours.add_identifiers(number, given[1_000:]) == set(given[2_000:])
        assert ours.add_identifiers(number + 1, given[:1]) == set(given[:1])
    with session.writing() as ours:
        assert ours.forget(number, 8)
        assert not ours.forget(number, 8)
        assert ours.add_identifiers(number, given) == set(given[:1_500])

    def fail() -> None:
        with session.writing() as ours:
            ours.forget(number, 9)
            ours.head(number + 1)

    with pytest.raises(ValueError, match="unpack"):
        fail()
    with session.writing() as ours:
        assert ours.add_identifiers(number, given) == set()
    session.close()


@pytest.mark.parametrize("survey", [KRR(alphabet=50, epsilon=1), LocalHashing(epsilon=1)], ids=["k-rr", "hashing"])
def test_parts_add_up_to_the_tally_and_stay_few(survey: Survey, tmp_path: Path) -> None:
    candidates = ["a", "b"] if isinstance(survey, LocalHashing) else None
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31", candidates=candidates)
    storage, number = made(f"sqlite:///{tmp_path / 'c.db'}", collection)
    session = storage.session()
    total = survey.empty_tally()
    shown = total
    values = ["a"] if candidates else [7]
    with session.writing() as ours:
        for turn in range(200):
            tally = survey.tally(survey.randomize(values * (1 + turn % 7)))
            total += tally
            ours.add(number, tally, Tier.SINCE, cells=survey.cells)
            if turn % 60 == 0:
                ours.show_all(number, cells=survey.cells)
                shown = total
            ours.set_head(number, Head(total.users, shown.users, 0, closed=False))
        assert ours.tally(number, survey.digest, shown=False) == total
        assert ours.tally(number, survey.digest, shown=True) == shown
        ((parts,),) = ours.run("SELECT count(*) FROM anonhist_parts").fetchall()
        assert parts <= 2 * np.log2(total.users)
    session.close()


def test_large_parts_of_surveys_with_many_cells_are_not_written_again(tmp_path: Path) -> None:
    survey = KRR(alphabet=1 << 32, epsilon=1)
    collection = Collection(survey=survey, answers="once", last_day="2099-12-31")
    storage, number = made(f"sqlite:///{tmp_path / 'c.db'}", collection)
    session = storage.session()
    with session.writing() as ours:
        for turn in range(4):
            cells = np.arange(40_000) * 4 + turn
            tally = Tally(survey.digest, cells.size, cells, np.ones_like(cells))
            ours.add(number, tally, Tier.SINCE, cells=survey.cells)
        sizes = ours.run("SELECT length(cells) FROM anonhist_parts").fetchall()
    session.close()
    assert sizes == [(8 * 40_000,)] * 4


def test_other_databases_and_versions_are_refused(collection: Collection, tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    with pytest.raises(DataError, match="There is no database"), storage_at(f"sqlite:///{path}").seen():
        pass
    storage, _ = made(f"sqlite:///{path}", collection)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE anonhist_collector SET value = '2'")
    connection.close()
    with pytest.raises(DataError, match="not those of this version"):
        storage.make()
    with pytest.raises(DataError, match="not those of this version"), storage.seen():
        pass
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    with pytest.raises(OutputError, match="of another program"):
        storage_at(f"sqlite:///{other}").make()
    (tmp_path / "text.db").write_text("not a database, but long enough to be read as the header of one" * 20)
    with pytest.raises(DataError, match="damaged"):
        storage_at(f"sqlite:///{tmp_path / 'text.db'}").make()
    for address in ("collected.db", "sqlite:///", "mysql://me:secret@host/db"):
        with pytest.raises(UsageError, match="must be sqlite") as caught:
            storage_at(address)
        assert "secret" not in str(caught.value)


def test_deleted_rows_are_overwritten(collection: Collection, tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    storage, number = made(f"sqlite:///{path}", collection)
    session = storage.session()
    secret = b"fourteen bytes"
    with session.writing() as ours:
        ours.add_identifiers(number, [Identifier(7, secret)])
    session.close()
    assert secret in path.read_bytes()
    session = storage.session()
    with session.writing() as ours:
        ours.forget(number, 8)
    session.close()
    assert secret not in path.read_bytes()
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600

"""What an output may replace, in Python: a ledger is one in whatever state it is, and private files keep their kind."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import anonhist as ah
from anonhist.accounting.sqlite import is_ledger
from anonhist.errors import UsageError
from anonhist.formats.atomic import open_whole, write_whole
from anonhist.ingest.parts import count_into, write_part
from anonhist.local import KRR
from anonhist.replacing import PrivateKind, check_replaceable
from anonhist.sketches import HashedSketch

SURVEY = KRR(alphabet=["a", "b"], epsilon=1)


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    with ah.Ledger(f"{tmp_path}/budget.json") as made:
        for number in range(30):
            made.create(f"animals {number}", "item", epsilon=20)
    return tmp_path / "budget.json"


def cut(old: bytes) -> bytes:
    return old[: len(old) // 2]


def without_first_page(old: bytes) -> bytes:
    return bytes(4096) + old[4096:]


DAMAGES: list[Callable[[bytes], bytes]] = [
    bytes,
    cut,
    without_first_page,
    lambda old: b"no database" * 10 + old[110:],
    lambda old: old[:100],
    lambda old: old[:-1],
    lambda old: old + b"more",
    lambda old: b"\xff" + old,
    lambda old: old[:100] + bytes(3996),
    lambda old: old.replace(b"CREATE TABLE", b"xxxxxx xxxxx"),
]


@pytest.mark.parametrize("place", range(len(DAMAGES)))
def test_a_damaged_ledger_is_still_one(place: int, ledger: Path) -> None:
    old = DAMAGES[place](ledger.read_bytes())
    ledger.write_bytes(old)
    with pytest.raises(UsageError, match="is a ledger or belongs to one, damaged or not"):
        write_whole(ledger, b"new", overwrite=True)
    assert ledger.read_bytes() == old


def test_a_ledger_is_one_in_other_bytes_and_when_all_of_it_is_still_beside_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "wide.csv")) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16'")
        connection.execute("CREATE TABLE anonhist_ledger (name TEXT)")
    assert is_ledger(tmp_path / "wide.csv")
    with ah.Ledger(f"{tmp_path}/young.csv") as young:
        young.create("animals", "item", epsilon=1)
        (tmp_path / "young.csv").write_bytes(b"")
        assert (tmp_path / "young.csv-wal").stat().st_size > 0
        assert is_ledger(tmp_path / "young.csv")


def test_a_ledger_is_one_by_the_number_of_an_open_file(ledger: Path) -> None:
    link = ledger.with_name("open.json")
    with ledger.open("rb") as file:
        link.symlink_to(f"/proc/self/fd/{file.fileno()}")
        for name in (link, link.readlink()):
            with pytest.raises(UsageError, match="is a ledger"):
                write_whole(name, b"new", overwrite=True)


def test_a_ledger_is_found_far_into_a_file(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    for place in (2**20 - 10, 2**20, 2**21 + 5):
        path.write_bytes(b"x" * place + b"CREATE TABLE anonhist_entries")
        assert is_ledger(path)


@pytest.mark.parametrize(
    "content", [b"", b"label\nanonhist_ledger\n", b"CREATE TABLE words", b'"ledger": "budget.db"', b"PAR1", b"{}"]
)
def test_other_files_are_replaced(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(content)
    write_whole(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"


def test_releases_and_pages_replace_no_ledger(ledger: Path) -> None:
    released = ah.release(ah.Profile.from_counts([3, 1]), epsilon=1, simulations=2)
    old = ledger.read_bytes()
    page = ledger.with_name("page.html")
    page.symlink_to(ledger)
    for write in (
        lambda: ah.write(released, ledger, overwrite=True),
        lambda: ah.write(released, ledger),
        lambda: released.save(ledger, overwrite=True),
        lambda: ah.write_report(released, page, overwrite=True),
    ):
        with pytest.raises(UsageError, match="is a ledger"):
            write()
    assert ledger.read_bytes() == old
    assert page.is_symlink()


def private_files(folder: Path) -> dict[PrivateKind, tuple[Path, Callable[[Path], None]]]:
    """Return a file of each kind, and what writes such a one."""
    sketch = HashedSketch(buckets=10, epsilon=1, key=b"a key")
    tally = SURVEY.tally(SURVEY.randomize(["a"]))
    makers: dict[PrivateKind, tuple[str, Callable[[Path], None]]] = {
        PrivateKind.PART: ("a.counts", lambda path: write_part(["a"], path, part="day", overwrite=True)),
        PrivateKind.SKETCH: ("a.sketch", lambda path: ah.write(sketch, path, overwrite=True)),
        PrivateKind.TALLY: ("a.parquet", lambda path: ah.write(tally, path, overwrite=True)),
    }
    for name, make in makers.values():
        make(folder / name)
    return {kind: (folder / name, make) for kind, (name, make) in makers.items()}


def test_private_files_are_replaced_by_their_like_alone(tmp_path: Path) -> None:
    files = private_files(tmp_path)
    for kind, (path, _) in files.items():
        for other, (model, make) in files.items():
            target = tmp_path / f"{kind}-by-{other}{model.suffix}"
            target.write_bytes(path.read_bytes())
            if kind == other:
                make(target)
                continue
            with pytest.raises(
                UsageError, match=f"is a {kind}, which is private and is replaced only by another {kind}"
            ):
                make(target)
            assert target.read_bytes() == path.read_bytes()
    # What says nothing any more is what its ending says, by any link.
    for kind, ending in ((PrivateKind.PART, ".counts"), (PrivateKind.SKETCH, ".sketch")):
        (tmp_path / f"cut{ending}").write_bytes(files[kind][0].read_bytes()[200:-200])
        (tmp_path / f"cut-{kind}.json").symlink_to(f"cut{ending}")
        with pytest.raises(UsageError, match=f"is a {kind}"):
            check_replaceable(tmp_path / f"cut-{kind}.json")
        check_replaceable(tmp_path / f"cut-{kind}.json", kind)


def test_a_total_is_never_put_over_a_ledger(ledger: Path) -> None:
    total = ledger.rename(ledger.with_name("total.counts"))
    with pytest.raises(UsageError, match="is a ledger"):
        count_into(["a"], total, part="day")


@pytest.mark.parametrize("is_charged", [False, True])
def test_what_came_meanwhile_is_kept(is_charged: bool, ledger: Path, tmp_path: Path) -> None:  # noqa: FBT001
    target, completed = tmp_path / "out.json", list[bool]()
    target.write_text("old")
    complete = (lambda: completed.append(True)) if is_charged else None

    def write() -> None:
        with open_whole(target, overwrite=True, before_naming=complete) as file:
            file.write(b"new")
            ledger.replace(target)

    with pytest.raises(UsageError, match="is a ledger"):
        write()
    assert is_ledger(target)
    assert completed == []

    def move() -> None:
        target.replace(tmp_path / "b.json")

    with pytest.raises(UsageError, match="is a ledger"):
        write_whole(tmp_path / "b.json", b"new", overwrite=True, before_naming=move)
    assert is_ledger(tmp_path / "b.json")
    assert not list(tmp_path.glob(".anonhist*"))


def test_a_part_does_not_replace_what_came_meanwhile(
    ledger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, sync = tmp_path / "a.counts", os.fsync

    def move(descriptor: int) -> None:
        sync(descriptor)
        if ledger.exists():
            ledger.replace(target)

    monkeypatch.setattr(os, "fsync", move)
    with pytest.raises(UsageError, match="is a ledger"):
        write_part(["a"], target, part="day", overwrite=True)
    assert is_ledger(target)


def test_what_cannot_be_read_may_be_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Permission bits do not stop root, who runs the tests in some places.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"cannot be read \(Permission denied\), so it may be a ledger or private"):
        check_replaceable(path)


def test_the_ledger_of_the_environment_is_known_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    monkeypatch.setenv("ANONHIST_LEDGER", f"sqlite:///{path}")
    with pytest.raises(UsageError, match="is a ledger"):
        ah.write(SURVEY, path, overwrite=True)
    monkeypatch.setenv("ANONHIST_LEDGER", "postgresql://db/shop")
    ah.write(SURVEY, path, overwrite=True)

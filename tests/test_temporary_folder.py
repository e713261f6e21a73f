"""Folders for temporary files: closed to others, removed at the end, and after kill −9 only what is surely ours."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import anonhist.temporary_folder as module
from anonhist.temporary_folder import remove_abandoned, remove_unfinished, temporary_folder


@pytest.fixture
def abandoned(tmp_path: Path) -> Callable[[str], Path]:
    """Make a folder as a process leaves it that was killed."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        (folder / "rows" / "deeper").mkdir(parents=True)
        folder.chmod(0o700)
        (folder / "rows" / "deeper" / "spilled.tmp").write_text("zebra")
        (folder / "owner").write_text(os.uname().nodename)
        return folder

    return make


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_is_closed_to_others_and_removed_at_the_end(tmp_path: Path) -> None:
    with temporary_folder(str(tmp_path)) as rows:
        Path(rows, "spilled.tmp").write_text("zebra")
        (made,) = tmp_path.iterdir()
        assert made.stat().st_mode & 0o777 == 0o700
        assert Path(rows).is_relative_to(made)
        # One that starts now sees that its process lives.
        remove_abandoned(str(tmp_path))
        assert Path(rows, "spilled.tmp").exists()
    assert _names(tmp_path) == []


def test_what_was_left_is_removed_before_a_folder_is_made(tmp_path: Path, abandoned: Callable[[str], Path]) -> None:
    abandoned("anonhist-1")
    abandoned("anonhist-2")
    with temporary_folder(str(tmp_path)) as rows:
        assert _names(tmp_path) == [Path(rows).parent.name]


def test_what_may_not_be_ours_stays(
    tmp_path: Path, abandoned: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    abandoned("another-name")
    abandoned("anonhist-open").chmod(0o750)
    (abandoned("anonhist-of-another-machine") / "owner").write_text("another")
    (abandoned("anonhist-being-made") / "owner").write_text("")
    (abandoned("anonhist-unsigned") / "owner").unlink()
    (tmp_path / "anonhist-file").write_text("zebra")
    # Links that somebody laid, to a folder and in place of the sign.
    elsewhere = tmp_path / "elsewhere"
    abandoned("elsewhere")
    (tmp_path / "anonhist-link").symlink_to(elsewhere)
    linked = abandoned("anonhist-linked-owner") / "owner"
    linked.unlink()
    linked.symlink_to(elsewhere / "owner")
    piped = abandoned("anonhist-piped-owner") / "owner"
    piped.unlink()
    os.mkfifo(piped)
    before = sorted(tmp_path.rglob("*"))
    with (abandoned("anonhist-living") / "owner").open() as owner:
        fcntl.flock(owner, fcntl.LOCK_EX)
        remove_abandoned(str(tmp_path))
        assert (tmp_path / "anonhist-living" / "rows" / "deeper" / "spilled.tmp").exists()
    remove_abandoned(str(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
    abandoned("anonhist-of-another-user")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    remove_abandoned(str(tmp_path))
    assert (tmp_path / "anonhist-of-another-user" / "rows").exists()


def test_links_in_a_folder_are_removed_and_not_followed(tmp_path: Path, abandoned: Callable[[str], Path]) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("precious")
    (abandoned("anonhist-1") / "rows" / "link").symlink_to(precious)
    remove_abandoned(str(tmp_path))
    assert _names(tmp_path) == ["precious"]
    assert (precious / "file").read_text() == "precious"


def test_a_process_that_ends_at_once_removes_its_own(tmp_path: Path, abandoned: Callable[[str], Path]) -> None:
    with temporary_folder(str(tmp_path)) as rows:
        Path(rows, "spilled.tmp").write_text("zebra")
        left = abandoned("anonhist-1")
        remove_unfinished()
        assert _names(tmp_path) == [left.name]


def test_an_exception_while_it_is_removed_does_not_lose_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[None]:
        raise KeyboardInterrupt

    made = temporary_folder(str(tmp_path))
    Path(made.__enter__(), "spilled.tmp").write_text("zebra")
    with monkeypatch.context() as context:
        context.setattr(module, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            made.__exit__(None, None, None)
    assert len(_names(tmp_path)) == 1
    remove_unfinished()
    assert _names(tmp_path) == []


def test_an_engine_that_goes_on_does_not_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[str] = []
    usual = module.rmtree

    def rmtree(*arguments: object, **options: object) -> None:
        tries.append("")
        if len(tries) > 2:
            usual(*arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(module, "rmtree", rmtree)
    with temporary_folder(str(tmp_path)) as rows:
        Path(rows, "spilled.tmp").write_text("zebra")
    assert _names(tmp_path) == []


def test_without_locks_nobody_takes_it_for_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_lock(*_: object) -> None:
        raise OSError(37, "No locks available")

    with monkeypatch.context() as context:
        context.setattr(fcntl, "flock", no_lock)
        made = temporary_folder(str(tmp_path))
        rows = made.__enter__()
    remove_abandoned(str(tmp_path))
    assert Path(rows).exists()
    made.__exit__(None, None, None)
    assert _names(tmp_path) == []

"""Changing a sketch in its file: whole or not at all, and never two at a time."""

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anonhist.errors import DataError, OutputError, UsageError
from anonhist.formats.files import write
from anonhist.sketches import DomainSketch
from anonhist.sketches.files import read_sketch, sketch_in_place

LABELS = ("cat", "dog", "emu")
# Counts some label, again and again; the processes begin together, when all are ready.
_UPDATING = """
import sys
from anonhist.sketches.files import sketch_in_place
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[3])):
    with sketch_in_place(sys.argv[1]) as sketch:
        sketch.update([sys.argv[2]])
"""
# Changes a sketch, and is stopped before it can write it.
_STOPPING = """
import os, signal, sys
from anonhist.sketches.files import sketch_in_place
with sketch_in_place(sys.argv[1]) as sketch:
    sketch.update(["cat"])
    print("ready", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(DomainSketch(alphabet=LABELS, epsilon=1), tmp_path / "a.sketch")
    return tmp_path / "a.sketch"


def _counters(path: Path) -> list[int]:
    counters: list[int] = read_sketch(path).counters.tolist()
    return counters


def _start(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _ready(started: subprocess.Popen[str]) -> None:
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"


def _go(started: subprocess.Popen[str]) -> None:
    assert started.stdin is not None
    started.stdin.write("\n")
    started.stdin.flush()


def test_a_sketch_is_changed_where_it_is(path: Path) -> None:
    before = _counters(path)
    with sketch_in_place(path) as sketch:
        sketch.update(["dog", "emu", "dog"])
    assert (np.array(_counters(path)) - before).tolist() == [0, 2, 1]
    assert [each.name for each in path.parent.iterdir()] == ["a.sketch"]


@pytest.mark.slow
def test_updates_of_several_processes_are_never_lost(path: Path) -> None:
    before = np.array(_counters(path))
    often = 40
    workers = [_start(_UPDATING, path, label, often) for label in ("cat", "dog")]
    for worker in workers:
        _ready(worker)
    for worker in workers:
        _go(worker)
    last = before
    for _ in range(often):
        # Whoever reads meanwhile has a whole sketch, of counters that only grow.
        here = np.array(_counters(path))
        assert (here >= last).all()
        last = here
        with sketch_in_place(path) as sketch:
            sketch.update(["cat", "emu"])
    for worker in workers:
        with worker:
            assert worker.wait(60) == 0
    assert (np.array(_counters(path)) - before).tolist() == [2 * often, often, often]
    assert [each.name for each in path.parent.iterdir()] == ["a.sketch"]


@pytest.mark.slow
def test_a_process_that_is_killed_changes_nothing_and_locks_nobody_out(path: Path) -> None:
    before = _counters(path)
    with _start(_STOPPING, path) as started:
        _ready(started)
        # The lock is taken: whoever comes now is told, and waits until the end of the other.
        with sketch_in_place(path, waiting=started.kill) as sketch:
            sketch.update(["emu"])
    assert started.returncode == -signal.SIGKILL
    assert (np.array(_counters(path)) - before).tolist() == [0, 0, 1]
    assert [each.name for each in path.parent.iterdir()] == ["a.sketch"]


def test_a_change_that_fails_locks_nobody_out_while_its_sketch_is_kept(path: Path) -> None:
    # A sketch maps its file, which holds a lock as long as somebody keeps the sketch or an error that refers to it.
    with pytest.raises(RuntimeError), sketch_in_place(path) as kept:
        raise RuntimeError
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert kept.counters.size == len(LABELS)


def test_nobody_is_told_to_wait_for_nothing(path: Path) -> None:
    with sketch_in_place(path, waiting=lambda: pytest.fail("nobody has the file")):
        pass


@pytest.mark.slow
def test_who_waited_begins_from_what_was_written(path: Path) -> None:
    before = _counters(path)
    with _start(_STOPPING, path) as started:
        _ready(started)
        with sketch_in_place(path, waiting=lambda: _go(started)) as sketch:
            sketch.update(["cat"])
    assert started.returncode == 0
    assert (np.array(_counters(path)) - before).tolist() == [2, 0, 0]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_stay(path: Path, mode: int) -> None:
    path.chmod(mode)
    before = os.umask(0o022)
    try:
        with sketch_in_place(path):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_who_may_not_give_files_away_keeps_them(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuses)
    path.chmod(0o640)
    with sketch_in_place(path) as sketch:
        sketch.update(["cat"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_symbolic_link_is_followed(path: Path) -> None:
    (path.parent / "folder").mkdir()
    link = path.parent / "folder" / "link.sketch"
    link.symlink_to("../a.sketch")
    before = _counters(path)
    with sketch_in_place(link) as sketch:
        sketch.update(["cat"])
    assert link.is_symlink()
    assert (np.array(_counters(path)) - before).tolist() == [1, 0, 0]
    assert [each.name for each in link.parent.iterdir()] == ["link.sketch"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), DataError("bad"), ValueError("bug")])
def test_a_change_that_fails_leaves_the_file_as_it_was(path: Path, error: BaseException) -> None:
    before, inode = path.read_bytes(), path.stat().st_ino

    def change() -> None:
        with sketch_in_place(path) as sketch:
            sketch.update(["cat"])
            raise error

    with pytest.raises(type(error)):
        change()
    assert (path.read_bytes(), path.stat().st_ino) == (before, inode)
    assert [each.name for each in path.parent.iterdir()] == ["a.sketch"]


def test_a_write_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OutputError, match="No space left on device; nothing was left behind"), sketch_in_place(path):
        pass
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir()] == ["a.sketch"]


def test_a_file_that_others_replaced_meanwhile_is_left_alone(path: Path) -> None:
    other = DomainSketch(alphabet=LABELS, epsilon=2)
    replaced = pytest.raises(OutputError, match="Another program replaced ")
    with replaced, sketch_in_place(path):
        write(other, path, overwrite=True)
    assert read_sketch(path) == other
    with replaced, sketch_in_place(path):
        path.unlink()
    assert not list(path.parent.iterdir())


def test_a_disk_without_locks_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fails)
    with pytest.raises(OutputError, match=r"could not be locked \(No locks available\)"), sketch_in_place(path):
        pytest.fail("it was not locked")


def test_what_is_no_sketch_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataError, match="is not a sketch that can be read"), sketch_in_place(path):
        pytest.fail("it is damaged")
    with pytest.raises(DataError, match="There is no file"), sketch_in_place(path.with_stem("b")):
        pytest.fail("it is not there")
    with pytest.raises(DataError, match="cannot be read"), sketch_in_place("a\0.sketch"):
        pytest.fail("it cannot be there")
    with pytest.raises(UsageError, match="is not a sketch file"), sketch_in_place(path.with_suffix(".json")):
        pytest.fail("it has another ending")


def test_a_file_with_another_name_is_refused_as_that_would_keep_the_old_state(path: Path) -> None:
    os.link(path, path.with_name("b.sketch"))
    with pytest.raises(OutputError, match=r"has other names \(hard links\).*remove them first"), sketch_in_place(path):
        raise AssertionError
    path.with_name("b.sketch").unlink()
    before = _counters(path)

    def link_meanwhile() -> None:
        with sketch_in_place(path) as sketch:
            sketch.update(["cat"])
            os.link(path, path.with_name("b.sketch"))

    with pytest.raises(OutputError, match="has other names"):
        link_meanwhile()
    with pytest.raises(OutputError, match="has other names"):
        write(read_sketch(path), path, overwrite=True)
    assert _counters(path) == before
    assert sorted(each.name for each in path.parent.iterdir()) == ["a.sketch", "b.sketch"]

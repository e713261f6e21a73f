"""Files that are read whole: plain ones, and pipes that somebody writes to; nothing waits, or is read, for ever."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import anonhist.formats.atomic as module
from anonhist.errors import DataError
from anonhist.formats.atomic import content_of
from anonhist.formats.files import read, write
from anonhist.mechanisms import FrobeniusMechanism
from anonhist.profiles import Profile


@contextmanager
def _written(path: Path, *pieces: bytes) -> Iterator[None]:
    """Write to a pipe from another thread, with pauses."""

    def work() -> None:
        with path.open("wb", buffering=0) as file:
            for piece in pieces:
                threading.Event().wait(0.02)
                file.write(piece)

    writing = threading.Thread(target=work)
    writing.start()
    yield
    writing.join()


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "release.json")
    return tmp_path / "release.json"


def test_a_pipe_that_delivers_a_release_is_read(pipe: Path, tmp_path: Path) -> None:
    release = FrobeniusMechanism(1).release(Profile.from_counts([3, 1, 1]))
    write(release, tmp_path / "plain.json")
    content = (tmp_path / "plain.json").read_bytes()
    with _written(pipe, content[:100], content[100:]):
        found = read(pipe)
    assert found.profile == release.profile  # type: ignore[union-attr]


def test_a_pipe_that_is_closed_at_once_is_empty(pipe: Path) -> None:
    with _written(pipe):
        assert content_of(pipe) == b""


def test_nobody_is_waited_for_for_ever(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SECONDS", 0.1)
    with pytest.raises(DataError, match="is a pipe without a writer: name a regular file"):
        content_of(pipe)


def test_a_pipe_without_end_is_not_read_for_ever(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_PIPED", 1000)
    with _written(pipe, bytes(1001)), pytest.raises(DataError, match="is a pipe with more than 2"):
        content_of(pipe)


def test_a_device_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "release.json").symlink_to("/dev/zero")
    for path in (tmp_path / "release.json", "/dev/null"):
        with pytest.raises(DataError, match="is not a regular file"):
            content_of(path)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    for path, told in (
        (tmp_path / "none", "There is no file"),
        (tmp_path, "Is a directory"),
        ("a\0b", "not accept this name"),
    ):
        with pytest.raises(DataError, match=told):
            content_of(path)

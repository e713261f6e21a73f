import errno
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Never

import pytest

from anonhist.errors import OutputError, UsageError
from anonhist.formats.atomic import check_free, write_whole
from anonhist_testing.cases import each_of


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def raising(error: BaseException) -> object:
    def raise_(*_: object, **__: object) -> Never:
        raise error

    return raise_


def test_a_file_is_written_and_nothing_else(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.bin", b"all of it", overwrite=False)
    assert (tmp_path / "a.bin").read_bytes() == b"all of it"
    assert names(tmp_path) == ["a.bin"]


@each_of(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
@each_of("overwrite", [False, True])
def test_permissions_are_those_of_the_umask(tmp_path: Path, *, mask: int, mode: int, overwrite: bool) -> None:
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "a", b"", overwrite=overwrite)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_an_existing_file_stays_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    with pytest.raises(UsageError, match="overwrite=True"):
        write_whole(target, b"new", overwrite=False)
    assert target.read_bytes() == b"old"
    write_whole(target, b"new", overwrite=True)
    assert target.read_bytes() == b"new"
    assert names(tmp_path) == ["a"]


def test_whoever_reads_meanwhile_has_the_old_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    with target.open("rb") as reader:
        write_whole(target, b"newer", overwrite=True)
        assert reader.read() == b"old"
    assert target.read_bytes() == b"newer"


@pytest.mark.parametrize("link", [True, False])
def test_a_file_that_appears_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, link: bool) -> None:
    target = tmp_path / "a"
    if not link:
        monkeypatch.setattr(os, "link", raising(PermissionError(errno.EPERM, "no hard links here")))
    monkeypatch.setattr(os, "fsync", lambda _: target.write_bytes(b"theirs"))
    with pytest.raises(UsageError, match="exists already"):
        write_whole(target, b"ours", overwrite=False)
    assert target.read_bytes() == b"theirs"
    assert names(tmp_path) == ["a"]


def test_a_dangling_link_is_something_that_exists(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="exists already"):
        check_free(tmp_path / "a", overwrite=False)


def test_file_systems_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", raising(PermissionError(errno.EPERM, "no hard links here")))
    write_whole(tmp_path / "a", b"all", overwrite=False)
    assert (tmp_path / "a").read_bytes() == b"all"
    assert names(tmp_path) == ["a"]
    monkeypatch.setattr(Path, "replace", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "b", b"all", overwrite=False)
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), MemoryError()])
def test_an_interruption_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, *, overwrite: bool
) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    target = tmp_path / ("kept" if overwrite else "a")
    monkeypatch.setattr(os, "fsync", raising(error))
    with pytest.raises(type(error)):
        write_whole(target, b"new", overwrite=overwrite)
    assert names(tmp_path) == ["kept"]
    assert (tmp_path / "kept").read_bytes() == b"old"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, overwrite: bool) -> None:
    monkeypatch.setattr(os, "fsync", raising(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OutputError, match="No space left on device; nothing was left behind"):
        write_whole(tmp_path / "a", b"new", overwrite=overwrite)
    assert names(tmp_path) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits on file sizes are a matter of POSIX")
def test_a_file_that_the_system_cuts_off_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import resource, sys\n"
        "from anonhist.errors import OutputError\n"
        "from anonhist.formats.atomic import write_whole\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write_whole(sys.argv[1], bytes(5000), overwrite=False)\n"
        "except OutputError as error:\n    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(tmp_path / "a")], capture_output=True, text=True, check=True
    )
    assert "could not be written: File too large" in done.stdout
    assert names(tmp_path) == []


def test_a_folder_that_the_system_says_may_not_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="cannot be written to"):
        write_whole(tmp_path / "a", b"", overwrite=False)


@each_of("overwrite", [False, True])
@each_of("name", ["x" * 300 + ".json", "nul\0.json"])
def test_names_that_no_file_can_have(tmp_path: Path, name: str, *, overwrite: bool) -> None:
    with pytest.raises(OutputError, match="could not be written"):
        write_whole(tmp_path / name, b"", overwrite=overwrite)
    assert names(tmp_path) == []


def test_the_longest_name_a_file_can_have(tmp_path: Path) -> None:
    write_whole(tmp_path / ("x" * 255), b"all", overwrite=False)
    assert names(tmp_path) == ["x" * 255]


def test_folders_are_not_files(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        check_free(tmp_path, overwrite=True)
    with pytest.raises(OutputError, match="make it first"):
        check_free(tmp_path / "none" / "a", overwrite=False)


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("a", b"all", overwrite=False)
    assert names(tmp_path) == ["a"]

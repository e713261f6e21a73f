"""Files: the ending decides, nothing is replaced unasked, and there is never a half file."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import duckdb
import pytest

import anonhist as ah
from anonhist.report.wording import promise_lines
from anonhist.terminal.reading import WHERE_REMARKS_ARE
from anonhist_testing.starting import after

Cli = Callable[..., CompletedProcess[str]]

_GOOD = ("release", "events.csv", "--epsilon", "1")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != "events.csv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.json", "out.csv", "out.parquet", "OUT.JSON", "a.b.csv"])
def test_the_ending_chooses_the_format(name: str, cli: Cli, folder: Path) -> None:
    done = cli(*_GOOD, "-o", name)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Wrote {name}." in done.stdout
    assert _names(folder) == [name]
    start = {".json": b'{\n  "format": "anonhist/release"', ".csv": b"count,prevalence,", ".parquet": b"PAR1"}
    assert (folder / name).read_bytes().startswith(start[Path(name).suffix.lower()])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.json", "out.parquet"])
def test_what_is_written_is_what_is_said(name: str, cli: Cli, folder: Path) -> None:
    said = cli(*_GOOD, "-o", name).stdout
    release = ah.read(folder / name)
    assert f"Promise: {dict(promise_lines(release.guarantee))['Promise']}\n" in said
    assert f"Released: {release.profile.n:,} item" in said
    assert f"Mechanism: {release.mechanism.name}. {release.reason}\n" in said
    shown = cli("show", name)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert said == f"{shown.stdout}Not recorded in a ledger (--ledger).\nWrote {name}.\n"


@pytest.mark.slow
def test_a_csv_file_and_a_pipe_hold_the_same_table(cli: Cli, folder: Path) -> None:
    cli(*_GOOD, "-o", "out.csv")
    header = (folder / "out.csv").read_text().splitlines()[0]
    assert cli(*_GOOD).stdout.splitlines()[0] == header


@pytest.mark.slow
def test_reports_are_written_beside_the_release(cli: Cli, folder: Path) -> None:
    done = cli(*_GOOD, "-o", "out.json", "--report", "out.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Wrote out.json.\nWrote out.html.\n")
    assert _names(folder) == ["out.html", "out.json"]
    page = (folder / "out.html").read_text()
    options = "<span>--epsilon</span> 1 <span>-o</span> out.json <span>--report</span> out.html"
    assert f"anonhist release events.csv {options}" in page


@pytest.mark.slow
def test_reports_can_go_with_a_pipe(cli: Cli, folder: Path) -> None:
    done = cli(*_GOOD, "--report", "out.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("count,prevalence,")
    assert "Wrote" not in done.stdout
    assert _names(folder) == ["out.html"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["out.json", "out.csv", "out.parquet", "out.html"])
def test_existing_outputs_are_kept_without_force(name: str, cli: Cli, folder: Path) -> None:
    (folder / name).write_text("precious")
    asked = ("--report", name) if name == "out.html" else ("-o", name)
    done = cli(*_GOOD, *asked)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{name}' exists already" in done.stderr
    assert "--force" in done.stderr
    assert (folder / name).read_text() == "precious"
    assert cli(*_GOOD, *asked, "--force").returncode == 0
    assert (folder / name).read_bytes() != b"precious"
    assert _names(folder) == [name]


def test_nothing_is_written_if_the_report_could_not_be(cli: Cli, folder: Path) -> None:
    (folder / "out.html").write_text("precious")
    assert cli(*_GOOD, "-o", "out.json", "--report", "out.html").returncode == 2
    assert _names(folder) == ["out.html"]


@pytest.mark.parametrize("option", ["-o", "--report"])
def test_folders_that_are_not_there_are_told(option: str, cli: Cli, folder: Path) -> None:
    name = "nowhere/out.json" if option == "-o" else "nowhere/out.html"
    done = cli(*_GOOD, option, name)
    assert (done.returncode, done.stdout) == (3, "")
    assert "does not exist; make it first" in done.stderr
    assert _names(folder) == []


def test_a_folder_that_may_not_be_written_to_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    # Permission bits do not stop root, who runs the tests in some places, so the system's answer is given by hand.
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    done = cli(*_GOOD, "-o", "out.json")
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot be written to; choose another" in done.stderr
    assert _names(folder) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "existing"),
    [
        (("-o", "out.json"), False),
        (("-o", "out.json"), True),
        (("-o", "out.csv"), False),
        (("-o", "out.parquet"), False),
        (("--report", "out.html"), True),
    ],
)
def test_a_full_disk_leaves_no_half_file(asked: tuple[str, str], existing: bool, folder: Path) -> None:  # noqa: FBT001
    if existing:
        (folder / asked[1]).write_text("precious")
    # A file may have this many bytes: the same path through the program as a disk with no more room.
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
    words = ("-B", "-m", "anonhist", *_GOOD, *asked, *(["--force"] if existing else []))
    done = subprocess.run(after(limit, sys.executable, *words), capture_output=True, check=False, text=True)
    assert (done.returncode, done.stdout) == (3, "")
    assert f"'{asked[1]}' could not be written: File too large; nothing was left behind." in done.stderr
    assert done.stderr.replace(f"{WHERE_REMARKS_ARE}\n", "").count("\n") == 1
    assert _names(folder) == ([asked[1]] if existing else [])
    if existing:
        assert (folder / asked[1]).read_text() == "precious"


def _duckdb(folder: Path, name: str) -> None:
    with duckdb.connect(str(folder / name)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'a' AS label")


def _sqlite(folder: Path, name: str) -> None:
    with closing(sqlite3.connect(folder / name)) as connection:
        connection.execute("CREATE TABLE t (label TEXT)")
        connection.commit()


def _text(folder: Path, name: str) -> None:
    (folder / name).write_text("label\na\n")


@pytest.mark.parametrize("option", ["-o", "--report"])
@pytest.mark.parametrize(
    ("make", "source"),
    [
        (_text, "{}"),
        (_text, "log*"),
        (_text, "**/log*"),
        (_text, "./{}"),
        (_text, "link"),
        (_text, "file://{folder}/{}"),
        (_text, "file://localhost{folder}/{}"),
        (_duckdb, "duckdb:///{}"),
        (_sqlite, "sqlite:///{}"),
    ],
)
def test_force_does_not_replace_the_input(
    make: Callable[[Path, str], None], source: str, option: str, cli: Cli, folder: Path
) -> None:
    name = "log.csv" if option == "-o" else "log.html"
    make(folder, name)
    make(folder, name.replace("log", "log-1"))  # a pattern matches it before
    (folder / "link").symlink_to(name)
    before = (folder / name).read_bytes()
    asked = ["-o", name] if option == "-o" else ["-o", "out.json", "--report", name]
    table = ["--table", "t"] if make is not _text else ["--delimiter", ","]
    done = cli("release", source.format(name, folder=folder), *table, "--epsilon", "1", *asked, "--force")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{name}' is the input: what is written would replace it; name another output." in done.stderr
    assert (folder / name).read_bytes() == before
    assert not (folder / "out.json").exists()


@pytest.mark.slow
def test_force_does_not_replace_redirected_input(folder: Path) -> None:
    with (folder / "events.csv").open("rb") as file:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "anonhist",
                "release",
                "-",
                "--format",
                "labels",
                "--epsilon",
                "1",
                "-o",
                "events.csv",
                "--force",
            ],
            stdin=file,
            capture_output=True,
            check=False,
            text=True,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert "is the input" in done.stderr

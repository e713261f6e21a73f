"""Ctrl-C, wherever it comes: exit code 130, one sentence, no half file and no file of ours beside it."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import duckdb
import pytest

from anonhist.terminal.reading import WHERE_REMARKS_ARE
from anonhist_testing.starting import after

Cli = Callable[..., CompletedProcess[str]]

_SENTENCE = "anonhist: interrupted; no incomplete file was left behind.\n"

_SIGNAL = "os.kill(os.getpid(), signal.SIGINT)"

# As a module is looked for: the import system would swallow an exception in some of these places.
_LOADING = f"""
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {{name!r}}:
            {_SIGNAL}
sys.meta_path.insert(0, Interrupts())
"""
_SIMULATING = f"""
import anonhist.releases.release as module
def simulate_error(*a, **k):
    {_SIGNAL}
module.simulate_error = simulate_error
"""
# As engines do, with names of their own.
_TURNED = f"""
import anonhist.releases.release as module
def simulate_error(*a, **k):
    try:
        {_SIGNAL}
    except KeyboardInterrupt:
        raise ValueError("the query was given up") from None
module.simulate_error = simulate_error
"""
# All of the new file is on the disk, under the name of the part; it has not got its own name yet.
_WRITING = f"os.fsync = lambda _: {_SIGNAL}"
_MOVING = f"os.link = os.replace = os.rename = lambda *_, **__: {_SIGNAL}"


@pytest.mark.first(1)
@pytest.mark.parametrize(
    "where",
    [
        *(_LOADING.format(name=name) for name in ("click", "numpy", "duckdb", "narwhals")),
        _SIMULATING,
        _TURNED,
        _WRITING,
        _MOVING,
    ],
    ids=["click", "numpy", "duckdb", "narwhals", "simulating", "turned", "writing", "moving"],
)
def test_an_interrupt_leaves_nothing(where: str, interrupt: Cli, folder: Path) -> None:
    done = interrupt("release", "events.csv", "--epsilon", "1", "-o", "out.json", where=where)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", _SENTENCE)
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
@pytest.mark.parametrize("where", [_WRITING, _SIMULATING], ids=["writing", "simulating"])
def test_an_interrupt_keeps_what_was_to_be_replaced(where: str, interrupt: Cli, folder: Path) -> None:
    (folder / "out.csv").write_text("precious")
    done = interrupt("release", "events.csv", "--epsilon", "1", "-o", "out.csv", "--force", where=where)
    assert (done.returncode, done.stderr) == (130, _SENTENCE)
    assert (folder / "out.csv").read_text() == "precious"
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "out.csv"]


@pytest.mark.slow
def test_an_interrupt_while_modules_are_loaded_to_write_leaves_nothing(interrupt: Cli, folder: Path) -> None:
    # Arrow looks for pandas when it is given its first array.
    where = _LOADING.format(name="late") + (
        "import anonhist.sketches.files as module, importlib\n"
        "module._head = lambda *_: importlib.import_module('late')\n"
    )
    done = interrupt("sketch", "new", "--buckets", "10", "--epsilon", "1", "-o", "a.sketch", where=where)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", _SENTENCE)
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_an_interrupt_of_the_report_keeps_the_whole_release(interrupt: Cli, folder: Path) -> None:
    where = _LOADING.format(name="matplotlib")
    done = interrupt("release", "events.csv", "--epsilon", "1", "-o", "o.json", "--report", "o.html", where=where)
    assert (done.returncode, done.stderr) == (130, _SENTENCE)
    assert sorted(path.name for path in folder.iterdir()) == ["events.csv", "o.json"]
    assert "Wrote o.json." in done.stdout


@pytest.mark.slow
def test_an_interrupt_of_the_engine_is_an_interrupt(folder: Path) -> None:
    # The engine is inside its query, waiting for the end of its input; it turns the exception into one of its own.
    with subprocess.Popen(
        after(
            "signal.signal(signal.SIGINT, signal.SIG_DFL)",
            *(sys.executable, "-m", "anonhist"),
            *("release", "-", "--format", "labels", "--epsilon", "1", "-o", "out.json"),
        ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as started:
        assert started.stdin is not None
        # Far more than a pipe holds: when all of it is through, the engine is reading.
        started.stdin.write(b"zebra\n" * 1_000_000)
        started.stdin.flush()
        started.send_signal(signal.SIGINT)
        started.stdin.close()
        assert started.stdout is not None
        assert started.stderr is not None
        assert (started.stdout.read(), started.stderr.read().decode()) == (b"", _SENTENCE)
    assert started.returncode == 130
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_a_process_that_ignores_interrupts_goes_on(folder: Path) -> None:
    done = subprocess.run(
        after(
            "signal.signal(signal.SIGINT, signal.SIG_IGN)",
            *(sys.executable, "-c", f"import os, signal, sys; {_WRITING}; from anonhist.cli import main; main()"),
            *("release", "events.csv", "--epsilon", "1", "-o", "out.json"),
        ),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (0, f"{WHERE_REMARKS_ARE}\n")
    assert (folder / "out.json").exists()


# As soon as a label is on disk, the process is killed, so that it stays there.
_WATCHING = """
import pathlib, threading, time
import anonhist.ingest.engine as engine
engine.CONFIG |= {"memory_limit": "16MB", "threads": "1"}
def watch():
    while True:
        for path in pathlib.Path(os.environ["TMPDIR"]).rglob("*"):
            if path.is_file() and b"identifies" in path.read_bytes():
                os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
"""


@pytest.mark.slow
def test_an_update_has_no_label_on_disk_at_any_moment(
    interrupt: Cli, cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (
        "SELECT range AS who, 'a label that identifies somebody ' || repeat(range::VARCHAR, 16) AS what"
        " FROM range(150_000)"
    )
    duckdb.sql(rows).write_parquet("log.parquet", row_group_size=4096)
    users = ("--unit", "user", "--max-per-user", "2")
    assert cli("sketch", "new", "--buckets", "9", "--epsilon", "1", *users, "-o", "a.sketch").returncode == 0
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    update = ("sketch", "update", "a.sketch", "log.parquet", "--label", "what", "--user", "who")
    done = interrupt(*update, where=_WATCHING)
    assert [path.name for path in temporary.rglob("*")] == []
    assert done.returncode == 3
    assert done.stderr.startswith("anonhist: Not enough memory, and private data are never written to temporary files")
    assert sorted(path.name for path in folder.iterdir()) == ["a.sketch", "events.csv", "log.parquet", "temporary"]

"""SIGTERM, SIGHUP and Ctrl-C end a command alike: its own exit code, no row left on the disk, and what became of ε."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from anonhist.accounting import Ledger
from anonhist.terminal.reading import WHERE_REMARKS_ARE
from anonhist_testing.starting import after

Cli = Callable[..., subprocess.CompletedProcess[str]]

_SECONDS = 60
_HOW = {signal.SIGINT: "interrupted", signal.SIGTERM: "ended by SIGTERM", signal.SIGHUP: "ended by SIGHUP"}
_AS_USUAL = (
    "import os, signal, sys\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)\n"
)
_RUN = "\nsys.argv[0] = 'anonhist'\nfrom anonhist.cli import main\nmain()\n"
_LOADING = """
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "narwhals":
            {send}
sys.meta_path.insert(0, Interrupts())
"""
_SIMULATING = """
import anonhist.releases.release as module
def simulate_error(*a, **k):
    {send}
module.simulate_error = simulate_error
"""
_TURNED = """
import anonhist.releases.release as module
def simulate_error(*a, **k):
    try:
        {send}
    except KeyboardInterrupt:
        raise ValueError("the query was given up") from None
module.simulate_error = simulate_error
"""
_WRITING = "os.fsync = lambda _: {send}"
# The exception is lost, or comes only when a long call is over.
_AT_ONCE = "import anonhist.cli.signals, time; anonhist.cli.signals._PATIENCE = 0.1\n"
_SWALLOWED = (
    _AT_ONCE
    + """
import anonhist.releases.release as module
def simulate_error(*a, **k):
    try:
        {send}
    except KeyboardInterrupt:
        time.sleep(60)
module.simulate_error = simulate_error
"""
)
_LONG = (
    _AT_ONCE
    + """
import anonhist.releases.release as module, hashlib, threading
def simulate_error(*a, **k):
    threading.Timer(0.1, lambda: {send}).start()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000_000)
module.simulate_error = simulate_error
"""
)
# As soon as a label is on the disk.
_SPILLING = """
import contextlib, pathlib, threading, time
import anonhist.ingest.engine as engine
engine.CONFIG |= {{"memory_limit": "16MB", "threads": "1"}}
def watch():
    while True:
        # Others remove their folders meanwhile.
        with contextlib.suppress(OSError):
            for path in pathlib.Path(os.environ["TMPDIR"]).rglob("*"):
                if path.is_file() and b"identifies" in path.read_bytes():
                    {send}
                    return
        time.sleep(0.002)
threading.Thread(target=watch, daemon=True).start()
"""
_BEFORE_READING = """
import anonhist.accounting.recording as module
def reading(self):
    {send}
module.Recorded.reading = reading
"""
_CHARGING = """
import anonhist.accounting.ledger as module
charge = module.Ledger.charge
def charge_and_send(*a):
    charge(*a)
    {send}
module.Ledger.charge = charge_and_send
"""
_MOVING = "os.link = os.replace = os.rename = lambda *_, **__: {send}"


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def _start(
    where: str, *arguments: str, send: int, times: int = 1, stderr: int = subprocess.PIPE, **environment: str
) -> subprocess.Popen[bytes]:
    """Start a command in a process that gets signals where a statement arranges it."""
    sends = "; ".join([f"os.kill(os.getpid(), {int(send)})"] * times)
    call = f"exec({sends!r})" if times > 1 else sends
    return subprocess.Popen(
        [sys.executable, "-c", _AS_USUAL + where.format(send=call) + _RUN, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, **environment},
    )


def _ends(started: Mapping[str, subprocess.Popen[bytes]]) -> dict[str, Ended]:
    ends = {}
    for name, process in started.items():
        out, err = process.communicate(timeout=_SECONDS)
        said = (err or b"").decode().replace(f"{WHERE_REMARKS_ARE}\n", "")
        ends[name] = Ended(process.returncode, out.decode(), said)
    return ends


def _ended_by(number: signal.Signals, more: str = "") -> Ended:
    return Ended(128 + number, "", f"anonhist: {_HOW[number]}; no incomplete file was left behind.{more}\n")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _release(name: str, *more: str) -> tuple[str, ...]:
    return ("release", "events.csv", "--epsilon", "1", "-o", f"{name}.json", *more)


@pytest.fixture
def log(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a table that does not fit in 16 MB, and a folder for temporary files, which is returned."""
    rows = "SELECT 'a label that identifies somebody ' || repeat(range::VARCHAR, 16) AS what FROM range(150_000)"
    duckdb.sql(rows).write_parquet("log.parquet", row_group_size=4096)
    temporary = folder / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    return temporary


@pytest.mark.slow
def test_a_signal_leaves_nothing_wherever_it_comes(folder: Path) -> None:
    places = {
        "loading": _LOADING,
        "simulating": _SIMULATING,
        "turned": _TURNED,
        "writing": _WRITING,
        "swallowed": _SWALLOWED,
        "long": _LONG,
    }
    numbers = dict(zip(places, (signal.SIGTERM, signal.SIGHUP) * len(places), strict=False))
    started = {name: _start(where, *_release(name), send=numbers[name]) for name, where in places.items()}
    assert _ends(started) == {name: _ended_by(number) for name, number in numbers.items()}
    assert _names(folder) == ["events.csv"]


@pytest.mark.slow
def test_no_row_stays_on_the_disk(folder: Path, log: Path) -> None:
    # Twice: the second signal comes while the first is answered.
    spilled = ("release", "log.parquet", "--label", "what", "--epsilon", "1", "-o", "out.json")
    started = {each.name: _start(_SPILLING, *spilled, send=each, times=2) for each in _HOW}
    assert _ends(started) == {each.name: _ended_by(each) for each in _HOW}
    assert _names(log) == []
    assert _names(folder) == ["events.csv", "log.parquet", "temporary"]


@pytest.mark.slow
def test_what_a_killed_process_left_is_removed_at_the_next_start(log: Path) -> None:
    spilled = ("release", "log.parquet", "--label", "what", "--epsilon", "1", "-o", "out.json")
    usual, other = log / "usual", log / "other"
    for folder in (usual, other):
        folder.mkdir()
    started = {path.name: _start(_SPILLING, *spilled, send=signal.SIGKILL, TMPDIR=str(path)) for path in (usual, other)}
    assert {each.code for each in _ends(started).values()} == {-signal.SIGKILL}
    left = [path.name for path in log.rglob("*") if path.is_file() and b"identifies" in path.read_bytes()]
    assert len(left) >= 2
    plain = {
        "at the start": _start("", "--version", send=0, TMPDIR=str(usual)),
        "when counting": _start("", *_release("out"), "--temp-directory", str(other), send=0),
    }
    assert {each.code for each in _ends(plain).values()} == {0}
    assert (_names(usual), _names(other)) == ([], [])


@pytest.mark.slow
def test_an_interruption_says_what_became_of_the_charge(folder: Path) -> None:
    stays = " ε stays charged, as entry 2 of {}: see 'anonhist budget show', and 'anonhist budget void --help' before "
    may = " ε may be charged in {}: see 'anonhist budget show', and 'anonhist budget void --help' before "
    places = {
        "unread": (_BEFORE_READING, "", 0),
        "asking": (_CHARGING, may, 1),
        "simulating": (_SIMULATING, stays, 1),
        "swallowed": (_SWALLOWED, stays, 1),
        "moving": (_MOVING, stays, 1),
    }
    numbers = dict(zip(places, (*_HOW, *_HOW, *_HOW), strict=False))
    for name in places:
        with Ledger(f"{name}.db") as ledger:
            ledger.create("events", "item", epsilon=2)
    started = {
        name: _start(where, *_release(name, "--ledger", f"{name}.db", "--dataset", "events"), send=numbers[name])
        for name, (where, *_) in places.items()
    }
    told = {name: f"{more.format(f'{name}.db')}you void it." if more else "" for name, (_, more, _) in places.items()}
    assert _ends(started) == {name: _ended_by(numbers[name], told[name]) for name in places}
    spent = {name: Fraction(cost) for name, (_, _, cost) in places.items()}
    assert {name: _spent(f"{name}.db") for name in places} == spent
    assert _names(folder) == sorted(["events.csv", *(f"{name}.db" for name in places)])


def _spent(path: str) -> Fraction:
    with Ledger(path) as ledger:
        balance = ledger.balance("events")
        return balance.budget.epsilon - balance.left.epsilon


@pytest.mark.slow
def test_a_process_that_ignores_signals_goes_on(folder: Path) -> None:
    numbers = ", ".join(f"signal.{number.name}" for number in _HOW)
    sends = f"[os.kill(os.getpid(), each) for each in ({numbers})]"
    done = subprocess.run(
        after(
            f"for each in ({numbers}): signal.signal(each, signal.SIG_IGN)",
            *(sys.executable, "-c", f"import os, signal, sys; os.fsync = lambda _: {sends}; {_RUN.strip()}"),
            *_release("out"),
        ),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr.decode()) == (0, f"{WHERE_REMARKS_ARE}\n")
    assert _names(folder) == ["events.csv", "out.json"]


@pytest.mark.slow
def test_a_terminal_that_is_closed_ends_a_command(folder: Path) -> None:
    near, far = pty.openpty()
    started = _start(_SIMULATING, *_release("out"), send=signal.SIGHUP, stderr=far)
    for end in (near, far):
        os.close(end)
    assert _ends({"closed": started})["closed"].code == 128 + signal.SIGHUP
    assert _names(folder) == ["events.csv"]


def test_only_a_process_of_the_command_line_answers_signals(cli: Cli) -> None:
    def now() -> Iterable[object]:
        return [signal.getsignal(number) for number in _HOW]

    before = now()
    assert cli("--version").returncode == 0
    assert now() == before

"""Three ways to run the command line: in this process, in a process of its own, and on a terminal."""

import contextlib
import fcntl
import math
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from subprocess import CompletedProcess
from threading import Thread
from typing import Any

import duckdb
import pytest

from anonhist.cli.entry import run
from anonhist.ingest.engine import CONFIG
from anonhist.terminal.reading import WHERE_REMARKS_ARE

Cli = Callable[..., CompletedProcess[str]]

EVENTS = "label\n" + "zebra\n" * 5 + "heron\n" * 5 + "newt\n" * 2
_SECONDS = 60
# What a terminal obeys instead of showing it.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_LONG_WORK = re.compile(r"^[A-Z][a-z ]+ …\n", re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty working directory but for events.csv."""
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "ANONHIST_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    # What is said of long work depends on the machine; test_long_work.py has it.
    monkeypatch.setattr("anonhist.terminal.output._LONG", math.inf)
    return tmp_path


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Open DuckDB once in this process, set as the product sets it."""
    return duckdb.connect(config=CONFIG | {"temp_directory": ""})


@pytest.fixture
def _lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lend each reading in this process a connection to one engine: to start one takes longer than to read a file."""
    engine, connect = _engine(), duckdb.connect

    def lend(path: str = ":memory:", **options: Any) -> duckdb.DuckDBPyConnection:
        config = options.get("config", {})
        is_ours = config == CONFIG | {"temp_directory": config.get("temp_directory")}
        return engine.cursor() if path == ":memory:" and is_ours else connect(path, **options)

    monkeypatch.setattr(duckdb, "connect", lend)


@pytest.fixture
def cli(folder: Path, capfd: pytest.CaptureFixture[str], _lent: None) -> Cli:
    """Run the command line in this process; what engines write past Python is captured too."""
    del folder

    def call(*arguments: object) -> CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        code = run(words)
        out, err = capfd.readouterr()
        return CompletedProcess(words, code, out, _strip_notice(err))

    return call


def _strip_notice(stderr: str) -> str:
    """Leave out the sentence that is said whatever the data are, and what is said of long work.

    test_remarks.py and test_long_work.py have them.
    """
    return _LONG_WORK.sub("", stderr.replace(f"{WHERE_REMARKS_ARE}\n", ""))


@pytest.fixture
def refusals(folder: Path, cli: Cli) -> Callable[..., list[CompletedProcess[str]]]:
    """Make calls that must be refused, and return those that were not, or not as they should be.

    Each is refused with its exit code and one sentence that says what is asked for, none of ``secrets`` and nothing on
    standard output, and leaves every file as it was. To report each call as a test takes longer than to make it.
    """

    def contents() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def check(
        calls: Iterable[tuple[tuple[str, ...], int, str]], *, secrets: tuple[str, ...] = (), warning: str = ""
    ) -> list[CompletedProcess[str]]:
        wrong = []
        for arguments, code, told in calls:
            before = contents()
            done = cli(*arguments)
            sentence = done.stderr.removeprefix(warning)
            is_refused = (
                (done.returncode, done.stdout) == (code, "")
                and re.fullmatch(r"anonhist: [^\n]+\.\n", sentence)
                and told in sentence
                and not any(secret in done.stderr for secret in secrets)
                and contents() == before
            )
            if not is_refused:
                wrong.append(done)
        return wrong

    return check


@pytest.fixture
def process(folder: Path) -> Cli:
    """Run the command line as users do, its streams being pipes."""
    del folder

    def call(
        *arguments: object, stdin: bytes = b"", program: tuple[str, ...] = ("-m", "anonhist"), **environment: str
    ) -> CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, *program, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            env={**os.environ, **environment},
        )
        return CompletedProcess(done.args, done.returncode, done.stdout.decode(), _strip_notice(done.stderr.decode()))

    return call


@contextlib.contextmanager
def _screen(width: int, screen: list[str]) -> Iterator[int]:
    """Open a terminal, and leave in ``screen`` what it shows when it is closed."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    shown = bytearray()

    def read() -> None:
        # How Linux says that nobody holds the other end any more.
        with contextlib.suppress(OSError):
            while part := os.read(near, 65536):
                shown.extend(part)

    reader = Thread(target=read)
    reader.start()
    try:
        yield far
    finally:
        os.close(far)
        reader.join(_SECONDS)
        os.close(near)
        screen.append(_CONTROL.sub("", shown.decode()).replace("\r\n", "\n"))


@pytest.fixture
def terminal(folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, _lent: None) -> Cli:
    """Run the command line in this process on a terminal; stdout holds all that it shows, stderr all else.

    ``piped`` sends standard output to a pipe instead, which comes back as stderr.
    """
    del folder
    monkeypatch.setenv("TERM", "xterm-256color")

    def call(*arguments: object, width: int = 80, piped: bool = False) -> CompletedProcess[str]:
        words, screen = [str(argument) for argument in arguments], list[str]()
        with ExitStack() as stack:
            far = stack.enter_context(_screen(width, screen))
            for number, name in ((1, "stdout"), (2, "stderr")):
                if number == 1 and piped:
                    continue
                # Whatever writes past Python reaches the terminal, too.
                kept = os.dup(number)
                stack.callback(os.close, kept)
                stack.callback(os.dup2, kept, number)
                os.dup2(far, number)
                stream = stack.enter_context(open(number, "w", encoding="utf-8", buffering=1, closefd=False))
                stack.enter_context(monkeypatch.context()).setattr(sys, name, stream)
            code = run(words)
        out, err = capfd.readouterr()
        assert err == ""
        return CompletedProcess(words, code, screen[0], out)

    return call


@pytest.fixture
def terminal_process(folder: Path) -> Cli:
    """Run the command line as users do, on a terminal; comes back as from ``terminal``."""
    del folder

    def call(*arguments: object, width: int = 80, piped: bool = False) -> CompletedProcess[str]:
        screen, elsewhere = list[str](), ""
        with _screen(width, screen) as far:
            started = subprocess.Popen(
                [sys.executable, "-m", "anonhist", *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else far,
                stderr=far,
                text=True,
                env={**os.environ, "TERM": "xterm-256color"},
            )
            elsewhere, _ = started.communicate(timeout=_SECONDS)
        return CompletedProcess(started.args, started.returncode, screen[0], elsewhere or "")

    return call


@pytest.fixture
def interrupt(folder: Path) -> Cli:
    """Run the command line in a process that gets Ctrl-C where a Python statement, run first, arranges it."""
    del folder

    def call(*arguments: object, where: str) -> CompletedProcess[str]:
        script = (
            # Started in the background, a shell's children ignore the signal; these must not.
            "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
            f"{where}\nsys.argv[0] = 'anonhist'\nfrom anonhist.cli import main\nmain()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return CompletedProcess(done.args, done.returncode, done.stdout.decode(), _strip_notice(done.stderr.decode()))

    return call

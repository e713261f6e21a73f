"""Three ways to run the command line: in this process, in a process of its own, and on a terminal."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.cli.entry import run

Cli = Callable[..., CompletedProcess[str]]

EVENTS = "label\n" + "zebra\n" * 5 + "heron\n" * 5 + "newt\n" * 2
_SECONDS = 60
# What a terminal obeys instead of showing it.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty working directory but for events.csv."""
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "ANONHIST_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def cli(folder: Path, capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line in this process; what engines write past Python is captured too."""
    del folder

    def call(*arguments: object) -> CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        code = run(words)
        out, err = capfd.readouterr()
        return CompletedProcess(words, code, out, err)

    return call


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
        return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return call


@pytest.fixture
def terminal(folder: Path) -> Cli:
    """Run the command line on a terminal of its own; stdout holds all that it shows, stderr all that went elsewhere.

    ``piped`` sends standard output to a pipe instead, which comes back as stderr.
    """
    del folder

    def call(*arguments: object, width: int = 80, piped: bool = False) -> CompletedProcess[str]:
        near, far = pty.openpty()
        fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        started = subprocess.Popen(
            [sys.executable, "-m", "anonhist", *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if piped else far,
            stderr=far,
            env={**os.environ, "TERM": "xterm-256color"},
        )
        os.close(far)
        shown, elsewhere = b"", b""
        # A small pipe's worth is all that tests send there, so it can wait.
        while True:
            try:
                part = os.read(near, 65536)
            except OSError:  # how Linux says that nobody holds the other end any more
                break
            if not part:
                break
            shown += part
        if started.stdout is not None:
            with started.stdout as stream:
                elsewhere = stream.read()
        code = started.wait(_SECONDS)
        os.close(near)
        plain = _CONTROL.sub("", shown.decode()).replace("\r\n", "\n")
        return CompletedProcess(started.args, code, plain, elsewhere.decode())

    return call


@pytest.fixture
def interrupted(folder: Path) -> Cli:
    """Run the command line in a process that gets Ctrl-C where a Python statement, run first, arranges it."""
    del folder

    def call(*arguments: object, where: str) -> CompletedProcess[str]:
        script = f"import os, signal, sys\n{where}\nsys.argv[0] = 'anonhist'\nfrom anonhist.cli import main\nmain()\n"
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
            # Started in the background, a shell's children ignore the signal; these must not.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # no threads
        )
        return CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return call

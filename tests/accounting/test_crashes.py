"""A release that is killed at any moment: no file without its charge, no half file, nothing overspent.

Each case runs the command line in a process of its own, which kills itself with SIGKILL at a named point. Afterwards
the ledger and the files must agree, and the next release must go on.
"""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from anonhist.accounting import Ledger, verify
from anonhist.formats.files import claim_of

# Once in the usual run; as often as a release depends on when the system does what it was asked for.
REPEATS = int(os.environ.get("ANONHIST_CRASHES", "1"))


class Point(NamedTuple):
    """Where to die: before or after a function is called."""

    module: str
    owner: str
    function: str
    when: str
    # What must be true afterwards: charges, and whether there is a file.
    charged: bool
    has_file: bool

    def __str__(self) -> str:
        return f"{self.when} {self.owner}.{self.function}".replace(" .", " ")


SQL, STORAGE = "anonhist.accounting.sql", "SqlStorage"
POINTS = [
    Point("anonhist.accounting.ledger", "Ledger", "charge", "before", charged=False, has_file=False),
    Point(SQL, "SqlTransaction", "rows_after", "after", charged=False, has_file=False),
    Point(SQL, "SqlTransaction", "append", "before", charged=False, has_file=False),
    Point(SQL, "SqlTransaction", "append", "after", charged=False, has_file=False),
    Point("anonhist.accounting.ledger", "Ledger", "charge", "after", charged=True, has_file=False),
    Point("anonhist.ingest.read", "", "events_query", "after", charged=True, has_file=False),
    Point("anonhist.ingest.read", "", "profile_pairs", "before", charged=True, has_file=False),
    Point("anonhist.randomness.source", "SystemSource", "words", "before", charged=True, has_file=False),
    Point("anonhist.mechanisms.releasing", "PreparedRelease", "release", "after", charged=True, has_file=False),
    Point("anonhist.releases.release", "Release", "with_error", "after", charged=True, has_file=False),
    Point("anonhist.formats.tables", "", "document_text", "after", charged=True, has_file=False),
    Point("os", "", "fsync", "before", charged=True, has_file=False),
    Point("os", "", "fsync", "after", charged=True, has_file=False),
    Point("anonhist.accounting.ledger", "Ledger", "complete", "before", charged=True, has_file=False),
    Point("anonhist.accounting.ledger", "Ledger", "complete", "after", charged=True, has_file=False),
    Point("anonhist.formats.atomic", "", "_name", "before", charged=True, has_file=False),
    Point("anonhist.formats.atomic", "", "_name", "after", charged=True, has_file=True),
]


def _die_at(point: Point) -> None:
    """Wrap a function so that this process dies at it."""
    from importlib import import_module

    owner: Any = import_module(point.module)
    if point.owner:
        owner = getattr(owner, point.owner)
    real = getattr(owner, point.function)

    def call(*args: Any, **options: Any) -> Any:
        if point.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        real(*args, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(owner, point.function, call)


def _release(folder: Path, address: str, name: str, point: Point | None) -> int:
    """Release in a process of its own; return how it ended, negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        from anonhist.cli.entry import run

        os.chdir(folder)
        silent = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(silent, stream)
        if point is not None:
            _die_at(point)
        words = ["release", "events.csv", "--epsilon", "1/4", "--simulations", "2", "-o", name, "--quiet"]
        code = run([*words, "--ledger", address, "--dataset", "animals"])
    except BaseException:  # noqa: BLE001  # the child must not go on with the tests
        code = 99
    os._exit(code)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with data."""
    (tmp_path / "events.csv").write_text("label\n" + "a\n" * 5 + "b\n" * 3)
    yield tmp_path
    with contextlib.suppress(OSError):
        shutil.rmtree(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS, ids=str)
def test_ledger_and_files_agree_whenever_a_release_is_killed(point: Point, address: str, folder: Path) -> None:
    with Ledger(address) as ledger:
        ledger.create("animals", "item", epsilon=100)
    for number in range(REPEATS):
        name = f"killed{number}.json"
        assert _release(folder, address, name, point) == -signal.SIGKILL
        with Ledger(address) as ledger:
            items = ledger.balance("animals").items
            spent = ledger.balance("animals").spent.epsilon
            assert spent == Fraction(len(items), 4)
            claims = [claim_of(path) for path in sorted(folder.glob("*.json"))]
            # Whole files of charged releases, or none at all; a part has a name that no release has.
            assert verify(ledger, claims).problems == ()
        assert len(items) == 2 * number + point.charged
        assert (folder / name).exists() == point.has_file
        if point.charged:
            is_complete = point.has_file or (point.function, point.when) in {("complete", "after"), ("_name", "before")}
            assert items[-1].state == ("released" if is_complete else "charged, file unknown")
        # The next release goes on as if nothing had happened, and is charged on top.
        assert _release(folder, address, f"next{number}.json", None) == 0
        with Ledger(address) as ledger:
            balance = ledger.balance("animals")
            assert len(balance.items) == 2 * number + point.charged + 1
            assert verify(ledger, [claim_of(folder / f"next{number}.json")]).problems == ()
        if not point.charged:
            # Keep count as if it had been charged.
            assert _release(folder, address, f"more{number}.json", None) == 0


@pytest.mark.slow
def test_a_budget_is_not_overspent_by_those_that_die(address: str, folder: Path) -> None:
    with Ledger(address) as ledger:
        ledger.create("animals", "item", epsilon="1.1")
    dying = Point("anonhist.formats.atomic", "", "_name", "before", charged=True, has_file=False)
    ends = [_release(folder, address, f"{number}.json", dying) for number in range(6)]
    assert ends == [-signal.SIGKILL] * 4 + [2, 2]
    with Ledger(address) as ledger:
        assert ledger.balance("animals").left.epsilon == Fraction(1, 10)
    assert not list(folder.glob("*.json"))


def test_the_points_are_those_of_a_release() -> None:
    assert len({str(point) for point in POINTS}) == len(POINTS) >= 10
    assert sys.platform != "win32"

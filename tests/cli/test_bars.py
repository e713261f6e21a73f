"""Long commands tell every bar about work as they do it: counted in reports, not by a clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.terminal.output import Bars
from anonhist_testing.progress import assert_moves

Cli = Callable[..., CompletedProcess[str]]

COMMANDS = {
    "release": ("release", "events.csv", "--epsilon", "0.1", "--simulations", "2", "-o", "out.json"),
    "sketch profile": ("sketch", "profile", "week.sketch", "--simulations", "2", "-o", "out.json"),
    "plan": ("plan", "--items", "300", "--epsilon", "0.5", "-o", "out.csv"),
    "estimate": ("estimate", "entropy", "made.json", "-o", "out.csv"),
    "compare": (
        "compare",
        "events.csv",
        "--epsilon",
        "0.1",
        "--mechanism",
        "frobenius",
        "--repeats",
        "2",
        "-o",
        "out.csv",
    ),
    "curve": ("curve", "rarefaction", "made.json", "-o", "out.csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_bars_move_inside_long_work(name: str, folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "labels.txt").write_text("zebra\nheron\nzebra\n")
    assert cli("sketch", "new", "-o", "week.sketch", "--buckets", "60", "--epsilon", "1", "--key", "k").returncode == 0
    assert cli("sketch", "update", "week.sketch", "labels.txt", "--format", "labels").returncode == 0
    assert cli("release", "events.csv", "--epsilon", "0.1", "--simulations", "2", "-o", "made.json").returncode == 0
    told: list[float] = []

    @contextmanager
    def bars(*_: object, **__: object) -> Iterator[Bars]:
        yield Bars(None, told.append)

    @contextmanager
    def bar(*_: object, **__: object) -> Iterator[Callable[[float], None]]:
        yield told.append

    monkeypatch.setattr("anonhist.terminal.output.progress_bars", bars)
    monkeypatch.setattr("anonhist.terminal.output.progress_bar", bar)
    assert cli(*COMMANDS[name]).returncode == 0
    assert len(told) > 30
    assert_moves(told, most=0.95)

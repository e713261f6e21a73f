"""Remarks on the data are private: a terminal shows them, and a log says the same whether there are any or not."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.cli.entry import run
from anonhist.terminal.reading import WHERE_REMARKS_ARE

Cli = Callable[..., CompletedProcess[str]]

_READ = {
    "release": ("--epsilon", "1", "--simulations", "2"),
    "compare": ("--epsilon", "1", "--repeats", "2", "--mechanism", "frobenius"),
    "estimate": (),
    "curve": ("--bootstraps", "3"),
}
_OF = {"estimate": ("support-size",), "curve": ("hill",)}


def _run_quoted(arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> str:
    assert run(list(arguments)) == 0
    return capfd.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("_lent")
@pytest.mark.parametrize("command", list(_READ))
def test_a_log_says_the_same_of_all_data(command: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = (*_OF.get(command, ()), "log.csv", "--label", "label", *_READ[command])
    said = set()
    for rows in ("a,1\nb,2\n" * 9, "a,1\n" * 9 + ",2\n" * 500):
        (folder / "log.csv").write_text(f"label,user\n{rows}")
        said.add(_run_quoted((command, *given), capfd))
    # What compare finds goes to standard error, too, and is no secret: all else is.
    assert len(said) == 1 or command == "compare"
    assert all(each.count(f"{WHERE_REMARKS_ARE}\n") == 1 for each in said)
    assert WHERE_REMARKS_ARE not in _run_quoted((command, *given, "--quiet"), capfd)


@pytest.mark.slow
@pytest.mark.usefixtures("_lent")
def test_sketches_and_degrees_say_it_too(folder: Path, cli: Cli, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "edges.txt").write_text("a b\nb c\nc c\n")
    cli("sketch", "new", "--buckets", "9", "--epsilon", "1", "-o", "a.sketch")
    for arguments in (
        ("sketch", "update", "a.sketch", "events.csv", "--label", "label"),
        ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "1", "--simulations", "2"),
    ):
        assert _run_quoted(arguments, capfd) == f"{WHERE_REMARKS_ARE}\n"


@pytest.mark.slow
@pytest.mark.usefixtures("_lent")
def test_of_a_release_there_is_nothing_to_remark(folder: Path, cli: Cli, capfd: pytest.CaptureFixture[str]) -> None:
    cli("release", "events.csv", "--epsilon", "20", "--simulations", "2", "-o", "out.json")
    assert (folder / "out.json").exists()
    for arguments in (("estimate", "entropy", "out.json"), ("curve", "hill", "out.json", "--bootstraps", "3")):
        assert WHERE_REMARKS_ARE not in _run_quoted(arguments, capfd)


@pytest.mark.slow
def test_a_terminal_shows_the_remarks_themselves(terminal: Cli, folder: Path) -> None:
    (folder / "log.csv").write_text("label\na\n\nb\n\n")
    done = terminal("release", "log.csv", "--epsilon", "1", "--simulations", "2", "-o", "out.json", width=200)
    assert "Shown only on your terminal: 2 items without a label were left out" in done.stdout
    assert "Remarks on the data" not in done.stdout

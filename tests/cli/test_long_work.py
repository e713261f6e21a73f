"""Work that takes long tells a log of it in one line: on what was released only, and never on standard output."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.cli.entry import run
from anonhist.terminal.output import line_if_long, progress_bars
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]


def test_a_line_is_written_once_after_two_seconds_of_work(capfd: pytest.CaptureFixture[str]) -> None:
    times, said = iter([100.0, 101.0, 101.9, 102.0, 150.0]), []
    receive = line_if_long("Estimating errors", clock=lambda: next(times))
    for share in (0.1, 0.2, 0.3, 0.4, 1.0):
        receive(share)
        out, err = capfd.readouterr()
        assert out == ""
        said.append(err)
    assert said == ["", "", "", "Estimating errors …\n", ""]


@each_of(("shown", "is_public"), [(True, True), (True, False), (False, True)])
def test_how_long_private_rows_take_is_not_told(*, shown: bool, is_public: bool) -> None:
    with progress_bars("Working", shown=shown, is_public=is_public) as bars:
        assert bars.reading is None
        assert (bars.working is not None) == (shown and is_public)


_OF_RELEASES = {
    "release": ("release", "events.csv", "--epsilon", "1", "--simulations", "2", "-o", "out.json"),
    "groups": (
        *("release", "log.csv", "--epsilon", "1", "--simulations", "2", "-o", "out.json"),
        *("--label", "label", "--by", "group", "--groups", "a,b"),
    ),
    "estimate": ("estimate", "entropy", "made.json", "-o", "out.csv"),
}
_OF_ROWS = {
    "estimate": ("estimate", "entropy", "events.csv", "-o", "out.csv"),
    "compare": ("compare", "events.csv", "--epsilon", "1", "--mechanism", "frobenius", "--repeats", "2"),
}


@pytest.mark.slow
@pytest.mark.usefixtures("_lent")
def test_commands_tell_of_long_work_on_what_was_released(
    folder: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "log.csv").write_text("label,group\nnewt,a\nheron,a\nnewt,b\n")
    made = cli("release", "events.csv", "--epsilon", "1", "--simulations", "2", "-o", "made.json")
    assert (made.returncode, (folder / "made.json").exists()) == (0, True)
    monkeypatch.setattr("anonhist.terminal.output._LONG", 0.0)

    def lines(words: tuple[str, ...], *more: str) -> int:
        assert run([*words, *more, "--force"]) == 0
        out, err = capfd.readouterr()
        assert "…\n" not in out
        return err.count("…\n")

    for name, words in _OF_RELEASES.items():
        assert (lines(words), lines(words, "--quiet")) == (1, 0), name
    for name, words in _OF_ROWS.items():
        assert lines(words) == 0, name

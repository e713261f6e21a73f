"""``anonhist reproduce``: the experiments of a paper, run again into a folder."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from anonhist_papers import command
from anonhist_papers.experiment import Axes, Cell, Experiment, Paper, Point, Size, Verdict

Cli = Callable[..., CompletedProcess[str]]


class Runs:
    """An experiment of two or four settings, of which one may break off."""

    def __init__(self) -> None:
        self.of: list[float] = []
        self.breaks_at: float | None = None

    def cells(self, size: Size) -> Sequence[Cell]:
        return [{"x": x} for x in ((1, 2) if size is Size.QUICK else (1, 2, 3, 4))]

    def run(self, cell: Cell, rng: np.random.Generator) -> Iterator[Point]:
        x = float(cell["x"])
        if x == self.breaks_at:
            raise KeyboardInterrupt
        self.of.append(x)
        yield Point.of(rng.normal(x, 0.1, 5).tolist(), series="<error>", x=x)
        yield Point("", "formula", x, x)

    @staticmethod
    def judge(points: Sequence[Point]) -> Verdict:
        return Verdict(True, f"There are {len(points)} points.")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs()
    axes = Axes("x", "error", log_x=False, log_y=False)
    text = ("figure-1", "Figure 1", "an error", "Five runs.", "“It is x.”")
    paper = Paper("A. Author. A Title. Somewhere 2020.", (Experiment(*text, axes, runs.cells, runs.run, runs.judge),))
    monkeypatch.setattr(command, "load_paper", lambda _: paper)
    return runs


def test_points_a_figure_and_a_page_are_written(cli: Cli, folder: Path, runs: Runs) -> None:
    done = cli("reproduce", "inspectre", "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Figure 1: confirmed. There are 8 points." in done.stdout
    assert sorted(path.name for path in (folder / "out").iterdir()) == [
        *("cells.jsonl", "figure-1.csv", "figure-1.png", "index.html"),
    ]
    rows = list(csv.DictReader((folder / "out" / "figure-1.csv").read_text().splitlines()))
    assert [row["series"] for row in rows] == ["<error>", "formula"] * 4
    assert {row["runs"] for row in rows} == {"0", "5"}
    page = (folder / "out" / "index.html").read_text()
    for told in ("A Title", "Confirmed", "There are 8 points.", "“It is x.”", "Five runs.", "&lt;error&gt;"):
        assert told in page
    assert "<script" not in page
    assert "://" not in page.replace("http://www.w3.org/", "")
    (points,) = [json.loads(line)["points"] for line in (folder / "out" / "cells.jsonl").read_text().splitlines()[1:2]]
    assert f"{points[0]['mean']:,.4g}" in page
    assert runs.of == [1, 2, 3, 4]


@pytest.mark.full
def test_a_run_that_was_broken_off_goes_on(cli: Cli, folder: Path, runs: Runs) -> None:
    runs.breaks_at = 3
    assert cli("reproduce", "inspectre").returncode == 130
    kept = folder / "inspectre" / "cells.jsonl"
    assert not (folder / "inspectre" / "index.html").exists()
    # As if the machine had stopped in the midst of a line.
    kept.write_text(kept.read_text()[:-20])
    runs.breaks_at = None
    assert cli("reproduce", "inspectre", "--quiet").stdout == ""
    assert runs.of == [1, 2, 2, 3, 4]
    assert len(kept.read_text().splitlines()) == 5
    # What is complete is not run again.
    assert cli("reproduce", "inspectre").returncode == 0
    assert runs.of == [1, 2, 2, 3, 4]


@pytest.mark.full
def test_a_folder_holds_one_size_of_run(cli: Cli, folder: Path, runs: Runs) -> None:
    assert cli("reproduce", "inspectre", "--quick").returncode == 0
    assert "in a small setting" in (folder / "inspectre" / "index.html").read_text()
    done = cli("reproduce", "inspectre")
    assert done.returncode == 3
    assert "is of another run or version" in done.stderr
    assert cli("reproduce", "inspectre", "--force").returncode == 0
    assert runs.of == [1, 2, 1, 2, 3, 4]


@pytest.mark.full
@pytest.mark.usefixtures("runs")
def test_a_folder_of_other_files_is_left_alone(cli: Cli, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "index.html").write_text("mine")
    done = cli("reproduce", "kairouz", "-o", "mine")
    assert done.returncode == 2
    assert "holds other files" in done.stderr
    assert (folder / "mine" / "index.html").read_text() == "mine"
    assert cli("reproduce", "kairouz", "-o", "mine", "--force").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(("privhist",), 2, "inspectre"), (("inspectre", "-o", "events.csv"), 3, "is a file")],
)
@pytest.mark.usefixtures("folder")
def test_bad_usage_gets_one_sentence(cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = cli("reproduce", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_their_package_users_are_told_where_it_is(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from anonhist.cli import reproduce
    from anonhist.cli.entry import anonhist

    monkeypatch.setattr(reproduce, "_PACKAGE", "no_such_package")
    monkeypatch.setattr(reproduce, "reproduce", reproduce.command())
    done = cli("reproduce", "suresh", "--quick", "-o", "out")
    assert done.returncode == 2
    assert "pip install ./papers" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "not installed" in (anonhist.commands["reproduce"].help or "")

"""``anonhist reproduce``: published experiments, run again, into a folder."""

import csv
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from anonhist.mechanisms.estimators import inspectre

Cli = Callable[..., CompletedProcess[str]]

_FILES = ["coverage.png", "entropy.png", "inspectre.csv", "texts.png"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the experiments small: what they say has tests of its own."""
    monkeypatch.setattr(inspectre, "COVERAGE_LABELS", 500)
    monkeypatch.setattr(inspectre, "COVERAGE_ITEMS", 250)
    monkeypatch.setattr(inspectre, "SHARES", (0.2, 0.7))


def test_csv_and_figures_are_written_and_a_table_is_shown(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "inspectre", "--trials", "3", "-o", "out")
    assert done.returncode == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == _FILES
    rows = list(csv.DictReader((folder / "out" / "inspectre.csv").read_text().splitlines()))
    assert {row["experiment"] for row in rows} == {"entropy", "coverage", "texts"}
    assert {row["trials"] for row in rows} == {"3"}
    assert all(float(row["rmse"]) >= 0 for row in rows)
    for name in ("entropy.png", "coverage.png", "texts.png"):
        assert (folder / "out" / name).read_bytes().startswith(b"\x89PNG")
    assert "without noise" in done.stdout
    assert done.stdout.count("uniform") == 4 + 5
    assert "Wrote out/texts.png." in done.stdout
    assert done.stderr == ""


def test_the_folder_is_named_as_the_experiment_and_nothing_need_be_said(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "inspectre", "--trials", "2", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(path.name for path in (folder / "inspectre").iterdir()) == _FILES


def test_nothing_is_replaced_unless_asked_for(cli: Cli, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "texts.png").write_text("mine")
    done = cli("reproduce", "inspectre", "--trials", "2", "-o", "out")
    assert done.returncode == 2
    assert "texts.png" in done.stderr
    assert (folder / "out" / "texts.png").read_text() == "mine"
    assert cli("reproduce", "inspectre", "--trials", "2", "-o", "out", "--force", "--quiet").returncode == 0
    assert (folder / "out" / "texts.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("inspectre", "--trials", "1"), 2, "--trials must be at least 2"),
        (("privhist",), 2, "inspectre"),
        (("inspectre", "-o", "events.csv"), 3, "is a file"),
    ],
)
def test_bad_usage_gets_one_sentence(cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = cli("reproduce", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1

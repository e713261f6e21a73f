"""``anonhist reproduce``: published experiments, run again, into a folder."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from matplotlib.figure import Figure

from anonhist.cli.reproduction.inspectre import Inspectre
from anonhist.cli.reproduction.kairouz import Kairouz
from anonhist.local import kairouz_settings
from anonhist.local.kairouz_settings import Grid
from anonhist.mechanisms.estimators import inspectre

Cli = Callable[..., CompletedProcess[str]]

_FILES = ["coverage.png", "entropy.png", "inspectre.csv", "texts.png"]
_SMALL = Grid(
    closed_epsilons=(2,),
    open_epsilons=(2, 6),
    symbol_settings=((64, 2),),
    bit_settings=((64, 2),),
    epsilons=(2,),
    users=300,
    buckets=(16,),
    cohorts=(1, 2),
    hashes=(1, 2),
    bits=(64, 2),
    coming=(300, 2000),
    closed_users=(300, 2000),
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the experiments small: what they say has tests of its own."""
    monkeypatch.setattr(inspectre, "COVERAGE_LABELS", 500)
    monkeypatch.setattr(inspectre, "COVERAGE_ITEMS", 250)
    monkeypatch.setattr(inspectre, "SHARES", (0.2, 0.7))
    monkeypatch.setattr(kairouz_settings, "QUICK", _SMALL)
    monkeypatch.setattr(kairouz_settings, "FULL", replace(_SMALL, epsilons=(3,)))
    monkeypatch.setattr(kairouz_settings, "FEW", 300)
    monkeypatch.setattr(kairouz_settings, "MANY", 2000)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures empty: other tests draw them, and drawing takes longest."""
    for experiment in (Inspectre, Kairouz):
        monkeypatch.setattr(experiment, "figure", lambda *_: Figure(figsize=(1, 1)))


@pytest.mark.slow
def test_csv_and_figures_are_written_and_a_table_is_shown(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "inspectre", "--repeats", "3", "-o", "out")
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


@pytest.mark.slow
def test_kairouz_writes_errors_and_figures_and_shows_both_kinds_of_alphabet(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "kairouz")
    assert (done.returncode, done.stderr) == (0, "")
    files = sorted(path.name for path in (folder / "kairouz").iterdir())
    assert files == ["closed.png", "kairouz.csv", "open.png", "parameters.png"]
    rows = list(csv.DictReader((folder / "kairouz" / "kairouz.csv").read_text().splitlines()))
    assert {row["figure"] for row in rows} == {"closed", "open", "buckets", "cohorts", "hashes"}
    assert {row["runs"] for row in rows} == {"2"}
    assert {row["epsilon"] for row in rows} == {"0", "2", "6"}
    lines = [line.split() for line in done.stdout.splitlines()]
    shown = next(line for line in lines if line[:1] == ["2"])
    closed = next(
        row
        for row in rows
        if (row["mechanism"], row["figure"], row["users"], row["decoder"]) == ("k-RR", "closed", "2000", "projected")
    )
    # ε, then a mean, ± and its standard error for each of six mechanisms.
    assert len(shown) == 1 + 6 * 3
    assert float(shown[1]) == pytest.approx(float(closed["l1_mean"]), abs=6e-4)
    assert float(shown[3]) == pytest.approx(float(closed["l1_standard_error"]), abs=6e-4)
    assert "Mean ℓ1 errors after 2,000 reports" in done.stdout
    assert "O-RR more than 2,000; O-RAPPOR more than 2,000." in " ".join(done.stdout.split())


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_all_settings_are_tried_if_asked_for(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "kairouz", "--full", "--repeats", "3", "-o", "out", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = list(csv.DictReader((folder / "out" / "kairouz.csv").read_text().splitlines()))
    assert {row["epsilon"] for row in rows if row["figure"] == "buckets"} == {"3"}
    assert {row["runs"] for row in rows} == {"3"}


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_the_folder_is_named_as_the_experiment_and_nothing_need_be_said(cli: Cli, folder: Path) -> None:
    done = cli("reproduce", "inspectre", "--repeats", "2", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert sorted(path.name for path in (folder / "inspectre").iterdir()) == _FILES


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
def test_nothing_is_replaced_unless_asked_for(cli: Cli, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "texts.png").write_text("mine")
    done = cli("reproduce", "inspectre", "--repeats", "2", "-o", "out")
    assert done.returncode == 2
    assert "texts.png" in done.stderr
    assert (folder / "out" / "texts.png").read_text() == "mine"
    assert cli("reproduce", "inspectre", "--repeats", "2", "-o", "out", "--force", "--quiet").returncode == 0
    assert (folder / "out" / "texts.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("inspectre", "--repeats", "1"), 2, "--repeats must be at least 2"),
        (("privhist",), 2, "inspectre"),
        (("inspectre", "-o", "events.csv"), 3, "is a file"),
        (("inspectre", "--full"), 2, "--full is for kairouz"),
        (("kairouz", "--repeats", "1"), 2, "--repeats must be at least 2"),
    ],
)
def test_bad_usage_gets_one_sentence(cli: Cli, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = cli("reproduce", *arguments)
    assert done.returncode == code
    assert said in done.stderr
    assert done.stderr.count("\n") == 1

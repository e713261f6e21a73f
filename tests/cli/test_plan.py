"""``anonhist plan`` in all its forms: it touches no data and says what a release would cost."""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah

Cli = Callable[..., CompletedProcess[str]]

_HEADER = ["epsilon", "mechanism", "items", "sorted_l1", "standard_error", "relative_error"]


def _rows(text: str) -> list[dict[str, str]]:
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == _HEADER
    return [dict(zip(_HEADER, row, strict=True)) for row in rows[1:]]


@pytest.mark.slow
def test_a_pipe_gets_csv(cli: Cli, folder: Path) -> None:
    done = cli("plan", "--items", "1e7", "--epsilon", "0.1,1,2")
    assert (done.returncode, done.stderr) == (0, "")
    rows = _rows(done.stdout)
    assert [row["epsilon"] for row in rows] == ["0.1", "1", "2"]
    assert [row["mechanism"] for row in rows] == ["frobenius", "frobenius", "partition"]
    errors = [float(row["sorted_l1"]) for row in rows]
    assert errors == sorted(errors, reverse=True)
    for row in rows:
        assert 0.99e7 < int(row["items"]) <= 10**7
        assert float(row["relative_error"]) == pytest.approx(float(row["sorted_l1"]) / int(row["items"]), rel=1e-4)
        assert 0 < float(row["standard_error"]) < float(row["sorted_l1"])
    assert [path.name for path in folder.iterdir()] == ["events.csv"]


@pytest.mark.slow
def test_a_dash_is_a_pipe(cli: Cli) -> None:
    done = cli("plan", "--items", "1000", "--epsilon", " 1 , 1/3", "-o", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["epsilon"] for row in _rows(done.stdout)] == ["1", "1/3"]


@pytest.mark.slow
def test_the_worst_shape_is_worse(cli: Cli) -> None:
    zipf, worst = (
        _rows(cli("plan", "--items", "100_000", "--epsilon", "1", "--shape", shape).stdout)[0]
        for shape in ("zipf", "worst")
    )
    assert float(worst["sorted_l1"]) > float(zipf["sorted_l1"])
    assert _rows(cli("plan", "--items", "1e5", "--epsilon", "1").stdout)[0]["items"] == zipf["items"]


@pytest.mark.slow
def test_a_released_file_gives_size_shape_and_unit(cli: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text("count,prevalence\n1,900\n2,300\n9,5\n")
    assert cli("release", "x.csv", "--epsilon", "1", "-o", "r.json").returncode == 0
    released = ah.read(folder / "r.json").profile
    done = cli("plan", "--like", "r.json", "--epsilon", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert int(_rows(done.stdout)[0]["items"]) == released.n
    scaled = _rows(cli("plan", "--like", "r.json", "--items", "1e6", "--epsilon", "1").stdout)[0]
    assert 0.9e6 < int(scaled["items"]) <= 1.1e6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "mechanism"),
    [
        (("--unit", "item"), "partition"),
        (("--unit", "user", "--max-per-user", "9"), "frobenius"),
        (("--max-per-user", "9"), "frobenius"),
        (("--unit", "label", "--max-count", "9"), "prevalence"),
        (("--relation", "substitute"), "frobenius"),
    ],
)
def test_the_promise_decides_the_mechanism(unit: tuple[str, ...], mechanism: str, cli: Cli) -> None:
    # At 2 per cell one mechanism is best, below 1.1 another; nine items of a user, or two steps, divide the budget.
    done = cli("plan", "--items", "1000", "--epsilon", "2", *unit)
    assert (done.returncode, done.stderr) == (0, "")
    assert [row["mechanism"] for row in _rows(done.stdout)] == [mechanism]


@pytest.mark.slow
def test_a_plan_like_a_release_protects_whom_it_protected(cli: Cli, folder: Path) -> None:
    # Enough labels that the noise does not take them all away.
    (folder / "x.csv").write_text("count,prevalence\n1,900\n2,300\n9,5\n")
    made = ("release", "x.csv", "--unit", "label", "--max-count", "9", "--epsilon", "1", "-o", "r.json")
    assert cli(*made).returncode == 0
    assert "one label with all its items" in str(ah.read(folder / "r.json").guarantee)
    like = ("plan", "--like", "r.json", "--items", "1000", "--epsilon", "1")
    assert _rows(cli(*like).stdout)[0]["mechanism"] == "prevalence"
    assert _rows(cli(*like, "--unit", "item").stdout)[0]["mechanism"] == "frobenius"


def test_a_plan_is_written_whole_and_not_twice(cli: Cli, folder: Path) -> None:
    arguments = ("plan", "--items", "1000", "--epsilon", "1", "-o", "plan.csv")
    done = cli(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Wrote plan.csv.\n", "")
    assert len(_rows((folder / "plan.csv").read_text())) == 1
    assert cli(*arguments).returncode == 2
    assert cli(*arguments, "--force").returncode == 0


def test_a_plan_like_a_missing_file_is_bad_data(cli: Cli) -> None:
    done = cli("plan", "--like", "nowhere.json", "--epsilon", "1")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("anonhist: There is no file 'nowhere.json'")


@pytest.mark.slow
def test_a_person_gets_a_table(terminal: Cli) -> None:
    done = terminal("plan", "--items", "1e6", "--epsilon", "0.5,2")
    assert done.returncode == 0
    lines = [line.split() for line in done.stdout.replace("\r", "\n").splitlines() if "━" not in line]
    rows = [line for line in lines if line[:2] in (["frobenius", "0.5"], ["partition", "2"])]
    assert [row[1] for row in rows] == ["0.5", "2"]
    assert all(row[-1] == "%" and "±" in row for row in rows)
    assert "e+0" not in done.stdout

"""``anonhist plan`` in all its forms: it touches no data and says what a release would cost."""

import csv
import io
import json
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
    done = cli("plan", "--items", "1e7", "--epsilon", "0.1,1,2", "-o", "-")
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


def test_a_pipe_gets_the_table_that_people_read(cli: Cli) -> None:
    done = cli("plan", "--items", "1000", "--epsilon", "1,1/3")
    head, one, third, told = done.stdout.splitlines()
    assert head.split("  ")[0] == "mechanism"
    assert (one.split()[1:3], third.split()[1:3]) == (["1", "997"], ["1/3", "997"])
    assert one.endswith("%")
    assert told == "Error: expected sorted ℓ1 distance, ± its standard error over the simulations."


@pytest.mark.slow
def test_the_worst_shape_is_worse(cli: Cli) -> None:
    zipf, worst = (
        _rows(cli("plan", "--items", "100_000", "--epsilon", "1", "--shape", shape, "-o", "-").stdout)[0]
        for shape in ("zipf", "worst")
    )
    assert float(worst["sorted_l1"]) > float(zipf["sorted_l1"])
    assert _rows(cli("plan", "--items", "1e5", "--epsilon", "1", "-o", "-").stdout)[0]["items"] == zipf["items"]


@pytest.mark.slow
def test_a_released_file_gives_size_shape_and_unit(cli: Cli, folder: Path) -> None:
    (folder / "x.csv").write_text("count,prevalence\n1,900\n2,300\n9,5\n")
    assert cli("release", "x.csv", "--epsilon", "1", "-o", "r.json").returncode == 0
    released = ah.read(folder / "r.json").profile
    done = cli("plan", "--like", "r.json", "--epsilon", "1", "-o", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert int(_rows(done.stdout)[0]["items"]) == released.n
    scaled = _rows(cli("plan", "--like", "r.json", "--items", "1e6", "--epsilon", "1", "-o", "-").stdout)[0]
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
    done = cli("plan", "--items", "1000", "--epsilon", "2", *unit, "-o", "-")
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
    assert _rows(cli(*like, "-o", "-").stdout)[0]["mechanism"] == "prevalence"
    assert _rows(cli(*like, "--unit", "item", "-o", "-").stdout)[0]["mechanism"] == "frobenius"


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
    assert all(row[-1].endswith("%") and "±" in row for row in rows)
    assert "e+0" not in done.stdout


SIZES = "campaign,day,items,labels\nspring,2026-11-22,50000,9000\nfall,2026-11-22,300,\n"


@pytest.mark.slow
def test_groups_are_planned_from_a_file_of_sizes(cli: Cli, folder: Path) -> None:
    (folder / "sizes.csv").write_text(SIZES)
    done = cli("plan", "--by-sizes", "sizes.csv", "--epsilon", "1", "-o", "-")
    assert (done.returncode, done.stderr) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["campaign"], row["day"], row["items"]) for row in rows] == [
        ("spring", "2026-11-22", "50000"),
        ("fall", "2026-11-22", "300"),
    ]
    assert [row["mostly_noise"] for row in rows] == ["false", "false"]
    options = ("--unit", "label", "--max-count", "20", "--max-groups-per-label", "7")
    done = cli("plan", "--by-sizes", "sizes.csv", "--epsilon", "1", *options, "--json")
    plan = json.loads(done.stdout)
    assert (plan["by"], plan["epsilon"], plan["mechanism"]) == (["campaign", "day"], "1", "prevalence")
    assert "in at most 7 groups" in plan["unit"]
    spring, fall = plan["groups"]
    assert spring["group"] == {"campaign": "spring", "day": "2026-11-22"}
    assert spring["relative_error"] == spring["expected_error"] / 50_000
    assert (spring["mostly_noise"], fall["mostly_noise"]) == (False, True)
    # Users with so many items in each of some groups have so much more noise.
    errors = []
    for bounds in (["--max-per-user", "5"], ["--max-per-user", "5", "--max-groups-per-user", "4"]):
        done = cli("plan", "--by-sizes", "sizes.csv", "--epsilon", "1", *bounds, "-o", "-")
        errors.append(float(next(csv.DictReader(io.StringIO(done.stdout)))["sorted_l1"]))
    assert errors[1] > 1.5 * errors[0]


@pytest.mark.parametrize(
    ("sizes", "options", "code", "says"),
    [
        (SIZES, ["--items", "5"], 2, "leave --items and --like out"),
        (SIZES, ["--epsilon", "1,2"], 2, "give one epsilon"),
        (SIZES, ["--json", "-o", "plan.csv"], 2, "use one of the two"),
        (SIZES, ["--unit", "label", "--max-count", "3"], 2, "--max-groups-per-label"),
        (SIZES, ["--max-groups-per-user", "3"], 2, "--max-per-user"),
        (SIZES, ["--shape", "worst"], 2, "--shape"),
        (None, [], 3, "no file"),
        ("campaign,labels\nspring,3\n", [], 2, "a column items"),
        ("items\n3\n", [], 2, "grouping columns"),
        ("campaign,items\n", [], 2, "no group"),
        ("campaign,items\nspring,3\nspring,4\n", [], 2, "twice"),
        ("campaign,items\nspring,many\n", [], 3, "whole numbers"),
        ("campaign,items\nspring,\n", [], 3, "whole numbers"),
        ("campaign,items\nspring,-2\n", [], 3, "whole numbers"),
        ("campaign,items,labels\nspring,3,4\n", [], 2, "at most"),
    ],
)
def test_sizes_that_cannot_be_planned_are_refused(
    cli: Cli, folder: Path, sizes: str | None, options: list[str], code: int, says: str
) -> None:
    if sizes is not None:
        (folder / "sizes.csv").write_text(sizes)
    done = cli("plan", "--by-sizes", "sizes.csv", "--epsilon", "1", *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "plan.csv").exists()


@pytest.mark.parametrize("option", [["--json"], ["--max-groups-per-user", "3"], ["--max-groups-per-label", "3"]])
def test_options_of_groups_need_sizes(cli: Cli, option: list[str]) -> None:
    done = cli("plan", "--items", "100", "--epsilon", "1", *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option[0]} requires --by-sizes" in done.stderr

"""``anonhist diff``: text for people, tables and JSON for programs, a page, and what it refuses."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah
from anonhist.profiles.grouped import GroupedProfile
from anonhist_testing.cases import each_of

Cli = Callable[..., CompletedProcess[str]]
FEW, MANY = ah.Profile.from_counts([9, 3, *[1] * 40]), ah.Profile.from_counts([90, *[3] * 300, *[1] * 900])


@pytest.fixture
def pair(folder: Path) -> Path:
    for name, data, epsilon in (("june", FEW, 2), ("july", MANY, 3)):
        ah.release(data, epsilon=epsilon, simulations=4).save(folder / f"{name}.json")
    return folder


@pytest.mark.usefixtures("pair")
def test_a_pipe_gets_text_for_people(cli: Cli) -> None:
    done = cli("diff", "june.json", "july.json", "--thresholds", "1,3")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.split("\n")
    assert lines[0].startswith("The two data sets differ beyond noise in ")
    assert lines[2].split()[:3] == ["number", "june.json", "july.json"]
    assert any(line.startswith("labels with 3 items or more ") and line.endswith(" *") for line in lines)
    assert "Privacy of both: For anybody in both, the budgets add up: ε = 2 + 3 = 5." in done.stdout
    assert cli("diff", "june.json", "july.json", "--quiet").stdout == ""


def test_programs_get_csv_and_json(cli: Cli, pair: Path) -> None:
    done = cli("diff", "june.json", "july.json", "-o", "-")
    rows = {(row["number"], row["at"]): row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows["k-plus", "3"]["differs"] == "true"
    assert int(rows["labels", ""]["difference"]) == int(rows["labels", ""]["second"]) - int(rows["labels", ""]["first"])
    assert cli("diff", "june.json", "july.json", "-o", "d.json", "--report", "d.html").returncode == 0
    told = json.loads((pair / "d.json").read_text())
    assert told["guarantee_of_both"]["epsilon"] == "5"
    assert [each["name"] for each in told["releases"]] == ["june.json", "july.json"]
    assert told["comparisons"] == len(told["numbers"]) == len(rows)
    assert told["about"] == "data"
    page = (pair / "d.html").read_text()
    assert "july.json minus june.json" in page
    assert "the budgets add up: ε = 2 + 3 = 5" in page


def test_sources_are_compared_only_when_asked(cli: Cli, pair: Path) -> None:
    done = cli("diff", "june.json", "july.json", "--independent-samples", "-o", "d.json")
    assert done.stdout.startswith("The sources of the two samples ")
    assert "nor for a panel" in done.stdout
    told = json.loads((pair / "d.json").read_text())
    assert told["about"] == "distribution"
    assert {"low": None, "high": None} in [each["together"] for each in told["numbers"]]


def test_one_group_of_each_is_compared(cli: Cli, folder: Path) -> None:
    for name, data in (("june", FEW), ("july", MANY)):
        profiles = {(country,): data for country in ("DE", "FR")}
        grouped = GroupedProfile(("country",), profiles, unit=ah.PrivacyUnit.item())
        ah.release_groups(grouped, epsilon=9, simulations=2).save(folder / f"{name}.json")
    assert cli("diff", "june.json", "july.json", "--group", "DE").returncode == 0
    assert "--group" in cli("diff", "june.json", "july.json").stderr


@each_of(
    ("given", "told"),
    [
        (("june.json", "june.json"), "Both releases have the same content"),
        (("june.json", "users.json"), "different kinds"),
        (("june.json", "events.csv"), "events.csv"),
        (("june.json", "july.json", "--thresholds", "0"), "--thresholds must be whole numbers"),
        (("june.json", "july.json", "--thresholds", "1,x"), "--thresholds must be whole numbers"),
        (("june.json", "july.json", "--thresholds", "2", "--independent-samples"), "leave them out"),
        (("june.json", "july.json", "-o", "d.txt"), "A difference is written as .csv, .json"),
        (("june.json", "july.json", "-o", "june.json", "--force"), "'june.json' is the input"),
        (("june.json", "july.json", "--group", "DE"), "leave --group out"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: tuple[str, ...], told: str, cli: Cli, folder: Path) -> None:
    for name, data in (("june", FEW), ("july", MANY)):
        ah.release(data, epsilon=2, simulations=2).save(folder / f"{name}.json", overwrite=True)
    unit = ah.PrivacyUnit.user(max_items=3)
    ah.release(FEW.with_unit(unit), epsilon=2, simulations=2).save(folder / "users.json", overwrite=True)
    refused = cli("diff", *given)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert told in refused.stderr
    assert len(refused.stderr.strip().split("\n")) == 1

"""A mechanism, a randomizer and a property that only their entries tell of are taken everywhere."""

import csv
import io
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LABELS = [f"l{number % 7}" for number in range(28)] + ["l0"] * 22


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with 50 items of 7 labels, as events and as people's values."""
    made = tmp_path_factory.mktemp("additions")
    (made / "events.csv").write_text("label\n" + "".join(f"{label}\n" for label in LABELS))
    (made / "labels.txt").write_text("".join(f"{label}\n" for label in sorted(set(LABELS))))
    (made / "edges.txt").write_text("".join(f"{node} {(node * node + 1) % 24}\n" for node in range(24)))
    return made


COMMANDS = {
    "release": "release events.csv --epsilon 20 --mechanism sorted-counts --public-labels 9 --simulations 2 -o a.json",
    "again": "show a.json",
    "missing": "release events.csv --epsilon 20 --mechanism sorted-counts",
    "degrees": "degrees edges.txt --unit edge --epsilon 9 --mechanism sorted-counts --public-nodes 30 --simulations 0 "
    "-o b.json",
    "plan": "plan --like a.json --epsilon 1 -o -",
    "compare": "compare events.csv --epsilon 20 --repeats 2 -o -",
    "help": "release --help-all",
    "new": "local new --mechanism sparse-unary --alphabet labels.txt --epsilon 4 --weight 3 -o survey.json",
    "foreign": "local new --mechanism k-rr --alphabet labels.txt --epsilon 4 --weight 3",
    "randomize": "local randomize survey.json events.csv -o reports.parquet",
    "tally": "local tally survey.json reports.parquet -o tally.json",
    "estimate": "local estimate survey.json tally.json -o -",
    "recommend": "local recommend --alphabet-size 7 --epsilon 4 --users 50 -o -",
    "property": "estimate berger-parker events.csv -o -",
    "of a release": "estimate berger-parker a.json -o -",
    "private": "estimate berger-parker events.csv --epsilon 1 -o -",
    "all": "estimate all events.csv -o -",
    "properties": "estimate --help-all",
}


@cache
def _run_all(folder: Path) -> dict[str, tuple[int, str, str]]:
    # All in one process of their own: it takes long to load, and the catalogue is not to be changed here.
    command = [sys.executable, str(HERE / "run.py"), *COMMANDS.values()]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {name: tuple(printed) for name, printed in zip(COMMANDS, json.loads(done.stdout), strict=True)}


def output_of(name: str, folder: Path) -> str:
    """Return what a command printed that worked."""
    code, text, errors = _run_all(folder)[name]
    assert code == 0, (name, errors)
    return text


def table(name: str, folder: Path) -> list[dict[str, str]]:
    """Return the rows that a command printed."""
    return list(csv.DictReader(io.StringIO(output_of(name, folder))))


@pytest.mark.slow
def test_a_mechanism_is_released_by_planned_with_and_compared(folder: Path) -> None:
    assert output_of("again", folder) == output_of("release", folder).partition("Not recorded")[0]
    made_by = json.loads((folder / "a.json").read_text())["mechanism"]
    assert (made_by["name"], made_by["parameters"]["public_labels"]) == ("sorted-counts", 9)
    code, _, errors = _run_all(folder)["missing"]
    assert (code, "needs --public-labels" in errors) == (2, True)
    assert "Wrote b.json." in output_of("degrees", folder)
    assert json.loads((folder / "b.json").read_text())["mechanism"]["name"] == "edge-sorted-counts"
    assert [row["items"] for row in table("plan", folder)] != []
    rows = [row for row in table("compare", folder) if row["mechanism"] == "sorted-counts"]
    assert {row["epsilon"] for row in rows} == {"20"}
    assert {row["metric"] for row in rows} >= {"sorted_l1", "seconds"}
    text = " ".join(output_of("help", folder).split())
    assert "relaxed-partition, sorted-counts, or auto" in text
    assert "For isotonic and sorted-counts: public" in text


@pytest.mark.slow
def test_a_randomizer_is_asked_with_tallied_estimated_from_and_recommended(folder: Path) -> None:
    assert "Wrote survey.json." in output_of("new", folder)
    survey = json.loads((folder / "survey.json").read_text())
    assert (survey["mechanism"], survey["parameters"]["weight"]) == ("sparse-unary", 3)
    code, _, errors = _run_all(folder)["foreign"]
    assert (code, "k-rr does not take --weight" in errors) == (2, True)
    assert output_of("randomize", folder).startswith("Reports: 50, 1 byte each.")
    assert output_of("tally", folder).startswith("Counted the reports of 50 people.")
    assert [row["label"] for row in table("estimate", folder)] == sorted(set(LABELS))
    assert "sparse-unary" in {row["mechanism"] for row in table("recommend", folder)}


@pytest.mark.slow
def test_a_property_is_estimated_alone_with_all_others_and_from_a_release(folder: Path) -> None:
    (row,) = table("property", folder)
    assert (row["property"], row["value"]) == ("berger-parker", "0.52")
    (released,) = table("of a release", folder)
    assert released["guarantee"]
    assert row in table("all", folder)
    code, _, errors = _run_all(folder)["private"]
    assert (code, "There is no private estimator of berger-parker" in errors) == (2, True)
    assert "berger-parker           the share of the most frequent label" in output_of("properties", folder)

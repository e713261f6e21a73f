"""``--simulations 0``: nothing is run, everything is written, and no output has an interval that nobody knows."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import anonhist as ah

Cli = Callable[..., CompletedProcess[str]]


COMMANDS = {
    "release": ("release", "events.csv", "--epsilon", "1", "--mechanism", "prevalence", "--public-cap", "9"),
    "edges": ("degrees", "edges.txt", "--unit", "edge", "--epsilon", "1"),
    "nodes": ("degrees", "edges.txt", "--unit", "node", "--epsilon", "1", "--max-degree", "3"),
    "sketch": ("sketch", "profile", "week.sketch"),
}


@pytest.fixture
def inputs(folder: Path, cli: Cli) -> Path:
    (folder / "edges.txt").write_text("".join(f"{node} {(3 * node + 1) % 40}\n" for node in range(40)))
    made = cli("sketch", "new", "-o", "week.sketch", "--buckets", "60", "--epsilon", "1", "--key", "a key")
    assert made.returncode == 0
    (folder / "labels.txt").write_text("zebra\nheron\nzebra\n")
    assert cli("sketch", "update", "week.sketch", "labels.txt", "--format", "labels").returncode == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_everything_is_written_without_a_simulation(
    name: str, inputs: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("simulated")

    monkeypatch.setattr("anonhist.releases.runs.runs_of", refuse)
    done = cli(*COMMANDS[name], "--simulations", "0", "-o", "out.json", "--report", "out.html")
    assert done.returncode == 0
    assert "Error: not simulated (0 simulations)" in done.stdout
    page = (inputs / "out.html").read_text()
    for told in ("not simulated", "no interval", "No errors were simulated"):
        assert told in page
    assert "simulations=" not in page  # Python's word for it
    for made_up in (">nan", "infinity", " inf", "± nan"):
        assert made_up not in page
    error = json.loads((inputs / "out.json").read_text())["error"]
    assert (error["simulations"], error["sorted_l1"], error["levels"]) == (0, None, [])
    read = ah.read("out.json")
    assert (read.simulations, read.error.sorted_l1) == (0, None)
    table = cli(*COMMANDS[name], "--simulations", "0", "-o", "-").stdout
    assert "nan" not in table
    assert "inf" not in table
    shown = cli("show", "out.json")
    assert shown.returncode == 0
    assert "not simulated" in shown.stdout

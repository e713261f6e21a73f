"""``plan --users``: what it prints and writes, and what it refuses."""

import json
from pathlib import Path
from typing import Any

from anonhist.mechanisms import plan_bounds
from anonhist_testing.cases import each_of

SIZES = {1: 300, 4: 50, 20: 10}


def test_the_command_says_which_options_are_best(cli: Any, folder: Path) -> None:
    (folder / "sizes.csv").write_text("items,users\n1,300\n4,50\n20,10\n", encoding="utf-8")
    done = cli("plan", "--users", "sizes.csv", "--epsilon", "2", "--items", "700")
    assert done.returncode == 0, done.stderr
    rows = plan_bounds(SIZES, epsilons=[2])
    given, chosen = (row for row in rows if row.is_best)
    assert f"Best at ε = 2: --max-per-user {given.bound}." in done.stdout
    assert f"--bound-share {float(chosen.bound_share):g} --expected-items 700" in done.stdout
    written = cli("plan", "--users", "sizes.csv", "--epsilon", "2", "-o", "plan.csv")
    assert written.returncode == 0, written.stderr
    lines = (folder / "plan.csv").read_text(encoding="utf-8").splitlines()
    assert (len(lines), lines[0].split(",")[:4]) == (len(rows) + 1, ["epsilon", "bound_share", "bound", "probability"])
    assert json.loads(lines[1].split(",")[5]) == rows[0].left_out


@each_of(
    ("options", "told"),
    [
        (("--users", "sizes.csv", "--like", "a.json"), "--like does not apply"),
        (("--users", "sizes.csv", "--max-per-user", "3"), "--max-per-user does not apply"),
        (("--users", "sizes.csv", "--by-sizes", "b.csv"), "--by-sizes does not apply"),
        (("--users", "no.csv"), "no.csv"),
        (("--items", "9", "--mechanism", "auto"), "--mechanism requires --users"),
    ],
)
def test_contradictory_options_are_refused(cli: Any, folder: Path, options: tuple[str, ...], told: str) -> None:
    del folder
    done = cli("plan", "--epsilon", "1", *options)
    assert done.returncode != 0
    assert told in done.stderr

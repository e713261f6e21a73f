"""Speed of the JavaScript client under Node: ``python bench/client_speed.py``.

Reports of simulated people, of 1,000 labels where a survey has labels, ε = 1. Times are those of the process on all
cores, without its start; medians of rounds in which all surveys took turns. The first report includes reading the
description: hashing it, and thresholds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

from anonhist import local
from anonhist.local.collection_files import collection_text

LABELS = [f"label {number}" for number in range(1000)]
SURVEYS: list[local.Survey] = [
    local.KRR(alphabet=LABELS, epsilon=1),
    local.SubsetSelection(alphabet=LABELS, epsilon=1),
    local.OptimizedUnary(alphabet=LABELS, epsilon=1),
    local.LocalHashing(epsilon=1),
    local.HeavyHitters(epsilon=1, max_bytes=16),
    local.HadamardResponse(alphabet=LABELS, epsilon=1),
    local.ProjectiveGeometry(alphabet=LABELS, epsilon=1),
    local.RAPPOR(buckets=64, cohorts=16, hashes=2, f="1/2", p="1/2", q="3/4"),
]
AIM = 1e5
# One line of JSON a round: for each survey, seconds of the first report and reports per second afterwards.
SCRIPT = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const [folder, surveys, rounds, reports] = process.argv.slice(2).map((each, i) => (i ? Number(each) : each));
const { Collection } = await import(pathToFileURL(`${folder}/client.js`));
const spent = (act) => {
  const before = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
};
for (let round = 0; round < rounds; round++) {
  const row = [];
  for (let place = 0; place < surveys; place++) {
    const text = readFileSync(`${folder}/${place}.json`, "utf8");
    let collection;
    const first = spent(() => (collection = new Collection(text, { unpinned: true })).simulate("label 7"));
    const took = spent(() => { for (let i = 0; i < reports; i++) collection.simulate(`label ${i % 1000}`); });
    row.push([first, reports / took]);
  }
  console.log(JSON.stringify(row));
}
"""


def rates(rounds: int, reports: int) -> list[list[list[float]]]:
    """Return for each round, survey by survey, the seconds of the first report and the reports per second."""
    node = shutil.which("node")
    if node is None:
        message = "Node is not installed: the client is not measured."
        raise SystemExit(message)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        (folder / "client.js").write_bytes(files("anonhist.local").joinpath("client", "client.js").read_bytes())
        for place, survey in enumerate(SURVEYS):
            is_open = isinstance(survey, local.LocalHashing | local.RAPPOR)
            made = local.Collection(
                survey=survey, answers="once", last_day="2026-12-31", candidates=LABELS if is_open else None
            )
            (folder / f"{place}.json").write_text(collection_text(made), encoding="utf-8")
        (folder / "run.js").write_text(SCRIPT, encoding="utf-8")
        command = [node, "run.js", str(folder), *map(str, (len(SURVEYS), rounds, reports))]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    arguments = parser.parse_args()
    measured = rates(*((1, 100) if arguments.quick else (arguments.rounds, 20_000)))
    print("| mechanism | first report, ms | reports per CPU second | lowest and highest round | aim | met |")
    print("|---|---|---|---|---|---|")
    for survey, found in zip(SURVEYS, zip(*measured, strict=True), strict=True):
        # What the first round compiles is part of it.
        first = 1e3 * found[0][0]
        speeds = [speed for _, speed in found]
        middle = statistics.median(speeds)
        aim = f"at least {AIM:,.0f} | {'yes' if middle >= AIM else 'no'}" if survey is SURVEYS[0] else " | "
        print(f"| {survey.name} | {first:.2g} | {middle:,.0f} | {min(speeds):,.0f} to {max(speeds):,.0f} | {aim} |")


if __name__ == "__main__":
    main()

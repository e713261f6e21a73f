"""Install the built archives in empty environments, and run them there: ``make dist`` does this after the build.

python tools/check_dist.py [FOLDER]

The wheel is installed with the newest dependencies in the package index, and the source archive with the oldest that
``pyproject.toml`` allows. In each environment the commands below run, from reading data to a page, in an empty folder.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DATA = ROOT / "data"
QUADRATS = f"{DATA}/trees_by_quadrat.csv.gz --format prevalences --by column,quadrat"

COMMANDS = (
    "anonhist --version",
    f"anonhist release {DATA}/bci_trees.csv --epsilon 1 --report trees.html -o trees.json",
    "anonhist show trees.json",
    "anonhist estimate all trees.json",
    f"anonhist release {QUADRATS} --groups quadrats.csv --epsilon 1 -o quadrats.parquet --report quadrats.html",
    f"anonhist degrees {DATA}/graph_ca_grqc.txt.gz --unit edge --epsilon 1 -o degrees.json --report degrees.html",
    "anonhist local new --mechanism k-rr --alphabet alphabet.txt --epsilon 1 -o survey.json",
    "anonhist local randomize survey.json answers.txt --format labels -o reports.parquet",
    "anonhist local tally survey.json reports.parquet -o tally.json",
    "anonhist local estimate survey.json tally.json --report answers.html",
    "anonhist sketch new --buckets 1000 --epsilon 1 -o day.sketch",
    "anonhist sketch update day.sketch answers.txt --format labels",
    "anonhist sketch profile day.sketch -o day.json",
    "anonhist budget create trees --epsilon 2 --unit item --ledger budget.db",
    f"anonhist release {DATA}/bci_trees.csv --epsilon 1 --ledger budget.db --dataset trees -o charged.json",
    "anonhist budget show trees --ledger budget.db",
)
PROGRAM = """
import importlib.util
import anonhist as ah
release = ah.read("trees.json")
assert ah.entropy(release).value > 0
ah.plot(release).savefig("trees.png")
absent = ("anonhist_testing", "anonhist_papers", "pytest")
assert not any(map(importlib.util.find_spec, absent)), absent
"""


def oldest() -> list[str]:
    """Return the oldest dependencies that the project allows, as pip writes constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [each.replace(">=", "==") for each in project["dependencies"]]


def run_in_empty_environment(archive: Path, constraints: list[str]) -> None:
    """Install an archive in an environment of its own and run every command there."""
    with TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "alphabet.txt").write_text("bicycle\nbus\ntrain\n")
        (work / "answers.txt").write_text("bus\nbicycle\n" * 300)
        (work / "quadrats.csv").write_text("column,quadrat\n1,1\n1,2\n")
        (work / "constraints.txt").write_text("\n".join(constraints))
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
        pip = [f"{folder}/venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--constraint", work / "constraints.txt", archive], check=True, cwd=work)
        for command in COMMANDS:
            print(f"  $ {command}", flush=True)
            _run([f"{folder}/venv/bin/anonhist", *command.split()[1:]], work)
        _run([f"{folder}/venv/bin/python", "-c", PROGRAM], work)


def _run(command: list[str], work: Path) -> None:
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nThis command failed with {done.returncode}.")


def main() -> None:
    """Run both archives of a folder."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist")
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    for archive, constraints in ((wheel, []), (source, oldest())):
        print(f"{archive.name} with {', '.join(constraints) or 'the newest dependencies'}", flush=True)
        run_in_empty_environment(archive.resolve(), constraints)


if __name__ == "__main__":
    main()

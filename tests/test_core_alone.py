"""The core works without graphs, local privacy, sketches and species tables: it imports none of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from anonhist.cli.entry import anonhist

ROOT = Path(__file__).parents[1]
FEATURES = ("collect", "graphs", "local", "sketches", "species")
_EACH = """
import importlib, pkgutil, anonhist
for module in pkgutil.walk_packages(anonhist.__path__, "anonhist."):
    if module.name != "anonhist.__main__":
        importlib.import_module(module.name)
print(anonhist.__path__[0])
"""
# Modules of tests that name no feature, and none that reads this tree.
_ROOMS = ("mechanisms", "numeric", "privacy", "profiles", "properties", "randomness", "releases")
_OTHERS = re.compile(rf"\b(?:{'|'.join(FEATURES)})\b|anonhist_testing\.(?!cases|sources|statistics|exact)|\bROOT\b")


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package without its features."""
    folder = tmp_path_factory.mktemp("core")
    leave_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=leave_out)
    for feature in FEATURES:
        shutil.rmtree(folder / "src" / "anonhist" / feature)
    return folder


def run(core: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (core / "src", ROOT / "tests" / "kit", ROOT / "papers" / "src")))
    environment = {**os.environ, "PYTHONPATH": paths}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.full
def test_every_module_is_imported(core: Path, tmp_path: Path) -> None:
    done = run(core, "-c", _EACH, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path(done.stdout.strip()).is_relative_to(core)


@pytest.mark.slow
def test_commands_of_features_are_not_there_and_all_others_work(core: Path, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("label,user\n" + "a,1\nb,2\na,3\n" * 40, encoding="utf-8")
    label = ("--label", "label")
    for words in (
        ("release", "events.csv", *label, "--epsilon", "1", "-o", "r.json", "--report", "r.html"),
        ("release", "events.csv", *label, "--by", "user", "--groups", "1,2", "--epsilon", "1", "-o", "g.parquet"),
        ("show", "r.json"),
        ("show", "g.parquet"),
        ("estimate", "entropy", "r.json"),
        ("count", "events.csv", *label, "-o", "day.counts"),
        ("compare", "events.csv", *label, "--epsilon", "1"),
        ("--help",),
    ):
        done = run(core, "-m", "anonhist", *words, folder=tmp_path)
        assert done.returncode == 0, (words, done.stderr)
    listed = {line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines() if line.strip()}
    assert listed == set(anonhist.commands) - {"collect", "degrees", "incidence", "local", "serve", "sketch", "species"}
    done = run(core, "-m", "anonhist", "sketch", "new", folder=tmp_path)
    assert (done.returncode, "There is no command 'sketch'" in done.stderr) == (2, True)


@pytest.mark.slow
def test_tests_of_the_core_pass(core: Path, tmp_path: Path) -> None:
    files = [path for room in _ROOMS for path in (ROOT / "tests" / room).rglob("test_*.py")]
    own = [str(path) for path in sorted(files) if not _OTHERS.search(path.read_text(encoding="utf-8"))]
    assert len(own) > 30
    done = run(
        core, "-m", "pytest", "-q", "--quick", "-p", "no:cacheprovider", f"--rootdir={ROOT}", *own, folder=tmp_path
    )
    assert done.returncode == 0, done.stdout[-4000:]

"""What is published: nothing is missing from the wheel, the test kit is not in it, and it runs from there."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import anonhist

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "anonhist"
# Imports fail for what the wheel does not ask for, as they do where nothing else is installed.
RUN = """
import sys
paths, allowed = {paths!r}, {allowed!r} | sys.stdlib_module_names

class NothingElse:
    def find_spec(self, name, path=None, target=None):
        # Python's own settings have the system in their name.
        if name.partition(".")[0] not in allowed and not name.startswith("_sysconfigdata"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NothingElse())
sys.path[:] = paths + [path for path in sys.path if path]
import anonhist
assert anonhist.__file__.startswith(paths[0]), anonhist.__file__
from anonhist.cli.entry import run
codes = [run(words) for words in {given!r}]
assert not any(codes), codes
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    return Path(next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])))


@pytest.fixture(scope="module")
def texts(wheel: Path) -> dict[str, str]:
    with ZipFile(wheel) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def test_the_wheel_holds_all_that_is_shipped_and_no_tests(texts: dict[str, str]) -> None:
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    own = {path.relative_to(PACKAGE.parent).as_posix() for path in files}
    assert {name for name in texts if ".dist-info/" not in name} == own
    assert [name for name, text in texts.items() if "anonhist_testing" in text] == []


def test_the_wheel_says_what_it_is(texts: dict[str, str]) -> None:
    about = f"anonhist-{anonhist.__version__}.dist-info"
    assert f"\nVersion: {anonhist.__version__}\n" in texts[f"{about}/METADATA"]
    assert "\nLicense-Expression: Apache-2.0\n" in texts[f"{about}/METADATA"]
    assert texts[f"{about}/licenses/LICENSE"] == (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "anonhist = anonhist.cli:main" in texts[f"{about}/entry_points.txt"]


def modules_of_dependencies() -> set[str]:
    """Return the modules of all that the wheel asks for, and of what that asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted, found, modules = list(map(Requirement, project["dependencies"])), set(), set()
    while wanted:
        name = canonicalize_name(wanted.pop().name)
        if name in found:
            continue
        found.add(name)
        try:
            installed = distribution(name)
        except PackageNotFoundError:  # for another system
            continue
        modules |= {file.parts[0].partition(".")[0] for file in installed.files or ()}
        asked = map(Requirement, installed.requires or ())
        wanted.extend(each for each in asked if each.marker is None or each.marker.evaluate({"extra": ""}))
    return modules


@pytest.mark.slow
def test_the_wheel_runs_where_only_its_dependencies_are(wheel: Path, tmp_path: Path) -> None:
    unpacked = tmp_path / "unpacked"
    with ZipFile(wheel) as archive:
        archive.extractall(unpacked)
    allowed = modules_of_dependencies()
    assert allowed >= {"numpy", "scipy", "duckdb", "narwhals", "pyarrow", "click", "rich", "matplotlib"}
    assert not allowed & {"pytest", "hypothesis", "pandas", "opendp", "skbio", "anonhist"}
    elsewhere = [path for path in sys.path if path and not (Path(path) / "anonhist").exists()]
    (tmp_path / "events.csv").write_text("label\n" + "".join(f"l{number % 97}\n" for number in range(1000)))
    asked = ("--epsilon", "1", "--simulations", "2")
    given = [
        ["release", "events.csv", *asked, "-o", "out.json", "--report", "out.html"],
        ["release", "events.csv", *asked, "-o", "out.parquet"],
        ["show", "out.json"],
        ["estimate", "entropy", "out.parquet", "-o", "estimate.csv"],
    ]
    program = RUN.format(paths=[str(unpacked), *elsewhere], allowed=allowed | {"anonhist"}, given=given)
    # Without the start-up files of site packages, which would put the sources on the path.
    command = [sys.executable, "-I", "-S", "-W", "error", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1-differentially private" in done.stdout
    assert (tmp_path / "estimate.csv").read_text().startswith("property,")

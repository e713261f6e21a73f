"""Which tests run where: in make test, in make quick, and in a soak, which draws cases by a seed that it prints."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Each case that runs leaves a file that is called as it is, and holds the seed of its process.
TESTS = """
from pathlib import Path
import pytest

def leave(request):
    Path("ran", request.node.name).write_text(str(request.config.option.soak_seed))

@pytest.mark.parametrize("case", range(3))
def test_quick(case, request):
    leave(request)

@pytest.mark.full
def test_whole(request):
    leave(request)

@pytest.mark.slow
def test_slow(request):
    leave(request)

@pytest.mark.first(2)
@pytest.mark.drawn(4)
@pytest.mark.parametrize("case", range(40))
def test_many(case, request):
    leave(request)

@pytest.mark.first(1)
@pytest.mark.parametrize("case", range(15))
def test_others(case, request):
    leave(request)
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return a folder with some tests, to which the rules of this project apply."""
    shutil.copy(ROOT / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    return tmp_path


def ran(folder: Path, *options: str) -> tuple[dict[str, str], str]:
    """Run the tests of a folder; return the names of those that ran, each with the seed, and what was printed."""
    shutil.rmtree(folder / "ran", ignore_errors=True)
    (folder / "ran").mkdir()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / "ran").iterdir()}, done.stdout


FIRST = {"test_quick[0]", "test_many[0]", "test_others[0]"}


@pytest.mark.slow
def test_each_case_is_left_to_one(run: Path) -> None:
    assert set(ran(run)[0]) == {*FIRST, "test_quick[1]", "test_quick[2]", "test_whole", "test_many[1]"}
    assert set(ran(run, "--quick")[0]) == FIRST
    others, _ = ran(run, "--soak", "--every-case")
    many, rest = (f"test_many[{case}]" for case in range(2, 40)), (f"test_others[{case}]" for case in range(1, 15))
    assert set(others) == {"test_slow", *many, *rest}


@pytest.mark.slow
def test_a_soak_draws_cases_by_the_seed_that_it_prints_in_all_processes(run: Path) -> None:
    drawn, told = ran(run, "--soak", "-n", "2")
    assert sorted(name.partition("[")[0] for name in drawn) == ["test_many"] * 4 + ["test_others"] * 5 + ["test_slow"]
    # First of all, and at the end.
    first, last = re.findall(r"What is drawn: (--soak --soak-seed (\d+))", told)
    assert first == last
    assert told.startswith("What is drawn")
    assert set(drawn.values()) == {first[1]}
    assert ran(run, *first[0].split())[0] == drawn
    others = [ran(run, "--soak", "--soak-seed", seed)[0].keys() for seed in ("1", "2")]
    assert others[0] != others[1]

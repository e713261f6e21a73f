"""Every worker must collect the same tests: their names depend on neither the clock nor chance."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# Collects in another year, another time zone, another hash seed and another folder for temporary files.
COLLECT = """
import sys, time
clock, nanoseconds = time.time, time.time_ns
time.time = lambda: clock() + 40_000_000
time.time_ns = lambda: nanoseconds() + 40_000_000_000_000_000
import pytest
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:xdist", "-p", "no:randomly", "-o", "addopts=", *sys.argv[1:]]))
"""


def names_collected_elsewhere(*arguments: str, folder: Path) -> set[str]:
    """Return the names of the tests that another process collects."""
    options = "--strict-markers", "--import-mode=importlib", "-W", "ignore", "-o", "console_output_style=classic"
    environment = os.environ | {"PYTHONHASHSEED": "7", "TZ": "Pacific/Apia", "TMPDIR": str(folder)}
    command = [sys.executable, "-c", COLLECT, *options, "--rootdir", ROOT, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return {line for line in done.stdout.splitlines() if "::" in line}


@pytest.mark.slow
def test_names_of_tests_are_constants(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    names = (item.nodeid for item in request.session.items)
    # The other process collects no examples of docstrings, which the kit of the tests has.
    here = {name for name in names if name.startswith("tests/") and not name.startswith("tests/kit/")}
    option = request.config.option
    chosen = ("--soak", "--soak-seed", str(option.soak_seed)) if option.soak else ()
    chosen += ("--every-case",) if option.every_case else ()
    elsewhere = names_collected_elsewhere("tests", *chosen, folder=tmp_path)
    assert len(elsewhere) > 2_000
    assert sorted(here - elsewhere) == []

"""Damaged files of every format are read or refused, in one process with little memory."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzzing.py")


@pytest.mark.slow
def test_damaged_files_of_every_format_are_read_or_refused() -> None:
    # Where the process ends otherwise, by an allocation that Python does not see or for want of time, it says nothing.
    asked = [sys.executable, str(SCRIPT), "--rounds", "25", "--seconds", "60"]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Every file was read or refused.\n"), done.stderr

"""Programs that read end in silence: DuckDB's binding finds nothing that was not released."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = {
    "file": "ah.read_profile('log.csv', label='label')",
    "users": "ah.read_profile('log.csv', label='label', user='user', max_per_user=1, notify=str)",
    "relation": "import duckdb; ah.read_profile(duckdb.connect().sql('SELECT 1 AS label'))",
    "pandas": "import pandas; ah.read_profile(pandas.DataFrame({'a': [1, 2]}))",
    "arrow": "import pyarrow; ah.read_profile(pyarrow.table({'a': [1, 2]}))",
    "edges": "ah.read_edges('log.csv', origin='label', target='user')",
    "sketch": "ah.sketches.HashedSketch(buckets=9, epsilon=1, key=b'k'); "
    "from anonhist.ingest.sketches import update_sketch; "
    "update_sketch(ah.sketches.HashedSketch(buckets=9, epsilon=1, key=b'k'), 'log.csv', column='label')",
    "release": "ah.release(ah.read_profile('log.csv', label='label'), epsilon=1).error",
    "refused": "import contextlib\nwith contextlib.suppress(ah.DataError): ah.read_profile('log.csv', label='nowhere')",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(PROGRAMS))
def test_a_program_that_reads_ends_in_silence(name: str, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("label,user\na,1\nb,1\nb,2\n")
    done = subprocess.run(
        [sys.executable, "-c", f"import anonhist as ah\n{PROGRAMS[name]}"],
        capture_output=True,
        check=False,
        text=True,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

"""Programs that read end in silence: DuckDB's binding finds nothing that was not released."""

import subprocess
import sys
from pathlib import Path

import pytest

# What is still held by one of the readings shows, whatever the others let go.
PROGRAMS = {
    "one file": "ah.read_profile('log.csv', label='label')",
    "files": """
import contextlib
from anonhist.sketches.reading import update_sketch
ah.read_profile('log.csv', label='label', user='user', max_per_user=1, notify=str)
ah.read_edges('log.csv', origin='label', target='user')
update_sketch(ah.sketches.HashedSketch(buckets=9, epsilon=1, key=b'k'), 'log.csv', label='label')
with contextlib.suppress(ah.DataError):
    ah.read_profile('log.csv', label='nowhere')
""",
    "tables": """
import duckdb, pandas, polars, pyarrow
with duckdb.connect() as connection:
    ah.read_profile(connection.sql('SELECT 1 AS label'))
for make in (pandas.DataFrame, polars.DataFrame, pyarrow.table):
    ah.read_profile(make({'a': [1, 2], 'u': [1, 1]}), label='a', user='u', max_per_user=1)
""",
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

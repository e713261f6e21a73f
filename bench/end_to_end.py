"""A private release from a Parquet file of events, beside the bare query. Run as ``python bench/end_to_end.py``.

Labels are strings, drawn from P(k) ∝ k^−0.9 for k ≤ N, where N is the number of rows. The peer is a Python process that
runs the one DuckDB query that a profile needs. Both are whole processes, run in turn with warm caches. The program
prints medians and the limits: 1.15 times the bare query plus 0.5 s, and 1.2 times its memory plus 100 MiB.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from children import measure

QUERY = (
    "SELECT occurrences, count(*) FROM (SELECT count(*) AS occurrences FROM '{path}' GROUP BY label) "
    "GROUP BY occurrences ORDER BY occurrences"
)
GROUP = 10**6


def write_events(path: Path, rows: int) -> None:
    """Write the events a million at a time."""
    rng = np.random.default_rng(rows)
    weights = np.arange(1, rows + 1, dtype=np.float64) ** -0.9
    cumulative = np.cumsum(weights)
    cumulative /= cumulative[-1]
    with pq.ParquetWriter(path, pa.schema([("label", pa.string())]), compression="zstd") as writer:
        for first in range(0, rows, GROUP):
            drawn = np.searchsorted(cumulative, rng.random(min(GROUP, rows - first)))
            labels = pa.array(drawn).cast(pa.string())
            writer.write_table(pa.table({"label": labels}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10**7, 5 * 10**7])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=Path("bench-data"))
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.rounds = [1000], 1
    options.folder.mkdir(exist_ok=True)
    print("| rows | bare query s | release s | limit s | met | bare MiB | release MiB | limit MiB | met |")
    print("|---|---|---|---|---|---|---|---|---|")
    for rows in options.rows:
        path = options.folder / f"events-{rows}.parquet"
        if not path.exists():
            write_events(path, rows)
        program = f"import duckdb; duckdb.sql({QUERY.format(path=path)!r}).fetchall()"
        release = [str(Path(sys.executable).with_name("anonhist")), "release", str(path), "--label", "label"]
        commands = {"bare": [sys.executable, "-c", program], "release": [*release, "--epsilon", "1"]}
        runs = measure(commands, rounds=options.rounds, warm_up=not options.quick)
        bare, ours = runs["bare"], runs["release"]
        seconds, memory = 1.15 * bare.time + 0.5, 1.2 * bare.memory + 100
        times = f"{bare.time:.2f} | {ours.time:.2f} | {seconds:.2f} | {'yes' if ours.time <= seconds else 'NO'}"
        space = f"{bare.memory:.0f} | {ours.memory:.0f} | {memory:.0f} | {'yes' if ours.memory <= memory else 'NO'}"
        print(f"| {rows:,} | {times} | {space} |", flush=True)


if __name__ == "__main__":
    main()

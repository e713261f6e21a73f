"""Speed and memory of graphs beside plain SQL on the same engine. Run as ``python bench/graph_speed.py``.

Each job has a process of its own, so that its peak memory is its own. Times are medians; processor time, which includes
the engine's threads, does not depend on other work of the machine.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EDGES, NODES = 10**7, 10**6
# The same answer as read_degrees gives: directions, equal edges and self-loops left out.
SQL = """
    WITH edges AS (
        SELECT DISTINCT least(source, target) AS u, greatest(source, target) AS v FROM {table} WHERE source <> target
    ), ends AS (SELECT u AS node FROM edges UNION ALL SELECT v FROM edges),
    degrees AS (SELECT count(*) AS degree FROM ends GROUP BY node)
    SELECT degree, count(*) FROM degrees GROUP BY degree
"""


def write(folder: Path, edges: int, nodes: int) -> None:
    """Write random edges as Parquet with numbers, as CSV and as lines of words."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    sources, targets = np.random.default_rng(1).integers(nodes, size=(2, edges))
    table = pa.table({"source": sources, "target": targets})
    pq.write_table(table, folder / "edges.parquet")
    pc.write_csv(table, folder / "edges.csv")
    lines = pc.WriteOptions(include_header=False, delimiter="\t")
    pc.write_csv(table, folder / "edges.txt", lines)


def plain_sql(path: str) -> None:
    import duckdb

    table = f"'{path}'" if path.endswith(".parquet") else f"read_csv('{path}', header = true, all_varchar = true)"
    with duckdb.connect(config={"preserve_insertion_order": "false"}) as connection:
        connection.sql(SQL.format(table=table)).fetchall()


def degrees(path: str) -> None:
    from anonhist.graphs.reading import read_degrees

    read_degrees(path)


def graph(path: str) -> None:
    from anonhist.graphs.reading import read_edges

    read_edges(path)


def measure_job(job: Callable[[str], None], path: str) -> tuple[float, float, float]:
    """Return seconds, processor seconds and the peak of memory in MB of a job; run in a process of its own."""
    start, used = time.perf_counter(), time.process_time()
    job(path)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return time.perf_counter() - start, time.process_time() - used, peak


def apart(job: Callable[[str], None], path: str) -> tuple[float, float, float]:
    """Measure a job in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure_job, (job, path))


def reading(edges: int, nodes: int, run: Callable[..., tuple[float, float, float]], repeats: int) -> Iterator[str]:
    """Read edges from files, as degrees and as graphs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, edges, nodes)
        for ending in ("parquet", "csv", "txt"):
            path = str(folder / f"edges.{ending}")
            for job in (plain_sql, degrees, graph) if ending != "txt" else (degrees, graph):
                runs = [run(job, path) for _ in range(repeats)]
                seconds, used, peak = (statistics.median(values) for values in zip(*runs, strict=True))
                what = {"plain_sql": "plain SQL, degrees", "degrees": "read_degrees", "graph": "read_edges"}
                rate = f"{edges / seconds / 1e6:.1f} M/s"
                told = f"{seconds:.1f} s | {used:.1f} s | {rate} | {peak:,.0f} MB"
                yield f"| {what[job.__name__]} | {ending} | {told} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    edges, nodes, run, repeats = EDGES, NODES, apart, options.repeats
    if options.quick:
        edges, nodes, run, repeats = 1000, 100, measure_job, 1
    print(f"{edges:,} random edges, {nodes:,} nodes\n")
    print("| job | of | seconds | processor | edges | memory |\n|---|---|---|---|---|---|")
    for line in reading(edges, nodes, run, repeats):
        print(line, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()

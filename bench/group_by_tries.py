"""Ways to count labels and their counts that might beat the engine's own. Run as ``python bench/group_by_tries.py``.

Each way reads the same Parquet file of labels (text) in a process of its own and must find the same profile. The first
is the query that :func:`anonhist.ingest.read_profile` runs. Labels are those of bench/scale.py, with a third as many
different labels as rows. Times are medians of whole processes on two threads, run in turn.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from children import measure
from scale import write_labels

START = "import duckdb; c = duckdb.connect(config=dict(threads=2, preserve_insertion_order=False)); "
RUN = START + "r = c.sql({query!r}).fetchall()"
COUNTS = "SELECT items, count(*) FROM ({inner}) GROUP BY items"
ONE_OF_SIXTEEN = "SELECT count(*) AS items FROM '{path}' WHERE hash(label) % 16 = PART GROUP BY label"
QUERIES = {
    "GROUP BY label, twice (as released)": "SELECT count(*) AS items FROM '{path}' GROUP BY label",
    "GROUP BY hash(label), with two equal ends": (
        "SELECT if(min(label) = max(label), count(*), error('collision')) AS items FROM '{path}' GROUP BY hash(label)"
    ),
    "GROUP BY hash(label), not verified": "SELECT count(*) AS items FROM '{path}' GROUP BY hash(label)",
    "GROUP BY md5_number(label)": "SELECT count(*) AS items FROM '{path}' GROUP BY md5_number(label)",
    "sixteen passes by hash": " UNION ALL ".join(ONE_OF_SIXTEEN.replace("PART", str(part)) for part in range(16)),
}
SORTED = (
    "SELECT place - coalesce(lag(place) OVER (ORDER BY place), 0) AS items FROM (SELECT label, row_number() OVER "
    "(ORDER BY label) AS place, lead(label) OVER (ORDER BY label) AS following FROM '{path}') "
    "WHERE following IS DISTINCT FROM label"
)
ARROW = (
    "import numpy as np, pyarrow.parquet as pq, pyarrow as pa; pa.set_cpu_count(2); "
    "t = pq.read_table({path!r}); k = t.group_by('label').aggregate([([], 'count_all')])['count_all'].to_numpy(); "
    "r = list(zip(*(x.tolist() for x in np.unique(k, return_counts=True))))"
)
RADIX = (
    "import numpy as np; " + START + "t = c.sql({query!r}).fetchnumpy()['h']; t.sort(); "
    "ends = np.flatnonzero(np.append(t[1:] != t[:-1], True)); k = np.diff(ends, prepend=-1); "
    "r = list(zip(*(x.tolist() for x in np.unique(k, return_counts=True))))"
)
HASHES = "SELECT hash(label) AS h FROM '{path}'"


def programs(path: Path) -> dict[str, str]:
    """Return the program of each way, which leaves the profile in ``r``."""
    queries = QUERIES | {"sorted runs": SORTED}
    found = {name: RUN.format(query=COUNTS.format(inner=query.format(path=path))) for name, query in queries.items()}
    found["Arrow's group_by"] = ARROW.format(path=str(path))
    found["64-bit hashes, sorted by NumPy, not verified"] = RADIX.format(query=HASHES.format(path=path))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("bench-data"))
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.rounds = 1000, 1
    options.folder.mkdir(exist_ok=True)
    path = options.folder / f"labels-{options.rows}.parquet"
    if not path.exists():
        write_labels(path, options.rows)
    ways = programs(path)
    digests = set()
    for program in ways.values():
        shown = program + "; print(hash(tuple(sorted((int(a), int(b)) for a, b in r))))"
        told = subprocess.run([sys.executable, "-c", shown], capture_output=True, check=True).stdout
        # DuckDB shows its progress before.
        digests.add(told.split()[-1])
    if len(digests) > 1:
        raise SystemExit("The ways found different profiles.")
    runs = measure(
        {name: [sys.executable, "-c", program] for name, program in ways.items()},
        rounds=options.rounds,
        warm_up=options.rounds > 1,
    )
    first = next(iter(runs.values()))
    print("| way | s | times the first | processor s | GB |")
    print("|---|---|---|---|---|")
    for name, each in runs.items():
        gigabytes = each.memory * 2**20 / 1e9
        print(f"| {name} | {each.time:.2f} | {each.time / first.time:.2f} | {each.processor:.2f} | {gigabytes:.2f} |")


if __name__ == "__main__":
    main()

"""Costs of counting on one machine, beside the engine's own queries. Run as ``python bench/scale.py``.

*Rows*: a release from Parquet files of 10^6 rows and more, whose labels are drawn from P(k) ∝ 1/k^0.9 for k up to twice
as many, so that a third of the rows are different, runs in 2 GB of memory, beside its one query in as much memory.
*Users*: a profile that counts at most five rows of each user, beside ``GROUP BY user, label``, on three kinds of data.
The limits are 1.3 times the bare query and 2.5 GB, and three times the grouping. Whole processes run in turn, with warm
caches.
*Databases*: the same profile and grouping in PostgreSQL, a server of its own with its default settings, and in SQLite,
in turn in this process; the limit is four times the grouping.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from children import measure

MEMORY = "2GB"
Draw = Callable[[np.random.Generator, int, int], NDArray[np.float64]]
BARE = (
    "SELECT items, count(*) FROM (SELECT count(*) AS items FROM '{path}' GROUP BY label) GROUP BY items ORDER BY items"
)
PAIRS = "SELECT count(*) FROM (SELECT user, label, count(*) AS items FROM '{path}' GROUP BY ALL)"
DUCKDB = "import duckdb; duckdb.connect(config={config}).sql({query!r}).fetchall()"
PROFILE = (
    "from anonhist.ingest import EngineLimits, read_profile; "
    "read_profile({path!r}, label='label', user='user', max_per_user=5, limits=EngineLimits(threads=2))"
)
# Users a row, how unequal they are (the share of the first i of them is that of i^(1/power)), and how labels are drawn.
USERS: dict[str, tuple[float, float, Draw]] = {
    "many equal rows a user": (0.01, 3.0, lambda rng, size, _: np.minimum(rng.random(size) ** -1.4, 1e9)),
    "a dozen rows a user": (0.03, 3.0, lambda rng, size, rows: np.exp(rng.random(size) * np.log(rows**0.4 + 2))),
    "few rows a user": (0.33, 1.0, lambda rng, size, rows: np.exp(rng.random(size) * np.log(rows))),
}
GROUP = 10**6


def write_labels(path: Path, rows: int) -> None:
    """Write labels a million at a time: numbers as text."""
    rng = np.random.default_rng(rows)
    last = 2 * rows
    with pq.ParquetWriter(path, pa.schema([("label", pa.string())]), compression="zstd") as writer:
        for first in range(0, rows, GROUP):
            uniform = rng.random(min(GROUP, rows - first))
            drawn = (1 + uniform * (last**0.1 - 1)) ** 10
            writer.write_table(pa.table({"label": pa.array(drawn.astype(np.int64)).cast(pa.string())}))


def write_users(path: Path, rows: int, kind: str) -> None:
    """Write rows (user, label), a million at a time."""
    rng = np.random.default_rng(rows)
    users, power, draw = USERS[kind]
    with pq.ParquetWriter(path, pa.schema([("user", pa.string()), ("label", pa.string())])) as writer:
        for first in range(0, rows, GROUP):
            size = min(GROUP, rows - first)
            user = (max(1, users * rows) * rng.random(size) ** power).astype(np.int64)
            label = draw(rng, size, rows).astype(np.int64)
            columns = {"user": pa.array(user).cast(pa.string()), "label": pa.array(label).cast(pa.string())}
            writer.write_table(pa.table(columns))


def duckdb(query: str, **config: object) -> list[str]:
    """Return the command of a process that runs one query."""
    return [sys.executable, "-c", DUCKDB.format(config={"preserve_insertion_order": False, **config}, query=query)]


def compare_rows(sizes: list[int], rounds: int, folder: Path) -> None:
    """Print what a release takes in 2 GB, beside the bare query."""
    print("| rows | bare query s | release s | ratio | met | bare GB | release GB | met |")
    print("|---|---|---|---|---|---|---|---|")
    anonhist = str(Path(sys.executable).with_name("anonhist"))
    for rows in sizes:
        path = folder / f"labels-{rows}.parquet"
        if not path.exists():
            write_labels(path, rows)
        release = [anonhist, "release", str(path), "--label", "label", "--epsilon", "1", "-o", "-", "--quiet"]
        limits = ["--memory-limit", MEMORY, "--temp-directory", str(folder)]
        commands = {
            "bare": duckdb(BARE.format(path=path), memory_limit=MEMORY, temp_directory=str(folder)),
            "release": [*release, *limits],
        }
        if rows >= 10**9:
            # The engine's own query ends for lack of memory there.
            only = measure({"release": commands["release"]}, rounds=1, warm_up=False)["release"]
            print(f"| {rows:,} | | {only.time:.0f} | | | | {only.memory * 2**20 / 1e9:.2f} | |", flush=True)
            continue
        runs = measure(commands, rounds=rounds, warm_up=rounds > 1 and rows < 10**8)
        bare, ours = runs["bare"], runs["release"]
        gigabytes = [each.memory * 2**20 / 1e9 for each in (bare, ours)]
        ratio, is_small = ours.time / bare.time, gigabytes[1] < 2.5
        times = f"{bare.time:.2f} | {ours.time:.2f} | {ratio:.2f} | {'yes' if ratio <= 1.3 else 'NO'}"
        print(
            f"| {rows:,} | {times} | {gigabytes[0]:.2f} | {gigabytes[1]:.2f} | {'yes' if is_small else 'NO'} |",
            flush=True,
        )


def compare_users(rows: int, rounds: int, folder: Path) -> None:
    """Print what a bound on users takes, beside grouping by user and label."""
    print("\n| data | bare counts s | GROUP BY user, label s | 5 a user s | ratio | ratio of processor time | met |")
    print("|---|---|---|---|---|---|---|")
    for kind in USERS:
        path = folder / f"{kind.replace(' ', '-')}-{rows}.parquet"
        if not path.exists():
            write_users(path, rows, kind)
        commands = {
            "unbounded": duckdb(BARE.format(path=path), threads=2),
            "pairs": duckdb(PAIRS.format(path=path), threads=2),
            "bounded": [sys.executable, "-c", PROFILE.format(path=str(path))],
        }
        runs = measure(commands, rounds=rounds, warm_up=rounds > 1)
        pairs_run, ours = runs["pairs"], runs["bounded"]
        ratio = ours.time / pairs_run.time
        times = f"{runs['unbounded'].time:.2f} | {pairs_run.time:.2f} | {ours.time:.2f} | {ratio:.2f}"
        print(
            f"| {kind} | {times} | {ours.processor / pairs_run.processor:.2f} | {'yes' if ratio <= 3 else 'NO'} |",
            flush=True,
        )


GROUPING = 'SELECT count(*) FROM (SELECT "user", label, count(*) FROM events GROUP BY 1, 2) AS pairs'


def fill(connection: Any, path: Path, engine: str) -> None:
    """Put rows (user, label) into a new table."""
    connection.execute("DROP TABLE IF EXISTS events")
    connection.execute('CREATE TABLE events ("user" text, label text)')
    batches = (zip(*(column.to_pylist() for column in batch.columns), strict=True) for batch in read_batches(path))
    if engine == "SQLite":
        for rows in batches:
            connection.executemany("INSERT INTO events VALUES (?, ?)", rows)
        connection.commit()
        return
    with connection.cursor().copy("COPY events FROM STDIN") as copy:
        for rows in batches:
            copy.write("".join(f"{user}\t{label}\n" for user, label in rows))
    connection.execute("VACUUM ANALYZE events")


def read_batches(path: Path) -> Any:
    """Return the record batches of a Parquet file."""
    return pq.ParquetFile(path).iter_batches()


def compare_bounds(engine: str, address: str, connection: Any, rows: int, rounds: int, folder: Path) -> None:
    """Print what a bound on users takes in a database, beside grouping by user and label there."""
    # Children of this process, elsewhere, would count the memory of what it imports.
    from anonhist.ingest import read_profile

    def seconds(call: Callable[[], Any]) -> float:
        begun = perf_counter()
        call()
        return perf_counter() - begun

    def group() -> None:
        connection.execute(GROUPING).fetchall()

    def bound() -> None:
        read_profile(address, table="events", label="label", user="user", max_per_user=5)

    for kind in USERS:
        path = folder / f"{kind.replace(' ', '-')}-{rows}.parquet"
        if not path.exists():
            write_users(path, rows, kind)
        fill(connection, path, engine)
        # Imports and caches.
        connection.execute("SELECT count(*) FROM events").fetchall()
        read_profile(address, table="events", label="label", where="label is null")
        times = [(seconds(group), seconds(bound)) for _ in range(rounds)]
        grouped, ours = map(median, zip(*times, strict=True))
        ratio = median(ours / grouped for grouped, ours in times)
        told = f"{grouped:.2f} | {ours:.2f} | {ratio:.2f} | {'yes' if ratio <= 4 else 'NO'}"
        print(f"| {engine}, {rows:,} rows | {kind} | {told} |", flush=True)


def compare_databases(rows: int, sqlite_rows: int, rounds: int, folder: Path) -> None:
    """Print what a bound on users takes in databases; without the programs of PostgreSQL, in SQLite alone."""
    from anonhist_testing.postgresql import programs, server

    print("| database | data | GROUP BY user, label s | 5 a user s | ratio | met |")
    print("|---|---|---|---|---|---|")
    if programs() is not None:
        import psycopg

        with server() as started, closing(psycopg.connect(started.address(), autocommit=True)) as connection:
            compare_bounds("PostgreSQL", started.address(), connection, rows, rounds, folder)
    path = folder / "users.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        compare_bounds("SQLite", f"sqlite:///{path}", connection, sqlite_rows, rounds, folder)
    path.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="*", default=[10**6, 10**7, 10**8])
    parser.add_argument("--user-rows", type=int, default=10**7)
    parser.add_argument("--database-rows", type=int, default=5 * 10**6)
    parser.add_argument("--sqlite-rows", type=int, default=10**6)
    parser.add_argument("--only", choices=["files", "databases"], default="files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("bench-data"))
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.user_rows, options.rounds = [1000], 1000, 1
        options.database_rows = options.sqlite_rows = 1000
    options.folder.mkdir(exist_ok=True)
    if options.only == "files":
        compare_rows(options.rows, options.rounds, options.folder)
        compare_users(options.user_rows, options.rounds, options.folder)
    else:
        compare_databases(options.database_rows, options.sqlite_rows, options.rounds, options.folder)


if __name__ == "__main__":
    main()

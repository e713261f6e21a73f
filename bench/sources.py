"""The time to read a million rows of each source. Run as ``python bench/sources.py [--against CHECKOUT]``.

Labels are drawn by Zipf's law from as many labels as there are rows, and users evenly from a tenth as many. A source is
read for its labels alone, and with at most five rows of each user, kept at random; Parquet also by a column of times.
Each round is a process of its own, which opens sources in memory before it starts the clock, and reads every source
once before it counts. Medians are printed. With ``--against``, processes with the code of that checkout take turns with
ours, and the ratio is new to old. PostgreSQL is a server of its own, in a temporary folder; if its programs are
missing, the output says so.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb

import anonhist
from anonhist_testing.postgresql import programs, server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BOUND = {"user": "user", "max_per_user": 5, "order_key": "0" * 32}
# Tables of text and of whole numbers, with which all sources are made.
MAKE = """
CREATE TABLE numbers AS SELECT floor(exp(random() * {span}))::BIGINT AS label,
floor(random() * {users})::BIGINT AS "user", range AS "at" FROM range({rows});
CREATE TABLE events AS SELECT 'label ' || label AS label, 'user ' || "user" AS "user", "at" FROM numbers;
COPY events TO '{folder}/events.csv';
COPY events TO '{folder}/events.jsonl' (FORMAT json);
COPY events TO '{folder}/events.parquet';
COPY numbers TO '{folder}/numbers.parquet';
"""
# The declared types of tables of SQLite, and which rows they have.
DECLARED = {"INTEGER": "numbers", "TEXT": "events", "REAL": "numbers", "no type": "numbers"}


def make(folder: Path, rows: int) -> None:
    """Write what the sources are made of."""
    with duckdb.connect(str(folder / "events.duckdb")) as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(MAKE.format(span=math.log(rows), users=max(rows // 10, 1), rows=rows, folder=folder))
        found = {name: connection.sql(f"SELECT * FROM {name}").fetchall() for name in ("events", "numbers")}  # noqa: S608
    with sqlite3.connect(folder / "events.sqlite") as database:
        for declared, rows_of in DECLARED.items():
            kind = "" if declared == "no type" else declared
            database.execute(f'CREATE TABLE "{declared}" (label {kind}, user {kind}, at INTEGER)')
            database.executemany(f'INSERT INTO "{declared}" VALUES (?, ?, ?)', found[rows_of])  # noqa: S608
    database.close()


def fill(address: str, folder: Path) -> None:
    """Put the events into a table of PostgreSQL."""
    import psycopg

    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute('CREATE TABLE events (label text, "user" text, "at" bigint)')
        with cursor.copy("COPY events FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write((folder / "events.csv").read_bytes())


def sources(folder: Path, address: str) -> Iterator[tuple[str, Callable[[], Any], dict[str, str]]]:
    """Yield the name of each source, how it is opened, and what else reading it takes."""
    import pandas as pd
    import polars as pl
    import pyarrow.parquet as pq

    def frame(name: str) -> pd.DataFrame:
        return pd.read_parquet(folder / f"{name}.parquet")

    def texts(kind: str) -> pd.DataFrame:
        return frame("events").astype({"label": kind, "user": kind})

    def mixed() -> pd.DataFrame:
        numbers = frame("numbers").astype({"label": object, "user": object})
        for column in ("label", "user"):
            numbers.loc[::2, column] = numbers.loc[::2, column].map(str)
        return numbers

    def relation() -> duckdb.DuckDBPyRelation:
        connection = duckdb.connect()
        connection.execute(f"CREATE TABLE events AS FROM '{folder}/events.parquet'")
        return connection.table("events")

    yield "CSV", lambda: folder / "events.csv", {}
    yield "Parquet", lambda: folder / "events.parquet", {}
    yield "JSON lines", lambda: folder / "events.jsonl", {}
    yield "pandas, object column of text", lambda: texts("object"), {}
    yield "pandas, str", lambda: texts("str"), {}
    yield "pandas, int64", lambda: frame("numbers"), {}
    yield "pandas, object column of numbers and text", mixed, {}
    yield "Polars", lambda: pl.read_parquet(folder / "events.parquet"), {}
    yield "Arrow", lambda: pq.read_table(folder / "events.parquet"), {}
    yield "DuckDB relation", relation, {}
    yield "DuckDB file", lambda: f"duckdb:///{folder}/events.duckdb", {"table": "events"}
    for declared in DECLARED:
        yield f"SQLite, {declared}", lambda: f"sqlite:///{folder}/events.sqlite", {"table": declared}
    if address:
        yield "PostgreSQL", lambda: address, {"table": "events"}


def read_all(folder: Path, address: str) -> dict[str, float | None]:
    """Return the seconds of each reading; None where this code refuses it."""
    seconds: dict[str, float | None] = {}
    for name, opened, given in sources(folder, address):
        ways: dict[str, dict[str, Any]] = {"labels": {}, "five rows a user": BOUND}
        if name == "Parquet":
            ways["the first five rows a user"] = BOUND | {"order_by": "at"}
        for way, options in ways.items():
            source = opened()
            try:
                for _ in range(2):
                    start = time.perf_counter()
                    anonhist.read_profile(source, label="label", **options, **given)
                    seconds[f"{name} | {way}"] = time.perf_counter() - start
            except anonhist.AnonhistError:
                seconds[f"{name} | {way}"] = None
    return seconds


def in_process(code: Path | None, folder: Path, address: str) -> dict[str, float | None]:
    """Return the same from a process with the code of a checkout, or with that of this process."""
    environment = dict(os.environ)
    if code is not None:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(code / "src"), environment.get("PYTHONPATH")]))
    command = [sys.executable, __file__, "--read", str(folder), "--address", address]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    told = json.loads(done.stdout)
    if code is not None and not Path(told["code"]).is_relative_to(code.resolve()):
        raise SystemExit(f"{code} has no src/anonhist: {told['code']} was measured instead.")
    return dict(told["seconds"])


def middle(runs: list[dict[str, float | None]], row: str) -> float:
    """Return the median of a row; NaN where it was refused."""
    return median(math.nan if (found := run[row]) is None else found for run in runs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path, help="another checkout, whose src is timed in turn")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--address", default="", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read:
        code = str(Path(anonhist.__file__).resolve())
        print(json.dumps({"code": code, "seconds": read_all(chosen.read, chosen.address)}))
        return
    rows, rounds = (1000, 1) if chosen.quick else (chosen.rows, chosen.rounds)
    codes = (
        {"seconds": None} if chosen.against is None else {"new s": Path(__file__).parents[1], "old s": chosen.against}
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        make(folder, rows)
        address = ""
        if programs() is None:
            print("PostgreSQL is not installed here.\n")
        else:
            address = stack.enter_context(server()).database()
            fill(address, folder)
        runs: dict[str, list[dict[str, float | None]]] = {name: [] for name in codes}
        for number in range(rounds):
            # Who begins takes turns, too.
            for name in [*codes][:: -1 if number % 2 else 1]:
                runs[name].append(in_process(codes[name], folder, address))
    heads = ["source", "read", *codes, *(["new/old"] if chosen.against else [])]
    print(f"{rows:,} rows, medians of {rounds}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in next(iter(runs.values()))[0]:
        times = [middle(each, row) for each in runs.values()]
        told = ["refused" if math.isnan(time) else f"{time:.3f}" for time in times]
        ratio = [f"{times[0] / times[1]:.2f}"] if chosen.against else []
        print(f"| {row} | {' | '.join(told + ratio)} |")


if __name__ == "__main__":
    main()

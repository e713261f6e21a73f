"""Costs of counting on Spark, beside the same queries in Spark SQL. Run as ``python bench/scale_spark.py``.

One session uses two threads of this machine; each way runs once to warm up, then in turn. *Labels* takes two group-bys.
*Users* counts at most five rows of each, beside a window of random order in front of the two group-bys. Data are those
of bench/scale.py. The limit is 1.15 times the query written by hand. Shuffled bytes are those that Spark reports.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from anonhist.ingest import read_profile
from scale import USERS, write_labels, write_users

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

COUNTED = "SELECT items, count(*) FROM (SELECT count(*) AS items FROM {rows} GROUP BY label) GROUP BY items"
FIRST = (
    "(SELECT label FROM (SELECT label, row_number() OVER (PARTITION BY user ORDER BY rand()) AS rank FROM events "
    "WHERE user IS NOT NULL AND label IS NOT NULL) WHERE rank <= 5)"
)


@contextmanager
def started(memory: str, **more: str) -> Iterator[Any]:
    """Start a session of two threads in this process, quietly; one that runs already is left running."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": memory, "spark.log.level": "OFF", **more}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        if running is None:
            session.stop()


def shuffled(session: Any) -> int:
    """Return how many bytes all stages so far wrote for others to read."""
    context = session.sparkContext
    none = context._gateway.new_array(context._jvm.double, 0)  # noqa: SLF001  # Python has no door of its own to these
    stages = context._jsc.sc().statusStore().stageList(None, False, False, none, None)  # noqa: SLF001
    return sum(stages.apply(place).shuffleWriteBytes() for place in range(stages.size()))


def compare(session: Any, name: str, ways: dict[str, Callable[[], Any]], rounds: int) -> None:
    """Print one row: medians of the ways, in turn, and what they shuffled."""
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    sent: dict[str, int] = {}
    for turn in range(rounds + 1):
        for way, run in ways.items():
            before, began = shuffled(session), perf_counter()
            run()
            if turn:
                seconds[way].append(perf_counter() - began)
            sent[way] = shuffled(session) - before
    hand, ours = (median(seconds[way]) for way in ways)
    megabytes = " | ".join(f"{each / 1e6:,.0f}" for each in sent.values())
    met = "yes" if ours <= 1.15 * hand else "NO"
    print(f"| {name} | {hand:.1f} | {ours:.1f} | {ours / hand:.2f} | {met} | {megabytes} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="6g")
    parser.add_argument("--folder", type=Path, default=Path("bench-data"))
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    settings = {}
    if options.quick:
        options.rows, options.rounds, options.memory = 1000, 1, "1g"
        settings = {"spark.sql.shuffle.partitions": "2", "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    # A session that runs already may have been started elsewhere.
    options.folder = options.folder.resolve()
    options.folder.mkdir(exist_ok=True)
    print("| data | by hand s | ours s | ratio | met | shuffled by hand MB | shuffled by ours MB |")
    print("|---|---|---|---|---|---|---|")
    if shutil.which("java") is None:
        print("| Java is not installed | | | | | | |")
        return
    with started(options.memory, **settings) as session:
        compare_all(session, options.rows, options.rounds, options.folder)


def compare_all(session: Any, rows: int, rounds: int, folder: Path) -> None:
    """Print a row for labels and one for each kind of users."""
    labels = folder / f"labels-{rows}.parquet"
    if not labels.exists():
        write_labels(labels, rows)
    table = session.read.parquet(str(labels))
    table.createOrReplaceTempView("labels")
    ways: dict[str, Callable[[], Any]] = {
        "hand": lambda: session.sql(COUNTED.format(rows="labels WHERE label IS NOT NULL")).collect(),
        "ours": lambda: read_profile(table, label="label"),
    }
    compare(session, "labels", ways, rounds)
    for kind in USERS:
        path = folder / f"{kind.replace(' ', '-')}-{rows}.parquet"
        if not path.exists():
            write_users(path, rows, kind)
        events = session.read.parquet(str(path))
        events.createOrReplaceTempView("events")
        ways = {
            "hand": lambda: session.sql(COUNTED.format(rows=FIRST)).collect(),
            "ours": lambda events=events: read_profile(events, label="label", user="user", max_per_user=5),  # type: ignore[misc]
        }
        compare(session, kind, ways, rounds)


if __name__ == "__main__":
    main()

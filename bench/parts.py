"""The profile of the last of many days: all events counted again, all parts added up, and a running total.

``python bench/parts.py [--days N] [--rows N] [--folder FOLDER] [--quick]``. A day has ``--rows`` rows; its labels are
drawn by Zipf's law from ten times as many. Times are in seconds, with all cores and nothing cached by us; a check makes
sure that every way gives the same profile. Thirty days of ten million rows take some 8 GB of disk.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb

from anonhist.ingest import read_profile
from anonhist.ingest.parts import count_into, write_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.profiles import Profile


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of each day")
    parser.add_argument("--folder", help="where the days are made, for a while")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    chosen = parser.parse_args()
    days, rows = (3, 1000) if chosen.quick else (chosen.days, chosen.rows)
    print(f"{days} days of {rows:,} rows\n\n| labels as | step | seconds | of counting all again |")
    print("|---|---|---|---|", flush=True)
    with TemporaryDirectory(dir=chosen.folder) as folder:
        paths = [Path(folder) / f"day-{day:02}.parquet" for day in range(1, days + 1)]
        for path in paths:
            make_day(path, rows)
        again, truth = timed(lambda: read_profile(f"{folder}/day-*.parquet", label="query"))
        say("", "all events counted again", again, again)
        for name, options in (("text", {}), ("hashes", {"hash_labels": True, "order_key": "0" * 32})):
            measure(paths, Path(folder) / name, again, truth, options)


def measure(paths: list[Path], folder: Path, again: float, truth: Profile, options: dict[str, Any]) -> None:
    """Print what parts take whose labels are kept so."""
    folder.mkdir()
    parts = [folder / f"{path.stem}.counts" for path in paths]
    total = folder / "total.counts"
    counting = [
        timed(lambda path=path, part=part: write_part(path, part, label="query", **options))[0]
        for path, part in zip(paths, parts, strict=True)
    ]
    say(folder.name, "a day counted into a part (mean)", sum(counting) / len(counting), again)
    seconds, found = timed(lambda: read_profile(parts))
    check(found, truth)
    say(folder.name, "profile of all parts", seconds, again)
    say(folder.name, "total of all parts but the last", timed(lambda: join(parts[:-1], total))[0], again)
    onto, _ = timed(lambda: count_into(paths[-1], total, label="query"))
    say(folder.name, "the last day onto the total, from its events", onto, again)
    reading, found = timed(lambda: read_profile(total))
    check(found, truth)
    say(folder.name, "profile of the total", reading, again)
    say(folder.name, "the last day, both together", onto + reading, again)
    size = sum(path.stat().st_size for path in parts) / 1e6, total.stat().st_size / 1e6
    print(f"\n{folder.name}: parts of {size[0]:,.0f} MB, total of {size[1]:,.0f} MB, {found.num_labels:,} labels\n")


def join(parts: list[Path], total: Path) -> None:
    """Make a running total, as days come one after the other."""
    total.write_bytes(parts[0].read_bytes())
    for part in parts[1:]:
        count_into([part], total)


def make_day(path: Path, rows: int) -> None:
    """Write a day: the label of rank k has a share of about 1/k."""
    asked = "SELECT 'query ' || floor(exp(random() * $span))::BIGINT AS query FROM range($rows)"
    duckdb.sql(asked, params={"span": math.log(10 * rows), "rows": rows}).write_parquet(str(path))


def timed(step: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds a step takes, and what it returns."""
    start = time.perf_counter()
    found = step()
    return time.perf_counter() - start, found


def check(found: Profile, truth: Profile) -> None:
    """Stop if a way gives another profile."""
    if found != truth:
        raise SystemExit("The profiles differ.")


def say(labels: str, step: str, seconds: float, again: float) -> None:
    """Print a row."""
    print(f"| {labels} | {step} | {seconds:.2f} | {seconds / again:.2f} × |", flush=True)


if __name__ == "__main__":
    main()

"""Releases of many groups, by time and memory. Run as ``python bench/groups.py``.

First, a log of views, with one row for each view: a release of all campaigns from the command line, without
simulations, beside the bare DuckDB query for the same counts and beside a loop, which asks the engine for the views of
each campaign and releases it on its own. All are whole processes, run in turn with warm caches.

Then, releases of many profiles that are already in memory, on one core: noise, fits and intervals.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from children import measure

if TYPE_CHECKING:
    from collections.abc import Callable

CAMPAIGNS, VIEWS = 500, 2_000_000
VIEWERS = 50_000
MANY, ITEMS = (10**3, 10**4, 10**5), 1000
QUERY = (
    "SELECT campaign, occurrences, count(*) FROM "
    "(SELECT campaign, viewer, count(*) AS occurrences FROM '{path}' GROUP BY ALL) GROUP BY ALL ORDER BY ALL"
)
LOOP = """
import duckdb
import anonhist as ah
for campaign in open({listed!r}).read().split()[1:]:
    views = duckdb.sql(f"SELECT viewer FROM '{path}' WHERE campaign = '{{campaign}}'")
    release = ah.release(ah.read_profile(views, label="viewer"), epsilon=1, simulations=0)
    release.profile, release.error
"""


def write_views(folder: Path, campaigns: int, views: int) -> tuple[Path, Path]:
    """Write views by viewers of whom few see much, and the list of campaigns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    names = pa.array([f"c{number:03d}" for number in range(campaigns)])
    viewers = (rng.pareto(1.2, views) * VIEWERS / 60).astype(np.int64) % VIEWERS
    table = pa.table({"campaign": names.take(pa.array(rng.integers(campaigns, size=views))), "viewer": viewers})
    path, listed = folder / "views.parquet", folder / "campaigns.csv"
    pq.write_table(table.set_column(1, "viewer", table["viewer"].cast(pa.string())), path)
    listed.write_text("\n".join(["campaign", *names.to_pylist(), ""]), encoding="utf-8")
    return path, listed


def from_the_command_line(campaigns: int, views: int, rounds: int, run: Callable[..., Any]) -> None:
    """Time whole processes."""
    with tempfile.TemporaryDirectory() as name:
        path, listed = run(write_views, Path(name), campaigns, views)
        anonhist = str(Path(sys.executable).with_name("anonhist"))
        told = ["--label", "viewer", "--by", "campaign", "--groups", str(listed), "--epsilon", "1"]
        into = ["--simulations", "0", "--force", "-o", str(Path(name) / "reach.json")]
        query = f"import duckdb; duckdb.sql({QUERY.format(path=path)!r}).fetchall()"
        commands = {
            "bare query": [sys.executable, "-c", query],
            "release --by": [anonhist, "release", str(path), *told, *into],
        }
        runs = measure(commands, rounds=rounds, warm_up=rounds > 1)
        loop = {"loop over release": [sys.executable, "-c", LOOP.format(path=path, listed=str(listed))]}
        runs |= measure(loop, rounds=1, warm_up=False)
    print(f"{views:,} views of {campaigns} campaigns\n")
    print("| process | seconds | processor | MiB |\n|---|---|---|---|")
    for told_as, each in runs.items():
        print(f"| {told_as} | {each.time:.2f} s | {each.processor:.2f} s | {each.memory:,.0f} |")
    bare, ours = runs["bare query"], runs["release --by"]
    for what, most, taken in (
        ("seconds", 1.2 * bare.time + 1, ours.time),
        ("processor seconds", 1.2 * bare.processor + 1, ours.processor),
    ):
        print(f"\n1.2 times the bare query and 1 s are {most:.2f} {what}: {'met' if taken <= most else 'NOT met'}.")
    print(flush=True)


def peak() -> float:
    """Return the peak of this process's memory so far in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def release_many(mechanism: str, epsilon: str, groups: int, *, together: bool = True) -> str:
    """Release so many groups, at once or one by one, and return a row of the table; run in a process of its own."""
    from anonhist.mechanisms.grouping import release_groups
    from anonhist.mechanisms.releasing import release
    from anonhist.privacy import PrivacyUnit
    from anonhist.profiles import Profile
    from anonhist.profiles.grouped import GroupedProfile

    rng = np.random.default_rng(groups)
    unit = PrivacyUnit.label(max_count=20, groups=7) if mechanism == "prevalence" else PrivacyUnit.item()
    asked: dict[str, Any] = {"epsilon": epsilon, "mechanism": mechanism, "simulations": 0}

    def profile() -> Profile:
        return Profile.from_counts(np.bincount((rng.pareto(1.0, ITEMS) * 60).astype(np.int64) % 1000))

    release_groups(GroupedProfile(("group",), {("warm",): profile()}, unit=unit), **asked)
    grouped = GroupedProfile(("group",), {(str(number),): profile() for number in range(groups)}, unit=unit)
    pairs = sum(map(len, grouped.values()))
    before, begun = peak(), process_time()
    kept = release_groups(grouped, **asked) if together else [release(each, **asked) for each in grouped.values()]
    used, more = process_time() - begun, peak() - before
    name = f"{mechanism}, ε = {epsilon}{'' if together else ', one by one'}"
    times, space = f"{used:.2f} s | {1000 * used / len(kept):.2f} ms", f"{more:,.0f} | {more * 2**20 / pairs:,.0f}"
    return f"| {name} | {groups:,} | {pairs:,} | {times} | {space} |"


def one_by_one(mechanism: str, epsilon: str, groups: int) -> str:
    """Release each group on its own: what a loop would do that asks the engine once."""
    return release_many(mechanism, epsilon, groups, together=False)


def apart(job: Callable[..., Any], *arguments: object) -> Any:
    """Run a job in a process of its own: this one stays small, as children count its memory."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(job, arguments)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    campaigns, views, rounds, many, run = CAMPAIGNS, VIEWS, options.rounds, MANY, apart
    if options.quick:
        campaigns, views, rounds, many = 3, 1000, 1, (5,)
        run = lambda job, *arguments: job(*arguments)  # noqa: E731
    from_the_command_line(campaigns, views, rounds, run)
    print(f"Groups of {ITEMS:,} items each, processor seconds, and memory on top of the data\n")
    print("| mechanism | groups | pairs (group, count) | processor | a group | MiB | bytes a pair |")
    print("|---|---|---|---|---|---|---|")
    for mechanism, epsilon, most in (
        ("frobenius", "1", many[-1]),
        ("frobenius", "0.1", many[0]),
        ("prevalence", "1", many[-1]),
        ("partition", "2", many[0]),
    ):
        for groups in (number for number in many if number <= most):
            print(run(release_many, mechanism, epsilon, groups), flush=True)
    print(run(one_by_one, "frobenius", "1", many[0]), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()

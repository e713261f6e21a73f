"""Speed of private sketches beside OpenDP's noise and NumPy's transforms. Run as ``python bench/sketch_speed.py``.

Times are medians; pairs are timed in turns, in one process. What a time is compared with has its unit in the table.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.sketches import HashedSketch
from anonhist.sketches.decoder import Counters, CounterSetting
from anonhist.sketches.kinds import DomainSketch
from anonhist.sketches.release import DECODERS, OF_SHARED_COUNTERS

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = b"week 47"
COUNTERS, LABELS = 10**7, 10**6
# OpenDP is asked for fewer numbers than we, and its time scaled up.
OPENDP_SHARE = 100


def seconds(act: Callable[[], Any]) -> float:
    """Return how long it takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def race(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> tuple[float, float]:
    """Return the median times of both."""
    ours(), theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return statistics.median(mine for mine, _ in pairs), statistics.median(other for _, other in pairs)


def row(what: str, ours: str, theirs: str, ratio: str, aim: str, *, met: bool | None) -> str:
    word = "" if met is None else "yes" if met else "NO"
    return f"| {what} | {ours} | {theirs} | {ratio} | {aim} | {word} |"


def creation(counters: int, repeats: int) -> str:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    draw = dp.m.make_laplace(dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64"), scale=1.0)
    zeros = np.zeros(counters // OPENDP_SHARE, dtype=np.int64)
    mine, theirs = race(lambda: HashedSketch(buckets=counters, epsilon=1, key=KEY), lambda: draw(zeros), repeats)
    theirs *= OPENDP_SHARE
    return row(
        f"{counters:,} counters with noise, ε = 1",
        f"{mine:.2f} s",
        f"OpenDP {theirs:.0f} s ({1e6 * theirs / counters:.1f} µs a draw)",
        f"{theirs / mine:,.0f} times as fast",
        "at least 100",
        met=theirs >= 100 * mine,
    )


def updates(total: int, repeats: int) -> list[str]:
    rng = np.random.default_rng(1)
    labels = [f"query {number}" for number in (rng.zipf(1.3, total) % 10**7).tolist()]
    joined = "".join(labels).encode()
    data, offsets = np.frombuffer(joined, dtype=np.uint8), np.append(0, np.cumsum([len(label) for label in labels]))
    sketch = HashedSketch(buckets=total, epsilon=1, key=KEY)
    listed = DomainSketch(alphabet=sorted(set(labels)), epsilon=1)
    jobs = {
        "update from a list": lambda: sketch.update(labels),
        "update from a generator": lambda: sketch.update(label for label in labels),
        "update from a buffer, as of Arrow": lambda: sketch.update_buffer(data, offsets),
        f"update of {listed.addresses.size:,} listed labels": lambda: listed.update(labels),
    }
    lines = []
    for what, job in jobs.items():
        job()
        rate = len(labels) / statistics.median(seconds(job) for _ in range(repeats))
        lines.append(row(what, f"{rate / 1e6:.1f} M labels/s", "", "", "at least 2 M/s", met=rate >= 2e6))
    return lines


def reading(counters: int, repeats: int) -> list[str]:
    """Time all decoders on many counters, from the counters on, beside one transform and one count of that length."""
    rng = np.random.default_rng(2)
    lines = []
    for name, sketch in (
        ("hashed", HashedSketch(buckets=counters, epsilon=1, key=KEY)),
        ("domain, counts up to 50", HashedSketch(buckets=counters, epsilon=1, key=KEY)),
    ):
        is_hashed = name == "hashed"
        counts = rng.zipf(2, size=counters // 2 if is_hashed else counters)
        places = rng.integers(counters, size=counts.size) if is_hashed else np.arange(counters)
        np.add.at(sketch.counters, places, np.minimum(counts, 10**6) if is_hashed else np.minimum(counts - 1, 50))
        lowest = int(sketch.counters.min())

        def reference(sketch: HashedSketch = sketch, lowest: int = lowest) -> None:
            np.fft.fft(sketch.counters)
            np.bincount(sketch.counters - lowest)

        for method, make in DECODERS.items():
            if (method in OF_SHARED_COUNTERS) != is_hashed:
                continue
            setting = CounterSetting(sketch.noise_distribution, is_hashed=is_hashed)

            def read(sketch: HashedSketch = sketch, make: Any = make, setting: Any = setting) -> None:
                make().decode(Counters.of(sketch.counters), setting)

            mine, theirs = race(read, reference, repeats)
            is_default = method in {"decompounding", "empirical-bayes"}
            lines.append(
                row(
                    f"read {counters:,} counters, {name}: {method}",
                    f"{mine:.2f} s",
                    f"NumPy fft + bincount {theirs:.2f} s",
                    f"{mine / theirs:.2f} of it",
                    "below 5" if is_default else "",
                    met=mine < 5 * theirs if is_default else None,
                )
            )
    return lines


def merging(counters: int, repeats: int) -> str:
    one, other = (HashedSketch(buckets=counters, epsilon=1, key=KEY) for _ in range(2))
    took = statistics.median(seconds(lambda: one + other) for _ in range(repeats))
    return row(f"merge two sketches of {counters:,} counters", f"{took:.2f} s", "", "", "", met=None)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    counters, total, repeats = (2000, 200, 1) if options.quick else (COUNTERS, LABELS, options.repeats)
    print("| job | anonhist | compared with | ratio | aim | met |\n|---|---|---|---|---|---|")
    for line in (*reading(counters, repeats), *updates(total, repeats)):
        print(line, flush=True)
    print(merging(counters, repeats), flush=True)
    print(creation(counters, repeats), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()

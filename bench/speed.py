"""The speed of one release: beside noise on every count, and from the command line. Run as ``python bench/speed.py``.

The peer adds NumPy's Laplace noise to each of RockYou's 14.3 million sorted counts and smooths them with SciPy's
isotonic regression: the usual way to release sorted counts, here without exact noise, which would take minutes.
Everything is timed in turn, round after round; medians are printed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism
from anonhist.mechanisms.exponential.side_chain import band_of
from bundled import read_bundled
from children import measure

if TYPE_CHECKING:
    from collections.abc import Callable

PEER = "NumPy Laplace on every count + SciPy isotonic regression"


def releases(data: str, rounds: int) -> None:
    """Time one release by each mechanism, preparation included, beside the peer."""
    profile = read_bundled(data)
    counts = profile.partition().astype(np.float64)[::-1]
    rng = np.random.default_rng()

    def peer() -> None:
        isotonic_regression(counts + rng.laplace(scale=1.0, size=counts.size))

    def once(mechanism: FrobeniusMechanism | PartitionMechanism) -> None:
        band_of.cache_clear()
        mechanism.release(profile)

    jobs: dict[str, Callable[[], None]] = {PEER: peer}
    for epsilon in ("0.1", "0.4", "1", "2", "4"):
        exponential = " (the exponential mechanism, denoised)" if PartitionMechanism(epsilon).family.z == 0 else ""
        jobs[f"partition mechanism, ε = {epsilon}{exponential}"] = lambda e=epsilon: once(PartitionMechanism(e))
    for epsilon in ("0.1", "1"):
        jobs[f"Frobenius mechanism, ε = {epsilon}"] = lambda e=epsilon: once(FrobeniusMechanism(e))
    seconds: dict[str, list[float]] = {name: [] for name in jobs}
    for number in range(-1, rounds):
        for name, job in jobs.items():
            start = perf_counter()
            job()
            if number >= 0:
                seconds[name].append(perf_counter() - start)
    print(f"| {data}, {profile.num_labels:,} labels: prepare and draw once | median seconds | ratio to the peer |")
    print("|---|---|---|")
    for name, times in seconds.items():
        print(f"| {name} | {median(times):.3f} | {median(times) / median(seconds[PEER]):.2f} |")


def starts(rounds: int, *, warm_up: bool = True) -> None:
    """Time the command line on almost nothing, beside the interpreter and NumPy's import."""
    command = str(Path(sys.executable).with_name("anonhist"))
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.csv"
        rng = np.random.default_rng(1)
        labels = "\n".join(f"label{value}" for value in rng.zipf(1.3, 1000).tolist())
        small.write_text(f"label\n{labels}\n")
        runs = measure(
            {
                "python -c pass": [sys.executable, "-c", "pass"],
                "anonhist --help": [command, "--help"],
                "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
                "anonhist release small.csv --epsilon 1 (1,000 rows)": [
                    command,
                    "release",
                    str(small),
                    "--epsilon",
                    "1",
                ],
            },
            rounds=rounds,
            warm_up=warm_up,
        )
    print("| command | median seconds |")
    print("|---|---|")
    for name, run in runs.items():
        print(f"| `{name}` | {run.time:.3f} |")
    bare, help_text, numpy, release = (run.time for run in runs.values())
    print(f"\n--help takes {help_text - bare:.3f} s more than the bare interpreter (at most 0.2).")
    print(f"A release of 1,000 rows takes {release / numpy:.1f} times the import of NumPy (at most 5).")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    releases("pw_myspace" if options.quick else "pw_rockyou", 1 if options.quick else options.rounds)
    print()
    starts(1 if options.quick else 3 * options.rounds, warm_up=not options.quick)


if __name__ == "__main__":
    main()

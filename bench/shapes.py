"""Mean sorted ℓ1 error of both central mechanisms, by shape, size and ε. Run as ``python bench/shapes.py``.

The automatic choice rests on these errors. They are simulated on public profiles: the bundled data, Zipf's
distribution, and the staircase (one label of each count: as far from Zipf's as a profile can be).
"""

from __future__ import annotations

import argparse

import numpy as np

import anonhist as ah
from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism, staircase_profile, zipf_profile
from bundled import read_bundled, runs_of

EPSILONS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.8", "1", "1.1", "2", "4")


def profiles(largest: int) -> dict[str, ah.Profile]:
    """List the shapes, small ones first."""
    listed = {
        name: read_bundled(name) for name in ("bci_trees", "pw_myspace", "hamlet", "surnames", "pw_phpbb", "pw_rockyou")
    }
    for power in (4, 6, 8, 9):
        if 10**power <= largest:
            listed[f"Zipf, 10^{power} items"] = zipf_profile(10**power)
            listed[f"staircase, 10^{power} items"] = staircase_profile(10**power)
    return listed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--largest", type=int, default=10**8)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    epsilons = EPSILONS
    if options.quick:
        options.runs, options.largest, options.only, epsilons = 2, 10**4, "items", ("0.5", "4")
    rng = np.random.default_rng()
    print("Each cell: Frobenius / partition, the better one marked.\n")
    print(f"| profile | {' | '.join(f'ε = {epsilon}' for epsilon in epsilons)} |")
    print(f"|---|{'---|' * len(epsilons)}")
    for name, profile in profiles(options.largest).items():
        if options.only not in name:
            continue
        cells = []
        for epsilon in epsilons:
            means = []
            for kind in (FrobeniusMechanism, PartitionMechanism):
                runs = runs_of(kind(epsilon), profile, size=options.runs, rng=rng)
                means.append(float(np.mean([ah.properties.sorted_l1(profile, run) for run in runs])))
            shown = [f"{mean:,.0f}" if mean >= 10 else f"{mean:.1f}" for mean in means]
            best = int(means[1] < means[0])
            shown[best] = f"**{shown[best]}**"
            cells.append(" / ".join(shown))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

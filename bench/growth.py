"""How time and memory of one release grow with n, on the most expensive shape. Run as ``python bench/growth.py``.

The shape is the staircase, counts 1, 2, …, t with one label each: n = t(t+1)/2, the Durfee size is about √(n/2), and
all arms and legs are distinct. Each release is a process of its own; the operating system reports its peak memory.
With ``--plot``, the table is drawn, too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from children import Runs, measure

PROGRAM = """
import sys
import anonhist as ah
profile = ah.mechanisms.staircase_profile(int(sys.argv[3]))
room = ah.mechanisms
kinds = {"frobenius": room.FrobeniusMechanism, "partition": room.PartitionMechanism, "privhist": room.PrivHistMechanism}
kinds["bounded"] = lambda epsilon: room.BoundedPartitionMechanism(epsilon, public_items=2**40)
kinds[sys.argv[1]](sys.argv[2]).release(profile)
"""
CASES = [("frobenius", "1"), ("partition", "1"), ("partition", "4"), ("frobenius", "0.01"), ("partition", "0.01")]
CASES += [("privhist", "1"), ("privhist", "0.01"), ("bounded", "1")]


def draw(path: Path, sizes: list[int], found: dict[tuple[str, str], list[Runs]]) -> None:
    """Draw seconds against n, with a line of slope 1/2 to compare."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    styles = {"frobenius": ("#0b6e99", "o"), "partition": ("#b5460f", "s")}
    styles |= {"privhist": ("#4d7c0f", "D"), "bounded": ("#5b4a91", "^")}
    lines = {"1": "-", "4": ":", "0.01": "--"}
    for (mechanism, epsilon), runs in found.items():
        color, marker = styles[mechanism]
        times = [run.time for run in runs]
        label = f"{mechanism}, ε = {epsilon}"
        axes.loglog(sizes, times, color=color, marker=marker, linestyle=lines[epsilon], markersize=4, label=label)
    top = max(run[-1].time for run in found.values())
    axes.loglog(sizes, [top * 2 * (n / sizes[-1]) ** 0.5 for n in sizes], color="0.6", label="slope 1/2: √n")
    axes.set(xlabel="items n (all counts distinct)", ylabel="seconds a release, start-up included")
    axes.grid(which="major", color="0.9")
    axes.legend(frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--powers", type=int, nargs="*", default=[6, 7, 8, 9, 10, 11, 12])
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    cases = CASES
    if options.quick:
        options.powers, cases = [3, 4], CASES[:1]
    sizes = [10**power for power in options.powers]
    found: dict[tuple[str, str], list[Runs]] = {case: [] for case in cases}
    print(f"| n | {' | '.join(f'{mechanism}, ε = {epsilon}' for mechanism, epsilon in cases)} |")
    print(f"|---|{'---|' * len(cases)}")
    for size in sizes:
        commands = {" ".join(case): [sys.executable, "-c", PROGRAM, *case, str(size)] for case in cases}
        runs = measure(commands, rounds=1 if options.quick or size > 10**8 else 3, warm_up=False)
        for case in cases:
            found[case].append(runs[" ".join(case)])
        cells = [f"{run.time:.2f} s, {run.memory:,.0f} MiB" for run in runs.values()]
        print(f"| 10^{len(str(size)) - 1} | {' | '.join(cells)} |", flush=True)
        if options.plot:
            draw(options.plot, sizes[: len(found[cases[0]])], found)


if __name__ == "__main__":
    main()

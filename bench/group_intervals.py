"""How often intervals of groups hold, by size of group: ``python bench/group_intervals.py [--quick] [--groups R]``.

For each unit, ε and size, R groups of one shape are released together, once for each of six shapes: a Zipf law, counts
1, 2, 3, …, labels of one item, a single label, √n labels of √n items, and labels of five items. A cell of the table has
the lowest share, over all shapes and at most six k, of the R groups whose interval for φ_{k+} holds the truth; the mean
and the lowest share, over shapes, of groups whose interval for n does; and the mean half width of the intervals for n.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import anonhist as ah
from anonhist.mechanisms import staircase_profile, zipf_profile
from anonhist.profiles.grouped import GroupedProfile

if TYPE_CHECKING:
    from collections.abc import Iterator

EPSILONS = ("0.1", "1", "4")
SIZES = (10, 100, 1_000, 10_000, 100_000)
_LEVELS = 6
UNITS = {
    "items": ah.PrivacyUnit.item(),
    "users with at most 5 items in all groups": ah.PrivacyUnit.user(max_items=5),
    "users with at most 5 items in each of at most 7 groups": ah.PrivacyUnit.user(max_items=5, groups=7),
    "labels counted up to 20 times in at most 7 groups": ah.PrivacyUnit.label(max_count=20, groups=7),
}


def shapes(items: int) -> Iterator[ah.Profile]:
    """Yield profiles of about so many items."""
    side = math.isqrt(items)
    yield zipf_profile(items)
    yield staircase_profile(items)
    yield ah.Profile([1], [items])
    yield ah.Profile([items], [1])
    yield ah.Profile([side], [side])
    yield ah.Profile([5], [items // 5])


class Held(NamedTuple):
    """Shares of groups whose intervals hold, and the mean half width of those for n."""

    k_plus: float
    items: float
    width: float


def measure(profile: ah.Profile, unit: ah.PrivacyUnit, epsilon: str, groups: int) -> Held:
    """Release so many groups of one profile together."""
    data = GroupedProfile(("group",), {(str(at),): profile for at in range(groups)}, unit=unit)
    released = ah.release_groups(data, epsilon=epsilon)
    truth = released.mechanism.admit(profile)
    top = int(truth.counts[-1])
    levels = np.unique(np.rint(np.geomspace(1, top, min(top, _LEVELS))).astype(np.int64)).tolist()
    held, of_items, widths = np.zeros(len(levels)), 0, 0.0
    for each in released.values():
        for at, k in enumerate(levels):
            low, high = each.k_plus(k).interval
            held[at] += low <= truth.k_plus(k) <= high
        low, high = each.num_items().interval
        of_items += low <= truth.n <= high
        widths += (high - low) / 2
    return Held(float(held.min()) / groups, of_items / groups, widths / groups)


def cell_text(found: list[Held]) -> str:
    """Write a cell of the table."""
    of_items = [each.items for each in found]
    width = np.mean([each.width for each in found])
    return (
        f"{100 * min(each.k_plus for each in found):.0f}%; {100 * np.mean(of_items):.1f}% "
        f"({100 * min(of_items):.0f}%), ± {width:,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--groups", type=int, default=200)
    parser.add_argument("--epsilons", nargs="*", default=EPSILONS)
    parser.add_argument(
        "--units", nargs="*", choices=("items", "users", "labels"), default=("items", "users", "labels")
    )
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--quick", action="store_true", help="a few small groups, to see that it runs")
    options = parser.parse_args()
    if options.quick:
        options.groups, options.sizes, options.epsilons = 2, (10,), ("1",)
    for name, unit in UNITS.items():
        if name.split()[0] not in options.units:
            continue
        print(f"\n{name.capitalize()}: least for φ_{{k+}}; mean (least) for n, and its half width\n")
        print("| items in a group | " + " | ".join(f"ε = {epsilon}" for epsilon in options.epsilons) + " |")
        print("|---|" + "---|" * len(options.epsilons))
        for size in options.sizes:
            row = [
                cell_text([measure(profile, unit, epsilon, options.groups) for profile in shapes(size)])
                for epsilon in options.epsilons
            ]
            print(f"| {size:,} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()

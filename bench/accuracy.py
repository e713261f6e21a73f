"""Mean sorted ℓ1 error of real releases on the bundled data: run as ``python bench/accuracy.py [--releases 100]``.

Each figure is a mean over independent releases, ± its standard error. "target" is the best figure of this project's
earlier programs, which were prototypes and new implementations of published mechanisms: a mean minus two standard
errors may be at most the target. With ``--simulate --releases 4000``, the mechanism is simulated, which shows small
differences.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import anonhist as ah
from bundled import read_bundled

ROCKYOU_TARGETS = {"4": 76, "2": 560, "1.1": 1480, "1": 1800, "0.5": 3600, "0.1": 13060, "0.05": 18803, "0.01": 48020}
_MYSPACE = {"4": 0.92, "3": 2.5, "2": 6.5, "1.5": 11.3, "1.1": 18.7}
_MYSPACE |= {"1": 24.4, "0.9": 31.8, "0.7": 49.7, "0.5": 75.5, "0.25": 137, "0.1": 362}
_PHPBB = {"4": 3.6, "3": 10.7, "2": 29.7, "1.5": 49.6, "1.1": 79.0}
_PHPBB |= {"1": 100, "0.9": 129, "0.7": 188, "0.5": 277, "0.25": 531, "0.1": 1003}
_HAMLET = {"4": 4.6, "3": 12.3, "2": 34.6, "1.5": 58.2, "1.1": 90.0}
_HAMLET |= {"1": 115, "0.9": 146, "0.7": 215, "0.5": 320, "0.25": 517, "0.1": 894}
_EPSILONS = ("4", "3", "2", "1.5", "1.1", "1", "0.9", "0.7", "0.5", "0.25", "0.1", "0.05", "0.01")
TARGETS = {
    "pw_rockyou": ROCKYOU_TARGETS,
    "pw_phpbb": _PHPBB,
    "pw_myspace": _MYSPACE,
    "hamlet": _HAMLET,
    "bci_trees": {},
    "surnames": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=100)
    parser.add_argument("--data", nargs="*", default=list(TARGETS))
    parser.add_argument("--epsilon", nargs="*", default=None)
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--simulate", action="store_true", help="many runs at once, with simulation randomness")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.releases, options.data, options.epsilon = 2, ["pw_myspace", "hamlet"], ["1", "4"]
    print("| data | ε | mechanism | mean sorted ℓ1 | standard error | target | met | seconds a release |")
    print("|---|---|---|---|---|---|---|---|")
    for name in options.data:
        profile = read_bundled(name)
        for epsilon in options.epsilon or (ROCKYOU_TARGETS if name == "pw_rockyou" else _EPSILONS):
            start = time.perf_counter()
            count = 1 if options.simulate else options.releases
            releases = [ah.release(profile, epsilon=epsilon, mechanism=options.mechanism) for _ in range(count)]
            released = [release.profile for release in releases]
            if options.simulate:
                released = releases[0].mechanism.simulate(profile, size=options.releases, rng=np.random.default_rng())
            seconds = (time.perf_counter() - start) / options.releases
            errors = np.array([ah.properties.sorted_l1(profile, one) for one in released], dtype=float)
            mean, spread = errors.mean(), errors.std(ddof=1) / options.releases**0.5
            target = TARGETS[name].get(epsilon)
            met = "" if target is None else ("yes" if mean - 2 * spread <= target else "NO")
            shown = "" if target is None else f"{target:,}"
            digits = ".2f" if options.simulate else ".1f"
            used = releases[0].mechanism.name
            figures = f"{mean:,{digits}} | {spread:,{digits}} | {shown} | {met} | {seconds:.3f}"
            print(f"| {name} | {epsilon} | {used} | {figures} |", flush=True)


if __name__ == "__main__":
    main()

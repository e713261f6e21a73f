"""Every estimator on a whole profile, and from raw counts beside scikit-bio. Run as ``python bench/estimators.py``.

Our estimators take a profile, in which equal counts are one entry; scikit-bio takes an array with one count per label.
For a fair comparison, "ours from counts" starts with that array, too: it is the time to make the profile and to
estimate from it. All times are processor times of one thread.
Everything is called in turn, round after round, so that other work of the machine affects all alike; medians, minima
and maxima are printed. With ``--accuracy``, it prints errors of the entropies and support sizes, by simulation.
"""

from __future__ import annotations

import argparse
import math
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from skbio.diversity import alpha

import anonhist as ah
from anonhist.properties.by_name import PROPERTIES
from anonhist.properties.entropy import ENTROPY_METHODS, entropy_estimator
from anonhist.properties.estimator import value_of
from anonhist.properties.support_size import SUPPORT_SIZE_METHODS, support_size_estimator
from anonhist_papers.inspectre.errors import distributions
from bundled import PROFILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Estimator

ALPHABET = 10**8
MOST, MOST_PML = 0.05, 2.0
LABELS, ITEMS = 1000, (100, 300, 1000, 10_000)
TOLD = ("polynomial", "chebyshev", "pml")


@dataclass
class Side:
    """One function that is timed: what it returned, or how it failed, and the seconds of its calls."""

    call: Callable[[], float]
    seconds: list[float] = field(default_factory=list)
    value: float = math.nan
    trouble: str = ""

    def run(self) -> None:
        """Call it once."""
        start = process_time()
        try:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                self.value = float(self.call())
        except (ArithmeticError, MemoryError, ValueError) as error:
            self.trouble = f"{type(error).__name__}: {error}"
        else:
            self.trouble = "; ".join(sorted({str(each.message) for each in said}))
        self.seconds.append(process_time() - start)

    @property
    def later(self) -> list[float]:
        """Seconds of all calls but the first."""
        return self.seconds[1:]


@dataclass(frozen=True)
class Case:
    """One estimator with its options, and the function of scikit-bio that computes the same, if there is one."""

    title: str
    limit: float
    ours: Side
    peer: str = ""
    theirs: Side | None = None

    def row(self, making: float) -> str:
        """Return a row of the table; ``making`` is how many seconds it takes to make a profile of the counts."""
        ours, theirs = self.ours, self.theirs
        took = 1e3 * median(ours.later)
        spread = f"{1e3 * min(ours.later):.2f}–{1e3 * max(ours.later):.2f}"
        met = "yes" if took <= 1e3 * self.limit else "NO"
        cells = [self.title, f"{1e3 * ours.seconds[0]:.1f}", f"{took:.2f}", spread, f"{1e3 * self.limit:,.0f}", met]
        cells += [f"{ours.value:.10g}"]
        if theirs is None:
            return f"| {' | '.join([*cells, *[''] * 6])} |"
        other = median(theirs.later)
        apart = abs(theirs.value / ours.value - 1) if ours.value else abs(theirs.value)
        from_counts = making + took / 1e3
        cells += [self.peer, f"{other:.3f}", f"{from_counts:.3f}", f"{other / from_counts:.2f}", f"{theirs.value:.10g}"]
        cells += [(f"{apart:.0e}" if apart else "0") + (f" ({theirs.trouble})" if theirs.trouble else "")]
        return f"| {' | '.join(cells)} |"


def peer(name: str, options: dict[str, Any]) -> tuple[str, Callable[[NDArray[np.int64]], float]] | None:
    """Return the same function of scikit-bio: its name, and a call on counts."""
    q = options.get("order")
    plain: dict[tuple[str, str | None], tuple[str, Callable[[NDArray[np.int64]], float]]] = {
        ("entropy", "plug-in"): ("shannon", lambda c: alpha.shannon(c, base=math.e)),
        ("support-size", "observed"): ("sobs", alpha.sobs),
        ("support-size", "chao1"): ("chao1", alpha.chao1),
        ("support-size", "ace"): ("ace", alpha.ace),
        ("sample-coverage", "good-turing"): ("goods_coverage", alpha.goods_coverage),
        ("hill-number", "plug-in"): ("hill", lambda c: alpha.hill(c, order=q)),
        ("renyi-entropy", "plug-in"): ("renyi", lambda c: alpha.renyi(c, order=q)),
        ("tsallis-entropy", "plug-in"): ("tsallis", lambda c: alpha.tsallis(c, order=q)),
        ("min-entropy", None): ("renyi, order = ∞", lambda c: alpha.renyi(c, order=math.inf)),
        ("simpson", None): ("dominance, finite", lambda c: alpha.dominance(c, finite=True)),
        ("gini-simpson", None): ("simpson, finite", lambda c: alpha.simpson(c, finite=True)),
        ("hill-number", "unbiased"): ("inv_simpson, finite", lambda c: alpha.inv_simpson(c, finite=True)),
    }
    return plain.get((name, options.get("method")))


def list_properties(profile: ah.Profile) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every property of the catalogue by each method, with options."""
    for name, each in PROPERTIES.items():
        for method in each.methods or (None,):
            options: dict[str, Any] = {} if method is None else {"method": method}
            if "alphabet_size" in each.required or method in TOLD:
                options["alphabet_size"] = ALPHABET
            if "order" in each.options:
                whole = method == "unbiased" or name == "power-sum"
                several = (2,) if whole else (0, 0.5, 1, 2) if name == "hill-number" else (0.5, 2)
                yield from ((name, {**options, "order": order}) for order in several)
            elif "draws" in each.options:
                several = (0.5,) if method == "rarefaction" else (2,) if method == "good-toulmin" else (2, 5)
                yield from ((name, {**options, "draws": int(times * profile.n)}) for times in several)
            elif name == "guessing-success":
                yield from ((name, {**options, "guesses": guesses}) for guesses in (10, 10**6))
            elif "share" in each.options:
                yield from ((name, {**options, "share": share}) for share in (0.25, 0.5))
            else:
                yield name, options
            if method == "pml" and "alphabet_size" not in each.required:
                yield name, {"method": method}


def cases(profile: ah.Profile, counts: NDArray[np.int64]) -> Iterator[Case]:
    """Yield what is timed."""

    def case(name: str, options: dict[str, Any], of: Callable[[Estimate], float], title: str = "") -> Case:
        ours = Side(lambda: of(PROPERTIES[name].estimate(profile, **options)))
        told = ", ".join(f"{option} = {value:,}" for option, value in options.items() if option != "method")
        titles = (title or name, options.get("method", ""), told)
        limit = MOST_PML if options.get("method") == "pml" else MOST
        found = peer(name, options) if not title else INTERVALS[title]
        if found is None:
            return Case(", ".join(filter(None, titles)), limit, ours)
        named, function = found
        return Case(", ".join(filter(None, titles)), limit, ours, named, Side(lambda: function(counts)))

    for name, options in list_properties(profile):
        yield case(name, options, lambda estimate: estimate.value)
    yield case(
        "sample-coverage", {"method": "good-turing"}, lambda estimate: estimate.interval[0], "lower end of coverage"
    )


# Our call gives value and interval at once. Esty's interval is one of what is missing to full coverage.
INTERVALS: dict[str, tuple[str, Callable[[NDArray[np.int64]], float]]] = {
    "lower end of coverage": ("1 − esty_ci", lambda counts: 1 - alpha.esty_ci(counts)[1]),
}


def speed(data: Path, rounds: int) -> None:
    """Time everything in turn."""
    profile = ah.read_profile(data)
    counts = np.random.default_rng(1).permutation(profile.partition().astype(np.int64))
    making = Side(lambda: ah.Profile.from_counts(counts).n)
    print(f"{data.name}: n = {profile.n:,}, {profile.num_labels:,} labels, {profile.counts.size:,} distinct counts.\n")
    timed = list(cases(profile, counts))
    sides = [making, *(side for case in timed for side in (case.ours, case.theirs) if side is not None)]
    for _ in range(rounds + 1):
        for side in sides:
            side.run()
    heads = ["estimator", "first call ms", "median ms", "least–most", "limit ms", "met", "value", "scikit-bio"]
    heads += ["median s", "ours from counts s", "scikit-bio / ours from counts", "its value", "relative difference"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    made = median(making.later)
    for case in timed:
        print(case.row(made))
    took = [1e3 * median(case.ours.later) for case in timed if case.limit == MOST]
    ratios = [median(case.theirs.later) / (made + median(case.ours.later)) for case in timed if case.theirs]
    print(f"\nTo make the profile of the counts takes {made:.3f} s.")
    print(f"From the profile, all but maximum likelihood take {min(took):.2f} to {max(took):.2f} ms.")
    print(f"From the counts, scikit-bio takes {min(ratios):.2f} to {max(ratios):.2f} times as long as both together.")


def accuracy(trials: int, seed: int, several: Sequence[int]) -> None:
    """Print root mean squared errors over samples from distributions of 1,000 labels."""
    entropies = {name: entropy_estimator(name, None) for name in ENTROPY_METHODS if name != "polynomial"}
    entropies |= {f"{name}, told k": entropy_estimator(name, LABELS) for name in ("polynomial", "pml")}
    sizes = {name: support_size_estimator(name, None) for name in SUPPORT_SIZE_METHODS if name != "chebyshev"}
    sizes |= {f"{name}, told k": support_size_estimator(name, LABELS) for name in ("chebyshev", "pml")}
    groups: dict[str, dict[str, Estimator]] = {"entropy, bits": entropies, "support size, labels": sizes}
    rng = np.random.default_rng(seed)
    shapes = list(distributions(LABELS, rng))
    squares: dict[tuple[str, str, int, str], list[float]] = {}
    for items in several:
        for _ in range(trials):
            for shape, p in distributions(LABELS, rng).items():
                profile = ah.Profile.from_counts(rng.multinomial(items, p))
                truths = (-float(p[p > 0] @ np.log(p[p > 0])), float(LABELS))
                units = (1 / math.log(2), 1.0)
                for (group, methods), truth, unit in zip(groups.items(), truths, units, strict=True):
                    for name, estimator in methods.items():
                        error = unit * (value_of(estimator, profile) - truth)
                        squares.setdefault((group, name, items, shape), []).append(error**2)
    for group, methods in groups.items():
        print(f"| RMSE of {group} | n | {' | '.join(shapes)} | geometric mean |\n|---|---|{'---|' * len(shapes)}---|")
        for name in methods:
            for items in several:
                errors = [squares[group, name, items, shape] for shape in shapes]
                mean = math.prod(math.sqrt(float(np.mean(each))) for each in errors) ** (1 / len(shapes))
                cells = [*map(write_root, errors), f"{mean:,.0f}" if mean >= 10 else f"{mean:.3f}"]
                print(f"| {name} | {items:,} | {' | '.join(cells)} |")
        print()


def write_root(squares: list[float]) -> str:
    """Write the root of the mean with its standard error."""
    rmse = math.sqrt(float(np.mean(squares)))
    error = float(np.std(squares, ddof=1)) / math.sqrt(len(squares)) / (2 * rmse) if rmse else 0.0
    return f"{rmse:,.0f} ± {error:.0f}" if rmse >= 10 else f"{rmse:.3f} ± {error:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=PROFILES["pw_rockyou"], help="a CSV of counts and prevalences")
    parser.add_argument("--rounds", type=int, default=7, help="timed calls of each, after a first one")
    parser.add_argument("--accuracy", action="store_true", help="errors by simulation instead of times")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    several = ITEMS
    if options.quick:
        options.data, options.rounds, options.trials, several = PROFILES["bci_trees"], 1, 2, ITEMS[:1]
    if options.accuracy:
        accuracy(options.trials, options.seed, several)
    else:
        speed(options.data, options.rounds)


if __name__ == "__main__":
    main()

"""How often intervals of species tables hold: ``python bench/species_intervals.py [--runs 40] [--private]``.

Samples are drawn from communities that no test and no rule was tuned to. The truth on curves is the Hill number
expected of as many draws from the community, at equal coverage that of as many draws as cover so much; of whole
communities it is the number of their species. Sizes are small (100 individuals, 30 units) and large (1,500 and 200).
"Holds" is the share of runs whose 95% interval holds the truth, of the runs that show one.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.species import IncidenceFrequencies, SamplingUnits, compare_sites, release_incidence, species_richness
from anonhist.species.sample import ReferenceSample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RNG = np.random.default_rng(2026)
SHAPES: dict[str, Floats] = {
    "log-normal, σ = 2, 400": np.exp(2.0 * RNG.normal(size=400)),
    "geometric 0.8, 40": 0.8 ** np.arange(40.0),
    "Zipf 1.3, 500": np.arange(1.0, 501) ** -1.3,
    "20 common and 300 rare": np.repeat([1.0, 0.01], [20, 300]),
    "uniform, 100": np.ones(100),
    "broken stick, 200": RNG.exponential(size=200),
    "gamma ½, 150": RNG.gamma(0.5, size=150) + 1e-6,
    "one dominant and 60": np.repeat([1.0, 0.01], [1, 60]),
}
SIZES = {False: (100, 1_500), True: (30, 200)}
# By the interval, and by the shape and the size: whether it holds; None if there is none.
Results = dict[str, dict[str, list[bool | None]]]
METHODS = ("chao2", "chao2-bc", "ice", "ice-1")


class Community:
    """Shares of species, or their chances in a unit, and what draws from it show."""

    def __init__(self, weights: Floats, *, of_units: bool) -> None:
        self.of_units = of_units
        self.chances = 0.6 * weights / weights.max() if of_units else weights / weights.sum()
        self._known: dict[int, float] = {}

    def draw(self, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the count of each species."""
        return rng.binomial(size, self.chances) if self.of_units else rng.multinomial(size, self.chances)

    def coverage(self, size: float) -> float:
        """Return the expected coverage of a sample."""
        return 1 - float(self.chances @ (1 - self.chances) ** size) / float(self.chances.sum())

    def hill(self, order: int, size: int) -> float:
        """Return the Hill number of the expected numbers of species with each count."""
        p, total = self.chances, size * float(self.chances.sum())
        if order == 0:
            return float((1 - (1 - p) ** size).sum())
        if order == 2:
            return total**2 / float((size * (size - 1) * p**2 + size * p).sum())
        # On a straight line between sizes that differ by a tenth.
        low = math.floor(math.log(size, 1.1))
        ends = [max(round(1.1**power), 1) for power in (low, low + 1)]
        values = [self._shannon(end) for end in ends]
        return float(np.interp(size, ends, values)) if ends[1] > ends[0] else self._shannon(size)

    def _shannon(self, size: int) -> float:
        if size not in self._known:
            from scipy.stats import binom

            total, k = size * float(self.chances.sum()), np.arange(2, size + 1)[:, None]
            logs = float((binom.pmf(k, size, self.chances) * k * np.log(k)).sum())
            self._known[size] = math.exp(math.log(total) - logs / total)
        return self._known[size]

    def size_at(self, coverage: float) -> int:
        """Return the number of draws with this coverage, rounded."""
        low, high = 1.0, 1e6
        while high - low > 0.1:
            middle = (low + high) / 2
            low, high = (middle, high) if self.coverage(middle) < coverage else (low, middle)
        return max(round(high), 1)


def held(community: Community, size: int, rng: np.random.Generator) -> Iterator[tuple[str, bool | None]]:
    """Return, for each interval of a sample, whether it holds the truth; None if there is none."""
    counts = community.draw(size, rng)
    if (counts > 0).sum() < 2:
        return
    profile = Profile.from_counts(counts)
    data = IncidenceFrequencies(size, profile) if community.of_units else profile
    sizes = (max(size // 10, 2), size, 2 * size)
    names = dict(zip(sizes, ("n/10", "n", "2n"), strict=True))
    sample = ReferenceSample.of(data)
    shared = {"coverage": [most for most in (sample.coverage(size // 2), sample.coverage(2 * size)) if 0 < most < 1]}
    found = compare_sites({"a": data}, size=sizes, **shared, points=0, bootstraps=20, rng=rng)
    for row in found.of("equal size"):
        truth = community.hill(row.order, int(row.size))
        yield f"curve, order {row.order}, {names[int(row.size)]}", _holds(row.low, row.high, truth)
    for row in found.of("equal coverage"):
        truth = community.hill(row.order, community.size_at(row.coverage))
        yield f"equal coverage, order {row.order}, {row.kind}", _holds(row.low, row.high, truth)
    for row in found.of("asymptote"):
        if row.order == 0:
            yield "asymptote, order 0, lower end", _holds(row.low, math.inf, community.chances.size)
    if isinstance(data, IncidenceFrequencies):
        for method in METHODS:
            low, high = species_richness(data, method=method).interval  # type: ignore[arg-type]
            yield method, _holds(low, high, community.chances.size)
            yield f"{method}, lower end", _holds(low, math.inf, community.chances.size)


def private(community: Community, size: int, rng: np.random.Generator) -> Iterator[tuple[str, bool | None]]:
    """Return the same for Chao2 from a release, of which the bound cuts nothing."""
    table = rng.random((size, community.chances.size)) < community.chances
    units = SamplingUnits([np.flatnonzero(row).tolist() for row in table])
    for epsilon in (1, 4):
        found = release_incidence(units, epsilon=epsilon, max_per_unit=community.chances.size)
        if len(found.release.profile) and found.sampling_units > 1:
            low, high = found.species_richness().interval
            shown = (math.nan, math.nan) if high == math.inf else (low, high)
            yield f"from a release, ε = {epsilon}", _holds(*shown, community.chances.size)
            yield f"from a release, ε = {epsilon}, lower end", _holds(shown[0], math.inf, community.chances.size)


def _holds(low: float, high: float, truth: float) -> bool | None:
    # What differs by a thousandth is no miss.
    return None if math.isnan(low) else low - truth / 1000 <= truth <= high + truth / 1000


def tell(results: Results) -> None:
    """Print the table."""
    print("| interval | shown | holds, all | holds least | where |")
    print("|---|---:|---:|---:|---|")
    for name, of_shapes in results.items():
        told = {shape: [each for each in seen if each is not None] for shape, seen in of_shapes.items()}
        every = [each for seen in told.values() for each in seen]
        shown = len(every) / sum(map(len, of_shapes.values()))
        if not every:
            print(f"| {name} | 0% | | | |")
            continue
        shares = {shape: float(np.mean(seen)) for shape, seen in told.items() if seen}
        worst = min(shares, key=shares.__getitem__, default=next(shape for shape in told if told[shape]))
        least = float(np.mean(told[worst]))
        error = math.sqrt(least * (1 - least) / len(told[worst]))
        print(f"| {name} | {shown:.0%} | {np.mean(every):.1%} | {least:.1%} ± {error:.1%} | {worst} |")


def main() -> None:
    """Print, for each interval, how often it holds where it holds least."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--private", action="store_true", help="measure releases instead")
    parser.add_argument("--quick", action="store_true", help="one run of two shapes")
    asked = parser.parse_args()
    runs, shapes = (1, list(SHAPES)[1:3]) if asked.quick else (asked.runs, list(SHAPES))
    measure: Callable[..., Iterator[tuple[str, bool | None]]] = private if asked.private else held
    results: Results = defaultdict(lambda: defaultdict(list))
    for of_units in (True,) if asked.private else (False, True):
        for shape in shapes:
            community = Community(SHAPES[shape], of_units=of_units)
            for size in SIZES[of_units]:
                rng = np.random.default_rng([len(shape), size, of_units])
                for _ in range(runs):
                    for name, holds in measure(community, size, rng):
                        kind = "units" if of_units else "individuals"
                        results[f"{name} ({kind})"][f"{shape}, {size:,}"].append(holds)
    tell(results)


if __name__ == "__main__":
    main()

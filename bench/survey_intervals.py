"""How often intervals of surveys hold: ``python bench/survey_intervals.py [--quick] [--runs R] [--only PART] …``.

People are drawn from each of the shapes of bench/ten_shapes.py and answer on their own devices. Intervals must hold
the shares among those very people. There are three parts: known values, with every mechanism and with the one that
``recommend`` names; any texts in cohorts, half of which nobody lists; and values that are found without a list.
"""

from __future__ import annotations

import argparse
import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist import local
from anonhist.local.mechanisms import recommend
from anonhist_testing.sources import SeededSource
from ten_shapes import REAL, named_shapes, random_shapes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

SEED = 20_261_122
# Intervals hold if they do so often at least: at a level of 95 %, of shapes that nothing was tuned to.
LEAST = 0.92
CLOSED: dict[str, Callable[..., Any]] = {
    "k-rr": local.KRR,
    "subset-selection": local.SubsetSelection,
    "projective-geometry": local.ProjectiveGeometry,
    "hybrid-projective-geometry": local.HybridProjectiveGeometry,
    "hadamard-response": local.HadamardResponse,
    "optimized-unary": local.OptimizedUnary,
    "k-rappor": local.KRAPPOR,
    "local-hashing": local.LocalHashing,
}
RECOMMENDED = "recommended"
COHORTS: dict[str, Callable[[str, float], Any]] = {
    f"{name}, {buckets} buckets, {cohorts} cohorts": lambda key, epsilon, make=make, c=cohorts, k=buckets: make(
        buckets=k, cohorts=c, key=key, epsilon=epsilon
    )
    for name, make in (("o-rr", local.ORR), ("o-rappor", local.ORAPPOR))
    for buckets, cohorts in ((16, 2), (64, 2), (64, 8))
}


@dataclass
class Held:
    """How often intervals held: of one survey after the other.

    Attributes
    ----------
    each
        The share of single intervals that held, of values that occur.
    together
        Whether all simultaneous intervals did.
    widths
        How wide these are on average.
    ratios
        Estimates by true shares, of values that were found.
    """

    each: list[float]
    together: list[bool]
    widths: list[float]
    ratios: list[float]

    def add(self, estimate: Any, truth: NDArray[np.float64]) -> None:
        """Compare one estimate with the shares of its people, in the order of its labels."""
        held = [
            (ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])
            for ends in (estimate.intervals, estimate.simultaneous_intervals)
        ]
        if (truth > 0).any():
            self.each.append(float(held[0][truth > 0].mean()))
        self.together.append(bool(held[1].all()))
        self.widths.append(float(np.diff(estimate.simultaneous_intervals).mean()))


@cache
def shapes(labels: int, *, quick: bool) -> dict[str, NDArray[np.float64]]:
    """Return the shapes over so many labels; the real data sets have more, and are left out."""
    every = {name: p for name, p in named_shapes(labels).items() if name not in REAL} | random_shapes(labels)
    return dict(list(every.items())[::9]) if quick else every


def drawing(
    p: NDArray[np.float64], users: int, epsilon: float, runs: int
) -> Iterator[tuple[np.random.Generator, SeededSource]]:
    """Yield what draws people and reports, for each survey of a setting its own, and always the same."""
    setting = (SEED, zlib.crc32(p.tobytes()), users, round(1000 * epsilon))
    for run in range(runs):
        yield np.random.default_rng((*setting, run)), SeededSource((*setting, run, 1))


def survey_known(mechanism: str, p: NDArray[np.float64], users: int, epsilon: float, runs: int) -> Held:
    """Survey people about known values, so often."""
    name = mechanism
    if name == RECOMMENDED:
        name = recommend(alphabet_size=p.size, epsilon=epsilon, users=users).best
    survey, held = CLOSED[name](alphabet=p.size, epsilon=epsilon), Held([], [], [], [])
    for rng, source in drawing(p, users, epsilon, runs):
        people = rng.choice(p.size, users, p=p)
        tally = survey.tally(survey.randomize(people, source=source))
        held.add(survey.estimate(tally, decoder="unbiased"), np.bincount(people, minlength=p.size) / users)
    return held


def cohorts(mechanism: str, p: NDArray[np.float64], users: int, epsilon: float, runs: int) -> Held:
    """Survey people about texts, every other one of which is a candidate, beside as many that nobody has.

    The most frequent text is no candidate.
    """
    held = Held([], [], [], [])
    texts = np.array([f"text {number}" for number in range(p.size)])
    listed = [*texts[1::2], *(f"nobody {number}" for number in range(p.size // 2))]
    for rng, source in drawing(p, users, epsilon, runs):
        survey = COHORTS[mechanism](f"key {rng.integers(1 << 32)}", epsilon)
        people = rng.choice(p.size, users, p=p)
        tally = survey.tally(survey.randomize(texts[people], source=source))
        shares = np.bincount(people, minlength=p.size)[1::2] / users
        truth = np.concatenate((shares, np.zeros(p.size // 2)))
        held.add(survey.estimate(tally, candidates=listed, decoder="unbiased"), truth)
    return held


def survey_unknown(mechanism: str, p: NDArray[np.float64], users: int, epsilon: float, runs: int) -> Held:
    """Find values without a list, and compare those that were found with their shares."""
    del mechanism
    held = Held([], [], [], [])
    survey = local.HeavyHitters(epsilon=epsilon, max_bytes=3, characters="0123456789")
    for rng, source in drawing(p, users, epsilon, runs):
        texts = np.array([f"{number:03d}" for number in rng.permutation(1000)[: p.size]])
        people = rng.choice(p.size, users, p=p)
        tally = survey.tally(survey.randomize(texts[people].tolist(), source=source))
        estimate = survey.estimate(tally, decoder="unbiased")
        if not estimate.labels:
            continue
        shares = dict(zip(texts.tolist(), (np.bincount(people, minlength=p.size) / users).tolist(), strict=True))
        truth = np.array([shares.get(label, 0.0) for label in estimate.labels])
        held.add(estimate, truth)
        held.ratios += (estimate.raw[truth > 0] / truth[truth > 0]).tolist()
    return held


@dataclass(frozen=True)
class Part:
    """One table: what is done, with which mechanisms, and in which settings.

    Attributes
    ----------
    title
        What the table is of.
    survey
        Runs surveys in one setting.
    mechanisms
        Names.
    settings
        Numbers of values, numbers of people and epsilons; all of them together.
    few
        Those of ``--quick``.
    """

    title: str
    survey: Callable[..., Held]
    mechanisms: Sequence[str]
    settings: tuple[Sequence[int], Sequence[int], Sequence[float]]
    few: tuple[Sequence[int], Sequence[int], Sequence[float]]

    def rows(self, runs: int, *, quick: bool) -> Iterator[tuple[str, int, int, float, dict[str, Held]]]:
        """Yield the surveys of every setting, by shape."""
        sizes, people, epsilons = self.few if quick else self.settings
        for mechanism in self.mechanisms:
            for labels in sizes:
                for users in people:
                    for epsilon in epsilons:
                        every = shapes(labels, quick=quick).items()
                        held = {name: self.survey(mechanism, p, users, epsilon, runs) for name, p in every}
                        yield mechanism, labels, users, epsilon, held


PARTS = {
    "closed": Part(
        "Known values",
        survey_known,
        [RECOMMENDED, *CLOSED],
        ((100, 1000), (1000, 30_000), (1, 5, 10)),
        ((20,), (300,), (8,)),
    ),
    "cohorts": Part(
        "Any texts, in cohorts",
        cohorts,
        list(COHORTS),
        ((40, 100), (3000, 30_000), (1, 4)),
        ((20,), (300,), (4,)),
    ),
    "found": Part(
        "Values found without a list",
        survey_unknown,
        ["heavy-hitters"],
        ((40, 200), (20_000, 100_000), (2, 4)),
        ((40,), (4000,), (6,)),
    ),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few small surveys, to see that everything runs")
    parser.add_argument(
        "--runs", type=int, help="surveys of each shape and setting; by default 50, and 2 where it must be quick"
    )
    parser.add_argument("--only", choices=PARTS, help="one table")
    parser.add_argument("--mechanism", action="append", help="one mechanism, or several if given again")
    parser.add_argument("--labels", type=int, action="append", help="how many values; may be given again")
    parser.add_argument("--users", type=int, action="append", help="how many people; may be given again")
    parser.add_argument("--epsilon", type=float, action="append", help="may be given again")
    options = parser.parse_args()
    runs = options.runs or (2 if options.quick else 50)
    for name, part in PARTS.items():
        if options.only not in (None, name):
            continue
        settings = part.few if options.quick else part.settings
        asked = (options.labels, options.users, options.epsilon)
        chosen: Any = tuple(given or usual for given, usual in zip(asked, settings, strict=True))
        mechanisms = options.mechanism or part.mechanisms
        table(Part(part.title, part.survey, mechanisms, chosen, chosen), runs, quick=options.quick)


def table(part: Part, runs: int, *, quick: bool) -> None:
    """Print one table: the mean over the shapes, and the worst."""
    print(f"\n{part.title}, {runs} surveys of every shape; single intervals are of values that occur.\n")
    print("| mechanism | values | people | ε | single | worst shape | all at once | worst shape | width | by share |")
    print("|---|---:|---:|---:|---:|---|---:|---|---:|---:|")
    below = cells = 0
    for mechanism, labels, users, epsilon, held in part.rows(runs, quick=quick):
        each = {name: float(np.mean(one.each)) for name, one in held.items() if one.each}
        together = {name: float(np.mean(one.together)) for name, one in held.items() if one.together}
        if not each or not together:
            print(f"| {mechanism} | {labels:,} | {users:,} | {epsilon:g} | nothing found | | | | | |", flush=True)
            continue
        ratios = [ratio for one in held.values() for ratio in one.ratios]
        texts = [
            text
            for shares in (each, together)
            for worst in [min(shares, key=shares.__getitem__)]
            for text in (f"{np.mean(list(shares.values())):.3f}", f"{shares[worst]:.3f} ({worst})")
        ]
        width = np.mean([width for one in held.values() for width in one.widths])
        ratio = f"{np.median(ratios):.2f}" if ratios else ""
        cells += len(each) + len(together)
        below += sum(is_below(values) for one in held.values() for values in (one.each, one.together) if values)
        print(
            f"| {mechanism} | {labels:,} | {users:,} | {epsilon:g} | {' | '.join(texts)} | {width:.2g} | {ratio} |",
            flush=True,
        )
    print(f"\nBelow {LEAST:.0%} by more than two standard errors: {below} of {cells} shapes and settings.")


def is_below(held: Sequence[float]) -> bool:
    """Say whether intervals hold less often than they must, beyond chance.

    The standard error is that of one yes or no a survey; the share of many intervals varies less.
    """
    return float(np.mean(held)) < LEAST - 2 * (LEAST * (1 - LEAST) / len(held)) ** 0.5


if __name__ == "__main__":
    main()

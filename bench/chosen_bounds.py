"""How much worse a privately chosen bound on the rows of each person or label is than the best, on twelve shapes.

For each distribution of rows per person, the error is the expected sorted ℓ1 distance between a release and the data
*before* anything was cut: rows cut and noise. The chosen bound is drawn with the usual share of ε, and the release has
the rest; the best bound is the candidate with the lowest error at the whole ε, which nobody knows. The probability of
each choice is computed exactly; errors with each bound are means of simulated releases. With ``--unit label`` the rows
are those of labels (``--max-count auto``), and rows beyond the bound are cut.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anonhist.mechanisms.bound_choosing import prepare_choice
from anonhist.mechanisms.choosing import pmf_by_scores
from anonhist.mechanisms.picking import choose
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import ChosenBound
from anonhist.profiles.distances import sorted_l1

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Generator = np.random.Generator
LABELS = 20_000
MOST = 10_000
# Items, ε and simulated releases.
USUAL = {"user": [(100_000, "1", 4), (20_000, "0.2", 64)], "label": [(100_000, "1", 250), (20_000, "0.2", 1_000)]}
SHAPES: dict[str, Callable[[Generator, int], Ints]] = {
    "all 5": lambda _, people: np.full(people, 5),
    "geometric, mean 2": lambda rng, people: rng.geometric(0.5, people),
    "geometric, mean 20": lambda rng, people: rng.geometric(0.05, people),
    "1 + Poisson, mean 10": lambda rng, people: 1 + rng.poisson(9, people),
    "Zipf, exponent 2.5": lambda rng, people: np.minimum(rng.zipf(2.5, people), MOST),
    "Zipf, exponent 1.8": lambda rng, people: np.minimum(rng.zipf(1.8, people), MOST),
    "log-normal, deviation 1": lambda rng, people: np.ceil(rng.lognormal(1, 1, people)).astype(np.int64),
    "log-normal, deviation 2": lambda rng, people: np.ceil(np.minimum(rng.lognormal(1, 2, people), MOST)).astype(int),
    "1 or, for one in ten, 60": lambda rng, people: np.where(rng.random(people) < 0.9, 1, 60),
    "geometric and bots of 5,000": lambda rng, people: np.where(
        rng.random(people) < 0.001, 5_000, rng.geometric(0.3, people)
    ),
    "even from 1 to 100": lambda rng, people: rng.integers(1, 101, people),
    "all 300": lambda _, people: np.full(people, 300),
}


@dataclass(frozen=True)
class Rows:
    """Rows of people: how many each has, and their labels, sorted by person and label."""

    sizes: Ints
    labels: Ints

    @classmethod
    def draw(cls, shape: Callable[[Generator, int], Ints], items: int, rng: Generator) -> Rows:
        """Draw about this many rows; the k-th label has a probability in proportion to 1/k."""
        mean = float(np.mean(shape(rng, 100_000)))
        sizes = shape(rng, max(10, round(items / mean)))
        weights = 1 / np.arange(1, LABELS + 1)
        labels = rng.choice(LABELS, size=int(sizes.sum()), p=weights / weights.sum())
        person = np.repeat(np.arange(sizes.size), sizes)
        return cls(sizes, labels[np.lexsort((labels, person))])

    def sample(self, bound: int, rng: Generator) -> Profile:
        """Return the profile of a systematic sample of at most this many rows of each person."""
        total = np.repeat(self.sizes, self.sizes)
        start = np.repeat(rng.integers(0, self.sizes), self.sizes)
        number = np.arange(total.size) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes) + 1
        kept = (total <= bound) | ((number * bound + start) % total < bound)
        return Profile.from_counts(np.bincount(self.labels[kept], minlength=LABELS))

    def unit(self, bound: int) -> PrivacyUnit:
        """Return the unit with this bound."""
        return PrivacyUnit.user(max_items=bound)


class Labels(Rows):
    """Labels with so many rows each: what is beyond a bound is cut."""

    def sample(self, bound: int, rng: Generator) -> Profile:
        """Return the profile of at most this many rows of each label."""
        return Profile.from_counts(np.minimum(self.sizes, bound))

    def unit(self, bound: int) -> PrivacyUnit:
        """Return the unit with this bound."""
        return PrivacyUnit.label(max_count=bound)


class Regret(NamedTuple):
    """The error with a chosen bound over that with the best one, and its standard error."""

    regret: float
    error: float
    best: int
    likely: int
    chance: float
    share: float


def errors_of(
    rows: Rows, truth: Profile, epsilon: object, bounds: list[int], releases: int, rng: Generator
) -> tuple[Floats, Floats]:
    """Return the mean distance of releases with each bound from the uncut data, and its standard error."""
    found = []
    for bound in bounds:
        mechanism, _ = choose(epsilon=str(epsilon), unit=rows.unit(bound))
        samples = (mechanism.admit(rows.sample(bound, rng)) for _ in range(releases))
        own = [mechanism.simulate(each, size=1, rng=rng)[0] for each in samples]
        found.append([sorted_l1(truth, run) for run in own])
    measured = np.array(found, dtype=float)
    return measured.mean(axis=1), measured.std(axis=1, ddof=1) / releases**0.5


def regret_of(rows: Rows, epsilon: str, items: int, releases: int, rng: Generator) -> Regret:
    """Measure one distribution."""
    truth = rows.sample(int(rows.sizes.max()), rng)
    asked = ChosenBound(epsilon, items)
    choice = prepare_choice(asked, rows.unit(asked.largest))
    values, many = np.unique(rows.sizes, return_counts=True)
    bounds = [unit.bound for unit in choice.units]
    scores = choice.scores(dict(zip(values.tolist(), many.tolist(), strict=True)))
    chances = pmf_by_scores(scores, choice.rate)
    ours, spreads = errors_of(rows, truth, asked.rest, bounds, releases, rng)
    given, others = errors_of(rows, truth, asked.epsilon, bounds, releases, rng)
    best, likely, own = int(np.argmin(given)), int(np.argmax(chances)), float(chances @ ours)
    error = np.hypot(np.linalg.norm(chances * spreads) / own, others[best] / given[best])
    regret = own / float(given[best])
    return Regret(regret, regret * error, bounds[best], bounds[likely], float(chances[likely]), own / truth.n)


def summary(found: list[Regret]) -> str:
    """Return the median and the largest regret, with standard errors from those of all regrets."""
    means, errors = (np.array(side) for side in zip(*((each.regret, each.error) for each in found), strict=True))
    again = np.random.default_rng(20261128).normal(means, errors, (1_000, means.size))
    told = {"median": np.median, "worst": np.max}
    return ", ".join(f"{name} {of(means):.2f} ± {of(again, axis=1).std():.2f}" for name, of in told.items())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unit", choices=list(USUAL), default="user", help="whose rows are bounded")
    parser.add_argument("--epsilon", nargs="+", help="with --items: all pairs of them, instead of the usual ones")
    parser.add_argument("--items", type=float, nargs="+")
    parser.add_argument("--expected", type=float, default=1, help="the public guess, in units of the truth")
    parser.add_argument("--releases", type=int, default=16, help="with --items")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    asked = parser.parse_args()
    if asked.quick:
        asked.items, asked.releases = [200], 2
    pairs = [(int(items), epsilon) for items in asked.items or () for epsilon in asked.epsilon or ["1"]]
    settings = [(*pair, asked.releases) for pair in pairs] or USUAL[asked.unit]
    whose = "person" if asked.unit == "user" else "label"
    columns = "regret", "best bound", "likeliest bound", "its probability", "error of all items"
    print(f"| items | ε | rows per {whose} | {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|---|---|")
    for items, epsilon, releases in settings:
        found: list[Regret] = []
        for number, (name, shape) in enumerate(SHAPES.items()):
            rng = np.random.default_rng([20261128, number, items])
            rows = (Rows if asked.unit == "user" else Labels).draw(shape, items, rng)
            told = regret_of(rows, epsilon, round(asked.expected * items), releases, rng)
            found.append(told)
            bounds = f"{told.best} | {told.likely} | {told.chance:.0%} | {told.share:.2%}"
            print(f"| {items:,} | {epsilon} | {name} | {told.regret:.2f} ± {told.error:.2f} | {bounds} |", flush=True)
        print(f"| {items:,} | {epsilon} | {summary(found)} | | | | | |", flush=True)


if __name__ == "__main__":
    main()

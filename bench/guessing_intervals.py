"""How often intervals of guessing metrics hold. Run as ``python bench/guessing_intervals.py [--runs 40]``.

Samples of independent accounts are drawn from shapes, released, and the metrics that papers on passwords print are
estimated from each release: of the data, whose truth is that of the sample, and of the distribution. The shares of
RockYou, phpBB and MySpace are shapes too; nothing was tuned to the drawn ones. ε = none means estimates from the sample
itself. An infinite end always holds. If one held in less than 92% of the runs of a setting, ten times as many new runs
decide.

``--quick`` draws few samples of few shapes, to see that all of it runs.
"""

from __future__ import annotations

import argparse
import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.profiles import Profile
from anonhist.properties.estimate import Holds
from anonhist.properties.estimator import Sample
from anonhist.properties.guessing_curve import GuessingSuccess, success_interval
from anonhist.properties.guessing_interval import BandInterval
from anonhist.properties.share_band import band_of
from anonhist.properties.share_cost import Guesswork, WorkFactor, cost_interval
from ten_shapes import DATA, random_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from anonhist.properties.estimator import Estimator
    from anonhist.properties.share_band import GuessedOf

    Shares = NDArray[np.float64]

ALPHAS, BETAS = ("0.1", "0.25", "0.5"), (10, 100, 1000)
LEAKS = {"RockYou": "pw_rockyou.csv", "phpBB": "pw_phpbb.csv", "MySpace": "pw_myspace.csv"}
WANTED, _SURE = 0.92, 10


def metrics() -> dict[str, tuple[Estimator, BandInterval]]:
    """Return each metric: its estimator and its interval."""
    found: dict[str, tuple[Estimator, BandInterval]] = {}
    for beta in BETAS:
        found[f"λ_{beta}"] = GuessingSuccess(beta), success_interval(beta)
    for alpha in ALPHAS:
        for name, kind in (("μ̃", WorkFactor), ("G̃", Guesswork)):
            cost = kind(Fraction(alpha), "bits")
            found[f"{name}_{alpha}"] = cost, cost_interval(cost)
    return found


def of_distribution(p: Shares) -> dict[str, float]:
    """Return the true metrics of p, largest first."""
    best = np.cumsum(p)
    found = {f"λ_{beta}": float(best[min(beta, p.size) - 1]) for beta in BETAS}
    for alpha in ALPHAS:
        at = int(np.searchsorted(best, float(alpha) - 1e-12)) + 1
        covered = float(best[at - 1])
        work = (1 - covered) * at + float(np.arange(1, at + 1) @ p[:at])
        found[f"μ̃_{alpha}"] = math.log2(at / covered)
        found[f"G̃_{alpha}"] = math.log2(max((2 * work / covered - 1) / (2 - covered), 1.0))
    return found


def shapes(labels: int) -> dict[str, Shares]:
    """Return shapes over so many labels, and those of three leaks, all largest first."""
    ranks, rng = np.arange(1.0, labels + 1), np.random.default_rng(labels)
    found = {
        "uniform": np.ones(labels),
        "heaped": np.repeat([50.0, 10.0, 1.0], [labels // 50, labels // 5, labels - labels // 50 - labels // 5]),
        "geometric": np.exp(-10 * ranks / labels),
        "Zipf, 0.7": ranks**-0.7,
        "Zipf, 1": 1 / ranks,
        "log-normal": np.sort(rng.lognormal(sigma=2, size=labels))[::-1],
    }
    drawn = random_shapes(labels, first=20)
    found |= {name: np.sort(drawn[name])[::-1] for name in ("drawn 21", "drawn 23", "drawn 24")}
    for name, file in LEAKS.items():
        found[name] = ah.read_profile(DATA / file).partition().astype(np.float64)
    return {name: np.sort(weights / weights.sum())[::-1] for name, weights in found.items()}


def draw(p: Shares, items: int, rng: np.random.Generator) -> Profile:
    """Draw a sample of independent items."""
    drawn = np.searchsorted(np.cumsum(p), rng.random(items), side="right")
    return Profile.from_counts(np.unique(np.minimum(drawn, p.size - 1), return_counts=True)[1])


def intervals(data: Profile | ah.Release, of: GuessedOf) -> Iterator[tuple[str, float, float]]:
    """Yield each metric with its interval; none if there is none. Bounds of the curve are computed once."""
    release = None if isinstance(data, Profile) else data
    if release is not None and release.k_plus(1).statement.holds is Holds.NONE:
        return
    sample = Sample(data if release is None else release.profile, 0.95, release)
    band = band_of(sample, of, *BETAS)
    for name, (estimator, interval) in metrics().items():
        low, high = interval.ends(band)
        low, high = max(low, interval.range[0]), min(high, interval.range[1])
        # Of the data, as the estimate has it: widened to hold the value.
        value = estimator.point(sample.profile).value
        yield name, *((min(low, value), max(high, value)) if of == "data" else (low, high))


def measured(
    p: Shares, items: int, epsilon: str, rng: np.random.Generator
) -> Iterator[tuple[str, str, float, float, float]]:
    """Draw a sample and release it; yield what each interval is of, the metric, the truth and the ends."""
    data = draw(p, items, rng)
    own = {name: estimator.point(data).value for name, (estimator, _) in metrics().items()}
    made = data if epsilon == "none" else ah.release(data, epsilon=epsilon)
    truths: dict[GuessedOf, dict[str, float]] = {"data": own, "distribution": of_distribution(p)}
    for of, true in truths.items():
        if of == "distribution" or epsilon != "none":
            yield from ((of, name, true[name], low, high) for name, low, high in intervals(made, of))


Held = dict[str, list[bool]]


def least(held: Held) -> str:
    """Return in what share of the runs an interval held: on average, and in the setting where it held least often."""
    shares = [float(np.mean(runs)) for runs in held.values()]
    return f"{100 * float(np.mean(shares)):.1f}, {100 * min(shares):.1f}"


def measured_often(
    p: Shares, items: int, epsilon: str, *, runs: int, rng: np.random.Generator
) -> Iterator[tuple[str, str, bool, float]]:
    """Yield of each interval of each run what it is of, the metric, whether it held, and its length over the truth."""
    for _ in range(runs):
        for of, name, true, low, high in measured(p, items, epsilon, rng):
            near = 1e-9 * abs(true)
            yield of, name, low - near <= true <= high + near, (high - low) / true if true else math.inf


def least_share(found: list[tuple[str, str, bool, float]]) -> float:
    """Return in what share of the runs the interval held that held least often."""
    held: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    for of, name, is_held, _ in found:
        held[of, name].append(is_held)
    return min(float(np.mean(each)) for each in held.values())


def worst_of(cells: dict[str, Held]) -> str:
    """Name the settings below the share wanted, or the worst one."""
    shares = {f"{name}, {where}": float(np.mean(runs)) for name, held in cells.items() for where, runs in held.items()}
    below = [f"{name}: {100 * share:.1f}" for name, share in shares.items() if share < WANTED]
    return "; ".join(below) or "none"


def table(head: str, rows: dict[tuple[str, str], list[str]], last: str = "") -> None:
    """Print a table with a row for each truth and ε, and a column for each metric."""
    names = [*metrics(), *([last] if last else [])]
    print(f"\n{head}\n\n| of | ε | {' | '.join(names)} |\n|---|---|{'---:|' * len(names)}")
    for (of, epsilon), cells in rows.items():
        print(f"| {of} | {epsilon} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--items", type=int, nargs="*", default=[2_000, 50_000])
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--epsilon", nargs="*", default=["none", "0.1", "0.5", "1", "2"])
    parser.add_argument("--only", nargs="*", default=(), help="names of the shapes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few samples of few shapes: only to see that it runs")
    options = parser.parse_args()
    runs, items, epsilons = options.runs, options.items, options.epsilon
    chosen = shapes(options.labels)
    if options.only:
        chosen = {name: chosen[name] for name in options.only}
    if options.quick:
        runs, items, epsilons = 1, [200], ["none", "2"]
        chosen = {name: chosen[name] for name in ("uniform", "MySpace")}
    held: defaultdict[tuple[str, str], dict[str, Held]] = defaultdict(
        lambda: {name: defaultdict(list) for name in names}
    )
    lengths: defaultdict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: {name: [] for name in names})
    names = list(metrics())
    for place, (shape, p) in enumerate(chosen.items()):
        for n in items:
            for number, epsilon in enumerate(epsilons):
                rng = np.random.default_rng([options.seed, place, n, number])
                found = list(measured_often(p, n, epsilon, runs=runs, rng=rng))
                # What is drawn again for one setting would outweigh all others in a median.
                for of, name, _, length in found:
                    lengths[of, epsilon][name].append(length)
                if not options.quick and least_share(found) < WANTED:
                    found = list(measured_often(p, n, epsilon, runs=_SURE * runs, rng=rng))
                for of, name, is_held, _ in found:
                    held[of, epsilon][name][f"{shape}, n = {n:,}"].append(is_held)
    print(f"{len(chosen)} shapes, n = {', '.join(f'{n:,}' for n in items)}, {runs} runs of each setting.")
    rows = {key: [*(least(cells[name]) for name in names), worst_of(cells)] for key, cells in sorted(held.items())}
    table("Held, in %: mean over all settings, and least.", rows, "below 92 %")
    spans = {
        key: [f"{100 * float(np.median(cells[name])):.2g}" for name in names] for key, cells in sorted(lengths.items())
    }
    table("Median length, in % of the truth; inf if most have one end.", spans)


if __name__ == "__main__":
    main()

"""Errors of the decoders of private sketches. Run as ``python bench/sketch_accuracy.py``.

All decoders read the same counters, so that their ratios are far more exact than their errors; each mean has its
standard error beside it. Simulations use NumPy's noise, on public data. ``--only`` runs one part.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

import anonhist as ah
from anonhist.sketches.decoder import Counters, CounterSetting, Decoder, Prevalences
from anonhist.sketches.inverses import WuPagh
from anonhist.sketches.noise import NoiseDistribution
from anonhist.sketches.release import DECODERS, OF_SHARED_COUNTERS, default_decoder
from bundled import DATA, read_bundled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Errors = dict[str, NDArray[np.float64]]

LARGEST, EPSILONS = 50, ("0.3", "1", "3")

SIMPLER = ("naive", "three-tap", "isotonic", "wu-pagh ℓ1", "wu-pagh ℓ2", "wu-pagh ℓ∞")
# The comparison is this project's own: the paper of Wu and Pagh has no experiments. (d, ε): ℓ1/ℓ2/ℓ∞ of a prototype,
# means of 5 runs; counts are min(Zipf(2) − 1, 50).
PROTOTYPE = {
    (10**4, "1"): {
        "naive": (0.246, 0.129, 0.115),
        "three-tap": (0.087, 0.025, 0.016),
        "wu-pagh ℓ2": (0.087, 0.025, 0.016),
        "isotonic": (0.082, 0.024, 0.015),
    },
    (10**5, "1"): {
        "naive": (0.235, 0.126, 0.113),
        "three-tap": (0.029, 0.0085, 0.0054),
        "wu-pagh ℓ2": (0.029, 0.0085, 0.0054),
        "isotonic": (0.029, 0.0085, 0.0054),
    },
    (10**6, "1"): {
        "naive": (0.235, 0.127, 0.114),
        "three-tap": (0.0080, 0.0018, 0.0010),
        "wu-pagh ℓ2": (0.0079, 0.0018, 0.0010),
        "isotonic": (0.0074, 0.0016, 0.0008),
    },
    (10**5, "0.3"): {
        "naive": (0.417, 0.175, 0.157),
        "three-tap": (0.235, 0.068, 0.035),
        "wu-pagh ℓ2": (0.229, 0.066, 0.035),
        "isotonic": (0.201, 0.062, 0.037),
    },
    (10**5, "3"): {
        "naive": (0.045, 0.027, 0.021),
        "three-tap": (0.0047, 0.0013, 0.0009),
        "wu-pagh ℓ2": (0.0047, 0.0013, 0.0009),
        "isotonic": (0.0046, 0.0013, 0.0008),
    },
}
PROTOTYPE_RUNS = 5

SHAPES: dict[str, Callable[[int, np.random.Generator], NDArray[np.int64]]] = {
    "Zipf(2) − 1, at most 50": lambda size, rng: np.minimum(rng.zipf(2, size) - 1, LARGEST),
    "all ones": lambda size, _: np.ones(size, dtype=np.int64),
    "all fifty": lambda size, _: np.full(size, 50),
    "two points, 1 and 20": lambda size, rng: np.where(rng.random(size) < 0.5, 1, 20),
    "Poisson(5)": lambda size, rng: rng.poisson(5, size),
    "uniform, 0..50": lambda size, rng: rng.integers(0, 51, size),
    "geometric, mean 4": lambda size, rng: rng.geometric(0.2, size) - 1,
}


def distribution_of(epsilon: str) -> NoiseDistribution:
    return NoiseDistribution.of([(Fraction(epsilon), Fraction(1))])


def decoders(setting: CounterSetting) -> tuple[dict[str, Decoder], str]:
    """Return all decoders by the name of their column, and which of them is the default."""
    found: dict[str, Decoder] = {
        name: make() for name, make in DECODERS.items() if name != "wu-pagh" and name not in OF_SHARED_COUNTERS
    }
    found |= {f"wu-pagh ℓ{norm.replace('inf', '∞')}": WuPagh(norm) for norm in ("1", "2", "inf")}
    default = default_decoder(setting)
    same = [column for column, decoder in found.items() if decoder == default]
    return found | ({} if same else {default.name: default}), same[0] if same else default.name


def error_of(found: Prevalences, counts: NDArray[np.int64]) -> list[float]:
    """Return ℓ1, ℓ2 and ℓ∞ of the normalized profile, estimates beyond the largest true count included."""
    size = counts.size
    true_counts, numbers = np.unique(counts, return_counts=True)
    every, places = np.unique(np.concatenate((true_counts, found.counts)), return_inverse=True)
    signed = np.concatenate((numbers, -found.numbers)) / size
    error = np.abs(np.bincount(places, weights=signed, minlength=every.size))
    return [float(error.sum()), float(np.sqrt((error**2).sum())), float(error.max())]


def errors_of(shape: str, size: int, epsilon: str, runs: int, rng: np.random.Generator) -> tuple[Errors, str]:
    """Return ℓ1, ℓ2, ℓ∞ of every run, shape (runs, 3), of each decoder; and which is the default."""
    setting = CounterSetting(distribution_of(epsilon), is_hashed=False)
    readers, default = decoders(setting)
    found: dict[str, list[list[float]]] = {name: [] for name in ["naive", *readers]}
    for _ in range(runs):
        counts = SHAPES[shape](size, rng)
        counters = counts + setting.noise.simulate(size, rng=rng)
        seen = Counters.of(np.clip(counters, 0, max(LARGEST, int(counts.max()))))
        found["naive"].append(error_of(Prevalences(seen.values, seen.numbers.astype(np.float64)), counts))
        observed = Counters.of(counters)
        for name, reader in readers.items():
            found[name].append(error_of(reader.decode(observed, setting), counts))
    return {name: np.array(each) for name, each in found.items()}, default


def standard_error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(values.size))


def ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> str:
    """Return the ratio of two means of the same runs, with its standard error."""
    found = above.mean() / below.mean()
    return f"{found:.2f} ± {standard_error(above - found * below) / below.mean():.2f}"


def cell_text(errors: NDArray[np.float64]) -> str:
    """Return means of ℓ1/ℓ2/ℓ∞, and the standard error of the first."""
    first, second, third = errors.mean(axis=0).tolist()
    return f"{first:.3g} ± {standard_error(errors[:, 0]):.1g} / {second:.2g} / {third:.2g}"


def row(label: str, errors: Errors, default: str) -> str:
    """Return a line of the table: all decoders, the default against the best other one, and wu-pagh against it."""
    others = [name for name in errors if name not in {default, "naive"}]
    best = min(others, key=lambda name: float(errors[name][:, 0].mean()))
    cells = [cell_text(each) for each in errors.values()]
    cells.append(f"{ratio(errors[default][:, 0], errors[best][:, 0])} ({best})")
    cells.append(ratio(errors["wu-pagh ℓ2"][:, 0], errors[default][:, 0]))
    return f"| {label} | {' | '.join(cells)} |"


def header(errors: Errors, default: str) -> str:
    names = [f"{name} (default)" if name == default else name for name in errors]
    titles = ["d, ε", *names, "ℓ1: default / best other", "ℓ1: wu-pagh ℓ2 / default"]
    return f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"


def table(runs: int, rng: np.random.Generator, *, largest: int) -> None:
    print(f"## Zipf(2) − 1, at most 50: ℓ1 ± standard error / ℓ2 / ℓ∞, {runs} runs\n")
    all_errors = {}
    figured = {place: figures for place, figures in PROTOTYPE.items() if place[0] <= largest}
    for place, (size, epsilon) in enumerate(figured):
        errors, default = errors_of("Zipf(2) − 1, at most 50", size, epsilon, runs, rng)
        all_errors[size, epsilon] = errors
        if not place:
            print(header(errors, default))
        print(row(f"{size:,}, {epsilon}", errors, default), flush=True)
    print("\n## The default against the best simpler decoder by each measure: ratio of errors ± standard error\n")
    print("| d, ε | ℓ1 | ℓ2 | ℓ∞ |\n|---|---|---|---|")
    for (size, epsilon), errors in all_errors.items():
        cells = []
        for measure in range(3):
            best = min(SIMPLER, key=lambda name: float(errors[name][:, measure].mean()))
            cells.append(f"{ratio(errors[default][:, measure], errors[best][:, measure])} ({best})")
        print(f"| {size:,}, {epsilon} | {' | '.join(cells)} |")
    print("\n## Against the figures of a prototype, means of 5 runs: ours / theirs for ℓ1, ℓ2, ℓ∞\n")
    print(
        "How far apart in standard errors: of both means, from the spread of our runs, less what theirs are rounded.\n"
    )
    print("| d, ε | decoder | ours / theirs | apart, in standard errors | ℓ1 within 10 % |")
    print("|---|---|---|---|---|")
    for (size, epsilon), figures in figured.items():
        for name, theirs in figures.items():
            ours = all_errors[size, epsilon][name]
            quotients = ours.mean(axis=0) / theirs
            spreads = ours.std(axis=0, ddof=1) * np.sqrt(1 / PROTOTYPE_RUNS + 1 / runs)
            rounded = [0.5 * 10.0 ** -len(f"{figure:.6f}".rstrip("0").partition(".")[2]) for figure in theirs]
            apart = np.maximum(np.abs(ours.mean(axis=0) - theirs) - rounded, 0) / spreads
            cells = [" / ".join(f"{each:.2f}" for each in quotients), " / ".join(f"{each:.1f}" for each in apart)]
            is_near = abs(quotients[0] - 1) <= 0.1
            print(f"| {size:,}, {epsilon} | {name} | {' | '.join(cells)} | {'yes' if is_near else 'NO'} |")


def shapes(runs: int, rng: np.random.Generator, *, names: Sequence[str], labels: int, epsilons: Sequence[str]) -> None:
    print(f"\n## Other shapes, {labels:,} labels: ℓ1 ± standard error / ℓ2 / ℓ∞, {runs} runs\n")
    is_first = True
    for shape in names:
        for epsilon in epsilons:
            errors, default = errors_of(shape, labels, epsilon, runs, rng)
            if is_first:
                print(header(errors, default))
                is_first = False
            print(row(f"{shape}, {epsilon}", errors, default), flush=True)


def real_profiles() -> dict[str, ah.Profile]:
    """Return real profiles of about a million labels: small ones repeated, RockYou thinned."""
    hamlet, clicks = read_bundled("hamlet"), ah.read_profile(DATA / "kosarak_clicks.csv")
    passwords = read_bundled("pw_rockyou")
    found = {}
    for name, profile in (("Hamlet", hamlet), ("Kosarak", clicks)):
        times = round(10**6 / profile.num_labels)
        found[f"{name}, {times} times"] = ah.Profile(profile.counts, profile.prevalences * times)
    kept = np.random.default_rng(1).binomial(passwords.prevalences, 10**6 / passwords.num_labels)
    found["RockYou, a sample"] = ah.Profile(passwords.counts[kept > 0], kept[kept > 0])
    return found | {"Hamlet": hamlet, "Kosarak": clicks}


def counters_of(counts: NDArray[np.int64], buckets: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return counters without noise: hashed, or those of a domain of which half the labels never occur."""
    if buckets is None:
        return np.concatenate((counts, np.zeros(counts.size, dtype=np.int64)))
    # Sums below 2^53 are exact.
    return np.bincount(rng.integers(buckets, size=counts.size), weights=counts, minlength=buckets).astype(np.int64)


def real(runs: int, rng: np.random.Generator, *, largest: int, epsilons: Sequence[str]) -> None:
    print("\n## Real profiles: ℓ1 of prevalences / labels, and sorted ℓ1 / items")
    print("\nA domain has twice as many labels as occur; B is the number of buckets.\n")
    print("| profile | counters | ε | default | default: ℓ1 | sorted ℓ1 | wu-pagh ℓ2: ℓ1 | sorted ℓ1 | ms |")
    print(f"|{'---|' * 9}")
    for name, profile in real_profiles().items():
        if profile.num_labels > largest:
            continue
        counts = np.repeat(profile.counts, profile.prevalences)
        labels = profile.num_labels
        for buckets in (None, labels // 4, labels, 4 * labels) if len(epsilons) > 1 else (None, labels):
            for epsilon in epsilons:
                setting = CounterSetting(distribution_of(epsilon), is_hashed=buckets is not None)
                readers: list[Decoder] = [default_decoder(setting), WuPagh()]
                found: list[list[list[float]]] = [[], []]
                seconds = 0.0
                for _ in range(runs):
                    counters = counters_of(counts, buckets, rng)
                    observed = Counters.of(counters + setting.noise.simulate(counters.size, rng=rng))
                    for place, reader in enumerate(readers):
                        start = time.perf_counter()
                        read = reader.decode(observed, setting)
                        seconds += (time.perf_counter() - start) * (place == 0)
                        away = distance(profile, read)
                        found[place].append(
                            [away / labels, ah.properties.sorted_l1(profile, read.to_profile()) / profile.n]
                        )
                cells = [
                    f"{mean:.3g} ± {standard_error(np.array(each)):.1g}"
                    for results in found
                    for each in zip(*results, strict=True)
                    for mean in [float(np.mean(each))]
                ]
                place = "domain" if buckets is None else f"B = {buckets:,}"
                parts = [name, place, epsilon, readers[0].name, *cells, f"{1000 * seconds / runs:.1f}"]
                print(f"| {' | '.join(parts)} |", flush=True)


def intervals(runs: int, rng: np.random.Generator, *, is_tiny: bool) -> None:
    """Print how the expected sorted ℓ1 error came out; bench/smoothed_intervals.py has the intervals."""
    print(f"\n## Expected errors: real sorted ℓ1 error / expected one, {runs} sketches each, 16 simulations\n")
    print("| sketch | labels | counters | ε | sorted ℓ1 |\n|---|---|---|---|---|")
    cases: list[tuple[str, int, int | None]] = [("Zipf(2)", 30_000, 100_000), ("Zipf(2)", 10**5, 10**5)]
    cases += [("Zipf(1.5)", 10**5, 10**5), ("geometric(0.1)", 10**5, 10**5)]
    cases += [("Zipf(2) − 1, at most 50", 10**5, None), ("Poisson(5)", 10**5, None)]
    if is_tiny:
        cases = [("geometric(0.1)", 500, 1000), ("Poisson(5)", 500, None)]
    for shape, labels, buckets in cases:
        for epsilon in EPSILONS[1:2] if is_tiny else EPSILONS[:2]:
            _intervals_row(shape, labels, buckets, epsilon, runs, rng, simulations=2 if is_tiny else 16)


def _intervals_row(
    shape: str,
    labels: int,
    buckets: int | None,
    epsilon: str,
    runs: int,
    rng: np.random.Generator,
    *,
    simulations: int,
) -> None:
    draw = {
        "Zipf(2)": lambda: np.minimum(rng.zipf(2, labels), 10**6),
        "Zipf(1.5)": lambda: np.minimum(rng.zipf(1.5, labels), 10**6),
        "geometric(0.1)": lambda: rng.geometric(0.1, labels),
    }.get(shape, lambda: SHAPES[shape](labels, rng))
    quotients = []
    for _ in range(runs):
        counts = draw()
        if buckets is None:
            sketch: ah.sketches.Sketch = ah.sketches.DomainSketch(alphabet=map(str, range(labels)), epsilon=epsilon)
            sketch.counters[:] += counts
        else:
            sketch = ah.sketches.HashedSketch(buckets=buckets, epsilon=epsilon, key=b"any")
            np.add.at(sketch.counters, rng.integers(buckets, size=labels), counts)
        release, truth = sketch.reconstruct(simulations=simulations), ah.Profile.from_counts(counts)
        quotients.append(ah.properties.sorted_l1(release.profile, truth) / release.error.sorted_l1.value)
    kind = "domain" if buckets is None else "hashed"
    ratio_cell = f"{np.mean(quotients):.2f} ± {standard_error(np.array(quotients)):.2f}"
    print(
        f"| {kind}, {shape} | {labels:,} | {buckets or labels:,} | {epsilon} | {ratio_cell} |",
        flush=True,
    )


def distance(profile: ah.Profile, found: Prevalences) -> float:
    """Return ``Σ_{r ≥ 1} |φ_r − φ̂_r|``."""
    positive = found.counts > 0
    counts = np.concatenate((profile.counts, found.counts[positive]))
    signed = np.concatenate((profile.prevalences, -found.numbers[positive]))
    places = np.unique(counts, return_inverse=True)[1]
    return float(np.abs(np.bincount(places, weights=signed)).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=["table", "shapes", "real", "intervals"])
    parser.add_argument(
        "--runs", type=int, default=100, help="runs of each cell, 2 or more; real profiles take one in 20"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    largest, epsilons, runs = (5000, ("1",), 2) if options.quick else (10**7, EPSILONS, options.runs)
    if options.runs < 2:
        parser.error("a standard error takes 2 runs or more")
    rng = np.random.default_rng(options.seed)
    if options.only in {None, "table"}:
        table(runs, rng, largest=max(largest, 10**4))
    if options.only in {None, "shapes"}:
        names = list(SHAPES)[-1 if options.quick else 1 :]
        shapes(runs, rng, names=names, labels=min(largest, 10**5), epsilons=epsilons)
    if options.only in {None, "real"}:
        real(runs if options.quick else max(3, runs // 20), rng, largest=largest, epsilons=epsilons)
    if options.only in {None, "intervals"}:
        intervals(max(2, runs // 10), rng, is_tiny=options.quick)


if __name__ == "__main__":
    main()

"""How often 95 % intervals hold the truth: ``python bench/intervals.py [--runs R] [--labels K] [--items N …]``.

Samples are drawn from a uniform and from Zipf's law over k labels, and every estimator is applied to each. The truth is
that of the distribution; that of a sample coverage is the share that the labels of the very sample make up.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles import Profile
from anonhist.properties.catalogue import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Shares = NDArray[np.float64]


def shapes(labels: int) -> dict[str, Shares]:
    zipf = 1 / np.arange(1, labels + 1)
    return {"uniform": np.full(labels, 1 / labels), "Zipf": zipf / zipf.sum()}


def truth(name: str, options: dict[str, object], p: Shares, counts: NDArray[np.int64]) -> float:
    """Return the property of p, largest first, and of the sample where it is about that."""
    order, draws, best = options.get("order"), options.get("draws"), np.cumsum(p)
    within = int(np.searchsorted(best, 0.5 - 1e-12)) + 1
    entropy = -float(p @ np.log(p))
    power = 1.0 if order is None else float((p**order).sum())
    found: dict[str, Callable[[], float]] = {
        "entropy": lambda: entropy,
        "support-size": lambda: p.size,
        "support-coverage": lambda: -float(np.expm1(draws * np.log1p(-p)).sum()),
        "sample-coverage": lambda: float(p[counts > 0].sum()),
        "hill-number": lambda: math.exp(entropy) if order == 1 else power ** (1 / (1 - order)),
        "min-entropy": lambda: -math.log(p.max()),
        "simpson": lambda: float((p**2).sum()),
        "distance-to-uniformity": lambda: float(np.abs(p - 1 / p.size).sum()),
        "guessing-success": lambda: float(p[: options["guesses"]].sum()),
        "work-factor": lambda: within,
        "guesswork": lambda: float((1 - best[within - 1]) * within + np.arange(1, within + 1) @ p[:within]),
    }
    return found[name]()


def asked(labels: int, items: int) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield a title, a property and its options."""
    known = {"alphabet_size": labels}
    for method in PROPERTIES["entropy"].methods:
        yield "entropy", "entropy", {"method": method, **(known if method == "polynomial" else {})}
    for method in PROPERTIES["support-size"].methods:
        yield "support-size", "support-size", {"method": method, **(known if method == "chebyshev" else {})}
    for times, method in ((0.5, "rarefaction"), (2, "good-toulmin"), (5, "smoothed-poisson")):
        yield f"support-coverage, m = {times:g}n", "support-coverage", {"draws": int(times * items), "method": method}
    for method in ("smoothed-binomial-a", "smoothed-binomial-b"):
        yield "support-coverage, m = 5n", "support-coverage", {"draws": 5 * items, "method": method}
    for method in PROPERTIES["sample-coverage"].methods:
        yield "sample-coverage", "sample-coverage", {"method": method}
    for order in (0, 1, 2):
        for method in ("chao-jost", "plug-in"):
            yield f"hill-number, q = {order}", "hill-number", {"order": order, "method": method}
    for name in ("simpson", "min-entropy"):
        yield name, name, {}
    yield "distance-to-uniformity", "distance-to-uniformity", known
    yield "guessing-success, 10 guesses", "guessing-success", {"guesses": 10}
    for name in ("work-factor", "guesswork"):
        yield f"{name}, share 0.5", name, {"share": 0.5}


def coverage(p: Shares, items: int, *, runs: int, rng: np.random.Generator) -> dict[tuple[str, str], float]:
    """Return of every estimator the share of intervals that hold the truth."""
    held: dict[tuple[str, str], int] = {}
    for _ in range(runs):
        counts = rng.multinomial(items, p)
        profile = Profile.from_counts(counts)
        for title, name, options in asked(p.size, items):
            found = PROPERTIES[name].estimate(profile, **options)
            low, high = found.interval
            true = truth(name, options, p, counts)
            holds = low - 1e-9 * abs(true) <= true <= high + 1e-9 * abs(true)
            held[title, found.method] = held.get((title, found.method), 0) + holds
    return {each: count / runs for each, count in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--items", type=int, nargs="*", default=(300, 3000, 30000))
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    settings = [(name, p, items) for name, p in shapes(options.labels).items() for items in options.items]
    found = [coverage(p, items, runs=options.runs, rng=rng) for _, p, items in settings]
    heads = [f"{name}, {items:,}" for name, _, items in settings]
    print("| property | method | " + " | ".join(heads) + " |")
    print("|---|---|" + "---:|" * len(heads))
    for title, method in found[0]:
        cells = " | ".join(f"{100 * each[title, method]:.0f} %" for each in found)
        print(f"| {title} | {method} | {cells} |")


if __name__ == "__main__":
    main()

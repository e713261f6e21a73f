"""Errors of local mechanisms beside closed forms and published ones. Run as ``python bench/local_accuracy.py``.

The published errors are mean squared errors of Feldman, Nelson, Nguyen, Talwar 2022 (of the number of people with an
item, universe 22,000), and ℓ1 errors of Acharya, Sun, Zhang 2019 (truncated at 0 and renormalized, 30 runs, k = 1,000
and 100). A line is met if the mean of our runs is within 5% of the closed form, or of the published ℓ1 error, with two
standard errors allowed.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist import local
from anonhist.local.mechanisms import recommend

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(__file__).parent.parent / "data"
CLOSE = 0.05
# Larger ones are not made: hundreds of thousands of them would take hours.
LARGEST_REPORT = 2500
BATCH = 100_000
FIELD = 5


def _hybrid(k: int, epsilon: str) -> Any:
    return local.HybridProjectiveGeometry(alphabet=k, epsilon=epsilon, field=FIELD)


def _hadamard(k: int, epsilon: str) -> Any:
    """As published: the largest power of two below e^ε blocks. Ours, by default, has as many as err least."""
    blocks = 1 << max(0, math.ceil(math.log2(min(math.exp(float(epsilon)), 2 * k))) - 1)
    return local.HadamardResponse(alphabet=k, epsilon=epsilon, blocks=min(blocks, k))


MAKERS: dict[str, Any] = {
    "RR": lambda k, epsilon: local.KRR(alphabet=k, epsilon=epsilon),
    "SS": lambda k, epsilon: local.SubsetSelection(alphabet=k, epsilon=epsilon),
    "PGR": lambda k, epsilon: local.ProjectiveGeometry(alphabet=k, epsilon=epsilon),
    "HPG5": _hybrid,
    "HR": _hadamard,
    "RAPPOR": lambda k, epsilon: local.KRAPPOR(alphabet=k, epsilon=epsilon),
    "OUE": lambda k, epsilon: local.OptimizedUnary(alphabet=k, epsilon=epsilon),
}


@dataclass(frozen=True)
class Published:
    """Mean squared errors that somebody published, by name of the mechanism."""

    epsilon: str
    k: int
    users: int
    data: str
    errors: dict[str, float]


SQUARED = (
    Published("5", 22_000, 1_000, "zipf", {"SS": 27.31, "PGR": 27.25, "HR": 68.9, "HPG5": 34.9}),
    Published("5", 22_000, 10_000, "spike", {"SS": 272.85, "PGR": 272.73, "HR": 689.6, "HPG5": 348.9}),
    Published("5", 22_000, 50_000, "spike", {"RR": 51311, "HR": 3439, "PGR": 1378, "HPG5": 1744}),
    Published("1.386", 22_000, 10_000, "spike", {"SS": 18290, "PGR": 17765, "HR": 32929}),
    Published("5", 1_024, 1_000, "spike", {"OUE": 28.36, "SS": 26.17, "PGR": 27.77}),
)
# ε: SS, RR, RAPPOR, HR at n = 50,000, then at 1,000,000.
ABSOLUTE: dict[tuple[str, int], dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    ("uniform", 1000): {
        "1": ((1.0904, 1.1693, 1.0912, 1.1002), (0.8801, 1.126, 0.8796, 0.9178)),
        "2": ((1.0086, 1.1524, 1.0251, 1.0486), (0.603, 1.0433, 0.6471, 0.7014)),
        "5": ((0.5456, 0.7094, 0.7848, 0.7491), (0.1318, 0.1982, 0.2497, 0.2228)),
        "7": ((0.2168, 0.2161, 0.5903, 0.3216), (0.048, 0.0484, 0.1457, 0.0718)),
    },
    ("zipf", 100): {
        "1": ((0.4874, 0.8949, 0.5203, 0.5769), (0.1484, 0.3864, 0.153, 0.1834)),
        "2": ((0.2734, 0.4591, 0.298, 0.3553), (0.0664, 0.1325, 0.0801, 0.0912)),
        "5": ((0.0532, 0.0554, 0.1166, 0.085), (0.0122, 0.0122, 0.0262, 0.0192)),
    },
    ("two steps", 100): {
        "1": ((0.5583, 0.9228, 0.5775, 0.6405), (0.1508, 0.4263, 0.1629, 0.1937)),
        "5": ((0.0583, 0.0598, 0.1186, 0.0896), (0.0132, 0.0129, 0.026, 0.0204)),
    },
}


def distribution_of(data: str, k: int) -> NDArray[np.float64]:
    """Return a distribution on k labels."""
    ranks = np.arange(1, k + 1)
    weights = {
        "uniform": np.ones(k),
        "zipf": 1 / ranks,
        "two steps": np.where(ranks <= k // 2, 3.0, 1.0),
        "spike": (ranks == 1).astype(float),
    }[data]
    return weights / weights.sum()


def closed_form(survey: Any, truth: NDArray[np.int64]) -> float:
    """Return the mean over the labels of the variance of the estimated number of people."""
    users = int(truth.sum())
    distribution = truth / users
    if not hasattr(survey, "block_design"):
        return float(users * np.mean(survey.variance() + distribution * (survey.variance(1.0) - survey.variance())))
    block = np.arange(truth.size) // survey.block_design.design.items
    beside = np.bincount(block, weights=distribution)[block] - distribution
    return float(users * np.mean([survey.variance(*both) for both in zip(distribution, beside, strict=True)]))


def tally_values(survey: Any, values: NDArray[np.int64]) -> Any:
    """Return the tally of reports of these values, made a batch at a time."""
    tally = survey.empty_tally()
    for start in range(0, values.size, BATCH):
        tally += survey.tally(survey.randomize(values[start : start + BATCH]))
    return tally


def mean_and_error(runs: list[float]) -> tuple[float, float]:
    """Return the mean of the runs and its standard error."""
    return float(np.mean(runs)), float(np.std(runs, ddof=1) / len(runs) ** 0.5)


def squared_errors(runs: int, *, is_tiny: bool) -> None:
    """Print the table of mean squared errors."""
    print("| ε | k | people | data | mechanism | published | closed form | ours | ratio to closed form | met |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for line in SQUARED[-1:] if is_tiny else SQUARED:
        values = rng.choice(line.k, line.users, p=distribution_of(line.data, line.k))
        truth = np.bincount(values, minlength=line.k)
        for name, published in line.errors.items():
            survey = MAKERS[name](line.k, line.epsilon)
            closed = closed_form(survey, truth)
            found = []
            for _ in range(runs):
                estimate = survey.estimate(tally_values(survey, values), decoder="unbiased")
                found.append(float(np.mean((line.users * estimate.raw - truth) ** 2)))
            mean, error = mean_and_error(found)
            met = abs(mean - closed) - 2 * error <= CLOSE * closed
            print(
                f"| {line.epsilon} | {line.k:,} | {line.users:,} | {line.data} | {survey.name} | {published:,g} | "
                f"{closed:,.1f} | {mean:,.1f} ± {error:,.1f} | {mean / closed:.3f} | {'yes' if met else 'no'} |",
                flush=True,
            )


def absolute_errors(runs: int, *, is_tiny: bool) -> None:
    """Print the table of ℓ1 errors, truncated and renormalized, published ones in brackets and misses marked."""
    makers = [MAKERS[name] for name in ("SS", "RR", "RAPPOR", "HR")]
    names = " | ".join(maker(4, "1").name for maker in makers)
    print(f"\n| data | k | ε | people | {names} |\n|---|---|---|---|{'---|' * len(makers)}")
    rng = np.random.default_rng(2)
    for (data, k), rows in ABSOLUTE.items():
        distribution = distribution_of(data, k)
        for epsilon, both in rows.items():
            for users, published in zip((50_000, 1_000_000), both, strict=True):
                if is_tiny and (data, epsilon, users) != ("zipf", "5", 50_000):
                    continue
                cells = []
                for maker, error in zip(makers, published, strict=True):
                    survey = maker(k, epsilon)
                    found = []
                    # A million reports of so many bits take their time.
                    for _ in range(runs if users * k < 10**9 else max(3, runs // 3)):
                        tally = tally_values(survey, rng.choice(k, users, p=distribution))
                        found.append(
                            float(np.abs(survey.estimate(tally, decoder="normalized").frequencies - distribution).sum())
                        )
                    mean, spread = mean_and_error(found)
                    met = mean - 2 * spread <= (1 + CLOSE) * error
                    cells.append(f"{mean:.4f} ± {spread:.4f} ({error:g}{'' if met else ', MISSED'})")
                print(f"| {data} | {k:,} | {epsilon} | {users:,} | {' | '.join(cells)} |", flush=True)


def real_data(runs: int, *, is_tiny: bool) -> None:
    """Print ℓ1 errors on real data, projected: the recommended mechanism, in bold, beside the others."""
    names = " | ".join(maker(15, "1").name for maker in MAKERS.values())
    print(f"\n| data | ε | {names} |\n|---|---|{'---|' * len(MAKERS)}")
    for name in ("adult_occupations",) if is_tiny else ("adult_occupations", "kosarak_clicks"):
        counts = np.loadtxt(DATA / f"{name}.csv", delimiter=",", skiprows=1, usecols=-1, dtype=np.int64)
        k, users = counts.size, int(counts.sum())
        values, distribution = np.repeat(np.arange(k), counts), counts / users
        for epsilon in ("1",) if is_tiny else ("0.5", "1", "2", "4", "8"):
            best = recommend(alphabet_size=k, epsilon=epsilon, users=users).best
            cells = []
            for maker in MAKERS.values():
                survey = maker(k, epsilon)
                if survey.report_bytes > LARGEST_REPORT:
                    cells.append("not run")
                    continue
                found = []
                for _ in range(runs):
                    estimate = survey.estimate(tally_values(survey, values))
                    found.append(float(np.abs(estimate.frequencies - distribution).sum()))
                mean, spread = mean_and_error(found)
                mark = "**" if survey.name == best else ""
                cells.append(f"{mark}{mean:.4f} ± {spread:.4f}{mark}")
            print(f"| {name.split('_')[-1]} | {epsilon} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="of each line; five of them on real data")
    parser.add_argument("--only", choices=("squared", "absolute", "real"), help="one table of the three")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.runs = 2
    for name, table, runs in (
        ("squared", squared_errors, arguments.runs),
        ("absolute", absolute_errors, arguments.runs),
        ("real", real_data, min(5, arguments.runs)),
    ):
        if arguments.only in (None, name):
            table(runs, is_tiny=arguments.quick)


if __name__ == "__main__":
    main()

"""The experiments of INSPECTRE, run again.

Its figures are images without numbers: "wanted" is what an earlier program of this project got in 100 trials.
"""

import argparse
import math
from collections.abc import Iterator, Sequence

import numpy as np

from anonhist_papers.inspectre.errors import (
    SHARES,
    TEXTS,
    ErrorRow,
    coverage_errors,
    entropy_errors,
    text_errors,
)
from anonhist_testing.inspectre import EARLIER_COVERAGE, EARLIER_ENTROPY

Found = dict[tuple[str, str, float, str, float], ErrorRow]


def main() -> None:
    """Run, and print one table per claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    if options.quick:
        options.trials = 2
    rng = np.random.default_rng()
    rows = [
        row for run in (entropy_errors, coverage_errors, text_errors) for row in run(trials=options.trials, rng=rng)
    ]
    found = {(row.experiment, row.data, row.x, row.estimator, row.epsilon): row for row in rows}
    print(f"{options.trials} trials.\n")
    print_table(("entropy, uniform, items", "wanted ≤", "RMSE in bits", "recommended", "met"), entropy(found))
    print_table(("coverage, uniform, t", "wanted ≤", "RMSE/(n·t)", "published noise", "met"), coverage(found))
    print_table(
        ("text", "share", "without noise", "private", "published noise", "recommended", "below", "of predicted"),
        texts(found),
    )
    print_table(("experiment", "distribution", "least ratio", "greatest ratio", "within 10 %"), squares(rows, found))


def entropy(found: Found) -> Iterator[tuple[str, ...]]:
    for items, wanted in EARLIER_ENTROPY.items():
        row = found["entropy", "uniform", items, "private polynomial", 1]
        other = found["entropy", "uniform", items, "private polynomial, recommended", 1]
        yield str(items), f"{wanted}", cell_text(row), cell_text(other), verdict(row, wanted)


def coverage(found: Found) -> Iterator[tuple[str, ...]]:
    for reach, wanted in EARLIER_COVERAGE.items():
        row = found["coverage", "uniform", reach, "private", 1]
        loud = found["coverage", "uniform", reach, "private, published noise", 1]
        yield str(reach), f"{wanted}", cell_text(row), cell_text(loud), verdict(row, wanted)


def texts(found: Found) -> Iterator[tuple[str, ...]]:
    """Yield errors in labels, whether ours is below that with the published noise, and its ratio to the prediction."""
    for text in TEXTS:
        for share in SHARES:
            plain, row, loud, usual = (
                found["texts", text, share, name, 0.5]
                for name in ("private, twin", "private, not cut", "private, published noise", "private, recommended")
            )
            predicted = math.hypot(plain.rmse, row.noise)
            below = "yes" if math.hypot(plain.rmse, row.noise) < math.hypot(plain.rmse, loud.noise) else "equal"
            yield (
                text,
                f"{share}",
                cell_text(plain),
                cell_text(row),
                cell_text(loud),
                cell_text(usual),
                below,
                f"{row.rmse / predicted:.3f}",
            )


def squares(rows: Sequence[ErrorRow], found: Found) -> Iterator[tuple[str, ...]]:
    """Yield how far squared errors are from those without noise plus the variance of the noise."""
    for experiment, title in (("entropy", "private polynomial"), ("coverage", "private"), ("texts", "private")):
        ratios: dict[str, list[float]] = {}
        for row in rows:
            if row.experiment == experiment and row.estimator == f"{title}, not cut":
                plain = found[experiment, row.data, row.x, f"{title}, twin", row.epsilon]
                ratios.setdefault(row.data, []).append(row.rmse**2 / (plain.rmse**2 + row.noise**2))
        for name, each in ratios.items():
            low, high = min(each), max(each)
            yield experiment, name, f"{low:.3f}", f"{high:.3f}", "yes" if low > 0.9 and high < 1.1 else "NO"


def cell_text(row: ErrorRow) -> str:
    return f"{row.rmse:.4g} ± {row.standard_error:.1g}"


def verdict(row: ErrorRow, wanted: float) -> str:
    return "yes" if row.rmse - 2 * row.standard_error <= wanted else "NO"


def print_table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


if __name__ == "__main__":
    main()

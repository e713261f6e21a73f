"""The experiments of Kairouz et al. in full, against an independent program and what the slides conclude.

Run as ``python bench/kairouz.py``; two runs take about half an hour.
"""

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from anonhist_papers.kairouz.errors import TARGET, ErrorRow, best, errors, people_needed
from anonhist_papers.kairouz.settings import CLOSED, FULL, OPEN, Grid

# What is varied, of which mechanism, with which alphabet.
VARIED = (
    ("buckets", "O-RR", OPEN),
    ("buckets", "O-RAPPOR", OPEN),
    ("cohorts", "O-RR", OPEN),
    ("cohorts", "O-RAPPOR", OPEN),
    ("hashes", "O-RAPPOR", OPEN),
    ("cohorts", "O-RR", CLOSED),
    ("cohorts", "O-RAPPOR", CLOSED),
    ("hashes", "O-RAPPOR", CLOSED),
)

# One point of each figure.
TINY = Grid(
    closed_epsilons=(1,),
    open_epsilons=(4,),
    symbol_settings=((16, 2),),
    bit_settings=((16, 2),),
    epsilons=(4,),
    users=1000,
    buckets=(16,),
    cohorts=(1, 2),
    hashes=(1,),
    symbols=(16, 2),
    bits=(16, 2),
    coming=(100, 1000),
    mechanisms=("k-RR",),
    closed_users=(1000,),
)


def main() -> None:
    """Run, and print one table per claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    grid = TINY if options.quick else FULL
    rows = errors(grid, trials=options.trials, rng=np.random.default_rng())
    print(f"{options.trials} runs.\n")
    print_table(("mechanism", "ε", "people", "k", "C", "h", "decoder", "reference", "ℓ1"), references(rows))
    print_table(
        (f"closed, {grid.closed_users[-1]:,} people, projected", *(f"ε = {e:.3g}" for e in grid.closed_epsilons)),
        rows_of_closed(rows, grid),
    )
    print_table(
        (f"open, {grid.coming[-1]:,} people, best", *(f"ε = {e:g}" for e in grid.open_epsilons)),
        rows_of_open(rows, grid),
    )
    print_table((f"people for {TARGET}", *(f"ε = {e:g}" for e in grid.open_epsilons)), rows_of_people(rows, grid))
    print_table(
        ("least ℓ1 of the values tried", *(f"ε = {e:g}" for e in grid.epsilons)), rows_of_parameters(rows, grid)
    )


def references(rows: Sequence[ErrorRow]) -> Iterator[tuple[str, ...]]:
    """Yield the errors that an independent program found, and ours; a setting in several figures once."""
    seen: set[tuple[object, ...]] = set()
    for row in rows:
        cells = (row.mechanism, f"{row.epsilon:.3g}", f"{row.users:,}", *map(str, (row.buckets, row.cohorts)))
        cells += (str(row.hashes), row.decoder)
        if row.reference is not None and cells not in seen:
            seen.add(cells)
            yield (*cells, f"{row.reference:g}", cell_text(row))


def rows_of_closed(rows: Sequence[ErrorRow], grid: Grid) -> Iterator[tuple[str, ...]]:
    for mechanism in grid.mechanisms:
        own = [
            row
            for row in rows
            if (row.figure, row.mechanism, row.decoder, row.users)
            == ("closed", mechanism, "projected", grid.closed_users[-1])
        ]
        yield mechanism, *(cell_text(row) for row in sorted(own, key=lambda row: row.epsilon))


def rows_of_open(rows: Sequence[ErrorRow], grid: Grid) -> Iterator[tuple[str, ...]]:
    """Yield the best errors, and with which (k, C)."""
    for name, alphabet, decoder in curves():
        last = [row for row in best(rows, name, alphabet, decoder=decoder) if row.users == grid.coming[-1]]
        settings = [f" ({row.buckets}, {row.cohorts})" if alphabet == OPEN else "" for row in last]
        yield f"{name}, {alphabet}", *(cell_text(row) + each for row, each in zip(last, settings, strict=True))


def rows_of_people(rows: Sequence[ErrorRow], grid: Grid) -> Iterator[tuple[str, ...]]:
    for name, alphabet, decoder in curves():
        found = people_needed(best(rows, name, alphabet, decoder=decoder))
        cells = (f"{found[epsilon]:,.0f}" if epsilon in found else "more" for epsilon in grid.open_epsilons)
        yield f"{name}, {alphabet}", *cells


def rows_of_parameters(rows: Sequence[ErrorRow], grid: Grid) -> Iterator[tuple[str, ...]]:
    """Yield the best value of each parameter, and the error with it beside those with the least and the largest."""
    for parameter, mechanism, alphabet in VARIED:
        cells = []
        for epsilon in grid.epsilons:
            key = parameter, mechanism, alphabet, epsilon, "least-squares"
            own = [row for row in rows if (row.figure, row.mechanism, row.alphabet, row.epsilon, row.decoder) == key]
            own.sort(key=lambda row: int(getattr(row, parameter)))
            least = min(own, key=lambda row: row.l1_mean)
            ends = f"{own[0].l1_mean:.2g} … {own[-1].l1_mean:.2g}"
            cells.append(f"{getattr(least, parameter)}: {cell_text(least)} ({ends})")
        yield f"{parameter}, {mechanism}, {alphabet}", *cells


def curves() -> Iterator[tuple[str, str, str]]:
    for alphabet, decoder in ((OPEN, "least-squares"), (CLOSED, "projected")):
        for name in ("O-RR", "O-RAPPOR"):
            yield name, alphabet, decoder


def cell_text(row: ErrorRow) -> str:
    return f"{row.l1_mean:.3g} ± {row.l1_standard_error:.1g}"


def print_table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> None:
    print("| " + " | ".join(heads) + " |")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


if __name__ == "__main__":
    main()

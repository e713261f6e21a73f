"""Charges to a ledger, in SQLite and in PostgreSQL. Run as ``python bench/ledger.py``.

Eight processes charge a budget with room for fewer releases than they request, with full synchronous writes. The
program prints how long a charge takes, for one process and for all at once, whether exactly the budget was spent,
whether any charge was refused although it fitted, and whether the chain of entries is whole. PostgreSQL is a server of
its own, in a temporary folder; if its programs are missing, the output says so.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from anonhist.accounting import Charge, Ledger, verify
from anonhist.errors import BudgetError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist_testing.postgresql import programs, server

if TYPE_CHECKING:
    from collections.abc import Iterator

PROCESSES, CHARGES, REFUSED = 8, 1000, 200


def charge_often(address: str, times: int) -> tuple[list[float], list[float], int]:
    """Charge a budget; return how long each charge took, and each refusal, and how many were refused wrongly.

    A refusal is right if what is left after it, which is no more than there was, has no room for the charge.
    """
    relation = NeighboringRelation.ADD_OR_REMOVE
    guarantee = Guarantee(PrivacyUnit.user(max_items=1), relation, Fraction(1, 100), arithmetic="noise is exact")
    charged, refused, wrong = [], [], 0
    with Ledger(address) as ledger:
        for number in range(times):
            asked = Charge("passwords", guarantee, "frobenius", {"epsilon": "1/100"}, f"release {number}")
            start = perf_counter()
            try:
                ledger.charge(asked)
                charged.append(perf_counter() - start)
            except BudgetError:
                refused.append(perf_counter() - start)
                wrong += ledger.balance("passwords").left.epsilon >= guarantee.epsilon
    return charged, refused, wrong


def _child(address: str, times: int, results: Any) -> None:
    results.put(charge_often(address, times))


def measure(name: str, addresses: Iterator[str], charges: int, processes: int) -> None:
    """Print how long charges take, and what they add up to."""
    alone = next(addresses)
    with Ledger(alone) as ledger:
        ledger.create("passwords", "user", epsilon=Fraction(charges, 100))
        times, _, _ = charge_often(alone, charges)
    show(f"{name}, 1 process", times)

    shared, asked = next(addresses), charges + charges * REFUSED // CHARGES
    with Ledger(shared) as ledger:
        ledger.create("passwords", "user", epsilon=Fraction(charges, 100))
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    shares = [asked // processes + (number < asked % processes) for number in range(processes)]
    children = [context.Process(target=_child, args=(shared, share, results)) for share in shares]
    for each in children:
        each.start()
    found = [results.get() for _ in children]
    for each in children:
        each.join()
    show(f"{name}, {processes} processes", [time for times, _, _ in found for time in times])
    with Ledger(shared) as ledger:
        told, balance = verify(ledger), ledger.balance("passwords")
    done, refused = (sum(len(each[place]) for each in found) for place in (0, 1))
    print(
        f"    {done:,} charged, {refused:,} refused, {sum(wrong for *_, wrong in found)} of them wrongly; spent "
        f"{balance.spent.epsilon} of {balance.budget.epsilon}; chain of {told.entries:,} entries: "
        f"{'whole' if not told.problems else told.problems}"
    )
    if not done == charges == len(balance.items) or balance.left.epsilon or told.problems:
        sys.exit("The budget was not spent exactly.")


def show(what: str, times: list[float]) -> None:
    """Print how long charges took."""
    p50, p99 = (1000 * np.quantile(times, share) for share in (0.5, 0.99))
    print(f"{what:24} p50 {p50:6.1f} ms   p99 {p99:6.1f} ms   ({len(times):,} charges)")


def sync_time(folder: Path, size: int = 600) -> float:
    """Return the median time of one fsync after so many bytes, which no charge can be faster than."""
    times = []
    with (folder / "file").open("wb") as file:
        for _ in range(50):
            start = perf_counter()
            file.write(b"x" * size)
            file.flush()
            os.fsync(file.fileno())
            times.append(perf_counter() - start)
    return float(np.median(times))


def main() -> None:
    """Measure both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to test this program")
    charges, processes = (10, 2) if parser.parse_args().quick else (CHARGES, PROCESSES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"An fsync alone takes {1000 * sync_time(folder):.1f} ms.")
        measure("SQLite", (str(folder / f"{number}.db") for number in range(2)), charges, processes)
    if programs() is None:
        print("PostgreSQL: not measured, its programs are not installed.")
        return
    with server(fsync=True) as running:
        measure("PostgreSQL", (running.database() for _ in range(2)), charges, processes)


if __name__ == "__main__":
    main()

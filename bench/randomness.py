"""How fast noise is drawn: this package beside OpenDP and beside the bare entropy, in one run.

Usage: python bench/randomness.py [--draws 1000000] [--rounds 5]

Everything is timed in turn, round after round, so that a slow moment of the machine affects all; medians are printed.
OpenDP takes about six seconds for 10^6 draws, so it is timed at γ = 1 only; without OpenDP, that row is left out.
"""

import argparse
import os
from collections.abc import Callable
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from time import perf_counter

import numpy as np

from anonhist.randomness import SystemSource, bernoulli_exp, categorical, categorical_rows, discrete_laplace, geometric

RATES = ("10", "2", "1", "0.5", "0.1", "0.01", "0.0005", "1e-9")
OPENDP = "OpenDP make_laplace, scale 1"
OURS = "discrete_laplace, γ = 1"


def jobs(draws: int) -> dict[str, tuple[int, Callable[[], object]]]:
    """List what to time: how many draws one call makes, and the call."""
    source, rng = SystemSource(), np.random.default_rng(1)
    listed: dict[str, tuple[int, Callable[[], object]]] = {}
    peer = opendp_laplace(draws)
    if peer is not None:
        listed[OPENDP] = (draws, peer)
    for text in RATES:
        gamma = Fraction(text)
        listed[f"discrete_laplace, γ = {text}"] = (draws, lambda g=gamma: discrete_laplace(g, draws, source=source))
    listed["geometric, γ = 1"] = (draws, lambda: geometric(Fraction(1), draws, source=source))
    listed["bernoulli_exp, γ = 1"] = (draws, lambda: bernoulli_exp(Fraction(1), draws, source=source))
    listed["bare os.urandom, 16 bits a draw"] = (draws, lambda: [os.urandom(1 << 16) for _ in range(draws >> 15)])
    for size in (50, 300, 1500):
        weights = rng.random(size)
        listed[f"categorical, {size} weights, one at a time"] = (
            1000,
            lambda w=weights: [categorical(w, source=source) for _ in range(1000)],
        )
    matrix = rng.random((5000, 300))
    listed["categorical_rows, 5000 rows of 300"] = (5000, lambda: categorical_rows(matrix, source=source))
    listed["discrete_laplace, γ = 1, 100 at a time"] = (
        100_000,
        lambda: [discrete_laplace(Fraction(1), 100, source=source) for _ in range(1000)],
    )
    return listed


def opendp_laplace(draws: int) -> Callable[[], object] | None:
    """Return OpenDP's discrete Laplace on a vector, or None where it is not installed."""
    try:
        version("opendp")
    except PackageNotFoundError:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=1.0)
    zeros = np.zeros(draws, dtype=np.int64)
    return lambda: measurement(zeros)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=10**6)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.draws, arguments.rounds = 2**15, 1
    listed = jobs(arguments.draws)
    seconds: dict[str, list[float]] = {name: [] for name in listed}
    for name, (_, call) in listed.items():
        if name != OPENDP:
            call()  # builds tables and touches memory
    for _ in range(arguments.rounds):
        for name, (_, call) in listed.items():
            start = perf_counter()
            call()
            seconds[name].append(perf_counter() - start)
    rates = {name: count / median(seconds[name]) for name, (count, _) in listed.items()}
    print(f"{'':<46}{'million/s':>10}{'ns each':>10}{'× OpenDP':>10}")
    for name, rate in rates.items():
        ratio = f"{rate / rates[OPENDP]:>10.0f}" if OPENDP in rates and "discrete_laplace" in name else f"{'':>10}"
        print(f"{name:<46}{rate / 1e6:>10.3g}{1e9 / rate:>10.3g}{ratio}")
    if OPENDP in rates:
        print(f"{arguments.draws} draws at γ = 1: {rates[OURS] / rates[OPENDP]:.0f} times OpenDP {version('opendp')}.")
    else:
        print("OpenDP is not installed: pip install opendp shows the ratio.")


if __name__ == "__main__":
    main()

"""The partition mechanism inside a box, beside the best mechanism. Run as ``python bench/box_mechanisms.py``.

From ε = ln 3 on the partition mechanism draws y with probability q^d(x, y)·h(y), q = e^(-ε), and h is such that no
normalizer is needed. In a box, h solves a small system of equations. The table has, for each box and ε, the least risk
of any ε-DP mechanism (the linear program of bench/boxes.py), and by how much the risk of the partition mechanism is
above it: as it is, and after the best post-processing, which is another linear program. The least favorable diagram
decides each. "0" is less than 0.005%, which solvers that stop at 10⁻⁷ cannot tell from nothing.
"""

from __future__ import annotations

import argparse
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boxes import Box, box_of, certified

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Matrix = NDArray[np.float64]

# The first is ln 3, rounded up.
EPSILONS = ("1.0987", "1.11", "1.5", "2", "3")
# Post-processing has a variable for each pair of diagrams: more of them take minutes.
DIAGRAMS = 35
LEAST = 5e-5


def partition_mechanism(box: Box, epsilon: float) -> _Matrix:
    """Return the probability of each diagram y, in columns, given each x."""
    closeness = np.exp(-epsilon * box.distances)
    weights = np.linalg.solve(closeness, np.ones(len(closeness)))
    if weights.min() < 0:
        raise ValueError("Some weights are negative: ε is too small for this box.")
    found: _Matrix = closeness * weights
    return found


def risk(box: Box, mechanism: _Matrix) -> float:
    """Return the expected distance for the worst diagram."""
    return float((mechanism * box.distances).sum(axis=1).max())


def risk_after_processing(box: Box, mechanism: _Matrix) -> float:
    """Return the same after the best random map of results to results."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, hstack, kron

    n = len(box.shapes)
    # T(z → y), in rows of z, and the risk, which is at least what each x gets.
    loss = np.einsum("xz,xy->xzy", mechanism, box.distances).reshape(n, n * n)
    at_most = hstack([csr_array(loss), coo_array(np.full((n, 1), -1.0))])
    sums = hstack([kron(csr_array(np.eye(n)), np.ones((1, n))), csr_array((n, 1))])
    cost = np.zeros(n * n + 1)
    cost[-1] = 1
    found = linprog(cost, A_ub=at_most, b_ub=np.zeros(n), A_eq=sums, b_eq=np.ones(n), method="highs")
    return float(found.fun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--diagrams", type=int, default=DIAGRAMS, help="boxes with more diagrams are left out")
    parser.add_argument("--quick", action="store_true", help="a tiny setting, to see that the program runs")
    options = parser.parse_args()
    diagrams, epsilons = (6, EPSILONS[:2]) if options.quick else (options.diagrams, EPSILONS)
    print(f"| box | {' | '.join(f'ε = {epsilon}' for epsilon in epsilons)} |")
    print(f"|---|{'---|' * len(epsilons)}")
    sides = [(a, b) for a in range(1, diagrams) for b in range(a, diagrams) if math.comb(a + b, a) <= diagrams]
    for height, width in (pair for pair in sides if pair[1] <= 8):
        box = box_of(height, width)
        cells = []
        for epsilon in epsilons:
            least = float(certified(height, width, Fraction(epsilon))[1])
            mechanism = partition_mechanism(box, float(epsilon))
            plain, processed = risk(box, mechanism) / least - 1, risk_after_processing(box, mechanism) / least - 1
            shown = "0" if processed < LEAST else f"{processed:.2%}"
            cells.append(f"{least:.4f}: {plain:.1%}, {shown}")
        print(f"| {height} × {width} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

"""Boxes of a Young diagram: what every ε-differentially private mechanism errs inside one, with exact certificates.

A box of ``height`` × ``width`` cells holds all diagrams that fit in it; neighbors differ in one cell. Its risk is the
least that any mechanism errs for its worst diagram, in cells: a linear program. A prior and weights of the privacy
constraints certify a lower bound (docs/proofs/lower-bound.md). They are whole numbers here, and `bound` computes what
they prove in whole numbers alone, so that nothing rests on the solver. Certificates are kept beside this file.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    _Whole = NDArray[np.int64]

CACHE = Path(__file__).parent / "boxes"
# Boxes with so many diagrams are solved in well below a second, and not kept.
QUICK = 41
# Certificates are multiples of 2^-BITS, and e^ε is rounded up to one.
BITS = 40


@dataclass(frozen=True)
class Box:
    """All diagrams in a box, and which of them are neighbors.

    Examples
    --------
    >>> box = Box(2, 2)
    >>> box.shapes
    [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2)]
    >>> box.distances[1].tolist()
    [1, 0, 1, 1, 2, 3]
    """

    height: int
    width: int

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """The lengths of the rows of each diagram."""
        rows = itertools.product(range(self.width + 1), repeat=self.height)
        return [shape for shape in rows if list(shape) == sorted(shape, reverse=True)]

    @cached_property
    def cells(self) -> NDArray[np.bool_]:
        """Of each diagram, which cells it has, row by row."""
        lengths = np.array(self.shapes)[:, :, None]
        return (np.arange(self.width) < lengths).reshape(len(self.shapes), -1)

    @cached_property
    def distances(self) -> _Whole:
        """In how many cells each two of them differ."""
        return np.abs(np.array(self.shapes)[:, None] - np.array(self.shapes)).sum(axis=2)

    @cached_property
    def neighbors(self) -> tuple[_Whole, _Whole]:
        """All ordered pairs of neighbors."""
        first, second = np.nonzero(self.distances == 1)
        return first, second

    @cached_property
    def symmetries(self) -> _Whole:
        """The turn by half a circle, and in a square the reflection: where each sends every diagram."""
        places = {shape: place for place, shape in enumerate(self.shapes)}
        turned = [places[tuple(self.width - row for row in reversed(shape))] for shape in self.shapes]
        maps = [np.arange(len(places)), np.array(turned)]
        if self.height == self.width:
            columns = [tuple(sum(row > j for row in shape) for j in range(self.width)) for shape in self.shapes]
            reflected = np.array([places[column] for column in columns])
            maps += [reflected, reflected[maps[1]]]
        return np.array(maps)


@cache
def box_of(height: int, width: int) -> Box:
    """Return a box, whose diagrams are listed once."""
    return Box(height, width)


def exp_above(epsilon: Fraction) -> int:
    """Return e^ε times 2^BITS, rounded up.

    Examples
    --------
    >>> exp_above(Fraction(1)) / 2**BITS - math.e < 2**-BITS
    True
    """
    term = total = Fraction(1)
    for k in itertools.count(1):
        term *= epsilon / k
        total += term
        # What follows falls faster than a geometric series of ratio 1/2.
        if k > 2 * epsilon and term < Fraction(1, 2 ** (BITS + 10)):
            return math.ceil((total + 2 * term) * 2**BITS)
    raise AssertionError


@dataclass(frozen=True)
class Certificate:
    """A prior on the diagrams of a box, up to its sum, and a weight of each privacy constraint.

    Parameters
    ----------
    prior : ndarray of int64, shape (diagrams,)
    weights : ndarray of int64, shape (ordered pairs of neighbors, diagrams)
        Of P(y | x) ≤ e^ε P(y | x'): in the row of the pair (x, x') and the column of y.
    """

    box: Box
    epsilon: Fraction
    prior: _Whole
    weights: _Whole

    def bound(self) -> Fraction:
        """Return how much every mechanism errs under the prior, at least.

        Raises
        ------
        ValueError
            If a number is negative or missing: then nothing is proved.
        """
        first, second = self.box.neighbors
        shapes = (len(self.box.shapes),), (len(first), len(self.box.shapes))
        if (self.prior.shape, self.weights.shape) != shapes or {self.prior.dtype, self.weights.dtype} != {
            np.dtype(int)
        }:
            raise ValueError("The prior has a whole number for each diagram, the weights one for each pair and result.")
        if self.prior.min() < 0 or self.weights.min(initial=0) < 0 or not self.prior.any():
            raise ValueError("The prior and the weights must be at least zero, and the prior must not vanish.")
        # Python's whole numbers, of any size.
        left = (self.prior[:, None].astype(object) * self.box.distances.astype(object)) * 2**BITS
        np.add.at(left, first, self.weights.astype(object) * 2**BITS)
        np.subtract.at(left, second, self.weights.astype(object) * exp_above(self.epsilon))
        return Fraction(int(left.min(axis=1).sum()), int(self.prior.astype(object).sum()) * 2**BITS)


def solve(box: Box, epsilon: Fraction) -> Certificate:
    """Return the certificate that the linear program finds, rounded.

    Diagrams that a symmetry of the box exchanges have equal numbers: this divides the size of the program by up to 16.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    n = len(box.shapes)
    first, second = box.neighbors
    maps = box.symmetries
    pair_at = np.full((n, n), -1)
    pair_at[first, second] = np.arange(len(first))
    # The orbits of diagrams, of pairs (x, y), and of triples (x, x', y): each is named by its least member.
    diagram = maps.min(axis=0)
    cell = (maps[:, :, None] * n + maps[:, None, :]).min(axis=0)
    triple = (pair_at[maps[:, first], maps[:, second]][:, :, None] * n + maps[:, None, :]).min(axis=0)
    diagrams, of_diagram = np.unique(diagram, return_inverse=True)
    cells = np.unique(cell)
    triples, of_triple = np.unique(triple, return_inverse=True)
    x, y = np.divmod(cells, n)
    rows = np.arange(len(cells))
    # π(x) d(x, y) + Σ w(x, x', y) − e^ε Σ w(x', x, y) − μ(x) ≥ 0: the variables are π, μ, w.
    row_of = np.full(n * n, -1)
    row_of[cells] = rows
    row_first, row_second = row_of[first[:, None] * n + np.arange(n)], row_of[second[:, None] * n + np.arange(n)]
    of_triple = of_triple.reshape(len(first), n) + 2 * len(diagrams)
    named, named_too = row_first >= 0, row_second >= 0
    entries = [
        (rows, of_diagram[x], -box.distances[x, y].astype(float)),
        (rows, of_diagram[x] + len(diagrams), np.ones(len(cells))),
        (row_first[named], of_triple[named], np.full(named.sum(), -1.0)),
        (row_second[named_too], of_triple[named_too], np.full(named_too.sum(), math.exp(epsilon))),
    ]
    at_rows, at_columns, values = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    width = 2 * len(diagrams) + len(triples)
    matrix = coo_array((values, (at_rows, at_columns)), shape=(len(cells), width)).tocsr()
    sizes = np.bincount(of_diagram).astype(float)
    cost, total = np.zeros(width), np.zeros((1, width))
    cost[len(diagrams) : 2 * len(diagrams)] = -sizes
    total[0, : len(diagrams)] = sizes
    free = [(0, None)] * len(diagrams) + [(None, None)] * len(diagrams) + [(0, None)] * len(triples)
    # Measured: from about a hundred diagrams on, interior points take a third of the time of the simplex method.
    method = "highs" if n <= QUICK else "highs-ipm"
    found = linprog(cost, A_ub=matrix, b_ub=np.zeros(len(cells)), A_eq=total, b_eq=[1.0], bounds=free, method=method)
    whole = np.rint(np.maximum(found.x, 0) * 2**BITS).astype(np.int64)
    return Certificate(box, epsilon, whole[of_diagram], whole[of_triple])


@cache
def certified(height: int, width: int, epsilon: Fraction) -> tuple[Certificate, Fraction]:
    """Return the certificate of a box and what it proves, which is computed anew also where it was kept."""
    box = box_of(height, width)
    path = CACHE / f"{height}x{width}-{epsilon.numerator}-{epsilon.denominator}.npz"
    if path.exists():
        with np.load(path) as kept:
            return (certificate := Certificate(box, epsilon, kept["prior"], kept["weights"])), certificate.bound()
    certificate = solve(box, epsilon)
    if len(box.shapes) > QUICK:
        CACHE.mkdir(exist_ok=True)
        with path.with_suffix(".part").open("wb") as file:
            np.savez_compressed(file, prior=certificate.prior, weights=certificate.weights)
        path.with_suffix(".part").replace(path)
    return certificate, certificate.bound()

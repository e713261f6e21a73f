"""O-RR and O-RAPPOR: tables of counts with exactly the distribution of a survey's tally, and their decoders.

A report tells of nothing but its cell, or its bits, so the counts of all people in a cohort who share places have the
distribution of binomial and multinomial numbers. Drawing these instead of reports allows any number of people, and all
256 symbols are decoded at once. The functions of cohorts are drawn at random, too: hash functions, or permutations
modulo k, as :class:`anonhist.local.ORR` has them under a random key. tests/papers/test_kairouz.py compares all of this
with the surveys themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from anonhist.local.cohort_counts import Supports
from anonhist.local.fits import Squares, minimize
from anonhist.local.randomizers.open import ORR
from anonhist.local.randomizers.rappor import ORAPPOR
from anonhist.numeric.fits import project_to_simplex
from anonhist_papers.kairouz.settings import OPEN, SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

# How least squares are solved: without constraints and then projected, or over the distributions alone.
PROJECTED, CONSTRAINED = "projected", "constrained"
# Shares of the largest eigenvalue below which a direction is not determined.
_UNDETERMINED = 1e-10
# Half a nat is a standard error.
_TOLERANCE = 0.005
_ITERATIONS = 3_000
# Entries of a dense matrix at a time, and the labels of a cell above which a dense matrix is faster.
_MOST_DENSE, _FULL = 1 << 23, 36


@dataclass(frozen=True)
class CohortSetting:
    """O-RR or O-RAPPOR with its parameters.

    Attributes
    ----------
    mechanism
        ``"O-RR"`` or ``"O-RAPPOR"``.
    alphabet
        ``"open"``: symbols are hashed; ``"closed"``: permuted, modulo k.
    epsilon
        ε of each report.
    buckets, cohorts, hashes
        k, C and h.
    """

    mechanism: str
    alphabet: str
    epsilon: float
    buckets: int
    cohorts: int
    hashes: int = 1

    def survey(self, *, key: str) -> ORR | ORAPPOR:
        """Return the survey of this setting.

        Examples
        --------
        >>> CohortSetting("O-RR", "closed", 1, buckets=64, cohorts=4).survey(key="pets").places
        64
        """
        make = ORR if self.mechanism == "O-RR" else partial(ORAPPOR, hashes=self.hashes)
        alphabet = None if self.alphabet == OPEN else SYMBOLS
        return make(epsilon=self.epsilon, alphabet=alphabet, buckets=self.buckets, cohorts=self.cohorts, key=key)

    @cached_property
    def probabilities(self) -> tuple[float, float]:
        """Of a report to support a place of its value, and any other place: p and q."""
        survey = self.survey(key="any")
        return float(survey.true_support_probability), float(survey.false_support_probability)

    def functions(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw the places of all symbols, shape (C·h, 256)."""
        shape = self.cohorts * self.hashes, SYMBOLS
        if self.alphabet == OPEN:
            return rng.integers(self.buckets, size=shape, dtype=np.int32)
        ranks = np.broadcast_to(np.arange(SYMBOLS, dtype=np.int32), shape)
        return np.asarray(rng.permuted(ranks, axis=1) % self.buckets)

    def draw(self, truth: NDArray[np.float64], users: int, rng: np.random.Generator) -> Table:
        """Draw people, functions and what is counted of all reports."""
        supports = Supports(self.functions(rng), self.cohorts, self.buckets)
        sizes = rng.multinomial(users, np.full(self.cohorts, 1 / self.cohorts))
        people = rng.multinomial(sizes, truth)
        matrix = supports.matrix()
        # What no symbol supports says nothing of them.
        cells = np.flatnonzero(np.diff(matrix.indptr))
        entries = matrix.tocoo()
        having = np.bincount(
            entries.row, people[entries.row // self.buckets, entries.col], minlength=matrix.shape[0]
        ).astype(np.int64)
        p, q = self.probabilities
        own = having[cells]
        if self.mechanism == "O-RR":
            # With probability p − q the report is the value's place, otherwise any place.
            kept = rng.binomial(having, p - q).reshape(self.cohorts, self.buckets)
            noise = rng.multinomial(sizes - kept.sum(axis=1), np.full(self.buckets, 1 / self.buckets))
            counts = (kept + noise).reshape(-1)[cells]
        else:
            counts = rng.binomial(own, p) + rng.binomial(np.repeat(sizes, self.buckets)[cells] - own, q)
        reports = np.repeat(sizes, self.buckets)[cells]
        shares = np.divide(counts, reports, out=np.full(cells.size, q), where=reports > 0)
        return Table(matrix[cells], (shares - q) / (p - q), reports / users, noise=q * (1 - q) / (p - q) ** 2 / users)


@dataclass(frozen=True, eq=False)
class Table:
    """Unbiased estimates of the share of people who support each cell, ``b``, and which symbols do, ``H``.

    Attributes
    ----------
    matrix
        H, sparse, shape (cells, 256).
    shares
        b, shape (cells,).
    weights
        The share of each cell's cohort in all reports, shape (cells,).
    noise
        The variance of a cell of average weight, for a stopping rule.
    """

    matrix: object
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    noise: float

    def decode(self) -> Mapping[str, NDArray[np.float64]]:
        """Return the frequencies of the symbols that solve ``p̂ H = b`` by least squares, by way of solving.

        Both minimize ``Σ w (H p − b)²``: the shortest solution, projected; and the best distribution.
        """
        gram, moments = self._gram()
        values, vectors = np.linalg.eigh(gram)
        known = values > _UNDETERMINED * values[-1]
        roots, basis = np.sqrt(values[known]), vectors[:, known]
        target = (basis.T @ moments) / roots
        shortest = basis @ (target / roots)
        least = minimize(
            Squares(target, np.ones(target.size)),
            _Root(basis * roots),
            tolerance=_TOLERANCE * self.noise,
            iterations=_ITERATIONS,
        )
        return {PROJECTED: project_to_simplex(shortest), CONSTRAINED: least.frequencies}

    def _gram(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return ``HᵀWH`` and ``HᵀWb``."""
        matrix = self.matrix
        moments = matrix.T @ (self.weights * self.shares)  # type: ignore[attr-defined]  # SciPy ships no types
        if matrix.nnz < _FULL * matrix.shape[0]:  # type: ignore[attr-defined]
            weighted = matrix.multiply(self.weights[:, np.newaxis])  # type: ignore[attr-defined]
            return (matrix.T @ weighted).toarray(), moments  # type: ignore[attr-defined]
        gram = np.zeros((SYMBOLS, SYMBOLS))
        for rows in self._parts():
            part = matrix[rows].toarray()  # type: ignore[index]
            gram += part.T @ (part * self.weights[rows, np.newaxis])
        return gram, moments

    def _parts(self) -> Iterator[slice]:
        step = _MOST_DENSE // SYMBOLS
        for start in range(0, self.shares.size, step):
            yield slice(start, start + step)


@dataclass(frozen=True, eq=False)
class _Root:
    """A square root of ``HᵀWH`` in place of H: a :class:`Channel` of as many cells as the table has rank."""

    root: NDArray[np.float64]

    @property
    def items(self) -> int:
        return len(self.root)

    @property
    def cells(self) -> int:
        return int(self.root.shape[1])

    def forward(self, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
        return frequencies @ self.root

    def adjoint(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.root @ weights


def losses(
    setting: CohortSetting, truth: NDArray[np.float64], users: int, *, trials: int, rng: np.random.Generator
) -> Mapping[str, list[float]]:
    """Return the ℓ1 losses of so many runs, by decoder; each draws its own people, functions and reports.

    Examples
    --------
    >>> from anonhist_papers.kairouz.settings import geometric
    >>> setting = CohortSetting("O-RR", "open", 40, buckets=4096, cohorts=8)
    >>> found = losses(setting, geometric(), 10**8, trials=2, rng=np.random.default_rng(1))
    >>> {decoder: max(each) < 0.002 for decoder, each in found.items()}
    {'projected': True, 'constrained': True}
    """
    found: dict[str, list[float]] = {}
    for _ in range(trials):
        for decoder, frequencies in setting.draw(truth, users, rng).decode().items():
            found.setdefault(decoder, []).append(float(np.abs(frequencies - truth).sum()))
    return found

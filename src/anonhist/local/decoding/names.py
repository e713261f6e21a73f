"""Which decoder or correction of multiple tests a name stands for, and which p-values corrections take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anonhist.errors import UsageError
from anonhist.local.decoding.decoder import Decoder, Normalized, Projected, Unbiased
from anonhist.local.decoding.fits import ConstrainedLeastSquares, ExpectationMaximization, MaximumLikelihood

if TYPE_CHECKING:
    from collections.abc import Mapping


def p_values(supports: ArrayLike, users: int, probability: float) -> NDArray[np.float64]:
    """Return the probability of at least this much support for an item that nobody has: ``P(Bin(n, q) ≥ c)``.

    ``= I_q(c, n − c + 1)``, the regularized incomplete beta function; 1 at c = 0. Support c of an item without users is
    binomial for any values of the others, because each of them supports it with probability q, 0 < q < 1. P-values
    below about 1e-308 are 0.
    """
    from scipy.special import betainc

    counts = np.asarray(supports, dtype=np.int64)
    if users < 0 or counts.ndim != 1 or bool(((counts < 0) | (counts > users)).any()):
        raise UsageError("Supports must be a one-dimensional list of whole numbers between 0 and the number of users.")
    if not 0.0 < probability < 1.0:
        raise UsageError(f"The probability of support must be between 0 and 1, both excluded, not {probability}.")
    tails = betainc(np.maximum(counts, 1).astype(np.float64), (users - counts).astype(np.float64) + 1.0, probability)
    return np.asarray(np.where(counts == 0, 1.0, tails), dtype=np.float64)


class Correction(ABC):
    """A method to control the errors of multiple tests; a frozen value with a name in files and on the command line."""

    name: ClassVar[str]

    def adjust(self, p_values: ArrayLike) -> NDArray[np.float64]:
        """Return for each test the least level at which it is rejected, at most 1, shape (k,); equal ones stay equal.

        Raises
        ------
        UsageError
            If the p-values are not a list of numbers from 0 to 1.
        """
        values = np.asarray(p_values, dtype=np.float64)
        if values.ndim != 1 or not bool(((values >= 0) & (values <= 1)).all()):
            raise UsageError("A correction needs a one-dimensional list of p-values from 0 to 1.")
        order = np.argsort(values, kind="stable")
        result = np.empty(values.size)
        result[order] = np.minimum(self._adjust(values[order]), 1.0)
        return result

    @abstractmethod
    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the levels of p-values in ascending order; those above 1 stand for 1."""

    def reject(self, p_values: ArrayLike, level: float) -> NDArray[np.bool_]:
        """Return which tests are rejected at the level, bool, shape (k,).

        Raises
        ------
        UsageError
            If the level is not between 0 and 1, or the p-values are not a list of numbers from 0 to 1.
        """
        if not 0.0 < level < 1.0:
            raise UsageError(f"The level of a test must be between 0 and 1, both excluded, not {level}.")
        return np.asarray(self.adjust(p_values) <= level)


@dataclass(frozen=True)
class Bonferroni(Correction):
    """``k p``: the probability of any false finding is at most the level, under any dependence of the tests.

    Examples
    --------
    >>> Bonferroni().reject([0.01, 0.02, 0.5], 0.05).tolist()
    [True, False, False]
    """

    name: ClassVar[str] = "bonferroni"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        return ascending * ascending.size


@dataclass(frozen=True)
class Holm(Correction):
    """``max_{j ≤ i} (k − j + 1) p_(j)``: the same error control as Bonferroni, and never fewer findings (Holm 1979).

    Examples
    --------
    >>> Holm().reject([0.01, 0.02, 0.5], 0.05).tolist()
    [True, True, False]
    """

    name: ClassVar[str] = "holm"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum.accumulate(ascending * np.arange(ascending.size, 0, -1))


@dataclass(frozen=True)
class BenjaminiHochberg(Correction):
    """``min_{j ≥ i} k p_(j)/j``: the false discovery rate is at most the level (Benjamini, Hochberg 1995).

    That holds for tests that are independent or positively dependent. The supports of the items of one survey are
    weakly negatively dependent; no proof is known for all such cases.

    Examples
    --------
    >>> BenjaminiHochberg().reject([0.02, 0.03, 0.04], 0.05).tolist()
    [True, True, True]
    """

    name: ClassVar[str] = "benjamini-hochberg"

    def _adjust(self, ascending: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = ascending * (ascending.size / np.arange(1, ascending.size + 1))
        return np.minimum.accumulate(scaled[::-1])[::-1]


Value = TypeVar("Value")
DecoderName = Literal["projected", "normalized", "unbiased", "mle", "em", "least-squares"]
CorrectionName = Literal["holm", "bonferroni", "benjamini-hochberg"]
DecoderLike = DecoderName | Decoder
CorrectionLike = CorrectionName | Correction
DECODERS: dict[str, type[Decoder]] = {
    each.name: each
    for each in (Projected, Normalized, Unbiased, MaximumLikelihood, ExpectationMaximization, ConstrainedLeastSquares)
}
CORRECTIONS: dict[str, type[Correction]] = {each.name: each for each in (Holm, Bonferroni, BenjaminiHochberg)}


def as_decoder(decoder: DecoderLike) -> Decoder:
    """Return a decoder as it is, or the one with this name and its default settings."""
    return decoder if isinstance(decoder, Decoder) else _made(DECODERS, decoder, "decoder")


def as_correction(correction: CorrectionLike) -> Correction:
    """Return a correction as it is, or the one with this name."""
    return correction if isinstance(correction, Correction) else _made(CORRECTIONS, correction, "correction")


def _made(named: Mapping[str, type[Value]], name: str, what: str) -> Value:
    if name not in named:
        raise UsageError(f"There is no {what} {name!r:.80}; take one of {', '.join(named)}.")
    return named[name]()

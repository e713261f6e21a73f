"""The mean number of guesses of an attacker who gives up on hard accounts: G_α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.guessing.share_estimator import MORE_BITS, MORE_GUESSES, ShareEstimator
from anonhist.properties.guessing.share_interval import cost_of_share
from anonhist.properties.guessing.units import times

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated, Weights
    from anonhist.properties.guessing.ranks import MostFrequent
    from anonhist.properties.guessing.units import CostUnit


@dataclass(frozen=True)
class Guesswork(ShareEstimator):
    """``G_α = (1 − λ_μ)·μ + Σ_{i≤μ} i·p_i``, ``μ = μ_α``, of the sample itself (Bonneau 2012, eq. 7).

    Where few labels hold the share it jumps with μ; its interval says so, its error does not.
    As a sum, ``G_α = Σ_{b<μ} (1 − λ_b)``: so it changes by ``−Σ_{b<μ} dλ_b + (1 − λ_μ)·dμ``. Of one label it is 1, of n
    singletons ``μ − μ·(μ − 1)/(2n)``.

    Attributes
    ----------
    share
        α, in (0, 1].

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 7.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> Guesswork(Fraction(1)).point(Profile.from_counts([4, 3, 2, 1])).value  # (4 + 2·3 + 3·2 + 4·1)/10
    2.0
    """

    assumes: ClassVar[str] = MORE_GUESSES
    counts_labels: ClassVar[bool] = False

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high."""
        del too_high
        return _guesses(top)

    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives."""
        return _weights(top)


@dataclass(frozen=True)
class GuessworkInBits(ShareEstimator):
    """``lg(2G_α/λ_μ − 1) − lg(2 − λ_μ)``: bits of a uniform distribution as hard to guess (Bonneau 2012, eq. 9).

    Of one label it is 0, of n singletons lg n.

    Attributes
    ----------
    share
        α, in (0, 1].

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 9.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> round(GuessworkInBits(Fraction(1, 3)).point(Profile.from_counts([1] * 8)).value, 12)
    3.0
    """

    assumes: ClassVar[str] = MORE_BITS
    counts_labels: ClassVar[bool] = False

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high; it is α at least."""
        share = min(max(top.share - too_high, float(self.share)), 1.0)
        return math.log2(max((2 * _guesses(top) / share - 1) / (2 - share), 1.0))

    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives, λ as good as fixed."""
        twice = 2 * _guesses(top) / top.share - 1
        return times(_weights(top), 2 / (top.share * twice * math.log(2)))


def _guesses(top: MostFrequent) -> float:
    return (top.n - top.items) / top.n * top.labels + top.guesses()


def _weights(top: MostFrequent) -> Weights:
    each, last = top.above_each(), top.above()
    for_last = (top.n - top.items) / top.least

    def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.asarray(-each(counts) - for_last * last(counts))

    return weights


def guesswork(
    data: Profile | Resimulated, *, share: float, unit: CostUnit = "guesses", level: float = 0.95
) -> Estimate:
    """Estimate the α-guesswork ``G_α``: mean guesses per account of an attacker who stops at a share α of accounts.

    Parameters
    ----------
    data
        A profile of passwords, or a release: then the interval covers privacy noise as well.
    share
        α, above 0 and up to 1; a float means its shortest decimal.
    unit
        ``"guesses"``, or ``"bits"``, the effective key length of Bonneau (2012).
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If a number is impossible, or there is no such unit.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 7 and 9.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> guesswork(Profile.from_counts([40, 30, 20, 10]), share=0.5).value
    1.6
    """
    return cost_of_share(data, share, unit=unit, level=level, in_guesses=Guesswork, in_bits=GuessworkInBits)

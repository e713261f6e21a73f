"""How many guesses each account costs to break a share of all: μ_α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.guessing.share_estimator import MORE_BITS, MORE_GUESSES, ShareEstimator
from anonhist.properties.guessing.share_interval import cost_of_share
from anonhist.properties.guessing.units import times

if TYPE_CHECKING:
    from anonhist.profiles import Profile
    from anonhist.properties.estimate import Estimate
    from anonhist.properties.estimator import Resimulated, Weights
    from anonhist.properties.guessing.ranks import MostFrequent
    from anonhist.properties.guessing.units import CostUnit


@dataclass(frozen=True)
class WorkFactor(ShareEstimator):
    """``μ_α = min{β : λ_β ≥ α}`` of the sample itself (Bonneau 2012, eq. 6).

    With τ the count of the last label, it changes as ``−(n/τ)·λ_β``, β fixed, does. Of one label it is 1, of n
    singletons ``⌈α·n⌉``.

    Attributes
    ----------
    share
        α, in (0, 1].

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 6.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> WorkFactor(Fraction(1, 2)).point(Profile.from_counts([4, 3, 2, 1])).value
    2.0
    """

    assumes: ClassVar[str] = MORE_GUESSES
    counts_labels: ClassVar[bool] = True

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high."""
        del too_high
        return float(top.labels)

    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives."""
        return times(top.above(), -top.n / top.least)


@dataclass(frozen=True)
class WorkFactorInBits(ShareEstimator):
    """``lg(μ_α/λ_{μ_α})``: bits of a uniform distribution as hard to guess (Bonneau 2012, eq. 8).

    Of one label it is 0, of n singletons lg n.

    Attributes
    ----------
    share
        α, in (0, 1].

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 8.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.profiles import Profile
    >>> WorkFactorInBits(Fraction(1, 3)).point(Profile.from_counts([1] * 8)).value
    3.0
    """

    assumes: ClassVar[str] = MORE_BITS
    counts_labels: ClassVar[bool] = True

    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high; it is α at least."""
        return math.log2(top.labels / min(max(top.share - too_high, float(self.share)), 1.0))

    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives, λ as good as fixed."""
        return times(top.above(), -top.n / top.least / (top.labels * math.log(2)))


def work_factor(
    data: Profile | Resimulated, *, share: float, unit: CostUnit = "guesses", level: float = 0.95
) -> Estimate:
    """Estimate the α-work-factor ``μ_α``: guesses per account that break a share α of accounts.

    Parameters
    ----------
    data
        A profile of passwords, or a release: then the interval covers privacy noise as well.
    share
        α, above 0 and up to 1; a float means its shortest decimal.
    unit
        ``"guesses"``, or ``"bits"``: ``lg(μ_α/λ_{μ_α})``, the effective key length of Bonneau (2012).
    level
        Probability with which the interval is meant to hold the truth.

    Raises
    ------
    UsageError
        If a number is impossible, or there is no such unit.

    References
    ----------
    .. [1] J. Bonneau, "The science of guessing: analyzing an anonymized corpus of 70 million passwords", IEEE Symposium
           on Security and Privacy (2012), 538–552, eq. 6 and 8.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> work_factor(Profile.from_counts([40, 30, 20, 10]), share=0.5).value
    2.0
    """
    return cost_of_share(data, share, unit=unit, level=level, in_guesses=WorkFactor, in_bits=WorkFactorInBits)

"""Limits of a value's share, from which the intervals of each kind of estimate are computed."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Protocol

import numpy as np

from anonhist.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.numeric import SignedSums, TwoBinomials


class Limits(Protocol):
    """The two ends of an interval of each value's share, given the probability of missing it."""

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends; the share lies beyond each with probability at most ``tail``, shape (k, 2)."""


@frozen
class NormalLimits:
    """``f̂ ± z·error``, within [0, 1]: for sums of very many reports.

    Attributes
    ----------
    raw, errors
        Unbiased estimates and their standard errors, shape (k,).
    """

    raw: NDArray[np.float64]
    errors: NDArray[np.float64]

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        half = -NormalDist().inv_cdf(tail) * self.errors
        return np.clip(np.stack((self.raw - half, self.raw + half), axis=1), 0, 1)


@frozen
class SupportLimits:
    """The shares for which this number of supporting reports is plausible: inverted binomial tails.

    Attributes
    ----------
    supports
        How many reports support each value, int64, shape (k,).
    distribution
        The distribution of such a number: a share of the people supports a value with probability p, the rest with q.
    """

    supports: NDArray[np.int64]
    distribution: TwoBinomials

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        return self.distribution.compatible_shares(self.supports, tail)


class SampleLimits(SupportLimits):
    """As :class:`SupportLimits`, if the people who reported are a sample of those to be estimated.

    A report supports a value of share f with probability ``q + f(p − q)``, so the ends are those of Clopper and
    Pearson for that number. Drawing without replacement varies less, so they are slightly too wide.
    """

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        from scipy.special import betaincinv

        distribution, counts = self.distribution, self.supports
        rest = distribution.users - counts
        low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), rest + 1.0, tail), 0.0)
        high = np.where(rest > 0, betaincinv(counts + 1.0, np.maximum(rest, 1), 1 - tail), 1.0)
        return np.clip(
            (np.stack((low, high), axis=1) - distribution.false) / (distribution.true - distribution.false), 0, 1
        )


@frozen
class BlockLimits:
    """The shares for which these numbers of reports for and against a value are plausible.

    Attributes
    ----------
    sums
        Reports of its block that support each value minus those that do not, with their integer weights.
    block_shares
        Estimates of the share of people with any value of the block.
    distribution
        The distribution of such a sum.
    """

    sums: NDArray[np.int64]
    block_shares: NDArray[np.float64]
    distribution: SignedSums

    def at(self, tail: float) -> NDArray[np.float64]:
        """Return the ends, shape (k, 2)."""
        return self.distribution.compatible_shares(self.sums, self.block_shares, tail)

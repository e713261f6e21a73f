"""Hill numbers of order 0, 1 and 2 of a reference sample: observed, asymptotic, and at any size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.species.subsamples import expected_logarithms, last_rise, log_missed, log_probability

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.species.sample import ReferenceSample

ORDERS = (0, 1, 2)
# A count of a species in a subsample is within so many standard deviations, and so much more, of its mean.
_REACH, _MORE = 12.0, 40.0
# From this mean on, the expected logarithm of a count follows from its moments.
_LARGE_MEAN = 1e4
# Step and ends of the integral over ln y, as in the entropy of all labels.
_STEP, _END, _BELOW = 0.25, math.log(50.0), 40.0


def parse_orders(given: Iterable[float]) -> tuple[int, ...]:
    """Return distinct orders among 0, 1 and 2, ascending.

    Raises
    ------
    UsageError
        If there is none, or another one.

    Examples
    --------
    >>> parse_orders([2, 0.0])
    (0, 2)
    """
    orders = [given] if isinstance(given, int | float) else list(given)
    if not orders or any(isinstance(order, bool) or order not in ORDERS for order in orders):
        raise UsageError("`orders` must be one or more of 0, 1 and 2, such as 0,1,2.")
    return tuple(sorted({int(order) for order in orders}))


def observed(sample: ReferenceSample, order: int) -> float:
    """Return the Hill number of the sample itself.

    It is ``(Σ_r f_r·(r/N)^q)^(1/(1−q))``, at q = 1 ``exp(−Σ_r f_r·(r/N)·ln(r/N))``.

    Source: Hill 1973; for sampling units, Chao and others 2014, eq. 6: shares are those of all detections.
    """
    if not sample.total:
        return 0.0
    if order == 0:
        return float(sample.num_species)
    shares = sample.counts / sample.total
    if order == 1:
        return math.exp(-float(sample.prevalences @ (shares * np.log(shares))))
    return 1 / float(sample.prevalences @ shares**2)


def unseen_species(sample: ReferenceSample) -> float:
    """Return Chao's lower bound on the number of species that were missed: Chao1 of individuals, Chao2 of units.

    ``((n − 1)/n)·f_1²/(2f_2)``, or ``((n − 1)/n)·f_1·(f_1 − 1)/2`` if f_2 is 0 (Chao 1984, 1987).
    """
    once, twice, finite = sample.of_count(1), sample.of_count(2), (sample.size - 1) / sample.size
    return finite * once**2 / (2 * twice) if twice else finite * once * (once - 1) / 2


def asymptotic(sample: ReferenceSample, order: int) -> float:
    """Return the Hill number of the community, for a sample of n ≥ 2 draws.

    * q = 0: the species seen and :func:`unseen_species`, a lower bound.
    * q = 1: the exponential of ``(n/N)·H + ln(N/n)``, where
      ``H = Σ_r f_r·(r/n)·(ψ(n) − ψ(r)) + (f_1/n)·Σ_{s≥1} A^s/(n − 1 + s)`` and A as for the coverage. For individuals
      n is N, and this is the entropy alone.
    * q = 2: ``N²·(1 − 1/n)/Σ_r f_r·r·(r − 1)``. If no species was seen twice or more, the sum is taken as 2, its least
      value above 0, and the result is at least that of the sample.

    Source: Chao and others 2013, eq. 7; Chao and others 2014, eq. 10 to 12 and appendix H; Chao and Jost 2015.
    """
    if not sample.total:
        return 0.0
    if order == 0:
        return sample.num_species + unseen_species(sample)
    if order == 1:
        ratio = sample.size / sample.total
        return math.exp(ratio * (_entropy_of_seen(sample) + _entropy_of_unseen(sample)) - math.log(ratio))
    pairs = _pairs(sample)
    number = float(sample.total) ** 2 * (1 - 1 / sample.size) / (pairs or 2.0)
    return number if pairs else max(number, observed(sample, order))


def at_size(sample: ReferenceSample, order: int, size: float) -> float:
    """Return the expected Hill number of a sample of m draws, n ≥ 2 being those of the reference sample.

    Up to n, with ``f_k(m) = Σ_r f_r·C(r, k)·C(n − r, m − k)/C(n, m)``, the expected numbers of species that m draws
    show k times, and ``M = m·N/n``, it is ``(Σ_k f_k(m)·(k/M)^q)^(1/(1−q))``, at q = 1
    ``exp(−Σ_k f_k(m)·(k/M)·ln(k/M))``; between whole m, on a straight line, as in iNEXT. Beyond n:

    * q = 0 and 1: ``D(n) + (D − D(n))·(1 − (1 − β)^(m−n))`` with ``β = (D(n) − D(n−1))/(D − D(n−1))`` and D the
      :func:`asymptotic` number; D(n) if that is not larger;
    * q = 2: ``1/(1/M + (1 − 1/m)·n/(n − 1)·Σ_r f_r·r·(r − 1)/N²)``, also below n.

    Source: Hurlbert 1971 (q = 0); Colwell and others 2012, eq. 9 and 18; Chao and others 2014, tables 1 and 2; for
    q = 1 beyond n, the formula of iNEXT 3.

    Parameters
    ----------
    sample
        The reference sample.
    order
        q: 0, 1 or 2.
    size
        m ≥ 1. Beyond 2n, orders below 2 are unreliable.

    Returns
    -------
    float
        The effective number of species; 0 for a sample without species.
    """
    if not sample.total:
        return 0.0
    if size <= sample.size:
        low = math.floor(size)
        if low == size:
            return _rarefied(sample, order, low)
        share = size - low
        return (1 - share) * _rarefied(sample, order, low) + share * _rarefied(sample, order, low + 1)
    if order == 2:
        return _of_pairs(sample, size)
    found, limit = observed(sample, order), asymptotic(sample, order)
    rise = _last_rise(sample, order)
    if limit <= found or rise <= 0:
        return found
    beta = rise / (limit - found + rise)
    return found - (limit - found) * math.expm1((size - sample.size) * math.log1p(-beta))


def _last_rise(sample: ReferenceSample, order: int) -> float:
    """Return ``D(n) − D(n − 1)``, at order 0 ``f_1/n``."""
    if order == 0:
        return sample.of_count(1) / sample.size
    return -observed(sample, 1) * math.expm1(-last_rise(sample.size, sample.counts, sample.prevalences, sample.total))


def _rarefied(sample: ReferenceSample, order: int, size: int) -> float:
    """Return the expected Hill number of a whole number of draws, from 0 to n."""
    if size < 1:
        return 0.0
    if size == sample.size:
        return observed(sample, order)
    if order == 0:
        return _species_in(sample, size)
    if order == 2:
        return _of_pairs(sample, size)
    expected = size * sample.total / sample.size
    return math.exp(math.log(expected) - _logarithms(sample, size) / expected)


def _species_in(sample: ReferenceSample, size: int) -> float:
    """Return ``Σ_r f_r·(1 − C(n − r, m)/C(n, m))`` (Hurlbert 1971)."""
    may_miss = sample.counts <= sample.size - size
    missed = -np.expm1(log_missed(sample.size, size, sample.counts[may_miss]))
    return float(sample.prevalences[may_miss] @ missed) + float(sample.prevalences[~may_miss].sum())


def _logarithms(sample: ReferenceSample, size: int) -> float:
    """Return ``Σ_r f_r·E[K·ln K]``, K the count in m of n draws of a species with r of them: hypergeometric."""
    n, is_large = sample.size, sample.counts * (size / sample.size) > _LARGE_MEAN
    found = float(sample.prevalences[is_large] @ expected_logarithms(n, size, sample.counts[is_large]))
    counts = sample.counts[~is_large]
    mean = counts * (size / n)
    reach = _REACH * np.sqrt(np.maximum(mean * (1 - counts / n), 0.0)) + _MORE
    low = np.maximum(np.floor(mean - reach), np.maximum(2, size - (n - counts))).astype(np.int64)
    high = np.minimum(np.ceil(mean + reach), np.minimum(counts, size)).astype(np.int64)
    many = np.maximum(high - low + 1, 0)
    first = np.cumsum(many) - many
    k = np.arange(int(many.sum())) - np.repeat(first, many) + np.repeat(low, many)
    r, weight = np.repeat(counts, many), np.repeat(sample.prevalences[~is_large], many)
    chances = np.exp(log_probability(n, size, r, k))
    return found + float(weight @ (chances * k * np.log(k)))


def _pairs(sample: ReferenceSample) -> float:
    """Return ``Σ_r f_r·r·(r − 1)``."""
    counts = sample.counts.astype(np.float64)
    return float(sample.prevalences @ (counts * (counts - 1)))


def _of_pairs(sample: ReferenceSample, size: float) -> float:
    """Return the Hill number of order 2 of m ≥ 1 draws."""
    n, total = sample.size, float(sample.total)
    expected = size * total / n
    return 1 / (1 / expected + (1 - 1 / size) * n / (n - 1) * _pairs(sample) / total**2)


def _entropy_of_seen(sample: ReferenceSample) -> float:
    """Return ``Σ_r f_r·(r/n)·(ψ(n) − ψ(r))``."""
    from scipy.special import psi

    n = float(sample.size)
    return float(sample.prevalences @ (sample.counts / n * (psi(n) - psi(sample.counts.astype(np.float64)))))


def _entropy_of_unseen(sample: ReferenceSample) -> float:
    """Return ``(f_1/n)·Σ_{s≥1} A^s/(n − 1 + s)``, that is ``(f_1/n)·(A/n)·∫_0^∞ e^(−y)/(1 − A·e^(−y/n)) dy``.

    It is the double sum of the source without its difference of large numbers. The integral over ln y is exact to about
    ten digits.
    """
    n, once, alike = float(sample.size), sample.of_count(1), sample.alike
    if not once or alike >= 1:
        return 0.0
    y = np.exp(np.arange(min(math.log(n * alike), 0.0) - _BELOW, _END, _STEP))
    integrand = y * np.exp(-y) / (alike - (1 - alike) * np.expm1(-y / n))
    return once / n * (1 - alike) / n * float(integrand.sum()) * _STEP

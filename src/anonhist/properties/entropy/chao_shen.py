"""The entropy of Chao and Shen: labels weighted by the probability that they were seen at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.properties.estimator import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from anonhist.profiles import Profile


@dataclass(frozen=True)
class ChaoShen:
    """``H = Σ_r φ_r·h(C·r/n)`` with ``h(q) = −q·ln q / (1 − (1−q)^n)``, in nats (Chao and Shen 2003).

    ``C = 1 − φ_1/n`` is the Good–Turing sample coverage, and the denominator of h is the probability that a label of
    probability q was seen. For n ≥ 2 singletons C would be 0; as is usual, it is set to 1/n, as if φ_1 were n − 1, and
    the entropy is about 2·ln n. For one label or one item, the entropy is 0.

    The weights include the derivative through C: ``w(r) = h(C·r/n) − [r = 1]·H′(C)/n``.

    References
    ----------
    .. [1] A. Chao, T.-J. Shen, "Nonparametric estimation of Shannon's index of diversity when there are unseen species
           in sample", Environmental and Ecological Statistics 10 (2003), 429–443.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> round(ChaoShen().point(Profile.from_counts([2, 1, 1])).value, 6)
    1.76324
    """

    name: ClassVar[str] = "chao-shen"
    assumes: ClassVar[str] = "labels not seen are about as frequent as those seen once"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        n = float(profile.n)
        # In integers: as floats, n − 1 may round to n, and the coverage to 0.
        covered = profile.n - min(profile.prevalence(1), profile.n - 1)
        coverage = covered / profile.n
        share, labels = profile.counts / n, profile.prevalences.astype(np.float64)
        of_coverage = float((share * _slope(coverage * share, n)) @ labels)

        def weights(counts: NDArray[np.int64]) -> NDArray[np.float64]:
            whole = _term(np.minimum(coverage * counts / n, 1.0), n)
            return whole - np.where(counts == 1, of_coverage / n, 0.0)

        warnings: tuple[str, ...] = ()
        if profile.prevalence(1) == profile.n > 1:
            warnings = ("Every label was seen only once: the data say next to nothing about labels not seen.",)
        return Point(float(_term(coverage * share, n) @ labels), weights, warnings=warnings)


def _inclusion_probability(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``1 − (1−q)^n``, the inclusion probability of a label of probability q (Horvitz–Thompson)."""
    with np.errstate(divide="ignore"):
        return -np.expm1(n * np.log1p(-q))


def _term(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``h(q) = −q·ln q/(1 − (1−q)^n)``, a term of the sum of Chao and Shen (2003); 0 at 0."""
    inside = np.where(q > 0, q, 1.0)
    return -inside * np.log(inside) / _inclusion_probability(inside, n)


def _slope(q: NDArray[np.float64], n: float) -> NDArray[np.float64]:
    """Return ``h′(q) = −(ln q + 1)/s + q·ln q·s′/s²``, s the inclusion probability, for q > 0."""
    seen = _inclusion_probability(q, n)
    with np.errstate(divide="ignore"):
        more = n * np.exp((n - 1) * np.log1p(-np.minimum(q, 1.0 - 1e-16)))
    return -(np.log(q) + 1) / seen + q * np.log(q) * more / seen**2

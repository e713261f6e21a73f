"""Maximum likelihood over all distributions of counts, smooth or not, with a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.sketches.decoding.decoder import Counters, CounterSetting, Prevalences, WithoutParameters
from anonhist.sketches.decoding.window import STRAY, Window, between_cells

if TYPE_CHECKING:
    from anonhist.numeric.arrays import Floats


# Nats by which the likelihood may stay below its maximum, too few to distinguish distributions.
_GAP = 0.01
_STEPS, _SMALL_STEPS = 200, 20


@dataclass(frozen=True)
class MaximumLikelihood(WithoutParameters):
    """The distribution of counts under which the values seen are most likely: a mixture whose kernel is the noise.

    With G_k counters of value k and κ the distribution of the noise, ``Σ_k G_k·ln Σ_r f_r·κ(k − r)`` is maximized over
    all f ≥ 0 with sum 1. It is concave. Each step solves its quadratic model under f ≥ 0 and is halved until it gains;
    small steps, of expectation and maximization, come between. It ends where what is missing to the maximum, which is
    at most ``d·ln max_r Σ_k (G_k/d)·κ(k − r)/m_k``, is below 0.01.

    f is not smoothed: if many counts are about equally likely, the result has a few peaks instead. It is best if the
    truth has few distinct counts; otherwise
    :class:`~anonhist.sketches.decoding.empirical_bayes.EmpiricalBayes` has a lower error. Far out, where counters are
    sparse, counts are grouped into cells, within which f is constant.

    References
    ----------
    .. [1] Y. Wang, *On fast computation of the non-parametric maximum likelihood estimate of a mixing distribution*,
       Journal of the Royal Statistical Society B 69, 2007: the step.
    .. [2] B. G. Lindsay, *The geometry of mixture likelihoods*, Annals of Statistics 11, 1983: the bound.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.decoding.decoder import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> seen = np.rint(1e6 * noise.pmf(6)).astype(np.int64)  # all counts are 2
    >>> found = MaximumLikelihood().decode(Counters(np.arange(-4, 9), seen), CounterSetting(noise, is_hashed=False))
    >>> (found.numbers[:5] / 1e6).round(2).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """

    name: ClassVar[str] = "maximum-likelihood"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the most likely numbers of counters with each count, 0 included.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts.
        """
        if not observed.size:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        widths = np.diff(window.counts)
        kernel = between_cells(setting.noise.pmf(window.reach), -window.reach, window.values, window.counts) / widths
        # Values this unlikely, such as outliers, are not more likely under any other distribution.
        kernel = np.maximum(kernel, 1e-300)
        met = window.cell_numbers > 0
        weights = _most_likely(window.cell_numbers[met], kernel[met] + STRAY)
        return Prevalences(
            np.concatenate((np.arange(window.last), window.beyond_values)),
            np.concatenate((np.repeat(weights / widths, widths), window.beyond_numbers)),
        )


def _most_likely(seen: Floats, kernel: Floats) -> Floats:
    """Return weights w ≥ 0 with the sum of ``seen`` that maximize ``Σ seen·ln(kernel·w)``."""
    from scipy.optimize import nnls

    total = float(seen.sum())
    if not total:
        return np.zeros(kernel.shape[1])
    weights = np.full(kernel.shape[1], total / kernel.shape[1])
    for _ in range(_STEPS):
        for _ in range(_SMALL_STEPS):
            weights = weights * (kernel.T @ (seen / (kernel @ weights)))
        means = kernel @ weights
        relative = kernel / means[:, np.newaxis]
        gradient = relative.T @ seen
        if total * np.log(max(float(gradient.max()), 1.0)) <= _GAP:
            break
        roots = np.sqrt(seen)
        # Where all means are doubled the quadratic model would be best; the last row keeps the sum.
        rows = np.vstack((relative * roots[:, np.newaxis], np.ones(kernel.shape[1]) / total**0.5))
        target, _ = nnls(rows, np.append(2 * roots, total**0.5), maxiter=10 * kernel.shape[1])
        if not target.sum():
            break
        target *= total / target.sum()
        weights = _along(seen, kernel, weights, target)
    return weights


def _along(seen: Floats, kernel: Floats, weights: Floats, target: Floats) -> Floats:
    """Return the first of ever shorter steps toward the target that gains a third of what its slope promises."""
    before, after = kernel @ weights, kernel @ target
    slope = float(seen @ (after / before)) - float(seen.sum())
    length = 1.0
    while length > 1e-9:
        gain = float(seen @ np.log((1 - length) + length * after / before))
        if gain >= length * slope / 3:
            break
        length /= 2
    return (1 - length) * weights + length * target

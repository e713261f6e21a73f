"""Decompounding: labels that share buckets are separated by the distribution of their sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from anonhist.numeric.smooth_fit import smooth_fit
from anonhist.sketches.decoding.compound import Compound, of_all_buckets
from anonhist.sketches.decoding.decoder import WithoutParameters
from anonhist.sketches.decoding.sharpening import sharpen
from anonhist.sketches.decoding.window import Window
from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from anonhist.sketches.counters import Counters
    from anonhist.sketches.decoding.decoder import CounterSetting


@dataclass(frozen=True)
class Decompounding(WithoutParameters):
    """Learn a smooth distribution of the counts from shared buckets, then take the posterior of each bucket.

    A label is in each of the B buckets with probability 1/B, so a bucket holds about Poisson(λ_r) labels of count r,
    ``λ_r = φ_r/B``, and the characteristic function of its value is ``ĝ(t) = κ̂(t)·exp(Σ_r λ_r·(e^{itr} − 1))``, κ̂
    that of the noise. The rates are fitted by penalized maximum likelihood, as
    :func:`~anonhist.numeric.smooth_fit.smooth_fit` says: smooth in r, unless the buckets say otherwise. What
    is returned is the expected number of labels given the buckets, ``φ̂_r = φ_r·Σ_k (G_k/B)·g_{k−r}/g_k``, where G_k
    buckets have the value k, after one step of this kind or as many as
    :func:`~anonhist.sketches.decoding.sharpening.sharpen` finds to help.

    Their sum estimates the number of different labels. No bucket need be empty: loads m/B of up to about 3 labels a
    bucket cost little accuracy. Values far out that few buckets have (beyond a window which holds nearly all) are
    taken as counts; if T of B buckets are out there, they are taken for ``−B·ln(1 − T/B)`` labels, and what else is in
    them for as many labels a bucket as in the others.

    Where each counter is that of one label, take
    :class:`~anonhist.sketches.decoding.empirical_bayes.EmpiricalBayes`.

    References
    ----------
    .. [1] B. Buchmann, R. Grübel, *Decompounding: an estimation problem for Poisson random sums*, Annals of Statistics
       31, 2003.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.counters import Counters
    >>> noise = NoiseDistribution.of([(Fraction(1), Fraction(1))])
    >>> rng = np.random.default_rng(1)
    >>> buckets = rng.poisson(0.5, 20_000) + noise.simulate(20_000, rng=rng)  # of 10,000 labels that occur once
    >>> found = Decompounding().decode(Counters.of(buckets), CounterSetting(noise, is_hashed=True))
    >>> bool(abs(found.numbers.sum() - 10_000) < 600)
    True
    """

    name: ClassVar[str] = "decompounding"

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the expected number of labels with each count from 1 on.

        Raises
        ------
        UsageError
            If the noise spreads over more than 2^15 counts.
        """
        return self._read(observed, setting, None)

    def redecode(self, observed: Counters, setting: CounterSetting, *, rng: np.random.Generator) -> Prevalences:
        """Read a simulated sketch, with rates that could be the true ones instead of those that are fitted."""
        return self._read(observed, setting, rng)

    def _read(self, observed: Counters, setting: CounterSetting, rng: np.random.Generator | None) -> Prevalences:
        if not observed.size or int(observed.values[-1]) < 1:
            return Prevalences.none()
        window = Window.of(observed, setting.noise)
        numbers = np.zeros(window.last)
        if window.num_counters:
            compound = Compound(window, setting.noise)
            fit = smooth_fit(compound, *compound.starts)
            rates = compound.spread_out(fit.rates if rng is None else fit.draw(rng))
            numbers = sharpen(compound, rates, window.seen)
        return of_all_buckets(window, numbers[1:])

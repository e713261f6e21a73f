"""Intervals for the entropy, for all methods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anonhist.properties.entropy.zhang import Zhang
from anonhist.properties.levels import largest_mean
from anonhist.properties.statement import Bounds, Holds, Statement

if TYPE_CHECKING:
    from anonhist.properties.sample import Sample

# If no alphabet size is given, up to this many labels may be missing.
_ANY = 2.0**64
# An upper end that must allow for a larger share of the entropy than this is useless.
_MUCH = 0.1
_KNOWN = "the upper end allows for all labels of the alphabet not seen"
_ANY_AMOUNT = "labels too rare to be seen may add any amount"
_ALLOWED = "the upper end allows for up to 2^64 labels that were not seen"


@dataclass(frozen=True)
class EntropyInterval:
    """From ``H_Z − z·error`` to ``H_Z + z·error + (F_1/n)·ln(1 + F_0/F_1)``, in nats.

    H_Z is :class:`~anonhist.properties.entropy.zhang.Zhang`, which is never too high on average, so the lower end holds
    for every distribution. It is too low by ``Σ_x p_x·Σ_{s≥n} (1 − p_x)^s/s``; for Poisson counts with means
    ``λ_x = n·p_x`` that is ``(1/n)·Σ_x λ_x·E_1(λ_x)``, E_1 the exponential integral. By ``E_1(λ) ≤ e^(−λ)·ln(1 + 1/λ)``
    and Jensen's inequality it is at most ``(F_1/n)·ln(1 + F_0/F_1)``, where ``F_0 = Σ_x e^(−λ_x)`` and
    ``F_1 = Σ_x λ_x·e^(−λ_x)`` are the expected numbers of labels not seen and seen once. The bound rises with both. F_0
    is at most the number of unseen labels of the alphabet, or 2⁶⁴ without one. F_1 is at most the upper end of a
    Poisson mean with count φ_1, ``φ_1 + z²/2 + z·sqrt(φ_1 + z²/4)``.

    If no alphabet is known and the bound is more than a tenth of H_Z, there is only a lower end.

    Attributes
    ----------
    alphabet_size
        k, if known.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> from anonhist.properties.sample import Sample
    >>> found = EntropyInterval(2).of(Sample(Profile.from_counts([500, 500])), 0.69, 0.0)
    >>> round(found.low, 3), round(found.high, 3)
    (0.69, 0.693)
    """

    alphabet_size: int | None = None

    def of(self, sample: Sample, value: float, error: float) -> Bounds:
        """Return the ends; the value always lies between them."""
        del error
        n, z = float(sample.profile.n), sample.z
        (seen, _), (_, once) = sample.labels, sample.exactly(1)
        least, spread = sample.of(Zhang())
        low, most = max(least - z * spread, 0.0), self.of_nothing()[1]
        unseen = _ANY if self.alphabet_size is None else max(self.alphabet_size - seen, 0.0)
        singles = min(largest_mean(once, z), n)
        missing = singles / n * math.log1p(unseen / singles)
        if self.alphabet_size is None and missing > _MUCH * least:
            return Bounds(low, most, Statement(Holds.AT_LEAST, _ANY_AMOUNT)).around(value)
        reason = _ALLOWED if self.alphabet_size is None else _KNOWN
        return Bounds(low, min(least + z * spread + missing, most), Statement(Holds.BOTH, reason)).around(value)

    def of_nothing(self) -> tuple[float, float]:
        """Return 0 and the logarithm of the size of the alphabet."""
        return 0.0, math.inf if self.alphabet_size is None else math.log(self.alphabet_size)

"""The decoder of Wu and Pagh (2024), as published."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.privacy import parse_epsilon
from anonhist.sketches.decoding.circulant import Circulant, fast_length, reaches_of
from anonhist.sketches.decoding.hyperplane import NORMS, best_on_hyperplane
from anonhist.sketches.decoding.rounding import found_labels, round_to_profile
from anonhist.sketches.prevalences import Prevalences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.privacy import EpsilonLike
    from anonhist.sketches.counters import Counters
    from anonhist.sketches.decoding.decoder import CounterSetting

# A window of so many values takes half a gigabyte and a few seconds.
LONGEST_WINDOW = 2**24


def _norm(given: str | float) -> str:
    if (norm := str(given)) not in NORMS:
        message = f"`norm` must be one of {', '.join(NORMS)}, not {norm!r:.80}."
        raise UsageError(message)
    return norm


def _probability(given: EpsilonLike) -> Fraction:
    if (probability := parse_epsilon(given, name="beta")) >= 1:
        raise UsageError("`beta` must be less than 1, such as 0.01.")
    return probability


@frozen
class WuPagh:
    """Algorithms 2 and 3 of Wu and Pagh: undo truncated noise on a window, correct the sum, round to a profile.

    The profile is sought on 0..n with n the largest value of a counter, or 0: the counters are already private,
    so this costs nothing. The window −B..n + B holds all counters with probability 1 − β; if one lies below it
    nevertheless, it is made longer. Time and memory grow with n.

    The published method does not model collisions: for hashed labels it reads each counter as one label, so labels that
    share one count as a single label with their joint count.

    Parameters
    ----------
    norm
        q of ``min ‖A·f − g‖_q``: ``"1"``, ``"2"`` or ``"inf"``; the numbers 1 and 2 and ``math.inf`` do as well.
    beta
        β: probability that noise leaves the window, in (0, 1).

    Raises
    ------
    UsageError
        If there is no such norm or probability.

    References
    ----------
    .. [1] H. Wu, R. Pagh, *Profile Reconstruction from Private Sketches*, ICML 2024.

    Examples
    --------
    >>> from anonhist.sketches.decoding.decoder import CounterSetting
    >>> from anonhist.sketches.noise import NoiseDistribution
    >>> from anonhist.sketches.counters import Counters
    >>> noise = NoiseDistribution(((Fraction(20), Fraction(1)),))
    >>> found = WuPagh().decode(Counters.of(np.array([0, 3, 0, 3, 0])), CounterSetting(noise, is_hashed=False))
    >>> found.counts.tolist(), found.numbers.round(3).tolist()
    ([0, 3], [3.0, 2.0])
    """

    norm: Converted[str | float, str] = converted(_norm, default="2")
    beta: Converted[EpsilonLike, Fraction] = converted(_probability, default=Fraction(1, 100))

    @property
    def name(self) -> str:
        """``wu-pagh``."""
        return "wu-pagh"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """The norm, and the probability of failure."""
        return {"norm": self.norm, "beta": str(self.beta)}

    def decode(self, observed: Counters, setting: CounterSetting) -> Prevalences:
        """Return the estimated number of labels with each count; see the protocol.

        Raises
        ------
        UsageError
            If the window would hold more than 2^24 values.
        """
        size = observed.size
        if not size:
            return Prevalences.none()
        largest = max(int(observed.values[-1]), 0)
        reaches = reaches_of(setting.noise, size=size, beta=float(self.beta))
        below = max(sum(reaches), -int(observed.values[0]))
        length = fast_length(below + largest + sum(reaches) + 1)
        if length > LONGEST_WINDOW:
            raise UsageError(
                "The published decoder cannot hold a window as long as the values of these counters; leave out the "
                "method, and the default one is taken, which can."
            )
        noise = Circulant.of(setting.noise, reaches, length)
        seen = observed.dense(-below, length - below - 1) / size
        profile = slice(below, below + largest + 1)
        inside = np.zeros(length)
        inside[profile] = 1
        shares = round_to_profile(best_on_hyperplane(noise, seen, inside, self.norm)[profile])
        return found_labels(np.arange(shares.size), shares * size, setting)

"""k-ary randomized response: the value itself or, with small probability, another."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from anonhist.frozen import frozen
from anonhist.local.decoding.channel import Channel, SupportChannel
from anonhist.local.designs.matrices import check_entries
from anonhist.local.randomizers.pure import LabelSurvey
from anonhist.local.surveys.tally import Tally
from anonhist.numeric import ExponentialQuotient
from anonhist.randomness import bernoulli, uniform_integers

if TYPE_CHECKING:
    from anonhist.randomness import RandomSource


@frozen(kw_only=True)
class KRR(LabelSurvey):
    """k-ary randomized response: ``Q(y | x) = e^ε/(e^ε + k − 1)`` if y = x, else ``1/(e^ε + k − 1)``.

    Order-optimal for ε ≥ ln k, with the lowest error of all if k < 3e^ε + 2.

    Parameters
    ----------
    alphabet
        Labels, their number k, or an :class:`Alphabet`.
    epsilon
        ε of each report.
    title
        Any text; see :class:`Survey`.

    Raises
    ------
    UsageError
        If the alphabet has fewer than two labels or one twice, or epsilon is out of range.

    References
    ----------
    Kairouz, Bonawitz, Ramage 2016, "Discrete Distribution Estimation under Local Privacy", §3.1.

    Examples
    --------
    >>> survey = KRR(alphabet=["no", "yes", "perhaps"], epsilon=1)
    >>> [str(entry) for entry in survey.matrix()[0]]
    ['e/(e + 2)', '1/(e + 2)', '1/(e + 2)']
    """

    decode_cost: ClassVar[str] = "n + k"
    name: ClassVar[str] = "k-rr"

    @cached_property
    def true_support_probability(self) -> ExponentialQuotient:
        """``e^ε/(e^ε + k − 1)``."""
        return self.odds / (self.odds + (self.size - 1))

    @cached_property
    def false_support_probability(self) -> ExponentialQuotient:
        """``1/(e^ε + k − 1)``."""
        return 1 / (self.odds + (self.size - 1))

    def matrix(self) -> tuple[tuple[ExponentialQuotient, ...], ...]:
        """Return Q(report | value), shape (k, k), both in alphabet order."""
        check_entries(self.size**2)
        same, other = self.true_support_probability, self.false_support_probability
        return tuple(tuple(same if y == x else other for y in range(self.size)) for x in range(self.size))

    def _draw(self, codes: NDArray[np.int64], *, source: RandomSource) -> dict[str, NDArray[Any]]:
        # With probability p − q the value, otherwise any label, including the value: one fewer draw to get right.
        kept = bernoulli(self._kept_probability, codes.size, source=source)
        return {"report": np.where(kept, codes, uniform_integers(self.size, codes.size, source=source))}

    @property
    def _support_sizes(self) -> tuple[int, int]:
        return 1, 1

    def channel_of(self, tally: Tally, codes: NDArray[np.int64] | None) -> tuple[Channel, NDArray[np.int64]]:
        """Return the distribution of the cells and the count of each; see :class:`ClosedSurvey`."""
        q = self.false_support_probability
        supports = self._supports(tally, codes)
        base = np.full(supports.size, float(q))
        if codes is not None and self._leaves_others(codes):
            # All other labels form one cell: which of them it is carries no information about these.
            supports = np.append(supports, tally.users - supports.sum())
            base = np.append(base, float((self.size - codes.size) * q))
        gain = float(self._kept_probability)
        return SupportChannel(base.size, base.size, base, gain, np.asarray, np.asarray), supports

"""How likely a report is to support a value: the value it was made from, or another one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from anonhist.numeric import ExponentialQuotient


class SupportProbabilities(ABC):
    """Probabilities of supports; if there are cohorts, of the places of a value instead of the value."""

    @property
    @abstractmethod
    def true_support_probability(self) -> ExponentialQuotient:
        """p, the probability that a report supports the value it was made from, exact."""

    @property
    @abstractmethod
    def false_support_probability(self) -> ExponentialQuotient:
        """q, the probability that a report supports another value, exact."""

    @property
    @abstractmethod
    def _support_sizes(self) -> tuple[int, int]:
        """The least and the largest number of values, or places, that a possible report supports."""

    @cached_property
    def _kept_probability(self) -> ExponentialQuotient:
        """P − q, exact."""
        return self.true_support_probability - self.false_support_probability

    @cached_property
    def _probabilities(self) -> tuple[float, float, float]:
        """p, q and p − q; computed exactly, as for small ε the difference would vanish in floats."""
        p, q = float(self.true_support_probability), float(self.false_support_probability)
        return p, q, float(self._kept_probability)

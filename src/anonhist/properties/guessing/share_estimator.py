"""Base class of estimators of the cost of breaking a share of accounts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from anonhist.properties.estimator import Point
from anonhist.properties.guessing.ranks import MostFrequent

if TYPE_CHECKING:
    from fractions import Fraction

    from anonhist.profiles import Profile
    from anonhist.properties.estimator import Weights

_KNOWN = "each item is one account, and the sample shows which labels are most frequent; otherwise"
MORE_GUESSES, MORE_BITS = f"{_KNOWN} more guesses are needed", f"{_KNOWN} the number of bits is higher"


@dataclass(frozen=True)
class ShareEstimator(ABC):
    """A number of the labels that hold a share α of the items: :meth:`of` says which, :meth:`weights` its error."""

    share: Fraction
    name: ClassVar[str] = "plug-in"

    def point(self, profile: Profile) -> Point:
        """Estimate from a profile with at least one item."""
        top = MostFrequent.of_share(profile, self.share)
        return Point(self.of(top), self.weights(top), warnings=top.doubts(profile, wrong="too low"))

    @abstractmethod
    def of(self, top: MostFrequent, *, too_high: float = 0.0) -> float:
        """Return the value of these labels, if λ is so much too high."""

    @abstractmethod
    def weights(self, top: MostFrequent) -> Weights:
        """Return the derivatives."""

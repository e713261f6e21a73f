"""The exponential mechanism over all partitions, with the largest rate that its exact loss allows."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from anonhist.frozen import frozen
from anonhist.mechanisms import PartitionMechanism
from anonhist.mechanisms.exponential.calibration import calibrate
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.mechanisms.skeletons import bounded_profile
from anonhist.profiles import FrobeniusCoordinates

if TYPE_CHECKING:
    from anonhist.mechanisms.noise import Choices
    from anonhist.profiles import Profile


@frozen
class ExponentialMechanism(PartitionMechanism):
    """The partition mechanism without corner weights and without denoising: a rival, at every ε."""

    name: ClassVar[str] = "exponential"

    @classmethod
    def at(cls, epsilon: str) -> ExponentialMechanism:
        """Return it with z = 0 and the largest c.

        Examples
        --------
        >>> ExponentialMechanism.at("2").family.z
        0.0
        """
        return cls(epsilon, member=calibrate(Fraction(epsilon), 0.0))

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        drawn = DiagonalChain(FrobeniusCoordinates.of(profile), self.family).draw(size, choices)
        return [bounded_profile(each.arms, each.legs) for each in drawn]

"""What was released, so that numbers made from it alone carry its guarantee."""

from __future__ import annotations

from dataclasses import dataclass

from anonhist.privacy import Guarantee
from anonhist.profiles import Profile


@dataclass(frozen=True)
class Released:
    """What was released, and is safe to publish under its guarantee.

    Attributes
    ----------
    profile
        The released profile.
    zeros
        The released number of labels of count zero, if any.
    guarantee
        The guarantee of both.
    """

    profile: Profile
    zeros: int | None
    guarantee: Guarantee

    def guarantee_of(self, number: Profile | int) -> Guarantee | None:
        """Return the guarantee, if this is the profile, or the number of zeros, that it is of."""
        mine = self.profile if isinstance(number, Profile) else self.zeros
        return self.guarantee if number is mine or number == mine else None

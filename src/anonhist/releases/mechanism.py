"""What a release knows of the mechanism that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile


@runtime_checkable
class Mechanism(Protocol):
    """What a release remembers of the mechanism that made it: a frozen, public, printable value."""

    @property
    def name(self) -> str:
        """The mechanism's name, as in ``mechanism="frobenius"``."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to make it again: exact numbers are written as text ("1/2")."""

    @property
    def guarantee(self) -> Guarantee:
        """What one of its releases promises."""

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> Sequence[Profile]:
        """Return ``size`` independent runs on a *public* profile, with simulation randomness."""

"""A mechanism that releases what it is told to, so that every error can be worked out by hand."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import cycle, islice

import numpy as np
import pytest

from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit
from anonhist.profiles import Profile
from anonhist.releases import Release


class Scripted:
    """Gives back the same profiles in turn, and no data for no data; remembers how many were asked for at a time."""

    runs_fall_short = ""

    def __init__(self, *runs: Profile, of_nothing: Sequence[Profile] = ()) -> None:
        self._runs = cycle(runs)
        self._of_nothing = cycle(of_nothing) if of_nothing else None
        self.sizes: list[int] = []

    @property
    def name(self) -> str:
        return "scripted"

    @property
    def parameters(self) -> Mapping[str, str | int]:
        return {"epsilon": "1"}

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        assert isinstance(profile, Profile)
        assert isinstance(rng, np.random.Generator)
        if not profile.n and self._of_nothing is None:
            return [profile] * size
        self.sizes.append(size)
        if not profile.n and self._of_nothing is not None:
            return list(islice(self._of_nothing, size))
        return list(islice(self._runs, size))


MakeRelease = Callable[..., Release]


@pytest.fixture(scope="session")
def scripted_mechanism() -> type[Scripted]:
    return Scripted


@pytest.fixture(scope="session")
def make_release() -> MakeRelease:
    def make(profile: Profile, *runs: Profile, simulations: int = 4) -> Release:
        unit = PrivacyUnit.item()
        return Release(
            profile=profile,
            guarantee=Guarantee(unit, NeighboringRelation.ADD_OR_REMOVE, Fraction(1), arithmetic="noise is exact"),
            mechanism=Scripted(*(runs or (profile,))),
            reason="It was scripted.",
            library_version="0.1.0",
            simulations=simulations,
        )

    return make

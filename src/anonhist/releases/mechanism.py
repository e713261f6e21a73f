"""What a release knows of the mechanism that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile


# A file of one kilobyte may speak of profiles that fill any memory; no larger ones are drawn again.
MOST_ROWS = 2**20
# A few runs on the largest profiles take minutes, all that may be asked for would take hours.
_ROWS_OF_ALL_RUNS, _FEW_RUNS = 2**25, 32
MOST_NUMBERS = 2**26


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
        """Return ``size`` independent runs on a *public* profile, with simulation randomness.

        Raises
        ------
        DataError
            If a run would take more memory than :func:`check_diagram` and :func:`check_numbers` allow.
        """


@runtime_checkable
class CountsZeros(Protocol):
    """A mechanism that also releases how many labels have count zero, such as nodes without an edge."""

    def simulate_with_zeros(
        self, profile: Profile, zeros: int, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, int]]:
        """Return ``size`` independent runs on a public profile and a public number of zeros: profiles and numbers."""


def check_diagram(profile: Profile) -> None:
    """Refuse to run again what is written out as far as the Durfee size D of a public profile, where D > 2^20.

    All profiles with n up to 2^40 are below.

    Raises
    ------
    DataError
        If D is beyond.
    """
    if profile.durfee_size > MOST_ROWS:
        raise DataError(
            "A release of a Durfee size above 2^20 is not simulated again to find errors; use its profile alone."
        )


def simulations_of(profile: Profile, asked: int) -> int:
    """Return how often a public profile of Durfee size D is run again: as asked, up to the larger of 32 and 2^25/D.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> simulations_of(Profile.from_counts([5, 3, 3]), 1000)
    1000
    >>> simulations_of(Profile.from_prevalences({2**18: 2**18}), 1000)
    128
    """
    return min(asked, max(_FEW_RUNS, _ROWS_OF_ALL_RUNS // max(1, profile.durfee_size)))


def check_numbers(numbers: int) -> None:
    """Refuse to run again what holds more than 2^26 counters or counts, one by one.

    Raises
    ------
    DataError
        If there are more.
    """
    if numbers > MOST_NUMBERS:
        raise DataError(
            "A release that takes more than 2^26 numbers is not simulated again to find errors; use its profile alone."
        )


def runs_of(
    mechanism: Mechanism, profile: Profile, zeros: int | None, *, size: int, rng: np.random.Generator
) -> Sequence[tuple[Profile, int | None]]:
    """Return runs on public data, each with its number of zeros where such a number is released.

    Raises
    ------
    UsageError
        If a number of zeros is said to be released by a mechanism that releases none.
    """
    if zeros is None:
        return [(run, None) for run in mechanism.simulate(profile, size=size, rng=rng)]
    if not isinstance(mechanism, CountsZeros):
        message = f"The mechanism {mechanism.name} does not release how many labels have count zero."
        raise UsageError(message)
    return mechanism.simulate_with_zeros(profile, zeros, size=size, rng=rng)

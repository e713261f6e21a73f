"""What a release knows about the mechanism that made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.releases.kind import ReleaseKind


# A file of one kilobyte may describe a profile that fills any memory; larger ones are not simulated.
MOST_ROWS = 2**20
# A few runs on the largest profiles take minutes; the largest number of runs would take hours.
_ROWS_OF_ALL_RUNS, _FEW_RUNS = 2**25, 32
# By default: enough to know an error to 13 %, and the fewest, which know it to 25 %.
USUAL_RUNS, LEAST_RUNS = 32, 8
# Work done for all runs on a released profile together: about a second.
_WORK_OF_ALL_RUNS = 2**23
MOST_NUMBERS = 2**26
_NOT_KNOWN = "no noisy values were kept, and simulated runs of this mechanism may have smaller errors than the release"


@runtime_checkable
class Mechanism(Protocol):
    """What a release remembers of the mechanism that made it: a frozen, public, printable value."""

    @property
    def kind(self) -> ReleaseKind:
        """What kind of release it makes."""

    @property
    def name(self) -> str:
        """The mechanism's name, as in ``mechanism="frobenius"``."""

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Its public parameters, enough to make it again: exact numbers are written as text ("1/2")."""

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of one of its releases."""

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


@runtime_checkable
class KnowsWork(Protocol):
    """A mechanism whose runs may take long, and that can estimate their cost."""

    def simulation_work(self, profile: Profile) -> int:
        """Return about how many numbers a run on a public profile computes, ≥ 0: the same on every machine."""


@runtime_checkable
class BoundsDegrees(Protocol):
    """A mechanism for which edges were left out first, until no degree exceeded a bound."""

    @property
    def max_degree(self) -> int:
        """θ, the largest degree that it can release."""


@runtime_checkable
class TrustsRuns(Protocol):
    """A mechanism that states whether its runs on a release have errors as large as the release.

    Runs on a release understate errors if noise changed the shape of the data. So a mechanism without this property has
    no intervals from runs; those from noisy values (:class:`~anonhist.releases.Evidence`) hold for all data.
    """

    @property
    def runs_fall_short(self) -> str:
        """Why 95 % intervals from runs on a release are too short, without a full stop; empty if they are not."""


def runs_fall_short(mechanism: Mechanism) -> str:
    """Return why intervals from runs of a mechanism on its own release are not reliable; empty if they are.

    Examples
    --------
    >>> from anonhist.mechanisms import FrobeniusMechanism, PartitionMechanism
    >>> runs_fall_short(PartitionMechanism(2)), runs_fall_short(PartitionMechanism("0.5"))[:17]
    ('', 'below ε/Δ = 1.1, ')
    >>> runs_fall_short(FrobeniusMechanism(1))
    'no noisy values were kept, and simulated runs of this mechanism may have smaller errors than the release'
    """
    return mechanism.runs_fall_short if isinstance(mechanism, TrustsRuns) else _NOT_KNOWN


def simulation_work(mechanism: Mechanism, profile: Profile) -> int:
    """Return the work that a mechanism reports for a run, if any, plus four numbers for each released count."""
    own = mechanism.simulation_work(profile) if isinstance(mechanism, KnowsWork) else 0
    return own + 4 * len(profile)


def check_diagram(profile: Profile) -> None:
    """Refuse to simulate a public profile of Durfee size D > 2^20, which is written out to D.

    All profiles with n up to 2^40 are below.

    Raises
    ------
    DataError
        If D is beyond.
    """
    if profile.durfee_size > MOST_ROWS:
        raise DataError("Errors are not simulated for releases of Durfee size above 2^20; use the profile alone.")


def simulations_of(profile: Profile, asked: int | None, *, work: int = 0) -> int:
    """Return how often a public profile of Durfee size D is run again.

    As asked, up to the larger of 32 and 2^25/D. If no number is asked for, 32 times, but where a run is so much work
    that it would be more than 2^23 in all, 2^23 / ``work`` times and no less than 8. The same release is run equally
    often on every machine.

    Parameters
    ----------
    profile
        The released profile.
    asked
        How many runs are asked for, 0 for none; None leaves it to the rule.
    work
        How many numbers a run computes: see :class:`KnowsWork`.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> simulations_of(Profile.from_counts([5, 3, 3]), 1000)
    1000
    >>> simulations_of(Profile.from_prevalences({2**18: 2**18}), 1000)
    128
    >>> [simulations_of(Profile.from_counts([5, 3, 3]), None, work=2**power) for power in (10, 19, 25)]
    [32, 16, 8]
    """
    if asked is None:
        return max(LEAST_RUNS, min(USUAL_RUNS, _WORK_OF_ALL_RUNS // max(1, work)))
    return min(asked, max(_FEW_RUNS, _ROWS_OF_ALL_RUNS // max(1, profile.durfee_size)))


def check_numbers(numbers: int) -> None:
    """Refuse to simulate more than 2^26 counters or counts, held one by one.

    Raises
    ------
    DataError
        If there are more.
    """
    if numbers > MOST_NUMBERS:
        raise DataError(
            "Errors are not simulated for releases that take more than 2^26 numbers; use the profile alone."
        )


def runs_of(
    mechanism: Mechanism, profile: Profile, zeros: int | None, *, size: int, rng: np.random.Generator
) -> Sequence[tuple[Profile, int | None]]:
    """Return runs on public data, each with its number of zeros where such a number is released.

    Raises
    ------
    UsageError
        If a number of zeros is given for a mechanism that releases none.
    """
    if zeros is None:
        return [(run, None) for run in mechanism.simulate(profile, size=size, rng=rng)]
    if not isinstance(mechanism, CountsZeros):
        message = f"The mechanism {mechanism.name} does not release the number of labels of count zero."
        raise UsageError(message)
    return mechanism.simulate_with_zeros(profile, zeros, size=size, rng=rng)

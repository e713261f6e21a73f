"""What leaves the house: a private profile, what was promised, how far off it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from anonhist.errors import UsageError
from anonhist.privacy import parse_order_key, parse_simulations, parse_whole_number
from anonhist.profiles.whole import MAX_ITEMS
from anonhist.releases.error import ReleaseError, simulate_error
from anonhist.releases.mechanism import runs_of, simulations_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anonhist.privacy import Guarantee
    from anonhist.profiles import Profile
    from anonhist.properties import Estimate
    from anonhist.releases.evidence import Evidence
    from anonhist.releases.excess import Excess
    from anonhist.releases.mechanism import Mechanism

    _Simulated = TypeVar("_Simulated")

DEFAULT_SIMULATIONS = 32


@dataclass(frozen=True, eq=False)
class Release:
    """A private profile with its guarantee and its uncertainty.

    Attributes
    ----------
    profile
        The released profile; safe to publish under ``guarantee``.
    guarantee
        What was promised.
    mechanism
        The mechanism that made it, with its public parameters.
    reason
        One sentence: what was picked and why, from public facts and budgeted looks alone.
    library_version
        Version of this package that made the release.
    simulations
        How many runs :attr:`error` rests on when it is computed, from 2 to 1,000. A Durfee size D above 2^15
        allows for no more than 2^25/D, but always for 32; ``error.simulations`` says how many there were.
    recorded_error
        The errors, where they were computed before.
    order_key
        Of a release for users, the key of the random order in which items of each were kept, 32 hexadecimal digits, if
        they were; ``read_profile(…, order_key=…)`` keeps the same ones again.
    excess
        Of a release for users, what the bound on their items left out, if a share of the budget was given for it.
    items
        n, where the mechanism released it in a step of its own: a whole number ≥ 0; see :attr:`n`.
    zeros
        How many labels have count zero, such as nodes without an edge, where that is released or follows from what is
        public: a whole number ≥ 0. It is φ_0, as ``prevalence(0)`` gives it with its interval.
    evidence
        What the noisy values say besides the profile, where the mechanism keeps it; :attr:`error` is made from it.

    Raises
    ------
    UsageError
        If ``simulations`` is not a whole number from 2 to 1,000, ``items`` or ``zeros`` not one from 0 to 2^63 − 1, or
        ``order_key`` is none or not for users; if the profile holds what is private of its users, or the guarantee does
        not say what ``excess`` spent.
    """

    profile: Profile
    guarantee: Guarantee
    mechanism: Mechanism
    reason: str
    library_version: str
    simulations: int = DEFAULT_SIMULATIONS
    recorded_error: ReleaseError | None = field(default=None, repr=False)
    order_key: str | None = None
    excess: Excess | None = None
    items: int | None = None
    zeros: int | None = None
    evidence: Evidence | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "simulations", parse_simulations(self.simulations))
        if self.order_key is not None:
            object.__setattr__(self, "order_key", parse_order_key(self.order_key))
            if self.guarantee.unit.kind != "user":
                raise UsageError("Only a release for users has an order key.")
        if self.profile.users is not None:
            raise UsageError("A released profile must not hold how many items its users had: that is private.")
        if self.excess is not None and not self.excess.is_of(self.guarantee):
            raise UsageError("The guarantee must say what the excess spent, as Excess.added_to does.")
        for name in ("items", "zeros"):
            number = getattr(self, name)
            if number is not None:
                object.__setattr__(self, name, parse_whole_number(number, name=name, least=0, most=MAX_ITEMS))

    @property
    def n(self) -> int:
        """The released number of items: :attr:`items` where there is such a number, else that of the profile."""
        return self.profile.n if self.items is None else self.items

    @property
    def error(self) -> ReleaseError:
        """Expected errors, by re-simulating the mechanism on the released profile; computed when first asked for."""
        return self._error(None)

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> Release:
        """Return the same release with :attr:`error` recorded; it is computed only if it never was.

        Parameters
        ----------
        progress
            Called with the share done, in (0, 1], now and then.
        """
        return replace(self, recorded_error=self._error(progress))

    def resimulate(self) -> tuple[Profile, ...]:
        """Return runs of the mechanism on the released profile, drawn once, when first asked for.

        As many as :attr:`simulations` allows. Post-processing, free. What is estimated from a release takes its privacy
        noise from these.
        """
        return tuple(run for run, _ in self._runs)

    def resimulate_zeros(self) -> tuple[int | None, ...]:
        """Return the number of zeros of each of those runs; None where no such number is released."""
        return tuple(zeros for _, zeros in self._runs)

    @property
    def _runs(self) -> tuple[tuple[Profile, int | None], ...]:
        def simulated() -> tuple[tuple[Profile, int | None], ...]:
            # A simulation on what is public already: nothing private rests on this generator.
            rng = np.random.default_rng()
            size = simulations_of(self.profile, self.simulations)
            return tuple(runs_of(self.mechanism, self.profile, self.zeros, size=size, rng=rng))

        return self._once("_simulated_runs", simulated)

    def _error(self, progress: Callable[[float], None] | None) -> ReleaseError:
        def simulated() -> ReleaseError:
            # A simulation on what is public already: nothing private rests on this generator.
            rng = np.random.default_rng()
            size, zeros = self.simulations, self.zeros
            return simulate_error(
                self.profile,
                self.mechanism,
                zeros=zeros,
                evidence=self.evidence,
                simulations=size,
                rng=rng,
                progress=progress,
            )

        return self._once("_simulated_error", simulated) if self.recorded_error is None else self.recorded_error

    def _once(self, name: str, simulate: Callable[[], _Simulated]) -> _Simulated:
        """Return what was simulated first. Two simulations differ by chance: a release says one thing to all threads.

        Several may simulate at the same time; the first to put its result in place is believed.
        """
        found: _Simulated | None = self.__dict__.get(name)
        return self.__dict__.setdefault(name, simulate()) if found is None else found

    @property
    def mostly_noise(self) -> bool:
        """Whether a third of the items or more are expected to be wrong: the data may be far smaller than released."""
        return 3 * self.error.sorted_l1.value >= self.profile.n

    def prevalence(self, count: int) -> Estimate:
        """Return φ_r, how many labels have exactly this count, with a 95 % interval; φ_0 where zeros are released."""
        if count == 0 and self.zeros is not None:
            return self.error.of_zeros(self.zeros)
        return self.error.prevalence(self.profile, count)

    def k_plus(self, k: int) -> Estimate:
        """Return φ_{k+}, how many labels occur at least ``k`` times, with a 95 % interval."""
        return self.error.k_plus(self.profile, k)

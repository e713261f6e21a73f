"""Base classes of mechanisms for profiles: a general one, one that adds noise, and one that draws by choices."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from anonhist.frozen import frozen
from anonhist.mechanisms.noise import Choices, ExactChoices, Noise, SimulatedChoices, exact_noise, simulated_noise
from anonhist.mechanisms.setting import NOISE_IS_EXACT, Setting, make_release, without_sizes
from anonhist.numeric.arrays import Floats, Ints, rises
from anonhist.numeric.pulse import pulsing
from anonhist.privacy import short_decimal
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.randomness import RandomSource, SystemSource
from anonhist.releases import Evidence, Release
from anonhist.releases.made import check_diagram

# The public bounds that mechanisms take: what each bounds in a profile, and how a guarantee states it.
_BOUNDED: dict[str, tuple[Callable[[Profile], int], str]] = {
    "public_items": (lambda profile: profile.n, "there are at most {:,} items"),
    "public_labels": (lambda profile: profile.num_labels, "there are at most {:,} labels"),
    "public_cap": (lambda profile: int(profile.counts[-1]) if len(profile) else 0, "no count is above {:,}"),
}


class Released(NamedTuple):
    """One of several profiles released together: its position among them, and its release.

    ``noisy`` are released values that its mechanism needs to bound sums (:meth:`CentralMechanism.sum_evidence`).
    """

    place: int
    release: Release
    noisy: Any = None


class RunOfOne(NamedTuple):
    """A run on one of several profiles: its position, the published profile, and the evidence of the noisy values.

    ``draw`` is the profile that was drawn, if the published one was fitted to it.
    """

    place: int
    profile: Profile
    evidence: Evidence | None = None
    noisy: Any = None
    items: int | None = None
    draw: Profile | None = None


@frozen
class CentralMechanism(Setting, ABC):
    """A mechanism for profiles with a name: a public, frozen, printable value."""

    # The mechanism's name, as in ``mechanism="frobenius"``.
    name: ClassVar[str]
    # The effect of floating point, as a clause.
    rounding: ClassVar[str] = NOISE_IS_EXACT
    # Its releases keep evidence from noisy values, so files may hold intervals made from it.
    keeps_noisy_values: ClassVar[bool] = False
    # Its expected errors are those by the posterior of noisy values, which too little data leave vague.
    errs_by_posterior: ClassVar[bool] = False

    @property
    def fits_draws(self) -> bool:
        """Whether it fits the legs of what it draws again; releases then keep the draw."""
        return False

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        own = {name: getattr(self, name) for name in self.own_options()}
        given = {name: option for name, option in own.items() if option is not None}
        kept = {name: option if isinstance(option, int) else str(option) for name, option in given.items()}
        return {**super().parameters, **kept}

    @property
    def _bounds(self) -> dict[str, int]:
        """The public numbers that data must not exceed, by option."""
        own = {name: getattr(self, name) for name in self.own_options() if name in _BOUNDED}
        return {name: bound for name, bound in own.items() if bound is not None}

    @property
    def floating_point(self) -> str:
        """The effect of floating point, as a clause: by default :attr:`rounding`."""
        return self.rounding

    @property
    def arithmetic(self) -> str:
        """The effect of floating point, and the data for which the guarantee holds."""
        conditions = [_BOUNDED[name][1].format(bound) for name, bound in self._bounds.items()]
        holds = [f"it holds for data where {each}, which must be public knowledge" for each in conditions]
        return "; ".join([self.floating_point, *holds])

    def exceeded_number(self, profile: Profile) -> str | None:
        """Return the name of the public number that a profile exceeds, if any: the guarantee excludes such data."""
        return next((name for name, bound in self._bounds.items() if _BOUNDED[name][0](profile) > bound), None)

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile.

        Parameters
        ----------
        profile
            The private data.
        source
            Privacy randomness; the operating system's by default.
        reason
            Why this mechanism was picked; recorded in the release.

        Raises
        ------
        UsageError
            If the profile was read to protect more, or exceeds a public number of this mechanism.
        DataError
            If there is not enough memory.
        """
        (released,) = self.release_each([profile], source=source, reason=reason)
        return released.release

    def release_each(
        self,
        profiles: Sequence[Profile],
        *,
        source: RandomSource | None = None,
        reason: str | None = None,
        simulations: int | None = None,
    ) -> Iterator[Released]:
        """Spend the budget once on each of several private profiles; yield the release of each, in any order.

        Each profile gets the noise of a separate release; its post-processing may depend on the noisy values of all.
        All profiles are checked before any noise is drawn.

        Parameters
        ----------
        profiles
            The private data.
        source, reason
            As for :meth:`release`.
        simulations
            See :class:`~anonhist.releases.Release`.
        """
        with without_sizes():
            admitted = [self.admit(profile) for profile in profiles]
        runs = self._draw_each(admitted, source or SystemSource())
        while True:
            with without_sizes():
                found = next(runs, None)
            if found is None:
                return
            made = make_release(
                found.profile,
                self,
                reason=reason,
                items=found.items,
                draw=found.draw,
                evidence=found.evidence,
                simulations=simulations,
            )
            yield Released(found.place, made, found.noisy)

    @abstractmethod
    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        """Spend the budget once on each of several admitted profiles; yield the runs in any order."""

    def sum_evidence(self, parts: Sequence[Released]) -> Evidence | None:
        """Return what noisy values show about the sum of several profiles released together; None if nothing."""
        return None

    def simulate_each(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs on several public profiles together, with simulation randomness."""
        yield from zip(*(self.simulate(profile, size=size, rng=rng) for profile in profiles), strict=True)

    def simulate_each_fast(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield such runs, or faster ones that err a little more, as expected errors of totals take them."""
        return self.simulate_each(profiles, size=size, rng=rng)

    @abstractmethod
    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""


@frozen
class AdditiveMechanism(CentralMechanism):
    """A mechanism that adds noise to numbers read off the profile, and publishes a function of the sums."""

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        public, noise = self.admit(profile), simulated_noise(rng)
        return list(pulsing(self.publishable(self._run(public, noise)[0]) for _ in range(size)))

    @abstractmethod
    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Any]:
        """Run once on an admitted profile; also return the noisy values, as :meth:`_evidence` takes them.

        The rate given to ``noise`` must be ε divided by the largest ℓ1 change of the numbers between neighbors;
        :attr:`epsilon_per_cell` is that only if they change by at most the sorted ℓ1 distance.
        """

    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        noise = exact_noise(source)
        for place, profile in enumerate(profiles):
            run, noisy = self._run(profile, noise)
            released = self.publishable(run)
            yield RunOfOne(place, released, self._evidence(released, noisy), noisy)

    def _evidence(self, released: Profile, noisy: Any) -> Evidence | None:
        """Return evidence from the noisy values of a run; none by default."""
        return None


@frozen
class DrawnMechanism(CentralMechanism):
    """A mechanism that draws a partition, decision by decision.

    A draw has no noisy values, so its intervals come from simulated runs on it. If ε/Δ is below :attr:`runs_hold_from`,
    these have less than their stated coverage on some data, so none are given.
    """

    # Measured on the drawn shapes 0 to 4: docs/benchmarks/intervals.md, "Intervals of releases".
    runs_hold_from: ClassVar[Fraction]

    @property
    def runs_fall_short(self) -> str:
        """Why intervals from runs on a release are too short; empty if they hold."""
        if self.epsilon_per_cell >= self.runs_hold_from:
            return ""
        return (
            f"below ε/Δ = {short_decimal(self.runs_hold_from)}, simulated runs of the mechanism {self.name} on its "
            "release have smaller errors than the release"
        )

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return ``size`` runs on a public profile, with simulation randomness."""
        check_diagram(profile)
        return [self.publishable(run) for run in self._run(self.admit(profile), size, SimulatedChoices(rng))]

    def _draw_each(self, profiles: Sequence[Profile], source: RandomSource) -> Iterator[RunOfOne]:
        for place, profile in enumerate(profiles):
            (run,) = self._run(profile, 1, ExactChoices(source))
            yield RunOfOne(place, self.publishable(run))

    @abstractmethod
    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        """Draw ``size`` profiles around an admitted one."""


_MOST = 2.0**62


def profile_of_fit(levels: Ints, reaching: Floats) -> Profile:
    """Round a fit of cumulative prevalences to a profile: ``φ_{r+} = reaching_i`` for levels_{i−1} < r ≤ levels_i.

    Levels ascend from levels_0 = 0; the fit is non-increasing. Each value is rounded to the nearest whole number, at
    least 0; if n would exceed 2⁶², up to rounding, all are cut at one height. This is post-processing.
    """
    whole = np.minimum(np.maximum(np.rint(reaching), 0), _MOST)
    size = int(np.count_nonzero(whole))
    if not size:
        return Profile([], [])
    levels, whole = levels[:size], whole[:size]
    if float(whole @ rises(levels)) > _MOST:
        whole = np.minimum(whole, max(1, 2**62 // int(levels[-1])))
    labels = whole.astype(np.int64)
    kept = labels.copy()
    kept[:-1] -= labels[1:]
    present = kept > 0
    return Profile(levels[present], kept[present])


def round_sorted(counts: Floats) -> Profile:
    """Round a fit of the counts in descending order to a profile; negative ones become 0.

    The fit is non-increasing, with one count per label; counts are cut at one height if n would exceed 2⁶², up to
    rounding. It takes O(k) time.
    """
    whole = np.rint(counts)
    whole = whole[: int(np.count_nonzero(whole > 0))]
    if whole.sum() > _MOST:
        whole = np.minimum(whole, max(1, 2**62 // whole.size))
    is_first = np.ones(whole.size, dtype=np.bool_)
    is_first[1:] = whole[1:] != whole[:-1]
    first = np.flatnonzero(is_first)
    labels = -first
    labels[:-1] += first[1:]
    labels[-1:] += whole.size
    return Profile(whole[first].astype(np.int64)[::-1], labels[::-1])


def with_at_most(profile: Profile, items: int) -> Profile:
    """Cut the largest counts of a profile, all at one height up to a step of one, to leave at most ``items`` items."""
    if profile.n <= items:
        return profile
    return cut_to(zip(profile.counts.tolist(), profile.prevalences.tolist(), strict=True), items)


def cut_to(prevalences: Iterable[tuple[int, int]], items: int) -> Profile:
    """Return the same of distinct ascending counts with their prevalences, of any size: as a profile."""
    pairs = list(prevalences)
    excess = sum(count * labels for count, labels in pairs) - items
    while excess > 0:
        count, labels = pairs.pop()
        below, others = pairs.pop() if pairs else (0, 0)
        if excess < (count - below) * labels:
            # Some of the largest become `least`, the others are one larger.
            least, larger = divmod(count * labels - excess, labels)
            pairs += [(below, others), (least, labels - larger), (least + 1, larger)]
        else:
            pairs.append((below, others + labels))
        excess -= (count - below) * labels
    return Profile.from_prevalences([(count, labels) for count, labels in pairs if count and labels])


def bounded_profile(arms: Ints, legs: Ints) -> Profile:
    """Build a released profile; its longest rows and columns are cut if n would exceed 2⁶³ − 1."""
    size = arms.size
    # No arm or leg is longer than the first: most profiles are far below the limit.
    if not size or size * (int(arms[0]) + int(legs[0]) + 1) <= MAX_ITEMS:
        return FrobeniusCoordinates(arms, legs).profile()
    excess = int(arms.astype(object).sum() + legs.astype(object).sum()) + size - MAX_ITEMS
    sides = [arms.copy(), legs.copy()]
    while excess > 0:
        side = max(sides, key=lambda lengths: int(lengths[0]))
        spare = int(side[0]) - (int(side[1]) + 1 if size > 1 else 0)
        if spare == 0:
            # The longest cannot be shorter than the next: shorten all lengths of this side that form one staircase.
            steps = int(np.argmax(np.append(np.diff(side) != -1, values=True))) + 1
            cut = max(1, min(-(-excess // steps), int(side[steps - 1]) - (int(side[steps]) + 1 if steps < size else 0)))
            side[:steps] -= cut
            excess -= cut * steps
            continue
        cut = min(spare, excess)
        side[0] -= cut
        excess -= cut
    return FrobeniusCoordinates(*sides).profile()

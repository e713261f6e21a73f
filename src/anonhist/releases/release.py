"""A release: a private profile, its guarantee and its errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex, TypeVar

from anonhist.errors import UsageError
from anonhist.frozen import Converted, completed, equal_fields, frozen, hash_fields, named, optional
from anonhist.numeric.arrays import Floats, Ints
from anonhist.privacy import (
    Guarantee,
    PrivacyUnit,
    left_out,
    none_left_out,
    parse_simulations,
    parse_whole_number,
)
from anonhist.profiles import Profile
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.profiles.grouped import Group
from anonhist.properties.estimate import LABELS_APART, Estimate, Holds, Statement
from anonhist.releases.covered import covered_interval, least_repeated
from anonhist.releases.error import ReleaseError, simulate_error
from anonhist.releases.evidence import Evidence, never_occurring, released_on_its_own, tells_misfit
from anonhist.releases.excess import Excess
from anonhist.releases.made import (
    LEAST_RUNS,
    AddsUp,
    BoundsDegrees,
    Mechanism,
    OneRelease,
    Released,
    Words,
    in_short,
    runs_fall_short,
    simulation_work,
    simulations_of,
)
from anonhist.releases.runs import Run, draw_runs, generator_of, nothing_like, part_of

if TYPE_CHECKING:
    _Simulated = TypeVar("_Simulated")

# Runs on a released profile are kept if together they have at most this many distinct counts; else drawn when needed.
_MOST_KEPT = 2**23
# The progress when runs on no data are drawn, and when all are.
_ON_NOTHING, _DRAWN = 0.35, 0.9
_EDGES_LEFT_OUT = "edges were left out until no node had more than {:,}"
_SIMULATED = ("_simulated_runs", "_simulated_nothing")
_AGREED = "_agreed_with"


_released_number = partial(parse_whole_number, least=0, most=MAX_ITEMS)


def _as_told(known: ReleaseError | None, release: Release) -> ReleaseError | None:
    """Return recorded errors, with the release's guarantee; the mechanism says whether runs give intervals."""
    if known is None:
        return None
    if known.runs_fall_short != (short := runs_fall_short(release.mechanism)):
        known = replace(known, runs_fall_short=short)
    return known.of(Released(release.profile, release.zeros, release.guarantee))


@frozen
class Release(OneRelease):
    """A private profile with its guarantee and its uncertainty.

    Attributes
    ----------
    profile
        The released profile; safe to publish under ``guarantee``.
    guarantee
        The guarantee.
    mechanism
        The mechanism that made it, with its public parameters.
    reason
        One sentence about which mechanism was chosen and why, from public facts and budgeted steps alone.
    library_version
        Version of this package that made the release.
    zeros
        φ_0, the number of labels of count zero, such as nodes without an edge, if it is released or follows from public
        numbers: a whole number ≥ 0. ``prevalence(0)`` gives it with its interval.
    simulations
        Number of runs behind :attr:`error` and all estimates from the release, from 2 to 1,000. For a Durfee size D
        above 2¹⁵ it is limited to 2²⁵/D, but never below 32. The default is 32, or fewer, at least 8, if public numbers
        show that runs are slow. 0 simulates nothing: then there is no expected error, and only noisy values give
        intervals. ``error.simulations`` is the number of runs behind the error: at most 8 if noisy values give the
        expected distance.
    recorded_error
        The errors, if they were computed before.
    order_key
        For users, the key of the random choice of the items kept for each, if any: 32 hexadecimal digits.
        ``read_profile(…, order_key=…)`` keeps the same items again.
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.
    excess
        What the bound on the items of users or labels left out, if a share of the budget was spent on it.
    items
        n, if the mechanism released it in a separate step: a whole number ≥ 0; see :meth:`num_items`.
    draw
        The profile that the mechanism drew, if ``profile`` was fitted to it; None if they are the same.
    receipt
        Where the release was charged, if a ledger was used.
    evidence
        What the noisy values show besides the profile, if the mechanism keeps it; :attr:`error` uses it.
    unadjusted
        The release as it was drawn, if ``profile`` was moved to agree with the other groups of its release. Intervals
        are those of ``unadjusted``, stretched to hold the numbers of ``profile``.

    Raises
    ------
    UsageError
        If ``simulations`` is neither 0 nor a whole number from 2 to 1,000, ``items`` or ``zeros`` is not one from 0 to
        2⁶³ − 1, or ``order_key`` is not a key or not for users; if the profile holds private numbers about its users,
        or the guarantee does not include the budget that ``excess`` spent.

    Examples
    --------
    >>> from anonhist.mechanisms import PartitionMechanism
    >>> from anonhist.profiles import Profile
    >>> release = PartitionMechanism(20).release(Profile.from_counts([5, 3, 3]))
    >>> print(str(release).partition(" (δ")[0])
    Profile(n=11, num_labels=3, {3: 2, 5: 1}) by partition: 20-differentially private
    >>> print(release.prevalence(3))
    2 ± 0 (95% interval 1 to 3)
    >>> print(replace(release, simulations=0).prevalence(3))
    2, no interval: no error was simulated (0 simulations)
    """

    known_as = "release"
    profile: Profile
    guarantee: Guarantee
    mechanism: Mechanism
    zeros: Converted[SupportsIndex | None, int | None] = named(optional(_released_number), default=None)
    recorded_error: Converted[ReleaseError | None, ReleaseError | None] = completed(
        lambda self, known: _as_told(known, self), default=None, shown=False, compare=False
    )
    simulations: Converted[SupportsIndex | None, int] = completed(lambda self, asked: self._number(asked), default=None)
    excess: Converted[Excess | None, Excess | None] = completed(
        lambda self, found: found and replace(found, guarantee=self.guarantee), default=None
    )
    items: Converted[SupportsIndex | None, int | None] = named(optional(_released_number), default=None)
    draw: Profile | None = field(default=None, repr=False)
    evidence: Evidence | None = field(default=None, repr=False, compare=False)
    unadjusted: Release | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(each is not None and each.users is not None for each in (self.profile, self.draw)):
            raise UsageError("A released profile must not hold the number of items of each user: that is private.")
        if self.excess is not None and self.excess.of.part != "item":
            raise UsageError("Only a release of groups can have an excess of groups.")
        if self.excess is not None and not self.excess.is_of(self.guarantee):
            raise UsageError("The guarantee must say what the excess spent, as Excess.add_to does.")

    def _number(self, asked: SupportsIndex | None) -> int:
        if asked is not None:
            return simulations_of(self.profile, parse_simulations(asked))
        if self.recorded_error is not None:
            return self.recorded_error.simulations
        return simulations_of(self.profile, None, work=simulation_work(self.mechanism, self.profile))

    def __eq__(self, other: object) -> bool:
        """Compare all that was released, with its errors: files store those in place of the evidence behind them."""
        if not isinstance(other, Release):
            return NotImplemented
        if not equal_fields(self, other):
            return False
        known, others = ((each.recorded_error, each.evidence) for each in (self, other))
        return known == others or self.error == other.error

    __hash__ = hash_fields

    def __repr__(self) -> str:
        size = f"n={self.n:,}, num_labels={self.profile.num_labels:,}"
        return f"Release({self.mechanism.name}, {in_short(self.guarantee)}, {size})"

    def __str__(self) -> str:
        return f"{self.profile} by {self.mechanism.name}: {self.guarantee}"

    @property
    def words(self) -> Words:
        """The words for labels, items and counts, from the kind of release."""
        unit = self.guarantee.unit
        words = self.mechanism.kind.words[unit.kind]
        return words.called(unit.name, unit.many) if unit.name and unit.max_count is not None else words

    @property
    def n(self) -> int:
        """The released number of items: :attr:`items` if there is one, otherwise that of the profile."""
        return self.profile.n if self.items is None else self.items

    @property
    def _released(self) -> Released:
        return Released(self.profile, self.zeros, self.guarantee)

    @property
    def error(self) -> ReleaseError:
        """Expected errors, from noisy values or runs of the mechanism on the release; computed on first use."""
        return self._error(None)

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> Release:
        """Return the release with :attr:`error` recorded; it is computed only once.

        Parameters
        ----------
        progress
            Called from time to time with the share done, in (0, 1].
        """
        told = replace(self, recorded_error=self._error(progress))
        # The new release shares the simulations of this one.
        told.__dict__.update({name: self.__dict__[name] for name in (*_SIMULATED, _AGREED) if name in self.__dict__})
        return told

    @property
    def agreed_with(self) -> Mapping[Group, Release] | None:
        """What was drawn for all groups and totals that an adjusted profile agrees with, where that is known."""
        found: Mapping[Group, Release] | None = self.__dict__.get(_AGREED)
        return found

    def agree_with(self, drawn: Mapping[Group, Release]) -> None:
        """Keep what was drawn for all groups and totals, if the profile was moved to agree with them."""
        self.__dict__[_AGREED] = drawn

    def share_runs(self, other: Release) -> None:
        """Take over another release's runs on no data, if it has any and they apply to this one, too."""
        found = other.__dict__.get("_simulated_nothing")
        if found is not None and self._of_nothing == other._of_nothing:
            self.__dict__.setdefault("_simulated_nothing", found)

    @property
    def _of_nothing(self) -> tuple[object, ...]:
        """The inputs that determine runs on no data."""
        return self.mechanism, nothing_like(self.profile, self.zeros), self._error_runs

    @property
    def _error_runs(self) -> int:
        """The number of runs behind the error: few if the noisy values give the expected distance."""
        is_known = self.evidence is not None and self.evidence.needs_no_runs
        return min(self.simulations, LEAST_RUNS) if is_known else self.simulations

    def resimulate(self) -> tuple[Profile, ...]:
        """Return runs of the mechanism on the released profile, with its fastest fit.

        There are :attr:`simulations` of them. Estimates from a release take its privacy noise from these runs, and so
        does :attr:`error` if noisy values do not give the expected distance. They are drawn once, from a generator
        seeded with the release, so every call returns the same runs. This is post-processing and costs no privacy.
        """
        return tuple(run.profile for run in self._runs(None))

    def _runs_on_nothing(self, progress: Callable[[float], None] | None) -> tuple[Run, ...]:
        def simulate() -> tuple[Run, ...]:
            nothing, silent = nothing_like(self.profile, self.zeros)
            # All groups of a release share the same ones.
            rng = generator_of(self.mechanism, nothing, silent)
            return tuple(draw_runs(self.mechanism, nothing, silent, size=self._error_runs, rng=rng, progress=progress))

        return self._once("_simulated_nothing", simulate)

    def _runs(self, progress: Callable[[float], None] | None) -> tuple[Run, ...]:
        def simulate() -> tuple[Run, ...]:
            rng = generator_of(self.mechanism, self.profile, self.zeros)
            # A file keeps the band in place of the evidence: runs are the same after reading.
            known = self.recorded_error
            misfit = known is not None and known.band is not None and tells_misfit(self.mechanism)
            if self.evidence is not None:
                misfit = self.evidence.misfit is not None
            size, own = self.simulations, (self.mechanism, self.profile, self.zeros)
            return tuple(draw_runs(*own, size=size, rng=rng, with_misfit=misfit, progress=progress))

        return self._once("_simulated_runs", simulate)

    def _error(self, progress: Callable[[float], None] | None) -> ReleaseError:
        def simulate() -> ReleaseError:
            if self.unadjusted is not None:
                return self.unadjusted.error.stretched(self.unadjusted.profile, self.profile).of(self._released)
            if not self.simulations:
                return ReleaseError.without_runs(self.evidence).of(self._released)
            nothing = self._runs_on_nothing(part_of(progress, 0.0, _ON_NOTHING)) if self.profile.n else ()
            runs = self._error_runs
            is_kept = runs == self.simulations and runs * len(self.profile) <= _MOST_KEPT
            return simulate_error(
                self.profile,
                self.mechanism,
                zeros=self.zeros,
                evidence=self.evidence,
                simulations=runs,
                rng=generator_of(self.mechanism, self.profile, self.zeros),
                progress=part_of(progress, _DRAWN if is_kept else _ON_NOTHING, 1.0),
                # If runs are not kept, they are measured as they are drawn.
                drawn=self._runs(part_of(progress, _ON_NOTHING, _DRAWN)) if is_kept else None,
                of_nothing=nothing,
            ).of(self._released)

        return self._once("_simulated_error", simulate) if self.recorded_error is None else self.recorded_error

    def _once(self, name: str, simulate: Callable[[], _Simulated]) -> _Simulated:
        """Return the first simulation. Simulations differ by chance, and all threads must see the same one.

        Several threads may simulate at the same time; the first stored result is kept.
        """
        found: _Simulated | None = self.__dict__.get(name)
        return self.__dict__.setdefault(name, simulate()) if found is None else found

    @property
    def error_is_vague(self) -> bool:
        """Whether the expected error is known by its range alone.

        So it is if the error is that by the posterior of noisy values, and the Durfee size below half a noise scale
        Δ/ε: ``error.sorted_l1`` was 0.6 to 1.6 times the real mean error there, by the shape of the data, which does
        not enter the release (docs/benchmarks/intervals.md); its range held. False for sums of releases.
        """
        rate = getattr(self.mechanism, "epsilon_per_cell", 1)
        return getattr(self.mechanism, "errs_by_posterior", False) and 2 * rate * self.profile.durfee_size < 1

    @property
    def mostly_noise(self) -> bool:
        """Whether at least a third of the items are expected to be wrong: the data may be much smaller than released.

        Where the expected error is vague, the upper end of its range counts. False if no error was simulated.
        """
        expected, within = self.error.sorted_l1, self.error.expected_range
        if expected is None or within is None:
            return False
        return 3 * (within[1] if self.error_is_vague else expected.value) >= self.profile.n

    @property
    def largest_count(self) -> int | None:
        """The largest possible count, if larger counts of the data were capped before noise was added.

        With label privacy it is the cap, at which all larger counts were merged; with node privacy it is θ, beyond
        which edges were left out. None if counts were not capped.
        """
        if isinstance(self.mechanism, BoundsDegrees):
            return self.mechanism.max_degree
        return self.guarantee.unit.max_count

    @property
    def left_out(self) -> str:
        """What errors and intervals leave out, because units were bounded; empty if they were not.

        Examples
        --------
        >>> from anonhist.mechanisms import FrobeniusMechanism
        >>> FrobeniusMechanism(1).release(Profile.from_counts([5, 3, 3])).left_out
        ''
        """
        return left_out(self.bounded_unit)

    def num_items(self) -> Estimate:
        """Return :attr:`n`, how many items there are, with a 95% interval.

        The number describes the bounded data: for users, the items that were kept; for labels, counts up to the cap.
        With node privacy the interval has only a lower end, because edges were left out.

        Examples
        --------
        >>> from anonhist.mechanisms import FrobeniusMechanism
        >>> from anonhist.profiles import Profile
        >>> print(FrobeniusMechanism(20).release(Profile.from_counts([5, 3, 3])).num_items())
        11 ± 0 (95% interval 11 to 11)
        """
        if self.items is not None:
            return self._of_rows(released_on_its_own(self.items, self.guarantee))
        found, unit = self._of_rows(self._interval_source.num_items(self.profile)), self.bounded_unit
        if unit.max_items is not None:
            return replace(found, assumes=none_left_out(unit))
        if unit.max_count is not None:
            said = f"no label has more than {unit.max_count:,} items: more were not counted"
            return replace(found, assumes="; ".join(filter(None, (said, none_left_out(unit)))))
        if self.largest_count is None or found.statement.holds is not Holds.BOTH:
            return found
        why = _EDGES_LEFT_OUT.format(self.largest_count)
        return replace(found, interval=(found.interval[0], math.inf), statement=Statement(Holds.AT_LEAST, why))

    def prevalence(self, count: int, *, alphabet_size: int | None = None) -> Estimate:
        """Return φ_r, how many labels have exactly this count, with a 95% interval.

        Above :attr:`largest_count` nothing was released, and the interval follows from the other counts. At the cap for
        labels, it is the number of labels with this count or a larger one.

        Parameters
        ----------
        count
            r ≥ 1; or 0, if zeros are released or the number of labels is known.
        alphabet_size
            k, the number of possible labels, known without looking at the data: then ``φ_0 = k − φ_{1+}``.

        Raises
        ------
        UsageError
            If the count is negative, or an alphabet size is given for a count other than 0, or for a release with
            zeros; or if it is missing for count 0 of a release without zeros.
        """
        if count < 0:
            raise UsageError(f"`count` must be 0 or more, not {count}.")
        if alphabet_size is not None:
            if count != 0 or self.zeros is not None:
                raise UsageError("`alphabet_size` is only for count 0, of a release without zeros: leave it out.")
            return never_occurring(self.k_plus(1), parse_whole_number(alphabet_size, name="alphabet_size"))
        if count == 0:
            if self.zeros is None:
                raise UsageError("How many labels never occur depends on how many there are: give `alphabet_size`.")
            return self._of_labels(self._interval_source.of_zeros(self.zeros))
        return self._restrict(self._interval_source.prevalence(self.profile, count), count, or_more=False)

    def k_plus(self, k: int) -> Estimate:
        """Return φ_{k+}, how many labels occur at least ``k`` times, with a 95% interval.

        Above :attr:`largest_count` nothing was released, and the interval follows from the other counts. With node
        privacy it has only a lower end, because edges were left out; ``error.k_plus(profile, k)`` has both ends, for
        the remaining degrees.
        """
        return self._restrict(self._interval_source.k_plus(self.profile, k), k, or_more=True)

    def k_plus_ends(self, k: Ints) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of :meth:`k_plus`, at many k ≥ 1 at once; 0 and infinity without any."""
        return self.error.k_plus_interval(self.profile, k)

    def covered_share(self, labels: Ints) -> tuple[Floats, Floats]:
        """Return the ends of 95% intervals of the share of items that the β most frequent labels of the data cover.

        ``labels`` are the numbers β ≥ 1. The ends are 0 and 1 if the release has no interval for numbers of labels.
        """
        runs = () if self.error.band is not None else self.resimulate()
        return covered_interval(self.error, self.profile, runs, labels)

    def least_repeated(self) -> Profile | None:
        """Return the profile that repeats labels least, among those that intervals for φ_{k+} allow; None without."""
        return least_repeated(self.error, self.profile)

    def _restrict(self, found: Estimate, count: int, *, or_more: bool) -> Estimate:
        """Restrict an estimate to what is known about bounded data."""
        unit, largest, found = self.bounded_unit, self.largest_count, self._of_labels(found)
        if unit.max_items is not None or largest is None or (unit.max_count is not None and count <= largest):
            return replace(found, assumes="; ".join(filter(None, (none_left_out(unit), found.assumes))))
        if unit.max_count is not None:
            # These labels are among those at the cap.
            capped, why = self.k_plus(largest), f"counts of {largest:,} or more were merged"
            holds = Holds.AT_MOST if capped.statement.holds is Holds.BOTH else Holds.NONE
            return replace(found, interval=(0.0, capped.interval[1]), statement=Statement(holds, why))
        why, low = _EDGES_LEFT_OUT.format(largest), found.interval[0]
        if count > largest:
            return replace(found, interval=(0.0, math.inf), statement=Statement(Holds.NONE, why))
        if or_more and found.statement.holds is Holds.BOTH:
            # A node has at least as many edges as it has left: a lower bound on remaining degrees holds for all
            # degrees.
            return replace(found, interval=(low, math.inf), statement=Statement(Holds.AT_LEAST, why))
        return replace(found, assumes=f"no node has more than {largest:,} edges: edges beyond that were left out")

    @property
    def bounded_unit(self) -> PrivacyUnit:
        """The unit as it was bounded here: the guarantee of an adjusted release is for all levels together."""
        unit = self.guarantee.unit if self.unadjusted is None else self.unadjusted.guarantee.unit
        # The unit may have more items than were kept for it.
        return unit if self.excess is None else replace(unit, bound=self.excess.bound)

    @property
    def adds_groups(self) -> bool:
        """Whether it adds up releases of groups, so that a label of several of them counts in each."""
        return isinstance(self.mechanism, AddsUp)

    def _of_rows(self, found: Estimate) -> Estimate:
        """Say which rows counted."""
        return replace(found, where=self.where, bounded_unit=self.bounded_unit)

    def _of_labels(self, found: Estimate) -> Estimate:
        """Say which rows counted, and which labels are one."""
        found = self._of_rows(found)
        return replace(found, assumes=LABELS_APART) if self.adds_groups else found

    @property
    def _interval_source(self) -> ReleaseError:
        """Source of the intervals: for a smoothed release the noisy values alone, so nothing is simulated."""
        drawn = self.unadjusted or self
        known = drawn.evidence
        recorded = self.recorded_error or drawn.recorded_error
        if recorded is not None or known is None or known.prevalences is None:
            return self.error
        if self.zeros is not None and known.zeros is None:
            return self.error
        found = ReleaseError.without_runs(known)
        return (found if drawn is self else found.stretched(drawn.profile, self.profile)).of(self._released)

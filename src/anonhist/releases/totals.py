"""Totals of released groups: sums of them, or releases of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen
from anonhist.profiles import Profile
from anonhist.profiles.grouped import prefixes_of, total_of
from anonhist.releases.error import ReleaseError
from anonhist.releases.protocols import runs_fall_short
from anonhist.releases.release import Release
from anonhist.releases.runs import generator_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from anonhist.privacy import Guarantee
    from anonhist.profiles.grouped import Group
    from anonhist.properties.estimate import Estimate
    from anonhist.releases.evidence import Evidence
    from anonhist.releases.protocols import Mechanism, ReleaseKind


@dataclass(frozen=True)
class NestedTotals:
    """Totals that are sums of released groups.

    ``known`` is, by the first names of its groups, what is known of the error of each total: evidence from noisy
    values, errors that were computed before, or None.
    """

    known: Mapping[Group, Evidence | ReleaseError | None]

    def releases(self, groups: Mapping[Group, Release], guarantee: Guarantee) -> dict[Group, Release]:
        """Return the release of each total, with the guarantee of all groups together."""
        first, runs = next(iter(groups.values())), RunsOfTotals(groups)
        sums = _sums({group: each.profile for group, each in groups.items()})
        totals = {}
        for prefix, known in self.known.items():
            mechanism = SumOfReleases(first.mechanism, prefix, runs, guarantee)
            error = known if isinstance(known, ReleaseError) else None
            totals[prefix] = Release(
                profile=Profile(sums[prefix].counts, sums[prefix].prevalences, unit=guarantee.unit.total_unit),
                guarantee=guarantee,
                mechanism=mechanism,
                reason=first.reason,
                library_version=first.library_version,
                recorded_error=error,
                simulations=runs.size if error is None else error.simulations,
                order_key=first.order_key,
                evidence=None if isinstance(known, ReleaseError) else known,
            )
        return totals


@dataclass(frozen=True)
class CrossingTotals:
    """Totals that were released on their own, by the first names of their groups."""

    known: Mapping[Group, Release]


@runtime_checkable
class SimulatesEach(Protocol):
    """A mechanism that releases several profiles together."""

    def simulate_each(
        self, profiles: Sequence[Profile], *, size: int, rng: np.random.Generator
    ) -> Iterator[Sequence[Profile]]:
        """Yield ``size`` runs on several public profiles together."""


@frozen
class RunsOfTotals:
    """Runs of a mechanism on the releases of all groups together, of which only the totals are kept."""

    groups: Converted[Mapping[Group, Release], dict[Group, Release]] = converted(dict, shown=False)

    @property
    def size(self) -> int:
        """Number of runs: as many as of the group with the fewest."""
        return min(each.simulations for each in self.groups.values())

    @cached_property
    def on_releases(self) -> list[dict[Group, Profile]]:
        """The totals of each run on the releases."""
        return self._draw([each.profile for each in self.groups.values()])

    @cached_property
    def on_nothing(self) -> list[dict[Group, Profile]]:
        """The totals of each run on no data."""
        return self._draw([Profile([], [], unit=each.profile.unit) for each in self.groups.values()])

    def _draw(self, profiles: list[Profile]) -> list[dict[Group, Profile]]:
        mechanism = next(iter(self.groups.values())).mechanism
        if not isinstance(mechanism, SimulatesEach):
            raise UsageError(f"The mechanism {mechanism.name} does not release groups together.")
        rng = generator_of(mechanism, total_of(profiles), None)
        runs = mechanism.simulate_each(profiles, size=self.size, rng=rng)
        return [_sums(dict(zip(self.groups, run, strict=True))) for run in runs]


def _sums(profiles: Mapping[Group, Profile]) -> dict[Group, Profile]:
    """Return the total of each prefix of groups."""
    parts: dict[Group, list[Profile]] = {prefix: [] for prefix in prefixes_of(profiles)}
    for group, each in profiles.items():
        for depth in range(len(group)):
            parts[group[:depth]].append(each)
    return {prefix: total_of(each) for prefix, each in parts.items()}


@frozen
class SumOfReleases:
    """What made a total: the mechanism of its groups, and adding up those with the first names ``prefix``.

    The guarantee is that of all groups together, of which the total is a function; runs are on all groups together.
    """

    mechanism: Mechanism
    prefix: Group
    runs: RunsOfTotals
    guarantee: Guarantee

    @property
    def kind(self) -> ReleaseKind:
        """The kind of release of a group."""
        return self.mechanism.kind

    @property
    def name(self) -> str:
        """The name of the mechanism of a group."""
        return self.mechanism.name

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Those of the mechanism of a group."""
        return self.mechanism.parameters

    @property
    def runs_fall_short(self) -> str:
        """Why runs give no intervals: what holds for a group holds for a sum."""
        return runs_fall_short(self.mechanism)

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> list[Profile]:
        """Return runs on the released groups, added up; or on no data, for an empty profile.

        There are at most as many as of the group with the fewest. ``rng`` is not used: the runs of all totals are those
        of one generator.
        """
        runs = self.runs.on_releases if profile.n else self.runs.on_nothing
        return [run[self.prefix] for run in runs[:size]]

    def range_of_sum(self, expected: Estimate, least: float) -> tuple[float, float]:
        """Return the range of the sorted ℓ1 error of the total, from those of its groups.

        A total is no farther from the true one than its groups are from theirs together, since no pairing of counts has
        a smaller sum of differences than that in descending order, and pairs within groups are one. So it ends where
        the ranges of the groups end together. What groups may err less than their runs show, the total may, too, so it
        begins at the same share of the expected error as those of the groups together, if that is less than ``least``,
        where it begins by the runs on the total alone.
        """
        errors = [each.error for group, each in self.runs.groups.items() if group[: len(self.prefix)] == self.prefix]
        ranges = [each.expected_range for each in errors]
        values = sum(each.sorted_l1.value for each in errors if each.sorted_l1 is not None)
        lows, highs = (sum(ends[side] for ends in ranges if ends is not None) for side in (0, 1))
        share = min(1.0, lows / values) if values else 0.0
        return min(least, share * expected.value), max(expected.interval[1], highs)

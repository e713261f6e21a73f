"""The mechanism of a release, and where it was charged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, NoReturn, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from anonhist.accounting import Receipt
from anonhist.accounting.recording import MadeBy
from anonhist.catalogue import Levels
from anonhist.errors import DataError, UsageError
from anonhist.frozen import Converted, converted, frozen, optional
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, PrivacyUnit, parse_order_key, short_decimal
from anonhist.privacy.parameters import round_up
from anonhist.profiles import Profile
from anonhist.profiles.grouped import ByGroup, Group
from anonhist.profiles.where import where_text
from anonhist.properties.estimate import Estimate


@dataclass(frozen=True)
class Words:
    """What labels, items and counts are called.

    ``{}`` in ``item``, ``items``, ``exactly`` and ``at_least`` stands for the number or the count. ``total`` is all
    items, for shares of them; ``error`` an ℓ1 error; ``count`` the number of items of a label.
    """

    label: str
    labels: str
    item: str
    items: str
    total: str
    error: str
    count: str
    exactly: str
    at_least: str

    def called(self, label: str, labels: str) -> Words:
        """Return the same words with another name for labels."""
        told = (text.replace("labels", labels) for text in (self.exactly, self.at_least))
        return replace(self, label=label, labels=labels, **dict(zip(("exactly", "at_least"), told, strict=True)))

    def many_labels(self, number: int) -> str:
        """Write a number of labels."""
        return f"{number:,} {self.label if number == 1 else self.labels}"

    def many_items(self, number: int) -> str:
        """Write a number of items."""
        return (self.item if number == 1 else self.items).format(f"{number:,}")


OF_LABELS = Words(
    *("label", "labels", "{} item", "{} items", "items", "{} items"),
    *("count", "labels with exactly {} items", "labels with {} items or more"),
)
OF_GRAPHS = Words(
    *("node", "nodes", "degree sum {}", "degree sum {}", "degree sum", "{}"),
    *("degree", "nodes of degree {}", "nodes of degree {} or more"),
)


@dataclass(frozen=True)
class ReleaseKind:
    """A kind of release: one value, defined beside the mechanisms that make such releases.

    ``RELEASED_BY`` of :mod:`anonhist.kinds` says, under its name, how they are read and shown. ``words`` are the words
    for labels and items, by the kinds of units that such releases can protect.
    """

    name: str
    words: Mapping[str, Words] = field(repr=False, hash=False)

    def protects(self, unit: PrivacyUnit) -> bool:
        """Whether such a release can protect a unit."""
        return unit.kind in self.words


# Any data have profiles; a profile of degrees protects edges, or nodes with bounded degrees.
CENTRAL = ReleaseKind(
    "central", dict.fromkeys(("item", "user", "label"), OF_LABELS) | dict.fromkeys(("edge", "node"), OF_GRAPHS)
)


# A small file may describe a profile that would fill any memory, so larger ones are not simulated.
MOST_ROWS = 2**20
# On the largest profiles a few runs take minutes, and the largest number of runs would take hours.
_ROWS_OF_ALL_RUNS, _FEW_RUNS = 2**25, 32
# The default, which gives an error to within 13%, and the minimum, which gives it to within 25%.
USUAL_RUNS, LEAST_RUNS = 32, 8
# Work for all runs on a released profile together: about a second.
_WORK_OF_ALL_RUNS = 2**23
MOST_NUMBERS = 2**26
_NOT_KNOWN = "no noisy values were kept, and simulated runs of this mechanism may have smaller errors than the release"


@runtime_checkable
class Mechanism(MadeBy, Protocol):
    """What a release of a profile stores of the mechanism that made it."""

    @property
    def kind(self) -> ReleaseKind:
        """The kind of its releases."""

    def simulate(self, profile: Profile, *, size: int, rng: np.random.Generator) -> Sequence[Profile]:
        """Return ``size`` independent runs on a *public* profile, with simulation randomness.

        A run that would take more memory than :func:`check_diagram` and :func:`check_numbers` allow is refused.
        """


@runtime_checkable
class CountsZeros(Protocol):
    """A mechanism that also releases the number of labels of count zero, such as nodes without an edge."""

    def simulate_with_zeros(
        self, profile: Profile, zeros: int, *, size: int, rng: np.random.Generator
    ) -> Sequence[tuple[Profile, int]]:
        """Return ``size`` independent runs on a public profile and a public number of zeros: profiles and numbers."""


@runtime_checkable
class KnowsWork(Protocol):
    """A mechanism with slow runs that can estimate their cost."""

    def simulation_work(self, profile: Profile) -> int:
        """Return about how many numbers a run on a public profile computes, ≥ 0; equal on all machines."""


@runtime_checkable
class BoundsDegrees(Protocol):
    """A mechanism for graphs from which edges were removed first, until no degree exceeded a bound."""

    @property
    def max_degree(self) -> int:
        """θ, the largest degree that it can release."""


@runtime_checkable
class TrustsRuns(Protocol):
    """A mechanism that states whether its runs on a release have errors as large as the release.

    Runs on a release understate errors if noise changed the shape of the data. So mechanisms without this attribute
    have no intervals from runs. Intervals from noisy values (:class:`~anonhist.releases.Evidence`) hold for all data.
    """

    @property
    def runs_fall_short(self) -> str:
        """Why 95% intervals from runs on a release are too short, without a full stop; empty if they are not."""


def runs_fall_short(mechanism: Mechanism) -> str:
    """Return why intervals from runs of a mechanism on its own release are not reliable; empty if they are."""
    return mechanism.runs_fall_short if isinstance(mechanism, TrustsRuns) else _NOT_KNOWN


@runtime_checkable
class AddsUp(Protocol):
    """An object that adds up several releases, whose errors determine what the sum's error may be."""

    def range_of_sum(self, expected: Estimate, least: float) -> tuple[float, float]:
        """Return the range of the sorted ℓ1 error of the sum.

        ``least`` is the lower end of the range according to runs on the sum alone.
        """


def simulation_work(mechanism: Mechanism, profile: Profile) -> int:
    """Return the work that a mechanism reports for a run, if any, plus four numbers for each released count."""
    own = mechanism.simulation_work(profile) if isinstance(mechanism, KnowsWork) else 0
    return own + 4 * len(profile)


def check_diagram(profile: Profile) -> None:
    """Refuse to simulate a public profile of Durfee size D > 2²⁰, since runs take memory in proportion to D.

    Profiles with n up to 2⁴⁰ are never refused.
    """
    if profile.durfee_size > MOST_ROWS:
        raise DataError("Errors are not simulated for releases of Durfee size above 2^20; use the profile alone.")


def simulations_of(profile: Profile, asked: int | None, *, work: int = 0) -> int:
    """Return the number of runs on a public profile of Durfee size D: the same for a release on all machines.

    It is the number asked for, up to the larger of 32 and 2²⁵/D. By default it is 32, or 2²³ / ``work`` if that is
    less, but at least 8; ``work`` is the number of numbers that a run computes (:class:`KnowsWork`).
    """
    if asked is None:
        return max(LEAST_RUNS, min(USUAL_RUNS, _WORK_OF_ALL_RUNS // max(1, work)))
    return min(asked, max(_FEW_RUNS, _ROWS_OF_ALL_RUNS // max(1, profile.durfee_size)))


def check_numbers(numbers: int) -> None:
    """Refuse to simulate more than 2²⁶ counters or counts that are stored one by one."""
    if numbers > MOST_NUMBERS:
        raise DataError(
            "Errors are not simulated for releases that take more than 2^26 numbers; use the profile alone."
        )


def runs_of(
    mechanism: Mechanism, profile: Profile, zeros: int | None, *, size: int, rng: np.random.Generator
) -> Sequence[tuple[Profile, int | None]]:
    """Return runs on public data, each with its number of zeros if that is released."""
    if zeros is None:
        return [(run, None) for run in mechanism.simulate(profile, size=size, rng=rng)]
    if not isinstance(mechanism, CountsZeros):
        raise UsageError(f"The mechanism {mechanism.name} does not release the number of labels of count zero.")
    return mechanism.simulate_with_zeros(profile, zeros, size=size, rng=rng)


@dataclass(frozen=True)
class Released:
    """Released numbers, safe to publish under their guarantee: a profile, and φ_0 if any."""

    profile: Profile
    zeros: int | None
    guarantee: Guarantee

    def guarantee_of(self, number: Profile | int) -> Guarantee | None:
        """Return the guarantee, if it covers this profile or this number of zeros."""
        mine = self.profile if isinstance(number, Profile) else self.zeros
        return self.guarantee if number is mine or number == mine else None


@frozen(kw_only=True)
class OneRelease(Shown, Tabular, Saved):
    """A release that is not of groups; its class lists its other attributes."""

    reason: str
    library_version: str
    order_key: Converted[str | None, str | None] = converted(optional(parse_order_key), default=None)
    where: Converted[str | None, str | None] = converted(optional(where_text), default=None)
    receipt: Receipt | None = None

    if TYPE_CHECKING:

        @property
        def guarantee(self) -> Guarantee:
            """The guarantee."""

        @property
        def mechanism(self) -> MadeBy:
            """The mechanism that made it."""

    def __post_init__(self) -> None:
        unit = self.guarantee.unit
        if self.order_key is not None and unit.max_items is unit.max_count is None:
            raise UsageError("Only a release for users, or for labels in groups, has an order key.")


def in_short(guarantee: Guarantee) -> str:
    """Describe the guarantee and its unit, for an object's repr."""
    delta = f", delta={round_up(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon={short_decimal(guarantee.epsilon)}{delta}, {guarantee.unit}"


One = TypeVar("One", bound=OneRelease)


class ReleaseByGroup(ByGroup[One], Shown, Tabular, Saved):
    """The releases of several groups, made together by one mechanism."""

    _must_have = "A release of groups has at least one group."
    _must_share: ClassVar[str] = "The releases of all groups must be made by one mechanism, in one step."

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pandas would make a table of the group names, without the released numbers."""
        raise UsageError("A release of groups is no array: take its table with to_pandas() or to_polars().")

    if TYPE_CHECKING:

        @property
        def guarantee(self) -> Guarantee:
            """The joint guarantee of all groups."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self.mechanism.name}, {in_short(self.guarantee)})"

    @property
    def levels(self) -> Levels | None:
        """What totals count, if there are any."""
        return None

    @property
    def everything(self) -> Mapping[Group, One]:
        """The releases of all levels, totals before their groups; without levels, those of the groups.

        Examples
        --------
        >>> import anonhist as ah
        >>> from anonhist.profiles.grouped import GroupedProfile
        >>> from anonhist.catalogue import Levels
        >>> profiles = {("CA",): ah.Profile.from_counts([3, 1]), ("NV",): ah.Profile.from_counts([2])}
        >>> grouped = GroupedProfile(("state",), profiles, unit=ah.PrivacyUnit.item(), levels=Levels.NESTED)
        >>> list(ah.release_groups(grouped, epsilon=1).everything)
        [(), ('CA',), ('NV',)]
        """
        return self._known

    @property
    def drawn(self) -> Mapping[Group, One]:
        """The releases that were drawn; any others follow from these."""
        return self._values

    @property
    def mechanism(self) -> MadeBy:
        """The mechanism that released each group."""
        return self.first.mechanism

    @property
    def reason(self) -> str:
        """Why that mechanism was chosen."""
        return self.first.reason

    @property
    def library_version(self) -> str:
        """Version of this package that made the release."""
        return self.first.library_version

    @property
    def order_key(self) -> str | None:
        """The key of the random choice by which items of users, or groups of users and labels, were kept, if any."""
        return self.first.order_key

    @property
    def where(self) -> str | None:
        """The condition on which rows counted; None if all did."""
        return self.first.where

    @property
    def left_out(self) -> str:
        """What intervals leave out, because units were bounded; empty if they were not."""
        return self.first.left_out

    @property
    def receipt(self) -> Receipt | None:
        """Where the release was charged, if a ledger was used."""
        return self.first.receipt

    def with_receipt(self, receipt: Receipt | None) -> Self:
        """Return the release with its receipt, which each group's release carries, too."""
        if receipt == self.receipt:
            return self
        return self._of_drawn({group: replace(each, receipt=receipt) for group, each in self.drawn.items()})

    def _of_drawn(self, drawn: Mapping[Group, One]) -> Self:
        """Return the same release with these in place of its drawn releases."""
        return self._again(drawn)

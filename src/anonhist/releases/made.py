"""How releases were made and where they were charged: of one profile or one table of windows, and of several groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, NoReturn, Self, TypeVar

from anonhist.accounting import Receipt
from anonhist.catalogue import Levels
from anonhist.errors import UsageError
from anonhist.frozen import Converted, converted, frozen, optional
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.privacy import Guarantee, parse_order_key, short_decimal
from anonhist.privacy.guarantee import round_up
from anonhist.profiles.grouped import ByGroup, Group
from anonhist.releases.protocols import MadeBy


@frozen(kw_only=True)
class OneRelease(Shown, Tabular, Saved):
    """A release that is not of groups; its class says what else it has."""

    reason: str
    library_version: str
    order_key: Converted[str | None, str | None] = converted(optional(parse_order_key), default=None)
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
    """Say what was promised of whom, as the text of an object has it."""
    delta = f", delta={round_up(guarantee.delta)}" if guarantee.delta else ""
    return f"epsilon={short_decimal(guarantee.epsilon)}{delta}, {guarantee.unit}"


One = TypeVar("One", bound=OneRelease)


class ReleaseByGroup(ByGroup[One], Shown, Tabular, Saved):
    """The releases of several groups, made together by one mechanism."""

    _must_have = "A release of groups has at least one group."
    _must_share: ClassVar[str] = "The releases of all groups must be made by one mechanism, in one step."

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse: pandas would make a table of the names of groups, without what was released."""
        raise UsageError("A release of groups is no array: take its table with to_pandas() or to_polars().")

    if TYPE_CHECKING:

        @property
        def guarantee(self) -> Guarantee:
            """The guarantee of all groups together."""

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
        """The releases that were drawn; if there are others, they follow from these."""
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
    def left_out(self) -> str:
        """What intervals leave out, because units were bounded; empty if they were not."""
        return self.first.left_out

    @property
    def receipt(self) -> Receipt | None:
        """Where the release was charged, if a ledger keeps account."""
        return self.first.receipt

    def with_receipt(self, receipt: Receipt | None) -> Self:
        """Return the release with its receipt, which the release of each group carries, too."""
        if receipt == self.receipt:
            return self
        return self._of_drawn({group: replace(each, receipt=receipt) for group, each in self.drawn.items()})

    def _of_drawn(self, drawn: Mapping[Group, One]) -> Self:
        """Return the same release with these in place of those that were drawn."""
        return self._again(drawn)

"""How much each unit had before a bound, from which what was left out follows."""

from __future__ import annotations

from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from anonhist.frozen import Converted, converted, frozen
from anonhist.lazy import LaterModule
from anonhist.privacy import parse_whole_number

if TYPE_CHECKING:
    from anonhist.profiles import profile
else:
    profile = LaterModule("anonhist.profiles.profile")


class Bounded(Enum):
    """What is bounded of each unit.

    Examples
    --------
    >>> Bounded.GROUPS_OF_LABELS.unit, Bounded.GROUPS_OF_LABELS.part
    ('label', 'group')
    """

    ITEMS_OF_USERS = "items of users"
    ITEMS_OF_LABELS = "items of labels"
    GROUPS_OF_USERS = "groups of users"
    GROUPS_OF_LABELS = "groups of labels"

    @property
    def unit(self) -> str:
        """What is bounded, in the singular: the kind of the unit that a release protects."""
        return self.value.split()[2].removesuffix("s")

    @property
    def part(self) -> str:
        """What a unit may have only so many of, in the singular."""
        return self.value.split()[0].removesuffix("s")


@frozen(repr=False)
class BoundedUnits:
    """The users or labels of data in which at most m items, or groups, of each are kept; as private as the data.

    Parameters
    ----------
    bound
        m, from 1 to 2^62.
    numbers
        How many each has before the bound, as a profile: a count is a number of items or groups, ≥ 1, and its
        prevalence the number of units with it.
    of
        What is bounded.

    Raises
    ------
    UsageError
        If the bound is not a whole number in that range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> users = BoundedUnits(3, Profile.from_counts([1, 3, 4, 40]))
    >>> users.within, users.above, users.excess(30)
    (2, 2, 31)
    >>> users
    BoundedUnits(bound=3)
    """

    bound: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="bound"))
    numbers: profile.Profile
    of: Bounded = Bounded.ITEMS_OF_USERS

    @property
    def within(self) -> int:
        """How many units had at most m, and at least one."""
        return self.numbers.num_labels - self.above

    @property
    def above(self) -> int:
        """How many units had more than m."""
        return self.numbers.k_plus(self.bound + 1)

    def excess(self, cap: int) -> int:
        """Return how much is beyond m, at most ``cap`` (≥ 1) for each unit: ``Σ_u min(max(c_u − m, 0), C)``.

        It cannot overflow: it is at most the number of items before the bound, which a profile can hold.
        """
        beyond = np.clip(self.numbers.counts - self.bound, 0, cap)
        return int(beyond @ self.numbers.prevalences)

    def __repr__(self) -> str:
        """Show only the bound, which is public."""
        return f"BoundedUnits(bound={self.bound})"

"""The number of items of each user before the bound, from which the number of items left out follows."""

from __future__ import annotations

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


@frozen(repr=False)
class BoundedUsers:
    """The users of a profile that keeps at most m items of each; as private as the data.

    Parameters
    ----------
    bound
        m, from 1 to 2^62.
    items
        Numbers of items per user before the bound, as a profile: a count is a number of items, ≥ 1, and its prevalence
        the number of users with it.

    Raises
    ------
    UsageError
        If the bound is not a whole number in that range.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> users = BoundedUsers(3, Profile.from_counts([1, 3, 4, 40]))
    >>> users.within, users.above, users.excess(30)
    (2, 2, 31)
    >>> users
    BoundedUsers(bound=3)
    """

    bound: Converted[SupportsIndex, int] = converted(partial(parse_whole_number, name="bound"))
    items: profile.Profile

    @property
    def within(self) -> int:
        """How many users had at most m items, and at least one."""
        return self.items.num_labels - self.above

    @property
    def above(self) -> int:
        """How many users had more than m items."""
        return self.items.k_plus(self.bound + 1)

    def excess(self, cap: int) -> int:
        """Return the number of items beyond m, at most ``cap`` (≥ 1) for each user: ``Σ_u min(max(c_u − m, 0), C)``.

        It cannot overflow: it is at most the number of items before the bound, which a profile can hold.
        """
        beyond = np.clip(self.items.counts - self.bound, 0, cap)
        return int(beyond @ self.items.prevalences)

    def __repr__(self) -> str:
        """Show only the bound, which is public."""
        return f"BoundedUsers(bound={self.bound})"

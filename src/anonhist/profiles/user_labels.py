"""Which users have which labels, and how many labels can be matched to users if each is matched to only so many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.frozen import converted, frozen
from anonhist.numeric.arrays import read_only
from anonhist.numeric.pulse import pulse
from anonhist.numeric.transport import largest_transport

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable
    from typing import Any, Self

    from anonhist.frozen import Converted
    from anonhist.numeric.arrays import Ints

# A round of the reduction that removes a smaller share of the pairs leaves the rest to the flow.
_WORTHWHILE = 1 / 64
# SciPy numbers arcs, and their reverses, in 32 bits: more of them take hundreds of gigabytes anyway.
_MOST_ARCS = 2**30
# Pairs of numbers below this are numbers in 64 bits.
_MOST = 2**31


def _numbers(given: Any) -> Ints:
    numbers = np.array(given, dtype=np.int64)
    if numbers.ndim != 1 or (numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < _MOST):
        raise DataError("Users and labels must be numbered from 0, below 2^31.")
    return read_only(numbers)


@frozen
class UserLabels:
    """The distinct pairs of a user and a label: private data.

    Numbers stand for users and for labels, and no pair is listed twice. Each pair takes 16 bytes, and up to 200 more
    while labels are matched.

    Parameters
    ----------
    users, labels
        The user and the label of each pair, shape (pairs,), whole numbers from 0 to 2^31 − 1.
    where
        The condition on which rows counted, as for ``read_profile``; None if all did.

    Raises
    ------
    DataError
        If the numbers are not as said.

    Examples
    --------
    >>> held = UserLabels.from_pairs([("ann", "oak"), ("ann", "elm"), ("bob", "oak"), ("bob", "oak")])
    >>> held.num_matched(1), held.num_matched(2)
    (2, 2)
    >>> held
    UserLabels()
    """

    users: Converted[Any, Ints] = converted(_numbers)
    labels: Converted[Any, Ints] = converted(_numbers)
    where: str | None = None

    def __post_init__(self) -> None:
        if self.users.shape != self.labels.shape:
            raise DataError("There must be as many users as labels: one of each in every pair.")
        pairs = self.users * (int(self.labels.max(initial=0)) + 1) + self.labels
        if np.unique(pairs).size < pairs.size:
            raise DataError("No pair of a user and a label may be listed twice; UserLabels.from_pairs leaves them out.")

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[Hashable, Hashable]]) -> Self:
        """Return the pairs in memory, with users and labels numbered; equal pairs count once.

        Examples
        --------
        >>> UserLabels.from_pairs([]).num_matched(3)
        0
        """
        distinct = list(dict.fromkeys(pairs))
        users: dict[Hashable, int] = {}
        labels: dict[Hashable, int] = {}
        return cls(
            [users.setdefault(user, len(users)) for user, _ in distinct],
            [labels.setdefault(label, len(labels)) for _, label in distinct],
        )

    def num_matched(self, most: int) -> int:
        """Return how many labels can be matched to users who have them, at most ``most`` ≥ 1 to each user.

        It is a maximum: ``D_ℓ``, the largest matching of labels to ℓ copies of each user. One user with any labels
        raises it by 0 to ℓ. Pairs that a largest matching settles in any case are removed first; the rest is a maximum
        flow, certified by a cut of the same capacity. Proof: docs/proofs/distinct-labels.md, §1 and §2.

        Raises
        ------
        ArithmeticError
            If the flow cannot be verified as a maximum flow.
        MemoryError
            If there is not enough memory, or more than 2^30 pairs are left to the flow.
        """
        users, labels, supplies, settled = _settled(self.users, self.labels, most)
        if not users.size:
            return settled
        names, begins = np.unique(users, return_inverse=True)
        kinds, ends = np.unique(labels, return_inverse=True)
        if users.size + names.size + kinds.size >= _MOST_ARCS:
            raise MemoryError
        ones = np.ones(users.size, dtype=np.int64)
        found = largest_transport(begins, ends, ones, supplies[names], np.ones(kinds.size, dtype=np.int64))
        return settled + int(found.flows.sum())

    def __repr__(self) -> str:
        """Show nothing, because everything is private."""
        return f"{type(self).__name__}()"


def _settled(users: Ints, labels: Ints, most: int) -> tuple[Ints, Ints, Ints, int]:
    """Return the pairs left, how many labels each user can still take, and the number of labels already matched.

    Some largest matching gives a label that only one user has to that user, as long as they can take labels, and to a
    user who can take all of their labels every one of them (the rules of Karp and Sipser, for copies of users).
    """
    supplies = np.full(int(users.max(initial=-1)) + 1, most, dtype=np.int64)
    settled = 0
    while users.size:
        before = users.size
        is_lone = np.bincount(labels)[labels] == 1
        taken = np.minimum(np.bincount(users[is_lone], minlength=supplies.size), supplies)
        supplies -= taken
        settled += int(taken.sum())
        is_open = ~is_lone & (supplies[users] > 0)
        users, labels = users[is_open], labels[is_open]
        is_free = (np.bincount(users, minlength=supplies.size) <= supplies)[users]
        is_matched = np.zeros(int(labels.max(initial=-1)) + 1, dtype=np.bool_)
        is_matched[labels[is_free]] = True
        settled += int(is_matched.sum())
        is_open = ~is_matched[labels]
        users, labels = users[is_open], labels[is_open]
        pulse()
        if before - users.size < before * _WORTHWHILE:
            break
    return users, labels, supplies, settled

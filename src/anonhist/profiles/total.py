"""The total of several profiles: labels counted in each of them apart."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from anonhist.profiles.profile import Profile
from anonhist.profiles.whole import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.privacy import PrivacyUnit


def total_of(profiles: Iterable[Profile], *, unit: PrivacyUnit | None = None) -> Profile:
    """Return the profile with the prevalences of all profiles added up: ``φ_r = Σ_g φ_{g,r}``.

    A label of several of them counts in each: what is counted is the pair of a group and a label. If they have more
    than 2⁶³ − 1 items together, the largest counts are lowered until there are just so many: noise may add to profiles
    whose true total is less.

    Parameters
    ----------
    profiles
        Any number of profiles.
    unit
        The unit of the result; an item by default.

    Examples
    --------
    >>> total_of([Profile.from_counts([3, 1]), Profile.from_counts([3])])
    Profile(n=7, num_labels=3, {1: 1, 3: 2})
    >>> total_of([Profile([2**63 - 2], [1]), Profile([3], [1])])
    Profile(n=9223372036854775807, num_labels=2, {3: 1, 9223372036854775804: 1})
    """
    found = list(profiles)
    if sum(each.n for each in found) > MAX_ITEMS:
        return _clipped(found, unit)
    if not found:
        return Profile([], [], unit=unit)
    counts = np.concatenate([each.counts for each in found])
    prevalences = np.concatenate([each.prevalences for each in found])
    order = np.argsort(counts, kind="stable")
    counts, prevalences = counts[order], prevalences[order]
    begins = np.flatnonzero(np.diff(counts, prepend=0))
    return Profile(counts[begins], np.add.reduceat(prevalences, begins) if begins.size else prevalences, unit=unit)


def _clipped(profiles: Iterable[Profile], unit: PrivacyUnit | None) -> Profile:
    """Return the total with its largest counts lowered to a common one, c or c + 1, so that there are 2⁶³ − 1 items."""
    prevalences: Counter[int] = Counter()
    for each in profiles:
        prevalences.update(dict(zip(each.counts.tolist(), each.prevalences.tolist(), strict=True)))
    # From below: ``left`` items are there for the labels of counts that were not seen yet.
    left, above, kept = MAX_ITEMS, prevalences.total(), Counter[int]()
    for count in sorted(prevalences):
        number = prevalences[count]
        if left < count * above:
            break
        kept[count] = number
        left, above = left - count * number, above - number
    cap, more = divmod(left, above)
    kept.update({cap: above - more, cap + 1: more})
    return Profile.from_prevalences({count: number for count, number in kept.items() if count and number}, unit=unit)

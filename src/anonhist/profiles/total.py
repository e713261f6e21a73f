"""The total of several profiles: labels counted in each of them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from anonhist.errors import DataError
from anonhist.profiles.profile import Profile
from anonhist.profiles.whole import MAX_ITEMS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.privacy import PrivacyUnit


def total_of(profiles: Iterable[Profile], *, unit: PrivacyUnit | None = None) -> Profile:
    """Return the profile with the prevalences of all profiles added up: ``φ_r = Σ_g φ_{g,r}``.

    A label of several of them counts in each: what is counted is the pair of a group and a label.

    Parameters
    ----------
    profiles
        Any number of profiles.
    unit
        The unit of the result; an item by default.

    Raises
    ------
    DataError
        If they have more than 2⁶³ − 1 items together.

    Examples
    --------
    >>> total_of([Profile.from_counts([3, 1]), Profile.from_counts([3])])
    Profile(n=7, num_labels=3, {1: 1, 3: 2})
    """
    found = list(profiles)
    if sum(each.n for each in found) > MAX_ITEMS:
        raise DataError("The groups hold more than 2^63 − 1 items together, the most that can be counted here.")
    if not found:
        return Profile([], [], unit=unit)
    counts = np.concatenate([each.counts for each in found])
    prevalences = np.concatenate([each.prevalences for each in found])
    order = np.argsort(counts, kind="stable")
    counts, prevalences = counts[order], prevalences[order]
    begins = np.flatnonzero(np.diff(counts, prepend=0))
    return Profile(counts[begins], np.add.reduceat(prevalences, begins) if begins.size else prevalences, unit=unit)

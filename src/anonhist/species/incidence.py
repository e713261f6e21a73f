"""Incidence frequencies: in how many of the sampling units each species was found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from anonhist.errors import DataError, UsageError, kind_of
from anonhist.frozen import Checked, Converted, converted, frozen, named
from anonhist.privacy import parse_whole_number
from anonhist.profiles import Profile
from anonhist.profiles.counts import whole_numbers


def _parse_profile(given: Any) -> Profile:
    if not isinstance(given, Profile):
        raise UsageError(
            f"Incidence counts are given as a Profile, such as Profile.from_counts(…), not {kind_of(given)}."
        )
    return given


@frozen(repr=False)
class IncidenceFrequencies:
    """In how many of T sampling units each species was found, without the names of the species.

    A sampling unit is a plot, a trap, a net or a visit; in each, a species is found or not. The ``Q_k`` are the numbers
    of species that were found in exactly k units, and ``U = Σ_k k·Q_k`` is the number of detections.

    Parameters
    ----------
    sampling_units
        T, a whole number from 1 to 2^62; units in which nothing was found count, too.
    profile
        The ``Q_k``: the count of a species is the number of units with it, from 1 to T.

    Raises
    ------
    UsageError
        If T is not such a number, or the profile is of another type.
    DataError
        If a species was found in more units than there are.

    Notes
    -----
    Source: Colwell and others 2012; Chao and others 2014.

    Examples
    --------
    >>> found = IncidenceFrequencies(4, Profile.from_counts([4, 2, 1, 1]))
    >>> found.num_species, found.detections
    (4, 8)
    """

    sampling_units: Converted[SupportsIndex, int] = named(parse_whole_number)
    profile: Checked[Profile] = converted(_parse_profile)

    def __post_init__(self) -> None:
        if len(self.profile) and int(self.profile.counts[-1]) > self.sampling_units:
            raise DataError("A species was found in more sampling units than there are: check the number of units.")

    @classmethod
    def from_frequencies(cls, frequencies: ArrayLike | Iterable[int]) -> Self:
        """Make them from a list as iNEXT has it: first T, then the number of units of each species, in any order.

        Species that were never found (zeros) are left out.

        Raises
        ------
        DataError
            If there is no first number of at least 1, or a number is not whole, negative, or larger than the first.

        Examples
        --------
        >>> IncidenceFrequencies.from_frequencies([5, 3, 0, 1, 1])
        IncidenceFrequencies(sampling_units=5, species=3, {1: 2, 3: 1})
        """
        numbers = whole_numbers(frequencies, name="frequency")
        if not numbers.size or numbers[0] < 1:
            raise DataError("Incidence frequencies begin with the number of sampling units, which is at least 1.")
        return cls(int(numbers[0]), Profile.from_counts(numbers[1:]))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """Make them from a matrix with a row for each species and a column for each sampling unit.

        Raises
        ------
        DataError
            If it is not a matrix of 0 (not found) and 1 (found) with at least one column.

        Examples
        --------
        >>> IncidenceFrequencies.from_matrix([[1, 1, 0], [0, 1, 0]]).sampling_units
        3
        """
        cells = np.asarray(matrix)
        if cells.ndim != 2 or not cells.shape[1]:
            raise DataError("Incidence data are a matrix with species in rows and sampling units in columns.")
        if not bool(((cells == 0) | (cells == 1)).all()):
            raise DataError("Incidence data consist of 0 (not found) and 1 (found).")
        return cls(cells.shape[1], Profile.from_counts((cells == 1).sum(axis=1)))

    @property
    def num_species(self) -> int:
        """The number of species found, ``Σ_k Q_k``."""
        return self.profile.num_labels

    @property
    def detections(self) -> int:
        """The number U of pairs of a species and a unit in which it was found."""
        return self.profile.n

    def __repr__(self) -> str:
        shown = repr(self.profile)
        return (
            f"IncidenceFrequencies(sampling_units={self.sampling_units}, species={self.num_species}, "
            f"{shown[shown.index('{') : -1]})"
        )

    def __str__(self) -> str:
        return (
            f"{self.num_species:,} species in {self.detections:,} detections in {self.sampling_units:,} sampling units"
        )

"""Sampling units with the species found in each: private data, of which each unit keeps at most m species."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from anonhist.errors import DataError
from anonhist.frozen import Converted, converted, frozen
from anonhist.privacy import PrivacyUnit
from anonhist.profiles import Profile
from anonhist.randomness import RandomSource, random_subsets
from anonhist.species.incidence import IncidenceFrequencies

Units = tuple[tuple[Hashable, ...], ...]
# A dict may hold counts of 0: its keys are not what was found.
_NO_LISTS = (str, bytes, Mapping)


def sampling_unit(most: int) -> PrivacyUnit:
    """Return the unit that a release protects: a sampling unit of which at most so many species count."""
    return PrivacyUnit.user(max_items=most, name="sampling unit")


def _distinct(given: Any) -> Units:
    """Return the distinct species of each unit."""
    if isinstance(given, _NO_LISTS) or not isinstance(given, Iterable):
        raise DataError("Sampling units are a list with the species found in each of them.")
    units = []
    for species in given:
        if isinstance(species, _NO_LISTS) or not isinstance(species, Iterable):
            raise DataError("The species of each sampling unit must be a list, which may be empty.")
        try:
            units.append(tuple(dict.fromkeys(species)))
        except TypeError:
            raise DataError("Each species must be hashable, such as text or a number.") from None
    return tuple(units)


@frozen(repr=False)
class SamplingUnits:
    """The species found in each sampling unit: private data, each pair of a unit and a species once.

    Parameters
    ----------
    species
        For each unit the species found in it, which may be none; repeated ones count once.

    Raises
    ------
    DataError
        If it is no list of lists of hashable names.

    Examples
    --------
    >>> plots = SamplingUnits([["oak", "elm", "oak"], [], ["oak"]])
    >>> plots.frequencies()
    IncidenceFrequencies(sampling_units=3, species=2, {1: 1, 2: 1})
    >>> plots
    SamplingUnits()
    """

    species: Converted[Iterable[Iterable[Hashable]], Units] = converted(_distinct)

    def frequencies(self) -> IncidenceFrequencies:
        """Return the exact incidence frequencies, which are not private.

        Raises
        ------
        UsageError
            If there are no units.
        """
        return IncidenceFrequencies(len(self.species), _counted(self.species))

    def bounded(self, most: int, *, source: RandomSource) -> Profile:
        """Return in how many units each species was found if each unit keeps at most ``most`` ≥ 1 of its species.

        A unit with more species keeps a subset of this size, each with the same probability, independently of all
        others. For equal choices in the other units, a further unit raises the counts of at most ``most`` species by 1.
        Which species were kept is secret, so choices are private randomness. Proof: docs/proofs/incidence.md.
        """
        kept = []
        for species in self.species:
            if len(species) <= most:
                kept.append(species)
                continue
            places = random_subsets(len(species), most, 1, source=source)[0].tolist()
            kept.append(tuple(species[place] for place in places))
        return _counted(kept).with_unit(sampling_unit(most))

    def __repr__(self) -> str:
        """Show nothing, because everything is private."""
        return f"{type(self).__name__}()"


def _counted(units: Iterable[Iterable[Hashable]]) -> Profile:
    return Profile.from_counts(list(Counter(each for species in units for each in species).values()))

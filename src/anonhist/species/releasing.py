"""The private release of incidence frequencies, protecting sampling units."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import SupportsIndex

import numpy as np

from anonhist.accounting import Ledger, Receipt, Released
from anonhist.accounting.recording import Price, account_of, recording
from anonhist.catalogue import MechanismName
from anonhist.errors import UsageError, kind_of
from anonhist.frozen import Converted, frozen, named
from anonhist.kinds import Saved, Shown, Tabular
from anonhist.mechanisms.noise import simulated_noise
from anonhist.mechanisms.releasing import AskedRelease, PreparedRelease
from anonhist.mechanisms.setting import check_relation
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles import Profile
from anonhist.properties.estimate import Estimate, Holds, Statement, check_level, quantile, widening_factor
from anonhist.properties.estimator import why_unknown
from anonhist.randomness import RandomSource, SystemSource, discrete_laplace
from anonhist.releases import Release
from anonhist.releases.content import content_digest, digest_of, rest_digest, rest_digests
from anonhist.releases.made import in_short
from anonhist.species.incidence import IncidenceFrequencies
from anonhist.species.richness import RichnessMethod, species_richness
from anonhist.species.sampling_units import SamplingUnits, sampling_unit

_OF_UNITS, _OF_FREQUENCIES = "the number of sampling units", "the incidence frequencies"
_CAPPED = (
    "any number of species may be too rare to be found, and sampling units with more than {} species kept that many, "
    "chosen at random: this may bias it either way"
)
_SEED = 20140


class _Frequencies(Release):
    """The frequencies of a release, which have no file: it would not hold T, which is a part of the release."""

    not_saved = (
        "Released frequencies of sampling units are not saved without their number, which cost a part of the budget: "
        "save the whole IncidenceRelease."
    )

    @classmethod
    def of(cls, release: Release, guarantee: Guarantee) -> _Frequencies:
        """Return the frequencies with the guarantee of the whole release."""
        held = {each.name: getattr(release, each.name) for each in fields(release) if each.init}
        return cls(**{**held, "guarantee": guarantee})

    def alone(self) -> Release:
        """Return the same with the guarantee of the frequencies alone."""
        held = {each.name: getattr(self, each.name) for each in fields(self) if each.init}
        return Release(**{**held, "guarantee": self.mechanism.guarantee})


@frozen(repr=False)
class IncidenceRelease(Shown, Tabular, Saved):
    """Incidence frequencies, released with differential privacy for each sampling unit.

    Attributes
    ----------
    release
        The ``Q_k`` with their errors: the profile of how many sampling units each species was found in, of which units
        kept at most m species. Its guarantee is that of everything, so it is saved with T, and not alone.
    sampling_units
        T, released, ≥ 1. If units are added or removed, no count of the profile exceeds it; if they are replaced, noise
        may make some that do.
    units_epsilon
        The part of ε that T cost; None if sampling units are replaced, so that T is the same for all neighbors.
    receipt
        Where everything was charged, if a ledger was used; its digest is of the release and of T.

    Examples
    --------
    >>> from anonhist.species import SamplingUnits
    >>> plots = SamplingUnits([["oak", "elm"], ["oak"], []] * 50)
    >>> found = release_incidence(plots, epsilon=2, max_per_unit=2)
    >>> print(found.guarantee.unit)
    one sampling unit with all their items (at most 2 of them count)
    """

    known_as = "incidence release"
    release: Release
    sampling_units: Converted[SupportsIndex, int] = named(parse_whole_number)
    units_epsilon: Fraction | None = None
    receipt: Receipt | None = None

    @classmethod
    def of(
        cls, release: Release, sampling_units: int, units_epsilon: Fraction | None, receipt: Receipt | None
    ) -> IncidenceRelease:
        """Return the frequencies, which have a guarantee of their own, with T and the guarantee of both."""
        frequencies = _Frequencies.of(release, _joint(release.guarantee, units_epsilon))
        return cls(frequencies, sampling_units, units_epsilon, receipt)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of everything that was released: the frequencies and the number of units."""
        return self.release.guarantee

    @property
    def frequencies(self) -> IncidenceFrequencies:
        """The released incidence frequencies: counts above T, which only noise makes, are T."""
        return _within(self.sampling_units, self.release.profile)

    def species_richness(self, *, method: RichnessMethod = "chao2-bc", level: float = 0.95) -> Estimate:
        """Estimate the number of species from the release, at no further cost.

        Its error is the sampling error of the published formula and the spread of the estimate over simulated runs of
        the release, added in squares; the interval is value ± z·error, at least 0. The lower end of Chao2 alone is
        stated, and neither end of ICE: for it, noise takes away as much from the estimate as from the number of species
        found, if that is more, which matters where nearly everything is noise. That units kept at most m species biases
        the estimate in a direction that is not known, which no error includes.

        Parameters
        ----------
        method, level
            As for :func:`species_richness`. ``"chao2-bc"``, the default, does not divide by the noisy Q_2.

        Raises
        ------
        UsageError
            If there is no such method, or the level is impossible.
        DataError
            If no species, or only one sampling unit was released.
        """
        check_level(level)
        found = species_richness(self.frequencies, method=method, level=level)
        unit, runs = self.guarantee.unit, self.release.resimulate()
        unknown = why_unknown(self.release) if runs else "no error was simulated (0 simulations)"
        spread = math.nan
        if runs:
            values = [
                _richness_of(profile, units, method, may_grow=self.units_epsilon is not None)
                for profile, units in zip(runs, self._units(len(runs)), strict=True)
            ]
            spread = math.sqrt(float(np.mean((np.array(values) - found.value) ** 2)))
        noise = 0.0 if unknown else widening_factor(len(runs)) * spread
        sampling, noise = (quantile(level) * each for each in (found.standard_error, noise))
        low = found.value - math.hypot(sampling, max(noise, self._found_too_many()))
        ends = (0.0, math.inf) if unknown else (max(low, 0.0), found.value + math.hypot(sampling, noise))
        reasons = [found.statement.reason] if found.statement.holds is Holds.NONE else []
        reason = "; ".join([*([unknown] if unknown else []), *reasons, _CAPPED.format(unit.bound)])
        return replace(
            found,
            standard_error=found.standard_error if unknown else math.hypot(found.standard_error, spread),
            interval=ends,
            method=f"{method}, from a release",
            parts=(("sampling", found.standard_error), *(() if unknown else (("privacy noise", spread),))),
            guarantee=self.guarantee,
            statement=Statement(Holds.NONE if unknown else found.statement.holds, reason),
        )

    def alone(self) -> Release:
        """Return the frequencies with a guarantee of their own, as files hold them."""
        assert isinstance(self.release, _Frequencies)  # noqa: S101  # whoever makes one
        return self.release.alone()

    def with_error(self, *, progress: Callable[[float], None] | None = None) -> IncidenceRelease:
        """Return the same release with its errors recorded; see :meth:`Release.with_error`."""
        return replace(self, release=self.release.with_error(progress=progress))

    def __repr__(self) -> str:
        told = f"{self.release.mechanism.name}, {in_short(self.guarantee)}, sampling_units={self.sampling_units:,}"
        return f"IncidenceRelease({told}, species={self.release.profile.num_labels:,})"

    def _found_too_many(self) -> float:
        """Return by how many species the release may have more than the data: what lies below it in its interval."""
        return self.release.profile.num_labels - float(self.release.k_plus_ends(np.array([1]))[0][0])

    def _units(self, runs: int) -> list[int]:
        """Return simulated numbers of units, for errors alone."""
        if self.units_epsilon is None:
            return [self.sampling_units] * runs
        # Seeded by a public number, so that the same release has the same errors.
        noise = simulated_noise(np.random.default_rng([_SEED, self.sampling_units]))(self.units_epsilon, runs)
        return [max(self.sampling_units + int(each), 1) for each in noise]


def _within(units: int, profile: Profile) -> IncidenceFrequencies:
    """Return incidence frequencies, with counts above the number of units as that number."""
    capped = np.minimum(profile.counts, units)
    pairs = zip(capped.tolist(), profile.prevalences.tolist(), strict=True)
    held: Counter[int] = Counter()
    for count, prevalence in pairs:
        held[count] += prevalence
    return IncidenceFrequencies(units, Profile.from_prevalences(held.items(), unit=profile.unit))


def _richness_of(profile: Profile, units: int, method: RichnessMethod, *, may_grow: bool) -> float:
    if not len(profile):
        return 0.0
    least = max(int(profile.counts[-1]), 2) if may_grow else 2
    return species_richness(_within(max(units, least), profile), method=method).value


def release_incidence(
    units: SamplingUnits,
    *,
    epsilon: EpsilonLike,
    max_per_unit: SupportsIndex,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    units_share: EpsilonLike = "0.1",
    mechanism: MechanismName = "auto",
    simulations: int | None = None,
    source: RandomSource | None = None,
    ledger: Ledger | str | None = None,
    dataset: str | None = None,
    purpose: str | None = None,
) -> IncidenceRelease:
    """Release in how many sampling units species were found, protecting each unit with all its species.

    Each pair of a unit and a species counts once, and a unit keeps at most m of its species, chosen at random. So one
    unit more or less changes the counts by at most m in sorted ℓ1 distance, the ``Q_k`` by 2m, the detections U by m,
    and T by 1; a replaced unit by twice as much, and T not at all. The counts are released by a mechanism for users
    with at most m items; T with discrete Laplace noise of its share of ε.

    Parameters
    ----------
    units
        The private data.
    epsilon
        The whole budget, > 0.
    max_per_unit
        m, the largest number of species of a unit that count, from 1 to 2^62: public, chosen without looking at the
        data. A smaller m needs less noise, and biases numbers of species more.
    relation
        Neighbors differ by a unit that is added or removed (default), or replaced by another one that is listed, too,
        perhaps without a species. If it is replaced, T is public, because it is the same for all neighbors, and
        released as it is (1 if there are no units). So every unit must be among the data, also those without species:
        see :func:`read_sampling_units`.
    units_share
        The share of ε for T, between 0 and 1, if units are added or removed.
    mechanism, simulations, source, ledger, dataset, purpose
        As for :func:`anonhist.release`; mechanisms that need a public bound cannot be used.

    Returns
    -------
    IncidenceRelease
        Its errors do not include what keeping at most m species left out.

    Raises
    ------
    UsageError
        If a parameter is impossible, or a ledger has too little left. Nothing is spent then.
    DataError
        If the data are too large for the mechanism.

    Notes
    -----
    ``epsilon``-differential privacy of one sampling unit; δ and arithmetic are those of the mechanism. Proof note:
    docs/proofs/incidence.md.

    Examples
    --------
    >>> plots = SamplingUnits([["oak", "elm"], ["oak"], []] * 50)
    >>> found = release_incidence(plots, epsilon=2, max_per_unit=2, relation=NeighboringRelation.SUBSTITUTE)
    >>> found.sampling_units
    150
    """
    if not isinstance(units, SamplingUnits):
        raise UsageError(f"`units` must be SamplingUnits, such as read_sampling_units returns, not {kind_of(units)}.")
    prepared = prepare_incidence(
        epsilon=epsilon,
        max_per_unit=max_per_unit,
        relation=relation,
        units_share=units_share,
        mechanism=mechanism,
        simulations=simulations,
    )
    account = account_of(ledger, dataset, purpose)
    with recording(account, lambda: prepared.price) as recorded:
        # Whatever fails from here on may depend on the data.
        recorded.keep()
        made = prepared.release(units, source=source, receipt=recorded.receipt)
        recorded.complete(lambda: incidence_digest(made), lambda: rest_digest(made.release))
    return made


@dataclass(frozen=True)
class PreparedIncidence:
    """Everything about a release of incidence frequencies that is known before data are looked at.

    Attributes
    ----------
    prepared
        How the frequencies are released.
    units_epsilon
        The ε of the number of units; None if it is public.
    """

    prepared: PreparedRelease
    units_epsilon: Fraction | None

    @property
    def price(self) -> Price:
        """The cost."""
        mechanism = self.prepared.mechanism
        return Price(_joint(mechanism.guarantee, self.units_epsilon), mechanism.name, mechanism.parameters)

    def release(
        self, units: SamplingUnits, *, source: RandomSource | None = None, receipt: Receipt | None = None
    ) -> IncidenceRelease:
        """Release the frequencies and the number of units."""
        randomness = source or SystemSource()
        bound = self.prepared.mechanism.guarantee.unit.bound
        released = self.prepared.release(units.bounded(bound, source=randomness), source=randomness)
        number = len(units.species)
        if self.units_epsilon is not None:
            noisy = number + int(discrete_laplace(self.units_epsilon, 1, source=randomness)[0])
            number = max(noisy, int(released.profile.counts[-1]) if len(released.profile) else 1)
        return IncidenceRelease.of(released, max(number, 1), self.units_epsilon, receipt)


def prepare_incidence(
    *,
    epsilon: EpsilonLike,
    max_per_unit: SupportsIndex,
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE,
    units_share: EpsilonLike = "0.1",
    mechanism: str = "auto",
    simulations: int | None = None,
) -> PreparedIncidence:
    """Choose the mechanism for the frequencies and the ε of the number of units, as :func:`release_incidence` does."""
    most = parse_whole_number(max_per_unit, name="max_per_unit")
    unit, whole, share = sampling_unit(most), parse_epsilon(epsilon), None
    if check_relation(relation) is NeighboringRelation.ADD_OR_REMOVE:
        part = parse_epsilon(units_share)
        if part >= 1:
            raise UsageError(f"`units_share` must be between 0 and 1, such as 0.1, not {short_decimal(part)}.")
        share = whole * part
    asked = AskedRelease(whole - (share or 0), unit, relation, mechanism, simulations=simulations)
    return PreparedIncidence(asked.prepared(unit), share)


def incidence_digest(made: IncidenceRelease) -> str:
    """Return the SHA-256 digest of everything that was released."""
    return digest_of({"release": content_digest(made.release), "sampling_units": made.sampling_units})


def incidence_released(made: IncidenceRelease, name: str) -> Released:
    """Return the receipt and the digests, as in a ledger."""
    return Released(name, made.receipt, incidence_digest(made), rest_digests(made.release))


def _joint(guarantee: Guarantee, share: Fraction | None) -> Guarantee:
    """Return the guarantee of the frequencies and of the number of units: their budgets add up."""
    if share is None:
        return guarantee
    steps = guarantee.spending or ((_OF_FREQUENCIES, guarantee.epsilon),)
    return replace(guarantee, epsilon=guarantee.epsilon + share, spending=(*steps, (_OF_UNITS, share)))

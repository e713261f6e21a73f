"""Mechanisms that add noise to prevalences, cumulative prevalences or counts, up to a public number of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from fractions import Fraction
from typing import ClassVar, SupportsIndex

import numpy as np

from anonhist.errors import UsageError
from anonhist.frozen import Converted, frozen, named, optional
from anonhist.mechanisms.bands import of_counts, of_cumulative, of_prevalences
from anonhist.mechanisms.noise import Noise, add_noise
from anonhist.mechanisms.setting import whole_items
from anonhist.mechanisms.skeletons import AdditiveMechanism, Released, profile_of_fit, round_sorted
from anonhist.numeric import decreasing_fit
from anonhist.numeric.arrays import Ints
from anonhist.privacy import short_decimal
from anonhist.profiles import Profile
from anonhist.randomness.source import SMALLEST_GAMMA
from anonhist.releases import Evidence

LARGEST_CAP = 2**24


@frozen
class CumulativeMechanism(AdditiveMechanism):
    """Release the cumulative prevalences φ_{1+}..φ_{C+} under noise, made decreasing by isotonic regression.

    ``φ̃_{r+} = φ_{r+} + G``, r = 1..C, independent G with ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the
    largest sorted ℓ1 distance of neighbors. It publishes the non-increasing fit nearest in ℓ2, rounded, at least 0.
    For large ε it is one of the best simple mechanisms; below ε = 2, others have lower errors
    (docs/benchmarks/accuracy.md). Intervals are computed from the noisy numbers themselves
    (:mod:`~anonhist.mechanisms.bands`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    public_cap
        C, a public number that no count exceeds, from 1 to 2²⁴. The error grows with it.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for data whose counts do not exceed C: one extra item changes one φ_{r+}, by
    one. Data with a larger count are visibly refused. Noise is exact and added to whole numbers, so floating point
    costs nothing. Proof: docs/proofs/simple.md.

    Notes
    -----
    O(C) time and memory, whatever the data.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mechanism = CumulativeMechanism(epsilon=1, public_cap=100)
    >>> print(mechanism.release(Profile.from_counts([5, 3, 3, 1])).guarantee)
    1-differentially private (δ = 0) when one item is added or removed; noise is exact and added to whole numbers, so
    floating point costs nothing; it holds for data where no count is above 100, which must be public knowledge.
    """

    name: ClassVar[str] = "cumulative"
    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    public_cap: Converted[SupportsIndex | float, int] = named(whole_items, most=LARGEST_CAP)

    @property
    def _levels(self) -> Ints:
        return np.arange(1, self.public_cap + 1)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Ints]:
        from scipy.optimize import isotonic_regression

        noisy = add_noise(profile.cumulative_prevalence(self._levels), noise(self.epsilon_per_cell, self.public_cap))
        return profile_of_fit(self._levels, isotonic_regression(noisy, increasing=False).x), noisy

    def _evidence(self, released: Profile, noisy: Ints) -> Evidence:
        return of_cumulative(noisy, released.cumulative_prevalence(self._levels), float(self.epsilon_per_cell))


MOST_LABELS = 2**24


@frozen
class IsotonicMechanism(AdditiveMechanism):
    """Release the counts in descending order under noise, made decreasing by isotonic regression.

    With λ_1 ≥ λ_2 ≥ … ≥ λ_L the counts, zeros for labels that do not occur, ``λ̃_i = λ_i + G``, independent G with
    ``P(G = j) ∝ exp(−ε|j|/Δ)``, Δ = ``l1_sensitivity`` the largest sorted ℓ1 distance of neighbors. It publishes
    the non-increasing fit nearest in ℓ2, rounded; labels with a fit of one half or less are left out. Intervals are
    computed from the noisy counts themselves (:mod:`~anonhist.mechanisms.bands`).

    Source: Hay and others 2010, §3.

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    public_labels
        L, a public bound on the number of labels, from 1 to 2²⁴.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy for data of at most L labels: one extra item changes one λ_i, by one. Data
    with more labels are visibly refused. Noise is exact and added to whole numbers, so floating point costs nothing.
    Proof: docs/proofs/simple.md.

    Notes
    -----
    O(L) time and memory, unlike the other mechanisms: it is for comparison.

    Examples
    --------
    >>> from anonhist.profiles import Profile
    >>> mechanism = IsotonicMechanism(epsilon=40, public_labels=100)
    >>> mechanism.release(Profile.from_counts([5, 3, 3, 1])).profile
    Profile(n=12, num_labels=4, {1: 1, 3: 2, 5: 1})
    """

    name: ClassVar[str] = "isotonic"
    keeps_noisy_values: ClassVar[bool] = True

    _: KW_ONLY
    public_labels: Converted[SupportsIndex | float, int] = named(whole_items, most=MOST_LABELS)

    def _counts(self, profile: Profile) -> Ints:
        counts = np.zeros(self.public_labels, dtype=np.int64)
        counts[: profile.num_labels] = profile.partition()
        return counts

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Ints]:
        # For this many numbers, SciPy's compiled fit is worth loading.
        from scipy.optimize import isotonic_regression

        noisy = add_noise(self._counts(profile), noise(self.epsilon_per_cell, self.public_labels))
        return round_sorted(isotonic_regression(noisy, increasing=False).x), noisy

    def _evidence(self, released: Profile, noisy: Ints) -> Evidence:
        return of_counts(noisy, self._counts(released), float(self.epsilon_per_cell))


LARGEST_COUNT = 2**24


@frozen
class PrevalenceMechanism(AdditiveMechanism):
    """Release the prevalences φ_1..φ_C under noise; with label privacy, C means "C or more".

    ``φ̃_r = φ_r + G``, r = 1..C, independent G with ``P(G = j) ∝ exp(−ε|j|/s)``, s the largest ℓ1 change of
    (φ_1, …, φ_C) between neighbors. Adding or removing a label changes one φ_r: s = 1, or 2 if labels are replaced, and
    g times that if profiles of several groups are released and a label may be in g of them. An extra item moves a label
    from one φ_r to the next: s = 2Δ, Δ = ``l1_sensitivity``, so the other mechanisms are better for items and users,
    and this one is for comparison.

    It publishes the profile whose cumulative prevalences are the isotonic fit of ``Σ_{j≥r} φ̃_j``, rounded: noise
    cancels in these sums, whereas setting negative prevalences to zero one by one would accumulate a bias. Intervals
    are computed from the noisy prevalences themselves (:mod:`~anonhist.mechanisms.bands`).

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.setting.Setting`.
    public_cap
        C for item and user privacy: a public number that no count exceeds. For ``PrivacyUnit.label(max_count=c)`` it is
        c, and larger counts are treated as c. C is from 1 to 2²⁴.

    Raises
    ------
    UsageError
        If C is missing, given twice, or above 2²⁴, or ε is below s·2⁻⁴⁰.

    Guarantees
    ----------
    Pure ``epsilon``-differential privacy; for items and users, of data whose counts do not exceed C: other data are
    visibly refused. Noise is exact and added to whole numbers, so floating point costs nothing. Proof:
    docs/proofs/prevalence.md.

    Examples
    --------
    >>> from anonhist.privacy import PrivacyUnit
    >>> from anonhist.profiles import Profile
    >>> mechanism = PrevalenceMechanism(epsilon=1, unit=PrivacyUnit.label(max_count=5))
    >>> mechanism.release(Profile.from_counts([5, 3, 9, 1])).guarantee.delta
    Fraction(0, 1)
    """

    name: ClassVar[str] = "prevalence"
    keeps_noisy_values: ClassVar[bool] = True

    # The noise on a prevalence does not grow with c: ε/s is checked below instead.
    smallest_epsilon_per_cell: ClassVar[Fraction] = Fraction(0)

    _: KW_ONLY
    public_cap: Converted[SupportsIndex | float | None, int | None] = named(
        optional(whole_items), most=LARGEST_COUNT, default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.unit.max_count is not None:
            if self.public_cap is not None:
                raise UsageError("With label privacy, `max_count` is the cap: leave `public_cap` out.")
            if self.unit.max_count > LARGEST_COUNT:
                message = f"The prevalence mechanism accepts a `max_count` of at most 2^24, not {self.unit.max_count}."
                raise UsageError(message)
        elif self.public_cap is None:
            raise UsageError(
                "The prevalence mechanism needs `public_cap`, a public number that no count exceeds; with label "
                "privacy, `max_count` is the cap."
            )
        if self._gamma < SMALLEST_GAMMA:
            least = short_decimal(self.whole_share * self.epsilon / self._gamma)
            raise UsageError(f"The prevalence mechanism needs an ε of at least {least}·2^-40, about {least}e-12.")

    @property
    def largest_count(self) -> int:
        """C."""
        return self.public_cap or self.unit.bound

    @property
    def _gamma(self) -> Fraction:
        labels = self.relation.distance * self.unit.groups
        changes = 2 * self.l1_sensitivity if self.unit.max_count is None else labels
        return self.epsilon / changes

    def impossible(self, profile: Profile, items: int | None) -> str:
        """Return a reason if a count is above C."""
        if profile.k_plus(self.largest_count + 1):
            return "a count exceeds the largest that the mechanism can release"
        return super().impossible(profile, items)

    def _run(self, profile: Profile, noise: Noise) -> tuple[Profile, Ints]:
        noisy = add_noise(self._prevalences(profile), noise(self._gamma, self.largest_count))
        return _publish(noisy), noisy

    def _evidence(self, released: Profile, noisy: Ints) -> Evidence:
        return of_prevalences(noisy, float(self._gamma))

    def sum_evidence(self, parts: Sequence[Released]) -> Evidence:
        """Return intervals for sums over several profiles that were released together."""
        together = np.asarray(np.sum([each.noisy for each in parts], axis=0, dtype=np.float64))
        return of_prevalences(together, float(self._gamma), terms=len(parts))

    def _prevalences(self, profile: Profile) -> Ints:
        prevalences = np.zeros(self.largest_count, dtype=np.int64)
        prevalences[profile.counts - 1] = profile.prevalences
        return prevalences


def _publish(noisy: Ints) -> Profile:
    # From here on, everything is post-processing: rounding to floats can only cost accuracy.
    sums = np.cumsum(noisy[::-1].astype(np.float64))[::-1]
    return profile_of_fit(np.arange(1, noisy.size + 1), decreasing_fit(sums))

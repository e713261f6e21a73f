"""The partition mechanism: the weighted exponential family on Young's lattice, drawn exactly over all partitions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from anonhist.errors import UsageError
from anonhist.frozen import frozen
from anonhist.mechanisms.basis.published import bounded_profile
from anonhist.mechanisms.basis.skeletons import DrawnMechanism
from anonhist.mechanisms.exponential.calibration import (
    LARGEST_EPSILON,
    MAX_DURFEE_SIZE,
    FamilyParameters,
    band_delta,
    calibrate,
    check_member,
)
from anonhist.mechanisms.exponential.denoise import denoise
from anonhist.mechanisms.exponential.diagonal_chain import DiagonalChain
from anonhist.profiles import FrobeniusCoordinates, Profile
from anonhist.randomness import RandomSource
from anonhist.releases import Release

if TYPE_CHECKING:
    from anonhist.mechanisms.basis.choices import Choices

# Draws around the empty profile have a Durfee size of about ln 2 / c. If a draw is not three times as large, denoising
# with its uniform prior increases the error (measured).
_WORTH_DENOISING = 3 * math.log(2)


@frozen
class PartitionMechanism(DrawnMechanism):
    """Release a profile drawn with probability ``∝ q^{‖λ−μ‖₁} · h_z(μ)`` over all partitions μ.

    λ is the private partition, q = e^{−c}, and h_z a weight that depends on the corners of μ (1 for z = 0: the
    plain exponential mechanism). c and z depend on ε/Δ alone (:func:`calibrate`): z = 0 below 0.45, z = 1/4 up to ln 3,
    and above that z = q/(1+q), for which the normalizer is 1 for every λ, so that c is the whole budget.

    For ε/Δ below 0.45, the draw is denoised (:func:`denoise`) unless its Durfee size is below 3 ln 2 / c: a function of
    the draw alone, which costs no privacy. Around the empty profile, a draw has about π²/(6c²) items, 7 million at
    ε/Δ = 0.001; for data of that size or smaller, the Frobenius mechanism is far better.

    A draw has no noisy values, so its intervals come from simulated runs on the release. For ε/Δ below 1.1, these are
    too short on some data, so none are given (docs/benchmarks.md, "Intervals of releases").

    Parameters
    ----------
    epsilon, unit, relation
        See :class:`~anonhist.mechanisms.basis.setting.Setting`. ε/Δ must be at least 1/1000.
    member
        Another member (c, z) of the family, whose loss ε/Δ must cover: ``calibrate(epsilon, z)`` gives the sharpest for
        a given z.

    Raises
    ------
    UsageError
        If the budget is out of range, or does not cover the member.

    Guarantees
    ----------
    ``(epsilon, δ)``-differential privacy with δ = ⌈e^ε⌉·2⁻⁶⁹, for profiles of Durfee size at most 2²⁰ (all with n ≤
    2⁴⁰). In exact arithmetic δ would be 0: it is a bound, independent of the data, on the probability that an exact
    draw would leave the band that the program keeps. The rounding of floating-point numbers is bounded
    (:func:`rounding_loss`) and charged to ``epsilon``. Draws from the rounded weights are exact. Proof:
    docs/proofs/partition.md.

    Examples
    --------
    >>> release = PartitionMechanism(epsilon=2).release(Profile.from_counts([5, 3, 3, 1]))
    >>> float(release.guarantee.delta) < 1e-19
    True
    """

    name: ClassVar[str] = "partition"
    rounding: ClassVar[str] = (
        "floating-point rounding is bounded and paid for inside epsilon, and δ bounds the chance that an exact draw"
        " would leave the band that is kept, for profiles of Durfee size up to 2^20 (all with n up to 2^40)"
    )
    runs_hold_from: ClassVar[Fraction] = Fraction(11, 10)

    _: KW_ONLY
    member: FamilyParameters | None = None

    @property
    def family(self) -> FamilyParameters:
        """The member of the family used for draws: by default the one that ε/Δ allows."""
        return self.member or calibrate(self.epsilon_per_cell)

    @property
    def runs_fall_short(self) -> str:
        """Why intervals from runs on a release are too short, or not known to hold; empty if they hold."""
        if self.family == calibrate(self.epsilon_per_cell):
            return super().runs_fall_short
        return (
            "whether simulated runs on a release have errors as large as the release was not measured for this "
            "member of the family"
        )

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters, enough to make the mechanism again; those of the member are ``c`` and ``z``."""
        known = {name: number for name, number in super().parameters.items() if name != "member"}
        return {**known, **({} if self.member is None else {"c": repr(self.member.c), "z": repr(self.member.z)})}

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        if not parameters:
            return {}
        try:
            c, z = (float(str(parameters.pop(name, ""))) for name in ("c", "z"))
        except ValueError:
            raise UsageError(
                "besides epsilon, unit, bound and relation they may include only the numbers c and z."
            ) from None
        return {**super()._own(parameters), "member": FamilyParameters(c, z)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon > LARGEST_EPSILON:
            raise UsageError(f"The partition mechanism takes an ε of at most {LARGEST_EPSILON}, not {self.epsilon}.")
        calibrate(self.epsilon_per_cell)
        if self.member is not None:
            check_member(self.member, self.epsilon_per_cell)

    def release(self, profile: Profile, *, source: RandomSource | None = None, reason: str | None = None) -> Release:
        """Spend the budget once on a private profile; parameters as in :meth:`AdditiveMechanism.release`.

        Raises
        ------
        UsageError
            If the Durfee size is beyond 2²⁰, outside the mechanism's public domain; with label privacy, that of the
            capped counts.
        """
        # Checked first: the coordinates of a larger profile would not fit in memory. Only data are refused: a draw
        # around data at the limit may exceed it, and is public.
        if self.admit(profile).durfee_size > MAX_DURFEE_SIZE:
            raise UsageError(
                "The partition mechanism takes profiles of Durfee size up to 2^20, and so all with n up to 2^40; "
                "choose the Frobenius mechanism for larger ones."
            )
        return super().release(profile, source=source, reason=reason)

    @property
    def delta(self) -> Fraction:
        """The probability that an exact draw would leave the band, as bounded by :func:`band_delta`."""
        return band_delta(self.epsilon)

    def _run(self, profile: Profile, size: int, choices: Choices) -> list[Profile]:
        family = self.family
        drawn = DiagonalChain(FrobeniusCoordinates.of(profile), family).draw(size, choices)
        if family.z == 0:
            is_worth = [partition.durfee_size * family.c >= _WORTH_DENOISING for partition in drawn]
            drawn = [denoise(each, c=family.c) if worth else each for each, worth in zip(drawn, is_worth, strict=True)]
        # With few items, the same diagrams recur.
        made: dict[tuple[bytes, bytes], Profile] = {}
        keys = [(partition.arms.tobytes(), partition.legs.tobytes()) for partition in drawn]
        for key, partition in zip(keys, drawn, strict=True):
            if key not in made:
                made[key] = bounded_profile(partition.arms, partition.legs)
        return [made[key] for key in keys]

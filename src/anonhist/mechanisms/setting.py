"""What every central mechanism is told: how much, for whom, between which neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from anonhist import __version__
from anonhist.errors import UsageError
from anonhist.privacy import Guarantee, NeighboringRelation, PrivacyUnit, parse_epsilon, short_decimal
from anonhist.profiles import Profile
from anonhist.releases import DEFAULT_SIMULATIONS, Release

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonhist.releases import Mechanism


@dataclass(frozen=True)
class Setting:
    """Public settings shared by the central mechanisms; each mechanism is a frozen value that extends them.

    Parameters
    ----------
    epsilon
        The whole budget of one release, > 0; int, str, Decimal, Fraction, or float (its shortest decimal).
    unit
        Whom the promise protects.
    relation
        What neighbouring means.
    """

    epsilon: Fraction
    unit: PrivacyUnit = PrivacyUnit.item()  # noqa: RUF009  # a frozen value
    relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", parse_epsilon(self.epsilon))

    @property
    def cells(self) -> int:
        """Largest sorted ℓ1 distance between neighbours: the number of cells in which their diagrams may differ."""
        return self.unit.max_distance * self.relation.steps

    @property
    def epsilon_per_cell(self) -> Fraction:
        """Budget per cell, epsilon / cells: pure differential privacy adds up along a path of neighbours."""
        return self.epsilon / self.cells

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to make the mechanism again."""
        return {
            "epsilon": short_decimal(self.epsilon),
            "unit": self.unit.kind,
            "bound": self.unit.bound,
            "relation": self.relation.value,
        }

    def admit(self, profile: Profile) -> Profile:
        """Check that this promise covers whom the profile names, and cap counts where the unit says so."""
        if not self.unit.protects(profile.unit):
            message = (
                f"The profile was read to protect {profile.unit}; {self.unit} is less. "
                "Leave unit out, or read the profile again for the unit you want."
            )
            raise UsageError(message)
        if self.unit.kind != "label":
            return profile
        return capped(profile, self.unit.bound)


def capped(profile: Profile, max_count: int) -> Profile:
    """Return the profile with every count above ``max_count`` set to it: "max_count or more"."""
    low = profile.counts < max_count
    pairs = list(zip(profile.counts[low].tolist(), profile.prevalences[low].tolist(), strict=True))
    above = profile.num_labels - int(profile.prevalences[low].sum())
    return Profile.from_prevalences([*pairs, (max_count, above)] if above else pairs, unit=profile.unit)


def make_release(
    profile: Profile,
    mechanism: Mechanism,
    setting: Setting,
    *,
    delta: Fraction = Fraction(0),
    arithmetic: str,
    reason: str | None = None,
) -> Release:
    """Put a released profile, its guarantee and its mechanism together."""
    guarantee = Guarantee(setting.unit, setting.relation, setting.epsilon, delta, arithmetic)
    return Release(
        profile=profile.with_unit(setting.unit),
        guarantee=guarantee,
        mechanism=mechanism,
        reason=reason or "The mechanism was chosen by name.",
        library_version=__version__,
        simulations=DEFAULT_SIMULATIONS,
    )

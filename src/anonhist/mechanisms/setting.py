"""Settings of all central mechanisms: budget, unit and relation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, field, fields
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from anonhist.errors import DataError, UsageError, kind_of
from anonhist.frozen import Checked, Converted, converted, frozen
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    is_in_groups,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)
from anonhist.profiles import Profile
from anonhist.profiles.chosen_bound import CHOICE_PARAMETERS, ChosenBound
from anonhist.profiles.counts import MAX_ITEMS
from anonhist.releases import Evidence, Mechanism, Release
from anonhist.releases.made import CENTRAL, ReleaseKind
from anonhist.version import __version__

Member = TypeVar("Member", bound=Enum)

# The reason for a mechanism that was not chosen automatically.
CHOSEN_BY_NAME = "The mechanism was chosen by name."
# The effect of floating point on exact noise.
NOISE_IS_EXACT = "noise is exact and added to whole numbers, so floating point costs nothing"
NO_ITEMS = "items belong to PrivHist releases alone: only PrivHist publishes their number"


def check_unit(unit: PrivacyUnit) -> PrivacyUnit:
    """Return a unit that a release can protect; refuse everything else, such as its name."""
    if not isinstance(unit, PrivacyUnit):
        raise UsageError(f"`unit` must be a PrivacyUnit, such as PrivacyUnit.user(max_items=5), not {unit!r}.")
    if unit.sketches > 1:
        message = (
            f"This unit is for one of several sketches, but this release is of exact counts: protect {unit.total_unit}."
        )
        raise UsageError(message)
    return unit


def check_relation(relation: NeighboringRelation) -> NeighboringRelation:
    """Return a relation; refuse everything else, such as its name."""
    if not isinstance(relation, NeighboringRelation):
        raise UsageError(f"`relation` must be a NeighboringRelation, such as SUBSTITUTE, not {relation!r:.80}.")
    return relation


@frozen
class Setting:
    """Public settings shared by the central mechanisms; each mechanism is a frozen value that extends them.

    Parameters
    ----------
    epsilon
        The whole budget of one release, > 0; int, str, Decimal, Fraction, or float (its shortest decimal).
    unit
        The unit that is protected.
    relation
        Which data sets are neighbors.
    bound_choice
        How the unit's bound was chosen, if a share of the budget was spent on it; that share comes on top of
        ``epsilon``.

    Raises
    ------
    UsageError
        If ε is impossible, or ε/Δ so small that the noise would not fit in memory; or if the unit or the relation is
        not one that was chosen.

    Examples
    --------
    >>> Setting("0.5", PrivacyUnit.user(max_items=5)).epsilon_per_cell
    Fraction(1, 10)
    """

    kind: ClassVar[ReleaseKind] = CENTRAL
    # Time and memory of the draws around the data grow like 1/ε: at this limit, minutes and some 100 MB.
    smallest_epsilon_per_cell: ClassVar[Fraction] = Fraction(1, 10**5)

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    unit: Checked[PrivacyUnit] = converted(check_unit, default=PrivacyUnit.item())
    relation: Checked[NeighboringRelation] = converted(check_relation, default=NeighboringRelation.ADD_OR_REMOVE)
    bound_choice: ChosenBound | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if self.bound_choice is not None:
            if not isinstance(self.bound_choice, ChosenBound) or not self.bound_choice.includes(self.unit):
                raise UsageError("`bound_choice` must be a ChosenBound, and the bound of the unit a candidate of it.")
            if self.bound_choice.relation is not self.relation:
                raise UsageError("The bound was chosen for another relation: give the same to both.")
            if self.epsilon != self.bound_choice.rest:
                raise UsageError(
                    "The bound was chosen for another budget: `epsilon` must be the rest that the choice leaves, "
                    f"{short_decimal(self.bound_choice.rest)}."
                )
        if self.epsilon_per_cell < self.smallest_epsilon_per_cell:
            least = self.smallest_epsilon_per_cell * self.l1_sensitivity
            raise UsageError(
                f"`epsilon` = {short_decimal(self.epsilon * self.whole_share)} is too small for {self.unit}: give at "
                f"least {short_decimal(least * self.whole_share)}, or protect a smaller unit."
            )

    @property
    def whole_share(self) -> Fraction:
        """The whole budget, with that of a choice of the bound, over ε."""
        return Fraction(1) if self.bound_choice is None else self.bound_choice.epsilon / self.epsilon

    @property
    def l1_sensitivity(self) -> int:
        """Δ, the largest sorted ℓ1 distance between neighbors."""
        return self.unit.max_distance * self.relation.distance

    @property
    def epsilon_per_cell(self) -> Fraction:
        """ε/Δ, the budget for a distance of one: pure differential privacy adds up along a path of neighbors."""
        return self.epsilon / self.l1_sensitivity

    @property
    def delta(self) -> Fraction:
        """δ of one release: zero, unless a mechanism says otherwise."""
        return Fraction(0)

    @property
    def arithmetic(self) -> str:
        """The effect of floating point, as a clause."""
        return NOISE_IS_EXACT

    @cached_property
    def guarantee(self) -> Guarantee:
        """The guarantee of one release, with the choice of its bound, if any."""
        return self._with_choice(Guarantee(self.unit, self.relation, self.epsilon, self.delta, self.arithmetic))

    def _with_choice(self, guarantee: Guarantee) -> Guarantee:
        return guarantee if self.bound_choice is None else self.bound_choice.add_to(guarantee)

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild the mechanism."""
        return {
            "epsilon": short_decimal(self.epsilon),
            "unit": self.unit.kind,
            "bound": self.unit.bound,
            "relation": self.relation.value,
            **({"groups": self.unit.groups} if is_in_groups(self.unit) else {}),
            **({"unit_name": self.unit.name} if self.unit.name else {}),
            **({} if self.bound_choice is None else self.bound_choice.parameters),
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object]) -> Self:
        """Rebuild a mechanism from its :attr:`parameters`.

        Raises
        ------
        UsageError
            If they are not parameters of this mechanism.
        """
        given = {name: value for name, value in parameters.items() if name not in CHOICE_PARAMETERS}
        if not {"epsilon", "unit", "bound", "relation"} <= given.keys():
            raise UsageError("they must include epsilon, unit, bound and relation.")
        epsilon, kind, bound, relation = (given.pop(name) for name in ("epsilon", "unit", "bound", "relation"))
        groups, called = given.pop("groups", 1), given.pop("unit_name", "")
        if not isinstance(epsilon, str) or not isinstance(kind, str) or type(bound) is not int:
            raise UsageError("epsilon and unit must be text, and the bound a whole number.")
        if type(groups) is not int:
            raise UsageError("groups must be a whole number.")
        if not isinstance(called, str):
            raise UsageError("The name of the unit must be text.")
        protected = PrivacyUnit(kind, bound, 1, groups, groups == 1 and "groups" in parameters, name=called)
        among = member_of(NeighboringRelation, relation, "relation")
        made = cls(
            epsilon, protected, among, **cls._own(given), bound_choice=ChosenBound.from_parameters(parameters, among)
        )
        if dict(made.parameters).keys() != parameters.keys():
            raise UsageError("they must be exactly the parameters of this mechanism.")
        return made

    @classmethod
    def _own(cls, parameters: dict[str, object]) -> dict[str, Any]:
        """Turn the parameters specific to this mechanism into keyword arguments."""
        own = cls.own_options()
        if parameters.keys() - own.keys():
            raise UsageError(f"they must be {', '.join(('epsilon', 'unit', 'bound', 'relation', *own))}.")
        missing = [name for name, required in own.items() if required and name not in parameters]
        if missing:
            raise UsageError(f"{' and '.join(missing)} must be among them.")
        if not all(type(parameter) in {str, int} for parameter in parameters.values()):
            raise UsageError("they must be text and whole numbers.")
        return parameters

    @classmethod
    def own_options(cls) -> dict[str, bool]:
        """Return the options besides ``epsilon``, ``unit`` and ``relation``, and whether each is required."""
        everyones = {each.name for each in fields(Setting)}
        return {each.name: each.default is MISSING for each in fields(cls) if each.name not in everyones}

    def check_unit_of(self, profile: Profile) -> None:
        """Refuse a profile that was read to protect more, which is a public fact about it.

        Raises
        ------
        UsageError
            If the profile was read to protect more.
        """
        check_profile(profile)
        if not self.unit.protects(profile.unit):
            raise UsageError(
                f"The profile was read to protect {profile.unit}, and {self.unit} protects less. "
                "Leave unit out, or read the profile again for the unit you want."
            )
        if profile.choice not in (None, self.bound_choice):
            raise UsageError(
                f"A share of the budget chose how many items of each {profile.unit.kind} count: call the function "
                "release with the whole `epsilon`, which states that share, too."
            )

    def admit(self, profile: Profile) -> Profile:
        """Check that the guarantee covers the profile's unit, and cap counts if the unit has a cap.

        Raises
        ------
        UsageError
            If the profile was read to protect more, or exceeds a number that is public for this mechanism.
        """
        self.check_unit_of(profile)
        admitted = self.publishable(profile)
        if number := self.exceeded_number(admitted):
            # Trying numbers until one fits would reveal something about the data.
            raise UsageError(
                f"The data exceed `{number}`, and this refusal already reveals that: do not try other values, but use "
                "a bound known in advance, or the default mechanism, which needs none."
            )
        return admitted

    def publishable(self, released: Profile) -> Profile:
        """Cap released counts if the unit has a cap: larger counts would be impossible. This is post-processing."""
        return released if self.unit.max_count is None else cap_counts(released, self.unit.max_count)

    def impossible(self, profile: Profile, items: int | None) -> str:
        """Return, as a clause, why this mechanism never releases this profile with this number of items; else empty.

        It checks what files contain.
        """
        return "" if items is None else NO_ITEMS

    def exceeded_number(self, profile: Profile) -> str | None:
        """Return the name of the public number that a profile exceeds, if any: the guarantee excludes such data."""
        return None


def member_of(members: type[Member], value: object, name: str) -> Member:
    """Return the member of an enumeration with this value, or refuse it."""
    for member in members:
        if member.value == value:
            return member
    raise UsageError(f"the {name} must be {' or '.join(member.value for member in members)}.")


@contextmanager
def without_sizes() -> Iterator[None]:
    """Report a lack of memory without allocation sizes, which may reveal private data."""
    try:
        yield
    except MemoryError:
        raise DataError("There is not enough memory to release these data; use a larger machine.") from None


def check_profile(profile: object) -> None:
    """Refuse everything except a profile, such as a list of counts or a release."""
    if isinstance(profile, Release):
        raise UsageError("This is already a release and can be published as it is: give a private profile.")
    if not isinstance(profile, Profile):
        raise UsageError(f"A profile is needed, such as read_profile(data) returns, not {kind_of(profile)}.")


def cap_counts(profile: Profile, max_count: int) -> Profile:
    """Return the profile with every count above ``max_count`` set to it: "max_count or more"."""
    reach = profile.k_plus(max_count)
    if not reach:
        return profile
    below = profile.counts < max_count
    counts, prevalences = np.append(profile.counts[below], max_count), np.append(profile.prevalences[below], reach)
    return Profile(counts, prevalences, unit=profile.unit)


def make_release(
    profile: Profile,
    mechanism: Mechanism,
    *,
    reason: str | None = None,
    items: int | None = None,
    zeros: int | None = None,
    draw: Profile | None = None,
    evidence: Evidence | None = None,
    simulations: int | None = None,
) -> Release:
    """Make a release from a released profile, its mechanism and guarantee, and other released or public values."""

    def rebuilt(released: Profile) -> Profile:
        """Rebuild a profile from released values alone, so that nothing else is kept."""
        return Profile(released.counts, released.prevalences, unit=mechanism.guarantee.unit)

    return Release(
        profile=rebuilt(profile),
        guarantee=mechanism.guarantee,
        mechanism=mechanism,
        reason=reason or CHOSEN_BY_NAME,
        library_version=__version__,
        simulations=simulations,
        items=items,
        zeros=zeros,
        draw=None if draw is None else rebuilt(draw),
        evidence=evidence,
    )


def whole_items(value: object, *, name: str, most: int = MAX_ITEMS) -> int:
    """Return a public number of items from 1 to ``most``; a float such as 1e9 is accepted if it is whole and exact."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    return parse_whole_number(value, name=name, most=most)

"""A request to choose, with a share of the budget, how many items of each unit count, or in how many groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from typing import NamedTuple, Self, SupportsIndex, TypeVar

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, completed, converted, frozen, optional
from anonhist.privacy import (
    EpsilonLike,
    Guarantee,
    NeighboringRelation,
    PrivacyUnit,
    parse_epsilon,
    parse_whole_number,
    short_decimal,
)

Made = TypeVar("Made")

CANDIDATES = tuple(2**power for power in range(8))
MOST_CANDIDATES = 64
LARGEST_CANDIDATE = 2**20
LARGEST_EXPECTED = 10**15
# Those whose only limit on the data is one of memory: a refusal must not depend on the choice.
ABLE = ("auto", "partition", "frobenius", "privhist")
# Measured by bench/chosen_bounds.py: on few data, choosing well is worth more than the noise that it costs.
_USUAL_SHARE, _SHARE_OF_FEW, _FEW = Fraction(1, 10), Fraction(1, 4), 20_000
#: The names of its parameters in files and ledgers; without a choice of groups, the last is missing.
CHOICE_PARAMETERS = frozenset(
    {f"choice_{each}" for each in ("epsilon", "share", "candidates", "items", "mechanism", "groups")}
)
_REQUIRED = CHOICE_PARAMETERS - {"choice_groups"}
_PROFILE = "the profile"
CHOSEN = "was chosen privately among"


def parse_candidates(given: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Return 1 to 64 ascending whole numbers from 1 to 2^20, from which a bound is chosen."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise UsageError(f"`candidates` must be a list of whole numbers, such as (1, 4, 16), not {given!r:.80}.")
    listed = tuple(parse_whole_number(each, name="a candidate", most=LARGEST_CANDIDATE) for each in given)
    if not 1 <= len(listed) <= MOST_CANDIDATES or any(second <= first for first, second in pairwise(listed)):
        raise UsageError(f"The candidates must be ascending whole numbers, from 1 to {MOST_CANDIDATES} of them.")
    return listed


def written_candidates(text: str, refusal: str) -> tuple[int, ...]:
    """Return candidates that are written with commas between them, or refuse the text in this sentence."""
    words = text.split(",")
    # Ten digits are more than any candidate has.
    if not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
        raise UsageError(refusal)
    return parse_candidates(list(map(int, words)))


def listed_candidates(candidates: Iterable[int]) -> str:
    """Return candidates as files hold them; :func:`written_candidates` inverts it."""
    return ",".join(map(str, candidates))


def _listed(numbers: Sequence[int], noun: str = "") -> str:
    called = f" {noun}{'' if numbers == [1] else 's'}" if noun else ""
    return ", ".join(f"{each:,}" for each in numbers) + called


def usual_share(epsilon: Fraction, expected_items: int) -> Fraction:
    """Return the share of a budget that a choice spends by default, which depends on public numbers alone."""
    return _SHARE_OF_FEW if epsilon * expected_items < _FEW else _USUAL_SHARE


def _share(given: EpsilonLike) -> Fraction:
    share = parse_epsilon(given, name="bound_share")
    if share >= 1:
        raise UsageError("`bound_share` must be below 1, such as 0.1: the rest of epsilon releases the profile.")
    return share


def _expected(given: object) -> int:
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    return parse_whole_number(given, name="expected_items", most=LARGEST_EXPECTED)


def _relation(given: NeighboringRelation) -> NeighboringRelation:
    if not isinstance(given, NeighboringRelation):
        raise UsageError(f"`relation` must be a NeighboringRelation, such as SUBSTITUTE, not {given!r:.80}.")
    return given


def _mechanism(given: str) -> str:
    if given not in ABLE:
        raise UsageError(f"A bound is chosen for the mechanisms {', '.join(ABLE)}, not for {given!r:.80}.")
    return given


class Bounds(NamedTuple):
    """At most this many items of a unit count in each of at most this many groups."""

    items: int
    groups: int

    @property
    def most(self) -> int:
        """The most items that one unit keeps."""
        return self.items * self.groups

    def apart(self, other: Self, relation: NeighboringRelation) -> int:
        """Return how far neighbors can move the difference of what two bounds keep.

        A unit with c_k items in the k-th of its groups keeps ``Σ_{k ≤ g} min(c_k, m)``: at most ``rise`` more with one
        bound than with the other. If one unit replaces another, it may rise with one as it falls with the other.
        """
        up, down = self._rise(other), other._rise(self)
        return up + down if relation is NeighboringRelation.SUBSTITUTE else max(up, down)

    def _rise(self, other: Self) -> int:
        shared = min(self.groups, other.groups)
        return shared * max(0, self.items - other.items) + (self.groups - shared) * self.items


def _covers(unit: PrivacyUnit, other: PrivacyUnit) -> bool:
    return unit.bound >= other.bound and unit.groups >= other.groups


def refuse_unit(unit: PrivacyUnit | None) -> None:
    """Refuse a unit beside a chosen bound: whether it is the chosen one must not decide about a refusal."""
    if unit is not None:
        raise UsageError("`unit` does not apply to a chosen bound: leave it out, or give the bound.")


@frozen
class ChosenBound:
    """Asks for a bound to be chosen privately, instead of given: on items of users or labels, on groups, or on both.

    A small bound leaves rows out, a large one needs more noise. A share of the budget finds a bound for which both
    together are small; :func:`anonhist.mechanisms.bound_choosing.prepare_choice` says how.

    Parameters
    ----------
    epsilon
        The whole budget ε > 0, as for :func:`anonhist.release` afterwards, which must be given the same.
    expected_items
        A public guess of the number of items, from 1 to 10¹⁵. The noise that each bound needs is predicted for it. A
        guess more than ten times too high makes bounds too large.
    bound_share
        The share of ε that the choice spends, above 0 and below 1; by default 0.1, or 0.25 if ε times the expected
        items is below 20,000. The rest releases the profile.
    candidates
        The bounds on items to choose from, ascending: whole numbers up to 2²⁰; by default the powers of two up to 128.
        They must be public.
    relation
        Which data sets are neighbors, as in the release.
    mechanism
        The mechanism of the release: ``"auto"``, ``"partition"``, ``"frobenius"`` or ``"privhist"``.
    group_candidates
        The same for the number of groups in which each label counts, if that is chosen; with ``candidates``, there are
        2 to 64 pairs.

    Raises
    ------
    UsageError
        If a parameter is impossible.

    Examples
    --------
    >>> asked = ChosenBound(epsilon=1, expected_items=1_000_000)
    >>> asked.spent, asked.rest, asked.candidates
    (Fraction(1, 10), Fraction(9, 10), (1, 2, 4, 8, 16, 32, 64, 128))
    """

    epsilon: Converted[EpsilonLike, Fraction] = converted(parse_epsilon)
    expected_items: Converted[SupportsIndex | float, int] = converted(_expected)
    bound_share: Converted[EpsilonLike | None, Fraction] = completed(
        lambda self, given: usual_share(self.epsilon, self.expected_items) if given is None else _share(given),
        default=None,
    )
    candidates: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_candidates, default=CANDIDATES)
    relation: Checked[NeighboringRelation] = converted(_relation, default=NeighboringRelation.ADD_OR_REMOVE)
    mechanism: Checked[str] = converted(_mechanism, default="auto")
    group_candidates: Converted[Iterable[SupportsIndex] | None, tuple[int, ...] | None] = converted(
        optional(parse_candidates), default=None
    )

    def __post_init__(self) -> None:
        if not 2 <= len(self.candidates) * len(self.group_candidates or (1,)) <= MOST_CANDIDATES:
            raise UsageError(
                f"The candidates must be ascending whole numbers, from 2 to {MOST_CANDIDATES} of them, or of pairs "
                "with numbers of groups."
            )

    def units(self, unit: PrivacyUnit) -> list[PrivacyUnit]:
        """Return the unit with each candidate, in ascending order."""
        if self.group_candidates is None:
            return [replace(unit, bound=items) for items in self.candidates]
        return [
            replace(unit, bound=items, groups=groups, in_one_group=groups == 1)
            for groups, items in product(self.group_candidates, self.candidates)
        ]

    def includes(self, unit: PrivacyUnit) -> bool:
        """Return whether the bounds of a unit are among the candidates."""
        has_groups = self.group_candidates is None or unit.groups in self.group_candidates
        return (unit.max_items or unit.max_count) in self.candidates and has_groups

    def possible(self, unit: PrivacyUnit, prepare: Callable[[PrivacyUnit], Made]) -> dict[PrivacyUnit, Made]:
        """Return what is made of the unit with each candidate; those that are refused are left out, whatever the data.

        The last one covers all others: of pairs, the most that one pair covers remain. If all are refused, the refusal
        of the least one is raised.
        """
        made: dict[PrivacyUnit, Made] = {}
        refusals: list[UsageError] = []
        for each in self.units(unit):
            try:
                made[each] = prepare(each)
            except UsageError as error:
                refusals.append(error)
        if not made:
            raise refusals[0]
        covered = [[each for each in made if _covers(corner, each)] for corner in reversed(made)]
        return {each: made[each] for each in max(covered, key=len)}

    @property
    def is_of_groups_alone(self) -> bool:
        """Whether the number of items is given, and only that of groups is chosen."""
        return len(self.candidates) == 1

    def weighed(self, unit: PrivacyUnit) -> Bounds:
        """Return the bounds of a unit as a choice weighs them: of groups alone, each counts as one, however large."""
        return Bounds(1 if self.is_of_groups_alone else unit.bound, unit.groups)

    def in_groups(self, number: int) -> Self:
        """Return the same request if there are only this many groups: a larger candidate means all of them.

        Raises
        ------
        UsageError
            If nothing is left to choose.
        """
        if self.group_candidates is None:
            return self
        fewer = sorted({min(each, number) for each in self.group_candidates})
        if len(fewer) == len(self.candidates) == 1:
            raise UsageError(
                f"There is nothing to choose: of {number:,} group{'' if number == 1 else 's'}, every candidate means "
                f"{fewer[0]:,}. Give that number as `max_groups_per_label`."
            )
        return replace(self, group_candidates=tuple(fewer))

    def chosen_of(self, units: Iterable[PrivacyUnit]) -> str:
        """Return the candidates of some of its :meth:`units` as a list in words."""
        found = [(each.bound, each.groups) for each in units]
        items, groups = (sorted(set(side)) for side in zip(*found, strict=True))
        if self.group_candidates is None:
            return _listed(items)
        of_groups = _listed(groups, "group")
        return of_groups if self.is_of_groups_alone else f"{_listed(items, 'item')} in each of {of_groups}"

    def told(self, unit: PrivacyUnit, possible: Iterable[PrivacyUnit]) -> str:
        """Return what was chosen among possible units, in a sentence."""
        among, spent = self.chosen_of(possible), short_decimal(self.spent)
        return f"The bound of {self.chosen_of([unit])} {CHOSEN} {among}, with ε = {spent}."

    def what(self, kind: str) -> str:
        """Return what is chosen, as a clause."""
        items, groups = f"how many items of each {kind} count", f"in how many groups each {kind} counts"
        if self.group_candidates is None:
            return items
        return groups if self.is_of_groups_alone else f"{items}, and in how many groups"

    @property
    def spent(self) -> Fraction:
        """ε₁, the budget of the choice."""
        return self.epsilon * self.bound_share

    @property
    def rest(self) -> Fraction:
        """ε₂, the budget that is left for the release."""
        return self.epsilon - self.spent

    @property
    def largest(self) -> int:
        """The largest candidate: a user's items beyond it never enter the choice."""
        return self.candidates[-1]

    def add_to(self, guarantee: Guarantee) -> Guarantee:
        """Return the joint guarantee of the choice and the release after it: budgets add up."""
        steps = guarantee.spending or ((_PROFILE, guarantee.epsilon),)
        own = f"choosing {self.what(guarantee.unit.kind)}", self.spent
        epsilon = guarantee.epsilon + self.spent
        return Guarantee(
            guarantee.unit, guarantee.relation, epsilon, guarantee.delta, guarantee.arithmetic, (own, *steps)
        )

    @property
    def parameters(self) -> Mapping[str, str | int]:
        """Public parameters as text and whole numbers, enough to rebuild it beside the relation."""
        return {
            "choice_epsilon": short_decimal(self.epsilon),
            "choice_share": short_decimal(self.bound_share),
            "choice_candidates": listed_candidates(self.candidates),
            "choice_items": self.expected_items,
            "choice_mechanism": self.mechanism,
            **({} if self.group_candidates is None else {"choice_groups": listed_candidates(self.group_candidates)}),
        }

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, object], relation: NeighboringRelation) -> Self | None:
        """Rebuild it from the parameters of a mechanism; None if the bound was given.

        Raises
        ------
        UsageError
            If they are not parameters of a choice.
        """
        given = parameters.keys() & CHOICE_PARAMETERS
        if not given:
            return None
        if not given >= _REQUIRED:
            raise UsageError(f"{' and '.join(sorted(_REQUIRED))} must be given together.")
        epsilon, share, listed, mechanism, groups = (
            parameters.get(f"choice_{each}", "") for each in ("epsilon", "share", "candidates", "mechanism", "groups")
        )
        items = parameters["choice_items"]
        if type(items) is not int or not all(
            isinstance(each, str) for each in (epsilon, share, listed, mechanism, groups)
        ):
            raise UsageError("the parameters of a choice must be text, and its number of items a whole number.")
        refusal = "the candidates must be whole numbers with commas between them."
        own = written_candidates(str(listed), refusal)
        of_groups = written_candidates(str(groups), refusal) if "choice_groups" in given else None
        made = cls(str(epsilon), items, str(share), own, relation, str(mechanism), of_groups)
        if any(parameters[name] != value for name, value in made.parameters.items()):
            raise UsageError("the parameters of a choice must be as this program writes them.")
        return made

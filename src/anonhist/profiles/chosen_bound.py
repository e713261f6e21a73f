"""A request to choose, with a share of the budget, how many items of each unit count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Self, SupportsIndex, TypeVar

from anonhist.errors import UsageError
from anonhist.frozen import Checked, Converted, converted, frozen
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
USUAL_SHARE = Fraction(1, 10)
#: The names of its parameters in files and ledgers.
CHOICE_PARAMETERS = frozenset({f"choice_{each}" for each in ("epsilon", "share", "candidates", "items", "mechanism")})
_PROFILE = "the profile"


def parse_candidates(given: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Return 2 to 64 ascending whole numbers from 1 to 2^20, from which a bound is chosen."""
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise UsageError(f"`candidates` must be a list of whole numbers, such as (1, 4, 16), not {given!r:.80}.")
    listed = tuple(parse_whole_number(each, name="a candidate", most=LARGEST_CANDIDATE) for each in given)
    if not 2 <= len(listed) <= MOST_CANDIDATES or any(second <= first for first, second in pairwise(listed)):
        raise UsageError(f"The candidates must be ascending whole numbers, from 2 to {MOST_CANDIDATES} of them.")
    return listed


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


def refuse_unit(unit: PrivacyUnit | None) -> None:
    """Refuse a unit beside a chosen bound: whether it is the chosen one must not decide about a refusal."""
    if unit is not None:
        raise UsageError("`unit` does not apply to a chosen bound: leave it out, or give the bound.")


@frozen
class ChosenBound:
    """Asks for the largest number of items of each user that count to be chosen privately, instead of given.

    A small bound leaves rows out, a large one needs more noise. A share of the budget finds a bound for which both
    together are small; :func:`anonhist.mechanisms.bound_choosing.prepare_choice` says how.

    Parameters
    ----------
    epsilon
        The whole budget ε > 0, as for :func:`anonhist.release` afterwards, which must be given the same.
    expected_items
        A public guess of the number of items, from 1 to 10¹⁵. The noise that each bound needs is predicted for it.
    bound_share
        The share of ε that the choice spends, above 0 and below 1; 0.1 by default. The rest releases the profile.
    candidates
        The bounds to choose from, ascending: 2 to 64 whole numbers up to 2²⁰; by default the powers of two up to 128.
        They must be public.
    relation
        Which data sets are neighbors, as in the release.
    mechanism
        The mechanism of the release: ``"auto"``, ``"partition"``, ``"frobenius"`` or ``"privhist"``.

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
    bound_share: Converted[EpsilonLike, Fraction] = converted(_share, default=USUAL_SHARE)
    candidates: Converted[Iterable[SupportsIndex], tuple[int, ...]] = converted(parse_candidates, default=CANDIDATES)
    relation: Checked[NeighboringRelation] = converted(_relation, default=NeighboringRelation.ADD_OR_REMOVE)
    mechanism: Checked[str] = converted(_mechanism, default="auto")

    def possible(self, unit: PrivacyUnit, prepare: Callable[[PrivacyUnit], Made]) -> dict[int, Made]:
        """Return what is made of the unit with each candidate; those that are refused are left out, whatever the data.

        If all are, the refusal of the least one is raised.
        """
        made: dict[int, Made] = {}
        refusals: list[UsageError] = []
        for bound in self.candidates:
            try:
                made[bound] = prepare(replace(unit, bound=bound))
            except UsageError as error:
                refusals.append(error)
        if not made:
            raise refusals[0]
        return made

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
        own = f"choosing how many items of each {guarantee.unit.kind} count", self.spent
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
            "choice_candidates": ",".join(map(str, self.candidates)),
            "choice_items": self.expected_items,
            "choice_mechanism": self.mechanism,
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
        if given != CHOICE_PARAMETERS:
            raise UsageError(f"{' and '.join(sorted(CHOICE_PARAMETERS))} must be given together.")
        epsilon, share, listed, mechanism = (
            parameters[f"choice_{each}"] for each in ("epsilon", "share", "candidates", "mechanism")
        )
        items = parameters["choice_items"]
        if type(items) is not int or not all(isinstance(each, str) for each in (epsilon, share, listed, mechanism)):
            raise UsageError("the parameters of a choice must be text, and its number of items a whole number.")
        written = str(listed).split(",")
        # Ten digits are more than any candidate has.
        if not all(each.isascii() and each.isdigit() and len(each) <= 10 for each in written):
            raise UsageError("the candidates must be whole numbers with commas between them.")
        made = cls(str(epsilon), items, str(share), tuple(map(int, written)), relation, str(mechanism))
        if any(parameters[name] != value for name, value in made.parameters.items()):
            raise UsageError("the parameters of a choice must be as this program writes them.")
        return made

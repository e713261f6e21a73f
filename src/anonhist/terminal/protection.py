"""What to protect, as typed: units, and how many items of each user count, which may be chosen privately."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from anonhist.errors import UsageError
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_whole_number

if TYPE_CHECKING:
    from anonhist.privacy import EpsilonLike
    from anonhist.profiles.chosen_bound import ChosenBound

AUTO: Literal["auto"] = "auto"
_FROM = "from:"


class Most(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A whole number, ``auto``, or ``from:FILE`` for the number that the release in a file counted.

    ``of`` is ``"items of users"``, ``"items of labels"`` or ``"groups of labels"``.
    """

    name = "bound"

    def __init__(self, of: str, number: Any = click.INT) -> None:
        self.of = of
        self._number = number

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["auto"]:
        """Return the number or ``auto``, or refuse the text."""
        if value == AUTO:
            return AUTO
        if isinstance(value, str) and value.startswith(_FROM):
            return self._in(value.removeprefix(_FROM))
        number: int = self._number.convert(value, param, ctx)
        return number

    def _in(self, path: str) -> int:
        """Return the bound of a release, which is public."""
        from anonhist.formats.files import read
        from anonhist.privacy import is_in_groups

        unit = getattr(getattr(read(path), "guarantee", None), "unit", None)
        most: int | None = None
        if isinstance(unit, PrivacyUnit):
            groups = unit.groups if unit.max_count is not None and is_in_groups(unit) else None
            most = {"items of users": unit.max_items, "items of labels": unit.max_count, "groups of labels": groups}[
                self.of
            ]
        if most is None:
            part, unit_name = self.of.split(" of ")
            raise UsageError(f"{path!r:.80} is no release for {unit_name} with a bound on their {part}: give a number.")
        return most


class AskedBound(NamedTuple):
    """The options of a bound that is chosen privately, as typed; candidates are None for what is given."""

    share: str | None
    items: tuple[int, ...] | None
    groups: tuple[int, ...] | None = None
    # The number of items, if that is given.
    given: int | None = None

    @property
    def candidates(self) -> tuple[int, ...]:
        """The numbers of items to choose from, one if that is given."""
        return self.items or (self.given or 1,)

    def chosen(
        self, epsilon: EpsilonLike, expected_items: int | None, relation: NeighboringRelation, mechanism: str
    ) -> ChosenBound:
        """Return the request for a release with this budget."""
        from anonhist.profiles.chosen_bound import ChosenBound

        if expected_items is None:
            raise UsageError(
                "A chosen bound weighs items left out against noise, which depends on the size of the data: give "
                "`expected_items`, a public guess of the number of items."
            )
        return ChosenBound(epsilon, expected_items, self.share, self.candidates, relation, mechanism, self.groups)


def parse_typed_candidates(typed: str | None, name: str) -> tuple[int, ...]:
    """Return typed candidates, by default powers of two."""
    from anonhist.profiles.chosen_bound import CANDIDATES, written_candidates

    if typed is None:
        return CANDIDATES
    refusal = f"`{name}` must be whole numbers with commas between them, such as 1,4,16."
    return written_candidates(",".join(word.strip() for word in typed.split(",")), refusal)


bound_options = (
    click.option(
        "--bound-share",
        metavar="S",
        help="With a bound that is auto: share of epsilon spent on choosing it.  [default: 0.1, or 0.25 if epsilon "
        "times --expected-items is below 20,000]",
    ),
    click.option(
        "--bound-candidates",
        metavar="M,M,…",
        help="With --max-per-user auto or --max-count auto: bounds to choose from, which must be public.  [default: "
        "powers of two to 128]",
    ),
)


class Protection(NamedTuple):
    """What to protect, as given by options; the unit is None if the data decide.

    If the number of items of each unit is to be chosen, it and the unit are those of the largest candidate.
    """

    unit: PrivacyUnit | None
    max_per_user: int | None
    relation: NeighboringRelation
    choice: AskedBound | None = None
    bound_share: str | None = None

    @classmethod
    def of(
        cls,
        *,
        unit: str | None = None,
        max_per_user: int | Literal["auto"] | None,
        max_count: int | Literal["auto"] | None = None,
        unit_name: str | None = None,
        relation: str = NeighboringRelation.ADD_OR_REMOVE.value,
        bound_share: str | None = None,
        bound_candidates: str | None = None,
    ) -> Protection:
        """Return the protection that the options request; --max-per-user alone protects users."""
        choice = None
        if AUTO in (max_per_user, max_count):
            choice = AskedBound(bound_share, parse_typed_candidates(bound_candidates, "bound_candidates"))
        elif bound_candidates is not None:
            raise UsageError(
                "`bound_candidates` requires `max_per_user='auto'` or `max_count='auto'`: leave it out, or let a bound "
                "be chosen."
            )
        most, cap = (
            choice.candidates[-1] if choice is not None and each == AUTO else each for each in (max_per_user, max_count)
        )
        assert not isinstance(most, str)  # noqa: S101  # only a choice has no number yet
        assert not isinstance(cap, str)  # noqa: S101
        asked = _unit(unit, most, cap)
        if unit_name is not None:
            asked = replace(asked or PrivacyUnit.item(), name=unit_name)
        return cls(asked, most, NeighboringRelation(relation), choice, bound_share)

    def in_groups(self, candidates: tuple[int, ...] | None) -> Protection:
        """Return it with the numbers of groups of labels to choose from, if that is chosen; refuse a lone share."""
        if candidates is None:
            if self.bound_share is not None and self.choice is None:
                raise UsageError(
                    "`bound_share` requires `max_per_user='auto'`, or another bound that is auto: leave it out, or let "
                    "a bound be chosen."
                )
            return self
        if self.unit is None or self.unit.max_count is None:
            raise UsageError("`max_groups_per_label` applies only to a label unit: give `max_count`.")
        choice = self.choice or AskedBound(self.bound_share, None, given=self.unit.max_count)
        return self._replace(choice=choice._replace(groups=candidates))


def _unit(unit: str | None, max_per_user: int | None, max_count: int | None) -> PrivacyUnit | None:
    if max_count is not None and unit != "label":
        raise UsageError("--max-count requires --unit label.")
    if unit == "label":
        if max_count is None:
            raise UsageError("--unit label requires --max-count C: counts of C or more are merged.")
        if max_per_user is not None:
            raise UsageError("--unit label protects labels and --max-per-user protects users: use one of the two.")
        return PrivacyUnit.label(max_count=max_count)
    if max_per_user is not None:
        if unit == "item":
            raise UsageError(
                "--max-per-user M protects users, but --unit item protects only items: use --unit user or leave "
                "--unit out."
            )
        return PrivacyUnit.user(max_items=parse_whole_number(max_per_user, name="max_per_user"))
    if unit == "user":
        raise UsageError("--unit user requires --max-per-user M, the most items of one user that count.")
    return PrivacyUnit.item() if unit == "item" else None

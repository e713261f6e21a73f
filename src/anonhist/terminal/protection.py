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


class MostItems(click.ParamType):  # type: ignore[type-arg]  # which not all versions of Click let it have
    """A whole number, ``auto``, or ``from:FILE`` for the number that the release in a file counted."""

    name = "bound"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | Literal["auto"]:
        """Return the number or ``auto``, or refuse the text."""
        if value == AUTO:
            return AUTO
        if isinstance(value, str) and value.startswith(_FROM):
            return _bound_in(value.removeprefix(_FROM))
        number: int = click.INT.convert(value, param, ctx)
        return number


def _bound_in(path: str) -> int:
    """Return the number of items of each user that a release counted, which is public."""
    from anonhist.formats.files import read

    most: int | None = getattr(getattr(getattr(read(path), "guarantee", None), "unit", None), "max_items", None)
    if most is None:
        raise UsageError(f"{path!r:.80} is no release for users, so it has no bound on their items: give a number.")
    return most


class AskedBound(NamedTuple):
    """The options of a bound that is chosen privately, as typed."""

    share: str | None
    candidates: tuple[int, ...]

    @classmethod
    def of(
        cls, max_per_user: int | Literal["auto"] | None, share: str | None, candidates: str | None
    ) -> AskedBound | None:
        """Return the choice that the options request, or None."""
        if max_per_user != AUTO:
            for name, value in (("bound_share", share), ("bound_candidates", candidates)):
                if value is not None:
                    raise UsageError(
                        f"`{name}` requires `max_per_user='auto'`: leave it out, or let a bound be chosen."
                    )
            return None
        from anonhist.profiles.chosen_bound import CANDIDATES, parse_candidates

        if candidates is None:
            return cls(share, CANDIDATES)
        words = [word.strip() for word in candidates.split(",")]
        if not all(word.isascii() and word.isdigit() and len(word) <= 10 for word in words):
            raise UsageError("`bound_candidates` must be whole numbers with commas between them, such as 1,4,16.")
        return cls(share, parse_candidates([int(word) for word in words]))

    def chosen(
        self, epsilon: EpsilonLike, expected_items: int | None, relation: NeighboringRelation, mechanism: str
    ) -> ChosenBound:
        """Return the request for a release with this budget."""
        from anonhist.profiles.chosen_bound import USUAL_SHARE, ChosenBound

        if expected_items is None:
            raise UsageError(
                "`max_per_user='auto'` weighs rows left out against noise, which depends on the size of the data: give "
                "`expected_items`, a public guess of the number of items."
            )
        share = USUAL_SHARE if self.share is None else self.share
        return ChosenBound(epsilon, expected_items, share, self.candidates, relation, mechanism)


bound_options = (
    click.option(
        "--bound-share",
        metavar="S",
        help="With --max-per-user auto: share of epsilon spent on choosing the bound.  [default: 0.1]",
    ),
    click.option(
        "--bound-candidates",
        metavar="M,M,…",
        help="With --max-per-user auto: bounds to choose from, which must be public.  [default: powers of two to 128]",
    ),
)


class Protection(NamedTuple):
    """What to protect, as given by options; the unit is None if the data decide.

    If the number of items of each user is to be chosen, it and the unit are those of the largest candidate.
    """

    unit: PrivacyUnit | None
    max_per_user: int | None
    relation: NeighboringRelation
    choice: AskedBound | None = None

    @classmethod
    def of(
        cls,
        *,
        unit: str | None = None,
        max_per_user: int | Literal["auto"] | None,
        max_count: int | None = None,
        unit_name: str | None = None,
        relation: str = NeighboringRelation.ADD_OR_REMOVE.value,
        bound_share: str | None = None,
        bound_candidates: str | None = None,
    ) -> Protection:
        """Return the protection that the options request; --max-per-user alone protects users."""
        choice = AskedBound.of(max_per_user, bound_share, bound_candidates)
        most = max_per_user if choice is None else choice.candidates[-1]
        assert not isinstance(most, str)  # noqa: S101  # only a choice has no number yet
        asked = _unit(unit, most, max_count)
        if unit_name is not None:
            asked = replace(asked or PrivacyUnit.item(), name=unit_name)
        return cls(asked, most, NeighboringRelation(relation), choice)


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

"""Whom a release protects, and which rows of each unit count: parsed once on input, and passed on whole."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.frozen import optional
from anonhist.ingest.group_names import UNGROUPED, Grouping, is_shown_as_written, parts_of
from anonhist.ingest.query import Columns
from anonhist.ingest.random_order import KEY_OF_GROUPS, key_where
from anonhist.privacy import PrivacyUnit, parse_whole_number
from anonhist.profiles import Bounded
from anonhist.profiles.chosen_bound import CANDIDATES, ChosenBound
from anonhist.profiles.where import Condition, parse_where

if TYPE_CHECKING:
    from collections.abc import Iterable

    from anonhist.ingest.columns import Header, RowKind

_NOT_BOUNDED = (
    "`count_units` counts what a bound leaves out, so it requires `max_groups_per_label`, or `user` and `max_per_user`."
)
_ONLY_CHOSEN = "A chosen bound decides the unit, and its excess is not estimated: leave `unit` and `count_users` out."
_ONE_CHOICE = (
    "Bounds are chosen together, by one request: give the same ChosenBound to `max_count` and `max_groups_per_label`."
)


@dataclass(frozen=True)
class Protection:
    """Public choices about a reading, as for ``read_groups``: what a release protects, and which rows count.

    ``unit`` is None if no unit is given, ``order_key`` if nothing is chosen at random; it is newly drawn if a call
    gives none. ``grouping`` says how rows are grouped, and has no groups yet. Rows for which ``where`` is not true are
    removed before anything is bounded. With a ``choice``, the numbers of items are those of its largest candidate until
    one is chosen (:meth:`bounded_to`).
    """

    unit: PrivacyUnit | None = None
    user: str | None = None
    max_per_user: int | None = None
    order_by: str | None = None
    order_key: str | None = None
    keep_null: bool = False
    grouping: Grouping = UNGROUPED
    where: Condition | None = None
    choice: ChosenBound | None = None

    @classmethod
    def of_profile(
        cls,
        unit: PrivacyUnit | None,
        *,
        user: str | None,
        max_per_user: int | ChosenBound | None,
        order_by: str | None,
        order_key: str | None,
        keep_null: bool,
        count_users: bool,
        where: str | None,
        max_count: ChosenBound | None = None,
    ) -> Protection:
        """Return the choices of a call of ``read_profile``, or refuse contradictory ones."""
        choice = max_per_user if isinstance(max_per_user, ChosenBound) else None
        most = check_users(user, max_per_user if choice is None else choice.largest, order_by, count_users=count_users)
        if max_count is not None:
            if most is not None:
                raise UsageError("`max_count` is for labels, and a user bound protects users: give one of the two.")
            choice, unit = _chosen_cap(max_count), _largest_label(max_count, unit)
        unit, key = unit_of_profile(unit, most), key_where(order_key, needed=user is not None)
        if choice is not None:
            if choice.group_candidates is not None:
                raise UsageError("`group_candidates` are for `max_groups_per_label` of a reading of groups.")
            if count_users or (unit is not None and unit.bound != choice.largest):
                raise UsageError(_ONLY_CHOSEN)
        return cls(unit, user, most, order_by, key, keep_null, where=optional(parse_where)(where), choice=choice)

    @classmethod
    def of_groups(
        cls,
        unit: PrivacyUnit | None,
        *,
        by: str | Iterable[str],
        other: str | None,
        user: str | None,
        max_per_user: int | ChosenBound | None,
        max_groups_per_user: int | None,
        max_groups_per_label: int | ChosenBound | None,
        order_by: str | None,
        order_key: str | None,
        keep_null: bool,
        where: str | None,
        max_count: ChosenBound | None = None,
    ) -> Protection:
        """Return the choices of a call of ``read_groups``, or refuse contradictory ones."""
        choice = max_per_user if isinstance(max_per_user, ChosenBound) else None
        if max_count is not None or isinstance(max_groups_per_label, ChosenBound):
            if max_per_user is not None:
                raise UsageError("`max_count` is for labels, and a user bound protects users: give one of the two.")
            choice, unit, max_groups_per_label = _chosen_of_labels(unit, max_count, max_groups_per_label)
        most = max_per_user.largest if isinstance(max_per_user, ChosenBound) else max_per_user
        most = check_users(user, most, order_by, count_users=False)
        if isinstance(max_per_user, ChosenBound) and max_per_user.group_candidates is not None:
            raise UsageError("`group_candidates` are for `max_groups_per_label`: leave them out.")
        grouping = unlisted_grouping(by, other, most, max_groups_per_user, max_groups_per_label)
        protected = protected_unit(unit, most, grouping.groups_per_user, grouping.groups_per_label)
        chooses = user is not None or grouping.groups_per_label is not None
        key = key_where(order_key, needed=chooses, refused=KEY_OF_GROUPS)
        return cls(protected, user, most, order_by, key, keep_null, grouping, optional(parse_where)(where), choice)

    def bounded_to(self, unit: PrivacyUnit) -> Protection:
        """Return it with the bound that was chosen, for this unit."""
        most = self.max_per_user if unit.max_items is None else unit.max_items
        of_label = self.grouping.groups_per_label
        grouping = replace(self.grouping, groups_per_label=None if of_label is None else unit.groups)
        return replace(self, max_per_user=most, unit=unit, grouping=grouping)

    @property
    def protected(self) -> PrivacyUnit:
        """The unit that a release protects; by default, an item."""
        return self.unit or PrivacyUnit.item()

    @property
    def columns_read(self) -> tuple[str | None, ...]:
        """The columns that it takes, None for unnamed ones."""
        return self.user, self.order_by, *(part.column for part in self.grouping.parts)

    @property
    def filtering(self) -> tuple[str, ...]:
        """The columns that decide which rows count."""
        return () if self.where is None else self.where.columns

    @property
    def said_where(self) -> str | None:
        """The text of the condition, as releases store it."""
        return None if self.where is None else str(self.where)

    @property
    def bounded(self) -> tuple[Bounded, int]:
        """What is bounded and how many are kept: groups, if they are bounded; refused if nothing is."""
        grouping = self.grouping
        if grouping.groups_per_label is not None:
            return Bounded.GROUPS_OF_LABELS, grouping.groups_per_label
        if grouping.groups_per_user is not None:
            return Bounded.GROUPS_OF_USERS, grouping.groups_per_user
        if self.max_per_user is not None:
            return Bounded.ITEMS_OF_USERS, self.max_per_user
        raise UsageError(_NOT_BOUNDED)

    def columns(self, kind: RowKind, header: Header) -> Columns:
        """Return the columns to read for rows of this kind, under the table's names for them."""
        held = header.in_table
        parts = tuple(part.in_table(held(part.column)) for part in self.grouping.parts)
        return Columns(
            held(kind.label),
            held(self.user),
            self.max_per_user,
            held(self.order_by),
            self.order_key or "",
            self.keep_null,
            grouping=replace(self.grouping, parts=parts),
            rows=kind.rows,
            count=held(kind.count),
            prevalence=held(kind.prevalence),
        )


def _chosen_cap(max_count: object) -> ChosenBound:
    if not isinstance(max_count, ChosenBound):
        raise UsageError("`max_count` must be a ChosenBound; a given number is a part of the unit: `unit`.")
    return max_count


def _largest_label(asked: ChosenBound, unit: PrivacyUnit | None) -> PrivacyUnit:
    """Return a label with the largest candidate; the unit may be that, with a name."""
    largest = PrivacyUnit.label(max_count=asked.largest)
    if unit not in (None, largest):
        raise UsageError(_ONLY_CHOSEN)
    return unit or largest


def _chosen_of_labels(
    unit: PrivacyUnit | None, max_count: object, max_groups: int | ChosenBound | None
) -> tuple[ChosenBound, PrivacyUnit, int | None]:
    """Return how bounds of labels are chosen, and the unit and the number of groups of the largest candidate."""
    if not isinstance(max_groups, ChosenBound):
        asked = _chosen_cap(max_count)
        if asked.group_candidates is not None:
            raise UsageError(_ONE_CHOICE)
        return asked, _largest_label(asked, unit), max_groups
    asked = max_groups
    if max_count is not None:
        if max_count != asked:
            raise UsageError(_ONE_CHOICE)
        unit = _largest_label(asked, unit)
    elif unit is None or unit.max_count is None:
        raise UsageError("`max_groups_per_label` applies only to a label unit: PrivacyUnit.label(max_count=c).")
    candidates = CANDIDATES if asked.group_candidates is None else asked.group_candidates
    # A count that is given is the only candidate.
    items = (unit.bound,) if max_count is None else asked.candidates
    return replace(asked, candidates=items, group_candidates=candidates), unit, candidates[-1]


def check_users(user: str | None, max_per_user: Any, order_by: str | None, *, count_users: bool) -> int | None:
    """Refuse half of a user bound; return the number of a user's items that count as a Python int."""
    if (user is None) != (max_per_user is None):
        raise UsageError(
            "`user` and `max_per_user` must be given together: name the user column, and give the number of items of "
            "each user that count."
        )
    try:
        bound = None if max_per_user is None else operator.index(max_per_user)
    except TypeError:
        bound = 0
    if isinstance(max_per_user, bool) or (bound is not None and bound < 1):
        raise UsageError(f"`max_per_user` must be a whole number of at least 1, not {max_per_user!r}.")
    if order_by is not None and user is None:
        raise UsageError("`order_by` chooses which items of a user count, so it requires `user` and `max_per_user`.")
    if count_users and user is None:
        raise UsageError("`count_users` counts what a user bound leaves out, so it requires `user` and `max_per_user`.")
    return bound


def unit_of_profile(unit: PrivacyUnit | None, max_per_user: int | None) -> PrivacyUnit | None:
    """Return whom a release of one profile protects, or refuse a unit that its counts do not bound."""
    if isinstance(unit, PrivacyUnit) and unit.needs_bounded_degrees:
        raise UsageError(
            "Counts of rows do not bound the degree of a node, so their profile cannot protect nodes: read the "
            "edges with read_edges and release them with release_degrees."
        )
    if max_per_user is None:
        return unit
    if unit is not None and unit.max_count is not None:
        raise UsageError("A label unit protects labels and a user bound protects users: give one of the two.")
    bounded = PrivacyUnit.user(max_items=max_per_user)
    if unit is not None and not unit.protects(bounded):
        raise UsageError(f"The unit {unit} protects less than {bounded}, to which the user bound reads the data.")
    return unit or bounded


def protected_unit(
    unit: PrivacyUnit | None, per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> PrivacyUnit:
    """Return whom a release of all groups protects, or refuse a unit that its bounds do not cover."""
    protected = _protected_unit(unit, per_user, groups_per_user, groups_per_label)
    return protected if unit is None else replace(protected, name=unit.name)


def _protected_unit(
    unit: PrivacyUnit | None, per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> PrivacyUnit:
    if groups_per_label is not None and (per_user is not None or unit is None or unit.max_count is None):
        raise UsageError("`max_groups_per_label` applies only to a label unit: PrivacyUnit.label(max_count=c).")
    if per_user is not None:
        bounded = PrivacyUnit.user(max_items=per_user, groups=groups_per_user or 1)
        # A unit without groups does not state a user's number in one; another unit may promise more than is kept.
        if unit not in (None, bounded, PrivacyUnit.user(max_items=per_user)):
            raise UsageError(f"The bounds make it a release for {bounded}: leave `unit` out.")
        return replace(bounded, in_one_group=groups_per_user == 1)
    if unit is None or unit == PrivacyUnit.item():
        return PrivacyUnit.item()
    if unit.max_count is None:
        raise UsageError(
            f"Groups are released for items, for users (`user`, `max_per_user`) or for labels, not {unit}."
        )
    if groups_per_label is None:
        raise UsageError(
            "A label may occur in many groups: set the number of them in which each label counts "
            "(`max_groups_per_label`)."
        )
    return replace(
        PrivacyUnit.label(max_count=unit.max_count, groups=groups_per_label), in_one_group=groups_per_label == 1
    )


def unlisted_grouping(
    by: str | Iterable[str], other: str | None, most: int | None, of_user: Any, of_label: Any
) -> Grouping:
    """Return how rows are put into groups, which are not known yet."""
    parts = parts_of(by)
    most_of_user, most_of_label = (
        None if given is None else parse_whole_number(given, name=name)
        for given, name in ((of_user, "max_groups_per_user"), (of_label, "max_groups_per_label"))
    )
    if most_of_user is not None and most is None:
        raise UsageError("`max_groups_per_user` requires `user` and `max_per_user`.")
    if other is not None and not (isinstance(other, str) and other.strip() and is_shown_as_written((other,))):
        raise UsageError(f"`other` must be a name for the group of all others, in plain text, not {other!a:.80}.")
    return Grouping(parts, None, other, most_of_user, most_of_label)

"""Whom a release of several groups protects, and how units are bounded for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonhist.errors import UsageError
from anonhist.ingest.grouping import Grouping, is_shown_as_written, parts_of
from anonhist.ingest.random_order import random_key
from anonhist.privacy import PrivacyUnit, parse_order_key, parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable


def protected_unit(
    unit: PrivacyUnit | None, per_user: int | None, groups_per_user: int | None, groups_per_label: int | None
) -> PrivacyUnit:
    """Return whom a release of all groups protects, or refuse what its bounds do not cover.

    Examples
    --------
    >>> print(protected_unit(PrivacyUnit.label(max_count=20), None, None, 3))
    one label with all its items in at most 3 groups (counts of 20 or more in a group are taken together)
    """
    if groups_per_label is not None and (per_user is not None or unit is None or unit.max_count is None):
        raise UsageError("`max_groups_per_label` applies only to a label unit: PrivacyUnit.label(max_count=c).")
    if per_user is not None:
        bounded = PrivacyUnit.user(max_items=per_user, groups=groups_per_user or 1)
        # A unit without groups says what a user may have in one; another may promise more than is kept.
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
            "A label may occur in many groups: say with `max_groups_per_label` in how many of them each label counts."
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


def order_key_of(given: str | None, *, chooses: bool) -> str | None:
    """Return the key by which items or groups are chosen, None where none are."""
    if given is not None and not chooses:
        raise UsageError("`order_key` chooses items or groups, so it requires `user` or `max_groups_per_label`.")
    return None if not chooses else random_key() if given is None else parse_order_key(given)

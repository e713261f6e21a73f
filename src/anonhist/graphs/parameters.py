"""Parsing of parameters of mechanisms for degrees from files."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from anonhist.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum

Member = TypeVar("Member", bound="Enum")


def text_of(parameters: Mapping[str, object], name: str) -> str:
    """Return a parameter that is text.

    Raises
    ------
    UsageError
        If it is none.
    """
    value = parameters[name]
    if not isinstance(value, str):
        message = f"{name} must be text."
        raise UsageError(message)
    return value


def member_of(members: type[Member], value: object, name: str) -> Member:
    """Return the member with this value.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> from anonhist.graphs.policy import Direction
    >>> member_of(Direction, "in", "direction")
    <Direction.IN: 'in'>
    """
    known = {member.value: member for member in members}
    if value not in known:
        message = f"the {name} must be {' or '.join(known)}."
        raise UsageError(message)
    return known[value]

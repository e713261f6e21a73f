"""From options to values."""

from __future__ import annotations

import re
import shlex
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from anonhist.errors import UsageError, mask
from anonhist.privacy import NeighboringRelation, PrivacyUnit, parse_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable


# An option with its value in one: --table=orders, or -oout.json.
_OPTION = re.compile(r"--[a-z-]+=|-[a-z](?=.)", re.DOTALL)


class Protection(NamedTuple):
    """What to protect, as the options of a command say; the unit is None where they leave it to the data."""

    unit: PrivacyUnit | None
    max_per_user: int | None
    relation: NeighboringRelation

    @classmethod
    def of(
        cls,
        *,
        unit: str | None = None,
        max_per_user: int | None,
        max_count: int | None = None,
        relation: str = NeighboringRelation.ADD_OR_REMOVE.value,
    ) -> Protection:
        """Return what the options ask for; --max-per-user alone means that users are protected.

        Examples
        --------
        >>> print(Protection.of(max_per_user=5).unit)
        one user with at most 5 items
        """
        return cls(_unit(unit, max_per_user, max_count), max_per_user, NeighboringRelation(relation))


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


def whole_number(text: str | None, *, name: str) -> int | None:
    """Read a whole number that may be written like 1e9."""
    if text is None:
        return None
    try:
        number = Decimal(text.replace("_", "").replace(",", ""))
    except InvalidOperation:
        number = Decimal("NaN")
    if number.is_finite() and number >= 2**63:
        raise UsageError(f"{name} must be below 2^63, about 9.2e18, not {text!r}.")
    if not number.is_finite() or number < 1 or number != number.to_integral_value():
        raise UsageError(f"{name} must be a whole number of at least 1, such as 1000000 or 1e6, not {text!r}.")
    return int(number)


def one_character(delimiter: str | None) -> str | None:
    """Read a delimiter; a tab may be written as in most programs, with a backslash."""
    return "\t" if delimiter == "\\t" else delimiter


def command_to_publish(arguments: tuple[str, ...]) -> str:
    r"""Write the command as typed, but for what may be secret: a report is made to be shown to others.

    Examples
    --------
    >>> command_to_publish(("release", "postgresql://me:se@cret@db/shop", "--table", "my orders"))
    "anonhist release 'postgresql://***@db/shop' --table 'my orders'"
    """
    return shlex.join(["anonhist", *map(_without_secrets, arguments)])


def sentence_to_publish(sentence: str, arguments: Iterable[str]) -> str:
    """Return what is said of a command without what may be secret in its arguments: logs keep standard error.

    Examples
    --------
    >>> sentence_to_publish("There is no file 'me:secret@db'.", ["release", "me:secret@db"])
    "There is no file '***@db'."
    """
    for _, value in sorted(map(_split_option, arguments), key=lambda parts: -len(parts[1])):
        shown = mask(value)
        if shown != value:
            for told, instead in ((value, shown), (repr(value)[1:-1], repr(shown)[1:-1])):
                sentence = sentence.replace(told, instead)
    return sentence


def _without_secrets(argument: str) -> str:
    option, value = _split_option(argument)
    return option + mask(value)


def _split_option(argument: str) -> tuple[str, str]:
    """Return the option that an argument begins with, if it does, and the rest: its value."""
    option = _OPTION.match(argument)
    return (option[0], argument[option.end() :]) if option else ("", argument)
